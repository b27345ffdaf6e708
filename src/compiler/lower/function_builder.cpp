#include "compiler/lower/function_builder.h"

#include "base/check.h"

namespace lower {

namespace {

ir::Op op_of(expr::Op op) {
  using E = expr::Op;
  using I = ir::Op;
  switch (op) {
    case E::add:
      return I::add;
    case E::subtract:
      return I::subtract;
    case E::multiply:
      return I::multiply;
    case E::divide:
      return I::divide;
    case E::negate:
      return I::negate;
    case E::square_root:
      return I::square_root;
    case E::absolute:
      return I::absolute;
    case E::floor:
      return I::floor;
    case E::ceil:
      return I::ceil;
    case E::sin:
      return I::sin;
    case E::cos:
      return I::cos;
    case E::tan:
      return I::tan;
    case E::asin:
      return I::asin;
    case E::acos:
      return I::acos;
    case E::atan:
      return I::atan;
    case E::atan2:
      return I::atan2;
    case E::exp:
      return I::exp;
    case E::log:
      return I::log;
    case E::power:
      return I::power;
    case E::table:
    case E::table_2:
      return I::table;
    case E::noise:
      return I::noise;
    case E::select:
      return I::select;
    case E::less:
      return I::less;
    case E::less_equal:
      return I::less_equal;
    case E::equal:
      return I::equal;
    case E::not_equal:
      return I::not_equal;
    case E::logical_and:
      return I::logical_and;
    case E::logical_or:
      return I::logical_or;
    case E::logical_not:
      return I::logical_not;
    default:
      TACTUS_CHECK(!"an operation, not a leaf");
      return I::constant;
  }
}

}  // namespace

ir::Instruction operation_of(const expr::Node& node) {
  ir::Instruction instruction{op_of(node.op)};
  if (node.op == expr::Op::table || node.op == expr::Op::table_2) {
    instruction.index = node.index;
    instruction.size = node.order;
    instruction.count = node.order_b;
  }
  if (node.op == expr::Op::noise) instruction.number = node.number;
  return instruction;
}

ir::Value FunctionBuilder::emit(ir::Instruction instruction) {
  chunk().instructions.push_back(instruction);
  return static_cast<ir::Value>(chunk().instructions.size() - 1);
}

void FunctionBuilder::store(ir::Op op, std::uint32_t index, ir::Value value) {
  ir::Instruction instruction{op};
  instruction.a = value;
  instruction.index = index;
  emit(instruction);
}

void FunctionBuilder::may_split() {
  if (chunk().instructions.size() < largest_chunk) return;
  function_.chunks.emplace_back();
  fetched_.clear();
}

// A value of an earlier chunk comes through work; truth values and constants are cheaper made again.
ir::Value FunctionBuilder::fetch(ExprId id, Place& place) {
  if (auto found = fetched_.find(id); found != fetched_.end()) return found->second;
  if (place.slot == no_slot) {
    place.slot = work_count_++;
    ir::Instruction store{ir::Op::store_work};
    store.a = place.value;
    store.index = place.slot;
    function_.chunks[place.chunk].instructions.push_back(store);
  }
  ir::Instruction load{ir::Op::load_work};
  load.index = place.slot;
  return fetched_[id] = emit(load);
}

ir::Value FunctionBuilder::known(ExprId id) {
  auto found = places_.find(id);
  if (found == places_.end()) return ir::no_value;
  if (found->second.chunk == current()) return found->second.value;
  if (pool_.is_truth(id) || (expr::is_leaf(pool_[id].op) && !found->second.solved)) return ir::no_value;
  return fetch(id, found->second);
}

ir::Value FunctionBuilder::operation(ExprId id) {
  const expr::Node& node = pool_[id];
  ir::Instruction instruction{};
  switch (node.op) {
    case expr::Op::constant:
      instruction.op = ir::Op::constant;
      instruction.number = node.number;
      break;
    case expr::Op::truth: {  // 0 < 1 or 1 < 0: truth values have no constants of their own
      ir::Instruction zero{ir::Op::constant};
      ir::Instruction one{ir::Op::constant};
      one.number = 1;
      ir::Value a = emit(zero);
      ir::Value b = emit(one);
      instruction.op = ir::Op::less;
      instruction.a = node.number != 0 ? a : b;
      instruction.b = node.number != 0 ? b : a;
      break;
    }
    case expr::Op::time:
      instruction.op = ir::Op::time;
      break;
    case expr::Op::input:
    case expr::Op::input_rate:
      instruction.op = node.op == expr::Op::input ? ir::Op::input : ir::Op::input_rate;
      instruction.index = node.index;
      break;
    case expr::Op::parameter:
      instruction.op = ir::Op::parameter;
      instruction.index = node.index;
      break;
    case expr::Op::discrete:
    case expr::Op::delayed:
      instruction.op = node.op == expr::Op::discrete ? ir::Op::discrete : ir::Op::delayed;
      instruction.index = node.index;
      break;
    case expr::Op::variable:
      instruction = leaf_(id);
      break;
    default: {
      instruction = operation_of(node);
      const int operands = expr::operand_count(node.op);
      instruction.a = known(node.a);
      if (operands >= 2) instruction.b = known(node.b);
      if (operands >= 3) instruction.c = known(node.c);
    }
  }
  return emit(instruction);
}

ir::Value FunctionBuilder::value(ExprId root) {
  if (ir::Value found = known(root); found != ir::no_value) return found;
  std::vector<std::pair<ExprId, int>> stack = {{root, 0}};
  while (!stack.empty()) {
    auto [id, next] = stack.back();
    if (next == 0) {
      if (known(id) != ir::no_value) {
        stack.pop_back();
        continue;
      }
      if (auto slot = hoist_(id)) {
        ir::Instruction load{ir::Op::derived};
        load.index = *slot;
        places_[id] = {current(), emit(load), no_slot, false};
        stack.pop_back();
        continue;
      }
    }
    const expr::Node& node = pool_[id];
    if (next < expr::operand_count(node.op)) {
      stack.back().second = next + 1;
      ExprId child = next == 0 ? node.a : next == 1 ? node.b : node.c;
      stack.push_back({child, 0});
      continue;
    }
    stack.pop_back();
    ir::Value made = operation(id);
    places_[id] = {current(), made, no_slot, false};
  }
  return known(root);
}

}  // namespace lower
