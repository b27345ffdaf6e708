// The inputs of a model, fed by recorded signals. Over a step an input is linear: its value at the step's start and the
// chord to the step's end (abi/model.h: an input reads input + rate * (t - input_time)).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "abi/model.h"
#include "runtime/trace/signal.h"

namespace sim {

// One scalar input and the column that feeds it. The signal must outlive the run.
struct Feed {
  std::uint32_t input = 0;  // place in the inputs section
  const trace::Signal* signal = nullptr;
  std::size_t column = 0;
};

class Inputs {
 public:
  explicit Inputs(std::vector<Feed> feeds) : feeds_(std::move(feeds)), cursors_(feeds_.size()) {}

  bool empty() const { return feeds_.empty(); }
  // Values at t, and rates so that a step of length h meets the signals at its end; h = 0: the slopes just after t.
  void set(const tactus_model& model, tactus_instance* instance, double t, double h);
  // The first knot of any signal later than t; infinity when there is none.
  double next_knot(double t);

 private:
  std::vector<Feed> feeds_;
  std::vector<trace::Signal::Cursor> cursors_;
};

}  // namespace sim
