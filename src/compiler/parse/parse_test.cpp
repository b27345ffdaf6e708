// Trees, places and recovery. What each mistake is told is in testdata/fail_*.
#include "compiler/parse/parse.h"

#include <gtest/gtest.h>

#include "compiler/parse/parse_text.h"

namespace parse {
namespace {

// The right side of the only equation, printed.
std::string printed(const std::string& expression) {
  const ParsedText text("system x = " + expression + ";");
  EXPECT_EQ(text.reports(), "") << expression;
  if (text.tree.equations.size() != 1) return "";
  return print(text.tree, text.names, text.tree.equations[0].right);
}

TEST(Parse, ReadsTheListingsOfSeed000AsPrinted) {
  for (const char* name : {"fig2.phydl", "twoball.phydl", "pendulum.phydl"}) {
    const ParsedText text(read_text(testdata() / "seed_000" / name), Dialect::phydl);
    EXPECT_EQ(text.reports(), "") << name;
    EXPECT_FALSE(text.tree.equations.empty()) << name;
  }
}

TEST(Parse, ReadsTheExternalOfFigure2) {
  const ParsedText text(read_text(testdata() / "seed_000/fig2.phydl"), Dialect::phydl);
  ASSERT_EQ(text.tree.externals.size(), 2u);
  const External& ridl = text.tree.externals[1];
  EXPECT_EQ(text.names.text(ridl.name), "ridl");
  ASSERT_EQ(ridl.events.size(), 1u);
  EXPECT_EQ(text.names.text(ridl.events[0].name), "clock");
  EXPECT_EQ(text.tree[ridl.events[0].rate].number, 0.1);
  EXPECT_FALSE(ridl.period.valid());
}

// The appendix uses what is not built yet, and words that are names in .phydl; nothing else may be reported.
TEST(Parse, ReadsAroundWhatIsNotBuilt) {
  std::vector<std::filesystem::path> files = {testdata() / "seed_000/appendix.phydl"};
  for (const auto& entry : std::filesystem::directory_iterator(testdata() / "programs")) files.push_back(entry.path());
  ASSERT_GT(files.size(), 10u);
  for (const auto& path : files) {
    const ParsedText text(read_text(path), dialect_of(path.string()));
    for (const diag::Diagnostic& diagnostic : text.diags.diagnostics())
      EXPECT_EQ(diagnostic.code, "P020") << path << ": " << diagnostic.text;
  }
}

TEST(Parse, ReadsHybridProgramsInFull) {
  for (const char* name : {"bounce", "slip", "dueling_ships", "robot_body", "robot_chain", "robot_single", "docking",
                           "stunt_track", "hexapod", "ball_on_steps"}) {
    const ParsedText text(read_text(testdata() / "programs" / (std::string(name) + ".tact")));
    EXPECT_EQ(text.reports(), "") << name;
  }
  const ParsedText steps(read_text(testdata() / "programs/ball_on_steps.tact"));
  EXPECT_EQ(steps.tree.energies.size(), 1u);
  EXPECT_EQ(steps.tree.transitions.size(), 4u);
  EXPECT_EQ(steps.tree.properties.size(), 3u);
}

TEST(Parse, PowerIsAWordOnlyBeforeAName) {
  const ParsedText text("system power = F * v; y = power(x, 2); power F -> v; power end: 2 * F -> v;");
  EXPECT_EQ(text.reports(), "");
  EXPECT_EQ(text.tree.equations.size(), 2u);
  ASSERT_EQ(text.tree.powers.size(), 2u);
  EXPECT_FALSE(text.tree.powers[0].name.valid());
  EXPECT_EQ(text.names.text(text.tree.powers[1].name), "end");
  EXPECT_EQ(print(text.tree, text.names, text.tree.powers[1].in), "2 * F");
}

TEST(Parse, ReadsHowPortsAreJoined) {
  const ParsedText text(
      "system join a.end to b.end; join a to leg[2].foot.tip hold; join a to b extrapolate; join a to b passive");
  EXPECT_EQ(text.reports(), "");
  ASSERT_EQ(text.tree.joins.size(), 4u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(static_cast<int>(text.tree.joins[i].manner), i);
}

TEST(Parse, RatesOfInstances) {
  const ParsedText text(
      "system s = Spring() rate 1 [kHz]; leg[i in 1..6] = Leg(i) rate f; Clock() rate 20 [Hz]; x = 1;");
  ASSERT_EQ(text.tree.equations.size(), 4u);
  EXPECT_EQ(text.tree[text.tree.equations[0].rate].number, 1000);
  EXPECT_EQ(print(text.tree, text.names, text.tree.equations[1].rate), "f");
  EXPECT_EQ(text.tree[text.tree.equations[2].rate].number, 20);
  EXPECT_FALSE(text.tree.equations[2].left.valid());
  EXPECT_FALSE(text.tree.equations[3].rate.valid());
}

// The first text stands far behind the second, so that the dump of both is that of the second, then that of the first.
TEST(Parse, AppendedTreesKeepTheirItems) {
  const std::string far(20'000, ' ');
  const auto read = [](const char* name) { return read_text(testdata() / name); };
  for (const char* name : {"modes_and_jumps.tact", "sequences_plans_properties.tact", "energies.tact"}) {
    ParsedText first(far + read("modes_and_jumps.tact"));
    const std::string before = first.dumped();
    const ParsedText second(read(name));
    // Both texts name their own names: read the second with those of the first.
    diag::Sink diags{1000};
    diag::SourceMap sources;
    const auto file = source::add("b.tact", read(name), sources, diags);
    ASSERT_TRUE(file.has_value());
    append(first.tree, parse(lex::lex(sources, *file, first.names, diags), sources, first.names, diags, Dialect::tact));
    EXPECT_EQ(first.dumped(), second.dumped() + before);
  }
}

TEST(Parse, ReadsTheBehavioursOfFigure2) {
  const ParsedText text(read_text(testdata() / "seed_000/fig2.ridl"), Dialect::ridl);
  EXPECT_EQ(text.reports(), "");
  EXPECT_EQ(text.dumped(),
            "(behaviour cur 0 (on clock x))\n"
            "(behaviour prev 0 (later clock x))\n"
            "(behaviour crosses a 0 (on clock (if (and (<= cur 0) (> prev 0)) (sum a + 1) a)))\n");
  EXPECT_EQ(ParsedText("", Dialect::ridl).reports(), "");
}

TEST(Parse, KnowsTheDialectByTheExtension) {
  EXPECT_EQ(dialect_of("a.phydl"), Dialect::phydl);
  EXPECT_EQ(dialect_of("a.b/c.ridl"), Dialect::ridl);
  EXPECT_EQ(dialect_of("a.tact"), Dialect::tact);
  EXPECT_EQ(dialect_of("phydl"), Dialect::tact);
}

TEST(Parse, AcceptsATextWithoutItems) {
  for (const char* text : {"", "\n", "// nothing", "system", "boundary system boundary"})
    EXPECT_EQ(ParsedText(text).reports(), "");
}

TEST(Parse, PlacesChildrenBeforeParents) {
  const ParsedText text(read_text(testdata() / "expressions.tact"));
  for (std::size_t i = 0; i < text.tree.nodes.size(); ++i)
    for (const Child& child : text.tree.children_of(NodeId(i))) EXPECT_LT(child.node.value, i);
}

TEST(Parse, SpansCoverParentheses) {
  const ParsedText text("system\n  y = (a + b) * c;");
  const Node& product = text.tree[text.tree.equations[0].right];
  EXPECT_EQ(text.sources.text(product.span), "(a + b) * c");
  EXPECT_EQ(text.sources.text(text.tree.equations[0].span), "y = (a + b) * c");
}

TEST(Parse, KeepsTheUnitAsWritten) {
  const ParsedText text("parameter k = 4 [ kN/m ];");
  const Node& number = text.tree[text.tree.parameters[0].value];
  EXPECT_EQ(number.number, 4000);
  EXPECT_EQ(text.tree.units[number.unit].text, "kN/m");
  EXPECT_EQ(text.sources.text(number.span), "4 [ kN/m ]");
  EXPECT_EQ(printed("5 [cm] * a + 0.1 [1/min]^2 + 72 [km/h] + 1e-3 [eV]"),
            "5 [cm] * a + 0.1 [1/min]^2 + 72 [km/h] + 0.001 [eV]");
}

TEST(Parse, AppendedTreesShareTheirUnits) {
  ParsedText first("parameter a = 1 [m], b = 2 [kN];");
  const ParsedText second("parameter c = 3 [s], d = 4 [m];");
  append(first.tree, second.tree);
  EXPECT_EQ(first.tree.units.size(), 4u);
  EXPECT_EQ(first.tree.units[first.tree[first.tree.parameters[2].value].unit].text, "s");
  EXPECT_EQ(first.tree.units[first.tree[first.tree.parameters[3].value].unit].text, "m");
}

TEST(Parse, ReportsAMissingSemicolonBehindTheStatement) {
  const ParsedText text("system\n  x' = 1   // one\n  y' = 2;\n");
  EXPECT_EQ(text.reports(), "P002@2:9");
  EXPECT_EQ(text.tree.equations.size(), 2u);
}

TEST(Parse, GoesOnAfterEachMistake) {
  const ParsedText text(
      "system\n  a = ;\n  b = (1;\n  c = 3;\n  d = 4 4;\n  e = 5;\nparameter f = ;\nboundary\n  g(0) = ;\n  h(0) = "
      "1;\n");
  EXPECT_EQ(text.reports(), "P003@2:7 P001@3:9 P002@5:8 P003@7:15 P003@9:10");
  EXPECT_EQ(text.tree.equations.size(), 3u);
  EXPECT_EQ(text.tree.conditions.size(), 1u);
}

TEST(Parse, KnowsTheVariableOfWithByItsName) {
  EXPECT_EQ(ParsedText("boundary x' with x(0) = 1, x'(0) = 2; v[1] with v[1](0) = 1;").reports(), "");
  EXPECT_EQ(ParsedText("boundary x' with y(0) = 1;").reports(), "P014@1:18");
}

TEST(Parse, EndsAStatementBeforeAnOpening) {
  EXPECT_EQ(ParsedText("boundary x(0) = 1 system x' = 2").reports(), "");
  EXPECT_EQ(ParsedText("system x' = 2 parameter k = 1").reports(), "P002@1:14");
}

TEST(Print, LeavesNoParenthesesThatAreNotNeeded) {
  EXPECT_EQ(printed("((a) + ((b * c)))"), "a + b * c");
  EXPECT_EQ(printed("(a + b) * c"), "(a + b) * c");
  EXPECT_EQ(printed("a - (b - c) - d"), "a - (b - c) - d");
  EXPECT_EQ(printed("a / (b * c)"), "a / (b * c)");
  EXPECT_EQ(printed("(-a)^2 + -(a^2)"), "(-a)^2 + -a^2");
  EXPECT_EQ(printed("(a^b)^c + a^(b^c) + a^(-b)"), "(a^b)^c + a^b^c + a^-b");
  EXPECT_EQ(printed("(a + b)' + (2)' + a''"), "(a + b)' + (2)' + a''");
  EXPECT_EQ(printed("(if a then b else c) + 1"), "(if a then b else c) + 1");
  EXPECT_EQ(printed("if(a, b, if(c, d, e))"), "if a then b else if c then d else e");
  EXPECT_EQ(printed("!(a && b) || (c -> d)"), "!(a && b) || (c -> d)");
  EXPECT_EQ(printed("(a -> b) -> c -> d"), "(a -> b) -> c -> d");
  EXPECT_EQ(printed("(a < b) = (c in 1..2)"), "(a < b) = (c in 1..2)");
  EXPECT_EQ(printed("f((a = b), c = d)[1, 2].m(x)"), "f((a = b), c = d)[1, 2].m(x)");
  EXPECT_EQ(printed("(1, (2, 3), \"a\\\"b\")"), "(1, (2, 3), \"a\\\"b\")");
  EXPECT_EQ(printed("sum(i in 1..n + 1: x[i])"), "sum(i in 1..n + 1: x[i])");
  EXPECT_EQ(printed("0.1 + 1e300 + 2 [km]"), "0.1 + 1e+300 + 2 [km]");
}

TEST(Print, ShowsFormulas) {
  for (const char* formula : {"always(a -> eventually[0..1](b until[2..3] !c))", "a until b", "eventually(a && b)",
                              "always(a until b -> c)", "always[0..1](next(x) > x)"}) {
    const ParsedText text(std::string("check ") + formula + ";");
    EXPECT_EQ(text.reports(), "");
    EXPECT_EQ(print(text.tree, text.names, text.tree.properties[0].formula), formula);
  }
  const ParsedText bare("check named: a -> b;");
  EXPECT_EQ(print(bare.tree, bare.names, bare.tree.properties[0].formula), "always(a -> b)");
}

// Reading what was printed gives the same tree: of every equation in the test data.
TEST(Print, IsReadBackAsTheSameTree) {
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(testdata())) {
    if (!entry.is_regular_file()) continue;
    const ParsedText first(read_text(entry.path()), dialect_of(entry.path().string()));
    std::string again = "system\n";
    Tree equations = first.tree;
    static_cast<Body&>(equations) = {};
    equations.settings.clear();
    equations.externals.clear();
    equations.uses.clear();
    equations.shapes.clear();
    for (const Equation& equation : first.tree.equations) {
      if (equation.left.valid() && !equation.family.valid()) equations.equations.push_back(equation);
    }
    for (const Equation& equation : equations.equations) {
      again += print(equations, first.names, equation.left) + " = " + print(equations, first.names, equation.right) +
               (equation.rate.valid() ? " rate " + print(equations, first.names, equation.rate) : "") + ";\n";
      ++count;
    }
    const ParsedText second(again, dialect_of(entry.path().string()));
    if (second.diags.has_errors()) continue;  // a reserved word, or der(x), that the first reading already reported
    EXPECT_EQ(dump(equations, first.names), second.dumped()) << entry.path();
  }
  EXPECT_GT(count, 150);
}

}  // namespace
}  // namespace parse
