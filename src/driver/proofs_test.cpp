// The table of verdicts, and its JSON.
#include "driver/proofs.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace driver {
namespace {

using proof::Answer;
using proof::Method;

struct World {
  diag::SourceMap sources;
  compiler::Guards proofs;

  World() { sources.add("ball.tact", "transition Bounce when gap <= 0\ntransition Land when gap < 1\n"); }
  void add(Answer answer, Method by, std::vector<proof::Coordinate> witness = {}, std::string why = {}) {
    proofs.pairs.push_back(
        {"Bounce", "Land", {0, 23, 31}, {0, 53, 60}, {answer, by, std::move(witness), std::move(why)}});
  }
};

TEST(Proofs, WithoutPairsNothingIsSaid) {
  World world;
  EXPECT_EQ(proofs_text(world.proofs, world.sources), "");
  EXPECT_FALSE(has_overlap(world.proofs));
  EXPECT_EQ(json_of(world.proofs, world.sources).dump(), "[]");
}

TEST(Proofs, AsATable) {
  World world;
  world.add(Answer::overlap, Method::polynomial,
            {{{}, "ball", 1, "Rolling"}, {{}, "gap", -0.5, {}}, {{}, "gap'", 2, {}}});
  world.add(Answer::unknown, Method::intervals, {}, "20000 boxes were not enough");
  world.proofs.pairs.back().second = "Pass";
  EXPECT_TRUE(has_overlap(world.proofs));
  world.add(Answer::exclusive, Method::structure);
  world.proofs.pairs.back().second = "RollOff";
  world.add(Answer::exclusive, Method::structure);
  world.proofs.pairs.back().have_common_mode = false;
  world.proofs.notes.push_back("`z3` is not in PATH: guards are judged by intervals alone");
  EXPECT_EQ(proofs_text(world.proofs, world.sources),
            "4 pairs of transitions could disagree: 2 exclusive (1 without a common mode), 1 overlapping, 1 unknown\n"
            "  Bounce, RollOff  exclusive  by structure\n"
            "  Bounce, Pass     unknown    by intervals: 20000 boxes were not enough\n"
            "  Bounce, Land     overlap    by polynomial (Z3): ball = Rolling, gap = -0.5, gap' = 2\n"
            "    ball.tact:1:24  Bounce\n"
            "    ball.tact:2:22  Land\n"
            "  note: `z3` is not in PATH: guards are judged by intervals alone\n"
            "  hint: where both guards hold, the run stops: add to one of them what tells it from the other\n");
}

TEST(Proofs, OfManyPairsOnlyThoseToLookAt) {
  World world;
  for (int i = 0; i < 100; ++i) world.add(Answer::exclusive, Method::structure);
  world.add(Answer::unknown, Method::intervals, {}, "too close to tell at gap = 0");
  EXPECT_FALSE(has_overlap(world.proofs));
  EXPECT_EQ(proofs_text(world.proofs, world.sources),
            "101 pairs of transitions could disagree: 100 exclusive, 0 overlapping, 1 unknown\n"
            "  Bounce, Land  unknown    by intervals: too close to tell at gap = 0\n");
}

TEST(Proofs, AsJson) {
  World world;
  world.add(Answer::overlap, Method::intervals, {{{}, "ball", 1, "Rolling"}, {{}, "gap", -0.5, {}}});
  world.add(Answer::unknown, Method::intervals, {}, "because");
  world.add(Answer::exclusive, Method::structure);
  const auto list = json_of(world.proofs, world.sources);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].dump(), R"({"first":{"name":"Bounce","file":"ball.tact","line":1,"column":24},)"
                            R"("second":{"name":"Land","file":"ball.tact","line":2,"column":22},)"
                            R"("verdict":"overlap","by":"intervals","witness":{"ball":"Rolling","gap":-0.5}})");
  EXPECT_EQ(list[1]["why"], "because");
  EXPECT_EQ(list[2]["verdict"], "exclusive");
  EXPECT_FALSE(list[2].contains("why") || list[2].contains("witness"));
}

TEST(Plans, AsATable) {
  std::vector<compiler::Interference> plans(3);
  plans[0].plan = "Throw";
  plans[0].causes.push_back({"Gust", {0, 11, 17}, {"wind"}, {1, 2}, false});
  plans[0].causes.push_back({"Land", {0, 44, 48}, {"ball", "p'"}, {2}, true});
  plans[1].plan = "Fire";
  plans[1].harmless = {"Switch"};
  plans[2].plan = "Dock";
  EXPECT_EQ(plans_text({}), "");
  EXPECT_EQ(
      plans_text(plans),
      "plan Throw: 2 transitions could interfere\n"
      "  Gust  in phase 1, 2 changes wind; the search does not foresee it\n"
      "  Land  in phase 2 changes ball, p'\n"
      "plan Fire: nothing can interfere; 1 transition can be taken during it, and changes nothing that it depends on\n"
      "plan Dock: nothing can interfere\n");
  World world;
  const auto list = json_of(plans, world.sources);
  EXPECT_EQ(
      list[0]["interfering"][1].dump(),
      R"({"name":"Land","file":"ball.tact","line":2,"column":13,"changes":["ball","p'"],"phases":[2],"foreseen":true})");
  EXPECT_EQ(list[1]["harmless"].dump(), R"(["Switch"])");
}

}  // namespace
}  // namespace driver
