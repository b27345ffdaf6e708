// tactus export c: a model as C text that builds anywhere.
#include "export/export_c.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "api/load.h"
#include "driver/commands.h"
#include "driver/report.h"
#include "driver/settings.h"

namespace driver {

int export_c(const ExportCOptions& options) {
  Mistake mistake;
  auto overrides = read_overrides(options.set, mistake);
  if (!overrides) return usage_error(options.json, mistake.text, mistake.hint);
  api::Compiled compiled = api::compile_files(options.files, {*overrides}, false);
  if (!compiled.program) return model_errors(options.json, compiled);
  std::string failure;
  // lorenz.tact becomes lorenz.c.
  std::string name = options.name.empty() ? std::filesystem::path(options.files.front()).stem().string() : options.name;
  if (!exporting::write_c(*compiled.program, options.directory, {name}, failure))
    return usage_error(options.json, failure, "");
  if (options.json) {
    print_json({{"status", "done"}, {"directory", options.directory}});
  } else if (!options.quiet) {
    print_warnings(compiled);
    say(stdout, "wrote {}; `make -C {}` builds it\n", options.directory, options.directory);
  }
  return exit_done;
}

}  // namespace driver
