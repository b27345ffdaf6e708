/* A x = b by Gaussian elimination with partial pivoting, in place, n^3 / 3 operations. Golub and Van Loan, Matrix
 * Computations, 4th edition, algorithm 3.4.1.
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

int tk_lu_solve(int n, double* a, double* b) {
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
    b[i] /= unit;
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

    double* top = a + (int64_t)column * n;
    if (pivot != column) {
      double* other = a + (int64_t)pivot * n;
      for (int j = column; j < n; j++) {
        const double moved = top[j];
        top[j] = other[j];
        other[j] = moved;
      }
      const double moved = b[column];
      b[column] = b[pivot];
      b[pivot] = moved;
    }
    for (int i = column + 1; i < n; i++) {
      double* row = a + (int64_t)i * n;
      const double factor = row[column] / top[column];
      if (factor == 0.0) continue;
      for (int j = column + 1; j < n; j++) row[j] -= factor * top[j];
      b[i] -= factor * b[column];
    }
  }

  for (int i = n; i-- > 0;) {
    const double* row = a + (int64_t)i * n;
    double rest = b[i];
    for (int j = i + 1; j < n; j++) rest -= row[j] * b[j];
    b[i] = rest / row[i];
  }
  return TACTUS_OK;
}
