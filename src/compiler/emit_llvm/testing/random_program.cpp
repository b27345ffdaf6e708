#include "compiler/emit_llvm/testing/random_program.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <random>

#include "compiler/emit_llvm/testing/chunk_builder.h"

namespace backend_testing {

namespace {

using ir::Op;
using ir::Value;

// std::mt19937_64 is the same everywhere; the standard's distributions are not.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  // 0 .. n - 1
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(engine_() % n); }
  bool chance(std::uint32_t one_in) { return below(one_in) == 0; }
  // A number with few digits in [-4, 4], seldom something special.
  double number() {
    if (chance(40)) {
      static constexpr std::array special = {0.0, -0.0, 1.0, 1e300, -1e-300, 5e-324, 1e15, 0.1};
      return special[below(static_cast<std::uint32_t>(special.size()))];
    }
    return (static_cast<double>(below(8001)) - 4000) / 1000;
  }

 private:
  std::mt19937_64 engine_;
};

// What instructions of a chunk may read.
struct Scope {
  std::uint32_t states = 0;
  std::uint32_t inputs = 0;
  std::uint32_t parameters = 0;
  std::uint32_t derived = 0;
  std::uint32_t discrete = 0;
  std::uint32_t delays = 0;
  std::uint32_t first_work = 0;  // work[first_work .. first_work + stored_work) was stored by earlier chunks
  std::uint32_t stored_work = 0;
  std::uint32_t captured = 0;
  std::uint32_t unknowns = 0;
  bool time = false;
};

class ProgramMaker {
 public:
  explicit ProgramMaker(std::uint64_t seed) : dice_(seed) {}

  ir::Program make(std::uint64_t seed) {
    p_.name = fmt::format("random_{}", seed);
    const std::uint32_t states = dice_.chance(20) ? 17 + dice_.below(8) : 1 + dice_.below(6);
    for (std::uint32_t k = 0; k < states; ++k) p_.state_names.push_back(fmt::format("x[{}]", k + 1));
    const std::uint32_t parameters = dice_.below(4);
    for (std::uint32_t k = 0; k < parameters; ++k)
      p_.parameters.push_back({fmt::format("p{}", k), "", dice_.number(), 0, 0});
    p_.input_count = dice_.below(3);
    for (std::uint32_t k = 0; k < p_.input_count; ++k)
      p_.input_channels.push_back({fmt::format("u{}", k), "", k, 1, 1, 0});
    const std::uint32_t free_derived = dice_.below(3);
    const std::uint32_t delays = dice_.chance(3) ? 1 + dice_.below(2) : 0;
    p_.derived_count = free_derived + delays;
    const std::uint32_t tables = dice_.below(3);
    for (std::uint32_t k = 0; k < tables; ++k) table();
    p_.step_size = 0.01;
    p_.ending_time = 5;

    Scope scope;
    scope.parameters = parameters;
    prepare(scope, free_derived);
    scope.derived = p_.derived_count;
    scope.inputs = p_.input_count;
    scope.time = true;
    p_.discrete_count = dice_.below(4);
    const std::uint32_t events = dice_.below(4);
    p_.event_precision = dice_.chance(2) ? 1e-6 : 0;
    p_.max_transitions = dice_.chance(2) ? 20 : 0;
    initialize(scope, states);
    scope.discrete = p_.discrete_count;
    scope.states = states;
    for (std::uint32_t k = 0; k < delays; ++k)
      p_.delays.push_back(
          {.source = k, .duration = free_derived + k, .capacity = 20 + dice_.below(40), .is_rate = k % 2 == 1});
    scope.delays = delays;
    derivative(scope, states);
    outputs(scope);
    // Watched: sources of delays, conditions of events, something else.
    p_.watch_count = delays;
    for (std::uint32_t k = 0; k < events; ++k) event(scope);
    watch(scope, delays, p_.watch_count);
    return std::move(p_);
  }

 private:
  Value number() { return numbers_[dice_.below(static_cast<std::uint32_t>(numbers_.size()))]; }

  void start_chunk(const Scope& scope) {
    scope_ = scope;
    numbers_.clear();
    truths_.clear();
    numbers_.push_back(b_.constant(dice_.number()));
    for (std::uint32_t k = 0; k < scope.unknowns; ++k) numbers_.push_back(b_.source(Op::unknown, k));
    for (int k = 0; k < 4; ++k) source();
  }

  void source() {
    const auto one = [&](Op op, std::uint32_t count) {
      if (count > 0) numbers_.push_back(b_.source(op, dice_.below(count)));
    };
    switch (dice_.below(13)) {
      case 0:
        if (scope_.time) numbers_.push_back(b_.source(Op::time));
        return;
      case 1:
        return one(Op::input, scope_.inputs);
      case 2:
        return one(Op::input_rate, scope_.inputs);
      case 3:
        return one(Op::parameter, scope_.parameters);
      case 4:
        return one(Op::derived, scope_.derived);
      case 5:
        if (scope_.stored_work > 0)
          numbers_.push_back(b_.source(Op::load_work, scope_.first_work + dice_.below(scope_.stored_work)));
        return;
      case 6:
        return one(Op::captured, scope_.captured);
      case 7:
        numbers_.push_back(b_.constant(dice_.number()));
        return;
      case 8:
        return one(Op::discrete, scope_.discrete);
      case 9:
        return one(Op::delayed, scope_.delays);
      default:
        return one(Op::state, scope_.states);
    }
  }

  // One more instruction, sometimes two.
  void grow() {
    static constexpr std::array unary = {Op::negate, Op::square_root, Op::absolute, Op::floor, Op::ceil,
                                         Op::sin,    Op::cos,         Op::tan,      Op::asin,  Op::acos,
                                         Op::atan,   Op::exp,         Op::log};
    static constexpr std::array binary = {Op::add, Op::subtract, Op::multiply, Op::divide, Op::atan2, Op::power};
    static constexpr std::array compare = {Op::less, Op::less_equal, Op::equal, Op::not_equal};
    const auto pick = [&](const auto& ops) { return ops[dice_.below(static_cast<std::uint32_t>(ops.size()))]; };
    const auto truth = [&] { return truths_[dice_.below(static_cast<std::uint32_t>(truths_.size()))]; };
    switch (dice_.below(13)) {
      case 0:
      case 1:
        return source();
      case 2:
      case 3:
        numbers_.push_back(b_.unary(pick(unary), number()));
        return;
      case 4: {
        const Value angle = number();
        numbers_.push_back(b_.unary(Op::sin, angle));
        if (dice_.chance(2)) source();
        numbers_.push_back(b_.unary(Op::cos, angle));
        return;
      }
      case 5:
        truths_.push_back(b_.binary(pick(compare), number(), number()));
        return;
      case 6:
        if (truths_.empty()) return;
        if (dice_.chance(3)) {
          truths_.push_back(b_.unary(Op::logical_not, truth()));
        } else {
          truths_.push_back(b_.binary(dice_.chance(2) ? Op::logical_and : Op::logical_or, truth(), truth()));
        }
        return;
      case 7:
        if (!truths_.empty()) numbers_.push_back(b_.select(truth(), number(), number()));
        return;
      case 8:
        if (dice_.chance(3)) {
          numbers_.push_back(b_.noise(dice_.below(5), number()));
        } else if (!p_.tables.empty()) {
          const std::uint32_t which = dice_.below(static_cast<std::uint32_t>(p_.tables.size()));
          const std::uint32_t order = dice_.chance(2) ? 0 : dice_.below(4);
          numbers_.push_back(p_.tables[which].y.empty() ? b_.table(which, number(), order)
                                                        : b_.table_2(which, number(), number(), order, dice_.below(3)));
        }
        return;
      default:
        numbers_.push_back(b_.binary(pick(binary), number(), number()));
        return;
    }
  }

  // Increasing numbers around 0.
  std::vector<double> places() {
    std::vector<double> result = {-0.25 * dice_.below(8)};
    const std::uint32_t more = 1 + dice_.below(6);
    for (std::uint32_t k = 0; k < more; ++k) result.push_back(result.back() + 0.03125 * (1 + dice_.below(40)));
    return result;
  }

  void table() {
    ir::Table table;
    table.method = static_cast<tactus_table_method>(dice_.below(3));
    table.x = places();
    if (dice_.chance(3)) table.y = places();
    const std::size_t count = table.x.size() * std::max<std::size_t>(1, table.y.size());
    for (std::size_t k = 0; k < count; ++k) table.values.push_back(dice_.number());
    if (table.method == TACTUS_CUBIC) {
      for (std::size_t k = 0; k < count; ++k) table.slopes.push_back(dice_.number());
    }
    p_.tables.push_back(std::move(table));
  }

  // A recent value made tame: |v| <= 1.6, except that NaN stays NaN; seldom left as it is.
  Value tame() {
    const Value v = numbers_[numbers_.size() - 1 -
                             dice_.below(static_cast<std::uint32_t>(std::min<std::size_t>(4, numbers_.size())))];
    if (dice_.chance(60)) return v;
    // Not finite becomes a constant in most programs: or hardly any would run for long.
    const Value difference = b_.subtract(v, v);
    const Value finite = b_.binary(Op::equal, difference, b_.constant(0));
    const Value safe = dice_.chance(100) ? v : b_.select(finite, v, b_.constant(0.5));
    return b_.unary(Op::atan, safe);
  }

  // Behind the free ones, the durations of delays.
  void prepare(const Scope& scope, std::uint32_t free_derived) {
    if (p_.derived_count == 0 && dice_.chance(2)) return;
    start_chunk(scope);
    for (std::uint32_t k = 0; k < free_derived; ++k) {
      for (int n = 0; n < 3; ++n) grow();
      b_.store(Op::store_derived, k, tame());
    }
    for (std::uint32_t k = free_derived; k < p_.derived_count; ++k)
      b_.store(Op::store_derived, k, b_.constant(0.015625 * (1 + dice_.below(30))));
    p_.prepare.chunks.push_back(b_.take());
  }

  void initialize(const Scope& scope, std::uint32_t states) {
    start_chunk(scope);
    for (std::uint32_t k = 0; k < states; ++k) {
      if (dice_.chance(3)) {
        grow();
        b_.store(Op::store_state, k, tame());
      } else {
        b_.store(Op::store_state, k, b_.constant(dice_.number()));
      }
    }
    for (std::uint32_t k = 0; k < p_.discrete_count; ++k) {
      if (dice_.chance(2)) b_.store(Op::store_discrete, k, dice_.chance(2) ? tame() : b_.constant(dice_.number()));
    }
    p_.initialize.chunks.push_back(b_.take());
  }

  std::uint32_t new_block(std::uint32_t count, std::uint32_t warm) {
    p_.blocks.push_back(
        {"random equations", "unknowns", static_cast<std::uint32_t>(p_.blocks.size() + 1), count, warm});
    return static_cast<std::uint32_t>(p_.blocks.size() - 1);
  }

  void linear_block() {
    const std::uint32_t size = 1 + dice_.below(4);
    std::vector<Value> entries;
    for (std::uint32_t row = 0; row < size; ++row) {
      for (std::uint32_t column = 0; column < size; ++column) {
        const Value entry = tame();
        entries.push_back(row == column && !dice_.chance(10) ? b_.add(entry, b_.constant(2.0 * size)) : entry);
        grow();
      }
    }
    for (std::uint32_t row = 0; row < size; ++row) entries.push_back(tame());
    const Value solve = b_.linear_solve(size, entries, p_.work_count, new_block(size, 0xffffffffu));
    p_.work_count += size * size + size;
    for (std::uint32_t k = 0; k < size; ++k) {
      if (!dice_.chance(4)) numbers_.push_back(b_.solution(solve, k));
    }
  }

  // z_i + atan(some z_k + captured) / 4 = captured: a contraction, with its exact Jacobian; the guess is the last solution.
  void newton_block() {
    const std::uint32_t size = 1 + dice_.below(3);
    const std::uint32_t captured = 1 + dice_.below(3);
    std::vector<Value> values;
    for (std::uint32_t k = 0; k < captured; ++k) {
      values.push_back(tame());
      grow();
    }
    ChunkBuilder r;
    for (std::uint32_t row = 0; row < size; ++row) {
      const std::uint32_t other = dice_.below(size);
      const Value z = r.source(Op::unknown, row);
      const Value inner = r.add(r.source(Op::unknown, other), r.source(Op::captured, dice_.below(captured)));
      const Value bend = r.multiply(r.constant(0.25), r.unary(Op::atan, inner));
      Value right = r.source(Op::captured, dice_.below(captured));
      if (!p_.tables.empty() && p_.tables[0].y.empty()) right = r.add(r.table(0, right), r.noise(row, right));
      r.store(Op::store_residual, row, r.subtract(r.add(z, bend), right));
      const Value slope = r.binary(Op::divide, r.constant(0.25), r.add(r.constant(1), r.multiply(inner, inner)));
      for (std::uint32_t column = 0; column < size; ++column) {
        Value entry = r.constant(column == row ? 1 : 0);
        if (column == other) entry = r.add(entry, slope);
        r.store(Op::store_jacobian, row * size + column, entry);
      }
    }
    p_.residuals.push_back(r.take());
    const Value solve = b_.newton_solve(size, static_cast<std::uint32_t>(p_.residuals.size() - 1), values,
                                        p_.work_count, p_.warm_count, new_block(size, p_.warm_count));
    p_.work_count += captured + size * size + 3 * size;
    p_.warm_count += size;
    for (std::uint32_t k = 0; k < size; ++k) numbers_.push_back(b_.solution(solve, k));
  }

  void derivative(Scope scope, std::uint32_t states) {
    const std::uint32_t chunks = dice_.chance(3) ? 2 + dice_.below(3) : 1;
    // Values between chunks come first in work.
    const std::uint32_t crossing = chunks > 1 ? 3 * (chunks - 1) : 0;
    p_.work_count = crossing;
    for (std::uint32_t c = 0; c < chunks; ++c) {
      start_chunk(scope);
      const std::uint32_t from = states * c / chunks;
      const std::uint32_t to = states * (c + 1) / chunks;
      if (dice_.chance(4)) linear_block();
      if (dice_.chance(4)) newton_block();
      const std::uint32_t size = 3 + dice_.below(12);
      for (std::uint32_t k = 0; k < size; ++k) grow();
      for (std::uint32_t k = from; k < to; ++k) {
        grow();
        // dx = something tame - x: bounded.
        b_.store(Op::store_derivative, k, b_.subtract(tame(), b_.state(k)));
      }
      if (c + 1 < chunks) {
        for (std::uint32_t k = 0; k < 3; ++k) b_.store(Op::store_work, 3 * c + k, tame());
        scope.stored_work = 3 * (c + 1);
      }
      p_.derivative.chunks.push_back(b_.take());
    }
  }

  void outputs(Scope scope) {
    start_chunk(scope);
    if (dice_.chance(6)) linear_block();
    if (dice_.chance(6)) newton_block();
    const std::uint32_t count = 1 + dice_.below(5);
    for (std::uint32_t k = 0; k < count; ++k) {
      for (int n = 0; n < 4; ++n) grow();
      b_.store(Op::store_output, k, number());
      p_.channels.push_back({fmt::format("y{}", k), "", k, 1, 1, 0});
    }
    p_.output_count = count;
    p_.outputs.chunks.push_back(b_.take());
  }

  // watched[0 .. conditions) are numbers, up to `rest` conditions, and seldom one more that nothing needs.
  void watch(const Scope& scope, std::uint32_t conditions, std::uint32_t rest) {
    if (dice_.chance(4)) ++p_.watch_count;
    if (p_.watch_count == 0) return;
    start_chunk(scope);
    if (dice_.chance(6)) linear_block();
    if (dice_.chance(6)) newton_block();
    for (std::uint32_t k = 0; k < p_.watch_count; ++k) {
      for (int n = 0; n < 3; ++n) grow();
      const bool is_condition = k >= conditions && k < rest;
      const Value holds = b_.binary(Op::less, number(), number());
      b_.store(Op::store_watched, k, is_condition ? b_.select(holds, b_.constant(1), b_.constant(0)) : tame());
    }
    p_.watch.chunks.push_back(b_.take());
  }

  void event(Scope scope) {
    ir::Event event;
    event.name = fmt::format("e{}", p_.events.size());
    event.kind = static_cast<tactus_event_kind>(dice_.below(3));
    if (event.kind == TACTUS_EVERY) {
      event.period = 0.03125 * (1 + dice_.below(8));
      event.from = 0.0625 * dice_.below(3);
    }
    if (event.kind == TACTUS_AT) {
      event.times = {0.05 * dice_.below(3)};
      while (!dice_.chance(4)) event.times.push_back(event.times.back() + 0.01 * (1 + dice_.below(20)));
    }
    if (event.kind == TACTUS_WHEN) event.watched = p_.watch_count++;
    event.line = dice_.below(100);
    p_.events.push_back(event);
    ir::Function& handler = p_.handlers.emplace_back();
    if (dice_.chance(8)) return;
    const std::uint32_t chunks = dice_.chance(4) ? 2 : 1;
    scope.stored_work = 0;
    for (std::uint32_t c = 0; c < chunks; ++c) {
      start_chunk(scope);
      if (dice_.chance(6)) linear_block();
      if (dice_.chance(6)) newton_block();
      for (std::uint32_t k = 0; k < p_.discrete_count; ++k) {
        grow();
        if (!dice_.chance(3)) b_.store(Op::store_discrete, k, tame());
        // What was just stored, sometimes.
        numbers_.push_back(b_.source(Op::discrete, k));
      }
      if (c + 1 < chunks) {
        scope.first_work = p_.work_count++;
        scope.stored_work = 1;
        b_.store(Op::store_work, scope.first_work, tame());
      }
      handler.chunks.push_back(b_.take());
    }
  }

  Dice dice_;
  ir::Program p_;
  ChunkBuilder b_;
  Scope scope_;
  std::vector<Value> numbers_;  // of the chunk being made
  std::vector<Value> truths_;
};

}  // namespace

ir::Program random_program(std::uint64_t seed) { return ProgramMaker(seed).make(seed); }

Plan random_plan(std::uint64_t seed) {
  Dice dice(seed ^ 0x9e3779b97f4a7c15u);
  Plan plan;
  static constexpr int solvers[] = {TACTUS_EULER, TACTUS_RK4,   TACTUS_BS3_FIXED,
                                    TACTUS_BS3,   TACTUS_TSIT5, TACTUS_DOP853};
  plan.solver = solvers[dice.below(std::size(solvers))];
  plan.h = !tactus_is_adaptive(plan.solver) ? 0.001 * (1 + dice.below(50)) : 0.5;
  plan.t_end = 3;
  plan.tolerance = 1e-5;
  plan.records = 12;
  plan.steps = 5;
  plan.parts = dice.chance(2);
  if (plan.parts) plan.records = 40;
  return plan;
}

}  // namespace backend_testing
