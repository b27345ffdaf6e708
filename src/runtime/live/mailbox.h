// The newest of something, from one thread to one other; neither waits. Three copies: the writer's, the reader's, and
// the one between them, which both exchange for their own.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace live {

template <class T>
class Mailbox {
 public:
  Mailbox() = default;
  // All copies alike, so that a T that owns memory has it from the start.
  explicit Mailbox(const T& initial) : copies_{initial, initial, initial} {}

  // The writer's own, to be filled; what it held before is some older state.
  T& draft() { return copies_[writers_]; }
  void publish() { writers_ = between_.exchange(writers_ | fresh, std::memory_order_acq_rel) & place; }

  // The reader's: the newest published, which stays as it is until the next call. False: nothing new since.
  bool refresh() {
    if (!(between_.load(std::memory_order_relaxed) & fresh)) return false;
    readers_ = between_.exchange(readers_, std::memory_order_acq_rel) & place;
    return true;
  }
  const T& newest() const { return copies_[readers_]; }

 private:
  static constexpr std::uint32_t place = 3;
  static constexpr std::uint32_t fresh = 4;
  std::array<T, 3> copies_ = {};
  std::uint32_t writers_ = 0;
  std::uint32_t readers_ = 1;
  std::atomic<std::uint32_t> between_ = 2;
};

}  // namespace live
