// Which files a program may name: those under the folders of its own files, and under what a person allowed besides. A
// program may come from anybody, and its diagnostics quote what it reads.
//
// A file counts by the place where it really lies: the path is opened without access to its content (O_PATH), the
// system is asked where that led, and only then is the same file, by its descriptor, opened for reading. No spelling,
// link or change of a folder meanwhile leads out, and no device or pipe is ever opened.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "compiler/source/source.h"

namespace source {

class Folders {
 public:
  // Of `files` the folders count; `allowed` names folders and files. What does not exist allows nothing.
  Folders(const std::vector<std::string>& files, const std::vector<std::string>& allowed);

  // A regular file of at most `most_bytes`; the name in the result is `path`. Of a file outside nothing is told, not
  // even whether it is there.
  [[nodiscard]] Reading read(const std::string& path, std::size_t most_bytes) const;
  // The same without reading it: a refusal, or nothing, whether it is there or not.
  [[nodiscard]] Reading locate(const std::string& path) const;
  // Whether a file of this name would lie inside, existing or not; its folder must exist. For files to be written.
  [[nodiscard]] bool holds(const std::string& path) const;

 private:
  bool is_inside(const std::string& real_path) const;
  // Where nothing is: whether all that is there of the path leads inside.
  bool leads_inside(const std::string& path) const;
  // What `then` makes of the descriptor of a file inside.
  Reading reach(const std::string& path, const std::function<Reading(int)>& then) const;

  std::vector<std::string> roots_;  // real paths
};

// A regular file that a person named, at most `most_bytes` of it; links are followed.
[[nodiscard]] Reading read_regular_file(const std::string& path, std::size_t most_bytes);

}  // namespace source
