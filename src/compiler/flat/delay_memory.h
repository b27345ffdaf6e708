// How many samples a delay remembers: one a step where both are known, within bounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "compiler/flat/model.h"

namespace flat {

inline std::uint32_t delay_capacity(const Model& model, ExprId duration) {
  constexpr double fewest = 64, usual = 4096, most = 65536;
  const auto step = model.settings.step_size;
  if (!step || !model.pool.is_constant(duration)) return static_cast<std::uint32_t>(usual);
  return static_cast<std::uint32_t>(std::clamp(std::ceil(model.pool[duration].number / *step) + 16, fewest, most));
}

}  // namespace flat
