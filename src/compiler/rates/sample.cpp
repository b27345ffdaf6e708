#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "compiler/rates/diagnostics.h"
#include "compiler/rates/rates.h"
#include "compiler/symbolic/symbolic.h"

namespace rates {
namespace {

using expr::ExprId;
using expr::Op;

// A ratio this close to a whole number is one: six digits of a rate, 333.333 [Hz], will do.
constexpr double slack = 1e-5;
constexpr double most_off = 0.01;

std::optional<std::uint32_t> whole(double ratio) {
  const double nearest = std::round(ratio);
  if (nearest < 1 || nearest > 1e9 || std::abs(ratio - nearest) > std::min(slack * nearest, most_off))
    return std::nullopt;
  return static_cast<std::uint32_t>(nearest);
}

std::string written(double hertz) {
  return hertz >= 1000 ? fmt::format("{:.6g} [kHz]", hertz / 1000) : fmt::format("{:.6g} [Hz]", hertz);
}

// "333.333 [Hz] or 250 [Hz]": the rates next to `hertz` of which `fast` is a multiple.
std::string fitting(double fast, double hertz) {
  const double below = std::max(1.0, std::floor(fast / hertz));
  const std::string first = written(fast / below);
  const std::string second = written(fast / (below + 1));
  return fmt::format("`rate {}` or `rate {}`", first, second);
}

class Sampling {
 public:
  Sampling(flat::Model& model, const parse::Tree& tree, const base::Names& names, diag::Sink& diags)
      : model_(model), tree_(tree), names_(names), diags_(diags) {}

  void run() {
    refuse();
    choose_solver();
    if (!find_steps()) return;
    find_ledgers();
    for (const parse::Join& join : tree_.joins) {
      if (tree_.powers[join.ports[0]].is_sampled) sample(join);
    }
  }

 private:
  void refuse() {
    const auto report = [&](base::Span span, Text what, Text hint) {
      diags_.report(span, not_with_rates, what).hint("{}", hint);
    };
    constexpr Text dissolve = "leave the rates out: then all instances take the steps of the whole";
    if (!tree_.automata.empty())
      report(tree_.automata.front().name_span, "an automaton", dissolve);
    else if (!tree_.transitions.empty())
      report(tree_.transitions.front().name_span, "a jump",
             "leave the rates out, or let a behaviour change what it should: `reactive k = init 1 in { touch => 2 };`");
    if (!model_.delays.empty())
      report(model_.delays.front().span, "a delay", "leave the rates out; a slower rate is a delay, too");
    for (const flat::Condition& condition : model_.conditions) {
      if (!condition.later) continue;
      report(condition.span, "a boundary value at another time", "give the start, or leave the rates out");
      break;
    }
  }

  const parse::Setting* setting(std::string_view name) const {
    for (const parse::Setting& found : tree_.settings)
      if (names_.text(found.name) == name) return &found;
    return nullptr;
  }

  void choose_solver() {
    std::optional<int>& solver = model_.settings.solver;
    if (!solver) {
      if (!model_.energies.empty()) solver = TACTUS_PASSIVE;
      return;
    }
    solver = tactus_fixed_form(*solver);
    const parse::Setting* written = setting("solver");
    if (!tactus_is_adaptive(*solver) || !written) return;
    diags_.report(written->span, adaptive_solver, tactus_solver_name(*solver))
        .hint("rates are steps of a given length: `solver = passive` keeps the energy, `rk4` needs none");
  }

  // False after reporting.
  bool find_steps() {
    const parse::Rate* fastest = &tree_.rates.front();
    for (const parse::Rate& rate : tree_.rates)
      if (rate.hertz > fastest->hertz) fastest = &rate;
    double base = 1 / fastest->hertz;
    const std::optional<double> step = model_.settings.step_size;
    const bool is_step_shortest = step && *step < base * (1 - slack);
    if (is_step_shortest) base = *step;
    const std::string of_base = is_step_shortest ? fmt::format("step_size = {:g}", base)
                                                 : fmt::format("{} of `{}`", written(fastest->hertz), fastest->path);

    bool is_good = true;
    const auto multiple_of = [&](double period, base::Span span, const std::string& what, double hertz) {
      const auto multiple = whole(period / base);
      if (multiple) return *multiple;
      is_good = false;
      auto report = diags_.report(span, does_not_divide, what, of_base);
      if (!is_step_shortest && hertz != 0) report.related(fastest->span, "the fastest rate is given here");
      if (hertz != 0)
        report.hint("{} fit", fitting(1 / base, hertz));
      else
        report.hint("`step_size = {:g}` fits, or `step_size = {:g}`", base * std::max(1.0, std::floor(period / base)),
                    base * (std::floor(period / base) + 1));
      return 1u;
    };
    const parse::Setting* written_step = setting("step_size");
    const std::uint32_t rest = step ? multiple_of(*step, written_step ? written_step->span : fastest->span,
                                                  fmt::format("a step of {:g} s", *step), 0)
                                    : 1;
    model_.subsystems.push_back({"", rest});
    for (const parse::Rate& rate : tree_.rates) {
      const std::uint32_t multiple =
          multiple_of(1 / rate.hertz, rate.span, fmt::format("a step at {}", written(rate.hertz)), rate.hertz);
      model_.subsystems.push_back({rate.path, multiple});
    }
    model_.settings.step_size = base;
    for (flat::Subsystem& subsystem : model_.subsystems) subsystem.phase = add_discrete(1, subsystem.name + " phase");
    return is_good;
  }

  void find_ledgers() {
    std::unordered_map<std::string, std::uint32_t> found;
    for (const flat::Discrete& discrete : model_.discrete) found.emplace(discrete.name, discrete.first + 1);
    model_.ledger = 0;
    for (flat::Subsystem& subsystem : model_.subsystems) {
      const auto at = found.find(subsystem.name.empty() ? "book.rest.booked" : subsystem.name + ".book.booked");
      if (at == found.end()) continue;
      subsystem.ledger = at->second;
      if (model_.ledger == 0) model_.ledger = at->second;
    }
  }

  // The first of so many.
  std::uint32_t add_discrete(std::size_t count, const std::string& name) {
    const std::uint32_t first = model_.discrete_count;
    for (std::size_t i = 0; i < count; ++i) model_.discrete_names.push_back(name);
    model_.discrete_count += static_cast<std::uint32_t>(count);
    return first;
  }

  void sample(const parse::Join& join) {
    if (by_name_.empty()) index();
    flat::SampledJoin made;
    made.manner = join.manner == parse::JoinManner::passive       ? TACTUS_JOIN_PASSIVE
                  : join.manner == parse::JoinManner::extrapolate ? TACTUS_JOIN_EXTRAPOLATE
                                                                  : TACTUS_JOIN_HOLD;
    const bool is_line = made.manner == TACTUS_JOIN_EXTRAPOLATE;
    const flat::Power* ports[2];
    for (int i = 0; i < 2; ++i) {
      const parse::Power& port = tree_.powers[join.ports[i]];
      ports[i] = &model_.powers[by_name_.at(names_.text(port.name))];
      made.ends[i].subsystem = port.rate;
      made.ends[i].held = add_discrete(ports[i]->pairs.size() * (is_line ? 2 : 1), ports[i]->name + " held");
      made.ends[i].work = variable_.at(ports[i]->name + ".work");
      for (const flat::Power::Pair& pair : ports[i]->pairs) made.ends[i].outs.push_back(pair.out);
    }
    if (is_line) made.since = add_discrete(1, ports[0]->name + " since");
    check_steps(join, model_.subsystems[made.ends[0].subsystem], model_.subsystems[made.ends[1].subsystem]);
    // Of equal rates both ends reckon with the same product, unless one gives what depends at once on what it gets:
    // that was sampled before it got it, and is to be settled (kernel/rates.c).
    if (made.manner == TACTUS_JOIN_HOLD && hertz_of(join.ports[0]) == hertz_of(join.ports[1]) &&
        (feeds_through(*ports[0]) || feeds_through(*ports[1])))
      made.manner = TACTUS_JOIN_PASSIVE;
    for (int i = 0; i < 2; ++i) {
      const auto count = static_cast<std::uint32_t>(ports[i]->pairs.size());
      for (std::uint32_t k = 0; k < count; ++k)
        hold(ports[i]->pairs[k].in, join.span, value_of(made.ends[i].held + k, is_line ? count : 0, made.since));
    }
    model_.joins.push_back(std::move(made));
  }

  // Whether what a port gives may depend on what a sampled port gets, and not only through states. Where equations do
  // not say what they determine, it may.
  bool feeds_through(const flat::Power& port) {
    std::vector<ExprId> open;
    const auto follow = [&](ExprId of) {
      for (const ExprId leaf : symbolic::leaves(model_.pool, of, Op::variable)) open.push_back(leaf);
    };
    for (const flat::Power::Pair& pair : port.pairs) follow(pair.out);
    std::unordered_set<std::uint32_t> seen;
    while (!open.empty()) {
      const ExprId leaf = open.back();
      open.pop_back();
      if (!seen.insert(leaf.value).second) continue;
      if (sampled_ins_.contains(leaf.value)) return true;
      const auto [defined, after] = equation_of_.equal_range(leaf.value);
      for (auto at = defined; at != after; ++at) follow(model_.equations[at->second].right);
      if (defined != after || is_state(leaf)) continue;
      for (const flat::EquationId id : implicit_) {
        const flat::Equation& equation = model_.equations[id];
        if (!symbolic::contains(model_.pool, equation.left, leaf) &&
            !symbolic::contains(model_.pool, equation.right, leaf))
          continue;
        follow(equation.left);
        follow(equation.right);
      }
    }
    return false;
  }

  // A variable, or a derivative of one, of which a higher derivative appears.
  bool is_state(ExprId leaf) const {
    const expr::Node& node = model_.pool[leaf];
    const auto found = highest_.find(node.index);
    return found != highest_.end() && node.order < found->second;
  }

  double hertz_of(std::uint32_t port) const {
    const std::uint32_t rate = tree_.powers[port].rate;
    return rate == 0 ? 0 : tree_.rates[rate - 1].hertz;
  }

  ExprId value_of(std::uint32_t place, std::uint32_t to_slope, std::uint32_t since) {
    expr::Pool& pool = model_.pool;
    if (to_slope == 0) return pool.discrete(place);
    const ExprId elapsed = pool.subtract(pool.time(), pool.discrete(since));
    return pool.add(pool.discrete(place), pool.multiply(pool.discrete(place + to_slope), elapsed));
  }

  // One of the two steps is a whole number of the other.
  void check_steps(const parse::Join& join, const flat::Subsystem& first, const flat::Subsystem& second) {
    const std::uint32_t fast = std::min(first.multiple, second.multiple);
    const std::uint32_t slow = std::max(first.multiple, second.multiple);
    if (slow % fast == 0) return;
    const auto name = [](const flat::Subsystem& s) { return s.name.empty() ? Text("the rest") : Text(s.name); };
    const double hertz = 1 / (*model_.settings.step_size * fast);
    auto report = diags_.report(join.span, joined_rates, name(first), name(second));
    const flat::Subsystem& slower = first.multiple > second.multiple ? first : second;
    report.hint("give `{}` {}", name(slower), fitting(hertz, hertz * fast / slow));
  }

  // The equation of the join that gives `in`, whatever side of it that is.
  void hold(ExprId in, base::Span span, ExprId value) {
    const auto [first, last] = equation_of_.equal_range(in.value);
    for (auto at = first; at != last; ++at) {
      flat::Equation& equation = model_.equations[at->second];
      if (equation.span.file != span.file || equation.span.begin != span.begin) continue;
      (equation.left == in ? equation.right : equation.left) = value;
      return;
    }
  }

  void index() {
    for (std::uint32_t i = 0; i < model_.powers.size(); ++i) by_name_.emplace(model_.powers[i].name, i);
    for (std::size_t i = 0; i < model_.variables.size(); ++i) {
      const flat::VariableId id(i);
      variable_.emplace(model_.variables[id].name, id);
    }
    for (std::size_t i = 0; i < model_.equations.size(); ++i) {
      const flat::EquationId id(i);
      equation_of_.emplace(model_.equations[id].left.value, id);
      if (model_.pool[model_.equations[id].left].op != Op::variable) implicit_.push_back(id);
      for (const ExprId side : {model_.equations[id].left, model_.equations[id].right}) {
        for (const ExprId leaf : symbolic::leaves(model_.pool, side, Op::variable)) {
          const expr::Node& node = model_.pool[leaf];
          std::uint32_t& highest = highest_[node.index];
          highest = std::max<std::uint32_t>(highest, node.order);
        }
      }
    }
    for (const parse::Power& power : tree_.powers) {
      const auto found = by_name_.find(names_.text(power.name));
      if (!power.is_sampled || found == by_name_.end()) continue;
      for (const flat::Power::Pair& pair : model_.powers[found->second].pairs) sampled_ins_.insert(pair.in.value);
    }
  }

  flat::Model& model_;
  const parse::Tree& tree_;
  const base::Names& names_;
  diag::Sink& diags_;
  std::unordered_map<std::string, std::uint32_t> by_name_;                // ports
  std::unordered_map<std::string, flat::VariableId> variable_;            // by name
  std::unordered_multimap<std::uint32_t, flat::EquationId> equation_of_;  // by its left side
  std::unordered_map<std::uint32_t, std::uint32_t> highest_;              // derivative that appears, by variable
  std::vector<flat::EquationId> implicit_;                                // of which no side says what it determines
  std::unordered_set<std::uint32_t> sampled_ins_;
};

}  // namespace

void sample(flat::Model& model, const parse::Tree& tree, const base::Names& names, diag::Sink& diags) {
  if (!tree.rates.empty()) Sampling(model, tree, names, diags).run();
}

std::string dump(const flat::Model& model) {
  std::string text = fmt::format("a step of {:g} s\n", model.settings.step_size.value_or(0));
  const auto name = [&](std::uint32_t k) {
    return model.subsystems[k].name.empty() ? Text("the rest") : Text(model.subsystems[k].name);
  };
  for (std::uint32_t k = 0; k < model.subsystems.size(); ++k)
    text += fmt::format("{}: every {} steps{}\n", name(k), model.subsystems[k].multiple,
                        model.subsystems[k].ledger != 0 ? ", with a ledger" : "");
  constexpr const char* manners[] = {"holds", "extrapolates", "holds, passively,"};
  for (const flat::SampledJoin& join : model.joins) {
    for (int i = 0; i < 2; ++i) {
      const bool is_settled =
          join.manner == TACTUS_JOIN_PASSIVE &&
          model.subsystems[join.ends[0].subsystem].multiple == model.subsystems[join.ends[1].subsystem].multiple;
      text += fmt::format("{} {}", name(join.ends[i].subsystem), is_settled ? "holds, settled," : manners[join.manner]);
      for (const ExprId out : join.ends[1 - i].outs)
        text += fmt::format(" {}{}", i == 0 ? "" : "-", flat::print(model, out));
      text += fmt::format(" of {}\n", name(join.ends[1 - i].subsystem));
    }
  }
  return text;
}

}  // namespace rates
