/* Detects a run without hope of reaching its end. A motion without a solution, such as x' = -1 / (2 x) once x is 0, may
 * have steps accepted by chance, each very short, between as many rejected ones. A system that is merely fast or stiff
 * rejects few steps. Spans of 10,000 steps are examined. A span creeps when a quarter as many steps were rejected and
 * the rest of the run would need 100 million steps at its pace. Ten such spans in a row are enough. */
#ifndef TACTUS_KERNEL_CREEPING_H
#define TACTUS_KERNEL_CREEPING_H

#include "abi/model.h"

/* Start of the present span, and the number of creeping spans in a row before it. Begins as zeros, at the starting
 * time. */
typedef struct tk_creeping {
  int64_t steps;
  int64_t rejected;
  double time;
  int32_t spans;
} tk_creeping;

/* Called after an adaptive step: whether there is no hope of reaching `end`. */
static inline int tk_creeps(tk_creeping* creeping, const tactus_instance* instance, double end) {
  const int64_t span = 10000;
  const double rejected_share = 0.25;
  const double most_steps = 1e8;
  const int32_t most_spans = 10;
  const int64_t steps = instance->steps - creeping->steps;
  if (steps >= 0 && steps < span) return 0;
  const double advance = instance->time - creeping->time;
  const int is_rough = (double)(instance->rejected - creeping->rejected) >= rejected_share * (double)span;
  const int is_slow = steps > 0 && advance * most_steps < (end - instance->time) * (double)steps;
  creeping->spans = is_rough && is_slow ? creeping->spans + 1 : 0;
  creeping->steps = instance->steps;
  creeping->rejected = instance->rejected;
  creeping->time = instance->time;
  return creeping->spans >= most_spans;
}

#endif
