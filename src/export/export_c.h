// ir::Program -> a folder with one .c, one .h and a Makefile that build anywhere there is a C11 compiler: kernel, model
// and a `main` that writes the CSV that `tactus run` writes. No dependency but libc, and that only for main; static
// memory.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "compiler/ir/ir.h"

namespace exporting {

struct ExportOptions {
  // Base name of the files and prefix of the C names; "" takes the model's name, made an identifier.
  std::string name;
};

// Writes NAME.c, NAME.h and Makefile into `directory`, which is created. False, with `failure` set, when one cannot be
// written: then none is, and a folder that was not there is not left.
[[nodiscard]] bool write_c(const ir::Program& program, const std::filesystem::path& directory,
                           const ExportOptions& options, std::string& failure);

// Puts a start in that was found for boundary values at other times: these are no longer asked for.
void set_start(ir::Program& program, std::span<const double> states);

// The texts of the two files, for tests.
[[nodiscard]] std::string c_source(const ir::Program& program, const std::string& name);
[[nodiscard]] std::string c_header(const ir::Program& program, const std::string& name);

}  // namespace exporting
