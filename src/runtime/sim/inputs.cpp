#include "runtime/sim/inputs.h"

#include <algorithm>
#include <limits>

namespace sim {

void Inputs::set(const tactus_model& model, tactus_instance* instance, double t, double h) {
  double* data = tactus_data(instance);
  instance->input_time = t;
  for (std::size_t i = 0; i < feeds_.size(); ++i) {
    const Feed& feed = feeds_[i];
    data[model.layout.inputs + feed.input] = feed.signal->value(t, feed.column, cursors_[i]);
    data[model.layout.input_rates + feed.input] = feed.signal->rate(t, h, feed.column, cursors_[i]);
  }
}

double Inputs::next_knot(double t) {
  double knot = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < feeds_.size(); ++i) knot = std::min(knot, feeds_[i].signal->next_knot(t, cursors_[i]));
  return knot;
}

}  // namespace sim
