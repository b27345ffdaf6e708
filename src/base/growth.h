// How large a small text may become: bounds on what loops, families, sums, functions and matrices are written out to. A
// fuzzer looks for growth without bound, not for how long the largest program takes, so in its build (TACTUS_FUZZ) all
// bounds are smaller.
#pragma once

#include <cstddef>

namespace base {

#ifdef TACTUS_FUZZ
inline constexpr std::size_t growth_divisor = 100;
inline constexpr long long longest_vector = 50;
inline constexpr long long longest_side = 50;
#else
inline constexpr std::size_t growth_divisor = 1;
// Of a vector, and of a matrix, whose size is a number in the text: a few characters may not stand for more than a
// million values.
inline constexpr long long longest_vector = 100'000;
inline constexpr long long longest_side = 1000;
#endif

}  // namespace base
