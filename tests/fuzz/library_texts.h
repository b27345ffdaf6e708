// The standard library, as the program carries it (library/): path -> text.
#pragma once

#include <map>
#include <string_view>

namespace fuzz {

const std::map<std::string_view, std::string_view>& library_texts();

}  // namespace fuzz
