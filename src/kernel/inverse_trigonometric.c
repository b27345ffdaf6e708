/* asin, acos, atan, atan2.
 *
 * Enters: any doubles. Leaves: a result within 0.7 ulp; NaN outside [-1, 1] for asin and acos; the special values of
 * C99 F.10.1.1 to F.10.1.4.
 *
 * Method: atan2 of y, x >= 0 by the tangent of a difference,
 *
 *   atan(y/x) = 0    + atan(y/x)               where y <= tan(pi/8) x,
 *             = pi/4 + atan((y - x)/(y + x))   between,
 *             = pi/2 + atan(-x/y)              where y >= x / tan(pi/8),
 *
 * so that the quotient q is at most tan(pi/8); numerator and denominator are double-doubles, and q is corrected by
 * its exact remainder. Then atan(q) = q + q^3 A(q^2). The left half-plane is the difference from pi.
 *
 *   asin(x) = x + x^3 P(x^2) for |x| <= 1/2, else pi/2 - 2 asin(sqrt((1 - |x|)/2)); the square root gets a low part.
 *   acos(x) = pi/2 - asin(x), written out so that nothing cancels.
 *
 * Coefficients: Sollya's fpminimax, double coefficients, absolute error, of (atan(q)/q - 1)/q^2 as a function of q^2
 * on [0, 0.41422^2], degree 10, error 5.2e-18 in atan(q)/q; (asin(x)/x - 1)/x^2 of x^2 on [0, 0.2501], degree 12,
 * error 3.3e-18 in asin(x)/x. */
#include <stdint.h>

#include "kernel/double_parts.h"
#include "kernel/elementary.h"

#define TK_PI_HIGH 0x1.921fb54442d18p+1
#define TK_PI_LOW 0x1.1a62633145c07p-53
#define TK_TAN_PI_8 0x1.a827999fcef32p-2

/* atan(q) = q + the result, z = q^2. */
TK_PART double tk_atan_series(double q, double z) {
  double z2 = z * z;
  double z4 = z2 * z2;
  double c0 = -0x1.5555555555555p-2 + 0x1.9999999999452p-3 * z;
  double c2 = -0x1.249249243faafp-3 + 0x1.c71c718a1af8p-4 * z;
  double c4 = -0x1.745d0bd236c9p-4 + 0x1.3b1270a22417bp-4 * z;
  double c6 = -0x1.10fb248b4e6ebp-4 + 0x1.dff101d8aee9cp-5 * z;
  double c8 = (-0x1.a0cd61eaeba8cp-5 + 0x1.41edd538f80cfp-5 * z) + -0x1.3b7067890ba58p-6 * z2;
  double cube = q * z;
  return cube * (c0 + c2 * z2) + (cube * z4) * ((c4 + c6 * z2) + z4 * c8);
}

/* An angle in the first quadrant, high + low. */
typedef struct tk_first_quadrant {
  double high;
  double low;
} tk_first_quadrant;

/* atan(y/x) for y, x >= 0, not both zero, both zero or between 2^-400 and 2^400. */
TK_PART tk_first_quadrant tk_atan_ratio(double y, double x) {
  int flat = y <= TK_TAN_PI_8 * x;
  int steep = x <= TK_TAN_PI_8 * y;
  double sum = y + x;
  double larger = y > x ? y : x;
  double smaller = y > x ? x : y;
  double sum_low = (larger - sum) + smaller;
  double difference = y - x;
  double larger_first = larger - smaller;
  double difference_low = (larger - larger_first) - smaller;
  difference_low = y > x ? difference_low : -difference_low;
  double n = flat ? y : (steep ? -x : difference);
  double d = flat ? x : (steep ? y : sum);
  double base = flat ? 0.0 : (steep ? 0.5 * TK_PI_HIGH : 0.25 * TK_PI_HIGH);
  double base_low = flat ? 0.0 : (steep ? 0.5 * TK_PI_LOW : 0.25 * TK_PI_LOW);
  int plain = flat | steep;
  double n_low = plain ? 0.0 : difference_low;
  double d_low = plain ? 0.0 : sum_low;

  /* The quotient: 26 bits, and the rest from its exact remainder. */
  double inverse = 1.0 / d;
  double q = n * inverse;
  double q_high = tk_high(q);
  double d_high = tk_high(d);
  double q_low = ((n - q_high * d_high) + (n_low - q_high * ((d - d_high) + d_low))) * inverse;
  double z = q * q;
  double rest = tk_atan_series(q, z) - z * (q_low - (q - q_high));
  tk_first_quadrant angle;
  angle.high = base + q_high;
  angle.low = ((base - angle.high) + q_high) + ((base_low + q_low) + rest);
  return angle;
}

TK_PART double tk_in_quadrant(tk_first_quadrant angle, double y, double x) {
  double right = angle.high + angle.low;
  double left_high = TK_PI_HIGH - angle.high;
  double left = left_high + (((TK_PI_HIGH - left_high) - angle.high) + (TK_PI_LOW - angle.low));
  return tk_copysign(tk_bits(x) & TK_SIGN_BIT ? left : right, y);
}

/* Zeros, infinities, NaN, and magnitudes whose products could leave the range of doubles. */
static TK_COLD double tk_atan2_rare(double y, double x) {
  if (x != x || y != y) return x + y;
  double ay = tk_abs(y);
  double ax = tk_abs(x);
  int left = (tk_bits(x) & TK_SIGN_BIT) != 0;
  if (ay == 0.0) return tk_copysign(left ? TK_PI_HIGH : 0.0, y);
  if (ax == 0.0) return tk_copysign(0.5 * TK_PI_HIGH, y);
  if (ay == tk_infinity()) {
    if (ax < tk_infinity()) return tk_copysign(0.5 * TK_PI_HIGH, y);
    return tk_copysign(left ? 0.75 * TK_PI_HIGH : 0.25 * TK_PI_HIGH, y);
  }
  if (ax == tk_infinity()) return tk_copysign(left ? TK_PI_HIGH : 0.0, y);
  /* Bring the larger of the two near 1. The smaller then matters only above 2^-120 when it is added to something,
   * and else the result is the quotient itself. */
  int64_t exponent = (int64_t)(tk_bits(ay > ax ? ay : ax) >> 52) - 1023;
  double half_scale = tk_power_of_two(-(exponent / 2));
  double other_scale = tk_power_of_two(-(exponent - exponent / 2));
  double sy = ay * half_scale * other_scale;
  double sx = ax * half_scale * other_scale;
  if (sy < 0x1p-120) {
    if (left) return tk_copysign(TK_PI_HIGH, y);
    /* atan(q) = q to 2^-240; the quotient of the unscaled ones is rounded once. */
    return tk_copysign(ay / ax, y);
  }
  if (sx < 0x1p-120) return tk_copysign(0.5 * TK_PI_HIGH, y);
  return tk_in_quadrant(tk_atan_ratio(sy, sx), y, x);
}

TK_ENTRY double tk_atan2(double y, double x) {
  /* Both exponents in the middle of their range. */
  uint64_t uy = (tk_bits(y) & ~TK_SIGN_BIT) - 0x2700000000000000u;
  uint64_t ux = (tk_bits(x) & ~TK_SIGN_BIT) - 0x2700000000000000u;
  if (TK_UNLIKELY((uy > ux ? uy : ux) >= 0x3100000000000000u)) return tk_atan2_rare(y, x);
  return tk_in_quadrant(tk_atan_ratio(tk_abs(y), tk_abs(x)), y, x);
}

static TK_COLD double tk_atan_rare(double x) {
  if (x != x) return x + x;
  return tk_abs(x) < 1.0 ? x : tk_copysign(0.5 * TK_PI_HIGH, x);
}

TK_ENTRY double tk_atan(double x) {
  double magnitude = tk_abs(x);
  /* Below 2^-64 atan(x) = x, above 2^64 it is pi/2. */
  if (TK_UNLIKELY(!(magnitude > 0x1p-64 && magnitude < 0x1p64))) return tk_atan_rare(x);
  if (magnitude <= TK_TAN_PI_8) return x + tk_atan_series(x, x * x);
  tk_first_quadrant angle = tk_atan_ratio(magnitude, 1.0);
  return tk_copysign(angle.high + angle.low, x);
}

/* asin(s) = s + s z P(z), z = s^2 <= 1/4: P(z). */
TK_PART double tk_asin_series(double z) {
  double z2 = z * z;
  double z4 = z2 * z2;
  double c0 = 0x1.5555555555556p-3 + 0x1.3333333332d9ep-4 * z;
  double c2 = 0x1.6db6db6e48dffp-5 + 0x1.f1c71c1187eddp-6 * z;
  double c4 = 0x1.6e8bb383c0ebbp-6 + 0x1.1c4d0fc1b6fb4p-6 * z;
  double c6 = 0x1.c9d336dfa2bafp-7 + 0x1.77ff42ac1b0b9p-7 * z;
  double c8 = 0x1.53365248db39cp-7 + 0x1.5dc12cf745a39p-8 * z;
  double c10 = (0x1.224dcb12e6e11p-6 + -0x1.f6744b51609ffp-7 * z) + 0x1.dc690518a314p-6 * z2;
  return ((c0 + c2 * z2) + z4 * (c4 + c6 * z2)) + (z4 * z4) * (c8 + c10 * z2);
}

/* 2 asin(sqrt(w)), w = (1 - |x|)/2, as high + low; high has 26 bits. */
TK_PART tk_first_quadrant tk_twice_asin_root(double w) {
  double s = tk_sqrt(w);
  double s_high = tk_high(s);
  double s_low = w > 0.0 ? (w - s_high * s_high) / (s + s_high) : 0.0;
  tk_first_quadrant angle;
  angle.high = 2.0 * s_high;
  angle.low = 2.0 * (s_low + s * (w * tk_asin_series(w)));
  return angle;
}

TK_ENTRY double tk_asin(double x) {
  double magnitude = tk_abs(x);
  if (magnitude <= 0.5) {
    if (magnitude < 0x1p-28) return x;
    double z = x * x;
    return x + x * (z * tk_asin_series(z));
  }
  if (!(magnitude <= 1.0)) return x != x ? x + x : tk_nan();
  tk_first_quadrant angle = tk_twice_asin_root(0.5 * (1.0 - magnitude));
  double high = 0.5 * TK_PI_HIGH - angle.high;
  double low = (0.5 * TK_PI_HIGH - high) - angle.high;
  return tk_copysign(high + (low + (0.5 * TK_PI_LOW - angle.low)), x);
}

TK_ENTRY double tk_acos(double x) {
  double magnitude = tk_abs(x);
  if (magnitude <= 0.5) {
    double z = x * x;
    double rest = x * (z * tk_asin_series(z));
    double high = 0.5 * TK_PI_HIGH - x;
    double low = (0.5 * TK_PI_HIGH - high) - x;
    return high + (low + (0.5 * TK_PI_LOW - rest));
  }
  if (!(magnitude <= 1.0)) return x != x ? x + x : tk_nan();
  tk_first_quadrant angle = tk_twice_asin_root(0.5 * (1.0 - magnitude));
  if (x > 0.0) return angle.high + angle.low;
  double high = TK_PI_HIGH - angle.high;
  double low = (TK_PI_HIGH - high) - angle.high;
  return high + (low + (TK_PI_LOW - angle.low));
}
