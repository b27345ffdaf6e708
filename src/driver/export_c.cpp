// tactus export c: a model as C text that builds anywhere.
#include "export/export_c.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "api/load.h"
#include "compiler/emit_llvm/jit.h"
#include "driver/commands.h"
#include "driver/report.h"
#include "driver/settings.h"
#include "runtime/sim/shooting.h"

namespace driver {
namespace {

// What was exported does not search: a start that meets the boundary values at other times is found now, for the
// parameters as they are, and put in as given. Says why not.
std::optional<Mistake> bake_boundary_values(ir::Program& program, const std::vector<compiler::Override>& overrides,
                                            std::vector<std::string>& notes) {
  emit_llvm::JitOptions quick;
  quick.optimise = false;
  if (std::none_of(program.conditions.begin(), program.conditions.end(),
                   [&](const ir::Condition& condition) { return condition.time > program.starting_time; }))
    return std::nullopt;
  emit_llvm::CompiledModel jit(program, quick);
  const tactus_model& model = *jit.with_tangents();
  std::string mistake;
  const auto plan = sim::make_plan(model, {}, mistake);
  if (!plan) return Mistake{mistake, ""};
  const sim::BoundarySolution found =
      sim::solve_boundary({model, *plan, parameter_values(model, overrides, notes), {}});
  if (found.failure) return Mistake{found.failure->text, found.failure->hint};
  if (found.nodes.size() > 1) {
    return Mistake{
        fmt::format(
            "this model cannot be exported: its motion runs away from the start that meets the boundary values, and "
            "has to be put back on it at {} times",
            found.nodes.size() - 1),
        "`tactus run` does that; for export, ask for less: an earlier time, or starts only"};
  }
  exporting::set_start(program, found.nodes[0].states);
  notes.push_back(found.note());
  notes.insert(notes.end(), found.notes.begin(), found.notes.end());
  if (!found.why_finer.empty())
    notes.push_back(
        fmt::format("a run from there meets them only at a finer tolerance: --tolerance {:g}", found.tolerance));
  notes.push_back("the start that was found is put in: it does not follow parameters that are changed later");
  return std::nullopt;
}

}  // namespace

int export_c(const ExportCOptions& options) {
  Mistake mistake;
  auto overrides = read_overrides(options.set, mistake);
  if (!overrides) return usage_error(options.json, mistake.text, mistake.hint);
  compiler::Options compiling{*overrides};
  compiling.draws = false;
  compiling.allow = options.allow;
  api::Compiled compiled = api::compile_files(options.files, compiling, false);
  if (!compiled.program) return model_errors(options.json, compiled);
  std::vector<std::string> notes;
  if (auto refused = bake_boundary_values(*compiled.program, *overrides, notes)) {
    if (options.json) {
      print_json({{"status", "failed"}, {"message", refused->text}, {"hint", refused->hint}});
    }
    say(stderr, "tactus: error: {}\n", refused->text);
    if (!refused->hint.empty()) say(stderr, "  hint: {}\n", refused->hint);
    return exit_run_failed;
  }
  std::error_code error;
  if (std::filesystem::exists(options.directory, error) && !std::filesystem::is_directory(options.directory, error))
    return usage_error(options.json, fmt::format("cannot create `{}`: it is a file", options.directory),
                       "name another folder: -o DIR");
  std::string failure;
  // lorenz.tact becomes lorenz.c.
  std::string name = options.name.empty() ? std::filesystem::path(options.files.front()).stem().string() : options.name;
  if (!exporting::write_c(*compiled.program, options.directory, {name}, failure))
    return not_kept(options.json, failure);
  if (options.json) {
    nlohmann::ordered_json done = {{"status", "done"}, {"directory", options.directory}};
    if (!notes.empty()) done["notes"] = notes;
    print_json(done);
  } else if (!options.quiet) {
    print_warnings(compiled);
    say(stdout, "wrote {}; `make -C {}` builds it\n", options.directory, options.directory);
    for (const std::string& note : notes) say(stderr, "note: {}\n", note);
  }
  return exit_done;
}

}  // namespace driver
