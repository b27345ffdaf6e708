#include "compiler/unite/unite.h"

#include <algorithm>

#include "compiler/modes/conflicts.h"

namespace unite {
ir::Pattern conflicts(const flat::Model& model) {
  std::vector<std::vector<std::uint32_t>> rows(model.events.size());
  const auto pairs = modes::conflicts(model);
  ir::Pattern pattern;
  if (pairs.empty()) return pattern;
  for (const auto& [first, second] : pairs)
    rows[model.transitions[first].event].push_back(model.transitions[second].event);
  pattern.start.push_back(0);
  for (const auto& row : rows) {
    pattern.index.insert(pattern.index.end(), row.begin(), row.end());
    pattern.start.push_back(static_cast<std::uint32_t>(pattern.index.size()));
  }
  return pattern;
}

ir::Program unite(std::vector<ir::Program> programs, const flat::Model& model, const modes::Structures& structures) {
  ir::Program whole = programs.front();
  for (ir::Function* function :
       {&whole.prepare, &whole.initialize, &whole.derivative, &whole.outputs, &whole.watch, &whole.constrain,
        &whole.condition, &whole.energy, &whole.structure, &whole.balance, &whole.slopes})
    *function = {};
  whole.has_structure = false;
  whole.has_balance = false;
  whole.core.clear();
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
