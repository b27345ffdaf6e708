#include "compiler/flat/model.h"

#include <fmt/format.h>

namespace flat {

std::string primed(const std::string& name, std::uint32_t order) {
  std::size_t at = name.find('[');
  std::string primes(order, '\'');
  return at == std::string::npos ? name + primes : name.substr(0, at) + primes + name.substr(at);
}

expr::LeafNames leaf_names(const Model& model) {
  return [&model](const expr::Node& node) -> std::string {
    switch (node.op) {
      case expr::Op::variable:
        return primed(model.variables[VariableId(node.index)].name, node.order);
      case expr::Op::input:
        return model.input_names[node.index];
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
    out += fmt::format("start {} {} {}\n", primed(model.variables[condition.variable].name, condition.order),
                       condition.guess ? '~' : '=', print(model, condition.value));
  }
  int number = 1;
  for (const Equation& equation : model.equations) {
    out += fmt::format("{}: {} = {}\n", number++, print(model, equation.left), print(model, equation.right));
  }
  return out;
}

}  // namespace flat
