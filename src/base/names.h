// Interned names: a name is stored once and compared by its id.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ids.h"

namespace base {

using NameId = Id<struct NameTag>;

class Names {
 public:
  Names() = default;
  Names(const Names&) = delete;  // the index holds views into the texts
  Names& operator=(const Names&) = delete;

  NameId intern(std::string_view text) {
    if (auto found = index_.find(text); found != index_.end()) return found->second;
    texts_.emplace_back(text);
    NameId id(texts_.size() - 1);
    index_.emplace(texts_.back(), id);
    return id;
  }
  // Empty when the name was never interned.
  NameId find(std::string_view text) const {
    auto found = index_.find(text);
    return found == index_.end() ? NameId() : found->second;
  }
  const std::string& text(NameId id) const { return texts_[id.value]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // never moves a text
  std::unordered_map<std::string_view, NameId> index_;
};

}  // namespace base
