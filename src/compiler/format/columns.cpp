#include "compiler/format/columns.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

namespace format {
namespace {

constexpr std::uint32_t blanks_a_level = 2;

class Columns {
 public:
  Columns(const std::vector<Element>& elements, const std::vector<Placement>& placements)
      : elements_(elements), placements_(placements), columns_(elements.size()), end_comment_number_(elements.size()) {
    std::uint32_t end_comments = 0;
    for (std::size_t i = 0; i < elements.size(); ++i)
      if (placements[i].alignment == align_end_comments) end_comment_number_[i] = end_comments++;
    find_next_lines();
  }

  // From left to right as written: what stands before an element on its line, and what it stands under, is then known.
  std::vector<std::uint32_t> run() {
    std::vector<std::size_t> order(elements_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    for (std::size_t begin = 0; begin < order.size();) {
      std::size_t end = begin;
      while (end < order.size() && key(order[end]) == key(order[begin])) ++end;
      place_column(std::span(order).subspan(begin, end - begin));
      begin = end;
    }
    return std::move(columns_);
  }

 private:
  static constexpr std::uint32_t no_line = static_cast<std::uint32_t>(-1);

  // A sign before an operand: the operand's column counts.
  std::uint32_t sign_width(std::size_t i) const {
    const bool sign = placements_[i].alignment == align_operands &&
                      (elements_[i].text == "-" || elements_[i].text == "+") && !elements_[i].last &&
                      !elements_[i + 1].comment;
    return sign ? 1 : 0;
  }
  // What the first element of a line stands under. Under a sign only another: the operands are then in one column too.
  std::size_t under(std::size_t i) const {
    const std::size_t target = placements_[i].under;
    return target != no_element && sign_width(target) > sign_width(i) ? no_element : target;
  }
  std::uint32_t key(std::size_t i) const {
    if (!elements_[i].first) return elements_[i].column + sign_width(i);
    return elements_[i].column + (under(i) != no_element ? sign_width(under(i)) : 0);
  }
  bool has_extra(std::size_t i) const { return elements_[i].blanks > placements_[i].gap; }
  bool is_fixed(std::size_t i) const { return placements_[i].gap == 0 && elements_[i].blanks == 0; }

  std::uint32_t end_of(std::size_t i) const {
    const Element& element = elements_[i];
    return element.several_lines ? element.end_column : columns_[i] + (element.end_column - element.column);
  }
  std::uint32_t natural(std::size_t i) const { return end_of(i - 1) + placements_[i].gap; }
  // The same, of what counts in a group.
  std::uint32_t natural_key(std::size_t i) const { return natural(i) + sign_width(i); }

  // For each line the next one that stands as far left or further, and the next of all; comments are passed over, an
  // empty line is not.
  void find_next_lines() {
    struct Line {
      std::uint32_t number;
      std::uint32_t level;
    };
    std::vector<Line> waiting;
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      if (!elements_[i].first) continue;
      next_outer_line_.push_back(no_line);
      next_line_.push_back(no_line);
      if (elements_[i].after_empty_line) waiting.clear();
      if (placements_[i].only_comments) continue;
      const Line line{elements_[i].line, placements_[i].level};
      if (!waiting.empty()) next_line_[waiting.back().number] = line.number;
      while (!waiting.empty() && waiting.back().level >= line.level) {
        next_outer_line_[waiting.back().number] = line.number;
        waiting.pop_back();
      }
      waiting.push_back(line);
    }
  }

  // Elements whose key is one column, in the order of the text.
  void place_column(std::span<const std::size_t> members) {
    std::map<std::uint32_t, std::vector<std::size_t>> alike;
    for (std::size_t i : members)
      if (!elements_[i].first && placements_[i].alignment != no_alignment) alike[placements_[i].alignment].push_back(i);
    for (const auto& [alignment, list] : alike) place_groups(list);
    for (std::size_t i : members) {
      const Placement& placement = placements_[i];
      if (elements_[i].first)
        columns_[i] = under(i) != no_element ? columns_[under(i)] : placement.level * blanks_a_level;
      else if (placement.alignment == no_alignment)
        columns_[i] = natural(i);
    }
  }

  void place_groups(const std::vector<std::size_t>& members) {
    std::vector<std::vector<std::size_t>> waiting;
    split(members, waiting);
    while (!waiting.empty()) {
      const std::vector<std::size_t> group = std::move(waiting.back());
      waiting.pop_back();
      std::uint32_t column = 0;
      for (std::size_t i : group) column = std::max(column, natural_key(i));
      const bool aligned =
          group.size() > 1 && std::any_of(group.begin(), group.end(), [&](std::size_t i) { return has_extra(i); });
      std::vector<std::size_t> staying;
      for (std::size_t i : group) {
        const bool keeps_its_place = !aligned || (is_fixed(i) && natural_key(i) != column);
        columns_[i] = keeps_its_place ? natural(i) : column - sign_width(i);
        if (!keeps_its_place) staying.push_back(i);
      }
      if (aligned && staying.size() < group.size()) split(staying, waiting);
    }
  }

  // Members that are connected by neighbouring lines, or, comments at the ends of lines, by their order. One of a kind
  // stands on a line.
  void split(const std::vector<std::size_t>& members, std::vector<std::vector<std::size_t>>& groups) const {
    std::vector<std::size_t> leader(members.size());
    std::iota(leader.begin(), leader.end(), std::size_t{0});
    const auto find = [&](std::size_t k) {
      while (leader[k] != k) k = leader[k] = leader[leader[k]];
      return k;
    };
    for (std::size_t k = 0; k < members.size(); ++k) {
      if (placements_[members[k]].alignment == align_end_comments) {
        if (k > 0 && end_comment_number_[members[k - 1]] + 1 == end_comment_number_[members[k]])
          leader[k] = find(k - 1);
        continue;
      }
      const std::uint32_t line = elements_[members[k]].line;
      for (const std::uint32_t next : {next_line_[line], next_outer_line_[line]}) {
        const auto neighbour = std::lower_bound(members.begin(), members.end(), next,
                                                [&](std::size_t i, std::uint32_t l) { return elements_[i].line < l; });
        if (neighbour == members.end() || elements_[*neighbour].line != next) continue;
        leader[find(static_cast<std::size_t>(neighbour - members.begin()))] = find(k);
      }
    }
    std::map<std::size_t, std::vector<std::size_t>> found;
    for (std::size_t k = 0; k < members.size(); ++k) found[find(k)].push_back(members[k]);
    for (auto& [first, group] : found) groups.push_back(std::move(group));
  }

  const std::vector<Element>& elements_;
  const std::vector<Placement>& placements_;
  std::vector<std::uint32_t> columns_;
  std::vector<std::uint32_t> end_comment_number_;
  std::vector<std::uint32_t> next_outer_line_;
  std::vector<std::uint32_t> next_line_;
};

}  // namespace

std::vector<std::uint32_t> find_columns(const std::vector<Element>& elements,
                                        const std::vector<Placement>& placements) {
  return Columns(elements, placements).run();
}

}  // namespace format
