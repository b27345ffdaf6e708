#include "compiler/reroll/schedule.h"

#include <deque>
#include <set>
#include <tuple>

namespace reroll {

std::vector<std::uint32_t> schedule(const Statements& statements) {
  const auto count = static_cast<std::uint32_t>(statements.list.size());
  std::vector<std::uint32_t> missing(count);  // statements to come first
  std::vector<std::vector<std::uint32_t>> after(count);
  struct Class {
    std::deque<std::uint32_t> ready;
    std::uint32_t left = 0;  // ready or not
  };
  std::vector<Class> classes(statements.class_count);
  for (std::uint32_t s = 0; s < count; ++s) {
    const Statement& statement = statements.list[s];
    ++classes[statement.of_class].left;
    missing[s] = static_cast<std::uint32_t>(statement.before.size());
    for (std::uint32_t earlier : statement.before) after[earlier].push_back(s);
  }

  // Classes with something ready: how many are not, the first that is, the class.
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  std::set<Key> choice;
  const auto key = [&](std::uint32_t c) {
    return Key(classes[c].left - static_cast<std::uint32_t>(classes[c].ready.size()), classes[c].ready.front(), c);
  };
  const auto become_ready = [&](std::uint32_t s) {
    const std::uint32_t c = statements.list[s].of_class;
    if (!classes[c].ready.empty()) choice.erase(key(c));
    classes[c].ready.push_back(s);
    choice.insert(key(c));
  };
  for (std::uint32_t s = 0; s < count; ++s) {
    if (missing[s] == 0) become_ready(s);
  }

  std::vector<std::uint32_t> order;
  order.reserve(count);
  while (!choice.empty()) {
    const std::uint32_t chosen = std::get<2>(*choice.begin());
    Class& from = classes[chosen];
    while (!from.ready.empty()) {
      choice.erase(key(chosen));
      const std::uint32_t s = from.ready.front();
      from.ready.pop_front();
      --from.left;
      if (!from.ready.empty()) choice.insert(key(chosen));
      order.push_back(s);
      for (std::uint32_t next : after[s]) {
        if (--missing[next] == 0) become_ready(next);
      }
    }
  }
  return order;
}

}  // namespace reroll
