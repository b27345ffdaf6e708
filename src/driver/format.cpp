// tactus format: texts in the house's layout, in place. A file is replaced as a whole or not at all.
#include "compiler/format/format.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "compiler/source/diagnostics.h"
#include "compiler/source/source.h"
#include "driver/commands.h"
#include "driver/report.h"
#include "runtime/trace/replace_file.h"

namespace driver {
namespace {

namespace fs = std::filesystem;

struct Result {
  std::string name;
  std::string status;  // unchanged, formatted, would_change, refused, failed
};

class Formatter {
 public:
  explicit Formatter(const FormatOptions& options) : options_(options) {}

  int run() {
    for (const std::string& path : options_.files) format_one(path);
    if (options_.json) {
      auto files = nlohmann::ordered_json::array();
      for (const Result& result : results_) files.push_back({{"file", result.name}, {"status", result.status}});
      print_json({{"status", exit_code_ == exit_done    ? "done"
                             : exit_code_ == exit_usage ? "usage"
                                                        : "error"},
                  {"files", std::move(files)},
                  {"diagnostics", std::move(diagnostics_)}});
    }
    return exit_code_;
  }

 private:
  void format_one(const std::string& path) {
    const bool from_stdin = path == "-";
    diag::SourceMap sources;
    diag::Sink diags;
    const std::string name = !from_stdin ? path : options_.name.empty() ? "<stdin>" : options_.name;
    const auto file = from_stdin ? source::add(name, {std::istreambuf_iterator<char>(std::cin), {}}, sources, diags)
                                 : source::load(path, sources, diags);
    const auto text = file ? ::format::format(*file, sources, diags) : std::nullopt;
    if (!text) return refuse(name, sources, diags);
    const bool same = sources.text(*file) == *text;
    if (options_.check) {
      finish(name, same ? "unchanged" : "would_change", same ? exit_done : exit_model_errors);
      if (!same && !options_.json && !options_.quiet) say(stdout, "{}\n", diag::printable(name));
    } else if (from_stdin || options_.to_stdout) {
      if (!options_.json) write_text(stdout, *text);
      finish(name, same ? "unchanged" : "formatted", exit_done);
    } else if (same) {
      finish(name, "unchanged", exit_done);
    } else {
      std::string failure;
      if (!trace::replace_file(path, *text, failure)) {
        say(stderr, "tactus: error: {}\n", failure);
        return finish(name, "failed", exit_usage);
      }
      finish(name, "formatted", exit_done);
      if (!options_.json && !options_.quiet) say(stdout, "formatted {}\n", diag::printable(name));
    }
  }

  void refuse(const std::string& name, const diag::SourceMap& sources, const diag::Sink& diags) {
    const std::string_view code = diags.diagnostics().front().code;
    const bool misuse =
        code == source::not_found.code || code == source::is_directory.code || code == source::unreadable.code;
    finish(name, misuse ? "failed" : "refused", misuse ? exit_usage : exit_model_errors);
    for (auto& diagnostic : nlohmann::ordered_json::parse(diag::render_json(diags, sources)))
      diagnostics_.push_back(std::move(diagnostic));
    if (options_.json) return;
    write_text(stderr, diag::render_text(diags, sources, stderr_wants_color()));
    if (!misuse) say(stderr, "tactus: {} is left as it is\n", diag::printable(name));
  }

  void finish(const std::string& name, std::string status, int exit_code) {
    results_.push_back({name, std::move(status)});
    exit_code_ = std::max(exit_code_, exit_code);
  }

  const FormatOptions& options_;
  std::vector<Result> results_;
  nlohmann::ordered_json diagnostics_ = nlohmann::ordered_json::array();
  int exit_code_ = exit_done;
};

}  // namespace

int format(const FormatOptions& options) {
  if (options.check && options.to_stdout)
    return usage_error(options.json, "--check and --stdout do not go together", "leave one of them away");
  return Formatter(options).run();
}

}  // namespace driver
