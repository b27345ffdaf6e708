#include "driver/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "driver/report.h"

namespace driver {

constexpr double redraw_seconds = 0.1;

Progress::Progress(double start, double end, bool wanted)
    : start_(start), end_(end), enabled_(wanted && end > start && isatty(STDERR_FILENO)) {}

void Progress::update(double time) {
  if (!enabled_) return;
  auto now = Clock::now();
  if (std::chrono::duration<double>(now - last_).count() < redraw_seconds) return;
  last_ = now;
  double elapsed = std::chrono::duration<double>(now - begin_).count();
  double done = std::clamp((time - start_) / (end_ - start_), 0.0, 1.0);
  std::string left = done > 0 ? duration_text(elapsed * (1 - done) / done) + " left" : "";
  std::string tail = fmt::format(" {:3.0f} %  t = {:.6g} of {:.6g}  {}", std::floor(done * 100), time, end_, left);
  winsize size{};
  int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
  int width = std::clamp(columns - static_cast<int>(tail.size()) - 3, 0, 40);
  int filled = static_cast<int>(done * width);
  std::string bar = width >= 5 ? "[" + std::string(filled, '#') + std::string(width - filled, '.') + "]" : "";
  std::string line = (bar + tail).substr(0, static_cast<std::size_t>(std::max(columns - 1, 0)));
  say(stderr, "\r{}\x1b[K", line);
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::erase() {
  if (!drawn_) return;
  say(stderr, "\r\x1b[K");
  std::fflush(stderr);
  drawn_ = false;
}

std::string duration_text(double seconds) {
  if (!(seconds < 1e9)) return "long";
  auto whole = static_cast<long>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

}  // namespace driver
