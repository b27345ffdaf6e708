// The standard library's files, library/*, embedded when the program is built: name -> text.
#pragma once

#include <map>
#include <string_view>

namespace api {

const std::map<std::string_view, std::string_view>& library_texts();

}  // namespace api
