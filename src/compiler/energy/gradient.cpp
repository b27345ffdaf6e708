#include "compiler/energy/gradient.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/energy/diagnostics.h"
#include "compiler/energy/hamiltonian.h"
#include "compiler/energy/in_states.h"
#include "compiler/energy/storage.h"
#include "compiler/symbolic/symbolic.h"

namespace energy {

using expr::Op;

void differentiate(flat::Model& model, structure::Sorted& sorted, diag::Sink& diags) {
  if (model.energies.empty()) return;
  expr::Pool& pool = model.pool;
  InStates in_states(model, sorted);
  const expr::LeafNames names = flat::leaf_names(model);
  ExprId total = pool.constant(0);
  for (const flat::Energy& energy : model.energies) {
    const auto number = sorted.constants.find(energy.variable.value);
    const ExprId leaf =
        number == sorted.constants.end() ? pool.variable(energy.variable.value, 0) : pool.constant(number->second);
    const ExprId value = in_states(leaf);
    for (ExprId left : symbolic::leaves(pool, value, Op::variable)) {
      if (std::find(sorted.states.begin(), sorted.states.end(), left) != sorted.states.end()) continue;
      diags.report(energy.span, solved_energy, expr::print(pool, left, names))
          .hint(
              "an energy is a function of states: write it with names that have a derivative or are computed from such "
              "directly");
      return;
    }
    for (const Op op : {Op::time, Op::input, Op::input_rate, Op::delayed}) {
      const std::vector<ExprId> left = symbolic::leaves(pool, value, op);
      if (left.empty()) continue;
      diags.report(energy.span, driven_energy, expr::print(pool, left.front(), names))
          .hint("what comes in from outside is power, not energy: declare a port, `power hand: F -> v;`");
      return;
    }
    total = pool.add(total, value);
    sorted.energies.push_back(value);
  }
  const std::unordered_map<ExprId, ExprId> slopes = symbolic::gradient(pool, total);
  sorted.energy = total;
  sorted.energy_slopes.clear();
  for (ExprId state : sorted.states) {
    const auto found = slopes.find(state);
    sorted.energy_slopes.push_back(found == slopes.end() ? pool.constant(0) : found->second);
  }
  check_storages(model, sorted, diags);
  if (!diags.has_errors()) sorted.structure = find_structure(model, sorted);
}

std::string dump(flat::Model& model, const structure::Sorted& sorted) {
  std::string text = fmt::format("stored  {}\n", flat::print(model, sorted.energy));
  for (std::size_t i = 0; i < sorted.states.size(); ++i) {
    if (model.pool.is_constant(sorted.energy_slopes[i], 0)) continue;
    text +=
        fmt::format("by {}  {}\n", flat::print(model, sorted.states[i]), flat::print(model, sorted.energy_slopes[i]));
  }
  for (const flat::Power& port : model.powers) {
    if (port.is_joined) continue;
    for (const flat::Power::Pair& pair : port.pairs)
      text += fmt::format("supplied at {}  {} * {}\n", port.name, flat::print(model, pair.in),
                          flat::print(model, pair.out));
  }
  return text + describe_hamiltonian(model, sorted);
}

}  // namespace energy
