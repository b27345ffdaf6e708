// A parameter of a module that an instance gives a value of its own. Data: written by `expand`, read by `check`, which
// holds the value against the unit that the module declares.
#pragma once

#include "base/names.h"
#include "compiler/parse/tree.h"

namespace parse {

struct Given {
  base::NameId parameter;  // as the module calls it
  NodeId declared;         // the default, made of literals of which some have units
  NodeId value;            // what the instance gives
  base::NameId name = {};  // of the parameter that the instance has; not valid where the value is a quantity around it
};

}  // namespace parse
