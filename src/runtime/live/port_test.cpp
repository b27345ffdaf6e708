// What a hand gets, by the clock: ticks that are late, come in bursts or never, commands, faults, hands that leave or
// fall silent. The clock is the test's own, so nothing here depends on the machine.
#include "runtime/live/port.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>
#include <string>

#include "runtime/live/loop.h"
#include "runtime/live/models_for_tests.h"

namespace live {
namespace {

constexpr std::int64_t ms = 1'000'000;

double length(const Force& force) { return std::hypot(force[0], force[1], force[2]); }
double distance(const Force& a, const Force& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

// Samples of a port, each held against what docs/real-time.md promises.
class Judge {
 public:
  explicit Judge(const Port& port) : port_(port) {}

  void look() {
    const Sample sample = port_.newest();
    if (sample.count == last_.count) return;
    ++samples;
    const double dt = 1e-9 * static_cast<double>(sample.at - last_.at);
    const double change = distance(sample.force, last_.force);
    const double now = length(sample.force), before = length(last_.force);
    largest = std::max(largest, now);
    if (!(now <= 8)) blame("a force beyond 8 N", sample);
    if (!(change <= 2000 * dt * (1 + 1e-9) + 1e-12)) blame("a change beyond 2000 N/s", sample);
    // More than 2 N at once only straight down.
    const bool is_fall =
        distance(sample.force, scaled(last_.force, before > 0 ? now / before : 0)) <= 1e-9 * before && now <= before;
    if (!(change <= 2 * (1 + 1e-9)) && !is_fall) blame("a jump beyond 2 N", sample);
    last_ = sample;
  }
  // Zero must have been reached.
  void expect_zero(const char* why) {
    if (length(port_.newest().force) != 0) blame(why, port_.newest());
  }
  const std::string& complaint() const { return complaint_; }

  std::int64_t samples = 0;
  double largest = 0;

 private:
  static Force scaled(const Force& force, double by) { return {force[0] * by, force[1] * by, force[2] * by}; }
  void blame(const char* what, const Sample& sample) {
    if (!complaint_.empty()) return;
    complaint_ = std::string(what) + " at " + std::to_string(sample.at) + " ns: from " +
                 std::to_string(length(last_.force)) + " N at " + std::to_string(last_.at) + " to " +
                 std::to_string(length(sample.force));
  }

  const Port& port_;
  Sample last_;
  std::string complaint_;
};

// Time that moves when somebody sleeps or works. Whatever is due on the way happens then: the guard, and what a test
// asks for.
class Simulated : public Clock {
 public:
  std::int64_t now() override {
    if (look) look();
    return time_;
  }
  void sleep_until(std::int64_t time) override { pass(time); }

  // The guard comes every millisecond, and as late as `guard_late` says.
  void pass(std::int64_t until) {
    while (guard && next_guard_ <= until) {
      time_ = std::max(time_, next_guard_);
      guard(time_);
      if (look) look();
      // A guard that is late is late once; it sleeps a period from its deadline, or from now.
      next_guard_ = std::max(next_guard_ + guard_period, time_) + (guard_late ? guard_late() : 0);
    }
    time_ = std::max(time_, until);
  }
  void work(std::int64_t ns) { pass(time_ + ns); }

  std::function<void(std::int64_t)> guard;
  std::function<std::int64_t()> guard_late;
  std::function<void()> look;

 private:
  std::int64_t time_ = 1'000'000'000;
  std::int64_t next_guard_ = 1'000'000'000;
};

// A world whose force and whose work the test chooses. There is one at a time: a table's functions have no context.
struct Chosen : sim::HandFilled {
  static inline Simulated* clock = nullptr;
  static inline std::function<std::int64_t()> work;  // ns that a tick takes
  static inline std::function<double(int)> force;
  static inline int status = TACTUS_OK;
  std::vector<tactus_port> ports;

  Chosen() {
    state_names = {"x"};
    channels = {{"x", "", 0, 1, 1, 0}, {"hand.force", "N", 1, 3, 1, 0}};
    input_channels = {{"u", "m", 0, 3, 1, 0}};
    ports = {{"hand", 0, 1}, {"hand", 1, 0}};
    table.ports = ports.data();
    table.port_count = 2;
    table.initialize = [](const tactus_model*, tactus_instance*) { return int{TACTUS_OK}; };
    table.derivative = [](const tactus_model*, tactus_instance*, double, const double*, double* dx) {
      dx[0] = 0;
      return int{TACTUS_OK};
    };
    table.outputs = [](const tactus_model* model, tactus_instance* instance, double, const double*) {
      for (int i = 0; i < 3; ++i) tactus_data(instance)[model->layout.outputs + 1 + i] = force ? force(i) : 0;
      return int{TACTUS_OK};
    };
    finish();
    table.output_count = 4;
    table.input_count = 3;
    table.fixed_steps = [](const tactus_model*, tactus_instance* instance, int, double h, std::int64_t count) {
      if (work && clock) clock->work(work());
      instance->time += h * static_cast<double>(count);
      return std::exchange(status, int{TACTUS_OK});
    };
  }
};

struct Stage {
  explicit Stage(double period = 1e-3) : period_(period) {
    Chosen::clock = &clock;
    Chosen::work = nullptr;
    Chosen::force = nullptr;
    Chosen::status = TACTUS_OK;
    loop.emplace(world(1), LoopOptions{.clock = &clock, .has_threads = false}, false);
    judge.emplace(loop->port());
    clock.guard = [this](std::int64_t now) { loop->port().watch(now); };
    clock.look = [this] { judge->look(); };
  }
  ~Stage() {
    clock.guard = nullptr;
    clock.look = nullptr;
    Chosen::clock = nullptr;
  }
  std::unique_ptr<Running> world(std::uint32_t generation) {
    auto running = std::make_unique<Running>();
    running->world = std::make_unique<World>(model.table, choose_timing(model.table, period_));
    EXPECT_FALSE(running->world->start({}));
    running->table = &model.table;
    running->generation = generation;
    return running;
  }
  void touch() {
    Pointer pointer;
    pointer.is_present = true;
    loop->hand(pointer);
  }
  // Rounds of the loop for so long, the hand being there.
  void play(std::int64_t ns, bool is_touched = true) {
    const std::int64_t end = clock.now() + ns;
    while (clock.now() < end) {
      if (is_touched) touch();
      loop->turn();
    }
  }
  double force() { return loop->port().newest().force[0]; }
  void push(double newtons) {
    Chosen::force = [newtons](int i) { return i == 0 ? newtons : 0.0; };
  }

  double period_;
  Chosen model;
  Simulated clock;
  std::optional<Loop> loop;
  std::optional<Judge> judge;
};

TEST(Port, AForceRisesAsFastAsTheClockAllows) {
  Stage stage;
  stage.push(100);
  stage.play(3 * ms);
  EXPECT_LE(stage.force(), 6 + 1e-9);
  stage.play(10 * ms);
  EXPECT_NEAR(stage.force(), 8, 1e-9);
  EXPECT_EQ(stage.judge->complaint(), "");
}

TEST(Port, AHandThatLeftGetsNothingWithin20MillisecondsWhateverTheLoopDoes) {
  for (const double speed : {0.05, 1.0, 100.0}) {
    Stage stage;
    stage.push(100);
    ASSERT_TRUE(stage.loop->set_speed(speed));
    stage.play(100 * ms);
    ASSERT_GT(stage.force(), 7.9) << speed;
    // Every tick takes seven seconds from here on.
    Chosen::work = [&] {
      stage.loop->hand({});
      stage.clock.work(20 * ms);
      stage.judge->expect_zero("20 ms after the hand left");
      return 7 * second;
    };
    stage.play(30 * ms, false);
    EXPECT_EQ(stage.force(), 0);
    EXPECT_EQ(stage.judge->complaint(), "");
  }
}

TEST(Port, ASilentHandIsLost) {
  Stage stage;
  stage.push(5);
  stage.play(50 * ms);
  stage.play(240 * ms, false);
  EXPECT_EQ(stage.force(), 5);
  stage.play(30 * ms, false);
  EXPECT_EQ(stage.force(), 0);
  EXPECT_EQ(stage.judge->complaint(), "");
}

TEST(Port, SlowTicksDoNotLetTheForceJump) {
  for (const double period : {0.02, 0.049}) {
    Stage stage(period);
    stage.push(8);
    stage.play(200 * ms);
    EXPECT_NEAR(stage.force(), 8, 1e-9);
    stage.push(-8);
    stage.play(200 * ms);
    EXPECT_NEAR(stage.force(), -8, 1e-9);
    EXPECT_EQ(stage.judge->complaint(), "");
  }
}

TEST(Port, TicksTooFarApartGiveNoForce) {
  Stage stage(0.1);
  stage.push(8);
  EXPECT_TRUE(stage.loop->is_too_slow());
  stage.play(1000 * ms);
  EXPECT_EQ(stage.judge->largest, 0);
  ASSERT_TRUE(stage.loop->set_speed(2.5));
  stage.play(1000 * ms);
  EXPECT_FALSE(stage.loop->is_too_slow());
  EXPECT_NEAR(stage.force(), 8, 1e-9);
  EXPECT_EQ(stage.judge->complaint(), "");
}

// A late tick is made up for by a burst of them, of which each would push another way.
TEST(Port, ABurstOfTicksTurnsTheForceNoFasterThanOneTick) {
  Stage stage;
  stage.push(-8);
  stage.play(50 * ms);
  ASSERT_NEAR(stage.force(), -8, 1e-9);
  bool is_late = true;
  Chosen::work = [&] { return std::exchange(is_late, false) ? 45 * ms : 100; };
  stage.push(8);
  stage.play(60 * ms);
  EXPECT_EQ(stage.judge->complaint(), "");
}

TEST(Port, AStallEndsTheForceWithin70MillisecondsAndIsCounted) {
  Stage stage;
  stage.push(8);
  stage.play(50 * ms);
  bool is_late = true;
  Chosen::work = [&]() -> std::int64_t {
    if (!std::exchange(is_late, false)) return 0;
    const std::int64_t from = stage.clock.now();
    for (std::int64_t passed = 0; passed < 500 * ms; passed += 10 * ms) {
      stage.touch();
      stage.clock.work(10 * ms);
      if (stage.clock.now() - from >= 70 * ms) stage.judge->expect_zero("70 ms after the last tick");
    }
    // Commands that arrive in the meantime hide nothing of it.
    EXPECT_TRUE(stage.loop->set_speed(2));
    EXPECT_TRUE(stage.loop->resume());
    return 0;
  };
  stage.play(3 * ms);
  stage.play(3 * ms);  // now the commands are obeyed
  EXPECT_EQ(stage.loop->port().stalls(), 1);
  EXPECT_GE(stage.loop->statistics().slipped, 400 * ms);
  stage.play(50 * ms);
  EXPECT_NEAR(stage.force(), 8, 1e-9);
  EXPECT_EQ(stage.judge->complaint(), "");
}

TEST(Port, ResetAndReplaceGoOnFromTheForceThatIs) {
  for (const bool goes_on : {false, true}) {
    Stage stage;
    stage.push(8);
    stage.play(50 * ms);
    auto next = stage.world(2);
    if (goes_on) next->world->plan_to_take_over(*stage.loop->current().world);
    ASSERT_TRUE(stage.loop->replace(next, goes_on));
    stage.push(2);
    stage.touch();
    stage.loop->turn();
    EXPECT_GE(stage.force(), 6 - 1e-9);
    stage.play(20 * ms);
    EXPECT_NEAR(stage.force(), 2, 1e-9);
    EXPECT_EQ(stage.judge->complaint(), "");
  }
}

TEST(Port, AFaultEndsTheForceUntilAnotherWorldComes) {
  Stage stage;
  stage.push(8);
  stage.play(50 * ms);
  stage.push(NAN);
  stage.play(21 * ms);
  EXPECT_EQ(stage.force(), 0);
  stage.push(8);
  stage.play(50 * ms);
  EXPECT_EQ(stage.force(), 0);
  auto next = stage.world(2);
  ASSERT_TRUE(stage.loop->replace(next, false));
  stage.play(50 * ms);
  EXPECT_NEAR(stage.force(), 8, 1e-9);
  EXPECT_EQ(stage.judge->complaint(), "");
}

TEST(Port, APauseEndsTheForceThoughTheTickGoesOn) {
  Stage stage;
  stage.push(8);
  stage.play(50 * ms);
  bool is_late = true;
  Chosen::work = [&]() -> std::int64_t {
    if (!std::exchange(is_late, false)) return 0;
    EXPECT_TRUE(stage.loop->pause());
    stage.clock.work(20 * ms);
    stage.judge->expect_zero("20 ms after the pause");
    return 0;
  };
  stage.play(3 * ms);
  stage.play(3 * ms);
  EXPECT_TRUE(stage.loop->is_paused());
  EXPECT_EQ(stage.loop->port().stalls(), 0);
  EXPECT_EQ(stage.judge->complaint(), "");
}

// A hand pressed against a force that is not yet what the world wants: the energy is that of the force it got.
TEST(Port, TheMeanIsWhatTheDeviceGotSinceTheLastTick) {
  Port port(mouse_limits);
  port.withdraw(0);
  port.hear(0);
  (void)port.mean(0);
  port.give(ms, {8, 0, 0});  // 0 N for 1 ms, then 2 N
  port.watch(2 * ms);        // 4 N
  port.watch(3 * ms);        // 6 N
  EXPECT_NEAR(port.mean(4 * ms)[0], (0 + 2 + 4 + 6) / 4.0, 1e-12);
  EXPECT_NEAR(port.mean(5 * ms)[0], 6, 1e-12);  // held
}

// Random schedules: ticks of any length, late guards, bursts, commands, faults, failures, hands that come, leave and
// fall silent. What the documents promise holds after every sample. TACTUS_SCHEDULES gives another number of them:
// docs/robustness.md tells of ten million.
TEST(Port, RandomSchedulesKeepWhatIsPromised) {
  const char* asked = std::getenv("TACTUS_SCHEDULES");
  const std::int64_t schedules = asked ? std::atoll(asked) : 1'000'000;
  std::mt19937_64 random(2026);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  Stage stage;
  constexpr std::int64_t latest_guard = 4 * ms;
  std::int64_t must_be_zero = INT64_MAX;  // from then on, by the clock
  const auto must_end = [&] { must_be_zero = std::min(must_be_zero, stage.clock.now() + 20 * ms); };
  const auto may_push = [&] { must_be_zero = INT64_MAX; };
  stage.clock.guard_late = [&]() -> std::int64_t {
    return below(8) == 0 ? static_cast<std::int64_t>(below(latest_guard)) : 0;
  };
  std::int64_t zeros = 0;
  Chosen::force = [&](int) -> double {
    switch (below(64)) {
      case 0:
        return below(500) == 0 ? NAN : 1e300;
      case 1:
        return -HUGE_VAL * (below(500) == 0 ? 1 : 0);
      case 2:
        return -1e300;
      default:
        return 40 * (static_cast<double>(below(1001)) / 1000 - 0.5);
    }
  };
  Chosen::work = [&]() -> std::int64_t {
    const auto kind = below(1000);
    const std::int64_t whole = kind < 900 ? 100 : static_cast<std::int64_t>(below(kind < 990 ? 3 * ms : 120 * ms));
    if (must_be_zero != INT64_MAX && below(2) == 0) {
      // Right when zero is due, in the middle of a tick, the promise is looked at.
      const std::int64_t now = stage.clock.now();
      if (must_be_zero > now && must_be_zero - now < whole) {
        stage.clock.work(must_be_zero - now);
        stage.judge->expect_zero("20 ms after it had to end");
        ++zeros;
        return whole - (must_be_zero - now);
      }
    }
    return whole;
  };
  std::uint32_t generation = 1;
  bool is_touched = true, is_paused = false;
  for (std::int64_t k = 0; k < schedules; ++k) {
    for (auto actions = 1 + below(3); actions > 0; --actions) {
      switch (below(16)) {
        case 0:
          stage.loop->hand({});
          is_touched = false;
          must_end();
          break;
        case 1:
          is_touched = false;  // silent
          break;
        case 2:
          if (stage.loop->pause()) {
            is_paused = true;
            must_end();
          }
          break;
        case 3:
          if (stage.loop->step()) {
            is_paused = true;
            must_end();
          }
          break;
        case 4:
          (void)stage.loop->set_speed(std::pow(10.0, static_cast<double>(below(401)) / 100 - 2));
          break;
        case 5:
          if (below(8) == 0) Chosen::status = TACTUS_DIVERGED;
          break;
        case 6:
        case 7: {
          if (stage.loop->settle()) break;
          auto next = stage.world(++generation);
          const bool goes_on = below(2) == 0 && stage.loop->current().status == TACTUS_OK;
          if (goes_on) next->world->plan_to_take_over(*stage.loop->current().world);
          (void)stage.loop->replace(next, goes_on);
          break;
        }
        default:
          is_touched = true;
          if (is_paused && stage.loop->resume()) is_paused = false;
          if (!is_paused) may_push();
          break;
      }
    }
    for (auto turns = 1 + below(12); turns > 0; --turns) {
      if (is_touched) stage.touch();
      stage.loop->turn();
      (void)stage.loop->settle();
      if (stage.clock.now() >= must_be_zero) {
        stage.judge->expect_zero("20 ms after it had to end");
        ++zeros;
      }
    }
    ASSERT_EQ(stage.judge->complaint(), "") << "schedule " << k;
  }
  EXPECT_GT(stage.judge->largest, 7.9);
  EXPECT_GT(zeros, schedules / 100);
  EXPECT_GT(stage.loop->port().stalls(), schedules / 1000);
  RecordProperty("samples", std::to_string(stage.judge->samples));
}

}  // namespace
}  // namespace live
