// What the editor asks about one text, answered from its names and what the compiler knows: hover, completion, definitions,
// references, renaming, outline, folds, layout, colours. JSON in the protocol's shapes; null where there is nothing to say.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

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

// The kinds of token that colours tell apart, in the order of the legend.
Json semantic_legend();

Json range_of(const View& view, Place place);
Json hover(const View& view, std::uint32_t offset);
Json completion(const View& view, std::uint32_t offset);
Json definition(const View& view, std::uint32_t offset);
Json references(const View& view, std::uint32_t offset, bool with_declaration);
Json highlights(const View& view, std::uint32_t offset);
Json symbols(const View& view);
Json folds(const View& view);
Json colours(const View& view);

// Empty when the name may be changed; else why not.
std::string why_not_renamed(const View& view, std::uint32_t offset);
// The place and the name that are changed.
Json prepare_rename(const View& view, std::uint32_t offset);
// A workspace edit; after writing to `refusal`, null.
Json rename(const View& view, std::uint32_t offset, const std::string& new_name, std::string& refusal);
// Edits that make `formatted` of the text: the lines that differ.
Json edits_to(const View& view, const std::string& formatted);

}  // namespace lsp
