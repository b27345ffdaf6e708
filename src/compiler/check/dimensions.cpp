#include "compiler/check/dimensions.h"

#include <set>
#include <utility>

#include "compiler/check/dimension_reports.h"
#include "compiler/check/dimension_statements.h"
#include "compiler/check/dimension_system.h"

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

}  // namespace

void infer_dimensions(Model& model, base::Names& names, diag::Sink& diags) {
  if (!has_units(*model.tree)) return;
  DimensionSystem system(model, names);
  ToldPlaces told;
  collect_dimensions(model, names, system, told, diags);
  if (system.is_exhausted()) return;
  for (std::uint32_t contradiction : system.solver.solve()) report_contradiction(system, contradiction, told, diags);
  keep(model, system);
}

}  // namespace check
