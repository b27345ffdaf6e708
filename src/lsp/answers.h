// What the editor asks about one text, answered from its names and what the compiler knows. JSON in the protocol's
// shapes; null where there is nothing to say. Each group stands in the file that is named.
#pragma once

#include <cstdint>
#include <string>

#include "lsp/view.h"

namespace lsp {

// hover.cpp
Json hover(const View& view, std::uint32_t offset);

// completion.cpp
Json completion(const View& view, std::uint32_t offset);

// references.cpp
Json definition(const View& view, std::uint32_t offset);
Json references(const View& view, std::uint32_t offset, bool with_declaration);
Json highlights(const View& view, std::uint32_t offset);

// renaming.cpp
// Empty when the name may be changed; else why not.
std::string why_not_renamed(const View& view, std::uint32_t offset);
// The place and the name that are changed.
Json prepare_rename(const View& view, std::uint32_t offset);
// A workspace edit; after writing to `refusal`, null.
Json rename(const View& view, std::uint32_t offset, const std::string& new_name, std::string& refusal);

// outline.cpp
Json symbols(const View& view);
Json folds(const View& view);

// colours.cpp
// The kinds of token that colours tell apart, in the order of the legend.
Json semantic_legend();
Json colours(const View& view);

// edits.cpp
// Edits that make `formatted` of the text: the lines that differ.
Json edits_to(const View& view, const std::string& formatted);

}  // namespace lsp
