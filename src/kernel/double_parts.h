/* What the elementary functions share: attributes, splitting a double, powers of two.
 *
 * A double-double is an unevaluated sum high + low. An exact product without fused multiply-add needs factors of at
 * most 26 significant bits, which tk_high gives (T. J. Dekker, Numer. Math. 18, 1971). The sum of a and b, |a| >= |b|
 * or a = 0, is s = a + b with the exact error (a - s) + b (ibid.). */
#ifndef TACTUS_KERNEL_DOUBLE_PARTS_H
#define TACTUS_KERNEL_DOUBLE_PARTS_H

#include <stdint.h>

#include "kernel/elementary.h"

#if defined(__GNUC__)
#define TK_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
/* Rare arguments: kept out of line so that the common path stays small enough to inline. */
#define TK_COLD __attribute__((noinline, cold))
/* Parts of one function: results in registers, no call. */
#define TK_PART static inline __attribute__((always_inline))
#else
#define TK_UNLIKELY(condition) (condition)
#define TK_COLD
#define TK_PART static inline
#endif

/* On the functions of elementary.h: the build of the JIT's bitcode may define it as an attribute, such as
 * always_inline. */
#ifndef TK_ENTRY
#define TK_ENTRY
#endif

#define TK_INFINITY_BITS 0x7ff0000000000000u
#define TK_SIGN_BIT 0x8000000000000000u

/* Adding 1.5 * 2^52 rounds |x| < 2^51 to an integer, which then stands in the low bits of the sum. */
#define TK_ROUNDER 0x1.8p52

/* tk_high: the leading 26 bits of x; x - tk_high(x) is exact and has at most 27 bits.
 * tk_scaled: the double with the bits of x plus n << shift, n being the bits of `counter`.
 * On x86 both are written on vectors, which keeps the value out of the integer registers, a detour of 7 cycles. */
#if defined(__GNUC__) && defined(__SSE2__)
typedef double tk_lanes __attribute__((vector_size(16)));
typedef uint64_t tk_lane_bits __attribute__((vector_size(16)));
TK_PART double tk_high(double x) {
  tk_lanes v = {x, x};
  tk_lane_bits mask = {0xfffffffff8000000u, 0xfffffffff8000000u};
  return ((tk_lanes)((tk_lane_bits)v & mask))[0];
}
TK_PART double tk_scaled(double x, double counter, int shift) {
  tk_lanes v = {x, x};
  tk_lanes n = {counter, counter};
  return ((tk_lanes)((tk_lane_bits)v + ((tk_lane_bits)n << shift)))[0];
}
#else
TK_PART double tk_high(double x) { return tk_from_bits(tk_bits(x) & 0xfffffffff8000000u); }
TK_PART double tk_scaled(double x, double counter, int shift) {
  return tk_from_bits(tk_bits(x) + (tk_bits(counter) << shift));
}
#endif

/* 2^n for -1022 <= n <= 1023. */
TK_PART double tk_power_of_two(int64_t n) { return tk_from_bits((uint64_t)(n + 1023) << 52); }

TK_PART double tk_nan(void) { return tk_from_bits(0x7ff8000000000000u); }
TK_PART double tk_infinity(void) { return tk_from_bits(TK_INFINITY_BITS); }

#endif
