// What a person sees of a model. Its table in; drawings and plots with their places in the outputs section out, ready
// to be sent to a page.
//
//   a scene              as it is written
//   else external GUI    what it is given or reads: vectors of 2 and 3 are balls with their traces, all else is plotted
//   else                 states that are vectors of 2 and 3 are balls with their traces; without any, up to four
//   scalars that
//                        move are plotted
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "abi/model.h"

namespace picture {

// `count` numbers of the outputs section from `at` on.
struct Place {
  std::uint32_t at = 0;
  std::uint32_t count = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

struct Option {
  std::string name;
  std::variant<std::string, Place> value;
  friend bool operator==(const Option&, const Option&) = default;
};

struct Drawing {
  std::string kind;
  std::vector<Option> options;
  friend bool operator==(const Drawing&, const Drawing&) = default;
};

struct World {
  int dimensions = 2;  // 2: x right, y up; 3: z up
  std::vector<Drawing> drawings;
  std::vector<std::vector<std::string>> plots;  // one panel each: names of scalars, "p[1]"
};

[[nodiscard]] World describe(const tactus_model& model);

}  // namespace picture
