#include "words/text.h"

#include "kernel/elementary.h"
#include "words/decimal.h"

tk_text tk_text_in(char* at, uint64_t size) {
  tk_text text;
  text.at = at;
  text.size = size;
  text.length = 0;
  if (size > 0) at[0] = 0;
  return text;
}

static void tk_put_character(tk_text* text, char c) {
  if (text->length + 1 < text->size) {
    text->at[text->length] = c;
    text->at[text->length + 1] = 0;
  }
  text->length++;
}

void tk_put_some(tk_text* text, const char* words, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) tk_put_character(text, words[i]);
}

void tk_put(tk_text* text, const char* words) {
  for (; *words; words++) tk_put_character(text, *words);
}

void tk_put_shortened(tk_text* text, const char* words, uint64_t limit) {
  uint64_t length = 0;
  while (length <= limit && words[length]) length++;
  if (length <= limit) {
    tk_put(text, words);
    return;
  }
  while (limit > 0 && ((unsigned char)words[limit] & 0xc0u) == 0x80u) limit--; /* not inside a character */
  tk_put_some(text, words, limit);
  tk_put(text, " ..");
}

void tk_put_integer(tk_text* text, int64_t value) {
  char digits[20];
  int count = 0;
  uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  if (value < 0) tk_put_character(text, '-');
  do {
    digits[count++] = (char)('0' + size % 10u);
    size /= 10u;
  } while (size > 0);
  while (count > 0) tk_put_character(text, digits[--count]);
}

/* Whether it was one that has no digits; a sign is put in any case. A NaN has none. */
static int tk_put_special(tk_text* text, double value) {
  if (value != value) {
    tk_put(text, "nan");
    return 1;
  }
  if (tk_bits(value) >> 63u) tk_put_character(text, '-');
  if (value - value == 0.0) return 0;
  tk_put(text, "inf");
  return 1;
}

static void tk_put_with_exponent(tk_text* text, const tk_decimal* decimal) {
  const int32_t exponent = decimal->exponent;
  tk_put_character(text, decimal->digits[0]);
  if (decimal->count > 1) tk_put_character(text, '.');
  tk_put_some(text, decimal->digits + 1, (uint64_t)(decimal->count - 1));
  tk_put(text, exponent < 0 ? "e-" : "e+");
  if (exponent > -10 && exponent < 10) tk_put_character(text, '0');
  tk_put_integer(text, exponent < 0 ? -exponent : exponent);
}

static void tk_put_plain(tk_text* text, const tk_decimal* decimal) {
  const int32_t whole = decimal->exponent + 1; /* digits before the point */
  if (whole <= 0) {
    tk_put(text, "0.");
    for (int32_t i = whole; i < 0; i++) tk_put_character(text, '0');
    tk_put_some(text, decimal->digits, (uint64_t)decimal->count);
    return;
  }
  for (int32_t i = 0; i < whole || i < decimal->count; i++) {
    if (i == whole) tk_put_character(text, '.');
    tk_put_character(text, i < decimal->count ? decimal->digits[i] : '0');
  }
}

void tk_put_number(tk_text* text, double value) {
  tk_decimal decimal;
  if (tk_put_special(text, value)) return;
  tk_shortest_decimal(value, &decimal);
  if (decimal.exponent < -4 || decimal.exponent >= 16) {
    tk_put_with_exponent(text, &decimal);
  } else {
    tk_put_plain(text, &decimal);
  }
}

void tk_put_rounded(tk_text* text, double value, int32_t digits) {
  tk_decimal decimal;
  if (tk_put_special(text, value)) return;
  tk_rounded_decimal(value, digits, &decimal);
  while (decimal.count > 1 && decimal.digits[decimal.count - 1] == '0') decimal.count--;
  if (decimal.exponent < -4 || decimal.exponent >= digits) {
    tk_put_with_exponent(text, &decimal);
  } else {
    tk_put_plain(text, &decimal);
  }
}

void tk_put_cell(tk_text* text, double value) {
  tk_decimal decimal;
  if (tk_put_special(text, value)) return;
  tk_shortest_decimal(value, &decimal);
  const int32_t count = decimal.count;
  const int32_t size = decimal.exponent < 0 ? -decimal.exponent : decimal.exponent;
  const int32_t with_exponent = count + (count > 1) + (size < 100 ? 4 : 5);
  const int32_t plain = decimal.exponent < 0           ? 1 + count + size
                        : decimal.exponent + 1 < count ? count + 1
                                                       : decimal.exponent + 1;
  if (with_exponent < plain) {
    tk_put_with_exponent(text, &decimal);
    return;
  }
  /* An integer is written with all its digits, not with zeros for those that need not be known. */
  if (decimal.exponent + 1 > count) tk_rounded_decimal(value, decimal.exponent + 1, &decimal);
  tk_put_plain(text, &decimal);
}
