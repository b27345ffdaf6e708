// Guards of whole programs: which pairs are asked about, and what is known of them. The design's programs among them.
#include "compiler/guards.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "compiler/compile.h"
#include "compiler/source/source.h"

namespace {

using proof::Answer;
using proof::Method;

class Judged {
 public:
  explicit Judged(const std::string& text, const std::string& solver = "z3") {
    diag::SourceMap sources;
    diag::Sink diags;
    compiler::Options options;
    guards_.limits.seconds = 60;  // on a busy machine Z3 may be slow
    guards_.limits.solver = solver;
    guards_.seconds = 600;
    options.guards = &guards_;
    const auto file = source::add("model.tact", text, sources, diags);
    EXPECT_TRUE(compiler::compile({*file}, sources, options, diags)) << diag::render_text(diags, sources, false);
    for (const compiler::GuardPair& pair : guards_.pairs) {
      // A phase is named after its sequence, whose name stands there.
      EXPECT_EQ(sources.text(pair.first_span), pair.first.substr(0, pair.first.find('.')));
      by_names_[pair.first + " " + pair.second] = pair.verdict;
    }
  }

  // "exclusive", or "-" when nobody asks.
  std::string operator()(const std::string& first, const std::string& second) const {
    const auto found = by_names_.find(first + " " + second);
    return found == by_names_.end() ? "-" : proof::name(found->second.answer);
  }
  const proof::Verdict& of(const std::string& first, const std::string& second) const {
    return by_names_.at(first + " " + second);
  }
  std::size_t size() const { return guards_.pairs.size(); }
  std::size_t count(Answer answer) const {
    std::size_t count = 0;
    for (const auto& pair : guards_.pairs) count += pair.verdict.answer == answer;
    return count;
  }
  const std::vector<std::string>& notes() const { return guards_.notes; }

 private:
  compiler::Guards guards_;
  std::map<std::string, proof::Verdict> by_names_;
};

std::string design(const std::string& name) {
  std::ifstream file(std::string(TACTUS_SOURCE_DIR) + "/src/compiler/parse/testdata/programs/" + name);
  // What this version does not build.
  std::string text, line;
  while (std::getline(file, line))
    if (line.find("energy H") == std::string::npos && line.find("losing:") == std::string::npos) text += line + "\n";
  return text;
}

TEST(Guards, OfTheBallOnSteps) {
  const Judged judged(design("ball_on_steps.tact"));
  // Bounce sets p' and w, Land goes to Rolling: only those that meet are asked about.
  EXPECT_EQ(judged("Bounce", "Land"), "-");
  EXPECT_EQ(judged("Land", "RollOff"), "exclusive");
  EXPECT_EQ(judged.of("Land", "RollOff").by, Method::structure);  // other modes
  EXPECT_EQ(judged("RollOff", "Pass"), "exclusive");
  EXPECT_EQ(judged.size(), 2u);
}

TEST(Guards, OfSlip) {
  const Judged judged(design("slip.tact"));
  EXPECT_GT(judged.size(), 0u);
  EXPECT_EQ(judged.count(Answer::exclusive), judged.size());
}

constexpr const char* bouncer = R"(
parameter E_min = 0.02 in 0..0.2, g = 9.81;
automaton ball in Bouncing, Rolling;
boundary y with y(0) = 1, y'(0) = 0;
system
  gap = y - 0.1;
  impact = y'^2 / 2;
  in ball.Bouncing { y'' = -g; }
  in ball.Rolling  { y' = 0; }
  transition Bounce in ball.Bouncing when gap <= 0 && gap' < 0 && impact @ E_min { next(y') = -0.5 * y';  goto ball.Bouncing; }
  transition Land   in ball.Bouncing when gap <= 0 && gap' < 0 && impact <= E_min { goto ball.Rolling; }
)";

std::string bounce_with(const std::string& relation) {
  std::string text = bouncer;
  text.replace(text.find('@'), 1, relation);
  return text;
}

TEST(Guards, ThatShareANumber) {
  const Judged apart(bounce_with(">"));
  EXPECT_EQ(apart("Bounce", "Land"), "exclusive");
  const Judged together(bounce_with(">="));
  ASSERT_EQ(together("Bounce", "Land"), "overlap");
  std::map<std::string, double> at;
  for (const proof::Coordinate& each : together.of("Bounce", "Land").witness) at[each.name] = each.value;
  EXPECT_LE(at["y"], 0.1);
  EXPECT_LT(at["y'"], 0);
  EXPECT_EQ(at["y'"] * at["y'"] / 2, at["E_min"]);
  EXPECT_FALSE(at.contains("g")) << "a parameter that nobody reads";
  EXPECT_TRUE(together.notes().empty());
}

TEST(Guards, WithoutZ3) {
  const Judged together(bounce_with(">="), "/nowhere/z3");
  EXPECT_EQ(together.notes().size(), 1u);
}

TEST(Guards, NamesThatEquationsGiveArePutIn) {
  const Judged judged(R"(
    boundary x(0) = 1;  n(0) = 0;
    system
      x' = -x;  n' = 0;
      square = x^2;  shifted = square + k;  k = 2;
      transition Up   when shifted < 1 { next(n) = 1; }
      transition Down when x > 5       { next(n) = 2; }
      transition Side when square < 30 { next(n) = 3; }
  )");
  EXPECT_EQ(judged("Up", "Down"), "exclusive");  // shifted is at least 2
  EXPECT_EQ(judged("Up", "Side"), "exclusive");
  EXPECT_EQ(judged("Down", "Side"), "overlap");
}

TEST(Guards, ConstraintsTie) {
  const Judged judged(R"(
    boundary x(0) = 1;  y(0) = 0;  y'(0) = 0;  n(0) = 0;
    system
      x'' = f * x;  y'' = f * y - 9.81;  x^2 + y^2 = 1;  n' = 0;
      transition Corner when x > 0.8  { next(n) = 1; }
      transition Other  when y > 0.8  { next(n) = 2; }
      transition Third  when y > 0.55 { next(n) = 3; }
  )");
  EXPECT_EQ(judged("Corner", "Other"), "exclusive");
  EXPECT_EQ(judged("Corner", "Third"), "overlap");
}

TEST(Guards, ParametersWithoutARangeAreWhatTheyAre) {
  const auto judge = [](const std::string& range) {
    return Judged("parameter low = 1, high = 2" + range + R"(;
      boundary x(0) = 0;  n(0) = 0;
      system
        x' = 1;  n' = 0;
        transition Below when x < low  { next(n) = 1; }
        transition Above when x > high { next(n) = 2; }
    )")("Below", "Above");
  };
  EXPECT_EQ(judge(""), "exclusive");
  EXPECT_EQ(judge(" in 1.5..3"), "exclusive");
  EXPECT_EQ(judge(" in 0..3"), "overlap");
}

TEST(Guards, EventsHappenTogetherOrNot) {
  const auto judge = [](const std::string& first, const std::string& second) {
    return Judged("event a " + first + "; event b " + second + R"(;
      boundary x(0) = 0;  n(0) = 0;
      system
        x' = 1;  n' = 0;
        transition A when a && x > 0 { next(n) = 1; }
        transition B when b && x > 1 { next(n) = 2; }
    )")("A", "B");
  };
  EXPECT_EQ(judge("at 1, 3", "at 2, 4"), "exclusive");
  EXPECT_EQ(judge("at 1, 3", "at 3"), "overlap");
  EXPECT_EQ(judge("every 0.1", "every 0.25"), "overlap");
  EXPECT_EQ(judge("every 0.2", "every 0.2 from 0.1"), "exclusive");
  EXPECT_EQ(judge("every 0.2", "every 0.3 from 0.05"), "exclusive");
  EXPECT_EQ(judge("every 0.2", "every 0.3 from 0.1"), "overlap");
  EXPECT_EQ(judge("every 0.2", "at 0.1"), "overlap");  // not looked into
  EXPECT_EQ(judge("when x > 3", "when x > 4"), "overlap");
}

TEST(Guards, OfAChainOfPhases) {
  const Judged judged(R"(
    automaton arm in Rest, Turn, Hold;
    boundary angle with angle(0) = 0;
    system
      in arm.Turn { angle' = 1; }
      in !arm.Turn { angle' = 0; }
      event go at 1;
      sequence Wave in arm.Rest when go { goto arm.Turn; }
        until angle >= at(start, angle) + 0.5 { goto arm.Hold; }
        until since(phase1) >= 1.5            { goto arm.Rest; }
  )");
  EXPECT_EQ(judged.size(), 3u);
  EXPECT_EQ(judged.count(Answer::exclusive), 3u);
}

TEST(Guards, WithoutTransitionsNobodyIsAsked) { EXPECT_EQ(Judged("boundary x(0) = 1; system x' = -x;").size(), 0u); }

}  // namespace
