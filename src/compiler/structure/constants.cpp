#include "compiler/structure/constants.h"

#include <deque>
#include <set>

#include "compiler/expr/budget.h"
#include "compiler/flat/delay_memory.h"
#include "compiler/structure/diagnostics.h"
#include "compiler/structure/names.h"
#include "compiler/symbolic/symbolic.h"

namespace structure {

using expr::Op;
using flat::Equation;

namespace {

// With modes: names that start somewhere and whose derivatives stand in equations. That such a one is a number in this
// structure is a constraint on what moves in another.
std::set<std::uint32_t> moving_names(const flat::Model& model, const std::vector<flat::Condition>& starts) {
  std::set<std::uint32_t> names;
  if (model.automata.empty()) return names;
  std::set<std::uint32_t> started;
  for (const flat::Condition& start : starts) {
    if (!start.guess) started.insert(start.variable.value);
  }
  for (const Equation& equation : model.equations) {
    for (ExprId side : {equation.left, equation.right}) {
      for (ExprId leaf : symbolic::leaves(model.pool, side, Op::variable)) {
        if (model.pool[leaf].order > 0 && started.contains(model.pool[leaf].index))
          names.insert(model.pool[leaf].index);
      }
    }
  }
  return names;
}

// A sample is a time and a value.
void report_memory(const flat::Model& model, diag::Sink& diags) {
  std::size_t samples = 0;
  for (const flat::Delay& delay : model.delays) samples += flat::delay_capacity(model, delay.duration);
  if (2 * samples <= expr::most_remembered) return;
  diags.report(model.delays.back().span, memory_too_large, model.delays.size(), samples, expr::most_remembered / 2)
      .hint("they would take {} MB; a longer `step_size`, shorter delays or fewer of them take less",
            16 * samples / 1'000'000);
}

}  // namespace

Draft fold_constants(flat::Model& model, std::vector<Override>& overrides) {
  expr::Pool& pool = model.pool;
  Draft draft;
  for (const flat::Condition& condition : model.conditions)
    (condition.later ? draft.later : draft.starts).push_back(condition);
  struct Candidate {
    std::size_t equation = 0;
    std::uint32_t variable = 0;
    ExprId value{};
    std::size_t open = 0;  // variables in the value that are not known to be constant
  };
  const std::vector<Equation> equations(model.equations.begin(), model.equations.end());
  const std::size_t count = equations.size();
  const std::set<std::uint32_t> constrained = moving_names(model, draft.starts);
  std::vector<Candidate> candidates;  // v = e, read from the left and from the right
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> readers;
  std::deque<std::size_t> ready;
  for (std::size_t i = 0; i < count; ++i) {
    for (bool from_left : {true, false}) {
      ExprId bare = from_left ? equations[i].left : equations[i].right;
      ExprId value = from_left ? equations[i].right : equations[i].left;
      if (!is_bare(pool, bare) || constrained.contains(pool[bare].index)) continue;
      auto read = symbolic::leaves(pool, value, Op::variable);
      for (ExprId leaf : read) readers[pool[leaf].index].push_back(candidates.size());
      if (read.empty()) ready.push_back(candidates.size());
      candidates.push_back({i, pool[bare].index, value, read.size()});
    }
  }
  std::vector<bool> used(count);
  symbolic::Substitution known(pool, [&](ExprId leaf) { return draft.constants.of(pool, leaf); });
  while (!ready.empty()) {
    const Candidate candidate = candidates[ready.front()];
    ready.pop_front();
    const std::size_t i = candidate.equation;
    if (used[i] || draft.constants.numbers.contains(candidate.variable)) continue;
    ExprId value = known(candidate.value);
    if (!pool.is_constant(value)) continue;
    double number = pool[value].number;
    for (auto at = overrides.begin(); at != overrides.end(); ++at) {
      if (at->name == variable_name(model, candidate.variable)) {
        number = at->value;
        overrides.erase(at);
        break;
      }
    }
    draft.constants.numbers[candidate.variable] = number;
    draft.constants.spans[candidate.variable] = equations[i].span;
    used[i] = true;
    for (std::size_t reader : readers[candidate.variable]) {
      if (--candidates[reader].open == 0) ready.push_back(reader);
    }
  }
  // Of a memory, v' = 0, the derivatives are 0 wherever else they stand; that equation is kept, for it makes v a state.
  std::vector<bool> says_memory(count);
  for (std::size_t i = 0; i < count; ++i) {
    const expr::Node left = pool[equations[i].left];  // known() makes nodes
    if (used[i] || left.op != Op::variable || left.order != 1 || !pool.is_constant(known(equations[i].right), 0))
      continue;
    says_memory[i] = draft.constants.memories.insert(left.index).second;
  }
  symbolic::Substitution constants(pool, [&](ExprId leaf) { return draft.constants.of(pool, leaf); });
  for (std::size_t i = 0; i < count; ++i) {
    if (used[i]) continue;
    Equation equation = equations[i];
    if (!says_memory[i]) equation.left = constants(equation.left);
    equation.right = constants(equation.right);
    draft.equations.push_back(equation);
    draft.written.push_back({equations[i].left, equations[i].right});
  }
  draft.chain.assign(draft.equations.size(), {});
  for (flat::Condition& condition : draft.starts) condition.value = constants(condition.value);
  for (flat::Condition& condition : draft.later) condition.value = constants(condition.value);
  return draft;
}

void settle_before_the_run(flat::Model& model, const Constants& known, diag::Sink& diags) {
  expr::Pool& pool = model.pool;
  symbolic::Substitution constants(pool, [&](ExprId leaf) { return known.of(pool, leaf); });
  auto is_static = [&](ExprId e) {
    for (Op op : {Op::variable, Op::time, Op::input, Op::input_rate, Op::discrete, Op::delayed}) {
      if (!symbolic::leaves(pool, e, op).empty()) return false;
    }
    return true;
  };
  for (flat::Discrete& discrete : model.discrete) {
    for (ExprId& start : discrete.start) {
      start = constants(start);
      if (is_static(start)) continue;
      diags.report(discrete.span, start_not_static, discrete.name)
          .hint("make it of numbers, constants and parameters; a handler may read what moves");
      break;
    }
  }
  std::set<std::pair<std::uint32_t, std::uint32_t>> said;  // components of a vector share their place
  for (flat::Delay& delay : model.delays) {
    delay.duration = constants(delay.duration);
    if (said.contains({delay.span.file, delay.span.begin})) continue;
    if (model.variables[delay.source].is_absent) {
      diags.report(delay.span, undetermined, variable_name(model, delay.source.value))
          .hint("it exists in some modes only, and a delay remembers it in all of them");
      said.emplace(delay.span.file, delay.span.begin);
      continue;
    }
    if (!is_static(delay.duration)) {
      diags.report(delay.span, delay_not_static).hint("make it of numbers, constants and parameters");
      said.emplace(delay.span.file, delay.span.begin);
      continue;
    }
    // With the parameters as they are when the run begins.
    symbolic::Substitution begin(pool, [&](ExprId leaf) {
      return pool[leaf].op == Op::parameter ? pool.constant(model.parameters[pool[leaf].index].initial) : ExprId();
    });
    const ExprId duration = begin(delay.duration);
    if (pool.is_constant(duration) && !(pool[duration].number > 0)) {
      diags.report(delay.span, delay_not_positive, expr::print_number(pool[duration].number))
          .hint("it looks back: write `delay(x, 0.1)` for the value of x a tenth of a second ago");
      said.emplace(delay.span.file, delay.span.begin);
    }
  }
  report_memory(model, diags);
}

}  // namespace structure
