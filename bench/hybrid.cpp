// Hybrid worlds: what jumps, modes, plans and proofs cost.
//
//   a bouncing ball      ten bounces, by us from the text and by CVODE with its root finding, the ball written by hand
//   and started anew
//                        at each bounce. Each at the coarsest tolerance with which its bounces are at most 1e-12 s from
//                        the closed
//                        form; interleaved in one run; the time of the run alone, without compiling.
//   many transitions     an elastic ball, and a world that changes its structure at each: time and memory as their
//   number grows.
//   plans, switches      examples walked through by the kernel; each instant at which a plan is made or the structure
//   changes is put
//                        back and done again, and timed alone.
//   structures, check    each example in a process of its own that has compiled nothing before.
#include <fmt/format.h>
#include <nvector/nvector_serial.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>

#include "api/load.h"
#include "bench.h"
#include "kernel/kernel.h"
#include "peers.h"
#include "runtime/sim/instance.h"
#include "runtime/sim/run.h"

namespace bench {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

// --- A bouncing ball beside CVODE
// ---------------------------------------------------------------------------------------

constexpr double gravity = 9.81;
constexpr double restitution = 0.7;
constexpr int bounce_count = 10;
constexpr double event_error = 1e-12;

// CVODE's steps are as long as its tolerance allows, so the text says that ours may be, too; without `step_size` they
// are at most a hundredth of the run, for guards that come and go inside one (docs/decisions/0010).
constexpr const char* bouncing = R"(simulation starting_time = 0  event_precision = 1e-13  step_size = 1
boundary y with y(0) = 1, y'(0) = 0;
system
  y'' = -9.81;
  transition Bounce when y <= 0 && y' < 0 { next(y') = -0.7 * y'; }
)";

// When the ball bounces: half a flight from height 1, then flights that shorten by the restitution.
std::vector<double> bounce_times() {
  const long double fall = std::sqrt(2 / static_cast<long double>(gravity));
  std::vector<double> times;
  long double t = fall;
  long double flight = 2 * fall;
  for (int k = 0; k < bounce_count; ++k) {
    times.push_back(static_cast<double>(t));
    flight *= restitution;
    t += flight;
  }
  return times;
}

HandWritten ball_by_hand(int method) {
  HandWritten ball = {.method = method,
                      .start = {1, 0},
                      .derivative =
                          [](realtype, N_Vector x, N_Vector dx, void*) {
                            N_VGetArrayPointer(dx)[0] = N_VGetArrayPointer(x)[1];
                            N_VGetArrayPointer(dx)[1] = -gravity;
                            return 0;
                          },
                      .root =
                          [](realtype, N_Vector x, realtype* g, void*) {
                            g[0] = N_VGetArrayPointer(x)[0];
                            return 0;
                          },
                      .direction = -1,
                      .at_root = [](double* y) { y[1] = -restitution * y[1]; }};
  if (method == CV_BDF) {
    ball.jacobian = [](realtype, N_Vector, N_Vector, SUNMatrix to, void*, N_Vector, N_Vector, N_Vector) {
      double* j = SUNDenseMatrix_Data(to);
      j[0] = j[1] = j[3] = 0;
      j[2] = 1;
      return 0;
    };
  }
  return ball;
}

double worst_of_times(const Run& run, const std::vector<double>& expected) {
  if (run.times.size() != expected.size() || run.values.empty()) return nothing;
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) worst = std::max(worst, std::abs(run.times[i] - expected[i]));
  return worst;
}

struct Runner {
  std::string name;
  std::function<Run(double tolerance)> run;
};

std::vector<Figure> measure_bounces(const Options& options) {
  const std::vector<double> expected = bounce_times();
  const double end = expected.back() + 0.5 * (expected.back() - expected[bounce_count - 2]) * restitution;
  const OurModel ours("bouncing_ball.tact", bouncing);
  std::string careful_text = bouncing;
  careful_text.erase(careful_text.find("  step_size = 1"), 15);
  const OurModel careful("bouncing_ball.tact", careful_text);
  const auto by_us = [&](const OurModel& model, tactus_solver solver) {
    return [&model, solver, end](double tolerance) { return model.run(solver, tolerance, end); };
  };
  const auto by_cvode = [&](int method) {
    return [method, end](double tolerance) { return run_cvode(ball_by_hand(method), tolerance, end); };
  };
  const std::vector<Runner> runners = {{"CVODE, Adams", by_cvode(CV_ADAMS)},
                                       {"CVODE, BDF", by_cvode(CV_BDF)},
                                       {"our tsit5", by_us(ours, TACTUS_TSIT5)},
                                       {"our dop853", by_us(ours, TACTUS_DOP853)},
                                       {"our tsit5 without step_size", by_us(careful, TACTUS_TSIT5)}};
  const auto with_error = [&](Run run) {
    run.error = worst_of_times(run, expected);
    return run;
  };
  std::vector<Way<Run>> ways;
  std::vector<double> tolerances;
  for (const Runner& runner : runners) {
    double tolerance = 1e-3;
    while (tolerance > 1e-14 && !(with_error(runner.run(tolerance)).error <= event_error)) tolerance /= 10;
    tolerances.push_back(tolerance);
    ways.push_back(
        {runner.name.c_str(), [&runner, &with_error, tolerance] { return with_error(runner.run(tolerance)); }});
  }
  interleave(ways, options.smoke ? 3 : 10 * options.pairs);
  std::vector<Figure> figures;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    figures.push_back({fmt::format("ten bounces, event error {:g} s: {}", event_error, ways[i].name),
                       1e6 * median(ways[i].seconds), "us", 0,
                       fmt::format("tolerance {:g}, {} bounces, {} steps, worst event error {:.2g} s", tolerances[i],
                                   ways[i].last.times.size(), ways[i].last.steps, ways[i].last.error)});
  }
  const auto quicker = [&](std::size_t a, std::size_t b) {
    const bool is_b = !(ways[a].last.error <= event_error) ||
                      (ways[b].last.error <= event_error && median(ways[b].seconds) < median(ways[a].seconds));
    return is_b ? b : a;
  };
  const Way<Run>& theirs = ways[quicker(0, 1)];
  const Way<Run>& best = ways[quicker(2, 3)];
  const bool is_fair = theirs.last.error <= event_error && best.last.error <= event_error;
  figures.push_back({fmt::format("ten bounces: {} / {}", best.name, theirs.name),
                     is_fair ? median(best.seconds) / median(theirs.seconds) : nothing, "", 0.3,
                     fmt::format("event errors {:.2g} and {:.2g} s", best.last.error, theirs.last.error)});
  return figures;
}

// --- Many transitions
// ---------------------------------------------------------------------------------------------------

constexpr const char* elastic = R"(simulation starting_time = 0
boundary y with y(0) = 1, y'(0) = 0;
system
  y'' = -9.81;
  transition Bounce when y <= 0 && y' < 0 { next(y) = 0;  next(y') = 4.4294469180700204; }
)";  // the speed of a fall from height 1: nothing drifts over a million bounces

constexpr const char* alternating = R"(simulation starting_time = 0
automaton cart in Driven, Coasting;
boundary x with x(0) = 0, x'(0) = 1;
system
  in cart.Driven   { x' = 1; }
  in cart.Coasting { x'' = -2 * x'; }
  transition Coast in cart.Driven   when x >= 1      { goto cart.Coasting;  next(x') = 1; }
  transition Drive in cart.Coasting when x' <= 0.5   { goto cart.Driven;    next(x) = 0; }
)";

struct Marathon {
  double seconds = 0;
  double transitions = 0;
  double first_pages = 0;  // MB resident when it begins, and at its end
  double last_pages = 0;
};

double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

// Until so many transitions were taken.
Marathon run_marathon(const char* text, double transitions, double period) {
  Marathon result;
  auto compiled = api::compile_text("marathon.tact", text, {});
  if (!compiled.program) {
    fmt::print(stderr, "{}", diag::render_text(compiled.diags, compiled.sources, false));
    return {nothing, 0, 0, 0};
  }
  emit_llvm::CompiledModel jit(std::move(*compiled.program));
  jit.wait_optimised();
  sim::Request request;
  request.table = [&jit] { return jit.current(); };
  std::string failure;
  const auto go = [&](double count) {
    sim::Settings settings = {
        .solver = TACTUS_TSIT5, .step = 1.5 * period, .tolerance = 1e-8, .until = count * period, .recording = false};
    request.plan = sim::make_plan(*jit.current(), settings, failure).value();
    return sim::run(request, nullptr);
  };
  (void)go(100);
  result.first_pages = resident_megabytes();
  const double before = thread_seconds();
  const sim::Outcome outcome = go(transitions);
  result.seconds = thread_seconds() - before;
  result.last_pages = resident_megabytes();
  result.transitions = static_cast<double>(outcome.events_total);
  if (outcome.ending != sim::Ending::done) result.seconds = nothing;
  return result;
}

// Seconds of one transition of a run that begins at time 0, of one that begins when it is late by the clock, and of one
// that has taken almost all of `transitions` by then: in turn, so that what else the machine does meets all. At a late
// time its resolution is coarser, and a guard that time 0 would have hit at once takes a few evaluations more.
std::vector<double> first_and_last(const char* text, double transitions, double period) {
  auto compiled = api::compile_text("marathon.tact", text, {});
  if (!compiled.program) return {nothing, nothing, nothing};
  emit_llvm::CompiledModel jit(std::move(*compiled.program));
  const tactus_model* model = jit.wait_optimised();
  int status = TACTUS_OK;
  const auto begin = [&](sim::Instance& instance) {
    status = tk_reset(model, instance.get());
    if (status == TACTUS_OK) status = tk_start(model, instance.get());
    if (status == TACTUS_OK) status = tk_begin_events(model, instance.get());
  };
  const auto advance = [&](sim::Instance& instance, double count) {
    const std::int64_t end = instance->transitions + static_cast<std::int64_t>(count);
    const double before = thread_seconds();
    while (status == TACTUS_OK && instance->transitions < end) {
      status = tk_part(model, instance.get(), TACTUS_TSIT5, 1.5 * period, 1e-8, 1e9);
      if (status == TACTUS_OK) status = tk_fire(model, instance.get());
    }
    return (thread_seconds() - before) / count;
  };
  // One of them fresh at time 0; the other, too, but by the clock where the old one is.
  sim::Instance fresh(*model), late(*model), old(*model);
  begin(old);
  (void)advance(old, 0.9 * transitions);
  std::vector<double> first, first_late, last;
  for (int i = 0; i < 10 && status == TACTUS_OK; ++i) {
    begin(fresh);
    first.push_back(advance(fresh, transitions / 100));
    begin(late);
    late->time = late->start_time = late->input_time = old->time;
    first_late.push_back(advance(late, transitions / 100));
    last.push_back(advance(old, transitions / 100));
  }
  if (status != TACTUS_OK) return {nothing, nothing, nothing};
  return {median(first), median(first_late), median(last)};
}

std::vector<Figure> measure_marathons(const Options& options) {
  struct World {
    const char* name;
    const char* text;
    double period;  // of one transition, on average
  };
  const double fall = std::sqrt(2 / gravity);
  const World worlds[] = {{"elastic ball", elastic, 2 * fall},
                          {"two structures in turn", alternating, 0.5 * (1 + 0.5 * std::log(2.0))}};
  std::vector<Figure> figures;
  for (const World& world : worlds) {
    double memory[3] = {};
    for (int size = 0; size < 3; ++size) {
      const double count = (options.smoke ? 1e2 : 1e4) * std::pow(10.0, size);
      std::vector<double> times, grown;
      for (int i = 0; i < (options.smoke ? 1 : 3); ++i) {
        const std::vector<double> told = numbers_in_child(2, [&]() -> std::vector<double> {
          const Marathon m = run_marathon(world.text, count, world.period);
          return {m.seconds / m.transitions, m.last_pages - m.first_pages};
        });
        times.push_back(told[0]);
        grown.push_back(told[1]);
      }
      const double each = *std::min_element(times.begin(), times.end());
      memory[size] = median(grown);
      const std::string name = fmt::format("{:g} transitions, {}", count, world.name);
      figures.push_back(
          {name + ": each", 1e9 * each, "ns", 0, fmt::format("{:.2f} MB more than before the run", memory[size])});
    }
    figures.push_back({fmt::format("memory of 10^6 - of 10^5 transitions, {}", world.name), memory[2] - memory[1], "MB",
                       0.1, "resident; without recording"});
    const double count = options.smoke ? 1e3 : 1e6;
    const std::vector<double> told =
        numbers_in_child(3, [&] { return first_and_last(world.text, count, world.period); });
    figures.push_back({fmt::format("{}: the last of {:g} transitions / the first at that time", world.name, count),
                       told[2] / told[1], "", 1.1,
                       fmt::format("{:.0f} and {:.0f} ns, steps between them included; the first at time 0 {:.0f} ns",
                                   1e9 * told[2], 1e9 * told[1], 1e9 * told[0])});
  }
  return figures;
}

// --- Examples
// -----------------------------------------------------------------------------------------------------------

std::string example_path(const std::string& file) { return std::string(TACTUS_SOURCE_DIR) + "/examples/" + file; }

std::vector<std::string> hybrid_examples() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(TACTUS_SOURCE_DIR) + "/examples")) {
    if (entry.path().extension() != ".tact") continue;
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const bool has_jumps = text.find("\n  transition ") != std::string::npos ||
                           text.find("automaton ") != std::string::npos ||
                           text.find("\n  sequence ") != std::string::npos;
    if (has_jumps) files.push_back(entry.path().filename());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// What happens at one instant, done again and again from the same Instance: microseconds each.
double time_of_firing(const tactus_model* model, sim::Instance& before, sim::Instance& instance, int times) {
  std::vector<double> seconds;
  const int batch = times >= 1000 ? 100 : 1;
  for (int k = 0; k < times; k += batch) {
    const double start = thread_seconds();
    for (int i = 0; i < batch; ++i) {
      std::memcpy(static_cast<void*>(instance.get()), before.get(), before.bytes());
      if (tk_fire(model, instance.get()) != TACTUS_OK) return nothing;
    }
    const double spent = thread_seconds() - start;
    const double copying = thread_seconds();
    for (int i = 0; i < batch; ++i) {
      std::memcpy(static_cast<void*>(instance.get()), before.get(), before.bytes());
      asm volatile("" : : "r"(instance.get()) : "memory");
    }
    seconds.push_back((spent - (thread_seconds() - copying)) / batch);
  }
  return 1e6 * median(seconds);
}

struct Walked {
  std::vector<double> switches;   // us each: all that happens at the instant, by the number of its transitions
  std::vector<double> instants;   // us: all that happens there
  std::vector<double> plans;      // us each
  std::int32_t most_motions = 0;  // that a plan tried out
  std::uint32_t structures = 0;
};

Walked walk(const std::string& file, bool is_smoke) {
  Walked walked;
  auto compiled = api::compile_files({example_path(file)}, {}, false);
  if (!compiled.program) return walked;
  emit_llvm::CompiledModel jit(std::move(*compiled.program));
  const tactus_model* model = jit.wait_optimised();
  walked.structures = std::max(1u, model->structure_count);
  sim::Instance instance(*model), before(*model), again(*model);
  int status = tk_reset(model, instance.get());
  if (status == TACTUS_OK) status = tk_start(model, instance.get());
  if (status == TACTUS_OK) status = tk_begin_events(model, instance.get());
  std::string failure;
  const auto plan = sim::make_plan(*model, {.solver = TACTUS_TSIT5, .tolerance = 1e-8, .recording = false}, failure);
  if (!plan) return walked;
  const std::size_t most = is_smoke ? 1 : 40;
  while (status == TACTUS_OK && instance->time < plan->end && walked.switches.size() + walked.plans.size() < most) {
    status = tk_part(model, instance.get(), TACTUS_TSIT5, plan->step, 1e-8, plan->end);
    if (status != TACTUS_OK || !tk_is_due(model, instance.get())) continue;
    std::memcpy(static_cast<void*>(before.get()), instance.get(), instance.bytes());
    status = tk_fire(model, instance.get());
    if (status != TACTUS_OK) break;
    if (instance->plans_made > before->plans_made) {
      walked.plans.push_back(time_of_firing(model, before, again, is_smoke ? 1 : 9));
      walked.most_motions = std::max(walked.most_motions, instance->plan_runs);
    } else if (instance->structure != before->structure) {
      walked.instants.push_back(time_of_firing(model, before, again, is_smoke ? 1 : 2000));
      walked.switches.push_back(walked.instants.back() /
                                static_cast<double>(instance->transitions - before->transitions));
    }
  }
  return walked;
}

double process_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Compilation {
  double text = 0;  // seconds: from the text to instructions
  double code = 0;  // from instructions to callable code of every structure
  double structures = 0;
};

// Of the whole program, every structure, before a run: what play and exports wait for. Time of this thread and those
// that it waits for; nothing is optimised meanwhile.
Compilation compile_structures(const std::string& file) {
  const double before = process_seconds();
  auto compiled = api::compile_files({example_path(file)}, {}, false);
  if (!compiled.program) return {nothing, nothing, 1};
  const double between = process_seconds();
  emit_llvm::JitOptions options;
  options.optimise = false;
  emit_llvm::CompiledModel jit(std::move(*compiled.program), options);
  return {between - before, process_seconds() - between,
          static_cast<double>(std::max(1u, jit.quick()->structure_count))};
}

// For each structure that was never compiled and that a run enters: the time of the call in which that happens, all
// else that it does included, by the number of structures that it enters for the first time (a plan tries out what
// follows, and may enter several). Then how many were entered. The optimised tier is made on other threads, as in any
// run.
constexpr std::size_t most_reached = 16;
std::vector<double> reach_structures(const std::string& file) {
  std::vector<double> told(most_reached + 1, 0.0);
  auto compiled = api::compile_files({example_path(file)}, {}, false);
  if (!compiled.program) return told;
  emit_llvm::JitOptions options;
  options.compile_when_reached = true;
  emit_llvm::CompiledModel jit(std::move(*compiled.program), options);
  const tactus_model* model = jit.current();
  sim::Instance instance(*model);
  std::string failure;
  const auto plan = sim::make_plan(*model, {.solver = TACTUS_TSIT5, .tolerance = 1e-8, .recording = false}, failure);
  if (!plan) return told;
  const auto left = [&] {  // only compiled code prepares
    return std::count_if(model->structures, model->structures + model->structure_count,
                         [](const tactus_model* structure) { return structure->prepare == nullptr; });
  };
  std::size_t count = 0;
  const auto timed = [&](auto call) {
    const auto before = left();
    const double start = thread_seconds();
    const int status = call();
    const double spent = thread_seconds() - start;
    const auto entered = before - left();
    for (auto k = entered; k > 0 && count < most_reached; --k) told[count++] = spent / static_cast<double>(entered);
    return status;
  };
  int status = tk_reset(model, instance.get());
  if (status == TACTUS_OK) status = timed([&] { return tk_start(model, instance.get()); });
  if (status == TACTUS_OK) status = timed([&] { return tk_begin_events(model, instance.get()); });
  while (status == TACTUS_OK && instance->time < plan->end && left() > 0) {
    status = timed([&] { return tk_part(model, instance.get(), TACTUS_TSIT5, plan->step, 1e-8, plan->end); });
    if (status == TACTUS_OK) status = timed([&] { return tk_fire(model, instance.get()); });
  }
  told[most_reached] = static_cast<double>(count);
  return told;
}

// Seconds, and pairs of transitions that could disagree.
std::vector<double> check_seconds(const std::string& file) {
  compiler::Guards guards;
  compiler::Options options;
  options.guards = &guards;
  const auto before = Clock::now();
  const auto compiled = api::compile_files({example_path(file)}, options, false);
  return {compiled.program ? seconds_since(before) : nothing, static_cast<double>(guards.pairs.size())};
}

std::vector<Figure> measure_compilations(const Options& options, const std::vector<std::string>& files) {
  std::vector<Figure> figures;
  double worst = 0;
  std::string where;
  for (const std::string& file : files) {
    std::vector<double> times;
    double count = 0;
    for (int i = 0; i < (options.smoke ? 1 : 5); ++i) {
      std::vector<double> told = numbers_in_child(most_reached + 1, [&] { return reach_structures(file); });
      count = told.back();
      told.resize(static_cast<std::size_t>(count));
      if (!told.empty()) times.push_back(*std::max_element(told.begin(), told.end()));
    }
    if (times.empty()) continue;
    const double slowest = 1e3 * median(times);
    if (!(slowest <= worst)) {
      worst = slowest;
      where = file;
    }
    figures.push_back(
        {fmt::format("a mode never compiled before, {}", file), slowest, "ms", 20,
         fmt::format("the slowest of {} that its run enters, and what else happens at the instant", count)});
    if (options.smoke) break;
  }
  figures.push_back({"a mode never compiled before: the slowest example", worst, "ms", 20, where});
  for (const std::string& file : files) {
    std::vector<double> texts, codes;
    double structures = 0;
    for (int i = 0; i < (options.smoke ? 1 : 5); ++i) {
      const std::vector<double> told = numbers_in_child(3, [&]() -> std::vector<double> {
        const Compilation c = compile_structures(file);
        return {c.text, c.code, c.structures};
      });
      texts.push_back(told[0]);
      codes.push_back(told[1]);
      structures = told[2];
    }
    figures.push_back(
        {fmt::format("the whole world, text to code, {}", file), 1e3 * (median(texts) + median(codes)), "ms", 0,
         fmt::format("text to instructions {:.1f} ms, code of {} structures {:.1f} ms: {:.1f} ms each",
                     1e3 * median(texts), structures, 1e3 * median(codes), 1e3 * median(codes) / structures)});
    if (options.smoke) break;
  }
  double longest = 0;
  for (const std::string& file : files) {
    const std::vector<double> told = numbers_in_child(2, [&] { return check_seconds(file); });
    const double seconds = told[0];
    const double pairs = told[1];
    if (!(seconds <= longest)) {
      longest = seconds;
      where = file;
    }
    figures.push_back({fmt::format("check {}", file), seconds, "s", 2, fmt::format("{} pairs of transitions", pairs)});
    if (options.smoke) break;
  }
  figures.push_back({"check: the slowest example", longest, "s", 2, where});
  return figures;
}

std::vector<Figure> measure_instants(const Options& options, const std::vector<std::string>& files) {
  std::vector<Figure> figures;
  double slowest = 0;
  std::string where;
  for (const std::string& file : files) {
    const Walked walked = walk(file, options.smoke);
    if (!walked.plans.empty()) {
      figures.push_back(
          {fmt::format("a plan, {}", file), 1e-3 * median(walked.plans), "ms",
           file == "dueling_spaceships.tact" ? 5.0 : 0.0,
           fmt::format("{} plans, at worst {:.3g} ms, at most {} motions tried out", walked.plans.size(),
                       1e-3 * *std::max_element(walked.plans.begin(), walked.plans.end()), walked.most_motions)});
    }
    if (!walked.switches.empty()) {
      const double worst = *std::max_element(walked.switches.begin(), walked.switches.end());
      figures.push_back(
          {fmt::format("a switch between structures, {}", file), median(walked.switches), "us", 2,
           fmt::format("{} structures, {} switches, at worst {:.3g} us; jump equations, handlers, guards and "
                       "checks included; all at the instant {:.3g} us",
                       walked.structures, walked.switches.size(), worst, median(walked.instants))});
      if (!(median(walked.switches) <= slowest)) {
        slowest = median(walked.switches);
        where = file;
      }
    }
    if (options.smoke && !figures.empty()) break;
  }
  figures.push_back({"a switch between structures: the slowest example", slowest, "us", 2, where});
  return figures;
}

}  // namespace

std::vector<Figure> measure_hybrid(const Options& options) {
  const std::vector<std::string> files = hybrid_examples();
  std::vector<Figure> figures;
  const auto add = [&](std::vector<Figure> more) { figures.insert(figures.end(), more.begin(), more.end()); };
  // Those that fork come first: a child must not inherit a running JIT.
  add(measure_marathons(options));
  add(measure_compilations(options, files));
  add(measure_instants(options, files));
  add(measure_bounces(options));
  return figures;
}

}  // namespace bench
