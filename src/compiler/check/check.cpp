#include "compiler/check/check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/check/diagnostics.h"
#include "compiler/check/dimensions.h"
#include "compiler/check/drawings.h"
#include "compiler/check/events.h"
#include "compiler/check/jumps.h"
#include "compiler/check/roles.h"
#include "compiler/check/run_length.h"
#include "compiler/check/settings.h"
#include "compiler/check/shapes.h"
#include "compiler/parse/parse.h"

namespace check {

Model check(const parse::Tree& tree, base::Names& names, std::unordered_map<base::NameId, double> overrides,
            table::Files& files, diag::Sink& diags, std::span<const parse::Given> given) {
  Model model;
  model.tree = &tree;
  model.overrides = std::move(overrides);
  if (tree.equations.empty() && tree.behaviours.empty()) {
    diags.report({}, nothing_to_simulate).hint("write `system` and below it an equation such as `x' = -x;`");
  }
  find_roles(model, names, diags);
  read_settings(model, names, diags);
  read_events(model, names, diags);
  report_long_runs(model, names, diags);
  read_jumps(model, names, diags);
  read_drawings(model, names, files, diags);
  infer_shapes(model, names, files, diags);
  if (!diags.has_errors()) infer_dimensions(model, names, given, diags);
  return model;
}

std::optional<parse::Dimension> common_dimension(const Symbol& symbol) {
  if (symbol.dimensions.empty()) return std::nullopt;
  const auto& first = symbol.dimensions.front();
  const bool same = std::all_of(symbol.dimensions.begin(), symbol.dimensions.end(),
                                [&](const auto& dimension) { return dimension == first; });
  return same ? first : std::nullopt;
}

std::string describe_unit(const Symbol& symbol) {
  const auto text = [](const std::optional<parse::Dimension>& dimension) {
    return !dimension ? "?" : dimension->pure() ? "1" : parse::print_unit(*dimension);
  };
  if (auto dimension = common_dimension(symbol))
    return symbol.written_unit.empty() ? text(dimension) : symbol.written_unit;
  const bool none = std::none_of(symbol.dimensions.begin(), symbol.dimensions.end(),
                                 [](const auto& dimension) { return dimension.has_value(); });
  if (none) return "";
  std::vector<std::string> texts;
  for (const auto& dimension : symbol.dimensions) texts.push_back(text(dimension));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string dump(const Model& model, const base::Names& names) {
  static constexpr const char* roles[] = {"variable", "input",     "parameter", "constant",
                                          "function", "behaviour", "mode",      "automaton"};
  std::string out;
  for (const Symbol& symbol : model.symbols) {
    out += fmt::format("{} {}", roles[static_cast<int>(symbol.role)], names.text(symbol.name));
    if (symbol.role != Role::function && symbol.role != Role::automaton) out += ": " + describe(symbol.shape);
    if (const std::string unit = describe_unit(symbol); !unit.empty()) out += fmt::format(" [{}]", unit);
    out += '\n';
  }
  for (const Port& port : model.ports) {
    out += fmt::format("{} {} {}\n", names.text(port.device), port.is_input ? "gives" : "takes",
                       names.text(model.symbols[port.symbol].name));
  }
  for (const Event& event : model.events) {
    static constexpr const char* kinds[] = {"every", "when", "at", "transition"};
    out += fmt::format("event {} {}", names.text(event.name), kinds[static_cast<int>(event.kind)]);
    if (event.kind == parse::EventKind::every) out += fmt::format(" {} from {}", event.period, event.from);
    if (event.kind == parse::EventKind::at) out += fmt::format(" {}", fmt::join(event.times, ", "));
    if (event.kind == parse::EventKind::when) out += ' ' + parse::print(*model.tree, names, event.condition);
    out += '\n';
  }
  for (const Automaton& automaton : model.automata) {
    for (const Automaton::Start& start : automaton.starts) {
      out += fmt::format("start {}", names.text(model.symbols[automaton.modes[start.mode]].name));
      if (start.condition.valid()) out += " when " + parse::print(*model.tree, names, start.condition);
      out += '\n';
    }
  }
  for (std::size_t i = 0; i < model.transitions.size(); ++i) {
    const parse::Transition& item = model.tree->transitions[i];
    out += "transition " + names.text(item.name);
    if (item.mode.valid()) out += " in " + parse::print(*model.tree, names, item.mode);
    if (item.condition.valid()) out += " when " + parse::print(*model.tree, names, item.condition);
    for (const Transition::Goto& target : model.transitions[i].gotos)
      out += " goto " + names.text(model.symbols[model.automata[target.automaton].modes[target.mode]].name);
    for (const SymbolId unknown : model.transitions[i].unknowns)
      out += " unknown " + names.text(model.symbols[unknown].name);
    out += '\n';
  }
  for (std::size_t i = 0; i < model.plans.size(); ++i) {
    const parse::PlanProblem& problem = model.tree->problems[i];
    out += "plan " + names.text(problem.name);
    for (const parse::Chosen& chosen : problem.chosen)
      out += fmt::format(" choose {} = {}", names.text(chosen.name), parse::print(*model.tree, names, chosen.value));
    for (const parse::PlanProblem::Phase& phase : problem.phases) {
      out += " for " + parse::print(*model.tree, names, phase.duration);
      for (const parse::Target& target : phase.targets)
        out += fmt::format(" reaching {} = {}", parse::print(*model.tree, names, target.left),
                           parse::print(*model.tree, names, target.right));
    }
    out += problem.has_otherwise ? " else\n" : "\n";
  }
  for (const parse::Property& property : model.tree->properties) {
    out += "check ";
    if (property.name.valid()) out += names.text(property.name) + ": ";
    out += parse::print(*model.tree, names, property.formula) + '\n';
  }
  for (const Drawing& drawing : model.drawings) {
    out += "draw " + drawing.kind;
    if (!drawing.text.empty()) out += fmt::format(" \"{}\"", drawing.text);
    for (const DrawnOption& option : drawing.options) {
      out += ' ' + option.name;
      if (option.values.empty()) out += fmt::format(" \"{}\"", option.text);
      for (const parse::NodeId value : option.values) out += ' ' + parse::print(*model.tree, names, value);
    }
    out += '\n';
  }
  return out;
}

}  // namespace check
