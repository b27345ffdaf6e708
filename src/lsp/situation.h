// Where the cursor stands. The tokens before it in; the section and the statement that are open there out, as far as
// brackets and words tell.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lsp/view.h"

namespace lsp {

struct Situation {
  parse::Word section = parse::Word::none;
  parse::Word statement = parse::Word::none;  // its first word
  bool at_statement_start = true;
  bool in_mechanism = false;
  bool in_jump = false;  // between the braces of a transition, or of a phase of a sequence or a plan
};

// Behind the first `end` tokens.
[[nodiscard]] Situation situation_before(const NameTable& names, std::size_t end);

// `before`: the last token that ends at or before the offset, or no_token.
[[nodiscard]] bool in_comment_or_string(const View& view, std::uint32_t offset, std::size_t before);

}  // namespace lsp
