#include "compiler/structure/definitions.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/expr/budget.h"
#include "compiler/structure/diagnostics.h"
#include "compiler/structure/jumps.h"
#include "compiler/structure/matching.h"
#include "compiler/structure/names.h"
#include "compiler/symbolic/symbolic.h"

namespace structure {

using expr::Node;
using expr::Op;
using flat::Equation;

namespace {

bool mentions(const expr::Pool& pool, ExprId e, std::uint32_t variable) {
  auto read = symbolic::leaves(pool, e, Op::variable);
  return std::any_of(read.begin(), read.end(), [&](ExprId leaf) { return pool[leaf].index == variable; });
}

bool has_derivative(const expr::Pool& pool, ExprId e) {
  auto read = symbolic::leaves(pool, e, Op::variable);
  return std::any_of(read.begin(), read.end(), [&](ExprId leaf) { return pool[leaf].order > 0; });
}

// What a delay remembers is computed, be it a derivative that no equation mentions. Whether it is a new one.
bool want(const flat::Delay& delay, const Constants& constants, Orders& orders) {
  std::uint32_t& highest = orders.highest[delay.source.value];
  if (highest >= delay.order || constants.numbers.contains(delay.source.value)) return false;
  highest = delay.order;
  return true;
}

// Whether a variable is a function of time, inputs and parameters alone.
class Given {
 public:
  Given(const expr::Pool& pool, const std::vector<ExprId>& definition)
      : pool_(pool), definition_(definition), given_(definition.size(), unknown_yet) {}

  bool operator()(std::uint32_t variable) {
    // Depth-first, iterative: a variable is given when all that its definition reads is.
    std::vector<std::uint32_t> stack = {variable};
    while (!stack.empty()) {
      std::uint32_t v = stack.back();
      if (given_[v] == yes || given_[v] == no) {
        stack.pop_back();
        continue;
      }
      if (!definition_[v].valid()) {
        given_[v] = no;
        stack.pop_back();
        continue;
      }
      bool open = false;
      bool all = true;
      for (ExprId leaf : symbolic::leaves(pool_, definition_[v], Op::variable)) {
        std::uint32_t w = pool_[leaf].index;
        if (given_[w] == unknown_yet) {
          open = true;
          stack.push_back(w);
        } else if (given_[w] != yes) {
          all = false;  // no, or in progress: a cycle
        }
      }
      if (open && given_[v] == unknown_yet) {
        given_[v] = in_progress;
        continue;
      }
      given_[v] = all ? yes : no;
      stack.pop_back();
    }
    return given_[variable] == yes;
  }

 private:
  enum State : char { unknown_yet, in_progress, yes, no };

  const expr::Pool& pool_;
  const std::vector<ExprId>& definition_;
  std::vector<State> given_;
};

// Whether a variable is a state although an equation `x' = v` gives it: v' stands in an equation too, and nothing else
// says what x' is or gives its derivatives. Then x and v start each for itself, as in `x' = 2 * v`.
class FirstOrderForm {
 public:
  FirstOrderForm(const expr::Pool& pool, const Orders& orders) : pool_(pool), orders_(orders) {}

  bool operator()(std::uint32_t variable) const {
    // Along v = x', x = w', .. until one is no such name, or the first comes again.
    std::vector<std::uint32_t> path;
    std::set<std::uint32_t> seen;
    std::uint32_t v = variable;
    while (seen.insert(v).second && is_rate_of_another(v)) {
      path.push_back(v);
      v = pool_[orders_.definition[v]].index;
    }
    if (path.empty()) return false;
    path.push_back(v);
    return !orders_.definition[v].valid() || is_rate_of_another(v) ||
           std::any_of(path.begin() + 1, path.end(), [&](std::uint32_t w) { return orders_.has_start[w]; });
  }

 private:
  bool is_rate_of_another(std::uint32_t v) const {
    if (orders_.own[v] == 0 || !orders_.definition[v].valid()) return false;
    const Node& source = pool_[orders_.definition[v]];
    return source.op == Op::variable && source.order > 0 && source.order == orders_.own[source.index];
  }

  const expr::Pool& pool_;
  const Orders& orders_;
};

// Definitions that would ask for each other's derivatives without end: u = x - y; y = 3 * i; i = u'. Of each such
// circle one name whose derivative stands in it, the first, is a state and no definition; again, until there is none.
class Circles {
 public:
  Circles(const expr::Pool& pool, const Orders& orders) : pool_(pool), orders_(orders) {}

  // A name of each circle, to be a state; none when all derivatives have an end.
  std::vector<std::uint32_t> find() const {
    // Only names behind a derivative in a definition can be such.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> asked;  // who, for whose derivative
    const auto count = static_cast<std::uint32_t>(orders_.definition.size());
    for (std::uint32_t v = 0; v < count; ++v) {
      for_each_name(v, [&](std::uint32_t w, std::uint32_t order) {
        if (order > 0) asked.emplace_back(v, w);
      });
    }
    if (asked.empty()) return {};
    Rows rows(count);
    Matching each_itself;
    for (std::uint32_t v = 0; v < count; ++v) {
      rows[v].push_back(v);
      for_each_name(v, [&](std::uint32_t w, std::uint32_t) { rows[v].push_back(w); });
      each_itself.unknown_of.push_back(v);
      each_itself.equation_of.push_back(v);
    }
    std::vector<std::uint32_t> circle_of(count);
    std::uint32_t number = 0;
    for (const std::vector<std::uint32_t>& circle : components(rows, each_itself)) {
      for (std::uint32_t v : circle) circle_of[v] = number;
      ++number;
    }
    std::map<std::uint32_t, std::uint32_t> first;  // by circle
    for (const auto& [v, w] : asked) {
      if (circle_of[v] != circle_of[w]) continue;
      auto [place, is_new] = first.emplace(circle_of[v], w);
      place->second = std::min(place->second, w);
    }
    std::vector<std::uint32_t> found;
    for (const auto& [circle, name] : first) found.push_back(name);
    return found;
  }

 private:
  template <class Visit>
  void for_each_name(std::uint32_t v, Visit visit) const {
    if (!orders_.is_defined[v]) return;
    for (ExprId leaf : symbolic::leaves(pool_, orders_.definition[v], Op::variable)) {
      if (orders_.is_defined[pool_[leaf].index]) visit(pool_[leaf].index, pool_[leaf].order);
    }
  }

  const expr::Pool& pool_;
  const Orders& orders_;
};

void index_readers(const expr::Pool& pool, const Draft& draft, Orders& orders) {
  for (std::size_t i = 0; i < draft.equations.size(); ++i) {
    for (ExprId side : {draft.equations[i].left, draft.equations[i].right}) {
      for (ExprId leaf : symbolic::leaves(pool, side, Op::variable)) {
        std::vector<std::size_t>& list = orders.readers[leaf];
        if (list.empty() || list.back() != i) list.push_back(i);
      }
    }
  }
}

// The equation that gives a state's highest derivative, solved for it: x'' of m x'' = F. Its own derivatives give the
// higher.
std::optional<ExprId> highest_derivative(expr::Pool& pool, std::uint32_t v, Draft& draft, Orders& orders) {
  ExprId leaf = pool.variable(v, orders.own[v]);
  if (orders.readers.empty()) index_readers(pool, draft, orders);
  for (std::size_t i : orders.readers[leaf]) {
    if (draft.chain[i].variable != Link::none) continue;  // v = x' gives v: nothing about x that v does not ask for
    const Equation& equation = draft.equations[i];
    auto value = symbolic::solve(pool, equation.left, equation.right, leaf);
    if (!value) continue;
    orders.span[v] = equation.span;
    draft.chain[i] = {v, orders.own[v]};
    return value;
  }
  return std::nullopt;
}

}  // namespace

void raise_orders(const expr::Pool& pool, ExprId e, Orders& orders, std::deque<std::uint32_t>* open) {
  for (ExprId leaf : symbolic::leaves(pool, e, Op::variable)) {
    const Node& node = pool[leaf];
    if (node.order <= orders.highest[node.index]) continue;
    orders.highest[node.index] = node.order;
    if (open) open->push_back(node.index);
  }
}

Orders find_orders(flat::Model& model, Draft& draft) {
  expr::Pool& pool = model.pool;
  Orders orders;
  const std::size_t count = model.variables.size();
  orders.highest.assign(count, 0);
  orders.definition.assign(count, ExprId());
  orders.span.assign(count, {});
  std::vector<std::size_t> defining(count);  // by variable: the equation that defines it
  orders.has_start.assign(count, false);
  for (const flat::Condition& condition : draft.starts) {
    if (!condition.guess) orders.has_start[condition.variable.value] = true;
  }
  for (const Equation& equation : draft.equations) {
    raise_orders(pool, equation.left, orders);
    raise_orders(pool, equation.right, orders);
  }
  orders.own = orders.highest;
  for (const flat::Delay& delay : model.delays) want(delay, draft.constants, orders);
  for (const flat::Condition& condition : draft.later) {
    if (!draft.constants.numbers.contains(condition.variable.value))
      raise_orders(pool, pool.variable(condition.variable.value, condition.order), orders);
    raise_orders(pool, condition.value, orders);
  }
  // First the name on the left, of equations without derivatives before those with some: where `i = x' - y'` and `i =
  // y` both stand, the derivatives of i are those of y. Then on the right of what is no bare name, then of `x' = v`,
  // which says more about x. An equation defines one name.
  std::vector<bool> taken(draft.equations.size());
  enum Pass { plain_left, left, right, right_of_a_name };
  for (Pass pass : {plain_left, left, right, right_of_a_name}) {
    for (std::size_t i = 0; i < draft.equations.size(); ++i) {
      const Equation& equation = draft.equations[i];
      ExprId name = pass <= left ? equation.left : equation.right;
      ExprId value = pass <= left ? equation.right : equation.left;
      if (taken[i] || (pass == right && pool[value].op == Op::variable)) continue;
      if (pass == plain_left && has_derivative(pool, value)) continue;
      if (!is_bare(pool, name) || orders.definition[pool[name].index].valid() ||
          mentions(pool, value, pool[name].index))
        continue;
      orders.definition[pool[name].index] = value;
      orders.span[pool[name].index] = equation.span;
      defining[pool[name].index] = i;
      taken[i] = true;
    }
  }
  // Which variables are worked out from a definition, and so are their derivatives.
  Given given(pool, orders.definition);
  const FirstOrderForm is_first_order_form(pool, orders);
  orders.is_defined.assign(count, false);
  orders.is_extended.assign(count, false);
  orders.done.assign(count, 0);
  orders.latest = orders.definition;
  for (std::uint32_t v = 0; v < count; ++v) {
    if (!orders.definition[v].valid() || (!given(v) && (orders.has_start[v] || is_first_order_form(v)))) continue;
    // With modes, what starts and moves is a state also where it is given: that is a constraint, with its force.
    if (!model.automata.empty() && orders.has_start[v] && orders.own[v] > 0) continue;
    orders.is_defined[v] = true;
    draft.chain[defining[v]] = {v, 0};
  }
  const Circles circles(pool, orders);
  for (auto states = circles.find(); !states.empty(); states = circles.find()) {
    for (std::uint32_t v : states) {
      orders.is_defined[v] = false;
      draft.chain[defining[v]] = {};
    }
  }
  return orders;
}

void differentiate_definitions(flat::Model& model, Draft& draft, Orders& orders, diag::Sink& diags) {
  expr::Pool& pool = model.pool;
  std::deque<std::uint32_t> open;
  for (std::uint32_t v = 0; v < orders.highest.size(); ++v) {
    if (orders.highest[v] > orders.done[v]) open.push_back(v);
  }
  while (!open.empty()) {
    std::uint32_t v = open.front();
    open.pop_front();
    if (!orders.is_defined[v]) {
      // A state. More than its own order is asked for only by derivatives of what is made of it.
      if (orders.highest[v] <= orders.own[v]) continue;
      if (!orders.is_extended[v]) {
        auto value = highest_derivative(pool, v, draft, orders);
        if (!value) continue;
        orders.latest[v] = *value;
        orders.done[v] = orders.own[v];
        orders.is_extended[v] = true;
      }
    }
    while (orders.done[v] < orders.highest[v]) {
      auto next = differentiate_in_time(
          model, draft.constants, orders.latest[v], orders.span[v],
          [&](diag::Sink::Reported& report) {
            report.hint("the derivative {} of `{}` asks for it", orders.done[v] + 1, variable_name(model, v));
          },
          orders, diags, &open);
      if (!next) return;
      orders.latest[v] = *next;
      ++orders.done[v];
      draft.equations.push_back(
          {pool.variable(v, orders.done[v]), orders.latest[v], orders.span[v], flat::differentiated});
      draft.written.push_back({draft.equations.back().left, draft.equations.back().right});
      draft.chain.push_back({v, orders.done[v]});
      if (orders.done[v] > most_derivatives) {
        diags.report(orders.span[v], endless_derivatives, variable_name(model, v));
        return;
      }
      raise_orders(pool, orders.latest[v], orders, &open);
    }
  }
}

std::optional<ExprId> differentiate_in_time(flat::Model& model, const Constants& constants, ExprId e, base::Span span,
                                            const Explain& explain, Orders& orders, diag::Sink& diags,
                                            std::deque<std::uint32_t>* open) {
  expr::Pool& pool = model.pool;
  expr::Budget::work_on(span);
  ExprId obstacle;
  auto next = symbolic::differentiate_in_time(pool, e, &obstacle, [&](std::uint32_t k) {
    const ExprId rate = flat::rate_of_delay(model, k);
    const flat::Delay& made = model.delays[pool[rate].index];
    if (want(made, constants, orders) && open) open->push_back(made.source.value);
    return rate;
  });
  if (!next) {
    const bool is_noise = pool[obstacle].op == Op::noise;
    auto report = is_noise ? diags.report(span, noise_differentiated)
                           : diags.report(span, input_acceleration, model.input_names[pool[obstacle].index]);
    explain(report);
    if (is_noise) report.hint("let it pass a filter, `T * y' + y = noise(1);`, and use y and y'");
    return std::nullopt;
  }
  if (!orders.is_said_to_jump.contains({span.file, span.begin}) && can_jump(pool, e)) {
    orders.is_said_to_jump.emplace(span.file, span.begin);
    auto report = diags.report(span, jump_differentiated);
    explain(report);
    report.hint(
        "let it change in a short time instead: `clamp((t - 1) / 0.01, 0, 1)` for `t >= 1`; or write out what its jump "
        "does, as a state that an event changes");
  }
  symbolic::Substitution replaced(pool, [&](ExprId leaf) { return constants.of(pool, leaf); });
  return replaced(*next);
}

}  // namespace structure
