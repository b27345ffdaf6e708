/* The past of delays' sources. Enters: what `watch` computed, at increasing times. Leaves: a ring of samples a delay,
 * and from it the source's value one duration ago.
 *
 * Samples closer together than the ring's spacing are thinned, but the newest always stands. Two samples at one time
 * are a jump or a kink: the value before and the value after. Between samples the cubic through four neighbours on one
 * side of all such pairs: those around, unless their third difference says that the function is much smoother on one
 * side (a kink that has no pair; the idea of Harten, Engquist, Osher and Chakravarthy, J. Comput. Phys. 71, 1987).
 * Before the first sample the first value, after the last the last. */
#include "kernel/hybrid.h"

typedef struct tk_ring {
  uint32_t capacity;
  uint32_t oldest;
  uint32_t count;
  double duration;
  const double* times;
  const double* values;
} tk_ring;

static tk_ring tk_open_ring(const tactus_model* model, const tactus_instance* instance, const tactus_delay* delay) {
  const double* data = tactus_data_const(instance);
  const double* history = data + model->layout.history + delay->history;
  tk_ring ring;
  ring.capacity = delay->capacity;
  ring.oldest = (uint32_t)history[0];
  ring.count = (uint32_t)history[1];
  ring.duration = data[model->layout.derived + delay->duration];
  ring.times = history + 2;
  ring.values = history + 2 + delay->capacity;
  return ring;
}

/* Place of sample k, the oldest being 0. */
static uint32_t tk_place(const tk_ring* ring, uint32_t k) {
  const uint32_t at = ring->oldest + k;
  return at < ring->capacity ? at : at - ring->capacity;
}
static double tk_sample_time(const tk_ring* ring, uint32_t k) { return ring->times[tk_place(ring, k)]; }
static double tk_sample_value(const tk_ring* ring, uint32_t k) { return ring->values[tk_place(ring, k)]; }
/* Whether samples k - 1 and k are at one time. */
static int tk_is_pair(const tk_ring* ring, uint32_t k) {
  return k > 0 && k < ring->count && tk_sample_time(ring, k - 1) == tk_sample_time(ring, k);
}

/* Over one duration at most capacity - 8 samples: with events half of them may be pairs. */
static double tk_spacing(const tactus_model* model, const tk_ring* ring) {
  const double usable = ring->capacity > 16 ? (double)(ring->capacity - 8) : 0.5 * (double)ring->capacity;
  return (model->event_count > 0 || model->relation_count > 0 ? 2.0 : 1.0) * ring->duration / usable;
}

/* The last sample at or before t, to rounding; 0 when all are later. */
static uint32_t tk_find_sample(const tk_ring* ring, double t, double slack) {
  uint32_t low = 0;
  uint32_t high = ring->count;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    if (tk_sample_time(ring, middle) <= t + slack) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Newton's divided differences of samples first .. first + points, points <= 4. */
static void tk_differences(const tk_ring* ring, uint32_t first, uint32_t points, double* difference) {
  for (uint32_t k = 0; k < points; k++) difference[k] = tk_sample_value(ring, first + k);
  for (uint32_t level = 1; level < points; level++) {
    for (uint32_t k = points - 1; k >= level; k--) {
      difference[k] = (difference[k] - difference[k - 1]) /
                      (tk_sample_time(ring, first + k) - tk_sample_time(ring, first + k - level));
    }
  }
}

/* The polynomial through samples near the interval from k to k + 1, at t. */
static double tk_interpolate(const tk_ring* ring, uint32_t k, double t) {
  uint32_t first = k;
  uint32_t last = k + 1;
  for (int i = 0; i < 2 && first > 0 && !tk_is_pair(ring, first); i++) first--;
  for (int i = 0; i < 2 && last + 1 < ring->count && !tk_is_pair(ring, last + 1); i++) last++;

  double difference[4];
  double best[4];
  uint32_t best_first = first;
  uint32_t points = last - first + 1;
  if (points <= 4) {
    tk_differences(ring, first, points, best);
  } else {
    points = 4;
    /* Around the interval where that is possible; else what remains of two. */
    best_first = k > first && k + 2 <= last ? k - 1 : first;
    tk_differences(ring, best_first, 4, best);
    double roughest = 0.25 * tk_abs(best[3]);
    for (uint32_t other = first; other + 3 <= last; other++) {
      if (other == best_first || other > k || other + 3 < k + 1) continue;
      tk_differences(ring, other, 4, difference);
      if (!(tk_abs(difference[3]) < roughest)) continue;
      roughest = tk_abs(difference[3]);
      tk_copy(4, difference, best);
      best_first = other;
    }
  }
  double value = best[points - 1];
  for (uint32_t i = points - 1; i-- > 0;) value = best[i] + (t - tk_sample_time(ring, best_first + i)) * value;
  return value;
}

double tk_delayed(const tactus_model* model, const tactus_instance* instance, uint32_t index, double t) {
  const tk_ring ring = tk_open_ring(model, instance, &model->delays[index]);
  if (ring.count == 0) return 0.0;
  const double slack = tk_time_slack(model, t) + 0x1p-49 * tk_abs(ring.duration);
  const double past = t - ring.duration;
  uint32_t k = tk_find_sample(&ring, past, slack);
  if (t > instance->time) {
    /* Inside the part that begins now: not across a jump, not even at its end. */
    const uint32_t begin = tk_find_sample(&ring, instance->time - ring.duration, slack);
    for (uint32_t j = begin + 1; j <= k; j++) {
      if (tk_is_pair(&ring, j)) k = j - 1;
    }
  }
  if (past <= tk_sample_time(&ring, k) || k + 1 == ring.count || tk_is_pair(&ring, k + 1)) {
    return tk_sample_value(&ring, k);
  }
  return tk_interpolate(&ring, k, past);
}

static void tk_append(const tactus_model* model, tactus_instance* instance, const tactus_delay* delay, double t,
                      double value) {
  double* history = tactus_data(instance) + model->layout.history + delay->history;
  if (history[1] == (double)delay->capacity) {
    history[0] = history[0] + 1.0 < (double)delay->capacity ? history[0] + 1.0 : 0.0;
    history[1] -= 1.0;
  }
  history[1] += 1.0;
  const tk_ring ring = tk_open_ring(model, instance, delay);
  const uint32_t at = tk_place(&ring, ring.count - 1);
  history[2 + at] = t;
  history[2 + delay->capacity + at] = value;
}

static void tk_replace_newest(const tactus_model* model, tactus_instance* instance, const tactus_delay* delay, double t,
                              double value) {
  double* history = tactus_data(instance) + model->layout.history + delay->history;
  const tk_ring ring = tk_open_ring(model, instance, delay);
  const uint32_t at = tk_place(&ring, ring.count - 1);
  history[2 + at] = t;
  history[2 + delay->capacity + at] = value;
}

static double tk_source(const tactus_model* model, const tactus_instance* instance, const tactus_delay* delay) {
  return tactus_data_const(instance)[model->layout.watched + delay->source];
}

void tk_remember(const tactus_model* model, tactus_instance* instance, double t) {
  for (uint32_t d = 0; d < model->delay_count; d++) {
    const tactus_delay* delay = &model->delays[d];
    const tk_ring ring = tk_open_ring(model, instance, delay);
    const double value = tk_source(model, instance, delay);
    if (ring.count == 0) {
      tk_append(model, instance, delay, t, value);
      continue;
    }
    const uint32_t newest = ring.count - 1;
    const int is_close = newest > 0 && !tk_is_pair(&ring, newest) &&
                         tk_sample_time(&ring, newest) - tk_sample_time(&ring, newest - 1) < tk_spacing(model, &ring);
    if (is_close || !(t > tk_sample_time(&ring, newest))) {
      tk_replace_newest(model, instance, delay, t, value);
    } else {
      tk_append(model, instance, delay, t, value);
    }
  }
}

/* Pairs are rationed, so that they leave room for samples over the whole duration. */
static int tk_may_pair(const tactus_model* model, const tk_ring* ring, double t) {
  const double since = t - 2.0 * tk_spacing(model, ring);
  for (uint32_t k = ring->count; k-- > 1 && tk_sample_time(ring, k) > since;) {
    if (tk_is_pair(ring, k)) return 0;
  }
  return 1;
}

/* A condition that an event makes true is located a little behind it: far closer than what the ring resolves. */
static int tk_is_one_instant(const tactus_model* model, const tk_ring* ring, double earlier, double t) {
  return t - earlier <= 0x1p-8 * tk_spacing(model, ring);
}

void tk_remember_jump(const tactus_model* model, tactus_instance* instance, double t, int only_changes) {
  for (uint32_t d = 0; d < model->delay_count; d++) {
    const tactus_delay* delay = &model->delays[d];
    const tk_ring ring = tk_open_ring(model, instance, delay);
    const double value = tk_source(model, instance, delay);
    if (ring.count == 0) continue;
    const uint32_t newest = ring.count - 1;
    if (only_changes && value == tk_sample_value(&ring, newest)) continue;
    if (!tk_is_pair(&ring, newest) && tk_may_pair(model, &ring, t)) {
      tk_append(model, instance, delay, t, value);
    } else if (tk_is_pair(&ring, newest - 1) && tk_is_one_instant(model, &ring, tk_sample_time(&ring, newest - 1), t)) {
      /* The pair's second value, in place of what was appended between. */
      tactus_data(instance)[model->layout.history + delay->history + 1] -= 1.0;
      tk_replace_newest(model, instance, delay, tk_sample_time(&ring, newest - 1), value);
    } else {
      tk_replace_newest(model, instance, delay, t, value);
    }
  }
}

int tk_begin_histories(const tactus_model* model, tactus_instance* instance) {
  double* histories = tactus_data(instance) + model->layout.history;
  for (uint32_t d = 0; d < model->delay_count; d++) {
    histories[model->delays[d].history] = 0.0;
    histories[model->delays[d].history + 1] = 0.0;
  }
  /* A source may itself read a delay: as often as they may be nested, and once more for what else is watched. */
  for (uint32_t round = 0; round <= model->delay_count; round++) {
    const int status = tk_watch(model, instance, instance->time, tk_states(model, instance));
    if (status != TACTUS_OK) return status;
    for (uint32_t d = 0; d < model->delay_count; d++) {
      const tactus_delay* delay = &model->delays[d];
      const double value = tk_source(model, instance, delay);
      histories[delay->history] = 0.0;
      histories[delay->history + 1] = 0.0;
      tk_append(model, instance, delay, instance->time, delay->is_rate ? 0.0 : value);
      tk_append(model, instance, delay, instance->time, value);
    }
  }
  return TACTUS_OK;
}

double tk_shortest_delay(const tactus_model* model, const tactus_instance* instance) {
  double shortest = tk_infinite();
  for (uint32_t d = 0; d < model->delay_count; d++) {
    const double duration = tactus_data_const(instance)[model->layout.derived + model->delays[d].duration];
    if (duration > 0.0 && duration < shortest) shortest = duration;
  }
  return shortest;
}

double tk_history_spacing(const tactus_model* model, const tactus_instance* instance) {
  double least = tk_infinite();
  for (uint32_t d = 0; d < model->delay_count; d++) {
    const tk_ring ring = tk_open_ring(model, instance, &model->delays[d]);
    if (ring.duration > 0.0) least = tk_min(least, tk_spacing(model, &ring));
  }
  return least;
}

double tk_next_jump(const tactus_model* model, const tactus_instance* instance, double t_end) {
  for (uint32_t d = 0; d < model->delay_count; d++) {
    const tk_ring ring = tk_open_ring(model, instance, &model->delays[d]);
    const double slack = tk_time_slack(model, instance->time) + 0x1p-49 * tk_abs(ring.duration);
    const uint32_t begin = tk_find_sample(&ring, instance->time - ring.duration, slack);
    for (uint32_t k = begin + 1; k < ring.count && tk_sample_time(&ring, k) + ring.duration < t_end - slack; k++) {
      /* Of several jumps at one instant, all but the first are still before it. */
      if (!tk_is_pair(&ring, k) || !(tk_sample_time(&ring, k) + ring.duration > instance->time + slack)) continue;
      t_end = tk_sample_time(&ring, k) + ring.duration;
      break;
    }
  }
  return t_end;
}

int tk_is_jump(const tactus_model* model, const tactus_instance* instance, double t) {
  for (uint32_t d = 0; d < model->delay_count; d++) {
    const tk_ring ring = tk_open_ring(model, instance, &model->delays[d]);
    const double slack = tk_time_slack(model, t) + 0x1p-49 * tk_abs(ring.duration);
    const uint32_t k = tk_find_sample(&ring, t - ring.duration, slack);
    if (tk_is_pair(&ring, k) && tk_sample_time(&ring, k) >= t - ring.duration - slack) return 1;
  }
  return 0;
}
