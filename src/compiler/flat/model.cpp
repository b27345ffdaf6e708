#include "compiler/flat/model.h"

#include <fmt/format.h>

#include <algorithm>

namespace flat {

ExprId delayed(Model& model, const Delay& delay) {
  const auto equal = [&](const Delay& other) {
    return other.source == delay.source && other.order == delay.order && other.duration == delay.duration &&
           other.is_rate == delay.is_rate;
  };
  auto found = std::find_if(model.delays.begin(), model.delays.end(), equal);
  if (found == model.delays.end()) found = model.delays.insert(found, delay);
  return model.pool.delayed(static_cast<std::uint32_t>(found - model.delays.begin()));
}

ExprId rate_of_delay(Model& model, std::uint32_t k) {
  Delay rate = model.delays[k];
  ++rate.order;
  rate.is_rate = true;
  return delayed(model, rate);
}

std::string primed(const std::string& name, std::uint32_t order) {
  std::string primes(order, '\'');
  std::size_t at = name.ends_with(']') ? name.rfind('[') : std::string::npos;
  return at == std::string::npos ? name + primes : name.substr(0, at) + primes + name.substr(at);
}

std::string unit_of(const Quantity& quantity, std::uint32_t order) {
  if (order == 0 && !quantity.written.empty()) return quantity.written;
  if (!quantity.dimension) return "";
  parse::Dimension dimension = *quantity.dimension;
  parse::Rational& seconds = dimension.exponents[parse::Dimension::second];
  seconds = seconds + parse::Rational{static_cast<std::int16_t>(-static_cast<int>(order)), 1};
  return parse::print_unit(dimension);
}

expr::LeafNames leaf_names(const Model& model) {
  return [&model](const expr::Node& node) -> std::string {
    switch (node.op) {
      case expr::Op::variable:
        return primed(model.variables[VariableId(node.index)].name, node.order);
      case expr::Op::input:
        return model.input_names[node.index];
      case expr::Op::discrete:
        return model.discrete_names[node.index];
      case expr::Op::delayed: {
        const Delay& delay = model.delays[node.index];
        return fmt::format("delay({}, {})", primed(model.variables[delay.source].name, delay.order),
                           print(model, delay.duration));
      }
      case expr::Op::table:
      case expr::Op::table_2:
        return model.tables[node.index].name;
      case expr::Op::input_rate:
        return primed(model.input_names[node.index], 1);
      case expr::Op::parameter:
        return model.parameters[node.index].name;
      default:
        return {};
    }
  };
}

std::string print(const Model& model, ExprId id) { return expr::print(model.pool, id, leaf_names(model)); }

std::string dump(const Model& model) {
  std::string out;
  for (const Input& input : model.inputs) out += fmt::format("input {}: {}\n", input.name, describe(input.shape));
  for (const Parameter& parameter : model.parameters) {
    out += fmt::format("parameter {} = {}", parameter.name, expr::print_number(parameter.initial));
    if (parameter.low < parameter.high) {
      out += fmt::format(" in {}..{}", expr::print_number(parameter.low), expr::print_number(parameter.high));
    }
    out += '\n';
  }
  for (const Condition& condition : model.conditions) {
    out += fmt::format("{} {} {} {}\n",
                       condition.later ? fmt::format("at {}", expr::print_number(*condition.later)) : "start",
                       primed(model.variables[condition.variable].name, condition.order), condition.guess ? '~' : '=',
                       print(model, condition.value));
  }
  for (const Discrete& discrete : model.discrete)
    out += fmt::format("behaviour {}: {}\n", discrete.name, describe(discrete.shape));
  int number = 1;
  for (const Equation& equation : model.equations) {
    out += fmt::format("{}: {} = {}\n", number++, print(model, equation.left), print(model, equation.right));
  }
  for (const Equation& equation : model.invariants)
    out += fmt::format("invariant {} = {}\n", print(model, equation.left), print(model, equation.right));
  for (const Energy& energy : model.energies) out += fmt::format("energy {}\n", model.variables[energy.variable].name);
  for (const Power& power : model.powers) {
    out += fmt::format("power {}:", power.name);
    for (std::size_t i = 0; i < power.pairs.size(); ++i)
      out += fmt::format("{} {} -> {}", i > 0 ? "," : "", print(model, power.pairs[i].in),
                         print(model, power.pairs[i].out));
    out += power.is_joined ? ", joined\n" : "\n";
  }
  return out;
}

}  // namespace flat
