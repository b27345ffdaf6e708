// What a backend wants to know of a chunk before it prints it, so that all backends agree. One pass backwards, one forwards.
//
//   live[v]      a store or a solve needs v; what is not live is not printed
//   sincos[v]    v is a live sin and this is the first live cos of the same operand, or the other way round: the earlier of
//                the two computes both (tk_sincos has the bits of tk_sin and tk_cos)
//   solutions    the live `solution` instructions of every solve: they are read right behind it, so that later solves may use
//                its scratch again
#pragma once

#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"

namespace ir {

struct Uses {
  std::vector<bool> live;
  std::unordered_map<Value, Value> sincos;
  std::unordered_map<Value, std::vector<Value>> solutions;

  // The other half of v's sincos, or no_value.
  Value partner(Value v) const {
    auto found = sincos.find(v);
    return found == sincos.end() ? no_value : found->second;
  }
};

Uses find_uses(const Chunk& chunk);

// Of Tangents or const Tangents.
template <class AnyTangents, class Visit>
void for_each_function(AnyTangents& tangents, Visit visit) {
  for (auto* function : {&tangents.prepare, &tangents.initialize, &tangents.derivative, &tangents.outputs,
                         &tangents.watch, &tangents.constraints, &tangents.conditions}) {
    visit(*function);
  }
  for (auto& handler : tangents.handlers) visit(handler);
  for (auto& derivative : tangents.subsystems) visit(derivative);
}

// Of Program or const Program: its own, not those of its tangents.
template <class AnyProgram, class Visit>
void for_each_own_function(AnyProgram& program, Visit visit) {
  for (auto* function : {&program.prepare, &program.initialize, &program.derivative, &program.outputs, &program.watch,
                         &program.constrain, &program.condition, &program.energy, &program.structure, &program.balance,
                         &program.slopes}) {
    visit(*function);
  }
  for (auto& handler : program.handlers) visit(handler);
  for (auto& subsystem : program.subsystems) {
    for (auto* function : {&subsystem.derivative, &subsystem.energy, &subsystem.sample}) visit(*function);
  }
}

// The number of instructions of all functions and residuals.
std::size_t instruction_count(const Program& program);
bool can_fail(const Chunk& chunk);
// The places in the warm section that a function changes, by Newton blocks or first guesses, increasing.
std::vector<std::uint32_t> warm_starts(const Function& function);

}  // namespace ir
