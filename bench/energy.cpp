// What it costs to keep the balance of energy: a step of the discrete gradient and of Algorithm 1 beside one of rk4 on
// the same pendulum; a sample of the Passive Sample and Hold; a chain of 100 masses and springs at 1 kHz.
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "bench.h"
#include "kernel/kernel.h"
#include "peers.h"

namespace bench {
namespace {

void measure_pendulum(const Options& options, std::vector<Figure>& figures) {
  const std::string text = R"(boundary q(0) = 1, p(0) = 0.5;
system
  q' = p;  p' = -sin(q);
  energy H = p^2 / 2 - cos(q);
)";
  // Each as a person gets it who writes this solver: with the loop that is made for it.
  const auto compiled = [&](const std::string& settings) {
    return OurModel("pendulum.tact", "simulation step_size = 0.1 " + settings + "\n" + text);
  };
  const OurModel by_rk4 = compiled("solver = rk4");
  const OurModel by_gradient = compiled("solver = discrete_gradient");
  const OurModel by_midpoint = compiled("solver = midpoint");
  const OurModel loose = compiled("solver = passive tolerance = 1e-9");
  const double h = 0.1;
  const double end = options.smoke ? 100 : 20'000;
  const auto by = [&](const OurModel& of, tactus_solver solver) {
    return [&, solver] { return of.run(solver, h, end); };
  };
  std::vector<Way<Run>> ways = {{"rk4", by(by_rk4, TACTUS_RK4)},
                                {"discrete gradient", by(by_gradient, TACTUS_DISCRETE_GRADIENT)},
                                {"Algorithm 1 at 1e-9", by(loose, TACTUS_PASSIVE)},
                                {"midpoint", by(by_midpoint, TACTUS_MIDPOINT)}};
  interleave(ways, options.pairs);
  for (const Way<Run>& way : ways) {
    figures.push_back({fmt::format("pendulum with energy, a step: {}", way.name),
                       1e9 * median(way.seconds) / static_cast<double>(way.last.steps), "ns", 0, ""});
  }
  const double goals[] = {0, 4, 3, 0};
  for (std::size_t k = 1; k < ways.size(); ++k) {
    figures.push_back({fmt::format("pendulum with energy: {} / rk4", ways[k].name),
                       median(ways[k].seconds) / median(ways[0].seconds), "", goals[k], ""});
  }
}

void measure_hold(const Options& options, std::vector<Figure>& figures) {
  const int ratio = 50;
  const int periods = options.smoke ? 100 : 200'000;
  double hold[TK_HOLD_SIZE] = {};
  double q = 0;
  double p = 2;
  const auto begin = std::chrono::steady_clock::now();
  for (int n = 0; n < periods; ++n) {
    p += 0.05 * tk_hold_slow_sample(hold, 0.05, p / 2, -q);
    for (int k = 0; k < ratio; ++k) {
      tk_hold_fast_sample(hold, -q);
      q += 0.001 * p / 2;
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  figures.push_back({"Passive Sample and Hold, a fast step", 1e9 * seconds / (static_cast<double>(periods) * ratio),
                     "ns", 50, fmt::format("kept {:.3g} J", hold[TK_HOLD_ENERGY])});
}

void measure_chain(const Options& options, std::vector<Figure>& figures) {
  const OurModel model("chain.tact", R"(constant n = 100, k = 400, m = 0.1;
boundary
  for i in 1..n { q[i](0) = 0; }
  p[1](0) = 0.1;  for i in 2..n { p[i](0) = 0; }
system
  for i in 1..n { q[i]' = p[i] / m; }
  r[1] = q[1];  for i in 2..n { r[i] = q[i] - q[i - 1]; }
  for i in 1..n - 1 { p[i]' = -k * r[i] + k * r[i + 1]; }
  p[n]' = -k * r[n];
  energy H = sum(i in 1..n: p[i]^2) / (2 * m) + k * sum(i in 1..n: r[i]^2) / 2;
)");
  const double end = options.smoke ? 0.1 : 5;
  std::vector<Way<Run>> ways = {{"passive", [&] { return model.run(TACTUS_PASSIVE, 1e-3, end); }},
                                {"rk4", [&] { return model.run(TACTUS_RK4, 1e-3, end); }}};
  interleave(ways, options.pairs);
  for (const Way<Run>& way : ways) {
    figures.push_back({fmt::format("100 masses and springs at 1 kHz, {}: of a core", way.name),
                       100 * median(way.seconds) / end, "%", &way == &ways.front() ? 10.0 : 0.0, ""});
  }
}

// The same chain as 100 instances with rates of their own, joined passively: equal rates, and every other one at half
// the rate.
void measure_joined(const Options& options, std::vector<Figure>& figures) {
  const auto chain = [](const char* odd, const char* even) {
    return fmt::format(R"(constant n = 100, k = 400, m = 0.1;
module Link = (
  parameter p0 = 0;
  boundary q(0) = 1e-6;  p(0) = p0;
  system q' = v + before;  p' = after - k * q;  v = p / m;  F = k * q;
  energy H = k * q^2 / 2 + p^2 / (2 * m);
  power left: before -> F;
  power right: after -> v;
)
system
  odd[i in 1..n / 2] = Link(p0 = if i = 1 then 0.1 else 0) {};
  even[i in 1..n / 2] = Link() {};
  for i in 1..n / 2 {{ join odd[i].right to even[i].left; }}
  for i in 2..n / 2 {{ join even[i - 1].right to odd[i].left; }}
  odd[1].before = 0;
  even[n / 2].after = 0;
)",
                       odd, even);
  };
  const OurModel equal("joined.tact", chain("rate 1 [kHz]", "rate 1 [kHz]"));
  const OurModel mixed("joined_mixed.tact", chain("rate 1 [kHz]", "rate 500 [Hz]"));
  const double end = options.smoke ? 0.1 : 5;
  std::vector<Way<Run>> ways = {{"equal rates", [&] { return equal.run(TACTUS_PASSIVE, 1e-3, end); }},
                                {"every other at 500 Hz", [&] { return mixed.run(TACTUS_PASSIVE, 1e-3, end); }}};
  interleave(ways, options.pairs);
  for (const Way<Run>& way : ways) {
    figures.push_back({fmt::format("100 joined masses at 1 kHz, each a subsystem, {}: of a core", way.name),
                       100 * median(way.seconds) / end, "%", 10.0, ""});
  }
}

}  // namespace

std::vector<Figure> measure_energy(const Options& options) {
  std::vector<Figure> figures;
  measure_pendulum(options, figures);
  measure_hold(options, figures);
  measure_chain(options, figures);
  measure_joined(options, figures);
  return figures;
}

}  // namespace bench
