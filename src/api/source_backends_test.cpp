// Every example, and random models written as source text, compute the same bits on every backend: the whole way from
// the text.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "api/load.h"
#include "compiler/emit_llvm/testing/agreement.h"
#include "compiler/emit_llvm/testing/compare.h"
#include "compiler/emit_llvm/wasm.h"
#include "compiler/tangent/needed.h"

namespace {

using backend_testing::Plan;

ir::Program compiled(api::Compiled result, const std::string& text) {
  if (!result.program) ADD_FAILURE() << diag::render_text(result.diags, result.sources, false) << text;
  if (!result.program) return {};
  return std::move(*result.program);
}

// With what the plan's solver and the kernel need.
ir::Program for_plan(ir::Program program, const Plan& plan) {
  const bool is_stiff = tactus_is_stiff_solver(plan.solver);
  tangent::add_needed(program, is_stiff ? tangent::only(TACTUS_OF_DERIVATIVE) : tangent::none);
  return program;
}

TEST(SourceBackends, EveryExampleAgreesWithEverySolver) {
  std::vector<ir::Program> programs;
  std::vector<Plan> plans;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(TACTUS_SOURCE_DIR "/examples")) {
    // The seed's listings as printed are completed elsewhere; only fig. 2 is a whole program.
    bool is_model = entry.path().extension() == ".tact" || entry.path().filename() == "fig2.phydl";
    if (!is_model) continue;
    ir::Program program = compiled(api::compile_files({entry.path().string()}, {}, false), entry.path().string());
    // A jump is more than firing an event by hand: worlds with modes or jumps go in parts, as the kernel makes and
    // fires them.
    const bool is_hybrid = !program.structures.empty() ||
                           std::any_of(program.events.begin(), program.events.end(),
                                       [](const ir::Event& event) { return event.kind == TACTUS_TRANSITION; });
    for (Plan plan : backend_testing::plans_of_all_solvers(0.01, 5)) {
      if (is_hybrid && plan.solver != TACTUS_RK4 && plan.solver != TACTUS_TSIT5) continue;
      plan.parts = is_hybrid;
      programs.push_back(for_plan(program, plan));
      plans.push_back(plan);
    }
  }
  ASSERT_GE(programs.size(), 7u * 8u);
  EXPECT_EQ(backend_testing::compare_all_backends(programs, plans).difference, "");
}

// A model of every form that this version compiles: orders one to three, vectors, functions, parameters, constants,
// definitions whose derivative is used, linear loops of two to five unknowns, Newton blocks, conditions, inputs.
class RandomText {
 public:
  explicit RandomText(std::uint64_t seed) : random_(seed) {}

  std::string text() {
    std::string boundary, system;
    std::string head = "parameter k = " + number() + ", m = " + number() + " in 0..100;\nconstant c = " + number() +
                       ";\nfunction f(a, b) = a * cos(b) - " + number() + " * b / (1 + a^2);\nexternal hand reads u\n";
    int states = 1 + pick(4);
    for (int i = 1; i <= states; ++i) names_.push_back("x" + std::to_string(i));
    names_.push_back("u[1]");
    names_.push_back("u[2]");
    for (int i = 1; i <= states; ++i) {
      int order = 1 + pick(3);
      std::string x = "x" + std::to_string(i);
      std::string damping;
      for (int d = 0; d < order; ++d) {
        std::string name = x + std::string(static_cast<std::size_t>(d), '\'');
        boundary += "  " + name + "(0) = " + (d == 0 && i > 1 ? "k - x1" : number()) + ";\n";
        damping += " - " + name;
      }
      system += "  " + x + std::string(static_cast<std::size_t>(order), '\'') + " = sin(" + expression(2) + ")" +
                damping + ";\n";
    }
    boundary += "  p with p(0) = (1, 2), p'(0) = (0, " + number() + ");\n";
    system += "  m * p'' + k * p + (0, c) * p' = (sin(x1), " + number() + ");\n  r = norm(p);  q = rotate(p, x1)[1];\n";
    names_.insert(names_.end(), {"r", "q", "p[1]", "p'[2]"});
    system += "  w = sin(t) + x1 * " + number() + ";\n  s = w' + " + expression(1) + ";\n";
    names_.push_back("s");
    int loop = 2 + pick(4);
    for (int i = 1; i <= loop; ++i) {
      system += "  ";
      for (int j = 1; j <= loop; ++j)
        system += (i == j ? std::to_string(loop + 2) : number()) + " * y" + std::to_string(j) + (j < loop ? " + " : "");
      system += " = sin(" + expression(1) + ");\n";
    }
    system += "  z + z^3 + exp(z) / 10 = " + expression(1) + ";\n  g = if y1 > " + number() +
              " && !(z < 0) then clamp(s, -1, 1) else min(z, y2, x1);\n";
    return "simulation step_size = 0.01\n" + head + "boundary\n" + boundary + "system\n" + system;
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  std::string number() { return "0." + std::to_string(1 + pick(99)); }
  std::string name() { return names_[static_cast<std::size_t>(pick(static_cast<int>(names_.size())))]; }
  std::string expression(int depth) {
    if (depth == 0) return pick(3) ? name() : number();
    std::string a = expression(depth - 1);
    std::string b = expression(depth - 1);
    switch (pick(9)) {
      case 0:
        return a + " + " + b;
      case 1:
        return "(" + a + " - " + b + ") / m";
      case 2:
        return a + " * (" + b + ")";
      case 3:
        return "f(" + a + ", " + b + ")";
      case 4:
        return "atan2(" + a + ", 1 + (" + b + ")^2)";
      case 5:
        return "abs(" + a + ") + floor(" + b + ")";
      case 6:
        return "if " + a + " < " + b + " then k else -c";
      case 7:
        return "sqrt(1 + (" + a + ")^2) * log(2 + (" + b + ")^2)";
      default:
        return "tan(sin(" + a + ")) - power(1 + abs(" + b + "), 0.3)";
    }
  }

  std::mt19937_64 random_;
  std::vector<std::string> names_;
};

// Every form of data at once: tables of all methods and of both dimensions, with their derivatives, delays of states,
// of what is computed and of noise, and a delay's own derivative.
TEST(SourceBackends, TablesDelaysAndNoiseAgree) {
  const std::string text = R"(
simulation step_size = 0.01
parameter lag = 0.13, k = 2;
function drag(v) = table("curve.csv", cubic, column = "drag")(v);
boundary x(0) = 0.3, y(0) = 1, q(0) = (0, 1);
system
  x' = -k * delay(x, lag) + 0.1 * noise(4, 3);
  y' = -drag(y) + table("map.csv", cubic)(x, y) + delay(sin(3 * t) * y, 0.2);
  q' = table("curve.csv")(x) - q + table("curve.csv", hold, column = 2)(delay(q, 2 * lag));
  late = delay(x, lag)' + delay(noise(5), lag);
  slope = diff(drag(x) + table("map.csv")(x, y), x);
)";
  compiler::Options options;
  options.read_file = [](const std::string&, const std::string& path) -> std::optional<source::File> {
    if (path == "curve.csv")
      return source::File{path, "v, drag, lift\n-1, -2, 0\n0, 0, 0.5\n0.4, 0.3, 0.6\n2, 5, -1\n"};
    return source::File{path, "-, -1, 0, 1\n-1, 0, 0.1, 0.3\n0, 0.2, 0.1, 0.5\n1, 0.4, 0.4, -0.2\n"};
  };
  std::vector<ir::Program> programs;
  const std::vector<Plan> plans = backend_testing::plans_of_all_solvers(0.01, 3);
  for (std::size_t i = 0; i < plans.size(); ++i)
    programs.push_back(for_plan(compiled(api::compile_text("data.tact", text, options), text), plans[i]));
  ASSERT_FALSE(HasFailure());
  backend_testing::Agreement agreement = backend_testing::compare_all_backends(programs, plans);
  EXPECT_EQ(agreement.difference, "");
  EXPECT_EQ(agreement.ran_to_the_end, programs.size());
}

// Subsystems: every manner of joining, vectors, equal and other rates, and the rest of the model.
TEST(SourceBackends, RatesAgree) {
  const std::string text = R"(
simulation step_size = 0.004
parameter k = 2;
module Spring = ( boundary q(0) = (0.1, 0);  system q' = v;  F = k * q + 0.1 * v;  energy H = k * dot(q, q) / 2;  power end: v -> F; )
module Mass = ( boundary p(0) = (1, 0.5);  system p' = F - 0.1 * sin(t) * p;  v = p / 3;  energy H = dot(p, p) / 6;  power end: F -> v; )
system
  a = Spring() rate 1 [kHz];    b = Mass() rate 50 [Hz];    join a.end to b.end;
  c = Spring() rate 500 [Hz];   d = Mass() rate 100 [Hz];   join c.end to d.end extrapolate;
  e = Spring() rate 250 [Hz];   f = Mass() rate 250 [Hz];   join e.end to f.end;
  g = Spring() rate 1 [kHz];    h = Mass();                 join g.end to h.end;
  i = Spring() rate 1 [kHz];    j = Mass() rate 20 [Hz];    join j.end to i.end hold;
  low = min(a.q[1], f.p[2]);
)";
  std::vector<ir::Program> programs;
  const std::vector<Plan> plans = backend_testing::plans_of_all_solvers(0.001, 1);
  for (const Plan& plan : plans)
    programs.push_back(for_plan(compiled(api::compile_text("rates.tact", text, {}), text), plan));
  ASSERT_FALSE(HasFailure());
  const backend_testing::Agreement agreement = backend_testing::compare_all_backends(programs, plans);
  EXPECT_EQ(agreement.difference, "");
  EXPECT_EQ(agreement.ran_to_the_end, programs.size());
}

// What keeps energy, by every solver that does: storages, energies, ports and friction; mechanisms in (q, v);
// guards; rates with every manner of joining, a guard and equal rates among them. All in one C library and one wasm
// module.
TEST(SourceBackends, EnergiesAgree) {
  struct Text {
    std::string text;
    std::vector<int> solvers;
  };
  const std::vector<Text> texts = {
      {R"(
parameter b = 0.2;
boundary q(0) = 1;  p(0) = 0;  x(0) = 0.5;  y(0) = 0;
system
  storage (q, p) energy H = p^2 / 2 - cos(q)
    structure J = ((0, 1), (-1, 0)), R = ((0, 0), (0, b)), G = (0, 1)
    power motor: F -> v;
  F = 0.3 * sin(t);
  x' = y;  y' = -x - x^3;
  energy E = y^2 / 2 + x^2 / 2 + x^4 / 4;
)",
       {TACTUS_MIDPOINT, TACTUS_PASSIVE, TACTUS_PASSIVE_BS3, TACTUS_PASSIVE_RK4, TACTUS_DISCRETE_GRADIENT,
        TACTUS_GONZALEZ, TACTUS_MEAN_VALUE}},
      {R"(
parameter m = 0.7;
boundary a with a(0) = 1, a'(0) = 0;  x with x(0) = 0, x'(0) = 0.2;
system
  2 * x'' + m * cos(a) * a'' = m * sin(a) * a'^2 - x;
  m * cos(a) * x'' + m * a'' = -9.81 * m * sin(a) - 0.1 * a';
  energy H = x'^2 + m / 2 * a'^2 + m * cos(a) * x' * a' - 9.81 * m * cos(a) + x^2 / 2;
)",
       {TACTUS_MIDPOINT, TACTUS_DISCRETE_GRADIENT}},
      {R"(
module Active = ( boundary q(0) = (0, 0);  system q' = v;  F = q - 0.5 * v;  energy H = dot(q, q) / 2;  power end: v -> F; )
module Mass = ( boundary p(0) = (2, 1);  system p' = F;  v = p / 2;  energy H = dot(p, p) / 4;  power end: F -> v; )
system
  a = Active();  b = Mass();  join a.end to b.end;
  guard a.end reserve 0.1;
)",
       {TACTUS_PASSIVE, TACTUS_DISCRETE_GRADIENT}},
      {R"(
parameter k = 2;
module Spring = ( boundary q(0) = (0.1, 0);  system q' = v;  F = k * q + 0.1 * v;  energy H = k * dot(q, q) / 2;  power end: v -> F; )
module Mass = ( boundary p(0) = (1, 0.5);  system p' = F - 0.1 * sin(t) * p;  v = p / 3;  energy H = dot(p, p) / 6;  power end: F -> v; )
module Bare = ( boundary q(0) = 0;  system q' = v;  F = q;  energy H = q^2 / 2;  power end: v -> F; )
module Point = ( boundary p(0) = 2;  system p' = F;  v = p / 2;  energy H = p^2 / 4;  power end: F -> v; )
system
  a = Spring() rate 100 [Hz];   b = Mass() rate 50 [Hz];    join a.end to b.end passive;
  c = Spring() rate 100 [Hz];   d = Mass() rate 25 [Hz];    join c.end to d.end extrapolate;
  e = Spring() rate 50 [Hz];    f = Mass() rate 50 [Hz];    join e.end to f.end;
  g = Bare() rate 100 [Hz];     h = Point() rate 100 [Hz];  join g.end to h.end;
  i = Spring() rate 100 [Hz];   j = Mass() rate 20 [Hz];    join j.end to i.end hold;
  guard i.end;
)",
       {TACTUS_PASSIVE, TACTUS_PASSIVE_RK4, TACTUS_DISCRETE_GRADIENT}},
  };
  std::vector<ir::Program> programs;
  std::vector<Plan> plans;
  for (const Text& text : texts) {
    const std::string whole = "simulation step_size = 0.01\n" + text.text;
    for (const int solver : text.solvers) {
      Plan plan;
      plan.solver = solver;
      plan.h = 0.01;
      plan.t_end = 5;
      programs.push_back(for_plan(compiled(api::compile_text("energy.tact", whole, {}), whole), plan));
      plans.push_back(plan);
    }
  }
  ASSERT_FALSE(HasFailure());
  EXPECT_FALSE(programs[0].core.empty());  // `slopes` is in it
  const backend_testing::Agreement agreement = backend_testing::compare_all_backends(programs, plans);
  EXPECT_EQ(agreement.difference, "");
  EXPECT_EQ(agreement.ran_to_the_end, programs.size());
}

TEST(SourceBackends, RandomTextsAgree) {
  std::vector<ir::Program> programs;
  std::vector<Plan> plans;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::string text = RandomText(seed).text();
    const Plan plan = backend_testing::plans_of_all_solvers(0.01, 3)[seed % 8];
    ir::Program program = compiled(api::compile_text("random" + std::to_string(seed) + ".tact", text, {}), text);
    programs.push_back(for_plan(std::move(program), plan));
    plans.push_back(plan);
  }
  ASSERT_FALSE(HasFailure());
  backend_testing::Agreement agreement = backend_testing::compare_all_backends(programs, plans);
  EXPECT_EQ(agreement.difference, "");
  EXPECT_GT(agreement.ran_to_the_end, 180u);
}

// A module watches its checks as a run does, up to its end: exit code 3 says that one is broken, 0 that all hold; `stop
// when` ends well.
TEST(SourceBackends, ChecksAreWatchedInWasm) {
  if (!backend_testing::has_node()) GTEST_SKIP() << "node is not installed";
  const std::string world = R"(simulation ending_time = 2 step_size = 0.01
boundary y with y(0) = 1, y'(0) = 0;
system
  y'' = -9.81;
  transition Bounce when y <= 0 && y' < 0 { next(y') = -0.7 * y'; }
  E = y'^2 / 2 + 9.81 * y;
)";
  const std::vector<std::pair<std::string, int>> ends = {
      {"check\n  losing: Bounce -> next(E) <= E;\n  again: always(Bounce -> eventually[0..1.9](Bounce));\n", 0},
      {"check\n  never: eventually[0..1.5](y > 2);\n", 3},
      {"system\n  stop when y < 0.5 \"half way\";\n", 0},
      {"system\n  require y > 0.5 else \"too low\";\n", 4},
  };
  const std::string path = testing::TempDir() + "checks.wasm";
  for (const auto& [rest, code] : ends) {
    const ir::Program program = compiled(api::compile_text("checks.tact", world + rest, {}), rest);
    std::string failure;
    const std::vector<std::uint8_t> wasm = emit_llvm::emit_wasm(program, failure);
    ASSERT_FALSE(wasm.empty()) << failure;
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(wasm.data()), std::ssize(wasm));
    const int status =
        std::system(("node '" TACTUS_SOURCE_DIR "/tests/wasm_run.mjs' '" + path + "' > /dev/null 2>&1").c_str());
    EXPECT_EQ(WEXITSTATUS(status), code) << rest;
  }
}

}  // namespace
