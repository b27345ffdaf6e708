/* Fixed-step methods that keep the balance of energy, and the implicit midpoint rule that one of them stands on.
 *
 * Enters: an Instance at (time, states); for `passive` and `discrete_gradient` a table with `energy`, H(t, x) and g =
 * dH/dx. Leaves: the same `count` steps later, the ledger kept; or at the last good step, with status.
 *
 * What the energy ought to be is H - booked. A step adds h g.f to it, which is what ports supply less what is
 * dissipated; what H is off from that afterwards is booked, so that the next step takes it back. H - booked is thus the
 * balance to rounding, whatever happens.
 *
 *   passive            Algorithm 1 of Borghesan, Macchelli, Melchiorri (seed 001): an explicit step (Euler's;
 *   passive_bs3 and passive_rk4: of
 *                      those methods), g.f taken at its stages as it weighs them, then along the field line dx/ds = g
 *                      to where H is what it
 *                      ought to be. The field line is followed by Newton's method in s, each of its steps one of the
 *                      explicit midpoint rule,
 *                      which the next one bends to Simpson's, the last and short ones straight; a step that does not
 *                      bring H nearer is cut.
 *                      Leap: a level that the field line does not reach while energy leaves, as below a minimum:
 *                      straight on over the minimum to
 *                      where H is again what it was before the step; what is then too much is booked. Escape: where g =
 *                      0 there is no way to go;
 *                      the explicit step stands, and is booked. An energy that is not quadratic may deny a level to the
 *                      field line in other
 *                      places (a saddle, a maximum): the explicit step stands there, too, booked as an escape.
 *   discrete_gradient  z = x + h (f(m) + r g(m)), m halfway between x and z, r such that H(z) is what it ought to be,
 *   g.f taken at m. Second
 *                      order; for x' = (J - R) g it is a discrete gradient method in the sense of McLachlan, Quispel
 *                      and Robidoux, Phil. Trans. R.
 *                      Soc. A 357, 1999: H changes by h (J - R)-power exactly. It asks nothing of the coordinates, so
 *                      that (q, v) will do as well as
 *                      (q, p).
 *   midpoint           the same with r = 0, and without an energy.
 *   gonzalez           for x' = A(x) g + b with a table that has `structure`, A = J - R: z = x + h (A(m) g~ + b(m)), g~
 *   the discrete gradient
 *                      g(m) + (H(z) - H(x) - g(m).d) d / d.d, d = z - x (Gonzalez, J. Nonlinear Sci. 6, 1996).
 *   mean_value         the same, g~ the mean of g between x and z (Harten, Lax, van Leer; for A constant the averaged
 *   vector field), by
 *                      Gauss's quadrature with 4 points: exact for energies of degree 8. Neither needs the ledger; both
 *                      write the book's supplied and
 *                      dissipated with g~, so that H changes by the difference.
 *
 * Where no r is found, as in a step that meets a stiff wall, the midpoint rule's z stands, booked as an escape.
 * Newton's method for z uses the exact Jacobian of f halfway of the predicted step, factored once a step; where the
 * table has `slopes`, the one at the first middle that it looks at: balance_inline.h. */
#include "kernel/balance_inline.h"
#include "kernel/fixed_inline.h"
#include "kernel/kernel.h"
#include "kernel/sections.h"
#include "kernel/stepping.h"

/* Of an implicit step that has to come to rounding by itself. */
#define TK_STRUCTURED_STEPS 40

/* Gauss's points and weights on [0, 1]: exact for slopes of degree 7. */
static const double tk_gauss_points[4] = {0.069431844202973712, 0.33000947820757187, 0.66999052179242813,
                                          0.93056815579702629};
static const double tk_gauss_weights[4] = {0.17392742256872693, 0.32607257743127307, 0.32607257743127307,
                                           0.17392742256872693};

/* The discrete gradient between x and `after` into `mean`; `gradient` is that halfway, `counts` is 1 for states that
 * the energy depends on. noise: how far rounding of the energy may have it off, which is much where x hardly moves. */
static int tk_discrete_gradient(const tactus_model* model, tactus_instance* instance, int solver, double t_after,
                                const double* x, const double* after, double stored, const double* gradient,
                                const double* counts, double* mean, double* noise) {
  const uint32_t n = model->state_count;
  double* const there = tk_stage_vector(model, instance, TK_GRADIENT_THERE);
  double* const point = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
  if (solver == TACTUS_GONZALEZ) {
    const int status = model->energy(model, instance, t_after, after, there);
    if (status != TACTUS_OK) return status;
    double along = 0.0;
    double squared = 0.0;
    double largest = 0.0;
    for (uint32_t i = 0; i < n; i++) {
      const double change = counts[i] != 0.0 ? after[i] - x[i] : 0.0;
      along += gradient[i] * change;
      squared += change * change;
      largest = tk_max(largest, tk_abs(change));
    }
    *noise = largest > 0.0 ? 0x1p-50 * (tk_abs(stored) + tk_abs(there[n])) / largest : 0.0;
    const double over = squared > 0.0 ? (there[n] - stored - along) / squared : 0.0;
    for (uint32_t i = 0; i < n; i++) mean[i] = gradient[i] + (counts[i] != 0.0 ? over * (after[i] - x[i]) : 0.0);
    return TACTUS_OK;
  }
  *noise = 0.0;
  tk_zero(n, mean);
  for (int k = 0; k < 4; k++) {
    for (uint32_t i = 0; i < n; i++) point[i] = x[i] + tk_gauss_points[k] * (after[i] - x[i]);
    const int status = model->energy(model, instance, t_after, point, there);
    if (status != TACTUS_OK) return status;
    for (uint32_t i = 0; i < n; i++) mean[i] += tk_gauss_weights[k] * there[i];
  }
  return TACTUS_OK;
}

/* One step of a discrete gradient method from x to `after`: x + h (f(m) + A(m) (mean - g(m))), m halfway. */
static int tk_structured_step(const tactus_model* model, tactus_instance* instance, int solver, double t,
                              double t_after, double h, const double* x, double* after) {
  const uint32_t n = model->state_count;
  double* const flow = tk_stage_vector(model, instance, TK_FLOW);
  double* const gradient = tk_stage_vector(model, instance, TK_GRADIENT);
  double* const mean = tk_stage_vector(model, instance, TK_FIELD_2);
  double* const moved = tk_stage_vector(model, instance, TK_FIELD_3);
  double* const middle = tk_stage_vector(model, instance, TK_FIELD_TRY);
  double* const residual = tk_stage_vector(model, instance, TK_RESIDUAL);
  double* const a = tactus_data(instance) + model->layout.linear + tk_linear_size(model) - (uint64_t)n * (n + 1);
  double* const counts = a + (uint64_t)n * n;
  const double t_middle = t + 0.5 * (t_after - t);

  int status = model->energy(model, instance, t, x, gradient);
  const double stored = gradient[n];
  if (status == TACTUS_OK) status = model->derivative(model, instance, t, x, flow);
  for (uint32_t i = 0; i < n; i++) middle[i] = x[i] + 0.5 * h * flow[i];
  if (status == TACTUS_OK) status = tk_linear_differentiate(model, instance, t_middle, middle, 0);
  if (status == TACTUS_OK) status = tk_linear_factor(model, instance, 2.0 / h);
  if (status == TACTUS_OK) status = model->derivative(model, instance, t_middle, middle, flow);
  if (status != TACTUS_OK) return status;
  for (uint32_t i = 0; i < n; i++) after[i] = x[i] + h * flow[i];
  double last = 0.0;
  double noise = 0.0;
  for (int round = 0;; round++) {
    for (uint32_t i = 0; i < n; i++) middle[i] = 0.5 * (x[i] + after[i]);
    if (round > 0 && round % TK_JACOBIAN_HOLDS == 0) {
      status = tk_linear_differentiate(model, instance, t_middle, middle, 0);
      if (status == TACTUS_OK) status = tk_linear_factor(model, instance, 2.0 / h);
    }
    if (status == TACTUS_OK) status = model->derivative(model, instance, t_middle, middle, flow);
    if (status == TACTUS_OK) status = model->energy(model, instance, t_middle, middle, gradient);
    if (status == TACTUS_OK) status = model->structure(model, instance, t_middle, middle, a);
    if (status == TACTUS_OK)
      status = tk_discrete_gradient(model, instance, solver, t_after, x, after, stored, gradient, counts, mean, &noise);
    if (status != TACTUS_OK) return status;
    double move = 0.0;
    double size = 0.0;
    double steepest = 0.0;
    for (uint32_t i = 0; i < n; i++) {
      double sum = flow[i];
      for (uint32_t j = 0; j < n; j++) {
        sum += a[(uint64_t)i * n + j] * (mean[j] - gradient[j]);
        steepest = tk_max(steepest, tk_abs(a[(uint64_t)i * n + j]));
      }
      moved[i] = x[i] + h * sum;
      residual[i] = moved[i] - after[i];
      move = tk_max(move, tk_abs(residual[i]));
      size = tk_max(size, tk_abs(moved[i]));
    }
    if (!tk_is_finite(move)) return TACTUS_NOT_FINITE;
    const double unsure = 64.0 * 0x1p-52 * size + h * steepest * noise;
    if (move <= 0x1p-52 * size || (round > 2 && move >= 0.5 * last && move <= unsure)) break;
    if (round == TK_STRUCTURED_STEPS) return TACTUS_DIVERGED;
    for (uint32_t i = 0; i < n; i++) residual[i] *= 2.0 / h;
    tk_linear_solve(model, instance, residual);
    for (uint32_t i = 0; i < n; i++) after[i] += residual[i];
    last = move;
  }
  /* The book has the very power that this gradient has: mean.(f - A g) enters, -mean.A mean is lost. */
  double entered = 0.0;
  double gained = 0.0;
  for (uint32_t i = 0; i < n; i++) {
    if (counts[i] == 0.0) continue;
    double given = flow[i];
    double own = 0.0;
    for (uint32_t j = 0; j < n; j++) {
      given -= a[(uint64_t)i * n + j] * gradient[j];
      own += a[(uint64_t)i * n + j] * mean[j];
    }
    entered += mean[i] * given;
    gained += mean[i] * (given + own);
  }
  tk_copy(n, moved, after);
  if (model->book_supplied > 0) after[model->book_supplied - 1] = x[model->book_supplied - 1] + h * entered;
  if (model->book_dissipated > 0) {
    const uint32_t place = model->book_dissipated - 1;
    after[place] = x[place] + h * ((model->book_supplied > 0 ? entered : 0.0) - gained);
  }
  return TACTUS_OK;
}

static int tk_structured_steps(const tactus_model* model, tactus_instance* instance, int solver, double h,
                               int64_t count) {
  const uint32_t n = model->state_count;
  double* const x = tk_states(model, instance);
  double* const after = tk_stage_vector(model, instance, TK_AFTER);
  const double start = tk_enter_grid(instance, h);
  if (!model->energy || !model->structure) return tk_fail(instance, TACTUS_NO_SOLVER, -1);
  for (int64_t done = 0; done < count; done++) {
    const double t_after = start + (double)(instance->steps + 1) * h;
    if (n > 0) {
      int status = tk_structured_step(model, instance, solver, instance->time, t_after, h, x, after);
      if (status != TACTUS_OK) return tk_fail(instance, status, -1);
      const int32_t index = tk_first_not_finite(n, after);
      if (index >= 0) return tk_fail(instance, TACTUS_NOT_FINITE, index);
      if (model->constraint_count > 0) {
        status = tk_project(model, instance, t_after, after, TK_FIXED_PROJECTIONS, 0.0);
        if (status != TACTUS_OK) return status;
      }
      tk_copy(n, after, x);
    }
    instance->steps++;
    instance->time = t_after;
  }
  return TACTUS_OK;
}

int tk_balanced_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count) {
  switch (solver) {
    case TACTUS_MIDPOINT:
      return tk_implicit_run(model, model, instance, 0, h, count, 0);
    case TACTUS_DISCRETE_GRADIENT:
      return tk_implicit_run(model, model, instance, 1, h, count, 0);
    case TACTUS_PASSIVE:
      return tk_passive_run(model, instance, &tk_euler, h, count, 0);
    case TACTUS_PASSIVE_BS3:
      return tk_passive_run(model, instance, &tk_bs3_fixed, h, count, 0);
    case TACTUS_PASSIVE_RK4:
      return tk_passive_run(model, instance, &tk_rk4, h, count, 0);
    default:
      return tk_structured_steps(model, instance, solver, h, count);
  }
}
