/* A finite double -> decimal digits, without a library: exact arithmetic on long integers.
 *
 * Method: Burger and Dybvig, Printing Floating-Point Numbers Quickly and Accurately, PLDI 1996, section 3. Cost: digits
 * times the length of the integers, at most 40 words of 32 bits; about a microsecond for numbers of everyday size. */
#ifndef TACTUS_WORDS_DECIMAL_H
#define TACTUS_WORDS_DECIMAL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Digits that are asked for at most. */
enum { TK_MOST_DIGITS = 24 };

/* d.ddd * 10^exponent; the first digit is 0 for zero alone. */
typedef struct tk_decimal {
  int32_t count;
  int32_t exponent;
  char digits[TK_MOST_DIGITS];
} tk_decimal;

/* The fewest digits that read back as the same bits; of these the nearest to |value|. */
void tk_shortest_decimal(double value, tk_decimal* decimal);
/* |value| rounded to `count` digits, 1 to TK_MOST_DIGITS, half to even. */
void tk_rounded_decimal(double value, int32_t count, tk_decimal* decimal);

#ifdef __cplusplus
}
#endif

#endif
