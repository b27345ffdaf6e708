#include "compiler/table/slopes.h"

#include <cmath>

namespace table {
namespace {

double end_slope(double h, double h_next, double chord, double next) {
  const double slope = ((2 * h + h_next) * chord - h * next) / (h + h_next);
  if (!(slope * chord > 0)) return 0;
  return chord * next < 0 && std::abs(slope) > 3 * std::abs(chord) ? 3 * chord : slope;
}

}  // namespace

std::vector<double> monotone_slopes(std::span<const double> x, std::span<const double> y) {
  const std::size_t n = x.size();
  std::vector<double> h(n - 1), chord(n - 1), slopes(n);
  for (std::size_t k = 0; k + 1 < n; ++k) {
    h[k] = x[k + 1] - x[k];
    chord[k] = (y[k + 1] - y[k]) / h[k];
  }
  if (n == 2) return {chord[0], chord[0]};
  slopes.front() = end_slope(h[0], h[1], chord[0], chord[1]);
  slopes.back() = end_slope(h[n - 2], h[n - 3], chord[n - 2], chord[n - 3]);
  for (std::size_t k = 1; k + 1 < n; ++k) {
    if (!(chord[k - 1] * chord[k] > 0)) continue;
    const double w1 = 2 * h[k] + h[k - 1];
    const double w2 = h[k] + 2 * h[k - 1];
    slopes[k] = (w1 + w2) / (w1 / chord[k - 1] + w2 / chord[k]);
  }
  return slopes;
}

}  // namespace table
