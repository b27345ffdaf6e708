#include "compiler/format/layout.h"

#include <algorithm>
#include <string_view>

#include "compiler/parse/places.h"
#include "compiler/parse/words.h"

namespace format {
namespace {

using lex::TokenKind;
using parse::Word;

// What an entry is, by the section opened last or the braces around it.
enum class Section { none, boundary, system, reactive, scene, check, mechanism, handlers };

constexpr Section section_of(Word word) {
  switch (word) {
    case Word::boundary:
      return Section::boundary;
    case Word::system:
      return Section::system;
    case Word::reactive:
      return Section::reactive;
    case Word::scene:
      return Section::scene;
    case Word::check:
      return Section::check;
    default:
      return Section::none;
  }
}

constexpr bool is_open(TokenKind kind) {
  return kind == TokenKind::left_paren || kind == TokenKind::left_bracket || kind == TokenKind::left_brace;
}
constexpr bool is_close(TokenKind kind) {
  return kind == TokenKind::right_paren || kind == TokenKind::right_bracket || kind == TokenKind::right_brace;
}
constexpr TokenKind opener_of(TokenKind close) {
  if (close == TokenKind::right_paren) return TokenKind::left_paren;
  return close == TokenKind::right_bracket ? TokenKind::left_bracket : TokenKind::left_brace;
}
constexpr bool is_sign(TokenKind kind) { return kind == TokenKind::plus || kind == TokenKind::minus; }

constexpr bool is_binary(TokenKind kind) {
  switch (kind) {
    case TokenKind::plus:
    case TokenKind::minus:
    case TokenKind::star:
    case TokenKind::slash:
    case TokenKind::equal:
    case TokenKind::not_equal:
    case TokenKind::less:
    case TokenKind::less_equal:
    case TokenKind::greater:
    case TokenKind::greater_equal:
    case TokenKind::and_and:
    case TokenKind::or_or:
    case TokenKind::arrow:
    case TokenKind::fat_arrow:
    case TokenKind::tilde:
      return true;
    default:
      return false;
  }
}

// What a token is in its place, beyond its kind.
enum class Part : std::uint8_t {
  plain,
  keyword,     // a word of the language, reserved or known by its place
  sign,        // + or - before its operand
  unit,        // the `[` and `]` of a unit
  in_unit,     // between them
  bound,       // the `[` and `]` of `until[a..b]`
  choice,      // the `(` of `if(c, a, b)`
  separated,   // begins a setting of `simulation` or a command of `external`
  port_colon,  // r : 3
  body_end,    // the bracket that ends statements
};

struct Statement {
  bool open = false;
  std::uint32_t level = 0;
  Word word = Word::none;          // the reserved word that begins it
  std::size_t first = no_element;  // elements
  std::size_t second = no_element;
  std::size_t right = no_element;  // behind its first `=` outside brackets
};

// Where statements stand: the file, or inside brackets that hold statements.
struct Body {
  std::uint32_t base = 0;
  Section section = Section::none;
  bool inside_section = false;  // its word stands in this body, so entries stand one level inside it
  bool has_margin = false;      // the section's word began a line, in column `margin` as written
  std::uint32_t margin = 0;
  Statement statement;
  std::uint32_t entry_level() const { return base + (inside_section ? 1 : 0); }
};

struct Bracket {
  TokenKind kind = TokenKind::left_paren;
  Part part = Part::plain;
  bool body = false;
  bool ends_line = false;
  std::size_t inside = no_element;  // the element behind it
};

class Placer {
 public:
  Placer(const std::vector<Element>& elements, const lex::Tokens& tokens, base::Names& names, parse::Dialect dialect)
      : elements_(elements), tokens_(tokens), dialect_(dialect), words_(names), names_(names) {
    parts_.assign(tokens.list.size(), Part::plain);
    placements_.resize(elements.size());
    find_choices();
    bodies_.emplace_back();
    if (dialect == parse::Dialect::ridl) bodies_.back().section = Section::reactive;
  }

  std::vector<Placement> run() {
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      if (elements_[i].comment)
        place_comment(i);
      else
        place_token(i);
    }
    place_comment_lines();
    leave_alone_behind_broken_comments();
    return std::move(placements_);
  }

 private:
  const lex::Token& token(std::size_t index) const { return tokens_.list[std::min(index, tokens_.list.size() - 1)]; }
  TokenKind kind(std::size_t index) const { return token(index).kind; }
  std::string_view spelling(std::size_t index) const {
    return kind(index) == TokenKind::name ? std::string_view(names_.text(tokens_.name(index))) : std::string_view();
  }
  bool behind_dot(std::size_t index) const { return index > 0 && kind(index - 1) == TokenKind::dot; }
  Word word(std::size_t index) const {
    if (kind(index) != TokenKind::name || behind_dot(index)) return Word::none;
    return words_.reserved(tokens_.name(index), dialect_);
  }
  Body& body() { return bodies_.back(); }
  Statement& statement() { return bodies_.back().statement; }
  bool in_expression_bracket() const { return !brackets_.empty() && !brackets_.back().body; }

  // Something stands before it that an operator may follow.
  bool behind_operand(std::size_t index) const {
    if (index == 0) return false;
    switch (kind(index - 1)) {
      case TokenKind::name:
        return parts_[index - 1] != Part::keyword && parts_[index - 1] != Part::separated;
      case TokenKind::number:
      case TokenKind::string:
      case TokenKind::prime:
      case TokenKind::right_paren:
      case TokenKind::right_bracket:
        return true;
      default:
        return false;
    }
  }

  // The last line of a comment of several lines stands where it stood, and so does what follows on it.
  void leave_alone_behind_broken_comments() {
    bool broken = false;
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      if (elements_[i].first) broken = false;
      if (broken) placements_[i].alignment = no_alignment;
      broken = broken || elements_[i].several_lines;
    }
  }

  // -- where statements begin and end

  bool opens_section(std::size_t index) const {
    return parse::is_opening(word(index)) && kind(index + 1) != TokenKind::equal &&
           kind(index + 1) != TokenKind::prime && !(index > 0 && kind(index - 1) == TokenKind::equal);
  }

  // `} until`, `} else`, `} for T reaching ..`: the statement of the brace goes on.
  bool goes_on_behind_brace(std::size_t index) const {
    switch (word(index)) {
      case Word::until:
      case Word::else_:
        return true;
      case Word::for_:
        return word(index + 2) != Word::in;
      default:
        return kind(index) == TokenKind::comma || kind(index) == TokenKind::semicolon;
    }
  }

  // A statement begins at this token although the one before it was not ended.
  bool interrupts(std::size_t index, bool first_of_line) const {
    if (in_expression_bracket()) return opens_section(index);
    if (parts_[index - 1] == Part::body_end) {
      if (kind(index - 1) == TokenKind::right_brace) return !goes_on_behind_brace(index);
      return kind(index) != TokenKind::semicolon && kind(index) != TokenKind::comma;
    }
    if (opens_section(index)) return true;
    const Statement& current = bodies_.back().statement;
    const Word begins = word(index);
    const bool needs_no_end = current.word == Word::simulation || current.word == Word::external;
    if (parse::begins_item(begins) && (first_of_line || needs_no_end)) {
      if (begins == Word::for_ && word(index + 2) != Word::in) return false;
      if (current.word == Word::in && (begins == Word::require || begins == Word::expect)) return false;
      return word(index - 1) != Word::observes && kind(index + 1) != TokenKind::equal;
    }
    // Behaviours need nothing between them.
    const bool behaviour = bodies_.back().section == Section::reactive && first_of_line && word(index) == Word::none &&
                           kind(index) == TokenKind::name && behind_operand(index);
    return behaviour && (kind(index + 1) == TokenKind::equal || kind(index + 1) == TokenKind::left_bracket);
  }

  // Of one that belongs to no section, neither by grammar nor by meaning.
  bool begins_declaration(std::size_t index) const {
    switch (word(index)) {
      case Word::module:
      case Word::mechanism:
      case Word::parameter:
      case Word::constant:
      case Word::function:
      case Word::automaton:
      case Word::event:
      case Word::energy:
      case Word::use:
        return true;
      default:
        return dialect_ == parse::Dialect::tact &&
               ((spelling(index) == "power" && kind(index + 1) == TokenKind::name) ||
                (spelling(index) == "storage" && kind(index + 1) == TokenKind::left_paren));
    }
  }

  void end_statement() { statement().open = false; }

  void begin_statement(std::size_t element) {
    const std::size_t index = elements_[element].token;
    const bool opens = opens_section(index);
    if (opens) {
      while (in_expression_bracket()) pop_bracket();
      body().section = section_of(word(index));
      body().inside_section = false;
      body().has_margin = false;
    }
    std::uint32_t level = body().entry_level();
    const std::size_t start = line_start(element);
    const bool leads = start != no_element;
    if (!opens && begins_declaration(index) && body().has_margin && leads && elements_[start].column <= body().margin)
      level = body().base;
    Statement begun;
    begun.open = true;
    begun.word = word(index);
    begun.first = element;
    if (leads) line_level_ = placements_[start].level = level;
    begun.level = std::min(level, line_level_);
    statement() = begun;
    if (opens && body().section != Section::none) {
      body().inside_section = true;
      body().has_margin = leads;
      body().margin = elements_[element].column;
      if (leads) body().margin = elements_[start].column;
      statement().open = false;  // the word alone; entries may follow on its line
    }
  }

  // -- tokens

  void place_token(std::size_t element) {
    const std::size_t index = elements_[element].token;
    const TokenKind what = kind(index);
    if (is_close(what)) {
      close(element);
    } else if (!statement().open || (index > 0 && interrupts(index, line_start(element) != no_element))) {
      if (what == TokenKind::semicolon || what == TokenKind::comma)
        continue_statement(element);
      else
        begin_statement(element);
    } else {
      continue_statement(element);
    }
    classify(element);
    if (!elements_[element].first) placements_[element].gap = gap_before(element);
    placements_[element].alignment = alignment_of(index);
    if (is_open(what)) open(element);
    if (what == TokenKind::semicolon) {
      while (in_expression_bracket()) pop_bracket();
      end_statement();
    }
    if (what == TokenKind::comma && !in_expression_bracket() && separates_with_comma()) end_statement();
  }

  bool separates_with_comma() {
    if (body().section == Section::handlers) return true;
    return body().section == Section::reactive && !parse::begins_item(statement().word);
  }

  void continue_statement(std::size_t element) {
    Statement& current = statement();
    if (current.open && current.second == no_element && current.word != Word::none) current.second = element;
    const std::size_t index = elements_[element].token;
    if (!in_expression_bracket() && current.right == no_element && index > 0 && kind(index - 1) == TokenKind::equal)
      current.right = element;
    if (line_start(element) == no_element) return;
    set_continued_line(element, std::max<std::uint32_t>(line_ending_brackets(), 1));
    if (!elements_[element].first) return;
    std::size_t candidates[] = {no_element, no_element};
    if (in_expression_bracket()) {
      if (!brackets_.back().ends_line) candidates[0] = brackets_.back().inside;
    } else if (current.open) {
      candidates[0] = current.second;
      candidates[1] = current.right;
    }
    for (std::size_t candidate : candidates) {
      if (candidate != no_element && candidate < element && !elements_[candidate].first &&
          elements_[candidate].column == elements_[element].column)
        placements_[element].under = candidate;
    }
  }

  void set_continued_line(std::size_t element, std::uint32_t levels) {
    line_level_ = statement().level + levels;
    placements_[line_start(element)].level = line_level_;
  }

  // Of the expression that is open here; no line is indented further than this.
  std::uint32_t line_ending_brackets() const {
    constexpr std::size_t most = 64;
    std::uint32_t count = 0;
    for (std::size_t k = brackets_.size(), seen = 0; k-- > 0 && !brackets_[k].body && seen < most; ++seen)
      count += brackets_[k].ends_line ? 1 : 0;
    return count;
  }

  // The first element of its line, if nothing but comments stands before this one; else no_element.
  std::size_t line_start(std::size_t element) const {
    while (!elements_[element].first) {
      if (!elements_[element - 1].comment) return no_element;
      --element;
    }
    return element;
  }

  // -- brackets

  // For each `if (`: whether its parentheses hold exactly three expressions.
  void find_choices() {
    struct Open {
      std::size_t index;
      int commas;
    };
    std::vector<Open> stack;
    for (std::size_t i = 0; i < tokens_.list.size(); ++i) {
      const TokenKind what = kind(i);
      if (is_open(what)) {
        stack.push_back({i, 0});
      } else if (is_close(what)) {
        if (stack.empty()) continue;
        const Open open = stack.back();
        stack.pop_back();
        if (open.index > 0 && word(open.index - 1) == Word::if_ && open.commas == 2 && what == TokenKind::right_paren)
          parts_[open.index] = Part::choice;
      } else if (what == TokenKind::comma && !stack.empty()) {
        ++stack.back().commas;
      } else if (what == TokenKind::semicolon) {
        stack.clear();
      }
    }
  }

  static std::size_t bracket_number(TokenKind open) {
    return open == TokenKind::left_paren ? 0 : open == TokenKind::left_bracket ? 1 : 2;
  }
  void pop_bracket() {
    --open_counts_[bracket_number(brackets_.back().kind)];
    brackets_.pop_back();
  }

  void open(std::size_t element) {
    const std::size_t index = elements_[element].token;
    Bracket bracket{kind(index), parts_[index]};
    bracket.inside = element + 1 < elements_.size() ? element + 1 : no_element;
    std::size_t next = element + 1;
    while (next < elements_.size() && elements_[next].comment && !elements_[next].first) ++next;
    bracket.ends_line = next >= elements_.size() || elements_[next].first;
    const bool module = index >= 3 && word(index - 3) == Word::module && kind(index - 1) == TokenKind::equal;
    const bool mechanism = index >= 2 && word(index - 2) == Word::mechanism && kind(index) == TokenKind::left_paren;
    bracket.body =
        kind(index) == TokenKind::left_brace || (module && kind(index) == TokenKind::left_paren) || mechanism;
    brackets_.push_back(bracket);
    ++open_counts_[bracket_number(bracket.kind)];
    if (!bracket.body) return;
    Body inner;
    inner.base = statement().level + 1;
    inner.section = mechanism                                                        ? Section::mechanism
                    : module                                                         ? Section::none
                    : index > 0 && word(index - 1) == Word::in                       ? Section::handlers
                    : statement().word == Word::for_ || statement().word == Word::in ? body().section
                                                                                     : Section::system;
    bodies_.push_back(inner);
  }

  void close(std::size_t element) {
    const TokenKind opener = opener_of(kind(elements_[element].token));
    if (open_counts_[bracket_number(opener)] == 0) {  // closes nothing
      if (statement().open) return continue_statement(element);
      begin_statement(element);
      end_statement();
      return;
    }
    Bracket closed;
    do {
      closed = brackets_.back();
      pop_bracket();
      if (closed.body) bodies_.pop_back();
    } while (closed.kind != opener);
    parts_[elements_[element].token] = closed.body ? Part::body_end : closed.part;
    if (!closed.body && !closed.ends_line) return continue_statement(element);
    if (line_start(element) != no_element) set_continued_line(element, line_ending_brackets());
  }

  // -- what each token is

  bool is_option(std::size_t index) {
    const parse::Surroundings around = body().section == Section::scene       ? parse::Surroundings::scene
                                       : body().section == Section::mechanism ? parse::Surroundings::mechanism
                                                                              : parse::Surroundings::none;
    return parse::is_known_by_place(spelling(index), statement().word, around);
  }

  bool is_keyword(std::size_t element) {
    const std::size_t index = elements_[element].token;
    if (behind_dot(index)) return false;
    if (word(index) != Word::none) return word(index) != Word::true_ && word(index) != Word::false_;
    if (in_expression_bracket()) return false;
    const Statement& current = statement();
    const bool placed = body().section == Section::scene || body().section == Section::mechanism;
    if (current.first == element) return placed || begins_declaration(index);  // sphere, body; storage
    if (current.word == Word::apply && current.second == element && spelling(index) == "torque")
      return kind(index + 1) == TokenKind::name || kind(index + 1) == TokenKind::number ||
             kind(index + 1) == TokenKind::left_paren || kind(index + 1) == TokenKind::minus;
    const bool behind_first = current.first != no_element && elements_[current.first].token + 1 == index;
    return (behind_operand(index) || behind_first) && is_option(index);
  }

  void classify(std::size_t element) {
    const std::size_t index = elements_[element].token;
    const TokenKind what = kind(index);
    Part& part = parts_[index];
    const bool in_unit =
        in_expression_bracket() && (brackets_.back().part == Part::unit || brackets_.back().part == Part::in_unit);
    if (in_unit && !is_close(what)) {
      part = Part::in_unit;
    } else if (what == TokenKind::name) {
      if (is_keyword(element)) part = Part::keyword;
      if (begins_command(index)) part = Part::separated;
    } else if (is_sign(what) && !behind_operand(index)) {
      part = Part::sign;
    } else if (what == TokenKind::left_bracket && index > 0 && kind(index - 1) == TokenKind::number) {
      part = Part::unit;
    } else if (what == TokenKind::left_bracket && index > 0 && word(index - 1) == Word::until) {
      part = Part::bound;
    } else if (what == TokenKind::colon && statement().word == Word::ports && !in_expression_bracket()) {
      part = Part::port_colon;
    }
  }

  bool begins_command(std::size_t index) {
    if (in_expression_bracket()) return false;
    if (statement().word == Word::simulation) return kind(index + 1) == TokenKind::equal && behind_setting(index);
    if (statement().word != Word::external) return false;
    const Word command = word(index);
    return command == Word::reads || command == Word::writes || command == Word::observes || command == Word::rate ||
           command == Word::when || command == Word::every;
  }
  bool behind_setting(std::size_t index) const { return index > 0 && kind(index - 1) != TokenKind::equal; }

  // -- gaps

  std::uint32_t gap_before(std::size_t element) {
    if (elements_[element - 1].comment) return gap_at_comment(kind(elements_[element].token), TokenKind::end);
    const std::size_t index = elements_[element].token;
    std::uint32_t gap = wanted_gap(index, elements_[element].blanks);
    if (is_tight_factor(element) || is_tight_factor(element - 1)) gap = 0;
    // `2x` is a mistake; apart it would be another one.
    if (kind(index - 1) == TokenKind::number && kind(index) == TokenKind::name && elements_[element].blanks == 0)
      return 0;
    return gap == 0 && would_merge(index) ? 1 : gap;
  }

  // A `*` or `/` that was written without blanks, as in m/2 * v^2, stays so.
  bool is_tight_factor(std::size_t element) const {
    const Element& written = elements_[element];
    if (written.comment || written.first || written.last) return false;
    const TokenKind what = kind(written.token);
    return (what == TokenKind::star || what == TokenKind::slash) && written.blanks == 0 &&
           elements_[element + 1].blanks == 0 && !elements_[element - 1].comment && !elements_[element + 1].comment &&
           !would_merge(written.token) && !would_merge(written.token + 1);
  }

  static std::uint32_t gap_at_comment(TokenKind right, TokenKind left) {
    const bool tight = right == TokenKind::right_paren || right == TokenKind::right_bracket ||
                       right == TokenKind::comma || right == TokenKind::semicolon || left == TokenKind::left_paren ||
                       left == TokenKind::left_bracket;
    return tight ? 0 : 1;
  }

  std::uint32_t wanted_gap(std::size_t index, std::uint32_t written) const {
    const TokenKind right = kind(index), left = kind(index - 1);
    const Part part = parts_[index], before = parts_[index - 1];
    if (part == Part::in_unit || before == Part::in_unit) return 0;
    if (part == Part::separated && left != TokenKind::semicolon) return written > 1 ? 2 : 1;
    switch (right) {
      case TokenKind::semicolon:
      case TokenKind::comma:
      case TokenKind::prime:
      case TokenKind::caret:
      case TokenKind::dot_dot:
      case TokenKind::right_paren:
      case TokenKind::right_bracket:
        return 0;
      case TokenKind::dot:
        return 0;
      case TokenKind::colon:
        return part == Part::port_colon ? 1 : 0;
      default:
        break;
    }
    if (left == TokenKind::semicolon) return right == TokenKind::right_brace ? 1 : 2;
    switch (left) {
      case TokenKind::left_paren:
      case TokenKind::left_bracket:
      case TokenKind::caret:
      case TokenKind::dot_dot:
      case TokenKind::dot:
      case TokenKind::bang:
        return 0;
      default:
        break;
    }
    if (before == Part::sign) return 0;
    if (right == TokenKind::left_bracket) return part == Part::unit ? 1 : 0;
    if (right == TokenKind::left_paren) {
      if (part == Part::choice) return 0;
      if (index > 1 && word(index - 2) == Word::mechanism) return 1;
      if (left == TokenKind::name) return before == Part::keyword || before == Part::separated ? 1 : 0;
      if (left == TokenKind::right_bracket) return before == Part::unit || before == Part::bound ? 1 : 0;
      return left == TokenKind::right_paren || left == TokenKind::prime ? 0 : 1;
    }
    return 1;
  }

  // Written without a blank, the two would be read as something else.
  bool would_merge(std::size_t index) const {
    const TokenKind left = kind(index - 1), right = kind(index);
    const auto is_wordlike = [](TokenKind k) { return k == TokenKind::name || k == TokenKind::number; };
    if (is_wordlike(left) && is_wordlike(right)) return true;
    if (left == TokenKind::number && right == TokenKind::dot) return true;
    const auto is_dot = [](TokenKind k) { return k == TokenKind::dot || k == TokenKind::dot_dot; };
    if (is_dot(left) && right == TokenKind::number) return left == TokenKind::dot;
    const auto is_operator = [&](TokenKind k) {
      return is_binary(k) || is_dot(k) || k == TokenKind::caret || k == TokenKind::bang || k == TokenKind::colon;
    };
    return is_operator(left) && is_operator(right) && !(is_sign(right) && left != TokenKind::dot);
  }

  std::uint32_t alignment_of(std::size_t index) const {
    const TokenKind right = kind(index), left = index > 0 ? kind(index - 1) : TokenKind::end;
    const bool glued = index > 0 && parts_[index - 1] == Part::sign;
    if (glued || parts_[index] == Part::in_unit || left == TokenKind::dot || left == TokenKind::dot_dot ||
        left == TokenKind::caret)
      return no_alignment;
    switch (right) {
      case TokenKind::name:
        return parts_[index] == Part::plain ? align_operands : align_words;
      case TokenKind::number:
      case TokenKind::string:
        return align_operands;
      case TokenKind::left_paren: {
        const bool call =
            index > 0 && wanted_gap(index, 1) == 0 && left != TokenKind::left_paren && left != TokenKind::left_bracket;
        return call ? no_alignment : align_operands;
      }
      case TokenKind::left_bracket:
        return parts_[index] == Part::unit ? align_tokens + static_cast<std::uint32_t>(right) : no_alignment;
      case TokenKind::semicolon:
      case TokenKind::comma:
      case TokenKind::prime:
      case TokenKind::caret:
      case TokenKind::dot:
      case TokenKind::dot_dot:
      case TokenKind::right_bracket:
      case TokenKind::right_paren:
        return no_alignment;
      default:
        return parts_[index] == Part::sign ? align_operands : align_tokens + static_cast<std::uint32_t>(right);
    }
  }

  // -- comments

  void place_comment(std::size_t element) {
    const Element& written = elements_[element];
    Placement& placement = placements_[element];
    if (written.first) {
      std::size_t last = element;
      while (!elements_[last].last && elements_[last].comment) ++last;
      placement.only_comments = elements_[last].comment;
      if (placement.only_comments) comment_levels_.push_back({element, comment_level(written)});
      return;
    }
    const bool behind_comment = elements_[element - 1].comment;
    const TokenKind left = behind_comment ? TokenKind::end : kind(written.token - 1);
    placement.alignment = written.last ? align_end_comments : no_alignment;
    placement.gap = written.last ? 2 : gap_at_comment(TokenKind::end, left);
  }

  // Where a comment stands that no line follows.
  std::uint32_t comment_level(const Element& written) {
    const bool ended = written.token > 0 && parts_[written.token - 1] == Part::body_end;
    if ((statement().open && !ended) || in_expression_bracket()) return statement().level + 1;
    if (body().has_margin && written.column <= body().margin) return body().base;
    return body().entry_level();
  }

  // Comments on lines of their own stand as the line that follows without an empty one between.
  void place_comment_lines() {
    for (std::size_t k = comment_levels_.size(); k-- > 0;) {
      const auto [element, level] = comment_levels_[k];
      placements_[element].level = level;
      std::size_t next = element;
      while (!elements_[next].last) ++next;
      ++next;
      if (next >= elements_.size() || elements_[next].after_empty_line) continue;
      if (!elements_[next].comment && is_close(kind(elements_[next].token))) continue;
      placements_[element].level = placements_[next].level;
      if (elements_[element].column == elements_[next].column) placements_[element].under = placements_[next].under;
    }
  }

  const std::vector<Element>& elements_;
  const lex::Tokens& tokens_;
  parse::Dialect dialect_;
  parse::Words words_;
  const base::Names& names_;
  std::vector<Part> parts_;
  std::vector<Placement> placements_;
  std::vector<Body> bodies_;
  std::vector<Bracket> brackets_;
  std::size_t open_counts_[3] = {0, 0, 0};
  std::uint32_t line_level_ = 0;
  struct CommentLevel {
    std::size_t element;
    std::uint32_t level;
  };
  std::vector<CommentLevel> comment_levels_;
};

}  // namespace

std::vector<Placement> place(const std::vector<Element>& elements, const lex::Tokens& tokens, base::Names& names,
                             parse::Dialect dialect) {
  return Placer(elements, tokens, names, dialect).run();
}

}  // namespace format
