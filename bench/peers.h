// Two ways to run an initial value problem that are timed side by side: our own, from the text, and CVODE called as its
// manual says, with the equations written by hand. The time is that of the run alone, without compiling.
#pragma once

#include <cvode/cvode.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "abi/model.h"
#include "bench.h"
#include "compiler/emit_llvm/jit.h"

namespace bench {

struct Run {
  double seconds = 0;
  std::vector<double> values;  // ours: outputs, CVODE's: states; empty when it failed
  std::int64_t steps = 0;
  std::int64_t crossings = 0;      // located changes
  std::vector<double> times = {};  // ours: of events, CVODE's: of roots
  double error = 0;                // for the caller to fill in
};

class OurModel {
 public:
  // Ends the program with its diagnostics when the text is wrong. Both tiers are ready.
  OurModel(const std::string& name, const std::string& text);
  static OurModel of_example(const std::string& file);
  // fineness: the tolerance, or the step of a solver that takes fixed ones.
  Run run(tactus_solver solver, double fineness, double end) const;

 private:
  explicit OurModel(std::unique_ptr<emit_llvm::CompiledModel> jit);
  std::unique_ptr<emit_llvm::CompiledModel> jit_;
};

struct HandWritten {
  int method = CV_BDF;
  std::vector<double> start;
  CVRhsFn derivative = nullptr;
  CVLsJacFn jacobian = nullptr;  // dense, by columns; without it fixed-point iteration
  CVRootFn root = nullptr;       // one; the run is started anew at each
  int direction = 0;             // of the root: -1 where it falls, 1 where it rises, 0 both
  void* user = nullptr;
  std::function<void(double* y)> at_root = {};
};

// Our time over theirs, as a figure with a goal; NaN where our error is larger.
Figure at_no_larger_error(const std::string& name, const Way<Run>& theirs, const Way<Run>& ours, double goal);

Run run_cvode(const HandWritten& problem, double tolerance, double end);

}  // namespace bench
