// Initialisation files: the manual's own, mistakes in them, what they mean for a model, and back.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>

#include "simsect/init_file.h"
#include "simsect/settings.h"

namespace simsect {
namespace {

struct Read {
  diag::SourceMap sources;
  diag::Sink diags;
  std::vector<Assignment> assignments;

  explicit Read(std::string text) {
    assignments = read_init_file(sources.add("SimSect.rc", std::move(text)), sources, diags);
  }
  Meaning meaning(const ModelNames& names) { return find_meaning(assignments, names, diags); }
  // "I001 at 3:5"
  std::vector<std::string> codes() const {
    std::vector<std::string> found;
    for (const diag::Diagnostic& each : diags.diagnostics()) {
      const diag::Position at = sources.position(each.span.file, each.span.begin);
      found.push_back(fmt::format("{} at {}:{}", each.code, at.line, at.column));
    }
    return found;
  }
};

using Codes = std::vector<std::string>;

std::string figure_1() {
  std::ifstream file(TACTUS_SOURCE_DIR "/tests/reference/simsect_figure_1.rc");
  EXPECT_TRUE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(InitFile, TheManualsFigure) {
  Read read(figure_1());
  EXPECT_TRUE(read.codes().empty());
  ASSERT_EQ(read.assignments.size(), 13u);
  EXPECT_EQ(read.assignments[2].name, "dataBaseName");
  EXPECT_TRUE(read.assignments[2].is_text);
  EXPECT_EQ(read.assignments[2].text, "hexapod");
  EXPECT_EQ(read.assignments[12].number, 0.33);
  const Meaning meaning = read.meaning({"hexapod", {"framerate", "body_mass"}, {}});
  EXPECT_EQ(read.codes(), (Codes{"I011 at 5:1"}));  // Geomview
  const Integrator& found = meaning.integrator;
  EXPECT_EQ(found.record_period, 0.01);
  EXPECT_EQ(found.measure_period, 0.1);
  EXPECT_EQ(found.data_base_name, "hexapod");
  EXPECT_EQ(found.final_time, 5);
  EXPECT_EQ(found.max_chart_count, 128000);
  EXPECT_EQ(found.stop_precision, 1e-10);
  EXPECT_EQ(found.max_stop_iter, 128u);
  EXPECT_EQ(found.tolerance, 1e-5);
  EXPECT_EQ(found.max_time_step, 1e-3);
  EXPECT_EQ(found.min_time_step, 1e-15);
  EXPECT_EQ(found.solver, "bs3");
  EXPECT_FALSE(found.system_name);
  ASSERT_EQ(meaning.parameters.size(), 1u);
  EXPECT_EQ(meaning.parameters[0].name, "framerate");
  EXPECT_EQ(meaning.parameters[0].value, 30);
}

TEST(InitFile, NumbersAndBlanks) {
  Read read("a=1;b = -2.5e-3 ; c\n=\n.5;\td = +4.; e=0; # rest\r\nf = 1E+2;");
  EXPECT_TRUE(read.codes().empty());
  std::vector<double> numbers;
  for (const Assignment& each : read.assignments) numbers.push_back(each.number);
  EXPECT_EQ(numbers, (std::vector<double>{1, -2.5e-3, 0.5, 4, 0, 100}));
}

TEST(InitFile, Mistakes) {
  EXPECT_EQ(Read("tolerance 1e-5;").codes(), (Codes{"I001 at 1:11"}));
  EXPECT_EQ(Read("tolerance = ;").codes(), (Codes{"I001 at 1:13"}));
  EXPECT_EQ(Read("tolerance = 1\nfinalTime = 2;\n").codes(), (Codes{"I001 at 2:1"}));
  EXPECT_EQ(Read("tolerance = 1").codes(), (Codes{"I001 at 1:14"}));
  EXPECT_EQ(Read("1 = 1;").codes(), (Codes{"I001 at 1:1"}));
  EXPECT_EQ(Read("name = \"slip;\nb = 1;").codes(), (Codes{"I002 at 1:8"}));
  EXPECT_EQ(Read("a = slip;").codes(), (Codes{"I003 at 1:5"}));
  EXPECT_EQ(Read("a = 1.2.3;").codes(), (Codes{"I003 at 1:5"}));
  EXPECT_EQ(Read("a = nan; b = inf; c = 1e999; d = --1; e = 0x10; f = +-1;").codes().size(), 6u);
  EXPECT_EQ(Read("a = 1;\na = 2;").codes(), (Codes{"I004 at 2:1"}));
  // Each mistake for itself, and what is good is read.
  Read read("a = 1;\nb 2;\nc = 3;\nd = x;\ne = 5;");
  EXPECT_EQ(read.codes(), (Codes{"I001 at 2:3", "I003 at 4:5"}));
  EXPECT_EQ(read.assignments.size(), 3u);
}

TEST(Meaning, OfParametersAndStates) {
  const ModelNames names{"slip", {"k", "leg[2].k_r"}, {"x", "x'", "p[1]", "p'[2]", "R[1][2]", "q''"}};
  Read read("k = 9; leg_2_k_r = 3; x = 1; xdot = -2; p[1] = 5; pdot_2 = 7; R_1_2 = 8; qddot = 4;");
  const Meaning meaning = read.meaning(names);
  EXPECT_TRUE(read.codes().empty());
  auto text = [](const std::vector<NamedNumber>& list) {
    std::string all;
    for (const NamedNumber& each : list) all += fmt::format("{}={} ", each.name, each.value);
    return all;
  };
  EXPECT_EQ(text(meaning.parameters), "k=9 leg[2].k_r=3 ");
  EXPECT_EQ(text(meaning.starts), "x=1 x'=-2 p[1]=5 p'[2]=7 R[1][2]=8 q''=4 ");
}

TEST(Meaning, OfOddSymbols) {
  const ModelNames names{"slip", {"k", "p_1", "tolerance"}, {"p[1]", "v"}};
  auto codes = [&](const char* text) {
    Read read(text);
    (void)read.meaning(names);
    return read.codes();
  };
  EXPECT_EQ(codes("k = \"soft\";"), (Codes{"I005 at 1:5"}));
  EXPECT_EQ(codes("finalTime = \"late\";"), (Codes{"I005 at 1:13"}));
  EXPECT_EQ(codes("systemName = 3;"), (Codes{"I006 at 1:14"}));
  EXPECT_EQ(codes("stiffness = 3;"), (Codes{"I007 at 1:1"}));
  EXPECT_EQ(codes("maxTimeStep = 0;"), (Codes{"I008 at 1:15"}));
  EXPECT_EQ(codes("recordPeriod = -1;"), (Codes{"I008 at 1:16"}));
  EXPECT_EQ(codes("maxStopIter = 2.5;"), (Codes{"I008 at 1:15"}));
  EXPECT_EQ(codes("dataBaseName = \"\";"), (Codes{"I008 at 1:16"}));
  EXPECT_EQ(codes("power = 0.25;"), (Codes{"I009 at 1:9"}));
  EXPECT_EQ(codes("systemName = \"hexapod\";"), (Codes{"I010 at 1:14"}));
  EXPECT_EQ(codes("systemName = \"slip\"; useGeomview = 0;"), Codes{});
  // A name of the model comes before what it would be as a symbol.
  EXPECT_EQ(codes("p_1 = 3; p[1] = 4;"), Codes{});
  const ModelNames two{"m", {"a.b"}, {"a[b]"}};
  Read read("a_b = 1;");
  (void)read.meaning(two);
  EXPECT_EQ(read.codes(), (Codes{"I012 at 1:1"}));
  Read near("tolerence = 1;");
  (void)near.meaning(names);
  ASSERT_EQ(near.diags.diagnostics().size(), 1u);
  EXPECT_EQ(near.diags.diagnostics()[0].hints, (Codes{"did you mean `tolerance`?"}));
}

TEST(Meaning, TheLastOneCountsAndOneTableServesAll) {
  const ModelNames names{"m", {"tolerance"}, {"p'[1]"}};
  Read read("tolerance = 1e-3; tolerance = 1e-4; pdot_1 = 1; p'[1] = 2;");
  const Meaning meaning = read.meaning(names);
  EXPECT_EQ(meaning.integrator.tolerance, 1e-4);
  ASSERT_EQ(meaning.parameters.size(), 1u);
  EXPECT_EQ(meaning.parameters[0].value, 1e-4);
  ASSERT_EQ(meaning.starts.size(), 1u);
  EXPECT_EQ(meaning.starts[0].value, 2);
  EXPECT_EQ(read.codes().size(), 2u);
}

TEST(Meaning, PowersNameSolvers) {
  for (const auto& [power, solver] :
       {std::pair("0.33", "bs3"), {"0.333333", "bs3"}, {"0.2", "tsit5"}, {"0.125", "dop853"}}) {
    Read read(fmt::format("power = {};", power));
    EXPECT_EQ(read.meaning({}).integrator.solver, solver);
  }
}

TEST(Written, ReadsBackAsItself) {
  std::mt19937_64 random(1);
  std::vector<NamedNumber> numbers;
  for (int i = 0; i < 1000; ++i) {
    double value;
    const std::uint64_t bits = random();
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) numbers.push_back({fmt::format("x_{}", i), value});
  }
  Read read(write_init_file("states of slip\nat t = 0", numbers));
  EXPECT_TRUE(read.codes().empty());
  ASSERT_EQ(read.assignments.size(), numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(read.assignments[i].name, numbers[i].name);
    EXPECT_EQ(read.assignments[i].number, numbers[i].value);
  }
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(write_init_file("", {{"a", 0.1}, {"b", inf}}), "a = 0.1;\n# b = inf;\n");
}

TEST(Written, SymbolsStayTheOnlyOnes) {
  const ModelNames all{"m", {"p_1", "k", "power"}, {"p[1]", "p'[2]", "x"}};
  EXPECT_EQ(symbols_of(all.states, all), (Codes{"p[1]", "pdot_2", "x"}));
  EXPECT_EQ(symbols_of(all.parameters, all), (Codes{"p_1", "k", "power"}));
}

}  // namespace
}  // namespace simsect
