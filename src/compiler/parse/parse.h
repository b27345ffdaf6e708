// Tokens to tree: recursive descent over the grammar (docs/language.md), one token of lookahead as a rule, three at
// most.
//
// Constructs that are not built yet are recognised by their word, reported, and skipped to their end.
//
// After a mistake the parser goes on behind the next `;` or at the next word that opens a section or a declaration.
// Nesting is bounded, so no text overflows the stack, here or in a pass that walks the tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/names.h"
#include "compiler/lex/lex.h"
#include "compiler/parse/tree.h"
#include "diag/sink.h"
#include "diag/source_map.h"

namespace parse {

// Parentheses, calls, indices, signs, powers, conditionals and implications around one expression, at most.
inline constexpr std::uint32_t max_nesting = 256;
// Nodes on the longest path of the tree, at most: `a.b.c` and `f(x)(y)` grow without nesting.
inline constexpr std::uint32_t max_height = 1024;
// Primes behind one name, at most.
inline constexpr std::uint32_t max_primes = 64;

// Which words are reserved. In the seed's kinds of file only the seed's words are.
enum class Dialect { tact, phydl, ridl };

// By the extension: .phydl, .ridl, and anything else is .tact.
Dialect dialect_of(std::string_view path);

// Always a tree; it means something only when nothing was reported as an error. `names` gains the words of the
// language.
[[nodiscard]] Tree parse(const lex::Tokens& tokens, const diag::SourceMap& sources, base::Names& names,
                         diag::Sink& diags, Dialect dialect);

// The items of `from` behind those of `into`: several files are one program.
void append(Tree& into, const Tree& from);

// The same for a file that `into` uses: its items become a body of their own, whose index is returned; its settings and
// externals are left out.
std::uint32_t append_file(Tree& into, const Tree& from);

// One item a line, in the order of the text, as s-expressions: (equation (prime x 1) (sum 1 - x)).
std::string dump(const Tree& tree, const base::Names& names);

// An expression as source text, with no more parentheses than its structure needs; numbers are in SI units.
std::string print(const Tree& tree, const base::Names& names, NodeId node);

}  // namespace parse
