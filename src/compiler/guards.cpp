#include "compiler/guards.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

#include "compiler/symbolic/symbolic.h"
#include "compiler/unite/unite.h"
#include "kernel/kernel.h"

namespace compiler {
namespace {

using expr::ExprId;
using expr::Op;

constexpr std::size_t most_ties = 20;

// Whether two events that are known before the run never happen at one instant. Two periods are those of one clock that
// ticks for both when their ratio is one of small whole numbers.
bool never_together(const flat::Event& a, const flat::Event& b) {
  constexpr double close = 1e-6;
  if (a.kind == TACTUS_AT && b.kind == TACTUS_AT) {
    return std::none_of(a.times.begin(), a.times.end(), [&](double t) {
      return std::any_of(b.times.begin(), b.times.end(), [&](double u) { return std::abs(t - u) <= close; });
    });
  }
  if (a.kind != TACTUS_EVERY || b.kind != TACTUS_EVERY || !(a.period > 0) || !(b.period > 0)) return false;
  for (int count = 1; count <= 1000; ++count) {
    const double other = count * a.period / b.period;
    if (std::abs(other - std::round(other)) > 1e-9 * other) continue;
    const double tick = b.period / count;  // of the clock: count of its ticks are b's period, and round(other) a's
    const double apart = (a.from - b.from) / tick;
    return std::abs(apart - std::round(apart)) > close;
  }
  return false;
}

// What one structure says of its names.
class Known {
 public:
  Known(modes::Structure& structure, const structure::Sorted& sorted)
      : structure_(structure), model_(structure.model), sorted_(sorted) {
    for (const structure::Block& block : sorted.motion.blocks) {
      if (block.unknowns.size() != 1 || block.equations.size() != 1) continue;
      const ExprId unknown = sorted.motion.unknowns[block.unknowns[0]];
      const flat::Equation& equation = sorted.motion.equations[block.equations[0]];
      if (const auto value = symbolic::solve(model_.pool, equation.left, equation.right, unknown))
        values_[unknown] = *value;
    }
    for (const flat::Table& table : model_.tables)
      tables_.push_back({table.method, static_cast<std::uint32_t>(table.x.size()),
                         static_cast<std::uint32_t>(table.y.size()), table.x.data(), table.y.data(),
                         table.values.data(), table.slopes.data()});
  }

  // The combinations of modes in which both can be taken.
  std::vector<modes::Combination> common(std::uint32_t first, std::uint32_t second) {
    std::vector<modes::Combination> found;
    for (const modes::Combination& each : structure_.combinations) {
      if (modes::holds(model_, model_.transitions[first].mode, each) &&
          modes::holds(model_, model_.transitions[second].mode, each))
        found.push_back(each);
    }
    return found;
  }

  proof::Question question(std::uint32_t first, std::uint32_t second, const std::vector<modes::Combination>& modes) {
    proof::Question made;
    made.pool = &model_.pool;
    made.first = whole_guard(model_.transitions[first]);
    made.second = whole_guard(model_.transitions[second]);
    made.names = flat::leaf_names(model_);
    std::set<ExprId> seen;
    read(made.first, seen, made);
    read(made.second, seen, made);
    add_ties(seen, made);
    for (const ExprId leaf : seen) describe_leaf(leaf, modes, made);
    add_schedule(seen, made);
    made.sample = [this](const expr::Node& node, double a, double b) -> std::optional<double> {
      const int order = static_cast<int>(node.order);
      if (node.op == Op::table) return tk_table(&tables_[node.index], order, a);
      if (node.op == Op::table_2) return tk_table_2(&tables_[node.index], order, node.order_b, a, b);
      return std::nullopt;  // noise has any value
    };
    return made;
  }

 private:
  ExprId whole_guard(const flat::Transition& transition) {
    if (!transition.mode.valid()) return transition.guard;
    return model_.pool.make(Op::logical_and, transition.mode, transition.guard);
  }

  // What a leaf is, if something says it.
  ExprId value_of(ExprId leaf) {
    if (const auto found = values_.find(leaf); found != values_.end()) return found->second;
    const expr::Node node = model_.pool[leaf];
    if (node.op == Op::variable) {
      if (const auto constant = sorted_.constants.find(node.index); constant != sorted_.constants.end())
        return model_.pool.constant(node.order == 0 ? constant->second : 0);
    }
    if (node.op == Op::parameter) {
      const flat::Parameter& parameter = model_.parameters[node.index];
      if (parameter.low == parameter.high) return model_.pool.constant(parameter.initial);
    }
    return {};
  }

  // All leaves that `e` reads, through definitions, join `seen`; the definitions on the way the question.
  void read(ExprId e, std::set<ExprId>& seen, proof::Question& to) {
    std::vector<ExprId> open = {e};
    std::vector<bool> visited;
    while (!open.empty()) {
      const ExprId root = open.back();
      open.pop_back();
      std::vector<ExprId> leaves;
      expr::visit_postorder(model_.pool, {root}, visited, [&](ExprId each) {
        if (expr::is_leaf(model_.pool[each].op)) leaves.push_back(each);
      });
      for (const ExprId leaf : leaves) {
        const Op op = model_.pool[leaf].op;
        if (op == Op::constant || op == Op::truth || !seen.insert(leaf).second) continue;
        const ExprId value = value_of(leaf);
        if (!value.valid()) continue;
        to.definitions.push_back({leaf, value});
        open.push_back(value);
      }
    }
  }

  // Constraints that share a leaf with what is read, and those that share one with these.
  void add_ties(std::set<ExprId>& seen, proof::Question& to) {
    std::vector<const flat::Equation*> left;
    for (const flat::Equation& constraint : sorted_.constraints) left.push_back(&constraint);
    for (bool is_new = true; is_new && to.ties.size() < most_ties;) {
      is_new = false;
      for (const flat::Equation*& constraint : left) {
        if (constraint == nullptr || to.ties.size() >= most_ties) continue;
        std::set<ExprId> own;
        proof::Question unused;
        read(constraint->left, own, unused);
        read(constraint->right, own, unused);
        const bool is_shared = std::any_of(own.begin(), own.end(), [&](ExprId leaf) { return seen.contains(leaf); });
        if (!is_shared) continue;
        to.ties.push_back(model_.pool.make(Op::equal, constraint->left, constraint->right));
        read(constraint->left, seen, to);
        read(constraint->right, seen, to);
        constraint = nullptr;
        is_new = true;
      }
    }
  }

  // What a free leaf can be.
  void describe_leaf(ExprId leaf, const std::vector<modes::Combination>& modes, proof::Question& to) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    const expr::Node node = model_.pool[leaf];
    if (node.op == Op::time) to.ranges.push_back({leaf, model_.settings.starting_time, inf});
    if (node.op == Op::parameter) {
      const flat::Parameter& parameter = model_.parameters[node.index];
      if (parameter.low < parameter.high)
        to.ranges.push_back(
            {leaf, std::min(parameter.low, parameter.initial), std::max(parameter.high, parameter.initial)});
    }
    if (node.op != Op::discrete) return;
    std::set<double> possible;
    for (std::size_t a = 0; a < model_.automata.size(); ++a) {
      if (model_.automata[a].slot != node.index) continue;
      for (const modes::Combination& each : modes) possible.insert(each[a]);
    }
    for (const flat::Event& event : model_.events)
      if (event.pulse == node.index + 1) possible = {0, 1};
    ExprId either;
    for (const double value : possible) {
      const ExprId one = model_.pool.make(Op::equal, leaf, model_.pool.constant(value));
      either = either.valid() ? model_.pool.make(Op::logical_or, either, one) : one;
    }
    if (either.valid()) to.assumptions.push_back(either);
  }

  // Events that never come together.
  void add_schedule(const std::set<ExprId>& seen, proof::Question& to) {
    std::vector<std::pair<const flat::Event*, ExprId>> asked;
    for (const ExprId leaf : seen) {
      const expr::Node node = model_.pool[leaf];
      for (const flat::Event& event : model_.events)
        if (node.op == Op::discrete && event.pulse == node.index + 1) asked.emplace_back(&event, leaf);
    }
    const auto silent = [&](ExprId leaf) { return model_.pool.make(Op::equal, leaf, model_.pool.constant(0)); };
    for (std::size_t i = 0; i < asked.size(); ++i)
      for (std::size_t j = i + 1; j < asked.size(); ++j)
        if (never_together(*asked[i].first, *asked[j].first))
          to.assumptions.push_back(model_.pool.make(Op::logical_or, silent(asked[i].second), silent(asked[j].second)));
  }

  modes::Structure& structure_;
  flat::Model& model_;
  const structure::Sorted& sorted_;
  std::unordered_map<ExprId, ExprId> values_;
  std::vector<tactus_table> tables_;
};

// Modes and pulses are numbers to the prover; people see what they mean.
void tell_modes(const flat::Model& model, proof::Verdict& verdict) {
  for (proof::Coordinate& at : verdict.witness) {
    const expr::Node& node = model.pool[at.leaf];
    if (node.op != Op::discrete) continue;
    for (const flat::Automaton& automaton : model.automata)
      if (automaton.slot == node.index && at.value >= 0 && at.value < static_cast<double>(automaton.modes.size()))
        at.text = automaton.modes[static_cast<std::size_t>(at.value)];
  }
}

}  // namespace

void judge_guards(modes::Structures& structures, const std::vector<structure::Sorted>& sorted, Guards& guards) {
  const flat::Model& model = structures.list.front().model;
  const ir::Pattern conflicts = unite::conflicts(model);
  if (conflicts.start.empty()) return;
  std::unordered_map<std::uint32_t, std::uint32_t> transition_of;  // by event
  for (std::uint32_t i = 0; i < model.transitions.size(); ++i) transition_of[model.transitions[i].event] = i;

  std::vector<Known> known;
  known.reserve(structures.list.size());
  for (std::size_t k = 0; k < structures.list.size(); ++k) known.emplace_back(structures.list[k], sorted[k]);

  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  proof::Prover prover(guards.limits);
  for (std::uint32_t event = 0; event + 1 < conflicts.start.size(); ++event) {
    for (std::uint32_t at = conflicts.start[event]; at < conflicts.start[event + 1]; ++at) {
      const std::uint32_t first = transition_of.at(event);
      const std::uint32_t second = transition_of.at(conflicts.index[at]);
      GuardPair pair{.first = model.transitions[first].name,
                     .second = model.transitions[second].name,
                     .first_span = model.transitions[first].span,
                     .second_span = model.transitions[second].span,
                     .verdict = {}};
      pair.verdict = {proof::Answer::exclusive, proof::Method::structure, {}, {}};
      pair.have_common_mode = false;
      for (std::size_t k = 0; k < known.size() && pair.verdict.answer == proof::Answer::exclusive; ++k) {
        const std::vector<modes::Combination> modes = known[k].common(first, second);
        if (modes.empty()) continue;
        pair.have_common_mode = true;
        if (std::chrono::duration<double>(Clock::now() - begin).count() > guards.seconds) {
          pair.verdict = {proof::Answer::unknown,
                          proof::Method::structure,
                          {},
                          fmt::format("{:g} s for all pairs were not enough", guards.seconds)};
          break;
        }
        proof::Verdict verdict = prover.decide(known[k].question(first, second, modes));
        // Of several structures the method that had most to do is told.
        verdict.by = std::max(verdict.by, pair.verdict.by);
        pair.verdict = std::move(verdict);
        tell_modes(structures.list[k].model, pair.verdict);
      }
      guards.pairs.push_back(std::move(pair));
    }
  }
  guards.notes = prover.notes();
}

}  // namespace compiler
