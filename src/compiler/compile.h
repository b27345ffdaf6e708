// The compiler's front door: texts in, an ir::Program out. The list of passes stands in compile.cpp, on one screen.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/expand/expand.h"
#include "compiler/facts.h"
#include "compiler/guards.h"
#include "compiler/interference.h"
#include "compiler/ir/ir.h"
#include "compiler/origins.h"
#include "compiler/source/source.h"
#include "diag/sink.h"
#include "diag/source_map.h"

namespace compiler {

// A value given from outside (`--set m=2`): replaces a parameter's initial value, or a constant written in the text.
struct Override {
  std::string name;
  double value = 0;
};

// A start given from outside, instead of what the text says: `name` is a scalar state, "p'[2]".
struct Start {
  std::string name;
  double value = 0;
  bool is_guess = false;
};

// The unit that stands behind a parameter's number in the text, `20 [deg]`: people want to read and write it in that.
// Of other names only that they are angles.
struct WrittenUnit {
  std::string name;
  std::string unit;
  double size = 1;  // one of it, in SI
};

struct Options {
  std::vector<Override> overrides;
  std::vector<Start> starts = {};
  source::Reader read_file = {};    // for `use` and `table`; without it nothing is found
  source::Reader locate_file = {};  // for `mesh`, which is only named: a refusal, or nothing
  // Folders and files, besides the model's own folder, from which the reader that api/load.h puts there may read:
  // `--allow`.
  std::vector<std::string> allow = {};
  // Filled as far as the compiler comes. When it is given, the compiler stops where nothing is left to report and
  // returns no program.
  Facts* facts = nullptr;
  bool draws = true;  // whether the program computes what its scene shows; it is checked in any case
  std::vector<expand::Alias>* aliases = nullptr;      // gains what goes by two names
  std::vector<WrittenUnit>* written_units = nullptr;  // gains those of parameters and angles
  std::vector<std::string>* settable = nullptr;       // gains the names that an override may give another value
  Guards* guards = nullptr;  // gains what is known of pairs of transitions; nobody runs the program then
  std::vector<Interference>* interference = nullptr;  // gains what can interfere with each plan
  bool watches_axioms = false;                        // whether the axioms of jumps and sequences become checks
  // Filled with where values come from. When it is given, the compiler stops there and returns no program.
  Origins* origins = nullptr;
};

// What each pass made, in words for people; filled only when asked for. Stages, in order: tokens, tree, expanded,
// transitions, model, tables, flat, events, blocks, ir. `find` gives the text of one.
struct Explanation {
  struct Stage {
    std::string name;
    std::string title;  // one line: what this stage did
    std::string text;
  };
  std::vector<Stage> stages;
  const Stage* find(std::string_view name) const;
};

// Empty, after reporting to `diags`, when the program has errors. `files` are ids in `sources`, compiled together as
// one program, and gain the files that these use; files named *.phydl are read with the seed's reserved words only.
// Deterministic. Allocates.
[[nodiscard]] std::optional<ir::Program> compile(const std::vector<std::uint32_t>& files, diag::SourceMap& sources,
                                                 const Options& options, diag::Sink& diags,
                                                 Explanation* explanation = nullptr);

}  // namespace compiler
