#include "lsp/resolve_names.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "lsp/words.h"

namespace lsp {
namespace {

class Resolution {
 public:
  Resolution(NameTable& table, std::vector<Mention>& mentions, const std::vector<InstanceCall>& instances)
      : table_(table), mentions_(mentions), instances_(instances) {}

  void resolve() {
    for (Mention& one : mentions_)
      if (!one.symbol.valid() && one.parent == no_mention && one.callee == no_mention) resolve_base(one);
    for (const auto& [target, callee] : instances_) {
      const auto found = std::find_if(mentions_.begin() + static_cast<std::ptrdiff_t>(target), mentions_.end(),
                                      [&, place = callee](const Mention& m) { return m.place.begin == place; });
      if (found == mentions_.end() || !mentions_[target].symbol.valid()) continue;
      instance_calls_.push_back({target, static_cast<std::size_t>(found - mentions_.begin())});
    }
    set_instances();  // those that the file's own modules explain; then members, then those behind a file's name
    for (Mention& one : mentions_)
      if (one.parent != no_mention && !one.symbol.valid()) resolve_member(one);
    set_instances();
    for (Mention& one : mentions_) {
      if (one.parent != no_mention && !one.symbol.valid()) resolve_member(one);
      if (one.callee != no_mention) resolve_argument(one);
    }
    for (const Mention& one : mentions_)
      if (one.symbol.valid()) table_.occurrences.push_back({one.place, one.symbol});
    std::stable_sort(table_.occurrences.begin(), table_.occurrences.end(),
                     [](const Occurrence& a, const Occurrence& b) { return a.place.begin < b.place.begin; });
  }

 private:
  void set_instances() {
    for (const auto& [target, callee] : instance_calls_) {
      const SymbolId called = mentions_[callee].symbol;
      if (called.valid() && table_.symbols[called].kind == Kind::module)
        table_.symbols[mentions_[target].symbol].instance_of = called;
    }
  }

  void resolve_base(Mention& one) {
    if (one.own_scope_only) {
      const auto found = table_.scopes[one.scope].names.find(one.name);
      if (found != table_.scopes[one.scope].names.end()) one.symbol = found->second;
      return;
    }
    one.symbol = table_.find(one.name, one.scope);
    if (!one.symbol.valid()) {
      if (is_builtin_name(table_.names.text(one.name), one.called)) return;
      if (one.called && one.rank == mentioned) return;  // a function that nobody declares
      ScopeId body = one.scope;
      while (!table_.scopes[body].is_body && table_.scopes[body].outer.valid()) body = table_.scopes[body].outer;
      one.symbol = SymbolId(table_.symbols.size());
      table_.scopes[body].names.emplace(one.name, one.symbol);
      Symbol symbol;
      symbol.name = table_.names.text(one.name);
      symbol.scope = body;
      table_.symbols.push(std::move(symbol));
    }
    Symbol& symbol = table_.symbols[one.symbol];
    if (one.rank <= symbol.rank) return;
    symbol.rank = one.rank;
    symbol.place = one.place;
    symbol.statement = one.statement.end > one.statement.begin ? one.statement : one.place;
  }

  void resolve_member(Mention& one) {
    const SymbolId parent = mentions_[one.parent].symbol;
    if (!parent.valid()) return;
    const ScopeId members = table_.members_of(parent);
    if (!members.valid()) return;
    const auto found = table_.scopes[members].names.find(one.name);
    if (found != table_.scopes[members].names.end()) one.symbol = found->second;
  }

  void resolve_argument(Mention& one) {
    const SymbolId called = mentions_[one.callee].symbol;
    if (!called.valid() || table_.symbols[called].kind != Kind::module || !table_.symbols[called].members.valid())
      return;
    const auto& names = table_.scopes[table_.symbols[called].members].names;
    const auto found = names.find(one.name);
    if (found != names.end()) one.symbol = found->second;
  }

  NameTable& table_;
  std::vector<Mention>& mentions_;
  const std::vector<InstanceCall>& instances_;
  std::vector<std::pair<std::size_t, std::size_t>> instance_calls_;  // mentions
};

}  // namespace

void resolve_names(NameTable& table, std::vector<Mention>& mentions, const std::vector<InstanceCall>& instances) {
  Resolution(table, mentions, instances).resolve();
}

}  // namespace lsp
