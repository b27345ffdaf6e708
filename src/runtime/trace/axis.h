// A range of data -> tick marks and their labels: steps of 1, 2 or 5 times a power of ten; or, on a logarithmic axis,
// powers of ten and what lies between.
#pragma once

#include <string>
#include <vector>

namespace trace {

struct Axis {
  double low = 0;
  double high = 1;
  std::vector<double> major;        // inside [low, high]
  std::vector<double> minor;        // the marks between them
  std::vector<std::string> labels;  // one a major tick, with U+2212 for minus: value = offset + label * 10^exponent
  int exponent = 0;                 // a common factor 10^exponent, 0 when the labels are plain
  double offset = 0;                // taken off every label when all share many leading digits, else 0
  std::string offset_label;         // "" when offset is 0
};

// About `target` major ticks, never more than 2.5 * target. `low < high`, both finite.
Axis choose_axis(double low, double high, int target);

// Major ticks at whole multiples of `unit`, as many as are near `target`, with those of half, or a third, as minor:
// degrees go by 45.
Axis choose_axis_of_multiples(double low, double high, int target, double unit);

// For 0 < low < high: powers of ten, every n-th when there are more than `target`; over less than a decade and a half
// 1, 2 and 5 times them. Labels beyond 1000 and below 0.001 are `10^4`.
Axis choose_logarithmic_axis(double low, double high, int target);

// A range to show for data in [least, greatest]: widened by `margin` times its length at both ends, and to something
// visible around a constant (up to rounding). No data (least > greatest) gives [0, 1].
struct Range {
  double low;
  double high;
};
Range padded_range(double least, double greatest, double margin);

}  // namespace trace
