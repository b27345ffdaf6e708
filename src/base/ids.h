// Typed 32-bit indices: an id of one table cannot index another.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace base {

template <class Tag>
struct Id {
  static constexpr std::uint32_t none_value = 0xffffffffu;
  std::uint32_t value = none_value;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : value(static_cast<std::uint32_t>(index)) {}
  constexpr bool valid() const { return value != none_value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

// A vector indexed by one kind of id.
template <class IdType, class T>
class Table {
 public:
  IdType push(T item) {
    items_.push_back(std::move(item));
    return IdType(items_.size() - 1);
  }
  T& operator[](IdType id) { return items_[id.value]; }
  const T& operator[](IdType id) const { return items_[id.value]; }
  std::size_t size() const { return items_.size(); }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }

 private:
  std::vector<T> items_;
};

}  // namespace base

template <class Tag>
struct std::hash<base::Id<Tag>> {
  std::size_t operator()(base::Id<Tag> id) const noexcept { return std::hash<std::uint32_t>()(id.value); }
};
