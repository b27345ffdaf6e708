#include "runtime/trace/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace trace {
namespace {

std::string directory_of(const std::string& path) {
  std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string reason(int error_number, const std::string& path) {
  struct stat info;
  switch (error_number) {
    case ENOENT: {
      if (path.empty()) return "the file name is empty";
      std::string directory = directory_of(path);
      if (::stat(directory.c_str(), &info) != 0) return fmt::format("the directory `{}` does not exist", directory);
      return "no such file";
    }
    case ENOTDIR:
      return fmt::format("`{}` is not a directory", directory_of(path));
    case EISDIR:
      return "it is a directory; give the name of a file";
    case EACCES:
    case EPERM:
      return "permission denied";
    case EROFS:
      return "the file system is read-only";
    case ENOSPC:
      return "the disk is full";
    case EDQUOT:
      return "the disk quota is used up";
    case EFBIG:
      return "the file would exceed the size limit";
    case EPIPE:
      return "the reader at the other end is gone";
    default:
      return std::strerror(error_number);
  }
}

}  // namespace

OutputFile::~OutputFile() {
  if (is_open() && !close()) std::fprintf(stderr, "tactus: %s\n", failure_.c_str());
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      failure_(std::move(other.failure_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(failure_, other.failure_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

bool OutputFile::fail(int error_number) {
  // The first failure explains the rest.
  if (failure_.empty()) {
    failure_ = path_ == "-" ? fmt::format("cannot write to standard output: {}", reason(error_number, path_))
                            : fmt::format("cannot write `{}`: {}", path_, reason(error_number, path_));
  }
  return false;
}

bool OutputFile::open(const std::string& path) {
  if (is_open() && !close()) return false;
  path_ = path;
  failure_.clear();
  if (path == "-") {
    std::fflush(stdout);  // what was printed before comes before
    descriptor_ = STDOUT_FILENO;
    return true;
  }
  do {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EINTR);
  return is_open() || fail(errno);
}

bool OutputFile::write(std::string_view bytes) {
  if (!failure_.empty()) return false;
  if (!is_open()) return fail(EBADF);
  while (!bytes.empty()) {
    ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd ready{descriptor_, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return fail(errno);
    }
  }
  return true;
}

bool OutputFile::close() {
  if (is_open()) {
    int descriptor = std::exchange(descriptor_, -1);
    // Linux has released the descriptor even when close() says EINTR.
    if (descriptor != STDOUT_FILENO && ::close(descriptor) != 0 && errno != EINTR) fail(errno);
  }
  return failure_.empty();
}

}  // namespace trace
