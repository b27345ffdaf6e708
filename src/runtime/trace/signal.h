// A recorded signal: a file as a device. Samples (t_i, x_i) of one or more columns, linear in between:
//
//   x(t) = x_i + (x_{i+1} - x_i) (t - t_i) / (t_{i+1} - t_i)   for t_i <= t <= t_{i+1},
//
// held before the first sample and after the last, where the rate is 0.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "runtime/trace/csv_reader.h"

namespace trace {

// Immutable once built: threads may share it, each with its own Cursor.
class Signal {
 public:
  // Remembers the last interval: times that move on by little cost O(1), any others O(log n). Any value is valid.
  struct Cursor {
    std::size_t interval = 0;
  };

  // The first column is time. Empty, with `failure` set, when the file is unreadable, has no value column or no row, a
  // value is not finite or time does not increase.
  [[nodiscard]] static std::optional<Signal> read(const std::string& path, std::string& failure);
  // The same from a table; `name` stands in messages.
  [[nodiscard]] static std::optional<Signal> from_table(CsvTable table, const std::string& name, std::string& failure);

  std::size_t columns() const { return values_.size(); }            // without time
  std::size_t samples() const { return times_.size(); }             // at least 1
  const std::vector<std::string>& names() const { return names_; }  // of the value columns; empty without a header
  const std::vector<std::string>& units() const { return units_; }  // one a name
  double first_time() const { return times_.front(); }
  double last_time() const { return times_.back(); }

  // None of these allocates, locks or fails; `column` counts from 0.
  double value(double t, std::size_t column, Cursor& cursor) const;
  // The chord (x(t + h) - x(t)) / h; for h <= 0 the slope just after t.
  double rate(double t, double h, std::size_t column, Cursor& cursor) const;
  // The first sample time greater than t; infinity from the last one on.
  double next_knot(double t, Cursor& cursor) const;

 private:
  // Moves the cursor to the last sample at or before t; to 0 when there is none.
  std::size_t seek(double t, Cursor& cursor) const;

  std::vector<std::string> names_;
  std::vector<std::string> units_;
  std::vector<double> times_;
  std::vector<std::vector<double>> values_;
};

}  // namespace trace
