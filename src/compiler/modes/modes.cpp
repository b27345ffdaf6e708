#include "compiler/modes/modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "base/check.h"
#include "compiler/expr/budget.h"
#include "compiler/modes/diagnostics.h"
#include "compiler/symbolic/symbolic.h"

namespace modes {
namespace {

using expr::ExprId;
using expr::Op;

// Modes that are known, put in as numbers.
ExprId with_modes(flat::Model& model, ExprId e, const std::vector<std::optional<std::uint32_t>>& known) {
  symbolic::Substitution substitution(model.pool, [&](ExprId leaf) {
    if (model.pool[leaf].op != Op::discrete) return ExprId();
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (known[i] && model.automata[i].slot == model.pool[leaf].index) return model.pool.constant(*known[i]);
    }
    return ExprId();
  });
  return substitution(e);
}

class Splitting {
 public:
  Splitting(flat::Model model, diag::Sink& diags) : model_(std::move(model)), diags_(diags) {}

  std::optional<Structures> run() {
    if (refuses_later_conditions() || !count_combinations()) return std::nullopt;
    find_starts();
    reach();
    if (!group()) return std::nullopt;
    return std::move(result_);
  }

 private:
  std::string sizes() const {
    std::string text;
    for (const flat::Automaton& automaton : model_.automata)
      text += fmt::format("{}`{}` has {}", text.empty() ? "" : ", ", automaton.name, automaton.modes.size());
    return text;
  }

  bool refuses_later_conditions() {
    if (model_.automata.empty()) return false;
    for (const flat::Condition& condition : model_.conditions) {
      if (!condition.later) continue;
      diags_.report(condition.span, later_with_modes)
          .hint(
              "a plan finds what is not known: `plan P in a.First when t <= 0 choose v = 1 {{ next(x') = v; }} for 2 "
              "reaching x = 1 {{ }}`");
      return true;
    }
    return false;
  }

  bool count_combinations() {
    std::size_t count = 1;
    for (const flat::Automaton& automaton : model_.automata) {
      result_.strides.push_back(static_cast<std::uint32_t>(count));
      count *= automaton.modes.size();
      if (count > most_combinations) {
        diags_.report(model_.automata.front().span, too_many_combinations, count, sizes(), most_combinations)
            .hint("an automaton that nothing but its own memory depends on can be a memory, `m' = 0`, that jumps set");
        return false;
      }
    }
    result_.structure_of.assign(count, TACTUS_NO_STRUCTURE);
    return true;
  }

  // All that the starts allow; and the first modes, in which conditions of starts are asked for.
  void find_starts() {
    starts_ = {Combination(model_.automata.size(), 0)};
    std::vector<Combination> open = {Combination()};
    for (const flat::Automaton& automaton : model_.automata) {
      std::set<std::uint32_t> possible;
      bool is_certain = false;
      for (const flat::Automaton::Start& start : automaton.starts) {
        if (is_certain) break;
        possible.insert(start.mode);
        is_certain = !start.condition.valid();
      }
      if (!is_certain) possible.insert(0);
      std::vector<Combination> longer;
      for (const Combination& shorter : open) {
        for (std::uint32_t mode : possible) {
          longer.push_back(shorter);
          longer.back().push_back(mode);
        }
      }
      open = std::move(longer);
    }
    starts_.insert(open.begin(), open.end());
  }

  void reach() {
    std::deque<Combination> open(starts_.begin(), starts_.end());
    std::set<Combination> seen(starts_.begin(), starts_.end());
    while (!open.empty()) {
      const Combination combination = open.front();
      open.pop_front();
      reached_.push_back(combination);
      for (const flat::Transition& transition : model_.transitions) {
        if (!holds(model_, transition.mode, combination)) continue;
        Combination next = after(transition, combination);
        if (seen.insert(next).second) open.push_back(std::move(next));
      }
    }
    std::sort(reached_.begin(), reached_.end());
  }

  // The leaf that an equation says what it is, `p'' = ..`; invalid when it says something else.
  ExprId said(const flat::Equation& equation) const {
    const bool is_leaf = model_.pool[equation.left].op == Op::variable;
    return is_leaf && !symbolic::contains(model_.pool, equation.right, equation.left) ? equation.left : ExprId();
  }

  // What the equations are of, by equation: the same for combinations that share a structure.
  using Signature = std::vector<std::pair<std::uint32_t, bool>>;

  bool group() {
    const auto& equations = model_.equations;
    std::map<Signature, std::vector<Combination>> groups;
    std::vector<Signature> order;
    for (const Combination& combination : reached_) {
      Signature signature;
      std::map<std::uint32_t, int> times;
      for (const flat::Equation& equation : equations) {
        if (equation.mode.valid() && holds(model_, equation.mode, combination) && said(equation).valid())
          ++times[said(equation).value];
      }
      for (std::uint32_t e = 0; e < equations.size(); ++e) {
        const flat::Equation& equation = equations[flat::EquationId(e)];
        if (!equation.mode.valid() || !holds(model_, equation.mode, combination)) continue;
        const ExprId leaf = said(equation);
        if (leaf.valid() && times[leaf.value] == 1)
          signature.emplace_back(leaf.value, true);
        else
          signature.emplace_back(e, false);
      }
      std::sort(signature.begin(), signature.end());
      auto [found, is_new] = groups.try_emplace(signature);
      if (is_new) order.push_back(signature);
      found->second.push_back(combination);
    }
    if (groups.size() > most_structures) {
      diags_.report(model_.automata.front().span, too_many_structures, groups.size(), sizes(), most_structures)
          .hint("where all modes say what the same names are (`a = ..` in each of them), they share a structure");
      return false;
    }
    // Each structure has a copy of all expressions.
    if (order.size() > 1 && order.size() * model_.pool.size() > 4 * expr::most_expressions)
      throw expr::Outgrown{model_.automata.front().span};
    for (const Signature& signature : order) {
      Structure structure;
      structure.combinations = std::move(groups[signature]);
      const auto index = static_cast<std::uint32_t>(result_.list.size());
      for (const Combination& combination : structure.combinations) {
        structure.is_start = structure.is_start || starts_.contains(combination);
        std::uint32_t at = 0;
        for (std::size_t i = 0; i < combination.size(); ++i) at += combination[i] * result_.strides[i];
        result_.structure_of[at] = index;
      }
      structure.model = specialise(structure.combinations);
      result_.list.push_back(std::move(structure));
    }
    return true;
  }

  flat::Model specialise(const std::vector<Combination>& combinations) {
    flat::Model model = model_;
    std::vector<std::optional<std::uint32_t>> known(model.automata.size());
    for (std::size_t i = 0; i < known.size(); ++i) {
      const bool is_one = std::all_of(combinations.begin(), combinations.end(),
                                      [&](const Combination& c) { return c[i] == combinations.front()[i]; });
      if (is_one) known[i] = combinations.front()[i];
    }
    const auto fold = [&](ExprId& e) {
      if (e.valid()) e = with_modes(model, e, known);
    };
    std::vector<flat::Equation> equations;
    std::map<ExprId, std::size_t> place;  // of the equation that says what a leaf is
    for (flat::Equation equation : model_.equations) {
      const bool is_always = std::all_of(combinations.begin(), combinations.end(),
                                         [&](const Combination& c) { return holds(model, equation.mode, c); });
      const bool is_ever =
          is_always || std::any_of(combinations.begin(), combinations.end(),
                                   [&](const Combination& c) { return holds(model, equation.mode, c); });
      if (!is_ever) continue;
      const ExprId mode = equation.mode;
      equation.mode = {};
      fold(equation.left);
      fold(equation.right);
      if (!is_always) {
        ExprId condition = mode;
        fold(condition);
        auto [found, is_first] = place.try_emplace(equation.left, equations.size());
        if (!is_first) {
          ExprId& right = equations[found->second].right;
          right = model.pool.make(Op::select, condition, equation.right, right);
          continue;
        }
      }
      equations.push_back(equation);
    }
    model.equations = {};
    for (const flat::Equation& equation : equations) model.equations.push(equation);
    model.invariants.clear();
    for (flat::Equation invariant : model_.invariants) {
      const auto is_there = [&](const Combination& c) { return holds(model, invariant.mode, c); };
      if (std::none_of(combinations.begin(), combinations.end(), is_there)) continue;
      fold(invariant.left);
      fold(invariant.right);
      if (!std::all_of(combinations.begin(), combinations.end(), is_there)) {
        fold(invariant.mode);
        const ExprId off = model.pool.subtract(invariant.left, invariant.right);
        invariant.right = model.pool.constant(0);
        invariant.left = model.pool.make(Op::select, invariant.mode, off, invariant.right);
      }
      invariant.mode = {};
      model.invariants.push_back(invariant);
    }
    for (flat::Condition& condition : model.conditions) fold(condition.value);
    for (flat::Drawing& drawing : model.drawings) {
      for (flat::DrawnOption& option : drawing.options) {
        for (ExprId& item : option.items) fold(item);
      }
    }
    for (flat::Transition& transition : model.transitions) {
      for (flat::Equation& equation : transition.equations) {
        fold(equation.left);
        fold(equation.right);
      }
    }
    mark_absent(model);
    return model;
  }

  // A name that stands in equations of other modes only.
  void mark_absent(flat::Model& model) const {
    const auto mark = [](const flat::Model& of, const auto& equations, std::vector<bool>& stands) {
      for (const flat::Equation& equation : equations) {
        for (ExprId side : {equation.left, equation.right}) {
          for (ExprId leaf : symbolic::leaves(of.pool, side, Op::variable)) stands[of.pool[leaf].index] = true;
        }
      }
    };
    std::vector<bool> here(model.variables.size()), anywhere(model.variables.size());
    mark(model, model.equations, here);
    mark(model_, model_.equations, anywhere);
    for (std::uint32_t v = 0; v < here.size(); ++v) {
      flat::Variable& variable = model.variables[flat::VariableId(v)];
      variable.is_absent = variable.is_of_jump || (!here[v] && anywhere[v]);
    }
  }

  flat::Model model_;  // its pool grows
  diag::Sink& diags_;
  std::set<Combination> starts_;
  std::vector<Combination> reached_;
  Structures result_;
};

}  // namespace

bool holds(flat::Model& model, flat::ExprId mode, const Combination& combination) {
  if (!mode.valid()) return true;
  const ExprId value = with_modes(model, mode, {combination.begin(), combination.end()});
  TACTUS_CHECK(model.pool[value].op == Op::truth);
  return model.pool[value].number != 0;
}

Combination after(const flat::Transition& transition, Combination combination) {
  for (const flat::Transition::Goto& to : transition.gotos) combination[to.automaton] = to.mode;
  return combination;
}

std::string describe(const flat::Model& model, const Combination& combination) {
  std::string text;
  for (std::size_t i = 0; i < combination.size(); ++i) {
    text += fmt::format("{}{}.{}", i == 0 ? "" : ", ", model.automata[i].name, model.automata[i].modes[combination[i]]);
  }
  return text;
}

std::optional<Structures> split(flat::Model model, diag::Sink& diags) {
  if (!model.automata.empty() || !model.transitions.empty()) return Splitting(std::move(model), diags).run();
  Structures only;
  only.list.push_back({std::move(model), {Combination()}, true});
  only.structure_of = {0};
  return only;
}

std::string dump(const Structures& structures) {
  std::string out;
  for (std::size_t k = 0; k < structures.list.size(); ++k) {
    const Structure& structure = structures.list[k];
    out += fmt::format("structure {}{}\n", k + 1, structure.is_start ? ", where a run can begin" : "");
    for (const Combination& combination : structure.combinations)
      out += fmt::format("  in {}\n", describe(structure.model, combination));
    for (const flat::Equation& equation : structure.model.equations) {
      out += fmt::format("    {} = {}\n", flat::print(structure.model, equation.left),
                         flat::print(structure.model, equation.right));
    }
  }
  return out;
}

}  // namespace modes
