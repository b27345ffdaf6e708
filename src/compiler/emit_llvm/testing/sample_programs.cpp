#include "compiler/emit_llvm/testing/sample_programs.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "abi/model.h"
#include "compiler/emit_llvm/testing/chunk_builder.h"

namespace backend_testing {

namespace {

using ir::Op;
using ir::Value;

ir::Program start(const char* name, std::initializer_list<const char*> states) {
  ir::Program program;
  program.name = name;
  for (const char* state : states) program.state_names.emplace_back(state);
  program.ending_time = 10;
  program.step_size = 0.01;
  program.tolerance = 1e-6;
  program.record_period = 0.1;
  return program;
}

// initialize: constants; outputs: every state.
void finish(ir::Program& program, const std::vector<double>& initial) {
  ChunkBuilder b;
  for (std::uint32_t k = 0; k < initial.size(); ++k) b.store(Op::store_state, k, b.constant(initial[k]));
  program.initialize.chunks.push_back(b.take());
  for (std::uint32_t k = 0; k < initial.size(); ++k) {
    const std::uint32_t at = program.output_count++;
    b.store(Op::store_output, at, b.state(k));
    program.channels.push_back({program.state_names[k], "", at, 1, 1, 0});
  }
  program.outputs.chunks.push_back(b.take());
}

}  // namespace

ir::Program harmonic_oscillator() {
  ir::Program p = start("oscillator", {"x", "v"});
  p.parameters.push_back({"w", "1/s", 1.25, 0, 10});
  p.derived_count = 1;
  ChunkBuilder b;
  const Value w = b.parameter(0);
  b.store(Op::store_derived, 0, b.multiply(w, w));
  p.prepare.chunks.push_back(b.take());
  const Value x = b.state(0);
  const Value v = b.state(1);
  b.store(Op::store_derivative, 0, v);
  b.store(Op::store_derivative, 1, b.unary(Op::negate, b.multiply(b.source(Op::derived, 0), x)));
  p.derivative.chunks.push_back(b.take());
  finish(p, {1, 0});
  return p;
}

ir::Program swing() {
  ir::Program p = start("swing", {"a", "v"});
  ChunkBuilder b;
  b.store(Op::store_derivative, 0, b.state(1));
  b.store(Op::store_derivative, 1, b.unary(Op::negate, b.unary(Op::sin, b.state(0))));
  p.derivative.chunks.push_back(b.take());
  const Value v = b.state(1);
  b.store(Op::store_derivative, 0, b.unary(Op::sin, b.state(0)));
  b.store(Op::store_derivative, 1, v);
  b.store(Op::store_derivative, 2,
          b.subtract(b.multiply(b.constant(0.5), b.multiply(v, v)), b.unary(Op::cos, b.state(0))));
  p.energy.chunks.push_back(b.take());
  p.discrete_count = 3;
  p.ledger = 1;
  finish(p, {2, 0});
  for (std::uint32_t k = 0; k < 3; ++k) b.store(Op::store_discrete, k, b.constant(0));
  p.initialize.chunks.push_back(b.take());
  return p;
}

ir::Program van_der_pol() {
  ir::Program p = start("van_der_pol", {"x", "v"});
  p.parameters.push_back({"mu", "", 2, 0, 0});
  ChunkBuilder b;
  const Value x = b.state(0);
  const Value v = b.state(1);
  const Value rest = b.subtract(b.constant(1), b.multiply(x, x));
  b.store(Op::store_derivative, 0, v);
  b.store(Op::store_derivative, 1, b.subtract(b.multiply(b.multiply(b.parameter(0), rest), v), x));
  p.derivative.chunks.push_back(b.take());
  finish(p, {2, 0});
  return p;
}

ir::Program linear_block() {
  ir::Program p = start("linear_block", {"a", "b", "c", "d"});
  p.work_count = 20;
  p.blocks.push_back({"a' + b' = 1; ..", "a'; b'; c'; d'", 7, 4, 0xffffffffu});
  ChunkBuilder b;
  std::vector<Value> x;
  for (std::uint32_t k = 0; k < 4; ++k) x.push_back(b.state(k));
  std::vector<Value> entries;
  for (std::uint32_t row = 0; row < 4; ++row) {
    for (std::uint32_t column = 0; column < 4; ++column) {
      const Value part = b.multiply(b.constant(0.25 * (1 + row) - 0.125 * column), x[(row + column) % 4]);
      entries.push_back(row == column ? b.add(b.constant(3.0 + row), part) : part);
    }
  }
  for (std::uint32_t row = 0; row < 4; ++row) {
    entries.push_back(b.subtract(b.unary(Op::sin, b.source(Op::time)), b.multiply(b.constant(0.7), x[row])));
  }
  const Value solve = b.linear_solve(4, entries, 0, 0);
  for (std::uint32_t k = 0; k < 4; ++k) b.store(Op::store_derivative, k, b.solution(solve, k));
  p.derivative.chunks.push_back(b.take());
  finish(p, {0.5, -0.25, 1, 0.1});
  return p;
}

ir::Program newton_block() {
  ir::Program p = start("newton_block", {"x", "y"});
  p.warm_count = 3;
  p.work_count = 1 + 1 + 3 + 2 + 4 + 6;
  p.blocks.push_back({"z + z^3 = cos(t) - x", "z", 3, 1, 0});
  p.blocks.push_back({"u^2 + v = y + 4; u - v = 1", "u; v", 4, 2, 1});
  ChunkBuilder b;
  {
    const Value z = b.source(Op::unknown, 0);
    const Value square = b.multiply(z, z);
    b.store(Op::store_residual, 0, b.subtract(b.add(z, b.multiply(square, z)), b.source(Op::captured, 0)));
    b.store(Op::store_jacobian, 0, b.add(b.constant(1), b.multiply(b.constant(3), square)));
    p.residuals.push_back(b.take());
  }
  {
    const Value u = b.source(Op::unknown, 0);
    const Value v = b.source(Op::unknown, 1);
    b.store(Op::store_residual, 0, b.subtract(b.add(b.multiply(u, u), v), b.source(Op::captured, 0)));
    b.store(Op::store_residual, 1, b.subtract(b.subtract(u, v), b.source(Op::captured, 1)));
    b.store(Op::store_jacobian, 0, b.multiply(b.constant(2), u));
    b.store(Op::store_jacobian, 1, b.constant(1));
    b.store(Op::store_jacobian, 2, b.constant(1));
    b.store(Op::store_jacobian, 3, b.constant(-1));
    p.residuals.push_back(b.take());
  }
  const Value x = b.state(0);
  const Value y = b.state(1);
  const Value first = b.newton_solve(1, 0, {b.subtract(b.unary(Op::cos, b.source(Op::time)), x)}, 0, 0, 0);
  const Value second = b.newton_solve(2, 1, {b.add(y, b.constant(4)), b.constant(1)}, 5, 1, 1);
  b.store(Op::store_derivative, 0, b.solution(first, 0));
  b.store(Op::store_derivative, 1,
          b.subtract(b.solution(second, 1), b.multiply(b.constant(0.3), b.solution(second, 0))));
  p.derivative.chunks.push_back(b.take());
  finish(p, {0.2, 0.1});
  ChunkBuilder guesses;
  guesses.store(Op::store_warm, 1, guesses.constant(1));
  p.initialize.chunks.push_back(guesses.take());
  return p;
}

ir::Program failing_newton() {
  ir::Program p = start("failing_newton", {"x"});
  p.warm_count = 1;
  p.work_count = 5;
  p.blocks.push_back({"unrelated", "u", 1, 1, 0xffffffffu});
  p.blocks.push_back({"z^2 + 1 = x", "z", 2, 1, 0});
  ChunkBuilder b;
  const Value z = b.source(Op::unknown, 0);
  b.store(Op::store_residual, 0, b.subtract(b.add(b.multiply(z, z), b.constant(1)), b.source(Op::captured, 0)));
  b.store(Op::store_jacobian, 0, b.multiply(b.constant(2), z));
  p.residuals.push_back(b.take());
  const Value solve = b.newton_solve(1, 0, {b.state(0)}, 0, 0, 1);
  b.store(Op::store_derivative, 0, b.add(b.multiply(b.solution(solve, 0), b.constant(0)), b.constant(-1)));
  p.derivative.chunks.push_back(b.take());
  finish(p, {2});
  ChunkBuilder guesses;
  guesses.store(Op::store_warm, 0, guesses.constant(1));
  p.initialize.chunks.push_back(guesses.take());
  return p;
}

ir::Program singular_block() {
  ir::Program p = start("singular_block", {"x"});
  p.step_size = 0.0625;
  p.work_count = 6;
  p.blocks.push_back({"x a + 0 b = 1; b = 2", "a; b", 2, 2, 0xffffffffu});
  ChunkBuilder b;
  const Value zero = b.constant(0);
  const Value solve = b.linear_solve(2, {b.state(0), zero, zero, b.constant(1), b.constant(1), b.constant(2)}, 0, 0);
  b.store(Op::store_derivative, 0, b.subtract(b.solution(solve, 1), b.constant(3)));
  p.derivative.chunks.push_back(b.take());
  finish(p, {1.5});
  return p;
}

ir::Program many_chunks() { return long_chain(12, 40); }

ir::Program logic() {
  ir::Program p = start("logic", {"x", "y"});
  ChunkBuilder b;
  const Value x = b.state(0);
  const Value y = b.state(1);
  const Value t = b.source(Op::time);
  const Value zero = b.constant(0);
  const Value nan = b.binary(Op::divide, zero, zero);
  const Value less = b.binary(Op::less, x, y);
  const Value beyond = b.binary(Op::less_equal, b.constant(1), b.unary(Op::absolute, x));
  const Value nan_less = b.binary(Op::less, nan, x);
  const Value nan_less_equal = b.binary(Op::less_equal, x, nan);
  const Value nan_equal = b.binary(Op::equal, nan, nan);
  const Value nan_not_equal = b.binary(Op::not_equal, nan, x);
  const Value zeros_equal = b.binary(Op::equal, b.unary(Op::negate, zero), zero);
  const Value odd = b.binary(Op::not_equal, b.unary(Op::floor, t), b.unary(Op::ceil, t));
  const Value any = b.binary(Op::logical_or, b.binary(Op::logical_or, nan_less, nan_less_equal), nan_equal);
  const Value all =
      b.binary(Op::logical_and, b.binary(Op::logical_and, nan_not_equal, zeros_equal), b.unary(Op::logical_not, any));
  const Value a =
      b.select(b.binary(Op::logical_and, less, b.unary(Op::logical_not, beyond)), y, b.unary(Op::negate, x));
  const Value c = b.select(b.binary(Op::logical_or, odd, beyond), b.constant(0.5), b.constant(-0.25));
  b.store(Op::store_derivative, 0, b.add(a, b.select(all, c, b.constant(1000))));
  b.store(Op::store_derivative, 1, b.subtract(b.select(any, nan, c), b.multiply(y, b.select(less, x, t))));
  p.derivative.chunks.push_back(b.take());
  finish(p, {0.25, 0.5});
  return p;
}

ir::Program all_elementary() {
  ir::Program p = start("all_elementary", {"x", "y"});
  p.ending_time = 30;
  ChunkBuilder b;
  const Value x = b.state(0);
  const Value y = b.state(1);
  b.store(Op::store_derivative, 0, b.add(b.constant(0.75), b.multiply(b.constant(0.1), b.unary(Op::cos, y))));
  b.store(Op::store_derivative, 1, b.subtract(b.unary(Op::sin, b.multiply(x, y)), b.multiply(b.constant(0.5), y)));
  p.derivative.chunks.push_back(b.take());
  finish(p, {-6, 0.3});
  // Outputs: arguments in and out of the functions' domains.
  ChunkBuilder o;
  const Value a = o.state(0);
  const Value c = o.state(1);
  const Value small = o.multiply(a, o.constant(0.2));
  const Value large = o.multiply(a, o.constant(1e5));
  const auto out = [&](const char* name, Value v) {
    const std::uint32_t at = p.output_count++;
    o.store(Op::store_output, at, v);
    p.channels.push_back({name, "", at, 1, 1, 0});
  };
  out("sin", o.unary(Op::sin, a));
  out("cos", o.unary(Op::cos, a));
  out("sin_alone", o.unary(Op::sin, large));
  out("cos_large", o.unary(Op::cos, o.multiply(large, large)));
  out("tan", o.unary(Op::tan, a));
  out("asin", o.unary(Op::asin, small));
  out("acos", o.unary(Op::acos, small));
  out("atan", o.unary(Op::atan, a));
  out("atan2", o.binary(Op::atan2, c, a));
  out("exp", o.unary(Op::exp, o.multiply(a, o.constant(20))));
  out("log", o.unary(Op::log, a));
  out("power", o.binary(Op::power, a, c));
  out("cube", o.binary(Op::power, a, o.constant(3)));
  out("square_root", o.unary(Op::square_root, a));
  out("absolute", o.unary(Op::absolute, a));
  out("floor", o.unary(Op::floor, a));
  out("ceil", o.unary(Op::ceil, a));
  out("negate", o.unary(Op::negate, o.unary(Op::floor, small)));
  out("divide", o.binary(Op::divide, c, o.unary(Op::floor, small)));
  out("cos_first", o.unary(Op::cos, small));
  out("sin_second", o.unary(Op::sin, small));
  out("sin_again", o.unary(Op::sin, small));
  p.outputs.chunks.push_back(o.take());
  return p;
}

ir::Program driven() {
  ir::Program p = start("driven \"?\?=\" \\ caf\xc3\xa9", {"x[1]", "x[2]"});
  p.parameters.push_back({"k", "N/m", 4, 0, 50});
  p.parameters.push_back(
      {"tiny", "", 5e-324, -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()});
  p.input_count = 2;
  p.input_channels.push_back({"hand", "m", 0, 2, 1, 0});
  p.ports.push_back({"hand", 0, true});
  p.ports.push_back({"hand", 0, false});
  ChunkBuilder b;
  const Value k = b.parameter(0);
  const Value pull = b.multiply(k, b.subtract(b.source(Op::input, 0), b.state(0)));
  const Value drift = b.add(b.source(Op::input_rate, 1), b.source(Op::input, 1));
  const Value constant = b.add(b.constant(0.1), b.constant(std::numeric_limits<double>::denorm_min()));
  b.store(Op::store_derivative, 0, b.add(b.state(1), constant));
  b.store(Op::store_derivative, 1, b.subtract(b.add(pull, drift), b.multiply(b.constant(0.2), b.state(1))));
  b.multiply(k, k);  // dead: must be neither printed nor warned about
  p.derivative.chunks.push_back(b.take());
  finish(p, {0, 0});
  p.channels.push_back({"force", "N", 2, 2, 1, TACTUS_CHANNEL_WRITTEN});
  p.channels.push_back({"m", "", 4, 2, 2, 0});
  p.channels.push_back({"x'", "", 8, 1, 1, TACTUS_CHANNEL_DERIVATIVE});
  p.output_count = 9;
  for (std::uint32_t at = 2; at < 9; ++at)
    b.store(Op::store_output, at, b.multiply(b.constant(at), b.source(Op::time)));
  p.outputs.chunks.push_back(b.take());
  p.blocks.push_back({std::string(5000, 'e'), "long text", 1, 1, 0xffffffffu});
  return p;
}

ir::Program reactive() {
  ir::Program p = start("reactive", {"x"});
  p.discrete_count = 2;
  p.watch_count = 2;
  p.warm_count = 2;
  p.work_count = 5;
  p.events.push_back({.name = "add", .kind = TACTUS_EVERY, .period = 0.5, .from = 0.25, .line = 7});
  p.events.push_back({.name = "nothing", .kind = TACTUS_AT, .times = {1, 2.5, 4}, .line = 8});
  p.events.push_back({.name = "solve */ \"?", .kind = TACTUS_WHEN, .watched = 1, .line = 9});
  p.event_precision = 1e-9;
  p.max_transitions = 50;
  p.blocks.push_back({"z + z^3 = x", "z", 3, 1, 0});
  p.blocks.push_back({"z + z^3 = b", "z", 4, 1, 1});
  ChunkBuilder b;
  const Value z = b.source(Op::unknown, 0);
  const Value square = b.multiply(z, z);
  b.store(Op::store_residual, 0, b.subtract(b.add(z, b.multiply(square, z)), b.source(Op::captured, 0)));
  b.store(Op::store_jacobian, 0, b.add(b.constant(1), b.multiply(b.constant(3), square)));
  p.residuals.push_back(b.take());
  const Value flow = b.newton_solve(1, 0, {b.state(0)}, 0, 0, 0);
  b.store(Op::store_derivative, 0, b.subtract(b.source(Op::discrete, 0), b.solution(flow, 0)));
  p.derivative.chunks.push_back(b.take());

  // watch: z of the derivative's block, and whether x < a.
  const Value seen = b.newton_solve(1, 0, {b.state(0)}, 0, 0, 0);
  b.store(Op::store_watched, 0, b.solution(seen, 0));
  const Value below = b.binary(Op::less, b.state(0), b.source(Op::discrete, 0));
  b.store(Op::store_watched, 1, b.select(below, b.constant(1), b.constant(0)));
  p.watch.chunks.push_back(b.take());

  // add: a = a + x / 4, then b = a + t; solve: z + z^3 = b in one chunk, b = -z, a = b / 2 in the next.
  p.handlers.resize(3);
  const Value sum = b.add(b.source(Op::discrete, 0), b.multiply(b.constant(0.25), b.state(0)));
  b.store(Op::store_discrete, 0, sum);
  b.store(Op::store_discrete, 1, b.add(b.source(Op::discrete, 0), b.source(Op::time)));
  p.handlers[0].chunks.push_back(b.take());
  const Value root = b.newton_solve(1, 0, {b.source(Op::discrete, 1)}, 0, 1, 1);
  b.store(Op::store_discrete, 1, b.unary(Op::negate, b.solution(root, 0)));
  p.handlers[2].chunks.push_back(b.take());
  b.store(Op::store_discrete, 0, b.multiply(b.constant(0.5), b.source(Op::discrete, 1)));
  p.handlers[2].chunks.push_back(b.take());

  finish(p, {0.5});
  b.store(Op::store_discrete, 0, b.constant(1));
  b.store(Op::store_discrete, 1, b.unary(Op::cos, b.state(0)));
  p.initialize.chunks.push_back(b.take());
  b.store(Op::store_output, p.output_count, b.source(Op::discrete, 0));
  p.channels.push_back({"a", "", p.output_count++, 1, 1, TACTUS_CHANNEL_DISCRETE});
  p.outputs.chunks.push_back(b.take());
  return p;
}

ir::Program switching() {
  ir::Program p = start("switching", {"x", "v"});
  p.discrete_count = 3;
  p.watch_count = 4;
  p.relations.push_back({TACTUS_TRUTH, 1, 1, 0, 1, 3});
  p.relations.push_back({TACTUS_FLOOR, 2, 2, 3, 1, 4});
  p.events.push_back({.name = "turn", .kind = TACTUS_WHEN, .watched = 0, .line = 5});
  ChunkBuilder b;
  const auto is_forward = [&] { return b.binary(Op::less, b.constant(0.5), b.source(Op::discrete, 1)); };
  const Value friction = b.select(is_forward(), b.constant(0.2), b.constant(-0.2));
  const Value step = b.multiply(b.constant(0.1), b.source(Op::discrete, 2));
  b.store(Op::store_derivative, 0, b.state(1));
  b.store(Op::store_derivative, 1, b.subtract(step, b.add(b.state(0), friction)));
  p.derivative.chunks.push_back(b.take());

  const Value threefold = b.multiply(b.constant(3), b.state(0));
  const Value above = b.subtract(threefold, b.source(Op::discrete, 2));
  b.store(Op::store_watched, 0, b.select(is_forward(), b.constant(1), b.constant(0)));
  b.store(Op::store_watched, 1, b.state(1));
  b.store(Op::store_watched, 2, b.multiply(above, b.subtract(b.constant(1), above)));
  b.store(Op::store_watched, 3, threefold);
  p.watch.chunks.push_back(b.take());

  p.handlers.resize(1);
  b.store(Op::store_discrete, 0, b.add(b.source(Op::discrete, 0), b.constant(1)));
  p.handlers[0].chunks.push_back(b.take());
  finish(p, {2, 0});
  for (std::uint32_t k = 0; k < 3; ++k) {
    b.store(Op::store_output, p.output_count, b.source(Op::discrete, k));
    p.channels.push_back({fmt::format("d{}", k), "", p.output_count++, 1, 1, TACTUS_CHANNEL_DISCRETE});
  }
  p.outputs.chunks.push_back(b.take());
  return p;
}

ir::Program sampled() {
  ir::Program p = start("sampled", {"x", "y"});
  p.tables.push_back({.method = TACTUS_HOLD, .x = {-1, 0, 0.5}, .values = {2, -1, 0.25}});
  p.tables.push_back({.method = TACTUS_LINEAR, .x = {-2, -1, 0.5, 3}, .values = {1, -1, 0.5, 2}});
  p.tables.push_back(
      {.method = TACTUS_CUBIC, .x = {-1, 0, 2, 3}, .values = {0, 1, 1.5, 4}, .slopes = {1.5, 0.4, 0.5, 2}});
  p.tables.push_back({.method = TACTUS_LINEAR, .x = {0, 1, 3}, .y = {-1, 1}, .values = {0, 1, 2, 3, -1, 0.5}});
  p.tables.push_back({.method = TACTUS_CUBIC,
                      .x = {0, 1},
                      .y = {-1, 0.25, 1},
                      .values = {0, 1, 2, 3, -1, 0.5},
                      .slopes = {1, 0.5, 0.25, -1, 0, 1}});
  p.derived_count = 1;
  p.watch_count = 1;
  p.delays.push_back({.source = 0, .duration = 0, .capacity = 64});
  ChunkBuilder b;
  b.store(Op::store_derived, 0, b.constant(0.375));
  p.prepare.chunks.push_back(b.take());
  // x' = y; y' = -x - delayed(x) / 4 + noise / 10
  const Value pull = b.add(b.state(0), b.multiply(b.constant(0.25), b.source(Op::delayed, 0)));
  const Value shake = b.noise(42, b.multiply(b.constant(20), b.source(Op::time)));
  b.store(Op::store_derivative, 0, b.state(1));
  b.store(Op::store_derivative, 1, b.subtract(b.multiply(b.constant(0.1), shake), pull));
  p.derivative.chunks.push_back(b.take());
  b.store(Op::store_watched, 0, b.state(0));
  p.watch.chunks.push_back(b.take());
  finish(p, {1, 0});
  const Value x = b.state(0);
  const Value y = b.state(1);
  const auto out = [&](const std::string& name, Value v) {
    const std::uint32_t at = p.output_count++;
    b.store(Op::store_output, at, v);
    p.channels.push_back({name, "", at, 1, 1, 0});
  };
  for (std::uint32_t order = 0; order < 5; ++order) {
    for (std::uint32_t which = 0; which < 3; ++which)
      out(fmt::format("table{}_{}", which, order), b.table(which, x, order));
    for (std::uint32_t which = 3; which < 5; ++which) {
      out(fmt::format("table{}_{}_0", which, order), b.table_2(which, x, y, order, 0));
      out(fmt::format("table{}_{}_1", which, order), b.table_2(which, x, y, order, 1));
    }
  }
  out("late", b.source(Op::delayed, 0));
  p.outputs.chunks.push_back(b.take());
  return p;
}

std::vector<ir::Program> all_samples() {
  std::vector<ir::Program> samples;
  for (auto* make : {swing, harmonic_oscillator, van_der_pol, linear_block, newton_block, failing_newton,
                     singular_block, many_chunks, logic, all_elementary, driven, reactive, switching, sampled}) {
    samples.push_back(make());
  }
  return samples;
}

ir::Program long_chain(std::size_t masses, std::size_t chunk) {
  ir::Program p = start("long_chain", {});
  p.parameters.push_back({"k", "N/m", 4, 0, 50});
  std::vector<double> initial;
  for (std::size_t k = 0; k < masses; ++k) {
    p.state_names.push_back(fmt::format("x[{}]", k + 1));
    p.state_names.push_back(fmt::format("v[{}]", k + 1));
    initial.push_back(std::sin(0.1 * static_cast<double>(k)));
    initial.push_back(0);
  }
  // work[k]: the force of the spring between mass k - 1 and k.
  p.work_count = static_cast<std::uint32_t>(masses) + 1;
  ChunkBuilder b;
  const auto cut = [&] {
    if (b.size() >= chunk) p.derivative.chunks.push_back(b.take());
  };
  for (std::uint32_t k = 0; k <= masses; ++k) {
    const Value left = k == 0 ? b.constant(0) : b.state(2 * (k - 1));
    const Value right = k == masses ? b.constant(0) : b.state(2 * k);
    const Value stretch = b.subtract(right, left);
    const Value cubic = b.multiply(b.multiply(stretch, stretch), stretch);
    b.store(Op::store_work, k, b.add(b.multiply(b.parameter(0), stretch), b.multiply(b.constant(0.5), cubic)));
    cut();
  }
  for (std::uint32_t k = 0; k < masses; ++k) {
    const Value v = b.state(2 * k + 1);
    const Value force = b.subtract(b.source(Op::load_work, k + 1), b.source(Op::load_work, k));
    b.store(Op::store_derivative, 2 * k, v);
    b.store(Op::store_derivative, 2 * k + 1, b.subtract(force, b.multiply(b.constant(0.01 + 1e-9 * k), v)));
    cut();
  }
  p.derivative.chunks.push_back(b.take());
  for (std::uint32_t k = 0; k < initial.size(); ++k) {
    b.store(Op::store_state, k, b.constant(initial[k]));
    if (b.size() >= chunk) p.initialize.chunks.push_back(b.take());
  }
  p.initialize.chunks.push_back(b.take());
  for (std::uint32_t k = 0; k < initial.size(); ++k) {
    b.store(Op::store_output, k, b.state(k));
    p.channels.push_back({p.state_names[k], "", k, 1, 1, 0});
    if (b.size() >= chunk) p.outputs.chunks.push_back(b.take());
  }
  p.outputs.chunks.push_back(b.take());
  p.output_count = static_cast<std::uint32_t>(initial.size());
  return p;
}

}  // namespace backend_testing
