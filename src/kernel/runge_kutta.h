/* Explicit Runge-Kutta methods as data. Pages are of Hairer, Norsett, Wanner, Solving Ordinary Differential Equations
 * I, 2nd edition, Springer 1993 (HNW).
 *
 *   stage s:   k_s = f(t + c_s h, x + h sum_{j<s} a_sj k_j)
 *   solution:  x + h sum_j b_j k_j */
#ifndef TACTUS_KERNEL_RUNGE_KUTTA_H
#define TACTUS_KERNEL_RUNGE_KUTTA_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TK_FIXED_STAGES 4

/* h * numerator / denominator * sum_j weight[j] k_j: small integers, as the method is printed in books, so that a
 * weight of 1 costs nothing and one of 2 an addition. */
typedef struct tk_row {
  double numerator;
  double denominator;
  double weight[TK_FIXED_STAGES];
} tk_row;

typedef struct tk_fixed_method {
  int32_t stages;
  int32_t order;
  double c[TK_FIXED_STAGES];
  tk_row a[TK_FIXED_STAGES]; /* a[0] is not used */
  tk_row b;
} tk_fixed_method;

/* Euler 1768; HNW p. 35. */
extern const tk_fixed_method tk_euler;
/* Kutta 1901, "the" Runge-Kutta method; HNW p. 138, table 1.2. */
extern const tk_fixed_method tk_rk4;
/* Bogacki and Shampine, Appl. Math. Lett. 2(4), 1989, p. 321: the third-order formula of the pair. */
extern const tk_fixed_method tk_bs3_fixed;

/* A pair with error estimate whose last stage is the derivative at the solution (first same as last, FSAL): stages are
 * numbered from 0 to `last`, row `last` of a is b, c_last = 1. Stage 0 of the next step is stage `last` of this one. */
typedef struct tk_embedded_method {
  int32_t last;
  int32_t order;
  const double* c;
  /* Rows one after the other: row s has s entries and starts at s (s - 1) / 2. */
  const double* a;
  const double* error;     /* h sum_j error[j] k_j, j = 0..last, is the estimate */
  const double* error_low; /* dop853's second one, of order 3; else 0 */
  /* Step control, HNW II.4 and, for beta, IV.2 of the second volume:
   * h_new = h * 0.9 * error^-alpha * previous_error^beta, within these factors of h. */
  double alpha;
  double beta;
  double min_factor;
  double max_factor;
  double stability; /* |h lambda| at which a decay is at the edge of the stability region, less 5% */
} tk_embedded_method;

/* Bogacki and Shampine 3(2), loc. cit. Control: Gustafsson, ACM TOMS 17(4), 1991, alpha = .7/k, beta = .4/k with k =
 * 3. */
extern const tk_embedded_method tk_bs3;
/* Tsitouras 5(4), Comput. Math. Appl. 62(2), 2011, p. 770, table 1. Control: HNW's for dopri5, beta = .04,
 * alpha = 1/5 - .75 beta. */
extern const tk_embedded_method tk_tsit5;
/* Dormand and Prince 8(5,3); HNW II.5 and II.10, and the code DOP853 of the same authors: alpha = 1/8, beta = 0. Rows
 * 13 to 15 of a and c are the stages that only dense output needs. */
extern const tk_embedded_method tk_dop853;

/* Tsitouras, loc. cit., section 3: x(t + theta h) = x + h sum_j k_j (d_j0 theta + .. + d_j3 theta^4), order 4. */
extern const double tk_tsit5_dense[7][4];
/* HNW II.6 and CONTD8 of the code DOP853: the weights of the stages in the last four coefficients, order 7. */
extern const double tk_dop853_dense[4][16];

#ifdef __cplusplus
}
#endif

#endif
