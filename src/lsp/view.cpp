#include "lsp/view.h"

#include <fmt/format.h>

#include <algorithm>

namespace lsp {
namespace {

Json position(const View& view, std::uint32_t offset) {
  const Position at = view.text.position_of(offset, view.client.encoding);
  return {{"line", at.line}, {"character", at.character}};
}

}  // namespace

Json range_of(const View& view, Place place) {
  return {{"start", position(view, place.begin)}, {"end", position(view, place.end)}};
}

Json location(const std::string& uri, const Json& range) { return {{"uri", uri}, {"range", range}}; }

std::string_view text_of(const View& view, Place place) {
  return std::string_view(view.text.content()).substr(place.begin, place.end - place.begin);
}

std::vector<Place> comments_between(const View& view, std::uint32_t from, std::uint32_t to) {
  std::vector<Place> all;
  const std::string_view content = view.text.content();
  while (from < to) {
    const std::string_view rest = content.substr(from, to - from);
    std::size_t length = 1;
    if (rest.starts_with("//")) length = std::min(rest.find('\n'), rest.size());
    if (rest.starts_with("/*")) length = std::min(rest.find("*/", 2), rest.size() - 2) + 2;
    const auto end = static_cast<std::uint32_t>(from + length);
    if (rest.starts_with("//") || rest.starts_with("/*")) all.push_back({from, end});
    from = end;
  }
  return all;
}

const compiler::Fact* fact_of(const View& view, const Symbol& symbol) {
  if (!view.facts || symbol.scope != ScopeId(0) || symbol.file != this_file) return nullptr;
  return view.facts->find(symbol.name);
}

const compiler::Fact* fact_of_member(const View& view, const Symbol& symbol) {
  if (!view.facts || symbol.scope == ScopeId(0) || symbol.file != this_file || !symbol.scope.valid()) return nullptr;
  const SymbolId module = view.names.scopes[symbol.scope].owner;
  if (!module.valid()) return nullptr;
  for (const Symbol& instance : view.names.symbols) {
    if (instance.instance_of != module || instance.scope != ScopeId(0)) continue;
    for (const char* element : {"", "[1]"}) {
      if (const compiler::Fact* fact = view.facts->find(fmt::format("{}{}.{}", instance.name, element, symbol.name)))
        return fact;
    }
  }
  return view.facts->find(fmt::format("{}[1].{}", view.names.symbols[module].name, symbol.name));
}

std::string signature(const Symbol& symbol) {
  std::string all;
  for (const std::string& argument : symbol.arguments) all += (all.empty() ? "" : ", ") + argument;
  return fmt::format("{}({})", symbol.name, all);
}

}  // namespace lsp
