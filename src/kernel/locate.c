/* The first change inside a part. Enters: a part whose interpolant tk_between gives, the relations as they are held,
 * the conditions as they were. Leaves: the right end of a bracket around the first change, no longer than
 * event_precision, and as short as it takes for the guard to be within guard_precision of zero; before the bracket
 * nothing has changed, at its right end something has.
 *
 * The part is walked through in pieces, at first in one. The guards are looked at where a piece begins and ends and at
 * three points inside (those of Lobatto's rule with five points). The first of these at which something has changed
 * ends the search range. Before it, a guard may go there and back between two points: the cubic through its values at
 * the outer four shows that when it has an extremum of the other sign, or one close to zero; there the guard itself is
 * asked, and followed to its extremum. Where the cubic misses the value in the middle, it tells nothing: then the piece
 * is halved, and the next adaptive step is no longer than the guards let pieces be.
 *
 * The bracket is then shortened by the method of Oliveira and Takahashi (An enhancement of the bisection method average
 * performance preserving minmax optimality, ACM TOMS 47, 2021): regula falsi, moved a little towards the middle, and
 * never further from it than bisection with one step more allows. Of several guards the earliest estimate counts; a
 * change without a guard takes the middle. */
#include "kernel/hybrid.h"

/* Of a time: brackets are no shorter. */
static const double tk_rounding = 0x1p-50;
static const double tk_nodes[TK_NODES] = {0.0, 0.17267316464601143, 0.5, 0.82732683535398857, 1.0};
/* An extremum whose distance from zero is this part of the guard's range is looked at, too. */
static const double tk_close = 0.1;
/* By how much of its range the cubic may miss the value in the middle. */
static const double tk_largest_miss = 0.02;
static const double tk_shortest_piece = 1.0 / TK_PIECES;

enum { TK_MIDDLE = 2, TK_PIECE_END = 4, TK_AT_LOW = 5, TK_AT_HIGH = 6 };

double tk_event_precision(const tactus_model* model, double t) {
  const double asked = model->event_precision > 0.0 ? model->event_precision : TK_DEFAULT_PRECISION;
  return tk_max(asked, tk_rounding * tk_abs(t));
}

double tk_guard_precision(const tactus_model* model, double t, double slope) {
  const double precision = tk_event_precision(model, t);
  if (!(model->guard_precision > 0.0) || slope == 0.0) return precision;
  return tk_max(tk_min(precision, model->guard_precision / tk_abs(slope)), tk_rounding * tk_abs(t));
}

static double* tk_guards(const tactus_model* model, tactus_instance* instance, uint32_t which) {
  return tactus_data(instance) + model->layout.watched + model->watch_count + which * (uint64_t)model->relation_count;
}

/* Whether its guard is that of a jump, and the least of several parts. */
static int tk_has_kinks(const tactus_model* model, const tactus_relation* relation) {
  return relation->kind == TACTUS_TRUTH && relation->source > 0 && model->events[relation->source - 1].count > 2;
}

/* What was watched at a node, of which the parts of jumps' guards are kept. */
static double* tk_parts_at(const tactus_model* model, tactus_instance* instance, uint32_t node) {
  return tk_guards(model, instance, TACTUS_GUARD_COPIES) + node * (uint64_t)model->watch_count;
}

static void tk_copy_parts(const tactus_model* model, uint32_t relation, const double* from, double* to) {
  const tactus_event* event = &model->events[model->relations[relation].source - 1];
  for (uint32_t i = 1; i < event->count; i++) to[event->first + i] = from[event->first + i];
}

void tk_keep_guards(const tactus_model* model, tactus_instance* instance, uint32_t which) {
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  double* kept = tk_guards(model, instance, which);
  for (uint32_t k = 0; k < model->relation_count; k++) {
    kept[k] = watched[model->relations[k].guard];
    if (which < TK_NODES && tk_has_kinks(model, &model->relations[k])) {
      tk_copy_parts(model, k, watched, tk_parts_at(model, instance, which));
    }
  }
}

static void tk_copy_guards(const tactus_model* model, tactus_instance* instance, uint32_t from, uint32_t to) {
  tk_copy(model->relation_count, tk_guards(model, instance, from), tk_guards(model, instance, to));
  for (uint32_t k = 0; k < model->relation_count && from < TK_NODES && to < TK_NODES; k++) {
    if (!tk_has_kinks(model, &model->relations[k])) continue;
    tk_copy_parts(model, k, tk_parts_at(model, instance, from), tk_parts_at(model, instance, to));
  }
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

/* The cubic through the values at the outer four nodes: c[0] + c[1] s + c[2] s^2 + c[3] s^3. */
static void tk_cubic(const double* value, double* c) {
  /* Newton's divided differences; the nodes lie symmetrically: at 0, p, q = 1 - p and 1. */
  const double p = 0.17267316464601143;
  const double q = 0.82732683535398857;
  const double rise = (value[1] - value[0]) * (1.0 / p);
  const double middle = (value[3] - value[1]) * (1.0 / (q - p));
  const double bend = (middle - rise) * (1.0 / q);
  const double bend_after = ((value[4] - value[3]) * (1.0 / p) - middle) * (1.0 / q);
  const double twist = bend_after - bend;
  c[0] = value[0];
  c[1] = rise - p * (bend - q * twist);
  c[2] = bend - (p + q) * twist;
  c[3] = twist;
}

static double tk_cubic_at(const double* c, double s) { return ((c[3] * s + c[2]) * s + c[1]) * s + c[0]; }

/* The difference between the largest and the least of the values at the nodes. */
static double tk_range(const double* value) {
  double least = value[0];
  double most = value[0];
  for (int i = 1; i < 5; i++) {
    least = tk_min(least, value[i]);
    most = tk_max(most, value[i]);
  }
  return most - least;
}

/* Guards of relation k at the nodes, positive where they are what is held. The guard of a jump that is not enabled is
 * the least of parts that must all be positive: as long as one of them is negative, nothing happens. So where one is at
 * all inner nodes, it is looked at alone: it is smooth where the least of them has kinks. */
static void tk_values_at_nodes(const tactus_model* model, tactus_instance* instance, uint32_t k, double* value) {
  const double sign = tk_held_sign(model, instance, k);
  for (uint32_t i = 0; i < TK_NODES; i++) value[i] = sign * tk_guards(model, instance, i)[k];
  if (sign > 0.0 || !tk_has_kinks(model, &model->relations[k])) return;
  const tactus_event* event = &model->events[model->relations[k].source - 1];
  double most = 0.0;
  uint32_t best = 0;
  for (uint32_t part = event->first + 1; part < event->first + event->count; part++) {
    double least = tk_infinite();
    for (uint32_t i = 1; i < TK_PIECE_END; i++) least = tk_min(least, -tk_parts_at(model, instance, i)[part]);
    if (least > most) {
      most = least;
      best = part;
    }
  }
  if (best == 0) return;
  for (uint32_t i = 0; i < TK_NODES; i++) value[i] = -tk_parts_at(model, instance, i)[best];
}

/* The minima of the cubic in (0, 1) that are less than `limit`; their number, at most 1 but for rounding. */
static int tk_low_points(const double* c, double limit, double* at) {
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
    if (s > 0.0 && s < 1.0 && a * s + b >= 0.0 && tk_cubic_at(c, s) < limit) at[count++] = s;
  }
  return count;
}

/* How well the cubics tell what the guards do in a piece whose guards at the nodes are known: by how much of its range
 * the worst misses the middle. Guards that stay far from zero need not be told. */
static double tk_miss(const tactus_model* model, tactus_instance* instance) {
  double worst = 0.0;
  for (uint32_t k = 0; k < model->relation_count; k++) {
    if (instance->tie_count > 0 && tk_is_relation_tied(model, instance, k)) continue;
    double value[5];
    double c[4];
    tk_values_at_nodes(model, instance, k, value);
    const double range = tk_range(value);
    if (!(range > 0.0) || !tk_is_finite(range) || value[0] > 4.0 * range) continue;
    tk_cubic(value, c);
    worst = tk_max(tk_abs(tk_cubic_at(c, tk_nodes[TK_MIDDLE]) - value[TK_MIDDLE]) / range, worst);
  }
  return worst;
}

/* The guard of relation k at t, positive where it is what is held; NaN where the model has no answer. Notes a change
 * before *high. */
static double tk_ask(const tactus_model* model, tactus_instance* instance, int solver, uint32_t k, double t,
                     double* high, int* is_found) {
  const int status = tk_look(model, instance, solver, t);
  if (status != TACTUS_OK) return tk_infinite() - tk_infinite();
  const double* watched = tactus_data_const(instance) + model->layout.watched;
  const double value = tk_held_sign(model, instance, k) * watched[model->relations[k].guard];
  if (t < *high && tk_has_changed(model, instance)) {
    tk_keep_guards(model, instance, TK_AT_HIGH);
    *high = t;
    *is_found = 1;
  }
  return value;
}

/* Follows the guard of relation k down to its minimum near `middle`, by parabolas, until it has changed or will not. */
static void tk_descend(const tactus_model* model, tactus_instance* instance, int solver, uint32_t k, double left,
                       double at_left, double middle, double right, double at_right, double* high, int* is_found) {
  const double before = *high;
  double at_middle = tk_ask(model, instance, solver, k, middle, high, is_found);
  for (int i = 0; i < TK_DESCENTS && *high == before; i++) {
    const double to_left = (at_left - at_middle) / (left - middle);
    const double to_right = (at_right - at_middle) / (right - middle);
    const double curvature = (to_right - to_left) / (right - left);
    const double slope = to_left + curvature * (middle - left);
    if (!(curvature > 0.0)) return;
    const double lowest = middle - slope / (2.0 * curvature);
    const double gain = slope * slope / (4.0 * curvature);
    if (!(lowest > left && lowest < right) || gain < 0.25 * (at_middle - gain)) return;
    const double value = tk_ask(model, instance, solver, k, lowest, high, is_found);
    const int is_before = lowest < middle;
    if (value < at_middle) { /* the old middle becomes an end */
      if (is_before) {
        right = middle;
        at_right = at_middle;
      } else {
        left = middle;
        at_left = at_middle;
      }
      middle = lowest;
      at_middle = value;
    } else if (is_before) {
      left = lowest;
      at_left = value;
    } else {
      right = lowest;
      at_right = value;
    }
  }
}

/* Changes that go there and back between the nodes of the piece [low, low + length] before *high, which then is inside
 * the first one. */
static void tk_look_between(const tactus_model* model, tactus_instance* instance, int solver, double low, double length,
                            double precision, double* high, int* is_found) {
  for (uint32_t k = 0; k < model->relation_count; k++) {
    if (instance->tie_count > 0 && tk_is_relation_tied(model, instance, k)) continue;
    double value[5];
    double c[4];
    double at[2];
    tk_values_at_nodes(model, instance, k, value);
    const double range = tk_range(value);
    if (!tk_is_finite(range) || range == 0.0) continue;
    tk_cubic(value, c);
    const int count = tk_low_points(c, tk_close * range, at);
    for (int i = 0; i < count; i++) {
      const double t = low + at[i] * length;
      if (t - low <= precision || *high - t <= precision) continue;
      uint32_t right = 1;
      while (right < 4 && tk_nodes[right] <= at[i]) right++;
      tk_descend(model, instance, solver, k, low + tk_nodes[right - 1] * length, value[right - 1], t,
                 low + tk_nodes[right] * length, value[right], high, is_found);
    }
  }
}

/* The earliest estimate of a change between low, with copy TK_AT_LOW, and high, with TK_AT_HIGH and what was watched.
 * The middle when no guard tells. */
static double tk_estimate(const tactus_model* model, tactus_instance* instance, double low, double high) {
  const double* at_low = tk_guards(model, instance, TK_AT_LOW);
  const double* at_high = tk_guards(model, instance, TK_AT_HIGH);
  double estimate = high;
  int is_told = 0;
  for (uint32_t k = 0; k < model->relation_count; k++) {
    if (instance->tie_count > 0 && tk_is_relation_tied(model, instance, k)) continue;
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

/* Whether every guard that is not what is held at the high end is as close to zero as was asked for. */
static int tk_is_near(const tactus_model* model, tactus_instance* instance) {
  if (!(model->guard_precision > 0.0)) return 1;
  const double* at_high = tk_guards(model, instance, TK_AT_HIGH);
  for (uint32_t k = 0; k < model->relation_count; k++) {
    if (tk_held_sign(model, instance, k) * at_high[k] < -model->guard_precision) return 0;
  }
  return 1;
}

static int tk_shorten(const tactus_model* model, tactus_instance* instance, int solver, double low, double* end,
                      double precision) {
  double high = *end;
  const double first = high - low;
  double reach = precision; /* half the precision, times two to the number of steps that remain */
  while (reach < first) reach *= 2.0;
  for (uint32_t steps = 0; high - low > precision || !tk_is_near(model, instance); steps++) {
    /* A guard that jumps comes no nearer: then the bracket is as short as times can be told apart. */
    if (high - low <= tk_rounding * tk_abs(high) || steps > 1000u) break;
    if (model->location_steps > 0 && steps >= model->location_steps) {
      const int status = tk_look(model, instance, solver, high);
      const int32_t crossed = tk_first_crossed(model, instance);
      if (status != TACTUS_OK) return status;
      return tk_fail(instance, TACTUS_NOT_LOCATED, crossed < 0 ? -1 : (int32_t)model->event_count + crossed);
    }
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

/* The guards at the nodes of the piece from low; copy 0 is known. The first node at which something has changed becomes
 * *high, which before is where the piece ends, and with is_last the part. A model that cannot be evaluated inside may
 * still be so at the end. */
static int tk_look_at_nodes(const tactus_model* model, tactus_instance* instance, int solver, double low, int is_last,
                            double* high, int* is_found) {
  const double end = *high;
  for (uint32_t i = 4; i >= 1; i--) {
    const double t = i == 4 ? end : low + tk_nodes[i] * (end - low);
    const int status = i == 4 && is_last ? tk_watch(model, instance, t, tk_states(model, instance))
                                         : tk_look(model, instance, solver, t);
    if (status != TACTUS_OK && i == 4) return status;
    if (status != TACTUS_OK) {
      double* guards = tk_guards(model, instance, i);
      for (uint32_t k = 0; k < model->relation_count; k++) {
        guards[k] = tk_infinite() - tk_infinite();
        if (!tk_has_kinks(model, &model->relations[k])) continue;
        const tactus_event* event = &model->events[model->relations[k].source - 1];
        for (uint32_t p = 1; p < event->count; p++) tk_parts_at(model, instance, i)[event->first + p] = guards[k];
      }
      tk_clear_failure(instance);
      continue;
    }
    tk_keep_guards(model, instance, i);
    if (!tk_has_changed(model, instance)) continue;
    tk_keep_guards(model, instance, TK_AT_HIGH);
    *high = t;
    *is_found = 1;
  }
  return TACTUS_OK;
}

int tk_locate(const tactus_model* model, tactus_instance* instance, int solver, double from, double* end,
              int* is_found) {
  const double whole = *end - from;
  const double precision = tk_event_precision(model, tk_max(tk_abs(from), tk_abs(*end)));
  *is_found = 0;
  if (model->relation_count == 0) { /* conditions alone are asked for at the end */
    const int status = tk_watch(model, instance, *end, tk_states(model, instance));
    *is_found = tk_has_risen(model, instance);
    return status != TACTUS_OK || !*is_found ? status : tk_shorten(model, instance, solver, from, end, precision);
  }
  double low = from;
  double length = whole;
  double shortest = whole;
  while (low < *end) {
    const int is_last = low + 1.001 * length > *end;
    double high = is_last ? *end : low + length;
    length = high - low;
    const double next = high;
    int status = tk_look_at_nodes(model, instance, solver, low, is_last, &high, is_found);
    if (status != TACTUS_OK) return status;
    const double miss = tk_miss(model, instance);
    if (length > tk_shortest_piece * whole && length > 8.0 * precision && miss > tk_largest_miss) {
      length *= 0.5;
      shortest = tk_min(shortest, length);
      *is_found = 0;
      continue;
    }
    tk_look_between(model, instance, solver, low, length, precision, &high, is_found);
    tk_clear_failure(instance);
    if (*is_found) {
      uint32_t before = 0;
      for (uint32_t i = 1; i < 4 && low + tk_nodes[i] * length < high; i++) before = i;
      tk_copy_guards(model, instance, before, TK_AT_LOW);
      status = tk_shorten(model, instance, solver, low + tk_nodes[before] * length, &high, precision);
      if (status != TACTUS_OK) return status;
      *end = high;
      break;
    }
    low = next;
    tk_copy_guards(model, instance, TK_PIECE_END, 0);
    if (16.0 * miss <= tk_largest_miss) length *= 2.0; /* it grows with the fourth power of the length */
  }
  if (shortest < whole && instance->next_step > 0.0) {
    instance->next_step = tk_min(instance->next_step, tk_max(2.0 * shortest, 0.125 * whole));
  }
  return TACTUS_OK;
}
