// Z3 as a child process. A script in SMT-LIB 2 enters, what it printed leaves, in bounded time and size.
//
// The child gets a process group of its own, which is killed when it is late, prints too much or is done, and it is
// always waited for: neither a zombie nor anything that it started is left. Should we be killed first, Z3 ends by its
// own limit of time.
#pragma once

#include <string>

namespace proof {

class SolverProcess {
 public:
  // A name is looked for in PATH, whose entries count only if they are absolute; a path is taken as it is.
  explicit SolverProcess(const std::string& program = "z3");

  bool is_there() const { return !path_.empty(); }

  enum class End {
    answered,
    late,      // killed after `seconds`
    too_long,  // killed behind `longest_reply` bytes
    failed,    // could not be started
  };
  struct Reply {
    End end = End::failed;
    std::string text = {};
  };
  [[nodiscard]] Reply ask(const std::string& script, double seconds) const;

  static constexpr std::size_t longest_reply = 1 << 20;

 private:
  std::string path_;
};

}  // namespace proof
