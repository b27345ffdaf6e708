// What the page asks the server for, in the place of a file that a scene names.
#pragma once

#include <string>
#include <vector>

namespace play {

// `file` as the model of the given path names it. In the model's folder: its path there. In one of `allow` (folders and
// files): "@0/part.stl", the place of that in the list and the path in it. Elsewhere: as it stands, and the server has
// none.
[[nodiscard]] std::string mesh_path(const std::string& file, const std::string& model,
                                    const std::vector<std::string>& allow);

}  // namespace play
