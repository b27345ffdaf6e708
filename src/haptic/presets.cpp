#include "haptic/presets.h"

#include <array>

namespace haptic {
namespace {

constexpr std::string_view stylus =
    "mass, friction and resolution are of the size that data sheets of such arms state, the damping is a guess: "
    "measure yours";
constexpr std::string_view parallel =
    "mass, damping and friction are guesses for a parallel arm of this size, the resolution is of the size that data "
    "sheets "
    "state: measure yours";

//                      mass   damping coulomb encoder  force
constexpr std::array all = {
    Preset{"touch", "3D Systems Touch", {0.045, 0.1, 0.26, 55e-6, 3.3}, 400, 0.075, stylus},
    Preset{"omni", "SensAble Phantom Omni", {0.045, 0.1, 0.26, 55e-6, 3.3}, 700, 0.10, stylus},
    Preset{"premium", "SensAble Phantom Premium 1.5", {0.075, 0.05, 0.04, 30e-6, 8.5}, 800, 0.12, stylus},
    Preset{"omega", "Force Dimension omega.3", {0.22, 1.5, 0.8, 9e-6, 12}, 5000, 0.075, parallel},
    Preset{"falcon", "Novint Falcon", {0.25, 1, 0.7, 60e-6, 8}, 3000, 0.04, parallel},
};

}  // namespace

std::span<const Preset> presets() { return all; }

const Preset* find_preset(std::string_view name) {
  for (const Preset& preset : all) {
    if (preset.name == name) return &preset;
  }
  return nullptr;
}

}  // namespace haptic
