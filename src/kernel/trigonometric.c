/* sin, cos, tan.
 *
 * Enters: any double, an angle in radians. Leaves: a result within 0.85 ulp; NaN for infinities and NaN; the zeros'
 * signs.
 *
 * Method: x = k pi/2 + r, |r| <= pi/4, r as a double-double, then polynomials in r^2.
 *
 *   Reduction (W. J. Cody and W. Waite, Software Manual for the Elementary Functions, 1980): pi/2 = A + B with A of
 *   27 bits, so k A and x - k A are exact for |k| <= 2^26, and r = (x - k A) - k B has an error below 2^-52 |k B|.
 *   That is good enough when |r| > 32 |k B|. All other arguments - close to a multiple of pi/2, |x| above some 4e7,
 *   infinite, NaN, and zero - fail this one comparison and go to the exact reduction of M. Payne and R. Hanek (SIGNUM
 *   Newsletter 18, 1983).
 *
 *   sin(r) = r + r^3 S(r^2), cos(r) = 1 - r^2/2 + r^4 C(r^2), where r^2/2 is exact in its leading part.
 *   tan = sin/cos or -cos/sin, both as double-doubles, the quotient corrected by its exact remainder.
 *
 * Coefficients: Sollya's fpminimax, double coefficients, absolute error, as functions of r^2 on [0, (pi/4 + 2^-10)^2]:
 * (sin(r)/r - 1)/r^2 of degree 6, error 4.4e-19 in sin(r)/r; (cos(r) - 1 + r^2/2)/r^4 of degree 5, error 4.7e-19. */
#include <stdint.h>

#include "kernel/double_parts.h"
#include "kernel/elementary.h"

/* x = quarter pi/2 + high + low, |high| <= pi/4; only the last two bits of quarter count. */
typedef struct tk_angle {
  double high;
  double low;
  uint64_t quarter;
} tk_angle;

#define TK_PI_4_BITS 0x3fe921fb54442d18u

/* 64 zero bits, then the binary digits of 2/pi. */
static const uint32_t tk_two_over_pi[40] = {
    0x00000000u, 0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u,
    0xfe5163abu, 0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu,
    0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu,
    0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u, 0x4f463f66u, 0x9e5fea2du,
    0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u, 0xfc7b6babu,
};

/* x = m 2^e with an integer m of 53 bits. Of m 2^e 2/pi only the value mod 4 matters, so the digits of 2/pi that give
 * multiples of 4 are left out, and 192 digits from there on leave 137 correct bits behind the point; a double comes
 * no closer to a multiple of pi/2 than 2^-62. |x| >= 1/2, finite. */
static TK_COLD void tk_reduce_exactly(double x, tk_angle* angle) {
  uint64_t bits = tk_bits(x);
  uint32_t biased = (uint32_t)(bits >> 52) & 2047u;
  uint64_t m = (bits & 0x000fffffffffffffu) | 0x0010000000000000u;
  uint64_t m_low = m & 0xffffffffu;
  uint64_t m_high = m >> 32;
  /* e = biased - 1075; the digit of weight 2^-j stands at j + 63, and the first one needed has j = e - 1. */
  uint32_t first = biased - 1013u;
  uint32_t word = first / 32u;
  uint32_t shift = first % 32u;
  uint64_t digits[6]; /* 32 bits each, most significant first */
  for (uint32_t i = 0; i < 6; ++i) {
    uint64_t pair = ((uint64_t)tk_two_over_pi[word + i] << 32) | tk_two_over_pi[word + i + 1];
    digits[i] = (pair << shift) >> 32;
  }
  uint64_t product[6];
  uint64_t carry = 0;
  for (int i = 5; i >= 0; --i) {
    uint64_t low = digits[i] * m_low;
    uint64_t high = i < 5 ? digits[i + 1] * m_high : 0;
    uint64_t sum = (low & 0xffffffffu) + (high & 0xffffffffu) + carry;
    product[i] = sum & 0xffffffffu;
    carry = (sum >> 32) + (low >> 32) + (high >> 32);
  }
  uint64_t f2 = (product[0] << 32) | product[1];
  uint64_t f1 = (product[2] << 32) | product[3];
  uint64_t f0 = (product[4] << 32) | product[5];
  uint64_t quarter = f2 >> 62;
  f2 = (f2 << 2) | (f1 >> 62);
  f1 = (f1 << 2) | (f0 >> 62);
  f0 <<= 2;
  uint64_t sign = bits & TK_SIGN_BIT;
  if (f2 >> 63) { /* round to nearest: one more quarter, and the rest to its complement */
    quarter += 1;
    f2 = ~f2;
    f1 = ~f1;
    f0 = ~f0;
    sign ^= TK_SIGN_BIT;
  }
  double unit = 0x1p-53;
  for (uint32_t step = 32; step > 0; step /= 2) { /* leading zeros, of which there are at most 63 */
    if (f2 >> (64 - step)) continue;
    f2 = (f2 << step) | (f1 >> (64 - step));
    f1 = (f1 << step) | (f0 >> (64 - step));
    f0 <<= step;
    unit *= 1.0 / (double)((uint64_t)1 << step);
  }
  /* Times pi/2, in double-double; 26 leading bits, the next 27, and the rest. */
  double head = (double)(int64_t)(f2 >> 38) * 134217728.0 * unit;
  double middle = (double)(int64_t)((f2 >> 11) & 0x7ffffffu) * unit;
  double tail = (double)(int64_t)(((f2 & 0x7ffu) << 42) | (f1 >> 22)) * 0x1p-53 * unit;
  const double pi_2_high = 0x1.921fb5p+0;
  const double pi_2_low = 0x1.110b4611a6263p-26;
  double leading = head * pi_2_high;
  double rest = head * pi_2_low + (middle * pi_2_high + (middle * pi_2_low + tail * (pi_2_high + pi_2_low)));
  double high = leading + rest;
  double low = (leading - high) + rest;
  angle->high = tk_from_bits(tk_bits(high) ^ sign);
  angle->low = tk_from_bits(tk_bits(low) ^ sign);
  angle->quarter = bits & TK_SIGN_BIT ? 0u - quarter : quarter;
}

/* False when the argument is one that tk_reduce_exactly must reduce, or zero, or not finite. */
TK_PART int tk_reduce(double x, tk_angle* angle) {
  double rounded = x * 0x1.45f306dc9c883p-1 + TK_ROUNDER;
  double k = rounded - TK_ROUNDER;
  double first = x - k * 0x1.921fb54p+0;
  double second = k * 0x1.10b4611a62633p-30;
  double high = first - second;
  angle->high = high;
  angle->low = (first - high) - second;
  angle->quarter = tk_bits(rounded);
  return tk_abs(high) > 32.0 * tk_abs(second);
}

/* The terms of sin(r) - r: the cube, which is the largest by far, and the others in pairs. */
typedef struct tk_sin_terms {
  double cube;
  double fifth;
  double higher;
} tk_sin_terms;

TK_PART tk_sin_terms tk_terms_of_sin(double r, double z) {
  double z2 = z * z;
  double r3 = r * z;
  double r5 = r3 * z;
  double fifth = 0x1.111111111101ep-7 + -0x1.a01a019fe8844p-13 * z;
  double ninth = 0x1.71de3a1031278p-19 + -0x1.ae63f7f221bedp-26 * z;
  double thirteenth = 0x1.60e5c00024ab1p-33 + -0x1.8d49f2579c13ep-41 * z;
  tk_sin_terms terms;
  terms.cube = -0x1.5555555555555p-3 * r3;
  terms.fifth = r5 * fifth;
  terms.higher = (r5 * z2) * ninth + (r5 * (z2 * z2)) * thirteenth;
  return terms;
}

/* For |r| <= pi/4, with the same bits as tk_sin_of(r, 0). */
TK_PART double tk_sin_without_low(double r) {
  tk_sin_terms terms = tk_terms_of_sin(r, r * r);
  return r + ((terms.cube + terms.fifth) + terms.higher);
}

TK_PART double tk_sin_of(double r, double low) {
  double z = r * r;
  tk_sin_terms terms = tk_terms_of_sin(r, z);
  return r + (((low * (1.0 - 0.5 * z) + terms.cube) + terms.fifth) + terms.higher);
}

/* sin(r + low) = *leading + the result, without the rounding of adding terms to the cube. */
TK_PART double tk_sin_rest(double r, double low, double* leading) {
  double z = r * r;
  tk_sin_terms terms = tk_terms_of_sin(r, z);
  double top = r + terms.cube;
  *leading = top;
  return ((r - top) + terms.cube) + ((low * (1.0 - 0.5 * z) + terms.fifth) + terms.higher);
}

/* cos(r + low) = *leading + the result. */
TK_PART double tk_cos_rest(double r, double low, double* leading) {
  double r_high = tk_high(r);
  double half = r_high * (0.5 * r_high);
  double top = 1.0 - half;
  double half_low = (0.5 * (r - r_high)) * (r + r_high) + r * low;
  double z = r * r;
  double z2 = z * z;
  double z4 = z2 * z2;
  double first = 0x1.5555555555555p-5 + -0x1.6c16c16c168c7p-10 * z;
  double second = 0x1.a01a019f3748ap-16 + -0x1.27e4fa017dd67p-22 * z;
  double third = 0x1.1eeb563bdaa44p-29 + -0x1.90724d2e622fbp-37 * z;
  *leading = top;
  return ((z2 * first + z4 * second) - half_low) + (((1.0 - top) - half) + (z4 * z2) * third);
}

TK_PART double tk_cos_of(double r, double low) {
  double leading;
  double rest = tk_cos_rest(r, low, &leading);
  return leading + rest;
}

/* The sine of the angle advanced by `quarters` of a turn. A branch, not both and a choice: angles move slowly in a
 * run. */
TK_PART double tk_turned_sin(const tk_angle* angle, uint64_t quarters) {
  uint64_t quarter = angle->quarter + quarters;
  double value = quarter & 1u ? tk_cos_of(angle->high, angle->low) : tk_sin_of(angle->high, angle->low);
  return tk_from_bits(tk_bits(value) ^ ((quarter & 2u) << 62));
}

static TK_COLD double tk_sin_rare(double x, uint64_t quarters) {
  if (x == 0.0) return quarters ? 1.0 : x;
  if (!(tk_abs(x) < tk_infinity())) return tk_nan();
  tk_angle angle;
  tk_reduce_exactly(x, &angle);
  return tk_turned_sin(&angle, quarters);
}

TK_ENTRY double tk_sin(double x) {
  /* No reduction, the same bits: 0 < |x| < pi/4. */
  if ((tk_bits(x) & ~TK_SIGN_BIT) - 1u < TK_PI_4_BITS - 1u) return tk_sin_without_low(x);
  tk_angle angle;
  if (TK_UNLIKELY(!tk_reduce(x, &angle))) return tk_sin_rare(x, 0);
  return tk_turned_sin(&angle, 0);
}

TK_ENTRY double tk_cos(double x) {
  if ((tk_bits(x) & ~TK_SIGN_BIT) < TK_PI_4_BITS) return tk_cos_of(x, 0.0);
  tk_angle angle;
  if (TK_UNLIKELY(!tk_reduce(x, &angle))) return tk_sin_rare(x, 1);
  return tk_turned_sin(&angle, 1);
}

TK_PART void tk_turned_sincos(const tk_angle* angle, double* s, double* c) {
  double sine = tk_sin_of(angle->high, angle->low);
  double cosine = tk_cos_of(angle->high, angle->low);
  uint64_t quarter = angle->quarter;
  uint64_t sine_sign = (quarter & 2u) << 62;
  uint64_t cosine_sign = ((quarter + 1u) & 2u) << 62;
  if (quarter & 1u) {
    double swap = sine;
    sine = cosine;
    cosine = swap;
  }
  *s = tk_from_bits(tk_bits(sine) ^ sine_sign);
  *c = tk_from_bits(tk_bits(cosine) ^ cosine_sign);
}

static TK_COLD void tk_sincos_rare(double x, double* s, double* c) {
  if (x == 0.0 || !(tk_abs(x) < tk_infinity())) {
    *s = tk_sin_rare(x, 0);
    *c = tk_sin_rare(x, 1);
    return;
  }
  tk_angle angle;
  tk_reduce_exactly(x, &angle);
  tk_turned_sincos(&angle, s, c);
}

TK_ENTRY void tk_sincos(double x, double* s, double* c) {
  if ((tk_bits(x) & ~TK_SIGN_BIT) - 1u < TK_PI_4_BITS - 1u) {
    *s = tk_sin_without_low(x);
    *c = tk_cos_of(x, 0.0);
    return;
  }
  tk_angle angle;
  if (TK_UNLIKELY(!tk_reduce(x, &angle))) {
    tk_sincos_rare(x, s, c);
    return;
  }
  tk_turned_sincos(&angle, s, c);
}

/* n/d with n = n1 + n2 and d = d1 + d2, the second parts not larger than a tenth of the first: a quotient of 26 bits,
 * and the rest from its exact remainder. */
TK_PART double tk_quotient(double n1, double n2, double d1, double d2) {
  double d = d1 + d2;
  double inverse = 1.0 / d;
  double q = tk_high((n1 + n2) * inverse);
  double d_high = tk_high(d);
  double d_low = (d1 - d_high) + d2;
  return q + ((n1 - q * d_high) + (n2 - q * d_low)) * inverse;
}

TK_PART double tk_tan_of(double r, double low, uint64_t quarter) {
  double cosine;
  double sine;
  double cosine_rest = tk_cos_rest(r, low, &cosine);
  double sine_rest = tk_sin_rest(r, low, &sine);
  return quarter & 1u ? tk_quotient(-cosine, -cosine_rest, sine, sine_rest)
                      : tk_quotient(sine, sine_rest, cosine, cosine_rest);
}

static TK_COLD double tk_tan_rare(double x) {
  if (x == 0.0) return x;
  if (!(tk_abs(x) < tk_infinity())) return tk_nan();
  tk_angle angle;
  tk_reduce_exactly(x, &angle);
  return tk_tan_of(angle.high, angle.low, angle.quarter);
}

TK_ENTRY double tk_tan(double x) {
  if ((tk_bits(x) & ~TK_SIGN_BIT) - 1u < TK_PI_4_BITS - 1u) return tk_tan_of(x, 0.0, 0);
  tk_angle angle;
  if (TK_UNLIKELY(!tk_reduce(x, &angle))) return tk_tan_rare(x);
  return tk_tan_of(angle.high, angle.low, angle.quarter);
}
