#include "compiler/expand/grounds.h"

#include <algorithm>
#include <array>
#include <vector>

namespace expand {
namespace {

using parse::Child;
using parse::NodeKind;
using parse::Op;

constexpr int intervals_of_line = 128, intervals_of_side = 24;
constexpr double usual_reach = 10;
constexpr double reach_of_camera = 1.6;  // times what it sees from top to bottom: a page may be wider than high

class Ground {
 public:
  Ground(Program& program, Expressions& expressions, parse::Drawing& drawing, Scope& scope, const Body& body)
      : program_(program), expressions_(expressions), drawing_(drawing), scope_(scope), body_(body) {}

  void sample() {
    const parse::DrawingOption* height = option(drawing_, "height");
    if (!height) return;
    function_ = height->value;
    span_ = height->span;
    const std::size_t arguments = count_arguments();
    if (arguments != 1 && arguments != 2) return;
    const parse::DrawingOption* from = option(drawing_, "from");
    const parse::DrawingOption* to = option(drawing_, "to");
    if ((from == nullptr) != (to == nullptr)) return;
    const int intervals = arguments == 1 ? intervals_of_line : intervals_of_side;
    NodeId low, high;
    if (from) {
      low = from->value;
      high = to->value;
    } else {
      std::vector<Child> lows, highs;
      for (std::size_t i = 1; i <= arguments; ++i) {
        const auto [begin, end] = usual_range(i, intervals);
        lows.push_back({begin});
        highs.push_back({end});
      }
      low = arguments == 1 ? lows[0].node : tuple(lows);
      high = arguments == 1 ? highs[0].node : tuple(highs);
    }
    std::vector<Child> heights;
    const std::vector<NodeId> xs = places(low, high, arguments, 1, intervals);
    const std::vector<NodeId> ys = arguments == 2 ? places(low, high, arguments, 2, intervals) : std::vector<NodeId>{};
    for (NodeId x : xs) {
      if (ys.empty()) heights.push_back({call({x})});
      for (NodeId y : ys) heights.push_back({call({x, y})});
    }
    const NodeId all = tuple(heights);
    std::vector<parse::DrawingOption> options;
    for (const parse::DrawingOption& given : drawing_.options) {
      if (&given == height)
        options.push_back(renamed(given, "heights", all));
      else if (&given != from && &given != to)
        options.push_back(given);
    }
    options.push_back(renamed(from ? *from : *height, "low", low));
    options.push_back(renamed(to ? *to : *height, "high", high));
    drawing_.options = std::move(options);
  }

 private:
  const parse::DrawingOption* option(const parse::Drawing& drawing, std::string_view name) const {
    const auto found = std::ranges::find_if(
        drawing.options, [&](const parse::DrawingOption& each) { return program_.names.text(each.name) == name; });
    return found == drawing.options.end() ? nullptr : &*found;
  }

  parse::DrawingOption renamed(parse::DrawingOption given, const char* name, NodeId value) const {
    given.name = program_.names.intern(name);
    given.value = value;
    return given;
  }

  // 0 when it is no function.
  std::size_t count_arguments() const {
    const parse::Node& node = program_.tree[function_];
    if (node.kind != NodeKind::name) return 0;
    const Found found = find(scope_, node.name);
    if (!found.entry || found.entry->what != What::function) return 0;
    for (const parse::Function& function : found.scope->body->functions) {
      if (function.name == node.name) return function.arguments.size();
    }
    return 0;
  }

  NodeId number(double value) { return expressions_.add_number(value, span_); }
  NodeId tuple(const std::vector<Child>& children) {
    return expressions_.add({.kind = NodeKind::tuple, .span = span_}, children);
  }
  NodeId sum(NodeId a, Op op, NodeId b) {
    const std::array<Child, 2> children = {Child{a, Op::plus}, Child{b, op}};
    return expressions_.add({.kind = NodeKind::sum, .span = span_}, children);
  }
  NodeId product(NodeId a, Op op, NodeId b) {
    const std::array<Child, 2> children = {Child{a, Op::times}, Child{b, op}};
    return expressions_.add({.kind = NodeKind::product, .span = span_}, children);
  }
  NodeId call(const std::vector<NodeId>& arguments) {
    std::vector<Child> children = {{function_}};
    for (NodeId argument : arguments) children.push_back({argument});
    return expressions_.add({.kind = NodeKind::call, .span = span_}, children);
  }
  NodeId component(NodeId of, std::size_t i) {
    if (program_.tree[of].kind == NodeKind::tuple && i <= program_.tree[of].child_count)
      return program_.tree.child(of, static_cast<std::uint32_t>(i - 1));
    const std::array<Child, 2> children = {Child{of}, Child{number(static_cast<double>(i))}};
    return expressions_.add({.kind = NodeKind::index, .span = program_.tree[of].span}, children);
  }

  std::vector<NodeId> places(NodeId low, NodeId high, std::size_t arguments, std::size_t i, int intervals) {
    const NodeId begin = arguments == 1 ? low : component(low, i);
    const NodeId length = sum(arguments == 1 ? high : component(high, i), Op::minus, begin);
    std::vector<NodeId> result;
    for (int k = 0; k <= intervals; ++k)
      result.push_back(sum(begin, Op::plus, product(number(static_cast<double>(k) / intervals), Op::times, length)));
    return result;
  }

  std::pair<NodeId, NodeId> usual_range(std::size_t i, int intervals) {
    NodeId middle, seen;
    for (const parse::Drawing& drawing : body_.drawings) {
      if (program_.names.text(drawing.kind) != "camera") continue;
      const parse::DrawingOption* place = option(drawing, "follow");
      if (!place) place = option(drawing, "at");
      if (place) middle = component(place->value, i);
      if (const parse::DrawingOption* scale = option(drawing, "scale")) seen = scale->value;
    }
    const NodeId reach = seen.valid() ? product(number(reach_of_camera), Op::times, seen) : number(usual_reach);
    if (!middle.valid())
      return {expressions_.add({.kind = NodeKind::negate, .span = span_}, std::array{Child{reach}}), reach};
    const NodeId step = product(reach, Op::divide, number(intervals / 2.0));
    const std::array<Child, 2> rounded = {Child{expressions_.add_name("floor", span_)},
                                          Child{product(sum(middle, Op::minus, reach), Op::divide, step)}};
    const NodeId begin = product(expressions_.add({.kind = NodeKind::call, .span = span_}, rounded), Op::times, step);
    return {begin, sum(begin, Op::plus, product(number(2), Op::times, reach))};
  }

  Program& program_;
  Expressions& expressions_;
  parse::Drawing& drawing_;
  Scope& scope_;
  const Body& body_;
  NodeId function_;
  base::Span span_;
};

}  // namespace

void sample_ground(Program& program, Expressions& expressions, parse::Drawing& drawing, Scope& scope,
                   const Body& body) {
  if (program.names.text(drawing.kind) == "ground") Ground(program, expressions, drawing, scope, body).sample();
}

}  // namespace expand
