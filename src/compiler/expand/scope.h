// What names mean inside a program, a used file or an instance. Data, and how a name is found in it.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/parse/tree.h"

namespace expand {

using base::NameId;
using parse::Body;
using parse::NodeId;

// Counters of loops, families and sums with their numbers; names bound by a function or a sum that stays, without;
// unknowns of a jump with their full names.
struct Local {
  const Local* outer = nullptr;
  NameId name;
  std::optional<double> number;
  NameId full = {};
};

inline const Local* find_local(const Local* locals, NameId name) {
  for (; locals; locals = locals->outer) {
    if (locals->name == name) return locals;
  }
  return nullptr;
}

struct Scope;

// `transition`: sequences and plans too.
enum class What {
  constant,
  parameter,
  function,
  module,
  event,
  behaviour,
  quantity,
  port,
  instance,
  file,
  automaton,
  transition
};

struct Entry {
  What what;
  base::Span span;
  bool is_family = false;  // x[i in low..high]: `what` is each of them
  long long low = 0;
  long long high = -1;
  const parse::Module* module = nullptr;  // module
  Scope* scope = nullptr;                 // module: where it is declared; instance, file: its inside
  std::vector<Scope*> elements = {};      // a family of instances, from `low` on
  const parse::Automaton* automaton = nullptr;
  std::uint32_t phases = 0;  // of a sequence or a plan
  bool can_fail = false;     // a plan
  NodeId value = {};         // constant, parameter: as written here
  NodeId argument = {};      // port, parameter: what the call gives, as written around the instance
  enum { not_yet, in_progress, done } state = not_yet;
  NodeId bound = {};       // done: what the name stands for; not valid: it is a name of the instance
  bool is_fixed = false;   // a parameter that a range reads
  bool is_wanted = false;  // in a used file: something reads it
  bool is_emitted = false;
  // Constant, parameter, port: its number, without and with parameters counting as numbers.
  struct Number {
    enum { not_yet, in_progress, done } state = not_yet;
    std::optional<double> value = {};
  } numbers[2] = {};
};

// What names mean inside a program, a used file or an instance.
struct Scope {
  Scope* outer = nullptr;  // where the module is declared
  std::string prefix;
  const Body* body = nullptr;
  std::unordered_map<NameId, Entry> entries;
  std::vector<Scope*> imports;  // used files without a name of their own
  bool is_file = false;
  std::unordered_map<const parse::Module*, int> anonymous;  // instances without a name, so far
  // An instance: what made it, and where.
  Scope* parent = nullptr;
  const parse::Module* module = nullptr;
  std::deque<Local> locals;  // the counters around the call
  std::unordered_map<NameId, NodeId> arguments;
  std::vector<NodeId> modes;  // conditions of the `in` blocks around the call, as written there
  NodeId mode;                // all of them written out, with those of the parent; not valid: at all times
  int depth = 0;
  std::uint32_t rate =
      0;  // one more than the index into Tree::rates of the step that its equations take; 0: that of the whole

  const Local* counters() const { return locals.empty() ? nullptr : &locals.back(); }
};

// An entry, and the scope that it stands in.
struct Found {
  Entry* entry = nullptr;
  Scope* scope = nullptr;
};

inline bool is_port(const Scope& scope, NameId name) {
  auto found = scope.entries.find(name);
  return found != scope.entries.end() && found->second.what == What::port;
}

// In the scope itself or in what it uses.
Found find_own(Scope& scope, NameId name);
// And in what is around the module.
Found find(Scope& scope, NameId name);

}  // namespace expand
