// Who is who in a text: every name with its scope, its definition and the places where it stands. Works on tokens, for the whole
// grammar and for texts with mistakes, since a text under an editor's hands has some most of the time.
//
//   tokens --walk--> scopes, declarations, mentions --resolve--> symbols and occurrences
//
// A module's body is a scope of its own, from which only constants, parameters, functions and modules of the file are seen. Inner
// scopes bind a function's arguments, counters of `sum`, `for` and families, the own value of a behaviour, a plan's choices and a
// jump's unknowns. A name that nothing declares is a variable of the module or file where it stands; its definition is the
// equation that is written for it. Members (`leg[2].foot.Stance`) are looked up in what stands before the dot: an instance's
// module, an automaton's modes, a mechanism's parts, a file that is used under a name.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/names.h"
#include "compiler/lex/lex.h"
#include "compiler/parse/parse.h"
#include "compiler/parse/words.h"

namespace lsp {

using SymbolId = base::Id<struct SymbolTag>;
using ScopeId = base::Id<struct ScopeTag>;

enum class Kind : std::uint8_t {
  variable,
  parameter,
  constant,
  function,
  argument,
  counter,
  module,
  port,
  device,
  event,
  behaviour,
  automaton,
  mode,
  transition,
  sequence,
  plan,
  energy,
  power_port,
  mechanism,
  body,
  joint,
  unknown,
  choice,
  property,
  used_file,
};

// "parameter", "mode of an automaton".
std::string_view describe(Kind kind);

// Bytes [begin, end) of a text.
struct Place {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

inline constexpr std::uint32_t this_file = static_cast<std::uint32_t>(-1);

struct Symbol {
  Kind kind = Kind::variable;
  std::string name;
  ScopeId scope;
  Place place;                         // its name where it is defined
  Place statement;                     // all of its definition
  std::vector<std::string> arguments;  // of a function; ports and parameters of a module
  ScopeId members;                     // what may stand behind a dot; else not valid
  SymbolId instance_of;                // the module, of an instance
  std::uint32_t phases = 0;            // of a sequence or a plan
  int rank = 0;                        // how much its definition looks like one
  std::uint32_t file = this_file;      // where it is defined, an index into NameTable::files
};

struct Occurrence {
  Place place;
  SymbolId symbol;
};

struct Scope {
  ScopeId outer;
  bool is_body = false;  // of a file or a module: variables live here
  Place place;
  SymbolId owner;  // the module, of its body
  std::unordered_map<base::NameId, SymbolId> names;
};

// The text of another file, for `use`; empty when there is none.
struct OtherFile {
  std::string path;
  std::string text;
};
using ReadFile = std::function<std::optional<OtherFile>(const std::string& path)>;

struct NameTable {
  base::Names names;
  lex::Tokens tokens;
  parse::Dialect dialect = parse::Dialect::tact;
  std::vector<parse::Word> words;  // what each token is as a word of the language; `none` behind a dot
  std::vector<bool> placed;        // whether it is a word by its place alone: `power end: ..`, `hold` behind a join
  std::vector<OtherFile> files;    // those that are used
  base::Table<SymbolId, Symbol> symbols;
  base::Table<ScopeId, Scope> scopes;   // the first is the file's
  std::vector<Occurrence> occurrences;  // by place

  // The one that the offset touches: inside it or at its end.
  const Occurrence* at(std::uint32_t offset) const;
  // The innermost scope around an offset.
  ScopeId scope_at(std::uint32_t offset) const;
  // What a name means there; not valid when nothing.
  SymbolId find(base::NameId name, ScopeId from) const;
  // What may be written there.
  std::vector<SymbolId> visible_from(ScopeId from) const;
  ScopeId members_of(SymbolId symbol) const;
  // The token that the offset lies in or ends; npos when none.
  std::size_t token_at(std::uint32_t offset) const;
  // The last token that ends at or before the offset; npos when none.
  std::size_t token_before(std::uint32_t offset) const;
};

inline constexpr std::size_t no_token = static_cast<std::size_t>(-1);

// `path` says by its ending which words are reserved. Linear, but for the files that are used.
[[nodiscard]] std::unique_ptr<NameTable> find_names(const std::string& path, const std::string& text,
                                                    const ReadFile& read_file = {});

}  // namespace lsp
