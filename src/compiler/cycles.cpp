#include "compiler/cycles.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "compiler/jumps/diagnostics.h"
#include "compiler/proof/contradiction.h"
#include "compiler/proof/tape.h"
#include "compiler/symbolic/symbolic.h"

namespace compiler {
namespace {

using expr::ExprId;
using expr::Op;

constexpr int most_questions = 2000;
constexpr std::size_t most_combinations = 20'000;  // of modes that are looked at, all transitions together
constexpr int deepest = 200;                       // definitions inside definitions
constexpr std::size_t longest_ring = 50;
constexpr std::uint32_t no_transition = 0xffffffffu;
constexpr double near_surface = 0x1p-19;  // more than the 1e-6 of kernel/ties.h, and a number whose sums are exact

// A variable with its order: the same in the models of all structures.
struct Quantity {
  std::uint32_t variable = 0;
  std::uint32_t order = 0;
  auto operator<=>(const Quantity&) const = default;
};

// What one structure says of its names.
class Known {
 public:
  Known(modes::Structure& structure, const structure::Sorted& sorted) : model_(structure.model), sorted_(sorted) {
    for (const ExprId state : sorted.states) states_.insert(quantity(state));
    for (std::size_t b = 0; b < sorted.motion.blocks.size(); ++b)
      for (const std::uint32_t unknown : sorted.motion.blocks[b].unknowns)
        block_of_[sorted.motion.unknowns[unknown]] = b;
  }

  flat::Model& model() { return model_; }
  bool is_state(Quantity q) const { return states_.contains(q); }
  ExprId leaf(Quantity q) { return model_.pool.variable(q.variable, q.order); }
  Quantity quantity(ExprId leaf) const { return {model_.pool[leaf].index, model_.pool[leaf].order}; }

  // What a variable is, if one equation says it; else invalid.
  ExprId value_of(ExprId leaf) {
    const expr::Node node = model_.pool[leaf];
    if (const auto constant = sorted_.constants.find(node.index); constant != sorted_.constants.end())
      return model_.pool.constant(node.order == 0 ? constant->second : 0);
    const auto found = block_of_.find(leaf);
    return found == block_of_.end() ? ExprId() : solved(sorted_.motion, sorted_.motion.blocks[found->second]);
  }

  // The one unknown of a block; invalid when it is not alone, or not given in closed form.
  ExprId solved(const structure::System& system, const structure::Block& block) {
    if (block.unknowns.size() != 1 || block.equations.size() != 1) return {};
    const ExprId unknown = system.unknowns[block.unknowns[0]];
    const flat::Equation& equation = system.equations[block.equations[0]];
    return symbolic::solve(model_.pool, equation.left, equation.right, unknown).value_or(ExprId());
  }

  const structure::Jump* jump(std::uint32_t transition) const {
    for (const structure::Jump& each : sorted_.jumps)
      if (each.transition == transition) return &each;
    return nullptr;
  }

  // States that whoever enters may find moved, back onto constraints.
  const std::set<Quantity>& moved() {
    if (moved_) return *moved_;
    moved_.emplace();
    std::vector<ExprId> sides;
    for (const flat::Equation& constraint : sorted_.constraints)
      sides.insert(sides.end(), {constraint.left, constraint.right});
    std::set<std::tuple<Op, std::uint32_t, std::uint32_t>> names;
    read(sides, names);
    for (const auto& [op, index, order] : names)
      if (op == Op::variable && is_state({index, order})) moved_->insert({index, order});
    return *moved_;
  }

  // All leaves that these read, through the equations that determine them, join `names`.
  void read(std::vector<ExprId> open, std::set<std::tuple<Op, std::uint32_t, std::uint32_t>>& names) {
    std::vector<bool> visited;
    while (!open.empty()) {
      const ExprId root = open.back();
      open.pop_back();
      std::vector<std::size_t> blocks;
      expr::visit_postorder(model_.pool, {root}, visited, [&](ExprId id) {
        const expr::Node& node = model_.pool[id];
        if (!expr::is_leaf(node.op) || node.op == Op::constant || node.op == Op::truth) return;
        names.insert({node.op, node.index, node.op == Op::variable ? node.order : 0});
        if (const auto block = block_of_.find(id); block != block_of_.end()) blocks.push_back(block->second);
      });
      for (const std::size_t b : blocks) {
        for (const std::uint32_t e : sorted_.motion.blocks[b].equations)
          open.insert(open.end(), {sorted_.motion.equations[e].left, sorted_.motion.equations[e].right});
      }
    }
  }

 private:
  flat::Model& model_;
  const structure::Sorted& sorted_;
  std::set<Quantity> states_;
  std::unordered_map<ExprId, std::size_t> block_of_;
  std::optional<std::set<Quantity>> moved_;
};

// Modes of a few combinations: of each automaton those that it can be in.
using PossibleModes = std::map<std::uint32_t, std::set<std::uint32_t>>;  // by slot

// What a question is written in: names as they were before the first jump, and, behind them, as they are after each.
struct Writing {
  expr::Pool pool;
  std::vector<ExprId> assumptions;
};

// The world between two jumps of one instant, or before the first: writes expressions of its structure.
class Moment {
 public:
  // Before the first jump.
  Moment(Known& here, Writing& to, const PossibleModes& modes) : here_(here), to_(to), modes_(&modes) {}
  // Behind `transition`, which `earlier` leaves. `handled`: discrete values that handlers change.
  Moment(Known& here, Writing& to, Moment& earlier, std::uint32_t transition, const std::set<std::uint32_t>& handled)
      : here_(here),
        to_(to),
        earlier_(&earlier),
        handled_(&handled),
        transition_(&earlier.here_.model().transitions[transition]),
        names_(earlier.names_ + names_of_a_moment) {
    const structure::Jump& jump = *earlier.here_.jump(transition);
    for (const structure::Jump::Set& set : jump.sets) sets_[earlier.here_.quantity(set.state)] = set.value;
    for (const structure::Block& block : jump.system.blocks) {
      const ExprId value = earlier.here_.solved(jump.system, block);
      if (value.valid()) earlier.unknowns_[jump.system.unknowns[block.unknowns[0]]] = value;
    }
  }

  ExprId operator()(ExprId e) {
    expr::visit_postorder(here_.model().pool, {e}, visited_, [&](ExprId id) {
      const expr::Node node = here_.model().pool[id];
      const int operands = expr::operand_count(node.op);
      if (expr::is_leaf(node.op)) {
        made_[id] = leaf(id, node);
      } else {
        made_[id] =
            to_.pool.remake(node, operands > 0 ? made_.at(node.a) : ExprId(),
                            operands > 1 ? made_.at(node.b) : ExprId(), operands > 2 ? made_.at(node.c) : ExprId());
      }
    });
    return made_.at(e);
  }

 private:
  ExprId leaf(ExprId id, const expr::Node& node) {
    expr::Pool& pool = to_.pool;
    switch (node.op) {
      case Op::constant:
        return pool.constant(node.number);
      case Op::truth:
        return pool.truth(node.number != 0);
      case Op::time:
        return pool.time();
      case Op::input:
        return pool.input(node.index);
      case Op::input_rate:
        return pool.input_rate(node.index);
      case Op::parameter: {
        const flat::Parameter& parameter = here_.model().parameters[node.index];
        return parameter.low == parameter.high ? pool.constant(parameter.initial) : pool.parameter(node.index);
      }
      case Op::discrete:
        return discrete(node.index);
      case Op::delayed:
        return pool.delayed(node.index + names_);
      default:
        return variable(id, {node.index, node.order});
    }
  }

  ExprId variable(ExprId id, Quantity q) {
    if (const auto own = unknowns_.find(id); own != unknowns_.end()) return (*this)(own->second);
    const ExprId own = to_.pool.variable(q.variable + names_, q.order);
    if (!here_.is_state(q)) {
      const ExprId value = here_.value_of(id);
      if (!value.valid() || depth_ == deepest) return own;
      ++depth_;
      const ExprId made = (*this)(value);
      --depth_;
      return made;
    }
    if (earlier_ == nullptr || here_.moved().contains(q)) return own;
    if (const auto set = sets_.find(q); set != sets_.end()) return (*earlier_)(set->second);
    return earlier_->here_.is_state(q) ? (*earlier_)(earlier_->here_.leaf(q)) : own;
  }

  ExprId discrete(std::uint32_t index) {
    const ExprId own = to_.pool.discrete(index + names_);
    if (earlier_ == nullptr) {
      const auto mode = modes_->find(index);
      return mode != modes_->end() && mode->second.size() == 1 ? to_.pool.constant(*mode->second.begin()) : own;
    }
    const flat::Model& model = here_.model();
    for (const flat::Transition::Goto& to : transition_->gotos)
      if (model.automata[to.automaton].slot == index) return to_.pool.constant(to.mode);
    for (const flat::Event& event : model.events)
      if (event.pulse == index + 1) return pulse(index, own);
    if (handled_->contains(index)) return own;
    return (*earlier_)(earlier_->here_.model().pool.discrete(index));
  }

  // An event is there until its instant is over.
  ExprId pulse(std::uint32_t index, ExprId own) {
    expr::Pool& pool = to_.pool;
    const ExprId before = (*earlier_)(earlier_->here_.model().pool.discrete(index));
    const ExprId happens = pool.make(Op::equal, own, pool.constant(1));
    const bool is_this = here_.model().events[transition_->event].pulse == index + 1;
    to_.assumptions.push_back(
        is_this ? happens : pool.make(Op::logical_or, pool.make(Op::equal, before, pool.constant(0)), happens));
    return own;
  }

  static constexpr std::uint32_t names_of_a_moment = 0x02000000u;

  Known& here_;
  Writing& to_;
  Moment* earlier_ = nullptr;
  const PossibleModes* modes_ = nullptr;              // before the first jump
  const std::set<std::uint32_t>* handled_ = nullptr;  // behind one:
  const flat::Transition* transition_ = nullptr;
  std::map<Quantity, ExprId> sets_;
  std::unordered_map<ExprId, ExprId> unknowns_;  // of the jump that leaves it
  std::uint32_t names_ = 0;                      // indices of its own begin here
  std::vector<bool> visited_;
  std::unordered_map<ExprId, ExprId> made_;
  int depth_ = 0;
};

class Search {
 public:
  Search(modes::Structures& structures, const std::vector<structure::Sorted>& sorted, diag::Sink& diags)
      : structures_(structures), model_(structures.list.front().model), diags_(diags) {
    known_.reserve(sorted.size());
    for (std::size_t k = 0; k < sorted.size(); ++k) known_.emplace_back(structures.list[k], sorted[k]);
    for (const flat::Event& event : model_.events)
      for (const flat::Update& update : event.updates) handled_.insert(update.discrete);
    for (const flat::Plan& plan : model_.plans) planned_.insert({plan.transition, plan.failed});
    for (std::uint32_t i = 0; i < model_.transitions.size(); ++i) order_.push_back(i);
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return model_.transitions[a].event < model_.transitions[b].event;
    });
    for (const flat::Transition& transition : model_.transitions) {
      reads_.push_back(read_by(transition));
      says_.push_back(said_by(transition));
    }
    for (const flat::Automaton& automaton : model_.automata) slots_.insert({Op::discrete, automaton.slot});
  }

  void run() {
    for (const std::uint32_t i : order_) {
      if (planned_.contains(i)) continue;
      std::vector<std::vector<std::uint32_t>> rings;  // by the way that it begins with
      for (const Way& way : ways(i)) rings.push_back(ring_from(i, way));
      const bool is_certain =
          !rings.empty() && std::all_of(rings.begin(), rings.end(), [](const auto& ring) { return !ring.empty(); });
      if (is_certain) report(rings.front());
    }
  }

 private:
  // A transition's ways from one structure to another.
  struct Way {
    std::uint32_t from = 0, to = 0;
    std::vector<modes::Combination> before = {}, after = {};
  };

  std::vector<Way> ways(std::uint32_t i) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, Way> found;
    for (std::uint32_t s = 0; s < known_.size(); ++s) {
      const flat::Transition& transition = known_[s].model().transitions[i];
      if (known_[s].jump(i) == nullptr) continue;
      for (const modes::Combination& before : structures_.list[s].combinations) {
        if (!holds(s, i, before)) continue;
        const modes::Combination after = modes::after(transition, before);
        const std::uint32_t to = structures_.of(after);
        if (to == TACTUS_NO_STRUCTURE) continue;
        Way& way = found.try_emplace({s, to}, Way{s, to}).first->second;
        way.before.push_back(before);
        way.after.push_back(after);
      }
    }
    std::vector<Way> all;
    for (auto& [key, way] : found) all.push_back(std::move(way));
    return all;
  }

  bool holds(std::uint32_t structure, std::uint32_t transition, const modes::Combination& combination) {
    flat::Model& model = known_[structure].model();
    if (!model.transitions[transition].mode.valid()) return true;
    std::uint64_t key = transition;
    for (std::size_t i = 0; i < combination.size(); ++i)
      key += static_cast<std::uint64_t>(combination[i] * structures_.strides[i]) << 32;
    const auto [found, is_new] = holds_.try_emplace(key, false);
    if (is_new) found->second = modes::holds(model, model.transitions[transition].mode, combination);
    return found->second;
  }
  bool is_spent() const { return questions_ >= most_questions || holds_.size() >= most_combinations; }

  // Names that its guard reads, as they are written.
  std::set<std::pair<Op, std::uint32_t>> read_by(const flat::Transition& transition) const {
    std::set<std::pair<Op, std::uint32_t>> read;
    for (const Op op : {Op::variable, Op::discrete, Op::input, Op::time, Op::delayed})
      for (const ExprId leaf : symbolic::leaves(model_.pool, transition.guard, op))
        read.insert({op, model_.pool[leaf].index});
    return read;
  }

  // Names that its equations say the next value of.
  std::set<std::pair<Op, std::uint32_t>> said_by(const flat::Transition& transition) const {
    std::set<std::pair<Op, std::uint32_t>> said;
    for (const flat::Equation& equation : transition.equations) {
      for (const ExprId side : {equation.left, equation.right})
        for (const ExprId leaf : symbolic::leaves(model_.pool, side, Op::variable))
          if (const flat::VariableId of = model_.variables[flat::VariableId(model_.pool[leaf].index)].next_of;
              of.valid())
            said.insert({Op::variable, of.value});
    }
    return said;
  }

  // Whether the guard of the first and the jumps so far say something about all that j's guard reads: else it need not
  // hold.
  bool is_spoken_of(const std::vector<std::uint32_t>& ring, std::uint32_t j) const {
    return std::all_of(reads_[j].begin(), reads_[j].end(), [&](const auto& name) {
      if (reads_[ring.front()].contains(name) || slots_.contains(name)) return true;
      return std::any_of(ring.begin(), ring.end(), [&](std::uint32_t i) { return says_[i].contains(name); });
    });
  }

  // Transitions from i on, taken this way, up to the one before i comes again; empty when that is not certain.
  std::vector<std::uint32_t> ring_from(std::uint32_t i, const Way& first) {
    Writing writing;
    const PossibleModes modes = possible(first.before);
    std::vector<std::unique_ptr<Moment>> moments;
    moments.push_back(std::make_unique<Moment>(known_[first.from], writing, modes));
    const ExprId start = (*moments[0])(whole_guard(known_[first.from].model(), i));
    if (is_impossible(start, writing.pool.truth(true), modes, writing, known_[first.from].model())) return {};  // never
    std::vector<std::uint32_t> ring = {i};
    std::set<std::uint32_t> others;
    for (Way way = first; ring.size() <= longest_ring;) {
      moments.push_back(std::make_unique<Moment>(known_[way.to], writing, *moments.back(), ring.back(), handled_));
      const std::uint32_t next = successor(ring, others, way, *moments.back(), start, modes, writing);
      if (next == no_transition) return {};
      // Where it begins again, it goes on as it did: all modes that it can be in now are among those that it was in
      // then.
      const bool is_round = next == i && std::all_of(way.after.begin(), way.after.end(), [&](const auto& after) {
                              return std::find(first.before.begin(), first.before.end(), after) != first.before.end();
                            });
      if (is_round) return are_apart(ring, others) ? ring : std::vector<std::uint32_t>();
      const std::optional<Way> onward = way_on(next, way);
      if (!onward) return {};
      way = *onward;
      ring.push_back(next);
    }
    return {};
  }

  // From where `way` has led; empty when that may be to several structures.
  std::optional<Way> way_on(std::uint32_t next, const Way& way) {
    if (known_[way.to].jump(next) == nullptr) return std::nullopt;
    Way made{way.to, TACTUS_NO_STRUCTURE, way.after, {}};
    for (const modes::Combination& before : way.after) {
      made.after.push_back(modes::after(known_[way.to].model().transitions[next], before));
      const std::uint32_t to = structures_.of(made.after.back());
      if (to == TACTUS_NO_STRUCTURE || (made.to != TACTUS_NO_STRUCTURE && made.to != to)) return std::nullopt;
      made.to = to;
    }
    return made;
  }

  // The transition that is certainly the next one behind the last of `ring`, `now`, if the guard of the first held at
  // its start; others, which may be taken between, join `others`.
  std::uint32_t successor(const std::vector<std::uint32_t>& ring, std::set<std::uint32_t>& others, const Way& way,
                          Moment& now, ExprId start, const PossibleModes& modes, Writing& writing) {
    const flat::Model& model = known_[way.to].model();
    const auto can_be = [&](std::uint32_t j) {
      return std::any_of(way.after.begin(), way.after.end(),
                         [&](const modes::Combination& after) { return holds(way.to, j, after); });
    };
    const auto guard = [&](std::uint32_t j) { return now(whole_guard(known_[way.to].model(), j)); };
    const auto next = std::find_if(order_.begin(), order_.end(), [&](std::uint32_t j) {
      if (is_spent() || planned_.contains(j) || !is_spoken_of(ring, j) || !can_be(j)) return false;
      return is_impossible(start, writing.pool.make(Op::logical_not, guard(j)), modes, writing, model);
    });
    if (next == order_.end()) return no_transition;
    for (auto before = order_.begin(); before != next; ++before) {
      if (!can_be(*before)) continue;
      if (are_apart(ring, {*before})) {
        others.insert(*before);
      } else if (is_spent() || !is_impossible(start, guard(*before), modes, writing, model)) {
        return no_transition;
      }
    }
    return *next;
  }

  using Names = std::set<std::tuple<Op, std::uint32_t, std::uint32_t>>;  // with the order of a variable

  // Whether none of `others` changes anything that the ring depends on. Modes of others may change what equations hold.
  bool are_apart(const std::vector<std::uint32_t>& ring, const std::set<std::uint32_t>& others) {
    if (others.empty()) return true;
    Names read;
    for (const std::uint32_t i : ring) {
      const Names& own = all_read_by(i);
      read.insert(own.begin(), own.end());
    }
    return std::all_of(others.begin(), others.end(), [&](std::uint32_t other) {
      if (planned_.contains(other) || (known_.size() > 1 && !model_.transitions[other].gotos.empty())) return false;
      for (const auto& name : changed_by(other))
        if (read.contains(name)) return false;
      return true;
    });
  }

  // What the modes, the guard and the jump of a transition read in any structure, through definitions.
  const Names& all_read_by(std::uint32_t i) {
    const auto [found, is_new] = all_read_.try_emplace(i);
    if (!is_new) return found->second;
    Names& read = found->second;
    for (Known& known : known_) {
      const flat::Transition& transition = known.model().transitions[i];
      std::vector<ExprId> roots = {transition.guard};
      if (transition.mode.valid()) roots.push_back(transition.mode);
      if (const structure::Jump* jump = known.jump(i)) {
        for (const flat::Equation& equation : jump->system.equations)
          roots.insert(roots.end(), {equation.left, equation.right});
        for (const structure::Jump::Set& set : jump->sets) roots.push_back(set.value);
      }
      known.read(roots, read);
    }
    return read;
  }

  Names changed_by(std::uint32_t i) {
    Names changed;
    for (const flat::Transition::Goto& to : model_.transitions[i].gotos)
      changed.insert({Op::discrete, model_.automata[to.automaton].slot, 0});
    if (const std::uint32_t pulse = model_.events[model_.transitions[i].event].pulse; pulse > 0)
      changed.insert({Op::discrete, pulse - 1, 0});
    for (Known& known : known_) {
      const structure::Jump* jump = known.jump(i);
      if (jump == nullptr) continue;
      for (const structure::Jump::Set& set : jump->sets) {
        const Quantity q = known.quantity(set.state);
        changed.insert({Op::variable, q.variable, q.order});
      }
      for (const Quantity& q : known.moved()) changed.insert({Op::variable, q.variable, q.order});
    }
    return changed;
  }

  bool is_impossible(ExprId first, ExprId second, const PossibleModes& modes, Writing& writing,
                     const flat::Model& model) {
    ++questions_;
    proof::Question question;
    question.pool = &writing.pool;
    question.first = first;
    question.second = second;
    question.assumptions = writing.assumptions;
    add_modes(modes, question, writing.pool);
    add_ranges(model, question, writing.pool);
    return proof::is_contradictory(proof::make_tape(question));
  }

  static ExprId whole_guard(flat::Model& model, std::uint32_t transition) {
    const flat::Transition& t = model.transitions[transition];
    return t.mode.valid() ? model.pool.make(Op::logical_and, t.mode, t.guard) : t.guard;
  }

  PossibleModes possible(const std::vector<modes::Combination>& combinations) const {
    PossibleModes modes;
    for (std::size_t a = 0; a < model_.automata.size(); ++a)
      for (const modes::Combination& each : combinations) modes[model_.automata[a].slot].insert(each[a]);
    return modes;
  }

  // What automata can be that the question reads.
  static void add_modes(const PossibleModes& modes, proof::Question& to, expr::Pool& pool) {
    std::set<std::uint32_t> read;
    std::vector<ExprId> roots = to.assumptions;
    roots.insert(roots.end(), {to.first, to.second});
    for (const ExprId root : roots)
      for (const ExprId leaf : symbolic::leaves(pool, root, Op::discrete)) read.insert(pool[leaf].index);
    for (const auto& [slot, values] : modes) {
      if (!read.contains(slot)) continue;
      ExprId either;
      for (const std::uint32_t value : values) {
        const ExprId one = pool.make(Op::equal, pool.discrete(slot), pool.constant(value));
        either = either.valid() ? pool.make(Op::logical_or, either, one) : one;
      }
      to.assumptions.push_back(either);
    }
  }

  static void add_ranges(const flat::Model& model, proof::Question& to, expr::Pool& pool) {
    to.ranges.push_back({pool.time(), model.settings.starting_time, std::numeric_limits<double>::infinity()});
    for (std::uint32_t p = 0; p < model.parameters.size(); ++p) {
      const flat::Parameter& parameter = model.parameters[p];
      if (parameter.low < parameter.high)
        to.ranges.push_back({pool.parameter(p), std::min(parameter.low, parameter.initial),
                             std::max(parameter.high, parameter.initial)});
    }
  }

  // --- Whether a run could slide instead
  // ---------------------------------------------------------------------------------

  // What the guard compares, as differences.
  static std::vector<ExprId> surfaces(expr::Pool& pool, ExprId guard) {
    std::vector<ExprId> compared, found;
    std::vector<bool> visited;
    expr::visit_postorder(pool, {guard}, visited, [&](ExprId id) {
      const Op op = pool[id].op;
      if (op == Op::less || op == Op::less_equal || op == Op::equal || op == Op::not_equal) compared.push_back(id);
    });
    for (const ExprId id : compared) {
      const expr::Node node = pool[id];
      const ExprId difference = pool.subtract(node.b, node.a);
      bool moves = false;
      for (const Op op : {Op::variable, Op::time, Op::input, Op::delayed})
        moves = moves || !symbolic::leaves(pool, difference, op).empty();
      if (moves) found.push_back(difference);
    }
    return found;
  }

  static ExprId is_near(expr::Pool& pool, ExprId surface) {
    return pool.make(Op::logical_and, pool.make(Op::less_equal, surface, pool.constant(near_surface)),
                     pool.make(Op::less_equal, pool.constant(-near_surface), surface));
  }

  // Whether two of them can be at their surfaces at once, in one structure.
  bool can_slide(const std::vector<std::uint32_t>& ring) {
    if (ring.size() < 2) return false;
    for (const std::uint32_t i : ring) {
      const std::vector<Way> all = ways(i);
      if (std::all_of(all.begin(), all.end(), [](const Way& way) { return way.from != way.to; })) return false;
    }
    for (Known& known : known_) {
      Writing writing;
      expr::Pool& pool = writing.pool;
      const PossibleModes any;
      Moment copy(known, writing, any);
      std::vector<std::vector<ExprId>> all;
      for (const std::uint32_t i : ring)
        if (known.jump(i) != nullptr) all.push_back(surfaces(pool, copy(known.model().transitions[i].guard)));
      for (std::size_t a = 0; a < all.size(); ++a)
        for (std::size_t b = a + 1; b < all.size(); ++b)
          for (const ExprId one : all[a])
            for (const ExprId other : all[b])
              if (is_spent() || !never_meet(known.model(), pool, one, other)) return true;
    }
    return false;
  }

  bool never_meet(const flat::Model& model, expr::Pool& pool, ExprId one, ExprId other) {
    ++questions_;
    proof::Question question;
    question.pool = &pool;
    question.first = is_near(pool, one);
    question.second = is_near(pool, other);
    add_ranges(model, question, pool);
    return proof::is_contradictory(proof::make_tape(question));
  }

  // --- What is told
  // --------------------------------------------------------------------------------------------------------

  void report(std::vector<std::uint32_t> ring) {
    const auto name = [&](std::uint32_t i) { return "`" + model_.transitions[i].name + "`"; };
    // It begins with the first in the text.
    std::rotate(ring.begin(),
                std::min_element(ring.begin(), ring.end(),
                                 [&](std::uint32_t a, std::uint32_t b) {
                                   return model_.transitions[a].event < model_.transitions[b].event;
                                 }),
                ring.end());
    if (!told_.insert(ring).second) return;
    const flat::Transition& first = model_.transitions[ring.front()];
    if (ring.size() == 1) {
      auto told = diags_.report(first.span, jumps::leads_to_itself, first.name);
      if (!told) return;
      told.hint(
          "add to the guard what the jump changes, as in `y <= 0 && y' < 0`, or go to a mode in which the transition "
          "is "
          "not taken");
      return;
    }
    std::string chain;
    for (const std::uint32_t i : ring) chain += name(i) + " -> ";
    chain += name(ring.front());
    auto told = can_slide(ring) ? diags_.report(first.span, jumps::may_lead_in_a_ring, chain)
                                : diags_.report(first.span, jumps::leads_in_a_ring, chain);
    if (!told) return;
    for (std::size_t k = 0; k < ring.size(); ++k) {
      told.related(model_.transitions[ring[k]].span, "after {} the guard of {} holds", name(ring[k]),
                   name(ring[(k + 1) % ring.size()]));
    }
    told.hint(
        "let the guard of one be false after the one before it: two thresholds instead of one, a time that has to "
        "pass, "
        "or an event of its own");
  }

  modes::Structures& structures_;
  flat::Model& model_;
  diag::Sink& diags_;
  std::vector<Known> known_;
  std::set<std::uint32_t> handled_;                            // discrete values that handlers change
  std::set<std::uint32_t> planned_;                            // transitions that wait for a search
  std::vector<std::uint32_t> order_;                           // transitions as a run asks for them
  std::vector<std::set<std::pair<Op, std::uint32_t>>> reads_;  // by transition: its guard
  std::vector<std::set<std::pair<Op, std::uint32_t>>> says_;   // its jump
  std::set<std::pair<Op, std::uint32_t>> slots_;               // of modes
  std::map<std::uint32_t, Names> all_read_;
  std::set<std::vector<std::uint32_t>> told_;
  int questions_ = 0;
  std::unordered_map<std::uint64_t, bool> holds_;  // a transition's modes, by it and their combination
};

}  // namespace

void find_cycles(modes::Structures& structures, const std::vector<structure::Sorted>& sorted, diag::Sink& diags) {
  if (structures.list.front().model.transitions.empty()) return;
  Search(structures, sorted, diags).run();
}

bool is_endless(const diag::Sink& diags) {
  return std::any_of(diags.diagnostics().begin(), diags.diagnostics().end(), [](const diag::Diagnostic& told) {
    return told.code == jumps::leads_to_itself.code || told.code == jumps::leads_in_a_ring.code;
  });
}

}  // namespace compiler
