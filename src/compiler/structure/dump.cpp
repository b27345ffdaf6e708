// What was sorted, as text: `--dump=blocks`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/structure/names.h"
#include "compiler/structure/structure.h"

namespace structure {

std::string dump(const Sorted& sorted, const flat::Model& model) {
  std::string out;
  std::vector<std::uint32_t> constants;
  for (const auto& [variable, number] : sorted.constants) constants.push_back(variable);
  std::sort(constants.begin(), constants.end());
  for (std::uint32_t variable : constants) {
    out += fmt::format("constant {} = {}\n", variable_name(model, variable),
                       expr::print_number(sorted.constants.at(variable)));
  }
  for (ExprId state : sorted.states) out += fmt::format("state {}\n", leaf_name(model, state));
  auto blocks = [&](const System& system, const char* title) {
    int number = 0;
    for (const Block& block : system.blocks) {
      std::vector<std::string> equations, unknowns;
      for (std::uint32_t e : block.equations) {
        equations.push_back(flat::print(model, system.equations[e].left) + " = " +
                            flat::print(model, system.equations[e].right));
      }
      for (std::uint32_t u : block.unknowns) unknowns.push_back(leaf_name(model, system.unknowns[u]));
      out += fmt::format("{} {}: solve {{{}}} for {{{}}}\n", title, number++, fmt::join(equations, "; "),
                         fmt::join(unknowns, ", "));
    }
  };
  for (const flat::Equation& constraint : sorted.constraints) {
    out +=
        fmt::format("constraint {} = {}\n", flat::print(model, constraint.left), flat::print(model, constraint.right));
  }
  for (const Condition& condition : sorted.conditions) {
    out += fmt::format("condition {} = {} at {}\n", leaf_name(model, condition.leaf),
                       flat::print(model, condition.value), expr::print_number(condition.time));
  }
  blocks(sorted.motion, "block");
  blocks(sorted.start, "start");
  return out;
}

}  // namespace structure
