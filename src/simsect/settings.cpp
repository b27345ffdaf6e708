#include "simsect/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/nearest.h"
#include "simsect/diagnostics.h"

namespace simsect {
namespace {

constexpr const char* integrator_symbols[] = {
    "systemName",        "dataBaseName", "useGeomview",   "stopPrecision", "maxStopIter",
    "maxStopIterations", "recordPeriod", "measurePeriod", "maxChartCount", "finalTime",
    "tolerance",         "maxTimeStep",  "minTimeStep",   "power",         "rkPower"};

bool is_integrator_symbol(std::string_view name) {
  return std::find(std::begin(integrator_symbols), std::end(integrator_symbols), name) != std::end(integrator_symbols);
}

class Finder {
 public:
  Finder(const ModelNames& names, diag::Sink& diags) : names_(names), diags_(diags) {
    for (const auto* list : {&names.parameters, &names.states})
      for (const std::string& name : *list) by_symbol_[symbol_of(name)].push_back(name);
  }

  Meaning find(const std::vector<Assignment>& assignments) {
    std::map<std::string_view, const Assignment*> last;
    for (const Assignment& each : assignments) last[each.name] = &each;
    for (const Assignment& each : assignments) {
      if (last[each.name] != &each) continue;
      const bool is_integrators = is_integrator_symbol(each.name);
      if (is_integrators) integrator(each);
      model(each, is_integrators);
    }
    return std::move(meaning_);
  }

 private:
  static bool has(const std::vector<std::string>& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  }

  // Symbols are one table in SimSect: what the integrator knows, the model may know too.
  void model(const Assignment& each, bool is_integrators) {
    std::string name = each.name;
    if (!has(names_.parameters, name) && !has(names_.states, name)) {
      const auto found = by_symbol_.find(name);
      if (found == by_symbol_.end()) {
        if (!is_integrators) report_unknown(each);
        return;
      }
      if (found->second.size() > 1) {
        std::string both;
        for (const std::string& other : found->second) both += fmt::format("{}`{}`", both.empty() ? "" : " or ", other);
        diags_.report(each.name_span, ambiguous, each.name, both).hint("write the name as the model does");
        return;
      }
      name = found->second.front();
    }
    if (each.is_text) {
      if (!is_integrators)
        diags_.report(each.value_span, wants_number, each.name).hint("write it without quotes: `{} = 1;`", each.name);
      return;
    }
    const bool is_state = has(names_.states, name);
    std::vector<NamedNumber>& list = is_state ? meaning_.starts : meaning_.parameters;
    // `pdot_2` and `p'[2]` are one.
    const auto before = std::find_if(list.begin(), list.end(), [&](const NamedNumber& x) { return x.name == name; });
    if (before != list.end()) {
      diags_.report(each.name_span, given_twice, name);
      before->value = each.number;
      return;
    }
    list.push_back({name, each.number});
  }

  void report_unknown(const Assignment& each) {
    auto report = diags_.report(each.name_span, unknown_symbol, each.name);
    std::vector<std::string> all(std::begin(integrator_symbols), std::end(integrator_symbols));
    for (const auto& [symbol, names] : by_symbol_) all.push_back(symbol);
    if (const auto near = base::nearest(each.name, all)) report.hint("did you mean `{}`?", *near);
  }

  bool number(const Assignment& each) {
    if (!each.is_text) return true;
    diags_.report(each.value_span, wants_number, each.name).hint("write it without quotes: `{} = 1;`", each.name);
    return false;
  }
  void refuse(const Assignment& each, std::string_view why) {
    diags_.report(each.value_span, out_of_range, each.name, why);
  }

  void text(const Assignment& each, std::optional<std::string>& place) {
    if (each.is_text) {
      place = each.text;
      return;
    }
    diags_.report(each.value_span, wants_text, each.name).hint("write it in quotes: `{} = \"slip\";`", each.name);
  }
  void positive(const Assignment& each, std::optional<double>& place) {
    if (!number(each)) return;
    if (each.number > 0)
      place = each.number;
    else
      refuse(each, "must be positive");
  }
  void not_negative(const Assignment& each, std::optional<double>& place) {
    if (!number(each)) return;
    if (each.number >= 0)
      place = each.number;
    else
      refuse(each, "must not be negative");
  }
  template <class Count>
  void count(const Assignment& each, double least, double most, std::optional<Count>& place) {
    if (!number(each)) return;
    if (each.number >= least && each.number <= most && std::floor(each.number) == each.number)
      place = static_cast<Count>(each.number);
    else
      refuse(each, fmt::format("must be a whole number from {:g} to {:g}", least, most));
  }

  void integrator(const Assignment& each) {
    Integrator& to = meaning_.integrator;
    const std::string& name = each.name;
    if (name == "systemName") {
      text(each, to.system_name);
      if (to.system_name && *to.system_name != names_.system)
        diags_.report(each.value_span, other_system, *to.system_name, names_.system);
    } else if (name == "dataBaseName") {
      text(each, to.data_base_name);
      if (to.data_base_name && to.data_base_name->empty()) {
        refuse(each, "must not be empty");
        to.data_base_name.reset();
      }
    } else if (name == "useGeomview") {
      if (number(each) && each.number != 0)
        diags_.report(each.name_span, no_geomview).hint("`tactus play` shows the world while it moves");
    } else if (name == "stopPrecision") {
      positive(each, to.stop_precision);
    } else if (name == "maxStopIter" || name == "maxStopIterations") {
      count(each, 1, 1e9, to.max_stop_iter);
    } else if (name == "recordPeriod") {
      not_negative(each, to.record_period);
    } else if (name == "measurePeriod") {
      not_negative(each, to.measure_period);
    } else if (name == "maxChartCount") {
      count(each, 0, 1e15, to.max_chart_count);
    } else if (name == "finalTime") {
      if (number(each)) to.final_time = each.number;
    } else if (name == "tolerance") {
      positive(each, to.tolerance);
    } else if (name == "maxTimeStep") {
      positive(each, to.max_time_step);
    } else if (name == "minTimeStep") {
      not_negative(each, to.min_time_step);
    } else {
      power(each);
    }
  }

  // A method of order p whose estimate is one order lower changes its step by (tolerance / error)^(1 / p).
  void power(const Assignment& each) {
    if (!number(each)) return;
    struct Known {
      double low, high;
      const char* solver;
    };
    constexpr Known known[] = {{0.32, 0.34, "bs3"}, {0.19, 0.21, "tsit5"}, {0.12, 0.13, "dop853"}};
    for (const Known& row : known) {
      if (each.number < row.low || each.number > row.high) continue;
      meaning_.integrator.solver = row.solver;
      return;
    }
    diags_.report(each.value_span, no_such_power, fmt::format("{}", each.number))
        .hint("0.33 is `bs3`, 0.2 `tsit5`, 0.125 `dop853`; without it, `--solver` names any");
  }

  const ModelNames& names_;
  diag::Sink& diags_;
  std::map<std::string, std::vector<std::string>> by_symbol_;
  Meaning meaning_;
};

}  // namespace

Meaning find_meaning(const std::vector<Assignment>& assignments, const ModelNames& names, diag::Sink& diags) {
  return Finder(names, diags).find(assignments);
}

std::string symbol_of(std::string_view name) {
  std::string symbol;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '\'') {
      const bool goes_on = i + 1 < name.size() && name[i + 1] == '\'';
      symbol += goes_on ? "d" : "dot";
    } else if (name[i] == '[' || name[i] == '.') {
      symbol += '_';
    } else if (name[i] != ']') {
      symbol += name[i];
    }
  }
  return symbol;
}

std::vector<std::string> symbols_of(const std::vector<std::string>& names, const ModelNames& all) {
  std::map<std::string, int> counts;
  for (const auto* list : {&all.parameters, &all.states})
    for (const std::string& name : *list) ++counts[symbol_of(name)];
  std::vector<std::string> symbols;
  for (const std::string& name : names) {
    std::string symbol = symbol_of(name);
    const bool is_taken = counts[symbol] > 1 || is_integrator_symbol(symbol);
    symbols.push_back(is_taken ? name : std::move(symbol));
  }
  return symbols;
}

}  // namespace simsect
