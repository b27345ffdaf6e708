#include "compiler/check/shape_inference.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "base/growth.h"

namespace check {
namespace {

using expr::Shape;
using parse::NodeId;
using parse::NodeKind;

class Inference {
 public:
  Inference(Model& model, base::Names& names, ExpressionShapes& shapes)
      : model_(model), tree_(*model.tree), names_(names), shapes_(shapes), numbers_(model, names) {}

  void run() {
    is_of_join_.resize(tree_.equations.size());
    for (const parse::Join& join : tree_.joins) is_of_join_[join.equation] = is_of_join_[join.equation + 1] = true;
    pass_until_settled(false);
    pass_until_settled(true);
    parameters_are_scalars_ = true;
    pass_until_settled(true);
    settle_by_indices();
    settle_zeros();
    for (Symbol& symbol : model_.symbols) symbol.open = false;
  }

 private:
  void pass_until_settled(bool likely) {
    do {
      changed_ = false;
      pass(likely);
    } while (changed_);
  }

  // A name of which only components are used is as long as its largest index; then the likely rules once more.
  void settle_by_indices() {
    std::unordered_map<std::uint32_t, std::uint32_t> largest;
    for (const parse::Node& node : tree_.nodes) {
      if (node.kind != NodeKind::index || node.child_count != 2) continue;
      NodeId base = tree_.children[node.first_child].node;
      if (tree_[base].kind == NodeKind::prime) base = tree_.child(base, 0);
      if (tree_[base].kind != NodeKind::name) continue;
      auto symbol = model_.find(tree_[base].name);
      auto index = numbers_.whole(tree_.children[node.first_child + 1].node, nullptr);
      if (!symbol || !model_.symbols[*symbol].open || !index || *index < 1) continue;
      index = std::min(*index, base::longest_vector);
      largest[symbol->value] = std::max(largest[symbol->value], static_cast<std::uint32_t>(*index));
    }
    for (const auto& [symbol, length] : largest) settle(SymbolId(symbol), Known::of(Shape::vector(length)));
    if (changed_) pass_until_settled(true);
  }

  // A name that is 0, of which nothing says that it is a vector, is a scalar; what stands beside it may be known by that.
  void settle_zeros() {
    changed_ = false;
    for (const parse::Equation& equation : tree_.equations) {
      if (tree_[equation.left].kind != NodeKind::name) continue;
      auto found = model_.find(tree_[equation.left].name);
      if (found && shapes_.shape_of(equation.right).state == Known::any) settle(*found, Known::of(Shape::scalar()));
    }
    if (changed_) pass_until_settled(true);
  }

  void pass(bool likely) {
    for (std::size_t i = 0; i < model_.symbols.size(); ++i) {
      const Symbol& symbol = model_.symbols[SymbolId(i)];
      if (symbol.role == Role::constant && symbol.open) {
        settle(SymbolId(i), shapes_.shape_of(tree_.constants[symbol.declaration].value));
      }
    }
    for (const Port& port : model_.ports) {
      if (port.value.valid()) settle(port.symbol, shapes_.shape_of(port.value));
    }
    for (const parse::ShapeGiven& given : tree_.shapes) {
      if (auto shape = given_shape(tree_, numbers_, given.shape)) push(given.value, *shape, likely, nullptr, 0);
    }
    for (const parse::Behaviour& behaviour : tree_.behaviours) infer_behaviour(behaviour);
    // Forwards and backwards: a chain of definitions settles in one pass in whichever order it is written.
    for (std::size_t i = 0; i < tree_.equations.size(); ++i) {
      if (!is_of_join_[i]) relate(tree_.equations[i].left, tree_.equations[i].right, likely);
    }
    for (std::uint32_t i = 0; i < tree_.transitions.size(); ++i) infer_jump(i, likely);
    for (const parse::Equation& invariant : tree_.invariants) relate(invariant.left, invariant.right, likely);
    for (std::size_t i = 0; i < model_.plans.size(); ++i) infer_plan(i, likely);
    for (const parse::Power& power : tree_.powers) relate(power.in, power.out, likely);
    // Behind the equations: where a start contradicts them, the start is the one to mend.
    for (const parse::Condition& condition : tree_.conditions) {
      if (parameters_are_scalars_ || !is_parameter(model_, condition.value))
        relate(condition.variable, condition.value, likely);
    }
    if (changed_) {
      for (std::size_t i = tree_.equations.size(); i-- > 0;) {
        if (!is_of_join_[i]) relate(tree_.equations[i].left, tree_.equations[i].right, likely);
      }
      return;
    }
    // Once the joined parts have said all they know themselves: where they differ, the join is the one to mend. What a join tells one
    // part is followed through that part before the next is looked at: a chain of parts settles in one pass, not in one for each link.
    if (tree_.joins.empty()) return;
    settled_.clear();
    if (uses_.empty()) find_uses();
    std::vector<std::uint32_t> joins = first_joins_;
    for (std::size_t next = 0; next < joins.size(); ++next) {
      relate(related_[joins[next]].left, related_[joins[next]].right, likely);
      follow_settled(likely, joins);
    }
  }

  // Two sides of the same shape, and in which of them names occur.
  void find_uses() {
    uses_.resize(model_.symbols.size());
    for (std::size_t i = 0; i < tree_.equations.size(); ++i) {
      if (!is_of_join_[i]) add_related(tree_.equations[i].left, tree_.equations[i].right);
    }
    for (const parse::Power& power : tree_.powers) add_related(power.in, power.out);
    first_join_ = static_cast<std::uint32_t>(related_.size());
    for (const parse::Join& join : tree_.joins) {
      for (const std::uint32_t i : {join.equation, join.equation + 1})
        add_related(tree_.equations[i].left, tree_.equations[i].right);
    }
    for (std::uint32_t k = first_join_; k < related_.size(); ++k) first_joins_.push_back(k);
  }

  // Long sums, as of all energies, would be looked at once for each name: they wait for the next pass.
  void add_related(NodeId left, NodeId right) {
    constexpr std::size_t most_names = 64;
    std::vector<std::uint32_t> names;
    std::vector<NodeId> waiting = {left, right};
    while (!waiting.empty() && names.size() <= most_names) {
      const NodeId id = waiting.back();
      waiting.pop_back();
      if (tree_[id].kind == NodeKind::name) {
        if (const auto found = model_.find(tree_[id].name)) names.push_back(found->value);
      }
      for (const parse::Child& child : tree_.children_of(id)) waiting.push_back(child.node);
    }
    if (names.size() > most_names) return;
    std::ranges::sort(names);
    const auto repeated = std::ranges::unique(names);
    names.erase(repeated.begin(), repeated.end());
    for (const std::uint32_t name : names) uses_[name].push_back(static_cast<std::uint32_t>(related_.size()));
    related_.push_back({left, right});
  }

  // Every name settles once, so that each use is looked at once for each name in it. Joins of a settled name come last: behind `joins`.
  void follow_settled(bool likely, std::vector<std::uint32_t>& joins) {
    while (!settled_.empty()) {
      const SymbolId symbol = settled_.back();
      settled_.pop_back();
      for (const std::uint32_t k : uses_[symbol.value]) {
        if (k >= first_join_)
          joins.push_back(k);
        else
          relate(related_[k].left, related_[k].right, likely);
      }
    }
  }

  void infer_jump(std::uint32_t index, bool likely) {
    const parse::Jump& jump = tree_.transitions[index].jump;
    for (std::size_t i = 0; i < jump.unknowns.size(); ++i) {
      if (jump.unknowns[i].guess.valid())
        settle(model_.transitions[index].unknowns[i], shapes_.shape_of(jump.unknowns[i].guess));
    }
    for (const parse::Equation& equation : jump.equations) relate(equation.left, equation.right, likely);
  }

  void infer_plan(std::size_t index, bool likely) {
    const parse::PlanProblem& problem = tree_.problems[index];
    for (std::size_t i = 0; i < problem.chosen.size(); ++i)
      settle(model_.plans[index].chosen[i], shapes_.shape_of(problem.chosen[i].value));
    for (const parse::PlanProblem::Phase& phase : problem.phases) {
      for (const parse::Target& target : phase.targets) relate(target.left, target.right, likely);
    }
  }

  void infer_behaviour(const parse::Behaviour& behaviour) {
    auto found = model_.find(behaviour.name);
    if (!found || !model_.symbols[*found].open) return;
    if (behaviour.value.valid()) return settle(*found, shapes_.shape_of(behaviour.value));
    settle(*found, shapes_.shape_of(behaviour.start));
    for (const parse::Handler& handler : behaviour.handlers) {
      const Scope own = own_value(behaviour, model_.symbols[*found]);
      settle(*found, shapes_.shape_of(handler.value, behaviour.own.valid() ? &own : nullptr, 0));
    }
  }

  void settle(SymbolId id, Known known) {
    if (!model_.symbols[id].open || !known.is_fixed()) return;
    model_.symbols[id].shape = known.shape;
    model_.symbols[id].open = false;
    changed_ = true;
    if (!tree_.joins.empty()) settled_.push_back(id);
  }

  void relate(NodeId left, NodeId right, bool likely) {
    Known a = shapes_.shape_of(left);
    Known b = shapes_.shape_of(right);
    if (b.is_fixed() && (!a.is_fixed() || likely)) push(left, b.shape, likely, nullptr, 0);
    if (a.is_fixed() && (!b.is_fixed() || likely)) push(right, a.shape, likely, nullptr, 0);
    if (!likely) return;
    // Operands of sums inside, whatever the sides are.
    spread(left, nullptr, 0);
    spread(right, nullptr, 0);
  }

  // Says that an expression has this shape; settles the names for which that is certain, or, with `likely`, plausible.
  void push(NodeId id, Shape shape, bool likely, const Scope* scope, int depth) {
    if (depth > 500) return;
    const parse::Node& node = tree_[id];
    switch (node.kind) {
      case NodeKind::name: {
        if (auto bound = find_binding(scope, node.name)) {
          if (bound->what.node.valid()) push(bound->what.node, shape, likely, bound->what.scope, depth + 1);
          return;
        }
        if (auto found = model_.find(node.name)) settle(*found, Known::of(shape));
        return;
      }
      case NodeKind::prime:
      case NodeKind::negate:
        push(tree_.child(id, 0), shape, likely, scope, depth + 1);
        return;
      case NodeKind::tuple:
        if (shape.is_vector() && shape.rows == node.child_count) {
          for (const parse::Child& child : tree_.children_of(id))
            push(child.node, Shape::scalar(), likely, scope, depth + 1);
        } else if (shape.is_matrix() && shape.rows == node.child_count) {
          for (const parse::Child& child : tree_.children_of(id)) {
            push(child.node, Shape::vector(shape.columns), likely, scope, depth + 1);
          }
        }
        return;
      case NodeKind::sum:
        if (!likely) return;
        for (const parse::Child& child : tree_.children_of(id)) {
          if (shapes_.shape_of(child.node, scope).state == Known::open)
            push(child.node, shape, likely, scope, depth + 1);
        }
        return;
      case NodeKind::product: {
        if (!likely) return;
        // One open factor takes the shape, among scalars as it is, behind a matrix as what the matrix is applied to.
        NodeId open_factor;
        for (const parse::Child& child : tree_.children_of(id)) {
          Known known = shapes_.shape_of(child.node, scope);
          if (known.state == Known::open) {
            if (open_factor.valid()) return;
            open_factor = child.node;
          } else if (known.is_fixed() && known.shape.is_matrix() && !open_factor.valid() &&
                     known.shape.rows == shape.rows) {
            shape.rows = known.shape.columns;
          } else if (!known.is_fixed() || !known.shape.is_scalar()) {
            return;
          }
        }
        if (open_factor.valid()) push(open_factor, shape, likely, scope, depth + 1);
        return;
      }
      case NodeKind::call: {
        const parse::Node& callee = tree_[tree_.child(id, 0)];
        const bool is_next = callee.kind == NodeKind::name && node.child_count == 2 && !model_.find(callee.name) &&
                             names_.text(callee.name) == "next";
        if (is_next) push(tree_.child(id, 1), shape, likely, scope, depth + 1);
        return;
      }
      case NodeKind::conditional:
        if (const auto chosen = numbers_.truth(tree_.child(id, 0), scope))
          return push(tree_.child(id, *chosen ? 1 : 2), shape, likely, scope, depth + 1);
        push(tree_.child(id, 1), shape, likely, scope, depth + 1);
        push(tree_.child(id, 2), shape, likely, scope, depth + 1);
        return;
      default:
        return;
    }
  }

  // In a sum with one known vector, the other open operands are likely vectors too.
  void spread(NodeId id, const Scope* scope, int depth) {
    const parse::Node& node = tree_[id];
    if (depth > 500 || !shapes_.affordable(node.span)) return;
    if (node.kind == NodeKind::sum) {
      Known sum = shapes_.shape_of(id, scope);
      if (sum.is_fixed() && !sum.shape.is_scalar()) push(id, sum.shape, true, scope, depth);
    }
    if (node.kind == NodeKind::call && tree_[tree_.child(id, 0)].kind == NodeKind::name) {
      base::NameId name = tree_[tree_.child(id, 0)].name;
      auto found = model_.find(name);
      if (found && model_.symbols[*found].role == Role::function)
        spread_function(id, *found, scope, depth);
      else if (node.child_count == 3)
        spread_pair(id, names_.text(name), scope, depth);
    }
    for (const parse::Child& child : tree_.children_of(id)) spread(child.node, scope, depth + 1);
  }

  void spread_function(NodeId id, SymbolId symbol, const Scope* scope, int depth) {
    const parse::Function& function = tree_.functions[model_.symbols[symbol].declaration];
    if (tree_[id].child_count - 1 != function.arguments.size()) return;
    shapes_.expand(id, symbol, scope, depth,
                   [&](const parse::Function& called, const Scope* inner) { spread(called.value, inner, depth + 1); });
  }

  // dot(a, b), distance(a, b) ..: two of a kind.
  void spread_pair(NodeId id, std::string_view name, const Scope* scope, int depth) {
    if (name != "dot" && name != "distance" && name != "proj" && name != "cross") return;
    Known a = shapes_.shape_of(tree_.child(id, 1), scope);
    Known b = shapes_.shape_of(tree_.child(id, 2), scope);
    if (a.is_fixed() && b.state == Known::open) push(tree_.child(id, 2), a.shape, true, scope, depth + 1);
    if (b.is_fixed() && a.state == Known::open) push(tree_.child(id, 1), b.shape, true, scope, depth + 1);
  }

  Model& model_;
  const parse::Tree& tree_;
  const base::Names& names_;
  ExpressionShapes& shapes_;
  Numbers numbers_;
  bool changed_ = false;
  std::vector<bool> is_of_join_;  // by equation
  struct Related {
    NodeId left, right;
  };
  std::vector<Related> related_;                  // where there are joins: equations and ports, then joins
  std::uint32_t first_join_ = 0;                  // of related_
  std::vector<std::uint32_t> first_joins_;        // those of the text, in its order
  std::vector<std::vector<std::uint32_t>> uses_;  // by symbol: of related_
  std::vector<SymbolId> settled_;                 // and not followed yet
  bool parameters_are_scalars_ = false;
};

}  // namespace

void settle_shapes(Model& model, base::Names& names, ExpressionShapes& shapes) {
  Inference(model, names, shapes).run();
}

}  // namespace check
