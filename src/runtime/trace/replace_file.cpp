#include "runtime/trace/replace_file.h"

#include "runtime/trace/output_file.h"

namespace trace {

bool replace_file(const std::string& path, std::string_view text, std::string& failure) {
  OutputFile file;
  if (file.open_whole(path, OutputFile::Links::inside) && file.write(text) && file.close()) return true;
  failure = file.failure();
  file.discard();
  return false;
}

}  // namespace trace
