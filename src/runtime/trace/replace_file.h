// A file that exists gets another text, as a whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace trace {

// A whole file as OutputFile writes it: a reader, or a run that is cut short, sees the old text or the new one. The
// file keeps its permissions. Of a link the file that it names is replaced, and the link stays; one that leads out of
// its own folder is refused, for whoever made it may not mean well. False, with the reason in `failure`.
[[nodiscard]] bool replace_file(const std::string& path, std::string_view text, std::string& failure);

}  // namespace trace
