#include "compiler/structure/start.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/check.h"
#include "compiler/structure/diagnostics.h"
#include "compiler/structure/incidence.h"
#include "compiler/structure/matching.h"
#include "compiler/structure/names.h"
#include "compiler/symbolic/symbolic.h"

namespace structure {
namespace {

using expr::Op;
using flat::Equation;

// How a state starts: a value or a guess for it, and what may change it.
struct Start {
  StartKind kind = StartKind::assumed;
  ExprId value{};
  base::Span span{};
  bool is_guess = false;
};

constexpr Text zero_assumed = "0 is assumed";
constexpr Text nearest_assumed = "0 is assumed, or the nearest to it that the equations allow";

enum class Reach { now, since_start };

class Starts {
 public:
  Starts(flat::Model& model, const Draft& draft, Sorted& sorted, diag::Sink& diags)
      : model_(model), pool_(model.pool), draft_(draft), sorted_(sorted), diags_(diags) {}

  void sort() {
    System& start = sorted_.start;
    start.unknowns = sorted_.motion.unknowns;
    // Before the start all was as it is there.
    symbolic::Substitution past(pool_, [&](ExprId leaf) {
      if (pool_[leaf].op != Op::delayed) return ExprId();
      const flat::Delay& delay = model_.delays[pool_[leaf].index];
      if (delay.is_rate) return pool_.constant(0);
      const ExprId source = pool_.variable(delay.source.value, delay.order);
      const ExprId number = draft_.constants.of(pool_, source);
      return number.valid() ? number : source;
    });
    for (Equation equation : sorted_.motion.equations) {
      equation.left = past(equation.left);
      equation.right = past(equation.right);
      start.equations.push_back(equation);
    }
    for (ExprId state : sorted_.states) start.unknowns.push_back(state);
    const std::unordered_map<ExprId, Start> starts = collect_starts(past);
    if (!knows_what_is_read(starts)) return;
    for (ExprId state : sorted_.states) {
      const Start& found = starts.at(state);
      start.equations.push_back({state, found.value, found.span, 0});
      sorted_.start_kinds.push_back(found.kind);
    }
    auto rows = incidence(pool_, start);
    Matching matching = match(rows, static_cast<std::uint32_t>(start.unknowns.size()));
    // The motion has a matching, and every state stands alone on the left of its own start; but what a delay gives, or
    // its rate, may be all that an unknown is multiplied by.
    const auto left_over = std::find(matching.equation_of.begin(), matching.equation_of.end(), unmatched);
    if (left_over != matching.equation_of.end()) {
      const ExprId leaf = start.unknowns[static_cast<std::size_t>(left_over - matching.equation_of.begin())];
      diags_
          .report(model_.variables[flat::VariableId(pool_[leaf].index)].span, start_undetermined,
                  whole_name(leaf_name(model_, leaf)))
          .hint("before the start all was as it is there: what a delay gives is its source, and the rate of that is 0");
      return;
    }
    sort_blocks(start, rows, matching);
  }

 private:
  // A start may read a name that stands in equations of other modes only.
  bool knows_what_is_read(const std::unordered_map<ExprId, Start>& starts) {
    const std::set<ExprId> known(sorted_.start.unknowns.begin(), sorted_.start.unknowns.end());
    const auto is_known = [&](ExprId value, base::Span span) {
      for (ExprId leaf : symbolic::leaves(pool_, value, Op::variable)) {
        if (known.contains(leaf)) continue;
        diags_.report(span, start_undetermined, whole_name(leaf_name(model_, leaf)))
            .hint("it exists in other modes than those of the start");
        return false;
      }
      return true;
    };
    for (ExprId state : sorted_.states) {
      if (!is_known(starts.at(state).value, starts.at(state).span)) return false;
    }
    return std::all_of(sorted_.conditions.begin(), sorted_.conditions.end(),
                       [&](const Condition& condition) { return is_known(condition.value, condition.span); });
  }

  std::unordered_map<ExprId, Start> collect_starts(symbolic::Substitution& past) {
    std::unordered_map<ExprId, Start> starts;
    const std::set<ExprId> states(sorted_.states.begin(), sorted_.states.end());
    const std::set<ExprId> unknowns(sorted_.motion.unknowns.begin(), sorted_.motion.unknowns.end());
    std::set<std::uint32_t> said;
    std::vector<flat::Condition> of_no_state;
    for (const flat::Condition& condition : draft_.starts) {
      const ExprId leaf = pool_.variable(condition.variable.value, condition.order);
      if (!states.contains(leaf)) {
        if (condition.guess) {
          sorted_.guesses[leaf] = past(condition.value);
        } else if (unknowns.contains(leaf)) {
          of_no_state.push_back(condition);
        } else if (!says_what_is_known(condition) && said.insert(condition.span.begin).second) {
          report_start_of_no_state(condition, {});
        }
        continue;
      }
      auto [first, fresh] = starts.emplace(leaf, Start{condition.guess ? StartKind::free : StartKind::given,
                                                       past(condition.value), condition.span, condition.guess});
      if (!fresh && said.insert(condition.span.begin).second) {
        diags_.report(condition.span, start_given_twice, whole_name(leaf_name(model_, leaf)))
            .related(first->second.span, "first here")
            .hint("drop one of the two");
      }
    }
    for (ExprId state : sorted_.states) {
      if (starts.contains(state)) continue;
      starts[state] = {StartKind::free, pool_.constant(0), model_.variables[flat::VariableId(pool_[state].index)].span,
                       false};
    }
    free_what_reads_free(starts);
    find_determined(starts, of_no_state, past);
    return starts;
  }

  // B(0) = (1, 2, 0), where B[3] = 0 at all times.
  bool says_what_is_known(const flat::Condition& condition) {
    const ExprId known = draft_.constants.of(pool_, pool_.variable(condition.variable.value, condition.order));
    return known.valid() && known == condition.value;
  }

  void report_start_of_no_state(const flat::Condition& condition, const std::unordered_map<ExprId, Start>& starts) {
    auto report = diags_.report(
        condition.span, start_of_no_state,
        whole_name(flat::primed(whole_name(variable_name(model_, condition.variable.value)), condition.order)));
    const auto behind = states_behind({pool_.variable(condition.variable.value, condition.order)});
    std::string given;
    for (ExprId state : sorted_.states) {
      auto start = starts.find(state);
      if (start == starts.end() || start->second.kind != StartKind::given) continue;
      if (std::find(behind.begin(), behind.end(), state) == behind.end()) continue;
      const std::string name = fmt::format(
          "`{}({})`", flat::primed(whole_name(variable_name(model_, pool_[state].index)), pool_[state].order),
          expr::print_number(model_.settings.starting_time));
      if (given.find(name) == std::string::npos) given += (given.empty() ? "" : ", ") + name;
    }
    if (given.empty()) {
      report.hint("drop it; or write `~` for `=` to give a first guess of it");
    } else {
      report.hint("drop it, or one of the starts that it follows from, which is then found: {}", given);
    }
  }

  // The states that an expression depends on, by way of whatever the motion works out from them; or whose starts it
  // depends on.
  std::vector<ExprId> states_behind(const std::vector<ExprId>& roots, Reach reach = Reach::now) {
    if (block_of_.empty()) {
      for (std::uint32_t b = 0; b < sorted_.motion.blocks.size(); ++b) {
        for (std::uint32_t u : sorted_.motion.blocks[b].unknowns) block_of_[sorted_.motion.unknowns[u]] = b;
      }
    }
    if (reach == Reach::since_start && rate_of_.empty()) {
      for (std::size_t i = 0; i < sorted_.states.size(); ++i) rate_of_[sorted_.states[i]] = sorted_.state_rates[i];
    }
    std::set<ExprId> handled;
    std::vector<ExprId> found;
    std::set<ExprId> seen;
    std::vector<ExprId> open = roots;
    while (!open.empty()) {
      const ExprId e = open.back();
      open.pop_back();
      if (reach == Reach::since_start) {
        for (ExprId leaf : symbolic::leaves(pool_, e, Op::discrete)) {
          if (handled.insert(leaf).second) add_handlers(pool_[leaf].index, open);
        }
      }
      for (ExprId leaf : symbolic::leaves(pool_, e, Op::variable)) {
        if (!seen.insert(leaf).second) continue;
        auto block = block_of_.find(leaf);
        if (block == block_of_.end()) {
          found.push_back(leaf);
          if (auto rate = rate_of_.find(leaf); reach == Reach::since_start && rate != rate_of_.end())
            open.push_back(rate->second);
          continue;
        }
        for (std::uint32_t u : sorted_.motion.blocks[block->second].unknowns) seen.insert(sorted_.motion.unknowns[u]);
        for (std::uint32_t i : sorted_.motion.blocks[block->second].equations) {
          open.push_back(sorted_.motion.equations[i].left);
          open.push_back(sorted_.motion.equations[i].right);
        }
      }
    }
    return found;
  }

  // What events give a discrete value, and what makes them happen.
  void add_handlers(std::uint32_t discrete, std::vector<ExprId>& open) {
    for (const flat::Event& event : model_.events) {
      for (const flat::Update& update : event.updates) {
        if (update.discrete != discrete) continue;
        open.push_back(pool_.variable(update.value.value, 0));
        if (event.condition.valid()) open.push_back(pool_.variable(event.condition.value, 0));
      }
    }
  }

  // x(0) = 2 * y(0), where y is to be found: then x is, too.
  void free_what_reads_free(std::unordered_map<ExprId, Start>& starts) {
    if (draft_.constraints.empty() && draft_.later.empty()) return;
    bool has_changed = true;
    while (has_changed) {
      has_changed = false;
      for (ExprId state : sorted_.states) {
        Start& start = starts[state];
        if (start.kind != StartKind::given) continue;
        const auto behind = states_behind({start.value});
        if (std::none_of(behind.begin(), behind.end(),
                         [&](ExprId other) { return starts[other].kind != StartKind::given; }))
          continue;
        sorted_.conditions.push_back({state, start.value, start.span, model_.settings.starting_time});
        start.kind = StartKind::free;
        start.is_guess = true;
        has_changed = true;
      }
    }
  }

  // Free states that constraints and conditions, of whatever time, have a say in; the others keep 0 as far as they can,
  // with a warning. Conditions that have no say in anything are reported.
  void find_determined(std::unordered_map<ExprId, Start>& starts, const std::vector<flat::Condition>& of_no_state,
                       symbolic::Substitution& past) {
    std::unordered_map<ExprId, std::uint32_t> column;
    std::vector<ExprId> free;
    for (ExprId state : sorted_.states) {
      if (starts[state].kind != StartKind::free) continue;
      column.emplace(state, static_cast<std::uint32_t>(free.size()));
      free.push_back(state);
    }
    Rows rows;
    const auto add_row = [&](const std::vector<ExprId>& roots, Reach reach = Reach::now) {
      std::vector<std::uint32_t> row;
      for (ExprId state : states_behind(roots, reach)) {
        if (auto found = column.find(state); found != column.end()) row.push_back(found->second);
      }
      rows.push_back(std::move(row));
    };
    for (const Equation& constraint : draft_.constraints) add_row({constraint.left, constraint.right});
    for (const Condition& condition : sorted_.conditions) add_row({condition.leaf, condition.value});
    const std::size_t certain = rows.size();
    for (const flat::Condition& condition : of_no_state)
      add_row({pool_.variable(condition.variable.value, condition.order), past(condition.value)});
    for (const flat::Condition& condition : draft_.later)
      add_row({pool_.variable(condition.variable.value, condition.order), condition.value}, Reach::since_start);
    std::vector<bool> is_tied(free.size());
    for (const std::vector<std::uint32_t>& row : rows) {
      for (std::uint32_t k : row) is_tied[k] = true;
    }
    const Matching matching = match(rows, static_cast<std::uint32_t>(free.size()));
    std::set<std::uint32_t> said;
    for (std::size_t i = 0; i < of_no_state.size(); ++i) {
      const flat::Condition& condition = of_no_state[i];
      if (matching.unknown_of[certain + i] == unmatched && !is_part_of_a_start(condition)) {
        if (said.insert(condition.span.begin).second) report_start_of_no_state(condition, starts);
        continue;
      }
      sorted_.conditions.push_back({pool_.variable(condition.variable.value, condition.order), past(condition.value),
                                    condition.span, model_.settings.starting_time});
    }
    for (std::size_t i = 0; i < draft_.later.size(); ++i) {
      const flat::Condition& condition = draft_.later[i];
      const ExprId leaf = pool_.variable(condition.variable.value, condition.order);
      if (matching.unknown_of[certain + of_no_state.size() + i] != unmatched) {
        sorted_.conditions.push_back({leaf, condition.value, condition.span, *condition.later});
      } else if (!says_what_is_known(condition) && said.insert(condition.span.begin).second) {
        report_too_many(condition, starts);
      }
    }
    std::set<std::string> missing;
    for (std::uint32_t k = 0; k < free.size(); ++k) {
      if (matching.equation_of[k] != unmatched) continue;
      Start& start = starts[free[k]];
      start.kind = StartKind::assumed;
      if (start.is_guess) continue;
      std::string name = flat::primed(whole_name(variable_name(model_, pool_[free[k]].index)), pool_[free[k]].order);
      if (!missing.insert(name).second) continue;
      auto report = diags_.report(start.span, start_missing, name, is_tied[k] ? nearest_assumed : zero_assumed);
      report.hint("write `{}({}) = ..` under `boundary`", name, expr::print_number(model_.settings.starting_time));
      if (!draft_.later.empty())
        report.hint("or ask for one more value at another time: `{}({}) = ..`", name,
                    expr::print_number(*draft_.later.front().later));
    }
  }

  // y(0) = (..), some components of which are states and some follow from them, as a table of published values is
  // written: the run holds these to what they are, and fails when they are not.
  bool is_part_of_a_start(const flat::Condition& condition) {
    const std::set<ExprId> states(sorted_.states.begin(), sorted_.states.end());
    return std::any_of(draft_.starts.begin(), draft_.starts.end(), [&](const flat::Condition& other) {
      return other.span.file == condition.span.file && other.span.begin == condition.span.begin &&
             states.contains(pool_.variable(other.variable.value, other.order));
    });
  }

  // A condition at another time that no start is left for.
  void report_too_many(const flat::Condition& condition, std::unordered_map<ExprId, Start>& starts) {
    const std::string name = flat::primed(whole_name(variable_name(model_, condition.variable.value)), condition.order);
    auto report = diags_.report(condition.span, too_many_conditions, name, expr::print_number(*condition.later));
    std::vector<std::string> given;
    std::set<std::uint32_t> said;
    for (ExprId state : sorted_.states) {  // in the order of the source
      if (starts[state].kind != StartKind::given || given.size() == 4) continue;
      const auto behind = states_behind({pool_.variable(condition.variable.value, condition.order), condition.value},
                                        Reach::since_start);
      if (std::find(behind.begin(), behind.end(), state) == behind.end()) continue;
      const std::string of = flat::primed(whole_name(variable_name(model_, pool_[state].index)), pool_[state].order);
      if (std::find(given.begin(), given.end(), of) != given.end()) continue;
      given.push_back(of);
      if (said.insert(starts[state].span.begin).second) report.related(starts[state].span, "this start is given");
    }
    if (given.empty()) {
      report.hint("drop it, or another condition");
    } else {
      const std::string start = expr::print_number(model_.settings.starting_time);
      report.hint("drop it; or write `~` for `=` in `{}({})`{}, which is then a guess", given.front(), start,
                  given.size() > 1 ? " or another of these" : "");
    }
  }

  flat::Model& model_;
  expr::Pool& pool_;
  const Draft& draft_;
  Sorted& sorted_;
  diag::Sink& diags_;
  std::unordered_map<ExprId, std::uint32_t> block_of_;  // of each unknown of the motion, once it is asked for
  std::unordered_map<ExprId, ExprId> rate_of_;          // of each state, once it is asked for
};

}  // namespace

void sort_start(flat::Model& model, const Draft& draft, Sorted& sorted, diag::Sink& diags) {
  Starts(model, draft, sorted, diags).sort();
}

void refuse_delays_with_later_conditions(const flat::Model& model, const Draft& draft, diag::Sink& diags) {
  if (draft.later.empty() || model.delays.empty()) return;
  diags.report(draft.later.front().span, later_with_delay)
      .related(model.delays.front().span, "the delay")
      .hint("give starts only, and find the one that fits by --set; or take the delay out");
}

}  // namespace structure
