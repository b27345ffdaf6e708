// Names bound inside an expression: a function's arguments, the counter of a sum. A chain of bindings on the C++ stack.
#pragma once

#include "base/names.h"
#include "compiler/parse/tree.h"

namespace check {

// `What` is what a binding stands for in the pass that walks: a shape, a value.
template <class What>
struct Binding {
  const Binding* outer;
  base::NameId name;
  What what;
};

// Where only that a name is bound matters.
struct Nothing {};
using BoundNames = Binding<Nothing>;

template <class What>
const Binding<What>* find_binding(const Binding<What>* scope, base::NameId name) {
  for (; scope; scope = scope->outer) {
    if (scope->name == name) return scope;
  }
  return nullptr;
}

}  // namespace check
