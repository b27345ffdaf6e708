#include "compiler/ir/ir.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <span>

#include "base/check.h"

namespace ir {

bool is_solve(Op op) { return op == Op::linear_solve || op == Op::newton_solve || op == Op::newton_tangent; }

namespace {

// All of an instruction of a straight-line chunk; numbers by their bits.
std::array<std::uint64_t, 12> words(const Instruction& i) {
  return {static_cast<std::uint64_t>(i.op),
          i.a,
          i.b,
          i.c,
          i.index,
          i.size,
          i.first,
          i.count,
          i.residual,
          i.warm,
          i.block,
          std::bit_cast<std::uint64_t>(i.number)};
}

}  // namespace

bool same(const Chunk& one, const Chunk& other) {
  TACTUS_CHECK(one.turns == 1 && other.turns == 1);
  return one.operands == other.operands && std::ranges::equal(one.instructions, other.instructions, {}, words, words);
}

std::size_t hash(const Chunk& chunk) {
  std::uint64_t hash = 14695981039346656037ull;  // FNV-1a by words
  for (const Instruction& i : chunk.instructions) {
    for (std::uint64_t word : words(i)) hash = (hash ^ word) * 1099511628211ull;
  }
  return static_cast<std::size_t>(hash ^ (hash >> 29));
}

bool is_truth(Op op) {
  switch (op) {
    case Op::less:
    case Op::less_equal:
    case Op::equal:
    case Op::not_equal:
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_not:
      return true;
    default:
      return false;
  }
}

const char* name(Op op) {
  switch (op) {
    case Op::constant:
      return "constant";
    case Op::time:
      return "time";
    case Op::state:
      return "state";
    case Op::input:
      return "input";
    case Op::input_rate:
      return "input_rate";
    case Op::input_time:
      return "input_time";
    case Op::parameter:
      return "parameter";
    case Op::derived:
      return "derived";
    case Op::discrete:
      return "discrete";
    case Op::delayed:
      return "delayed";
    case Op::load_work:
      return "load_work";
    case Op::captured:
      return "captured";
    case Op::unknown:
      return "unknown";
    case Op::direction:
      return "direction";
    case Op::add:
      return "add";
    case Op::subtract:
      return "subtract";
    case Op::multiply:
      return "multiply";
    case Op::divide:
      return "divide";
    case Op::negate:
      return "negate";
    case Op::square_root:
      return "square_root";
    case Op::absolute:
      return "absolute";
    case Op::floor:
      return "floor";
    case Op::ceil:
      return "ceil";
    case Op::sin:
      return "sin";
    case Op::cos:
      return "cos";
    case Op::tan:
      return "tan";
    case Op::asin:
      return "asin";
    case Op::acos:
      return "acos";
    case Op::atan:
      return "atan";
    case Op::atan2:
      return "atan2";
    case Op::exp:
      return "exp";
    case Op::log:
      return "log";
    case Op::power:
      return "power";
    case Op::table:
      return "table";
    case Op::noise:
      return "noise";
    case Op::less:
      return "less";
    case Op::less_equal:
      return "less_equal";
    case Op::equal:
      return "equal";
    case Op::not_equal:
      return "not_equal";
    case Op::logical_and:
      return "logical_and";
    case Op::logical_or:
      return "logical_or";
    case Op::logical_not:
      return "logical_not";
    case Op::select:
      return "select";
    case Op::linear_solve:
      return "linear_solve";
    case Op::newton_solve:
      return "newton_solve";
    case Op::newton_tangent:
      return "newton_tangent";
    case Op::solution:
      return "solution";
    case Op::store_derivative:
      return "store_derivative";
    case Op::store_discrete:
      return "store_discrete";
    case Op::store_watched:
      return "store_watched";
    case Op::store_state:
      return "store_state";
    case Op::store_derived:
      return "store_derived";
    case Op::store_output:
      return "store_output";
    case Op::store_work:
      return "store_work";
    case Op::store_warm:
      return "store_warm";
    case Op::store_residual:
      return "store_residual";
    case Op::store_jacobian:
      return "store_jacobian";
    case Op::need_determinant:
      return "need_determinant";
  }
  TACTUS_CHECK(false);
}

namespace {

// `3`; in turns `3 + 2k`, or `3, 9, 4, ..` of a list.
std::string place_text(std::uint32_t first, std::int32_t step) {
  return step == 0 ? fmt::format("{}", first) : fmt::format("{} {:+}k", first, step);
}
std::string place_text(const Chunk& chunk, const Instruction& i) {
  if (i.listed == no_value) return place_text(i.index, i.step);
  std::string text;
  const std::uint32_t shown = std::min(chunk.turns, 3u);
  for (std::uint32_t k = 0; k < shown; ++k) {
    if (i.op == Op::constant)
      fmt::format_to(std::back_inserter(text), "{}, ", chunk.numbers[i.listed + k]);
    else
      fmt::format_to(std::back_inserter(text), "{}, ", chunk.places[i.listed + k]);
  }
  return text + "..";
}

// `  v7 = add v3 v4`, `  store_output[2] v7`, `  v9 = linear_solve size 2 block 0 work 5 (v1 v2 v3 v4; v5 v6)`
void dump_chunk(const Chunk& chunk, std::string& text) {
  auto out = std::back_inserter(text);
  for (Value v = 0; v < chunk.instructions.size(); ++v) {
    const Instruction& i = chunk.instructions[v];
    const bool is_store = i.op >= Op::store_derivative;
    if (is_store) {
      fmt::format_to(out, "  {}[{}] v{}\n", name(i.op), place_text(chunk, i), i.a);
      continue;
    }
    fmt::format_to(out, "  v{} = {}", v, name(i.op));
    switch (i.op) {
      case Op::constant:
        fmt::format_to(out, " {}", i.listed == no_value ? fmt::format("{}", i.number) : place_text(chunk, i));
        break;
      case Op::state:
      case Op::input:
      case Op::input_rate:
      case Op::parameter:
      case Op::derived:
      case Op::discrete:
      case Op::delayed:
      case Op::load_work:
      case Op::captured:
      case Op::unknown:
      case Op::direction:
        fmt::format_to(out, "[{}]", place_text(chunk, i));
        break;
      case Op::solution:
        fmt::format_to(out, "[{}] v{}", i.index, i.a);
        break;
      case Op::table:
        fmt::format_to(out, "[{}] v{}", i.index, i.a);
        if (i.b != no_value) fmt::format_to(out, " v{}", i.b);
        if (i.size > 0 || i.count > 0) fmt::format_to(out, " differentiated {} {}", i.size, i.count);
        break;
      case Op::noise:
        fmt::format_to(out, " {} v{}", i.number, i.a);
        break;
      case Op::linear_solve:
      case Op::newton_solve:
      case Op::newton_tangent:
        fmt::format_to(out, " size {} block {} work {}", i.size, place_text(i.block, i.block_step),
                       place_text(chunk, i));
        if (i.op == Op::newton_solve)
          fmt::format_to(out, " warm {} residual {}", place_text(i.warm, i.warm_step), i.residual);
        if (i.op == Op::newton_tangent) fmt::format_to(out, " of v{} residual {}", i.a, i.residual);
        text += " (";
        for (std::uint32_t k = 0; k < i.count; ++k) {
          if (k > 0) text += i.op == Op::linear_solve && k == i.size * i.size ? "; " : " ";
          fmt::format_to(out, "v{}", chunk.operands[i.first + k]);
        }
        text += ")";
        break;
      default:
        for (Value operand : {i.a, i.b, i.c}) {
          if (operand != no_value) fmt::format_to(out, " v{}", operand);
        }
    }
    text += '\n';
  }
}

void dump_function(const std::string& title, const Function& function, std::string& text) {
  for (std::size_t k = 0; k < function.chunks.size(); ++k) {
    const std::uint32_t turns = function.chunks[k].turns;
    fmt::format_to(std::back_inserter(text), "{} chunk {}{}\n", title, k,
                   turns == 1 ? "" : fmt::format(", turns k = 0 .. {}", turns - 1));
    dump_chunk(function.chunks[k], text);
  }
}

const char* name(tactus_table_method method) {
  switch (method) {
    case TACTUS_HOLD:
      return "hold";
    case TACTUS_LINEAR:
      return "linear";
    case TACTUS_CUBIC:
      return "cubic";
  }
  TACTUS_CHECK(false);
}

// `event 0 clock: every 0.1 from 0`, `delay 0: watched 2, duration derived 1, 512 samples`, `table 0: linear 5 x 3`
void dump_hybrid(const Program& program, std::string& text) {
  auto out = std::back_inserter(text);
  if (program.discrete_count > 0) fmt::format_to(out, "{} discrete\n", program.discrete_count);
  if (program.watch_count > 0) fmt::format_to(out, "{} watched\n", program.watch_count);
  for (std::size_t k = 0; k < program.events.size(); ++k) {
    const Event& event = program.events[k];
    fmt::format_to(out, "event {} {}:", k, event.name);
    switch (event.kind) {
      case TACTUS_EVERY:
        fmt::format_to(out, " every {} from {}\n", event.period, event.from);
        break;
      case TACTUS_AT:
        fmt::format_to(out, " at {}\n", fmt::join(event.times, ", "));
        break;
      case TACTUS_WHEN:
        fmt::format_to(out, " when watched {}\n", event.watched);
        break;
      case TACTUS_TRANSITION:
        fmt::format_to(out, " a jump while watched {}\n", event.watched);
        break;
      case TACTUS_AFTER:
        text += " after the jump before it\n";
        break;
      case TACTUS_REQUIRE:
        fmt::format_to(out, " fails while watched {}\n", event.watched);
        break;
      case TACTUS_EXPECT:
        fmt::format_to(out, " warns while watched {}\n", event.watched);
        break;
      case TACTUS_STOP:
        fmt::format_to(out, " ends the run while watched {}\n", event.watched);
        break;
      case TACTUS_CHECK:
        fmt::format_to(out, " is broken while watched {}\n", event.watched);
        break;
      case TACTUS_CHOOSE:
        text += " at the start\n";
        break;
    }
  }
  for (std::size_t k = 0; k < program.relations.size(); ++k) {
    const tactus_relation& relation = program.relations[k];
    fmt::format_to(out, "relation {}: discrete {} holds watched {}", k, relation.held, relation.guard);
    if (relation.kind == TACTUS_FLOOR) fmt::format_to(out, ", floor of watched {}", relation.source);
    text += relation.is_strict ? ", strict\n" : "\n";
  }
  for (std::size_t k = 0; k < program.constraints.size(); ++k) {
    const Constraint& constraint = program.constraints[k];
    fmt::format_to(out, "constraint {}: line {}, differentiated {} times: {}\n", k, constraint.line, constraint.order,
                   constraint.text);
  }
  for (std::size_t k = 0; k < program.conditions.size(); ++k) {
    const Condition& condition = program.conditions[k];
    fmt::format_to(out, "condition {}: line {}, at {}: {}\n", k, condition.line, condition.time, condition.text);
  }
  for (std::size_t k = 0; k < program.delays.size(); ++k) {
    const Delay& delay = program.delays[k];
    fmt::format_to(out, "delay {}: watched {}, duration derived {}, {} samples{}\n", k, delay.source, delay.duration,
                   delay.capacity, delay.is_rate ? ", a rate" : "");
  }
  for (std::size_t k = 0; k < program.tables.size(); ++k) {
    const Table& table = program.tables[k];
    fmt::format_to(out, "table {}: {} {}", k, name(table.method), table.x.size());
    if (!table.y.empty()) fmt::format_to(out, " x {}", table.y.size());
    text += '\n';
  }
}

void dump_tangents(const Tangents& tangents, std::string& text) {
  dump_function("tangent of prepare", tangents.prepare, text);
  dump_function("tangent of initialize", tangents.initialize, text);
  dump_function("tangent of derivative", tangents.derivative, text);
  dump_function("tangent of outputs", tangents.outputs, text);
  dump_function("tangent of watch", tangents.watch, text);
  dump_function("tangent of constraints", tangents.constraints, text);
  dump_function("tangent of conditions", tangents.conditions, text);
  for (std::size_t k = 0; k < tangents.handlers.size(); ++k) {
    dump_function(fmt::format("tangent of handler {}", k), tangents.handlers[k], text);
  }
  for (std::size_t k = 0; k < tangents.subsystems.size(); ++k) {
    dump_function(fmt::format("tangent of subsystem {}", k), tangents.subsystems[k], text);
  }
  for (std::size_t k = 0; k < tangents.residuals.size(); ++k) {
    fmt::format_to(std::back_inserter(text), "tangent of residual {}\n", k);
    dump_chunk(tangents.residuals[k], text);
  }
  for (std::size_t k = 0; k < tangents.colours.size(); ++k) {
    const auto rows =
        std::span(tangents.jacobian.index)
            .subspan(tangents.jacobian.start[k], tangents.jacobian.start[k + 1] - tangents.jacobian.start[k]);
    fmt::format_to(std::back_inserter(text), "jacobian column {}: colour {}, rows {}\n", k, tangents.colours[k],
                   fmt::join(rows, " "));
  }
}

}  // namespace

std::string dump(const Program& program) {
  std::string text;
  fmt::format_to(std::back_inserter(text),
                 "model {}: {} states, {} inputs, {} parameters, {} derived, {} outputs, {} warm, {} work\n",
                 program.name, program.state_names.size(), program.input_count, program.parameters.size(),
                 program.derived_count, program.output_count, program.warm_count, program.work_count);
  dump_hybrid(program, text);
  dump_function("prepare", program.prepare, text);
  dump_function("initialize", program.initialize, text);
  dump_function("derivative", program.derivative, text);
  dump_function("outputs", program.outputs, text);
  dump_function("watch", program.watch, text);
  dump_function("constrain", program.constrain, text);
  dump_function("condition", program.condition, text);
  dump_function("energy", program.energy, text);
  dump_function("structure", program.structure, text);
  dump_function("balance", program.balance, text);
  dump_function("slopes", program.slopes, text);
  for (std::size_t k = 0; k < program.handlers.size(); ++k) {
    dump_function(fmt::format("handler {}", k), program.handlers[k], text);
  }
  for (const Subsystem& s : program.subsystems) {
    fmt::format_to(std::back_inserter(text), "subsystem {}: every {} steps, states {}..{}\n", s.name, s.multiple,
                   s.first_state, s.first_state + s.state_count);
    dump_function("derivative of " + s.name, s.derivative, text);
    dump_function("energy of " + s.name, s.energy, text);
    dump_function("samples of " + s.name, s.sample, text);
  }
  for (std::size_t k = 0; k < program.residuals.size(); ++k) {
    fmt::format_to(std::back_inserter(text), "residual {}\n", k);
    dump_chunk(program.residuals[k], text);
  }
  if (program.tangents) dump_tangents(*program.tangents, text);
  for (std::size_t k = 0; k < program.blocks.size(); ++k) {
    const Block& block = program.blocks[k];
    fmt::format_to(std::back_inserter(text), "block {}: line {}: solve {{{}}} for {{{}}}\n", k, block.line,
                   block.equations, block.unknowns);
  }
  for (const Program& structure : program.structures) text += dump(structure);
  return text;
}

}  // namespace ir
