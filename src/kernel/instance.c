/* The life of an Instance before its first step: the places of its sections, its parameters, its start. */
#include "kernel/kernel.h"
#include "kernel/sections.h"

void tk_layout(const tactus_model* model, tactus_layout* layout) {
  uint32_t at = 0;
  layout->states = at;
  at += model->state_count;
  layout->inputs = at;
  at += model->input_count;
  layout->input_rates = at;
  at += model->input_count;
  layout->parameters = at;
  at += model->parameter_count;
  layout->derived = at;
  at += model->derived_count;
  layout->outputs = at;
  at += model->output_count;
  layout->warm = at;
  at += model->warm_count;
  layout->discrete = at;
  at += model->discrete_count;
  layout->clocks = at;
  at += model->event_count;
  layout->history = at;
  at += model->history_count;
  layout->ties = at;
  at += tk_ties_size(model);
  at += model->state_count; /* tk_kept_derivative */
  layout->snapshot = at;
  layout->watched = at;
  at += model->watch_count + TACTUS_GUARD_COPIES * model->relation_count;
  if (model->relation_count > 0 && model->event_count > 0) at += TK_NODES * model->watch_count; /* locate.c */
  layout->work = at;
  at += model->work_count;
  layout->stages = at;
  at += TACTUS_STAGE_VECTORS * model->state_count + model->warm_count;
  if (model->subsystem_count > 0) at += TACTUS_STAGE_VECTORS * tk_largest_subsystem(model) + model->warm_count;
  layout->projection = at;
  at += tk_projection_size(model);
  layout->plan = at;
  at += tk_plan_size(model, layout->snapshot);
  layout->linear = at;
  at += tk_linear_size(model);
  layout->size = at;
}

/* Steps are counted from `time` on; nothing of an earlier run is used again. */
static void tk_restart(tactus_instance* instance) {
  instance->start_time = instance->time;
  instance->steps = 0;
  instance->rejected = 0;
  instance->next_step = 0.0;
  instance->last_error = 0.0;
  instance->dense_from = instance->time;
  instance->dense_step = 0.0;
  instance->short_parts = 0;
  instance->constraint_residual = 0.0;
  instance->crossings = 0;
  instance->is_crossed = 0;
  instance->structure = 0;
  instance->transitions = 0;
  instance->last_transition = -1;
  instance->expectations = 0;
  instance->broken_checks = 0;
  instance->tie_count = 0;
  instance->rests = 0;
  instance->slides = 0;
  instance->last_tie = -1;
  instance->releases = 0;
  instance->is_planning = 0;
  instance->plans_made = 0;
  instance->plans_failed = 0;
  instance->plan_runs = 0;
  instance->plan_differences = 0;
  instance->plans_asked = 0;
  instance->stiff_steps = 0;
  instance->loose_steps = 0;
  instance->first_stage_valid = 0;
  tk_clear_failure(instance);
}

static int tk_prepare(const tactus_model* model, tactus_instance* instance) {
  const int status = model->prepare ? model->prepare(model, instance) : TACTUS_OK;
  return status == TACTUS_OK ? TACTUS_OK : tk_fail(instance, status, -1);
}

int tk_reset(const tactus_model* model, tactus_instance* instance) {
  double* data = tactus_data(instance);
  tk_zero(model->layout.size, data);
  for (uint32_t i = 0; i < model->parameter_count; i++) {
    data[model->layout.parameters + i] = model->parameters[i].initial;
  }
  instance->time = model->starting_time;
  instance->input_time = model->starting_time;
  instance->plans_wait = 0;
  tk_restart(instance);
  return tk_prepare(model, instance);
}

int tk_start(const tactus_model* model, tactus_instance* instance) {
  tk_restart(instance);
  int status = tk_prepare(model, instance);
  if (status != TACTUS_OK) return status;
  status = model->initialize ? model->initialize(model, instance) : TACTUS_OK;
  if (status != TACTUS_OK) return tk_fail(instance, status, -1);
  model = tk_active(model, instance);
  if (model->constraint_count + model->condition_count > 0) {
    status = tk_solve_start(model, instance);
    if (status != TACTUS_OK) return status;
  }
  const int32_t index = tk_first_not_finite(model->state_count, tk_states(model, instance));
  if (index >= 0) return tk_fail(instance, TACTUS_NOT_FINITE, index);
  /* For whoever asks for derivatives at once; tk_begin_events does it again, with delays, and tells what fails. */
  if (model->relation_count > 0 && tk_settle(model, instance) != TACTUS_OK) tk_clear_failure(instance);
  if (model->subsystem_count > 0) {
    status = tk_begin_rates(model, instance);
    if (status != TACTUS_OK) return status;
    if (model->relation_count > 0 && tk_settle(model, instance) != TACTUS_OK) tk_clear_failure(instance);
  }
  instance->crossings = 0;
  instance->is_crossed = 0;
  return TACTUS_OK;
}
