#include "compiler/proof/tape.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "base/check.h"

namespace proof {

using expr::Node;
using expr::Op;

const char* name(Answer answer) {
  switch (answer) {
    case Answer::exclusive:
      return "exclusive";
    case Answer::overlap:
      return "overlap";
    case Answer::unknown:
      break;
  }
  return "unknown";
}

const char* name(Method method) {
  switch (method) {
    case Method::structure:
      return "structure";
    case Method::polynomial:
      return "polynomial (Z3)";
    case Method::intervals:
      break;
  }
  return "intervals";
}

namespace {

constexpr double tie_slack = 1e-6;

class Maker {
 public:
  explicit Maker(const Question& question) : question_(question), pool_(*question.pool) {
    for (const Definition& definition : question.definitions) defined_[definition.leaf] = definition.value;
    for (const Range& range : question.ranges) ranges_[range.leaf] = range;
  }

  Tape make() {
    std::vector<ExprId> goals = {question_.first, question_.second};
    goals.insert(goals.end(), question_.assumptions.begin(), question_.assumptions.end());
    for (const ExprId goal : goals) {
      TACTUS_CHECK(pool_.is_truth(goal));
      add_goals(step_of(goal));
    }
    for (const ExprId tie : question_.ties) {
      TACTUS_CHECK(pool_[tie].op == Op::equal || pool_[tie].op == Op::truth);
      tape_.ties.push_back(step_of(tie));
    }
    return std::move(tape_);
  }

 private:
  void add_goals(int goal) {
    std::vector<int> open = {goal};
    while (!open.empty()) {
      const int step = open.back();
      open.pop_back();
      if (tape_.steps[step].node.op == Op::logical_and) {
        open.push_back(tape_.steps[step].b);
        open.push_back(tape_.steps[step].a);
      } else if (std::find(tape_.goals.begin(), tape_.goals.end(), step) == tape_.goals.end()) {
        tape_.goals.push_back(step);
      }
    }
  }

  // The expression that stands in the place of `id`.
  ExprId resolve(ExprId id) const {
    for (std::size_t hops = 0; hops <= defined_.size(); ++hops) {
      const auto found = defined_.find(id);
      if (found == defined_.end()) return id;
      id = found->second;
    }
    TACTUS_CHECK(!"definitions do not go in circles");
    return id;
  }

  int step_of(ExprId root) {
    std::vector<ExprId> open = {resolve(root)};
    while (!open.empty()) {
      const ExprId id = open.back();
      if (done_.contains(id)) {
        open.pop_back();
        continue;
      }
      const Node& node = pool_[id];
      const int count = expr::operand_count(node.op);
      const ExprId operands[3] = {node.a, node.b, node.c};
      bool is_ready = true;
      for (int i = 0; i < count; ++i) {
        const ExprId operand = resolve(operands[i]);
        if (done_.contains(operand)) continue;
        open.push_back(operand);
        is_ready = false;
      }
      if (!is_ready) {
        TACTUS_CHECK(open.size() <= 4 * pool_.size() + 4 || !"definitions do not go in circles");
        continue;
      }
      Step step{node};
      int* const places[3] = {&step.a, &step.b, &step.c};
      for (int i = 0; i < count; ++i) *places[i] = done_.at(resolve(operands[i]));
      if (expr::is_leaf(node.op) && node.op != Op::constant && node.op != Op::truth) {
        step.leaf = static_cast<int>(tape_.leaves.size());
        tape_.leaves.push_back(leaf(id));
      }
      done_[id] = static_cast<int>(tape_.steps.size());
      tape_.steps.push_back(step);
      open.pop_back();
    }
    return done_.at(resolve(root));
  }

  Leaf leaf(ExprId id) const {
    constexpr double inf = std::numeric_limits<double>::infinity();
    Leaf made{id, static_cast<int>(tape_.steps.size()), -inf, inf};
    if (const auto found = ranges_.find(id); found != ranges_.end()) {
      made.low = found->second.low;
      made.high = found->second.high;
      TACTUS_CHECK(made.low <= made.high);
    }
    return made;
  }

  const Question& question_;
  const expr::Pool& pool_;
  Tape tape_;
  std::unordered_map<ExprId, ExprId> defined_;
  std::unordered_map<ExprId, Range> ranges_;
  std::unordered_map<ExprId, int> done_;
};

}  // namespace

Tape make_tape(const Question& question) { return Maker(question).make(); }

std::optional<double> evaluate(const Question& question, const Step& step, double a, double b, double c) {
  switch (step.node.op) {
    case Op::constant:
    case Op::truth:
      return step.node.number;
    case Op::table:
    case Op::table_2:
    case Op::noise:
      return question.sample ? question.sample(step.node, a, b) : std::nullopt;
    case Op::select:
      return a != 0 ? b : c;
    case Op::logical_and:
      return a != 0 && b != 0;
    case Op::logical_or:
      return a != 0 || b != 0;
    case Op::logical_not:
      return a == 0;
    default:  // a leaf is given, not computed
      return expr::compute(step.node.op, a, b);
  }
}

bool holds(const Question& question, const Tape& tape, const std::vector<double>& leaves) {
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (!std::isfinite(leaves[i]) || leaves[i] < tape.leaves[i].low || leaves[i] > tape.leaves[i].high) return false;
  }
  std::vector<double> values(tape.steps.size());
  // 1: rests on something whose value is not known.
  std::vector<char> is_open(tape.steps.size(), 0);
  auto read = [&](int step) { return step < 0 ? 0.0 : values[step]; };
  auto open = [&](int step) { return step >= 0 && is_open[step] != 0; };
  for (std::size_t i = 0; i < tape.steps.size(); ++i) {
    const Step& step = tape.steps[i];
    if (step.leaf >= 0) {
      values[i] = leaves[step.leaf];
      continue;
    }
    // A condition chooses before what it does not choose matters.
    if (step.node.op == Op::select && !open(step.a)) {
      const int chosen = read(step.a) != 0 ? step.b : step.c;
      values[i] = values[chosen];
      is_open[i] = is_open[chosen];
      continue;
    }
    const bool is_decided = (step.node.op == Op::logical_or &&
                             ((!open(step.a) && read(step.a) != 0) || (!open(step.b) && read(step.b) != 0))) ||
                            (step.node.op == Op::logical_and &&
                             ((!open(step.a) && read(step.a) == 0) || (!open(step.b) && read(step.b) == 0)));
    if (is_decided) {
      values[i] = step.node.op == Op::logical_or ? 1 : 0;
      continue;
    }
    is_open[i] = open(step.a) || open(step.b) || open(step.c);
    if (is_open[i]) continue;
    if (const auto value = evaluate(question, step, read(step.a), read(step.b), read(step.c))) {
      values[i] = *value;
    } else {
      is_open[i] = 1;
    }
  }
  const bool are_tied = std::all_of(tape.ties.begin(), tape.ties.end(), [&](int tie) {
    const Step& step = tape.steps[tie];
    if (step.node.op == Op::truth) return step.node.number != 0;
    if (open(step.a) || open(step.b)) return false;
    const double a = values[step.a], b = values[step.b];
    return std::abs(a - b) <= tie_slack * std::max({1.0, std::abs(a), std::abs(b)});
  });
  return are_tied && std::all_of(tape.goals.begin(), tape.goals.end(),
                                 [&](int goal) { return is_open[goal] == 0 && values[goal] != 0; });
}

std::vector<Coordinate> make_witness(const Question& question, const Tape& tape, const std::vector<double>& leaves) {
  std::vector<double> point = leaves;
  std::vector<double> positive = leaves;
  for (double& value : positive) value += 0.0;  // -0 becomes 0
  if (holds(question, tape, positive)) point = positive;
  for (int digits = 1; digits <= 6; ++digits) {
    std::vector<double> shorter;
    for (const double value : leaves) {
      const std::string text = fmt::format("{:.{}e}", value, digits - 1);
      double read = value;
      std::from_chars(text.data(), text.data() + text.size(), read);
      shorter.push_back(read + 0.0);
    }
    if (holds(question, tape, shorter)) {
      point = shorter;
      break;
    }
  }
  std::vector<Coordinate> witness;
  for (std::size_t i = 0; i < point.size(); ++i) {
    const ExprId leaf = tape.leaves[i].id;
    witness.push_back({leaf, expr::print(*question.pool, leaf, question.names), point[i], {}});
  }
  std::sort(witness.begin(), witness.end(), [](const Coordinate& x, const Coordinate& y) {
    return x.name != y.name ? x.name < y.name : x.leaf < y.leaf;
  });
  return witness;
}

}  // namespace proof
