// Names of recorded values -> columns: what --show, CSV headers, summaries and plots speak of.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "abi/model.h"
#include "compiler/expand/expand.h"

namespace driver {

// One scalar of the outputs section.
struct Column {
  std::string label;  // "x", "p[1]", "R[1][2]"
  std::string unit;
  std::uint32_t at = 0;
  bool is_discrete = false;
};

// A whole channel or one component of it, as shown.
struct Shown {
  std::string name;
  const tactus_channel* channel = nullptr;
  std::optional<std::uint32_t> component;  // from 0; empty: all of it
};

// "p[2]" for component 1 of a vector, "R[1][2]" of a matrix, the name itself of a scalar.
std::string component_name(const tactus_channel& channel, std::uint32_t component);

// The channels without CONSTANT and DERIVATIVE and without the insides of instances; when there are none, with these;
// when there are none (nothing moves), all without DERIVATIVE.
std::vector<Shown> default_channels(const tactus_model& model);

// "a,p[1],p'" -> what it names, under that name also when it is an alias; several lists are joined. Empty, with
// `failure` and `hint` set, when a name is not known.
[[nodiscard]] std::optional<std::vector<Shown>> find_channels(const tactus_model& model,
                                                              std::span<const std::string> lists, std::string& failure,
                                                              std::string& hint,
                                                              std::span<const expand::Alias> aliases = {});

std::vector<Column> columns_of(std::span<const Shown> shown);

// "a, b" -> {"a", "b"}; commas inside brackets and empty parts do not count.
std::vector<std::string> split_names(std::string_view list);
// Whether no list has a name in it.
bool names_nothing(std::span<const std::string> lists);

}  // namespace driver
