// Rows for a plot, in constant memory for a run of any length.
//
// Up to `capacity` rows are kept as they are. Then time is cut into bins of equal length, and the rows of one bin
// become two: at the bin's first and last row time, every channel has its least and its greatest value there, in the
// order in which they occurred. Bins double in length whenever more than capacity / 4 of them are filled, on the same
// grid, so nothing drifts. Extremes are exact for ever, and their times to within one bin: at least capacity / 8 bins
// span an evenly sampled run, more than a plot has columns. A bin that holds a single row keeps it unchanged. Inside a
// bin, nan yields to numbers; a bin of nothing but nan stays nan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace trace {

class Recorder {
 public:
  static constexpr std::size_t default_capacity = 20'000;

  // `channels` without time. All memory is allocated here. A capacity below 64 counts as 64.
  explicit Recorder(std::size_t channels, std::size_t capacity = default_capacity);

  // Times come in order; equal ones (the two sides of a jump) are fine. A row whose time is not finite is dropped.
  // `values` has one value a channel. Never allocates; O(channels) amortised.
  void add(double time, std::span<const double> values);

  std::size_t channels() const { return columns_.size(); }
  std::size_t rows() const { return times_.size(); }
  std::uint64_t rows_seen() const { return seen_; }
  // Valid until the next add().
  std::span<const double> times() const { return times_; }
  std::span<const double> channel(std::size_t index) const { return columns_[index]; }

 private:
  void compact();
  void merge_bins();

  std::size_t capacity_;
  std::uint64_t seen_ = 0;
  double bin_ = 0;     // length; 0 before the first compaction
  double origin_ = 0;  // of the grid: the first row's time
  std::vector<double> times_;
  std::vector<std::vector<double>> columns_;
};

}  // namespace trace
