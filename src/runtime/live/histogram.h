// Durations counted by size: one thread counts, any may read. Buckets are 1/16 of a power of two wide, so a quantile is
// right to 6%; fixed memory whatever the number.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace live {

class Histogram {
 public:
  void count(std::int64_t nanoseconds) {
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(nanoseconds, 0));
    add(counts_[bucket(value)], 1);
    if (value > longest_.load(std::memory_order_relaxed)) longest_.store(value, std::memory_order_relaxed);
  }

  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const auto& count : counts_) sum += count.load(std::memory_order_relaxed);
    return sum;
  }
  double longest() const { return 1e-9 * static_cast<double>(longest_.load(std::memory_order_relaxed)); }

  // Seconds, the middle of the bucket; 0 when nothing was counted.
  double quantile(double share) const {
    const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(total()));
    std::uint64_t passed = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      passed += counts_[i].load(std::memory_order_relaxed);
      if (passed > wanted) return std::min(longest(), 1e-9 * 0.5 * (low(i) + low(i + 1)));
    }
    return longest();
  }

 private:
  static constexpr std::size_t parts = 16;
  static constexpr std::size_t most_bits = 40;  // 18 minutes
  static std::size_t bucket(std::uint64_t value) {
    if (value < parts) return value;
    const auto bits = static_cast<std::size_t>(std::bit_width(value)) - 5;  // value >> bits is 16 .. 31
    return std::min(bits * parts + (value >> bits), most_bits * parts - 1);
  }
  static double low(std::size_t index) {
    if (index < 2 * parts) return static_cast<double>(index);
    const std::size_t bits = index / parts - 1;
    return static_cast<double>((index - bits * parts) << bits);
  }
  // One thread writes: no need of a locked instruction.
  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t by) {
    counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  std::array<std::atomic<std::uint64_t>, most_bits * parts> counts_ = {};
  std::atomic<std::uint64_t> longest_ = 0;
};

}  // namespace live
