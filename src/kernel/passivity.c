/* A world that gives back no more energy than a hand put in. Enters: a hand's motion, the model's force. Leaves: a
 * force that keeps the balance; see touch.h. */
#include "kernel/touch.h"

void tk_begin_passivity(tk_passivity* passivity) {
  passivity->taken = 0.0;
  passivity->damping = 0.0;
  passivity->has_position = 0;
  for (int i = 0; i < 3; i++) passivity->force[i] = 0.0;
}

void tk_keep_passive(tk_passivity* passivity, double dt, const double* position, const double* velocity,
                     double* force) {
  double squared = 0.0;
  for (int i = 0; i < 3; i++) {
    if (passivity->has_position) passivity->taken -= passivity->force[i] * (position[i] - passivity->position[i]);
    passivity->position[i] = position[i];
    squared += velocity[i] * velocity[i];
  }
  passivity->has_position = 1;
  passivity->damping = 0.0;
  const double owed = -(passivity->taken + passivity->reserve);
  if (!(owed > 0.0) || !(squared > 0.0)) return;
  const double wanted = owed / (dt * squared);
  passivity->damping = wanted < passivity->most_damping ? wanted : passivity->most_damping;
  for (int i = 0; i < 3; i++) force[i] -= passivity->damping * velocity[i];
  passivity->removed += passivity->damping * squared * dt;
}

void tk_gave(tk_passivity* passivity, const double* force) {
  for (int i = 0; i < 3; i++) passivity->force[i] = force[i];
}
