#include "compiler/hold/hold.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "compiler/symbolic/symbolic.h"

namespace hold {
namespace {

using expr::ExprId;
using expr::Node;
using expr::Op;
using structure::Block;
using structure::Relation;

// Operations that are not defined everywhere: their values end at a surface, and beyond it are none.
bool is_partial(const expr::Pool& pool, const Node& node) {
  switch (node.op) {
    case Op::square_root:
    case Op::log:
    case Op::asin:
    case Op::acos:
      return true;
    case Op::power:
      return !pool.is_constant(node.b) || pool[node.b].number != std::floor(pool[node.b].number);
    default:
      return false;
  }
}

class Holding {
 public:
  Holding(flat::Model& model, structure::Sorted& sorted) : model_(model), pool_(model.pool), sorted_(sorted) {}

  void run() {
    watch_guards();
    if (!has_kinks()) return;
    for (ExprId state : sorted_.states) moving_.insert(state);
    for (const flat::Event& event : model_.events) {
      if (event.kind == TACTUS_WHEN) conditions_.insert(pool_.variable(event.condition.value, 0));
      for (const flat::Update& update : event.updates) handled_.insert(pool_.variable(update.value.value, 0));
    }
    find_domains();
    const std::vector<bool> matters = find_what_matters();
    for (std::size_t b = 0; b < matters.size(); ++b) rewrite(sorted_.motion.blocks[b], matters[b]);
  }

 private:
  std::vector<ExprId> sides() const {
    std::vector<ExprId> all;
    for (const flat::Equation& equation : sorted_.motion.equations) {
      all.push_back(equation.left);
      all.push_back(equation.right);
    }
    return all;
  }

  bool has_kinks() const {
    bool found = false;
    std::vector<bool> visited;
    expr::visit_postorder(pool_, sides(), visited, [&](ExprId id) {
      const Op op = pool_[id].op;
      found = found || expr::has_kink(op) || op == Op::equal || op == Op::not_equal;
    });
    return found;
  }

  // Visits `e` and below it, each once, what visit(id, open) adds to `open`; until it says true. Whether it did.
  template <class Visit>
  static bool walk(ExprId e, Visit visit) {
    std::vector<ExprId> open = {e};
    std::unordered_set<ExprId> seen;
    while (!open.empty()) {
      const ExprId id = open.back();
      open.pop_back();
      if (seen.insert(id).second && visit(id, open)) return true;
    }
    return false;
  }

  void add_operands(ExprId e, std::vector<ExprId>& open) const {
    const Node& node = pool_[e];
    const int operands = expr::operand_count(node.op);
    if (operands >= 3) open.push_back(node.c);
    if (operands >= 2) open.push_back(node.b);
    if (operands >= 1) open.push_back(node.a);
  }

  // Whether a part of `e` satisfies `wanted`.
  template <class Wanted>
  bool any(ExprId e, Wanted wanted) const {
    return walk(e, [&](ExprId id, std::vector<ExprId>& open) {
      add_operands(id, open);
      return wanted(id);
    });
  }

  // --- Guards of jumps and of what is required
  // --------------------------------------------------------------------------

  // Each is one value, positive where all that it is made of holds: located as it is, and evaluated.
  void watch_guards() {
    const std::unordered_set<ExprId> unknowns(sorted_.motion.unknowns.begin(), sorted_.motion.unknowns.end());
    for (std::uint32_t e = 0; e < model_.events.size(); ++e) {
      const flat::Event& event = model_.events[e];
      if (!event.guard.valid()) continue;
      const auto number = sorted_.constants.find(event.guard.value);
      ExprId guard = pool_.variable(event.guard.value, 0);
      if (number != sorted_.constants.end()) {
        guard = pool_.constant(number->second);
      } else if (unknowns.contains(guard)) {
        watched_.push_back(guard);
        watched_.push_back(pool_.variable(event.condition.value, 0));
      } else {
        guard = pool_.constant(-1);  // no such thing in the present mode
      }
      sorted_.relations.push_back({TACTUS_TRUTH, guard, {}, model_.discrete_count++, event.span, e + 1});
      model_.discrete_names.push_back(fmt::format("held({})", event.name));
    }
  }

  // --- Comparisons that keep functions inside their domains
  // ------------------------------------------------------------

  // Whether the value of `e` is one of a few numbers, whatever the comparisons inside compare: sign(x). Held, it stays
  // inside a domain as well as evaluated.
  bool is_level(ExprId e) const {
    return !walk(e, [&](ExprId id, std::vector<ExprId>& open) {
      const Node& node = pool_[id];
      switch (node.op) {
        case Op::constant:
        case Op::parameter:
        case Op::discrete:
          return false;
        case Op::select:
          open.insert(open.end(), {node.c, node.b});
          return false;
        case Op::add:
        case Op::subtract:
        case Op::multiply:
        case Op::negate:
          add_operands(id, open);
          return false;
        default:
          return true;
      }
    });
  }

  // A choice between numbers alone.
  bool is_choice(ExprId e) const { return pool_[e].op == Op::select && is_level(e); }

  // Leaves whose own values reach a partial function through `e`: not what a choice between numbers compares.
  void add_reaching(ExprId e, std::unordered_set<ExprId>& reaching) const {
    walk(e, [&](ExprId id, std::vector<ExprId>& open) {
      if (pool_[id].op == Op::variable || pool_[id].op == Op::time) reaching.insert(id);
      if (!is_choice(id)) add_operands(id, open);
      return false;
    });
  }

  // What stands in `e` is evaluated; but not a choice between numbers by leaves that do not themselves reach a partial
  // function, as x does in sqrt(x * sign(x)).
  void evaluate_below(ExprId e, const std::unordered_set<ExprId>* reaching) {
    walk(e, [&](ExprId id, std::vector<ExprId>& open) {
      if (expr::has_kink(pool_[id].op)) guarding_.insert(id);
      const auto reaches = [&](ExprId part) { return reaching->contains(part); };
      if (!reaching || !is_choice(id) || any(id, reaches)) add_operands(id, open);
      return false;
    });
  }

  // What `e` gives to a partial function or, with `with_quotients`, to a divisor.
  void add_arguments(ExprId e, bool with_quotients, std::unordered_set<ExprId>& variables) const {
    any(e, [&](ExprId id) {
      const Node& node = pool_[id];
      const bool divides = with_quotients && node.op == Op::divide && !pool_.is_constant(node.b);
      if (!divides && !is_partial(pool_, node)) return false;
      for (ExprId leaf : symbolic::leaves(pool_, divides ? node.b : node.a, Op::variable)) variables.insert(leaf);
      for (ExprId leaf : symbolic::leaves(pool_, divides ? node.b : node.a, Op::time)) variables.insert(leaf);
      return false;
    });
  }

  void find_domains() {
    std::unordered_set<ExprId> sensitive;  // leaves whose values reach a partial function
    std::vector<ExprId> partial;           // what leads there
    std::vector<bool> visited;
    expr::visit_postorder(pool_, sides(), visited, [&](ExprId id) {
      const Node& node = pool_[id];
      if (is_partial(pool_, node)) {
        add_reaching(node.a, sensitive);
        partial.push_back(node.a);
      }
      if (node.op != Op::select) return;
      std::unordered_set<ExprId> arguments;
      add_arguments(node.b, true, arguments);
      add_arguments(node.c, true, arguments);
      if (!arguments.empty() && any(node.a, [&](ExprId part) { return arguments.contains(part); }))
        evaluate_below(node.a, nullptr);
    });
    const auto& blocks = sorted_.motion.blocks;
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
      const bool reaches = std::ranges::any_of(
          block->unknowns, [&](std::uint32_t u) { return sensitive.contains(sorted_.motion.unknowns[u]); });
      if (!reaches) continue;
      for (std::uint32_t e : block->equations) {
        for (ExprId side : {sorted_.motion.equations[e].left, sorted_.motion.equations[e].right}) {
          add_reaching(side, sensitive);
          partial.push_back(side);
        }
      }
    }
    for (ExprId argument : partial) evaluate_below(argument, &sensitive);
  }

  // By block: whether the motion, an event or a delay depends on it. What is only recorded is evaluated where it is
  // recorded.
  std::vector<bool> find_what_matters() const {
    const auto& motion = sorted_.motion;
    std::unordered_map<ExprId, std::uint32_t> block_of;
    for (std::uint32_t b = 0; b < motion.blocks.size(); ++b) {
      for (std::uint32_t u : motion.blocks[b].unknowns) block_of.emplace(motion.unknowns[u], b);
    }
    std::vector<ExprId> open = sorted_.state_rates;
    open.insert(open.end(), conditions_.begin(), conditions_.end());
    open.insert(open.end(), watched_.begin(), watched_.end());
    for (const structure::Jump& jump : sorted_.jumps) {
      for (const flat::Equation& equation : jump.system.equations) {
        for (ExprId side : {equation.left, equation.right}) {
          for (ExprId leaf : symbolic::leaves(pool_, side, Op::variable)) open.push_back(leaf);
        }
      }
      for (const structure::Jump::Set& set : jump.sets) {
        for (ExprId leaf : symbolic::leaves(pool_, set.value, Op::variable)) open.push_back(leaf);
      }
    }
    open.insert(open.end(), handled_.begin(), handled_.end());
    for (const flat::Delay& delay : model_.delays) open.push_back(pool_.variable(delay.source.value, delay.order));
    for (const flat::Equation& constraint : sorted_.constraints) {
      for (ExprId side : {constraint.left, constraint.right}) {
        for (ExprId leaf : symbolic::leaves(pool_, side, Op::variable)) open.push_back(leaf);
      }
    }
    std::vector<bool> matters(motion.blocks.size());
    while (!open.empty()) {
      const auto found = block_of.find(open.back());
      open.pop_back();
      if (found == block_of.end() || matters[found->second]) continue;
      matters[found->second] = true;
      for (std::uint32_t e : motion.blocks[found->second].equations) {
        for (ExprId side : {motion.equations[e].left, motion.equations[e].right}) {
          for (ExprId leaf : symbolic::leaves(pool_, side, Op::variable)) open.push_back(leaf);
        }
      }
    }
    return matters;
  }

  // --- Rewriting
  // -------------------------------------------------------------------------------------------------------

  bool moves(ExprId e) const {
    return any(e, [&](ExprId id) {
      switch (pool_[id].op) {
        case Op::time:
        case Op::input:
        case Op::input_rate:
        case Op::delayed:
          return true;
        case Op::variable:
          return moving_.contains(id);
        default:
          return false;
      }
    });
  }

  void rewrite(const Block& block, bool matters) {
    std::unordered_set<ExprId> own;
    bool is_handler = false, is_condition = false;
    for (std::uint32_t u : block.unknowns) {
      const ExprId leaf = sorted_.motion.unknowns[u];
      own.insert(leaf);
      is_handler = is_handler || handled_.contains(leaf);
      is_condition = is_condition || conditions_.contains(leaf);
    }
    bool is_moving = false;
    for (std::uint32_t e : block.equations) {
      flat::Equation& equation = sorted_.motion.equations[e];
      if (!is_handler && matters) {
        symbolic::Rewrite held(
            pool_, [](ExprId) { return ExprId(); },
            [&](const Node& node, ExprId a, ExprId b, ExprId c) {
              return combine(node, a, b, c, own, is_condition, equation.span);
            });
        equation.left = held(equation.left);
        equation.right = held(equation.right);
      }
      is_moving = is_moving || moves(equation.left) || moves(equation.right);
    }
    if (is_moving) moving_.insert(own.begin(), own.end());
  }

  ExprId combine(const Node& node, ExprId a, ExprId b, ExprId c, const std::unordered_set<ExprId>& own,
                 bool is_condition, base::Span span) {
    const bool is_equality = node.op == Op::equal || node.op == Op::not_equal;
    const ExprId plain = pool_.remake(node, a, b, c);
    // Folding may have left something else.
    if (pool_[plain].op != node.op || !(expr::has_kink(node.op) || (is_equality && is_condition))) return plain;
    if (node.order > 0 && expr::has_kink(node.op) && !is_condition) return plain;
    if (any(plain, [&](ExprId id) { return own.contains(id); }) || !moves(plain)) return plain;
    const ExprId zero = pool_.constant(0);
    ExprId held;
    switch (node.op) {
      case Op::less:
        held = is_below(a, b, span);
        break;
      case Op::less_equal:
        held = pool_.make(Op::logical_not, is_below(b, a, span));
        break;
      case Op::equal:
        held = pool_.make(Op::logical_not, pool_.make(Op::logical_or, is_below(a, b, span), is_below(b, a, span)));
        break;
      case Op::not_equal:
        held = pool_.make(Op::logical_or, is_below(a, b, span), is_below(b, a, span));
        break;
      case Op::absolute:
        held = pool_.make(Op::select, is_below(a, zero, span), pool_.negate(a), a);
        break;
      case Op::floor:
        held = whole_below(a, span);
        break;
      default:
        held = pool_.negate(whole_below(pool_.negate(a), span));
    }
    return is_guarding(node, plain) ? plain : held;
  }

  // By the operation as it was before its operands were rewritten.
  bool is_guarding(const Node& node, ExprId plain) {
    if (guarding_.empty()) return false;
    const int operands = expr::operand_count(node.op);
    const ExprId before = pool_.remake(node, node.a, operands >= 2 ? node.b : ExprId());
    return guarding_.contains(before) || guarding_.contains(plain);
  }

  // held(a < b), a truth value.
  ExprId is_below(ExprId a, ExprId b, base::Span span) {
    const ExprId guard = pool_.subtract(b, a);
    auto [found, is_new] = truths_.try_emplace(guard, model_.discrete_count);
    if (is_new) add({TACTUS_TRUTH, guard, {}, found->second, span, 0}, pool_.make(Op::less, a, b));
    return pool_.make(Op::less, pool_.constant(0.5), pool_.discrete(found->second));
  }

  // held(floor(e)).
  ExprId whole_below(ExprId e, base::Span span) {
    auto [found, is_new] = floors_.try_emplace(e, model_.discrete_count);
    const ExprId n = pool_.discrete(found->second);
    if (is_new) {
      const ExprId above = pool_.subtract(e, n);
      const ExprId guard = pool_.multiply(above, pool_.subtract(pool_.constant(1), above));
      add({TACTUS_FLOOR, guard, e, found->second, span, 0}, pool_.make(Op::floor, e));
    }
    return n;
  }

  void add(const Relation& relation, ExprId text) {
    ++model_.discrete_count;
    model_.discrete_names.push_back(fmt::format("held({})", flat::print(model_, text)));
    sorted_.relations.push_back(relation);
  }

  flat::Model& model_;
  expr::Pool& pool_;
  structure::Sorted& sorted_;
  std::unordered_set<ExprId> moving_;                 // leaves that change between events
  std::unordered_set<ExprId> conditions_;             // leaves: conditions of events
  std::unordered_set<ExprId> handled_;                // leaves: what handlers compute
  std::vector<ExprId> watched_;                       // leaves: guards of jumps, and whether they hold
  std::unordered_set<ExprId> guarding_;               // located, but evaluated
  std::unordered_map<ExprId, std::uint32_t> truths_;  // discrete values by guard
  std::unordered_map<ExprId, std::uint32_t> floors_;  // by argument
};

}  // namespace

void hold(flat::Model& model, structure::Sorted& sorted) { Holding(model, sorted).run(); }

std::string dump(const flat::Model& model, const structure::Sorted& sorted) {
  std::string out;
  for (const Relation& relation : sorted.relations) {
    out += fmt::format("{}: {} {}\n", model.discrete_names[relation.held], flat::print(model, relation.guard),
                       relation.kind == TACTUS_FLOOR ? "is positive as long as it is that" : "> 0");
  }
  for (const flat::Equation& equation : sorted.motion.equations) {
    const bool reads = !symbolic::leaves(model.pool, equation.left, Op::discrete).empty() ||
                       !symbolic::leaves(model.pool, equation.right, Op::discrete).empty();
    if (reads) out += fmt::format("{} = {}\n", flat::print(model, equation.left), flat::print(model, equation.right));
  }
  return out;
}

}  // namespace hold
