#include "runtime/trace/signal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace trace {

std::optional<Signal> Signal::read(const std::string& path, std::string& failure) {
  std::optional<CsvTable> table = read_csv(path, {.increasing_time = true, .finite = true}, failure);
  if (!table) return std::nullopt;
  return from_table(std::move(*table), path, failure);
}

std::optional<Signal> Signal::from_table(CsvTable table, const std::string& name, std::string& failure) {
  if (table.columns.size() < 2) {
    failure =
        fmt::format("{}: there is only one column; a signal needs a time column and at least one of values", name);
    return std::nullopt;
  }
  if (table.rows() == 0) {
    failure = fmt::format("{}: a signal needs at least one row", name);
    return std::nullopt;
  }
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const std::vector<double>& values = table.columns[column];
    for (std::size_t row = 0; row < values.size(); ++row) {
      if (!std::isfinite(values[row])) {
        failure = fmt::format("{}: row {} of column {} is {}; a signal needs finite numbers", name, row + 1, column + 1,
                              values[row]);
        return std::nullopt;
      }
      if (column == 0 && row > 0 && !(values[row] > values[row - 1])) {
        failure = fmt::format("{}: the time does not increase: {} comes after {} in row {}", name, values[row],
                              values[row - 1], row + 1);
        return std::nullopt;
      }
    }
  }
  Signal signal;
  signal.times_ = std::move(table.columns.front());
  table.columns.erase(table.columns.begin());
  signal.values_ = std::move(table.columns);
  if (!table.names.empty()) signal.names_.assign(table.names.begin() + 1, table.names.end());
  signal.units_.resize(signal.names_.size());
  for (std::size_t i = 1; i < table.units.size(); ++i) signal.units_[i - 1] = std::move(table.units[i]);
  return signal;
}

std::size_t Signal::seek(double t, Cursor& cursor) const {
  const std::size_t count = times_.size();
  std::size_t at = std::min(cursor.interval, count - 1);
  // Doubling strides away from the cursor bracket t, then bisection: [low, high) with times_[low] <= t < times_[high].
  std::size_t low = at, high = at;
  if (times_[at] <= t) {
    for (std::size_t stride = 1;; stride *= 2) {
      high = std::min(low + stride, count);
      if (high == count || t < times_[high]) break;
      low = high;
    }
  } else {
    for (std::size_t stride = 1;; stride *= 2) {
      low = high > stride ? high - stride : 0;
      if (low == 0 || times_[low] <= t) break;
      high = low;
    }
  }
  while (high - low > 1) {
    std::size_t middle = low + (high - low) / 2;
    (times_[middle] <= t ? low : high) = middle;
  }
  cursor.interval = low;
  return low;
}

double Signal::value(double t, std::size_t column, Cursor& cursor) const {
  const std::vector<double>& x = values_[column];
  std::size_t i = seek(t, cursor);
  if (i + 1 == x.size() || t <= times_[i]) return x[i];
  return x[i] + (x[i + 1] - x[i]) * ((t - times_[i]) / (times_[i + 1] - times_[i]));
}

double Signal::rate(double t, double h, std::size_t column, Cursor& cursor) const {
  if (h > 0) {
    double from = value(t, column, cursor);
    Cursor ahead = cursor;
    return (value(t + h, column, ahead) - from) / h;
  }
  const std::vector<double>& x = values_[column];
  std::size_t i = seek(t, cursor);
  if (i + 1 == x.size() || t < times_[i]) return 0;
  return (x[i + 1] - x[i]) / (times_[i + 1] - times_[i]);
}

double Signal::next_knot(double t, Cursor& cursor) const {
  std::size_t i = seek(t, cursor);
  if (times_[i] > t) return times_[i];
  return i + 1 < times_.size() ? times_[i + 1] : std::numeric_limits<double>::infinity();
}

}  // namespace trace
