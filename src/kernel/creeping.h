/* A motion without a solution, such as x' = -1 / (2 x) once x is 0, may let steps stand by chance, each so short that
 * no end is in sight, between as many that are rejected. What merely is fast or stiff rejects few: its steps are short
 * for a reason that lasts. So looked at are spans of 10,000 steps in which a quarter as many were rejected; ten in a
 * row that would need 100 million steps to the end are enough. */
#ifndef TACTUS_KERNEL_CREEPING_H
#define TACTUS_KERNEL_CREEPING_H

#include "abi/model.h"

/* Where the present span began, and how many before it in a row saw the motion creep. Begins as zeros, at the starting
 * time. */
typedef struct tk_creeping {
  int64_t steps;
  int64_t rejected;
  double time;
  int32_t spans;
} tk_creeping;

/* After an adaptive step: whether there is no hope of getting to `end`. */
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
