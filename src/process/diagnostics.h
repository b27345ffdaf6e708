// What is said of a text on which a worker ended.
#pragma once

#include <string>

#include "diag/sink.h"

namespace process {

inline constexpr diag::Kind<std::string> compiler_stopped{"K001", "the compiler stopped on this text: {}"};
inline constexpr const char* stopped_hint =
    "this is a mistake of Tactus, or a model that is larger than it can be: please report it with the model; it is not "
    "tried "
    "again before the text changes";

}  // namespace process
