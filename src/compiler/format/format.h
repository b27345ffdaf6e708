// A program's text -> the same text in the house's layout. Works on tokens and the comments between them, not on the
// tree, so that it lays out every construct of the grammar, also one that this compiler does not build yet, and texts
// with mistakes.
//
//   text --lex--> tokens + comments (elements.h) --levels, gaps (layout.h)--> --columns (columns.h)--> text
//
// Lines stay as they were broken; only blanks change, and of several empty lines one stays. Tokens and comments are
// kept, in their order; blanks at the end of a `//` comment are not. format(format(x)) = format(x).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "diag/sink.h"
#include "diag/source_map.h"

namespace format {

// `file` is a text that source::load or source::add accepted; its name's ending says which words are reserved. Empty,
// after reporting to `diags`, when the text has characters that are not read as they stand: mistakes of the lexer.
// Linear, but for a sort.
[[nodiscard]] std::optional<std::string> format(std::uint32_t file, const diag::SourceMap& sources, diag::Sink& diags);

}  // namespace format
