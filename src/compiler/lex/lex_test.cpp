#include "compiler/lex/lex.h"

#include <gtest/gtest.h>

#include <limits>

#include "compiler/lex/unicode_letters.h"
#include "compiler/source/source.h"

namespace lex {
namespace {

// What became of a text.
struct Lexed {
  diag::SourceMap sources;
  diag::Sink diags;
  base::Names names;
  Tokens tokens;

  explicit Lexed(std::string text) {
    const auto file = source::add("a.tact", std::move(text), sources, diags);
    if (file) tokens = lex(sources, *file, names, diags);
  }

  std::string codes() const {
    std::string all;
    for (const diag::Diagnostic& diagnostic : diags.diagnostics()) (all += all.empty() ? "" : " ") += diagnostic.code;
    return all;
  }

  // The source texts of the tokens, with a bar between each two.
  std::string cut() const {
    std::string all;
    for (std::size_t i = 0; i + 1 < tokens.list.size(); ++i) {
      if (i > 0) all += '|';
      all += sources.text(tokens.span(i));
    }
    return all;
  }
};

TEST(Lex, EndsWithAnEndToken) {
  for (const char* text : {"", " ", "// only a comment", "/* */", "x"}) {
    const Lexed lexed(text);
    ASSERT_FALSE(lexed.tokens.list.empty());
    EXPECT_EQ(lexed.tokens.list.back().kind, TokenKind::end);
    EXPECT_EQ(lexed.codes(), "");
  }
}

TEST(Lex, CutsNumbersByTheGrammar) {
  EXPECT_EQ(Lexed("0..2").cut(), "0|..|2");
  EXPECT_EQ(Lexed("1.5e3.2").cut(), "1.5e3|.2");
  EXPECT_EQ(Lexed(".5").cut(), ".5");
  EXPECT_EQ(Lexed("0...5").cut(), "0|..|.5");
  EXPECT_EQ(Lexed("1e+5 1e5 1e 1e+ 1E-3").cut(), "1e+5|1e5|1|e|1|e|+|1E-3");
  EXPECT_EQ(Lexed("2x").cut(), "2|x");
  EXPECT_EQ(Lexed("x2.y").cut(), "x2|.|y");
}

TEST(Lex, RoundsNumbersToNearest) {
  const Lexed lexed(
      "0.1 1.7976931348623157e308 4.9e-324 1e-999 9007199254740993 0.30000000000000004 123456789012345678901234567890");
  const std::vector<double> expected = {
      0.1,       std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min(), 0, 9007199254740992.0,
      0.1 + 0.2, 123456789012345678901234567890.0};
  EXPECT_EQ(lexed.tokens.numbers, expected);
  EXPECT_EQ(lexed.codes(), "");
}

TEST(Lex, RejectsANumberThatOverflows) {
  EXPECT_EQ(Lexed("1e999").codes(), "L006");
  EXPECT_EQ(Lexed("1.8e308").codes(), "L006");
  const Lexed digits(std::string(1'000'000, '9'));
  EXPECT_EQ(digits.codes(), "L006");
  EXPECT_LT(digits.diags.diagnostics()[0].text.size(), 200u);
}

TEST(Lex, ReadsAliasesOfOperators) {
  const Lexed lexed("≥ ≤ ≠ ¬ ‖");
  const TokenKind expected[] = {TokenKind::greater_equal, TokenKind::less_equal, TokenKind::not_equal, TokenKind::bang,
                                TokenKind::or_or};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(lexed.tokens.list[i].kind, expected[i]);
  EXPECT_EQ(lexed.codes(), "");
}

TEST(Lex, PrefersTheLongestOperator) {
  EXPECT_EQ(Lexed("=>->..<=>=!=&&||-=a''").cut(), "=>|->|..|<=|>=|!=|&&||||-|=|a|'|'");
  EXPECT_EQ(Lexed("=>->..<=>=!=&&||-=a''").codes(), "");
}

TEST(Lex, InternsEqualNamesOnce) {
  const Lexed lexed("größe x größe");
  EXPECT_EQ(lexed.tokens.name(0), lexed.tokens.name(2));
  EXPECT_NE(lexed.tokens.name(0), lexed.tokens.name(1));
}

TEST(Lex, TakesLettersOfAllScripts) {
  EXPECT_EQ(Lexed("größe α₁ скорость 変数 é é ẋ ñ_1").codes(), "");
  EXPECT_EQ(Lexed("größe α₁ скорость").cut(), "größe|α₁|скорость");
  EXPECT_TRUE(is_unicode_letter(U'ß'));
  EXPECT_FALSE(is_unicode_letter(U'×'));
  EXPECT_FALSE(is_unicode_letter(0x2212));
  EXPECT_FALSE(is_unicode_letter(0x00a0));
  EXPECT_FALSE(is_unicode_letter(0x10ffff));
  EXPECT_TRUE(is_unicode_mark_or_digit(0x0301));
}

TEST(Lex, ReadsLookalikesAsWhatTheyLookLike) {
  const Lexed lexed("a\u00a0\u2212\u2009b\u2032");
  EXPECT_EQ(lexed.codes(), "L002 L002 L002 L002");
  ASSERT_EQ(lexed.tokens.list.size(), 5u);
  EXPECT_EQ(lexed.tokens.list[1].kind, TokenKind::minus);
  EXPECT_EQ(lexed.tokens.list[3].kind, TokenKind::prime);
  EXPECT_EQ(lexed.diags.diagnostics()[1].hints.at(0), "type `-`");
}

TEST(Lex, ReportsARunOfOneStrayCharacterOnce) {
  EXPECT_EQ(Lexed("@@@@ $").codes(), "L001 L001");
  EXPECT_EQ(Lexed(std::string(1'000'000, '@')).codes(), "L001");
}

TEST(Lex, CommentsDoNotNest) {
  EXPECT_EQ(Lexed("a /* b /* c */ d // e\nf").cut(), "a|d|f");
  EXPECT_EQ(Lexed("a /* b").codes(), "L003");
  EXPECT_EQ(Lexed("a /*/ b").codes(), "L003");
  EXPECT_EQ(Lexed("a */ b").codes(), "L011");
}

TEST(Lex, ResolvesEscapesInTexts) {
  const Lexed lexed(R"("a\"b\\c\n\t" "größe" "")");
  EXPECT_EQ(lexed.tokens.strings, (std::vector<std::string>{"a\"b\\c\n\t", "größe", ""}));
  EXPECT_EQ(Lexed("\"abc\nx").cut(), "\"abc|x");
  EXPECT_EQ(Lexed("\"abc\nx").codes(), "L004");
  EXPECT_EQ(Lexed("\"abc\\").codes(), "L004");
  EXPECT_EQ(Lexed("\"a\\qb\"").codes(), "L005");
  EXPECT_EQ(Lexed("“abc”").tokens.strings, std::vector<std::string>{"abc"});
}

TEST(Lex, TellsAPercentCommentFromAnOperator) {
  EXPECT_EQ(Lexed("x = 1; % comment ' \" (").cut(), "x|=|1|;");
  EXPECT_EQ(Lexed("% comment\nx").cut(), "x");
  EXPECT_EQ(Lexed("a % b").cut(), "a|b");
  EXPECT_EQ(Lexed("a % b").tokens.dropped, std::vector<std::uint32_t>{2});
}

TEST(Lex, ReadsForeignOperatorsAsWhatTheyMean) {
  const Lexed lexed("a == b := c ** d .* e ./ f .^ g ~= h");
  EXPECT_EQ(lexed.diags.error_count(), 7u);
  EXPECT_EQ(lexed.tokens.list[1].kind, TokenKind::equal);
  EXPECT_EQ(lexed.tokens.list[5].kind, TokenKind::caret);
  EXPECT_EQ(Lexed("2.*x").cut(), "2|.*|x");
  EXPECT_EQ(Lexed("2.*x").codes(), "L008");
  EXPECT_EQ(Lexed("1./x").codes(), "L008");
}

TEST(Lex, DescribesEveryKind) {
  for (int kind = 0; kind <= static_cast<int>(TokenKind::right_brace); ++kind)
    EXPECT_FALSE(describe(static_cast<TokenKind>(kind)).empty());
}

}  // namespace
}  // namespace lex
