#include "words/decimal.h"

#include "kernel/elementary.h"
#include "kernel/sections.h"

/* An unsigned integer, the least significant word first. 2 * 10^324 times 10, the largest number that is met, has 1081
 * bits. */
enum { TK_LIMBS = 40 };
typedef struct tk_long {
  uint32_t limbs[TK_LIMBS];
  uint32_t count;
} tk_long;

static void tk_long_set(tk_long* a, uint64_t value, uint32_t shift) {
  for (uint32_t i = 0; i < TK_LIMBS; i++) {
    a->limbs[i] = 0;
    TK_HIDE(i);
  }
  const uint32_t first = shift / 32u;
  const uint32_t bits = shift % 32u;
  const uint64_t low = (value & 0xffffffffu) << bits;
  const uint64_t high = (value >> 32u) << bits;
  a->limbs[first] = (uint32_t)low;
  const uint64_t middle = (low >> 32u) + (high & 0xffffffffu);
  a->limbs[first + 1] = (uint32_t)middle;
  a->limbs[first + 2] = (uint32_t)((high >> 32u) + (middle >> 32u));
  a->count = first + 3;
  while (a->count > 0 && a->limbs[a->count - 1] == 0) a->count--;
}

static void tk_long_times_ten(tk_long* a) {
  uint64_t carry = 0;
  for (uint32_t i = 0; i < a->count; i++) {
    carry += 10u * (uint64_t)a->limbs[i];
    a->limbs[i] = (uint32_t)carry;
    carry >>= 32u;
  }
  if (carry > 0 && a->count < TK_LIMBS) a->limbs[a->count++] = (uint32_t)carry;
}

/* a + b compared with c: -1, 0 or 1. */
static int tk_long_compare_sum(const tk_long* a, const tk_long* b, const tk_long* c) {
  const uint32_t ab = a->count > b->count ? a->count : b->count;
  const uint32_t count = ab > c->count ? ab : c->count;
  /* From the top: by how much c is ahead, in units of the present word. Two units ahead cannot be caught up with. */
  int64_t ahead = 0;
  for (uint32_t k = count; k-- > 0;) {
    ahead = ahead * 4294967296 + (int64_t)c->limbs[k] - (int64_t)a->limbs[k] - (int64_t)b->limbs[k];
    if (ahead < 0) return 1;
    if (ahead > 1) return -1;
  }
  return ahead > 0 ? -1 : 0;
}

static int tk_long_compare(const tk_long* a, const tk_long* b) {
  const uint32_t count = a->count > b->count ? a->count : b->count;
  for (uint32_t k = count; k-- > 0;) {
    if (a->limbs[k] != b->limbs[k]) return a->limbs[k] < b->limbs[k] ? -1 : 1;
  }
  return 0;
}

/* a -= b, which is not larger. */
static void tk_long_subtract(tk_long* a, const tk_long* b) {
  uint64_t borrow = 0;
  for (uint32_t i = 0; i < a->count; i++) {
    const uint64_t taken = (uint64_t)b->limbs[i] + borrow;
    borrow = a->limbs[i] < taken;
    a->limbs[i] -= (uint32_t)taken;
  }
  while (a->count > 0 && a->limbs[a->count - 1] == 0) a->count--;
}

/* The digit r / s, and r becomes the rest. */
static int tk_long_digit(tk_long* r, const tk_long* s) {
  int digit = 0;
  while (tk_long_compare(r, s) >= 0) {
    tk_long_subtract(r, s);
    digit++;
  }
  return digit;
}

/* |value| = fraction * 2^exponent. */
static uint64_t tk_fraction(double value, int32_t* exponent, int* is_power) {
  const uint64_t bits = tk_bits(value) & 0x7fffffffffffffffu;
  const uint64_t fraction = bits & 0xfffffffffffffu;
  const int32_t biased = (int32_t)(bits >> 52u);
  *exponent = biased == 0 ? -1074 : biased - 1075;
  *is_power = biased > 1 && fraction == 0;
  return biased == 0 ? fraction : fraction | 0x10000000000000u;
}

static void tk_zero_decimal(tk_decimal* decimal) {
  decimal->count = 1;
  decimal->exponent = 0;
  decimal->digits[0] = '0';
}

/* value = r / s, the next double above it is 2 * above / s away, that below it 2 * below / s. */
void tk_shortest_decimal(double value, tk_decimal* decimal) {
  int32_t exponent;
  int is_power;
  const uint64_t fraction = tk_fraction(value, &exponent, &is_power);
  if (fraction == 0) {
    tk_zero_decimal(decimal);
    return;
  }
  tk_long r, s, above, below;
  const uint32_t more = is_power ? 2 : 1; /* below a power of two doubles lie closer together */
  const uint32_t up = exponent > 0 ? (uint32_t)exponent : 0;
  const uint32_t down = exponent < 0 ? (uint32_t)-exponent : 0;
  tk_long_set(&r, fraction, up + more);
  tk_long_set(&s, 1, down + more);
  tk_long_set(&above, 1, up + more - 1);
  tk_long_set(&below, 1, up);
  /* What reads back as an even fraction includes the middle to its neighbours. */
  const int is_even = (fraction & 1u) == 0;
  int32_t power = 0;
  while (tk_long_compare_sum(&r, &above, &s) + is_even > 0) {
    tk_long_times_ten(&s);
    power++;
  }
  for (;;) {
    tk_long_times_ten(&r);
    tk_long_times_ten(&above);
    tk_long_times_ten(&below);
    if (tk_long_compare_sum(&r, &above, &s) + is_even > 0) break;
    power--;
  }
  decimal->exponent = power - 1;
  decimal->count = 0;
  for (;;) {
    const int digit = tk_long_digit(&r, &s);
    const int is_low = tk_long_compare(&r, &below) - is_even < 0;
    const int is_high = tk_long_compare_sum(&r, &above, &s) + is_even > 0;
    int is_up = is_high;
    if (is_low && is_high) {
      const int half = tk_long_compare_sum(&r, &r, &s);
      is_up = half > 0 || (half == 0 && (digit & 1));
    }
    decimal->digits[decimal->count++] = (char)('0' + digit + ((is_low || is_high) && is_up ? 1 : 0));
    if (is_low || is_high || decimal->count == TK_MOST_DIGITS) return;
    tk_long_times_ten(&r);
    tk_long_times_ten(&above);
    tk_long_times_ten(&below);
  }
}

void tk_rounded_decimal(double value, int32_t count, tk_decimal* decimal) {
  int32_t exponent;
  int is_power;
  const uint64_t fraction = tk_fraction(value, &exponent, &is_power);
  decimal->count = count;
  for (int32_t i = 0; i < count; i++) {
    decimal->digits[i] = '0';
    TK_HIDE(i);
  }
  decimal->exponent = 0;
  if (fraction == 0) return;
  tk_long r, s;
  tk_long_set(&r, fraction, exponent > 0 ? (uint32_t)exponent : 0);
  tk_long_set(&s, 1, exponent < 0 ? (uint32_t)-exponent : 0);
  int32_t power = 0;
  while (tk_long_compare(&r, &s) >= 0) {
    tk_long_times_ten(&s);
    power++;
  }
  for (;;) {
    tk_long_times_ten(&r);
    if (tk_long_compare(&r, &s) >= 0) break;
    power--;
  }
  decimal->exponent = power - 1;
  for (int32_t i = 0; i < count; i++) {
    if (i > 0) tk_long_times_ten(&r);
    decimal->digits[i] = (char)('0' + tk_long_digit(&r, &s));
  }
  const int half = tk_long_compare_sum(&r, &r, &s);
  if (half < 0 || (half == 0 && !(decimal->digits[count - 1] & 1))) return;
  int32_t at = count - 1;
  while (at >= 0 && decimal->digits[at] == '9') decimal->digits[at--] = '0';
  if (at >= 0) {
    decimal->digits[at]++;
  } else {
    decimal->digits[0] = '1';
    decimal->exponent++;
  }
}
