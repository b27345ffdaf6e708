#include "compiler/proof/pairs.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "compiler/modes/conflicts.h"
#include "compiler/modes/modes.h"
#include "compiler/symbolic/symbolic.h"

namespace proof {
namespace {

using expr::Op;

// Names that equations define, v = e, whatever the mode; those that read themselves, by way of others, are left out.
std::vector<Definition> definitions(const flat::Model& model) {
  std::unordered_map<ExprId, ExprId> known;
  for (const flat::Equation& equation : model.equations) {
    const expr::Node& left = model.pool[equation.left];
    if (left.op == Op::variable && left.order == 0 && !equation.mode.valid())
      known.try_emplace(equation.left, equation.right);
  }
  std::vector<Definition> sound;
  std::unordered_map<ExprId, bool> is_sound;
  std::unordered_set<ExprId> open;
  const auto visit = [&](auto&& self, ExprId leaf) -> bool {
    auto found = known.find(leaf);
    if (found == known.end()) return true;
    if (auto seen = is_sound.find(leaf); seen != is_sound.end()) return seen->second;
    if (open.size() > 200 || !open.insert(leaf).second) return false;
    bool all = true;
    for (ExprId behind : symbolic::leaves(model.pool, found->second, Op::variable)) all = self(self, behind) && all;
    open.erase(leaf);
    is_sound[leaf] = all;
    if (all) sound.push_back({leaf, found->second});
    return all;
  };
  for (const auto& [leaf, value] : known) (void)visit(visit, leaf);
  std::sort(sound.begin(), sound.end(), [](const Definition& a, const Definition& b) { return a.leaf < b.leaf; });
  return sound;
}

}  // namespace

std::vector<Pair> decide_pairs(flat::Model& model, Prover& prover) {
  std::vector<Pair> pairs;
  const auto conflicts = modes::conflicts(model);
  if (conflicts.empty()) return pairs;
  const std::vector<Definition> defined = definitions(model);
  std::vector<Range> ranges;
  for (std::uint32_t i = 0; i < model.parameters.size(); ++i) {
    const flat::Parameter& parameter = model.parameters[i];
    if (parameter.low < parameter.high)
      ranges.push_back({model.pool.parameter(i), parameter.low, parameter.high});
    else
      ranges.push_back({model.pool.parameter(i), parameter.initial, parameter.initial});
  }
  for (const auto& [first, second] : conflicts) {
    Pair pair{first, second, {}};
    if (!modes::can_meet(model, first, second)) {
      pair.verdict.answer = Answer::exclusive;
      pair.verdict.by = Method::structure;
    } else {
      Question question;
      question.pool = &model.pool;
      question.first = model.transitions[first].guard;
      question.second = model.transitions[second].guard;
      question.definitions = defined;
      question.ranges = ranges;
      question.names = flat::leaf_names(model);
      pair.verdict = prover.decide(question);
    }
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

}  // namespace proof
