#include "compiler/tangent/pattern.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace tangent {

using ir::no_value;
using ir::Op;
using ir::Value;

namespace {

// The instructions of all chunks as one graph, those left out that depend on no state's direction.
class Dependencies {
 public:
  Dependencies(const ir::Function& function, std::uint32_t state_count) {
    std::unordered_map<std::uint32_t, std::uint32_t> stored;  // by place in work
    std::uint32_t first = 0;
    for (const ir::Chunk& chunk : function.chunks) {
      for (Value v = 0; v < chunk.instructions.size(); ++v) {
        const ir::Instruction& i = chunk.instructions[v];
        const auto add = [&](std::uint32_t other) {
          if (moves_[other]) edges_.push_back(other);
        };
        state_.push_back(no_value);
        start_.push_back(edges_.size());
        // The first state's direction stands behind that of time.
        if (i.op == Op::direction && i.index >= 1 && i.index <= state_count) state_.back() = i.index - 1;
        for (Value operand : {i.a, i.b, i.c}) {
          if (operand != no_value) add(first + operand);
        }
        if (i.op == Op::linear_solve || i.op == Op::newton_solve || i.op == Op::newton_tangent) {
          for (std::uint32_t k = 0; k < i.count; ++k) add(first + chunk.operands[i.first + k]);
        }
        if (i.op == Op::load_work) {
          if (auto found = stored.find(i.index); found != stored.end()) add(found->second);
        }
        const std::uint32_t here = first + v;
        moves_.push_back(state_.back() != no_value || edges_.size() > start_.back());
        if (i.op == Op::store_work) stored[i.index] = here;
        if (i.op == Op::store_derivative) results_.push_back({i.index, here});
      }
      first += static_cast<std::uint32_t>(chunk.instructions.size());
    }
    start_.push_back(edges_.size());
    seen_.assign(first, no_value);
  }

  struct Place {
    std::uint32_t index;
    std::uint32_t instruction;
  };
  const std::vector<Place>& results() const { return results_; }

  // Calls visit(state) once for each state that the k-th result depends on.
  template <class Visit>
  void visit_states(std::uint32_t k, Visit visit) {
    open_.assign(1, results_[k].instruction);
    while (!open_.empty()) {
      const std::uint32_t here = open_.back();
      open_.pop_back();
      if (seen_[here] == k) continue;
      seen_[here] = k;
      if (state_[here] != no_value) visit(state_[here]);
      open_.insert(open_.end(), edges_.begin() + static_cast<std::ptrdiff_t>(start_[here]),
                   edges_.begin() + static_cast<std::ptrdiff_t>(start_[here + 1]));
    }
  }

 private:
  std::vector<std::uint32_t> state_;  // whose direction an instruction reads
  std::vector<std::size_t> start_;
  std::vector<std::uint32_t> edges_;
  std::vector<bool> moves_;
  std::vector<Place> results_;
  std::vector<std::uint32_t> seen_;  // by the result that last came here
  std::vector<std::uint32_t> open_;
};

}  // namespace

ir::Pattern jacobian_pattern(const ir::Function& derivative, std::uint32_t state_count) {
  Dependencies dependencies(derivative, state_count);
  std::vector<std::vector<std::uint32_t>> columns(state_count);
  for (std::uint32_t k = 0; k < dependencies.results().size(); ++k) {
    const std::uint32_t row = dependencies.results()[k].index;
    dependencies.visit_states(k, [&](std::uint32_t state) { columns[state].push_back(row); });
  }
  ir::Pattern pattern;
  pattern.start.push_back(0);
  for (std::vector<std::uint32_t>& rows : columns) {
    std::ranges::sort(rows);
    rows.erase(std::ranges::unique(rows).begin(), rows.end());
    pattern.index.insert(pattern.index.end(), rows.begin(), rows.end());
    pattern.start.push_back(static_cast<std::uint32_t>(pattern.index.size()));
  }
  return pattern;
}

Colouring colour_columns(const ir::Pattern& pattern, std::uint32_t row_count) {
  Colouring colouring;
  const std::size_t columns = pattern.start.size() - 1;
  // By row, a bit for each colour that a column with an entry there has.
  std::vector<std::vector<std::uint64_t>> taken(row_count);
  std::vector<std::uint64_t> forbidden;
  for (std::size_t column = 0; column < columns; ++column) {
    forbidden.assign(forbidden.size(), 0);
    const auto begin = pattern.index.begin() + pattern.start[column];
    const auto end = pattern.index.begin() + pattern.start[column + 1];
    for (auto row = begin; row != end; ++row) {
      const auto& bits = taken[*row];
      if (bits.size() > forbidden.size()) forbidden.resize(bits.size(), 0);
      for (std::size_t k = 0; k < bits.size(); ++k) forbidden[k] |= bits[k];
    }
    std::uint32_t colour = 0;
    for (std::size_t k = 0; k < forbidden.size(); ++k) {
      colour = static_cast<std::uint32_t>(64 * k) + static_cast<std::uint32_t>(std::countr_one(forbidden[k]));
      if (~forbidden[k] != 0) break;
    }
    for (auto row = begin; row != end; ++row) {
      auto& bits = taken[*row];
      if (bits.size() <= colour / 64) bits.resize(colour / 64 + 1, 0);
      bits[colour / 64] |= std::uint64_t{1} << (colour % 64);
    }
    colouring.colours.push_back(colour);
    colouring.count = std::max(colouring.count, colour + 1);
  }
  return colouring;
}

}  // namespace tangent
