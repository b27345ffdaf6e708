// Runs one model on every backend and compares the bits: JIT tables in this process, C text through a C compiler and dlopen,
// wasm through Node. A run is a list of doubles; backends agree when the lists do, any NaN being equal to any other.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "abi/model.h"
#include "compiler/ir/ir.h"

namespace backend_testing {

// What to run: `records` times `steps` fixed steps, or `records` adaptive steps up to t_end, with some events fired by hand after
// each, always the same ones; or with `parts`, `records` parts of a run up to t_end, as the kernel makes and fires them.
struct Plan {
  int solver = TACTUS_RK4;
  double h = 0.01;  // fixed step, or the largest adaptive one
  double t_end = 10;
  double tolerance = 1e-6;
  int records = 50;
  int steps = 10;
  bool parts = false;
  bool tangents = false;
};

// One plan for each solver; in parts a second one.
enum class Parts { without, too };
std::vector<Plan> plans_of_all_solvers(double h, double t_end, Parts parts = Parts::without);

// Inputs are set to fixed values and rates. Then for each record: status, failed_block, failed_index, time, statuses of outputs
// and watch, states, outputs, discrete and watched values, and for adaptive steps and parts the state in the middle. Ends after
// the first failure. With `tangents`, after each record: for every function and event the status of its tangent along a direction
// that is always the same, and when it is ok the tangent; then the Jacobian and the derivative by time.
using Trail = std::vector<double>;
Trail run_table(const tactus_model* model, const Plan& plan);
// Alternates between two tables of the same program at every record: what a swap of tiers does.
Trail run_alternating(const tactus_model* first, const tactus_model* second, const Plan& plan);

// "" when equal, else where they differ first, both values in hexadecimal.
std::string first_difference(const Trail& a, const Trail& b);

// Models as C text, compiled with the kernel's sources by `compiler` ("cc -O2") into a shared library and loaded. Warnings are
// errors. A failure to compile aborts with the compiler's message.
class CLibrary {
 public:
  CLibrary(std::span<const ir::Program> programs, const std::string& compiler);
  ~CLibrary();
  CLibrary(const CLibrary&) = delete;
  CLibrary& operator=(const CLibrary&) = delete;
  const tactus_model* model(std::size_t index) const { return models_[index]; }

 private:
  void* handle_ = nullptr;
  std::vector<const tactus_model*> models_;
};

struct WasmRun {
  std::size_t model = 0;
  Plan plan;
};
// All in one Node process and one module with the generic kernel.
std::vector<Trail> run_wasm_batch(std::span<const ir::Program> programs, std::span<const WasmRun> runs);
// One module with the kernel specialised around the model.
std::vector<Trail> run_wasm(const ir::Program& program, std::span<const Plan> plans);
// Whether `node` can be run.
bool has_node();

}  // namespace backend_testing
