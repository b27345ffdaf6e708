#include "compiler/structure/index_reduction.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/structure/cancellation.h"
#include "compiler/structure/diagnostics.h"
#include "compiler/structure/incidence.h"
#include "compiler/structure/matching.h"
#include "compiler/structure/names.h"
#include "compiler/symbolic/symbolic.h"

namespace structure {
namespace {

using expr::Op;
using flat::Equation;

bool is_complete(const Matching& matching) {
  return std::find(matching.unknown_of.begin(), matching.unknown_of.end(), unmatched) == matching.unknown_of.end();
}

class Reduction {
 public:
  Reduction(flat::Model& model, Draft& draft, Orders& orders, diag::Sink& diags)
      : model_(model), pool_(model.pool), draft_(draft), orders_(orders), diags_(diags) {}

  void run() {
    const std::size_t errors_before = diags_.error_count();
    bool is_possible = false;
    for (int round = 0;; ++round) {
      System system;
      system.equations = draft_.equations;
      system.unknowns = unknown_leaves(model_, draft_.constants, orders_);
      const auto rows = incidence(pool_, system);
      const Matching matching = match(rows, static_cast<std::uint32_t>(system.unknowns.size()));
      if (is_complete(matching)) {
        if (!replace_cancelling(system, rows, matching)) return;
        continue;
      }
      if (!is_possible && !can_be_reduced()) return;  // counts do not match: `counts` says which
      is_possible = true;
      const std::vector<bool> reached = among_too_many(rows, matching);
      for (std::size_t i = 0; i < reached.size(); ++i) {
        if (reached[i] && !differentiate_equation(i)) return;
      }
      differentiate_definitions(model_, draft_, orders_, diags_);
      if (diags_.error_count() > errors_before) return;
      if (round > static_cast<int>(most_derivatives)) {
        const auto first = std::find(matching.unknown_of.begin(), matching.unknown_of.end(), unmatched);
        const Equation& equation = draft_.equations[static_cast<std::size_t>(first - matching.unknown_of.begin())];
        const auto names = symbolic::leaves(pool_, pool_.subtract(equation.left, equation.right), Op::variable);
        diags_.report(equation.span, endless_derivatives,
                      names.empty() ? "t" : variable_name(model_, pool_[names[0]].index));
        return;
      }
    }
  }

 private:
  // A block in whose equations the unknowns cancel: what is left takes the place of one of them. Whether there was one.
  bool replace_cancelling(const System& system, const Rows& rows, const Matching& matching) {
    for (const std::vector<std::uint32_t>& block : components(rows, matching)) {
      if (block.size() < 2 || block.size() > largest_block) continue;
      std::vector<const Equation*> equations;
      std::vector<ExprId> unknowns;
      for (std::uint32_t e : block) {
        equations.push_back(&system.equations[e]);
        unknowns.push_back(system.unknowns[matching.unknown_of[e]]);
      }
      const auto found = find_cancellation(model_, equations, unknowns);
      if (!found) continue;
      std::size_t place = block.size();
      for (std::size_t i = 0; i < block.size(); ++i) {
        if (found->factors[i] == 0) continue;
        if (place == block.size() || draft_.chain[block[place]].variable != Link::none) place = i;
      }
      return report_cancelling(block, *found, place, unknowns);
    }
    return false;
  }

  bool report_cancelling(const std::vector<std::uint32_t>& block, const Cancellation& found, std::size_t place,
                         const std::vector<ExprId>& unknowns) {
    const Equation replaced = draft_.equations[block[place]];
    std::string names;
    for (std::size_t i = 0; i < unknowns.size() && i < 6; ++i)
      names += fmt::format("{}`{}`", i == 0 ? "" : ", ", leaf_name(model_, unknowns[i]));
    if (!found.parameters.empty()) {
      report_cancelling_by_parameters(block, found, place, names);
      return false;
    }
    const bool is_settled = symbolic::leaves(pool_, found.rest, Op::variable).empty() || is_said_already(found.rest);
    auto report =
        is_settled || draft_.chain[block[place]].variable != Link::none
            ? diags_.report(replaced.span, cancel_for_good, names)
            : diags_.report(replaced.span, cancel, names, fmt::format("0 = {}", flat::print(model_, found.rest)));
    int shown = 0;
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (i == place || found.factors[i] == 0 || draft_.equations[block[i]].span.begin == replaced.span.begin ||
          ++shown > 4)
        continue;
      report.related(draft_.equations[block[i]].span, "with {} times this one", expr::print_number(found.factors[i]));
    }
    if (is_settled || draft_.chain[block[place]].variable != Link::none) {
      report.hint(
          "one of these equations follows from the others, or contradicts them: say something else in its place");
      return false;
    }
    draft_.equations[block[place]].left = pool_.constant(0);
    draft_.equations[block[place]].right = found.rest;
    draft_.equations[block[place]].component = flat::differentiated;
    return true;
  }

  // Whether what is left, with equations that ties are kept by, leaves nothing to determine: z + u = sin(t), and then z
  // + u = cos(t).
  bool is_said_already(ExprId rest) {
    std::vector<ExprId> names = symbolic::leaves(pool_, rest, Op::variable);
    const Equation left{pool_.constant(0), rest, {}, 0};
    std::vector<const Equation*> equations = {&left};
    for (const Equation& constraint : draft_.constraints) {
      const auto of_constraint =
          symbolic::leaves(pool_, pool_.subtract(constraint.left, constraint.right), Op::variable);
      const bool is_about_these = std::all_of(of_constraint.begin(), of_constraint.end(), [&](ExprId leaf) {
        return std::find(names.begin(), names.end(), leaf) != names.end();
      });
      if (is_about_these) equations.push_back(&constraint);
    }
    if (equations.size() < 2 || equations.size() > largest_block) return false;
    const auto found = find_cancellation(model_, equations, names);
    return found && found->factors.front() != 0;
  }

  // What is left would have to be divided by parameters, which may change and be zero.
  void report_cancelling_by_parameters(const std::vector<std::uint32_t>& block, const Cancellation& found,
                                       std::size_t place, const std::string& names) {
    auto report = diags_.report(draft_.equations[block[place]].span, cancel_by_parameters, names);
    std::string parameters;
    for (std::size_t i = 0; i < found.parameters.size() && i < 4; ++i) {
      const flat::Parameter& parameter = model_.parameters[found.parameters[i]];
      parameters += fmt::format("{}`constant {} = {};`", i == 0 ? "" : " ", parameter.name,
                                expr::print_number(parameter.initial));
      report.related(parameter.span, "this is a parameter");
    }
    report.hint(
        "make them constants, {}, and what is left takes the place of one equation; or multiply one equation so that "
        "their factors are the same",
        parameters);
  }

  bool differentiate_equation(std::size_t i) {
    if (draft_.chain[i].variable != Link::none) {
      std::uint32_t& highest = orders_.highest[draft_.chain[i].variable];
      highest = std::max(highest, draft_.chain[i].order + 1);
      return true;
    }
    Equation next = draft_.equations[i];
    for (ExprId* side : {&next.left, &next.right}) {
      auto rate = differentiate_in_time(
          model_, draft_.constants, *side, next.span,
          [&](diag::Sink::Reported& report) {
            report.hint("this equation ties states together, so the motion follows from its derivatives");
          },
          orders_, diags_);
      if (!rate) return false;
      *side = *rate;
    }
    next.component = flat::differentiated;
    next.times = draft_.equations[i].times + 1;
    next.integral = static_cast<std::uint32_t>(draft_.constraints.size());
    draft_.constraints.push_back(draft_.equations[i]);
    draft_.equations[i] = next;
    draft_.written[i] = {next.left, next.right};
    raise_orders(pool_, next.left, orders_);
    raise_orders(pool_, next.right, orders_);
    for (ExprId side : {next.left, next.right}) {
      for (ExprId leaf : symbolic::leaves(pool_, side, Op::variable)) {
        const std::uint32_t v = pool_[leaf].index;
        if (!orders_.is_defined[v] && !orders_.is_extended[v])
          orders_.own[v] = std::max(orders_.own[v], pool_[leaf].order);
      }
    }
    return true;
  }

  // Whether every equation that a person wrote can be given a name of its own.
  bool can_be_reduced() {
    const System named = count_by_name(model_, draft_.equations, draft_.constants);
    return is_complete(match(incidence(pool_, named, true), static_cast<std::uint32_t>(named.unknowns.size())));
  }

  flat::Model& model_;
  expr::Pool& pool_;
  Draft& draft_;
  Orders& orders_;
  diag::Sink& diags_;
};

}  // namespace

bool reduce_index(flat::Model& model, Draft& draft, Orders& orders, diag::Sink& diags) {
  const std::size_t errors_before = diags.error_count();
  Reduction(model, draft, orders, diags).run();
  return diags.error_count() == errors_before;
}

}  // namespace structure
