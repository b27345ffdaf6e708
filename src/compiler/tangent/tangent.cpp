#include "compiler/tangent/tangent.h"

#include <algorithm>

#include "compiler/ir/uses.h"
#include "compiler/tangent/differentiate.h"
#include "compiler/tangent/elimination.h"
#include "compiler/tangent/pattern.h"
#include "compiler/tangent/prune.h"

namespace tangent {

using ir::Op;

// Of every place of work the tangent's own (a second solve has the places of the first one), then of every discrete
// value what it is and how it moves once a function has stored it.
std::uint32_t work_count(const ir::Program& program) { return program.work_count + 2 * program.discrete_count; }

namespace {

// Pruning may leave residuals that no block is solved with: only the others stay.
void keep_used_residuals(ir::Tangents& tangents) {
  std::vector<std::uint32_t> place(tangents.residuals.size(), ir::no_value);
  std::vector<ir::Chunk> kept;
  const auto renumber = [&](ir::Function& function) {
    for (ir::Chunk& chunk : function.chunks) {
      for (ir::Instruction& i : chunk.instructions) {
        if (i.op != Op::newton_tangent) continue;
        std::uint32_t& to = place[i.residual];
        if (to == ir::no_value) {
          to = static_cast<std::uint32_t>(kept.size());
          kept.push_back(std::move(tangents.residuals[i.residual]));
        }
        i.residual = to;
      }
    }
  };
  ir::for_each_function(tangents, renumber);
  tangents.residuals = std::move(kept);
}

}  // namespace

Functions needed_by_the_kernel(const ir::Program& program) {
  const bool has_any = std::any_of(program.conditions.begin(), program.conditions.end(),
                                   [&](const auto& c) { return c.time == program.starting_time; });
  const Functions of_plans =
      only(TACTUS_OF_DERIVATIVE) | only(TACTUS_OF_WATCH) | only(TACTUS_OF_CONSTRAINTS) | only(TACTUS_OF_FIRE);
  return (has_any ? only(TACTUS_OF_CONDITIONS) : none) | (program.plans.empty() ? none : of_plans);
}

ir::Tangents make(const ir::Program& program, Functions functions) {
  using Result = Differentiator::Result;
  using Unstored = Differentiator::Unstored;
  ir::Tangents tangents;
  Differentiator differentiator(program);
  const auto is_wanted = [&](tactus_function function) { return (functions & only(function)) != 0; };
  const auto differentiate = [&](tactus_function which, const ir::Function& source, const std::vector<Result>& results,
                                 Unstored unstored = Unstored::zero) {
    ir::Function made;
    if (!is_wanted(which)) return made;
    made = differentiator.function(source, results, unstored);
    prune(made);
    return made;
  };
  const auto states = static_cast<std::uint32_t>(program.state_names.size());
  const auto constraints = static_cast<std::uint32_t>(program.constraints.size());
  const auto conditions = static_cast<std::uint32_t>(program.conditions.size());
  tangents.prepare = differentiate(TACTUS_OF_PREPARE, program.prepare, {{Op::store_derived, 0, program.derived_count}});
  tangents.initialize = differentiate(
      TACTUS_OF_INITIALIZE, program.initialize,
      {{Op::store_state, 0, states}, {Op::store_discrete, states, program.discrete_count}}, Unstored::as_directed);
  tangents.derivative = differentiate(TACTUS_OF_DERIVATIVE, program.derivative, {{Op::store_derivative, 0, states}});
  tangents.outputs = differentiate(TACTUS_OF_OUTPUTS, program.outputs, {{Op::store_output, 0, program.output_count}});
  tangents.watch = differentiate(TACTUS_OF_WATCH, program.watch, {{Op::store_watched, 0, program.watch_count}});
  tangents.constraints =
      differentiate(TACTUS_OF_CONSTRAINTS, program.constrain, {{Op::store_derivative, 0, constraints}});
  tangents.conditions = differentiate(TACTUS_OF_CONDITIONS, program.condition, {{Op::store_derivative, 0, conditions}});
  tangents.fire = is_wanted(TACTUS_OF_FIRE);
  if (tangents.fire) {
    for (const ir::Function& handler : program.handlers) {
      ir::Function made;
      if (!handler.chunks.empty()) {
        made = differentiate(
            TACTUS_OF_FIRE, handler,
            {{Op::store_discrete, 0, program.discrete_count}, {Op::store_state, program.discrete_count, states}},
            Unstored::left_alone);
      }
      tangents.handlers.push_back(std::move(made));
    }
  }
  for (const ir::Subsystem& subsystem : program.subsystems) {
    differentiator.count_states(subsystem.state_count);
    tangents.subsystems.push_back(
        differentiate(TACTUS_OF_DERIVATIVE, subsystem.derivative, {{Op::store_derivative, 0, subsystem.state_count}}));
  }
  tangents.residuals = differentiator.take_residuals();
  keep_used_residuals(tangents);
  for (ir::Chunk& residual : tangents.residuals) {
    ir::Function alone = {{std::move(residual)}};
    prune(alone);
    residual = std::move(alone.chunks[0]);
  }
  if (is_wanted(TACTUS_OF_DERIVATIVE)) {
    tangents.jacobian = jacobian_pattern(tangents.derivative, states);
    Colouring colouring = colour_columns(tangents.jacobian, states);
    tangents.colours = std::move(colouring.colours);
    tangents.colour_count = colouring.count;
  }
  return tangents;
}

void add(ir::Program& program, Functions functions) {
  for (ir::Program& structure : program.structures) add(structure, functions);
  if (!program.structures.empty()) return;
  program.tangents = make(program, functions);
  if ((functions & only(TACTUS_OF_DERIVATIVE)) != 0) {
    program.tangents->factors =
        foresee_elimination(program.tangents->jacobian, static_cast<std::uint32_t>(program.state_names.size()));
  }
  program.tangent_work_count = work_count(program);
}

}  // namespace tangent
