/* What a wasm module exports: JavaScript sees numbers only, so tables are read through functions. The model is the table
 * `tk_the_model`, or any other whose address the host knows: every function takes the model's address first.
 *
 * Memory: the host lays instances out itself, 8-byte aligned, from __heap_base on, and grows the memory as needed.
 * Counts that are int64_t in the kernel are doubles here. */
#include "kernel/kernel.h"

#define EXPORT(name) __attribute__((export_name(#name))) name

typedef const tactus_model* Model;
typedef tactus_instance* Instance;

/* tk_the_model is absent in a module of many models. */
extern const tactus_model tk_the_model __attribute__((weak));
Model EXPORT(model)(void);
Model model(void) { return &tk_the_model; }

#define DECLARE(type, name, ...)  \
  type EXPORT(name)(__VA_ARGS__); \
  type name(__VA_ARGS__)

/* The life of an instance. */
DECLARE(double, instance_bytes, Model m) { return (double)tactus_instance_bytes(m); }
DECLARE(int, reset, Model m, Instance i) { return tk_reset(m, i); }
DECLARE(int, start, Model m, Instance i) { return tk_start(m, i); }
DECLARE(int, prepare, Model m, Instance i) { return m->prepare(m, i); }
DECLARE(int, fixed_steps, Model m, Instance i, int solver, double h, double count) {
  return m->fixed_steps(m, i, solver, h, (int64_t)count);
}
DECLARE(int, adaptive_step, Model m, Instance i, int solver, double t_end, double h_max, double tolerance) {
  return m->adaptive_step(m, i, solver, t_end, h_max, tolerance);
}
DECLARE(void, dense, Model m, Instance i, int solver, double t, double* x) { tk_dense(m, i, solver, t, x); }
/* Events and delays, see kernel.h. */
DECLARE(int, runs_in_parts, Model m) { return tk_runs_in_parts(m); }
DECLARE(int, settle, Model m, Instance i) { return tk_settle(m, i); }
DECLARE(int, begin_events, Model m, Instance i) { return tk_begin_events(m, i); }
DECLARE(double, next_event, Model m, Instance i) { return tk_next_event(m, i); }
DECLARE(int, part, Model m, Instance i, int solver, double h, double tolerance, double t_end) {
  return tk_part(m, i, solver, h, tolerance, t_end);
}
DECLARE(int, is_due, Model m, Instance i) { return tk_is_due(m, i); }
DECLARE(int, fire, Model m, Instance i) { return tk_fire(m, i); }
DECLARE(int, end_run, Model m, Instance i) { return tk_end_run(m, i); }
DECLARE(int, broken_checks, Model m, Instance i) {
  (void)m;
  return i->broken_checks;
}
DECLARE(void, between, Model m, Instance i, int solver, double t, double* x) { tk_between(m, i, solver, t, x); }
DECLARE(void, put_back, Model m, Instance i, double t, double* x) { tk_put_back(m, i, t, x); }
DECLARE(int, event_steps, Model m, Instance i, int solver, double h, double count) {
  return tk_event_steps(m, i, solver, h, (int64_t)count);
}
DECLARE(int, outputs, Model m, Instance i, double t, const double* x) { return tk_outputs(m, i, t, x); }
DECLARE(int, derivative, Model m, Instance i, double t, const double* x, double* dx) {
  return m->derivative(m, i, t, x, dx);
}
DECLARE(int, outputs_now, Model m, Instance i) {
  return tk_outputs(m, i, i->time, tactus_data_const(i) + m->layout.states);
}
/* What event k does, whether or not it is due; conditions and sources of delays at the present time. */
DECLARE(int, fire_event, Model m, Instance i, int k) { return m->fire ? m->fire(m, i, (uint32_t)k) : TACTUS_OK; }
DECLARE(int, watch_now, Model m, Instance i) {
  return m->watch ? m->watch(m, i, i->time, tactus_data_const(i) + m->layout.states) : TACTUS_OK;
}
/* Tangents, when the model was compiled with them: sizes in doubles, see tactus_direction_size and tactus_function. */
DECLARE(int, has_tangents, Model m) { return m->tangent != 0; }
DECLARE(int, direction_size, Model m) { return (int)tactus_direction_size(m); }
DECLARE(int, tangent_size, Model m, int function) {
  switch (function) {
    case TACTUS_OF_PREPARE:
      return (int)m->derived_count;
    case TACTUS_OF_INITIALIZE:
      return (int)(m->state_count + m->discrete_count);
    case TACTUS_OF_DERIVATIVE:
      return (int)m->state_count;
    case TACTUS_OF_OUTPUTS:
      return (int)m->output_count;
    case TACTUS_OF_WATCH:
      return (int)m->watch_count;
    case TACTUS_OF_CONSTRAINTS:
      return (int)m->constraint_count;
    case TACTUS_OF_CONDITIONS:
      return (int)m->condition_count;
    default:
      return (int)(m->discrete_count + m->state_count);
  }
}
DECLARE(int, tangent, Model m, Instance i, int function, double t, const double* x, const double* direction,
        double* result) {
  return m->tangent(m, i, (uint32_t)function, t, x, direction, result);
}
DECLARE(int, dense_jacobian, Model m, Instance i, double t, const double* x, double* scratch, double* matrix) {
  return tk_dense_jacobian(m, i, t, x, scratch, matrix);
}
DECLARE(int, time_derivative, Model m, Instance i, double t, const double* x, double* scratch, double* values) {
  return tk_time_derivative(m, i, t, x, scratch, values);
}

/* Its header. */
DECLARE(double, time, Instance i) { return i->time; }
DECLARE(double, steps, Instance i) { return (double)i->steps; }
DECLARE(double, crossings, Instance i) { return (double)i->crossings; }
DECLARE(double, rejected, Instance i) { return (double)i->rejected; }
DECLARE(int, failed_block, Instance i) { return i->failed_block; }
DECLARE(int, failed_index, Instance i) { return i->failed_index; }
/* From now on time is counted in steps from here; see stepping.h. */
DECLARE(void, count_from_here, Instance i) {
  i->start_time = i->time;
  i->steps = 0;
}
DECLARE(void, set_time, Instance i, double t) { i->time = t; }
DECLARE(void, set_input_time, Instance i, double t) { i->input_time = t; }
/* After states, inputs or parameters were changed from outside. */
DECLARE(void, values_changed, Instance i) { i->first_stage_valid = 0; }

/* Addresses of its sections, state_count .. output_count doubles each. */
DECLARE(double*, states, Model m, Instance i) { return tactus_data(i) + m->layout.states; }
DECLARE(double*, inputs, Model m, Instance i) { return tactus_data(i) + m->layout.inputs; }
DECLARE(double*, input_rates, Model m, Instance i) { return tactus_data(i) + m->layout.input_rates; }
DECLARE(double*, parameters, Model m, Instance i) { return tactus_data(i) + m->layout.parameters; }
DECLARE(double*, output_values, Model m, Instance i) { return tactus_data(i) + m->layout.outputs; }

DECLARE(double*, warm, Model m, Instance i) { return tactus_data(i) + m->layout.warm; }
DECLARE(double*, discrete, Model m, Instance i) { return tactus_data(i) + m->layout.discrete; }
DECLARE(double*, watched, Model m, Instance i) { return tactus_data(i) + m->layout.watched; }

/* The table. Texts are zero-terminated UTF-8. */
DECLARE(const char*, model_name, Model m) { return m->name; }
DECLARE(int, state_count, Model m) { return (int)m->state_count; }
DECLARE(int, input_count, Model m) { return (int)m->input_count; }
DECLARE(int, output_count, Model m) { return (int)m->output_count; }
DECLARE(int, warm_count, Model m) { return (int)m->warm_count; }
DECLARE(int, event_count, Model m) { return (int)m->event_count; }
DECLARE(const char*, event_name, Model m, int k) { return m->events[k].name; }
DECLARE(int, event_line, Model m, int k) { return (int)m->events[k].line; }
DECLARE(int, relation_count, Model m) { return (int)m->relation_count; }
DECLARE(int, relation_line, Model m, int k) { return (int)m->relations[k].line; }
DECLARE(int, delay_count, Model m) { return (int)m->delay_count; }
/* How long delay k lasts, once its instance is prepared. */
DECLARE(double, delay_duration, Model m, Instance i, int k) {
  return tactus_data_const(i)[m->layout.derived + m->delays[k].duration];
}
DECLARE(int, discrete_count, Model m) { return (int)m->discrete_count; }
DECLARE(int, watch_count, Model m) { return (int)m->watch_count; }
DECLARE(int, table_count, Model m) { return (int)m->table_count; }
DECLARE(const char*, state_name, Model m, int k) { return m->state_names[k]; }
DECLARE(double, starting_time, Model m) { return m->starting_time; }
DECLARE(double, ending_time, Model m) { return m->ending_time; }
DECLARE(double, step_size, Model m) { return m->step_size; }
DECLARE(double, tolerance, Model m) { return m->tolerance; }
DECLARE(double, record_period, Model m) { return m->record_period; }
DECLARE(int, solver, Model m) { return m->solver; }

DECLARE(int, channel_count, Model m) { return (int)m->channel_count; }
DECLARE(int, input_channel_count, Model m) { return (int)m->input_channel_count; }
/* Channel k of the recorded names, or of the inputs when is_input. */
static const tactus_channel* channel(Model m, int k, int is_input) {
  return (is_input ? m->input_channels : m->channels) + k;
}
DECLARE(const char*, channel_name, Model m, int k, int is_input) { return channel(m, k, is_input)->name; }
DECLARE(const char*, channel_unit, Model m, int k, int is_input) { return channel(m, k, is_input)->unit; }
DECLARE(int, channel_at, Model m, int k, int is_input) { return (int)channel(m, k, is_input)->at; }
DECLARE(int, channel_rows, Model m, int k, int is_input) { return (int)channel(m, k, is_input)->rows; }
DECLARE(int, channel_columns, Model m, int k, int is_input) { return (int)channel(m, k, is_input)->columns; }
DECLARE(int, channel_flags, Model m, int k, int is_input) { return (int)channel(m, k, is_input)->flags; }

DECLARE(int, parameter_count, Model m) { return (int)m->parameter_count; }
DECLARE(const char*, parameter_name, Model m, int k) { return m->parameters[k].name; }
DECLARE(const char*, parameter_unit, Model m, int k) { return m->parameters[k].unit; }
DECLARE(double, parameter_initial, Model m, int k) { return m->parameters[k].initial; }
DECLARE(double, parameter_low, Model m, int k) { return m->parameters[k].low; }
DECLARE(double, parameter_high, Model m, int k) { return m->parameters[k].high; }

DECLARE(int, port_count, Model m) { return (int)m->port_count; }
DECLARE(const char*, port_device, Model m, int k) { return m->ports[k].device; }
DECLARE(int, port_channel, Model m, int k) { return (int)m->ports[k].channel; }
DECLARE(int, port_is_input, Model m, int k) { return (int)m->ports[k].is_input; }

DECLARE(int, block_count, Model m) { return (int)m->block_count; }
DECLARE(const char*, block_equations, Model m, int k) { return m->blocks[k].equations; }
DECLARE(const char*, block_unknowns, Model m, int k) { return m->blocks[k].unknowns; }
DECLARE(int, block_line, Model m, int k) { return (int)m->blocks[k].line; }
