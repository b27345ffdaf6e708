#include "lsp/item_names.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "compiler/parse/places.h"
#include "compiler/parse/words.h"
#include "lsp/expression_names.h"
#include "lsp/jump_names.h"
#include "lsp/statement_names.h"

namespace lsp {
namespace {

using lex::TokenKind;
using parse::Word;

enum class Section { none, boundary, system, reactive, scene, check, mechanism };

class ItemNames {
 public:
  ItemNames(Walk& walk, const ReadFile& read_file)
      : walk_(walk),
        read_file_(read_file),
        expressions_(walk),
        statements_(walk, expressions_),
        jumps_(walk, expressions_) {}

  void run() {
    const ScopeId file = walk_.open_scope({}, 0, true);
    Section section = walk_.table.dialect == parse::Dialect::ridl ? Section::reactive : Section::none;
    while (!walk_.at_end()) {
      items(file, section, TokenKind::end);
      if (!walk_.at_end()) ++walk_.here;  // a bracket that closes nothing
    }
    walk_.close_scope(file);
  }

 private:
  void items(ScopeId scope, Section& section, TokenKind closer) {
    const Walk::Level level(walk_.depth);
    while (!walk_.at_end() && !walk_.at(closer) && !walk_.at(TokenKind::right_paren) &&
           !walk_.at(TokenKind::right_brace)) {
      const std::size_t before = walk_.here;
      if (walk_.depth < Walk::max_depth) item(scope, section);
      if (walk_.here == before) ++walk_.here;
    }
  }

  void item(ScopeId scope, Section& section) {
    const Word first_word = walk_.word();
    expressions_.begin_statement(first_word, section == Section::scene       ? parse::Surroundings::scene
                                             : section == Section::mechanism ? parse::Surroundings::mechanism
                                                                             : parse::Surroundings::none);
    const std::size_t first = walk_.here;
    switch (first_word) {
      case Word::simulation:
        section = Section::none;
        return read_simulation(scope);
      case Word::external:
        section = Section::none;
        return read_external(scope);
      case Word::boundary:
        return open_section(section, Section::boundary);
      case Word::system:
        return open_section(section, Section::system);
      case Word::reactive:
        return open_section(section, Section::reactive);
      case Word::scene:
        return open_section(section, Section::scene);
      case Word::check:
        return open_section(section, Section::check);
      case Word::parameter:
        return read_values(scope, Kind::parameter);
      case Word::constant:
        return read_values(scope, Kind::constant);
      case Word::function:
        return read_function(scope);
      case Word::module:
        return read_module(scope);
      case Word::mechanism:
        return read_mechanism(scope);
      case Word::use:
        return read_use(scope);
      case Word::event:
        return read_declared(scope, Kind::event);
      case Word::energy:
        return read_declared(scope, Kind::energy);
      case Word::automaton:
        return jumps_.read_automaton(scope);
      case Word::transition:
        return jumps_.read_jumps(scope, Kind::transition);
      case Word::sequence:
        return jumps_.read_jumps(scope, Kind::sequence);
      case Word::plan:
        return jumps_.read_jumps(scope, Kind::plan);
      case Word::for_:
        return read_loop(scope, section);
      case Word::in:
        ++walk_.here;
        expressions_.scan(scope);
        if (walk_.accept(TokenKind::left_brace)) {
          items(scope, section, TokenKind::right_brace);
          walk_.accept(TokenKind::right_brace);
        } else if (walk_.word() == Word::require || walk_.word() == Word::expect || walk_.word() == Word::stop) {
          ++walk_.here;
          expressions_.scan_rest(scope);
        } else {
          walk_.accept(TokenKind::semicolon);
        }
        return;
      case Word::ports:
        return read_ports(scope);
      case Word::if_:
      case Word::true_:
      case Word::false_:
      case Word::none:
        break;
      default:
        ++walk_.here;
        return expressions_.scan_rest(scope);
    }
    if (walk_.spells("power") && walk_.at_plain_name(1) && walk_.table.dialect == parse::Dialect::tact) {
      walk_.pass_word();
      if (walk_.kind(1) == TokenKind::colon) {
        const SymbolId port = walk_.declare(scope, Kind::power_port);
        ++walk_.here;
        expressions_.scan_rest(scope);
        return walk_.set_statement(port, first);
      }
      return expressions_.scan_rest(scope);
    }
    const bool is_storage =
        walk_.spells("storage") && walk_.kind(1) == TokenKind::left_paren && section != Section::boundary;
    const bool is_guard = walk_.spells("guard") && walk_.at_plain_name(1);
    if ((is_storage || is_guard) && walk_.table.dialect == parse::Dialect::tact) {
      if (is_storage) return read_storage(scope);
      walk_.pass_word();
      expressions_.end_at({"reserve"});
      expressions_.scan_rest(scope);
      return expressions_.end_at({});
    }
    switch (section) {
      case Section::boundary:
        return statements_.read_conditions(scope);
      case Section::reactive:
        return statements_.read_behaviour(scope);
      case Section::scene:
        ++walk_.here;
        return expressions_.scan_rest(scope);
      case Section::mechanism:
        return read_part(scope);
      case Section::check:
        if (walk_.at_plain_name() && walk_.kind(1) == TokenKind::colon) {
          const SymbolId property = walk_.declare(scope, Kind::property);
          ++walk_.here;
          expressions_.scan_rest(scope);
          return walk_.set_statement(property, first);
        }
        return expressions_.scan_rest(scope);
      default:
        return statements_.read_equation(scope);
    }
  }

  void open_section(Section& section, Section opened) {
    ++walk_.here;
    section = opened;
  }

  void read_simulation(ScopeId scope) {
    ++walk_.here;
    while (walk_.is_name(walk_.here) && walk_.kind(1) == TokenKind::equal) {
      const bool solver = walk_.spells("solver");
      walk_.here += 2;
      walk_.accept(TokenKind::minus);
      if (walk_.at(TokenKind::left_paren)) {
        expressions_.scan(scope);
      } else if (walk_.at_plain_name() && !solver) {
        walk_.mention(scope);
        ++walk_.here;
      } else if (!walk_.at_end()) {
        ++walk_.here;
        if (walk_.at(TokenKind::left_bracket)) expressions_.skip_unit();
      }
      if (!walk_.accept(TokenKind::comma)) walk_.accept(TokenKind::semicolon);
    }
  }

  void read_external(ScopeId scope) {
    const std::size_t first = walk_.here++;
    if (!walk_.is_name(walk_.here)) return;
    const SymbolId device = walk_.declare(scope, Kind::device);
    while (!walk_.at_end() && walk_.is_name(walk_.here)) {
      const Word command = walk_.word();
      const bool every = walk_.spells("every");
      if (command == Word::observes) {
        ++walk_.here;
        if (walk_.word() == Word::event) ++walk_.here;
        do {
          if (!walk_.at_plain_name()) break;
          const SymbolId event = walk_.declare(scope, Kind::event);
          if (walk_.word() == Word::rate || walk_.word() == Word::when || walk_.spells("every")) read_timing(scope);
          walk_.set_statement(event, first);
        } while (walk_.accept(TokenKind::comma));
      } else if (command == Word::reads || command == Word::writes) {
        ++walk_.here;
        do {
          // `writes force = e` names a value of the device.
          if (walk_.at_plain_name() && walk_.kind(1) == TokenKind::equal && command == Word::writes) walk_.here += 2;
          expressions_.scan(scope);
        } while (walk_.accept(TokenKind::comma));
      } else if (command == Word::rate || command == Word::when || every) {
        read_timing(scope);
      } else {
        break;
      }
    }
    walk_.accept(TokenKind::semicolon);
    walk_.set_statement(device, first);
  }

  void read_timing(ScopeId scope) {
    ++walk_.here;
    if (walk_.is_name(walk_.here) && walk_.kind(1) == TokenKind::equal) walk_.here += 2;
    expressions_.scan(scope, mentioned, false);
  }

  void read_values(ScopeId scope, Kind kind) {
    ++walk_.here;
    do {
      if (!walk_.at_plain_name()) break;
      const std::size_t first = walk_.here;
      const SymbolId symbol = walk_.declare(scope, kind);
      walk_.accept(TokenKind::equal);
      expressions_.scan(scope);
      if (walk_.accept(TokenKind::dot_dot)) expressions_.scan(scope);
      walk_.set_statement(symbol, first);
    } while (walk_.accept(TokenKind::comma));
    if (!walk_.accept(TokenKind::semicolon)) expressions_.skip_broken(scope);
  }

  void read_function(ScopeId scope) {
    const std::size_t first = walk_.here++;
    if (!walk_.at_plain_name()) return expressions_.scan_rest(scope);
    const SymbolId function = walk_.declare(scope, Kind::function);
    const ScopeId inner = walk_.open_inner(scope);
    std::vector<std::string> arguments;
    if (walk_.accept(TokenKind::left_paren)) {
      while (walk_.at_plain_name()) {
        arguments.emplace_back(walk_.spelled(walk_.here));
        walk_.declare(inner, Kind::argument);
        if (!walk_.accept(TokenKind::comma)) break;
      }
      walk_.accept(TokenKind::right_paren);
    }
    walk_.table.symbols[function].arguments = std::move(arguments);
    walk_.accept(TokenKind::equal);
    expressions_.scan_rest(inner);
    walk_.close_scope(inner);
    walk_.set_statement(function, first);
  }

  void read_module(ScopeId scope) {
    const std::size_t first = walk_.here++;
    if (!walk_.at_plain_name()) return expressions_.scan_rest(scope);
    const SymbolId module = walk_.declare(scope, Kind::module);
    walk_.accept(TokenKind::equal);
    if (!walk_.accept(TokenKind::left_paren)) return expressions_.scan_rest(scope);
    const ScopeId inner = walk_.open_scope(scope, walk_.place(walk_.here - 1).begin, true);
    walk_.table.scopes[inner].owner = module;
    walk_.table.symbols[module].members = inner;
    Section section = Section::none;
    while (!walk_.at_end() && !walk_.at(TokenKind::right_paren)) {
      items(inner, section, TokenKind::right_paren);
      if (!walk_.at_end() && !walk_.at(TokenKind::right_paren)) ++walk_.here;
    }
    walk_.accept(TokenKind::right_paren);
    walk_.accept(TokenKind::semicolon);
    walk_.close_scope(inner);
    walk_.table.scopes[inner].place.end = walk_.place(walk_.here > 0 ? walk_.here - 1 : 0).end;
    walk_.set_statement(module, first);
    for (const Kind kind : {Kind::port, Kind::parameter})
      for (std::uint32_t i = module.value + 1; i < walk_.table.symbols.size(); ++i) {
        const Symbol& symbol = walk_.table.symbols[SymbolId(i)];
        if (symbol.scope == inner && symbol.kind == kind)
          walk_.table.symbols[module].arguments.push_back(kind == Kind::port ? symbol.name : symbol.name + " = ..");
      }
  }

  void read_ports(ScopeId scope) {
    ++walk_.here;
    while (walk_.at_plain_name()) {
      const std::size_t first = walk_.here;
      const SymbolId port = walk_.declare(scope, Kind::port);
      if (walk_.accept(TokenKind::colon)) expressions_.scan(scope);
      walk_.set_statement(port, first);
      if (!walk_.accept(TokenKind::comma)) break;
    }
    walk_.accept(TokenKind::semicolon);
  }

  void read_mechanism(ScopeId scope) {
    const std::size_t first = walk_.here++;
    if (!walk_.at_plain_name()) return expressions_.scan_rest(scope);
    const SymbolId mechanism = walk_.declare(scope, Kind::mechanism);
    const ScopeId inner = walk_.open_inner(scope);
    walk_.table.symbols[mechanism].members = inner;
    if (walk_.accept(TokenKind::left_paren)) {
      Section section = Section::mechanism;
      items(inner, section, TokenKind::right_paren);
      walk_.accept(TokenKind::right_paren);
      walk_.accept(TokenKind::semicolon);
    } else {
      expressions_.scan_rest(scope);
    }
    walk_.close_scope(inner);
    walk_.set_statement(mechanism, first);
  }

  void read_part(ScopeId scope) {
    const std::size_t first = walk_.here;
    const bool body = walk_.spells("body"), joint = walk_.spells("joint") || walk_.spells("loop");
    ++walk_.here;
    if ((body || joint) && walk_.is_name(walk_.here)) {
      const SymbolId part = walk_.declare(scope, body ? Kind::body : Kind::joint);
      if (joint && walk_.is_name(walk_.here)) ++walk_.here;  // revolute
      while (!walk_.at_end() && !walk_.at(TokenKind::semicolon) && !walk_.at(TokenKind::right_paren)) {
        if (walk_.is_name(walk_.here)) {
          const bool frame = walk_.spells("from") || walk_.spells("to");
          const bool shape = walk_.spells("shape");
          ++walk_.here;
          if ((frame && walk_.spells("world")) || (shape && walk_.is_name(walk_.here))) ++walk_.here;
        }
        const std::size_t before = walk_.here;
        expressions_.scan(scope);
        if (walk_.accept(TokenKind::dot_dot)) expressions_.scan(scope);
        if (walk_.here == before && !walk_.at_end() && !walk_.is_name(walk_.here) && !walk_.at(TokenKind::semicolon) &&
            !walk_.at(TokenKind::right_paren))
          ++walk_.here;
        if (walk_.here == before && walk_.is_name(walk_.here) && walk_.word() != Word::none) ++walk_.here;
      }
      walk_.accept(TokenKind::semicolon);
      return walk_.set_statement(part, first);
    }
    expressions_.scan_rest(scope);
  }

  void read_use(ScopeId scope) {
    const std::size_t first = walk_.here++;
    std::string path;
    if (walk_.at(TokenKind::string)) path = walk_.tokens.strings[walk_.tokens.list[walk_.here++].value];
    SymbolId alias;
    if (walk_.spells("as") && walk_.is_name(walk_.here + 1)) {
      ++walk_.here;
      alias = walk_.declare(scope, Kind::used_file);
    }
    walk_.accept(TokenKind::semicolon);
    if (alias.valid()) walk_.set_statement(alias, first);
    if (path.empty() || !read_file_) return;
    const std::optional<OtherFile> other = read_file_(path);
    if (!other) return;
    // Its own `use` leads no further here.
    const std::unique_ptr<NameTable> used = find_names(other->path, other->text);
    ScopeId target = scope;
    if (alias.valid()) {
      target = walk_.open_inner({});
      walk_.table.scopes[target].place = {};
      walk_.table.symbols[alias].members = target;
    }
    const auto file = static_cast<std::uint32_t>(walk_.table.files.size());
    walk_.table.files.push_back(*other);
    for (const Symbol& symbol : used->symbols) {
      const bool shown = symbol.kind == Kind::module || symbol.kind == Kind::function ||
                         symbol.kind == Kind::constant || symbol.kind == Kind::parameter;
      if (!shown || symbol.scope != ScopeId(0)) continue;
      const base::NameId name = walk_.table.names.intern(symbol.name);
      if (!walk_.table.scopes[target].names.emplace(name, SymbolId(walk_.table.symbols.size())).second) continue;
      Symbol imported = symbol;
      imported.scope = target;
      imported.members = {};
      imported.instance_of = {};
      imported.file = file;
      walk_.table.symbols.push(std::move(imported));
    }
  }

  // storage (q, p) energy H = e structure J = .., R = .., G = .. power motor: F -> v; each matrix's letter is no name.
  void read_storage(ScopeId scope) {
    const std::size_t first = walk_.here;
    walk_.pass_word();
    expressions_.end_at({"structure", "power"});
    expressions_.scan(scope);
    if (walk_.word() == Word::energy) {
      ++walk_.here;
      if (walk_.at_plain_name()) walk_.set_statement(walk_.declare(scope, Kind::energy), first);
      expressions_.scan(scope);
    }
    if (walk_.spells("structure")) {
      walk_.pass_word();
      do {
        if (walk_.at_plain_name() && walk_.kind(1) == TokenKind::equal) walk_.here += 2;
        expressions_.scan(scope);
      } while (walk_.accept(TokenKind::comma));
    }
    if (walk_.spells("power") && walk_.at_plain_name(1)) {
      walk_.pass_word();
      const SymbolId port = walk_.declare(scope, Kind::power_port);
      walk_.accept(TokenKind::colon);
      expressions_.scan(scope);
      walk_.set_statement(port, first);
    }
    expressions_.end_at({});
    expressions_.scan_rest(scope);
  }

  // A name, and behind it anything: `event E when ..`, `energy H = ..`.
  void read_declared(ScopeId scope, Kind kind) {
    const std::size_t first = walk_.here++;
    if (!walk_.at_plain_name()) return expressions_.scan_rest(scope);
    const SymbolId symbol = walk_.declare(scope, kind);
    const ScopeId inner = walk_.open_inner(scope);
    expressions_.read_family(inner);
    expressions_.scan_rest(inner);
    walk_.close_scope(inner);
    walk_.set_statement(symbol, first);
  }

  void read_loop(ScopeId scope, Section& section) {
    ++walk_.here;
    const ScopeId inner = walk_.open_inner(scope);
    if (walk_.at_plain_name()) walk_.declare(inner, Kind::counter);
    expressions_.scan(inner);
    if (walk_.accept(TokenKind::left_brace)) {
      items(inner, section, TokenKind::right_brace);
      walk_.accept(TokenKind::right_brace);
    } else {
      walk_.accept(TokenKind::semicolon);
    }
    walk_.close_scope(inner);
  }

  Walk& walk_;
  const ReadFile& read_file_;
  ExpressionNames expressions_;
  StatementNames statements_;
  JumpNames jumps_;
};

}  // namespace

void walk_items(Walk& walk, const ReadFile& read_file) { ItemNames(walk, read_file).run(); }

}  // namespace lsp
