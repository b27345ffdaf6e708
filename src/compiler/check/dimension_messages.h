// What messages about dimensions share: how a dimension and an expression are put into words, and which places were
// told.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>

#include "base/names.h"
#include "base/span.h"
#include "compiler/parse/dimension.h"
#include "compiler/parse/tree.h"

namespace check {

// "in m/s", "a pure number"
[[nodiscard]] std::string describe_dimension(const parse::Dimension& dimension);
// The expression in backticks, shortened.
[[nodiscard]] std::string quote(const parse::Tree& tree, const base::Names& names, parse::NodeId id);

// A function's body is expanded many times, and so are the items of a module: each place is told once.
class ToldPlaces {
 public:
  bool is_new(base::Span span) { return told_.insert({span.file, span.begin, span.end}).second; }

 private:
  std::set<std::array<std::uint32_t, 3>> told_;
};

}  // namespace check
