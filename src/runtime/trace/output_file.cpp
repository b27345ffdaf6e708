#include "runtime/trace/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "diag/printable.h"

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

// A name that nobody guesses, for a moment.
std::string temporary_name() {
  std::uint64_t number = 0;
  (void)!::getrandom(&number, sizeof number, 0);
  return fmt::format(".tactus-{:016x}", number);
}

std::string by_number(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

// Where an open folder lies; "" when the system does not tell.
std::string real_path(int descriptor) {
  char path[PATH_MAX];
  const ssize_t length = ::readlink(by_number(descriptor).c_str(), path, sizeof path);
  return length > 0 && length < ssize_t{sizeof path} ? std::string(path, static_cast<std::size_t>(length)) : "";
}

int open_folder(const std::string& path) { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }

}  // namespace

OutputFile::~OutputFile() {
  if (folder_ >= 0) discard();
  if (is_open() && !close()) std::fprintf(stderr, "tactus: %s\n", diag::printable(failure_).c_str());
}

OutputFile::OutputFile(OutputFile&& other) noexcept { *this = std::move(other); }

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(failure_, other.failure_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(folder_, other.folder_);
  std::swap(name_, other.name_);
  std::swap(temporary_, other.temporary_);
  std::swap(mode_, other.mode_);
  std::swap(is_replacing_, other.is_replacing_);
  std::swap(is_settled_, other.is_settled_);
  return *this;
}

bool OutputFile::fail(int error_number) { return fail(reason(error_number, path_)); }

bool OutputFile::fail(std::string reason) {
  // The first failure explains the rest.
  if (failure_.empty()) {
    failure_ = path_ == "-" ? fmt::format("cannot write to standard output: {}", reason)
                            : fmt::format("cannot write `{}`: {}", path_, reason);
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

bool OutputFile::open_whole(const std::string& path, Links links) {
  if (is_open() && !close()) return false;
  path_ = path;
  failure_.clear();
  struct stat info = {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return fail(EISDIR);
  if (links == Links::follow) {
    // /dev/stdout may stand for a regular file, which is not ours to replace.
    const bool is_ours = path.starts_with("/dev/std") || path.starts_with("/dev/fd/") || path.starts_with("/proc/");
    const bool is_stream = is_ours || (exists && !S_ISREG(info.st_mode));
    if (is_stream) return open(path);
  } else if (exists && !S_ISREG(info.st_mode)) {
    return fail("it is a device or a pipe, not a regular file");
  }
  if (find_folder(links) && make_nameless()) return true;
  discard();
  return false;
}

// The folder in which the file lies, open, and its name there.
bool OutputFile::find_folder(Links links) {
  struct stat info = {};
  if (::lstat(path_.c_str(), &info) != 0 && errno != ENOENT) return fail(errno);
  std::string target = path_;
  const bool is_link = S_ISLNK(info.st_mode);
  if (is_link) {
    std::error_code error;
    target = std::filesystem::canonical(path_, error).string();
    if (error) return fail(fmt::format("it is a link that leads to no file ({})", error.message()));
  }
  name_ = target.substr(target.find_last_of('/') + 1);
  if (name_.empty() || name_ == "." || name_ == "..") return fail(path_.empty() ? ENOENT : EISDIR);
  folder_ = open_folder(directory_of(target));
  if (folder_ < 0) return fail(errno);
  if (is_link && links == Links::inside) {
    const int around = open_folder(directory_of(path_));
    const std::string root = around < 0 ? "" : real_path(around);
    if (around >= 0) ::close(around);
    const std::string there = real_path(folder_);
    const bool is_inside = !root.empty() && (root == "/" || there == root || there.starts_with(root + "/"));
    if (!is_inside) return fail("it is a link that leads out of its folder; name the file that it leads to");
  }
  is_replacing_ = ::fstatat(folder_, name_.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (!is_replacing_) return true;
  if (!S_ISREG(info.st_mode)) return fail("it was replaced meanwhile by what is no regular file");
  if (::faccessat(folder_, name_.c_str(), W_OK, AT_EACCESS) != 0) return fail(errno);
  mode_ = info.st_mode & 0777;
  return true;
}

// A file in the folder that has no name yet, so that a program that is killed leaves nothing; where the file system has
// no such files, one with a name that nobody knows.
bool OutputFile::make_nameless() {
  const mode_t mode = is_replacing_ ? 0600 : 0666;  // a new one gets what the process's mask leaves
  if (!real_path(folder_).empty()) descriptor_ = ::openat(folder_, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  for (int attempt = 0; !is_open() && attempt < 16; ++attempt) {
    temporary_ = temporary_name();
    descriptor_ = ::openat(folder_, temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (!is_open() && errno != EEXIST) break;
  }
  if (is_open()) return true;
  const int why = errno;
  temporary_.clear();
  return fail(fmt::format("a file beside it cannot be made: {}", reason(why, path_)));
}

bool OutputFile::write(std::string_view bytes) {
  if (!failure_.empty()) return false;
  if (!is_open()) return fail(EBADF);
  std::string_view rest = bytes;
  while (!rest.empty()) {
    ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd ready{descriptor_, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      const int why = errno;
      if (folder_ < 0) keep_whole_lines(bytes.substr(0, bytes.size() - rest.size()));
      return fail(why);
    }
  }
  return true;
}

// Takes the beginning of a line back, `written` being the last bytes that a regular file took.
void OutputFile::keep_whole_lines(std::string_view written) {
  const std::size_t line_end = written.find_last_of('\n');
  const std::size_t excess = line_end == written.npos ? written.size() : written.size() - line_end - 1;
  struct stat info = {};
  const off_t end = ::lseek(descriptor_, 0, SEEK_CUR);
  if (excess == 0 || end < 0 || ::fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size != end)
    return;
  (void)!::ftruncate(descriptor_, end - static_cast<off_t>(excess));
}

bool OutputFile::settle() {
  if (!failure_.empty()) return false;
  if (folder_ < 0 || is_settled_) return is_open() || fail(EBADF);
  if (is_replacing_) {
    struct stat old = {}, fresh = {};
    if (::fstatat(folder_, name_.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(descriptor_, &fresh) == 0 &&
        (old.st_uid != fresh.st_uid || old.st_gid != fresh.st_gid))
      (void)!::fchown(descriptor_, old.st_uid, old.st_gid);  // as far as we may
    if (::fchmod(descriptor_, mode_) != 0) return fail(errno);
  }
  // A file system that cannot synchronise has nothing to lose.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP) return fail(errno);
  if (temporary_.empty()) {
    const std::string unnamed = by_number(descriptor_);
    std::string name = temporary_name();
    int status = ::linkat(AT_FDCWD, unnamed.c_str(), folder_, name.c_str(), AT_SYMLINK_FOLLOW);
    for (int attempt = 0; status != 0 && errno == EEXIST && attempt < 16; ++attempt) {
      name = temporary_name();
      status = ::linkat(AT_FDCWD, unnamed.c_str(), folder_, name.c_str(), AT_SYMLINK_FOLLOW);
    }
    if (status != 0) return fail(errno);
    temporary_ = name;
  }
  is_settled_ = true;
  return true;
}

bool OutputFile::close() {
  if (folder_ >= 0) {
    if (is_open() && settle()) {
      if (::renameat(folder_, temporary_.c_str(), folder_, name_.c_str()) == 0) {
        temporary_.clear();
        (void)!::fsync(folder_);
      } else {
        fail(errno);
      }
    }
    discard();
    return failure_.empty();
  }
  if (is_open()) {
    int descriptor = std::exchange(descriptor_, -1);
    // Linux has released the descriptor even when close() says EINTR.
    if (descriptor != STDOUT_FILENO && ::close(descriptor) != 0 && errno != EINTR) fail(errno);
  }
  return failure_.empty();
}

void OutputFile::discard() {
  if (is_open() && descriptor_ != STDOUT_FILENO) ::close(descriptor_);
  descriptor_ = -1;
  if (folder_ >= 0) {
    if (!temporary_.empty()) ::unlinkat(folder_, temporary_.c_str(), 0);
    ::close(folder_);
  }
  folder_ = -1;
  temporary_.clear();
  is_replacing_ = false;
  is_settled_ = false;
}

bool write_whole(const std::string& path, std::string_view text, std::string& failure) {
  OutputFile file;
  if (file.open_whole(path) && file.write(text) && file.close()) return true;
  failure = file.failure();
  file.discard();
  return false;
}

}  // namespace trace
