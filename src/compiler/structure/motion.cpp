#include "compiler/structure/motion.h"

#include <algorithm>
#include <set>

#include "compiler/structure/counts.h"
#include "compiler/structure/diagnostics.h"
#include "compiler/structure/incidence.h"
#include "compiler/structure/matching.h"
#include "compiler/symbolic/symbolic.h"

namespace structure {
namespace {

using expr::Op;
using flat::Equation;

class Motion {
 public:
  Motion(flat::Model& model, const Draft& draft, const Orders& orders, Sorted& sorted, diag::Sink& diags)
      : model_(model), pool_(model.pool), draft_(draft), orders_(orders), sorted_(sorted), diags_(diags) {}

  void name_unknowns() {
    sorted_.motion.unknowns = unknown_leaves(model_, draft_.constants, orders_);
    for (std::uint32_t v = 0; v < model_.variables.size(); ++v) {
      if (draft_.constants.numbers.contains(v) || model_.variables[flat::VariableId(v)].is_absent) continue;
      for (std::uint32_t k = 0; k < orders_.state_count(v); ++k) {
        sorted_.states.push_back(pool_.variable(v, k));
        sorted_.state_rates.push_back(pool_.variable(v, k + 1));
      }
    }
  }

  void sort() {
    System& motion = sorted_.motion;
    motion.equations = draft_.equations;
    auto rows = incidence(pool_, motion);
    Matching matching = match(rows, static_cast<std::uint32_t>(motion.unknowns.size()));
    report_counts(model_, draft_, orders_, motion, rows, matching, diags_);
    join_constraints_with_forces(motion, rows, matching);
    sort_blocks(motion, rows, matching);
    for (const Block& block : motion.blocks) {
      if (block.equations.size() <= largest_block) continue;
      const Equation& first = motion.equations[block.equations.front()];
      diags_.report(first.span, block_too_large, block.equations.size(), largest_block)
          .hint("a quantity with a state of its own, such as a small mass or capacity, breaks the loop");
    }
  }

 private:
  // As many constraints as accelerations: then these seem to follow from the constraints alone, and the forces from
  // them. But where constraints follow from each other, only together do they determine the motion: so equations of
  // motion that are linear in the forces join the constraints' block, by way of an unknown that is only said to stand
  // there.
  void join_constraints_with_forces(const System& motion, Rows& rows, const Matching& matching) {
    if (draft_.constraints.size() < 2 || diags_.has_errors()) return;
    const std::set<ExprId> rates(sorted_.state_rates.begin(), sorted_.state_rates.end());
    const auto blocks = components(rows, matching);
    for (const std::vector<std::uint32_t>& block : blocks) {
      const auto is_constraint = [&](std::uint32_t e) { return motion.equations[e].times > 0; };
      const auto is_kinematic = [&](std::uint32_t e) {
        return is_constraint(e) || draft_.chain[e].variable != Link::none;
      };
      if (std::count_if(block.begin(), block.end(), is_constraint) < 2 ||
          !std::all_of(block.begin(), block.end(), is_kinematic))
        continue;
      std::vector<ExprId> together;
      std::set<std::uint32_t> moved;  // the accelerations
      for (std::uint32_t e : block) {
        together.push_back(motion.unknowns[matching.unknown_of[e]]);
        if (rates.contains(together.back())) moved.insert(matching.unknown_of[e]);
      }
      for (const std::vector<std::uint32_t>& other : blocks) {
        std::vector<ExprId> unknowns = together;
        bool is_of_forces = &other != &block;
        bool reads = false;
        for (std::uint32_t e : other) {
          unknowns.push_back(motion.unknowns[matching.unknown_of[e]]);
          if (rates.contains(unknowns.back()) || is_kinematic(e)) is_of_forces = false;
          for (std::uint32_t u : rows[e]) reads = reads || moved.contains(u);
        }
        if (!is_of_forces || !reads) continue;
        if (!std::all_of(other.begin(), other.end(),
                         [&](std::uint32_t e) { return is_linear(motion.equations[e], unknowns); }))
          continue;
        for (std::uint32_t e : other) rows[block.front()].push_back(matching.unknown_of[e]);
      }
    }
  }

  bool is_linear(const Equation& equation, const std::vector<ExprId>& unknowns) {
    const ExprId residual = pool_.subtract(equation.left, equation.right);
    for (ExprId unknown : unknowns) {
      if (!symbolic::contains(pool_, residual, unknown)) continue;
      const auto slope = symbolic::differentiate(pool_, residual, unknown);
      if (!slope) return false;
      for (ExprId leaf : symbolic::leaves(pool_, *slope, Op::variable)) {
        if (std::find(unknowns.begin(), unknowns.end(), leaf) != unknowns.end()) return false;
      }
    }
    return true;
  }

  flat::Model& model_;
  expr::Pool& pool_;
  const Draft& draft_;
  const Orders& orders_;
  Sorted& sorted_;
  diag::Sink& diags_;
};

}  // namespace

void sort_motion(flat::Model& model, const Draft& draft, const Orders& orders, Sorted& sorted, diag::Sink& diags) {
  Motion motion(model, draft, orders, sorted, diags);
  motion.name_unknowns();
  motion.sort();
}

}  // namespace structure
