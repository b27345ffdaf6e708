// Outputs without a trace in what the motion depends on: an algebraic block that is solved for them would otherwise
// start its next search elsewhere, and a run would depend on what is recorded of it.
#pragma once

#include <algorithm>
#include <span>

#include "abi/model.h"
#include "kernel/kernel.h"

namespace sim {

// Fills the outputs section at (t, x). `scratch` has warm_count doubles. After a failure the warm section keeps what
// the search ended with, for describe_failure; restore_warm puts it back.
inline int evaluate_outputs(const tactus_model& model, tactus_instance* instance, double t, const double* x,
                            std::span<double> scratch) {
  double* warm = tactus_data(instance) + model.layout.warm;
  std::copy_n(warm, scratch.size(), scratch.data());
  int status = tk_outputs(&model, instance, t, x);
  if (status == TACTUS_OK) std::copy_n(scratch.data(), scratch.size(), warm);
  return status;
}

inline void restore_warm(const tactus_model& model, tactus_instance* instance, std::span<const double> scratch) {
  std::copy_n(scratch.data(), scratch.size(), tactus_data(instance) + model.layout.warm);
}

}  // namespace sim
