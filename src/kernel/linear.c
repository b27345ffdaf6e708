/* The matrix of the stiff methods: W = shift I - J, J = df/dx, factored once and used for several right sides.
 *
 *   dense   J by tangents (jacobian.c); LU with partial pivoting (lu.c)
 *   sparse  J by tangents, its entries only; Gauss's elimination along the rows of the pattern that the compiler
 *   foresaw, in its order,
 *           fill included and without exchanges. Doolittle's form; the way of KPP: Damian, Sandu and others, Comput.
 *           Chem. Eng.
 *           26(11), 2002, and before it Gustavson, in Rose and Willoughby, Sparse Matrices and their Applications,
 *           1972.
 *
 * Without exchanges a pivot may vanish. It counts as lost when cancellation took 26 of its 53 bits, a measure that does
 * not depend on the states' units; then TACTUS_SINGULAR asks for a shorter step, whose larger shift makes the diagonal
 * heavier.
 *
 * In the `linear` section: a direction and its result for the tangents; the entries of J; the factors; 2 n doubles with
 * them. */
#include "kernel/kernel.h"
#include "kernel/sections.h"

typedef struct tk_linear_parts {
  double* direction; /* with `result` behind it the scratch of tk_jacobian */
  double* result;
  double* jacobian; /* dense: n x n, by rows; sparse: as model->jacobian */
  double* factors;  /* dense: n x n, by rows; sparse: as model->factors */
  double* kept;
} tk_linear_parts;

static int tk_linear_is_sparse(const tactus_model* model) { return model->factors.start != 0; }

/* Of a matrix of n states; 0: it is too large. */
static uint64_t tk_dense_size(const tactus_model* model, uint64_t n) {
  return n > TACTUS_DENSE_STATES ? 0 : tactus_direction_size(model) + 3 * n + 2 * n * n;
}

uint32_t tk_linear_size(const tactus_model* model) {
  const uint32_t n = model->state_count;
  uint64_t own = !tk_linear_is_sparse(model) ? tk_dense_size(model, n)
                                             : tactus_direction_size(model) + 3 * (uint64_t)n +
                                                   model->jacobian.start[n] + model->factors.start[n];
  if (own > 0 && model->structure) own += (uint64_t)n * (n + 1); /* behind all: balance.c */
  /* With rates the subsystems are solved one after another, each with a full matrix. */
  const uint64_t part = tk_dense_size(model, tk_largest_subsystem(model));
  return (uint32_t)(model->subsystem_count > 0 && part > own ? part : own);
}

static tk_linear_parts tk_linear_find(const tactus_model* model, tactus_instance* instance) {
  const uint32_t n = model->state_count;
  const int is_sparse = tk_linear_is_sparse(model);
  tk_linear_parts parts;
  parts.direction = tactus_data(instance) + model->layout.linear;
  parts.result = parts.direction + tactus_direction_size(model);
  parts.jacobian = parts.result + n;
  parts.factors = parts.jacobian + (is_sparse ? model->jacobian.start[n] : (uint64_t)n * n);
  parts.kept = parts.factors + (is_sparse ? model->factors.start[n] : (uint64_t)n * n);
  return parts;
}

int tk_linear_differentiate(const tactus_model* model, tactus_instance* instance, double t, const double* x,
                            double* df_dt) {
  const uint32_t n = model->state_count;
  if (!model->tangent || model->layout.size - model->layout.linear < tk_linear_size(model)) return TACTUS_NO_SOLVER;
  if (!tk_linear_is_sparse(model) && n > TACTUS_DENSE_STATES) return TACTUS_NO_SOLVER;
  const tk_linear_parts parts = tk_linear_find(model, instance);
  int status = df_dt ? tk_time_derivative(model, instance, t, x, parts.direction, df_dt) : TACTUS_OK;
  if (status != TACTUS_OK) return status;
  if (tk_linear_is_sparse(model)) return tk_jacobian(model, instance, t, x, parts.direction, parts.jacobian);
  if (model->jacobian.start) return tk_dense_jacobian(model, instance, t, x, parts.direction, parts.jacobian);
  /* A table filled by hand need not have a pattern. */
  double* const moved = parts.direction + tactus_direction_states(model);
  tk_zero((uint32_t)tactus_direction_size(model), parts.direction);
  for (uint32_t j = 0; j < n && status == TACTUS_OK; j++) {
    moved[j] = 1.0;
    status = model->tangent(model, instance, TACTUS_OF_DERIVATIVE, t, x, parts.direction, parts.result);
    moved[j] = 0.0;
    for (uint32_t i = 0; i < n; i++) parts.jacobian[(uint64_t)i * n + j] = parts.result[i];
  }
  return status;
}

static int tk_sparse_factor(const tactus_model* model, const tk_linear_parts* parts, double shift) {
  const uint32_t n = model->state_count;
  const uint32_t* start = model->factors.start;
  const uint32_t* index = model->factors.index;
  double* const row = parts->kept; /* the row that is eliminated, spread out */
  tk_zero(start[n], parts->factors);
  for (uint32_t e = 0; e < model->jacobian.start[n]; e++) {
    parts->factors[model->factor_places[e]] = -parts->jacobian[e];
  }
  for (uint32_t k = 0; k < n; k++) {
    double* const values = parts->factors;
    const uint32_t diagonal = model->factor_diagonal[k];
    values[diagonal] += shift;
    double size = tk_abs(values[diagonal]);
    for (uint32_t e = start[k]; e < start[k + 1]; e++) row[index[e]] = values[e];
    for (uint32_t e = start[k]; e < diagonal; e++) {
      const uint32_t j = index[e];
      const double factor = row[j] / values[model->factor_diagonal[j]];
      row[j] = factor;
      if (factor == 0.0) continue;
      const double before = row[k];
      for (uint32_t m = model->factor_diagonal[j] + 1; m < start[j + 1]; m++) row[index[m]] -= factor * values[m];
      size += tk_abs(row[k] - before);
    }
    for (uint32_t e = start[k]; e < start[k + 1]; e++) values[e] = row[index[e]];
    if (!tk_is_finite(size)) return TACTUS_NOT_FINITE;
    if (!(tk_abs(values[diagonal]) > 0x1p-26 * size)) return TACTUS_SINGULAR;
  }
  return TACTUS_OK;
}

static void tk_sparse_substitute(const tactus_model* model, const tk_linear_parts* parts, double* b) {
  const uint32_t n = model->state_count;
  const uint32_t* start = model->factors.start;
  const uint32_t* index = model->factors.index;
  const double* values = parts->factors;
  double* const z = parts->kept;
  for (uint32_t k = 0; k < n; k++) {
    double rest = b[model->factor_order[k]];
    for (uint32_t e = start[k]; e < model->factor_diagonal[k]; e++) rest -= values[e] * z[index[e]];
    z[k] = rest;
  }
  for (uint32_t k = n; k-- > 0;) {
    const uint32_t diagonal = model->factor_diagonal[k];
    double rest = z[k];
    for (uint32_t e = diagonal + 1; e < start[k + 1]; e++) rest -= values[e] * z[index[e]];
    z[k] = rest / values[diagonal];
    b[model->factor_order[k]] = z[k];
  }
}

int tk_linear_factor(const tactus_model* model, tactus_instance* instance, double shift) {
  const uint32_t n = model->state_count;
  const tk_linear_parts parts = tk_linear_find(model, instance);
  if (tk_linear_is_sparse(model)) return tk_sparse_factor(model, &parts, shift);
  for (uint32_t i = 0; i < n; i++) {
    for (uint32_t j = 0; j < n; j++) {
      const double entry = -parts.jacobian[(uint64_t)i * n + j];
      parts.factors[(uint64_t)i * n + j] = i == j ? shift + entry : entry;
    }
  }
  return tk_lu_factor((int)n, parts.factors, parts.kept);
}

void tk_linear_solve(const tactus_model* model, tactus_instance* instance, double* b) {
  const tk_linear_parts parts = tk_linear_find(model, instance);
  if (tk_linear_is_sparse(model)) {
    tk_sparse_substitute(model, &parts, b);
  } else {
    tk_lu_substitute((int)model->state_count, parts.factors, parts.kept, b);
  }
}
