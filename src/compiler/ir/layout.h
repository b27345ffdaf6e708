// Where things of a program lie in its Instance and in its model table, the same for all backends.
#pragma once

#include <vector>

#include "abi/model.h"
#include "compiler/ir/ir.h"

namespace ir {

// The kernel's tk_layout for the program's counts.
// With structures: one in which each of them has room.
tactus_layout layout_of(const Program& program);
// As a table has the plans.
struct PlanTable {
  std::vector<tactus_plan> plans;  // without names
  std::vector<tactus_plan_phase> phases;
  std::vector<std::uint32_t> places;
};
PlanTable plan_table(const Program& program);
// Gives every structure that layout; after the last change of their counts.
void share_layout(Program& program);

// The table's work_count: with the room for tangents and loops.
std::uint32_t work_count(const Program& program);
// Where in work the warm starts are kept, when there is room for them.
std::uint32_t kept_warm_place(const Program& program);

// The model table's events without their names, which are left null, and the times of all TACTUS_AT events.
struct EventTable {
  std::vector<tactus_event> events;
  std::vector<double> times;
};
EventTable event_table(const Program& program);

// Of all drawings; those of one follow each other.
std::uint32_t drawing_option_count(const Program& program);

// The model table's delays: their rings lie one behind another in the history section.
std::vector<tactus_delay> delay_table(const Program& program);
std::uint32_t history_count(const Program& program);

std::vector<tactus_subsystem> subsystem_table(const Program& program);

}  // namespace ir
