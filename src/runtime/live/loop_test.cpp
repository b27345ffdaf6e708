// The clock's thread: commands take effect, worlds are exchanged, nothing is allocated on it.
#include "runtime/live/loop.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "runtime/live/models_for_tests.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAS_OWN_MALLOC 1
#endif

// A guard around the allocator: calls of it are counted on the loop's thread from its first tick on. A sanitizer has an
// allocator of its own, so there the guard is left out.
namespace {
std::atomic<int> allocations_on_the_loop = 0;
std::atomic<bool> is_watched = false;

#ifndef HAS_OWN_MALLOC
bool is_loop() {
  static thread_local int known = 0;  // 1: another thread, 2: the loop's
  if (known == 0) {
    char name[32] = {};
    pthread_getname_np(pthread_self(), name, sizeof name);
    const bool found = std::strcmp(name, live::Loop::thread_name) == 0;
    if (!found) return false;  // it may not have got its name yet
    known = 2;
  }
  return known == 2;
}
void seen() {
  if (is_watched.load(std::memory_order_relaxed) && is_loop()) allocations_on_the_loop++;
}
#endif
}  // namespace

#ifndef HAS_OWN_MALLOC
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void __libc_free(void*);
void* malloc(std::size_t size) {
  seen();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  seen();
  return __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) {
  seen();
  return __libc_realloc(block, size);
}
void free(void* block) {
  if (block) seen();
  __libc_free(block);
}
}
#endif

namespace live {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<Running> playing(const tactus_model& model, std::uint32_t generation = 1, double period = 1e-3) {
  auto running = std::make_unique<Running>();
  running->world = std::make_unique<World>(model, choose_timing(model, period));
  EXPECT_FALSE(running->world->start({}));
  running->table = &running->world->model();
  running->generation = generation;
  return running;
}

// Until it holds, or long enough to say that it never will.
template <class Condition>
bool comes_true(Condition condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

const Shown& newest(Loop& loop) {
  loop.current().world->shown().refresh();
  return loop.current().world->shown().newest();
}

TEST(Loop, TheWorldGoesOnWithTheClock) {
  const sim::Decay model;
  const auto before = std::chrono::steady_clock::now();
  Loop loop(playing(model.table), {}, false);
  ASSERT_TRUE(comes_true([&] { return loop.statistics().ticks >= 200; }));
  const double time = newest(loop).time;
  const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  EXPECT_LE(time, passed + 1e-3);  // never ahead
  EXPECT_GT(time, 0.1);
  EXPECT_NEAR(newest(loop).outputs[0], std::exp(-newest(loop).time), 1e-9);
  EXPECT_EQ(loop.statistics().late.total(), loop.statistics().compute.total());
}

TEST(Loop, PauseStepResumeSpeed) {
  const sim::Decay model;
  Loop loop(playing(model.table), {}, true);
  ASSERT_TRUE(comes_true([&] { return newest(loop).flags & flag::paused; }));
  EXPECT_EQ(newest(loop).time, 0);
  for (int k = 1; k <= 3; ++k) {
    ASSERT_TRUE(loop.step());
    ASSERT_TRUE(comes_true([&] { return newest(loop).time > (k - 0.5) * 1e-3; }));
    EXPECT_NEAR(newest(loop).time, k * 1e-3, 1e-12);
  }
  ASSERT_TRUE(loop.set_speed(50));
  ASSERT_TRUE(loop.resume());
  ASSERT_TRUE(comes_true([&] { return newest(loop).time > 5; }));
  ASSERT_TRUE(loop.pause());
  ASSERT_TRUE(comes_true([&] { return (newest(loop).flags & flag::paused) != 0; }));
  const double time = newest(loop).time;
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(newest(loop).time, time);
}

TEST(Loop, AWorldStopsAtTheTickThatReachesItsEnd) {
  for (const auto& [end, expected] : {std::pair(0.05, 0.05), std::pair(0.0504, 0.051)}) {
    Dragged model;
    model.table.ending_time = end;
    Dragged later;
    later.table.ending_time = 0.08;
    Loop loop(playing(model.table), {}, false);
    Pointer pointer;
    pointer.position = {0.2, 0, 0};
    pointer.is_present = true;
    ASSERT_TRUE(comes_true([&] {
      loop.hand(pointer);
      return (newest(loop).flags & flag::ended) != 0;
    }));
    EXPECT_NEAR(newest(loop).time, expected, 1e-12);
    const std::vector<double> last = newest(loop).outputs;
    const std::int64_t ticks = loop.statistics().ticks;
    // The force ends as in a pause, though the hand is still there; nothing moves any more, nor does a step.
    ASSERT_TRUE(loop.step());
    ASSERT_TRUE(loop.resume());
    ASSERT_TRUE(comes_true([&] {
      loop.hand(pointer);
      return loop.port().newest().force == Force{} && !(newest(loop).flags & (flag::hand | flag::paused));
    }));
    EXPECT_NEAR(newest(loop).time, expected, 1e-12);
    EXPECT_EQ(newest(loop).outputs, last);
    EXPECT_EQ(loop.statistics().ticks, ticks);
    // A world with a later end goes on where it was.
    auto next = playing(later.table, 2);
    next->world->plan_to_take_over(*loop.current().world);
    ASSERT_TRUE(loop.replace(next, true));
    ASSERT_TRUE(comes_true([&] { return !loop.settle(); }));
    ASSERT_TRUE(comes_true([&] { return (newest(loop).flags & flag::ended) != 0; }));
    EXPECT_NEAR(newest(loop).time, expected + std::ceil((0.08 - expected) * 1e3 - 1e-6) * 1e-3, 1e-12);
  }
}

TEST(Loop, AHandPullsAndALostOneDoesNot) {
  const Dragged model;
  Loop loop(playing(model.table), {}, false);
  Pointer pointer;
  pointer.position = {0.2, 0, 0};
  pointer.is_present = true;
  ASSERT_TRUE(comes_true([&] {
    loop.hand(pointer);
    return newest(loop).outputs[0] > 0.05;
  }));
  EXPECT_TRUE(newest(loop).flags & flag::hand);
  EXPECT_LT(loop.port().newest().force[0], 0);
  // Nothing is heard of it any more.
  ASSERT_TRUE(comes_true([&] { return !(newest(loop).flags & flag::hand) && loop.port().newest().force[0] == 0; }));
}

TEST(Loop, ParametersWhileRunningAndWhilePaused) {
  const sim::Decay model;
  Loop loop(playing(model.table), {}, true);
  ASSERT_TRUE(loop.set_parameter(1, 0, 0));
  ASSERT_TRUE(loop.set_parameter(7, 0, 99));  // meant for another world
  ASSERT_TRUE(loop.resume());
  ASSERT_TRUE(comes_true([&] { return newest(loop).time > 0.05; }));
  EXPECT_EQ(newest(loop).outputs[0], 1);  // k = 0: nothing decays
}

TEST(Loop, AnotherWorldTakesOver) {
  const sim::Decay model, edited;
  Loop loop(playing(model.table), {}, false);
  ASSERT_TRUE(comes_true([&] { return newest(loop).time > 0.05; }));
  auto next = playing(edited.table, 2);
  next->world->plan_to_take_over(*loop.current().world);
  ASSERT_TRUE(loop.replace(next, true));
  EXPECT_EQ(next, nullptr);
  auto third = playing(model.table, 3);
  while (loop.settle()) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(loop.current().generation, 2u);
  ASSERT_TRUE(comes_true([&] { return newest(loop).time > 0.1; }));
  EXPECT_NEAR(newest(loop).outputs[0], std::exp(-newest(loop).time), 1e-9);
  ASSERT_TRUE(loop.replace(third, false));
  while (loop.settle()) std::this_thread::sleep_for(1ms);
  EXPECT_LT(newest(loop).time, 0.1);
}

TEST(Loop, AFailedWorldStandsStillUntilAnotherComes) {
  const sim::Explosion model;
  const sim::Decay other;
  Loop loop(playing(model.table), {}, false);
  ASSERT_TRUE(loop.set_speed(20));
  ASSERT_TRUE(comes_true([&] { return loop.current().status != TACTUS_OK; }));
  EXPECT_EQ(loop.current().status, TACTUS_NOT_FINITE);
  const std::int64_t ticks = loop.statistics().ticks;
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(loop.statistics().ticks, ticks);
  auto next = playing(other.table, 2);
  ASSERT_TRUE(loop.replace(next, false));
  while (loop.settle()) std::this_thread::sleep_for(1ms);
  ASSERT_TRUE(comes_true([&] { return newest(loop).time > 0.01; }));
}

TEST(Loop, ATooSlowWorldSlipsAndSaysSo) {
  static std::atomic<bool> is_slow = true;
  sim::Decay model;
  model.table.outputs = [](const tactus_model*, tactus_instance*, double, const double*) {
    if (is_slow) std::this_thread::sleep_for(3ms);
    return int{TACTUS_OK};
  };
  Loop loop(playing(model.table), {.most_lag = 0.02}, false);
  ASSERT_TRUE(comes_true([&] { return loop.statistics().slipped > 0; }));
  EXPECT_GT(loop.statistics().missed, 0);
  is_slow = false;
}

// The derivative is stuck until the test lets it go.
TEST(Loop, ATickThatDoesNotEndLosesTheHandItsForceAndIsCancelled) {
  static std::atomic<bool> is_stuck = false;
  static std::atomic<bool> may_go = false;
  Dragged model;
  model.table.fixed_steps = [](const tactus_model*, tactus_instance*, int, double, std::int64_t) {
    while (is_stuck && !may_go) std::this_thread::sleep_for(1ms);
    return int{TACTUS_OK};
  };
  model.table.step_size = 1e-7;  // ten thousand steps a tick: the tick is cut into many calls
  model.table.outputs = [](const tactus_model* table, tactus_instance* instance, double, const double*) {
    tactus_data(instance)[table->layout.outputs + 2] = 5;
    return int{TACTUS_OK};
  };
  auto loop = std::make_unique<Loop>(playing(model.table), LoopOptions{}, false);
  Pointer pointer;
  pointer.is_present = true;
  ASSERT_TRUE(comes_true([&] {
    loop->hand(pointer);
    return loop->port().newest().force[0] == 5;
  }));
  const std::int64_t stalls = loop->port().stalls();
  is_stuck = true;
  ASSERT_TRUE(comes_true([&] {
    loop->hand(pointer);
    return loop->port().newest().force[0] == 0 && loop->port().stalls() > stalls;
  }));
  EXPECT_TRUE(loop->port().newest().acts & TK_LIMIT_STALLED);
  EXPECT_FALSE(loop->cancel_long_tick());  // it is only a moment old
  // Whoever ends the loop need not wait for all of the tick's steps: the next call of them does not come.
  loop->current().world->cancel();
  may_go = true;
  ASSERT_TRUE(comes_true([&] { return loop->current().status != TACTUS_OK; }));
  EXPECT_TRUE(loop->current().world->is_cancelled());
  loop.reset();
}

// The clock of the thread that asks, ahead by what the test says.
class AheadClock : public Clock {
 public:
  std::int64_t now() override { return monotonic_clock().now() + ahead; }
  void sleep_until(std::int64_t time) override { monotonic_clock().sleep_until(time - ahead); }
  std::atomic<std::int64_t> ahead = 0;
};

TEST(Loop, AnEditOfAWorldThatHangsIsNotCancelledWithIt) {
  static std::atomic<bool> is_stuck = false;
  static std::atomic<bool> may_go = false;
  const sim::Decay edited;
  sim::Decay model;
  model.table.fixed_steps = [](const tactus_model*, tactus_instance*, int, double, std::int64_t) {
    is_stuck = true;
    while (!may_go) std::this_thread::sleep_for(1ms);
    return int{TACTUS_OK};
  };
  model.table.step_size = 1e-7;
  AheadClock clock;
  Loop loop(playing(model.table), {.clock = &clock}, false);
  ASSERT_TRUE(comes_true([&] { return is_stuck.load(); }));
  auto next = playing(edited.table, 2);
  next->world->plan_to_take_over(*loop.current().world);
  ASSERT_TRUE(loop.replace(next, true));
  EXPECT_FALSE(loop.cancel_long_tick());
  clock.ahead = Loop::longest_tick;
  EXPECT_TRUE(loop.cancel_long_tick());
  EXPECT_TRUE(loop.current().world->is_cancelled());
  may_go = true;
  ASSERT_TRUE(comes_true([&] { return !loop.settle(); }));
  EXPECT_EQ(loop.current().generation, 2u);
  EXPECT_FALSE(loop.current().world->is_cancelled());
  // It begins at its own start: what was given up has nothing to go on from.
  ASSERT_TRUE(comes_true([&] { return newest(loop).time > 0.01; }));
  EXPECT_EQ(loop.current().status, TACTUS_OK);
  EXPECT_NEAR(newest(loop).outputs[0], std::exp(-newest(loop).time), 1e-9);
}

#ifndef HAS_OWN_MALLOC
TEST(Loop, AllocatesNothing) {
  const Dragged model, edited;
  Loop loop(playing(model.table), {}, false);
  auto next = playing(edited.table, 2);
  next->world->plan_to_take_over(*loop.current().world);
  ASSERT_TRUE(comes_true([&] { return loop.statistics().ticks > 10; }));
  is_watched = true;
  Pointer pointer;
  pointer.is_present = true;
  pointer.position = {0.1, 0, 0};
  ASSERT_TRUE(comes_true([&] {
    loop.hand(pointer);
    return loop.statistics().ticks > 200;
  }));
  ASSERT_TRUE(loop.set_parameter(1, 0, 9));
  ASSERT_TRUE(loop.replace(next, true));
  while (loop.settle()) std::this_thread::sleep_for(1ms);
  ASSERT_TRUE(loop.pause());
  ASSERT_TRUE(loop.step());
  ASSERT_TRUE(loop.resume());
  ASSERT_TRUE(comes_true([&] { return loop.statistics().ticks > 400; }));
  is_watched = false;
  EXPECT_EQ(allocations_on_the_loop, 0);
}
#endif

TEST(Histogram, QuantilesAreRightToABucket) {
  Histogram histogram;
  for (int i = 1; i <= 100000; ++i) histogram.count(i * 10);
  EXPECT_NEAR(histogram.quantile(0.5), 5e-4, 0.04 * 5e-4);
  EXPECT_NEAR(histogram.quantile(0.99), 9.9e-4, 0.04 * 9.9e-4);
  EXPECT_EQ(histogram.longest(), 1e-3);
  EXPECT_EQ(histogram.total(), 100000u);
}

TEST(Ring, KeepsOrderAcrossThreads) {
  Ring<int, 64> ring;
  std::thread writer([&] {
    for (int i = 0; i < 100000;) i += ring.put(i) ? 1 : 0;
  });
  for (int i = 0; i < 100000;) {
    const auto item = ring.take();
    if (!item) continue;
    ASSERT_EQ(*item, i++);
  }
  writer.join();
}

TEST(Mailbox, TheReaderSeesWholeAndNewestStates) {
  struct Pair {
    std::int64_t a = 0, b = 0;
  };
  Mailbox<Pair> mailbox;
  std::thread writer([&] {
    for (std::int64_t i = 1; i <= 200000; ++i) {
      mailbox.draft() = {i, -i};
      mailbox.publish();
    }
  });
  std::int64_t last = 0;
  while (last < 200000) {
    if (!mailbox.refresh()) continue;
    const Pair& seen = mailbox.newest();
    ASSERT_EQ(seen.a, -seen.b);
    ASSERT_GT(seen.a, last);
    last = seen.a;
  }
  writer.join();
}

}  // namespace
}  // namespace live
