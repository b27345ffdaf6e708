/* A model with modes: one table for each structure that its equations can have, and one that stands for all of them,
 * whose functions are here. Enters: that table and an Instance, whose `structure` says which of them holds. Leaves:
 * what the one that holds does.
 *
 * The start: the first modes of all automata, their structure's start, what its TACTUS_CHOOSE says of it, and, when
 * that is another combination of modes, the start of that one. */
#include "kernel/hybrid.h"

int tk_choose_structure(const tactus_model* model, tactus_instance* instance) {
  const double* discrete = tactus_data_const(instance) + model->layout.discrete;
  uint32_t combination = 0;
  for (uint32_t i = 0; i < model->automaton_count; i++) {
    combination += (uint32_t)discrete[model->automata[i].slot] * model->automata[i].stride;
  }
  const uint32_t structure = model->structure_of[combination];
  if (structure == TACTUS_NO_STRUCTURE) return 0;
  instance->structure = (int32_t)structure;
  return 1;
}

int tk_modes_prepare(const tactus_model* model, tactus_instance* instance) {
  for (uint32_t k = 0; k < model->structure_count; k++) {
    const tactus_model* structure = model->structures[k];
    const int status = structure->prepare ? structure->prepare(structure, instance) : TACTUS_OK;
    if (status != TACTUS_OK) return status;
  }
  return TACTUS_OK;
}

static int tk_initialize_structure(const tactus_model* model, tactus_instance* instance) {
  const tactus_model* active = tk_active(model, instance);
  return active->initialize ? active->initialize(active, instance) : TACTUS_OK;
}

int tk_modes_initialize(const tactus_model* model, tactus_instance* instance) {
  double* discrete = tactus_data(instance) + model->layout.discrete;
  for (uint32_t i = 0; i < model->automaton_count; i++) discrete[model->automata[i].slot] = 0.0;
  if (!tk_choose_structure(model, instance)) return TACTUS_NO_START;
  int status = tk_initialize_structure(model, instance);
  int is_other = 0;
  for (uint32_t e = 0; e < model->event_count && status == TACTUS_OK; e++) {
    if (model->events[e].kind != TACTUS_CHOOSE) continue;
    status = tk_modes_fire(model, instance, e);
    for (uint32_t i = 0; i < model->automaton_count; i++) is_other |= discrete[model->automata[i].slot] != 0.0;
  }
  if (status != TACTUS_OK || !is_other) return status;
  if (!tk_choose_structure(model, instance)) return TACTUS_NO_START;
  return tk_initialize_structure(model, instance);
}

int tk_modes_derivative(const tactus_model* model, tactus_instance* instance, double t, const double* x, double* dx) {
  const tactus_model* active = tk_active(model, instance);
  return active->derivative(active, instance, t, x, dx);
}

int tk_modes_outputs(const tactus_model* model, tactus_instance* instance, double t, const double* x) {
  const tactus_model* active = tk_active(model, instance);
  return active->outputs(active, instance, t, x);
}

int tk_modes_fire(const tactus_model* model, tactus_instance* instance, uint32_t event) {
  const tactus_model* active = tk_active(model, instance);
  return active->fire ? active->fire(active, instance, event) : TACTUS_OK;
}

int tk_modes_watch(const tactus_model* model, tactus_instance* instance, double t, const double* x) {
  const tactus_model* active = tk_active(model, instance);
  return active->watch ? active->watch(active, instance, t, x) : TACTUS_OK;
}

int tk_modes_constrain(const tactus_model* model, tactus_instance* instance, double t, const double* x,
                       double* result) {
  const tactus_model* active = tk_active(model, instance);
  return active->constrain ? active->constrain(active, instance, t, x, result) : TACTUS_OK;
}

int tk_modes_tangent(const tactus_model* model, tactus_instance* instance, uint32_t function, double t, const double* x,
                     const double* direction, double* result) {
  const tactus_model* active = tk_active(model, instance);
  return active->tangent ? active->tangent(active, instance, function, t, x, direction, result) : -1;
}

int tk_modes_fixed_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count) {
  const tactus_model* active = tk_active(model, instance);
  return active->fixed_steps(active, instance, solver, h, count);
}

int tk_modes_adaptive_step(const tactus_model* model, tactus_instance* instance, int solver, double t_end, double h_max,
                           double tolerance) {
  const tactus_model* active = tk_active(model, instance);
  return active->adaptive_step(active, instance, solver, t_end, h_max, tolerance);
}
