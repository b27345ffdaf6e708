#include "compiler/structure/settled.h"

#include <fmt/format.h>

#include "compiler/structure/diagnostics.h"
#include "compiler/structure/names.h"
#include "compiler/symbolic/symbolic.h"

namespace structure {

using expr::Op;
using flat::Equation;

namespace {

class Settled {
 public:
  Settled(flat::Model& model, Draft& draft, Orders& orders, diag::Sink& diags)
      : model_(model), pool_(model.pool), draft_(draft), orders_(orders), diags_(diags) {}

  bool drop() {
    std::size_t kept = 0;
    bool is_sound = true;
    for (std::size_t i = 0; i < draft_.equations.size(); ++i) {
      const Equation& equation = draft_.equations[i];
      bool has_variable = !symbolic::leaves(pool_, equation.left, Op::variable).empty() ||
                          !symbolic::leaves(pool_, equation.right, Op::variable).empty();
      if (!has_variable) {
        report_settled(equation, draft_.written[i].first, draft_.written[i].second);
        continue;
      }
      if (report_fallen_out(equation)) {
        is_sound = false;
        continue;
      }
      draft_.equations[kept] = draft_.equations[i];
      draft_.written[kept] = draft_.written[i];
      draft_.chain[kept] = draft_.chain[i];
      ++kept;
    }
    draft_.equations.resize(kept);
    draft_.written.resize(kept);
    draft_.chain.resize(kept);
    orders_.readers.clear();
    settle_idle();
    return is_sound;
  }

 private:
  // An equation that says nothing leaves a name that stands nowhere: the force of a constraint that holds by itself,
  // such as the third component of one between planar things. It is 0.
  void settle_idle() {
    if (redundant_ == 0) return;
    std::vector<bool> is_read(model_.variables.size());
    const auto read = [&](ExprId e) {
      for (ExprId leaf : symbolic::leaves(pool_, e, Op::variable)) is_read[pool_[leaf].index] = true;
    };
    for (const Equation& equation : draft_.equations) {
      read(equation.left);
      read(equation.right);
    }
    for (const flat::Condition& condition : model_.conditions) read(condition.value);
    for (const flat::Discrete& discrete : model_.discrete) {
      for (ExprId start : discrete.start) read(start);
    }
    for (std::uint32_t v = 0; v < is_read.size() && redundant_ > 0; ++v) {
      if (is_read[v] || orders_.has_start[v] || draft_.constants.numbers.contains(v)) continue;
      draft_.constants.numbers[v] = 0;
      --redundant_;
      diags_.report(model_.variables[flat::VariableId(v)].span, idle, variable_name(model_, v));
    }
  }

  // n = n + 1: an assignment of another language. True after reporting.
  bool report_fallen_out(const Equation& equation) {
    for (ExprId side : {equation.left, equation.right}) {
      const ExprId other = side == equation.left ? equation.right : equation.left;
      if (!is_bare(pool_, side) || !symbolic::contains(pool_, other, side)) continue;
      const auto slope = symbolic::differentiate(pool_, other, side);
      if (!slope || !pool_.is_constant(*slope) || pool_[*slope].number != 1) continue;
      const std::uint32_t variable = pool_[side].index;
      symbolic::Substitution without(pool_, [&](ExprId leaf) { return leaf == side ? pool_.constant(0) : ExprId(); });
      const ExprId rest = without(other);
      if (!symbolic::leaves(pool_, rest, Op::variable).empty()) return false;  // it determines another
      const std::string name = variable_name(model_, variable);
      diags_.report(equation.span, falls_out, name, fmt::format("`0 = {}`", flat::print(model_, rest)))
          .hint(
              "an equation holds at all times and assigns nothing; to grow with time write `{0}' = 1;`, to count "
              "events "
              "`{0} = init a = 0 in {{ clock => a + 1 }}` under `reactive`",
              local_name(name));
      return true;
    }
    return false;
  }

  // An equation between numbers, parameters and inputs.
  void report_settled(const Equation& equation, ExprId left, ExprId right) {
    if (equation.left == equation.right) {
      diags_.report(equation.span, redundant, "both sides are the same already");
      ++redundant_;
      return;
    }
    if (report_from_outside(model_, equation, left, right, diags_)) return;
    for (ExprId side : {left, right}) {
      if (!is_bare(pool_, side)) continue;
      auto report = diags_.report(equation.span, over_determined,
                                  fmt::format("`{}` is determined already", variable_name(model_, pool_[side].index)));
      report.related(draft_.constants.spans[pool_[side].index], "here");
      report.hint("drop one of the two");
      return;
    }
    auto report = diags_.report(equation.span, nothing_left, "every name in it is known from other equations");
    int shown = 0;
    for (ExprId side : {left, right}) {
      for (ExprId leaf : symbolic::leaves(pool_, side, Op::variable)) {
        auto span = draft_.constants.spans.find(pool_[leaf].index);
        if (span == draft_.constants.spans.end() || shown++ >= 4) continue;
        report.related(span->second, "`{}` is {} by this one", variable_name(model_, pool_[leaf].index),
                       expr::print_number(draft_.constants.numbers.at(pool_[leaf].index)));
      }
    }
    if (pool_[left].op == Op::time || pool_[right].op == Op::time)
      report.hint("`t` is the time in every program; give the quantity another name");
    else
      report.hint("drop it, or let one of its names be free");
  }

  flat::Model& model_;
  expr::Pool& pool_;
  Draft& draft_;
  Orders& orders_;
  diag::Sink& diags_;
  int redundant_ = 0;  // equations that say nothing, and have no name that stands nowhere yet
};

base::Span discrete_span(const flat::Model& model, std::uint32_t scalar) {
  for (const flat::Discrete& discrete : model.discrete) {
    if (scalar >= discrete.first && scalar < discrete.first + discrete.shape.size()) return discrete.span;
  }
  return {};
}

base::Span input_span(const flat::Model& model, std::uint32_t scalar) {
  for (const flat::Input& input : model.inputs) {
    if (scalar >= input.first && scalar < input.first + input.shape.size()) return input.span;
  }
  return {};
}

}  // namespace

bool drop_settled(flat::Model& model, Draft& draft, Orders& orders, diag::Sink& diags) {
  return Settled(model, draft, orders, diags).drop();
}

bool report_from_outside(const flat::Model& model, const Equation& equation, ExprId left, ExprId right,
                         diag::Sink& diags) {
  for (ExprId side : {left, right}) {
    Op op = model.pool[side].op;
    if (op != Op::parameter && op != Op::input && op != Op::discrete) continue;
    std::string name = op == Op::parameter ? model.parameters[model.pool[side].index].name
                       : op == Op::input   ? model.input_names[model.pool[side].index]
                                           : model.discrete_names[model.pool[side].index];
    auto report = diags.report(equation.span, determined_from_outside, name);
    if (op == Op::parameter)
      report.related(model.parameters[model.pool[side].index].span, "it is a parameter, declared here");
    else if (op == Op::discrete)
      report.related(discrete_span(model, model.pool[side].index), "it is a reactive behaviour, defined here");
    else
      report.related(input_span(model, model.pool[side].index), "it is read from outside, declared here");
    report.hint("drop the equation or the declaration");
    return true;
  }
  return false;
}

}  // namespace structure
