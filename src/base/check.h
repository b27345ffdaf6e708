// An always-on check for our own bugs: what a user does wrong goes to diag::Sink, never here.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace base {
[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "tactus: internal error: %s (%s:%d); please report it with the model\n", condition, file, line);
  std::abort();
}
}  // namespace base

#define TACTUS_CHECK(condition) ((condition) ? void(0) : ::base::check_failed(#condition, __FILE__, __LINE__))
