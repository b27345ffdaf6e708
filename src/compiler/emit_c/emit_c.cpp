#include "compiler/emit_c/emit_c.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <set>
#include <span>
#include <vector>

#include "abi/model.h"
#include "base/check.h"
#include "compiler/ir/layout.h"
#include "compiler/ir/numbers.h"
#include "compiler/ir/uses.h"
#include "compiler/reroll/reroll.h"
#include "diag/printable.h"

namespace emit_c {

namespace {

using ir::Op;
using ir::Value;

// The statements of one chunk, and which names of its surroundings they read.
struct Body {
  std::string text;
  std::set<std::string> names;  // "t", "x", "dx", "work", ..
};

class ChunkPrinter {
 public:
  ChunkPrinter(const ir::Chunk& chunk, std::string_view prefix)
      : chunk_(chunk), uses_(ir::find_uses(chunk)), prefix_(prefix) {}

  Body print() {
    if (chunk_.turns > 1) line("for (uint32_t k = 0; k < {}; k++) {{", chunk_.turns);
    for (Value v = 0; v < chunk_.instructions.size(); ++v) {
      if (uses_.live[v]) instruction(v);
    }
    if (chunk_.turns > 1) line("}}");
    body_.text.insert(0, lists_);
    return std::move(body_);
  }

 private:
  template <class... A>
  void line(fmt::format_string<A...> format, A&&... arguments) {
    body_.text += "  ";
    fmt::format_to(std::back_inserter(body_.text), format, std::forward<A>(arguments)...);
    body_.text += '\n';
  }

  // `3`, or in turns `3 + 2 * k`.
  static std::string in_turn(std::uint32_t first, std::int32_t step) {
    if (step == 0) return fmt::format("{}", first);
    return fmt::format("{} {} {} * k", first, step < 0 ? '-' : '+', std::abs(std::int64_t{step}));
  }
  // The place of an instruction, or one behind it.
  std::string place(Value v, std::uint32_t behind = 0) {
    const ir::Instruction& i = chunk_.instructions[v];
    if (i.listed == ir::no_value) return in_turn(i.index + behind, i.step);
    TACTUS_CHECK(behind == 0);
    list("uint32_t", "at", v, std::span(chunk_.places).subspan(i.listed, chunk_.turns),
         [](std::uint32_t place) { return fmt::format("{}", place); });
    return fmt::format("at{}[k]", v);
  }

  // What differs from turn to turn by no rule, before the loop.
  template <class Item, class Print>
  void list(const char* type, const char* name, Value v, std::span<const Item> items, Print print) {
    fmt::format_to(std::back_inserter(lists_), "  static const {} {}{}[] = {{", type, name, v);
    for (std::size_t k = 0; k < items.size(); ++k) {
      if (k % 12 == 0) lists_ += "\n     ";
      lists_ += ' ';
      lists_ += print(items[k]);
      lists_ += ',';
    }
    lists_ += "};\n";
  }

  // Element of a section, noting that the section is used.
  std::string element(const char* section, std::string_view index) {
    body_.names.insert(section);
    return fmt::format("{}[{}]", section, index);
  }
  std::string element(const char* section, Value v) { return element(section, place(v)); }

  void define(Value v, std::string_view expression) { line("const double v{} = {};", v, expression); }
  void define_truth(Value v, std::string_view expression) { line("const int v{} = {};", v, expression); }
  void store(const char* section, Value v) { line("{} = v{};", element(section, v), chunk_.instructions[v].a); }

  void call(Value v, const char* function) {
    const ir::Instruction& i = chunk_.instructions[v];
    if (i.b == ir::no_value) {
      define(v, fmt::format("{}(v{})", function, i.a));
    } else {
      define(v, fmt::format("{}(v{}, v{})", function, i.a, i.b));
    }
  }

  void sine_or_cosine(Value v) {
    const ir::Instruction& i = chunk_.instructions[v];
    const Value other = uses_.partner(v);
    if (other == ir::no_value) return call(v, i.op == Op::sin ? "tk_sin" : "tk_cos");
    if (other < v) return;  // computed there
    const auto [sine, cosine] = i.op == Op::sin ? std::pair(v, other) : std::pair(other, v);
    line("double v{}, v{};", sine, cosine);
    line("tk_sincos(v{}, &v{}, &v{});", i.a, sine, cosine);
  }

  void table(Value v) {
    const ir::Instruction& i = chunk_.instructions[v];
    if (i.b == ir::no_value) {
      define(v, fmt::format("tk_table(&{}_tables[{}], {}, v{})", prefix_, i.index, i.size, i.a));
    } else {
      define(v,
             fmt::format("tk_table_2(&{}_tables[{}], {}, {}, v{}, v{})", prefix_, i.index, i.size, i.count, i.a, i.b));
    }
  }

  void solve(Value v) {
    const ir::Instruction& i = chunk_.instructions[v];
    const bool linear = i.op == Op::linear_solve;
    for (std::uint32_t k = 0; k < i.count; ++k)
      line("{} = v{};", element("work", place(v, k)), chunk_.operands[i.first + k]);
    body_.names.insert("work");
    body_.names.insert("status");
    const std::string warm = in_turn(i.warm, i.warm_step);
    if (i.op == Op::newton_tangent) {
      const ir::Instruction& solved = chunk_.instructions[i.a];
      body_.names.insert("warm");
      line("status = tk_newton_tangent({}, {}_residual_tangent_{}, work + {}, warm + {}, work + {}, work + {});",
           i.size, prefix_, i.residual, place(i.a), in_turn(solved.warm, solved.warm_step), place(v),
           place(v, i.count));
    } else if (linear) {
      TACTUS_CHECK(i.count == i.size * i.size + i.size);
      const std::string right = place(v, i.size * i.size);
      if (i.warm == 0) {
        line("status = tk_lu_solve({}, work + {}, work + {});", i.size, place(v), right);
      } else {
        line("status = tk_solve_constrained({}, {}, work + {}, work + {}, work + {});", i.size, i.warm, place(v), right,
             place(v, i.size * i.size + i.size));
      }
    } else {
      body_.names.insert("warm");
      line("status = tk_newton({}, {}_residual_{}, work + {}, warm + {}, work + {});", i.size, prefix_, i.residual,
           place(v), warm, place(v, i.count));
    }
    line("if (status != TACTUS_OK) {{");
    line("  instance->failed_block = {};", in_turn(i.block, i.block_step));
    line("  return status;");
    line("}}");
    auto found = uses_.solutions.find(v);
    if (found == uses_.solutions.end()) return;
    for (Value solution : found->second) {
      const std::uint32_t index = chunk_.instructions[solution].index;
      TACTUS_CHECK(index < i.size);
      if (i.op == Op::newton_solve) {
        define(solution, element("warm", in_turn(i.warm + index, i.warm_step)));
      } else {
        define(solution, element("work", place(v, (linear ? 0 : i.count) + i.size * i.size + index)));
      }
    }
  }

  void instruction(Value v) {
    const ir::Instruction& i = chunk_.instructions[v];
    switch (i.op) {
      case Op::constant:
        if (i.listed == ir::no_value) return define(v, number(i.number));
        list("double", "of", v, std::span(chunk_.numbers).subspan(i.listed, chunk_.turns),
             [](double value) { return number(value); });
        return define(v, fmt::format("of{}[k]", v));
      case Op::time:
        body_.names.insert("t");
        return define(v, "t");
      case Op::state:
        return define(v, element("x", v));
      case Op::input:
        body_.names.insert("t");
        return define(
            v, fmt::format("{} + {} * (t - instance->input_time)", element("inputs", v), element("input_rates", v)));
      case Op::input_rate:
        return define(v, element("input_rates", v));
      case Op::input_time:
        body_.names.insert("instance");
        return define(v, "instance->input_time");
      case Op::parameter:
        return define(v, element("parameters", v));
      case Op::derived:
        return define(v, element("derived", v));
      case Op::discrete:
        return define(v, element("discrete", v));
      case Op::delayed:
        body_.names.insert({"t", "instance"});
        return define(v, fmt::format("tk_delayed(&{}_model, instance, {}, t)", prefix_, place(v)));
      case Op::load_work:
        return define(v, element("work", v));
      case Op::captured:
        return define(v, element("captured", v));
      case Op::unknown:
        return define(v, element("z", v));
      case Op::direction:
        return define(v, element("direction", v));
      case Op::add:
        return define(v, fmt::format("v{} + v{}", i.a, i.b));
      case Op::subtract:
        return define(v, fmt::format("v{} - v{}", i.a, i.b));
      case Op::multiply:
        return define(v, fmt::format("v{} * v{}", i.a, i.b));
      case Op::divide:
        return define(v, fmt::format("v{} / v{}", i.a, i.b));
      case Op::negate:
        return define(v, fmt::format("-v{}", i.a));
      case Op::square_root:
        return call(v, "tk_sqrt");
      case Op::absolute:
        return call(v, "tk_abs");
      case Op::floor:
        return call(v, "tk_floor");
      case Op::ceil:
        return call(v, "tk_ceil");
      case Op::sin:
      case Op::cos:
        return sine_or_cosine(v);
      case Op::tan:
        return call(v, "tk_tan");
      case Op::asin:
        return call(v, "tk_asin");
      case Op::acos:
        return call(v, "tk_acos");
      case Op::atan:
        return call(v, "tk_atan");
      case Op::atan2:
        return call(v, "tk_atan2");
      case Op::exp:
        return call(v, "tk_exp");
      case Op::log:
        return call(v, "tk_log");
      case Op::power:
        return call(v, "tk_pow");
      case Op::table:
        return table(v);
      case Op::noise:
        return define(v, fmt::format("tk_noise({}, v{})", number(i.number), i.a));
      case Op::less:
        return define_truth(v, fmt::format("v{} < v{}", i.a, i.b));
      case Op::less_equal:
        return define_truth(v, fmt::format("v{} <= v{}", i.a, i.b));
      case Op::equal:
        return define_truth(v, fmt::format("v{} == v{}", i.a, i.b));
      case Op::not_equal:
        return define_truth(v, fmt::format("v{} != v{}", i.a, i.b));
      case Op::logical_and:
        return define_truth(v, fmt::format("v{} && v{}", i.a, i.b));
      case Op::logical_or:
        return define_truth(v, fmt::format("v{} || v{}", i.a, i.b));
      case Op::logical_not:
        return define_truth(v, fmt::format("!v{}", i.a));
      case Op::select:
        return define(v, fmt::format("v{} ? v{} : v{}", i.a, i.b, i.c));
      case Op::linear_solve:
      case Op::newton_solve:
      case Op::newton_tangent:
        return solve(v);
      case Op::solution:
        return;  // read behind its solve
      case Op::store_derivative:
        return store("dx", v);
      case Op::store_discrete:
        return store("discrete", v);
      case Op::store_watched:
        return store("watched", v);
      case Op::store_state:
        return store("states", v);
      case Op::store_derived:
        return store("derived", v);
      case Op::store_output:
        return store("outputs", v);
      case Op::store_work:
        return store("work", v);
      case Op::store_warm:
        return store("warm", v);
      case Op::store_residual:
        return store("r", v);
      case Op::store_jacobian:
        return store("j", v);
      case Op::need_determinant:
        line("if (v{} == 0 || v{} - v{} != 0) {{", i.a, i.a, i.a);
        line("  instance->failed_block = {};", in_turn(i.block, i.block_step));
        line("  return TACTUS_SINGULAR;");
        return line("}}");
    }
  }

  const ir::Chunk& chunk_;
  ir::Uses uses_;
  std::string_view prefix_;
  std::string lists_;
  Body body_;
};

// Fit to stand in a comment of C.
std::string comment_text(std::string_view text) {
  std::string result;
  for (char c : text) result += c == '*' || c == '/' || c == '\\' || c == '?' || c == '\n' ? '_' : c;
  return result;
}

class ModelPrinter {
 public:
  ModelPrinter(const ir::Program& program, std::string_view prefix, Entries entries)
      : program_(program), prefix_(prefix), entries_(std::move(entries)), layout_(ir::layout_of(program)) {}

  std::string print() {
    if (!program_.structures.empty()) {
      metadata();
      return std::move(text_);
    }
    if (!program_.delays.empty()) line("extern const tactus_model {}_model;\n", prefix_);
    tables();
    for (std::size_t k = 0; k < program_.residuals.size(); ++k) residual(k);
    function("prepare", program_.prepare, Arguments::none);
    function("initialize", program_.initialize, Arguments::none);
    function("derivative", program_.derivative, Arguments::x_dx);
    function("outputs", program_.outputs, Arguments::x);
    if (program_.watch_count > 0) function("watch", program_.watch, Arguments::x, ir::warm_starts(program_.watch));
    if (!program_.constraints.empty())
      function("constrain", program_.constrain, Arguments::x_dx, ir::warm_starts(program_.constrain));
    if (!program_.conditions.empty())
      function("condition", program_.condition, Arguments::x_dx, ir::warm_starts(program_.condition));
    if (program_.ledger != 0) function("energy", program_.energy, Arguments::x_dx, ir::warm_starts(program_.energy));
    if (program_.has_structure)
      function("structure", program_.structure, Arguments::x_dx, ir::warm_starts(program_.structure));
    if (program_.has_balance) function("balance", program_.balance, Arguments::x_dx);
    if (!program_.core.empty()) function("slopes", program_.slopes, Arguments::x_dx);
    if (!program_.events.empty()) fire();
    if (!program_.subsystems.empty()) subsystems();
    if (program_.tangents) tangent(*program_.tangents);
    metadata();
    return std::move(text_);
  }

 private:
  enum class Arguments { none, x, x_dx, x_direction_dx };  // beyond model and instance

  template <class... A>
  void line(fmt::format_string<A...> format, A&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<A>(arguments)...);
    text_ += '\n';
  }

  void residual(std::size_t k) {
    Body body = ChunkPrinter(program_.residuals[k], prefix_).print();
    TACTUS_CHECK(!body.names.contains("status"));
    line("static void {}_residual_{}(const double* captured, const double* z, double* r, double* j) {{", prefix_, k);
    for (const char* name : {"captured", "z", "r", "j"}) {
      if (!body.names.contains(name)) line("  (void){};", name);
    }
    text_ += body.text;
    line("}}\n");
  }

  // Pointers to the sections that the body uses, then the body.
  void function_body(const Body& body, Arguments arguments, bool with_model,
                     const std::vector<std::uint32_t>& kept_warm = {}) {
    const auto uses = [&](const char* name) { return body.names.contains(name); };
    if (with_model) line("  (void)model;");
    if (arguments == Arguments::none) {
      if (uses("t")) line("  const double t = instance->time;");
      if (uses("x")) line("  const double* const x = tactus_data(instance) + {};", layout_.states);
    } else {
      if (!uses("t")) line("  (void)t;");
      if (!uses("x")) line("  (void)x;");
      if (arguments >= Arguments::x_dx && !uses("dx")) line("  (void)dx;");
      if (arguments == Arguments::x_direction_dx && !uses("direction")) line("  (void)direction;");
    }
    const std::pair<const char*, std::uint32_t> sections[] = {
        {"states", layout_.states},
        {"inputs", layout_.inputs},
        {"input_rates", layout_.input_rates},
        {"parameters", layout_.parameters},
        {"derived", layout_.derived},
        {"outputs", layout_.outputs},
        {"warm", layout_.warm},
        {"discrete", layout_.discrete},
        {"watched", layout_.watched},
        {"work", layout_.work},
    };
    bool instance_used =
        uses("status") || uses("instance") || (arguments == Arguments::none && (uses("t") || uses("x")));
    for (const auto& [name, offset] : sections) {
      if (!uses(name)) continue;
      line("  double* const {} = tactus_data(instance) + {};", name, offset);
      instance_used = true;
    }
    if (!instance_used) line("  (void)instance;");
    if (uses("status")) line("  int status;");
    if (keeps_all(kept_warm)) {
      if (!uses("warm")) line("  double* const warm = tactus_data(instance) + {};", layout_.warm);
      if (!uses("work")) line("  double* const work = tactus_data(instance) + {};", layout_.work);
    }
    keep_warm(kept_warm);
    text_ += body.text;
    restore_warm(kept_warm);
    line("  return TACTUS_OK;\n}}\n");
  }

  // Whether there is room to keep the whole section, which is then a loop.
  bool keeps_all(const std::vector<std::uint32_t>& places) const {
    return !places.empty() && program_.kept_warm_count > 0;
  }
  void keep_warm(const std::vector<std::uint32_t>& places) {
    if (keeps_all(places))
      return line("  for (uint32_t k = 0; k < {}; k++) work[{} + k] = warm[k];", program_.kept_warm_count,
                  ir::kept_warm_place(program_));
    for (std::uint32_t k : places) line("  const double kept_{} = warm[{}];", k, k);
  }
  void restore_warm(const std::vector<std::uint32_t>& places) {
    if (keeps_all(places))
      return line("  for (uint32_t k = 0; k < {}; k++) warm[k] = work[{} + k];", program_.kept_warm_count,
                  ir::kept_warm_place(program_));
    for (std::uint32_t k : places) line("  warm[{}] = kept_{};", k, k);
  }

  // kept_warm: places in the warm section that a success leaves as they were.
  void function(const std::string& name, const ir::Function& function, Arguments arguments,
                const std::vector<std::uint32_t>& kept_warm = {}) {
    static constexpr const char* parameter_lists[] = {
        "tactus_instance* instance",
        "tactus_instance* instance, double t, const double* x",
        "tactus_instance* instance, double t, const double* x, double* dx",
        "tactus_instance* instance, double t, const double* x, const double* direction, double* dx",
    };
    static constexpr const char* argument_lists[] = {"instance", "instance, t, x", "instance, t, x, dx",
                                                     "instance, t, x, direction, dx"};
    const char* parameters = parameter_lists[static_cast<int>(arguments)];
    const char* given = argument_lists[static_cast<int>(arguments)];
    if (function.chunks.size() <= 1) {
      const Body body = function.chunks.empty() ? Body{} : ChunkPrinter(function.chunks[0], prefix_).print();
      line("static int {}_{}(const tactus_model* model, {}) {{", prefix_, name, parameters);
      return function_body(body, arguments, true, kept_warm);
    }
    for (std::size_t k = 0; k < function.chunks.size(); ++k) {
      line("static int {}_{}_{}({}) {{", prefix_, name, k, parameters);
      function_body(ChunkPrinter(function.chunks[k], prefix_).print(), arguments, false);
    }
    line("static int {}_{}(const tactus_model* model, {}) {{", prefix_, name, parameters);
    line("  (void)model;");
    if (!kept_warm.empty()) line("  double* const warm = tactus_data(instance) + {};", layout_.warm);
    if (keeps_all(kept_warm)) line("  double* const work = tactus_data(instance) + {};", layout_.work);
    keep_warm(kept_warm);
    line("  int status = TACTUS_OK;");
    for (std::size_t k = 0; k < function.chunks.size(); ++k) {
      line("  status = {}_{}_{}({});", prefix_, name, k, given);
      if (ir::can_fail(function.chunks[k])) line("  if (status != TACTUS_OK) return status;");
    }
    restore_warm(kept_warm);
    line("  return status;\n}}\n");
  }

  // One function an event that does something, and the choice between them.
  void fire() {
    TACTUS_CHECK(program_.handlers.size() <= program_.events.size());
    for (std::size_t k = 0; k < program_.handlers.size(); ++k) {
      const ir::Function& handler = program_.handlers[k];
      if (handler.chunks.empty()) continue;
      line("/* {} */", comment_text(program_.events[k].name));
      function(fmt::format("handler_{}", k), handler, Arguments::none, ir::warm_starts(handler));
    }
    line("static int {}_fire(const tactus_model* model, tactus_instance* instance, uint32_t event) {{", prefix_);
    const bool any = std::ranges::any_of(program_.handlers, [](const ir::Function& f) { return !f.chunks.empty(); });
    if (!any) line("  (void)model;\n  (void)instance;");
    line("  switch (event) {{");
    for (std::size_t k = 0; k < program_.handlers.size(); ++k) {
      if (program_.handlers[k].chunks.empty()) continue;
      line("    case {}:\n      return {}_handler_{}(model, instance);", k, prefix_, k);
    }
    line("    default:\n      return TACTUS_OK;\n  }}\n}}\n");
  }

  // The functions of all subsystems and the choice between them.
  void subsystems() {
    struct Choice {
      const char* which;
      const char* name;
      ir::Function ir::Subsystem::* source;
    };
    constexpr Choice choices[] = {{"TACTUS_SUBSYSTEM_DERIVATIVE", "derivative", &ir::Subsystem::derivative},
                                  {"TACTUS_SUBSYSTEM_ENERGY", "energy", &ir::Subsystem::energy},
                                  {"TACTUS_SUBSYSTEM_SAMPLES", "samples", &ir::Subsystem::sample}};
    std::string cases;
    for (std::size_t k = 0; k < program_.subsystems.size(); ++k) {
      line("/* {} */", comment_text(program_.subsystems[k].name));
      for (const Choice& choice : choices) {
        const ir::Function& source = program_.subsystems[k].*choice.source;
        if (source.chunks.empty()) continue;
        const bool is_derivative = choice.source == &ir::Subsystem::derivative;
        const std::string name = fmt::format("subsystem_{}_{}", k, choice.name);
        function(name, source, Arguments::x_dx, is_derivative ? std::vector<std::uint32_t>() : ir::warm_starts(source));
        cases += fmt::format(
            "    case TACTUS_SUBSYSTEM_FUNCTIONS * {} + {}:\n      return {}_{}(model, instance, t, x, result);\n", k,
            choice.which, prefix_, name);
      }
    }
    line("static int {}_subsystem(const tactus_model* model, tactus_instance* instance, uint32_t function, double t,",
         prefix_);
    line("    const double* x, double* result) {{");
    line("  switch (function) {{\n{}    default:\n      return TACTUS_OK;\n  }}\n}}\n", cases);
  }

  // The functions' tangents and the choice between them.
  void tangent(const ir::Tangents& tangents) {
    for (std::size_t k = 0; k < tangents.residuals.size(); ++k) {
      Body body = ChunkPrinter(tangents.residuals[k], prefix_).print();
      line(
          "static void {}_residual_tangent_{}(const double* captured, const double* z, const double* direction, "
          "double* r,",
          prefix_, k);
      line("    double* j) {{");
      for (const char* name : {"captured", "z", "direction", "r", "j"}) {
        if (!body.names.contains(name)) line("  (void){};", name);
      }
      text_ += body.text;
      line("}}\n");
    }
    struct Choice {
      const char* which;
      const char* name;
      const ir::Function& source;
      bool of_the_instance;  // t and x
    };
    const Choice choices[] = {
        {"TACTUS_OF_PREPARE", "prepare", tangents.prepare, true},
        {"TACTUS_OF_INITIALIZE", "initialize", tangents.initialize, true},
        {"TACTUS_OF_DERIVATIVE", "derivative", tangents.derivative, false},
        {"TACTUS_OF_OUTPUTS", "outputs", tangents.outputs, false},
        {"TACTUS_OF_WATCH", "watch", tangents.watch, false},
        {"TACTUS_OF_CONSTRAINTS", "constraints", tangents.constraints, false},
        {"TACTUS_OF_CONDITIONS", "conditions", tangents.conditions, false},
    };
    for (const Choice& choice : choices) {
      if (choice.source.chunks.empty()) continue;
      function(fmt::format("{}_tangent", choice.name), choice.source, Arguments::x_direction_dx,
               ir::warm_starts(choice.source));
    }
    for (std::size_t k = 0; k < tangents.handlers.size(); ++k) {
      const ir::Function& handler = tangents.handlers[k];
      if (handler.chunks.empty()) continue;
      function(fmt::format("handler_{}_tangent", k), handler, Arguments::x_direction_dx, ir::warm_starts(handler));
    }
    for (std::size_t k = 0; k < tangents.subsystems.size(); ++k) {
      const ir::Function& source = tangents.subsystems[k];
      if (source.chunks.empty()) continue;
      function(fmt::format("subsystem_{}_tangent", k), source, Arguments::x_direction_dx, ir::warm_starts(source));
    }
    line("static int {}_tangent(const tactus_model* model, tactus_instance* instance, uint32_t function, double t,",
         prefix_);
    line("    const double* x, const double* direction, double* result) {{");
    line("  const double* const states = tactus_data_const(instance) + {};", layout_.states);
    if (tangents.fire) {
      line("  if (function >= TACTUS_OF_FIRE && function < TACTUS_OF_SUBSYSTEM) {{");
      // No loop of no turns: compilers warn of it.
      if (program_.discrete_count > 0) {
        line("    const double* const kept = direction + tactus_direction_discrete(model);");
        line("    for (uint32_t k = 0; k < {}; k++) result[k] = kept[k];", program_.discrete_count);
      }
      if (!program_.state_names.empty()) {
        line("    const double* const moved = direction + tactus_direction_states(model);");
        line("    for (uint32_t k = 0; k < {0}; k++) result[{1} + k] = moved[k];", program_.state_names.size(),
             program_.discrete_count);
      }
      line("  }}");
    }
    line("  (void)t;\n  (void)x;\n  (void)states;\n  (void)direction;\n  (void)result;\n  (void)model;");
    line("  switch (function) {{");
    for (const Choice& choice : choices) {
      line("    case {}:", choice.which);
      if (choice.source.chunks.empty()) {
        line("      return -1;");
      } else {
        line("      return {}_{}_tangent(model, instance, {}, direction, result);", prefix_, choice.name,
             choice.of_the_instance ? "instance->time, states" : "t, x");
      }
    }
    for (std::size_t k = 0; k < tangents.handlers.size(); ++k) {
      if (tangents.handlers[k].chunks.empty()) continue;
      line("    case TACTUS_OF_FIRE + {}:", k);
      line("      return {}_handler_{}_tangent(model, instance, instance->time, states, direction, result);", prefix_,
           k);
    }
    for (std::size_t k = 0; k < tangents.subsystems.size(); ++k) {
      if (tangents.subsystems[k].chunks.empty()) continue;
      line("    case TACTUS_OF_SUBSYSTEM + {}u:", k);
      line("      return {}_subsystem_{}_tangent(model, instance, t, x, direction, result);", prefix_, k);
    }
    line("    default:\n      return {};\n  }}\n}}\n", tangents.fire ? "TACTUS_OK" : "-1");
  }

  // Doubles, as many a line as fit.
  std::string doubles(const std::string& name, std::span<const double> values) {
    if (values.empty()) return "0";
    line("static const double {}_{}[] = {{", prefix_, name);
    std::string row = "   ";
    for (double value : values) {
      const std::string text = number(value);
      if (row.size() + text.size() + 2 > 120) {
        line("{}", row);
        row = "   ";
      }
      row += ' ';
      row += text;
      row += ',';
    }
    line("{}\n}};", row);
    return fmt::format("{}_{}", prefix_, name);
  }

  void tables() {
    if (program_.tables.empty()) return;
    std::string rows;
    for (std::size_t k = 0; k < program_.tables.size(); ++k) {
      const ir::Table& table = program_.tables[k];
      const auto part = [&](const char* name, const std::vector<double>& values) {
        return doubles(fmt::format("table_{}_{}", k, name), values);
      };
      const std::string x = part("x", table.x);
      const std::string y = part("y", table.y);
      const std::string values = part("values", table.values);
      const std::string slopes = part("slopes", table.slopes);
      static constexpr const char* methods[] = {"TACTUS_HOLD", "TACTUS_LINEAR", "TACTUS_CUBIC"};
      rows += fmt::format("    {{{}, {}, {}, {}, {}, {}, {}}},\n", methods[table.method], table.x.size(),
                          table.y.size(), x, y, values, slopes);
    }
    line("static const tactus_table {}_tables[] = {{\n{}}};\n", prefix_, rows);
  }

  // Beyond the longest literal that C11 promises (4095 characters), an array of characters.
  // What the program prints must not steer a terminal, wherever the text comes from.
  std::string text_expression(std::string_view written) {
    const std::string text = diag::printable(written);
    if (text.size() <= 4000) return string_literal(text);
    const std::string array = fmt::format("{}_text_{}", prefix_, long_texts_++);
    text_ += char_array(array, text);
    return array;
  }

  template <class Item, class Print>
  std::string array(const char* type, const char* name, std::span<const Item> items, Print print) {
    if (items.empty()) return "0";
    std::string rows;
    for (const Item& item : items) rows += fmt::format("    {},\n", print(item));
    line("static const {} {}_{}[] = {{\n{}}};\n", type, prefix_, name, rows);
    return fmt::format("{}_{}", prefix_, name);
  }

  std::string events() {
    const ir::EventTable table = ir::event_table(program_);
    if (table.events.empty()) return "0";
    static constexpr const char* kinds[] = {"TACTUS_EVERY",  "TACTUS_AT",      "TACTUS_WHEN",   "TACTUS_TRANSITION",
                                            "TACTUS_AFTER",  "TACTUS_REQUIRE", "TACTUS_EXPECT", "TACTUS_STOP",
                                            "TACTUS_CHOOSE", "TACTUS_CHECK"};
    std::string rows;
    for (std::size_t k = 0; k < table.events.size(); ++k) {
      const tactus_event& e = table.events[k];
      rows += fmt::format("    {{{}, {}, {}, {}, {}, {}, {}, {}, {}u}},\n", text_expression(program_.events[k].name),
                          kinds[e.kind], e.first, e.count, e.line, number(e.period), number(e.from), e.flags, e.pulse);
    }
    line("static const tactus_event {}_events[] = {{\n{}}};\n", prefix_, rows);
    return fmt::format("{}_events", prefix_);
  }

  void metadata() {
    const auto channel = [&](const ir::Channel& c) {
      return fmt::format("{{{}, {}, {}, {}, {}, {}}}", text_expression(c.name), text_expression(c.unit), c.at, c.rows,
                         c.columns, c.flags);
    };
    const std::string channels = array<ir::Channel>("tactus_channel", "channels", program_.channels, channel);
    const std::string input_channels =
        array<ir::Channel>("tactus_channel", "input_channels", program_.input_channels, channel);
    const std::string parameters =
        array<ir::Parameter>("tactus_parameter", "parameters", program_.parameters, [&](const ir::Parameter& p) {
          return fmt::format("{{{}, {}, {}, {}, {}}}", text_expression(p.name), text_expression(p.unit),
                             number(p.initial), number(p.low), number(p.high));
        });
    const std::string ports = array<ir::Port>("tactus_port", "ports", program_.ports, [&](const ir::Port& p) {
      return fmt::format("{{{}, {}, {}}}", text_expression(p.device), p.channel, p.is_input ? 1 : 0);
    });
    const std::string blocks = array<ir::Block>("tactus_block", "blocks", program_.blocks, [&](const ir::Block& b) {
      return fmt::format("{{{}, {}, {}, {}, {}u}}", text_expression(b.equations), text_expression(b.unknowns), b.line,
                         b.count, b.warm);
    });
    const std::string state_names = array<std::string>("char* const", "state_names", program_.state_names,
                                                       [&](const std::string& s) { return text_expression(s); });
    const std::string event_rows = events();
    const std::string event_times = doubles("event_times", ir::event_table(program_).times);
    const std::vector<tactus_delay> delay_table = ir::delay_table(program_);
    const std::string delays = array<tactus_delay>("tactus_delay", "delays", delay_table, [](const tactus_delay& d) {
      return fmt::format("{{{}, {}, {}, {}, {}}}", d.source, d.duration, d.history, d.capacity, d.is_rate);
    });
    const std::string relations =
        array<tactus_relation>("tactus_relation", "relations", program_.relations, [](const tactus_relation& r) {
          return fmt::format("{{{}, {}, {}, {}, {}, {}}}", r.kind == TACTUS_FLOOR ? "TACTUS_FLOOR" : "TACTUS_TRUTH",
                             r.guard, r.held, r.source, r.is_strict, r.line);
        });
    const std::string constraints =
        array<ir::Constraint>("tactus_constraint", "constraints", program_.constraints, [&](const ir::Constraint& c) {
          return fmt::format("{{{}, {}, {}}}", text_expression(c.text), c.line, c.order);
        });
    const std::string conditions =
        array<ir::Condition>("tactus_condition", "conditions", program_.conditions, [&](const ir::Condition& c) {
          return fmt::format("{{{}, {}, {}}}", text_expression(c.text), c.line, number(c.time));
        });
    const auto words = [&](const char* name, const std::vector<std::uint32_t>& values) {
      return array<std::uint32_t>("uint32_t", name, values,
                                  [](std::uint32_t value) { return fmt::format("{}", value); });
    };
    const std::string state_flags = words("state_flags", program_.state_flags);
    const std::string constraint_start = words("constraint_start", program_.constraint_jacobian.start);
    const std::string constraint_index = words("constraint_index", program_.constraint_jacobian.index);
    const ir::Tangents tangents = program_.tangents.value_or(ir::Tangents());
    const std::string jacobian_start = words("jacobian_start", tangents.jacobian.start);
    const std::string jacobian_index = words("jacobian_index", tangents.jacobian.index);
    const std::string colours = words("colours", tangents.colours);
    const std::string factors_start = words("factors_start", tangents.factors.pattern.start);
    const std::string factors_index = words("factors_index", tangents.factors.pattern.index);
    const std::string factor_order = words("factor_order", tangents.factors.order);
    const std::string factor_diagonal = words("factor_diagonal", tangents.factors.diagonal);
    const std::string factor_places = words("factor_places", tangents.factors.places);
    const std::string name = text_expression(program_.name);
    const std::string conflicts_start = words("conflicts_start", program_.conflicts.start);
    const std::string conflicts_index = words("conflicts_index", program_.conflicts.index);
    const bool is_whole = !program_.structures.empty();
    const ir::PlanTable plan_table = ir::plan_table(program_);
    std::string plan_rows;
    for (std::size_t k = 0; k < plan_table.plans.size(); ++k) {
      const tactus_plan& p = plan_table.plans[k];
      plan_rows += fmt::format("    {{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}},\n",
                               text_expression(program_.plans[k].name), p.event, p.failed, p.first_chosen,
                               p.chosen_count, p.guess, p.first_phase, p.phase_count, p.has_otherwise, p.line);
    }
    if (!plan_rows.empty()) line("static const tactus_plan {}_plans[] = {{\n{}}};\n", prefix_, plan_rows);
    const std::string plans = plan_rows.empty() ? "0" : fmt::format("{}_plans", prefix_);
    const std::string plan_phases = array<tactus_plan_phase>(
        "tactus_plan_phase", "plan_phases", plan_table.phases,
        [](const tactus_plan_phase& p) { return fmt::format("{{{}, {}, {}}}", p.event, p.target, p.target_count); });
    const std::string plan_places = words("plan_places", plan_table.places);
    const std::vector<tactus_subsystem> subsystem_table = ir::subsystem_table(program_);
    const std::string subsystem_rows =
        array<tactus_subsystem>("tactus_subsystem", "subsystems", subsystem_table, [](const tactus_subsystem& s) {
          return fmt::format("{{{}, {}, {}, {}, {}, {}}}", s.multiple, s.first_state, s.state_count, s.ledger, s.phase,
                             s.samples);
        });
    const std::string joins = array<tactus_join>("tactus_join", "joins", program_.joins, [](const tactus_join& j) {
      return fmt::format("{{{}, {}, {{{}, {}}}, {{{}, {}}}, {{{}, {}}}, {}, {{{}, {}}}}}", j.manner, j.count,
                         j.subsystem[0], j.subsystem[1], j.sample[0], j.sample[1], j.held[0], j.held[1], j.since,
                         j.work[0], j.work[1]);
    });
    std::string automata = "0", structures = "0", structure_of = "0";
    if (is_whole) {
      std::string rows;
      for (std::size_t i = 0; i < program_.automata.size(); ++i) {
        const ir::Automaton& automaton = program_.automata[i];
        const std::string modes = array<std::string>("char* const", fmt::format("modes_{}", i).c_str(), automaton.modes,
                                                     [&](const std::string& mode) { return text_expression(mode); });
        rows += fmt::format("    {{{}, {}, {}, {}, {}}},\n", text_expression(automaton.name), modes,
                            automaton.modes.size(), automaton.slot, automaton.stride);
      }
      line("static const tactus_automaton {}_automata[] = {{\n{}}};\n", prefix_, rows);
      automata = fmt::format("{}_automata", prefix_);
      rows.clear();
      for (std::size_t k = 0; k < program_.structures.size(); ++k)
        rows += fmt::format("    &{}_in_{}_model,\n", prefix_, k);
      line("static const tactus_model* const {}_structures[] = {{\n{}}};\n", prefix_, rows);
      structures = fmt::format("{}_structures", prefix_);
      structure_of = array<std::uint32_t>("uint32_t", "structure_of", program_.structure_of,
                                          [](std::uint32_t value) { return fmt::format("{}u", value); });
    }

    line("extern const tactus_model {}_model;", prefix_);
    line("const tactus_model {}_model = {{", prefix_);
    line("    .abi = TACTUS_ABI,");
    // Pictures stay behind.
    ir::visit_numbers(program_, [&](std::string_view field, auto, auto value) {
      if (field == "abi" || field.starts_with("drawing")) return;
      if constexpr (std::is_same_v<decltype(value), double>)
        line("    .{} = {},", field, number(value));
      else
        line("    .{} = {},", field, value);
    });
    line(
        "    .layout = {{.states = {}, .inputs = {}, .input_rates = {}, .parameters = {}, .derived = {}, .outputs = "
        "{},",
        layout_.states, layout_.inputs, layout_.input_rates, layout_.parameters, layout_.derived, layout_.outputs);
    line(
        "               .warm = {}, .discrete = {}, .clocks = {}, .history = {}, .ties = {}, .snapshot = {}, .watched "
        "= {},",
        layout_.warm, layout_.discrete, layout_.clocks, layout_.history, layout_.ties, layout_.snapshot,
        layout_.watched);
    line("               .work = {}, .stages = {}, .projection = {}, .plan = {}, .linear = {}, .size = {}}},",
         layout_.work, layout_.stages, layout_.projection, layout_.plan, layout_.linear, layout_.size);
    line("    .name = {},", name);
    line("    .channels = {},", channels);
    line("    .input_channels = {},", input_channels);
    line("    .parameters = {},", parameters);
    line("    .ports = {},", ports);
    line("    .blocks = {},", blocks);
    line("    .events = {},", event_rows);
    line("    .event_times = {},", event_times);
    line("    .delays = {},", delays);
    line("    .tables = {},", program_.tables.empty() ? "0" : fmt::format("{}_tables", prefix_));
    line("    .relations = {},", relations);
    line("    .constraints = {},", constraints);
    line("    .conditions = {},", conditions);
    line("    .state_names = {},", state_names);
    line("    .state_flags = {},", state_flags);
    line("    .jacobian = {{{}, {}}},", jacobian_start, jacobian_index);
    line("    .colours = {},", colours);
    line("    .factors = {{{}, {}}},", factors_start, factors_index);
    line("    .factor_order = {},", factor_order);
    line("    .factor_diagonal = {},", factor_diagonal);
    line("    .factor_places = {},", factor_places);
    line("    .constraint_jacobian = {{{}, {}}},", constraint_start, constraint_index);
    line("    .automata = {},", automata);
    line("    .structures = {},", structures);
    line("    .structure_of = {},", structure_of);
    line("    .conflicts = {{{}, {}}},", conflicts_start, conflicts_index);
    line("    .plans = {},", plans);
    line("    .plan_phases = {},", plan_phases);
    line("    .plan_places = {},", plan_places);
    line("    .core = {{{}}},", program_.core.empty() ? "0" : fmt::format("{}", fmt::join(program_.core, ", ")));
    line("    .subsystems = {},", subsystem_rows);
    line("    .joins = {},", joins);
    if (is_whole) {
      for (const char* entry : {"prepare", "initialize", "derivative", "outputs", "fire", "watch", "constrain",
                                "tangent", "fixed_steps", "adaptive_step"})
        line("    .{} = tk_modes_{},", entry, entry);
      line("    .condition = 0,");
      line("    .energy = 0,");
      line("    .structure = 0,");
      line("    .balance = 0,");
      line("    .slopes = 0,");
      line("    .subsystem = 0,");
      line("}};");
      return;
    }
    for (const char* entry : {"prepare", "initialize", "derivative", "outputs"})
      line("    .{} = {}_{},", entry, prefix_, entry);
    line("    .fire = {},", program_.events.empty() ? "0" : fmt::format("{}_fire", prefix_));
    line("    .watch = {},", program_.watch_count == 0 ? "0" : fmt::format("{}_watch", prefix_));
    line("    .constrain = {},", program_.constraints.empty() ? "0" : fmt::format("{}_constrain", prefix_));
    line("    .condition = {},", program_.conditions.empty() ? "0" : fmt::format("{}_condition", prefix_));
    line("    .energy = {},", program_.ledger == 0 ? "0" : fmt::format("{}_energy", prefix_));
    line("    .balance = {},", program_.has_balance ? fmt::format("{}_balance", prefix_) : "0");
    line("    .slopes = {},", program_.core.empty() ? "0" : fmt::format("{}_slopes", prefix_));
    line("    .structure = {},", program_.has_structure ? fmt::format("{}_structure", prefix_) : "0");
    line("    .subsystem = {},", program_.subsystems.empty() ? "0" : fmt::format("{}_subsystem", prefix_));
    line("    .tangent = {},", program_.tangents ? fmt::format("{}_tangent", prefix_) : "0");
    line("    .fixed_steps = {},", program_.subsystems.empty() ? entries_.fixed_steps : "tk_rated_steps");
    line("    .adaptive_step = {},", entries_.adaptive_step);
    line("}};");
  }

  const ir::Program& program_;
  const std::string prefix_;
  const Entries entries_;
  tactus_layout layout_;
  std::string text_;
  int long_texts_ = 0;
};

}  // namespace

std::string number(double value) {
  if (std::isnan(value)) return "(0.0 / 0.0)";
  if (std::isinf(value)) return value > 0 ? "(1.0 / 0.0)" : "(-1.0 / 0.0)";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text[0] == '-' ? fmt::format("({})", text) : text;
}

std::string string_literal(std::string_view text) {
  std::string literal = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '?') {  // "??=" would be a trigraph
      literal += '\\';
      literal += c;
    } else if (byte < 32 || byte > 126) {
      literal += fmt::format("\\{:03o}", byte);
    } else {
      literal += c;
    }
  }
  literal += '"';
  return literal;
}

std::string char_array(std::string_view name, std::string_view text) {
  std::string result = fmt::format("static const char {}[] = {{", name);
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (k % 24 == 0) result += "\n ";
    fmt::format_to(std::back_inserter(result), " {},", static_cast<int>(static_cast<signed char>(text[k])));
  }
  result += " 0};\n";
  return result;
}

std::string emit_model(const ir::Program& program, std::string_view prefix, const Entries& entries) {
  ir::Program with_loops = reroll::with_loops(program);
  ir::share_layout(with_loops);
  std::string text;
  for (std::size_t k = 0; k < with_loops.structures.size(); ++k)
    text += ModelPrinter(with_loops.structures[k], fmt::format("{}_in_{}", prefix, k), Entries{}).print();
  return text + ModelPrinter(with_loops, prefix, entries).print();
}

}  // namespace emit_c
