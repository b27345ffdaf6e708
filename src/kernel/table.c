/* Sampled data as a function. Enters: a table (abi/model.h), how often it is differentiated, the argument. Leaves: the
 * value; beyond the ends the value at the end and derivatives 0; NaN for NaN. At a knot, what holds to its right.
 *
 *   hold    the sample at or before x
 *   linear  between neighbours
 *   cubic   Hermite's, with the slopes of Fritsch and Butland, SIAM J. Sci. Stat. Comput. 5(2), 1984: monotone where
 *   the data
 *           are. In two dimensions along y in each row with the slopes given, then across the rows with slopes by the
 *           same rule from the rows' values at y.
 *
 * Derivatives along y are carried through the rule for the slopes by Taylor series in y, cut after the cube. */
#include "kernel/double_parts.h"
#include "kernel/kernel.h"
#include "kernel/sections.h"

#define TK_TERMS 4

/* c[0] + c[1] e + c[2] e^2 + c[3] e^3 */
typedef struct tk_series {
  double c[TK_TERMS];
} tk_series;

static tk_series tk_series_zero(void) {
  tk_series a;
  for (int i = 0; i < TK_TERMS; i++) {
    a.c[i] = 0.0;
    TK_HIDE(i);
  }
  return a;
}

/* p a + q b */
static tk_series tk_series_sum(double p, const tk_series* a, double q, const tk_series* b) {
  tk_series r;
  for (int i = 0; i < TK_TERMS; i++) r.c[i] = p * a->c[i] + q * b->c[i];
  return r;
}

static tk_series tk_series_product(const tk_series* a, const tk_series* b) {
  tk_series r = tk_series_zero();
  for (int i = 0; i < TK_TERMS; i++) {
    for (int j = 0; i + j < TK_TERMS; j++) r.c[i + j] += a->c[i] * b->c[j];
  }
  return r;
}

static tk_series tk_series_quotient(const tk_series* a, const tk_series* b) {
  tk_series r = tk_series_zero();
  for (int i = 0; i < TK_TERMS; i++) {
    double rest = a->c[i];
    for (int j = 0; j < i; j++) rest -= r.c[j] * b->c[i - j];
    r.c[i] = rest / b->c[0];
  }
  return r;
}

/* Where an argument stands among increasing knots. */
typedef struct tk_bracket {
  uint32_t low; /* knots[low] <= x <= knots[low + 1], or the only knot */
  int inside;   /* 0: before the first or after the last */
  double x;     /* moved to the end when it is beyond */
  double h;     /* between the two knots; 0 for a single one */
} tk_bracket;

static tk_bracket tk_find_bracket(const double* knots, uint32_t count, double x) {
  tk_bracket found;
  found.inside = x >= knots[0] && x <= knots[count - 1];
  found.x = x < knots[0] ? knots[0] : x > knots[count - 1] ? knots[count - 1] : x;
  uint32_t low = 0;
  uint32_t high = count - 1;
  while (high - low > 1 && high > low) {
    const uint32_t middle = low + (high - low) / 2;
    if (knots[middle] <= found.x) {
      low = middle;
    } else {
      high = middle;
    }
  }
  found.low = low;
  found.h = count > 1 ? knots[low + 1] - knots[low] : 0.0;
  return found;
}

/* The function between two knots as its Taylor series at the argument. */
static tk_series tk_along(uint32_t method, const tk_bracket* at, const double* knots, const double* values,
                          const double* slopes) {
  tk_series r = tk_series_zero();
  const uint32_t k = at->low;
  const double h = at->h;
  if (h == 0.0) {
    r.c[0] = values[k];
    return r;
  }
  const double u = at->x - knots[k];
  const double rise = (values[k + 1] - values[k]) / h;
  if (method == TACTUS_HOLD) {
    r.c[0] = u >= h ? values[k + 1] : values[k];
  } else if (method == TACTUS_LINEAR) {
    r.c[0] = u >= h ? values[k + 1] : values[k] + u * rise;
    r.c[1] = rise;
  } else {
    const double square = (3.0 * rise - 2.0 * slopes[k] - slopes[k + 1]) / h;
    const double cube = (slopes[k] + slopes[k + 1] - 2.0 * rise) / (h * h);
    r.c[0] = u >= h ? values[k + 1] : values[k] + u * (slopes[k] + u * (square + u * cube));
    r.c[1] = slopes[k] + u * (2.0 * square + 3.0 * u * cube);
    r.c[2] = square + 3.0 * u * cube;
    r.c[3] = cube;
  }
  if (!at->inside) r.c[1] = r.c[2] = r.c[3] = 0.0;
  return r;
}

/* The derivative of that order from the series. */
static double tk_derivative_of(const tk_series* series, int order) {
  static const double factorial[TK_TERMS] = {1.0, 1.0, 2.0, 6.0};
  return order < TK_TERMS ? factorial[order] * series->c[order] : 0.0;
}

double tk_table(const tactus_table* table, int order, double x) {
  if (x != x) return x;
  const tk_bracket at = tk_find_bracket(table->x, table->x_count, x);
  const tk_series series = tk_along(table->method, &at, table->x, table->values, table->slopes);
  return tk_derivative_of(&series, order);
}

/* Fritsch and Butland's slope between chords `left` over h_left and `right` over h_right: a weighted harmonic mean. */
static tk_series tk_inner_slope(double h_left, double h_right, const tk_series* left, const tk_series* right) {
  if (!(left->c[0] * right->c[0] > 0.0)) return tk_series_zero();
  const double w_left = 2.0 * h_right + h_left;
  const double w_right = h_right + 2.0 * h_left;
  const tk_series divisor = tk_series_sum(w_left, right, w_right, left);
  tk_series product = tk_series_product(left, right);
  product = tk_series_sum(w_left + w_right, &product, 0.0, &product);
  return tk_series_quotient(&product, &divisor);
}

/* The slope at an end, its own chord first: the parabola's, limited so that the curve stays monotone. */
static tk_series tk_end_slope(double h, double h_next, const tk_series* chord, const tk_series* next) {
  const tk_series slope = tk_series_sum((2.0 * h + h_next) / (h + h_next), chord, -h / (h + h_next), next);
  if (!(slope.c[0] * chord->c[0] > 0.0)) return tk_series_zero();
  if (chord->c[0] * next->c[0] < 0.0 && tk_abs(slope.c[0]) > 3.0 * tk_abs(chord->c[0])) {
    return tk_series_sum(3.0, chord, 0.0, chord);
  }
  return slope;
}

double tk_table_2(const tactus_table* table, int order_x, int order_y, double x, double y) {
  if (x != x) return x;
  if (y != y) return y;
  const tk_bracket across = tk_find_bracket(table->x, table->x_count, x);
  const tk_bracket along = tk_find_bracket(table->y, table->y_count, y);
  const uint32_t last = table->x_count - 1;
  /* Rows low - 1 .. low + 2, as far as there are any; row[1] is low. */
  tk_series row[4];
  for (uint32_t k = 0; k < 4; k++) {
    row[k] = tk_series_zero();
    if (across.low + k < 1 || across.low + k - 1 > last) continue;
    const uint64_t at = (uint64_t)(across.low + k - 1) * table->y_count;
    row[k] = tk_along(table->method, &along, table->y, table->values + at,
                      table->method == TACTUS_CUBIC ? table->slopes + at : table->values);
  }
  if (order_x > 0 && (!across.inside || across.h == 0.0)) return 0.0;
  if (across.h == 0.0) return tk_derivative_of(&row[1], order_y);

  const double* knots = table->x;
  const uint32_t low = across.low;
  const double h = across.h;
  const double u = across.x - knots[low];
  if (order_x == 0 && u >= h) return tk_derivative_of(&row[2], order_y);
  if (table->method == TACTUS_HOLD) return order_x == 0 ? tk_derivative_of(&row[1], order_y) : 0.0;

  const tk_series rise = tk_series_sum(1.0 / h, &row[2], -1.0 / h, &row[1]);
  tk_series terms[4];
  terms[0] = row[1];
  terms[1] = rise;
  terms[2] = terms[3] = tk_series_zero();
  if (table->method == TACTUS_CUBIC && last > 1) {
    tk_series before = rise;
    tk_series after = rise;
    const double h_before = low > 0 ? knots[low] - knots[low - 1] : h;
    const double h_after = low + 1 < last ? knots[low + 2] - knots[low + 1] : h;
    if (low > 0) before = tk_series_sum(1.0 / h_before, &row[1], -1.0 / h_before, &row[0]);
    if (low + 1 < last) after = tk_series_sum(1.0 / h_after, &row[3], -1.0 / h_after, &row[2]);
    const tk_series slope =
        low > 0 ? tk_inner_slope(h_before, h, &before, &rise) : tk_end_slope(h, h_after, &rise, &after);
    const tk_series slope_after =
        low + 1 < last ? tk_inner_slope(h, h_after, &rise, &after) : tk_end_slope(h, h_before, &rise, &before);
    const tk_series slopes = tk_series_sum(1.0, &slope, 1.0, &slope_after);
    terms[1] = slope;
    terms[2] = tk_series_sum(1.0, &slope, 1.0, &slopes);
    terms[2] = tk_series_sum(3.0 / h, &rise, -1.0 / h, &terms[2]);
    terms[3] = tk_series_sum(1.0 / (h * h), &slopes, -2.0 / (h * h), &rise);
  }
  double c[4];
  for (int i = 0; i < 4; i++) c[i] = tk_derivative_of(&terms[i], order_y);
  switch (order_x) {
    case 0:
      return c[0] + u * (c[1] + u * (c[2] + u * c[3]));
    case 1:
      return c[1] + u * (2.0 * c[2] + 3.0 * u * c[3]);
    case 2:
      return 2.0 * c[2] + 6.0 * u * c[3];
    case 3:
      return 6.0 * c[3];
    default:
      return 0.0;
  }
}
