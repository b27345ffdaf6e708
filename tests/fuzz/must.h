// A property that must hold of every input: where one does not, that is a finding.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace fuzz {

inline void must(bool holds, const char* property, const std::string& details = "") {
  if (holds) return;
  std::fprintf(stderr, "fuzz: broken: %s\n%s\n", property, details.c_str());
  std::abort();
}

}  // namespace fuzz
