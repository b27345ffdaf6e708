// One thread puts in, one takes out, neither waits for the other: a queue of fixed size. L. Lamport, "Specifying
// concurrent program modules", ACM TOPLAS 5(2), 1983; each side keeps its own copy of the other's place and looks again
// only when that says stop.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>
#include <type_traits>

namespace live {

template <class T, std::size_t capacity>
class Ring {
  static_assert(std::is_trivially_copyable_v<T>);
  static_assert((capacity & (capacity - 1)) == 0, "a power of two");

 public:
  // False: it is full.
  [[nodiscard]] bool put(const T& item) {
    const std::size_t at = written_.load(std::memory_order_relaxed);
    if (at - read_seen_ == capacity) {
      read_seen_ = read_.load(std::memory_order_acquire);
      if (at - read_seen_ == capacity) return false;
    }
    items_[at % capacity] = item;
    written_.store(at + 1, std::memory_order_release);
    return true;
  }

  std::optional<T> take() {
    const std::size_t at = read_.load(std::memory_order_relaxed);
    if (at == written_seen_) {
      written_seen_ = written_.load(std::memory_order_acquire);
      if (at == written_seen_) return std::nullopt;
    }
    T item = items_[at % capacity];
    read_.store(at + 1, std::memory_order_release);
    return item;
  }

 private:
  static constexpr std::size_t line = 64;
  std::array<T, capacity> items_ = {};
  alignas(line) std::atomic<std::size_t> written_ = 0;
  std::size_t read_seen_ = 0;  // the writer's
  alignas(line) std::atomic<std::size_t> read_ = 0;
  std::size_t written_seen_ = 0;  // the reader's
};

}  // namespace live
