#include "compiler/tangent/needed.h"

namespace tangent {

void add_needed(ir::Program& program, Functions besides) {
  for (ir::Program& structure : program.structures) add_needed(structure, besides);
  if (!program.structures.empty() || program.tangents) return;
  const Functions functions = besides | needed_by_the_kernel(program);
  if (functions != none) add(program, functions);
}

}  // namespace tangent
