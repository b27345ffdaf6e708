#include <cmath>

namespace elementary {
struct SinCos {
  double sin, cos;
};
inline SinCos sincos(double x) { return {std::sin(x), std::cos(x)}; }  // one call of sincos, gcc sees to that
}  // namespace elementary

#include "hand_written.inc"

namespace bench {
const HandWritten hand_written_with_libm = {ball_on_spring, two_ball, cart_pendulum, van_der_pol};
}
