#include "compiler/jumps/jumps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/check.h"
#include "compiler/jumps/diagnostics.h"
#include "compiler/structure/incidence.h"
#include "compiler/structure/matching.h"
#include "compiler/structure/names.h"
#include "compiler/symbolic/symbolic.h"

namespace jumps {
namespace {

using expr::ExprId;
using expr::Op;
using modes::Combination;
using structure::Sorted;

// A variable with its order: the same in the models of all structures.
struct Quantity {
  std::uint32_t variable = 0;
  std::uint32_t order = 0;
  auto operator<=>(const Quantity&) const = default;
};

Quantity quantity_of(const expr::Pool& pool, ExprId leaf) { return {pool[leaf].index, pool[leaf].order}; }

// What a structure knows of its quantities.
struct Knowledge {
  std::set<Quantity> states;
  std::map<Quantity, std::uint32_t> block_of;  // unknowns of the motion
  const Sorted* sorted = nullptr;

  Knowledge(const flat::Model& model, const Sorted& of) : sorted(&of) {
    for (ExprId leaf : of.states) states.insert(quantity_of(model.pool, leaf));
    for (std::uint32_t b = 0; b < of.motion.blocks.size(); ++b) {
      for (std::uint32_t u : of.motion.blocks[b].unknowns)
        block_of.emplace(quantity_of(model.pool, of.motion.unknowns[u]), b);
    }
  }
  bool is_constant(Quantity q) const { return sorted->constants.contains(q.variable); }
  bool has(Quantity q) const { return states.contains(q) || block_of.contains(q) || is_constant(q); }
};

// One transition, from one structure.
class Jump {
 public:
  Jump(modes::Structures& structures, const std::vector<Knowledge>& known,
       const std::vector<flat::Condition>& conditions, std::uint32_t source, std::uint32_t transition,
       std::vector<std::uint32_t> targets, diag::Sink& diags)
      : structures_(structures),
        known_(known),
        conditions_(conditions),
        source_(source),
        index_(transition),
        targets_(std::move(targets)),
        model_(structures.list[source].model),
        pool_(model_.pool),
        transition_(model_.transitions[transition]),
        diags_(diags) {
    for (std::uint32_t v = 0; v < model_.variables.size(); ++v) {
      if (model_.variables[flat::VariableId(v)].next_of.valid())
        twins_[model_.variables[flat::VariableId(v)].next_of.value] = v;
    }
  }

  // Derivatives that must be worked out before the jump can read them: those the structure does not have.
  std::vector<Quantity> missing() {
    std::vector<Quantity> wanted;
    find_mentioned();
    for (Quantity q : states_after()) {
      if (mentioned_.contains(q) || known_[source_].has(q)) continue;
      if (!model_.variables[flat::VariableId(q.variable)].is_absent) wanted.push_back(q);
    }
    for_each_read_before([&](Quantity q) {
      if (!known_[source_].has(q) && !model_.variables[flat::VariableId(q.variable)].is_absent) wanted.push_back(q);
    });
    return wanted;
  }

  std::optional<structure::Jump> make() {
    find_mentioned();
    if (!knows_what_is_read()) return std::nullopt;
    for (flat::Equation equation : transition_.equations) {
      equation.left = here(equation.left);
      equation.right = here(equation.right);
      add(equation);
    }
    for (std::uint32_t variable : transition_.kept) {
      for (Quantity q : mentioned_) {
        if (q.variable == variable) add({after_leaf(q), before(q), transition_.span});
      }
    }
    if (transition_.enforces_velocities && !enforce_velocities()) return std::nullopt;
    if (!work_out_what_is_asked_for()) return std::nullopt;
    if (!sort()) return std::nullopt;
    for (Quantity q : states_after()) {
      const ExprId value = value_after(q);
      if (!value.valid()) return std::nullopt;
      // In place already when it is a state here, too.
      if (known_[source_].states.contains(q) && value == pool_.variable(q.variable, q.order)) continue;
      jump_.sets.push_back({pool_.variable(q.variable, q.order), value});
    }
    jump_.transition = index_;
    return std::move(jump_);
  }

 private:
  // What the equations of the transition read of the time before it.
  template <class Visit>
  void for_each_read_before(Visit visit) const {
    for (const flat::Equation& equation : transition_.equations) {
      for (ExprId side : {equation.left, equation.right}) {
        for (ExprId leaf : symbolic::leaves(pool_, side, Op::variable)) {
          if (!model_.variables[flat::VariableId(pool_[leaf].index)].is_of_jump) visit(quantity_of(pool_, leaf));
        }
      }
    }
  }

  bool knows_what_is_read() {
    bool is_sound = true;
    for_each_read_before([&](Quantity q) {
      if (known_[source_].has(q) || !is_sound) return;
      is_sound = false;
      diags_
          .report(transition_.span, not_there_before, transition_.name, name_of(q),
                  modes::describe(model_, structures_.list[source_].combinations.front()))
          .hint("read what exists in the mode that is left; or let it be defined in all modes");
    });
    return is_sound;
  }

  std::set<Quantity> states_after() const {
    std::set<Quantity> states;
    for (std::uint32_t t : targets_) states.insert(known_[t].states.begin(), known_[t].states.end());
    return states;
  }

  std::string targets() const {
    std::string text;
    for (std::uint32_t t : targets_) {
      const modes::Structure& structure = structures_.list[t];
      const std::string name = structure.model.automata.empty()
                                   ? "the model"
                                   : "`" + modes::describe(model_, structure.combinations.front()) + "`";
      text += (text.empty() ? "" : ", ") + name;
    }
    return text;
  }

  std::string name_of(Quantity q) const { return flat::primed(structure::variable_name(model_, q.variable), q.order); }

  // The variable that is `v` after the jump.
  std::uint32_t twin(std::uint32_t v) {
    auto [found, is_new] = twins_.try_emplace(v, static_cast<std::uint32_t>(model_.variables.size()));
    if (is_new) {
      const flat::Variable variable = model_.variables[flat::VariableId(v)];
      model_.variables.push({fmt::format("next({})", variable.name), variable.span, true, flat::VariableId(v), true});
    }
    return found->second;
  }
  ExprId after_leaf(Quantity q) { return pool_.variable(twin(q.variable), q.order); }

  std::uint32_t impulse(const std::string& of) {
    model_.variables.push({fmt::format("the impulse of {}", of), transition_.enforce_span, true, {}, true});
    return static_cast<std::uint32_t>(model_.variables.size() - 1);
  }

  // With the numbers that the structure knows.
  ExprId here(ExprId e) {
    symbolic::Substitution numbers(pool_, [&](ExprId leaf) { return number_of(source_, leaf); });
    return numbers(e);
  }
  ExprId number_of(std::uint32_t structure, ExprId leaf) {
    if (pool_[leaf].op != Op::variable) return {};
    const auto& constants = known_[structure].sorted->constants;
    auto found = constants.find(pool_[leaf].index);
    if (found == constants.end()) return {};
    return pool_.constant(pool_[leaf].order == 0 ? found->second : 0);
  }

  // What was its value; invalid when it had none.
  ExprId before(Quantity q) {
    const ExprId leaf = pool_.variable(q.variable, q.order);
    if (known_[source_].is_constant(q)) return number_of(source_, leaf);
    return known_[source_].has(q) ? leaf : ExprId();
  }

  // A state's value after the jump; reports when it has none.
  ExprId value_after(Quantity q) {
    if (mentioned_.contains(q)) return after_leaf(q);
    if (const ExprId value = before(q); value.valid()) return value;
    for (const flat::Condition& condition : conditions_) {
      if (condition.variable.value == q.variable && condition.order == q.order && !condition.later)
        return here(condition.value);
    }
    diags_.report(transition_.span, no_value_after, transition_.name, targets(), name_of(q))
        .hint("say it in the transition: `next({}) = ..;`, or give it a boundary value", name_of(q));
    return {};
  }

  void add(const flat::Equation& equation) { jump_.system.equations.push_back(equation); }

  // States after the jump that are its unknowns.
  void find_mentioned() {
    mentioned_.clear();
    const std::set<Quantity> states = states_after();
    for (const flat::Equation& equation : transition_.equations) {
      for (ExprId side : {equation.left, equation.right}) {
        for (ExprId leaf : symbolic::leaves(pool_, side, Op::variable)) {
          const flat::VariableId of = model_.variables[flat::VariableId(pool_[leaf].index)].next_of;
          if (of.valid() && states.contains({of.value, pool_[leaf].order}))
            mentioned_.insert({of.value, pool_[leaf].order});
        }
      }
    }
    if (!transition_.enforces_velocities || targets_.size() != 1) return;
    const Knowledge& target = known_[targets_.front()];
    for (std::uint32_t b : impact().blocks) {
      for (std::uint32_t u : target.sorted->motion.blocks[b].unknowns) {
        const Quantity q = quantity_of(target_pool(), target.sorted->motion.unknowns[u]);
        if (q.order > 0 && target.states.contains({q.variable, q.order - 1}))
          mentioned_.insert({q.variable, q.order - 1});
      }
    }
  }

  const expr::Pool& target_pool() const { return structures_.list[targets_.front()].model.pool; }

  // An expression of the structure that is entered, at the values after the jump, in the pool of the one that is left.
  // What it reads that is no state there is asked for.
  ExprId after(ExprId e) {
    const flat::Model& target = structures_.list[targets_.front()].model;
    const Knowledge& knows = known_[targets_.front()];
    std::vector<ExprId> order;
    std::vector<bool> visited;
    expr::visit_postorder(target.pool, {e}, visited, [&](ExprId id) { order.push_back(id); });
    for (ExprId id : order) {
      if (moved_.contains(id)) continue;
      const expr::Node node = target.pool[id];
      ExprId made;
      if (node.op == Op::variable) {
        const Quantity q{node.index, node.order};
        if (target.variables[flat::VariableId(node.index)].is_of_jump) {
          made = pool_.variable(node.index, node.order);
        } else if (knows.is_constant(q)) {
          made = pool_.constant(node.order == 0 ? knows.sorted->constants.at(node.index) : 0);
        } else if (knows.states.contains(q)) {
          made = value_after(q);
          if (!made.valid()) made = pool_.constant(0);
        } else {
          made = after_leaf(q);
          asked_.push_back(q);
        }
      } else if (expr::is_leaf(node.op)) {
        made = other_leaf(node);
      } else {
        const int operands = expr::operand_count(node.op);
        made = pool_.remake(node, moved_.at(node.a), operands >= 2 ? moved_.at(node.b) : ExprId(),
                            operands >= 3 ? moved_.at(node.c) : ExprId());
      }
      moved_[id] = made;
    }
    return moved_.at(e);
  }

  ExprId other_leaf(const expr::Node& node) {
    switch (node.op) {
      case Op::constant:
        return pool_.constant(node.number);
      case Op::truth:
        return pool_.truth(node.number != 0);
      case Op::time:
        return pool_.time();
      case Op::input:
        return pool_.input(node.index);
      case Op::input_rate:
        return pool_.input_rate(node.index);
      case Op::parameter:
        return pool_.parameter(node.index);
      case Op::delayed:
        return pool_.delayed(node.index);
      default:
        TACTUS_CHECK(node.op == Op::discrete);
        for (const flat::Transition::Goto& to : transition_.gotos) {
          if (model_.automata[to.automaton].slot == node.index) return pool_.constant(to.mode);
        }
        return pool_.discrete(node.index);
    }
  }

  // --- enforce velocities: the impact
  // -------------------------------------------------------------------------------------
  //
  // With E z + B l = f the equations that give the rates z and the forces l of the structure that is entered, an
  // impulse L changes what z is the rate of by d where E d + B L = 0, and the constraints, once differentiated less
  // than in that block, hold at the values after: these are the velocities that the constraints allow, reached along
  // the directions in which their forces act.

  // Beyond the blocks with constraints, an impulse goes on through those that read what it changes, as long as they
  // lead to rates of states: friction, T = mu * N, then changes the other velocities, too. The book of energy has its
  // own account of jumps.
  struct Impact {
    std::vector<std::uint32_t> blocks;  // of the motion in the structure that is entered, in order
    bool has_forces = false;
  };
  Impact impact() const {
    const Knowledge& target = known_[targets_.front()];
    const structure::System& motion = target.sorted->motion;
    const std::vector<bool> leads_to_rates = blocks_behind_rates(target);
    Impact found;
    std::set<ExprId> changed;
    for (std::uint32_t b = 0; b < motion.blocks.size(); ++b) {
      const structure::Block& block = motion.blocks[b];
      const bool has_constraint = std::any_of(block.equations.begin(), block.equations.end(),
                                              [&](std::uint32_t e) { return motion.equations[e].times > 0; });
      bool reads = false;
      for_each_leaf(motion, block, [&](ExprId leaf) { reads = reads || changed.contains(leaf); });
      if (!has_constraint && !reads) continue;
      // A force that only a constraint asks for may be worked out behind it, from the rate that the constraint makes.
      for (std::uint32_t u : block.unknowns)
        found.has_forces = found.has_forces || target_pool()[motion.unknowns[u]].order == 0;
      if (!has_constraint && !leads_to_rates[b]) continue;
      for (std::uint32_t u : block.unknowns) changed.insert(motion.unknowns[u]);
      found.blocks.push_back(b);
    }
    return found;
  }

  // By block of the motion: whether rates of states follow from it.
  std::vector<bool> blocks_behind_rates(const Knowledge& target) const {
    const structure::System& motion = target.sorted->motion;
    std::vector<bool> are(motion.blocks.size());
    std::set<ExprId> wanted;
    for (std::size_t b = motion.blocks.size(); b-- > 0;) {
      for (std::uint32_t u : motion.blocks[b].unknowns) {
        const Quantity q = quantity_of(target_pool(), motion.unknowns[u]);
        const bool is_rate = q.order > 0 && target.states.contains({q.variable, q.order - 1});
        const bool is_of_book = structure::variable_name(model_, q.variable).starts_with("book.");
        if ((is_rate && !is_of_book) || wanted.contains(motion.unknowns[u])) are[b] = true;
      }
      if (are[b]) for_each_leaf(motion, motion.blocks[b], [&](ExprId leaf) { wanted.insert(leaf); });
    }
    return are;
  }

  template <class Visit>
  void for_each_leaf(const structure::System& motion, const structure::Block& block, Visit visit) const {
    for (std::uint32_t e : block.equations) {
      for (ExprId side : {motion.equations[e].left, motion.equations[e].right}) {
        for (ExprId leaf : symbolic::leaves(target_pool(), side, Op::variable)) visit(leaf);
      }
    }
  }

  bool enforce_velocities() {
    if (targets_.size() != 1) return report_several();
    const Knowledge& target = known_[targets_.front()];
    flat::Model& entered = structures_.list[targets_.front()].model;
    const structure::System& motion = target.sorted->motion;
    const Impact hit = impact();
    std::map<ExprId, ExprId> impulses;  // of each unknown that has one
    for (std::uint32_t b : hit.blocks) {
      const structure::Block& block = motion.blocks[b];
      for (std::uint32_t u : block.unknowns) {
        const Quantity q = quantity_of(entered.pool, motion.unknowns[u]);
        ExprId& impulse_of = impulses[motion.unknowns[u]];
        if (q.order > 0 && target.states.contains({q.variable, q.order - 1})) {
          const Quantity moved{q.variable, q.order - 1};
          ExprId old = before(moved);
          if (!old.valid()) old = pool_.constant(0);
          impulse_of = pool_.subtract(after_leaf(moved), old);
        } else {
          impulse_of = pool_.variable(impulse(name_of(q)), 0);
        }
      }
      for (std::uint32_t e : block.equations) {
        const flat::Equation& equation = motion.equations[e];
        flat::Equation made{ExprId(), ExprId(), equation.span, flat::differentiated};
        if (equation.times > 0) {
          const flat::Equation& once_less = target.sorted->constraints[equation.integral];
          made.left = after(once_less.left);
          made.right = after(once_less.right);
        } else {
          const ExprId residual = entered.pool.subtract(equation.left, equation.right);
          made.left = pool_.constant(0);
          made.right = pool_.constant(0);
          for (const auto& [unknown, impulse_of] : impulses) {
            if (!symbolic::contains(entered.pool, residual, unknown)) continue;
            const auto slope = symbolic::differentiate(entered.pool, residual, unknown);
            TACTUS_CHECK(slope.has_value());
            made.left = pool_.add(made.left, pool_.multiply(after(*slope), impulse_of));
          }
        }
        add(made);
      }
    }
    if (hit.has_forces) return true;
    diags_.report(transition_.enforce_span, nothing_to_enforce, transition_.name, targets())
        .hint(
            "an impulse needs a force to act along: write the constraint with its force (`m * p'' = F + N * n; gap = "
            "0;`), or "
            "say what the velocities are, `next(p') = ..;`");
    return false;
  }

  bool report_several() {
    diags_.report(transition_.span, several_structures, transition_.name, targets())
        .hint("say `in` which modes it is taken, so that it enters one of them; or write one transition for each");
    return false;
  }

  // What is algebraic after the jump, with the equations that it follows from there.
  bool work_out_what_is_asked_for() {
    std::set<Quantity> states = states_after();
    for (const flat::Equation& equation : std::vector(jump_.system.equations)) {
      for (ExprId side : {equation.left, equation.right}) {
        for (ExprId leaf : symbolic::leaves(pool_, side, Op::variable)) {
          const flat::VariableId of = model_.variables[flat::VariableId(pool_[leaf].index)].next_of;
          if (of.valid() && !states.contains({of.value, pool_[leaf].order}))
            asked_.push_back({of.value, pool_[leaf].order});
        }
      }
    }
    std::set<std::uint32_t> done;
    while (!asked_.empty()) {
      const Quantity q = asked_.back();
      asked_.pop_back();
      if (targets_.size() != 1) return report_several();
      const Knowledge& target = known_[targets_.front()];
      if (target.is_constant(q)) {
        if (said_.insert(q).second) {
          add({after_leaf(q), pool_.constant(q.order == 0 ? target.sorted->constants.at(q.variable) : 0),
               transition_.span, flat::differentiated});
        }
        continue;
      }
      auto block = target.block_of.find(q);
      if (block == target.block_of.end()) {
        diags_.report(transition_.span, not_there_after, transition_.name, name_of(q), targets())
            .hint("use what exists in the mode that is entered, or the value before the jump: `{}`", name_of(q));
        return false;
      }
      if (!done.insert(block->second).second) continue;
      const structure::System& motion = target.sorted->motion;
      for (std::uint32_t e : motion.blocks[block->second].equations) {
        const flat::Equation& equation = motion.equations[e];
        add({after(equation.left), after(equation.right), equation.span, flat::differentiated});
      }
    }
    return true;
  }

  bool sort() {
    structure::System& system = jump_.system;
    std::set<ExprId> unknowns;
    for (std::uint32_t v : transition_.unknowns) unknowns.insert(pool_.variable(v, 0));
    for (const flat::Equation& equation : system.equations) {
      for (ExprId side : {equation.left, equation.right}) {
        for (ExprId leaf : symbolic::leaves(pool_, side, Op::variable)) {
          if (model_.variables[flat::VariableId(pool_[leaf].index)].is_of_jump) unknowns.insert(leaf);
        }
      }
    }
    system.unknowns.assign(unknowns.begin(), unknowns.end());
    const structure::Rows rows = structure::incidence(pool_, system);
    const structure::Matching matching = structure::match(rows, static_cast<std::uint32_t>(system.unknowns.size()));
    bool is_sound = true;
    for (std::size_t e = 0; e < system.equations.size(); ++e) {
      if (matching.unknown_of[e] != structure::unmatched) continue;
      is_sound = false;
      diags_
          .report(system.equations[e].span, too_many_equations, transition_.name,
                  fmt::format("{} = {}", flat::print(model_, system.equations[e].left),
                              flat::print(model_, system.equations[e].right)))
          .hint("drop it, or name another value after the jump that it determines, `next(x)`");
      break;
    }
    for (std::size_t u = 0; u < system.unknowns.size(); ++u) {
      if (matching.equation_of[u] != structure::unmatched) continue;
      is_sound = false;
      const ExprId leaf = system.unknowns[u];
      auto report = diags_.report(transition_.span, undetermined_after, transition_.name, unknown_name(leaf));
      if (system.unknowns.size() > 1) {
        std::vector<std::string> names;
        for (ExprId unknown : system.unknowns) names.push_back(fmt::format("`{}`", unknown_name(unknown)));
        const std::size_t count = system.equations.size();
        report.hint("it has {} equation{} for {} unknowns: {}", count, count == 1 ? "" : "s", names.size(),
                    fmt::format("{}", fmt::join(names, ", ")));
      }
      const flat::VariableId of = next_of(leaf);
      if (of.valid())
        report.hint("add an equation for it; or, where it does not change, `keep {};`",
                    name_of({of.value, pool_[leaf].order}));
      else
        report.hint("add an equation for it");
      break;
    }
    if (!is_sound) return false;
    structure::sort_blocks(system, rows, matching);
    return true;
  }

  flat::VariableId next_of(ExprId leaf) const { return model_.variables[flat::VariableId(pool_[leaf].index)].next_of; }
  // As the person wrote it: a name of the transition's own stands there without the transition's.
  std::string unknown_name(ExprId leaf) const {
    const flat::VariableId of = next_of(leaf);
    if (of.valid()) return fmt::format("next({})", name_of({of.value, pool_[leaf].order}));
    const std::string name = structure::leaf_name(model_, leaf);
    return name.starts_with(transition_.name + ".") ? name.substr(transition_.name.size() + 1) : name;
  }

  modes::Structures& structures_;
  const std::vector<Knowledge>& known_;
  const std::vector<flat::Condition>&
      conditions_;  // boundary values of all modes; expressions of every structure's pool
  const std::uint32_t source_;
  const std::uint32_t index_;
  const std::vector<std::uint32_t> targets_;
  flat::Model& model_;
  expr::Pool& pool_;
  const flat::Transition transition_;
  diag::Sink& diags_;
  std::unordered_map<std::uint32_t, std::uint32_t> twins_;
  std::set<Quantity> mentioned_;
  std::vector<Quantity> asked_;
  std::set<Quantity> said_;
  std::unordered_map<ExprId, ExprId> moved_;  // from the pool of the structure that is entered
  structure::Jump jump_;
};

class Jumps {
 public:
  Jumps(modes::Structures& structures, std::vector<structure::Override>& overrides, diag::Sink& diags)
      : structures_(structures), overrides_(overrides), diags_(diags) {}

  std::optional<std::vector<Sorted>> run() {
    if (structures_.list.size() == 1 && structures_.list.front().model.transitions.empty()) {
      auto only = structure::sort(structures_.list.front().model, overrides_, diags_);
      if (!only) return std::nullopt;
      sorted_.push_back(std::move(*only));
      return std::move(sorted_);
    }
    // What jumps read may have to be worked out, which may make new states, which others then have to give.
    std::vector<std::set<Quantity>> asked(structures_.list.size());
    const modes::Structures given = structures_;
    conditions_ = given.list.front().model.conditions;
    if (!keep_own_starts(given)) return std::nullopt;
    constexpr int most_rounds = 8;
    for (int round = 0; round < most_rounds; ++round) {
      for (std::size_t k = 0; k < given.list.size(); ++k) {
        structures_.list[k].model = given.list[k].model;
        if (structures_.list.size() > 1) structures_.list[k].model.conditions = own_conditions_[k];
      }
      if (!sort_all(asked)) return std::nullopt;
      bool is_enough = true;
      each_jump([&](std::uint32_t k, Jump& jump) {
        for (Quantity q : jump.missing()) is_enough = !asked[k].insert(q).second && is_enough;
        return true;
      });
      if (is_enough) break;
    }
    const bool is_made = each_jump([&](std::uint32_t k, Jump& jump) {
      auto made = jump.make();
      if (made) sorted_[k].jumps.push_back(std::move(*made));
      return made.has_value();
    });
    if (!is_made) return std::nullopt;
    return std::move(sorted_);
  }

 private:
  // A start of what is a state in other modes only is not for this one.
  bool keep_own_starts(const modes::Structures& given) {
    if (given.list.size() < 2) return true;
    std::set<Quantity> anywhere;
    std::vector<std::set<Quantity>> states;
    for (const modes::Structure& structure : given.list) {
      flat::Model model = structure.model;
      std::vector<structure::Override> open = overrides_;
      auto sorted = structure::sort(model, open, diags_, structure::Begins::elsewhere);
      if (!sorted) return false;
      states.push_back(Knowledge(model, *sorted).states);
      anywhere.insert(states.back().begin(), states.back().end());
    }
    for (std::size_t k = 0; k < given.list.size(); ++k) {
      auto& own = own_conditions_.emplace_back(given.list[k].model.conditions);
      std::erase_if(own, [&](const flat::Condition& condition) {
        const Quantity q{condition.variable.value, condition.order};
        return anywhere.contains(q) && !states[k].contains(q);
      });
    }
    return true;
  }

  bool sort_all(const std::vector<std::set<Quantity>>& asked) {
    sorted_.clear();
    known_.clear();
    std::vector<structure::Override> left = overrides_;
    for (std::size_t k = 0; k < structures_.list.size(); ++k) {
      flat::Model& model = structures_.list[k].model;
      for (Quantity q : asked[k]) model.asked.push_back(model.pool.variable(q.variable, q.order));
      std::vector<structure::Override> open = overrides_;
      auto sorted = structure::sort(
          model, open, diags_, structures_.list[k].is_start ? structure::Begins::here : structure::Begins::elsewhere);
      if (!sorted) return false;
      std::erase_if(left, [&](const structure::Override& o) {
        return std::none_of(open.begin(), open.end(), [&](const auto& other) { return other.name == o.name; });
      });
      sorted_.push_back(std::move(*sorted));
    }
    for (std::size_t k = 0; k < sorted_.size(); ++k) known_.emplace_back(structures_.list[k].model, sorted_[k]);
    left_ = std::move(left);
    return true;
  }

  template <class Visit>
  bool each_jump(Visit visit) {
    for (std::uint32_t k = 0; k < structures_.list.size(); ++k) {
      modes::Structure& structure = structures_.list[k];
      for (std::uint32_t t = 0; t < structure.model.transitions.size(); ++t) {
        std::set<std::uint32_t> targets;
        for (const Combination& combination : structure.combinations) {
          const flat::Transition& transition = structure.model.transitions[t];
          if (modes::holds(structure.model, transition.mode, combination))
            targets.insert(structures_.of(modes::after(transition, combination)));
        }
        if (targets.empty()) continue;
        Jump jump(structures_, known_, conditions_, k, t, {targets.begin(), targets.end()}, diags_);
        if (!visit(k, jump)) return false;
      }
    }
    overrides_ = left_;
    return true;
  }

  modes::Structures& structures_;
  std::vector<structure::Override>& overrides_;
  diag::Sink& diags_;
  std::vector<Sorted> sorted_;
  std::vector<Knowledge> known_;
  std::vector<structure::Override> left_;
  std::vector<flat::Condition> conditions_;                   // of all modes
  std::vector<std::vector<flat::Condition>> own_conditions_;  // by structure
};

}  // namespace

std::optional<std::vector<Sorted>> sort(modes::Structures& structures, std::vector<structure::Override>& overrides,
                                        diag::Sink& diags) {
  return Jumps(structures, overrides, diags).run();
}

std::string dump(const flat::Model& model, const Sorted& sorted) {
  std::string out;
  for (const structure::Jump& jump : sorted.jumps) {
    out += fmt::format("{}\n", model.transitions[jump.transition].name);
    for (const structure::Block& block : jump.system.blocks) {
      std::string unknowns;
      for (std::uint32_t u : block.unknowns)
        unknowns += (unknowns.empty() ? "" : ", ") + structure::leaf_name(model, jump.system.unknowns[u]);
      out += fmt::format("  solve for {}\n", unknowns);
      for (std::uint32_t e : block.equations) {
        out += fmt::format("    {} = {}\n", flat::print(model, jump.system.equations[e].left),
                           flat::print(model, jump.system.equations[e].right));
      }
    }
    for (const structure::Jump::Set& set : jump.sets)
      out += fmt::format("  {} := {}\n", structure::leaf_name(model, set.state), flat::print(model, set.value));
  }
  return out;
}

}  // namespace jumps
