#include "compiler/structure/structure.h"

#include "compiler/expr/budget.h"
#include "compiler/structure/constants.h"
#include "compiler/structure/definitions.h"
#include "compiler/structure/diagnostics.h"
#include "compiler/structure/draft.h"
#include "compiler/structure/index_reduction.h"
#include "compiler/structure/motion.h"
#include "compiler/structure/settled.h"
#include "compiler/structure/start.h"
#include "compiler/symbolic/symbolic.h"

namespace structure {
namespace {

// Derivatives that only the scene shows are worked out for it.
void ask_for_what_is_drawn(flat::Model& model, const Constants& known, Orders& orders) {
  symbolic::Substitution constants(model.pool, [&](ExprId leaf) { return known.of(model.pool, leaf); });
  for (flat::Drawing& drawing : model.drawings) {
    for (flat::DrawnOption& option : drawing.options) {
      for (ExprId& item : option.items) {
        item = constants(item);
        raise_orders(model.pool, item, orders);
      }
    }
  }
}

// And so are those that a start reads.
void ask_for_what_starts_read(flat::Model& model, const Draft& draft, Orders& orders) {
  for (const flat::Condition& condition : draft.starts) raise_orders(model.pool, condition.value, orders);
}

// And so are those that a jump reads.
void ask_for_what_jumps_read(flat::Model& model, Orders& orders) {
  for (ExprId leaf : model.asked) raise_orders(model.pool, leaf, orders);
}

// What was said to follow from the equations is put back onto like a constraint. What constants make true is nothing to
// do.
void add_invariants(flat::Model& model, Sorted& sorted, diag::Sink& diags) {
  Constants constants;
  constants.numbers = sorted.constants;
  symbolic::Substitution known(model.pool, [&](ExprId leaf) { return constants.of(model.pool, leaf); });
  for (flat::Equation invariant : model.invariants) {
    invariant.left = known(invariant.left);
    invariant.right = known(invariant.right);
    const ExprId off = model.pool.subtract(invariant.left, invariant.right);
    if (model.pool.is_constant(off, 0)) continue;
    const std::vector<ExprId> read = symbolic::leaves(model.pool, off, expr::Op::variable);
    if (!read.empty() && !symbolic::differentiate(model.pool, off, read.front()))
      diags.report(invariant.span, noise_differentiated);
    sorted.constraints.push_back(invariant);
  }
}

}  // namespace

std::optional<Sorted> sort(flat::Model& model, std::vector<Override>& overrides, diag::Sink& diags, Begins begins) {
  const std::size_t errors_before = diags.error_count();
  const auto has_failed = [&] { return diags.error_count() > errors_before; };

  Draft draft = fold_constants(model, overrides);
  if (draft.equations.size() > expr::most_equations) {
    diags.report(draft.equations[expr::most_equations].span, too_many_equations, draft.equations.size(),
                 expr::most_equations);
    return std::nullopt;
  }
  settle_before_the_run(model, draft.constants, diags);

  Orders orders = find_orders(model, draft);
  ask_for_what_is_drawn(model, draft.constants, orders);
  ask_for_what_jumps_read(model, orders);
  if (begins == Begins::here) ask_for_what_starts_read(model, draft, orders);
  differentiate_definitions(model, draft, orders, diags);
  if (has_failed()) return std::nullopt;
  if (!drop_settled(model, draft, orders, diags)) return std::nullopt;
  // Every equation has a variable from here on.

  if (!reduce_index(model, draft, orders, diags)) return std::nullopt;
  Sorted sorted;
  sort_motion(model, draft, orders, sorted, diags);
  if (has_failed()) return std::nullopt;
  // Every equation has an unknown of its own from here on.

  if (begins == Begins::here) {
    refuse_delays_with_later_conditions(model, draft, diags);
    sort_start(model, draft, sorted, diags);
    if (has_failed()) return std::nullopt;
  } else {
    sorted.start_kinds.assign(sorted.states.size(), StartKind::given);
  }

  sorted.constants = std::move(draft.constants.numbers);
  sorted.constant_spans = std::move(draft.constants.spans);
  sorted.constraints = std::move(draft.constraints);
  add_invariants(model, sorted, diags);
  if (has_failed()) return std::nullopt;
  return sorted;
}

}  // namespace structure
