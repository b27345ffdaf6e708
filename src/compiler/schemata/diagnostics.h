// What can be wrong with sequences, plans and guards.
#pragma once

#include <string>
#include <string_view>

#include "diag/sink.h"

namespace schemata {

inline constexpr diag::Kind<std::string_view, std::string_view> no_instant{"Q001", "`{}` is no instant before {}"};
inline constexpr diag::Kind<std::string_view, std::string_view> wrong_arguments{"Q002", "`{}` needs {}"};
inline constexpr diag::Kind<std::string_view> negative_amount{"Q003", "{} cannot be negative"};

}  // namespace schemata
