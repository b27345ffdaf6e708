#include "play/meshes.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

namespace play {
namespace {

namespace fs = std::filesystem;

// The rest of the path below the folder; of the folder itself ".".
std::optional<std::string> below(const fs::path& path, const fs::path& folder) {
  const std::string rest = path.lexically_relative(folder).generic_string();
  if (rest.empty() || rest == ".." || rest.starts_with("../")) return std::nullopt;
  return rest;
}

fs::path plain(const fs::path& path) {
  std::error_code error;
  return fs::absolute(path, error).lexically_normal();
}

}  // namespace

std::string mesh_path(const std::string& file, const std::string& model, const std::vector<std::string>& allow) {
  const fs::path folder = plain(fs::path(model).parent_path() / ".").parent_path();
  const fs::path path = plain(folder / file);
  if (const auto rest = below(path, folder)) return *rest;
  for (std::size_t i = 0; i < allow.size(); ++i) {
    const fs::path root = plain(fs::path(allow[i]) / ".").parent_path();
    if (const auto rest = below(path, root))
      return fmt::format("@{}/{}", i, *rest == "." ? path.filename().string() : *rest);
  }
  return file;
}

}  // namespace play
