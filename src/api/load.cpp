#include "api/load.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>

#include "api/big_stack.h"
#include "api/used_files.h"
#include "compiler/check/diagnostics.h"
#include "compiler/source/diagnostics.h"
#include "compiler/source/source.h"

namespace api {
namespace {

using Clock = std::chrono::steady_clock;

// A warning counts as such too: it does not decide.
bool is_one_about_use(const diag::Diagnostic& diagnostic) {
  if (diagnostic.severity != diag::Severity::error) return true;
  constexpr std::string_view codes[] = {source::not_found.code, source::is_directory.code, source::unreadable.code,
                                        check::unknown_override.code};
  return std::ranges::find(codes, diagnostic.code) != std::end(codes);
}

// `read` puts the texts into the source map, and returns false after reporting.
Compiled compile(const std::function<bool(Compiled&, std::vector<std::uint32_t>&)>& read,
                 const compiler::Options& options, bool explain) {
  Compiled compiled;
  auto before = Clock::now();
  run_with_big_stack([&] {
    std::vector<std::uint32_t> files;
    if (!read(compiled, files)) return;
    compiler::Options with_files = options;
    if (!with_files.read_file) {
      std::vector<std::string> names;
      for (const std::uint32_t file : files) names.push_back(compiled.sources.name(file));
      const auto used = std::make_shared<const UsedFiles>(names, options.allow);
      with_files.read_file = [used](const std::string& from, const std::string& path) { return (*used)(from, path); };
      with_files.locate_file = [used](const std::string& from, const std::string& path) {
        return used->locate(from, path);
      };
    }
    with_files.aliases = &compiled.aliases;
    compiled.program = compiler::compile(files, compiled.sources, with_files, compiled.diags,
                                         explain ? &compiled.explanation : nullptr);
  });
  compiled.seconds = std::chrono::duration<double>(Clock::now() - before).count();
  compiled.is_misuse = is_about_use(compiled.diags);
  return compiled;
}

}  // namespace

bool is_about_use(const diag::Sink& diags) {
  return diags.has_errors() && std::ranges::all_of(diags.diagnostics(), is_one_about_use);
}

Compiled compile_files(const std::vector<std::string>& paths, const compiler::Options& options, bool explain) {
  return compile(
      [&](Compiled& compiled, std::vector<std::uint32_t>& files) {
        bool good = true;
        for (const std::string& path : paths) {
          std::optional<std::uint32_t> file;
          if (path == "-") {
            std::string text{std::istreambuf_iterator<char>(std::cin), {}};
            file = source::add("<stdin>", std::move(text), compiled.sources, compiled.diags);
          } else {
            file = source::load(path, compiled.sources, compiled.diags);
          }
          if (file) files.push_back(*file);
          good = good && file.has_value();
        }
        return good;
      },
      options, explain);
}

Compiled compile_texts(const std::vector<Text>& texts, const compiler::Options& options) {
  return compile(
      [&](Compiled& compiled, std::vector<std::uint32_t>& files) {
        bool good = true;
        for (const Text& text : texts) {
          auto file = source::add(text.name, text.text, compiled.sources, compiled.diags);
          if (file) files.push_back(*file);
          good = good && file.has_value();
        }
        return good;
      },
      options, false);
}

Compiled compile_text(const std::string& name, const std::string& text, const compiler::Options& options) {
  return compile_texts({{name, text}}, options);
}

}  // namespace api
