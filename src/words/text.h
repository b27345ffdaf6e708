/* A text that grows in memory of the caller, without a library. What does not fit is cut, and counted. */
#ifndef TACTUS_WORDS_TEXT_H
#define TACTUS_WORDS_TEXT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `at` has `size` bytes and always ends with 0 when there is room for that. `length`: bytes of the whole text, which
 * was cut if that is not less than `size`. */
typedef struct tk_text {
  char* at;
  uint64_t size;
  uint64_t length;
} tk_text;

tk_text tk_text_in(char* at, uint64_t size);
void tk_put(tk_text* text, const char* words);
void tk_put_some(tk_text* text, const char* words, uint64_t count);
/* Not more than `limit` bytes, whole characters, and " .." where something is left out. */
void tk_put_shortened(tk_text* text, const char* words, uint64_t limit);
void tk_put_integer(tk_text* text, int64_t value);
/* The shortest digits that read back as the same bits, as fmt's {} has them: with an exponent from 1e16 on and below
 * 1e-4. */
void tk_put_number(tk_text* text, double value);
/* Rounded to so many digits, as printf's %.9g has them. */
void tk_put_rounded(tk_text* text, double value, int32_t digits);
/* The shortest digits; as a plain number or with an exponent, whichever is shorter: as std::to_chars, and CSV files of
 * `tactus run`. */
void tk_put_cell(tk_text* text, double value);

#ifdef __cplusplus
}
#endif

#endif
