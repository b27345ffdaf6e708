// What is said of an edited text that compiles, while the world of the text before goes on.
#pragma once

#include <string>

#include "diag/sink.h"

namespace play {

inline constexpr diag::Kind<std::string> does_not_start{"K002", "the edited world does not start: {}"};
inline constexpr const char* does_not_start_hint = "what moves is the world of the text before";

}  // namespace play
