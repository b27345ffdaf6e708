// An edit is rehearsed in a child process before it is compiled here: whatever a text does to the compiler, to LLVM or
// to the search for a start, in time, memory or a crash, it does to the child, and the world that runs goes on.
//
//   edit -> child: prepare, within bounds (process/worker.h) -> its mistakes                 -> the page
//                                                            -> it went well                 -> prepare here: the same
//                                                            text, the same work
//                                                            -> the child ended, or is late  -> said of the edit;
//                                                            another child is started
//   then -> child: the optimised code                        -> it went well                 -> optimised here
//
// The child stays for the next edit, warm: a rehearsal costs as much as the preparation itself, not a program's start.
// Why the work is done twice: docs/decisions/0020-an-edit-is-rehearsed.md.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "play/prepare.h"
#include "process/child.h"

namespace play {

// What an edit is prepared from.
struct Attempt {
  std::vector<api::Text> texts;
  Overrides overrides;
  std::vector<Moved> moved;
  double period = 0;
  std::vector<std::string> allow = {};  // compiler::Options' own
};

// The child's command, and its work: `tactus` with this word alone.
inline constexpr const char* rehearsing_word = "rehearse-edits";
int rehearse_edits(int input, int output);

class Rehearsal {
 public:
  // `seconds` by the clock is what a child has for an edit: a child that waits for something takes no time of the
  // processor.
  explicit Rehearsal(std::string program = "/proc/self/exe", double seconds = 60);

  // Rehearses and prepares; takes as long as that takes. Where no child can be started the edit is prepared without. On
  // any thread, one at a time.
  [[nodiscard]] Prepared prepare(const Attempt& attempt);
  // From another thread: what is being rehearsed is given up, if something is.
  void cancel();

  enum class Optimised { not_yet, yes, never };
  // Of what was prepared last, once: whether optimising it went well. `never`: the child ended on it, `why` says how.
  // Between two calls of `prepare`, and does not wait.
  [[nodiscard]] Optimised optimised(std::string& why);

 private:
  void start();
  bool send(const Attempt& attempt);
  enum class Heard { answer, ended, late };
  // The next message of this edit and kind.
  Heard hear(std::string_view kind, process::Clock::time_point deadline, Json& message);
  std::string ending(double cpu_seconds);
  enum class Verdict { heard, stopped, given_up, nobody };
  Verdict rehearse(const Attempt& attempt, Json& answer, std::string& why);

  std::string program_;
  double seconds_;
  std::mutex changing_;  // guards what follows against `cancel`
  std::unique_ptr<process::Child> child_;
  bool is_rehearsing_ = false;
  bool is_cancelled_ = false;

  std::uint64_t number_ = 0;  // of the edit
  bool is_optimising_ = false;
};

// A diagnostic of the first text: the compiler ended on it.
[[nodiscard]] Json stopped_items(const std::vector<api::Text>& texts, const std::string& why);

}  // namespace play
