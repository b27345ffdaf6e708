#include "compiler/check/dimensions.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "compiler/check/diagnostics.h"
#include "compiler/check/dimension_messages.h"
#include "compiler/check/dimension_reports.h"
#include "compiler/check/dimension_statements.h"
#include "compiler/check/dimension_system.h"
#include "compiler/parse/parse.h"
#include "compiler/parse/units.h"

namespace check {
namespace {

using parse::Dimension;
using parse::Rational;

bool has_units(const parse::Tree& tree) {
  for (std::size_t i = 1; i < tree.units.size(); ++i) {
    if (!tree.units[static_cast<std::uint16_t>(i)].measure.dimension.pure()) return true;
  }
  return false;
}

// An input has the dimension of what it is added to or set equal with, if that is one.
void keep_inputs(Model& model, const DimensionSystem& system) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> disputed;
  for (const InputUse& use : system.input_uses) {
    std::optional<Dimension> value = system.solver.value(use.form);
    if (!value) continue;
    value->exponents[Dimension::second] =
        value->exponents[Dimension::second] + Rational{static_cast<std::int16_t>(use.order), 1};
    std::optional<Dimension>& kept = model.symbols[use.symbol].dimensions[use.item];
    if (kept && !(*kept == *value)) disputed.insert({use.symbol.value, use.item});
    kept = value;
  }
  for (const auto& [symbol, item] : disputed) model.symbols[SymbolId(symbol)].dimensions[item].reset();
}

void keep(Model& model, const DimensionSystem& system) {
  for (std::size_t s = 0; s < model.symbols.size(); ++s) {
    Symbol& symbol = model.symbols[SymbolId(s)];
    if (symbol.role == Role::function || symbol.role == Role::mode || symbol.role == Role::automaton) continue;
    symbol.dimensions.resize(symbol.shape.size());
    for (std::uint32_t i = 0; i < symbol.shape.size(); ++i) {
      if (symbol.role != Role::input) symbol.dimensions[i] = system.solver.value(system.unknown_of(SymbolId(s), i));
    }
  }
  keep_inputs(model, system);
}

// Energies are in J and what passes a port is in W, wherever the program says enough to know.
void report_works(const Model& model, const base::Names& names, const DimensionSystem& system, ToldPlaces& told,
                  diag::Sink& diags) {
  const parse::Tree& tree = *model.tree;
  for (const Work& work : system.works) {
    const std::optional<Dimension> value = work.form.is_rigid() ? system.solver.value(work.form) : std::nullopt;
    const bool is_port = work.out.valid();
    const Dimension wanted = parse::find_unit(is_port ? "W" : "J")->dimension;
    if (!value || value->pure() || *value == wanted) continue;
    const base::Span span = is_port ? tree[work.in].span.to(tree[work.out].span) : tree[work.in].span;
    if (!told.is_new(span)) continue;
    const std::string what =
        is_port ? fmt::format("`{} * {}`", parse::print(tree, names, work.in), parse::print(tree, names, work.out))
                : quote(tree, names, work.in);
    auto report = diags.report(span, dimension_of_setting, is_port ? "what passes a port" : "an energy",
                               is_port ? "is in W" : "is in J", what, describe_dimension(*value));
    if (!is_port)
      report.hint("a spring stores `c * x^2 / 2`, a mass `m * v^2 / 2`");
    else
      report.hint("a force and a velocity, a torque and a rate of turn, a voltage and a current are such pairs");
  }
}

}  // namespace

void infer_dimensions(Model& model, base::Names& names, std::span<const parse::Given> given, diag::Sink& diags) {
  if (!has_units(*model.tree)) return;
  DimensionSystem system(model, names);
  ToldPlaces told;
  collect_dimensions(model, names, given, system, told, diags);
  if (system.is_exhausted()) return;
  for (std::uint32_t contradiction : system.solver.solve()) report_contradiction(system, contradiction, told, diags);
  report_works(model, names, system, told, diags);
  keep(model, system);
}

}  // namespace check
