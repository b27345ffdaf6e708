// An rk4 step of four models: compiled by us, and written by hand with our elementary functions and with libm's.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "api/load.h"
#include "bench.h"
#include "compiler/emit_llvm/jit.h"
#include "hand_written.h"
#include "kernel/kernel.h"
#include "runtime/sim/instance.h"

namespace bench {
namespace {

constexpr double h = 1e-3;
constexpr std::int64_t steps_per_sample = 20'000;  // about a millisecond: most samples are not interrupted
constexpr std::int64_t steps_to_agree = 1000;      // before chaos magnifies rounding

// A model's optimised table and an Instance at its start.
class Ours {
 public:
  Ours(const std::string& file, const LinearInput* input) {
    auto compiled = api::compile_files({std::string(TACTUS_SOURCE_DIR) + "/examples/" + file}, {}, false);
    if (!compiled.program) {
      fmt::print(stderr, "{}", diag::render_text(compiled.diags, compiled.sources, false));
      std::exit(1);
    }
    jit_.emplace(std::move(*compiled.program));
    model_ = jit_->wait_optimised();
    if (!jit_->optimised()) fmt::print(stderr, "{}: no optimised tier\n", file);
    instance_.emplace(*model_);
    input_ = input;
  }

  void start() {
    tk_reset(model_, instance_->get());
    if (input_) {
      (*instance_)->input_time = input_->from;
      for (std::uint32_t i = 0; i < model_->input_count && i < 2; ++i) {
        instance_->section(model_->layout.inputs)[i] = input_->value[i];
        instance_->section(model_->layout.input_rates)[i] = input_->rate[i];
      }
    }
    tk_start(model_, instance_->get());
  }
  void run(std::int64_t count) { model_->fixed_steps(model_, instance_->get(), TACTUS_RK4, h, count); }

  double parameter(const char* name) const {
    for (std::uint32_t i = 0; i < model_->parameter_count; ++i) {
      if (std::strcmp(model_->parameters[i].name, name) == 0) return model_->parameters[i].initial;
    }
    fmt::print(stderr, "no parameter {}\n", name);
    std::exit(1);
  }
  double state(const std::string& name) {
    for (std::uint32_t i = 0; i < model_->state_count; ++i) {
      if (name == model_->state_names[i]) return instance_->states()[i];
    }
    fmt::print(stderr, "no state {}\n", name);
    std::exit(1);
  }

 private:
  std::optional<emit_llvm::CompiledModel> jit_;
  const tactus_model* model_ = nullptr;
  std::optional<sim::Instance> instance_;
  const LinearInput* input_ = nullptr;
};

// `names` are the states in the order of the hand-written code.
template <std::size_t N, class Model>
void compare(const std::string& what, Ours& ours, const Model& model, const std::array<const char*, N>& names,
             void (*with_ours)(const Model&, std::span<double, N>, double, double, std::int64_t),
             void (*with_libm)(const Model&, std::span<double, N>, double, double, std::int64_t),
             const Options& options, std::vector<Figure>& figures) {
  ours.start();
  std::array<double, N> start;
  for (std::size_t i = 0; i < N; ++i) start[i] = ours.state(names[i]);

  // The same motion, or the comparison means nothing.
  std::array<double, N> by_ours = start, by_libm = start;
  with_ours(model, by_ours, 0, h, steps_to_agree);
  with_libm(model, by_libm, 0, h, steps_to_agree);
  ours.run(steps_to_agree);
  for (std::size_t i = 0; i < N; ++i) {
    double scale = 1e-9 * (1 + std::abs(by_ours[i]));
    if (!(std::abs(ours.state(names[i]) - by_ours[i]) < scale) || !(std::abs(by_libm[i] - by_ours[i]) < scale))
      fmt::print(stderr, "{}: {} differs: {} compiled, {} by hand, {} with libm\n", what, names[i],
                 ours.state(names[i]), by_ours[i], by_libm[i]);
  }

  std::vector<double> time_jit, time_ours, time_libm, to_ours, to_libm;
  for (int pair = 0; pair < options.pairs; ++pair) {
    auto timed = [](auto work) {
      double before = thread_seconds();
      work();
      return (thread_seconds() - before) / steps_per_sample * 1e9;
    };
    ours.start();
    by_ours = by_libm = start;
    auto jit = [&] { time_jit.push_back(timed([&] { ours.run(steps_per_sample); })); };
    auto hand = [&] { time_ours.push_back(timed([&] { with_ours(model, by_ours, 0, h, steps_per_sample); })); };
    // Whoever comes first may find a colder machine: take turns.
    if (pair % 2) {
      hand();
      jit();
    } else {
      jit();
      hand();
    }
    time_libm.push_back(timed([&] { with_libm(model, by_libm, 0, h, steps_per_sample); }));
    to_ours.push_back(time_jit.back() / time_ours.back());
    to_libm.push_back(time_jit.back() / time_libm.back());
  }
  std::string times = fmt::format("{:.1f} ns a step, by hand {:.1f}, with libm {:.1f}", median(time_jit),
                                  median(time_ours), median(time_libm));
  figures.push_back({"rk4 step, " + what + ": compiled / by hand", median(to_ours), "", 1.1, times});
  figures.push_back({"rk4 step, " + what + ": compiled / with libm", median(to_libm), "", 1.0, ""});
}

}  // namespace

std::vector<Figure> measure_fixed_steps(const Options& options) {
  std::vector<Figure> figures;
  {
    Ours ours("ball_on_spring.tact", nullptr);
    BallOnSpring model{ours.parameter("m"), ours.parameter("k")};
    compare<4>("ball on spring", ours, model, {"p[1]", "p[2]", "p'[1]", "p'[2]"}, hand_written_with_ours.ball_on_spring,
               hand_written_with_libm.ball_on_spring, options, figures);
  }
  {
    LinearInput hand{{1, 2}, {0.5, -0.25}, 0};
    Ours ours("two_ball.tact", &hand);
    TwoBall model{ours.parameter("k"), ours.parameter("b"), ours.parameter("m"), hand};
    compare<4>("two-ball", ours, model, {"black_ball[1]", "black_ball[2]", "black_ball'[1]", "black_ball'[2]"},
               hand_written_with_ours.two_ball, hand_written_with_libm.two_ball, options, figures);
  }
  {
    LinearInput hand{{0.1, 0}, {0.001, 0}, 0};
    Ours ours("inverted_pendulum.tact", &hand);
    CartPendulum model{ours.parameter("k_h"), hand};
    compare<4>("cart pendulum", ours, model, {"a", "a'", "x", "x'"}, hand_written_with_ours.cart_pendulum,
               hand_written_with_libm.cart_pendulum, options, figures);
  }
  {
    Ours ours("van_der_pol.tact", nullptr);
    VanDerPol model{ours.parameter("mu")};
    compare<2>("van der Pol, mu = 5", ours, model, {"x", "x'"}, hand_written_with_ours.van_der_pol,
               hand_written_with_libm.van_der_pol, options, figures);
  }
  return figures;
}

}  // namespace bench
