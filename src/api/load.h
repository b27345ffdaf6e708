// Files or texts -> a compiled program: what the command line and the library both begin with. The compiler runs on a
// thread with a big stack (big_stack.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/ir/ir.h"
#include "diag/sink.h"
#include "diag/source_map.h"

namespace api {

struct Compiled {
  diag::SourceMap sources;
  diag::Sink diags;
  compiler::Explanation explanation;   // filled when asked for
  std::optional<ir::Program> program;  // empty: see diags
  std::vector<expand::Alias> aliases;  // names of ports that are one with another name
  double seconds = 0;                  // reading and compiling
  bool is_misuse = false;              // is_about_use(diags)
};
// Every error is about what was asked for (a file that is not there, an override of nothing), none about the model.
[[nodiscard]] bool is_about_use(const diag::Sink& diags);

// The files are one program. "-" reads standard input.
[[nodiscard]] Compiled compile_files(const std::vector<std::string>& paths, const compiler::Options& options,
                                     bool explain);
// Several, as one program: an editor's buffers.
struct Text {
  std::string name;
  std::string text;
};
[[nodiscard]] Compiled compile_texts(const std::vector<Text>& texts, const compiler::Options& options);
// A text in memory; `name` stands in messages, and its ending says how it is read (.phydl).
[[nodiscard]] Compiled compile_text(const std::string& name, const std::string& text, const compiler::Options& options);

}  // namespace api
