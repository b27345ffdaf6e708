#include "compiler/structure/structure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <set>

#include "base/check.h"
#include "base/nearest.h"
#include "compiler/structure/cancellation.h"
#include "compiler/structure/diagnostics.h"
#include "compiler/structure/matching.h"
#include "compiler/symbolic/symbolic.h"

namespace structure {
namespace {

using expr::Node;
using expr::Op;
using flat::Equation;

class Analysis {
 public:
  Analysis(flat::Model& model, std::vector<Override>& overrides, diag::Sink& diags)
      : model_(model), pool_(model.pool), overrides_(overrides), diags_(diags) {}

  std::optional<Sorted> run() {
    std::size_t errors_before = diags_.error_count();
    for (const Equation& equation : model_.equations) equations_.push_back(equation);
    for (const flat::Condition& condition : model_.conditions)
      (condition.later ? later_ : conditions_).push_back(condition);
    fold_constants();
    settle_before_the_run();
    find_orders();
    find_definitions();
    differentiate_definitions();
    if (diags_.error_count() > errors_before) return std::nullopt;
    if (!drop_settled()) return std::nullopt;
    reduce_index();
    name_unknowns();
    sort_motion();
    if (diags_.error_count() > errors_before) return std::nullopt;
    refuse_delays();
    sort_start();
    if (diags_.error_count() > errors_before) return std::nullopt;
    return std::move(sorted_);
  }

 private:
  const std::string& variable_name(std::uint32_t variable) const {
    return model_.variables[flat::VariableId(variable)].name;
  }
  std::string leaf_name(ExprId leaf) const { return flat::primed(variable_name(pool_[leaf].index), pool_[leaf].order); }
  // The name of the whole vector that a component belongs to.
  static std::string whole(const std::string& name) {
    std::size_t at = name.ends_with(']') ? name.rfind('[') : std::string::npos;
    return at == std::string::npos ? name : name.substr(0, at);
  }

  bool is_bare(ExprId id) const { return pool_[id].op == Op::variable && pool_[id].order == 0; }

  // --- 1. Constants ----------------------------------------------------------------------------------------------------

  void fold_constants() {
    struct Candidate {
      std::size_t equation = 0;
      std::uint32_t variable = 0;
      ExprId value{};
      std::size_t open = 0;  // variables in the value that are not known to be constant
    };
    const std::size_t count = equations_.size();
    std::vector<Candidate> candidates;  // v = e, read from the left and from the right
    std::unordered_map<std::uint32_t, std::vector<std::size_t>> readers;
    std::deque<std::size_t> ready;
    for (std::size_t i = 0; i < count; ++i) {
      for (bool from_left : {true, false}) {
        ExprId bare = from_left ? equations_[i].left : equations_[i].right;
        ExprId value = from_left ? equations_[i].right : equations_[i].left;
        if (!is_bare(bare)) continue;
        auto read = symbolic::leaves(pool_, value, Op::variable);
        for (ExprId leaf : read) readers[pool_[leaf].index].push_back(candidates.size());
        if (read.empty()) ready.push_back(candidates.size());
        candidates.push_back({i, pool_[bare].index, value, read.size()});
      }
    }
    std::vector<bool> used(count);
    symbolic::Substitution known(pool_, [&](ExprId leaf) { return constant_of(leaf); });
    while (!ready.empty()) {
      const Candidate candidate = candidates[ready.front()];
      ready.pop_front();
      const std::size_t i = candidate.equation;
      if (used[i] || sorted_.constants.contains(candidate.variable)) continue;
      ExprId value = known(candidate.value);
      if (!pool_.is_constant(value)) continue;
      double number = pool_[value].number;
      for (auto at = overrides_.begin(); at != overrides_.end(); ++at) {
        if (at->name == variable_name(candidate.variable)) {
          number = at->value;
          overrides_.erase(at);
          break;
        }
      }
      sorted_.constants[candidate.variable] = number;
      constant_spans_[candidate.variable] = equations_[i].span;
      used[i] = true;
      for (std::size_t reader : readers[candidate.variable]) {
        if (--candidates[reader].open == 0) ready.push_back(reader);
      }
    }
    std::vector<Equation> rest;
    symbolic::Substitution constants(pool_, [&](ExprId leaf) { return constant_of(leaf); });
    for (std::size_t i = 0; i < count; ++i) {
      if (used[i]) continue;
      Equation equation = equations_[i];
      equation.left = constants(equation.left);
      equation.right = constants(equation.right);
      rest.push_back(equation);
      written_.push_back({equations_[i].left, equations_[i].right});
    }
    equations_ = std::move(rest);
    chain_.assign(equations_.size(), {});
    for (flat::Condition& condition : conditions_) condition.value = constants(condition.value);
    for (flat::Condition& condition : later_) condition.value = constants(condition.value);
  }

  // First values of behaviours and durations of delays: of numbers, constants and parameters.
  void settle_before_the_run() {
    symbolic::Substitution constants(pool_, [&](ExprId leaf) { return constant_of(leaf); });
    auto is_static = [&](ExprId e) {
      for (Op op : {Op::variable, Op::time, Op::input, Op::input_rate, Op::discrete, Op::delayed}) {
        if (!symbolic::leaves(pool_, e, op).empty()) return false;
      }
      return true;
    };
    for (flat::Discrete& discrete : model_.discrete) {
      for (ExprId& start : discrete.start) {
        start = constants(start);
        if (is_static(start)) continue;
        diags_.report(discrete.span, start_not_static, discrete.name)
            .hint("make it of numbers, constants and parameters; a handler may read what moves");
        break;
      }
    }
    std::set<std::pair<std::uint32_t, std::uint32_t>> said;  // components of a vector share their place
    for (flat::Delay& delay : model_.delays) {
      delay.duration = constants(delay.duration);
      if (said.contains({delay.span.file, delay.span.begin})) continue;
      if (!is_static(delay.duration)) {
        diags_.report(delay.span, delay_not_static).hint("make it of numbers, constants and parameters");
        said.emplace(delay.span.file, delay.span.begin);
        continue;
      }
      // With the parameters as they are when the run begins.
      symbolic::Substitution begin(pool_, [&](ExprId leaf) {
        return pool_[leaf].op == Op::parameter ? pool_.constant(model_.parameters[pool_[leaf].index].initial)
                                               : ExprId();
      });
      const ExprId duration = begin(delay.duration);
      if (pool_.is_constant(duration) && !(pool_[duration].number > 0)) {
        diags_.report(delay.span, delay_not_positive, expr::print_number(pool_[duration].number))
            .hint("it looks back: write `delay(x, 0.1)` for the value of x a tenth of a second ago");
        said.emplace(delay.span.file, delay.span.begin);
      }
    }
  }

  // A constant's number, 0 for its derivatives, invalid for everything else.
  ExprId constant_of(ExprId leaf) {
    const Node& node = pool_[leaf];
    if (node.op != Op::variable) return {};
    auto found = sorted_.constants.find(node.index);
    if (found == sorted_.constants.end()) return {};
    return pool_.constant(node.order == 0 ? found->second : 0);
  }

  // --- 2. Definitions --------------------------------------------------------------------------------------------------

  // Variables whose order rises join `open`.
  void raise_orders(ExprId e, std::deque<std::uint32_t>* open = nullptr) {
    for (ExprId leaf : symbolic::leaves(pool_, e, Op::variable)) {
      const Node& node = pool_[leaf];
      if (node.order <= highest_[node.index]) continue;
      highest_[node.index] = node.order;
      if (open) open->push_back(node.index);
    }
  }

  // What a delay remembers is computed, be it a derivative that no equation mentions. Whether it is a new one.
  bool want(const flat::Delay& delay) {
    std::uint32_t& highest = highest_[delay.source.value];
    if (highest >= delay.order || sorted_.constants.contains(delay.source.value)) return false;
    highest = delay.order;
    return true;
  }

  void find_orders() {
    const std::size_t count = model_.variables.size();
    highest_.assign(count, 0);
    definition_.assign(count, ExprId());
    definition_span_.assign(count, {});
    definition_equation_.assign(count, 0);
    has_start_.assign(count, false);
    for (const flat::Condition& condition : conditions_) {
      if (!condition.guess) has_start_[condition.variable.value] = true;
    }
    for (const Equation& equation : equations_) {
      raise_orders(equation.left);
      raise_orders(equation.right);
    }
    own_order_ = highest_;
    for (const flat::Delay& delay : model_.delays) want(delay);
    for (const flat::Condition& condition : later_) {
      if (!sorted_.constants.contains(condition.variable.value))
        raise_orders(pool_.variable(condition.variable.value, condition.order));
      raise_orders(condition.value);
    }
    // First the name on the left; then on the right of what is no bare name, then of `x' = v`, which says more about x. An
    // equation defines one name.
    std::vector<bool> taken(equations_.size());
    for (int pass = 0; pass < 3; ++pass) {
      for (std::size_t i = 0; i < equations_.size(); ++i) {
        const Equation& equation = equations_[i];
        ExprId name = pass == 0 ? equation.left : equation.right;
        ExprId value = pass == 0 ? equation.right : equation.left;
        if (taken[i] || (pass == 1 && pool_[value].op == Op::variable)) continue;
        if (!is_bare(name) || definition_[pool_[name].index].valid() || mentions(value, pool_[name].index)) continue;
        definition_[pool_[name].index] = value;
        definition_span_[pool_[name].index] = equation.span;
        definition_equation_[pool_[name].index] = i;
        taken[i] = true;
      }
    }
  }

  // The equation that gives a state's highest derivative, solved for it: x'' of m x'' = F. Its own derivatives give the higher.
  std::optional<ExprId> highest_derivative(std::uint32_t v) {
    ExprId leaf = pool_.variable(v, own_order_[v]);
    if (readers_.empty()) index_readers();
    for (std::size_t i : readers_[leaf]) {
      const Equation& equation = equations_[i];
      auto value = symbolic::solve(pool_, equation.left, equation.right, leaf);
      if (!value) continue;
      definition_span_[v] = equation.span;
      chain_[i] = {v, own_order_[v]};
      return value;
    }
    return std::nullopt;
  }

  void index_readers() {
    for (std::size_t i = 0; i < equations_.size(); ++i) {
      for (ExprId side : {equations_[i].left, equations_[i].right}) {
        for (ExprId leaf : symbolic::leaves(pool_, side, Op::variable)) {
          std::vector<std::size_t>& list = readers_[leaf];
          if (list.empty() || list.back() != i) list.push_back(i);
        }
      }
    }
  }

  bool mentions(ExprId e, std::uint32_t variable) const {
    auto read = symbolic::leaves(pool_, e, Op::variable);
    return std::any_of(read.begin(), read.end(), [&](ExprId leaf) { return pool_[leaf].index == variable; });
  }

  // Whether a variable is a function of time, inputs and parameters alone.
  bool is_given(std::uint32_t variable) {
    if (given_.empty()) given_.assign(model_.variables.size(), unknown_yet);
    // Depth-first, iterative: a variable is given when all that its definition reads is.
    std::vector<std::uint32_t> stack = {variable};
    while (!stack.empty()) {
      std::uint32_t v = stack.back();
      if (given_[v] == yes || given_[v] == no) {
        stack.pop_back();
        continue;
      }
      if (!definition_[v].valid()) {
        given_[v] = no;
        stack.pop_back();
        continue;
      }
      bool open = false;
      bool all = true;
      for (ExprId leaf : symbolic::leaves(pool_, definition_[v], Op::variable)) {
        std::uint32_t w = pool_[leaf].index;
        if (given_[w] == unknown_yet) {
          open = true;
          stack.push_back(w);
        } else if (given_[w] != yes) {
          all = false;  // no, or in progress: a cycle
        }
      }
      if (open && given_[v] == unknown_yet) {
        given_[v] = in_progress;
        continue;
      }
      given_[v] = all ? yes : no;
      stack.pop_back();
    }
    return given_[variable] == yes;
  }

  // Which variables are worked out from a definition, and so are their derivatives.
  void find_definitions() {
    const std::size_t count = model_.variables.size();
    is_defined_.assign(count, false);
    extended_.assign(count, false);
    done_.assign(count, 0);
    latest_ = definition_;
    for (std::uint32_t v = 0; v < count; ++v) {
      if (!definition_[v].valid() || (has_start_[v] && !is_given(v))) continue;
      is_defined_[v] = true;
      chain_[definition_equation_[v]] = {v, 0};
    }
  }

  // Adds the derivatives that are asked for and not there yet.
  void differentiate_definitions() {
    std::deque<std::uint32_t> open;
    for (std::uint32_t v = 0; v < highest_.size(); ++v) {
      if (highest_[v] > done_[v]) open.push_back(v);
    }
    while (!open.empty()) {
      std::uint32_t v = open.front();
      open.pop_front();
      if (!is_defined_[v]) {
        // A state. More than its own order is asked for only by derivatives of what is made of it.
        if (highest_[v] <= own_order_[v]) continue;
        if (!extended_[v]) {
          auto value = highest_derivative(v);
          if (!value) continue;
          latest_[v] = *value;
          done_[v] = own_order_[v];
          extended_[v] = true;
        }
      }
      while (done_[v] < highest_[v]) {
        auto next = differentiated(
            latest_[v], definition_span_[v],
            [&](diag::Sink::Reported& report) {
              report.hint("the derivative {} of `{}` asks for it", done_[v] + 1, variable_name(v));
            },
            &open);
        if (!next) return;
        latest_[v] = *next;
        ++done_[v];
        equations_.push_back({pool_.variable(v, done_[v]), latest_[v], definition_span_[v], flat::differentiated});
        written_.push_back({equations_.back().left, equations_.back().right});
        chain_.push_back({v, done_[v]});
        if (done_[v] > most_derivatives) {
          diags_.report(definition_span_[v], endless_derivatives, variable_name(v));
          return;
        }
        raise_orders(latest_[v], &open);
      }
    }
  }

  // d(e)/dt along the motion; empty after reporting what has no derivative. Delays whose rate is asked for join `open`.
  template <class Explain>
  std::optional<ExprId> differentiated(ExprId e, base::Span span, Explain explain,
                                       std::deque<std::uint32_t>* open = nullptr) {
    ExprId obstacle;
    auto next = symbolic::differentiate_in_time(pool_, e, &obstacle, [&](std::uint32_t k) {
      const ExprId rate = flat::rate_of_delay(model_, k);
      const flat::Delay& made = model_.delays[pool_[rate].index];
      if (want(made) && open) open->push_back(made.source.value);
      return rate;
    });
    if (!next) {
      const bool is_noise = pool_[obstacle].op == Op::noise;
      auto report = is_noise ? diags_.report(span, noise_differentiated)
                             : diags_.report(span, input_acceleration, model_.input_names[pool_[obstacle].index]);
      explain(report);
      if (is_noise) report.hint("let it pass a filter, `T * y' + y = noise(1);`, and use y and y'");
      return std::nullopt;
    }
    symbolic::Substitution constants(pool_, [&](ExprId leaf) { return constant_of(leaf); });
    return constants(*next);
  }

  // --- 3. Index reduction ----------------------------------------------------------------------------------------------
  //
  // Pantelides, SIAM J. Sci. Stat. Comput. 9(2), 1988, in rounds: equations that share too few highest derivatives are
  // differentiated together, and what they were stays as a constraint; until every equation has a highest derivative of its
  // own. It ends, because the equations can be matched with names. Equations that define a name stay: their derivatives
  // define the name's derivatives beside them.

  void reduce_index() {
    bool is_possible = false;
    for (int round = 0;; ++round) {
      System system;
      system.equations = equations_;
      system.unknowns = unknown_leaves();
      const auto rows = incidence(system);
      const Matching matching = match(rows, static_cast<std::uint32_t>(system.unknowns.size()));
      if (std::find(matching.unknown_of.begin(), matching.unknown_of.end(), unmatched) == matching.unknown_of.end()) {
        if (!replace_cancelling(system, rows, matching)) return;
        continue;
      }
      if (!is_possible && !can_be_reduced()) return;  // counts do not match: sort_motion says which
      is_possible = true;
      const std::vector<bool> reached = among_too_many(rows, matching);
      for (std::size_t i = 0; i < reached.size(); ++i) {
        if (reached[i] && !differentiate_equation(i)) return;
      }
      differentiate_definitions();
      if (round > static_cast<int>(most_derivatives)) {
        const auto first = std::find(matching.unknown_of.begin(), matching.unknown_of.end(), unmatched);
        const Equation& equation = equations_[static_cast<std::size_t>(first - matching.unknown_of.begin())];
        const auto names = symbolic::leaves(pool_, pool_.subtract(equation.left, equation.right), Op::variable);
        diags_.report(equation.span, endless_derivatives, names.empty() ? "t" : variable_name(pool_[names[0]].index));
        return;
      }
    }
  }

  // A block in whose equations the unknowns cancel: what is left takes the place of one of them. Whether there was one.
  bool replace_cancelling(const System& system, const std::vector<std::vector<std::uint32_t>>& rows,
                          const Matching& matching) {
    for (const std::vector<std::uint32_t>& block : components(rows, matching)) {
      if (block.size() < 2 || block.size() > largest_block) continue;
      std::vector<const Equation*> equations;
      std::vector<ExprId> unknowns;
      for (std::uint32_t e : block) {
        equations.push_back(&system.equations[e]);
        unknowns.push_back(system.unknowns[matching.unknown_of[e]]);
      }
      const auto found = find_cancellation(pool_, equations, unknowns);
      if (!found) continue;
      std::size_t place = block.size();
      for (std::size_t i = 0; i < block.size(); ++i) {
        if (found->factors[i] == 0) continue;
        if (place == block.size() || chain_[block[place]].variable != no_variable) place = i;
      }
      return report_cancelling(block, *found, place, unknowns);
    }
    return false;
  }

  bool report_cancelling(const std::vector<std::uint32_t>& block, const Cancellation& found, std::size_t place,
                         const std::vector<ExprId>& unknowns) {
    const bool is_settled = symbolic::leaves(pool_, found.rest, Op::variable).empty();
    const Equation replaced = equations_[block[place]];
    std::string names;
    for (std::size_t i = 0; i < unknowns.size() && i < 6; ++i)
      names += fmt::format("{}`{}`", i == 0 ? "" : ", ", leaf_name(unknowns[i]));
    auto report =
        is_settled || chain_[block[place]].variable != no_variable
            ? diags_.report(replaced.span, cancel_for_good, names)
            : diags_.report(replaced.span, cancel, names, fmt::format("0 = {}", flat::print(model_, found.rest)));
    int shown = 0;
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (i == place || found.factors[i] == 0 || equations_[block[i]].span.begin == replaced.span.begin || ++shown > 4)
        continue;
      report.related(equations_[block[i]].span, "with {} times this one", expr::print_number(found.factors[i]));
    }
    if (is_settled || chain_[block[place]].variable != no_variable) {
      report.hint(
          "one of these equations follows from the others, or contradicts them: say something else in its place");
      return false;
    }
    equations_[block[place]].left = pool_.constant(0);
    equations_[block[place]].right = found.rest;
    equations_[block[place]].component = flat::differentiated;
    return true;
  }

  bool differentiate_equation(std::size_t i) {
    if (chain_[i].variable != no_variable) {
      std::uint32_t& highest = highest_[chain_[i].variable];
      highest = std::max(highest, chain_[i].order + 1);
      return true;
    }
    Equation next = equations_[i];
    for (ExprId* side : {&next.left, &next.right}) {
      auto rate = differentiated(*side, next.span, [&](diag::Sink::Reported& report) {
        report.hint("this equation ties states together, so the motion follows from its derivatives");
      });
      if (!rate) return false;
      *side = *rate;
    }
    next.component = flat::differentiated;
    next.times = equations_[i].times + 1;
    sorted_.constraints.push_back(equations_[i]);
    equations_[i] = next;
    written_[i] = {next.left, next.right};
    raise_orders(next.left, nullptr);
    raise_orders(next.right, nullptr);
    for (ExprId side : {next.left, next.right}) {
      for (ExprId leaf : symbolic::leaves(pool_, side, Op::variable)) {
        const std::uint32_t v = pool_[leaf].index;
        if (!is_defined_[v] && !extended_[v]) own_order_[v] = std::max(own_order_[v], pool_[leaf].order);
      }
    }
    return true;
  }

  // Whether every equation that a person wrote can be given a name of its own.
  bool can_be_reduced() {
    System named;
    for (const Equation& equation : equations_) {
      if (equation.component != flat::differentiated) named.equations.push_back(equation);
    }
    for (std::uint32_t v = 0; v < model_.variables.size(); ++v) {
      if (!sorted_.constants.contains(v)) named.unknowns.push_back(pool_.variable(v, 0));
    }
    const Matching matching = match(incidence(named, true), static_cast<std::uint32_t>(named.unknowns.size()));
    return std::find(matching.unknown_of.begin(), matching.unknown_of.end(), unmatched) == matching.unknown_of.end();
  }

  // --- 4. States and unknowns ------------------------------------------------------------------------------------------

  // From this order on a variable's derivatives are unknowns; those before are states.
  std::uint32_t state_count(std::uint32_t v) const {
    if (is_defined_[v]) return 0;
    return extended_[v] ? own_order_[v] : highest_[v];
  }

  std::vector<ExprId> unknown_leaves() {
    std::vector<ExprId> leaves;
    for (std::uint32_t v = 0; v < model_.variables.size(); ++v) {
      if (sorted_.constants.contains(v)) continue;
      for (std::uint32_t k = state_count(v); k <= highest_[v]; ++k) leaves.push_back(pool_.variable(v, k));
    }
    return leaves;
  }

  void name_unknowns() {
    sorted_.motion.unknowns = unknown_leaves();
    for (std::uint32_t v = 0; v < model_.variables.size(); ++v) {
      if (sorted_.constants.contains(v)) continue;
      for (std::uint32_t k = 0; k < state_count(v); ++k) {
        sorted_.states.push_back(pool_.variable(v, k));
        sorted_.state_rates.push_back(pool_.variable(v, k + 1));
      }
    }
  }

  // --- 5. Matching and sorting -----------------------------------------------------------------------------------------

  // `by_name`: a derivative counts as its name.
  std::vector<std::vector<std::uint32_t>> incidence(const System& system, bool by_name = false) {
    std::unordered_map<ExprId, std::uint32_t> index;
    for (std::uint32_t u = 0; u < system.unknowns.size(); ++u) index.emplace(system.unknowns[u], u);
    std::vector<std::vector<std::uint32_t>> rows(system.equations.size());
    for (std::size_t e = 0; e < rows.size(); ++e) {
      const Equation& equation = system.equations[e];
      auto add = [&](ExprId leaf) {
        auto found = index.find(by_name ? pool_.variable(pool_[leaf].index, 0) : leaf);
        if (found != index.end() && std::find(rows[e].begin(), rows[e].end(), found->second) == rows[e].end()) {
          rows[e].push_back(found->second);
        }
      };
      // The name alone on one side is the one a person means.
      if (pool_[equation.left].op == Op::variable) add(equation.left);
      if (pool_[equation.right].op == Op::variable) add(equation.right);
      for (ExprId leaf : symbolic::leaves(pool_, equation.left, Op::variable)) add(leaf);
      for (ExprId leaf : symbolic::leaves(pool_, equation.right, Op::variable)) add(leaf);
    }
    return rows;
  }

  static void sort_blocks(System& system, const std::vector<std::vector<std::uint32_t>>& rows,
                          const Matching& matching) {
    for (std::vector<std::uint32_t>& equations : components(rows, matching)) {
      Block block;
      for (std::uint32_t e : equations) block.unknowns.push_back(matching.unknown_of[e]);
      block.equations = std::move(equations);
      system.blocks.push_back(std::move(block));
    }
  }

  // Equations in which nothing is left are reported; the others go on. False when they would only confuse.
  bool drop_settled() {
    std::size_t kept = 0;
    bool is_sound = true;
    std::vector<std::size_t> place(equations_.size());
    for (std::size_t i = 0; i < equations_.size(); ++i) {
      place[i] = kept;
      const Equation& equation = equations_[i];
      bool has_variable = !symbolic::leaves(pool_, equation.left, Op::variable).empty() ||
                          !symbolic::leaves(pool_, equation.right, Op::variable).empty();
      if (!has_variable) {
        report_settled(equation, written_[i].first, written_[i].second);
        continue;
      }
      if (report_fallen_out(equation)) {
        is_sound = false;
        continue;
      }
      equations_[kept] = equations_[i];
      written_[kept] = written_[i];
      chain_[kept] = chain_[i];
      ++kept;
    }
    equations_.resize(kept);
    written_.resize(kept);
    chain_.resize(kept);
    for (std::size_t& i : definition_equation_) i = i < place.size() ? place[i] : 0;
    readers_.clear();
    settle_idle();
    return is_sound;
  }

  // An equation that says nothing leaves a name that stands nowhere: the force of a constraint that holds by itself, such as the
  // third component of one between planar things. It is 0.
  void settle_idle() {
    if (redundant_ == 0) return;
    std::vector<bool> is_read(model_.variables.size());
    for (const Equation& equation : equations_) {
      for (ExprId side : {equation.left, equation.right}) {
        for (ExprId leaf : symbolic::leaves(pool_, side, Op::variable)) is_read[pool_[leaf].index] = true;
      }
    }
    for (std::uint32_t v = 0; v < is_read.size() && redundant_ > 0; ++v) {
      if (is_read[v] || has_start_[v] || sorted_.constants.contains(v)) continue;
      sorted_.constants[v] = 0;
      --redundant_;
      diags_.report(model_.variables[flat::VariableId(v)].span, idle, variable_name(v));
    }
  }

  void sort_motion() {
    System& motion = sorted_.motion;
    motion.equations = equations_;
    auto rows = incidence(motion);
    Matching matching = match(rows, static_cast<std::uint32_t>(motion.unknowns.size()));
    report_unmatched(motion, rows, matching);
    join_constraints_with_forces(motion, rows, matching);
    sort_blocks(motion, rows, matching);
    for (const Block& block : motion.blocks) {
      if (block.equations.size() <= largest_block) continue;
      const Equation& first = motion.equations[block.equations.front()];
      diags_.report(first.span, block_too_large, block.equations.size(), largest_block)
          .hint("a quantity with a state of its own, such as a small mass or capacity, breaks the loop");
    }
  }

  // As many constraints as accelerations: then these seem to follow from the constraints alone, and the forces from them. But where
  // constraints follow from each other, only together do they determine the motion: so equations of motion that are linear in
  // the forces join the constraints' block, by way of an unknown that is only said to stand there.
  void join_constraints_with_forces(const System& motion, std::vector<std::vector<std::uint32_t>>& rows,
                                    const Matching& matching) {
    if (sorted_.constraints.size() < 2 || diags_.has_errors()) return;
    const std::set<ExprId> rates(sorted_.state_rates.begin(), sorted_.state_rates.end());
    const auto blocks = components(rows, matching);
    for (const std::vector<std::uint32_t>& block : blocks) {
      const auto is_constraint = [&](std::uint32_t e) { return motion.equations[e].times > 0; };
      const auto is_kinematic = [&](std::uint32_t e) { return is_constraint(e) || chain_[e].variable != no_variable; };
      if (std::count_if(block.begin(), block.end(), is_constraint) < 2 ||
          !std::all_of(block.begin(), block.end(), is_kinematic))
        continue;
      std::vector<ExprId> together;
      std::set<std::uint32_t> moved;  // the accelerations
      for (std::uint32_t e : block) {
        together.push_back(motion.unknowns[matching.unknown_of[e]]);
        if (rates.contains(together.back())) moved.insert(matching.unknown_of[e]);
      }
      for (const std::vector<std::uint32_t>& other : blocks) {
        std::vector<ExprId> unknowns = together;
        bool is_of_forces = &other != &block;
        bool reads = false;
        for (std::uint32_t e : other) {
          unknowns.push_back(motion.unknowns[matching.unknown_of[e]]);
          if (rates.contains(unknowns.back()) || is_kinematic(e)) is_of_forces = false;
          for (std::uint32_t u : rows[e]) reads = reads || moved.contains(u);
        }
        if (!is_of_forces || !reads) continue;
        if (!std::all_of(other.begin(), other.end(),
                         [&](std::uint32_t e) { return is_linear(motion.equations[e], unknowns); }))
          continue;
        for (std::uint32_t e : other) rows[block.front()].push_back(matching.unknown_of[e]);
      }
    }
  }

  bool is_linear(const Equation& equation, const std::vector<ExprId>& unknowns) {
    const ExprId residual = pool_.subtract(equation.left, equation.right);
    for (ExprId unknown : unknowns) {
      if (!symbolic::contains(pool_, residual, unknown)) continue;
      const auto slope = symbolic::differentiate(pool_, residual, unknown);
      if (!slope) return false;
      for (ExprId leaf : symbolic::leaves(pool_, *slope, Op::variable)) {
        if (std::find(unknowns.begin(), unknowns.end(), leaf) != unknowns.end()) return false;
      }
    }
    return true;
  }

  // n = n + 1: an assignment of another language. True after reporting.
  bool report_fallen_out(const Equation& equation) {
    for (ExprId side : {equation.left, equation.right}) {
      const ExprId other = side == equation.left ? equation.right : equation.left;
      if (!is_bare(side) || !symbolic::contains(pool_, other, side)) continue;
      const auto slope = symbolic::differentiate(pool_, other, side);
      if (!slope || !pool_.is_constant(*slope) || pool_[*slope].number != 1) continue;
      const std::uint32_t variable = pool_[side].index;
      symbolic::Substitution without(pool_, [&](ExprId leaf) { return leaf == side ? pool_.constant(0) : ExprId(); });
      const ExprId rest = without(other);
      if (!symbolic::leaves(pool_, rest, Op::variable).empty()) return false;  // it determines another
      const std::string name = variable_name(variable);
      diags_.report(equation.span, falls_out, name, fmt::format("`0 = {}`", flat::print(model_, rest)))
          .hint(
              "an equation holds at all times and assigns nothing; to grow with time write `{0}' = 1;`, to count "
              "events "
              "`{0} = init a = 0 in {{ clock => a + 1 }}` under `reactive`",
              local(name));
      return true;
    }
    return false;
  }

  // "leg[2].foot.F" is "F" in the instance "leg[2].foot."
  static std::string path_of(const std::string& name) { return name.substr(0, name.rfind('.') + 1); }
  static std::string local(const std::string& name) { return name.substr(name.rfind('.') + 1); }

  // Reports an equation for a name that comes from elsewhere: a parameter, an input, a behaviour.
  bool report_from_outside(const Equation& equation, ExprId left, ExprId right) {
    for (ExprId side : {left, right}) {
      Op op = pool_[side].op;
      if (op != Op::parameter && op != Op::input && op != Op::discrete) continue;
      std::string name = op == Op::parameter ? model_.parameters[pool_[side].index].name
                         : op == Op::input   ? model_.input_names[pool_[side].index]
                                             : model_.discrete_names[pool_[side].index];
      auto report = diags_.report(equation.span, determined_from_outside, name);
      if (op == Op::parameter)
        report.related(model_.parameters[pool_[side].index].span, "it is a parameter, declared here");
      else if (op == Op::discrete)
        report.related(discrete_span(pool_[side].index), "it is a reactive behaviour, defined here");
      else
        report.related(input_span(pool_[side].index), "it is read from outside, declared here");
      report.hint("drop the equation or the declaration");
      return true;
    }
    return false;
  }

  // An equation between numbers, parameters and inputs.
  void report_settled(const Equation& equation, ExprId left, ExprId right) {
    if (equation.left == equation.right) {
      diags_.report(equation.span, redundant, "both sides are the same already");
      ++redundant_;
      return;
    }
    if (report_from_outside(equation, left, right)) return;
    for (ExprId side : {left, right}) {
      if (!is_bare(side)) continue;
      auto report = diags_.report(equation.span, over_determined,
                                  fmt::format("`{}` is determined already", variable_name(pool_[side].index)));
      report.related(constant_spans_[pool_[side].index], "here");
      report.hint("drop one of the two");
      return;
    }
    auto report = diags_.report(equation.span, nothing_left, "every name in it is known from other equations");
    int shown = 0;
    for (ExprId side : {left, right}) {
      for (ExprId leaf : symbolic::leaves(pool_, side, Op::variable)) {
        auto span = constant_spans_.find(pool_[leaf].index);
        if (span == constant_spans_.end() || shown++ >= 4) continue;
        report.related(span->second, "`{}` is {} by this one", variable_name(pool_[leaf].index),
                       expr::print_number(sorted_.constants.at(pool_[leaf].index)));
      }
    }
    report.hint("drop it, or let one of its names be free");
  }

  base::Span discrete_span(std::uint32_t scalar) const {
    for (const flat::Discrete& discrete : model_.discrete) {
      if (scalar >= discrete.first && scalar < discrete.first + discrete.shape.size()) return discrete.span;
    }
    return {};
  }

  base::Span input_span(std::uint32_t scalar) const {
    for (const flat::Input& input : model_.inputs) {
      if (scalar >= input.first && scalar < input.first + input.shape.size()) return input.span;
    }
    return {};
  }

  void report_unmatched(const System& system, const std::vector<std::vector<std::uint32_t>>& rows,
                        const Matching& matching) {
    // Counted by names, without regard to derivatives: equations beyond that are too many; all others only stand in the
    // way of each other until some are differentiated, which was not done because of those that are too many.
    System named;
    std::set<std::pair<std::uint32_t, std::string>> said;  // one message for all components of a vector equation
    bool reduction_needed = false;
    std::vector<std::vector<std::uint32_t>> by_name;
    Matching names_matched;
    std::vector<bool> too_many;
    for (std::uint32_t e = 0; e < rows.size(); ++e) {
      if (matching.unknown_of[e] != unmatched) continue;
      const Equation& equation = system.equations[e];
      if (!said.insert({equation.span.begin, path_of_equation(equation)}).second) continue;
      if (!rows[e].empty()) {
        report_too_many(system, rows, matching, e);
        continue;
      }
      if (report_from_outside(equation, equation.left, equation.right)) continue;
      if (too_many.empty()) {
        for (const Equation& written : system.equations) {
          if (written.component != flat::differentiated) named.equations.push_back(written);
        }
        for (std::uint32_t v = 0; v < model_.variables.size(); ++v) {
          if (!sorted_.constants.contains(v)) named.unknowns.push_back(pool_.variable(v, 0));
        }
        by_name = incidence(named, true);
        names_matched = match(by_name, static_cast<std::uint32_t>(named.unknowns.size()));
        too_many = among_too_many(by_name, names_matched);
      }
      const auto place = static_cast<std::uint32_t>(
          std::count_if(system.equations.begin(), system.equations.begin() + e,
                        [](const Equation& other) { return other.component != flat::differentiated; }));
      if (equation.component != flat::differentiated && too_many[place]) {
        report_too_many(named, by_name, names_matched, place);
      } else {
        reduction_needed = true;
      }
    }
    if (reduction_needed) return;
    std::set<std::string> said_names;
    std::vector<std::vector<std::uint32_t>> readers(system.unknowns.size());
    for (std::uint32_t e = 0; e < rows.size(); ++e) {
      for (std::uint32_t u : rows[e]) readers[u].push_back(e);
    }
    for (std::uint32_t u = 0; u < system.unknowns.size(); ++u) {
      if (matching.equation_of[u] == unmatched) report_too_few(system, readers, matching, u, said_names);
    }
  }

  std::string path_of_equation(const Equation& equation) const {
    for (ExprId side : {equation.left, equation.right}) {
      auto read = symbolic::leaves(pool_, side, Op::variable);
      if (!read.empty()) return path_of(variable_name(pool_[read.front()].index));
    }
    return "";
  }

  // The equations that are unmatched, or share unknowns, by way of others, with one that is.
  static std::vector<bool> among_too_many(const std::vector<std::vector<std::uint32_t>>& rows,
                                          const Matching& matching) {
    // Alternating paths from the unmatched equations reach all that are over-determined together.
    std::vector<bool> reached(rows.size());
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      if (matching.unknown_of[i] == unmatched) open.push_back(i);
    }
    for (std::uint32_t i : open) reached[i] = true;
    while (!open.empty()) {
      const std::uint32_t current = open.back();
      open.pop_back();
      for (std::uint32_t u : rows[current]) {
        const std::uint32_t other = matching.equation_of[u];
        if (other == unmatched || reached[other]) continue;
        reached[other] = true;
        open.push_back(other);
      }
    }
    return reached;
  }

  // The equations that share the too few unknowns of equation `e`.
  void report_too_many(const System& system, const std::vector<std::vector<std::uint32_t>>& rows,
                       const Matching& matching, std::uint32_t e) {
    const Equation& equation = system.equations[e];
    std::vector<bool> seen_unknown(system.unknowns.size());
    std::set<std::uint32_t> equations = {e};
    std::vector<std::uint32_t> open = {e};
    std::set<std::string> names;
    while (!open.empty()) {
      std::uint32_t current = open.back();
      open.pop_back();
      for (std::uint32_t u : rows[current]) {
        if (seen_unknown[u]) continue;
        seen_unknown[u] = true;
        names.insert(leaf_name(system.unknowns[u]));
        std::uint32_t other = matching.equation_of[u];
        if (other != unmatched && equations.insert(other).second) open.push_back(other);
      }
    }
    std::vector<std::string> quoted;
    for (const std::string& name : names) {
      if (quoted.size() == 6) {
        quoted.push_back("..");
        break;
      }
      quoted.push_back("`" + name + "`");
    }
    auto report =
        diags_.report(equation.span, over_determined,
                      fmt::format("{} equations determine only {}", equations.size(), fmt::join(quoted, ", ")));
    int shown = 0;
    for (std::uint32_t other : equations) {
      if (other != e && system.equations[other].span.begin != equation.span.begin && shown++ < 4)
        report.related(system.equations[other].span, "with this one");
    }
    report.hint("drop one of them, or leave one of the names free");
  }

  // Among the unknowns that the remaining equations leave free together, names the one a person forgot.
  void report_too_few(const System& system, const std::vector<std::vector<std::uint32_t>>& readers,
                      const Matching& matching, std::uint32_t start, std::set<std::string>& said) {
    std::vector<std::uint32_t> set = {start};
    std::set<std::uint32_t> seen = {start};
    for (std::size_t i = 0; i < set.size(); ++i) {
      for (std::uint32_t e : readers[set[i]]) {
        std::uint32_t other = matching.unknown_of[e];
        if (other != unmatched && seen.insert(other).second) set.push_back(other);
      }
    }
    // A derivative has the equation that it stands in; a name that stands alone on a side has that one. What has a start but
    // no derivative anywhere lacks the equation that would move it.
    auto weight = [&](std::uint32_t u) {
      const Node& leaf = pool_[system.unknowns[u]];
      return (leaf.order > 0           ? 150
              : has_start_[leaf.index] ? -50
                                       : 0) +
             (definition_[leaf.index].valid() ? 10 : 0) + static_cast<int>(std::min<std::size_t>(readers[u].size(), 9));
    };
    std::sort(set.begin(), set.end());
    // One that was named for another missing equation is not named again; the components of a vector share one message.
    std::uint32_t best = unmatched;
    for (std::uint32_t u : set) {
      if (!named_.contains(u) && (best == unmatched || weight(u) < weight(best))) best = u;
    }
    if (best == unmatched) return;
    named_.insert(best);
    const std::uint32_t variable = pool_[system.unknowns[best]].index;
    const std::string name = whole(variable_name(variable));
    if (said.contains(name)) return;
    for (std::uint32_t u : set) {
      if (report_derivative_by_name(whole(variable_name(pool_[system.unknowns[u]].index)), said)) return;
    }
    said.insert(name);
    auto report = diags_.report(model_.variables[flat::VariableId(variable)].span, undetermined, name);
    if (report) advise_undetermined(report, name, has_start_[variable]);
  }

  const flat::Variable* find_variable(const std::string& name) {
    if (by_name_.empty()) {
      for (const flat::Variable& variable : model_.variables) by_name_.emplace(whole(variable.name), &variable);
    }
    auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

  // `xdot`, `x_dot`, `dx`, `dxdt`, `der_x` for `x'`: says so at the name, and that nothing moves x.
  bool report_derivative_by_name(const std::string& name, std::set<std::string>& said) {
    const std::string path = path_of(name);
    const std::string own = local(name);
    std::vector<std::string> bases;
    const auto strip = [&](std::string_view front, std::string_view back) {
      if (own.size() > front.size() + back.size() && own.starts_with(front) && own.ends_with(back))
        bases.push_back(path + own.substr(front.size(), own.size() - front.size() - back.size()));
    };
    strip("", "dot");
    strip("", "_dot");
    strip("der_", "");
    strip("d", "dt");
    strip("d", "_dt");
    if (find_variable(path + "dt")) strip("d", "");
    for (const std::string& base : bases) {
      const flat::Variable* moved = find_variable(base);
      const flat::Variable* written = find_variable(name);
      if (!moved || !written || said.contains(base)) continue;
      said.insert({name, base, path + "dt"});
      diags_.report(written->span, undetermined, base)
          .hint("the derivative of `{0}` by time is written `{0}'`; {1} a name like any other", local(base),
                own == "d" + local(base) ? fmt::format("each of `{}` and `dt` is", own) : fmt::format("`{}` is", own));
      return true;
    }
    return false;
  }

  void advise_undetermined(diag::Sink::Reported& report, const std::string& name, bool is_started) {
    const std::string path = path_of(name);
    const std::string own = local(name);
    constexpr std::pair<std::string_view, std::string_view> foreign[] = {
        {"time", "the time is `t`"},
        {"Time", "the time is `t`"},
        {"Pi", "write `pi`"},
        {"PI", "write `pi`"},
        {"M_PI", "write `pi`"},
        {"π", "write `pi`"},
        {"e", "the exponential function is `exp(x)`, and Euler's number `exp(1)`"},
        {"True", "write `true`"},
        {"TRUE", "write `true`"},
        {"False", "write `false`"},
        {"FALSE", "write `false`"},
        {"inf", "there is no infinity; write a large number"},
        {"Inf", "there is no infinity; write a large number"},
    };
    for (const auto& [word, advice] : foreign) {
      if (word != own) continue;
      report.hint("{}; or give `{}` an equation under `system`", advice, own);
      return;
    }
    // Names that the same instance knows, without its path.
    std::vector<std::string> names;
    bool is_known_outside = false;
    const auto consider = [&](const std::string& other) {
      if (other == name) return;
      if (path_of(other) == path) names.push_back(local(other));
      if (!path.empty() && other == own) is_known_outside = true;
    };
    for (const flat::Group& group : model_.groups) consider(group.name);
    for (const flat::Parameter& parameter : model_.parameters) consider(parameter.name);
    for (const flat::Input& input : model_.inputs) consider(input.name);
    for (const flat::Discrete& discrete : model_.discrete) consider(discrete.name);
    if (auto near = base::nearest(own, names)) report.hint("did you mean `{}`?", *near);
    if (is_known_outside) {
      report.hint("the `{0}` outside is another: a module sees its ports and parameters, and `constant {0} = ..;`",
                  own);
    } else if (path.empty() && is_started) {
      report.hint("it has a start; add the equation that moves it under `system`: `{}' = ..;`", name);
    } else if (path.empty()) {
      report.hint("add an equation for it under `system`, or read it from outside: `external hand reads {}`", name);
    } else {
      report.hint("add an equation for `{}` to the module, or determine it outside: `{} = ..;`", own, name);
    }
  }

  // --- The start -------------------------------------------------------------------------------------------------------

  void sort_start() {
    System& start = sorted_.start;
    start.unknowns = sorted_.motion.unknowns;
    // Before the start all was as it is there.
    symbolic::Substitution past(pool_, [&](ExprId leaf) {
      if (pool_[leaf].op != Op::delayed) return ExprId();
      const flat::Delay& delay = model_.delays[pool_[leaf].index];
      if (delay.is_rate) return pool_.constant(0);
      const ExprId source = pool_.variable(delay.source.value, delay.order);
      const ExprId number = constant_of(source);
      return number.valid() ? number : source;
    });
    for (Equation equation : sorted_.motion.equations) {
      equation.left = past(equation.left);
      equation.right = past(equation.right);
      start.equations.push_back(equation);
    }
    for (ExprId state : sorted_.states) start.unknowns.push_back(state);
    const std::unordered_map<ExprId, Start> starts = collect_starts(past);
    for (ExprId state : sorted_.states) {
      const Start& found = starts.at(state);
      start.equations.push_back({state, found.value, found.span, 0});
      sorted_.start_kinds.push_back(found.kind);
    }
    auto rows = incidence(start);
    Matching matching = match(rows, static_cast<std::uint32_t>(start.unknowns.size()));
    // The motion has a matching, and every state stands alone on the left of its own start.
    TACTUS_CHECK(std::find(matching.equation_of.begin(), matching.equation_of.end(), unmatched) ==
                 matching.equation_of.end());
    sort_blocks(start, rows, matching);
  }

  // How a state starts: a value or a guess for it, and what may change it.
  struct Start {
    StartKind kind = StartKind::assumed;
    ExprId value{};
    base::Span span{};
    bool is_guess = false;
  };

  template <class Past>
  std::unordered_map<ExprId, Start> collect_starts(Past& past) {
    std::unordered_map<ExprId, Start> starts;
    const std::set<ExprId> states(sorted_.states.begin(), sorted_.states.end());
    const std::set<ExprId> unknowns(sorted_.motion.unknowns.begin(), sorted_.motion.unknowns.end());
    std::set<std::uint32_t> said;
    std::vector<flat::Condition> of_no_state;
    for (const flat::Condition& condition : conditions_) {
      const ExprId leaf = pool_.variable(condition.variable.value, condition.order);
      if (!states.contains(leaf)) {
        if (condition.guess) {
          sorted_.guesses[leaf] = past(condition.value);
        } else if (unknowns.contains(leaf)) {
          of_no_state.push_back(condition);
        } else if (!says_what_is_known(condition) && said.insert(condition.span.begin).second) {
          report_start_of_no_state(condition);
        }
        continue;
      }
      auto [first, fresh] = starts.emplace(leaf, Start{condition.guess ? StartKind::free : StartKind::given,
                                                       past(condition.value), condition.span, condition.guess});
      if (!fresh && said.insert(condition.span.begin).second) {
        diags_.report(condition.span, start_given_twice, whole(leaf_name(leaf)))
            .related(first->second.span, "first here")
            .hint("drop one of the two");
      }
    }
    for (ExprId state : sorted_.states) {
      if (starts.contains(state)) continue;
      starts[state] = {StartKind::free, pool_.constant(0), model_.variables[flat::VariableId(pool_[state].index)].span,
                       false};
    }
    free_what_reads_free(starts);
    find_determined(starts, of_no_state, past);
    return starts;
  }

  // B(0) = (1, 2, 0), where B[3] = 0 at all times.
  bool says_what_is_known(const flat::Condition& condition) {
    const ExprId known = constant_of(pool_.variable(condition.variable.value, condition.order));
    return known.valid() && known == condition.value;
  }

  void report_start_of_no_state(const flat::Condition& condition) {
    diags_
        .report(condition.span, start_of_no_state,
                whole(flat::primed(whole(variable_name(condition.variable.value)), condition.order)))
        .hint("drop it; or write `~` for `=` to give a first guess of it");
  }

  enum class Reach { now, since_start };

  // The states that an expression depends on, by way of whatever the motion works out from them; or whose starts it depends on.
  std::vector<ExprId> states_behind(const std::vector<ExprId>& roots, Reach reach = Reach::now) {
    if (block_of_.empty()) {
      for (std::uint32_t b = 0; b < sorted_.motion.blocks.size(); ++b) {
        for (std::uint32_t u : sorted_.motion.blocks[b].unknowns) block_of_[sorted_.motion.unknowns[u]] = b;
      }
    }
    if (reach == Reach::since_start && rate_of_.empty()) {
      for (std::size_t i = 0; i < sorted_.states.size(); ++i) rate_of_[sorted_.states[i]] = sorted_.state_rates[i];
    }
    std::set<ExprId> handled;
    std::vector<ExprId> found;
    std::set<ExprId> seen;
    std::vector<ExprId> open = roots;
    while (!open.empty()) {
      const ExprId e = open.back();
      open.pop_back();
      if (reach == Reach::since_start) {
        for (ExprId leaf : symbolic::leaves(pool_, e, Op::discrete)) {
          if (handled.insert(leaf).second) add_handlers(pool_[leaf].index, open);
        }
      }
      for (ExprId leaf : symbolic::leaves(pool_, e, Op::variable)) {
        if (!seen.insert(leaf).second) continue;
        auto block = block_of_.find(leaf);
        if (block == block_of_.end()) {
          found.push_back(leaf);
          if (auto rate = rate_of_.find(leaf); reach == Reach::since_start && rate != rate_of_.end())
            open.push_back(rate->second);
          continue;
        }
        for (std::uint32_t u : sorted_.motion.blocks[block->second].unknowns) seen.insert(sorted_.motion.unknowns[u]);
        for (std::uint32_t i : sorted_.motion.blocks[block->second].equations) {
          open.push_back(sorted_.motion.equations[i].left);
          open.push_back(sorted_.motion.equations[i].right);
        }
      }
    }
    return found;
  }

  // What events give a discrete value, and what makes them happen.
  void add_handlers(std::uint32_t discrete, std::vector<ExprId>& open) {
    for (const flat::Event& event : model_.events) {
      for (const flat::Update& update : event.updates) {
        if (update.discrete != discrete) continue;
        open.push_back(pool_.variable(update.value.value, 0));
        if (event.condition.valid()) open.push_back(pool_.variable(event.condition.value, 0));
      }
    }
  }

  // x(0) = 2 * y(0), where y is to be found: then x is, too.
  void free_what_reads_free(std::unordered_map<ExprId, Start>& starts) {
    if (sorted_.constraints.empty() && later_.empty()) return;
    bool has_changed = true;
    while (has_changed) {
      has_changed = false;
      for (ExprId state : sorted_.states) {
        Start& start = starts[state];
        if (start.kind != StartKind::given) continue;
        const auto behind = states_behind({start.value});
        if (std::none_of(behind.begin(), behind.end(),
                         [&](ExprId other) { return starts[other].kind != StartKind::given; }))
          continue;
        sorted_.conditions.push_back({state, start.value, start.span, model_.settings.starting_time});
        start.kind = StartKind::free;
        start.is_guess = true;
        has_changed = true;
      }
    }
  }

  // Free states that constraints and conditions, of whatever time, have a say in; the others keep 0, with a warning. Conditions
  // that have no say in anything are reported.
  template <class Past>
  void find_determined(std::unordered_map<ExprId, Start>& starts, const std::vector<flat::Condition>& of_no_state,
                       Past& past) {
    std::unordered_map<ExprId, std::uint32_t> column;
    std::vector<ExprId> free;
    for (ExprId state : sorted_.states) {
      if (starts[state].kind != StartKind::free) continue;
      column.emplace(state, static_cast<std::uint32_t>(free.size()));
      free.push_back(state);
    }
    std::vector<std::vector<std::uint32_t>> rows;
    const auto add_row = [&](const std::vector<ExprId>& roots, Reach reach = Reach::now) {
      std::vector<std::uint32_t> row;
      for (ExprId state : states_behind(roots, reach)) {
        if (auto found = column.find(state); found != column.end()) row.push_back(found->second);
      }
      rows.push_back(std::move(row));
    };
    for (const Equation& constraint : sorted_.constraints) add_row({constraint.left, constraint.right});
    for (const Condition& condition : sorted_.conditions) add_row({condition.leaf, condition.value});
    const std::size_t certain = rows.size();
    for (const flat::Condition& condition : of_no_state)
      add_row({pool_.variable(condition.variable.value, condition.order), past(condition.value)});
    for (const flat::Condition& condition : later_)
      add_row({pool_.variable(condition.variable.value, condition.order), condition.value}, Reach::since_start);
    const Matching matching = match(rows, static_cast<std::uint32_t>(free.size()));
    std::set<std::uint32_t> said;
    for (std::size_t i = 0; i < of_no_state.size(); ++i) {
      const flat::Condition& condition = of_no_state[i];
      if (matching.unknown_of[certain + i] == unmatched) {
        if (said.insert(condition.span.begin).second) report_start_of_no_state(condition);
        continue;
      }
      sorted_.conditions.push_back({pool_.variable(condition.variable.value, condition.order), past(condition.value),
                                    condition.span, model_.settings.starting_time});
    }
    for (std::size_t i = 0; i < later_.size(); ++i) {
      const flat::Condition& condition = later_[i];
      const ExprId leaf = pool_.variable(condition.variable.value, condition.order);
      if (matching.unknown_of[certain + of_no_state.size() + i] != unmatched) {
        sorted_.conditions.push_back({leaf, condition.value, condition.span, *condition.later});
      } else if (!says_what_is_known(condition) && said.insert(condition.span.begin).second) {
        report_too_many(condition, starts);
      }
    }
    std::set<std::string> missing;
    for (std::uint32_t k = 0; k < free.size(); ++k) {
      if (matching.equation_of[k] != unmatched) continue;
      Start& start = starts[free[k]];
      start.kind = StartKind::assumed;
      if (start.is_guess) continue;
      std::string name = flat::primed(whole(variable_name(pool_[free[k]].index)), pool_[free[k]].order);
      if (!missing.insert(name).second) continue;
      auto report = diags_.report(start.span, start_missing, name);
      report.hint("write `{}({}) = ..` under `boundary`", name, expr::print_number(model_.settings.starting_time));
      if (!later_.empty())
        report.hint("or ask for one more value at another time: `{}({}) = ..`", name,
                    expr::print_number(*later_.front().later));
    }
  }

  // A condition at another time that no start is left for.
  void report_too_many(const flat::Condition& condition, std::unordered_map<ExprId, Start>& starts) {
    const std::string name = flat::primed(whole(variable_name(condition.variable.value)), condition.order);
    auto report = diags_.report(condition.span, too_many_conditions, name, expr::print_number(*condition.later));
    std::vector<std::string> given;
    std::set<std::uint32_t> said;
    for (ExprId state : sorted_.states) {  // in the order of the source
      if (starts[state].kind != StartKind::given || given.size() == 4) continue;
      const auto behind = states_behind({pool_.variable(condition.variable.value, condition.order), condition.value},
                                        Reach::since_start);
      if (std::find(behind.begin(), behind.end(), state) == behind.end()) continue;
      const std::string of = flat::primed(whole(variable_name(pool_[state].index)), pool_[state].order);
      if (std::find(given.begin(), given.end(), of) != given.end()) continue;
      given.push_back(of);
      if (said.insert(starts[state].span.begin).second) report.related(starts[state].span, "this start is given");
    }
    if (given.empty()) {
      report.hint("drop it, or another condition");
    } else {
      const std::string start = expr::print_number(model_.settings.starting_time);
      report.hint("drop it; or write `~` for `=` in `{}({})`{}, which is then a guess", given.front(), start,
                  given.size() > 1 ? " or another of these" : "");
    }
  }

  // What a delay remembers belongs to the state of a motion, and the search for a start does not look at it.
  void refuse_delays() {
    if (later_.empty() || model_.delays.empty()) return;
    diags_.report(later_.front().span, later_with_delay)
        .related(model_.delays.front().span, "the delay")
        .hint("give starts only, and find the one that fits by --set; or take the delay out");
  }

  // A block's matrix is dense: its code and its time grow with the square and the cube of this.
  static constexpr std::size_t largest_block = 400;

  // More than anybody needs: they need each other without end.
  static constexpr std::uint32_t most_derivatives = 64;

  enum Given : char { unknown_yet, in_progress, yes, no };

  static constexpr std::uint32_t no_variable = 0xffffffffu;
  // An equation that gives variable^(order), whose derivative gives the next.
  struct Link {
    std::uint32_t variable = no_variable;
    std::uint32_t order = 0;
  };

  flat::Model& model_;
  expr::Pool& pool_;
  std::vector<Override>& overrides_;
  diag::Sink& diags_;
  std::vector<Equation> equations_;
  std::vector<std::pair<ExprId, ExprId>> written_;  // the sides as they were before constants were replaced
  std::vector<Link> chain_;                         // by equation
  std::vector<flat::Condition> conditions_;         // of the start
  std::vector<flat::Condition> later_;
  std::vector<std::uint32_t> highest_;    // by variable: the highest derivative
  std::vector<std::uint32_t> own_order_;  // by variable: the same, in the equations as written
  std::vector<bool> extended_;            // a state whose highest derivative is differentiated further
  std::vector<ExprId> definition_;        // by variable: e of the first equation v = e
  std::vector<base::Span> definition_span_;
  std::vector<std::size_t> definition_equation_;  // where it stands
  std::vector<std::uint32_t> done_;               // by variable: its last derivative that has an equation of its own
  std::vector<ExprId> latest_;                    // by variable: what that equation says
  std::unordered_map<ExprId, std::vector<std::size_t>> readers_;  // equations of each leaf, once it is asked for
  std::vector<bool> has_start_;
  std::vector<bool> is_defined_;  // its derivatives are worked out from its definition
  std::vector<Given> given_;
  std::unordered_map<std::uint32_t, base::Span> constant_spans_;
  std::unordered_map<std::string, const flat::Variable*> by_name_;  // vectors by their first component
  std::unordered_map<ExprId, std::uint32_t> block_of_;  // of each unknown of the motion, once it is asked for
  std::unordered_map<ExprId, ExprId> rate_of_;          // of each state, once it is asked for
  std::set<std::uint32_t> named_;                       // unknowns of which it was said that nothing determines them
  int redundant_ = 0;  // equations that say nothing, and have no name that stands nowhere yet
  Sorted sorted_;
};

}  // namespace

std::optional<Sorted> sort(flat::Model& model, std::vector<Override>& overrides, diag::Sink& diags) {
  return Analysis(model, overrides, diags).run();
}

std::string dump(const Sorted& sorted, const flat::Model& model) {
  std::string out;
  auto leaf_name = [&](ExprId leaf) {
    return flat::primed(model.variables[flat::VariableId(model.pool[leaf].index)].name, model.pool[leaf].order);
  };
  std::vector<std::uint32_t> constants;
  for (const auto& [variable, number] : sorted.constants) constants.push_back(variable);
  std::sort(constants.begin(), constants.end());
  for (std::uint32_t variable : constants) {
    out += fmt::format("constant {} = {}\n", model.variables[flat::VariableId(variable)].name,
                       expr::print_number(sorted.constants.at(variable)));
  }
  for (ExprId state : sorted.states) out += fmt::format("state {}\n", leaf_name(state));
  auto blocks = [&](const System& system, const char* title) {
    int number = 0;
    for (const Block& block : system.blocks) {
      std::vector<std::string> equations, unknowns;
      for (std::uint32_t e : block.equations) {
        equations.push_back(flat::print(model, system.equations[e].left) + " = " +
                            flat::print(model, system.equations[e].right));
      }
      for (std::uint32_t u : block.unknowns) unknowns.push_back(leaf_name(system.unknowns[u]));
      out += fmt::format("{} {}: solve {{{}}} for {{{}}}\n", title, number++, fmt::join(equations, "; "),
                         fmt::join(unknowns, ", "));
    }
  };
  for (const flat::Equation& constraint : sorted.constraints) {
    out +=
        fmt::format("constraint {} = {}\n", flat::print(model, constraint.left), flat::print(model, constraint.right));
  }
  for (const Condition& condition : sorted.conditions) {
    out += fmt::format("condition {} = {} at {}\n", leaf_name(condition.leaf), flat::print(model, condition.value),
                       expr::print_number(condition.time));
  }
  blocks(sorted.motion, "block");
  blocks(sorted.start, "start");
  return out;
}

}  // namespace structure
