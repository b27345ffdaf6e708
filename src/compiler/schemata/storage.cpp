#include "compiler/schemata/storage.h"

#include <unordered_set>

namespace schemata {
namespace {

using parse::Op;

class Storages {
 public:
  explicit Storages(TreeBuilder& builder) : b_(builder) {
    for (const parse::Constant& constant : b_.tree.constants) fixed_.insert(constant.name);
    for (const parse::Parameter& parameter : b_.tree.parameters) fixed_.insert(parameter.name);
    for (const char* name : {"pi", "skew", "diag", "identity", "transpose", "sqrt", "exp", "sin", "cos"})
      fixed_.insert(b_.names.intern(name));
  }

  void write(const parse::Storage& item) {
    span_ = item.span;
    const std::size_t n = item.states.size();
    std::vector<NodeId> slopes;
    for (const NodeId state : item.states) slopes.push_back(b_.call("diff", item.variable, state, span_));
    for (std::size_t i = 0; i < n; ++i) {
      NodeId rate{};
      for (std::size_t j = 0; j < n; ++j) {
        rate = with(rate, Op::plus, times(entry(item.j, n, i, j), slopes[j]));
        rate = with(rate, Op::minus, times(entry(item.r, n, i, j), slopes[j]));
      }
      if (item.g.valid()) rate = with(rate, Op::plus, entered(item, n, i));
      b_.tree.equations.push_back(
          {span_, b_.prime(item.states[i], span_), rate.valid() ? rate : b_.number(0, span_), {}, {}});
    }
    if (item.g.valid()) b_.tree.equations.push_back({span_, item.out, given(item, slopes), {}, {}});
    if (item.r.valid() && !is_fixed(item.r)) watch(item, slopes);
  }

 private:
  enum class Form { column, rows, other };

  // Whether a matrix is written out: (1, 0), ((1, 0), (0, 1)).
  Form form_of(NodeId matrix) const {
    if (b_.tree[matrix].kind != NodeKind::tuple) return Form::other;
    return b_.tree[b_.tree.child(matrix, 0)].kind == NodeKind::tuple ? Form::rows : Form::column;
  }

  bool is_zero(NodeId id) const { return b_.tree[id].kind == NodeKind::number && b_.tree[id].number == 0; }

  NodeId element(NodeId of, std::size_t i) {
    const parse::Child children[] = {{of}, {b_.number(static_cast<double>(i + 1), span_)}};
    return b_.add({.kind = NodeKind::index, .span = b_.tree[of].span}, children);
  }

  // Not valid: zero.
  NodeId entry(NodeId matrix, std::size_t columns, std::size_t i, std::size_t j) {
    if (!matrix.valid() || is_zero(matrix)) return {};
    if (b_.tree[matrix].kind == NodeKind::number) return i == j ? matrix : NodeId();
    if (form_of(matrix) == Form::rows && b_.tree[matrix].child_count > i) {
      const NodeId row = b_.tree.child(matrix, static_cast<std::uint32_t>(i));
      if (b_.tree[row].kind == NodeKind::tuple && b_.tree[row].child_count == columns) {
        const NodeId found = b_.tree.child(row, static_cast<std::uint32_t>(j));
        return is_zero(found) ? NodeId() : found;
      }
    }
    const parse::Child children[] = {
        {matrix}, {b_.number(static_cast<double>(i + 1), span_)}, {b_.number(static_cast<double>(j + 1), span_)}};
    return b_.add({.kind = NodeKind::index, .span = b_.tree[matrix].span}, children);
  }

  NodeId times(NodeId factor, NodeId slope) {
    if (!factor.valid()) return {};
    const parse::Node& node = b_.tree[factor];
    if (node.kind == NodeKind::number && node.number == 1 && node.unit == 0) return slope;
    return b_.binary(factor, Op::times, slope, b_.tree[factor].span);
  }

  NodeId with(NodeId sum, Op op, NodeId term) {
    if (!term.valid()) return sum;
    if (!sum.valid()) return op == Op::minus ? b_.negative(term, span_) : term;
    return b_.binary(sum, op, term, span_);
  }

  // Row i of G u.
  NodeId entered(const parse::Storage& item, std::size_t n, std::size_t i) {
    if (n == 1 && b_.tree[item.g].kind != NodeKind::tuple) return times(item.g, item.in);
    if (form_of(item.g) == Form::column) {
      if (b_.tree[item.g].child_count <= i) return {};
      const NodeId found = b_.tree.child(item.g, static_cast<std::uint32_t>(i));
      return is_zero(found) ? NodeId() : times(found, item.in);
    }
    if (form_of(item.g) == Form::rows && b_.tree[item.g].child_count > i)
      return b_.call("dot", b_.tree.child(item.g, static_cast<std::uint32_t>(i)), item.in, span_);
    return element(b_.binary(item.g, Op::times, item.in, span_), i);
  }

  // G' dH/dx
  NodeId given(const parse::Storage& item, const std::vector<NodeId>& slopes) {
    if (slopes.size() == 1 && b_.tree[item.g].kind != NodeKind::tuple) return times(item.g, slopes[0]);
    if (form_of(item.g) == Form::column) {
      NodeId sum{};
      for (std::size_t i = 0; i < slopes.size() && i < b_.tree[item.g].child_count; ++i) {
        const NodeId found = b_.tree.child(item.g, static_cast<std::uint32_t>(i));
        if (!is_zero(found)) sum = with(sum, Op::plus, times(found, slopes[i]));
      }
      return sum.valid() ? sum : b_.number(0, span_);
    }
    std::vector<parse::Child> children;
    for (const NodeId slope : slopes) children.push_back({slope});
    const NodeId all = b_.add({.kind = NodeKind::tuple, .span = span_}, children);
    const parse::Child transposed[] = {{b_.named("transpose", span_)}, {item.g}};
    return b_.binary(b_.add({.kind = NodeKind::call, .span = span_}, transposed), Op::times, all, span_);
  }

  bool is_fixed(NodeId id) const {
    const parse::Node& node = b_.tree[id];
    if (node.kind == NodeKind::name && !fixed_.contains(node.name)) return false;
    for (const parse::Child& child : b_.tree.children_of(id))
      if (!is_fixed(child.node)) return false;
    return true;
  }

  // What is lost is not negative, but for what rounding makes of its terms.
  void watch(const parse::Storage& item, const std::vector<NodeId>& slopes) {
    NodeId lost{};
    NodeId size{};
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      for (std::size_t j = 0; j < slopes.size(); ++j) {
        const NodeId part = times(entry(item.r, slopes.size(), i, j), slopes[j]);
        if (!part.valid()) continue;
        const NodeId term = b_.binary(slopes[i], Op::times, part, span_);
        lost = with(lost, Op::plus, term);
        const parse::Child magnitude[] = {{b_.named("abs", span_)}, {term}};
        size = with(size, Op::plus, b_.add({.kind = NodeKind::call, .span = span_}, magnitude));
      }
    }
    if (!lost.valid()) return;
    parse::Must must;
    must.span = b_.tree[item.r].span;
    const NodeId slack = b_.binary(b_.number(-1e-12, span_), Op::times, size, span_);
    const parse::Child smooth[] = {{b_.named("smooth", span_)}, {slack}};
    must.condition =
        b_.compare(lost, Op::greater_equal, b_.add({.kind = NodeKind::call, .span = span_}, smooth), span_);
    must.text = "R of the storage is not positive semidefinite here: it makes energy";
    b_.tree.musts.push_back(std::move(must));
  }

  TreeBuilder& b_;
  base::Span span_ = {};
  std::unordered_set<base::NameId> fixed_;
};

}  // namespace

void write_storages(TreeBuilder& builder) {
  if (builder.tree.storages.empty()) return;
  Storages storages(builder);
  for (std::size_t i = 0; i < builder.tree.storages.size(); ++i) {
    const parse::Storage item = builder.tree.storages[i];
    storages.write(item);
  }
}

}  // namespace schemata
