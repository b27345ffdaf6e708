// Words of a command line -> one command's options. The only file that knows CLI11 is command_line.cpp.
#pragma once

#include <variant>

#include "driver/commands.h"

namespace driver {

// Nothing is left to do: help or version was shown, or a mistake was told.
struct Finished {
  int exit_code = exit_done;
};

using Command =
    std::variant<Finished, RunOptions, CheckOptions, ExplainOptions, FormatOptions, LspOptions, PlotOptions,
                 LinearizeOptions, EquilibriumOptions, PlayOptions, WallOptions, ExportCOptions, WorkerOptions>;

Command parse_command_line(int argc, const char* const* argv);

}  // namespace driver
