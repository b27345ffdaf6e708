// tactus check: every mistake of a model, and nothing run.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "abi/model.h"
#include "api/load.h"
#include "driver/commands.h"
#include "driver/report.h"
#include "driver/settings.h"

namespace driver {

int check(const CheckOptions& options) {
  Mistake mistake;
  auto overrides = read_overrides(options.set, mistake);
  if (!overrides) return usage_error(options.json, mistake.text, mistake.hint);
  api::Compiled compiled = api::compile_files(options.files, {*overrides}, false);
  if (!compiled.program) return model_errors(options.json, compiled);

  const ir::Program& program = *compiled.program;
  if (options.json) {
    nlohmann::ordered_json object;
    object["status"] = "ok";
    object["diagnostics"] = nlohmann::ordered_json::parse(diag::render_json(compiled.diags, compiled.sources));
    object["states"] = program.state_names.size();
    object["parameters"] = program.parameters.size();
    object["inputs"] = program.input_count;
    object["blocks"] = program.blocks.size();
    object["compile_seconds"] = compiled.seconds;
    print_json(object);
  } else if (!options.quiet) {
    print_warnings(compiled);
    std::size_t warnings = compiled.diags.diagnostics().size();
    say(stdout, "{}: {}: {}, {}, {}, {}\n", program.name,
        warnings == 0 ? "no mistakes found" : "no errors, " + counted(warnings, "warning"),
        counted(program.state_names.size(), "state"), counted(program.parameters.size(), "parameter"),
        counted(program.input_count, "input"), counted(program.blocks.size(), "solved block"));
  }
  return exit_done;
}

}  // namespace driver
