// What can be wrong with a file before its text is read. F007 stands where a program names the file.
#pragma once

#include <cstddef>
#include <string>

#include "diag/sink.h"

namespace source {

inline constexpr diag::Kind<> not_found{"F001", "there is no such file"};
inline constexpr diag::Kind<> is_directory{"F002", "this is a directory, not a file"};
inline constexpr diag::Kind<std::string> unreadable{"F003", "the file cannot be read: {}"};
inline constexpr diag::Kind<std::size_t> too_large{"F004", "the file is larger than {} MB"};
inline constexpr diag::Kind<unsigned> not_utf8{"F005", "byte 0x{:02X} is not valid UTF-8"};
inline constexpr diag::Kind<> nul_byte{"F006", "a NUL byte stands in the text"};
inline constexpr diag::Kind<std::string, std::string> file_refused{"F007", "the file `{}` is not read: {}"};

}  // namespace source
