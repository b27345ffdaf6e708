// Devices that one can buy, by name. Largest force, stiffness and workspace are published; what makers do not state
// alike, or not at all, is an estimate, and says so.
#pragma once

#include <span>
#include <string_view>

#include "haptic/simulated_device.h"

namespace haptic {

struct Preset {
  std::string_view name;   // "touch"
  std::string_view title;  // "3D Systems Touch"
  Device device;
  double stiffness = 0;       // N/m at 1 kHz, published
  double workspace = 0;       // m, radius, published
  std::string_view estimate;  // what of `device` is one, and why
};

[[nodiscard]] std::span<const Preset> presets();
// None: nullptr.
[[nodiscard]] const Preset* find_preset(std::string_view name);

}  // namespace haptic
