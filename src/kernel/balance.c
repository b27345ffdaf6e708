/* Fixed-step methods that keep the balance of energy, and the implicit midpoint rule that one of them stands on.
 *
 * Enters: an Instance at (time, states); for `passive` and `discrete_gradient` a table with `energy`, H(t, x) and g = dH/dx. Leaves: the same
 * `count` steps later, the ledger kept; or at the last good step, with status.
 *
 * What the energy ought to be is H - booked. A step adds h g.f to it, which is what ports supply less what is dissipated; what H is off from
 * that afterwards is booked, so that the next step takes it back. H - booked is thus the balance to rounding, whatever happens.
 *
 *   passive            Algorithm 1 of Borghesan, Macchelli, Melchiorri (seed 001), g.f taken at the start of the step: Euler's step, then
 *                      along the field line dx/ds = g to where H is what it ought to be. The field line is followed by Newton's method in s,
 *                      each of its steps one of the classical Runge-Kutta method; a step that does not bring H nearer is halved.
 *                      Leap: a level that the field line does not reach while energy leaves, as below a minimum: straight on over the minimum to
 *                      where H is again what it was before the step; what is then too much is booked. Escape: where g = 0 there is no way to go;
 *                      Euler's step stands, and is booked. An energy that is not quadratic may deny a level to the field line in other places (a
 *                      saddle, a maximum): Euler's step stands there, too, booked as an escape.
 *   discrete_gradient  z = x + h (f(m) + r g(m)), m halfway between x and z, r such that H(z) is what it ought to be, g.f taken at m. Second
 *                      order; for x' = (J - R) g it is a discrete gradient method in the sense of McLachlan, Quispel and Robidoux, Phil. Trans. R.
 *                      Soc. A 357, 1999: H changes by h (J - R)-power exactly. It asks nothing of the coordinates, so that (q, v) will do as well as
 *                      (q, p).
 *   midpoint           the same with r = 0, and without an energy.
 *
 * Where no r is found, as in a step that meets a stiff wall, the midpoint rule's z stands, booked as an escape.
 * Newton's method for z uses the exact Jacobian of f halfway of the predicted step (linear.c), factored once a step. */
#include "kernel/kernel.h"
#include "kernel/sections.h"
#include "kernel/stepping.h"

/* Of a search along a field line, at most: evaluations are bounded, so that a step's cost is. */
#define TK_FIELD_STEPS 40
/* Of Newton's method for an implicit step. Its corrections, against the size of the states: below the first the energy is looked at, too; below
 * the second they shrank so fast that the next would be lost in rounding. */
#define TK_IMPLICIT_STEPS 30
#define TK_JACOBIAN_HOLDS 5
#define TK_NEAR 1e-3
#define TK_SETTLED 1e-8

/* In the integrators' scratch; an energy's result has one double more than a vector. */
enum {
  TK_FLOW = TK_STAGES,
  TK_GRADIENT = TK_STAGES + 1,
  TK_GRADIENT_THERE = TK_STAGES + 3,
  TK_FIELD_2 = TK_STAGES + 5,
  TK_FIELD_3 = TK_STAGES + 7,
  TK_FIELD_4 = TK_STAGES + 9,
  TK_FIELD_TRY = TK_STAGES + 11,
  TK_RESIDUAL = TK_STAGES + 12
};

static double tk_inner(uint32_t n, const double* a, const double* b) {
  double sum = 0.0;
  for (uint32_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* The energy's error that counts as none: as the model says, else what rounding can do to a sum of terms as large as these. `there` is the
 * energy's result at y. */
static double tk_energy_tolerance(const tactus_model* model, double wanted, const double* y, const double* there) {
  const uint32_t n = model->state_count;
  double size = tk_abs(wanted) + tk_abs(there[n]);
  for (uint32_t i = 0; i < n; i++) size += tk_abs(there[i] * y[i]);
  return tk_max(model->tolerance, 4.0 * 0x1p-53 * size);
}

/* Moves y, where the energy's result is `there`, along the field line until H is `wanted`. 0: it does not get there, and y, `there` are
 * anything. */
static int tk_follow_field_line(const tactus_model* model, tactus_instance* instance, double t, double wanted,
                                double* y, double* there, int* status) {
  const uint32_t n = model->state_count;
  double* const k2 = tk_stage_vector(model, instance, TK_FIELD_2);
  double* const k3 = tk_stage_vector(model, instance, TK_FIELD_3);
  double* const k4 = tk_stage_vector(model, instance, TK_FIELD_4);
  double* const trial = tk_stage_vector(model, instance, TK_FIELD_TRY);
  double limit = 1.0;
  for (int round = 0; round < TK_FIELD_STEPS; round++) {
    const double error = wanted - there[n];
    if (tk_abs(error) <= tk_energy_tolerance(model, wanted, y, there)) return 1;
    const double slope = tk_inner(n, there, there);
    const double s = limit * error / slope;
    if (!(slope > 0.0) || !tk_is_finite(s)) return 0;
    for (uint32_t i = 0; i < n; i++) trial[i] = y[i] + 0.5 * s * there[i];
    *status = model->energy(model, instance, t, trial, k2);
    if (*status != TACTUS_OK) return 0;
    for (uint32_t i = 0; i < n; i++) trial[i] = y[i] + 0.5 * s * k2[i];
    *status = model->energy(model, instance, t, trial, k3);
    if (*status != TACTUS_OK) return 0;
    for (uint32_t i = 0; i < n; i++) trial[i] = y[i] + s * k3[i];
    *status = model->energy(model, instance, t, trial, k4);
    if (*status != TACTUS_OK) return 0;
    for (uint32_t i = 0; i < n; i++) trial[i] = y[i] + s / 6.0 * (there[i] + 2.0 * (k2[i] + k3[i]) + k4[i]);
    *status = model->energy(model, instance, t, trial, k2);
    if (*status != TACTUS_OK) return 0;
    if (tk_abs(wanted - k2[n]) < tk_abs(error)) {
      tk_copy(n, trial, y);
      tk_copy(n + 1, k2, there);
      limit = tk_min(1.0, 4.0 * limit);
    } else if (tk_abs(error) <= 64.0 * tk_energy_tolerance(model, wanted, y, there)) {
      return 1; /* as near as rounding lets it */
    } else {
      limit *= 0.25;
    }
  }
  return 0;
}

/* From x over a minimum in the direction of motion, along which H falls: to where H is `level`, as at x, once more. `after` and `there` are that
 * point and its energy. 0: H does not rise again. */
static int tk_leap(const tactus_model* model, tactus_instance* instance, double t, double h, double level,
                   const double* x, const double* flow, double* after, double* there, int* status) {
  const uint32_t n = model->state_count;
  double below = 0.0;
  double above = 0.0;
  double error_below = 0.0;
  double error_above = 0.0;
  double s = h;
  for (int round = 0; round < 2 * TK_FIELD_STEPS; round++) {
    for (uint32_t i = 0; i < n; i++) after[i] = x[i] + s * flow[i];
    *status = model->energy(model, instance, t, after, there);
    const double error = there[n] - level;
    if (*status != TACTUS_OK || !tk_is_finite(error)) return 0;
    if (tk_abs(error) <= tk_energy_tolerance(model, level, after, there)) return 1;
    if (error < 0.0) {
      /* Illinois: an end that stays counts half. */
      error_above = below > 0.0 ? 0.5 * error_above : error_above;
      below = s;
      error_below = error;
    } else {
      error_below = above > 0.0 ? 0.5 * error_below : error_below;
      above = s;
      error_above = error;
    }
    if (above == 0.0) {
      s = 2.0 * below;
    } else {
      s = below == 0.0 ? 0.5 * above : above - error_above * (above - below) / (error_above - error_below);
      if (!(s > below && s < above)) s = 0.5 * (below + above);
      if (!(s > below && s < above)) return 1; /* as near as rounding lets it */
    }
  }
  return 0;
}

/* One step of Algorithm 1 from x to `after`. */
static int tk_passive_step(const tactus_model* model, tactus_instance* instance, double t, double t_after, double h,
                           const double* x, double* after) {
  const uint32_t n = model->state_count;
  double* const ledger = tactus_data(instance) + model->layout.discrete + model->ledger - 1;
  double* const flow = tk_stage_vector(model, instance, TK_FLOW);
  double* const here = tk_stage_vector(model, instance, TK_GRADIENT);
  double* const there = tk_stage_vector(model, instance, TK_GRADIENT_THERE);
  int status = model->derivative(model, instance, t, x, flow);
  if (status == TACTUS_OK) status = model->energy(model, instance, t, x, here);
  if (status != TACTUS_OK) return status;
  const double level = here[n];
  const double due = level - ledger[TACTUS_LEDGER_BOOKED] + h * tk_inner(n, here, flow);
  for (uint32_t i = 0; i < n; i++) after[i] = x[i] + h * flow[i];
  status = model->energy(model, instance, t_after, after, there);
  if (status != TACTUS_OK) return status;

  int is_there = 0;
  const int is_deadlock = tk_inner(n, here, here) == 0.0;
  if (!is_deadlock) {
    is_there = tk_follow_field_line(model, instance, t_after, due, after, there, &status);
    if (status != TACTUS_OK) return status;
    if (!is_there && tk_inner(n, here, flow) < 0.0) {
      is_there = tk_leap(model, instance, t_after, h, level, x, flow, after, there, &status);
      if (status != TACTUS_OK) return status;
      if (is_there) {
        ledger[TACTUS_LEDGER_LEAPS] += 1.0;
        /* What stores nothing, as the book's own integrals, goes on for a step and not for as long as the leap is. */
        for (uint32_t i = 0; i < n; i++) {
          if (here[i] == 0.0 && there[i] == 0.0) after[i] = x[i] + h * flow[i];
        }
        status = model->energy(model, instance, t_after, after, there);
        if (status != TACTUS_OK) return status;
      }
    }
  }
  if (!is_there) {
    for (uint32_t i = 0; i < n; i++) after[i] = x[i] + h * flow[i];
    status = model->energy(model, instance, t_after, after, there);
    if (status != TACTUS_OK) return status;
    if (tk_abs(there[n] - due) > tk_energy_tolerance(model, due, after, there)) ledger[TACTUS_LEDGER_ESCAPES] += 1.0;
  }
  ledger[TACTUS_LEDGER_BOOKED] = there[n] - due;
  return TACTUS_OK;
}

/* Newton's correction of `after` towards x + h (f + along g), by the matrix factored for 2 / h; given the energy's result `there` at
 * `after`, of `along` too, towards H = due. Returns how far it moved, against the size of the states. */
static double tk_correct(const tactus_model* model, tactus_instance* instance, double h, const double* x,
                         const double* flow, double due, double* along, const double* gradient, const double* there,
                         double* after) {
  const uint32_t n = model->state_count;
  double* const residual = tk_stage_vector(model, instance, TK_RESIDUAL);
  double* const along_slope = tk_stage_vector(model, instance, TK_FIELD_2);
  for (uint32_t i = 0; i < n; i++) {
    residual[i] = 2.0 * (x[i] - after[i]) / h + 2.0 * (*along != 0.0 ? flow[i] + *along * gradient[i] : flow[i]);
  }
  tk_linear_solve(model, instance, residual);
  if (there) {
    for (uint32_t i = 0; i < n; i++) along_slope[i] = 2.0 * gradient[i];
    tk_linear_solve(model, instance, along_slope);
    const double change = (due - there[n] - tk_inner(n, there, residual)) / tk_inner(n, there, along_slope);
    if (tk_is_finite(change)) {
      *along += change;
      for (uint32_t i = 0; i < n; i++) residual[i] += change * along_slope[i];
    }
  }
  double move = 0.0;
  double size = 0.0;
  for (uint32_t i = 0; i < n; i++) {
    after[i] += residual[i];
    move = tk_max(move, tk_abs(residual[i]));
    size = tk_max(size, tk_abs(after[i]));
  }
  return move == 0.0 ? 0.0 : move / size;
}

/* One implicit step from x to `after`: the midpoint rule, moved along g where the model's energy is to be kept. */
static int tk_implicit_step(const tactus_model* model, tactus_instance* instance, int keeps_energy, double t,
                            double t_after, double h, const double* x, double* after) {
  const uint32_t n = model->state_count;
  double* const ledger = tactus_data(instance) + model->layout.discrete + model->ledger - 1; /* if it keeps energy */
  double* const flow = tk_stage_vector(model, instance, TK_FLOW);
  double* const gradient = tk_stage_vector(model, instance, TK_GRADIENT);
  double* const there = tk_stage_vector(model, instance, TK_GRADIENT_THERE);
  double* const middle = tk_stage_vector(model, instance, TK_FIELD_TRY);
  const double t_middle = t + 0.5 * (t_after - t);

  int status = model->derivative(model, instance, t, x, flow);
  double level = 0.0;
  if (status == TACTUS_OK && keeps_energy) {
    status = model->energy(model, instance, t, x, gradient);
    level = gradient[n] - ledger[TACTUS_LEDGER_BOOKED];
  }
  for (uint32_t i = 0; i < n; i++) middle[i] = x[i] + 0.5 * h * flow[i];
  if (status == TACTUS_OK) status = tk_linear_differentiate(model, instance, t_middle, middle, 0);
  if (status == TACTUS_OK) status = tk_linear_factor(model, instance, 2.0 / h);
  if (status == TACTUS_OK) status = model->derivative(model, instance, t_middle, middle, flow);
  if (status != TACTUS_OK) return status;
  for (uint32_t i = 0; i < n; i++) after[i] = x[i] + h * flow[i];

  double along = 0.0;
  double due = level;
  double last = 1.0;
  int sees_energy = 0;
  int is_balanced = keeps_energy;
  for (int round = 0;; round++) {
    if (round == TK_IMPLICIT_STEPS) {
      /* Without the energy there may be a solution yet: the midpoint rule's, booked as an escape. */
      if (!is_balanced) return TACTUS_DIVERGED;
      is_balanced = 0;
      sees_energy = 0;
      along = 0.0;
      round = 0;
      for (uint32_t i = 0; i < n; i++) after[i] = x[i];
    }
    for (uint32_t i = 0; i < n; i++) middle[i] = 0.5 * (x[i] + after[i]);
    /* Where corrections do not shrink, f has bent since: its Jacobian is taken again. */
    if (round > 0 && round % TK_JACOBIAN_HOLDS == 0) {
      status = tk_linear_differentiate(model, instance, t_middle, middle, 0);
      if (status == TACTUS_OK) status = tk_linear_factor(model, instance, 2.0 / h);
    }
    if (status == TACTUS_OK) status = model->derivative(model, instance, t_middle, middle, flow);
    if (status == TACTUS_OK && sees_energy) {
      status = model->energy(model, instance, t_middle, middle, gradient);
      if (status == TACTUS_OK) status = model->energy(model, instance, t_after, after, there);
      due = level + h * tk_inner(n, gradient, flow);
    }
    if (status != TACTUS_OK) return status;
    const double move = tk_correct(model, instance, h, x, flow, sees_energy ? due : 0.0, &along, gradient,
                                   sees_energy ? there : 0, after);
    if (!tk_is_finite(move)) return TACTUS_NOT_FINITE;
    /* What is left is smaller than this by as much as this is than the last: as good as solved. */
    const int is_settled = move <= TK_SETTLED || (round > 4 && move >= 0.5 * last && move <= 1e3 * TK_SETTLED);
    if (is_settled && (sees_energy || !is_balanced)) break;
    if (is_balanced && move <= TK_NEAR) sees_energy = 1;
    last = move;
  }
  if (keeps_energy && !is_balanced) {
    status = model->energy(model, instance, t_middle, middle, gradient);
    if (status != TACTUS_OK) return status;
    due = level + h * tk_inner(n, gradient, flow);
    ledger[TACTUS_LEDGER_ESCAPES] += 1.0;
  }

  /* The rule itself at this middle, so that what the equations integrate (the book) has the very power that `due` has; and the energy
   * by how far along g. What rounding leaves is booked. */
  for (int round = 0;; round++) {
    for (uint32_t i = 0; i < n; i++) after[i] = x[i] + h * (is_balanced ? flow[i] + along * gradient[i] : flow[i]);
    if (!keeps_energy) return TACTUS_OK;
    status = model->energy(model, instance, t_after, after, there);
    if (status != TACTUS_OK) return status;
    const double error = due - there[n];
    ledger[TACTUS_LEDGER_BOOKED] = -error;
    const double change = error / (h * tk_inner(n, gradient, there));
    if (tk_abs(error) <= tk_energy_tolerance(model, due, after, there) || !is_balanced || round == 4 ||
        !tk_is_finite(change))
      break;
    along += change;
  }
  return TACTUS_OK;
}

int tk_balanced_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count) {
  const uint32_t n = model->state_count;
  const int keeps_energy = tactus_needs_energy(solver);
  double* const x = tk_states(model, instance);
  double* const after = tk_stage_vector(model, instance, TK_AFTER);
  const double start = tk_enter_grid(instance, h);
  if (keeps_energy && (!model->energy || model->ledger == 0)) return tk_fail(instance, TACTUS_NO_SOLVER, -1);
  for (int64_t done = 0; done < count; done++) {
    const double t = instance->time;
    const double t_after = start + (double)(instance->steps + 1) * h;
    if (n > 0) {
      int status = solver == TACTUS_PASSIVE ? tk_passive_step(model, instance, t, t_after, h, x, after)
                                            : tk_implicit_step(model, instance, keeps_energy, t, t_after, h, x, after);
      if (status != TACTUS_OK) return tk_fail(instance, status, -1);
      const int32_t index = tk_first_not_finite(n, after);
      if (index >= 0) return tk_fail(instance, TACTUS_NOT_FINITE, index);
      if (model->constraint_count > 0) {
        double* const there = tk_stage_vector(model, instance, TK_GRADIENT_THERE);
        const double level = keeps_energy ? there[n] : 0.0;
        status = tk_project(model, instance, t_after, after, TK_FIXED_PROJECTIONS, 0.0);
        if (status != TACTUS_OK) return status;
        if (keeps_energy) {
          status = model->energy(model, instance, t_after, after, there);
          if (status != TACTUS_OK) return tk_fail(instance, status, -1);
          tactus_data(instance)[model->layout.discrete + model->ledger - 1 + TACTUS_LEDGER_BOOKED] += there[n] - level;
        }
      }
      tk_copy(n, after, x);
    }
    instance->steps++;
    instance->time = t_after;
  }
  return TACTUS_OK;
}
