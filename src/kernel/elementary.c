/* The square root for targets without the instruction; everything else of elementary.h is inline there or in
 * exponential.c, trigonometric.c and inverse_trigonometric.c.
 *
 * Enters: any double. Leaves: the square root, rounded to nearest even.
 *
 * Method: x = m 2^(2e) with an integer m < 2^54; 54 binary digits of sqrt(m 2^52), one by one, by the schoolbook
 * recurrence: with root q and remainder m - q^2, digit d is 1 if (q + d)^2 - q^2 fits. The last digit rounds; the
 * root of a double is never halfway between two doubles. */
#include "kernel/elementary.h"

#include <stdint.h>

#include "kernel/double_parts.h"

double tk_sqrt_by_digits(double x) {
  uint64_t bits = tk_bits(x);
  if (x == 0.0 || x != x || bits == TK_INFINITY_BITS) return x;
  if (bits & TK_SIGN_BIT) return tk_nan();
  int64_t exponent = (int64_t)(bits >> 52) - 1075;
  uint64_t m = bits & 0x000fffffffffffffu;
  if (bits >> 52) {
    m |= 0x0010000000000000u;
  } else {
    exponent += 1;
    while (!(m >> 52)) {
      m <<= 1;
      exponent -= 1;
    }
  }
  if (exponent & 1) {
    m <<= 1;
    exponent -= 1;
  }
  /* Two digits of m enter for each digit of the root: 27 pairs of m, then 27 pairs of zeros. */
  uint64_t root = 0;
  uint64_t remainder = 0;
  for (int i = 53; i >= 0; --i) {
    uint64_t pair = i >= 27 ? (m >> (2 * (i - 27))) & 3u : 0;
    remainder = (remainder << 2) | pair;
    uint64_t trial = (root << 2) | 1u;
    root <<= 1;
    if (remainder >= trial) {
      remainder -= trial;
      root |= 1u;
    }
  }
  /* root = floor(sqrt(m) 2^27) has 54 digits at most: 53 or 54. */
  double value = (double)(int64_t)((root + 1u) >> 1);
  return value * tk_power_of_two(exponent / 2 - 26);
}
