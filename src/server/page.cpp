#include "server/page.h"

#include <algorithm>
#include <string>
#include <vector>

namespace server {
namespace {

constexpr std::string_view compressed_ending = ".gz";

struct Type {
  std::string_view ending;
  std::string_view name;
};

constexpr Type types[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".json", "application/json"},
    {".wasm", "application/wasm"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".woff2", "font/woff2"},
    {".txt", "text/plain; charset=utf-8"},
};

std::string_view find_type(std::string_view name) {
  const auto* found = std::ranges::find_if(types, [&](const Type& type) { return name.ends_with(type.ending); });
  return found == std::end(types) ? "application/octet-stream" : found->name;
}

struct Page {
  std::vector<std::string> paths;
  std::vector<Asset> assets;

  Page() {
    paths.reserve(page_files().size());
    for (const auto& [file, bytes] : page_files()) {
      const std::string_view name = file.substr(0, file.size() - compressed_ending.size());
      paths.push_back(name == "index.html" ? "/" : "/" + std::string(name));
      assets.push_back({paths.back(), find_type(name), bytes, "gzip"});
    }
  }
};

}  // namespace

std::span<const Asset> page_assets() {
  static const Page page;
  return page.assets;
}

bool is_page_built() {
  return std::ranges::find(page_assets(), std::string_view("/app.js"), &Asset::path) != page_assets().end();
}

}  // namespace server
