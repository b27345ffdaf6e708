#include "compiler/check/shape_reports.h"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "abi/model.h"
#include "base/growth.h"
#include "compiler/check/diagnostics.h"
#include "compiler/check/target.h"
#include "compiler/parse/parse.h"

namespace check {
namespace {

using parse::NodeId;
using parse::NodeKind;

class Reports {
 public:
  Reports(Model& model, base::Names& names, ExpressionShapes& shapes, diag::Sink& diags)
      : model_(model),
        tree_(*model.tree),
        names_(names),
        shapes_(shapes),
        diags_(diags),
        numbers_(model, names),
        time_(names.intern("t")),
        pi_(names.intern("pi")) {}

  void run() {
    shapes_.start_reporting();
    for (const parse::Constant& constant : tree_.constants) {
      Known known = shapes_.shape_of(constant.value);
      if (auto found = model_.find(constant.name); found && known.is_fixed())
        model_.symbols[*found].shape = known.shape;
    }
    for (const parse::Parameter& parameter : tree_.parameters) report_parameter(parameter);
    for (const parse::Condition& condition : tree_.conditions) report_condition(condition);
    for (const parse::Power& power : tree_.powers) report_port(power);
    for (const parse::Join& join : tree_.joins) report_join(join);
    for (std::uint32_t i = 0; i < tree_.equations.size(); ++i) {
      const parse::Equation& equation = tree_.equations[i];
      if (!equations_of_joins_.contains(i) && !equation.is_of_book)
        report_sides(equation.left, equation.right, equation.span, "the sides of this equation differ");
    }
    for (const parse::Energy& energy : tree_.energies) report_energy(energy);
    for (std::uint32_t i = 0; i < tree_.transitions.size(); ++i) report_transition(i);
    for (const parse::Equation& invariant : tree_.invariants)
      report_sides(invariant.left, invariant.right, invariant.span, "the sides of this equation differ");
    for (std::size_t i = 0; i < model_.plans.size(); ++i) report_plan(i);
    shapes_.set_place({.may_look_ahead = true, .may_name_events = true});
    for (const parse::Property& property : tree_.properties) report_truth(property.formula, "`check`");
    shapes_.set_place({});
    for (const parse::Must& must : tree_.musts) {
      static constexpr std::string_view words[] = {"`require`", "`expect`", "`stop when`"};
      report_truth(must.condition, words[static_cast<int>(must.kind)]);
    }
    for (const parse::Automaton& automaton : tree_.automata) {
      for (const parse::AutomatonStart& start : automaton.starts)
        if (start.condition.valid()) report_truth(start.condition, "`when`");
    }
    for (const Port& port : model_.ports) {
      if (port.value.valid()) shapes_.shape_of(port.value);
    }
    for (const parse::ShapeGiven& given : tree_.shapes) report_given(given);
    for (const Event& event : model_.events) {
      if (event.condition.valid())
        shapes_.rules().need_scalar(shapes_.shape_of(event.condition), tree_[event.condition].span, "`when`");
    }
    for (const parse::Behaviour& behaviour : tree_.behaviours) report_behaviour(behaviour);
  }

 private:
  void report_energy(const parse::Energy& energy) {
    const Known known = shapes_.shape_of(energy.value);
    if (!known.is_fixed() || known.shape.is_scalar()) return;
    auto report = diags_.report(tree_[energy.value].span, wrong_shape, "an energy", "a number", describe(known.shape));
    if (known.shape.is_vector())
      report.hint("the energy of a motion is `m/2 * dot(v, v)`; add up what the components store");
    else
      report.hint("with a matrix of masses it is `dot(v, M * v) / 2`");
  }

  bool report_port(const parse::Power& power, bool is_told = false) {
    const Known in = shapes_.shape_of(power.in);
    const Known out = shapes_.shape_of(power.out);
    for (const auto& [known, node] : {std::pair(in, power.in), std::pair(out, power.out)}) {
      if (!known.is_fixed() || !known.shape.is_matrix()) continue;
      if (!is_told)
        diags_.report(tree_[node].span, wrong_shape, "a port", "a number or a vector", describe(known.shape))
            .hint("the power is the sum over the components of what enters times what leaves");
      return true;
    }
    if (!in.is_fixed() || !out.is_fixed() || in.shape == out.shape) return false;
    if (!is_told)
      diags_
          .report(power.span, shapes_differ, "what enters this port and what leaves it differ", describe(in.shape),
                  describe(out.shape))
          .hint("a force enters and the velocity of its point leaves, or the other way round");
    return true;
  }

  void report_join(const parse::Join& join) {
    equations_of_joins_.insert({join.equation, join.equation + 1});
    const parse::Power& first = tree_.powers[join.ports[0]];
    const parse::Power& second = tree_.powers[join.ports[1]];
    if (report_port(first, true) || report_port(second, true)) return;
    const Known a = shapes_.shape_of(first.in);
    const Known b = shapes_.shape_of(second.in);
    if (!a.is_fixed() || !b.is_fixed() || a.shape == b.shape) return;
    diags_.report(join.span, shapes_differ, "these ports cannot be joined", describe(a.shape), describe(b.shape))
        .related(first.span, "`{}` is {}", names_.text(first.name), describe(a.shape))
        .related(second.span, "`{}` is {}", names_.text(second.name), describe(b.shape))
        .hint("join ports with as many components");
  }

  void report_truth(NodeId condition, std::string_view what) {
    shapes_.rules().need_scalar(shapes_.shape_of(condition), tree_[condition].span, what);
  }

  void report_transition(std::uint32_t index) {
    const parse::Transition& item = tree_.transitions[index];
    shapes_.set_place({.may_name_events = true});
    if (item.condition.valid()) report_truth(item.condition, "`when`");
    shapes_.set_place({.may_look_ahead = true});
    for (const parse::Equation& equation : item.jump.equations)
      report_sides(equation.left, equation.right, equation.span, "the sides of this equation differ");
    shapes_.set_place({});
    for (std::size_t i = 0; i < item.jump.unknowns.size(); ++i) {
      const parse::JumpUnknown& unknown = item.jump.unknowns[i];
      if (!unknown.guess.valid()) continue;
      const Known known = shapes_.shape_of(unknown.guess);
      const Symbol& symbol = model_.symbols[model_.transitions[index].unknowns[i]];
      if (known.is_fixed() && !(known.shape == symbol.shape))
        diags_.report(tree_[unknown.guess].span, shapes_differ, "the guess does not fit", describe(symbol.shape),
                      describe(known.shape));
    }
  }

  // As many targets as chosen values, both counted in components.
  void report_plan(std::size_t index) {
    const parse::PlanProblem& problem = tree_.problems[index];
    std::uint64_t chosen = 0, reached = 0;
    for (std::size_t i = 0; i < problem.chosen.size(); ++i) {
      const Symbol& symbol = model_.symbols[model_.plans[index].chosen[i]];
      const Known known = shapes_.shape_of(problem.chosen[i].value);
      if (known.is_fixed() && !(known.shape == symbol.shape))
        diags_.report(tree_[problem.chosen[i].value].span, shapes_differ, "what is chosen keeps its shape",
                      describe(symbol.shape), describe(known.shape));
      chosen += symbol.shape.size();
    }
    for (const parse::PlanProblem::Phase& phase : problem.phases) {
      shapes_.rules().need_scalar(shapes_.shape_of(phase.duration), tree_[phase.duration].span, "the time of a phase");
      for (const parse::Target& target : phase.targets) {
        report_sides(target.left, target.right, target.span, "the sides of this target differ");
        const Known left = shapes_.shape_of(target.left);
        reached += left.is_fixed() ? left.shape.size() : 1;
      }
    }
    if (chosen > TACTUS_MOST_CHOSEN) {
      diags_.report(problem.name_span, too_many_chosen, std::to_string(TACTUS_MOST_CHOSEN), std::to_string(chosen))
          .hint("a vector counts its components; choose fewer, or let two plans follow each other");
      return;
    }
    if (chosen == reached) return;
    const auto counted = [](std::uint64_t count, std::string_view what) {
      return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
    };
    auto report = diags_.report(problem.name_span, target_count, counted(chosen, "number"), counted(reached, "target"));
    if (reached < chosen)
      report.hint("choose less, or reach more: `reaching p = a, norm(v) = b`; a vector counts its components");
    else
      report.hint(
          "choose more, such as the time of a phase: `choose T = 1` and `for T`; a vector counts its components");
  }

  void report_given(const parse::ShapeGiven& given) {
    auto shape = given_shape(tree_, numbers_, given.shape);
    if (!shape) {
      const bool is_matrix = tree_[given.shape].kind == NodeKind::tuple;
      const long long longest = is_matrix ? base::longest_side : base::longest_vector;
      for (std::uint32_t i = 0; i < (is_matrix ? tree_[given.shape].child_count : 1); ++i) {
        const NodeId side = is_matrix ? tree_.child(given.shape, i) : given.shape;
        if (const auto size = numbers_.whole(side, nullptr); size && *size > longest)
          return shapes_.rules().report_too_long(tree_[side].span, is_matrix ? "a matrix" : "a vector", *size, longest);
      }
      diags_.report(tree_[given.shape].span, not_constant, "the shape of a port")
          .hint("write `: 3` for a vector of 3, `: (3, 3)` for a matrix");
      return;
    }
    Known known = shapes_.shape_of(given.value);
    if (known.is_fixed() && !(known.shape == *shape)) {
      diags_.report(tree_[given.value].span, wrong_shape, "the port", describe(*shape), describe(known.shape))
          .related(given.span, "the port's shape is given here");
    }
  }

  void report_behaviour(const parse::Behaviour& behaviour) {
    auto found = model_.find(behaviour.name);
    if (!found) return;
    const Symbol& symbol = model_.symbols[*found];
    const Scope own = own_value(behaviour, symbol);
    auto fits = [&](NodeId value, const Scope* scope) {
      Known known = shapes_.shape_of(value, scope);
      if (known.is_fixed() && !(known.shape == symbol.shape)) {
        diags_.report(tree_[value].span, shapes_differ, "a behaviour keeps its shape", describe(symbol.shape),
                      describe(known.shape));
      }
    };
    if (behaviour.value.valid()) return fits(behaviour.value, nullptr);
    fits(behaviour.start, nullptr);
    for (const parse::Handler& handler : behaviour.handlers)
      fits(handler.value, behaviour.own.valid() ? &own : nullptr);
  }

  // `is_start`: the left side is what the equations make of it.
  void report_sides(NodeId left, NodeId right, base::Span span, std::string_view what, bool is_start = false) {
    Known a = shapes_.shape_of(left);
    Known b = shapes_.shape_of(right);
    if (!a.is_fixed() || !b.is_fixed() || a.shape == b.shape) return;
    auto report = diags_.report(span, shapes_differ, what, describe(a.shape), describe(b.shape));
    if (is_start) {
      std::string parts;
      for (std::uint32_t i = 0; i < a.shape.rows && i < 8; ++i) parts += i == 0 ? "0" : ", 0";
      const std::string name = parse::print(tree_, names_, left);
      if (a.shape.is_vector())
        report.hint("`{}` is a vector of {}: write one value for each component, `({})`", name, a.shape.rows, parts);
      else
        report.hint("the equations make `{}` {}", name, describe(a.shape));
      return;
    }
    const NodeId larger = a.shape.is_scalar() ? right : left;
    const bool is_name = tree_[larger].kind == NodeKind::name || tree_[larger].kind == NodeKind::prime;
    if ((a.shape.is_scalar() && b.shape.is_vector()) || (b.shape.is_scalar() && a.shape.is_vector()))
      report.hint("take a component, `{0}[1]`, or the length, `norm({0})`; or make both sides vectors",
                  is_name ? parse::print(tree_, names_, larger) : "v");
    else
      report.hint("both sides need the same shape");
  }

  void report_parameter(const parse::Parameter& parameter) {
    const std::string& name = names_.text(parameter.name);
    if (tree_[parameter.value].kind == NodeKind::tuple) {
      const std::string written = parse::print(tree_, names_, parameter.value);
      diags_.report(tree_[parameter.value].span, wrong_shape, "a parameter", "a number", "a vector")
          .hint(
              "write `constant {0} = {1};`, or a parameter for each component and `{0} = ({0}1, {0}2);` under `system`",
              name, written);
      return;
    }
    auto number = [&](NodeId id, std::string_view what) -> std::optional<double> {
      auto value = numbers_.value(id);
      if (!value) {
        auto report = diags_.report(tree_[id].span, not_constant, what);
        if (id == parameter.value)
          report.hint(
              "it is made of numbers, constants and other parameters; what changes is an equation under `system`: "
              "`{} = ..;`",
              name);
        else
          report.hint("write a number or constants");
      }
      if (value && !std::isfinite(*value)) diags_.report(tree_[id].span, not_a_number_literal, name);
      return value;
    };
    auto value = number(parameter.value, fmt::format("the value of parameter `{}`", name));
    if (!parameter.low.valid()) return;
    auto low = number(parameter.low, "the range of a parameter");
    auto high = number(parameter.high, "the range of a parameter");
    if (!value || !low || !high) return;
    if (*low > *high)
      diags_.report(tree_[parameter.low].span.to(tree_[parameter.high].span), range_empty);
    else if (*value < *low || *value > *high)
      diags_.report(tree_[parameter.value].span, outside_range, *value, *low, *high)
          .hint("widen the range, or give `{}` a value inside it", name);
  }

  void report_condition(const parse::Condition& condition) {
    const parse::Node& node = tree_[target_of(tree_, condition.variable).name];
    if (node.kind != NodeKind::name) {
      diags_.report(node.span, condition_target, "an expression")
          .hint("a start is given to a name, its derivative or a component: `p(0)`, `p'(0)`, `p[2](0)`");
      return;
    }
    auto found = model_.find(node.name);
    if (node.name == time_ || node.name == pi_ || (found && model_.symbols[*found].role != Role::variable)) {
      diags_.report(node.span, condition_target, fmt::format("`{}`", names_.text(node.name)))
          .hint("a start is given to what equations determine; this is declared or read from outside");
      return;
    }
    auto time = numbers_.value(condition.time);
    if (!time)
      diags_.report(tree_[condition.time].span, not_constant, "the time of a condition")
          .hint("write a number, or a name that is declared: `constant T = 2;`");
    else if (!std::isfinite(*time))
      diags_.report(tree_[condition.time].span, not_constant, "the time of a condition").hint("it is {}", *time);
    else
      report_time(condition, *time);
    if (!is_parameter(model_, condition.value))
      report_sides(condition.variable, condition.value, condition.span, "the start does not fit", true);
  }

  void report_time(const parse::Condition& condition, double time) {
    const double start = model_.settings.starting_time;
    const std::string name = parse::print(tree_, names_, condition.variable);
    const base::Span span = tree_[condition.time].span;
    if (time < start) {
      diags_.report(span, condition_too_early, fmt::format("{}", time), fmt::format("{}", start))
          .hint("write `{}({})` for the start; `starting_time` under `simulation` says when that is", name, start);
    } else if (time > start && condition.guess) {
      diags_.report(span, guess_at_other_time, fmt::format("{}", start))
          .hint("write `{0}({1}) ~ ..` to guess its start, or `{0}({2}) = ..` to say what it must be then", name, start,
                time);
    }
  }

  Model& model_;
  const parse::Tree& tree_;
  const base::Names& names_;
  ExpressionShapes& shapes_;
  diag::Sink& diags_;
  Numbers numbers_;
  base::NameId time_;
  base::NameId pi_;
  std::set<std::uint32_t> equations_of_joins_;  // whose shapes the join answers for
};

}  // namespace

void report_shapes(Model& model, base::Names& names, ExpressionShapes& shapes, diag::Sink& diags) {
  Reports(model, names, shapes, diags).run();
}

}  // namespace check
