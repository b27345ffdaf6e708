#include "compiler/source/folders.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <system_error>
#include <utility>

namespace source {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  bool valid() const { return number_ >= 0; }

 private:
  int number_;
};

std::string words(int error_number) { return std::generic_category().message(error_number); }

std::string by_number(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

// Where an open file lies; empty when the system does not tell.
std::string real_path(int place) {
  std::array<char, PATH_MAX> path;
  const ssize_t length = ::readlink(by_number(place).c_str(), path.data(), path.size());
  if (length <= 0 || static_cast<std::size_t>(length) >= path.size() || path[0] != '/') return "";
  return {path.data(), static_cast<std::size_t>(length)};
}

bool is_beneath(const std::string& path, const std::string& root) {
  return root == "/" || path == root || (path.starts_with(root) && path[root.size()] == '/');
}

std::string folder_of(const std::string& file) {
  const std::string folder = fs::path(file).parent_path().string();
  return folder.empty() ? "." : folder;
}

// The content of a file that is open without access to it.
Reading read_open(int place, const std::string& name, std::size_t most_bytes) {
  struct stat about = {};
  if (::fstat(place, &about) != 0) return Reading::refused(words(errno));
  if (S_ISDIR(about.st_mode)) return Reading::refused("it is a directory");
  if (!S_ISREG(about.st_mode)) return Reading::refused("it is a device or a pipe, not a regular file");
  const Reading too_large = Reading::refused(fmt::format("it is larger than {} MB", most_bytes >> 20));
  if (std::cmp_greater(about.st_size, most_bytes)) return too_large;
  const Descriptor file(::open(by_number(place).c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file.valid()) return Reading::refused(words(errno));
  // The size is no promise: some files have none, and others grow.
  std::string text;
  std::array<char, 1 << 16> piece;
  while (text.size() <= most_bytes) {
    const ssize_t count = ::read(file.number(), piece.data(), piece.size());
    if (count == 0) return File{name, std::move(text)};
    if (count < 0 && errno != EINTR) return Reading::refused(fmt::format("a read error: {}", words(errno)));
    if (count > 0) text.append(piece.data(), static_cast<std::size_t>(count));
  }
  return too_large;
}

Reading outside() {
  return Reading::refused("it lies outside of the model's folder",
                          "a model reads what lies in its own folder and below; to let it read elsewhere, start tactus "
                          "with `--allow PATH`");
}

}  // namespace

Folders::Folders(const std::vector<std::string>& files, const std::vector<std::string>& allowed) {
  const auto add = [this](const std::string& path) {
    std::error_code error;
    const std::string real = fs::canonical(path, error).string();
    if (error || std::ranges::find(roots_, real) != roots_.end()) return;
    roots_.push_back(real);
  };
  for (const std::string& file : files) add(folder_of(file));
  for (const std::string& path : allowed) add(path);
}

bool Folders::is_inside(const std::string& real_path) const {
  return std::ranges::any_of(roots_, [&](const std::string& root) { return is_beneath(real_path, root); });
}

bool Folders::leads_inside(const std::string& path) const {
  std::error_code error;
  // A link that leads nowhere may lead outside: whether something is there would be told.
  fs::path so_far;
  for (const fs::path& part : fs::absolute(path, error)) {
    so_far /= part;
    const fs::file_status found = fs::symlink_status(so_far, error);
    if (found.type() == fs::file_type::not_found) break;
    if (error || (fs::is_symlink(found) && !fs::exists(so_far, error))) return false;
  }
  const fs::path real = fs::weakly_canonical(fs::absolute(path, error), error);
  return !error && is_inside(real.string());
}

Reading Folders::reach(const std::string& path, const std::function<Reading(int)>& then) const {
  if (path.find('\0') != std::string::npos) return {};
  const Descriptor place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!place.valid()) {
    const int why = errno;
    if (!leads_inside(path)) return outside();
    return why == ENOENT || why == ENOTDIR ? Reading() : Reading::refused(words(why));
  }
  const std::string real = real_path(place.number());
  if (real.empty()) return Reading::refused("the system does not tell where it lies (is /proc there?)");
  if (!is_inside(real)) return outside();
  return then(place.number());
}

Reading Folders::read(const std::string& path, std::size_t most_bytes) const {
  return reach(path, [&](int place) { return read_open(place, path, most_bytes); });
}

Reading Folders::locate(const std::string& path) const {
  return reach(path, [](int) { return Reading(); });
}

bool Folders::holds(const std::string& path) const {
  if (path.find('\0') != std::string::npos) return false;
  std::error_code error;
  const fs::path folder = fs::canonical(folder_of(path), error);
  const fs::path name = fs::path(path).filename();
  if (error || name.empty() || name == "..") return false;
  fs::path real = folder / name;
  if (std::error_code missing; fs::is_symlink(real, missing)) real = fs::canonical(real, error);
  return !error && is_inside(real.string());
}

Reading read_regular_file(const std::string& path, std::size_t most_bytes) {
  const Descriptor place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!place.valid()) return errno == ENOENT ? Reading() : Reading::refused(words(errno));
  return read_open(place.number(), path, most_bytes);
}

}  // namespace source
