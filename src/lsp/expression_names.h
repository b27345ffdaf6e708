// The names in expressions. A walk at the beginning of one in; the walk at its end, with a mention for each name, out.
// Works on texts with mistakes: an expression ends where a person would say that it does.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include "compiler/parse/places.h"
#include "lsp/walk.h"

namespace lsp {

class ExpressionNames {
 public:
  explicit ExpressionNames(Walk& walk) : walk_(walk) {}

  // What the statement begins with, and where it stands: some words are known by that.
  void begin_statement(parse::Word first, parse::Surroundings around) {
    first_word_ = first;
    around_ = around;
  }

  // Mentions up to the end of the expression: `;` `,` `{` `}` `=>` `:` a bracket that it did not open, a word that is
  // not of expressions. `rank` is that of the names before the first `=` outside brackets.
  void scan(ScopeId scope, Rank rank = mentioned, bool through_equals = true);
  // To the end of a statement, words of the language between expressions passed over.
  void scan_rest(ScopeId scope);
  // What is left of a statement that is not understood.
  void skip_broken(ScopeId scope);
  // "[" NAME "in" range "]" behind a name.
  void read_family(ScopeId inner);
  void skip_unit();
  // From now on these words end an expression when they stand behind an operand: of statements whose first word is none elsewhere.
  void end_at(std::initializer_list<std::string_view> words) { ends_.assign(words); }

 private:
  struct Frame {
    lex::TokenKind open;
    ScopeId scope;
    ScopeId inner;  // opened by this bracket; else not valid
    std::size_t path;
    std::size_t callee;
  };

  bool behind_operand() const;
  bool at_option() const;
  bool is_of_the_language() const;
  void leave(const std::vector<Frame>& frames);
  void read_string(ScopeId scope);

  Walk& walk_;
  std::vector<std::string_view> ends_;
  std::size_t last_option_ = no_token;  // the last word that was known by its place
  parse::Word first_word_ = parse::Word::none;
  parse::Surroundings around_ = parse::Surroundings::none;
};

}  // namespace lsp
