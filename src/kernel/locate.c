/* The first change inside a part. Enters: a part whose interpolant tk_between gives, the relations as they are held, the conditions
 * as they were. Leaves: the right end of a bracket around the first change, no longer than event_precision; before the
 * bracket nothing has changed, at its right end something has.
 *
 * What is looked at: the guards at both ends of the part and at two points inside (those of Lobatto's rule with four points). The
 * first of these at which something has changed ends the search range. Before it, a guard may go there and back between two points:
 * the cubic through its four values shows that when it has an extremum of the other sign; there the guard itself is asked. A cubic
 * that comes close to zero is asked too.
 *
 * The bracket is then shortened by the method of Oliveira and Takahashi (An enhancement of the bisection method average performance
 * preserving minmax optimality, ACM TOMS 47, 2021): regula falsi, moved a little towards the middle, and never further from it
 * than bisection with one step more allows. Of several guards the earliest estimate counts; a change without a guard takes
 * the middle. */
#include "kernel/hybrid.h"

static const double tk_default_precision = 1e-9;
static const double tk_nodes[4] = {0.0, 0.27639320225002103, 0.72360679774997897, 1.0};
/* An extremum whose distance from zero is this part of the cubic's range is looked at, too. */
static const double tk_close = 0.1;

enum { TK_AT_LOW = 4, TK_AT_HIGH = 5 };

double tk_event_precision(const tactus_model* model, double t) {
  const double asked = model->event_precision > 0.0 ? model->event_precision : tk_default_precision;
  return tk_max(asked, 0x1p-50 * tk_abs(t));
}

static double* tk_guards(const tactus_model* model, tactus_instance* instance, uint32_t which) {
  return tactus_data(instance) + model->layout.watched + model->watch_count + which * (uint64_t)model->relation_count;
}

void tk_keep_guards(const tactus_model* model, tactus_instance* instance, uint32_t which) {
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  double* kept = tk_guards(model, instance, which);
  for (uint32_t k = 0; k < model->relation_count; k++) kept[k] = watched[model->relations[k].guard];
}

static void tk_copy_guards(const tactus_model* model, tactus_instance* instance, uint32_t from, uint32_t to) {
  tk_copy(model->relation_count, tk_guards(model, instance, from), tk_guards(model, instance, to));
}

/* Watches at t inside the part. */
static int tk_look(const tactus_model* model, tactus_instance* instance, int solver, double t) {
  double* x = tk_stage_vector(model, instance, TK_STAGE_ARGUMENT);
  tk_between(model, instance, solver, t, x);
  return tk_watch(model, instance, t, x);
}

static int tk_has_changed(const tactus_model* model, const tactus_instance* instance) {
  return tk_first_crossed(model, instance) >= 0 || tk_has_risen(model, instance);
}

/* 1: positive guards are what is held. */
static double tk_held_sign(const tactus_model* model, const tactus_instance* instance, uint32_t relation) {
  const tactus_relation* entry = &model->relations[relation];
  if (entry->kind == TACTUS_FLOOR) return 1.0;
  return tactus_data_const(instance)[model->layout.discrete + entry->held] > 0.5 ? 1.0 : -1.0;
}

/* The minima in (0, 1) of the cubic through the values at tk_nodes, where they are negative or close to zero; their number. */
static int tk_low_points(const double* value, double* at) {
  double least = value[0];
  double most = value[0];
  for (int i = 1; i < 4; i++) {
    least = tk_min(least, value[i]);
    most = tk_max(most, value[i]);
  }
  if (!tk_is_finite(most - least) || most == least) return 0;
  /* Newton's form, then the coefficients of c[0] + c[1] s + c[2] s^2 + c[3] s^3. */
  double d[4];
  for (int i = 0; i < 4; i++) d[i] = value[i];
  for (int level = 1; level < 4; level++) {
    for (int i = 3; i >= level; i--) d[i] = (d[i] - d[i - 1]) / (tk_nodes[i] - tk_nodes[i - level]);
  }
  double c[4] = {d[3], 0.0, 0.0, 0.0};
  for (int i = 2; i >= 0; i--) {
    for (int k = 3 - i; k > 0; k--) c[k] = c[k - 1] - tk_nodes[i] * c[k];
    c[0] = d[i] - tk_nodes[i] * c[0];
  }
  /* 3 c3 s^2 + 2 c2 s + c1 = 0, without cancellation. */
  const double a = 3.0 * c[3];
  const double b = c[2];
  const double root = b * b - a * c[1];
  if (!(root >= 0.0)) return 0;
  const double q = -(b + (b >= 0.0 ? 1.0 : -1.0) * tk_sqrt(root));
  const double candidate[2] = {a != 0.0 ? q / a : -1.0, q != 0.0 ? c[1] / q : -1.0};
  int count = 0;
  for (int i = 0; i < 2; i++) {
    const double s = candidate[i];
    if (!(s > 0.0 && s < 1.0)) continue;
    const double p = ((c[3] * s + c[2]) * s + c[1]) * s + c[0];
    const int is_minimum = a * s + b >= 0.0;
    if (is_minimum && p < tk_close * (most - least)) at[count++] = s;
  }
  return count;
}

/* Changes that go there and back before *high, which then is inside the first one. */
static void tk_look_between(const tactus_model* model, tactus_instance* instance, int solver, double from,
                            double length, double precision, double* high, int* is_found) {
  for (uint32_t k = 0; k < model->relation_count; k++) {
    const double sign = tk_held_sign(model, instance, k);
    double value[4];
    double at[2];
    for (uint32_t i = 0; i < 4; i++) value[i] = sign * tk_guards(model, instance, i)[k];
    const int count = tk_low_points(value, at);
    for (int i = 0; i < count; i++) {
      const double t = from + at[i] * length;
      if (t - from <= precision || *high - t <= precision) continue;
      if (tk_look(model, instance, solver, t) != TACTUS_OK || !tk_has_changed(model, instance)) continue;
      tk_keep_guards(model, instance, TK_AT_HIGH);
      *high = t;
      *is_found = 1;
    }
  }
}

/* The earliest estimate of a change between low, with copy TK_AT_LOW, and high, with TK_AT_HIGH and what was watched. The middle
 * when no guard tells. */
static double tk_estimate(const tactus_model* model, tactus_instance* instance, double low, double high) {
  const double* at_low = tk_guards(model, instance, TK_AT_LOW);
  const double* at_high = tk_guards(model, instance, TK_AT_HIGH);
  double estimate = high;
  int is_told = 0;
  for (uint32_t k = 0; k < model->relation_count; k++) {
    const double sign = tk_held_sign(model, instance, k);
    const double a = sign * at_low[k];
    const double b = sign * at_high[k];
    if (!(a >= 0.0 && b <= 0.0 && a - b > 0.0) || !tk_is_finite(a - b)) continue;
    const double t = low + (high - low) * (a / (a - b));
    estimate = tk_min(estimate, t);
    is_told = 1;
  }
  return is_told ? estimate : low + 0.5 * (high - low);
}

static int tk_shorten(const tactus_model* model, tactus_instance* instance, int solver, double low, double* end,
                      double precision) {
  double high = *end;
  const double first = high - low;
  double reach = precision; /* half the precision, times two to the number of steps that remain */
  while (reach < first) reach *= 2.0;
  while (high - low > precision) {
    const double middle = low + 0.5 * (high - low);
    const double estimate = tk_estimate(model, instance, low, high);
    const double towards = middle >= estimate ? 1.0 : -1.0;
    const double shift = 0.2 * (high - low) * ((high - low) / first);
    double t = shift <= tk_abs(middle - estimate) ? estimate + towards * shift : middle;
    const double radius = tk_max(reach - 0.5 * (high - low), 0.0);
    if (tk_abs(t - middle) > radius) t = middle - towards * radius;
    reach *= 0.5;
    if (!(t > low && t < high)) t = middle;
    const int status = tk_look(model, instance, solver, t);
    if (status != TACTUS_OK) return status;
    if (tk_has_changed(model, instance)) {
      high = t;
      tk_keep_guards(model, instance, TK_AT_HIGH);
    } else {
      low = t;
      tk_keep_guards(model, instance, TK_AT_LOW);
    }
  }
  *end = high;
  return TACTUS_OK;
}

int tk_locate(const tactus_model* model, tactus_instance* instance, int solver, double from, double* end,
              int* is_found) {
  const double length = *end - from;
  const double precision = tk_event_precision(model, tk_max(tk_abs(from), tk_abs(*end)));
  double high = *end;
  int status = tk_watch(model, instance, *end, tk_states(model, instance));
  if (status != TACTUS_OK) return status;
  *is_found = tk_has_changed(model, instance);
  tk_keep_guards(model, instance, 3);
  tk_keep_guards(model, instance, TK_AT_HIGH);
  int nodes = 0; /* inside that could be looked at */
  if (model->relation_count > 0 && length > 2.0 * precision) {
    for (uint32_t i = 1; i < 3; i++) {
      const double t = from + tk_nodes[i] * length;
      /* A model that cannot be evaluated in between may still be so at the end. */
      if (tk_look(model, instance, solver, t) != TACTUS_OK) break;
      nodes++;
      tk_keep_guards(model, instance, i);
      if (t < high && tk_has_changed(model, instance)) {
        high = t;
        *is_found = 1;
        tk_keep_guards(model, instance, TK_AT_HIGH);
      }
    }
    tk_clear_failure(instance);
    if (nodes == 2) {
      tk_look_between(model, instance, solver, from, length, precision, &high, is_found);
      tk_clear_failure(instance);
    }
  }
  if (!*is_found) return TACTUS_OK;
  double low = from;
  uint32_t before = 0;
  for (uint32_t i = 1; (int)i <= nodes; i++) {
    if (from + tk_nodes[i] * length >= high) break;
    low = from + tk_nodes[i] * length;
    before = i;
  }
  tk_copy_guards(model, instance, before, TK_AT_LOW);
  status = tk_shorten(model, instance, solver, low, &high, precision);
  if (status == TACTUS_OK) *end = high;
  return status;
}
