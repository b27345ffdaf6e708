// One text as an editor shows it, and what all answers about it need: places in the protocol's shape, pieces of the
// text, what the compiler knows of a name.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/facts.h"
#include "lsp/names.h"
#include "lsp/text.h"

namespace lsp {

using Json = nlohmann::json;

// What the editor can do.
struct Client {
  Encoding encoding = Encoding::utf16;
  bool snippets = false;
  bool related_information = false;
  bool markdown = true;
  bool hierarchical_symbols = true;
  bool versions = true;  // of diagnostics
};

// One text as it is now. All are borrowed; `facts` may be null.
struct View {
  const std::string& uri;
  const Text& text;
  const NameTable& names;
  const compiler::Facts* facts;
  const Client& client;
};

Json range_of(const View& view, Place place);
Json location(const std::string& uri, const Json& range);
std::string_view text_of(const View& view, Place place);
std::vector<Place> comments_between(const View& view, std::uint32_t from, std::uint32_t to);  // two tokens

// What the compiler knows of a symbol; null when it is not there or not compiled.
const compiler::Fact* fact_of(const View& view, const Symbol& symbol);
// What it knows of a module's name, by the first instance of the module in the file that has one of its own; else null.
const compiler::Fact* fact_of_member(const View& view, const Symbol& symbol);
// "f(x, y)"
std::string signature(const Symbol& symbol);

}  // namespace lsp
