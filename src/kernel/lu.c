/* A x = b by Gaussian elimination with partial pivoting, in place, n^3 / 3 operations, on one b at once or kept for
 * several. Golub and Van Loan, Matrix Computations, 4th edition, algorithm 3.4.1.
 *
 * Rows are first divided by the power of two below their largest entry: exact, and the choice of pivots no longer
 * depends on the equations' units. The matrix is called singular when a pivot is lost in the rounding of the column it
 * stands in, 4 ulp of the largest entry that elimination left above it; columns may thus have any scale. */
#include "kernel/kernel.h"
#include "kernel/sections.h"

/* The power of two below |x|, which is finite and not zero; the smallest normal one for subnormal x. */
static double tk_row_unit(double x) {
  const uint64_t exponent = tk_bits(x) & 0x7ff0000000000000u;
  return exponent == 0 ? 0x1p-1022 : tk_from_bits(exponent);
}

/* Eliminates below the diagonal, on b as well when there is one. kept, when there is one, gets each row's unit and then
 * each column's pivot row, and the factors stay below the diagonal. */
TK_ALWAYS_INLINE int tk_lu_eliminate(int n, double* a, double* b, double* kept) {
  for (int i = 0; i < n; i++) {
    double* row = a + (int64_t)i * n;
    double largest = 0.0;
    for (int j = 0; j < n; j++) {
      const double size = tk_abs(row[j]);
      if (!tk_is_finite(size)) return TACTUS_NOT_FINITE;
      if (size > largest) largest = size;
    }
    if (largest == 0.0) return TACTUS_SINGULAR;
    const double unit = tk_row_unit(largest);
    for (int j = 0; j < n; j++) row[j] /= unit;
    if (b) b[i] /= unit;
    if (kept) kept[i] = unit;
  }

  for (int column = 0; column < n; column++) {
    double above = 0.0;
    for (int i = 0; i < column; i++) {
      const double size = tk_abs(a[(int64_t)i * n + column]);
      if (size > above) above = size;
    }
    int pivot = column;
    double best = tk_abs(a[(int64_t)column * n + column]);
    for (int i = column + 1; i < n; i++) {
      const double size = tk_abs(a[(int64_t)i * n + column]);
      if (size > best) {
        best = size;
        pivot = i;
      }
    }
    if (!(best > 4.0 * 0x1p-52 * above)) return TACTUS_SINGULAR;
    if (kept) kept[n + column] = (double)pivot;

    double* top = a + (int64_t)column * n;
    if (pivot != column) {
      double* other = a + (int64_t)pivot * n;
      for (int j = kept ? 0 : column; j < n; j++) {
        const double moved = top[j];
        top[j] = other[j];
        other[j] = moved;
      }
      if (b) {
        const double moved = b[column];
        b[column] = b[pivot];
        b[pivot] = moved;
      }
    }
    for (int i = column + 1; i < n; i++) {
      double* row = a + (int64_t)i * n;
      const double factor = row[column] / top[column];
      if (kept) row[column] = factor;
      if (factor == 0.0) continue;
      for (int j = column + 1; j < n; j++) row[j] -= factor * top[j];
      if (b) b[i] -= factor * b[column];
    }
  }
  return TACTUS_OK;
}

TK_ALWAYS_INLINE void tk_lu_back(int n, const double* a, double* b) {
  for (int i = n; i-- > 0;) {
    const double* row = a + (int64_t)i * n;
    double rest = b[i];
    for (int j = i + 1; j < n; j++) rest -= row[j] * b[j];
    b[i] = rest / row[i];
  }
}

int tk_lu_solve(int n, double* a, double* b) {
  const int status = tk_lu_eliminate(n, a, b, 0);
  if (status == TACTUS_OK) tk_lu_back(n, a, b);
  return status;
}

int tk_lu_factor(int n, double* a, double* kept) { return tk_lu_eliminate(n, a, 0, kept); }

void tk_lu_substitute(int n, const double* a, const double* kept, double* b) {
  for (int i = 0; i < n; i++) b[i] /= kept[i];
  for (int column = 0; column < n; column++) {
    const int pivot = (int)kept[n + column];
    const double moved = b[column];
    b[column] = b[pivot];
    b[pivot] = moved;
  }
  for (int i = 1; i < n; i++) {
    const double* row = a + (int64_t)i * n;
    double rest = b[i];
    for (int j = 0; j < i; j++) {
      if (row[j] != 0.0) rest -= row[j] * b[j];
    }
    b[i] = rest;
  }
  tk_lu_back(n, a, b);
}
