/* Subsystems with steps of their own. Enters: an Instance of a model with rates at (time, states). Leaves: the same
 * `count` steps of the whole later; or where something failed, with status: subsystems that had taken their step by
 * then have taken it.
 *
 * One schedule. The step of the whole is the shortest; a subsystem takes one of `multiple` of them where that ends, by
 * the run's solver and as if it were alone, so that until then its states are those of the step's beginning. Where the
 * step of the slower of two joined subsystems ends, both ports are sampled, and what each gets is held in discrete
 * values until that happens again:
 *
 *   hold         what the other gave
 *   extrapolate  the straight line through that and the sample before
 *   passive      Algorithm 2 of Borghesan, Macchelli, Melchiorri (seed 001): the faster gets what the slower gave, the
 *   slower what sample_hold.c
 *                makes of what the faster gave. Of equal rates, which compilers ask for where an end gives what depends
 *                at once on what it gets:
 *                what both give is looked at again with what both have got, until nothing changes, so that both reckon
 *                with the same product
 *
 * What both ports have let in, with the sign changed, is what the join keeps. As the paper has it (Eq. 21), this is a
 * sum of samples; here it is the work that each subsystem's own method integrates, which for `passive` steps is the
 * same sum, and for others is exact where samples are not. The order of everything is that of the table: no two runs
 * differ.
 *
 * A solver that keeps the balance of energy does so in each subsystem, with a ledger of its own; where nothing is
 * stored, its predictor or the midpoint rule takes the step. */
#include "kernel/kernel.h"
#include "kernel/sections.h"
#include "kernel/stepping.h"

/* A subsystem as a model of its own: the table of the whole with other states and functions. */
typedef struct tk_part_table {
  tactus_model table; /* first: the functions below get its address */
  const tactus_model* whole;
  uint32_t index;
} tk_part_table;

static int tk_part_function(const tactus_model* part, tactus_instance* instance, uint32_t function, double t,
                            const double* x, double* result) {
  const tk_part_table* const own = (const tk_part_table*)(const void*)part;
  return own->whole->subsystem(own->whole, instance, TACTUS_SUBSYSTEM_FUNCTIONS * own->index + function, t, x, result);
}

static int tk_part_derivative(const tactus_model* part, tactus_instance* instance, double t, const double* x,
                              double* dx) {
  return tk_part_function(part, instance, TACTUS_SUBSYSTEM_DERIVATIVE, t, x, dx);
}

static int tk_part_energy(const tactus_model* part, tactus_instance* instance, double t, const double* x,
                          double* result) {
  return tk_part_function(part, instance, TACTUS_SUBSYSTEM_ENERGY, t, x, result);
}

static int tk_part_tangent(const tactus_model* part, tactus_instance* instance, uint32_t function, double t,
                           const double* x, const double* direction, double* result) {
  const tk_part_table* const own = (const tk_part_table*)(const void*)part;
  if (function != TACTUS_OF_DERIVATIVE) return -1;
  return own->whole->tangent(own->whole, instance, TACTUS_OF_SUBSYSTEM + own->index, t, x, direction, result);
}

static void tk_begin_part_table(const tactus_model* model, tk_part_table* part) {
  const unsigned char* const from = (const unsigned char*)model;
  unsigned char* const to = (unsigned char*)&part->table;
  for (uint64_t i = 0; i < sizeof(tactus_model); i++) { /* an assignment would be a call of memcpy */
    to[i] = from[i];
    TK_HIDE(i);
  }
  part->whole = model;
  part->table.subsystem_count = 0;
  /* Behind the whole's own scratch, which keeps the states that a step began with. */
  part->table.layout.stages += TACTUS_STAGE_VECTORS * model->state_count + model->warm_count;
  part->table.jacobian.start = 0;
  part->table.factors.start = 0;
  part->table.structure = 0; /* it is that of the whole */
  part->table.balance = 0;
  part->table.slopes = 0;
  part->table.book_supplied = 0;
  part->table.book_dissipated = 0;
  part->table.derivative = tk_part_derivative;
  part->table.tangent = model->tangent ? tk_part_tangent : 0;
}

static void tk_choose_part(tk_part_table* part, uint32_t index) {
  const tactus_subsystem* const subsystem = &part->whole->subsystems[index];
  part->index = index;
  part->table.state_count = subsystem->state_count;
  part->table.layout.states = part->whole->layout.states + subsystem->first_state;
  part->table.ledger = subsystem->ledger;
  part->table.energy = subsystem->ledger != 0 ? tk_part_energy : 0;
}

/* Where nothing is stored there is no balance to keep. */
static int tk_solver_without_energy(int solver) {
  switch (solver) {
    case TACTUS_PASSIVE:
      return TACTUS_EULER;
    case TACTUS_PASSIVE_BS3:
      return TACTUS_BS3_FIXED;
    case TACTUS_PASSIVE_RK4:
      return TACTUS_RK4;
    case TACTUS_DISCRETE_GRADIENT:
      return TACTUS_MIDPOINT;
    default:
      return solver;
  }
}

/* One step of the chosen subsystem, from t on; the whole's time and grid stay as they are. */
static int tk_step_part(const tk_part_table* part, tactus_instance* instance, int solver, double t, double h) {
  const double time = instance->time;
  const double start_time = instance->start_time;
  const int64_t steps = instance->steps;
  if (part->table.ledger == 0) solver = tk_solver_without_energy(solver);
  instance->time = instance->start_time = t;
  instance->steps = 0;
  const int status = tk_fixed_steps(&part->table, instance, solver, h, 1);
  instance->time = time;
  instance->start_time = start_time;
  instance->steps = steps;
  if (status == TACTUS_NOT_FINITE && instance->failed_index >= 0) {
    instance->failed_index += (int32_t)part->whole->subsystems[part->index].first_state;
  }
  return status;
}

/* So many steps of length h are one of this subsystem. A clock may ask for shorter steps than the model does
 * (runtime/live): its rate stays. */
static double tk_multiple(const tactus_model* model, uint32_t index, double h) {
  const double multiple = (double)model->subsystems[index].multiple;
  if (h == model->step_size) return multiple;
  return tk_max(1.0, tk_floor(multiple * model->step_size / h + 0.5));
}

/* What the ports of a subsystem give, unless that is known: into the samples of all. */
static int tk_sample(const tactus_model* model, tactus_instance* instance, uint32_t index, double* samples) {
  double* const is_known = samples + model->sample_count + index;
  if (*is_known != 0.0) return TACTUS_OK;
  const tactus_subsystem* const subsystem = &model->subsystems[index];
  *is_known = 1.0;
  return model->subsystem(model, instance, TACTUS_SUBSYSTEM_FUNCTIONS * index + TACTUS_SUBSYSTEM_SAMPLES,
                          instance->time, tk_states(model, instance) + subsystem->first_state,
                          samples + subsystem->samples);
}

static double tk_work_of(const tactus_model* model, tactus_instance* instance, const tactus_join* join, int end) {
  return join->work[end] == 0 ? 0.0 : tk_states(model, instance)[join->work[end] - 1];
}

/* Whether the join is to be settled. */
static int tk_is_settled(const tactus_model* model, const tactus_join* join, double h) {
  return join->manner == TACTUS_JOIN_PASSIVE &&
         tk_multiple(model, join->subsystem[0], h) == tk_multiple(model, join->subsystem[1], h);
}

static void tk_pass_samples(const tactus_model* model, tactus_instance* instance, const tactus_join* join,
                            const double* samples, double h, int is_start) {
  double* const discrete = tactus_data(instance) + model->layout.discrete;
  const double multiples[2] = {tk_multiple(model, join->subsystem[0], h), tk_multiple(model, join->subsystem[1], h)};
  const int slow = multiples[1] > multiples[0];
  const double period = multiples[slow] * h;
  for (int end = 0; end < 2; end++) {
    double* const held = discrete + join->held[end];
    const double* const given = samples + join->sample[1 - end];
    const double sign = end == 0 ? 1.0 : -1.0;
    if (join->manner == TACTUS_JOIN_PASSIVE && end == slow && multiples[0] != multiples[1]) {
      const double energy = -(tk_work_of(model, instance, join, 0) + tk_work_of(model, instance, join, 1));
      tk_hold_release(join->count, period, is_start ? 0.0 : energy, samples + join->sample[end], sign, given, held);
      continue;
    }
    for (uint32_t i = 0; i < join->count; i++) {
      const double value = sign * given[i];
      if (join->manner == TACTUS_JOIN_EXTRAPOLATE) {
        held[join->count + i] = is_start ? 0.0 : (value - held[i]) / period;
      }
      held[i] = value;
    }
  }
  if (join->manner == TACTUS_JOIN_EXTRAPOLATE) discrete[join->since] = instance->time;
}

/* Looks again at what the ends of joins that are settled give, with what they have got: one end that feeds through is
 * right after one round, two come nearer as long as their factors are less than 1. */
#define TK_SETTLING_ROUNDS 24
static int tk_settle_samples(const tactus_model* model, tactus_instance* instance, double h, double* samples) {
  double* const discrete = tactus_data(instance) + model->layout.discrete;
  for (int round = 0; round < TK_SETTLING_ROUNDS; round++) {
    int has_changed = 0;
    tk_zero(model->subsystem_count, samples + model->sample_count);
    for (int is_passing = 0; is_passing < 2; is_passing++) {
      for (uint32_t j = 0; j < model->join_count; j++) {
        const tactus_join* const join = &model->joins[j];
        if (discrete[model->subsystems[join->subsystem[0]].phase] != 0.0) continue;
        if (discrete[model->subsystems[join->subsystem[1]].phase] != 0.0) continue;
        if (!tk_is_settled(model, join, h)) continue;
        for (int end = 0; end < 2; end++) {
          if (!is_passing) {
            const int status = tk_sample(model, instance, join->subsystem[end], samples);
            if (status != TACTUS_OK) return status;
            continue;
          }
          for (uint32_t i = 0; i < join->count; i++) {
            double* const held = discrete + join->held[end] + i;
            const double value = (end == 0 ? 1.0 : -1.0) * samples[join->sample[1 - end] + i];
            has_changed |= *held != value;
            *held = value;
          }
        }
      }
    }
    if (!has_changed) break;
  }
  return TACTUS_OK;
}

/* At instance->time: every join whose slower subsystem is at the end of a step, or, at the start, every one. */
static int tk_exchange(const tactus_model* model, tactus_instance* instance, double h, int is_start) {
  double* const discrete = tactus_data(instance) + model->layout.discrete;
  double* const samples = tactus_data(instance) + model->layout.work + model->samples;
  int is_first = 1;
  int is_any_settled = 0;
  for (int is_passing = 0; is_passing < 2; is_passing++) {
    for (uint32_t j = 0; j < model->join_count; j++) {
      const tactus_join* const join = &model->joins[j];
      if (discrete[model->subsystems[join->subsystem[0]].phase] != 0.0) continue;
      if (discrete[model->subsystems[join->subsystem[1]].phase] != 0.0) continue;
      if (is_passing) {
        tk_pass_samples(model, instance, join, samples, h, is_start);
        is_any_settled |= tk_is_settled(model, join, h);
        continue;
      }
      if (is_first) tk_zero(model->subsystem_count, samples + model->sample_count);
      is_first = 0;
      int status = tk_sample(model, instance, join->subsystem[0], samples);
      if (status == TACTUS_OK) status = tk_sample(model, instance, join->subsystem[1], samples);
      if (status != TACTUS_OK) return tk_fail(instance, status, -1);
    }
    if (is_first) break;
  }
  const int status = is_any_settled ? tk_settle_samples(model, instance, h, samples) : TACTUS_OK;
  return status == TACTUS_OK ? TACTUS_OK : tk_fail(instance, status, -1);
}

int tk_begin_rates(const tactus_model* model, tactus_instance* instance) {
  double* const discrete = tactus_data(instance) + model->layout.discrete;
  for (uint32_t k = 0; k < model->subsystem_count; k++) discrete[model->subsystems[k].phase] = 0.0;
  for (uint32_t j = 0; j < model->join_count; j++) {
    const tactus_join* const join = &model->joins[j];
    for (int end = 0; end < 2; end++) tk_zero(join->count, discrete + join->held[end]);
  }
  return tk_exchange(model, instance, model->step_size, 1);
}

int tk_rated_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count) {
  double* const discrete = tactus_data(instance) + model->layout.discrete;
  const double start = tk_enter_grid(instance, h);
  tk_part_table part;
  tk_begin_part_table(model, &part);
  int is_any_settled = 0;
  for (uint32_t j = 0; j < model->join_count; j++) is_any_settled |= tk_is_settled(model, &model->joins[j], h);
  for (int64_t done = 0; done < count; done++) {
    /* Events may have changed what ports give since they were sampled, as where a guard begins to act. */
    if (is_any_settled) {
      const int status =
          tk_settle_samples(model, instance, h, tactus_data(instance) + model->layout.work + model->samples);
      if (status != TACTUS_OK) return tk_fail(instance, status, -1);
    }
    for (uint32_t k = 0; k < model->subsystem_count; k++) {
      const tactus_subsystem* const subsystem = &model->subsystems[k];
      double* const phase = discrete + subsystem->phase;
      const double multiple = tk_multiple(model, k, h);
      if (*phase + 1.0 < multiple) {
        *phase += 1.0;
        continue;
      }
      if (subsystem->state_count > 0) {
        tk_choose_part(&part, k);
        const double t = start + ((double)(instance->steps + 1) - multiple) * h;
        const int status = tk_step_part(&part, instance, solver, t, multiple * h);
        if (status != TACTUS_OK) return status;
      }
      *phase = 0.0;
    }
    instance->steps++;
    instance->time = start + (double)instance->steps * h;
    const int status = tk_exchange(model, instance, h, 0);
    if (status != TACTUS_OK) return status;
  }
  return TACTUS_OK;
}
