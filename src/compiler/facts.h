// What the compiler knows of each name, as plain data: for an editor that shows it while a person writes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/names.h"
#include "compiler/check/model.h"
#include "compiler/flat/model.h"
#include "compiler/structure/structure.h"

namespace compiler {

struct Fact {
  std::string name;
  std::string role;   // "parameter", "state", "input of `hand`"
  std::string shape;  // "a vector of 3"; empty for a function
  std::string unit;   // empty when none is known
  std::string value;  // "9.81", "(0, 1)"; empty when it is not a number before the run
};

class Facts {
 public:
  const Fact* find(std::string_view name) const;
  bool empty() const { return list_.empty(); }

  // From the checked model: roles, shapes, values of constants and parameters.
  void take(const check::Model& model, base::Names& names);
  // From the sorted equations: which variables are states, which are constants written as equations.
  void take(const structure::Sorted& sorted, const flat::Model& flat);

 private:
  Fact& entry(const std::string& name);

  std::vector<Fact> list_;
  std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace compiler
