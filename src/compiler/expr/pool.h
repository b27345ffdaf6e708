// Expressions: scalars only, hash-consed, so that equal expressions have equal ids and every pass can remember its answer by
// id. A child's id is smaller than its parent's. Building folds constants (with the kernel's own functions, so that a folded
// value has the bits the running model would compute) and drops neutral elements.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/ids.h"

namespace expr {

using ExprId = base::Id<struct ExprTag>;

enum class Op : std::uint8_t {
  constant,    // number
  time,        // t
  variable,    // index: a flat::VariableId, order: how often differentiated
  input,       // index
  input_rate,  // index
  parameter,   // index
  discrete,    // index: a reactive behaviour, constant between events
  delayed,     // index: what a delay gives
  // Doubles. absolute, floor, ceil, less and less_equal of order 1 are evaluated and never held: they stand inside smooth(..).
  add,
  subtract,
  multiply,
  divide,
  negate,
  square_root,
  absolute,
  floor,
  ceil,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  atan2,
  exp,
  log,
  power,
  table,    // sampled data number `index` at a, differentiated `order` times
  table_2,  // sampled data number `index` at (a, b), differentiated `order` times by a and `order_b` times by b
  noise,    // unit white noise of the seed `number`, sampled at whole a
  select,   // a is a truth value: b if true else c
  // Truth values.
  less,
  less_equal,
  equal,
  not_equal,
  logical_and,
  logical_or,
  logical_not,
  truth,  // number is 0 or 1
};

struct Node {
  Op op;
  std::uint8_t order_b = 0;
  std::uint32_t order = 0;
  std::uint32_t index = 0;
  ExprId a{}, b{}, c{};
  double number = 0;
};

// How a leaf, or the sampled data of a table, is written for people; "" leaves it to `print`, which numbers them.
using LeafNames = std::function<std::string(const Node&)>;

// An operation on one double or two, to the bits of a run; a comparison gives 0 or 1. Not of a leaf, a table, noise, a choice or truth values.
double compute(Op op, double a, double b);

// absolute, floor, ceil, less, less_equal: their values, or the derivatives of what they choose, jump.
bool has_kink(Op op);

class Pool {
 public:
  const Node& operator[](ExprId id) const { return nodes_[id.value]; }
  std::size_t size() const { return nodes_.size(); }

  ExprId constant(double number);
  ExprId truth(bool value);
  ExprId time() { return leaf(Op::time, 0, 0); }
  ExprId variable(std::uint32_t index, std::uint32_t order) { return leaf(Op::variable, index, order); }
  ExprId input(std::uint32_t index) { return leaf(Op::input, index, 0); }
  ExprId input_rate(std::uint32_t index) { return leaf(Op::input_rate, index, 0); }
  ExprId parameter(std::uint32_t index) { return leaf(Op::parameter, index, 0); }
  ExprId discrete(std::uint32_t index) { return leaf(Op::discrete, index, 0); }
  ExprId delayed(std::uint32_t index) { return leaf(Op::delayed, index, 0); }
  ExprId table(std::uint32_t index, ExprId a, std::uint32_t order = 0);
  ExprId table_2(std::uint32_t index, ExprId a, ExprId b, std::uint32_t order_a = 0, std::uint32_t order_b = 0);
  ExprId noise(double seed, ExprId phase);

  // One operation with its operands; folded and simplified. Not for tables and noise, which are more than their operands.
  ExprId make(Op op, ExprId a, ExprId b = {}, ExprId c = {});
  // The operation of `node`, with all that belongs to it, of other operands.
  ExprId remake(const Node& node, ExprId a, ExprId b = {}, ExprId c = {});
  ExprId add(ExprId a, ExprId b) { return make(Op::add, a, b); }
  ExprId subtract(ExprId a, ExprId b) { return make(Op::subtract, a, b); }
  ExprId multiply(ExprId a, ExprId b) { return make(Op::multiply, a, b); }
  ExprId divide(ExprId a, ExprId b) { return make(Op::divide, a, b); }
  ExprId negate(ExprId a) { return make(Op::negate, a); }
  ExprId minimum(ExprId a, ExprId b) { return make(Op::select, make(Op::less, a, b), a, b); }
  ExprId maximum(ExprId a, ExprId b) { return make(Op::select, make(Op::less, b, a), a, b); }
  ExprId sign(ExprId a, bool is_evaluated = false);

  // The same operation, evaluated wherever it stands: see `has_kink`.
  ExprId evaluated(ExprId id);
  bool is_evaluated(ExprId id) const { return has_kink(nodes_[id.value].op) && nodes_[id.value].order > 0; }

  bool is_constant(ExprId id) const { return nodes_[id.value].op == Op::constant; }
  bool is_constant(ExprId id, double number) const { return is_constant(id) && nodes_[id.value].number == number; }
  bool is_truth(ExprId id) const;

 private:
  ExprId leaf(Op op, std::uint32_t index, std::uint32_t order);
  ExprId intern(const Node& node);
  ExprId power(ExprId base, ExprId exponent);
  void grow();

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> slots_;  // open addressing over ids; its size is a power of two
};

bool is_leaf(Op op);
// How many of a, b, c an operation uses.
int operand_count(Op op);
const char* name(Op op);
// As source text, with few parentheses.
std::string print(const Pool& pool, ExprId id, const LeafNames& names);
// A number as a person would write it: shortest that reads back the same.
std::string print_number(double number);

// Calls `visit` once for every expression that `roots` reach and `visited` has not marked, children before parents. Not
// recursive: expressions may be deep. `visited` grows to the pool's size and keeps its marks between calls.
template <class Visit>
void visit_postorder(const Pool& pool, const std::vector<ExprId>& roots, std::vector<bool>& visited, Visit visit) {
  std::vector<std::pair<ExprId, int>> stack;
  visited.resize(std::max(visited.size(), pool.size()));
  for (ExprId root : roots) {
    if (visited[root.value]) continue;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      const Node& node = pool[id];
      if (next == 0 && visited[id.value]) {
        stack.pop_back();
        continue;
      }
      if (next < operand_count(node.op)) {
        ExprId child = next == 0 ? node.a : next == 1 ? node.b : node.c;
        ++next;
        if (!visited[child.value]) stack.push_back({child, 0});
        continue;
      }
      ExprId done = id;
      stack.pop_back();
      if (visited[done.value]) continue;
      visited[done.value] = true;
      visit(done);
    }
  }
}

}  // namespace expr
