#include "runtime/trace/recorder.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace trace {

Recorder::Recorder(std::size_t channels, std::size_t capacity)
    : capacity_(std::max<std::size_t>(capacity, 64)), columns_(channels) {
  times_.reserve(capacity_);
  for (std::vector<double>& column : columns_) column.reserve(capacity_);
}

void Recorder::add(double time, std::span<const double> values) {
  TACTUS_CHECK(values.size() == columns_.size());
  if (!std::isfinite(time)) return;
  ++seen_;
  if (times_.size() == capacity_) compact();
  if (times_.empty()) origin_ = time;
  times_.push_back(time);
  for (std::size_t i = 0; i < values.size(); ++i) columns_[i].push_back(values[i]);
}

// Halves at least, so its cost is amortised over capacity / 2 rows.
void Recorder::compact() {
  auto [least, greatest] = std::minmax_element(times_.begin(), times_.end());
  double length = *greatest - *least;
  const std::size_t bins = capacity_ / 4;
  if (bin_ == 0) bin_ = length / static_cast<double>(bins);
  if (!(bin_ > 0)) bin_ = std::max(std::abs(origin_) * 1e-15, 1e-300);
  merge_bins();
  while (times_.size() > capacity_ / 2) {
    bin_ *= 2;
    merge_bins();
  }
}

void Recorder::merge_bins() {
  auto bin_of = [&](double time) { return std::floor((time - origin_) / bin_); };
  std::size_t kept = 0;
  for (std::size_t first = 0, last; first < times_.size(); first = last + 1) {
    const double bin = bin_of(times_[first]);
    last = first;
    while (last + 1 < times_.size() && bin_of(times_[last + 1]) == bin) ++last;
    // Rows are only moved towards the front: kept <= first.
    const bool single = first == last;
    times_[kept] = times_[first];
    if (!single) times_[kept + 1] = times_[last];
    for (std::vector<double>& column : columns_) {
      std::size_t least = first, greatest = first;
      for (std::size_t i = first + 1; i <= last; ++i) {
        if (column[i] < column[least] || std::isnan(column[least])) least = i;
        if (column[i] >= column[greatest] || std::isnan(column[greatest])) greatest = i;
      }
      double early = column[std::min(least, greatest)], late = column[std::max(least, greatest)];
      column[kept] = early;
      if (!single) column[kept + 1] = late;
    }
    kept += single ? 1 : 2;
  }
  times_.resize(kept);
  for (std::vector<double>& column : columns_) column.resize(kept);
}

}  // namespace trace
