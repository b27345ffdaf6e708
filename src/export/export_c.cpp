#include "export/export_c.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>
#include <vector>

#include "abi/model.h"
#include "compiler/emit_c/emit_c.h"
#include "compiler/ir/layout.h"
#include "compiler/tangent/needed.h"
#include "export/amalgamate.h"
#include "export/texts.h"
#include "runtime/trace/csv_writer.h"
#include "runtime/trace/output_file.h"

namespace exporting {

namespace {

// One scalar of the outputs section in the CSV.
struct Column {
  std::string label;
  std::string unit;
  std::uint32_t at = 0;
};

// A value of an instance that no `external` writes; of a device it is not one.
bool is_inside(const ir::Program& program, const ir::Channel& channel) {
  const std::size_t dot = channel.name.find('.');
  if (dot == std::string::npos || (channel.flags & TACTUS_CHANNEL_WRITTEN)) return false;
  return std::none_of(program.ports.begin(), program.ports.end(),
                      [&](const ir::Port& port) { return channel.name.compare(0, dot, port.device) == 0; });
}

// The columns of `tactus run`, as driver/channels.h has them: without constants, derivatives and the insides of
// instances; when there are none, with these; when there are none, all but derivatives. Never what only a scene shows.
std::vector<Column> default_columns(const ir::Program& program) {
  std::vector<Column> columns;
  struct Pass {
    std::uint32_t excluded;
    bool inside;
  };
  constexpr std::uint32_t still = TACTUS_CHANNEL_CONSTANT;
  constexpr std::uint32_t derivative = TACTUS_CHANNEL_DERIVATIVE;
  for (const auto [excluded, inside] :
       {Pass{still | derivative, false}, Pass{still | derivative, true}, Pass{derivative, true}}) {
    if (!columns.empty()) break;
    for (const ir::Channel& c : program.channels) {
      if ((c.flags & (excluded | TACTUS_CHANNEL_SCENE)) || (!inside && is_inside(program, c))) continue;
      for (std::uint32_t k = 0; k < c.rows * c.columns; ++k) {
        std::string label = c.name;
        if (c.rows * c.columns > 1 && c.columns == 1) label = fmt::format("{}[{}]", c.name, k + 1);
        if (c.columns > 1) label = fmt::format("{}[{}][{}]", c.name, k / c.columns + 1, k % c.columns + 1);
        columns.push_back({std::move(label), c.unit, c.at + k});
      }
    }
  }
  return columns;
}

// The solver that a run takes without options, as runtime/sim/plan.h has it.
int default_solver(const ir::Program& program) {
  const bool has_step = program.step_size != 0;
  return tactus_choose_solver(program.solver, has_step, program.tolerance != 0);
}

// The kernel's loop of that solver inlined around the model, as kernel/specialise.c does for the JIT.
std::string specialised_loop(const ir::Program& program, const std::string& name, emit_c::Entries& entries) {
  struct Method {
    int solver;
    const char* constant;
    const char* tableau;
  };
  static constexpr Method methods[] = {{TACTUS_EULER, "TACTUS_EULER", "tk_euler"},
                                       {TACTUS_RK4, "TACTUS_RK4", "tk_rk4"},
                                       {TACTUS_BS3_FIXED, "TACTUS_BS3_FIXED", "tk_bs3_fixed"},
                                       {TACTUS_BS3, "TACTUS_BS3", "tk_bs3"},
                                       {TACTUS_TSIT5, "TACTUS_TSIT5", "tk_tsit5"},
                                       {TACTUS_DOP853, "TACTUS_DOP853", "tk_dop853"}};
  const int solver = default_solver(program);
  if (!program.structures.empty() || !program.subsystems.empty()) return "";  // loops over others
  if (solver == TACTUS_MIDPOINT || solver == TACTUS_DISCRETE_GRADIENT || solver == TACTUS_PASSIVE) {
    const std::string call = solver == TACTUS_PASSIVE
                                 ? fmt::format("tk_passive_run(&{}_model, instance, &tk_euler, h, count, 1)", name)
                                 : fmt::format("tk_implicit_run(&{0}_model, &{0}_model, instance, {1}, h, count, 1)",
                                               name, solver == TACTUS_MIDPOINT ? 0 : 1);
    entries.fixed_steps = name + "_fixed_steps";
    return fmt::format(R"(
extern const tactus_model {0}_model;
/* The model's own solver as a loop around the model; every other one as it is in the kernel. The bits are the same. */
static int {0}_fixed_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count) {{
  (void)model;
  if (solver != {1}) return tk_fixed_steps(&{0}_model, instance, solver, h, count);
  return {2};
}}

)",
                       name,
                       solver == TACTUS_MIDPOINT  ? "TACTUS_MIDPOINT"
                       : solver == TACTUS_PASSIVE ? "TACTUS_PASSIVE"
                                                  : "TACTUS_DISCRETE_GRADIENT",
                       call);
  }
  const auto* method = std::ranges::find(methods, solver, &Method::solver);
  if (method == std::end(methods)) return "";
  if (!tactus_is_adaptive(solver)) {
    entries.fixed_steps = name + "_fixed_steps";
    return fmt::format(R"(
extern const tactus_model {0}_model;
/* The model's own solver as a loop around the model; every other one as it is in the kernel. The bits are the same. */
static int {0}_fixed_steps(const tactus_model* model, tactus_instance* instance, int solver, double h, int64_t count) {{
  (void)model;
  if (solver != {1}) return tk_fixed_steps(&{0}_model, instance, solver, h, count);
  return tk_fixed_run(&{0}_model, instance, &{2}, h, count, 1);
}}

)",
                       name, method->constant, method->tableau);
  }
  entries.adaptive_step = name + "_adaptive_step";
  return fmt::format(R"(
extern const tactus_model {0}_model;
/* The model's own solver as a loop around the model; every other one as it is in the kernel. The bits are the same. */
static int {0}_adaptive_step(const tactus_model* model, tactus_instance* instance, int solver, double t_end, double h_max,
                             double tolerance) {{
  (void)model;
  if (solver != {1}) return tk_adaptive_step(&{0}_model, instance, solver, t_end, h_max, tolerance);
  return tk_adaptive_run(&{0}_model, instance, &{2}, t_end, h_max, tolerance, 1);
}}

)",
                     name, method->constant, method->tableau);
}

// What main needs to know; see text/run_main.c.
std::string run_constants(const ir::Program& program, const std::string& name) {
  const std::vector<Column> columns = default_columns(program);
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "#define RUN_MODEL {}_model\n", name);
  fmt::format_to(out, "#define RUN_DOUBLES {}\n", ir::layout_of(program).size);
  fmt::format_to(out, "#define RUN_STATES {}\n", std::max<std::size_t>(1, program.state_names.size()));
  fmt::format_to(out, "#define RUN_WARM {}\n", std::max<std::uint32_t>(1, program.warm_count));
  fmt::format_to(out, "#define RUN_EVENTS {}\n", std::max<std::size_t>(1, program.events.size()));
  fmt::format_to(out, "#define RUN_STRUCTURES {}\n", program.structures.size());
  fmt::format_to(out, "#define RUN_COLUMNS {}\n", columns.size());
  text += "static const uint32_t run_columns[] = {";
  for (const Column& column : columns) fmt::format_to(out, "{}, ", column.at);
  text += "0};\n";
  std::string header = "t";
  for (const Column& column : columns) header += "," + trace::csv_name(trace::column_title(column.label, column.unit));
  header += "\n";
  text += emit_c::char_array("run_header", header);
  return text;
}

std::string api(const std::string& name) {
  return fmt::format(R"(
/* An instance is {0}_bytes() bytes, aligned to 8; any number of them may run at once. Functions return TACTUS_OK or why not.
 *
 *   {0}_reset(i);  {0}_set(i, "k", 4, 0);  {0}_start(i);
 *   {0}_step(i, 0.001, 1);  y = {0}_get(i, "x"); */
uint64_t {0}_bytes(void);
/* Everything as the model's text says, parameters included. */
int {0}_reset(tactus_instance* instance);
/* The states at the starting time, from the parameters and inputs as they are. */
int {0}_start(tactus_instance* instance);
/* `count` steps of length h with the model's fixed-step solver (rk4 when it has none); events fire where they fall. */
int {0}_step(tactus_instance* instance, double h, int64_t count);
/* To t_end with the model's adaptive solver (tsit5 when it has none, rosenbrock where the model says cvode). */
int {0}_advance(tactus_instance* instance, double t_end, double tolerance);
double {0}_time(const tactus_instance* instance);
/* A parameter or an input by name, components as "p[1]". From now on an input moves by `rate` a second, until it is set again: what the
 * model reads as u' is that rate. A parameter has none. 0 when there is none of that name. */
int {0}_set(tactus_instance* instance, const char* parameter_or_input, double value, double rate);
/* The same without names, for a loop in real time: the number of an input, -1 when there is none of that name; and the input of that
 * number. */
int32_t {0}_input(const char* name);
int {0}_set_input(tactus_instance* instance, int32_t input, double value, double rate);
/* Why a call failed, that returned `status`, in the words of `tactus run`: into `text`, `size` bytes, cut when it does not fit. Returns the
 * line of the model's text, or 0. */
uint32_t {0}_explain(const tactus_instance* instance, int status, char* text, uint64_t size);
/* A recorded value by name, components as "p[1]" or "R[1][2]", at the present time. NaN when there is none of that name or it
 * cannot be computed. */
double {0}_get(tactus_instance* instance, const char* name);
)",
                     name);
}

// Starting and stepping: a run of a model with events, relations or delays goes in parts.
std::string motion_bodies(const ir::Program& program, const std::string& name) {
  const int solver = default_solver(program);
  const int fixed = tactus_is_adaptive(solver) ? TACTUS_RK4 : solver;
  const int adaptive = !tactus_is_adaptive(solver) ? TACTUS_TSIT5 : solver == TACTUS_CVODE ? TACTUS_ROSENBROCK : solver;
  if (program.events.empty() && program.delays.empty() && program.relations.empty()) {
    return fmt::format(R"(int {0}_start(tactus_instance* instance) {{ return tk_start(&{0}_model, instance); }}
int {0}_step(tactus_instance* instance, double h, int64_t count) {{
  return {0}_model.fixed_steps(&{0}_model, instance, {1}, h, count);
}}
int {0}_advance(tactus_instance* instance, double t_end, double tolerance) {{
  while (instance->time < t_end) {{
    const int status = {0}_model.adaptive_step(&{0}_model, instance, {2}, t_end, t_end - instance->time, tolerance);
    if (status != TACTUS_OK) return status;
  }}
  return TACTUS_OK;
}}
)",
                       name, fixed, adaptive);
  }
  return fmt::format(R"(int {0}_start(tactus_instance* instance) {{
  const int status = tk_start(&{0}_model, instance);
  return status == TACTUS_OK ? tk_begin_events(&{0}_model, instance) : status;
}}
int {0}_step(tactus_instance* instance, double h, int64_t count) {{
  return tk_event_steps(&{0}_model, instance, {1}, h, count);
}}
int {0}_advance(tactus_instance* instance, double t_end, double tolerance) {{
  while (instance->time < t_end) {{
    int status = tk_part(&{0}_model, instance, {2}, t_end - instance->time, tolerance, t_end);
    if (status == TACTUS_OK) status = tk_fire(&{0}_model, instance);
    if (status != TACTUS_OK) return status;
  }}
  return TACTUS_OK;
}}
)",
                     name, fixed, adaptive);
}

std::string api_bodies(const ir::Program& program, const std::string& name) {
  return fmt::format(R"(
/* Whether `text` is the channel's name with an index behind it or without; then *component is which of its scalars. */
static int {0}_names(const char* text, const tactus_channel* channel, uint32_t* component) {{
  const char* name = channel->name;
  uint32_t index[2] = {{0, 0}};
  int indices = 0;
  while (*name && *name == *text) {{
    name++;
    text++;
  }}
  if (*name) return 0;
  for (; *text == '[' && indices < 2; indices++) {{
    text++;
    while (*text >= '0' && *text <= '9' && index[indices] < 100000000u) index[indices] = 10u * index[indices] + (uint32_t)(*text++ - '0');
    if (*text++ != ']' || index[indices] == 0) return 0;
  }}
  if (*text) return 0;
  *component = 0;
  if (indices == 0 || channel->rows * channel->columns == 1) return indices == 0 && channel->rows * channel->columns == 1;
  if (indices != (channel->columns == 1 ? 1 : 2) || index[0] > channel->rows) return 0;
  if (indices == 2 && index[1] > channel->columns) return 0;
  *component = indices == 1 ? index[0] - 1 : (index[0] - 1) * channel->columns + index[1] - 1;
  return 1;
}}

uint64_t {0}_bytes(void) {{ return tactus_instance_bytes(&{0}_model); }}
int {0}_reset(tactus_instance* instance) {{ return tk_reset(&{0}_model, instance); }}
{1}double {0}_time(const tactus_instance* instance) {{ return instance->time; }}
int {0}_set_input(tactus_instance* instance, int32_t input, double value, double rate) {{
  double* const inputs = tactus_data(instance) + {0}_model.layout.inputs;
  double* const rates = tactus_data(instance) + {0}_model.layout.input_rates;
  if (input < 0 || (uint32_t)input >= {0}_model.input_count) return 0;
  /* All inputs count from one instant: the others go on from where they are now. */
  for (uint32_t k = 0; k < {0}_model.input_count; k++) inputs[k] += rates[k] * (instance->time - instance->input_time);
  instance->input_time = instance->time;
  instance->first_stage_valid = 0;
  inputs[input] = value;
  rates[input] = rate;
  return 1;
}}
int32_t {0}_input(const char* name) {{
  uint32_t component;
  for (uint32_t k = 0; k < {0}_model.input_channel_count; k++) {{
    const tactus_channel* channel = &{0}_model.input_channels[k];
    if ({0}_names(name, channel, &component)) return (int32_t)(channel->at + component);
  }}
  return -1;
}}
int {0}_set(tactus_instance* instance, const char* name, double value, double rate) {{
  uint32_t component;
  for (uint32_t k = 0; k < {0}_model.parameter_count; k++) {{
    const tactus_channel one = {{{0}_model.parameters[k].name, "", 0, 1, 1, 0}};
    if (!{0}_names(name, &one, &component)) continue;
    instance->first_stage_valid = 0;
    tactus_data(instance)[{0}_model.layout.parameters + k] = value;
    {0}_model.prepare(&{0}_model, instance);
    return 1;
  }}
  return {0}_set_input(instance, {0}_input(name), value, rate);
}}
uint32_t {0}_explain(const tactus_instance* instance, int status, char* text, uint64_t size) {{
  char advice[1024];
  tk_text words = tk_text_in(text, size);
  tk_text hint = tk_text_in(advice, sizeof advice);
  const int is_starting = instance->steps == 0 && instance->time == {0}_model.starting_time;
  const uint32_t line = tk_describe_failure(&{0}_model, instance, status, is_starting, 0, &words, &hint);
  if (hint.length > 0) tk_put(&words, "\n  hint: ");
  tk_put(&words, advice);
  return line;
}}
double {0}_get(tactus_instance* instance, const char* name) {{
  const double* const states = tactus_data(instance) + {0}_model.layout.states;
  uint32_t component;
  for (uint32_t k = 0; k < {0}_model.channel_count; k++) {{
    const tactus_channel* channel = &{0}_model.channels[k];
    if (!{0}_names(name, channel, &component)) continue;
    if ({0}_model.relation_count > 0 && tk_settle(&{0}_model, instance) != TACTUS_OK) break;
    if (tk_outputs(&{0}_model, instance, instance->time, states) != TACTUS_OK) break;
    return tactus_data(instance)[{0}_model.layout.outputs + channel->at + component];
  }}
  return tk_from_bits(0x7ff8000000000000u);
}}
)",
                     name, motion_bodies(program, name));
}

std::string makefile(const std::string& name) {
  return fmt::format(
      R"(# -ffp-contract=off keeps a * b + c two roundings, so that the results have the bits that tactus computes.
# TACTUS_CFLAGS: flags besides, such as sanitizers.
CC ?= cc
CFLAGS ?= -O2 -Wall -Wextra -Wpedantic

{0}: {0}.c {0}.h
	$(CC) -std=c11 -ffp-contract=off -fno-math-errno $(CFLAGS) $(TACTUS_CFLAGS) -o $@ {0}.c

clean:
	rm -f {0}

.PHONY: clean
)",
      name);
}

// Letters, digits and underscores, not beginning with a digit nor with what names of the kernel or of main begin with,
// in any case: the header's guard is in capitals.
std::string identifier(std::string_view text) {
  std::string result;
  for (char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    result += plain ? c : '_';
  }
  if (result.find_first_not_of('_') == result.npos) return "model";
  std::string lower = result;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool clashes =
      lower.starts_with("tactus") || lower.starts_with("tk_") || lower == "run" || lower.starts_with("run_");
  if (clashes || (result[0] >= '0' && result[0] <= '9')) result.insert(0, "model_");
  return result;
}

}  // namespace

std::string c_source(const ir::Program& given, const std::string& name) {
  // With the derivative's tangent, so that `rosenbrock` travels.
  ir::Program program = given;
  tangent::add_needed(program, tangent::only(TACTUS_OF_DERIVATIVE));
  ir::share_layout(program);
  Amalgamation amalgamation(texts());
  std::string text = fmt::format(
      "/* {0}: a model compiled by tactus, with all it needs. C11; libc only in main, which -DTACTUS_NO_MAIN leaves "
      "out.\n"
      " * A program with several exported models compiles all but one with -DTACTUS_NO_KERNEL -DTACTUS_NO_MAIN. */\n"
      "#if (defined(__unix__) || defined(__APPLE__)) && !defined(_POSIX_C_SOURCE)\n"
      "#define _POSIX_C_SOURCE 200809L /* main asks for more than C has */\n#endif\n"
      "#ifdef __clang__\n#pragma clang diagnostic ignored \"-Wunused-function\" /* inline functions that this model "
      "does not need */\n"
      "#endif\n\n",
      name);
  // What the model's own loop needs stands outside of what TACTUS_NO_KERNEL leaves out.
  for (const char* path : {"kernel/kernel.h", "kernel/fixed_inline.h", "kernel/adaptive_inline.h",
                           "kernel/balance_inline.h", "words/failure.h"})
    text += amalgamation.take(path);
  text += "\n#ifndef TACTUS_NO_KERNEL\n";
  for (const auto& [path, content] : texts()) {
    const bool travels = path.starts_with("kernel/") || path.starts_with("words/");
    if (travels && path.ends_with(".c")) text += amalgamation.take(path);
  }
  text += "#endif\n";
  text += fmt::format("\n/* ---- the model ---- */\n\n");
  emit_c::Entries entries;
  text += specialised_loop(program, name, entries);
  text += emit_c::emit_model(program, name, entries);
  text += api(name);
  text += api_bodies(program, name);
  text += "\n#ifndef TACTUS_NO_MAIN\n";
  text += run_constants(program, name);
  text += amalgamation.take("export/text/run_main.c");
  text += "#endif\n";
  return text;
}

std::string c_header(const ir::Program&, const std::string& name) {
  Amalgamation amalgamation(texts());
  std::string guard = name;
  std::ranges::transform(guard, guard.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return fmt::format("/* {0}: a model compiled by tactus. */\n#ifndef {1}_H\n#define {1}_H\n\n", name, guard) +
         amalgamation.take("abi/model.h") +
         fmt::format("\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\nextern const tactus_model {0}_model;\n{1}\n",
                     name, api(name)) +
         "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

void set_start(ir::Program& program, std::span<const double> states) {
  ir::Chunk chunk;
  for (std::uint32_t i = 0; i < states.size(); ++i) {
    const auto number = static_cast<ir::Value>(chunk.instructions.size());
    chunk.instructions.push_back({.op = ir::Op::constant, .number = states[i]});
    chunk.instructions.push_back({.op = ir::Op::store_state, .a = number, .index = i});
  }
  program.initialize.chunks.push_back(std::move(chunk));
  program.conditions.clear();
  program.condition = {};
  std::fill(program.state_flags.begin(), program.state_flags.end(), std::uint32_t{TACTUS_STATE_GIVEN});
}

bool write_c(const ir::Program& program, const std::filesystem::path& directory, const ExportOptions& options,
             std::string& failure) {
  const std::string name = identifier(options.name.empty() ? program.name : options.name);
  std::error_code error;
  const bool is_new = std::filesystem::create_directories(directory, error);
  if (error) {
    failure = fmt::format("cannot create `{}`: {}", directory.string(), error.message());
    return false;
  }
  // All of them or none: each is complete on the disk before the first gets its name.
  const std::pair<std::string, std::string> texts[] = {
      {name + ".c", c_source(program, name)}, {name + ".h", c_header(program, name)}, {"Makefile", makefile(name)}};
  trace::OutputFile files[std::size(texts)];
  for (std::size_t i = 0; i < std::size(texts) && failure.empty(); ++i) {
    trace::OutputFile& file = files[i];
    if (!file.open_whole((directory / texts[i].first).string()) || !file.write(texts[i].second) || !file.settle())
      failure = file.failure();
  }
  sigset_t ending, before;
  sigemptyset(&ending);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ending, signal);
  pthread_sigmask(SIG_BLOCK, &ending, &before);  // a person who ends us now waits until they are in place
  for (trace::OutputFile& file : files) {
    if (failure.empty() && !file.close()) failure = file.failure();
    file.discard();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!failure.empty() && is_new) std::filesystem::remove(directory, error);  // if it is empty
  return failure.empty();
}

}  // namespace exporting
