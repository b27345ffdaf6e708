// A scene through the whole compiler: what its channels hold, and that it changes nothing.
#include <gtest/gtest.h>

#include <cmath>

#include "api/load.h"
#include "compiler/emit_llvm/jit.h"
#include "kernel/kernel.h"
#include "runtime/picture/picture.h"
#include "runtime/sim/instance.h"

namespace {

// A ball that bounces on a floor made stiff: its relation is located.
constexpr const char* motion = R"(
simulation step_size = 0.01
external hand reads finger writes force = -F every 0.002
parameter k = 900;
boundary y(0) = 1;  v(0) = 0.25;
system
  y' = v;
  F = if y < 0 then -k * y else finger;
  v' = F - 10;
  p = (t, y);
  w = y^2;
  three = 3;
)";
constexpr const char* scene = R"(
scene
  sphere at p radius three color "red";
  trace p;
  sphere at (t, if y < 0.5 then w' else 7) radius abs(v);
  text "n = {y + 1}, {{{hand.force}" at (0, k);
  box at (y, 1) size 2;
  plot y, p, y^2 + 1;
)";

class Running {
 public:
  explicit Running(const std::string& text, bool draws = true)
      : compiled_(compile(text, draws)),
        jit_(*compiled_.program, {.optimise = false}),
        model_(*jit_.quick()),
        instance_(model_) {
    EXPECT_EQ(tk_reset(&model_, instance_.get()), TACTUS_OK);
    EXPECT_EQ(tk_start(&model_, instance_.get()), TACTUS_OK);
    EXPECT_EQ(tk_begin_events(&model_, instance_.get()), TACTUS_OK);
  }

  void steps(int count) {
    EXPECT_EQ(tk_event_steps(&model_, instance_.get(), TACTUS_RK4, 0.01, count), TACTUS_OK);
    EXPECT_EQ(model_.outputs(&model_, instance_.get(), instance_->time, instance_.states().data()), TACTUS_OK);
  }

  std::vector<double> at(const picture::Place& place) {
    const double* from = instance_.section(model_.layout.outputs) + place.at;
    return {from, from + place.count};
  }
  // Option `name` of drawing `index`.
  std::vector<double> option(const picture::World& world, std::size_t index, std::string_view name) {
    for (const picture::Option& option : world.drawings.at(index).options) {
      if (option.name == name) return at(std::get<picture::Place>(option.value));
    }
    ADD_FAILURE() << name;
    return {};
  }
  const tactus_model& model() const { return model_; }
  sim::Instance& instance() { return instance_; }

 private:
  static api::Compiled compile(const std::string& text, bool draws) {
    compiler::Options options;
    options.draws = draws;
    return api::compile_text("a.tact", text, options);
  }

  api::Compiled compiled_;
  emit_llvm::CompiledModel jit_;
  const tactus_model& model_;
  sim::Instance instance_;
};

using Numbers = std::vector<double>;

TEST(Scene, ShowsValuesOfTheModel) {
  Running running(std::string(motion) + scene);
  const picture::World world = picture::describe(running.model());
  EXPECT_EQ(world.dimensions, 2);
  ASSERT_EQ(world.drawings.size(), 5u);
  EXPECT_EQ(running.model().hand_period, 0.002);
  bool was_low = false;
  for (int k = 0; k < 12; ++k) {
    running.steps(10);
    const double t = running.instance()->time;
    const double y = running.instance().states()[0];
    const double v = running.instance().states()[1];
    was_low = was_low || y < 0;
    EXPECT_EQ(running.option(world, 0, "at"), (Numbers{t, y}));
    EXPECT_EQ(running.option(world, 0, "radius"), Numbers{3});
    EXPECT_EQ(running.option(world, 1, "point"), (Numbers{t, y}));
    // Evaluated, not held: it changes where y passes 0.5, on whichever step.
    EXPECT_EQ(running.option(world, 2, "at")[0], t);
    EXPECT_NEAR(running.option(world, 2, "at")[1], y < 0.5 ? 2 * y * v : 7, 1e-12);
    EXPECT_EQ(running.option(world, 2, "radius"), Numbers{std::fabs(v)});
    EXPECT_EQ(running.option(world, 3, "values")[0], y + 1);
    EXPECT_NEAR(running.option(world, 3, "values")[1], y < 0 ? 900 * y : 0, 1e-9);
    EXPECT_EQ(running.option(world, 3, "at"), (Numbers{0, 900}));
    EXPECT_EQ(running.option(world, 4, "at"), (Numbers{y, 1}));
    EXPECT_EQ(running.option(world, 4, "size"), Numbers{2});
  }
  EXPECT_TRUE(was_low);
  EXPECT_EQ(std::get<std::string>(world.drawings[3].options[0].value), "n = {0}, {{{1}");
  EXPECT_EQ(world.plots, (std::vector<std::vector<std::string>>{{"y", "p[1]", "p[2]", "y^2 + 1"}}));
}

TEST(Scene, ChangesNoBitOfTheMotion) {
  Running with(std::string(motion) + scene);
  Running without{std::string(motion)};
  Running undrawn(std::string(motion) + scene, false);
  EXPECT_EQ(undrawn.model().drawing_count, 0u);
  EXPECT_EQ(with.model().relation_count, without.model().relation_count);
  EXPECT_EQ(with.model().state_count, without.model().state_count);
  for (Running* running : {&with, &without, &undrawn}) running->steps(150);
  EXPECT_EQ(with.instance()->crossings, without.instance()->crossings);
  EXPECT_GT(with.instance()->crossings, 0);
  for (std::size_t i = 0; i < with.model().state_count; ++i) {
    EXPECT_EQ(with.instance().states()[i], without.instance().states()[i]);
    EXPECT_EQ(with.instance().states()[i], undrawn.instance().states()[i]);
  }
}

TEST(Scene, MakesNoChannelOfWhatIsOne) {
  Running running(std::string(motion) + "scene trace p; sphere at p radius three; sphere at p radius three;");
  const tactus_model& model = running.model();
  for (std::uint32_t i = 0; i < model.channel_count; ++i) EXPECT_FALSE(model.channels[i].flags & TACTUS_CHANNEL_SCENE);
  Running other(std::string(motion) + "scene trace p + (1, 2); sphere at p + (1, 2) radius k; plot k;");
  std::uint32_t own = 0;
  for (std::uint32_t i = 0; i < other.model().channel_count; ++i)
    own += (other.model().channels[i].flags & TACTUS_CHANNEL_SCENE) != 0 ? 1 : 0;
  EXPECT_EQ(own, 2u);
}

TEST(Scene, SamplesAGroundThatIsAFunction) {
  Running running(std::string(motion) +
                  "function hill(x) = x^3 / 10 + y;\n"
                  "scene sphere at p; ground height hill from -1 to 3; ground height hill; camera follow p scale 4;");
  const picture::World world = picture::describe(running.model());
  EXPECT_EQ(world.dimensions, 2);
  for (int k = 0; k < 3; ++k) {
    running.steps(7);
    const double y = running.instance().states()[0];
    const double t = running.instance()->time;
    const Numbers heights = running.option(world, 1, "heights");
    ASSERT_EQ(heights.size(), 129u);
    EXPECT_EQ(running.option(world, 1, "low"), Numbers{-1});
    EXPECT_EQ(running.option(world, 1, "high"), Numbers{3});
    for (int i = 0; i <= 128; ++i) {
      const double x = -1 + i / 32.0;
      EXPECT_NEAR(heights[static_cast<std::size_t>(i)], x * x * x / 10 + y, 1e-14);
    }
    // Around the camera, 1.6 times what it sees to either side, in multiples of the distance of two places.
    const double low = running.option(world, 2, "low")[0], high = running.option(world, 2, "high")[0];
    EXPECT_NEAR(high - low, 2 * 1.6 * 4, 1e-12);
    EXPECT_LE(std::fabs((low + high) / 2 - t), 0.1 + 1e-12);
    EXPECT_NEAR(low / 0.1, std::round(low / 0.1), 1e-9);
    EXPECT_NEAR(running.option(world, 2, "heights")[128], high * high * high / 10 + y, 1e-11);
  }
}

TEST(Scene, AGroundOverXAndYIsInSpace) {
  Running running(std::string(motion) +
                  "function hill(x, y) = 2 * x + y^2;\nscene sphere at p; ground height hill from (0, -1) to (12, 5);"
                  "ground height hill;");
  const picture::World world = picture::describe(running.model());
  EXPECT_EQ(world.dimensions, 3);
  running.steps(1);  // nothing is drawn before
  EXPECT_EQ(running.option(world, 1, "low"), (Numbers{0, -1}));
  EXPECT_EQ(running.option(world, 1, "high"), (Numbers{12, 5}));
  const Numbers heights = running.option(world, 1, "heights");
  ASSERT_EQ(heights.size(), 625u);
  for (int i = 0; i < 25; ++i) {
    for (int j = 0; j < 25; ++j) {
      const double x = i * 0.5, y = -1 + j * 0.25;
      EXPECT_EQ(heights[static_cast<std::size_t>(25 * i + j)], 2 * x + y * y);
    }
  }
  EXPECT_EQ(running.option(world, 2, "low"), (Numbers{-10, -10}));
  EXPECT_EQ(running.option(world, 2, "high"), (Numbers{10, 10}));
}

TEST(Scene, IsInThreeDimensionsWhenAPointIs) {
  Running running(std::string(motion) + "scene trace p; sphere at (y, y, y);");
  EXPECT_EQ(picture::describe(running.model()).dimensions, 3);
}

}  // namespace
