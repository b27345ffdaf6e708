// The slopes of a monotone piecewise cubic. Between knots the chords d_k = (y_(k+1) - y_k) / h_k; at an inner knot the
// weighted harmonic mean of Fritsch and Butland (SIAM J. Sci. Stat. Comput. 5(2), 1984, equation (5), with Brodlie's
// weights), 0 where the chords differ in sign or one is 0:
//
//   s_k = (w1 + w2) / (w1 / d_(k-1) + w2 / d_k),   w1 = 2 h_k + h_(k-1),   w2 = h_k + 2 h_(k-1)
//
// and at an end the slope of the parabola through three knots, limited so that the curve stays monotone (Moler,
// Numerical Computing with MATLAB, SIAM 2004, section 3.6, `pchip`). Two knots give a straight line. Kernel's table.c
// uses the same rule across rows.
#pragma once

#include <span>
#include <vector>

namespace table {

// One slope a knot; x increases, both have the same size, at least 2.
[[nodiscard]] std::vector<double> monotone_slopes(std::span<const double> x, std::span<const double> y);

}  // namespace table
