#include "compiler/unite/unite.h"

#include <algorithm>
#include <set>

#include "compiler/ir/layout.h"
#include "compiler/symbolic/symbolic.h"

namespace unite {
namespace {

// What a transition changes: automata, then variables with their orders.
std::set<std::pair<std::uint32_t, std::uint32_t>> changed(const flat::Model& model,
                                                          const flat::Transition& transition) {
  constexpr std::uint32_t a_mode = 0xffffffffu;
  std::set<std::pair<std::uint32_t, std::uint32_t>> what;
  for (const flat::Transition::Goto& to : transition.gotos) what.emplace(to.automaton, a_mode);
  for (const flat::Equation& equation : transition.equations) {
    for (expr::ExprId side : {equation.left, equation.right}) {
      for (expr::ExprId leaf : symbolic::leaves(model.pool, side, expr::Op::variable)) {
        const expr::Node& node = model.pool[leaf];
        const flat::VariableId of = model.variables[flat::VariableId(node.index)].next_of;
        if (of.valid()) what.emplace(of.value, node.order);
      }
    }
  }
  return what;
}

}  // namespace

ir::Pattern conflicts(const flat::Model& model) {
  std::vector<std::vector<std::uint32_t>> rows(model.events.size());
  std::vector<std::set<std::pair<std::uint32_t, std::uint32_t>>> all;
  for (const flat::Transition& transition : model.transitions) all.push_back(changed(model, transition));
  bool any = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      const bool is_shared =
          std::any_of(all[i].begin(), all[i].end(), [&](const auto& what) { return all[j].contains(what); });
      if (!is_shared) continue;
      rows[model.transitions[i].event].push_back(model.transitions[j].event);
      any = true;
    }
  }
  ir::Pattern pattern;
  if (!any) return pattern;
  pattern.start.push_back(0);
  for (const auto& row : rows) {
    pattern.index.insert(pattern.index.end(), row.begin(), row.end());
    pattern.start.push_back(static_cast<std::uint32_t>(pattern.index.size()));
  }
  return pattern;
}

ir::Program unite(std::vector<ir::Program> programs, const flat::Model& model, const modes::Structures& structures) {
  ir::Program whole = programs.front();
  for (ir::Function* function : {&whole.prepare, &whole.initialize, &whole.derivative, &whole.outputs, &whole.watch,
                                 &whole.constrain, &whole.condition})
    *function = {};
  whole.handlers.clear();
  whole.residuals.clear();
  for (std::size_t i = 0; i < model.automata.size(); ++i) {
    whole.automata.push_back(
        {model.automata[i].name, model.automata[i].modes, model.automata[i].slot, structures.strides[i]});
  }
  whole.structure_of = structures.structure_of;
  whole.conflicts = conflicts(model);
  for (const ir::Program& program : programs) {
    whole.derived_count = std::max(whole.derived_count, program.derived_count);
    whole.warm_count = std::max(whole.warm_count, program.warm_count);
    whole.discrete_count = std::max(whole.discrete_count, program.discrete_count);
    whole.watch_count = std::max(whole.watch_count, program.watch_count);
    whole.work_count = std::max(whole.work_count, program.work_count);
    if (program.relations.size() > whole.relations.size()) whole.relations = program.relations;
    if (program.constraints.size() > whole.constraints.size()) {
      whole.constraints = program.constraints;
      whole.constraint_jacobian = program.constraint_jacobian;
    }
  }
  for (ir::Program& program : programs) {
    program.name = whole.name;
    program.derived_count = whole.derived_count;
    program.warm_count = whole.warm_count;
    program.discrete_count = whole.discrete_count;
    program.automata = whole.automata;
  }
  whole.structures = std::move(programs);
  return whole;
}

}  // namespace unite
