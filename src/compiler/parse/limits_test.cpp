// Texts of absurd size and depth: neither the stack nor patience may run out. Each of these takes well under a second.
#include <gtest/gtest.h>

#include "compiler/parse/parse_text.h"

namespace parse {
namespace {

std::string repeated(std::string_view text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

// One error, and the next equation is still read.
void expect_too_deep(const std::string& expression) {
  const ParsedText text("system\n  x = " + expression + ";\n  y = 1;\n");
  ASSERT_EQ(text.diags.diagnostics().size(), 1u) << expression.substr(0, 20);
  EXPECT_EQ(text.diags.diagnostics()[0].code, "P006") << expression.substr(0, 20);
  EXPECT_EQ(text.diags.diagnostics()[0].hints.size(), 1u);
  EXPECT_EQ(text.tree.equations.size(), 1u) << expression.substr(0, 20);
}

TEST(Limits, DeepNestingIsReportedOnce) {
  constexpr int many = 100'000;
  expect_too_deep(repeated("(", many) + "1" + repeated(")", many));
  expect_too_deep(repeated("-", many) + "1");
  expect_too_deep(repeated("!", many) + "a");
  expect_too_deep(repeated("if a then b else ", many) + "c");
  expect_too_deep(repeated("if a then ", many) + "c" + repeated(" else b", many));
  expect_too_deep(repeated("if ", many) + "c" + repeated(" then a else b", many));
  expect_too_deep(repeated("if(a, b, ", many) + "c" + repeated(")", many));
  expect_too_deep(repeated("2^", many) + "2");
  expect_too_deep(repeated("a -> ", many) + "b");
  expect_too_deep(repeated("f(", many) + "1" + repeated(")", many));
  expect_too_deep(repeated("v[", many) + "1" + repeated("]", many));
  expect_too_deep(repeated("sum(i in 1..", many) + "1" + repeated(": i)", many));
  expect_too_deep("1 [" + repeated("(", many) + "m" + repeated(")", many) + "]");
  expect_too_deep("f" + repeated("(1)", many));
  expect_too_deep("v" + repeated("[1]", many));
  expect_too_deep("v" + repeated(".a", many));
  expect_too_deep("v" + repeated("[1]'", many));
}

TEST(Limits, UnclosedNestingIsReportedOnce) {
  constexpr int many = 100'000;
  for (const char* opener : {"(", "[", "{", "f(", "v[", "if(", "-(", "2 [("}) {
    const ParsedText text("system\n  x = " + repeated(opener, many));
    EXPECT_EQ(text.diags.diagnostics().size(), 1u) << opener;
  }
}

// Nodes count, not parentheses alone: a chain in each of many levels would be deeper than any pass can walk.
TEST(Limits, HeightIsBoundedAcrossLevels) {
  std::string expression = "a";
  for (int i = 0; i < 200; ++i) expression = "(" + expression + repeated(".b", 200) + ")";
  expect_too_deep(expression);
}

TEST(Limits, NestingBelowTheLimitIsAccepted) {
  const int depth = static_cast<int>(max_nesting) - 1;
  EXPECT_EQ(ParsedText("system x = " + repeated("(", depth) + "1" + repeated(")", depth) + ";").reports(), "");
  EXPECT_EQ(ParsedText("system x = " + repeated("-", depth) + "1;").reports(), "");
  EXPECT_EQ(ParsedText("system x = " + repeated("if a then b else ", depth) + "1;").reports(), "");
}

TEST(Limits, ManyPrimesAreOneError) {
  EXPECT_EQ(ParsedText("system x" + repeated("'", 100'000) + " = 1; y = 2;").reports(), "P016@1:9");
  EXPECT_EQ(ParsedText("system x" + repeated("'", static_cast<int>(max_primes)) + " = 1;").reports(), "");
}

TEST(Limits, ALongSumIsOneWideNode) {
  const ParsedText text("system x = 1" + repeated(" + y", 1'000'000) + ";");
  EXPECT_EQ(text.reports(), "");
  EXPECT_EQ(text.tree[text.tree.equations[0].right].child_count, 1'000'001u);
  EXPECT_EQ(print(text.tree, text.names, text.tree.equations[0].right).size(), 1u + 4u * 1'000'000u);
}

TEST(Limits, LongListsAndManyStatementsAreAccepted) {
  EXPECT_EQ(ParsedText("system x = (0" + repeated(", 1", 500'000) + ");").reports(), "");
  EXPECT_EQ(ParsedText("system x = 1" + repeated(" && 1", 500'000) + ";").reports(), "");
  EXPECT_EQ(ParsedText("system x = " + repeated("+", 500'000) + "1;").reports(), "");
  EXPECT_EQ(ParsedText("system " + repeated("x = 1;\n", 200'000)).tree.equations.size(), 200'000u);
}

TEST(Limits, ManyMistakesEndSoon) {
  const ParsedText statements("system " + repeated("x = ;\n", 200'000));
  EXPECT_EQ(statements.diags.error_count(), 200'000u);
  EXPECT_EQ(statements.diags.diagnostics().size(), 1000u);
  for (const char* token : {")",       "}",          "]",         ";",           "=",
                            "'",       ".",          "..",        "if ",         "then ",
                            "in ",     "parameter ", "external ", "simulation ", "transition ",
                            "module ", "plan ",      "for ",      "in {",        "module x = (",
                            "\"",      "/*",         "@",         "1 ",          "1 [",
                            "x ",      "end ",       "a.",        "a=>",         "observes event ",
                            "with "}) {
    const ParsedText text(repeated(token, 50'000));
    EXPECT_EQ(ParsedText("system " + repeated(token, 50'000)).tree.functions.size(), 0u) << token;
    EXPECT_EQ(text.tree.functions.size(), 0u) << token;
  }
}

}  // namespace
}  // namespace parse
