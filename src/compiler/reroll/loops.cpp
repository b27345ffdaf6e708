#include "compiler/reroll/loops.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace reroll {
namespace {

using ir::Chunk;
using ir::Instruction;
using ir::no_value;
using ir::Op;
using ir::Value;

constexpr std::size_t longest_period = 8;    // statements of a turn
constexpr std::size_t fewest_turns = 8;      // below, straight-line code is no larger
constexpr std::size_t most_pieces = 4;       // of a repetition, each by steps; more are one loop with lists
constexpr std::size_t largest_chunk = 1500;  // as in lower

// Statements order[begin .. begin + period * turns): every period-th of the same class.
struct Repetition {
  std::size_t begin;
  std::size_t period;
  std::size_t turns;
};

// The instructions of two turns that differ at most in places, first guesses, blocks and constants: how they go on from
// one to the next.
struct Steps {
  std::vector<std::int32_t> index, warm, block;
  bool operator==(const Steps&) const = default;
};

class Roller {
 public:
  Roller(const Statements& statements, std::span<const std::uint32_t> order, std::uint32_t first_place)
      : statements_(statements),
        order_(order),
        first_place_(first_place),
        first_of_class_(statements.class_count, no_value) {
    for (std::uint32_t s : order) {
      std::uint32_t& first = first_of_class_[statements.list[s].of_class];
      if (first == no_value) first = s;
    }
  }

  Rolled roll() {
    const std::vector<Repetition> parts = repetitions();
    give_places(parts);
    for (const Repetition& part : parts) {
      if (part.turns < fewest_turns) {
        for (std::size_t k = 0; k < part.period * part.turns; ++k) straight(body(part.begin + k, 1));
      } else {
        repeated(part);
      }
    }
    close_straight();
    drop_unread_stores();
    return {std::move(function_), next_place_ - first_place_};
  }

 private:
  // ---- where classes repeat

  std::uint32_t class_at(std::size_t k) const { return statements_.list[order_[k]].of_class; }

  std::vector<Repetition> repetitions() const {
    std::vector<Repetition> found;
    std::size_t at = 0;
    while (at < order_.size()) {
      Repetition best = {at, 1, 1};
      for (std::size_t period = 1; period <= longest_period && at + period < order_.size(); ++period) {
        std::size_t end = at + period;
        while (end < order_.size() && class_at(end) == class_at(end - period)) ++end;
        const std::size_t turns = (end - at) / period;
        if (turns >= fewest_turns && period * turns > best.period * best.turns) best = {at, period, turns};
        if (best.turns >= fewest_turns) break;
      }
      found.push_back(best);
      at += best.period * best.turns;
    }
    return found;
  }

  // Results of the same statement of every turn lie side by side.
  void give_places(const std::vector<Repetition>& parts) {
    next_place_ = first_place_;
    for (const Repetition& part : parts) {
      for (std::size_t j = 0; j < part.period; ++j) {
        const std::size_t results = statements_.list[order_[part.begin + j]].results.size();
        for (std::size_t r = 0; r < results; ++r) {
          for (std::size_t k = 0; k < part.turns; ++k)
            place_[statements_.list[order_[part.begin + k * part.period + j]].results[r]] = next_place_++;
        }
      }
    }
  }

  // ---- a turn

  // The statements order[begin .. begin + count) on their own: what others made is loaded, what others read is stored.
  Chunk body(std::size_t begin, std::size_t count) {
    Chunk chunk;
    for (std::size_t k = begin; k < begin + count; ++k) add(order_[k], chunk);
    return chunk;
  }

  void add(std::uint32_t s, Chunk& chunk) {
    const Statement& statement = statements_.list[s];
    const Statement& first_alike = statements_.list[first_of_class_[statement.of_class]];
    std::unordered_map<Node, Value> values;
    for (std::size_t n = 0; n < statement.nodes.size(); ++n) {
      const Node v = statement.nodes[n];
      Instruction i = statements_.nodes[v];
      const std::uint32_t owner = statements_.owner[v];
      if (owner != no_value && owner != s) {
        i = {Op::load_work};
        i.index = place_.at(v);
      } else {
        for (Value* operand : {&i.a, &i.b, &i.c}) {
          if (*operand != no_value) *operand = values.at(*operand);
        }
        if (ir::is_solve(i.op)) {
          // Scratch is needed no longer than the statement: all of a class may have the same.
          i.index = statements_.nodes[first_alike.nodes[n]].index;
          const auto first = static_cast<std::uint32_t>(chunk.operands.size());
          for (std::uint32_t k = 0; k < i.count; ++k)
            chunk.operands.push_back(values.at(statements_.operands[i.first + k]));
          i.first = first;
        }
      }
      values[v] = static_cast<Value>(chunk.instructions.size());
      chunk.instructions.push_back(i);
    }
    for (Node v : statement.results) {
      Instruction store = {Op::store_work};
      store.a = values.at(v);
      store.index = place_.at(v);
      chunk.instructions.push_back(store);
    }
  }

  // ---- straight-line code

  void close_straight() {
    if (!straight_.instructions.empty()) function_.chunks.push_back(std::move(straight_));
    straight_ = {};
    held_.clear();
    leaves_.clear();
  }

  void straight(const Chunk& part) {
    if (straight_.instructions.size() >= largest_chunk) close_straight();
    std::vector<Value> value(part.instructions.size(), no_value);
    for (Value v = 0; v < part.instructions.size(); ++v) {
      Instruction i = part.instructions[v];
      for (Value* operand : {&i.a, &i.b, &i.c}) {
        if (*operand != no_value) *operand = value[*operand];
      }
      if (i.op == Op::load_work) {
        const auto [found, is_new] = held_.emplace(i.index, static_cast<Value>(straight_.instructions.size()));
        value[v] = found->second;
        if (!is_new) continue;
      } else if (i.op <= Op::direction) {
        const std::tuple key(i.op, i.index, std::bit_cast<std::uint64_t>(i.number));
        const auto [found, is_new] = leaves_.emplace(key, static_cast<Value>(straight_.instructions.size()));
        value[v] = found->second;
        if (!is_new) continue;
      } else {
        value[v] = static_cast<Value>(straight_.instructions.size());
      }
      if (i.op == Op::store_work) held_[i.index] = i.a;
      if (ir::is_solve(i.op)) {
        const auto first = static_cast<std::uint32_t>(straight_.operands.size());
        for (std::uint32_t k = 0; k < i.count; ++k) straight_.operands.push_back(value[part.operands[i.first + k]]);
        i.first = first;
      }
      straight_.instructions.push_back(i);
    }
  }

  // ---- loops

  static std::optional<Steps> steps_between(const Chunk& one, const Chunk& next) {
    Steps steps;
    for (std::size_t v = 0; v < one.instructions.size(); ++v) {
      const Instruction& a = one.instructions[v];
      const Instruction& b = next.instructions[v];
      if (std::bit_cast<std::uint64_t>(a.number) != std::bit_cast<std::uint64_t>(b.number)) return std::nullopt;
      steps.index.push_back(static_cast<std::int32_t>(b.index - a.index));
      steps.warm.push_back(static_cast<std::int32_t>(b.warm - a.warm));
      steps.block.push_back(static_cast<std::int32_t>(b.block - a.block));
    }
    return steps;
  }

  void repeated(const Repetition& part) {
    std::vector<Chunk> turns;
    for (std::size_t k = 0; k < part.turns; ++k) turns.push_back(body(part.begin + k * part.period, part.period));

    // Pieces that go on by the same steps.
    std::vector<std::pair<std::size_t, std::size_t>> pieces;  // first turn, number of turns
    std::size_t at = 0;
    while (at < turns.size()) {
      std::size_t end = at + 1;
      std::optional<Steps> steps;
      if (end < turns.size()) steps = steps_between(turns[at], turns[end]);
      if (steps) {
        ++end;
        while (end < turns.size() && steps_between(turns[end - 1], turns[end]) == steps) ++end;
        if (end - at < 3 && end < turns.size()) end = at + 1;  // two turns always go on by some steps
      }
      pieces.push_back({at, end - at});
      at = end;
    }
    if (pieces.size() > most_pieces && can_be_listed(turns)) return listed(turns);
    for (const auto& [first, count] : pieces) {
      if (count >= fewest_turns) {
        affine(std::span(turns).subspan(first, count));
      } else {
        for (std::size_t k = first; k < first + count; ++k) straight(turns[k]);
      }
    }
  }

  void affine(std::span<const Chunk> turns) {
    close_straight();
    Chunk loop = turns[0];
    const Steps steps = *steps_between(turns[0], turns[1]);
    for (std::size_t v = 0; v < loop.instructions.size(); ++v) {
      loop.instructions[v].step = steps.index[v];
      loop.instructions[v].warm_step = steps.warm[v];
      loop.instructions[v].block_step = steps.block[v];
    }
    loop.turns = static_cast<std::uint32_t>(turns.size());
    function_.chunks.push_back(std::move(loop));
  }

  // Solves have their places, first guesses and blocks by steps only.
  static bool can_be_listed(std::span<const Chunk> turns) {
    for (std::size_t v = 0; v < turns[0].instructions.size(); ++v) {
      const Instruction& first = turns[0].instructions[v];
      const Instruction& second = turns[1].instructions[v];
      const bool is_rigid = ir::is_solve(first.op) || first.op == Op::need_determinant;
      for (std::size_t k = 1; is_rigid && k < turns.size(); ++k) {
        const Instruction& before = turns[k - 1].instructions[v];
        const Instruction& i = turns[k].instructions[v];
        if (i.index - before.index != second.index - first.index || i.warm - before.warm != second.warm - first.warm ||
            i.block - before.block != second.block - first.block)
          return false;
      }
    }
    return true;
  }

  void listed(std::span<const Chunk> turns) {
    close_straight();
    Chunk loop = turns[0];
    for (std::size_t v = 0; v < loop.instructions.size(); ++v) {
      Instruction& i = loop.instructions[v];
      const Instruction& second = turns[1].instructions[v];
      i.step = static_cast<std::int32_t>(second.index - i.index);
      i.warm_step = static_cast<std::int32_t>(second.warm - i.warm);
      i.block_step = static_cast<std::int32_t>(second.block - i.block);
      bool is_affine = true;
      for (std::size_t k = 1; k < turns.size(); ++k) {
        const Instruction& before = turns[k - 1].instructions[v];
        const Instruction& next = turns[k].instructions[v];
        is_affine = is_affine && next.index - before.index == second.index - i.index &&
                    std::bit_cast<std::uint64_t>(next.number) == std::bit_cast<std::uint64_t>(i.number);
      }
      if (is_affine) continue;
      i.step = 0;
      i.listed = static_cast<std::uint32_t>(i.op == Op::constant ? loop.numbers.size() : loop.places.size());
      for (const Chunk& turn : turns) {
        if (i.op == Op::constant)
          loop.numbers.push_back(turn.instructions[v].number);
        else
          loop.places.push_back(turn.instructions[v].index);
      }
    }
    loop.turns = static_cast<std::uint32_t>(turns.size());
    function_.chunks.push_back(std::move(loop));
  }

  // ---- afterwards

  // Stores into work of which no other chunk reads; loops keep theirs when any turn's is read.
  void drop_unread_stores() {
    std::unordered_set<std::uint32_t> read;
    const auto for_each_place = [](const Chunk& chunk, const Instruction& i, auto visit) {
      for (std::uint32_t k = 0; k < chunk.turns; ++k) visit(ir::place(chunk, i, k));
    };
    for (const Chunk& chunk : function_.chunks) {
      for (const Instruction& i : chunk.instructions) {
        if (i.op == Op::load_work) for_each_place(chunk, i, [&](std::uint32_t place) { read.insert(place); });
      }
    }
    for (Chunk& chunk : function_.chunks) {
      std::vector<Value> value(chunk.instructions.size(), no_value);
      std::vector<Instruction> kept;
      for (Value v = 0; v < chunk.instructions.size(); ++v) {
        Instruction i = chunk.instructions[v];
        if (i.op == Op::store_work) {
          bool is_read = false;
          for_each_place(chunk, i, [&](std::uint32_t place) { is_read = is_read || read.contains(place); });
          if (!is_read) continue;
        }
        for (Value* operand : {&i.a, &i.b, &i.c}) {
          if (*operand != no_value) *operand = value[*operand];
        }
        value[v] = static_cast<Value>(kept.size());
        kept.push_back(i);
      }
      for (Value& operand : chunk.operands) operand = value[operand];
      chunk.instructions = std::move(kept);
    }
  }

  struct HashOfLeaf {
    std::size_t operator()(const std::tuple<Op, std::uint32_t, std::uint64_t>& leaf) const {
      return std::hash<std::uint64_t>()((std::get<2>(leaf) * 31 + std::get<1>(leaf)) * 64 +
                                        static_cast<std::uint64_t>(std::get<0>(leaf)));
    }
  };

  const Statements& statements_;
  std::span<const std::uint32_t> order_;
  std::uint32_t first_place_;
  std::vector<std::uint32_t> first_of_class_;
  std::uint32_t next_place_ = 0;
  std::unordered_map<Node, std::uint32_t> place_;  // in work, of results
  ir::Function function_;
  Chunk straight_;                                 // under way
  std::unordered_map<std::uint32_t, Value> held_;  // in it: by place in work
  std::unordered_map<std::tuple<Op, std::uint32_t, std::uint64_t>, Value, HashOfLeaf> leaves_;
};

}  // namespace

Rolled roll(const Statements& statements, std::span<const std::uint32_t> order, std::uint32_t first_place) {
  return Roller(statements, order, first_place).roll();
}

}  // namespace reroll
