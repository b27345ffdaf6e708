// A child process: this program once more, for work that may crash, hang or take all memory and must not take us with
// it.
//
//   we --pipe--> its standard input        closed: it ends, in the middle of its work too (worker.h)
//   we <--pipe-- its standard output
//
// It is started, not forked: we have threads and locked memory. It begins with ordinary scheduling and signals,
// whatever thread starts it, and in a process group of its own, so that a ctrl-C at a terminal is ours alone.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace process {

using Clock = std::chrono::steady_clock;

// A file descriptor that is closed with it.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  void reset(int number);
  void close() { reset(-1); }

 private:
  int number_;
};

// False: nobody reads any more.
[[nodiscard]] bool write_all(int to, std::string_view bytes);

enum class Messages { ours, nowhere };  // where standard error goes

// Starts a program; `words` begin with its name. Its standard input and output are the descriptors. -1: the system has
// refused.
[[nodiscard]] pid_t spawn(const std::string& program, std::vector<std::string> words, int input, int output,
                          Messages messages);

// The exit code of a worker that asked for more memory than it may have; worker.h sets it up.
inline constexpr int out_of_memory_code = 71;

class Child {
 public:
  // `words` are its arguments behind the program's name.
  explicit Child(const std::vector<std::string>& words, const std::string& program = "/proc/self/exe");
  // Kills it, if it is there still.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool is_started() const { return pid_ > 0; }  // false: the system has refused
  int to() const { return to_.number(); }
  int from() const { return from_.number(); }
  pid_t pid() const { return pid_; }

  // From any thread; nothing when it has been waited for.
  void kill();
  void close_input() { to_.close(); }
  // Waits until it has ended, then how: a status of waitpid. Kills it at the deadline.
  int wait(std::optional<Clock::time_point> deadline = std::nullopt);

 private:
  pid_t pid_ = -1;
  Descriptor to_, from_;
  std::mutex ending_;  // guards what follows: a number that was waited for may be another process's
  bool has_ended_ = false;
  int status_ = 0;
};

// "it ran out of memory", "it took more than 10 s", "it crashed (Segmentation fault)"
[[nodiscard]] std::string ending_in_words(int status, double cpu_seconds);

}  // namespace process
