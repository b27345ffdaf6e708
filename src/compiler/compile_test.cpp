// What the passes owe each other, seen from the front door: overrides, several files, determinism.
#include "compiler/compile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/source/source.h"

namespace {

struct Compiled {
  diag::SourceMap sources;
  diag::Sink diags;
  std::optional<ir::Program> program;
};

void compile(Compiled& result, const std::vector<std::string>& texts,
             const std::vector<compiler::Override>& overrides = {}, const std::vector<compiler::Start>& starts = {}) {
  std::vector<std::uint32_t> files;
  for (const std::string& text : texts) files.push_back(*source::add("model.tact", text, result.sources, result.diags));
  result.program = compiler::compile(files, result.sources, {overrides, starts}, result.diags);
}

const char* const oscillator = "parameter k = 4; boundary x(0) = 1, x'(0) = 0; system m * x'' = -k * x; m = 2;";

TEST(Compile, OverridesAParameter) {
  Compiled result;
  compile(result, {oscillator}, {{"k", 9}});
  ASSERT_TRUE(result.program.has_value());
  EXPECT_EQ(result.program->parameters[0].initial, 9);
}

TEST(Compile, OverridesAConstantWrittenAsAnEquation) {
  Compiled plain, changed;
  compile(plain, {oscillator});
  compile(changed, {oscillator}, {{"m", 3}});
  ASSERT_TRUE(changed.program.has_value());
  EXPECT_NE(ir::dump(*plain.program), ir::dump(*changed.program));
}

TEST(Compile, RefusesAnOverrideOfNothing) {
  Compiled result;
  compile(result, {oscillator}, {{"zeta", 3}});
  EXPECT_FALSE(result.program.has_value());
  ASSERT_EQ(result.diags.diagnostics().size(), 1u);
  EXPECT_EQ(result.diags.diagnostics()[0].code, "C019");
}

TEST(Compile, TellsWhatCanBeSet) {
  Compiled result;
  std::vector<std::string> settable;
  compiler::Options options;
  options.settable = &settable;
  const auto file = source::add("model.tact",
                                "constant g = 9.81, v = (1, 2); parameter k = 4; boundary x(0) = 1, x'(0) = 0; "
                                "system m * x'' = -k * x - m * g; m = 2;",
                                result.sources, result.diags);
  ASSERT_TRUE(compiler::compile({*file}, result.sources, options, result.diags));
  EXPECT_EQ(settable, (std::vector<std::string>{"g", "k", "m"}));
}

TEST(Compile, TakesStartsFromOutside) {
  Compiled written, given, added;
  compile(written, {"parameter k = 4; boundary x(0) = 3, x'(0) = -2; system m * x'' = -k * x; m = 2;"});
  compile(given, {oscillator}, {}, {{"x'", -2}, {"x", 3}});
  ASSERT_TRUE(given.program.has_value());
  EXPECT_EQ(ir::dump(*written.program), ir::dump(*given.program));
  // Where the text gives none, there is no warning any more.
  compile(added, {"parameter k = 4; system x'' * m = -k * x; m = 2;"}, {}, {{"x", 3}, {"x'", -2}});
  ASSERT_TRUE(added.program.has_value());
  EXPECT_TRUE(added.diags.diagnostics().empty());
  EXPECT_EQ(ir::dump(*written.program), ir::dump(*added.program));
}

TEST(Compile, TakesStartsOfComponentsAndGuesses) {
  Compiled written, given;
  compile(written, {"boundary p(0) = (1, 5), p'(0) ~ (2, 0); system p'' = -p;"});
  compile(given, {"boundary p(0) = (1, 2), p'(0) ~ (0, 0); system p'' = -p;"}, {}, {{"p[2]", 5}, {"p'[1]", 2, true}});
  ASSERT_TRUE(given.program.has_value());
  EXPECT_EQ(ir::dump(*written.program), ir::dump(*given.program));
  EXPECT_EQ(written.program->state_flags, given.program->state_flags);
}

TEST(Compile, SeveralFilesAreOneProgram) {
  Compiled one, two;
  compile(one, {oscillator});
  compile(two, {"parameter k = 4; boundary x(0) = 1, x'(0) = 0;", "system m * x'' = -k * x; m = 2;"});
  ASSERT_TRUE(two.program.has_value());
  EXPECT_EQ(ir::dump(*one.program), ir::dump(*two.program));
}

TEST(Compile, IsDeterministic) {
  Compiled first, second;
  compile(first, {oscillator});
  compile(second, {oscillator});
  EXPECT_EQ(ir::dump(*first.program), ir::dump(*second.program));
}

// A long chain settles, sorts and lowers without recursion: neither order of writing may overflow the stack or go
// quadratic.
TEST(Compile, LongChainsInBothOrders) {
  for (bool backwards : {false, true}) {
    std::string text = "boundary x(0) = 1; system x' = -a20000; a0 = x;\n";
    for (int i = 1; i <= 20000; ++i) {
      int k = backwards ? 20001 - i : i;
      text += "a" + std::to_string(k) + " = sin(a" + std::to_string(k - 1) + ");\n";
    }
    Compiled result;
    compile(result, {text});
    ASSERT_TRUE(result.program.has_value());
    EXPECT_GT(result.program->derivative.chunks.size(), 10u);
  }
}

// n resistors in a row between two voltages: one linear loop of n unknowns.
std::string ladder(int n) {
  std::string text = "system v0 = t; v" + std::to_string(n + 1) + " = 0;\n";
  for (int i = 1; i <= n; ++i) {
    text += "v" + std::to_string(i - 1) + " - v" + std::to_string(i) + " = 2 * (v" + std::to_string(i) + " - v" +
            std::to_string(i + 1) + ");\n";
  }
  return text;
}

TEST(Compile, RefusesALoopThatIsTooLarge) {
  Compiled result;
  compile(result, {ladder(3000)});
  EXPECT_FALSE(result.program.has_value());
  ASSERT_EQ(result.diags.diagnostics().size(), 1u);
  EXPECT_EQ(result.diags.diagnostics()[0].code, "S012");
}

// All derivatives of an equation at once: one by one, those of a full block would be too much work.
TEST(Compile, AFullBlockIsNotTooMuchWork) {
  Compiled result;
  compile(result, {"system for i in 1..300 { y[i]^3 + y[i] = sum(j in 1..300: j * y[j]) + i * t; }"});
  EXPECT_TRUE(result.program.has_value());
}

// A parameter that a range reads is a number like any other: the branch that is not taken need not exist.
TEST(Compile, AParameterThatARangeReadsChoosesBranches) {
  const char* const text =
      "parameter n = 3; module C = ( ports v; boundary v(0) = 1; system v' = -v; )\n"
      "system c[i in 1..n] = C(); w[i in 1..n] = if i < n then c[i + 1].v else 0;";
  Compiled plain, changed;
  compile(plain, {text});
  EXPECT_TRUE(plain.program.has_value());
  compile(changed, {text}, {{"n", 5}});
  ASSERT_TRUE(changed.program.has_value());
  EXPECT_EQ(changed.program->state_names.size(), 5u);
}

// Small texts that would grow without end: each is told, or worked out once.
TEST(Compile, AConstantThatIsReadTwiceIsWorkedOutOnce) {
  std::string text = "constant c60 = 1;\n";
  for (int i = 0; i < 60; ++i) text += fmt::format("constant c{0} = c{1} * c{1};\n", i, i + 1);
  Compiled result;
  compile(result, {text + "boundary x(0) = 1; system x' = -y[1]; y[i in 1..c0] = i * x;"});
  EXPECT_TRUE(result.program.has_value());
}

TEST(Compile, ConstantsThatReadEachOtherAreNoRange) {
  Compiled result;
  compile(result, {"constant a = b + b, b = a + a; system x[i in 1..a] = i;"});
  EXPECT_FALSE(result.program.has_value());
}

TEST(Compile, LoopsThatMultiplyAreRefused) {
  const std::pair<const char*, const char*> refused[] = {
      {"constant n = 1000000; for i in 1..n { for j in 1..n { } } system x = t;", "E006"},
      {"system y[i in 1..2] = i; x = sum(i in 1..1000000: sum(j in 1..1000000: 1));", "E006"},
      {"system x = sum(i in 1..1000000: sum(j in 1..1000000: 1));", "C023"},  // nothing to expand: check counts
  };
  for (const auto& [text, code] : refused) {
    Compiled result;
    compile(result, {text});
    EXPECT_FALSE(result.program.has_value()) << text;
    ASSERT_EQ(result.diags.diagnostics().size(), 1u) << text;
    EXPECT_EQ(result.diags.diagnostics()[0].code, code) << text;
  }
}

}  // namespace
