// Modules, loops, families and used files written out: tree in, tree out. What leaves has plain items only; what
// belongs to an instance carries its path as part of its name, `leg[2].foot.x`, so that no later pass knows of
// hierarchy.
//
// Rules
//   s = S(a, k = 2)   the module's items once more, every local name with `s.` before it. A name is local unless the
//   module's
//                     surroundings declare it as a constant, parameter, function, module or event.
//   ports             a port is the argument itself when that is no more than names, numbers and tuples of them (`x`,
//   `p'`, `(x, y)`):
//                     then both are one quantity. Any other argument gets an equation, `s.a = x - y`. A port without
//                     argument is
//                     a local name.
//   parameters        an argument that is a number replaces the default and stays changeable from outside; any other is
//   bound as a port is.
//                     One made of other parameters stands for its value, unless it is given another.
//                     A parameter that a range, an index, the timing of an event or the time of a condition reads is
//                     fixed.
//   behaviours        a behaviour may be a port: `ports y; reactive y = ..`. An event given for a port is that event.
//   S(a);             is named S[1], S[2] .. in the order of the text.
//   n[i] = .. in a    one element of the family `n`: behaviours, events, automata, transitions and instances that a
//   loop writes
//     loop            one by one, without gaps.
//   x[i in 1..3] = e  three quantities x[1], x[2], x[3]; `x` alone is the tuple of them.
//   if i < 3 then a   a condition among counters, constants and numbers chooses here; the other branch need not exist.
//   for i in 1..3 {}  the items once for each number.
//
// Cost: linear in what is written out, which is bounded.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/names.h"
#include "compiler/parse/given.h"
#include "compiler/parse/tree.h"
#include "diag/sink.h"

namespace expand {

// A port that is one quantity with its argument, by the names of both: `b.x` is `a.x`.
struct Alias {
  std::string name;
  std::string meaning;
};

// `overrides` are numbers given from outside by full name; they count where a range reads them. `aliases` and `given`
// may be null.
[[nodiscard]] parse::Tree expand(parse::Tree tree, base::Names& names,
                                 const std::unordered_map<base::NameId, double>& overrides, diag::Sink& diags,
                                 std::vector<Alias>* aliases = nullptr, std::vector<parse::Given>* given = nullptr);

}  // namespace expand
