// An always-on check for our own bugs: what a user does wrong goes to diag::Sink, never here.
//
// A check that fails throws. Whoever does a piece of work for a person catches it where the piece ends and says what to
// report: the command line in main, a session of `play` for one edit, the language server for one request. A world that
// runs goes on.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace base {

class CheckFailed : public std::logic_error {
 public:
  CheckFailed(std::string_view condition, std::string_view file, int line)
      : std::logic_error("internal error: " + std::string(condition) + " (" + std::string(file) + ":" +
                         std::to_string(line) + "); please report it with the model") {}
};

// Of a path of this repository: what stands behind the last `src/`.
constexpr std::string_view file_in_house(std::string_view path) {
  const std::size_t at = path.rfind("src/");
  return at == std::string_view::npos ? path : path.substr(at + 4);
}

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
  CheckFailed failed(condition, file_in_house(file), line);
#ifdef TACTUS_FUZZ
  std::abort();  // a fuzzer must see it, whoever would catch it
#endif
  throw failed;
}

}  // namespace base

#define TACTUS_CHECK(condition) ((condition) ? void(0) : ::base::check_failed(#condition, __FILE__, __LINE__))
