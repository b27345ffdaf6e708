// How far each line stands from the margin and how many blanks stand between neighbours: the style itself.
//
// Levels (of two blanks). A statement stands one level inside its section, its module's or mechanism's parentheses, its
// braces. A line that goes on with a statement stands one level inside the line where the statement began, one more for
// each bracket that ended a line; or, if the person put it there, under the token behind the open bracket, behind the
// `=`, or behind the word that begins the statement. A declaration of something that belongs to no section (a constant,
// a module) stays as far left as its section's word, if it stood there. A comment on its own line stands as the line
// below it does.
//
// Gaps. Binary operators have blanks around them, except `^` and `..`, and `*` and `/` if they had none; signs, `!`,
// primes, `.`, brackets have none; a unit has one before and none inside; statements on one line are two blanks apart,
// and so are the parts of `simulation` and `external` if they were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/names.h"
#include "compiler/format/elements.h"
#include "compiler/lex/lex.h"
#include "compiler/parse/parse.h"

namespace format {

// What may be aligned with what: elements with one of these, or align_tokens + the kind of token.
enum Alignment : std::uint32_t { no_alignment, align_operands, align_words, align_end_comments, align_tokens };

struct Placement {
  std::uint32_t level = 0;         // of the first element of a line
  std::size_t under = no_element;  // of the first element of a line: it was below this element and stays there
  bool only_comments = false;      // of the first element of a line: nothing else stands on it
  std::uint32_t gap = 0;           // of any other element: blanks before it, without alignment
  std::uint32_t alignment = no_alignment;
};

// One for each element. `names` gains the words of the language.
std::vector<Placement> place(const std::vector<Element>& elements, const lex::Tokens& tokens, base::Names& names,
                             parse::Dialect dialect);

}  // namespace format
