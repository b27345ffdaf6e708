/* The kernel's elementary functions: freestanding C11, no libm, no state.
 *
 * Enters: any double, infinities and NaN included. Leaves: a result within 1 ulp of the exact one over the whole
 * range (floor, ceil, abs and sqrt are exact), with the signed zeros and special values of C99 Annex F. No
 * floating-point exception flag, no errno. NaN payloads are not specified.
 *
 * Same bits everywhere: only IEEE + - * / and sqrt on doubles, in the order written, and integer operations. Never
 * fused multiply-add, so the results do not depend on what the target has. Compile with -ffp-contract=off (gcc's
 * -std=c11 implies it) and without fast-math. */
#ifndef TACTUS_KERNEL_ELEMENTARY_H
#define TACTUS_KERNEL_ELEMENTARY_H

#include <stdint.h>

#if defined(__FAST_MATH__)
#error "the kernel's elementary functions need IEEE arithmetic: compile without -ffast-math"
#endif
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0
#error "the kernel needs doubles evaluated as doubles: on 32-bit x86, compile with -msse2 -mfpmath=sse"
#endif
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#ifdef __cplusplus
extern "C" {
#endif

double tk_sin(double x);
double tk_cos(double x);
double tk_tan(double x);
/* *s and *c get the bits of tk_sin(x) and tk_cos(x), with one argument reduction. */
void tk_sincos(double x, double* s, double* c);
double tk_asin(double x);
double tk_acos(double x);
double tk_atan(double x);
double tk_atan2(double y, double x);
double tk_exp(double x);
double tk_log(double x);
double tk_pow(double x, double y);

/* Correctly rounded square root in integer arithmetic, for targets without the instruction. */
double tk_sqrt_by_digits(double x);

static inline uint64_t tk_bits(double x) {
  union {
    double value;
    uint64_t bits;
  } u;
  u.value = x;
  return u.bits;
}

static inline double tk_from_bits(uint64_t bits) {
  union {
    uint64_t bits;
    double value;
  } u;
  u.bits = bits;
  return u.value;
}

static inline double tk_abs(double x) { return tk_from_bits(tk_bits(x) & 0x7fffffffffffffffu); }

/* The magnitude of x with the sign of s. */
static inline double tk_copysign(double x, double s) {
  return tk_from_bits((tk_bits(x) & 0x7fffffffffffffffu) | (tk_bits(s) & 0x8000000000000000u));
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_elementwise_sqrt)
#define TK_HAS_ELEMENTWISE_SQRT 1
#endif
#endif

/* The hardware's instruction, never a call to libm, whatever the optimisation level. */
static inline double tk_sqrt(double x) {
#if defined(TK_HAS_ELEMENTWISE_SQRT) && (defined(__SSE2__) || defined(__aarch64__) || defined(__wasm__))
  return __builtin_elementwise_sqrt(x);
#elif defined(__GNUC__) && defined(__SSE2__)
  typedef double tk_two_doubles __attribute__((vector_size(16)));
  tk_two_doubles v = {x, x};
#if defined(__clang__)
  __asm__("sqrtsd %1, %0" : "=x"(v) : "x"(v));
#else
  v = __builtin_ia32_sqrtsd(v);
#endif
  return v[0];
#elif defined(__GNUC__) && defined(__aarch64__)
  double root;
  __asm__("fsqrt %d0, %d1" : "=w"(root) : "w"(x));
  return root;
#else
  return tk_sqrt_by_digits(x);
#endif
}

#if defined(__has_builtin)
#if __has_builtin(__builtin_elementwise_floor) && (defined(__SSE4_1__) || defined(__aarch64__) || defined(__wasm__))
#define TK_HAS_ELEMENTWISE_FLOOR 1
#endif
#endif

/* Where there is no instruction: for |x| < 2^52, adding and subtracting 2^52 rounds |x| to an integer, by at most one
 * half; then one step back if that went the wrong way. Larger x are integers. */
static inline double tk_floor(double x) {
#if defined(TK_HAS_ELEMENTWISE_FLOOR)
  return __builtin_elementwise_floor(x);
#else
  const double two52 = 4503599627370496.0;
  double magnitude = tk_abs(x);
  double nearest = tk_copysign((magnitude + two52) - two52, x);
  double below = nearest - (nearest > x ? 1.0 : 0.0);
  return magnitude < two52 ? tk_copysign(below, x) : x;
#endif
}

static inline double tk_ceil(double x) {
#if defined(TK_HAS_ELEMENTWISE_FLOOR)
  return __builtin_elementwise_ceil(x);
#else
  const double two52 = 4503599627370496.0;
  double magnitude = tk_abs(x);
  double nearest = tk_copysign((magnitude + two52) - two52, x);
  double above = nearest + (nearest < x ? 1.0 : 0.0);
  return magnitude < two52 ? tk_copysign(above, x) : x;
#endif
}

#ifdef __cplusplus
}
#endif

#endif
