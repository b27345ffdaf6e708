// What stands behind `external hand` in simulated time: the command line's `--device hand=KIND:ARGUMENT` -> a
// live::Hand.
//
//   simulated:touch,delay=1,arm=(0.15,3,400),target=(0.03 * sin(3 * t), 0)
//       a device by its preset (haptic/presets.h), three axes alike; an arm of mass [kg], damping [N s/m] and stiffness
//       [N/m] holds it and
//       wants to be at `target` [m], an expression of t
//   script:(0.02 * sin(3 * t), 0)
//       its position, whatever it feels
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "haptic/simulated_device.h"
#include "runtime/live/world.h"

namespace play {

// An expression of t with at most three components, evaluated without allocating.
class Script {
 public:
  // Empty, with `failure` set, when it does not compile.
  [[nodiscard]] static std::unique_ptr<Script> read(const std::string& text, std::string& failure);
  ~Script();
  std::array<double, 3> at(double t);
  std::uint32_t components() const { return components_; }

 private:
  Script();
  struct Code;
  std::unique_ptr<Code> code_;
  std::uint32_t components_ = 0;
};

struct HandSpec {
  std::string kind;  // "simulated" or "script"
  std::string title;
  haptic::Device device;
  haptic::Arm arm{0.15, 3, 400};
  int delay = 0;
  std::string script;  // the arm's target, or the position
  std::vector<std::string> notes = {};
};

// Empty, with `failure` and `hint` set, when the argument says nothing that can be built.
[[nodiscard]] std::optional<HandSpec> read_hand(const std::string& kind, const std::string& argument,
                                                std::string& failure, std::string& hint);
// Null, with `failure` set, when its script does not compile. Begins at time `start`.
[[nodiscard]] std::shared_ptr<live::Hand> make_hand(const HandSpec& spec, double period, double start,
                                                    std::string& failure);

}  // namespace play
