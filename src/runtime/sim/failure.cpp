#include "runtime/sim/failure.h"

#include <fmt/format.h>

#include <string_view>

#include "kernel/kernel.h"
#include "runtime/sim/words.h"

namespace sim {
namespace {

// "a; b; c" -> its parts. A table writes names of unknowns this way (abi/model.h).
std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    std::size_t end = list.find("; ");
    parts.emplace_back(list.substr(0, end));
    list = end == std::string_view::npos ? std::string_view() : list.substr(end + 2);
  }
  return parts;
}

// Of the constraint, or behind them the condition, number `row`.
std::string text_of_constraint(const tactus_model& model, std::int32_t row) {
  if (row < 0) return "";
  const auto index = static_cast<std::uint32_t>(row);
  if (index < model.constraint_count) return model.constraints[index].text;
  const std::uint32_t condition = index - model.constraint_count;
  return condition < model.condition_count ? model.conditions[condition].text : "";
}

std::vector<NamedValue> states_of(const tactus_model& model, const tactus_instance& instance) {
  std::vector<NamedValue> states;
  const double* data = tactus_data_const(&instance);
  for (std::uint32_t i = 0; i < model.state_count; ++i)
    states.push_back({model.state_names[i], data[model.layout.states + i]});
  return states;
}

}  // namespace

const char* status_name(tactus_status status) { return tk_status_name(status); }

Failure describe_failure(const tactus_model& whole, const tactus_instance& instance, tactus_status status,
                         bool starting) {
  const tactus_model& model = *tk_active(&whole, &instance);
  Failure failure;
  failure.status = status;
  failure.kind = status_name(status);
  failure.time = instance.time;
  failure.states = states_of(model, instance);
  std::vector<double> room = words_room(whole);
  write_words(failure.text, failure.hint, [&](tk_text* text, tk_text* hint) {
    failure.line = tk_describe_failure(&whole, &instance, status, starting ? 1 : 0, room.data(), text, hint);
  });

  // The same as data.
  const bool has_block =
      instance.failed_block >= 0 && static_cast<std::uint32_t>(instance.failed_block) < model.block_count;
  if (has_block && (status == TACTUS_DIVERGED || status == TACTUS_SINGULAR || status == TACTUS_NOT_FINITE)) {
    const tactus_block& block = model.blocks[instance.failed_block];
    failure.equations = block.equations;
    const auto names = split(block.unknowns);
    if (block.warm == UINT32_MAX) return failure;
    const double* values = tactus_data_const(&instance) + model.layout.warm + block.warm;
    for (std::uint32_t i = 0; i < block.count && i < names.size(); ++i)
      failure.unknowns.push_back({names[i], values[i]});
  } else if (status == TACTUS_OFF_CONSTRAINTS || status == TACTUS_NO_START || status == TACTUS_OFF_ENTRY) {
    failure.equations = text_of_constraint(model, instance.failed_index);
  }
  return failure;
}

Failure describe_many_changes(const tactus_model& model, const tactus_instance& instance, std::int64_t changes,
                              std::int64_t most, bool are_jumps) {
  Failure failure;
  failure.kind = "too_many_changes";
  failure.time = instance.time;
  failure.states = states_of(model, instance);
  failure.text = are_jumps ? fmt::format("at t = {}, {} transitions have been taken, and at most {} are allowed",
                                         instance.time, changes, most)
                           : fmt::format("at t = {}, comparisons have changed {} times, and at most {} are allowed",
                                         instance.time, changes, most);
  failure.hint = "two sides may drive the motion to each other; or allow more";
  return failure;
}

Failure describe_short_step(const tactus_model& model, const tactus_instance& instance, double least) {
  Failure failure;
  failure.kind = status_name(TACTUS_STEP_TOO_SMALL);
  failure.status = TACTUS_STEP_TOO_SMALL;
  failure.time = instance.time;
  failure.states = states_of(model, instance);
  failure.text = fmt::format("at t = {}, the tolerance asks for a step of {:.3g}, and the least allowed is {:g}",
                             instance.time, instance.next_step, least);
  failure.hint = "allow a larger error, or shorter steps";
  return failure;
}

Failure describe_short_delay(const tactus_model& model, const tactus_instance& instance, double duration, double step) {
  Failure failure;
  failure.kind = "delay_too_short";
  failure.time = instance.time;
  write_words(failure.text, failure.hint,
              [&](tk_text* text, tk_text* hint) { tk_describe_short_delay(&model, duration, step, text, hint); });
  return failure;
}

}  // namespace sim
