// How many expressions one compilation may make: a small text may ask for more than a machine has. While a Budget stands, every pool of
// its thread draws on it; without one there is no bound.
//
// Bounds: with what all passes make of a model of the largest size they take a few seconds and less than a gigabyte. A fuzzer looks for
// growth without bound, so its are smaller (TACTUS_FUZZ), as those of base/growth.h.
#pragma once

#include <cstddef>

#include "base/span.h"

namespace expr {

#ifdef TACTUS_FUZZ
inline constexpr std::size_t most_expressions = 100'000;
inline constexpr std::size_t most_remembered = 500'000;
#else
inline constexpr std::size_t most_expressions = 1'500'000;
// Numbers that all delays of a model remember together: half a gigabyte.
inline constexpr std::size_t most_remembered = 64'000'000;
#endif
// How often passes ask for an expression, be it there already or not.
inline constexpr std::size_t most_requests = 40 * most_expressions;
// Equations that are left when constants are folded.
inline constexpr std::size_t most_equations = most_expressions / 6;

// Thrown where the budget is spent; `place` is what was being worked on.
struct Outgrown {
  base::Span place;
};

class Budget {
 public:
  Budget();
  ~Budget();
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // Names what expressions are made for from now on.
  static void work_on(base::Span place);
  // Whether so many more expressions would still find room.
  static bool has_room(std::size_t count);
  // Before each request of a pool, and before each new expression. Throw Outgrown.
  static void request();
  static void spend(std::size_t count);

 private:
  Budget* outer_;
  base::Span place_;
  std::size_t requests_ = 0;
  std::size_t made_ = 0;
};

}  // namespace expr
