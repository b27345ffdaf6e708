// The stiff problems of the test set for IVP solvers: by our solvers, from our text, and by CVODE called as its manual
// says, the equations and their Jacobian written by hand. All in one run, interleaved; the time of the run alone,
// without compiling.
#include <fmt/format.h>
#include <nvector/nvector_serial.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <cmath>

#include "bench.h"
#include "peers.h"

namespace bench {
namespace {

struct Problem {
  const char* name;
  const char* file;
  double end;
  double tolerance;
  double first;  // the first state at the end, published
  double goal;   // of our time at no larger error, over CVODE's; 0: none
  HandWritten by_hand;
};

Problem van_der_pol() {
  return {"van der Pol, mu = 1000",
          "van_der_pol_stiff.tact",
          2000,
          1e-6,
          1.706167732170469,
          1.05,
          {.start = {2, 0},
           .derivative =
               [](realtype, N_Vector y, N_Vector dy, void*) {
                 const double* x = N_VGetArrayPointer(y);
                 double* d = N_VGetArrayPointer(dy);
                 d[0] = x[1];
                 d[1] = 1000 * (1 - x[0] * x[0]) * x[1] - x[0];
                 return 0;
               },
           .jacobian =
               [](realtype, N_Vector y, N_Vector, SUNMatrix matrix, void*, N_Vector, N_Vector, N_Vector) {
                 const double* x = N_VGetArrayPointer(y);
                 double* j = SUNDenseMatrix_Data(matrix);  // by columns
                 j[0] = 0;
                 j[1] = -2000 * x[0] * x[1] - 1;
                 j[2] = 1;
                 j[3] = 1000 * (1 - x[0] * x[0]);
                 return 0;
               }}};
}

Problem robertson() {
  return {"Robertson to t = 1e11",
          "robertson.tact",
          1e11,
          1e-12,
          2.083340149701255e-8,
          0,
          {.start = {1, 0, 0},
           .derivative =
               [](realtype, N_Vector y, N_Vector dy, void*) {
                 const double* x = N_VGetArrayPointer(y);
                 double* d = N_VGetArrayPointer(dy);
                 d[0] = -0.04 * x[0] + 1e4 * x[1] * x[2];
                 d[2] = 3e7 * x[1] * x[1];
                 d[1] = -d[0] - d[2];
                 return 0;
               },
           .jacobian =
               [](realtype, N_Vector y, N_Vector, SUNMatrix matrix, void*, N_Vector, N_Vector, N_Vector) {
                 const double* x = N_VGetArrayPointer(y);
                 double* j = SUNDenseMatrix_Data(matrix);
                 const double columns[3][2] = {{-0.04, 0}, {1e4 * x[2], 6e7 * x[1]}, {1e4 * x[1], 0}};
                 for (int k = 0; k < 3; ++k) {
                   j[3 * k] = columns[k][0];
                   j[3 * k + 1] = -columns[k][0] - columns[k][1];
                   j[3 * k + 2] = columns[k][1];
                 }
                 return 0;
               }}};
}

}  // namespace

std::vector<Figure> measure_stiff(const Options& options) {
  std::vector<Figure> figures;
  for (const Problem& problem : {van_der_pol(), robertson()}) {
    const OurModel ours = OurModel::of_example(problem.file);
    const auto with_error = [&](Run run) {
      run.error = run.values.empty() ? NAN : std::abs(run.values[0] - problem.first);
      return run;
    };
    const auto by_us = [&](tactus_solver solver) {
      return [&, solver] { return with_error(ours.run(solver, problem.tolerance, problem.end)); };
    };
    std::vector<Way<Run>> ways = {
        {"CVODE by hand", [&] { return with_error(run_cvode(problem.by_hand, problem.tolerance, problem.end)); }},
        {"our cvode", by_us(TACTUS_CVODE)},
        {"our rosenbrock", by_us(TACTUS_ROSENBROCK)}};
    interleave(ways, options.pairs);
    const std::string name = fmt::format("{}, tolerance {:g}", problem.name, problem.tolerance);
    for (const Way<Run>& way : ways) {
      figures.push_back({fmt::format("{}: {}", name, way.name), 1e3 * median(way.seconds), "ms", 0,
                         fmt::format("{} steps, error {:.2g}", way.last.steps, way.last.error)});
    }
    figures.push_back(at_no_larger_error(name, ways[0], ways[2], problem.goal));
  }
  return figures;
}

}  // namespace bench
