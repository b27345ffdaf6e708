#include "runtime/sim/initial.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kernel/kernel.h"
#include "runtime/sim/evaluate.h"
#include "runtime/sim/instance.h"

namespace sim {

std::vector<std::string> redundant_constraints(const tactus_model& whole, tactus_instance* instance) {
  const tactus_model& model = *tk_active(&whole, instance);
  std::vector<std::string> notes;
  if (model.constraint_count < 2) return notes;
  std::vector<double> depends(model.constraint_count);
  const double* x = tactus_data(instance) + model.layout.states;
  if (tk_dependent_constraints(&model, instance, instance->time, x, depends.data()) <= 0) return notes;
  std::set<std::uint32_t> said;
  for (std::uint32_t i = 0; i < model.constraint_count; ++i) {
    const tactus_constraint& constraint = model.constraints[i];
    if (depends[i] == 0 || constraint.order > 0 || !said.insert(constraint.line).second) continue;
    notes.push_back(
        fmt::format("the constraint `{}`{} follows from the others here: it is redundant, and the forces that "
                    "enforce them are not unique; the smallest are taken",
                    constraint.text, constraint.line ? fmt::format(" (line {})", constraint.line) : ""));
  }
  return notes;
}

Initial find_initial(const tactus_model& model, const std::vector<ParameterValue>& parameters) {
  Initial initial;
  Instance instance(model);
  const auto fail = [&](int status) {
    initial.failure = describe_failure(model, *instance.get(), static_cast<tactus_status>(status), true);
  };
  if (int status = tk_reset(&model, instance.get())) {
    fail(status);
    return initial;
  }
  for (const ParameterValue& parameter : parameters)
    instance.section(model.layout.parameters)[parameter.index] = parameter.value;
  std::vector<double> guess(model.state_count);  // what the search for a start begins with
  if (model.initialize && model.initialize(&model, instance.get()) == TACTUS_OK)
    std::copy(instance.states().begin(), instance.states().end(), guess.begin());
  if (int status = tk_start(&model, instance.get())) fail(status);
  if (!initial.failure && has_later_conditions(model)) {
    std::string mistake;
    std::optional<Plan> plan = make_plan(model, {}, mistake);
    if (!plan) plan = make_plan(model, {.solver = TACTUS_TSIT5}, mistake);
    const BoundarySolution boundary = solve_boundary({model, *plan, parameters, {}});
    initial.failure = boundary.failure;
    if (!boundary.failure) {
      std::copy(boundary.nodes[0].states.begin(), boundary.nodes[0].states.end(), instance.states().begin());
      initial.notes.push_back(boundary.note());
    }
  }
  std::set<std::string> states;
  for (std::uint32_t i = 0; i < model.state_count; ++i) {
    const std::uint32_t flag = model.state_flags ? model.state_flags[i] : std::uint32_t{TACTUS_STATE_GIVEN};
    const bool is_kept = instance.states()[i] == guess[i];
    const char* how = flag == TACTUS_STATE_GIVEN                ? "given"
                      : initial.failure                         ? "not found"
                      : flag == TACTUS_STATE_ASSUMED && is_kept ? "assumed"
                                                                : "found";
    initial.values.push_back({model.state_names[i], instance.states()[i], how});
    states.insert(model.state_names[i]);
  }
  if (initial.failure) return initial;
  for (std::string& note : redundant_constraints(model, instance.get())) initial.notes.push_back(std::move(note));
  std::vector<double> warm(model.warm_count);
  if (int status = evaluate_outputs(model, instance.get(), instance->time, instance.states().data(), warm)) {
    fail(status);
    return initial;
  }
  const double* outputs = instance.section(model.layout.outputs);
  for (std::uint32_t i = 0; i < model.channel_count; ++i) {
    const tactus_channel& channel = model.channels[i];
    for (std::uint32_t k = 0; k < channel.rows * channel.columns; ++k) {
      std::string name = channel.name;
      if (channel.columns > 1) {
        name += fmt::format("[{},{}]", k / channel.columns + 1, k % channel.columns + 1);
      } else if (channel.rows > 1) {
        name += fmt::format("[{}]", k + 1);
      }
      if (!states.contains(name)) initial.values.push_back({name, outputs[channel.at + k], "follows"});
    }
  }
  return initial;
}

}  // namespace sim
