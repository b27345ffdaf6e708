#include "compiler/check/dimension_messages.h"

#include "compiler/parse/parse.h"

namespace check {

using parse::Dimension;
using parse::NodeId;

std::string describe_dimension(const Dimension& dimension) {
  const std::string unit = parse::print_unit(dimension);
  return unit.empty() ? "a pure number" : "in " + unit;
}

std::string quote(const parse::Tree& tree, const base::Names& names, NodeId id) {
  std::string text = parse::print(tree, names, id);
  constexpr std::size_t most = 48;
  if (text.size() > most) {
    std::size_t cut = text.rfind(' ', most);
    text = text.substr(0, cut == std::string::npos || cut < most / 2 ? most : cut) + " ..";
  }
  return "`" + text + "`";
}

}  // namespace check
