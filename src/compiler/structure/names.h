// Names as a person reads them. "leg[2].foot.F[1]" is the first component of the vector "leg[2].foot.F", which is
// called "F" inside of the instance "leg[2].foot.".
#pragma once

#include <string>

#include "compiler/flat/model.h"

namespace structure {

inline const std::string& variable_name(const flat::Model& model, std::uint32_t variable) {
  return model.variables[flat::VariableId(variable)].name;
}

// Of a variable with its order: "p'[2]".
inline std::string leaf_name(const flat::Model& model, expr::ExprId leaf) {
  return flat::primed(variable_name(model, model.pool[leaf].index), model.pool[leaf].order);
}

// The name of the whole vector that a component belongs to.
inline std::string whole_name(const std::string& name) {
  const std::size_t at = name.ends_with(']') ? name.rfind('[') : std::string::npos;
  return at == std::string::npos ? name : name.substr(0, at);
}

inline std::string path_of(const std::string& name) { return name.substr(0, name.rfind('.') + 1); }
inline std::string local_name(const std::string& name) { return name.substr(name.rfind('.') + 1); }

}  // namespace structure
