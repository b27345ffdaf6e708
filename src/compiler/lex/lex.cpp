#include "compiler/lex/lex.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "compiler/lex/diagnostics.h"
#include "compiler/lex/unicode_letters.h"
#include "diag/utf8.h"

namespace lex {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

struct Operator {
  std::string_view text;
  TokenKind kind;
};

// Longest first.
constexpr Operator operators[] = {
    {"=>", TokenKind::fat_arrow},     {"->", TokenKind::arrow},       {"<=", TokenKind::less_equal},
    {">=", TokenKind::greater_equal}, {"!=", TokenKind::not_equal},   {"&&", TokenKind::and_and},
    {"||", TokenKind::or_or},         {"..", TokenKind::dot_dot},     {"+", TokenKind::plus},
    {"-", TokenKind::minus},          {"*", TokenKind::star},         {"/", TokenKind::slash},
    {"^", TokenKind::caret},          {"'", TokenKind::prime},        {"=", TokenKind::equal},
    {"<", TokenKind::less},           {">", TokenKind::greater},      {"!", TokenKind::bang},
    {"~", TokenKind::tilde},          {",", TokenKind::comma},        {";", TokenKind::semicolon},
    {":", TokenKind::colon},          {".", TokenKind::dot},          {"(", TokenKind::left_paren},
    {")", TokenKind::right_paren},    {"[", TokenKind::left_bracket}, {"]", TokenKind::right_bracket},
    {"{", TokenKind::left_brace},     {"}", TokenKind::right_brace},  {"≥", TokenKind::greater_equal},
    {"≤", TokenKind::less_equal},     {"≠", TokenKind::not_equal},    {"¬", TokenKind::bang},
    {"‖", TokenKind::or_or},
};

struct ForeignOperator {
  std::string_view text;
  TokenKind meant;
  std::string_view hint;
};

// No program contains these, so they are read as what they mean elsewhere. Longest first.
constexpr ForeignOperator foreign_operators[] = {
    {"===", TokenKind::equal, "equality is `=`, in an equation and in a condition"},
    {"!==", TokenKind::not_equal, "write `!=`"},
    {"==", TokenKind::equal, "equality is `=`, in an equation and in a condition"},
    {":=", TokenKind::equal, "write `=`: an equation holds at all times, nothing is assigned"},
    {"**", TokenKind::caret, "a power is written `x^2`"},
    {".^", TokenKind::caret, "write `^`"},
    {".*", TokenKind::star, "write `*`: vectors are multiplied component by component"},
    {"./", TokenKind::slash, "write `/`: a vector is divided component by component"},
    {"~=", TokenKind::not_equal, "unequal is `!=`, and a guess in `boundary` is `~`"},
    {"<>", TokenKind::not_equal, "unequal is `!=`"},
    {"=<", TokenKind::less_equal, "at most is `<=`"},
    {"&", TokenKind::and_and, "and is `&&`"},
    {"|", TokenKind::or_or, "or is `||`, and the absolute value `abs(x)`"},
};

struct Lookalike {
  char32_t character;
  TokenKind meant;  // `end`: a blank
  std::string_view typed;
};

constexpr TokenKind blank = TokenKind::end;
constexpr Lookalike lookalikes[] = {
    {0x00a0, blank, "a plain space"},       {0x1680, blank, "a plain space"},
    {0x2028, blank, "a line break"},        {0x2029, blank, "a line break"},
    {0x202f, blank, "a plain space"},       {0x205f, blank, "a plain space"},
    {0x3000, blank, "a plain space"},       {0x0085, blank, "a line break"},
    {0x2010, TokenKind::minus, "`-`"},      {0x2011, TokenKind::minus, "`-`"},
    {0x2012, TokenKind::minus, "`-`"},      {0x2013, TokenKind::minus, "`-`"},
    {0x2014, TokenKind::minus, "`-`"},      {0x2015, TokenKind::minus, "`-`"},
    {0x2212, TokenKind::minus, "`-`"},      {0xff0d, TokenKind::minus, "`-`"},
    {0x2018, TokenKind::prime, "`'`"},      {0x2019, TokenKind::prime, "`'`"},
    {0x00b4, TokenKind::prime, "`'`"},      {0x2032, TokenKind::prime, "`'`"},
    {0x2033, TokenKind::prime, "`''`"},     {0x00d7, TokenKind::star, "`*`"},
    {0x00b7, TokenKind::star, "`*`"},       {0x22c5, TokenKind::star, "`*`"},
    {0x2217, TokenKind::star, "`*`"},       {0x2219, TokenKind::star, "`*`"},
    {0x00f7, TokenKind::slash, "`/`"},      {0x2044, TokenKind::slash, "`/`"},
    {0x2215, TokenKind::slash, "`/`"},      {0x2227, TokenKind::and_and, "`&&`"},
    {0x2228, TokenKind::or_or, "`||`"},     {0x2192, TokenKind::arrow, "`->`"},
    {0x21d2, TokenKind::fat_arrow, "`=>`"}, {0x2245, TokenKind::equal, "`=`"},
    {0x2261, TokenKind::equal, "`=`"},      {0x2026, TokenKind::dot_dot, "`..`"},
    {0xff08, TokenKind::left_paren, "`(`"}, {0xff09, TokenKind::right_paren, "`)`"},
    {0xff0c, TokenKind::comma, "`,`"},      {0x3001, TokenKind::comma, "`,`"},
    {0xff1b, TokenKind::semicolon, "`;`"},  {0xff1a, TokenKind::colon, "`:`"},
    {0xff0b, TokenKind::plus, "`+`"},       {0xff1d, TokenKind::equal, "`=`"},
};

// Characters without one plain reading, and what to write in their place.
struct Advice {
  char32_t character;
  std::string_view hint;
};

constexpr Advice advices[] = {
    {'?', "a choice is written `if c then a else b`"},
    {'%', "there is no `%`; `x - n * floor(x / n)` is the remainder, and a comment begins with `//`"},
    {'\\', "what `A` times gives `b` is an equation, `A * x = b;`, or `inverse(A) * b`"},
    {0x00b2, "write `^2`"},
    {0x00b3, "write `^3`"},
    {0x00b0, "write `[deg]` behind the number: `30 [deg]`"},
    {0x201c, "type `\"`"},
    {0x201d, "type `\"`"},
    {0x201e, "type `\"`"},
    {0x00ab, "type `\"`"},
    {0x00bb, "type `\"`"},
    {0x221a, "write `sqrt(..)`"},
    {0x2208, "write `in`"},
    {0x222b, "write `integration(..)`"},
    {0x2211, "write `sum(i in 1..n: ..)`"},
    {0x2248, "an equation is written `=`, a guess `~`"},
    {0x221e, "there is no infinity; leave the bound away or write a large number"},
};

class Lexer {
 public:
  Lexer(std::string_view text, std::uint32_t from, std::uint32_t file, base::Names& names, diag::Sink& diags)
      : text_(text), names_(names), diags_(diags), at_(from) {
    tokens_.file = file;
    tokens_.list.reserve((text.size() - from) / 3 + 1);
  }

  Tokens run() {
    while (at_ < text_.size()) read_one();
    push(TokenKind::end, at_);
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool starts_with(std::string_view prefix) const { return text_.substr(at_).starts_with(prefix); }
  base::Span span_from(std::uint32_t begin) const { return {tokens_.file, begin, at_}; }
  std::string_view text_from(std::uint32_t begin) const { return text_.substr(begin, at_ - begin); }

  void push(TokenKind kind, std::uint32_t begin, std::uint32_t value = 0) {
    tokens_.list.push_back({kind, begin, at_, value});
  }

  void read_one() {
    const char c = peek();
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at_;
    } else if (c == '/' && peek(1) == '/') {
      skip_line();
    } else if (c == '/' && peek(1) == '*') {
      read_comment();
    } else if (is_ascii_letter(c) || c == '_') {
      read_name();
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      read_number();
    } else if (c == '"') {
      read_string();
    } else if (c == '%' && peek(1) == ']' && at_ > 0 && text_[at_ - 1] == '[') {
      ++at_;  // the unit of `5 [%]`
      push(TokenKind::name, at_ - 1, names_.intern("%").value);
    } else if (read_foreign() || read_operator()) {
    } else {
      read_other();
    }
  }

  void skip_line() {
    while (at_ < text_.size() && peek() != '\n') ++at_;
  }

  void read_comment() {
    const std::uint32_t begin = at_;
    const std::size_t close = text_.find("*/", at_ + 2);
    if (close == std::string_view::npos) {
      diags_.report({tokens_.file, begin, begin + 2}, unterminated_comment)
          .hint("it reaches to the end of the file; comments do not nest");
      at_ = static_cast<std::uint32_t>(text_.size());
      return;
    }
    at_ = static_cast<std::uint32_t>(close + 2);
  }

  // Consumes the letters, digits, marks and underscores ahead.
  void skip_word() {
    while (at_ < text_.size()) {
      const char c = peek();
      if (is_ascii_letter(c) || is_digit(c) || c == '_') {
        ++at_;
        continue;
      }
      if (static_cast<unsigned char>(c) < 0x80) return;
      const diag::CodePoint point = diag::decode(text_, at_);
      if (!is_unicode_letter(point.value) && !is_unicode_mark_or_digit(point.value)) return;
      at_ += point.length;
    }
  }

  void read_name() {
    const std::uint32_t begin = at_;
    skip_word();
    if (text_[begin] == '_')
      diags_.report(span_from(begin), name_start, text_from(begin)).hint("put the underscore behind: `x_`, `x_1`");
    push(TokenKind::name, begin, names_.intern(text_from(begin)).value);
  }

  void skip_digits() {
    while (is_digit(peek())) ++at_;
  }

  void read_number() {
    const std::uint32_t begin = at_;
    skip_digits();
    const char after_point = peek(1);
    if (peek() == '.' && is_digit(after_point)) {
      ++at_;
      skip_digits();
    } else if (peek() == '.' && after_point != '.' && after_point != '*' && after_point != '/' && after_point != '^') {
      ++at_;
      diags_.report(span_from(begin), missing_digit, text_from(begin))
          .hint("write `{0}.0` or `{0}`", text_from(begin).substr(0, at_ - begin - 1));
    }
    const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
      at_ += static_cast<std::uint32_t>(1 + sign);
      skip_digits();
    }
    push(TokenKind::number, begin, static_cast<std::uint32_t>(tokens_.numbers.size()));
    tokens_.numbers.push_back(value_of(begin));
  }

  double value_of(std::uint32_t begin) {
    const std::string_view digits = text_from(begin);
    double value = 0;
    const std::from_chars_result result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec != std::errc::result_out_of_range) return value;
    // Too large, or so small that it rounds to zero; strtod tells which, and gives the nearest number.
    value = std::strtod(std::string(digits).c_str(), nullptr);
    if (std::isfinite(value)) return value;
    const std::string shown = digits.size() > 40 ? std::string(digits.substr(0, 37)) + "..." : std::string(digits);
    diags_.report(span_from(begin), number_too_large, shown).hint("the largest is about 1.8e308");
    return 1;
  }

  void read_string() {
    const std::uint32_t begin = at_++;
    std::string content;
    while (at_ < text_.size() && peek() != '"' && peek() != '\n') {
      if (peek() != '\\') {
        content += text_[at_++];
        continue;
      }
      const std::uint32_t escape = at_++;
      if (at_ == text_.size() || peek() == '\n') break;
      const diag::CodePoint point = diag::decode(text_, at_);
      const std::string_view escaped = text_.substr(at_, point.length);
      at_ += point.length;
      if (escaped == "n") {
        content += '\n';
      } else if (escaped == "t") {
        content += '\t';
      } else if (escaped == "\"" || escaped == "\\") {
        content += escaped;
      } else {
        diags_.report(span_from(escape), unknown_escape, shown(point.value, escaped))
            .hint("write `\\\\` for a backslash; a path may be written with `/`");
        content += escaped;
      }
    }
    if (at_ < text_.size() && peek() == '"') {
      ++at_;
    } else {
      diags_.report({tokens_.file, begin, begin + 1}, unterminated_string)
          .hint("close it with `\"` before the end of the line");
    }
    push(TokenKind::string, begin, static_cast<std::uint32_t>(tokens_.strings.size()));
    tokens_.strings.push_back(std::move(content));
  }

  bool read_foreign() {
    const std::uint32_t begin = at_;
    if (peek() == '#' || (peek() == '%' && may_begin_statement())) {
      ++at_;
      diags_.report(span_from(begin), foreign_comment, text_from(begin)).hint("a comment is `// ..` or `/* .. */`");
      skip_line();
      return true;
    }
    if (starts_with("*/")) {
      at_ += 2;
      diags_.report(span_from(begin), unopened_comment).hint("comments do not nest: the first `*/` closes");
      return true;
    }
    if (starts_with("...") && (peek(3) == '\n' || peek(3) == '\r' || peek(3) == ' ')) {
      at_ += 3;
      diags_.report(span_from(begin), foreign_operator, text_from(begin))
          .hint("a statement goes on until its `;`, over any lines");
      return true;
    }
    if (peek() == '|' && at_ == closing_bar_) {
      ++at_;
      push(TokenKind::right_paren, begin);
      return true;
    }
    if (const std::size_t length = bars(); length > 0) {
      closing_bar_ = static_cast<std::uint32_t>(at_ + length - 1);
      diags_.report({tokens_.file, begin, closing_bar_ + 1}, foreign_operator, "|")
          .hint("the absolute value is written `abs({})`", text_.substr(at_ + 1, length - 2));
      ++at_;
      push(TokenKind::left_paren, begin);
      return true;
    }
    for (const ForeignOperator& foreign : foreign_operators) {
      if (foreign.text[0] != peek() || !starts_with(foreign.text)) continue;
      // Each of these two is a part of a longer operator or begins a comment.
      if (starts_with("&&") || starts_with("||")) return false;
      if (foreign.text == "./" && (peek(2) == '/' || peek(2) == '*')) return false;
      at_ += static_cast<std::uint32_t>(foreign.text.size());
      diags_.report(span_from(begin), foreign_operator, foreign.text).hint("{}", foreign.hint);
      push(foreign.meant, begin);
      return true;
    }
    return false;
  }

  // The length of `|x|` where an operand is expected; 0 for anything else.
  std::size_t bars() const {
    if (peek() != '|' || peek(1) == '|' || tokens_.list.empty()) return 0;
    switch (tokens_.list.back().kind) {
      case TokenKind::name:
      case TokenKind::number:
      case TokenKind::prime:
      case TokenKind::right_paren:
      case TokenKind::right_bracket:
        return 0;
      default:
        break;
    }
    const std::size_t close = text_.find_first_of("|;\n", at_ + 1);
    return close != std::string_view::npos && text_[close] == '|' && close > at_ + 1 ? close + 1 - at_ : 0;
  }

  // At the start of a line or right behind a `;`.
  bool may_begin_statement() const {
    if (tokens_.list.empty() || tokens_.list.back().kind == TokenKind::semicolon) return true;
    const std::uint32_t last = tokens_.list.back().end;
    return text_.substr(last, at_ - last).find('\n') != std::string_view::npos;
  }

  bool read_operator() {
    for (const Operator& candidate : operators) {
      if (candidate.text[0] != peek() || !starts_with(candidate.text)) continue;
      const std::uint32_t begin = at_;
      at_ += static_cast<std::uint32_t>(candidate.text.size());
      push(candidate.kind, begin);
      return true;
    }
    return false;
  }

  static std::string shown(char32_t character, std::string_view text) {
    if (character < 0x20 || character == 0x7f || (character >= 0x80 && character < 0xa0))
      return fmt::format("U+{:04X}", static_cast<unsigned>(character));
    return std::string(text);
  }

  // A letter above ASCII, or a character with no place in the language; a run of the same one is reported once.
  void read_other() {
    const std::uint32_t begin = at_;
    const diag::CodePoint point = diag::decode(text_, at_);
    if (point.value >= 0x80 && is_unicode_letter(point.value)) {
      read_name();
      return;
    }
    const std::string_view character = text_.substr(at_, point.length);
    while (starts_with(character)) at_ += point.length;
    const Lookalike* alike = nullptr;
    for (const Lookalike& candidate : lookalikes)
      if (candidate.character == point.value) alike = &candidate;
    static constexpr Lookalike space{0, blank, "a plain space"};
    static constexpr Lookalike invisible{0, blank, "nothing here: it is invisible"};
    if (point.value >= 0x2000 && point.value <= 0x200a) alike = &space;
    if ((point.value >= 0x200b && point.value <= 0x200f) || point.value == 0xfeff || point.value == 0x2060)
      alike = &invisible;
    if (alike) {
      diags_
          .report(span_from(begin), lookalike, shown(point.value, alike->meant == blank ? " " : character),
                  static_cast<unsigned>(point.value))
          .hint("type {}", alike->typed);
      if (alike->meant != blank)
        for (std::uint32_t i = begin; i < at_; i += point.length)
          tokens_.list.push_back({alike->meant, i, i + point.length, 0});
      return;
    }
    diag::Sink::Reported reported = diags_.report(span_from(begin), stray_character, shown(point.value, character));
    for (const Advice& advice : advices)
      if (advice.character == point.value && !(point.value == 0x00b0 && (peek() == 'C' || peek() == 'F')))
        reported.hint("{}", advice.hint);
    if (point.value == 0x00b0 && peek() == 'C')
      reported.hint("its zero lies elsewhere; write kelvin: 20 degrees Celsius are `293.15 [K]`");
    if (point.value == 0x00b0 && peek() == 'F')
      reported.hint("its zero lies elsewhere; write kelvin: 68 degrees Fahrenheit are `293.15 [K]`");
    if (is_printed_quote(point.value))
      read_printed_text(begin);
    else
      tokens_.dropped.push_back(begin);
  }

  static constexpr bool is_printed_quote(char32_t c) { return (c >= 0x201c && c <= 0x201e) || c == 0xab || c == 0xbb; }

  // From an opening quotation mark of print to a closing one on the same line, read as the text that was meant.
  void read_printed_text(std::uint32_t begin) {
    const std::uint32_t first = at_;
    for (std::uint32_t i = first; i < text_.size() && text_[i] != '\n';) {
      const diag::CodePoint point = diag::decode(text_, i);
      if (is_printed_quote(point.value)) {
        at_ = i + point.length;
        push(TokenKind::string, begin, static_cast<std::uint32_t>(tokens_.strings.size()));
        tokens_.strings.emplace_back(text_.substr(first, i - first));
        return;
      }
      i += point.length;
    }
  }

  std::string_view text_;
  base::Names& names_;
  diag::Sink& diags_;
  std::uint32_t at_ = 0;
  std::uint32_t closing_bar_ = ~0u;  // where an absolute value written with bars ends
  Tokens tokens_;
};

}  // namespace

std::string_view describe(TokenKind kind) {
  switch (kind) {
    case TokenKind::end:
      return "the end of the file";
    case TokenKind::name:
      return "a name";
    case TokenKind::number:
      return "a number";
    case TokenKind::string:
      return "a text";
    case TokenKind::plus:
      return "`+`";
    case TokenKind::minus:
      return "`-`";
    case TokenKind::star:
      return "`*`";
    case TokenKind::slash:
      return "`/`";
    case TokenKind::caret:
      return "`^`";
    case TokenKind::prime:
      return "`'`";
    case TokenKind::equal:
      return "`=`";
    case TokenKind::not_equal:
      return "`!=`";
    case TokenKind::less:
      return "`<`";
    case TokenKind::less_equal:
      return "`<=`";
    case TokenKind::greater:
      return "`>`";
    case TokenKind::greater_equal:
      return "`>=`";
    case TokenKind::bang:
      return "`!`";
    case TokenKind::and_and:
      return "`&&`";
    case TokenKind::or_or:
      return "`||`";
    case TokenKind::arrow:
      return "`->`";
    case TokenKind::fat_arrow:
      return "`=>`";
    case TokenKind::tilde:
      return "`~`";
    case TokenKind::comma:
      return "`,`";
    case TokenKind::semicolon:
      return "`;`";
    case TokenKind::colon:
      return "`:`";
    case TokenKind::dot:
      return "`.`";
    case TokenKind::dot_dot:
      return "`..`";
    case TokenKind::left_paren:
      return "`(`";
    case TokenKind::right_paren:
      return "`)`";
    case TokenKind::left_bracket:
      return "`[`";
    case TokenKind::right_bracket:
      return "`]`";
    case TokenKind::left_brace:
      return "`{`";
    case TokenKind::right_brace:
      return "`}`";
  }
  return "";
}

Tokens lex(const diag::SourceMap& sources, std::uint32_t file, base::Names& names, diag::Sink& diags) {
  return Lexer(sources.text(file), 0, file, names, diags).run();
}

Tokens lex(const diag::SourceMap& sources, base::Span part, base::Names& names, diag::Sink& diags) {
  return Lexer(sources.text(part.file).substr(0, part.end), part.begin, part.file, names, diags).run();
}

}  // namespace lex
