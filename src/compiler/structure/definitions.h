// Names that equations define, and the derivatives of them that are asked for. Draft in, orders out; the draft gains
// the equations of those derivatives.
//
// Rule: v = e, where v has no start of its own or e is a function of time, inputs and parameters only, gives v' = (e)',
// and so on up to the highest order that stands anywhere. (`white_ball'` where white_ball = (sin(t), ..).) But x' = v
// with v' = .. beside it is the first-order form of x'' = ..: v is a state, whether it has a start or not; and so is
// one name of a circle of definitions that asks for its derivative: u = x - y, y = 3 * i, i = u'. Of every other
// variable the equation that gives its highest derivative is differentiated once that is asked for.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/structure/draft.h"
#include "diag/sink.h"

namespace structure {

// More than anybody needs.
inline constexpr std::uint32_t most_derivatives = 64;

// By variable: which derivatives there are, and where they come from.
struct Orders {
  std::vector<std::uint32_t> highest;  // the highest derivative that is asked for
  std::vector<std::uint32_t> own;      // the same, in the equations as written
  std::vector<bool> has_start;
  std::vector<ExprId> definition;   // e of the first equation v = e
  std::vector<base::Span> span;     // of that equation, or of the one that gives the highest derivative
  std::vector<bool> is_defined;     // its derivatives are worked out from its definition
  std::vector<bool> is_extended;    // a state whose highest derivative is differentiated further
  std::vector<std::uint32_t> done;  // the last derivative that has an equation of its own
  std::vector<ExprId> latest;       // what that equation says
  // Not by variable: the equations that each leaf stands in, once they are asked for.
  std::unordered_map<ExprId, std::vector<std::size_t>> readers;
  std::set<std::pair<std::uint32_t, std::uint32_t>> is_said_to_jump;  // not by variable: places in the source

  // From this order on a variable's derivatives are unknowns; those before are states.
  std::uint32_t state_count(std::uint32_t v) const {
    if (is_defined[v]) return 0;
    return is_extended[v] ? own[v] : highest[v];
  }
};

[[nodiscard]] Orders find_orders(flat::Model& model, Draft& draft);

// Raises the orders to what an expression asks for. Variables whose order rises join `open`.
void raise_orders(const expr::Pool& pool, ExprId e, Orders& orders, std::deque<std::uint32_t>* open = nullptr);

// Adds the derivatives that are asked for and not there yet. Stops after reporting what has none.
void differentiate_definitions(flat::Model& model, Draft& draft, Orders& orders, diag::Sink& diags);

// d(e)/dt along the motion; empty after reporting what has no derivative, where `explain` adds to the message who asks
// for it. Variables whose order rises because a delay's rate is asked for join `open`.
using Explain = std::function<void(diag::Sink::Reported&)>;
[[nodiscard]] std::optional<ExprId> differentiate_in_time(flat::Model& model, const Constants& constants, ExprId e,
                                                          base::Span span, const Explain& explain, Orders& orders,
                                                          diag::Sink& diags, std::deque<std::uint32_t>* open = nullptr);

}  // namespace structure
