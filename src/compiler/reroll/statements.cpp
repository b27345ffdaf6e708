#include "compiler/reroll/statements.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <unordered_set>

namespace reroll {
namespace {

using ir::Instruction;
using ir::no_value;
using ir::Op;

constexpr std::uint32_t largest_statement = 64;

bool is_leaf(Op op) { return op <= Op::direction; }

struct Words {
  std::vector<std::uint32_t> list;
  void add(std::uint32_t word) { list.push_back(word); }
  void add(double number) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    add(static_cast<std::uint32_t>(bits));
    add(static_cast<std::uint32_t>(bits >> 32));
  }
  bool operator==(const Words&) const = default;
};

struct HashOfWords {
  std::size_t operator()(const Words& words) const {
    std::uint64_t hash = 14695981039346656037ull;  // FNV-1a by words
    for (std::uint32_t word : words.list) hash = (hash ^ word) * 1099511628211ull;
    return static_cast<std::size_t>(hash ^ (hash >> 29));
  }
};

template <class Value>
using ByWords = std::unordered_map<Words, Value, HashOfWords>;

// ---- 1. one list of nodes

class Joiner {
 public:
  explicit Joiner(Statements& made) : made_(made) {}

  bool join(const ir::Function& function) {
    for (const ir::Chunk& chunk : function.chunks) {
      if (chunk.turns != 1) return false;
      node_.assign(chunk.instructions.size(), no_value);
      for (ir::Value v = 0; v < chunk.instructions.size(); ++v) {
        if (!add(chunk, v)) return false;
      }
    }
    return true;
  }

 private:
  bool add(const ir::Chunk& chunk, ir::Value v) {
    Instruction i = chunk.instructions[v];
    for (ir::Value* operand : {&i.a, &i.b, &i.c}) {
      if (*operand != no_value) *operand = node_[*operand];
    }
    if (i.op == Op::store_work) return stored_.emplace(i.index, i.a).second;
    if (i.op == Op::load_work) {
      const auto found = stored_.find(i.index);
      if (found == stored_.end()) return false;
      node_[v] = found->second;
      return true;
    }
    if (is_written_and_read(i)) return false;
    if (ir::is_solve(i.op)) {
      const auto first = static_cast<std::uint32_t>(made_.operands.size());
      for (std::uint32_t k = 0; k < i.count; ++k) made_.operands.push_back(node_[chunk.operands[i.first + k]]);
      i.first = first;
    }
    const auto next = static_cast<Node>(made_.nodes.size());
    if (ir::is_effect(i.op) || ir::is_solve(i.op)) {
      made_.nodes.push_back(i);
      node_[v] = next;
      return true;
    }
    Words key;
    for (std::uint32_t word : {static_cast<std::uint32_t>(i.op), i.a, i.b, i.c, i.index, i.size, i.count})
      key.add(word);
    key.add(i.number);
    const auto [found, is_new] = known_.emplace(std::move(key), next);
    if (is_new) made_.nodes.push_back(i);
    node_[v] = found->second;
    return true;
  }

  // Sections that functions both read and write: a leaf may be moved only when no store in the same function can reach
  // it.
  bool is_written_and_read(const Instruction& i) {
    const auto note = [&](std::uint32_t section, bool writes) {
      const std::uint64_t place = (std::uint64_t{section} << 32) + i.index;
      (writes ? written_ : read_).insert(place);
      return (writes ? read_ : written_).contains(place);
    };
    switch (i.op) {
      case Op::state:
      case Op::store_state:
        return note(0, i.op == Op::store_state);
      case Op::discrete:
      case Op::store_discrete:
        return note(1, i.op == Op::store_discrete);
      case Op::derived:
      case Op::store_derived:
        return note(2, i.op == Op::store_derived);
      default:
        return false;
    }
  }

  Statements& made_;
  std::vector<Node> node_;                          // of the present chunk's values
  std::unordered_map<std::uint32_t, Node> stored_;  // by place in work
  ByWords<Node> known_;
  std::unordered_set<std::uint64_t> written_;
  std::unordered_set<std::uint64_t> read_;
};

// ---- 2. statements

class Divider {
 public:
  explicit Divider(Statements& made) : made_(made) {}

  bool divide() {
    const std::size_t count = made_.nodes.size();
    heavy_.assign(count, false);
    if (!place_all()) return false;
    find_heavy();
    if (!place_all()) return false;
    for (Node v : read_solutions_) made_.owner[v] = statement_[made_.nodes[v].a];
    // They were found from the last to the first.
    const auto last = static_cast<std::uint32_t>(roots_.size()) - 1;
    std::ranges::reverse(roots_);
    for (auto* places : {&statement_, &made_.owner}) {
      for (std::uint32_t& statement : *places) {
        if (statement != no_value) statement = last - statement;
      }
    }
    made_.list.resize(roots_.size());
    for (Node v = 0; v < count; ++v) {
      if (made_.owner[v] != no_value) made_.list[made_.owner[v]].results.push_back(v);
    }
    for (std::uint32_t s = 0; s < roots_.size(); ++s) collect(s);
    return order_warm_starts();
  }

 private:
  static constexpr std::uint32_t several = no_value - 1;

  template <class Visit>
  void for_each_operand(Node v, Visit visit) const {
    const Instruction& i = made_.nodes[v];
    for (Node operand : {i.a, i.b, i.c}) {
      if (operand != no_value) visit(operand);
    }
    if (!ir::is_solve(i.op)) return;
    for (std::uint32_t k = 0; k < i.count; ++k) visit(made_.operands[i.first + k]);
  }

  bool place_all() {
    const std::size_t count = made_.nodes.size();
    users_.assign(count, no_value);
    made_.owner.assign(count, no_value);
    statement_.assign(count, no_value);
    roots_.clear();
    truth_users_.clear();
    read_solutions_.clear();
    copies_ = 0;
    for (Node v = static_cast<Node>(count); v-- > 0;) {
      if (!place(v)) return false;
    }
    return true;
  }

  // Of statements that are too large, the values at which to cut them.
  void find_heavy() {
    const std::size_t count = made_.nodes.size();
    std::vector<std::uint32_t> weight(count, 0);
    for (Node v = 0; v < count; ++v) {
      const Op op = made_.nodes[v].op;
      if (is_leaf(op) || ir::is_solve(op) || op == Op::solution || made_.owner[v] != no_value) continue;
      weight[v] = 1;
      for_each_operand(v, [&](Node operand) {
        weight[v] = std::min(weight[v] + std::max(weight[operand], 1u), 2 * largest_statement);
      });
      if (weight[v] <= largest_statement || ir::is_truth(op) || ir::is_effect(op)) continue;
      heavy_[v] = true;
      weight[v] = 0;
    }
  }

  std::uint32_t new_statement(Node root) {
    roots_.push_back(root);
    return static_cast<std::uint32_t>(roots_.size() - 1);
  }

  void use(Node operand, std::uint32_t statement) {
    if (ir::is_truth(made_.nodes[operand].op)) {
      std::vector<std::uint32_t>& all = truth_users_[operand];
      if (all.empty() || all.back() != statement) {
        all.push_back(statement);
        ++copies_;
      }
      return;
    }
    std::uint32_t& users = users_[operand];
    if (users == no_value)
      users = statement;
    else if (users != statement)
      users = several;
  }

  // All users of v have been placed.
  bool place(Node v) {
    const Instruction& i = made_.nodes[v];
    if (is_leaf(i.op)) return true;
    if (ir::is_truth(i.op)) {
      std::vector<std::uint32_t>& all = truth_users_[v];
      std::ranges::sort(all);
      all.erase(std::ranges::unique(all).begin(), all.end());
      for (std::uint32_t statement : all) for_each_operand(v, [&](Node operand) { use(operand, statement); });
      return copies_ <= 4 * made_.nodes.size() + 1000;
    }
    if (i.op == Op::solution) {  // belongs to its solve
      if (users_[v] != no_value) read_solutions_.push_back(v);
      return true;
    }
    std::uint32_t& statement = statement_[v];
    if (ir::is_effect(i.op)) {
      statement = new_statement(v);
    } else if (ir::is_solve(i.op)) {
      // A newton_solve stands with its newton_tangent, which has placed it already.
      if (statement == no_value) statement = new_statement(v);
      if (i.op == Op::newton_tangent) {
        if (statement_[i.a] != no_value) return false;
        statement_[i.a] = statement;
      }
    } else if (users_[v] == no_value) {
      return true;  // nothing needs it
    } else if (users_[v] == several || heavy_[v]) {
      statement = new_statement(v);
      made_.owner[v] = statement;
    } else {
      statement = users_[v];
    }
    for_each_operand(v, [&](Node operand) {
      if (!ir::is_solve(made_.nodes[operand].op)) use(operand, statement);
    });
    return true;
  }

  // The nodes of a statement, operands before users, in an order that only its form determines.
  void collect(std::uint32_t s) {
    Statement& statement = made_.list[s];
    std::unordered_set<Node> seen;
    std::vector<std::pair<Node, bool>> stack = {{roots_[s], false}};
    std::vector<Node> operands;
    while (!stack.empty()) {
      const auto [v, ready] = stack.back();
      stack.pop_back();
      if (ready) {
        statement.nodes.push_back(v);
        continue;
      }
      if (!seen.insert(v).second) continue;
      stack.push_back({v, true});
      if (made_.nodes[v].op == Op::solution || (v != roots_[s] && made_.owner[v] != no_value)) continue;  // read
      operands.clear();
      for_each_operand(v, [&](Node operand) { operands.push_back(operand); });
      for (std::size_t k = operands.size(); k-- > 0;) stack.push_back({operands[k], false});
    }
    // Solutions stand behind their solve; only the ones that are read.
    if (!ir::is_solve(made_.nodes[roots_[s]].op)) return;
    for (Node v : statement.results) statement.nodes.push_back(v);
  }

  // A first guess is stored before the block that starts from it is solved.
  bool order_warm_starts() {
    std::unordered_map<std::uint32_t, std::uint32_t> stored;
    std::unordered_set<std::uint32_t> solved;
    for (Node v = 0; v < made_.nodes.size(); ++v) {
      const Instruction& i = made_.nodes[v];
      if (i.op == Op::store_warm) {
        if (solved.contains(i.index) || !stored.emplace(i.index, statement_[v]).second) return false;
      }
      if (i.op != Op::newton_solve) continue;
      for (std::uint32_t k = 0; k < i.size; ++k) {
        if (!solved.insert(i.warm + k).second) return false;
        if (const auto found = stored.find(i.warm + k); found != stored.end())
          made_.list[statement_[v]].before.push_back(found->second);
      }
    }
    return true;
  }

  Statements& made_;
  std::vector<bool> heavy_;
  std::vector<std::uint32_t> users_;      // the one statement that uses a node, or several
  std::vector<std::uint32_t> statement_;  // of all but leaves and truth values
  std::vector<Node> roots_;
  std::unordered_map<Node, std::vector<std::uint32_t>> truth_users_;
  std::vector<Node> read_solutions_;
  std::size_t copies_ = 0;
};

// ---- 3. classes

class Classifier {
 public:
  explicit Classifier(Statements& made) : made_(made), local_(made.nodes.size(), no_value) {}

  bool classify() {
    for (std::uint32_t s = 0; s < made_.list.size(); ++s) {
      Statement& statement = made_.list[s];
      Words form = form_of(s);
      statement.of_class = classes_.emplace(std::move(form), static_cast<std::uint32_t>(classes_.size())).first->second;
      std::ranges::sort(statement.before);
      statement.before.erase(std::ranges::unique(statement.before).begin(), statement.before.end());
      if (std::ranges::binary_search(statement.before, s)) return false;
    }
    made_.class_count = static_cast<std::uint32_t>(classes_.size());
    return true;
  }

 private:
  // All but places and constants; notes what is read from other statements.
  Words form_of(std::uint32_t s) {
    Statement& statement = made_.list[s];
    Words form;
    for (std::uint32_t k = 0; k < statement.nodes.size(); ++k) local_[statement.nodes[k]] = k;
    const auto add_operand = [&](Node operand) { form.add(operand == no_value ? no_value : local_[operand]); };
    for (Node v : statement.nodes) {
      const Instruction& i = made_.nodes[v];
      const std::uint32_t owner = made_.owner[v];
      if (owner != no_value && owner != s) {
        form.add(static_cast<std::uint32_t>(Op::load_work));
        statement.before.push_back(owner);
        continue;
      }
      form.add(static_cast<std::uint32_t>(i.op));
      if (is_leaf(i.op)) continue;
      add_operand(i.a);
      add_operand(i.b);
      add_operand(i.c);
      if (i.op == Op::table || i.op == Op::solution) form.add(i.index);
      if (i.op == Op::noise) form.add(i.number);
      form.add(i.size);
      form.add(i.count);
      if (!ir::is_solve(i.op)) continue;
      form.add(i.residual);
      form.add(i.op == Op::linear_solve ? i.warm : 0);
      for (std::uint32_t k = 0; k < i.count; ++k) add_operand(made_.operands[i.first + k]);
    }
    form.add(static_cast<std::uint32_t>(statement.results.size()));
    return form;
  }

  Statements& made_;
  std::vector<std::uint32_t> local_;  // place of a node in the statement at hand
  ByWords<std::uint32_t> classes_;
};

}  // namespace

std::optional<Statements> take_apart(const ir::Function& function) {
  Statements made;
  if (!Joiner(made).join(function) || !Divider(made).divide() || !Classifier(made).classify()) return std::nullopt;
  return made;
}

}  // namespace reroll
