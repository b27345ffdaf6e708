#include "compiler/structure/counts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/nearest.h"
#include "compiler/structure/diagnostics.h"
#include "compiler/structure/incidence.h"
#include "compiler/structure/names.h"
#include "compiler/structure/settled.h"
#include "compiler/symbolic/symbolic.h"

namespace structure {
namespace {

using expr::Node;
using expr::Op;
using flat::Equation;

class Counts {
 public:
  Counts(flat::Model& model, const Draft& draft, const Orders& orders, diag::Sink& diags)
      : model_(model), pool_(model.pool), draft_(draft), orders_(orders), diags_(diags) {}

  void report(const System& system, const Rows& rows, const Matching& matching) {
    // Counted by names, without regard to derivatives: equations beyond that are too many; all others only stand in the
    // way of each other until some are differentiated, which was not done because of those that are too many.
    System named;
    std::set<std::pair<std::uint32_t, std::string>> said;  // one message for all components of a vector equation
    bool reduction_needed = false;
    Rows by_name;
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
      if (report_from_outside(model_, equation, equation.left, equation.right, diags_)) continue;
      if (too_many.empty()) {
        named = count_by_name(model_, system.equations, draft_.constants);
        by_name = incidence(pool_, named, true);
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
    Rows readers(system.unknowns.size());
    for (std::uint32_t e = 0; e < rows.size(); ++e) {
      for (std::uint32_t u : rows[e]) readers[u].push_back(e);
    }
    for (std::uint32_t u = 0; u < system.unknowns.size(); ++u) {
      if (matching.equation_of[u] == unmatched) report_too_few(system, readers, matching, u, said_names);
    }
  }

 private:
  std::string path_of_equation(const Equation& equation) const {
    for (ExprId side : {equation.left, equation.right}) {
      auto read = symbolic::leaves(pool_, side, Op::variable);
      if (!read.empty()) return path_of(variable_name(model_, pool_[read.front()].index));
    }
    return "";
  }

  // The equations that share the too few unknowns of equation `e`.
  void report_too_many(const System& system, const Rows& rows, const Matching& matching, std::uint32_t e) {
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
        names.insert(leaf_name(model_, system.unknowns[u]));
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
                      fmt::format("{} equation{} only {}", equations.size(),
                                  equations.size() == 1 ? " determines" : "s determine", fmt::join(quoted, ", ")));
    int shown = 0;
    for (std::uint32_t other : equations) {
      if (other != e && system.equations[other].span.begin != equation.span.begin && shown++ < 4)
        report.related(system.equations[other].span, "with this one");
    }
    report_numbers(equation, report);
    report.hint("drop one of them, or leave one of the names free");
  }

  // Names in the equation, as it was written, that other equations make numbers.
  void report_numbers(const Equation& equation, diag::Sink::Reported& report) {
    if (draft_.constants.spans.empty()) return;
    if (written_at_.empty()) {
      for (std::size_t i = 0; i < draft_.equations.size(); ++i)
        written_at_.emplace(std::pair(draft_.equations[i].span.file, draft_.equations[i].span.begin), i);
    }
    std::set<std::uint32_t> told;
    const auto [first, last] = written_at_.equal_range(std::pair(equation.span.file, equation.span.begin));
    for (auto place = first; place != last; ++place) {
      const std::size_t i = place->second;
      for (ExprId side : {draft_.written[i].first, draft_.written[i].second}) {
        for (ExprId leaf : symbolic::leaves(pool_, side, Op::variable)) {
          const auto span = draft_.constants.spans.find(pool_[leaf].index);
          if (span == draft_.constants.spans.end() || told.size() == 4 || !told.insert(pool_[leaf].index).second)
            continue;
          report.related(span->second, "`{}` is {} by this one", variable_name(model_, pool_[leaf].index),
                         expr::print_number(draft_.constants.numbers.at(pool_[leaf].index)));
        }
      }
    }
  }

  // Among the unknowns that the remaining equations leave free together, names the one a person forgot.
  void report_too_few(const System& system, const Rows& readers, const Matching& matching, std::uint32_t start,
                      std::set<std::string>& said) {
    std::vector<std::uint32_t> set = {start};
    std::set<std::uint32_t> seen = {start};
    for (std::size_t i = 0; i < set.size(); ++i) {
      for (std::uint32_t e : readers[set[i]]) {
        std::uint32_t other = matching.unknown_of[e];
        if (other != unmatched && seen.insert(other).second) set.push_back(other);
      }
    }
    // A derivative has the equation that it stands in; a name that stands alone on a side has that one. What has a
    // start but no derivative anywhere lacks the equation that would move it.
    auto weight = [&](std::uint32_t u) {
      const Node& leaf = pool_[system.unknowns[u]];
      return (leaf.order > 0                  ? 150
              : orders_.has_start[leaf.index] ? -50
                                              : 0) +
             (orders_.definition[leaf.index].valid() ? 10 : 0) +
             static_cast<int>(std::min<std::size_t>(readers[u].size(), 9));
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
    const std::string name = whole_name(variable_name(model_, variable));
    if (said.contains(name)) return;
    for (std::uint32_t u : set) {
      if (report_derivative_by_name(whole_name(variable_name(model_, pool_[system.unknowns[u]].index)), said)) return;
    }
    said.insert(name);
    auto report = diags_.report(model_.variables[flat::VariableId(variable)].span, undetermined, name);
    if (report) advise_undetermined(report, name, orders_.has_start[variable]);
  }

  const flat::Variable* find_variable(const std::string& name) {
    if (by_name_.empty()) {
      for (const flat::Variable& variable : model_.variables) by_name_.emplace(whole_name(variable.name), &variable);
    }
    auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }

  // `xdot`, `x_dot`, `dx`, `dxdt`, `der_x` for `x'`: says so at the name, and that nothing moves x.
  bool report_derivative_by_name(const std::string& name, std::set<std::string>& said) {
    const std::string path = path_of(name);
    const std::string own = local_name(name);
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
          .hint("the derivative of `{0}` by time is written `{0}'`; {1} a name like any other", local_name(base),
                own == "d" + local_name(base) ? fmt::format("each of `{}` and `dt` is", own)
                                              : fmt::format("`{}` is", own));
      return true;
    }
    return false;
  }

  void advise_undetermined(diag::Sink::Reported& report, const std::string& name, bool is_started) {
    const std::string path = path_of(name);
    const std::string own = local_name(name);
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
      if (path_of(other) == path) names.push_back(local_name(other));
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

  flat::Model& model_;
  expr::Pool& pool_;
  const Draft& draft_;
  const Orders& orders_;
  diag::Sink& diags_;
  std::multimap<std::pair<std::uint32_t, std::uint32_t>, std::size_t>
      written_at_;                                                  // of draft_, by file and place; made when asked for
  std::unordered_map<std::string, const flat::Variable*> by_name_;  // vectors by their first component
  std::set<std::uint32_t> named_;  // unknowns of which it was said that nothing determines them
};

}  // namespace

void report_counts(flat::Model& model, const Draft& draft, const Orders& orders, const System& system, const Rows& rows,
                   const Matching& matching, diag::Sink& diags) {
  Counts(model, draft, orders, diags).report(system, rows, matching);
}

}  // namespace structure
