#include "compiler/structure/structure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <set>

#include "base/check.h"
#include "base/nearest.h"
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
    conditions_ = model_.conditions;
    fold_constants();
    settle_before_the_run();
    find_orders();
    differentiate_definitions();
    if (diags_.error_count() > errors_before) return std::nullopt;
    name_unknowns();
    sort_motion();
    if (diags_.error_count() > errors_before) return std::nullopt;
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
    for (flat::Condition& condition : conditions_) condition.value = constants(condition.value);
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

  void raise_orders(ExprId e) {
    for (ExprId leaf : symbolic::leaves(pool_, e, Op::variable)) {
      highest_[pool_[leaf].index] = std::max(highest_[pool_[leaf].index], pool_[leaf].order);
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

  void differentiate_definitions() {
    const std::size_t count = model_.variables.size();
    is_defined_.assign(count, false);
    extended_.assign(count, false);
    std::vector<std::uint32_t> done(count, 0);  // derivatives added so far
    std::vector<ExprId> latest = definition_;   // the last of them
    std::deque<std::uint32_t> open;
    for (std::uint32_t v = 0; v < count; ++v) {
      if (highest_[v] > 0) open.push_back(v);
    }
    while (!open.empty()) {
      std::uint32_t v = open.front();
      open.pop_front();
      const bool is_defined = definition_[v].valid() && (!has_start_[v] || is_given(v));
      if (is_defined) {
        is_defined_[v] = true;
      } else {
        // A state. More than its own order is asked for only by derivatives of what is made of it.
        if (highest_[v] <= own_order_[v]) continue;
        if (!extended_[v]) {
          auto value = highest_derivative(v);
          if (!value) continue;
          latest[v] = *value;
          done[v] = own_order_[v];
          extended_[v] = true;
        }
      }
      while (done[v] < highest_[v]) {
        ExprId obstacle;
        auto next = symbolic::differentiate_in_time(pool_, latest[v], &obstacle, [&](std::uint32_t k) {
          const ExprId rate = flat::rate_of_delay(model_, k);
          const flat::Delay& made = model_.delays[pool_[rate].index];
          if (want(made)) open.push_back(made.source.value);
          return rate;
        });
        if (!next) {
          const bool is_noise = pool_[obstacle].op == Op::noise;
          auto report = is_noise ? diags_.report(definition_span_[v], noise_differentiated)
                                 : diags_.report(definition_span_[v], input_acceleration,
                                                 model_.input_names[pool_[obstacle].index]);
          report.hint("the derivative {} of `{}` asks for it", done[v] + 1, variable_name(v));
          if (is_noise) report.hint("let it pass a filter, `T * y' + y = noise(1);`, and use y and y'");
          return;
        }
        symbolic::Substitution constants(pool_, [&](ExprId leaf) { return constant_of(leaf); });
        latest[v] = constants(*next);
        ++done[v];
        equations_.push_back({pool_.variable(v, done[v]), latest[v], definition_span_[v], flat::differentiated});
        written_.push_back({equations_.back().left, equations_.back().right});
        if (done[v] > 64) {
          diags_.report(definition_span_[v], endless_derivatives, variable_name(v));
          return;
        }
        for (ExprId leaf : symbolic::leaves(pool_, latest[v], Op::variable)) {
          const Node& node = pool_[leaf];
          if (node.order > highest_[node.index]) {
            highest_[node.index] = node.order;
            open.push_back(node.index);
          }
        }
      }
    }
  }

  // --- 3. States and unknowns ------------------------------------------------------------------------------------------

  void name_unknowns() {
    for (std::uint32_t v = 0; v < model_.variables.size(); ++v) {
      if (sorted_.constants.contains(v)) continue;
      if (is_defined_[v]) {
        for (std::uint32_t k = 0; k <= highest_[v]; ++k) sorted_.motion.unknowns.push_back(pool_.variable(v, k));
        continue;
      }
      // What highest_derivative could differentiate is an unknown beyond the variable's own order.
      const std::uint32_t order = extended_[v] ? own_order_[v] : highest_[v];
      for (std::uint32_t k = 0; k < order; ++k) {
        sorted_.states.push_back(pool_.variable(v, k));
        sorted_.state_rates.push_back(pool_.variable(v, k + 1));
      }
      for (std::uint32_t k = order; k <= highest_[v]; ++k) sorted_.motion.unknowns.push_back(pool_.variable(v, k));
    }
  }

  // --- 4. Matching and sorting -----------------------------------------------------------------------------------------

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

  void sort_motion() {
    System& motion = sorted_.motion;
    // Equations in which nothing is left; the others go on.
    for (std::size_t i = 0; i < equations_.size(); ++i) {
      const Equation& equation = equations_[i];
      bool has_variable = !symbolic::leaves(pool_, equation.left, Op::variable).empty() ||
                          !symbolic::leaves(pool_, equation.right, Op::variable).empty();
      if (!has_variable) {
        report_settled(equation, written_[i].first, written_[i].second);
        continue;
      }
      if (report_fallen_out(equation)) continue;
      motion.equations.push_back(equation);
    }
    if (fallen_out_) return;
    auto rows = incidence(motion);
    Matching matching = match(rows, static_cast<std::uint32_t>(motion.unknowns.size()));
    report_unmatched(motion, rows, matching);
    sort_blocks(motion, rows, matching);
    for (const Block& block : motion.blocks) {
      if (block.equations.size() <= largest_block) continue;
      const Equation& first = motion.equations[block.equations.front()];
      diags_.report(first.span, block_too_large, block.equations.size(), largest_block)
          .hint("a quantity with a state of its own, such as a small mass or capacity, breaks the loop");
    }
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
      return fallen_out_ = true;
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
    // way of each other until some are differentiated, and then what they leave undetermined is not a person's mistake.
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
        named.equations = system.equations;
        for (std::uint32_t v = 0; v < model_.variables.size(); ++v) {
          if (!sorted_.constants.contains(v)) named.unknowns.push_back(pool_.variable(v, 0));
        }
        by_name = incidence(named, true);
        names_matched = match(by_name, static_cast<std::uint32_t>(named.unknowns.size()));
        too_many = among_too_many(by_name, names_matched);
      }
      if (too_many[e]) {
        report_too_many(named, by_name, names_matched, e);
      } else {
        report_index(equation);
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

  void report_index(const Equation& equation) {
    std::set<std::string> names;
    for (ExprId side : {equation.left, equation.right}) {
      for (ExprId leaf : symbolic::leaves(pool_, side, Op::variable))
        names.insert(whole(variable_name(pool_[leaf].index)));
    }
    std::vector<std::string> quoted;
    for (const std::string& name : names) quoted.push_back("`" + name + "`");
    diags_.report(equation.span, needs_index_reduction, fmt::format("{}", fmt::join(quoted, " and ")))
        .hint("write the motion in coordinates that satisfy it by themselves, such as an angle instead of x and y");
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
    std::unordered_map<ExprId, base::Span> given;
    std::set<ExprId> states(sorted_.states.begin(), sorted_.states.end());
    for (ExprId state : sorted_.states) start.unknowns.push_back(state);
    std::set<std::uint32_t> said;
    for (const flat::Condition& condition : conditions_) {
      ExprId leaf = pool_.variable(condition.variable.value, condition.order);
      if (condition.guess && !states.contains(leaf)) {
        sorted_.guesses[leaf] = past(condition.value);
        continue;
      }
      if (!states.contains(leaf)) {
        if (!said.insert(condition.span.begin).second) continue;
        auto report =
            diags_.report(condition.span, start_of_no_state,
                          whole(flat::primed(whole(variable_name(condition.variable.value)), condition.order)));
        report.hint("drop it; or write `~` for `=` to give a first guess of it");
        continue;
      }
      auto [first, fresh] = given.emplace(leaf, condition.span);
      if (!fresh) {
        if (said.insert(condition.span.begin).second) {
          diags_.report(condition.span, start_given_twice, whole(leaf_name(leaf)))
              .related(first->second, "first here")
              .hint("drop one of the two");
        }
        continue;
      }
      start.equations.push_back({leaf, past(condition.value), condition.span, 0});
    }
    std::set<std::string> missing;
    for (ExprId state : sorted_.states) {
      if (given.contains(state)) continue;
      start.equations.push_back(
          {state, pool_.constant(0), model_.variables[flat::VariableId(pool_[state].index)].span, 0});
      std::string name = flat::primed(whole(variable_name(pool_[state].index)), pool_[state].order);
      if (!missing.insert(name).second) continue;
      diags_.report(model_.variables[flat::VariableId(pool_[state].index)].span, start_missing, name)
          .hint("write `{}({}) = ..` under `boundary`", name, expr::print_number(model_.settings.starting_time));
    }
    auto rows = incidence(start);
    Matching matching = match(rows, static_cast<std::uint32_t>(start.unknowns.size()));
    // The motion has a matching, and every state stands alone on the left of its own start.
    TACTUS_CHECK(std::find(matching.equation_of.begin(), matching.equation_of.end(), unmatched) ==
                 matching.equation_of.end());
    sort_blocks(start, rows, matching);
  }

  // A block's matrix is dense: its code and its time grow with the square and the cube of this.
  static constexpr std::size_t largest_block = 400;

  enum Given : char { unknown_yet, in_progress, yes, no };

  flat::Model& model_;
  expr::Pool& pool_;
  std::vector<Override>& overrides_;
  diag::Sink& diags_;
  std::vector<Equation> equations_;
  std::vector<std::pair<ExprId, ExprId>> written_;  // the sides as they were before constants were replaced
  std::vector<flat::Condition> conditions_;
  std::vector<std::uint32_t> highest_;    // by variable: the highest derivative
  std::vector<std::uint32_t> own_order_;  // by variable: the same, in the equations as written
  std::vector<bool> extended_;            // a state whose highest derivative is differentiated further
  std::vector<ExprId> definition_;        // by variable: e of the first equation v = e
  std::vector<base::Span> definition_span_;
  std::unordered_map<ExprId, std::vector<std::size_t>> readers_;  // equations of each leaf, once it is asked for
  std::vector<bool> has_start_;
  std::vector<bool> is_defined_;  // its derivatives are worked out from its definition
  std::vector<Given> given_;
  std::unordered_map<std::uint32_t, base::Span> constant_spans_;
  std::unordered_map<std::string, const flat::Variable*> by_name_;  // vectors by their first component
  std::set<std::uint32_t> named_;  // unknowns of which it was said that nothing determines them
  bool fallen_out_ = false;
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
  blocks(sorted.motion, "block");
  blocks(sorted.start, "start");
  return out;
}

}  // namespace structure
