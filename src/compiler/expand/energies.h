// Energies, ports that carry power, and joins written out. Items in their scope in; out, in the program's tree,
// energies with their equations, ports by their full names, and for each join two equations.
//
//   energy H = e;            H = e, and H is an energy
//   power u -> y;            is named power[1], power[2] .. in the order of the text
//   join a.end to b.end;     a.in = b.out, b.in = -a.out: what flows into the one flows out of the other. Where these
//   are of instances with
//                            rates, or of one and the rest, the ports are `is_sampled`, and `rates` puts held values in
//                            the place of b.out, a.out
//   guard a.end;             what leaves there is a.end.given, which schemata defines
//
// Joins and guards may name ports that are written out after them, so they are kept until all ports are known.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/expand/expressions.h"
#include "compiler/expand/program.h"

namespace expand {

class Energies {
 public:
  Energies(Program& program, Expressions& expressions)
      : program_(program), tree_(program.tree), names_(program.names), expressions_(expressions) {}

  // `mode`: where the items around hold; not valid: at all times.
  void expand(const Body& body, Scope& scope, const Local* locals, NodeId mode);
  // Joins and guards, once all bodies are written out.
  void write_joins();

 private:
  struct End {
    Scope* inside = nullptr;  // null: the path leads nowhere, and `is_reported` tells whether that was said
    NameId name;
    NodeId written;
    bool is_reported = false;
    Scope* instance = nullptr;  // the path is that of an instance, without a port
  };
  struct Pending {
    parse::Join join;
    End ends[2];
  };
  struct PendingGuard {
    parse::Guard guard;
    End end;
  };
  struct Port {
    std::uint32_t index = 0;  // into Tree::powers
    const parse::Power* written = nullptr;
    base::Span joined = {};
    base::Span guarded = {};
  };
  struct Ports {
    std::vector<NameId> order;  // as written
    std::unordered_map<NameId, Port> by_name;
    std::uint32_t anonymous = 0;
  };

  void report_mode(base::Span span, std::string_view what, std::string_view hint);
  void expand_energy(const parse::Energy& item, Scope& scope, const Local* locals, NodeId mode);
  void expand_power(const parse::Power& item, Scope& scope, const Local* locals);
  void expand_join(const parse::Join& item, Scope& scope, const Local* locals);
  End end_of(NodeId id, Scope& scope, const Local* locals);
  Port* find_port(const End& end);
  std::string ports_of(const Scope& scope);
  bool can_be_joined(const End& end, Port& port, base::Span join);
  void check_manner(const parse::Join& join, std::uint32_t first, std::uint32_t second);
  void write_join(Pending& pending);
  void expand_storage(const parse::Storage& item, Scope& scope, const Local* locals);
  void write_guard(PendingGuard& pending);
  NodeId given_by(const parse::Power& port) const { return port.given.valid() ? port.given : port.out; }

  Program& program_;
  parse::Tree& tree_;
  base::Names& names_;
  Expressions& expressions_;
  std::unordered_map<const Scope*, Ports> ports_;
  std::vector<Pending> pending_;
  std::vector<PendingGuard> pending_guards_;
};

}  // namespace expand
