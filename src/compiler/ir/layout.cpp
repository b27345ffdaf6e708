#include "compiler/ir/layout.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "compiler/ir/numbers.h"
#include "kernel/kernel.h"

namespace ir {

namespace {

std::uint64_t ring_size(const Delay& delay) { return 2 + 2 * std::uint64_t{delay.capacity}; }

}  // namespace

namespace {

// Its own layout; where a plan puts aside a snapshot of at least so many doubles.
tactus_layout own_layout(const Program& program, std::uint32_t snapshot = 0) {
  tactus_model model = {};
  set_numbers(program, model);
  const PlanTable plans = plan_table(program);
  model.plans = plans.plans.data();
  // Whether there is one is all that a layout asks.
  if (program.has_structure)
    model.structure = [](const tactus_model*, tactus_instance*, double, const double*, double*) { return 0; };
  const std::vector<tactus_subsystem> subsystems = subsystem_table(program);
  model.subsystems = subsystems.data();
  model.constraint_jacobian = {program.constraint_jacobian.start.data(), program.constraint_jacobian.index.data()};
  if (program.tangents && !program.tangents->factors.pattern.start.empty()) {
    const Tangents& tangents = *program.tangents;
    model.jacobian = {tangents.jacobian.start.data(), tangents.jacobian.index.data()};
    model.factors = {tangents.factors.pattern.start.data(), tangents.factors.pattern.index.data()};
  }
  tactus_layout layout = {};
  tk_layout(&model, &layout);
  if (snapshot > layout.snapshot) {
    const std::uint32_t more = tk_plan_size(&model, snapshot) - tk_plan_size(&model, layout.snapshot);
    layout.linear += more;
    layout.size += more;
  }
  return layout;
}

constexpr std::uint32_t tactus_layout::* sections[] = {
    &tactus_layout::states,  &tactus_layout::inputs,  &tactus_layout::input_rates, &tactus_layout::parameters,
    &tactus_layout::derived, &tactus_layout::outputs, &tactus_layout::warm,        &tactus_layout::discrete,
    &tactus_layout::clocks,  &tactus_layout::history, &tactus_layout::ties,        &tactus_layout::snapshot,
    &tactus_layout::watched, &tactus_layout::work,    &tactus_layout::stages,      &tactus_layout::projection,
    &tactus_layout::plan,    &tactus_layout::linear,  &tactus_layout::size,
};

}  // namespace

tactus_layout layout_of(const Program& program) {
  if (program.layout) return *program.layout;
  if (program.structures.empty()) return own_layout(program);
  // Every section as large as the structure needs it that needs most.
  tactus_layout whole = {};
  std::uint32_t at = 0;
  for (std::size_t i = 0; i + 1 < std::size(sections); ++i) {
    std::uint32_t size = 0;
    for (const Program& structure : program.structures) {
      const tactus_layout layout = own_layout(structure);
      size = std::max(size, layout.*sections[i + 1] - layout.*sections[i]);
    }
    // A plan puts a whole snapshot aside, which is larger here than in any structure alone.
    if (sections[i] == &tactus_layout::plan && size > 0) {
      for (const Program& structure : program.structures)
        size =
            std::max(size, own_layout(structure, whole.snapshot).linear - own_layout(structure, whole.snapshot).plan);
    }
    at += size;
    whole.*sections[i + 1] = at;
  }
  return whole;
}

PlanTable plan_table(const Program& program) {
  PlanTable table;
  for (const Plan& plan : program.plans) {
    tactus_plan made = {};
    made.event = plan.event;
    made.failed = plan.failed;
    made.first_chosen = static_cast<std::uint32_t>(table.places.size());
    made.chosen_count = static_cast<std::uint32_t>(plan.chosen.size());
    made.guess = plan.guess;
    made.first_phase = static_cast<std::uint32_t>(table.phases.size());
    made.phase_count = static_cast<std::uint32_t>(plan.phases.size());
    made.has_otherwise = plan.has_otherwise ? 1 : 0;
    made.line = plan.line;
    table.places.insert(table.places.end(), plan.chosen.begin(), plan.chosen.end());
    for (const Plan::Phase& phase : plan.phases)
      table.phases.push_back({phase.event, phase.target, phase.target_count});
    table.plans.push_back(made);
  }
  return table;
}

std::vector<tactus_subsystem> subsystem_table(const Program& program) {
  std::vector<tactus_subsystem> table;
  for (const Subsystem& s : program.subsystems)
    table.push_back({s.multiple, s.first_state, s.state_count, s.ledger, s.phase, s.samples});
  return table;
}

void share_layout(Program& program) {
  if (program.structures.empty()) return;
  program.layout.reset();
  program.layout = layout_of(program);
  for (Program& structure : program.structures) structure.layout = program.layout;
}

std::uint32_t work_count(const Program& program) { return kept_warm_place(program) + program.kept_warm_count; }

std::uint32_t kept_warm_place(const Program& program) {
  return program.work_count + program.tangent_work_count + program.loop_work_count;
}

EventTable event_table(const Program& program) {
  EventTable table;
  for (const Event& event : program.events) {
    tactus_event entry = {};
    entry.kind = event.kind;
    entry.line = event.line;
    entry.period = event.period;
    entry.from = event.from;
    entry.flags = event.flags;
    entry.pulse = event.pulse;
    if (event.kind == TACTUS_WHEN || event.kind == TACTUS_TRANSITION || event.kind == TACTUS_REQUIRE ||
        event.kind == TACTUS_EXPECT || event.kind == TACTUS_STOP || event.kind == TACTUS_CHECK) {
      entry.first = event.watched;
      entry.count = 1 + event.parts;
    }
    if (event.kind == TACTUS_AT) {
      entry.first = static_cast<std::uint32_t>(table.times.size());
      entry.count = static_cast<std::uint32_t>(event.times.size());
      table.times.insert(table.times.end(), event.times.begin(), event.times.end());
    }
    table.events.push_back(entry);
  }
  return table;
}

std::vector<tactus_delay> delay_table(const Program& program) {
  std::vector<tactus_delay> table;
  std::uint64_t at = 0;
  for (const Delay& delay : program.delays) {
    table.push_back(
        {delay.source, delay.duration, static_cast<std::uint32_t>(at), delay.capacity, delay.is_rate ? 1u : 0u});
    at += ring_size(delay);
  }
  return table;
}

std::uint32_t history_count(const Program& program) {
  std::uint64_t count = 0;
  for (const Delay& delay : program.delays) count += ring_size(delay);
  TACTUS_CHECK(count <= std::numeric_limits<std::uint32_t>::max());
  return static_cast<std::uint32_t>(count);
}

std::uint32_t drawing_option_count(const Program& program) {
  std::size_t count = 0;
  for (const Drawing& drawing : program.drawings) count += drawing.options.size();
  return static_cast<std::uint32_t>(count);
}

}  // namespace ir
