// Pictures of tables written by hand.
#include "runtime/picture/picture.h"

#include <gtest/gtest.h>

namespace picture {
namespace {

using Names = std::vector<std::vector<std::string>>;

const tactus_channel channels[] = {{"white_ball", "", 0, 2, 1, 0},
                                   {"p", "", 2, 2, 1, 0},
                                   {"p'", "", 4, 2, 1, TACTUS_CHANNEL_DERIVATIVE},
                                   {"E", "", 6, 1, 1, 0},
                                   {"m", "", 7, 1, 1, TACTUS_CHANNEL_CONSTANT},
                                   {"r", "", 8, 3, 1, 0},
                                   {"p + (0, 1)", "", 11, 2, 1, TACTUS_CHANNEL_SCENE}};
const char* const states[] = {"p[1]", "p[2]", "p'[1]", "p'[2]"};

tactus_model table() {
  tactus_model model = {};
  model.channels = channels;
  model.channel_count = 7;
  model.state_names = states;
  model.state_count = 4;
  return model;
}

TEST(Picture, IsTheSceneAsWritten) {
  const tactus_drawing_option options[] = {{"at", nullptr, 6}, {"color", "red", 0},   {"values", nullptr, 3},
                                           {"at", nullptr, 1}, {"value", nullptr, 3}, {"value", nullptr, 1}};
  const tactus_drawing drawings[] = {
      {"sphere", nullptr, 0, 2, 7}, {"text", "E = {0}", 2, 2, 8}, {"plot", nullptr, 4, 2, 9}};
  tactus_model model = table();
  model.drawings = drawings;
  model.drawing_options = options;
  model.drawing_count = 3;
  model.drawing_option_count = 6;
  model.dimensions = 2;
  const World world = describe(model);
  EXPECT_EQ(world.dimensions, 2);
  ASSERT_EQ(world.drawings.size(), 2u);
  EXPECT_EQ(world.drawings[0], (Drawing{"sphere", {{"at", Place{11, 2}}, {"color", "red"}}}));
  EXPECT_EQ(world.drawings[1], (Drawing{"text", {{"text", "E = {0}"}, {"values", Place{6, 1}}, {"at", Place{2, 2}}}}));
  EXPECT_EQ(world.plots, (Names{{"E", "p[1]", "p[2]"}}));
}

TEST(Picture, WithoutASceneIsWhatTheScreenIsGivenAndReads) {
  const tactus_channel inputs[] = {{"white_ball", "", 0, 2, 1, 0}};
  const tactus_port ports[] = {{"hand", 3, 0}, {"GUI", 1, 0}, {"GUI", 3, 0}, {"GUI", 0, 1}};
  tactus_model model = table();
  model.input_channels = inputs;
  model.input_channel_count = 1;
  model.ports = ports;
  model.port_count = 4;
  const World world = describe(model);
  EXPECT_EQ(world.dimensions, 2);
  ASSERT_EQ(world.drawings.size(), 4u);
  EXPECT_EQ(world.drawings[0], (Drawing{"trace", {{"point", Place{2, 2}}}}));
  EXPECT_EQ(world.drawings[1], (Drawing{"trace", {{"point", Place{0, 2}}, {"color", "white"}}}));
  EXPECT_EQ(world.drawings[2], (Drawing{"sphere", {{"at", Place{2, 2}}}}));
  EXPECT_EQ(world.drawings[3], (Drawing{"sphere", {{"at", Place{0, 2}}, {"color", "white"}}}));
  EXPECT_EQ(world.plots, (Names{{"E"}}));
}

TEST(Picture, WithoutASceneAndAScreenIsTheStatesThatArePoints) {
  const World world = describe(table());
  ASSERT_EQ(world.drawings.size(), 2u);
  EXPECT_EQ(world.drawings[1], (Drawing{"sphere", {{"at", Place{2, 2}}}}));
  EXPECT_TRUE(world.plots.empty());
}

TEST(Picture, OfNoPointsIsPlots) {
  const char* const scalar[] = {"E"};
  tactus_model model = table();
  model.state_names = scalar;
  model.state_count = 1;
  EXPECT_TRUE(describe(model).drawings.empty());
  EXPECT_EQ(describe(model).plots, (Names{{"E"}}));
}

TEST(Picture, IsInThreeDimensionsWhenAPointIs) {
  const tactus_port port = {"GUI", 5, 0};
  tactus_model model = table();
  model.ports = &port;
  model.port_count = 1;
  EXPECT_EQ(describe(model).dimensions, 3);
}

}  // namespace
}  // namespace picture
