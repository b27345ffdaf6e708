#include "compiler/interference.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/symbolic/symbolic.h"

namespace compiler {
namespace {

using expr::ExprId;
using expr::Op;

// A leaf that is the same in the models of all structures.
struct Quantity {
  Op op = Op::variable;
  std::uint32_t index = 0;
  std::uint32_t order = 0;
  auto operator<=>(const Quantity&) const = default;
};
using Quantities = std::set<Quantity>;

// What one structure says of its quantities.
class Known {
 public:
  Known(flat::Model& model, const structure::Sorted& sorted) : model_(model), sorted_(sorted) {
    for (std::size_t i = 0; i < sorted.states.size(); ++i) rates_[of(sorted.states[i])] = of(sorted.state_rates[i]);
    for (const structure::Block& block : sorted.motion.blocks)
      for (const std::uint32_t unknown : block.unknowns) blocks_[of(sorted.motion.unknowns[unknown])] = &block;
  }

  Quantity of(ExprId leaf) const {
    const expr::Node& node = model_.pool[leaf];
    return {node.op, node.index, node.op == Op::variable ? node.order : 0};
  }

  bool is_state(const Quantity& q) const { return rates_.contains(q); }

  // What can be changed or reads what can: `e`'s variables that are not of a jump, discrete values, inputs, and sources
  // of delays.
  void read(ExprId e, Quantities& to) const {
    for (const Op op : {Op::variable, Op::discrete, Op::input, Op::input_rate, Op::delayed}) {
      for (const ExprId leaf : symbolic::leaves(model_.pool, e, op)) {
        Quantity q = of(leaf);
        if (op == Op::input_rate) q.op = Op::input;
        if (op == Op::delayed) q = {Op::variable, model_.delays[q.index].source.value, model_.delays[q.index].order};
        if (q.op == Op::variable && model_.variables[flat::VariableId(q.index)].is_of_jump) continue;
        to.insert(q);
      }
    }
  }

  // All that the quantities depend on while time passes here; themselves among it.
  Quantities closure(const Quantities& seeds) const {
    Quantities all = seeds;
    std::vector<Quantity> open(seeds.begin(), seeds.end());
    while (!open.empty()) {
      const Quantity q = open.back();
      open.pop_back();
      Quantities read_there;
      if (const auto rate = rates_.find(q); rate != rates_.end()) read_there.insert(rate->second);
      if (const auto block = blocks_.find(q); block != blocks_.end()) {
        for (const std::uint32_t e : block->second->equations) {
          read(sorted_.motion.equations[e].left, read_there);
          read(sorted_.motion.equations[e].right, read_there);
        }
      }
      for (const Quantity& each : read_there)
        if (all.insert(each).second) open.push_back(each);
    }
    return all;
  }

  // What gives it, in words: equal in two structures when it is given in the same way.
  std::string given_by(const Quantity& q) {
    const auto block = blocks_.find(q);
    if (block == blocks_.end())
      return rates_.contains(q) ? "a state" : sorted_.constants.contains(q.index) ? "a number" : "";
    std::set<std::string> lines;
    for (const std::uint32_t e : block->second->equations)
      lines.insert(flat::print(model_, sorted_.motion.equations[e].left) + " = " +
                   flat::print(model_, sorted_.motion.equations[e].right));
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    return all;
  }

  flat::Model& model() { return model_; }
  const structure::Sorted& sorted() const { return sorted_; }

 private:
  flat::Model& model_;
  const structure::Sorted& sorted_;
  std::map<Quantity, Quantity> rates_;                  // of states
  std::map<Quantity, const structure::Block*> blocks_;  // of unknowns
};

// "p'[2]" is part of p'.
std::string whole_name(const flat::Model& model, const Quantity& q) {
  std::string name = flat::primed(model.variables[flat::VariableId(q.index)].name, q.order);
  if (name.find(' ') != std::string::npos) return "";  // what no person named has blanks
  const std::size_t bracket = name.back() == ']' ? name.rfind('[') : std::string::npos;
  return bracket == std::string::npos ? name : name.substr(0, bracket);
}

std::string name_of(const flat::Model& model, const Quantity& q) {
  if (q.op == Op::input) return model.input_names[q.index];
  if (q.op == Op::discrete) return model.discrete_names[q.index];
  return whole_name(model, q);
}

class Search {
 public:
  Search(modes::Structures& structures, const std::vector<structure::Sorted>& sorted)
      : structures_(structures), model_(structures.list.front().model) {
    known_.reserve(sorted.size());
    for (std::size_t k = 0; k < sorted.size(); ++k) known_.emplace_back(structures.list[k].model, sorted[k]);
  }

  Interference of_plan(const flat::Plan& plan) {
    Interference found{.plan = plan.name, .span = plan.span};
    const auto own = std::find_if(model_.automata.begin(), model_.automata.end(),
                                  [&](const flat::Automaton& automaton) { return automaton.name == plan.name; });
    const auto automaton = static_cast<std::size_t>(own - model_.automata.begin());
    const std::vector<Quantities> needed = needed_in(plan, automaton);

    std::set<std::string> depends_on;
    for (const Quantities& each : needed) {
      for (const Quantity& q : each) {
        const bool can_change = q.op != Op::variable || std::any_of(known_.begin(), known_.end(),
                                                                    [&](const Known& k) { return k.is_state(q); });
        const std::string name = can_change ? name_of(model_, q) : "";
        if (!name.empty() && !name.starts_with(plan.name + ".")) depends_on.insert(name);
      }
    }
    found.depends_on.assign(depends_on.begin(), depends_on.end());

    for (std::uint32_t t = 0; t < model_.transitions.size(); ++t) {
      if (is_own(plan, t)) continue;
      std::set<std::string> changes;
      std::set<std::uint32_t> phases;
      bool can_be_taken = false;
      for (std::uint32_t phase = 1; phase <= needed.size(); ++phase) {
        for (std::size_t s = 0; s < known_.size(); ++s) {
          for (const modes::Combination& combination : structures_.list[s].combinations) {
            if (combination[automaton] != phase ||
                !modes::holds(known_[s].model(), known_[s].model().transitions[t].mode, combination))
              continue;
            can_be_taken = true;
            std::set<std::string> here = changed(t, s, combination, needed[phase - 1]);
            if (!here.empty()) phases.insert(phase);
            changes.merge(here);
          }
        }
      }
      const flat::Transition& transition = model_.transitions[t];
      if (!changes.empty())
        found.causes.push_back({.transition = transition.name,
                                .span = transition.span,
                                .changes = {changes.begin(), changes.end()},
                                .phases = {phases.begin(), phases.end()},
                                .is_foreseen = is_foreseen(t)});
      else if (can_be_taken)
        found.harmless.push_back(transition.name);
    }
    return found;
  }

 private:
  bool is_own(const flat::Plan& plan, std::uint32_t t) const {
    return t == plan.transition || t == plan.failed || model_.transitions[t].name.starts_with(plan.name + ".");
  }

  // By phase, what the targets of this one and of those behind it depend on while it lasts.
  std::vector<Quantities> needed_in(const flat::Plan& plan, std::size_t automaton) {
    std::vector<Quantities> needed(plan.phases.size());
    Quantities later;
    for (std::size_t phase = plan.phases.size(); phase-- > 0;) {
      Quantities here = later;
      const flat::Plan::Phase& ends = plan.phases[phase];
      for (const flat::VariableId target : ends.targets) here.insert({Op::variable, target.value, 0});
      // Behind the last target nothing counts.
      if (here.empty()) continue;
      Quantities all;
      for (std::size_t s = 0; s < known_.size(); ++s) {
        const auto& combinations = structures_.list[s].combinations;
        if (std::none_of(combinations.begin(), combinations.end(),
                         [&](const modes::Combination& each) { return each[automaton] == phase + 1; }))
          continue;
        Quantities seeds = here;
        const flat::Transition& end = known_[s].model().transitions[ends.transition];
        known_[s].read(end.guard, seeds);
        if (!later.empty()) {
          for (const flat::Equation& equation : end.equations) {
            known_[s].read(equation.left, seeds);
            known_[s].read(equation.right, seeds);
          }
        }
        all.merge(known_[s].closure(seeds));
      }
      needed[phase] = all;
      later = std::move(all);
    }
    while (!needed.empty() && needed.back().empty()) needed.pop_back();
    return needed;
  }

  std::set<std::string> changed(std::uint32_t t, std::size_t s, const modes::Combination& combination,
                                const Quantities& needed) {
    std::set<std::string> names;
    Known& here = known_[s];
    flat::Model& model = here.model();
    const flat::Transition& transition = model.transitions[t];
    for (const structure::Jump& jump : here.sorted().jumps) {
      if (jump.transition != t) continue;
      for (const structure::Jump::Set& set : jump.sets) {
        const Quantity q = here.of(set.state);
        if (set.value == set.state || !needed.contains(q)) continue;
        const std::string name = name_of(model, q);
        if (!name.empty()) names.insert(name);
      }
    }
    if (transition.event + 1 < model.events.size() && model.events[transition.event + 1].kind == TACTUS_AFTER) {
      for (const flat::Update& update : model.events[transition.event + 1].updates)
        if (needed.contains({Op::discrete, update.discrete, 0})) names.insert(model.discrete_names[update.discrete]);
    }
    const modes::Combination after = modes::after(transition, combination);
    const std::uint32_t entered = structures_.of(after);
    const bool is_given_otherwise =
        entered != s && entered < known_.size() &&
        std::any_of(
            needed.begin(), needed.end(),
            [&](const Quantity& q) { return q.op == Op::variable && given(s, q) != given(entered, q); });
    for (std::size_t a = 0; a < after.size(); ++a) {
      if (after[a] == combination[a]) continue;
      if (is_given_otherwise || needed.contains({Op::discrete, model.automata[a].slot, 0}))
        names.insert(model.automata[a].name);
    }
    return names;
  }

  const std::string& given(std::size_t s, const Quantity& q) {
    const auto [found, is_new] = given_.try_emplace({s, q});
    if (is_new) found->second = known_[s].given_by(q);
    return found->second;
  }

  bool is_foreseen(std::uint32_t t) {
    if (std::any_of(model_.plans.begin(), model_.plans.end(),
                    [&](const flat::Plan& plan) { return plan.transition == t || plan.failed == t; }))
      return false;
    for (Known& each : known_) {
      Quantities read;
      each.read(each.model().transitions[t].guard, read);
      for (const Quantity& q : each.closure(read))
        if (q.op == Op::input) return false;
    }
    return true;
  }

  modes::Structures& structures_;
  flat::Model& model_;
  std::vector<Known> known_;  // by structure
  std::map<std::pair<std::size_t, Quantity>, std::string> given_;
};

}  // namespace

std::vector<Interference> find_interference(modes::Structures& structures,
                                            const std::vector<structure::Sorted>& sorted) {
  std::vector<Interference> found;
  Search search(structures, sorted);
  for (const flat::Plan& plan : structures.list.front().model.plans) found.push_back(search.of_plan(plan));
  return found;
}

}  // namespace compiler
