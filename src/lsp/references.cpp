// Where a name is defined, and where else it stands.
#include <fmt/format.h>

#include <cctype>

#include "lsp/answers.h"

namespace lsp {

namespace {

std::string uri_of_path(const std::string& path) {
  std::string out = "file://";
  for (const char c : path) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) || std::string_view("/-._~").find(c) != std::string_view::npos;
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace

Json definition(const View& view, std::uint32_t offset) {
  const Occurrence* occurrence = view.names.at(offset);
  if (!occurrence) return nullptr;
  const Symbol& symbol = view.names.symbols[occurrence->symbol];
  if (symbol.file != this_file) {
    const OtherFile& other = view.names.files[symbol.file];
    const Text text(other.text);
    const std::string uri = uri_of_path(other.path);
    return location(uri, range_of({uri, text, view.names, nullptr, view.client}, symbol.place));
  }
  return location(view.uri, range_of(view, symbol.place));
}

Json references(const View& view, std::uint32_t offset, bool with_declaration) {
  const Occurrence* asked = view.names.at(offset);
  if (!asked) return Json::array();
  const Symbol& symbol = view.names.symbols[asked->symbol];
  Json all = Json::array();
  for (const Occurrence& occurrence : view.names.occurrences) {
    if (occurrence.symbol != asked->symbol) continue;
    const bool declaration = symbol.file == this_file && occurrence.place.begin == symbol.place.begin;
    if (declaration && !with_declaration) continue;
    all.push_back(location(view.uri, range_of(view, occurrence.place)));
  }
  return all;
}

Json highlights(const View& view, std::uint32_t offset) {
  const Occurrence* asked = view.names.at(offset);
  if (!asked) return nullptr;
  Json all = Json::array();
  for (const Occurrence& occurrence : view.names.occurrences)
    if (occurrence.symbol == asked->symbol) all.push_back({{"range", range_of(view, occurrence.place)}, {"kind", 1}});
  return all;
}

}  // namespace lsp
