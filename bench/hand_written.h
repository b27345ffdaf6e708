// The same models and the same method as a C++ programmer writes them: the baseline of the benchmark. Two builds of one
// text: with the kernel's elementary functions, and with libm's.
#pragma once

#include <cstdint>
#include <span>

namespace bench {

// An input that is linear in time: value + rate * (t - from).
struct LinearInput {
  double value[2] = {};
  double rate[2] = {};
  double from = 0;
};

struct BallOnSpring {
  double m, k;
};
struct TwoBall {
  double k, b, m;
  LinearInput hand;
};
struct CartPendulum {
  double k_h;
  LinearInput hand;
};
struct VanDerPol {
  double mu;
};

// `count` steps of rk4 of length h from x at t; the state is in the order of the struct's comment in hand_written.inc.
struct HandWritten {
  void (*ball_on_spring)(const BallOnSpring&, std::span<double, 4> x, double t, double h, std::int64_t count);
  void (*two_ball)(const TwoBall&, std::span<double, 4> x, double t, double h, std::int64_t count);
  void (*cart_pendulum)(const CartPendulum&, std::span<double, 4> x, double t, double h, std::int64_t count);
  void (*van_der_pol)(const VanDerPol&, std::span<double, 2> x, double t, double h, std::int64_t count);
};

extern const HandWritten hand_written_with_ours;
extern const HandWritten hand_written_with_libm;

}  // namespace bench
