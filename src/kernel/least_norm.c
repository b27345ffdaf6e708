/* The shortest u with A u = b, A of any rank. Enters: `rows` vectors of n doubles, b. Leaves: u, the rank, and in b
 * what cannot be met. Modified Gram-Schmidt over the rows with pivoting, a row of which little is left orthogonalised
 * twice; Bjorck, Numerical Methods for Least Squares Problems, SIAM 1996, section 2.4.
 *
 * In the order p of the pivots the rows are A_p = T Q with T lower triangular and Q orthonormal; then T y = b_p
 * forwards and u = Q^T y. A row is dependent on earlier ones when less than 1e-10 of it is left: for it b is what the
 * others leave over. */
#include "kernel/kernel.h"
#include "kernel/sections.h"

static const double tk_dependent = 1e-10;

static double tk_dot(uint32_t n, const double* a, const double* b) {
  double sum = 0.0;
  for (uint32_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* a -= (a . q) q; the factor joins `coefficient`. */
static void tk_take_out(uint32_t n, const double* q, double* a, double* coefficient) {
  const double along = tk_dot(n, a, q);
  if (along == 0.0) return;
  for (uint32_t i = 0; i < n; i++) a[i] -= along * q[i];
  *coefficient += along;
}

uint32_t tk_least_norm(uint32_t rows, uint32_t n, double* a, double* b, double* u, double* work) {
  double* const triangle = work; /* triangle[i * rows + k]: row i along the k-th direction */
  double* const whole = triangle + (uint64_t)rows * rows;
  double* const y = whole + rows;
  double* const is_used = y + rows;
  tk_zero(rows * rows, triangle);
  tk_zero(n, u);
  for (uint32_t i = 0; i < rows; i++) {
    whole[i] = tk_dot(n, a + (uint64_t)i * n, a + (uint64_t)i * n);
    is_used[i] = 0.0;
  }
  uint32_t rank = 0;
  for (; rank < rows; rank++) {
    /* The row of which most is left, for its size. */
    uint32_t pivot = rows;
    double best = tk_dependent * tk_dependent;
    double best_whole = 1.0;
    for (uint32_t i = 0; i < rows; i++) {
      if (is_used[i] != 0.0 || !(whole[i] > 0.0)) continue;
      const double left = rank == 0 ? whole[i] : tk_dot(n, a + (uint64_t)i * n, a + (uint64_t)i * n);
      if (left * best_whole > best * whole[i]) {
        best = left;
        best_whole = whole[i];
        pivot = i;
      }
    }
    if (pivot == rows) break;
    double* const q = a + (uint64_t)pivot * n;
    /* Once more against the directions before it, where rounding left much: Kahan's criterion. */
    for (uint32_t i = 0; i < rows && 2.0 * best < best_whole; i++) {
      if (is_used[i] != 0.0) {
        tk_take_out(n, a + (uint64_t)i * n, q, &triangle[(uint64_t)pivot * rows + (uint32_t)(is_used[i] - 1.0)]);
      }
    }
    const double length = tk_sqrt(tk_dot(n, q, q));
    if (!(length > 0.0)) break;
    const double inverse = 1.0 / length;
    for (uint32_t i = 0; i < n; i++) q[i] *= inverse;
    triangle[(uint64_t)pivot * rows + rank] = length;
    is_used[pivot] = (double)(rank + 1);
    for (uint32_t i = 0; i < rows; i++) {
      if (is_used[i] == 0.0) tk_take_out(n, q, a + (uint64_t)i * n, &triangle[(uint64_t)i * rows + rank]);
    }

    double rest = b[pivot];
    for (uint32_t k = 0; k < rank; k++) rest -= triangle[(uint64_t)pivot * rows + k] * y[k];
    y[rank] = rest * inverse;
    for (uint32_t i = 0; i < n; i++) u[i] += y[rank] * q[i];
    b[pivot] = 0.0;
  }
  for (uint32_t i = 0; i < rows; i++) {
    if (is_used[i] != 0.0) continue;
    for (uint32_t k = 0; k < rank; k++) b[i] -= triangle[(uint64_t)i * rows + k] * y[k];
  }
  return rank;
}

void tk_least_norm_again(uint32_t rows, uint32_t n, const double* a, const double* b, double* u, double* work) {
  const double* const triangle = work;
  double* const y = work + (uint64_t)rows * rows + rows;
  const double* const is_used = y + rows;
  tk_zero(n, u);
  for (uint32_t rank = 0; rank < rows; rank++) {
    uint32_t pivot = 0;
    while (pivot < rows && is_used[pivot] != (double)(rank + 1)) pivot++;
    if (pivot == rows) return;
    double rest = b[pivot];
    for (uint32_t k = 0; k < rank; k++) rest -= triangle[(uint64_t)pivot * rows + k] * y[k];
    y[rank] = rest / triangle[(uint64_t)pivot * rows + rank];
    const double* const q = a + (uint64_t)pivot * n;
    for (uint32_t i = 0; i < n; i++) u[i] += y[rank] * q[i];
  }
}

int tk_solve_constrained(int n, int essential, double* a, double* b, double* work) {
  const uint32_t size = (uint32_t)n;
  double* const matrix = work;
  double* const right = matrix + (uint64_t)size * size;
  double* const u = right + size;
  double* const scratch = u + size; /* size * size + 3 * size */
  tk_copy(size * size, a, matrix);
  tk_copy(size, b, right);
  const int status = tk_lu_solve(n, a, b);
  if (status != TACTUS_SINGULAR) return status;

  /* Rows of one size, so that what cannot be met has a measure. */
  double whole = 0.0;
  for (uint32_t i = 0; i < size; i++) {
    double* const row = matrix + (uint64_t)i * size;
    const double length = tk_sqrt(tk_dot(size, row, row));
    if (length > 0.0) {
      for (uint32_t j = 0; j < size; j++) row[j] /= length;
      right[i] /= length;
    }
    whole = tk_max(whole, tk_abs(right[i]));
  }
  const uint32_t rank = tk_least_norm(size, size, matrix, right, u, scratch);
  const double* const is_used = scratch + (uint64_t)size * size + 2 * size;
  for (uint32_t i = 0; i < size; i++) {
    if (tk_abs(right[i]) > 1e-8 * whole) return TACTUS_SINGULAR;
  }
  /* An unknown is determined when its unit vector lies in the span of the rows, of which those used are an orthonormal
   * basis. */
  for (int k = 0; k < essential && rank < size; k++) {
    double inside = 0.0;
    for (uint32_t i = 0; i < size; i++) {
      const double part = matrix[(uint64_t)i * size + (uint32_t)k];
      if (is_used[i] != 0.0) inside += part * part;
    }
    if (inside < 1.0 - 1e-8) return TACTUS_SINGULAR;
  }
  tk_copy(size, u, b);
  return TACTUS_OK;
}
