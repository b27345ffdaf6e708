#include "runtime/trace/replace_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "runtime/trace/output_file.h"

namespace trace {

namespace fs = std::filesystem;

bool replace_file(const std::string& path, std::string_view text, std::string& failure) {
  std::error_code error;
  // A link stays one; a file that somebody took away meanwhile is made again, in a folder that is there.
  fs::path target = fs::canonical(path, error);
  const bool is_new = error == std::errc::no_such_file_or_directory && !fs::is_symlink(fs::symlink_status(path));
  if (is_new) {
    const fs::path folder = fs::path(path).parent_path();
    target = fs::canonical(folder.empty() ? "." : folder, error) / fs::path(path).filename();
  }
  if (error) {
    failure = fmt::format("cannot write `{}`: {}", path, error.message());
    return false;
  }
  if (!is_new && ::access(target.c_str(), W_OK) != 0) {
    failure = fmt::format("cannot write `{}`: permission denied", path);
    return false;
  }
  std::string beside = target.string() + ".XXXXXX";
  const int descriptor = ::mkstemp(beside.data());
  if (descriptor < 0) {
    failure = fmt::format("cannot write beside `{}`: {}", path, std::strerror(errno));
    return false;
  }
  struct stat info = {};
  if (::stat(target.c_str(), &info) == 0) {
    (void)!::fchmod(descriptor, info.st_mode & 07777);
  } else {
    const mode_t forbidden = ::umask(0);
    ::umask(forbidden);
    (void)!::fchmod(descriptor, 0666 & ~forbidden);
  }
  ::close(descriptor);
  trace::OutputFile file;
  bool good = file.open(beside) && file.write(text);
  good = file.close() && good;
  if (good) {
    fs::rename(beside, target, error);
    if (!error) return true;
  }
  failure = good ? fmt::format("cannot write `{}`: {}", path, error.message()) : file.failure();
  fs::remove(beside, error);
  return false;
}

}  // namespace trace
