// tactus explain: what each stage of the compiler made of a text.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "api/blame.h"
#include "api/load.h"
#include "base/nearest.h"
#include "compiler/emit_c/emit_c.h"
#include "compiler/emit_llvm/jit.h"
#include "compiler/emit_llvm/llvm_text.h"
#include "driver/commands.h"
#include "driver/report.h"
#include "driver/settings.h"
#include "runtime/sim/initial.h"

namespace driver {
namespace {

constexpr std::size_t lines_shown = 40;
// Stages of the backends, made only when asked for by name.
constexpr std::pair<std::string_view, std::string_view> backends[] = {{"c", "the model as C"},
                                                                      {"llvm", "the model as LLVM IR"}};

// The first lines, and how to see the rest.
std::string shortened(const std::string& text, const std::string& stage) {
  std::size_t end = 0;
  for (std::size_t line = 0; line < lines_shown && end != std::string::npos; ++line) {
    end = text.find('\n', end);
    if (end != std::string::npos) ++end;
  }
  if (end == std::string::npos || end >= text.size()) return text.ends_with('\n') || text.empty() ? text : text + "\n";
  auto more = std::count(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), '\n');
  return text.substr(0, end) + fmt::format(".. {} more lines: --dump={}\n", more, stage);
}

// The start: every value and where it comes from.
int explain_initial(const ExplainOptions& options, const compiler::Options& compile, api::Compiled compiled) {
  if (!compiled.program) return model_errors(options.json, compiled);
  emit_llvm::JitOptions quick;
  quick.optimise = false;
  emit_llvm::CompiledModel jit(std::move(*compiled.program), quick);
  const tactus_model& model = sim::has_later_conditions(*jit.current()) ? *jit.with_tangents() : *jit.current();
  std::vector<std::string> notes;
  sim::Initial initial = sim::find_initial(model, parameter_values(model, compile.overrides, notes));
  if (initial.failure) {
    api::KeptInstance none;
    api::blame(*initial.failure, model, none, 0, api::texts_of(compiled, options.files.size()), compile);
  }
  notes.insert(notes.end(), initial.notes.begin(), initial.notes.end());
  if (options.json) {
    nlohmann::ordered_json object;
    object["status"] = initial.failure ? "failed" : "ok";
    object["time"] = model.starting_time;
    object["initial"] = nlohmann::ordered_json::array();
    for (const sim::InitialValue& value : initial.values)
      object["initial"].push_back({{"name", value.name}, {"value", value.value}, {"how", value.how}});
    object["notes"] = notes;
    if (initial.failure) {
      object["failure"] = {{"kind", initial.failure->kind},
                           {"text", initial.failure->text},
                           {"hint", initial.failure->hint},
                           {"line", initial.failure->line}};
    }
    print_json(object);
    return initial.failure ? exit_run_failed : exit_done;
  }
  std::size_t width = 4;
  for (const sim::InitialValue& value : initial.values) width = std::max(width, value.name.size());
  say(stdout, "at t = {}:\n", model.starting_time);
  for (const sim::InitialValue& value : initial.values)
    say(stdout, "  {:<{}} = {:<22} {}\n", value.name, width, fmt::format("{:.16g}", value.value), value.how);
  print_warnings(compiled);
  for (const std::string& note : notes) say(stderr, "note: {}\n", note);
  if (!initial.failure) return exit_done;
  say(stderr, "tactus: error: no start: {}\n", initial.failure->text);
  if (!initial.failure->hint.empty()) say(stderr, "  hint: {}\n", initial.failure->hint);
  return exit_run_failed;
}

}  // namespace

int explain(const ExplainOptions& options) {
  Mistake mistake;
  auto overrides = read_overrides(options.set, mistake);
  if (!overrides) return usage_error(options.json, mistake.text, mistake.hint);
  const compiler::Options compile{.overrides = *overrides, .allow = options.allow};
  if (options.initial) {
    if (!options.dump.empty()) return usage_error(options.json, "--initial and --dump exclude each other", "");
    return explain_initial(options, compile, api::compile_files(options.files, compile, false));
  }
  api::Compiled compiled = api::compile_files(options.files, compile, true);
  auto& stages = compiled.explanation.stages;
  if (compiled.program) {
    if (options.dump == "c") stages.push_back({"c", "the model as C", emit_c::emit_model(*compiled.program, "model")});
    if (options.dump == "llvm")
      stages.push_back({"llvm", "the model as LLVM IR", emit_llvm::llvm_text(*compiled.program)});
  }

  if (!options.dump.empty()) {
    const compiler::Explanation::Stage* stage = compiled.explanation.find(options.dump);
    // Stages before the mistake are shown, and the mistake with them.
    if (!stage && !compiled.program) return model_errors(options.json, compiled);
    if (!stage) {
      std::vector<std::string> names;
      for (const auto& known : stages) names.push_back(known.name);
      for (const auto& [name, title] : backends) names.emplace_back(name);
      auto near = base::nearest(options.dump, names);
      return usage_error(options.json, fmt::format("there is no stage `{}`", options.dump),
                         fmt::format("{}the stages are {}", near ? fmt::format("did you mean `{}`? ", *near) : "",
                                     fmt::join(names, ", ")));
    }
    stages = {*stage};
  }

  if (options.json) {
    nlohmann::ordered_json object;
    object["status"] = compiled.program ? "ok" : "error";
    object["diagnostics"] = nlohmann::ordered_json::parse(diag::render_json(compiled.diags, compiled.sources));
    object["stages"] = nlohmann::ordered_json::array();
    for (const auto& stage : stages)
      object["stages"].push_back({{"name", stage.name}, {"title", stage.title}, {"text", stage.text}});
    print_json(object);
    return compiled.program ? exit_done : exit_model_errors;
  }
  if (!options.dump.empty()) {
    say(stdout, "{}{}", stages.front().text, stages.front().text.ends_with('\n') ? "" : "\n");
  } else {
    for (const auto& stage : stages)
      say(stdout, "== {}: {}\n{}\n", stage.name, stage.title, shortened(stage.text, stage.name));
    if (compiled.program)
      for (const auto& [name, title] : backends) say(stdout, "== {}: {}: --dump={}\n", name, title, name);
  }
  if (!compiled.program) return model_errors(false, compiled);
  print_warnings(compiled);
  return exit_done;
}

}  // namespace driver
