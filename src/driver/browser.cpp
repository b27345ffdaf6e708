#include "driver/browser.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace driver {
namespace {

// The folder of this user's running programs, if it is nobody else's; else the one for temporary files.
std::string runtime_folder() {
  struct stat about = {};
  const char* folder = std::getenv("XDG_RUNTIME_DIR");
  if (folder && *folder == '/' && ::stat(folder, &about) == 0 && S_ISDIR(about.st_mode) &&
      about.st_uid == ::geteuid() && (about.st_mode & 077) == 0)
    return folder;
  const char* temporary = std::getenv("TMPDIR");
  return temporary && *temporary == '/' ? temporary : "/tmp";
}

std::string file_url(std::string_view path) {
  std::string url = "file://";
  for (const char c : path) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                          c == '-' || c == '_' || c == '.';
    url += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return url;
}

std::string page_to(const std::string& url) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" "
      "content=\"no-referrer\">\n"
      "<meta http-equiv=\"refresh\" content=\"0; url={0}\">\n<title>Tactus</title>\n<p><a href=\"{0}\">To the "
      "world</a>\n",
      url);
}

bool write_private(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const bool is_written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  return ::close(file) == 0 && is_written;
}

// In a session of its own, so that ctrl-C ends our world and not the browser; it says nothing between our words.
pid_t start(const std::string& argument) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t usual;
  sigemptyset(&usual);
  for (const int signal : {SIGPIPE, SIGXFSZ}) sigaddset(&usual, signal);  // which we ignore
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  const char* words[] = {"xdg-open", argument.c_str(), nullptr};
  pid_t child = 0;
  const int failure = posix_spawnp(&child, words[0], &files, &attributes, const_cast<char* const*>(words), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return failure == 0 ? child : 0;
}

}  // namespace

Browser::~Browser() {
  (void)has_failed();
  forget_link();
}

bool Browser::open(const std::string& url) {
  if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return false;
  std::string folder = runtime_folder() + "/tactus-XXXXXX";
  if (!::mkdtemp(folder.data())) return false;  // of mode 0700
  folder_ = folder;
  file_ = folder_ + "/open.html";
  if (write_private(file_, page_to(url))) starter_ = start(file_url(file_));
  if (starter_ == 0) forget_link();
  return starter_ != 0;
}

bool Browser::has_failed() {
  int status = 0;
  if (starter_ == 0 || ::waitpid(starter_, &status, WNOHANG) != starter_) return false;
  starter_ = 0;
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

void Browser::forget_link() {
  if (folder_.empty()) return;
  ::unlink(file_.c_str());
  ::rmdir(folder_.c_str());
  folder_.clear();
}

}  // namespace driver
