// A person's browser, started with a page that leads to a link. The link lets one browser in, so it must not stand in
// another program's command line, which every user of the machine can read: the starter (xdg-open) gets the name of a
// file in a folder that only this user can open, and the file leads on.
#pragma once

#include <sys/types.h>

#include <string>

namespace driver {

class Browser {
 public:
  Browser() = default;
  ~Browser();  // the file goes; a starter that still runs is left to itself
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  // Where there is a screen. Does not wait: false when nothing could be started.
  [[nodiscard]] bool open(const std::string& url);
  // True once, when the starter turned out to have failed. Never waits.
  [[nodiscard]] bool has_failed();
  // Somebody is in: the file is not needed any more.
  void forget_link();

 private:
  std::string folder_;
  std::string file_;
  pid_t starter_ = 0;  // 0: none, or it has ended
};

}  // namespace driver
