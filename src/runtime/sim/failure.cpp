#include "runtime/sim/failure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string_view>

#include "kernel/hybrid.h"
#include "kernel/kernel.h"

namespace sim {
namespace {

constexpr std::size_t values_shown = 8;

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

// "x = 1, y = 2", at most `limit` of them.
std::string list_values(const std::vector<NamedValue>& values, std::size_t limit) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i == limit) return text + fmt::format(", .. ({} in all)", values.size());
    text += fmt::format("{}{} = {}", i ? ", " : "", values[i].name, values[i].value);
  }
  return text;
}

std::string shorten(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0u) == 0x80u) --limit;  // not inside a character
  return std::string(text.substr(0, limit)) + " ..";
}

// The constraint, or behind them the condition, number `row`.
struct Tie {
  std::string text;
  std::uint32_t line = 0;
  std::vector<std::string> given;  // states in it that the person gave a start
  std::vector<std::string> free;
  std::vector<std::string> others;  // constraints that share states with it
};

// As a person wrote them, those that share a state with constraint `index`, at most 4.
std::vector<std::string> other_constraints(const tactus_model& model, std::uint32_t index) {
  const tactus_pattern& rows = model.constraint_jacobian;
  const std::set<std::uint32_t> states(rows.index + rows.start[index], rows.index + rows.start[index + 1]);
  std::vector<std::string> others;
  for (std::uint32_t i = 0; i < model.constraint_count && others.size() < 4; ++i) {
    const tactus_constraint& other = model.constraints[i];
    if (other.order > 0 || other.line == 0) continue;
    if (other.line == model.constraints[index].line && other.text == std::string_view(model.constraints[index].text))
      continue;
    if (std::any_of(rows.index + rows.start[i], rows.index + rows.start[i + 1],
                    [&](std::uint32_t state) { return states.contains(state); }))
      others.push_back(fmt::format("`{}` (line {})", shorten(other.text, 80), other.line));
  }
  return others;
}

Tie tie_of(const tactus_model& model, std::int32_t row) {
  Tie tie;
  if (row < 0) return tie;
  const auto index = static_cast<std::uint32_t>(row);
  if (index < model.constraint_count) {
    const tactus_constraint& constraint = model.constraints[index];
    tie = {constraint.text, constraint.line, {}, {}, other_constraints(model, index)};
    for (std::uint32_t k = model.constraint_jacobian.start[index]; k < model.constraint_jacobian.start[index + 1];
         ++k) {
      const std::uint32_t state = model.constraint_jacobian.index[k];
      const bool is_given = model.state_flags && model.state_flags[state] == TACTUS_STATE_GIVEN;
      (is_given ? tie.given : tie.free).push_back(fmt::format("`{}`", model.state_names[state]));
    }
  } else if (index - model.constraint_count < model.condition_count) {
    const tactus_condition& condition = model.conditions[index - model.constraint_count];
    tie = {condition.text, condition.line, {}, {}, {}};
  }
  return tie;
}

// `v[1]`, `T`: what a plan chooses, by the names it has inside the plan.
std::vector<std::string> chosen_names(const tactus_model& whole, const tactus_plan& plan) {
  std::vector<std::string> names;
  const std::string prefix = std::string(plan.name) + ".";
  for (std::uint32_t k = plan.first_chosen; k < plan.first_chosen + plan.chosen_count; ++k) {
    if (whole.state_names == nullptr || whole.plan_places[k] >= whole.state_count) return {};  // a table filled by hand
    std::string_view name = whole.state_names[whole.plan_places[k]];
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    names.emplace_back(name);
  }
  return names;
}

// " for `v`, `T`": each vector once.
std::string print_chosen(const std::vector<std::string>& names) {
  std::string text;
  std::string last;
  for (const std::string& name : names) {
    const std::string whole = name.substr(0, name.find('['));
    if (whole != last) text += fmt::format("{}`{}`", text.empty() ? " for " : ", ", whole);
    last = whole;
  }
  return text;
}

// How near a search that found nothing came. In real time the search was made in a copy, and nothing is known here.
std::string nearest_plan(const tactus_model& whole, const tactus_instance& instance, const tactus_plan& plan,
                         const std::vector<std::string>& names) {
  if (instance.plans_wait) return "";
  const double* values = tk_nearest_plan(&whole, &instance);
  const double* left = values + tk_most_chosen(&whole);
  if (!std::all_of(left, left + plan.chosen_count, [](double value) { return std::isfinite(value); }))
    return "\n  with the values it begins with, the motion does not get as far as all targets, or one of them is not a "
           "finite "
           "number there";
  std::vector<NamedValue> nearest;
  for (std::size_t i = 0; i < names.size(); ++i) nearest.push_back({names[i], values[i]});
  std::string off;
  for (std::uint32_t i = 0; i < plan.chosen_count; ++i) off += fmt::format("{}{:.3g}", i == 0 ? "" : ", ", left[i]);
  return fmt::format("\n  nearest: {}; the targets, in their order, are then off by {}",
                     list_values(nearest, values_shown), off);
}

// "`ball.Rolling`, `clock.Stopped`"; empty without modes.
std::string modes_of(const tactus_model& model, const tactus_instance& instance) {
  const double* discrete = tactus_data_const(&instance) + model.layout.discrete;
  std::string text;
  for (std::uint32_t i = 0; i < model.automaton_count; ++i) {
    const tactus_automaton& automaton = model.automata[i];
    text += fmt::format("{}`{}.{}`", i == 0 ? "" : ", ", automaton.name,
                        automaton.modes[static_cast<std::uint32_t>(discrete[automaton.slot])]);
  }
  return text;
}

std::vector<NamedValue> states_of(const tactus_model& model, const tactus_instance& instance) {
  std::vector<NamedValue> states;
  const double* data = tactus_data_const(&instance);
  for (std::uint32_t i = 0; i < model.state_count; ++i)
    states.push_back({model.state_names[i], data[model.layout.states + i]});
  return states;
}

}  // namespace

const char* status_name(tactus_status status) {
  switch (status) {
    case TACTUS_OK:
      return "ok";
    case TACTUS_NOT_FINITE:
      return "not_finite";
    case TACTUS_DIVERGED:
      return "diverged";
    case TACTUS_SINGULAR:
      return "singular";
    case TACTUS_STEP_TOO_SMALL:
      return "step_too_small";
    case TACTUS_ENDLESS_EVENTS:
      return "endless_events";
    case TACTUS_OFF_CONSTRAINTS:
      return "off_constraints";
    case TACTUS_NO_START:
      return "no_start";
    case TACTUS_NO_SOLVER:
      return "no_solver";
    case TACTUS_BREACHED:
      return "breached";
    case TACTUS_STOPPED:
      return "stopped";
    case TACTUS_CONFLICT:
      return "conflict";
    case TACTUS_OFF_ENTRY:
      return "off_entry";
    case TACTUS_NO_PLAN:
      return "no_plan";
    case TACTUS_NOT_LOCATED:
      return "not_located";
  }
  return "unknown";
}

namespace {

// Tables that write down which events happen, and give up after a few dozen.
class Listening {
 public:
  explicit Listening(const tactus_model& whole) : whole_(whole), parts_(std::max(1u, whole.structure_count)) {
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const tactus_model* inner = whole.structure_count > 0 ? whole.structures[k] : &whole;
      parts_[k] = {*inner, inner, this};
      parts_[k].table.max_transitions = most;
      if (inner->fire) parts_[k].table.fire = fire;
      tables_.push_back(&parts_[k].table);
    }
    whole_.structures = tables_.data();
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  const tactus_model* table() const { return whole_.structure_count > 0 ? &whole_ : tables_.front(); }
  const std::vector<std::uint32_t>& fired() const { return fired_; }

 private:
  static constexpr std::uint32_t most = 64;
  struct Part {
    tactus_model table;  // first: what `fire` is given is its address
    const tactus_model* inner;
    Listening* all;
  };
  static int fire(const tactus_model* model, tactus_instance* instance, std::uint32_t event) {
    const auto* part = reinterpret_cast<const Part*>(model);
    const std::uint32_t kind = model->events[event].kind;
    const bool is_told = kind != TACTUS_AFTER && kind != TACTUS_CHECK && kind != TACTUS_CHOOSE;
    if (is_told && instance->is_planning == 0) part->all->fired_.push_back(event);
    return part->inner->fire(part->inner, instance, event);
  }

  tactus_model whole_;
  std::vector<Part> parts_;
  std::vector<const tactus_model*> tables_;
  std::vector<std::uint32_t> fired_;
};

// Whether the jump leaves all as it is.
bool changes_nothing(const tactus_model& whole, const tactus_instance& instance, std::uint32_t event) {
  const std::size_t bytes = tactus_instance_bytes(&whole);
  std::vector<double> memory(bytes / sizeof(double) + 1);
  std::memcpy(memory.data(), &instance, bytes);
  auto* again = reinterpret_cast<tactus_instance*>(memory.data());
  const tactus_model* model = tk_active(&whole, again);
  again->is_planning = 1;  // it is tried out: nobody is told
  if (!model->fire || model->fire(model, again, event) != TACTUS_OK) return false;
  const auto is_same = [&](std::uint32_t from, std::uint32_t count) {
    const double* before = tactus_data_const(&instance) + from;
    return std::equal(before, before + count, tactus_data_const(again) + from);
  };
  return is_same(model->layout.states, model->state_count) && is_same(model->layout.discrete, model->discrete_count);
}

// The events that follow one another for ever at this instant, each once, beginning with that which stands first in the text: found by
// going on for a while with a copy of the Instance. Empty where they do not repeat.
std::vector<std::uint32_t> endless_chain(const tactus_model& whole, const tactus_instance& instance) {
  const std::size_t bytes = tactus_instance_bytes(&whole);
  std::vector<double> memory(bytes / sizeof(double) + 1);
  std::memcpy(memory.data(), &instance, bytes);
  auto* again = reinterpret_cast<tactus_instance*>(memory.data());
  again->is_crossed = 1;
  again->plans_wait = 1;
  const Listening listening(whole);
  (void)tk_fire(listening.table(), again);
  const std::vector<std::uint32_t>& fired = listening.fired();
  for (std::size_t period = 1; 3 * period <= fired.size(); ++period) {
    bool repeats = true;
    for (std::size_t i = fired.size() - 2 * period; i < fired.size() && repeats; ++i)
      repeats = fired[i] == fired[i - period];
    if (!repeats) continue;
    std::vector<std::uint32_t> chain(fired.end() - static_cast<std::ptrdiff_t>(period), fired.end());
    std::rotate(chain.begin(), std::min_element(chain.begin(), chain.end()), chain.end());
    return chain;
  }
  return {};
}

}  // namespace

Failure describe_failure(const tactus_model& whole, const tactus_instance& instance, tactus_status status,
                         bool starting) {
  const tactus_model& model = *tk_active(&whole, &instance);
  constexpr std::size_t text_shown = 400;
  Failure failure;
  failure.status = status;
  failure.kind = status_name(status);
  failure.time = instance.time;
  const double* data = tactus_data_const(&instance);
  failure.states = states_of(model, instance);

  std::string when =
      starting ? fmt::format("at the start, t = {}", instance.time) : fmt::format("at t = {}", instance.time);
  bool has_block = instance.failed_block >= 0 && static_cast<std::uint32_t>(instance.failed_block) < model.block_count;
  bool has_state = instance.failed_index >= 0 && static_cast<std::uint32_t>(instance.failed_index) < model.state_count;
  std::string state = has_state ? model.state_names[instance.failed_index] : "";

  if (has_block && (status == TACTUS_DIVERGED || status == TACTUS_SINGULAR || status == TACTUS_NOT_FINITE)) {
    const tactus_block& block = model.blocks[instance.failed_block];
    failure.equations = block.equations;
    failure.line = block.line;
    auto names = split(block.unknowns);
    if (block.warm != UINT32_MAX) {
      for (std::uint32_t i = 0; i < block.count && i < names.size(); ++i)
        failure.unknowns.push_back({names[i], data[model.layout.warm + block.warm + i]});
    }
    std::string place = block.line ? fmt::format(" (line {})", block.line) : "";
    std::string unknowns = shorten(block.unknowns, text_shown);
    for (std::size_t at = 0; (at = unknowns.find("; ", at)) != std::string::npos;) unknowns.replace(at, 2, ", ");
    if (status == TACTUS_SINGULAR) {
      failure.text = fmt::format("{}, the equations{} do not determine {}: their matrix is singular\n  {}", when, place,
                                 unknowns, shorten(block.equations, text_shown));
      failure.hint = "two of them may have become the same there, or a factor zero";
    } else {
      failure.text = fmt::format("{}, no solution was found for {} in the equations{}\n  {}", when, unknowns, place,
                                 shorten(block.equations, text_shown));
      std::string first = names.empty() ? "x" : names.front();
      failure.hint =
          first.starts_with("next(")
              ? "there may be no solution there; the search begins with the values before the jump: equations that are "
                "linear in what is asked for need none"
              : fmt::format(
                    "there may be no solution there; or give a better first guess: `boundary {0} with {0}(0) ~ 1;`",
                    first.substr(0, first.find('[')));
    }
    if (!failure.unknowns.empty())
      failure.text += "\n  the search stopped with " + list_values(failure.unknowns, values_shown);
  } else if (status == TACTUS_STEP_TOO_SMALL) {
    failure.text = fmt::format("{}, the step shrank to nothing{}: no step is short enough for the tolerance", when,
                               has_state ? fmt::format(" because of {}", state) : "");
    failure.hint =
        "the solution may grow without bound there, or jump; a larger --tolerance or a fixed --step may pass it";
  } else if (status == TACTUS_ENDLESS_EVENTS) {
    const auto index = static_cast<std::uint32_t>(instance.failed_index);
    const bool has_index = instance.failed_index >= 0;
    const tactus_event* event = has_index && index < model.event_count ? &model.events[index] : nullptr;
    const bool has_relation = has_index && !event && index - model.event_count < model.relation_count;
    const tactus_relation* relation = has_relation ? &model.relations[index - model.event_count] : nullptr;
    if (relation && relation->kind == TACTUS_TRUTH && relation->source > 0) {  // the guard of an event
      event = &model.events[relation->source - 1];
      relation = nullptr;
    }
    failure.line = event ? event->line : relation ? relation->line : 0;
    std::string place = failure.line ? fmt::format(" (line {})", failure.line) : "";
    if (relation) {
      failure.text = fmt::format(
          "{}, a comparison{} changes to and fro without end and time stands still: each side drives the motion to the "
          "other",
          when, place);
      failure.hint =
          "let it change in two thresholds instead of one, or steeply instead of at once: `clamp(v / 0.001, -1, 1)` "
          "for "
          "`sign(v)`; `smooth(..)` around it switches at the ends of steps only";
    } else {
      std::string which = fmt::format("{}{} is one of them", event ? fmt::format("`{}`", event->name) : "one", place);
      if (const std::vector<std::uint32_t> chain = endless_chain(whole, instance); !chain.empty()) {
        which.clear();
        for (const std::uint32_t e : chain)
          which += fmt::format("`{}` (line {}) -> ", model.events[e].name, model.events[e].line);
        which += fmt::format("`{}`", model.events[chain.front()].name);
        failure.line = model.events[chain.front()].line;
      }
      failure.text = fmt::format("{}, events follow one another without end and time stands still: {}", when, which);
      failure.hint =
          "let what an event changes keep its condition false for a while, such as by two thresholds instead of one; a "
          "longer chain that does end needs `simulation max_transitions = ..`";
      const bool is_jump = event && event->kind == TACTUS_TRANSITION;
      if (is_jump && changes_nothing(whole, instance, static_cast<std::uint32_t>(event - model.events))) {
        failure.text += fmt::format("; `{}` leaves everything as it is", event->name);
        failure.hint =
            "its equations hold already for the values before it, from which the search begins, as a balance of energy "
            "does: "
            "use one that only the values after it meet, such as `next(v) - next(w) = -(v - w)` for the speeds of an "
            "elastic "
            "impact";
      }
    }
    const auto ties = static_cast<std::uint32_t>(instance.tie_count);
    if (ties >= tk_most_ties(&model) && ties < model.relation_count) {
      failure.text += fmt::format("; the motion already keeps to {} surfaces", instance.tie_count);
      failure.hint = fmt::format("it can rest on, or slide along, at most {} surfaces at once; {}", instance.tie_count,
                                 failure.hint);
    }
  } else if (status == TACTUS_OFF_CONSTRAINTS || status == TACTUS_NO_START) {
    const Tie tie = tie_of(model, instance.failed_index);
    failure.line = tie.line;
    failure.equations = tie.text;
    const std::string place = tie.line ? fmt::format(" (line {})", tie.line) : "";
    if (status == TACTUS_OFF_CONSTRAINTS) {
      failure.text = fmt::format("{}, a step left the constraint `{}`{} so far behind that it cannot be put back", when,
                                 shorten(tie.text, text_shown), place);
      failure.hint =
          "if it jumps there, the states would have to jump with it: let it change in a short time instead, such as "
          "`clamp((t - 1) / 0.01, 0, 1)`; if not, the step is too long: try a smaller --step or --tolerance";
    } else if (tie.free.empty() && !tie.given.empty()) {
      failure.text = fmt::format("{}, the starts contradict `{}`{}", when, shorten(tie.text, text_shown), place);
      failure.hint =
          fmt::format("drop the start of one of {}, and it will be found; or write `~` for `=` to make it a guess",
                      fmt::join(tie.given, ", "));
    } else {
      failure.text =
          fmt::format("{}, no start was found that satisfies `{}`{}", when, shorten(tie.text, text_shown), place);
      failure.hint =
          tie.free.empty()
              ? "there may be none; or give better guesses of the starts that are free: `boundary x with x(0) ~ 1;`"
              : fmt::format(
                    "the starts that are given may contradict each other; or give a better guess of {}: `.. ~ 1`",
                    fmt::join(tie.free, ", "));
    }
    if (status == TACTUS_NO_START && !tie.others.empty())
      failure.hint += fmt::format("; or it contradicts {}, which it shares states with", fmt::join(tie.others, ", "));
    if (starting) failure.text += "\n  the states: " + list_values(failure.states, values_shown);
  } else if (status == TACTUS_BREACHED && instance.failed_index >= 0) {
    const tactus_event& event = model.events[instance.failed_index];
    failure.line = event.line;
    failure.text = fmt::format("{}, what line {} requires does not hold: {}", when, event.line, event.name);
    failure.hint = "the rows up to here are kept; `expect` instead of `require` warns and goes on";
  } else if (status == TACTUS_CONFLICT && instance.failed_index >= 0 && instance.failed_block >= 0) {
    const tactus_event& first = model.events[instance.failed_index];
    const tactus_event& second = model.events[instance.failed_block];
    failure.line = first.line;
    failure.text = fmt::format("{}, the transitions `{}` (line {}) and `{}` (line {}) are both enabled and disagree",
                               when, first.name, first.line, second.name, second.line);
    failure.hint = "let their guards exclude each other: `tactus check` shows where both hold";
  } else if (status == TACTUS_NO_PLAN && instance.failed_index >= 0 &&
             tk_plan_of(&whole, static_cast<std::uint32_t>(instance.failed_index)) >= 0) {
    const tactus_event& event = model.events[instance.failed_index];
    failure.line = event.line;
    const tactus_plan& plan = whole.plans[tk_plan_of(&whole, static_cast<std::uint32_t>(instance.failed_index))];
    const std::vector<std::string> names = chosen_names(whole, plan);
    failure.text = fmt::format("{}, the plan `{}` (line {}) found no values{} with which its targets are reached", when,
                               event.name, event.line, print_chosen(names));
    failure.text += nearest_plan(whole, instance, plan, names);
    failure.hint =
        "begin the search nearer to a solution: the values behind `choose` are where it begins; or say what happens "
        "then: `else { .. }`, and the run goes on";
  } else if (status == TACTUS_OFF_ENTRY) {
    const Tie tie = tie_of(model, instance.failed_index);
    const char* name = instance.failed_block >= 0 ? model.events[instance.failed_block].name : "a jump";
    failure.line = tie.line;
    failure.equations = tie.text;
    failure.text =
        fmt::format("{}, `{}` leads to where `{}`{} does not hold, and that must hold in the mode it enters", when,
                    name, shorten(tie.text, text_shown), tie.line ? fmt::format(" (line {})", tie.line) : "");
    failure.hint =
        "`enforce velocities;` in the jump lets impulses of the constraint's force make it hold; `enforce positions;` "
        "moves "
        "the states there; or say what they are, `next(..) = ..;`";
  } else if (status == TACTUS_NOT_LOCATED) {
    const std::int64_t index = instance.failed_index - static_cast<std::int64_t>(model.event_count);
    failure.line = index >= 0 && index < model.relation_count ? model.relations[index].line : 0;
    failure.text = fmt::format("{}, where a comparison{} changes was not found in {} trials", when,
                               failure.line ? fmt::format(" (line {})", failure.line) : "", model.location_steps);
    failure.hint = "it may jump there; allow more trials, or ask for less precision";
  } else if (status == TACTUS_NO_SOLVER) {
    failure.text = fmt::format(
        "{}, the solver asks for the model's Jacobian or its energy, and this table has neither or no room", when);
    failure.hint = "take an explicit solver: --solver tsit5";
  } else if (status == TACTUS_NOT_FINITE) {
    failure.text = has_state
                       ? fmt::format("{}, {} {} a finite number", when, state, starting ? "is not" : "ceased to be")
                       : fmt::format("{}, a value {} a finite number", when, starting ? "is not" : "ceased to be");
    failure.hint =
        starting ? "look at its boundary condition: a division by zero, or a root or logarithm of a negative number?"
                 : "the step may be too long for this model: try a smaller --step, or --solver tsit5";
  } else if (status == TACTUS_DIVERGED || status == TACTUS_SINGULAR) {
    failure.text = fmt::format("{}, the equations of an implicit step were not solved", when);
    failure.hint =
        "a kink or a stiff contact inside the step, as a rule: try a smaller --step, or --solver discrete_gradient or "
        "passive";
  } else {
    failure.text = fmt::format("{}, the run failed ({})", when, status_name(status));
  }
  if (const std::string modes = modes_of(whole, instance); !modes.empty()) failure.text += "\n  in " + modes;
  if (!failure.states.empty() && !starting)
    failure.text += "\n  the state then: " + list_values(failure.states, values_shown);
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
  if (duration > 0 && std::isfinite(duration)) {
    failure.text = fmt::format("in model `{}`, a delay of {} is shorter than the step of {}: its past is not known yet",
                               model.name, duration, step);
    failure.hint = fmt::format("take --step {} or shorter, or an adaptive solver: --solver tsit5", duration);
  } else {
    failure.text = fmt::format("in model `{}`, a delay lasts {}: it must be positive", model.name, duration);
    failure.hint = "look at the second argument of `delay`, and the parameters in it";
  }
  return failure;
}

}  // namespace sim
