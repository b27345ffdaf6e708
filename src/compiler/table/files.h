// The files of sampled data that a program names, each read and cut into cells once a compile.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "compiler/source/source.h"
#include "compiler/table/sheet.h"
#include "diag/sink.h"
#include "diag/source_map.h"

namespace table {

class Files {
 public:
  // All outlive this.
  Files(diag::SourceMap& sources, const source::Reader& read, const source::Reader& locate)
      : sources_(sources), read_(read), locate_(locate) {}

  // `path` as it stands at `written`: beside the file where it is written. Null after reporting there; said once a
  // path.
  const Sheet* open(const std::string& path, base::Span written, diag::Sink& diags);
  // A file that is only named, such as a mesh. False after reporting that it may not be.
  bool may_name(const std::string& path, base::Span written, diag::Sink& diags) const;
  const diag::SourceMap& sources() const { return sources_; }

 private:
  diag::SourceMap& sources_;
  const source::Reader& read_;
  const source::Reader& locate_;
  std::map<std::pair<std::string, std::string>, const Sheet*> asked_;  // by folder and path
  std::map<std::string, std::optional<Sheet>> sheets_;                 // by the name that the reader gave
};

}  // namespace table
