// Every number of a program's model table but those of `core`: the one list from which backends, layout and stand-ins fill theirs.
// program -> visit(name in the table, member of the table, value), in no particular order.
#pragma once

#include <algorithm>

#include "abi/model.h"
#include "compiler/ir/ir.h"
#include "compiler/ir/layout.h"

namespace ir {

template <class Visit>
void visit_numbers(const Program& program, Visit visit) {
  const auto count = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
  visit("abi", &tactus_model::abi, std::uint32_t{TACTUS_ABI});
  visit("state_count", &tactus_model::state_count, count(program.state_names));
  visit("input_count", &tactus_model::input_count, program.input_count);
  visit("parameter_count", &tactus_model::parameter_count, count(program.parameters));
  visit("derived_count", &tactus_model::derived_count, program.derived_count);
  visit("output_count", &tactus_model::output_count, program.output_count);
  visit("warm_count", &tactus_model::warm_count, program.warm_count);
  visit("work_count", &tactus_model::work_count, work_count(program));
  visit("discrete_count", &tactus_model::discrete_count, program.discrete_count);
  visit("event_count", &tactus_model::event_count, count(program.events));
  visit("watch_count", &tactus_model::watch_count, program.watch_count);
  visit("delay_count", &tactus_model::delay_count, count(program.delays));
  visit("table_count", &tactus_model::table_count, count(program.tables));
  visit("history_count", &tactus_model::history_count, history_count(program));
  visit("relation_count", &tactus_model::relation_count, count(program.relations));
  visit("constraint_count", &tactus_model::constraint_count, count(program.constraints));
  visit("condition_count", &tactus_model::condition_count, count(program.conditions));
  visit("colour_count", &tactus_model::colour_count, program.tangents ? program.tangents->colour_count : 0);
  visit("channel_count", &tactus_model::channel_count, count(program.channels));
  visit("input_channel_count", &tactus_model::input_channel_count, count(program.input_channels));
  visit("port_count", &tactus_model::port_count, count(program.ports));
  visit("block_count", &tactus_model::block_count, count(program.blocks));
  visit("drawing_count", &tactus_model::drawing_count, count(program.drawings));
  visit("drawing_option_count", &tactus_model::drawing_option_count, drawing_option_count(program));
  visit("dimensions", &tactus_model::dimensions, static_cast<std::int32_t>(program.dimensions));
  visit("starting_time", &tactus_model::starting_time, program.starting_time);
  visit("ending_time", &tactus_model::ending_time, program.ending_time);
  visit("step_size", &tactus_model::step_size, program.step_size);
  visit("tolerance", &tactus_model::tolerance, program.tolerance);
  visit("record_period", &tactus_model::record_period, program.record_period);
  visit("event_precision", &tactus_model::event_precision, program.event_precision);
  visit("solver", &tactus_model::solver, static_cast<std::int32_t>(program.solver));
  visit("max_transitions", &tactus_model::max_transitions, program.max_transitions);
  visit("hand_period", &tactus_model::hand_period, program.hand_period);
  visit("guard_precision", &tactus_model::guard_precision, program.guard_precision);
  visit("location_steps", &tactus_model::location_steps, program.location_steps);
  visit("automaton_count", &tactus_model::automaton_count, program.structures.empty() ? 0 : count(program.automata));
  visit("structure_count", &tactus_model::structure_count, count(program.structures));
  visit("plan_count", &tactus_model::plan_count, count(program.plans));
  visit("ledger", &tactus_model::ledger, program.ledger);
  visit("book_supplied", &tactus_model::book_supplied, program.book_supplied);
  visit("book_dissipated", &tactus_model::book_dissipated, program.book_dissipated);
  visit("core_count", &tactus_model::core_count, count(program.core));
  visit("subsystem_count", &tactus_model::subsystem_count, count(program.subsystems));
  visit("join_count", &tactus_model::join_count, count(program.joins));
  visit("samples", &tactus_model::samples, program.samples);
  visit("sample_count", &tactus_model::sample_count, program.sample_count);
}

// Writes them into a table, whose other fields stay.
inline void set_numbers(const Program& program, tactus_model& table) {
  visit_numbers(program, [&](const char*, auto member, auto value) { table.*member = value; });
  std::copy(program.core.begin(), program.core.end(), table.core);
}

}  // namespace ir
