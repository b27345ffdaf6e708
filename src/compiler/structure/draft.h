// A model's equations on their way to being sorted. `constants` makes the draft; `definitions` and `index_reduction`
// add equations and replace some, `settled` takes some out; `motion` and `start` read what is left. Data only.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/span.h"
#include "compiler/flat/model.h"

namespace structure {

using expr::ExprId;

// Variables that are numbers.
struct Constants {
  std::unordered_map<std::uint32_t, double> numbers;    // by variable
  std::unordered_map<std::uint32_t, base::Span> spans;  // by variable: the equation that says so
  std::unordered_set<std::uint32_t> memories;           // variables of which an equation says v' = 0

  // A constant's number, 0 for its derivatives and those of a memory, invalid for everything else.
  ExprId of(expr::Pool& pool, ExprId leaf) const {
    const expr::Node& node = pool[leaf];
    if (node.op != expr::Op::variable) return {};
    if (node.order > 0 && memories.contains(node.index)) return pool.constant(0);
    auto found = numbers.find(node.index);
    if (found == numbers.end()) return {};
    return pool.constant(node.order == 0 ? found->second : 0);
  }
};

// An equation that gives variable^(order), whose derivative gives the next.
struct Link {
  static constexpr std::uint32_t none = 0xffffffffu;
  std::uint32_t variable = none;
  std::uint32_t order = 0;
};

struct Draft {
  std::vector<flat::Equation> equations;
  std::vector<std::pair<ExprId, ExprId>> written;  // by equation: its sides as they were before constants were replaced
  std::vector<Link> chain;                         // by equation
  std::vector<flat::Equation> constraints;         // what equations were before they were differentiated
  std::vector<flat::Condition> starts;
  std::vector<flat::Condition> later;  // conditions at other times
  Constants constants;
};

// v, and not its derivative.
inline bool is_bare(const expr::Pool& pool, ExprId id) {
  return pool[id].op == expr::Op::variable && pool[id].order == 0;
}

}  // namespace structure
