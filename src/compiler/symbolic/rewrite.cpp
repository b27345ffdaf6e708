#include <algorithm>
#include <array>
#include <unordered_set>

#include "compiler/symbolic/symbolic.h"

namespace symbolic {
namespace {

// Ids that a walk has met. Most equations have a few dozen: these are looked through one by one, and allocate nothing.
class Seen {
 public:
  // Whether this is the first time.
  bool add(ExprId id) {
    if (!many_.empty()) return many_.insert(id).second;
    const auto end = few_.begin() + count_;
    if (std::find(few_.begin(), end, id) != end) return false;
    if (count_ < static_cast<std::ptrdiff_t>(few_.size())) {
      few_[static_cast<std::size_t>(count_++)] = id;
      return true;
    }
    many_.insert(few_.begin(), few_.end());
    many_.insert(id);
    return true;
  }

 private:
  std::array<ExprId, 48> few_;
  std::ptrdiff_t count_ = 0;
  std::unordered_set<ExprId> many_;
};

}  // namespace

ExprId Rewrite::operator()(ExprId root) {
  // Iterative post-order over what is not yet done.
  std::vector<std::pair<ExprId, int>> stack = {{root, 0}};
  while (!stack.empty()) {
    auto [id, next] = stack.back();
    if (done_.contains(id)) {
      stack.pop_back();
      continue;
    }
    const expr::Node node = pool_[id];  // a copy: making expressions moves the pool
    const int operands = expr::operand_count(node.op);
    if (next < operands) {
      stack.back().second = next + 1;
      stack.push_back({next == 0 ? node.a : next == 1 ? node.b : node.c, 0});
      continue;
    }
    stack.pop_back();
    if (operands == 0) {
      ExprId replaced = leaf_(id);
      done_[id] = replaced.valid() ? replaced : id;
      continue;
    }
    done_[id] = combine_(node, done_[node.a], operands >= 2 ? done_[node.b] : ExprId(),
                         operands >= 3 ? done_[node.c] : ExprId());
  }
  return done_[root];
}

std::vector<ExprId> leaves(const expr::Pool& pool, ExprId e, expr::Op op) {
  std::vector<ExprId> found;
  std::vector<ExprId> stack = {e};
  Seen seen;
  while (!stack.empty()) {
    ExprId id = stack.back();
    stack.pop_back();
    if (!seen.add(id)) continue;
    const expr::Node& node = pool[id];
    if (expr::is_leaf(node.op)) {
      if (node.op == op) found.push_back(id);
      continue;
    }
    const int operands = expr::operand_count(node.op);
    if (operands >= 3) stack.push_back(node.c);
    if (operands >= 2) stack.push_back(node.b);
    stack.push_back(node.a);
  }
  return found;
}

bool contains(const expr::Pool& pool, ExprId e, ExprId leaf) {
  std::vector<ExprId> stack = {e};
  Seen seen;
  while (!stack.empty()) {
    ExprId id = stack.back();
    stack.pop_back();
    if (id == leaf) return true;
    if (id < leaf || !seen.add(id)) continue;  // children are smaller than parents
    const expr::Node& node = pool[id];
    const int operands = expr::operand_count(node.op);
    if (operands >= 3) stack.push_back(node.c);
    if (operands >= 2) stack.push_back(node.b);
    if (operands >= 1) stack.push_back(node.a);
  }
  return false;
}

}  // namespace symbolic
