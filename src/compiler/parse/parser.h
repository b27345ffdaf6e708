// The parser's state and its productions; private to this folder. Productions of expressions are in expressions.cpp, of
// sections and declarations in items.cpp, of modes and jumps in jumps.cpp, of energies and ports in energies.cpp, of
// scenes in drawings.cpp, getting over mistakes in recovery.cpp.
//
// A production that fails has reported, and returns an id that is not valid (or false); its caller returns at once, up
// to the item, which recovers. So one statement costs one error.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/lex/lex.h"
#include "compiler/parse/parse.h"
#include "compiler/parse/units.h"
#include "compiler/parse/words.h"

namespace parse {

using lex::TokenKind;

class Parser {
 public:
  Parser(lex::Tokens tokens, const diag::SourceMap& sources, base::Names& names, diag::Sink& diags, Dialect dialect);
  Tree run();

 private:
  enum class Section { none, boundary, system, reactive, scene, check };

  // One level of nesting while it lives. When the limit is passed it has reported and is not ok.
  class Level {
   public:
    explicit Level(Parser& parser);
    ~Level() { --parser_.nesting_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    bool ok() const { return parser_.nesting_ <= max_nesting; }

   private:
    Parser& parser_;
  };

  // -- tokens
  TokenKind kind(std::size_t ahead = 0) const { return token(at_ + ahead).kind; }
  bool at(TokenKind wanted) const { return kind() == wanted; }
  bool at_end() const { return at(TokenKind::end); }
  bool at_body_end() const { return body_end_ != 0 && at_ == body_end_; }
  bool accept(TokenKind wanted);
  bool expect(TokenKind wanted);
  // The reserved word ahead, or none.
  Word word(std::size_t ahead = 0) const { return word_at(at_ + ahead); }
  Word word_at(std::size_t index) const;
  // A name, reserved or not, with this spelling.
  bool spells(std::string_view text, std::size_t ahead = 0) const;
  bool at_name(std::size_t ahead = 0) const { return kind(ahead) == TokenKind::name && word(ahead) == Word::none; }
  const lex::Token& token(std::size_t index) const { return tokens_.list[index < last_ ? index : last_]; }
  std::string_view text(std::size_t index) const { return sources_.text(span_of(index)); }
  base::Span span_of(std::size_t index) const { return tokens_.span(index < last_ ? index : last_); }
  base::Span here() const { return span_of(at_); }
  // From the token `first` to the last one that was read.
  base::Span span_from(std::size_t first) const;
  base::Span end_of_previous() const;
  bool on_new_line(std::size_t index) const;
  // The lexer left something out before the token ahead and has said so: what is missing here need not be said again.
  bool after_dropped() const;
  bool adjacent(std::size_t index) const { return index > 0 && token(index - 1).end == token(index).begin; }

  // -- reporting and getting over it: recovery.cpp
  std::string found() const;
  // Where something is missing: here, or behind the previous token when the line ends there.
  base::Span missing_place() const { return at_end() || on_new_line(at_) ? end_of_previous() : here(); }
  diag::Sink::Reported report_expected(std::string_view what);
  diag::Sink::Reported report_no_equation();
  void report_expected_expression();
  void match_brackets();
  bool begins_matrix(std::size_t index) const;
  // A word that begins an item; `event` behind `observes` does not.
  bool at_item() const {
    if (in_jump_ &&
        (word() == Word::goto_ || word() == Word::keep || word() == Word::enforce || word() == Word::unknown))
      return true;
    return begins_item(word()) && !(word() == Word::event && at_ > 0 && word_at(at_ - 1) == Word::observes);
  }
  // Over the token ahead, or over the whole group that it opens.
  void step();
  // Behind the next `;`, or to a word that begins an item, or to the end.
  void recover();
  // Up to the `opener` of this statement; false, and up to where the statement ends, when it has none.
  bool skip_to(TokenKind opener);
  void skip_not_built(Word word);
  void report_not_built(base::Span span, std::string_view what);
  bool read_foreign_item();
  // A section or declaration whose first word is misspelt or capitalised; the word that was meant, after reporting.
  Word read_misspelt_word();
  // Behind `end WORD ;` of a block of another language, or behind a block in braces, or behind the statement.
  void skip_foreign_block(std::string_view word);
  // To the end of the line, or behind a `;` on it.
  void skip_line();
  // `((1, 2), (3, 4))` for the `[1 2; 3 4]` ahead; empty when it holds more than names and numbers.
  std::string matrix_meant() const;
  void report_reserved();
  // The `(` at `open` is not closed where it should be.
  void report_unclosed(std::size_t open);
  void report_foreign_functions();

  // -- items
  void read_item();
  void read_declaration(Word word);
  void read_entry();
  void open_section(Section section);
  bool belongs_to_mode();
  Section section_of_entry() const;
  std::string_view list_ended_before() const;
  void read_simulation();
  void read_external();
  bool read_command(External& external);
  bool read_accesses(std::vector<Access>& accesses, bool with_values);
  bool read_events(External& external);
  NodeId read_period();
  void read_conditions();
  // `with` is the name before the word `with`, not valid when there is none.
  bool read_condition(base::NameId with);
  void read_equation();
  bool read_rate(Equation& equation);
  bool read_family(Family& family);
  bool at_family() const;
  bool at_elements() const;
  void read_behaviour();
  bool read_handler(Behaviour& behaviour);
  bool at_drawing() const;
  void read_drawing();
  bool at_option(bool is_first, bool takes_values) const;
  bool read_option(Drawing& drawing);
  bool read_text(Drawing& drawing);
  NodeId read_hole(base::Span hole);
  void read_event();
  void read_module();
  void read_loop();
  void read_use();
  void read_automaton();
  void read_in();
  // `first`: where the statement begins; `mode`: the `in` before it, not valid when there is none.
  void read_must(std::size_t first, NodeId mode);
  bool read_head(Transition& item, std::string_view what);
  void recover_jump();
  void read_transition();
  void read_sequence();
  void read_plan();
  bool read_chosen(Plan& item);
  bool at_plan_phase() const;
  bool read_plan_phase(Plan& item);
  void recover_phases();
  void read_invariant();
  void read_property();
  void read_energy();
  bool at_power() const;
  void read_power_port();
  bool read_power_ends(std::size_t first, Power& power);
  bool at_storage() const;
  void read_storage();
  bool read_structure(Storage& storage);
  bool at_guard() const;
  void read_guard();
  void read_join();
  bool read_jump(Jump& jump);
  void read_jump_item(Jump& jump);
  void read_enforce(Jump& jump);
  void read_jump_loop(Jump& jump);
  // The items up to the bracket that closes the one at `open`, as a body of their own; `holder` says whose. Not set,
  // after reporting, when the bracket is missing.
  std::optional<std::uint32_t> read_body(std::size_t open, std::string_view holder);
  bool pass_type(std::string_view declaration);
  void read_parameters();
  void read_constants();
  void read_function();
  // The `;` of a statement. False when it is missing and the parser had to recover.
  bool read_end();
  // A name that is not reserved; not valid, after reporting, when there is none.
  base::NameId read_name(std::string_view what);

  // -- expressions
  NodeId read_value();
  NodeId read_variable();
  bool read_range(NodeId& low, NodeId& high);
  NodeId read_expression();
  NodeId read_or();
  NodeId read_and();
  NodeId read_not();
  NodeId read_comparison();
  NodeId read_arithmetic();
  NodeId read_term();
  NodeId read_sign();
  NodeId read_power();
  NodeId read_postfix();
  NodeId read_suffixes(NodeId node, std::size_t first, bool calls);
  NodeId read_primes(NodeId node, std::size_t first);
  NodeId read_index(NodeId node, std::size_t first, bool several);
  NodeId read_call(NodeId node, std::size_t first);
  NodeId read_primary();
  NodeId read_number();
  NodeId read_group();
  NodeId read_conditional();
  NodeId read_sum_over();
  NodeId read_formula();
  NodeId read_temporal();
  bool read_bounds(NodeId& low, NodeId& high);
  std::optional<Measure> read_unit();
  std::optional<Measure> read_unit_product();
  std::optional<Measure> read_unit_term();
  Op comparison_operator() const;
  bool at_foreign_operator(std::string_view word) const;

  NodeId add(Node node, std::span<const Child> children);
  NodeId add(Node node, std::initializer_list<NodeId> children = {});
  NodeId add_name(std::size_t index);
  std::uint32_t add_text(std::string_view text);
  NodeId too_deep(base::Span span);

  lex::Tokens tokens_;
  const diag::SourceMap& sources_;
  base::Names& names_;
  diag::Sink& diags_;
  Dialect dialect_;
  Words words_;

  std::size_t last_;  // the token of kind `end`
  std::size_t at_ = 0;
  Section section_ = Section::none;
  Body* body_ = nullptr;      // whose items are being read
  std::string_view holder_;   // what the body belongs to: "a module", "a loop"; empty for a file
  std::size_t body_end_ = 0;  // the bracket that closes it; 0 for a file
  std::uint32_t nesting_ = 0;
  Tree tree_;
  std::vector<std::uint32_t> heights_;  // of each node
  // For each opening bracket the index of its closing one; 0 for one without, and for all other tokens.
  std::vector<std::uint32_t> closing_;
  // For each `(`: whether it holds exactly three expressions.
  std::vector<bool> holds_three_;
  std::vector<NodeId> foreign_calls_;
  bool in_mode_ = false;      // inside of an `in` block
  bool said_mode_ = false;    // and what does not stand in it was reported
  bool in_property_ = false;  // the expression is a formula under `check`
  bool in_jump_ = false;      // the braces being read are those of a jump
  bool in_hole_ = false;      // the tokens are those of an expression inside a text
  bool said_what_is_missing_ = false;
  bool said_heading_ = false;                    // `model Ball` was reported: so is its `end Ball;`
  bool said_initial_ = false;                    // `initial equation` was reported: its conditions say no time
  bool said_braces_ = false;                     // a section in braces was reported
  std::vector<std::size_t> passed_over_;         // closing braces of sections, reported with the opening ones
  std::vector<std::string_view> said_reserved_;  // words that were used as names and reported
};

}  // namespace parse
