// The kernel's functions as part of this file, so that the compiler may inline them here as the JIT may there.
#pragma GCC diagnostic ignored "-Wpedantic"
#include "kernel/trigonometric.c"

namespace elementary {
struct SinCos {
  double sin, cos;
};
inline SinCos sincos(double x) {
  SinCos result;
  tk_sincos(x, &result.sin, &result.cos);
  return result;
}
}  // namespace elementary

#include "hand_written.inc"

namespace bench {
const HandWritten hand_written_with_ours = {ball_on_spring, two_ball, cart_pendulum, van_der_pol};
}
