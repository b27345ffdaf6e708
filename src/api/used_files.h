// The files that a program names, in `use` and `table`: beside the file that names them, then in the standard library,
// which is part of the program.
#pragma once

#include <string>
#include <vector>

#include "compiler/source/folders.h"
#include "compiler/source/source.h"

namespace api {

// A source::Reader. A path that leads to no regular file, to one of more than 64 MB, or out of the folders is refused
// (compiler/source/folders.h).
class UsedFiles {
 public:
  // `files` are the program's own.
  UsedFiles(const std::vector<std::string>& files, const std::vector<std::string>& allowed)
      : folders_(files, allowed) {}
  // Whether `path`, written in `from`, may be named: a refusal, or nothing. It is not read.
  [[nodiscard]] source::Reading locate(const std::string& from, const std::string& path) const;
  [[nodiscard]] source::Reading operator()(const std::string& from, const std::string& path) const;

 private:
  source::Folders folders_;
};

}  // namespace api
