// Exported C builds without warnings by two compilers, and its main writes the rows of sim::run, bit for bit; and so
// does tests/wasm_run.mjs.
#include "export/export_c.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/emit_llvm/jit.h"
#include "compiler/emit_llvm/testing/compare.h"
#include "compiler/emit_llvm/testing/sample_programs.h"
#include "compiler/emit_llvm/wasm.h"
#include "compiler/tangent/tangent.h"
#include "export/amalgamate.h"
#include "runtime/sim/plan.h"
#include "runtime/sim/run.h"

namespace exporting {
namespace {

namespace fs = std::filesystem;
using backend_testing::Trail;

class ExportC : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tactus-export-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const ir::Program& program, const std::string& name) {
    std::string failure;
    ASSERT_TRUE(write_c(program, folder_, {name}, failure)) << failure;
  }
  // `make` with these flags, warnings being errors.
  bool make(const std::string& compiler, const std::string& flags) {
    return shell(fmt::format("make -s -B -C '{}' CC={} CFLAGS='{} -Wall -Wextra -Wpedantic -Werror'", folder_.string(),
                             compiler, flags)) == 0;
  }
  static int shell(const std::string& command) { return WEXITSTATUS(std::system(command.c_str())); }

  fs::path folder_;
};

struct Csv {
  std::string header;
  Trail values;
  int exit_code = 0;
};

Csv run_program(const std::string& command) {
  Csv csv;
  std::FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer;
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), count);
  csv.exit_code = WEXITSTATUS(pclose(pipe));
  std::istringstream lines(text);
  std::getline(lines, csv.header);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) csv.values.push_back(std::strtod(cell.c_str(), nullptr));
  }
  return csv;
}

// The rows of sim::run: time and every channel but the derivatives.
class Rows : public sim::Observer {
 public:
  explicit Rows(const tactus_model& model) : model_(model) {}
  bool row(double t, std::span<const double> outputs) override {
    values.push_back(t);
    for (std::uint32_t k = 0; k < model_.channel_count; ++k) {
      const tactus_channel& c = model_.channels[k];
      if (c.flags & TACTUS_CHANNEL_DERIVATIVE) continue;
      for (std::uint32_t n = 0; n < c.rows * c.columns; ++n) values.push_back(outputs[c.at + n]);
    }
    return true;
  }
  Trail values;

 private:
  const tactus_model& model_;
};

struct Options {
  const char* words;
  sim::Settings settings;
};

TEST_F(ExportC, MainWritesTheRowsOfARun) {
  const std::vector<Options> all = {
      {"", {}},
      {"--every 0.25", {.every = 0.25}},
      {"--until 3.14159 --step 0.017 --every 0.05", {.step = 0.017, .until = 3.14159, .every = 0.05}},
      {"--solver tsit5 --tolerance 1e-8", {.solver = TACTUS_TSIT5, .tolerance = 1e-8}},
      {"--solver euler --step 0.01", {.solver = TACTUS_EULER, .step = 0.01}},
      {"--solver bs3 --until 2", {.solver = TACTUS_BS3, .until = 2}},
      {"--solver dop853 --every 0.1 --until 1.23", {.solver = TACTUS_DOP853, .until = 1.23, .every = 0.1}},
      {"--solver rosenbrock --tolerance 1e-5", {.solver = TACTUS_ROSENBROCK, .tolerance = 1e-5}},
      {"--solver rosenbrock --step 0.02 --every 0.03 --until 1",
       {.solver = TACTUS_ROSENBROCK, .step = 0.02, .until = 1, .every = 0.03}},
      {"--solver midpoint --step 0.02 --until 1", {.solver = TACTUS_MIDPOINT, .step = 0.02, .until = 1}},
      {"--solver passive --step 0.02", {.solver = TACTUS_PASSIVE, .step = 0.02}},
      {"--solver discrete_gradient --step 0.02", {.solver = TACTUS_DISCRETE_GRADIENT, .step = 0.02}},
  };
  const std::vector<ir::Program> samples = backend_testing::all_samples();
  for (std::size_t k = 0; k < samples.size(); ++k) {
    ir::Program program = samples[k];
    // Each sample with another way of its own, so that every specialised loop is met.
    program.solver = static_cast<int>(k % TACTUS_CVODE) - 1;
    tangent::add(program, tangent::only(TACTUS_OF_DERIVATIVE));
    if (k % 3 == 1) program.record_period = 0;
    write(program, "sample");
    // Each compiler, optimising and not: optimised, the file takes four times as long to compile.
    ASSERT_TRUE(make(k % 2 ? "gcc" : "clang-19", k % 4 < 2 ? "-O2" : "-O0")) << program.name;
    std::string failure;
    const std::vector<std::uint8_t> wasm = emit_llvm::emit_wasm(program, failure);
    std::ofstream(folder_ / "sample.wasm", std::ios::binary)
        .write(reinterpret_cast<const char*>(wasm.data()), std::ssize(wasm));
    emit_llvm::CompiledModel jit(program, {.optimise = false});
    for (const Options& options : all) {
      if (tactus_needs_energy(options.settings.solver.value_or(TACTUS_RK4)) && program.ledger == 0) continue;
      const auto plan = sim::make_plan(*jit.current(), options.settings, failure);
      ASSERT_TRUE(plan) << failure;
      Rows rows(*jit.current());
      sim::Request request;
      request.table = [&] { return jit.current(); };
      request.plan = *plan;
      const sim::Outcome outcome = sim::run(request, &rows);
      const Csv csv = run_program(fmt::format("'{}/sample' {}", folder_.string(), options.words));
      EXPECT_EQ(backend_testing::first_difference(rows.values, csv.values), "") << program.name << " " << options.words;
      EXPECT_EQ(csv.exit_code, outcome.ending == sim::Ending::done ? 0 : 4) << program.name << " " << options.words;
      if (!backend_testing::has_node()) continue;
      const Csv in_wasm = run_program(fmt::format("node '{}/tests/wasm_run.mjs' '{}/sample.wasm' {}", TACTUS_SOURCE_DIR,
                                                  folder_.string(), options.words));
      EXPECT_EQ(backend_testing::first_difference(rows.values, in_wasm.values), "")
          << "wasm: " << program.name << " " << options.words;
      EXPECT_EQ(in_wasm.exit_code, csv.exit_code) << "wasm: " << program.name << " " << options.words;
      EXPECT_EQ(in_wasm.header, csv.header);
    }
  }
}

TEST_F(ExportC, BuildsWithoutWarningsAtEveryLevel) {
  write(backend_testing::driven(), "driven");
  for (const char* compiler : {"gcc", "clang-19"}) {
    for (const char* flags : {"-O0", "-O2", "-O3 -march=native"})
      EXPECT_TRUE(make(compiler, flags)) << compiler << " " << flags;
  }
}

TEST_F(ExportC, HeaderNamesComponents) {
  write(backend_testing::driven(), "driven");
  ASSERT_TRUE(make("cc", "-O0"));
  EXPECT_EQ(run_program((folder_ / "driven").string() + " --until 0.1").header,
            "t,x[1],x[2],force[1] [N],force[2] [N],m[1][1],m[1][2],m[2][1],m[2][2]");
}

TEST_F(ExportC, SetChangesAParameterAndMistakesAreRefused) {
  write(backend_testing::harmonic_oscillator(), "oscillator");
  ASSERT_TRUE(make("cc", "-O2"));
  const std::string program = (folder_ / "oscillator").string();
  const Csv plain = run_program(program);
  const Csv same = run_program(program + " --set w=1.25");
  const Csv other = run_program(program + " --set w=2");
  EXPECT_EQ(plain.values, same.values);
  // x(10) = cos(2 * 10), rk4 at h = 0.01: the error is about 1e-8.
  EXPECT_NEAR(other.values[other.values.size() - 2], std::cos(20.0), 1e-6);
  for (const char* mistake : {"--solver cvode", "--set q=1", "--set w", "--set w=x", "--until", "--until x",
                              "--until -1", "--step 0", "--solver y", "--z 1"}) {
    EXPECT_EQ(run_program(program + " " + mistake).exit_code, 2) << mistake;
  }
}

// Three models in one C++ program, through their headers.
TEST_F(ExportC, ModelsLinkTogetherAndAreReadByName) {
  write(backend_testing::harmonic_oscillator(), "first");
  write(backend_testing::driven(), "second");
  write(backend_testing::reactive(), "third");
  std::ofstream(folder_ / "both.cpp") << R"(
#include "first.h"
#include "second.h"
#include "third.h"
#include <vector>
int main() {
  std::vector<double> a(first_bytes() / 8), b(second_bytes() / 8);
  auto* i = reinterpret_cast<tactus_instance*>(a.data());
  auto* j = reinterpret_cast<tactus_instance*>(b.data());
  if (first_reset(i) || !first_set(i, "w", 2.0, 0) || first_set(i, "nothing", 1.0, 0) || first_start(i)) return 1;
  if (first_step(i, 0.001, 1000) || first_time(i) != 1.0) return 2;
  if (!(first_get(i, "x") < -0.416 && first_get(i, "x") > -0.4162)) return 3;  // cos(2)
  if (first_advance(i, 2.0, 1e-9) || !(first_get(i, "x") < -0.6536 && first_get(i, "x") > -0.6537)) return 4;  // cos(4)
  if (first_get(i, "x[1]") == first_get(i, "x[1]")) return 5;
  if (second_reset(j) || second_start(j) || second_step(j, 0.5, 1)) return 6;
  if (second_get(j, "m[2][1]") != 3.0 || second_get(j, "force[2]") != 1.5 || second_get(j, "m[3][1]") == 0.0) return 7;
  if (!second_set(j, "hand[2]", 1.0, 0) || second_set(j, "hand[3]", 1.0, 0) || second_set(j, "hand", 1.0, 0)) return 8;
  std::vector<double> c(third_bytes() / 8);
  auto* k = reinterpret_cast<tactus_instance*>(c.data());
  if (third_reset(k) || third_start(k) || third_step(k, 0.01, 20) || third_get(k, "a") != 1.0) return 9;
  if (third_step(k, 0.01, 10) || third_get(k, "a") == 1.0) return 10;  // `add` at t = 0.25
  if (third_advance(k, 0.75, 1e-6) || third_time(k) != 0.75) return 11;
  return 0;
}
)";
  const std::string command = fmt::format(
      "cd '{}' && cc -std=c11 -O1 -ffp-contract=off -Wall -Wextra -Wpedantic -Werror -DTACTUS_NO_MAIN -c first.c && "
      "cc -std=c11 -O1 -ffp-contract=off -Wall -Wextra -Wpedantic -Werror -DTACTUS_NO_MAIN -DTACTUS_NO_KERNEL -c "
      "second.c third.c && "
      "c++ -std=c++17 -Wall -Wextra -Werror both.cpp first.o second.o third.o -o both && ./both",
      folder_.string());
  EXPECT_EQ(shell(command), 0);
}

TEST(Amalgamation, TakesEachFileOnce) {
  const std::map<std::string_view, std::string_view> files = {
      {"a.h", "int a;\n"},
      {"b.h", "#include \"a.h\"\n#include <stdint.h>\nint b;\n"},
      {"c.c", "#include \"b.h\"\n#include \"a.h\"\nint c;"}};
  Amalgamation amalgamation(files);
  EXPECT_EQ(
      amalgamation.take("c.c"),
      "/* ---- c.c ---- */\n/* ---- b.h ---- */\n/* ---- a.h ---- */\nint a;\n#include <stdint.h>\nint b;\nint c;");
  EXPECT_EQ(amalgamation.take("a.h"), "");
}

}  // namespace
}  // namespace exporting
