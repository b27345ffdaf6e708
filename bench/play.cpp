// A world that moves with the clock: what the loop adds to a model's own step, how late its ticks begin, how long an
// edit and a hand take to be felt. The two-ball world.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <thread>

#include "bench.h"
#include "kernel/kernel.h"
#include "play/prepare.h"
#include "play/rehearsal.h"
#include "runtime/live/loop.h"
#include "runtime/sim/evaluate.h"

namespace bench {
namespace {

constexpr double period = 1e-3;
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

std::string two_ball() {
  std::ifstream file(std::string(TACTUS_SOURCE_DIR) + "/examples/two_ball.tact");
  return {std::istreambuf_iterator<char>(file), {}};
}

play::Prepared prepare(const std::string& text) {
  play::Prepared prepared = play::prepare({{"two_ball.tact", text}}, {}, {}, period);
  if (!prepared.running)
    fmt::print(stderr, "{}", diag::render_text(prepared.compiled.diags, prepared.compiled.sources, false));
  return prepared;
}

live::Pointer pointer_at(double x) {
  live::Pointer pointer;
  pointer.position = {x, 0.5, 0};
  pointer.is_present = true;
  return pointer;
}

struct Timed {
  double seconds = 0;
};

// Ticks with all that the loop does to them but sleep: the clock read twice, the hand's mailbox, the statistics, and a
// picture at every eighth tick, as 120 a second are; against the model's step and outputs alone.
std::vector<Figure> cost_of_a_tick(const Options& options) {
  play::Prepared prepared = prepare(two_ball());
  if (!prepared.running) return {};
  const tactus_model* table = prepared.code->wait_optimised();
  live::World& world = *prepared.running->world;
  const int ticks = options.smoke ? 100 : 2000;

  live::Mailbox<live::Pointer> hand;
  live::Statistics statistics;
  live::Port port(live::mouse_limits);
  std::int64_t now = 0;
  const auto in_the_loop = [&] {
    hand.draft() = pointer_at(0.1);
    hand.publish();
    const double before = thread_seconds();
    for (int k = 0; k < ticks; ++k) {
      const auto begin = Clock::now();
      hand.refresh();
      now += std::llround(1e9 * period);
      port.hear(now);
      (void)world.tick(table, hand.newest(), now);
      world.give_force(port, now);
      if (k % 8 == 0) world.publish(0);
      statistics.late.count(0);
      statistics.compute.count((Clock::now() - begin).count());
    }
    return Timed{(thread_seconds() - before) / ticks * 1e9};
  };

  sim::Instance instance(*table);
  if (tk_reset(table, instance.get()) != TACTUS_OK || tk_start(table, instance.get()) != TACTUS_OK ||
      tk_begin_events(table, instance.get()) != TACTUS_OK)
    return {};
  std::vector<double> warm(table->warm_count);
  const auto take_steps = tk_runs_in_parts(table) ? tk_event_steps : table->fixed_steps;
  const auto alone = [&] {
    const double before = thread_seconds();
    for (int k = 0; k < ticks; ++k) {
      (void)take_steps(table, instance.get(), TACTUS_RK4, period, 1);
      (void)sim::evaluate_outputs(*table, instance.get(), instance->time, instance.states().data(), warm);
    }
    return Timed{(thread_seconds() - before) / ticks * 1e9};
  };

  std::vector<Way<Timed>> ways = {{"in the loop", in_the_loop}, {"alone", alone}};
  interleave(ways, options.pairs);
  std::vector<double> own;
  for (std::size_t i = 0; i < ways[0].seconds.size(); ++i) own.push_back(ways[0].seconds[i] - ways[1].seconds[i]);
  return {{"tick of two-ball, the loop's own cost", median(own), "ns", 5000,
           fmt::format("{:.0f} ns a tick, the model's step and outputs alone {:.0f}", median(ways[0].seconds),
                       median(ways[1].seconds))}};
}

// In a real loop, with the priority that it may have here.
std::vector<Figure> lateness(const Options& options) {
  play::Prepared prepared = prepare(two_ball());
  if (!prepared.running) return {};
  live::Loop loop(std::move(prepared.running), {}, false);
  std::this_thread::sleep_for(std::chrono::milliseconds(options.smoke ? 50 : 2000));
  const live::Histogram& late = loop.statistics().late;
  const std::string how = fmt::format("{} scheduling, {} ticks, {} missed", loop.scheduling(),
                                      loop.statistics().ticks.load(), loop.statistics().missed.load());
  return {{"tick begins after its deadline, median", late.quantile(0.5) * 1e6, "us", 0, how},
          {"tick begins after its deadline, 99%", late.quantile(0.99) * 1e6, "us", 0, ""}};
}

// From a changed text to the world that goes on with it.
std::vector<Figure> seconds_of_an_edit(const Options& options) {
  play::Prepared first = prepare(two_ball());
  if (!first.running) return {};
  live::Loop loop(std::move(first.running), {}, false);
  std::shared_ptr<emit_llvm::CompiledModel> code = std::move(first.code);
  std::vector<double> seconds, compiling;
  for (int k = 0; k < (options.smoke ? 2 : 21); ++k) {
    const std::string text = two_ball() + fmt::format("// {}\n", k);
    const auto before = Clock::now();
    play::Prepared next = prepare(text);
    if (!next.running) return {};
    compiling.push_back(seconds_since(before));
    next.running->generation = static_cast<std::uint32_t>(k + 2);
    next.running->world->plan_to_take_over(*loop.current().world);
    if (!loop.replace(next.running, true)) return {};
    while (loop.settle()) std::this_thread::sleep_for(std::chrono::microseconds(50));
    seconds.push_back(seconds_since(before));
    code = std::move(next.code);  // the old one is freed off the clock, as a session does
  }
  return {{"edit of two-ball, text to the new world", median(seconds) * 1e3, "ms", 100,
           fmt::format("compiled and started in {:.2f} ms", median(compiling) * 1e3)}};
}

// The same with the rehearsal that comes before, as a session of `tactus play` does both; where the program lies beside
// this one.
std::vector<Figure> seconds_of_a_rehearsed_edit(const Options& options) {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "tactus";
  if (!std::filesystem::exists(program)) return {};
  play::Rehearsal rehearsal(program.string());
  std::vector<double> seconds;
  for (int k = 0; k < (options.smoke ? 3 : 22); ++k) {
    const auto before = Clock::now();
    const play::Prepared next =
        rehearsal.prepare({{{"two_ball.tact", two_ball() + fmt::format("// {}\n", k)}}, {}, {}, period});
    if (!next.running) return {};
    if (k > 0) seconds.push_back(seconds_since(before));  // the first waits for the child's start
  }
  return {{"edit of two-ball, rehearsed and compiled", median(seconds) * 1e3, "ms", 100, ""}};
}

// From the hand's message to a tick whose force is another.
std::vector<Figure> latency_of_the_hand(const Options& options) {
  play::Prepared prepared = prepare(two_ball());
  if (!prepared.running) return {};
  live::Loop loop(std::move(prepared.running), {}, false);
  const auto force = [&] { return loop.port().newest().force[0]; };
  std::vector<double> seconds;
  for (int k = 0; k < (options.smoke ? 3 : 31); ++k) {
    loop.hand({});
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    if (force() != 0) continue;
    const std::int64_t ticks = loop.statistics().ticks;
    const auto before = Clock::now();
    loop.hand(pointer_at(k % 2 ? 1 : 2));
    // The first tick that begins after the message takes it; its end is seen in the count.
    while (loop.statistics().ticks == ticks && seconds_since(before) < 1) {
    }
    const std::int64_t taken = loop.statistics().ticks;
    seconds.push_back(taken > ticks ? seconds_since(before) : nothing);
    while (force() == 0 && seconds_since(before) < 1) std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (force() == 0) seconds.back() = nothing;
  }
  return {{"hand to the first tick that feels it", median(seconds) * 1e3, "ms", 0,
           "to the end of that tick; the estimate of the hand then takes 10 ms more to follow"}};
}

}  // namespace

std::vector<Figure> measure_play(const Options& options) {
  std::vector<Figure> figures;
  for (const auto& measure :
       {cost_of_a_tick, lateness, seconds_of_an_edit, seconds_of_a_rehearsed_edit, latency_of_the_hand}) {
    for (Figure& figure : measure(options)) figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace bench
