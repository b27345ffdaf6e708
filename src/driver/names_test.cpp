// Names that people write: lists, components.
#include <gtest/gtest.h>

#include "driver/channels.h"
#include "driver/progress.h"

namespace driver {
namespace {

TEST(Names, AreSplitAtCommasOutsideBrackets) {
  EXPECT_EQ(split_names("a, p[1],p'"), (std::vector<std::string>{"a", "p[1]", "p'"}));
  EXPECT_EQ(split_names("R[1,2],,b"), (std::vector<std::string>{"R[1,2]", "b"}));
  EXPECT_TRUE(split_names(" , ").empty());
}

struct Table {
  tactus_channel channels[4] = {{"p", "m", 0, 2, 1, 0},
                                {"p'", "m/s", 2, 2, 1, TACTUS_CHANNEL_DERIVATIVE},
                                {"R", "", 4, 2, 2, 0},
                                {"g", "", 8, 1, 1, TACTUS_CHANNEL_CONSTANT}};
  tactus_model model = {};
  Table() {
    model.channels = channels;
    model.channel_count = 4;
  }
};

std::vector<std::string> labels(std::span<const Shown> shown) {
  std::vector<std::string> result;
  for (const Column& column : columns_of(shown)) result.push_back(column.label);
  return result;
}

TEST(Channels, ByDefaultAllThatMoves) {
  Table table;
  EXPECT_EQ(labels(default_channels(table.model)),
            (std::vector<std::string>{"p[1]", "p[2]", "R[1][1]", "R[1][2]", "R[2][1]", "R[2][2]"}));
}

TEST(Channels, ByDefaultNotTheInsidesOfInstances) {
  tactus_channel channels[] = {{"motor.i", "A", 0, 1, 1, 0},
                               {"motor.a", "", 1, 1, 1, TACTUS_CHANNEL_WRITTEN},
                               {"hand.position", "m", 2, 1, 1, 0},
                               {"x", "", 3, 1, 1, 0}};
  tactus_port port = {"hand", 0, 1};
  tactus_model model = {};
  model.channels = channels;
  model.channel_count = 4;
  model.ports = &port;
  model.port_count = 1;
  EXPECT_EQ(labels(default_channels(model)), (std::vector<std::string>{"motor.a", "hand.position", "x"}));
  model.channel_count = 1;
  EXPECT_EQ(labels(default_channels(model)), (std::vector<std::string>{"motor.i"}));
}

TEST(Channels, AreFoundWholeOrByComponent) {
  Table table;
  std::string failure, hint;
  auto shown = find_channels(table.model, std::vector<std::string>{"p'[2],g", "R[2][1]"}, failure, hint);
  ASSERT_TRUE(shown);
  auto columns = columns_of(*shown);
  ASSERT_EQ(columns.size(), 3u);
  EXPECT_EQ(columns[0].at, 3u);
  EXPECT_EQ(columns[0].unit, "m/s");
  EXPECT_EQ(columns[1].at, 8u);
  EXPECT_EQ(columns[2].at, 6u);
}

TEST(Channels, AMistakeNamesWhatThereIs) {
  Table table;
  std::string failure, hint;
  EXPECT_FALSE(find_channels(table.model, std::vector<std::string>{"p[3]"}, failure, hint));
  EXPECT_EQ(hint, "its components are `p[1]` to `p[2]`");
  EXPECT_FALSE(find_channels(table.model, std::vector<std::string>{"p''"}, failure, hint));
  EXPECT_EQ(hint, "did you mean `p'`?");
}

TEST(Progress, SaysDurationsAsPeopleDo) {
  EXPECT_EQ(duration_text(0.2), "1 s");
  EXPECT_EQ(duration_text(200), "3 min 20 s");
  EXPECT_EQ(duration_text(18600), "5 h 10 min");
}

}  // namespace
}  // namespace driver
