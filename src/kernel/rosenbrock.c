/* A Rosenbrock method for stiff systems: implicit, but linear equations only, and a fixed number of them. Steinebach's
 * Rodas5P, BIT Numer. Math. 63, 27 (2023): 8 stages, order 5, embedded order 4, dense output of order 4, L-stable,
 * stiffly accurate, and of order 4 where others drop to 1 or 2 on very stiff and time-dependent problems (Prothero and
 * Robinson). In the form of Hairer and Wanner, Solving ODEs II, IV.7, (7.25):
 *
 *   (I / (h gamma) - J) u_i = f(t + c_i h, x + sum_{j<i} a_ij u_j) + sum_{j<i} (C_ij / h) u_j + h d_i df/dt
 *   x after = x + sum_j a_8j u_j + u_8,   error estimate u_8
 *
 * J = df/dx and df/dt exact, by tangents, at the beginning of the step. One step costs one J (linear.c), one
 * factorisation a trial, 8 evaluations and 8 substitutions, whatever the motion does: also in real time.
 *
 * Control: Hairer and Wanner II, IV.8, after Gustafsson, ACM TOMS 20(4), 1994: the shorter of the lengths that the
 * error, and the error and its trend, ask for. */
#include "kernel/sections.h"
#include "kernel/stepping.h"

enum { TK_ROSENBROCK_STAGES = 8, TK_FORCING = 11, TK_TIME_SLOPE = 12 };

static const double tk_rodas_gamma = 0.21193756319429014;

static const double tk_rodas_c[8] = {
    0.0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1.0, 1.0, 1.0,
};

static const double tk_rodas_d[8] = {
    0.21193756319429014,
    -0.42387512638858027,
    -0.3384627126235924,
    1.8046452872882734,
    2.325825639765069,
    0.0,
    0.0,
    0.0,
};

static const double tk_rodas_a[8][8] = {
    {0.0},
    {3.0},
    {2.849394379747939, 0.45842242204463923},
    {-6.954028509809101, 2.489845061869568, -10.358996098473584},
    {2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641},
    {-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946},
    {-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946, 1.0},
    {-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946, 1.0, 1.0},
};

static const double tk_rodas_C[8][8] = {
    {0.0},
    {-14.155112264123755},
    {-17.97296035885952, -2.859693295451294},
    {147.12150275711716, -1.41221402718213, 71.68940251302358},
    {165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306},
    {24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471},
    {30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623,
     -28.087943162872662},
    {37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002,
     -54.66780262877968, -9.48861652309627},
};

/* x(t + theta h) = (1 - theta) x + theta (x after + (1 - theta) (k_0 + theta (k_1 + theta k_2))), k_m = sum_j h_mj
 * u_j. */
static const double tk_rodas_dense[3][8] = {
    {25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204, 0.524948541321073,
     1.1241088310450404, 0.4272876194431874, -0.17202221070155493},
    {-9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796, 20.176138334709044,
     15.98066361424651, -6.789040303419874, -6.710236069923372},
    {11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643, -52.072871366152654,
     -59.78993625266729, -0.15582684282751913, 4.883087185713722},
};

static double tk_rodas_sum(const double* row, uint32_t stages, const double* u, uint32_t stride) {
  double sum = 0.0;
  for (uint32_t j = 0; j < stages; j++) sum += row[j] * u[(uint64_t)j * stride];
  return sum;
}

/* The stages of a step from (t, x), f and df/dt there in place, the matrix factored; the state after it into
 * `after`. */
static int tk_rodas_stages(const tactus_model* model, tactus_instance* instance, const double* x, double t,
                           double t_after, double h, double* after) {
  const uint32_t n = model->state_count;
  double* const u = tk_stage_vector(model, instance, TK_STAGES);
  double* const forcing = tk_stage_vector(model, instance, TK_FORCING);
  const double* const time_slope = tk_stage_vector(model, instance, TK_TIME_SLOPE);
  for (uint32_t s = 0; s < TK_ROSENBROCK_STAGES; s++) {
    double* const stage = u + (uint64_t)s * n;
    if (s > 0) {
      for (uint32_t i = 0; i < n; i++) after[i] = x[i] + tk_rodas_sum(tk_rodas_a[s], s, u + i, n);
      const double time = tk_rodas_c[s] < 1.0 ? t + tk_rodas_c[s] * h : t_after;
      const int status = model->derivative(model, instance, time, after, forcing);
      if (status != TACTUS_OK) return status;
    }
    for (uint32_t i = 0; i < n; i++) {
      stage[i] = forcing[i] + tk_rodas_sum(tk_rodas_C[s], s, u + i, n) / h + h * tk_rodas_d[s] * time_slope[i];
    }
    tk_linear_solve(model, instance, stage);
  }
  const double* const last = u + 7 * (uint64_t)n;
  for (uint32_t i = 0; i < n; i++) after[i] += last[i];
  return TACTUS_OK;
}

int tk_rosenbrock_steps(const tactus_model* model, tactus_instance* instance, double h, int64_t count) {
  const uint32_t n = model->state_count;
  double* const x = tk_states(model, instance);
  double* const before = tk_stage_vector(model, instance, TK_BEFORE);
  double* const after = tk_stage_vector(model, instance, TK_AFTER);
  double* const forcing = tk_stage_vector(model, instance, TK_FORCING);
  const double start = tk_enter_grid(instance, h);
  for (int64_t done = 0; done < count; done++) {
    const double t = instance->time;
    const double t_after = start + (double)(instance->steps + 1) * h;
    int status = model->derivative(model, instance, t, x, forcing);
    if (n > 0) {
      if (status == TACTUS_OK) {
        status = tk_linear_differentiate(model, instance, t, x, tk_stage_vector(model, instance, TK_TIME_SLOPE));
      }
      if (status == TACTUS_OK) status = tk_linear_factor(model, instance, 1.0 / (h * tk_rodas_gamma));
      if (status == TACTUS_OK) status = tk_rodas_stages(model, instance, x, t, t_after, h, after);
    }
    if (status != TACTUS_OK) return tk_fail(instance, status, -1);
    const int32_t index = tk_first_not_finite(n, after);
    if (index >= 0) return tk_fail(instance, TACTUS_NOT_FINITE, index);
    if (model->constraint_count > 0) {
      status = tk_project(model, instance, t_after, after, TK_FIXED_PROJECTIONS, 0.0);
      if (status != TACTUS_OK) return status;
    }
    tk_copy(n, x, before);
    tk_copy(n, after, x);
    instance->steps++;
    instance->time = t_after;
    instance->dense_from = t;
    instance->dense_step = t_after - t;
    if (n > 0) *tk_stage_vector(model, instance, TK_DENSE_READY) = 0.0;
  }
  return TACTUS_OK;
}

/* The scaled error of a step, and into TK_ERRORS that of each state. */
static double tk_rodas_error(const tactus_model* model, tactus_instance* instance, const double* x, const double* after,
                             double tolerance) {
  const uint32_t n = model->state_count;
  const double* const estimate = tk_stage_vector(model, instance, TK_STAGES + 7);
  double* const errors = tk_stage_vector(model, instance, TK_ERRORS);
  double squares = 0.0;
  for (uint32_t i = 0; i < n; i++) {
    errors[i] = estimate[i] / tk_error_scale(tolerance, x[i], after[i]);
    squares += errors[i] * errors[i];
  }
  return n == 0 ? 0.0 : tk_sqrt(squares / n);
}

int tk_rosenbrock_step(const tactus_model* model, tactus_instance* instance, double t_end, double h_max,
                       double tolerance) {
  const tk_factors factors = {1.0 / 5.0, 0.2, 6.0};
  const uint32_t n = model->state_count;
  double* const x = tk_states(model, instance);
  double* const after = tk_stage_vector(model, instance, TK_AFTER);
  double* const forcing = tk_stage_vector(model, instance, TK_FORCING);

  tk_clear_failure(instance);
  if (!(t_end - instance->time > 0.0)) return TACTUS_OK;
  tk_trial trial;
  int status = tk_begin_step(model, instance, 5, t_end, h_max, tolerance, &trial);
  if (status != TACTUS_OK) return status;
  if (n > 0) {
    status = tk_linear_differentiate(model, instance, trial.t, x, tk_stage_vector(model, instance, TK_TIME_SLOPE));
    if (status != TACTUS_OK) return tk_fail(instance, status, -1);
  }

  double error;
  for (;;) {
    if (!tk_next_trial(&trial)) return tk_give_up(model, instance, &trial, status);
    tk_copy(n, tk_kept_derivative(model, instance), forcing);
    error = 0.0;
    if (n > 0) {
      status = tk_linear_factor(model, instance, 1.0 / (trial.h * tk_rodas_gamma));
      if (status == TACTUS_OK) status = tk_rodas_stages(model, instance, x, trial.t, trial.t_after, trial.h, after);
    }
    if (status == TACTUS_OK) {
      error = tk_rodas_error(model, instance, x, after, tolerance);
      if (tk_is_accepted(model, instance, &trial, error, after, after, &status, 0)) break;
    }
    tk_reject(instance, &trial, &factors, error, status);
  }

  double divisor = tk_rough_power(error, factors.alpha) / TK_SAFETY;
  if (trial.previous > 0.0 && instance->last_error > 0.0) {
    const double trend = error * (error / tk_max(instance->last_error, 1e-2));
    divisor = tk_max(divisor, trial.previous / trial.h * tk_rough_power(trend, factors.alpha) / TK_SAFETY);
  }
  tk_choose_next(instance, &trial, &factors, error, divisor);
  tk_take_step(model, instance, &trial, x, after);
  instance->first_stage_valid = 0;
  return TACTUS_OK;
}

void tk_rosenbrock_dense(const tactus_model* model, tactus_instance* instance, double theta, double* x) {
  const uint32_t n = model->state_count;
  if (n == 0) return;
  const double* const before = tk_stage_vector(model, instance, TK_BEFORE);
  const double* const after = tk_stage_vector(model, instance, TK_AFTER);
  const double* const u = tk_stage_vector(model, instance, TK_STAGES);
  double* const k = tk_stage_vector(model, instance, TK_DENSE);
  double* const ready = tk_stage_vector(model, instance, TK_DENSE_READY);
  if (*ready == 0.0) {
    for (uint32_t m = 0; m < 3; m++) {
      for (uint32_t i = 0; i < n; i++) {
        k[(uint64_t)m * n + i] = tk_rodas_sum(tk_rodas_dense[m], TK_ROSENBROCK_STAGES, u + i, n);
      }
    }
    *ready = 1.0;
  }
  const double rest = 1.0 - theta;
  for (uint32_t i = 0; i < n; i++) {
    const double bend = k[i] + theta * (k[(uint64_t)n + i] + theta * k[2 * (uint64_t)n + i]);
    x[i] = rest * before[i] + theta * (after[i] + rest * bend);
  }
}
