// A running world -> what the page is told about it once (docs/protocol.md, `world`) and sixty times a second (a
// frame).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "play/prepare.h"
#include "runtime/live/world.h"
#include "runtime/picture/picture.h"

namespace play {

// How points of the picture and the hand belong together: a point P is the hand at (P - offset) / scale. Where a drawn
// value depends on the hand at once, as the white ball of seed 000 does, the two are found by moving the hand a little
// at the start; else they are the same.
struct Calibration {
  std::array<double, 3> scale = {1, 1, 1};
  std::array<double, 3> offset = {};
  std::string handle;  // that value's name; empty: nothing drawn follows the hand at once
};
[[nodiscard]] Calibration calibrate(const tactus_model& model, const std::vector<double>& parameters,
                                    const picture::World& picture);

// `values`, `drawings`, `plots`, `parameters`, `hand`, `dimensions`, `rate`.
[[nodiscard]] Json describe(const live::World& world, const std::vector<double>& parameters,
                            const std::vector<compiler::WrittenUnit>& units);
// In which unit a parameter is shown: as the text writes it, else SI.
[[nodiscard]] compiler::WrittenUnit shown_unit(const tactus_parameter& parameter,
                                               const std::vector<compiler::WrittenUnit>& units);

// Binary, as the page decodes it.
[[nodiscard]] std::vector<std::byte> frame_of(const live::Shown& shown, const live::Sample& felt,
                                              std::uint32_t generation);

}  // namespace play
