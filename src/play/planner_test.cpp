// Plans that begin late (runtime/live/planner.h): ticks as the loop makes them, and a worker that answers when the test
// says so.
#include "runtime/live/planner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

#include "api/load.h"
#include "compiler/emit_llvm/jit.h"
#include "kernel/kernel.h"
#include "runtime/sim/instance.h"

#if !defined(__SANITIZE_ADDRESS__)
namespace {
thread_local int* allocations = nullptr;  // counts while it is not null
}
extern "C" {
void* __libc_malloc(std::size_t);
void* malloc(std::size_t size) {
  if (allocations) ++*allocations;
  return __libc_malloc(size);
}
}
#endif

namespace {

constexpr double period = 1e-3;

// A ball that is held moves along, so that a late start is another place; at `go` it is thrown into a basket that
// moves, too.
constexpr const char* throwing = R"(
automaton ball in Held, Thrown;
automaton door in Open, Shut;
parameter shuts = 100;
boundary p with p(0) = (0, 0);
boundary failures with failures(0) = 0;
event go at 0.1;
system
  failures' = 0;
  in ball.Held   { p' = (0.5, 0); }
  in ball.Thrown { p'' = (0, -9.81); }
  transition Shut in door.Open when t >= shuts { goto door.Shut; }
  plan Throw in ball.Held GUARD
    choose v = (3, 8) { goto ball.Thrown;  next(p') = v; }
    for 0.5 reaching p = (2 + 0.1 * t, 1) { goto ball.Held; }
    else { next(failures) = failures + 1; }
reactive basket = init 0 in { Throw.phase1 => p[1] - 2 - 0.1 * t },
         height = init 0 in { Throw.phase1 => p[2] - 1 }
)";

std::string with_guard(const std::string& guard) {
  std::string text = throwing;
  return text.replace(text.find("GUARD"), 5, guard);
}

class World {
 public:
  explicit World(const std::string& text, double first_parameter = 100) {
    api::Compiled compiled = api::compile_text("throwing", text, {});
    EXPECT_TRUE(compiled.program) << diag::render_text(compiled.diags, compiled.sources, false);
    jit_ = std::make_unique<emit_llvm::CompiledModel>(std::move(*compiled.program),
                                                      emit_llvm::JitOptions{.optimise = false});
    model = jit_->current();
    instance = std::make_unique<sim::Instance>(*model);
    EXPECT_EQ(tk_reset(model, instance->get()), TACTUS_OK);
    instance->section(model->layout.parameters)[0] = first_parameter;
    (*instance)->plans_wait = 1;
    EXPECT_EQ(tk_start(model, instance->get()), TACTUS_OK);
    EXPECT_EQ(tk_begin_events(model, instance->get()), TACTUS_OK);
    planner = std::make_unique<live::Planner>(*model, live::Pace{period, 1, TACTUS_RK4}, live::Planner::Worker::nobody);
  }
  void tick() {
    ASSERT_EQ(planner->begin_due(model, instance->get()), TACTUS_OK);
    if (!planner->is_waiting()) {
      ASSERT_EQ(tk_event_steps(model, instance->get(), TACTUS_RK4, period, 1), TACTUS_OK);
    }
    planner->send(model, instance->get(), 1);
  }
  void tick_until(double t) {
    while ((*instance)->time < t - period / 2) tick();
  }
  double value(const std::string& name, std::uint32_t component = 0) {
    EXPECT_EQ(model->outputs(model, instance->get(), (*instance)->time, instance->states().data()), TACTUS_OK);
    for (std::uint32_t i = 0; i < model->channel_count; ++i)
      if (model->channels[i].name == name)
        return instance->section(model->layout.outputs)[model->channels[i].at + component];
    ADD_FAILURE() << name;
    return NAN;
  }
  const live::Planner::Counts& counts() { return planner->counts(); }

  const tactus_model* model;
  std::unique_ptr<sim::Instance> instance;
  std::unique_ptr<live::Planner> planner;

 private:
  std::unique_ptr<emit_llvm::CompiledModel> jit_;
};

TEST(Planner, BeginsAtTheInstantThatWasSettled) {
  World world(with_guard("when go"));
  world.tick_until(0.1);
  EXPECT_EQ((*world.instance)->plans_asked, 1u);
  EXPECT_TRUE(world.planner->work());
  EXPECT_FALSE(world.planner->work());
  world.tick_until(0.12);
  EXPECT_EQ(world.counts().begun, 0);
  EXPECT_EQ(world.value("ball"), 0);
  EXPECT_NEAR(world.value("p"), 0.06, 1e-12);  // it was moved along
  world.tick();
  EXPECT_EQ(world.counts().begun, 1);
  EXPECT_EQ(world.value("ball"), 1);
  EXPECT_EQ((*world.instance)->plans_asked, 0u);
  // From (0.06, 0) at 0.12 to (2.062, 1) at 0.62: v = (4.004, 2 + 9.81 / 4), of which a tick has passed.
  EXPECT_NEAR((world.value("p") - 0.06) / period, 4.004, 1e-6);
  world.tick_until(0.63);
  EXPECT_EQ(world.value("ball"), 0);
  EXPECT_NEAR(world.value("basket"), 0, 1e-8);
  EXPECT_NEAR(world.value("height"), 0, 1e-8);
}

TEST(Planner, AsksAgainWithTwiceTheBudgetWhenAnAnswerIsLate) {
  World world(with_guard("when go"));
  world.tick_until(0.13);
  EXPECT_EQ(world.counts().late, 1);
  EXPECT_TRUE(world.planner->work());  // for 0.12, which is over
  world.tick();                        // sent again behind it, at 0.131, for 0.171
  EXPECT_EQ(world.counts().begun, 0);
  EXPECT_TRUE(world.planner->work());
  world.tick_until(0.171);
  EXPECT_EQ(world.value("ball"), 0);
  world.tick();
  EXPECT_EQ(world.counts().begun, 1);
  EXPECT_EQ(world.value("ball"), 1);
  world.tick_until(0.68);
  EXPECT_NEAR(world.value("basket"), 0, 1e-8);
  EXPECT_NEAR(world.value("height"), 0, 1e-8);
  EXPECT_EQ(world.counts().failed, 0);
}

TEST(Planner, LetsTheWorldStandStillWhenEveryAnswerIsLate) {
  World world(with_guard("when go"));
  while (world.counts().waited == 0 && (*world.instance)->time < 10) {
    const std::int64_t late = world.counts().late;
    world.tick();
    if (world.counts().late > late) {
      EXPECT_TRUE(world.planner->work());
    }
  }
  EXPECT_EQ(world.counts().late, live::most_questions - 1);
  const double stood = (*world.instance)->time;
  EXPECT_NEAR(stood, 0.1 + 0.02 * 255, 0.02);  // 20 ms and twice, .., 128 times as much
  for (int k = 0; k < 1000; ++k) world.tick();
  EXPECT_EQ(world.counts().waited, 1001);
  EXPECT_EQ((*world.instance)->time, stood);
  EXPECT_TRUE(world.planner->work());
  world.tick();
  EXPECT_EQ(world.counts().begun, 1);
  EXPECT_EQ(world.counts().failed, 0);
  // It was thrown when its guard held, and has long arrived: whoever waits is given what is found fastest.
  EXPECT_EQ(world.counts().put_back, 1);
  EXPECT_EQ(world.value("ball"), 0);
  EXPECT_NEAR((*world.instance)->time, stood + period, 1e-9);
  EXPECT_NEAR(world.value("basket"), 0, 1e-8);
  EXPECT_NEAR(world.value("height"), 0, 1e-8);
}

TEST(Planner, FailsWhereNothingIsFound) {
  std::string text = with_guard("when go");
  text.replace(text.find("p = (2 + 0.1 * t, 1)"), 20, "p[1]^2 = -1, p[2] = 1");
  World world(text);
  world.tick_until(0.1);
  EXPECT_TRUE(world.planner->work());
  world.tick_until(0.2);
  EXPECT_EQ(world.counts().failed, 1);
  EXPECT_EQ(world.value("failures"), 1);
}

// A door shuts at 0.11: the modes are not those that the answer was found for.
TEST(Planner, DropsAnAnswerForOtherModes) {
  World world(with_guard("when go"), 0.11);
  // Changed behind the copy's back: the copy does not know of the parameter's change.
  world.instance->section(world.model->layout.parameters)[0] = 100;
  world.tick_until(0.1);
  EXPECT_TRUE(world.planner->work());
  world.instance->section(world.model->layout.parameters)[0] = 0.11;
  world.tick_until(0.13);
  EXPECT_EQ(world.counts().dropped, 1);
  EXPECT_EQ((*world.instance)->plans_asked, 0u);
  EXPECT_EQ(world.value("ball"), 0);
}

TEST(Planner, AsksAgainInOtherModesWhileTheGuardHolds) {
  World world(with_guard("when t >= 0.1"), 100);
  world.tick_until(0.1);
  EXPECT_TRUE(world.planner->work());
  world.instance->section(world.model->layout.parameters)[0] = 0.11;
  world.tick_until(0.122);
  EXPECT_EQ(world.counts().dropped, 0);
  EXPECT_EQ((*world.instance)->plans_asked, 1u);
  EXPECT_TRUE(world.planner->work());
  world.tick_until(0.2);
  EXPECT_EQ(world.counts().begun, 1);
  EXPECT_EQ(world.value("ball"), 1);
}

// A car that must turn onto a ramp at its foot: 20 ms later it stands beside it, and there is no way up.
constexpr const char* climbing = R"(
parameter wind = 0;
automaton car in Road, Ramp;
boundary p with p(0) = (-0.1, 0), p'(0) = (1, 0);
boundary push with push(0) = 0;
system
  push' = 0;
  in car.Road { p[2] = 0;               along = (1, 0); }
  in car.Ramp { p[2] = 0.75 * p[1];     along = (0.8, 0.6); }
  p'' = (0, -9.81) + (push + wind) * along + lift * (-along[2], along[1]);
  plan Climb in car.Road when p[1] >= 0
    choose force = 8 { goto car.Ramp;  enforce velocities;  next(push) = force; }
    for 0.5 reaching p[1] = 0.5 { next(push) = 9.81 * 0.6; }
reactive
  ended = init 0 in { Climb.phase1 => t },
  missed = init 1 in { Climb.phase1 => p[1] - 0.5 }
)";

TEST(Planner, BeginsWhenItsGuardHeldWhereLaterIsTooLate) {
  World world(climbing, 0);
  world.tick_until(0.101);
  EXPECT_EQ((*world.instance)->plans_asked, 1u);
  EXPECT_TRUE(world.planner->work());
  world.tick_until(0.12);
  EXPECT_EQ(world.value("car"), 0);
  EXPECT_NEAR(world.value("p"), 0.02, 1e-9);  // past the foot, still on the level
  world.tick_until(0.123);
  EXPECT_EQ(world.counts().begun, 1);
  EXPECT_EQ(world.counts().put_back, 1);
  EXPECT_EQ(world.value("car"), 1);
  EXPECT_NEAR(world.value("p", 1), 0.75 * world.value("p"), 1e-9);
  EXPECT_NEAR((*world.instance)->time, 0.123, 1e-9);
  world.tick_until(0.7);
  EXPECT_NEAR(world.value("ended"), 0.6, 1e-8);  // as if nobody had waited
  EXPECT_NEAR(world.value("missed"), 0, 1e-8);
  EXPECT_EQ(world.counts().failed, 0);
}

TEST(Planner, BeginsWhenItsGuardHeldAlsoWhenAnswersAreLate) {
  World world(climbing, 0);
  world.tick_until(0.13);
  EXPECT_EQ(world.counts().late, 1);
  EXPECT_TRUE(world.planner->work());
  world.tick();
  EXPECT_TRUE(world.planner->work());
  world.tick_until(0.3);
  EXPECT_EQ(world.counts().put_back, 1);
  world.tick_until(0.7);
  EXPECT_NEAR(world.value("ended"), 0.6, 1e-8);
  EXPECT_NEAR(world.value("missed"), 0, 1e-8);
}

TEST(Planner, StandsStillAndBeginsWhenItsGuardHeld) {
  World world(climbing, 0);
  while (world.counts().waited == 0 && (*world.instance)->time < 10) {
    const std::int64_t late = world.counts().late;
    world.tick();
    if (world.counts().late > late) {
      EXPECT_TRUE(world.planner->work());
    }
  }
  const double stood = (*world.instance)->time;
  EXPECT_TRUE(world.planner->work());
  world.tick();
  EXPECT_EQ(world.counts().put_back, 1);
  EXPECT_NEAR((*world.instance)->time, stood + period, 1e-9);
  EXPECT_NEAR(world.value("ended"), 0.6, 1e-8);
  EXPECT_NEAR(world.value("missed"), 0, 1e-8);
}

// A worker that gets no processor: the world does not run away from its plan.
TEST(Planner, StandsStillWhenALateAnswerDoesNotCome) {
  World world(climbing, 0);
  while (world.counts().waited == 0 && (*world.instance)->time < 20) world.tick();
  EXPECT_EQ(world.counts().late, 1);
  const double stood = (*world.instance)->time;
  EXPECT_NEAR(stood, 0.1 + 0.02 * 255, 0.02);
  for (int k = 0; k < 100; ++k) world.tick();
  EXPECT_EQ((*world.instance)->time, stood);
  EXPECT_TRUE(world.planner->work());
  const std::int64_t waited = world.counts().waited;
  while (world.counts().waited == waited && (*world.instance)->time < 20) world.tick();
  EXPECT_NEAR((*world.instance)->time, stood + 2.56, 0.02);
  EXPECT_TRUE(world.planner->work());
  world.tick();
  EXPECT_EQ(world.counts().put_back, 1);
  EXPECT_NEAR(world.value("ended"), 0.6, 1e-8);
  EXPECT_NEAR(world.value("missed"), 0, 1e-8);
}

// What a person sets while a search is under way stays set.
TEST(Planner, KeepsParametersThatWereSetMeanwhile) {
  World world(climbing, 0);
  world.tick_until(0.105);
  EXPECT_TRUE(world.planner->work());
  world.instance->section(world.model->layout.parameters)[0] = 0.5;
  ASSERT_EQ(world.model->prepare(world.model, world.instance->get()), TACTUS_OK);
  world.tick_until(0.13);
  EXPECT_EQ(world.counts().put_back, 1);
  EXPECT_EQ(world.instance->section(world.model->layout.parameters)[0], 0.5);
  world.tick_until(0.7);
  EXPECT_GT(world.value("missed"), 1e-3);  // the wind that nobody foresaw
}

TEST(Planner, LeavesTheLoopWithoutAllocation) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer has an allocator of its own";
#else
  for (const std::string& text : {with_guard("when go"), std::string(climbing)}) {
    World world(text, text == climbing ? 0 : 100);
    int counted = 0;
    for (int k = 0; k < 700; ++k) {
      allocations = &counted;
      const int begun = world.planner->begin_due(world.model, world.instance->get());
      const int stepped = tk_event_steps(world.model, world.instance->get(), TACTUS_RK4, period, 1);
      world.planner->send(world.model, world.instance->get(), 1);
      allocations = nullptr;
      ASSERT_EQ(begun, TACTUS_OK);
      ASSERT_EQ(stepped, TACTUS_OK);
      world.planner->work();
    }
    EXPECT_EQ(world.counts().begun, 1);
    EXPECT_EQ(counted, 0);
  }
#endif
}

}  // namespace
