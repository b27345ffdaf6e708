#include "lsp/names.h"

#include <algorithm>

#include "compiler/parse/places.h"
#include "compiler/parse/words.h"
#include "diag/sink.h"
#include "diag/source_map.h"
#include "lsp/words.h"

namespace lsp {
namespace {

using lex::TokenKind;
using parse::Word;

constexpr std::size_t no_mention = static_cast<std::size_t>(-1);

enum class Section { none, boundary, system, reactive, scene, check, mechanism };

// How much an occurrence looks like a definition.
enum Rank : int { mentioned = 1, given_a_start = 2, derivative_defined = 3, defined = 4, declared = 5 };

// A name in the text, not resolved yet.
struct Mention {
  Place place;
  base::NameId name;
  ScopeId scope;
  std::size_t parent = no_mention;  // the mention before the dot
  std::size_t callee = no_mention;  // of a named argument: what is called
  Rank rank = mentioned;
  bool called = false;
  bool own_scope_only = false;  // a mode behind `from`
  SymbolId symbol = {};         // declared, or resolved
  Place statement = {};
};

class Walker {
 public:
  Walker(NameTable& table, std::string_view text, const ReadFile& read_file)
      : table_(table), tokens_(table.tokens), text_(text), read_file_(read_file) {
    last_ = tokens_.list.size() - 1;
  }

  void run() {
    const ScopeId file = open_scope({}, 0, true);
    Section section = table_.dialect == parse::Dialect::ridl ? Section::reactive : Section::none;
    while (!at_end()) {
      items(file, section, TokenKind::end);
      if (!at_end()) ++at_;  // a bracket that closes nothing
    }
    close_scope(file);
    resolve();
  }

 private:
  // -- tokens
  TokenKind kind(std::size_t ahead = 0) const { return tokens_.list[std::min(at_ + ahead, last_)].kind; }
  bool at(TokenKind wanted) const { return kind() == wanted; }
  bool at_end() const { return at_ >= last_; }
  bool accept(TokenKind wanted) {
    if (!at(wanted)) return false;
    ++at_;
    return true;
  }
  Place place(std::size_t index) const {
    const lex::Token& token = tokens_.list[std::min(index, last_)];
    return {token.begin, token.end};
  }
  base::NameId name_at(std::size_t index) const { return base::NameId(tokens_.list[std::min(index, last_)].value); }
  bool is_name(std::size_t index) const { return index < last_ && tokens_.list[index].kind == TokenKind::name; }
  std::string_view spelled(std::size_t index) const {
    return is_name(index) ? std::string_view(table_.names.text(name_at(index))) : std::string_view();
  }
  bool spells(std::string_view word) const { return spelled(at_) == word; }
  Word word_at(std::size_t index) const { return index < last_ ? table_.words[index] : Word::none; }
  Word word(std::size_t ahead = 0) const { return word_at(at_ + ahead); }
  bool at_plain_name(std::size_t ahead = 0) const { return is_name(at_ + ahead) && word(ahead) == Word::none; }
  bool on_new_line(std::size_t index) const {
    if (index == 0) return true;
    const std::uint32_t from = tokens_.list[index - 1].end;
    return text_.substr(from, tokens_.list[index].begin - from).find('\n') != std::string_view::npos;
  }

  // -- scopes and symbols
  ScopeId open_scope(ScopeId outer, std::uint32_t begin, bool is_body) {
    return table_.scopes.push({outer, is_body, {begin, static_cast<std::uint32_t>(text_.size())}, {}, {}});
  }
  void close_scope(ScopeId scope) {
    table_.scopes[scope].place.end = at_end() ? static_cast<std::uint32_t>(text_.size()) : tokens_.list[at_].begin;
  }
  ScopeId open_inner(ScopeId outer) { return open_scope(outer, tokens_.list[std::min(at_, last_)].begin, false); }

  // The name ahead becomes a symbol; what is declared twice keeps its first declaration.
  SymbolId declare(ScopeId scope, Kind kind) {
    const base::NameId name = name_at(at_);
    Mention mention{place(at_), name, scope};
    mention.rank = declared;
    auto [found, added] = table_.scopes[scope].names.emplace(name, SymbolId(table_.symbols.size()));
    if (added) {
      Symbol symbol;
      symbol.kind = kind;
      symbol.name = table_.names.text(name);
      symbol.scope = scope;
      symbol.place = symbol.statement = place(at_);
      symbol.rank = declared;
      table_.symbols.push(std::move(symbol));
    }
    mention.symbol = found->second;
    mentions_.push_back(mention);
    ++at_;
    return found->second;
  }
  void set_statement(SymbolId symbol, std::size_t first) {
    Place& statement = table_.symbols[symbol].statement;
    if (place(first).begin > table_.symbols[symbol].place.begin) return;
    const std::size_t last = std::max(first, at_ > 0 ? at_ - 1 : 0);
    statement = {place(first).begin, std::max(place(last).end, table_.symbols[symbol].place.end)};
  }
  std::size_t mention(ScopeId scope, Rank rank = mentioned) {
    Mention made{place(at_), name_at(at_), scope};
    made.rank = rank;
    made.statement = made.place;
    mentions_.push_back(made);
    return mentions_.size() - 1;
  }

  // -- expressions
  static bool is_expression_word(Word word) {
    return word == Word::if_ || word == Word::then || word == Word::else_ || word == Word::in || word == Word::true_ ||
           word == Word::false_;
  }
  bool behind_operand() const {
    if (at_ == 0) return false;
    switch (tokens_.list[at_ - 1].kind) {
      case TokenKind::name:
        return word_at(at_ - 1) == Word::none || word_at(at_ - 1) == Word::true_ || word_at(at_ - 1) == Word::false_;
      case TokenKind::number:
      case TokenKind::string:
      case TokenKind::prime:
      case TokenKind::right_paren:
      case TokenKind::right_bracket:
        return true;
      default:
        return false;
    }
  }
  bool at_option() const {
    return behind_operand() && !(at_ > 0 && at_ - 1 == last_option_) &&
           parse::is_known_by_place(spelled(at_), first_word_, around_);
  }

  struct Frame {
    TokenKind open;
    ScopeId scope;
    ScopeId inner;  // opened by this bracket; else not valid
    std::size_t path;
    std::size_t callee;
  };

  // Mentions up to the end of the expression: `;` `,` `{` `}` `=>` `:` a bracket that it did not open, a word that is not of
  // expressions. `rank` is that of the names before the first `=` outside brackets.
  void scan(ScopeId scope, Rank rank = mentioned, bool through_equals = true) {
    std::vector<Frame> frames;
    ScopeId current = scope;
    std::size_t path = no_mention;
    while (!at_end()) {
      switch (kind()) {
        case TokenKind::semicolon:
          return leave(frames);
        case TokenKind::left_brace:
        case TokenKind::right_brace:
          return leave(frames);
        case TokenKind::fat_arrow:
        case TokenKind::comma:
        case TokenKind::colon:
          if (frames.empty()) return;
          path = no_mention;
          ++at_;
          break;
        case TokenKind::equal:
          if (frames.empty() && !through_equals) return;
          if (frames.empty()) rank = mentioned;
          path = no_mention;
          ++at_;
          break;
        case TokenKind::left_bracket:
          if (at_ > 0 && tokens_.list[at_ - 1].kind == TokenKind::number) {
            skip_unit();
            break;
          }
          frames.push_back({TokenKind::left_bracket, current, {}, path, no_mention});
          path = no_mention;
          ++at_;
          break;
        case TokenKind::left_paren: {
          Frame frame{TokenKind::left_paren, current, {}, no_mention, no_mention};
          const bool sum = spelled(at_ - (at_ > 0 ? 1 : 0)) == "sum" && at_plain_name(1) && word(2) == Word::in;
          if (path != no_mention) {
            frame.callee = path;
            if (place(at_ - 1).end == mentions_[path].place.end) mentions_[path].called = true;
          }
          ++at_;
          if (sum && frames.size() < max_depth) {
            frame.inner = open_inner(current);
            declare(frame.inner, Kind::counter);
            current = frame.inner;
          }
          frames.push_back(frame);
          path = no_mention;
          break;
        }
        case TokenKind::right_paren:
        case TokenKind::right_bracket: {
          if (frames.empty()) return;
          const Frame frame = frames.back();
          frames.pop_back();
          ++at_;
          if (frame.inner.valid()) close_scope(frame.inner);
          current = frame.scope;
          path = frame.open == TokenKind::left_bracket ? frame.path : no_mention;
          break;
        }
        case TokenKind::dot:
          ++at_;
          if (!is_name(at_)) break;
          if (path != no_mention) {
            const std::size_t member = mention(current);
            mentions_[member].parent = path;
            path = member;
          }
          ++at_;
          break;
        case TokenKind::prime:
          ++at_;
          break;
        case TokenKind::string:
          read_string(current);
          break;
        case TokenKind::name: {
          const Word here = word();
          if (here != Word::none) {
            if (!is_expression_word(here) && (frames.empty() || parse::begins_item(here))) return leave(frames);
            path = no_mention;
            ++at_;
            break;
          }
          if (frames.empty() && (at_option() || (behind_operand() && on_new_line(at_)))) return;
          if (is_of_the_language()) {
            path = no_mention;
            ++at_;
            break;
          }
          const bool named =
              !frames.empty() && frames.back().callee != no_mention && kind(1) == TokenKind::equal &&
              (tokens_.list[at_ - 1].kind == TokenKind::left_paren || tokens_.list[at_ - 1].kind == TokenKind::comma);
          path = mention(current, frames.empty() ? rank : mentioned);
          if (named) mentions_[path].callee = frames.back().callee;
          ++at_;
          if (named) ++at_;
          break;
        }
        default:
          path = no_mention;
          ++at_;
      }
    }
    leave(frames);
  }
  // `always[0..1](..)`, and `start`, `phase1` in `at(start, e)`, `since(phase1)`.
  bool is_of_the_language() const {
    const std::string_view name = spelled(at_);
    if (name == "always" || name == "eventually")
      return kind(1) == TokenKind::left_paren || kind(1) == TokenKind::left_bracket;
    const bool moment = name == "start" || (name.starts_with("phase") && name.size() > 5 &&
                                            name.find_first_not_of("0123456789", 5) == std::string_view::npos);
    return moment && at_ > 1 && tokens_.list[at_ - 1].kind == TokenKind::left_paren &&
           (spelled(at_ - 2) == "at" || spelled(at_ - 2) == "since");
  }

  void leave(const std::vector<Frame>& frames) {
    for (std::size_t k = frames.size(); k-- > 0;)
      if (frames[k].inner.valid()) close_scope(frames[k].inner);
  }
  void skip_unit() {
    while (!at_end() && !at(TokenKind::right_bracket) && !at(TokenKind::semicolon)) ++at_;
    accept(TokenKind::right_bracket);
  }
  // Scenes write values into texts: "n = {bounces}".
  void read_string(ScopeId scope) {
    const Place whole = place(at_++);
    if (around_ != parse::Surroundings::scene) return;
    const std::string_view content = text_.substr(whole.begin, whole.end - whole.begin);
    for (std::size_t open = content.find('{'); open != std::string_view::npos; open = content.find('{', open + 1)) {
      std::size_t end = open + 1;
      while (end < content.size() && std::string_view("}'[.: \"").find(content[end]) == std::string_view::npos) ++end;
      const base::NameId name = table_.names.find(content.substr(open + 1, end - open - 1));
      if (!name.valid()) continue;
      const auto begin = static_cast<std::uint32_t>(whole.begin + open + 1);
      Mention made{{begin, static_cast<std::uint32_t>(whole.begin + end)}, name, scope};
      made.called = true;  // only if the name is known
      mentions_.push_back(made);
    }
  }
  // To the end of a statement, words of the language between expressions passed over.
  void scan_rest(ScopeId scope) {
    while (!at_end()) {
      scan(scope);
      if (at(TokenKind::semicolon) || at(TokenKind::left_brace) || at(TokenKind::right_brace) ||
          at(TokenKind::right_paren) || at(TokenKind::right_bracket) || at_end())
        break;
      if (is_name(at_) && (parse::begins_item(word()) || (on_new_line(at_) && !at_option() && word() == Word::none)))
        break;
      if (at_option()) last_option_ = at_;
      ++at_;
    }
    accept(TokenKind::semicolon);
  }

  // -- items
  void items(ScopeId scope, Section& section, TokenKind closer) {
    const Level level(depth_);
    while (!at_end() && !at(closer) && !at(TokenKind::right_paren) && !at(TokenKind::right_brace)) {
      const std::size_t before = at_;
      if (depth_ < max_depth) item(scope, section);
      if (at_ == before) ++at_;
    }
  }

  void item(ScopeId scope, Section& section) {
    first_word_ = word();
    around_ = section == Section::scene       ? parse::Surroundings::scene
              : section == Section::mechanism ? parse::Surroundings::mechanism
                                              : parse::Surroundings::none;
    const std::size_t first = at_;
    switch (first_word_) {
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
        return read_automaton(scope);
      case Word::transition:
        return read_jumps(scope, Kind::transition);
      case Word::sequence:
        return read_jumps(scope, Kind::sequence);
      case Word::plan:
        return read_jumps(scope, Kind::plan);
      case Word::for_:
        return read_loop(scope, section);
      case Word::in:
        ++at_;
        scan(scope);
        if (accept(TokenKind::left_brace)) {
          items(scope, section, TokenKind::right_brace);
          accept(TokenKind::right_brace);
        } else if (word() == Word::require || word() == Word::expect) {
          ++at_;
          scan_rest(scope);
        } else {
          accept(TokenKind::semicolon);
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
        ++at_;
        return scan_rest(scope);
    }
    if (spells("power") && at_plain_name(1) && table_.dialect == parse::Dialect::tact) {
      ++at_;
      if (kind(1) == TokenKind::colon) {
        const SymbolId port = declare(scope, Kind::power_port);
        ++at_;
        scan_rest(scope);
        return set_statement(port, first);
      }
      return scan_rest(scope);
    }
    switch (section) {
      case Section::boundary:
        return read_conditions(scope);
      case Section::reactive:
        return read_behaviour(scope);
      case Section::scene:
        ++at_;
        return scan_rest(scope);
      case Section::mechanism:
        return read_part(scope);
      case Section::check:
        if (at_plain_name() && kind(1) == TokenKind::colon) {
          const SymbolId property = declare(scope, Kind::property);
          ++at_;
          scan_rest(scope);
          return set_statement(property, first);
        }
        return scan_rest(scope);
      default:
        return read_equation(scope);
    }
  }

  void open_section(Section& section, Section opened) {
    ++at_;
    section = opened;
  }

  void read_simulation(ScopeId scope) {
    ++at_;
    while (is_name(at_) && kind(1) == TokenKind::equal) {
      const bool solver = spells("solver");
      at_ += 2;
      accept(TokenKind::minus);
      if (at(TokenKind::left_paren)) {
        scan(scope);
      } else if (at_plain_name() && !solver) {
        mention(scope);
        ++at_;
      } else if (!at_end()) {
        ++at_;
        if (at(TokenKind::left_bracket)) skip_unit();
      }
      if (!accept(TokenKind::comma)) accept(TokenKind::semicolon);
    }
  }

  void read_external(ScopeId scope) {
    const std::size_t first = at_++;
    if (!is_name(at_)) return;
    const SymbolId device = declare(scope, Kind::device);
    while (!at_end() && is_name(at_)) {
      const Word command = word();
      const bool every = spells("every");
      if (command == Word::observes) {
        ++at_;
        if (word() == Word::event) ++at_;
        do {
          if (!at_plain_name()) break;
          const SymbolId event = declare(scope, Kind::event);
          if (word() == Word::rate || word() == Word::when || spells("every")) read_timing(scope);
          set_statement(event, first);
        } while (accept(TokenKind::comma));
      } else if (command == Word::reads || command == Word::writes) {
        ++at_;
        do {
          // `writes force = e` names a value of the device.
          if (at_plain_name() && kind(1) == TokenKind::equal && command == Word::writes) at_ += 2;
          scan(scope);
        } while (accept(TokenKind::comma));
      } else if (command == Word::rate || command == Word::when || every) {
        read_timing(scope);
      } else {
        break;
      }
    }
    accept(TokenKind::semicolon);
    set_statement(device, first);
  }

  void read_timing(ScopeId scope) {
    ++at_;
    if (is_name(at_) && kind(1) == TokenKind::equal) at_ += 2;
    scan(scope, mentioned, false);
  }

  void read_values(ScopeId scope, Kind kind) {
    ++at_;
    do {
      if (!at_plain_name()) break;
      const std::size_t first = at_;
      const SymbolId symbol = declare(scope, kind);
      accept(TokenKind::equal);
      scan(scope);
      if (accept(TokenKind::dot_dot)) scan(scope);
      set_statement(symbol, first);
    } while (accept(TokenKind::comma));
    if (!accept(TokenKind::semicolon)) skip_broken(scope);
  }
  // What is left of a statement that is not understood.
  void skip_broken(ScopeId scope) {
    if (!at_end() && !(is_name(at_) && (parse::begins_item(word()) || on_new_line(at_)))) scan_rest(scope);
  }

  void read_function(ScopeId scope) {
    const std::size_t first = at_++;
    if (!at_plain_name()) return scan_rest(scope);
    const SymbolId function = declare(scope, Kind::function);
    const ScopeId inner = open_inner(scope);
    std::vector<std::string> arguments;
    if (accept(TokenKind::left_paren)) {
      while (at_plain_name()) {
        arguments.emplace_back(spelled(at_));
        declare(inner, Kind::argument);
        if (!accept(TokenKind::comma)) break;
      }
      accept(TokenKind::right_paren);
    }
    table_.symbols[function].arguments = std::move(arguments);
    accept(TokenKind::equal);
    scan_rest(inner);
    close_scope(inner);
    set_statement(function, first);
  }

  void read_module(ScopeId scope) {
    const std::size_t first = at_++;
    if (!at_plain_name()) return scan_rest(scope);
    const SymbolId module = declare(scope, Kind::module);
    accept(TokenKind::equal);
    if (!accept(TokenKind::left_paren)) return scan_rest(scope);
    const ScopeId inner = open_scope(scope, place(at_ - 1).begin, true);
    table_.scopes[inner].owner = module;
    table_.symbols[module].members = inner;
    Section section = Section::none;
    while (!at_end() && !at(TokenKind::right_paren)) {
      items(inner, section, TokenKind::right_paren);
      if (!at_end() && !at(TokenKind::right_paren)) ++at_;
    }
    accept(TokenKind::right_paren);
    accept(TokenKind::semicolon);
    close_scope(inner);
    table_.scopes[inner].place.end = place(at_ > 0 ? at_ - 1 : 0).end;
    set_statement(module, first);
    for (const Kind kind : {Kind::port, Kind::parameter})
      for (std::uint32_t i = module.value + 1; i < table_.symbols.size(); ++i) {
        const Symbol& symbol = table_.symbols[SymbolId(i)];
        if (symbol.scope == inner && symbol.kind == kind)
          table_.symbols[module].arguments.push_back(kind == Kind::port ? symbol.name : symbol.name + " = ..");
      }
  }

  void read_ports(ScopeId scope) {
    ++at_;
    while (at_plain_name()) {
      const std::size_t first = at_;
      const SymbolId port = declare(scope, Kind::port);
      if (accept(TokenKind::colon)) scan(scope);
      set_statement(port, first);
      if (!accept(TokenKind::comma)) break;
    }
    accept(TokenKind::semicolon);
  }

  void read_mechanism(ScopeId scope) {
    const std::size_t first = at_++;
    if (!at_plain_name()) return scan_rest(scope);
    const SymbolId mechanism = declare(scope, Kind::mechanism);
    const ScopeId inner = open_inner(scope);
    table_.symbols[mechanism].members = inner;
    if (accept(TokenKind::left_paren)) {
      Section section = Section::mechanism;
      items(inner, section, TokenKind::right_paren);
      accept(TokenKind::right_paren);
      accept(TokenKind::semicolon);
    } else {
      scan_rest(scope);
    }
    close_scope(inner);
    set_statement(mechanism, first);
  }

  void read_part(ScopeId scope) {
    const std::size_t first = at_;
    const bool body = spells("body"), joint = spells("joint") || spells("loop");
    ++at_;
    if ((body || joint) && is_name(at_)) {
      const SymbolId part = declare(scope, body ? Kind::body : Kind::joint);
      if (joint && is_name(at_)) ++at_;  // revolute
      while (!at_end() && !at(TokenKind::semicolon) && !at(TokenKind::right_paren)) {
        if (is_name(at_)) {
          const bool frame = spells("from") || spells("to");
          const bool shape = spells("shape");
          ++at_;
          if ((frame && spells("world")) || (shape && is_name(at_))) ++at_;
        }
        const std::size_t before = at_;
        scan(scope);
        if (accept(TokenKind::dot_dot)) scan(scope);
        if (at_ == before && !at_end() && !is_name(at_) && !at(TokenKind::semicolon) && !at(TokenKind::right_paren))
          ++at_;
        if (at_ == before && is_name(at_) && word() != Word::none) ++at_;
      }
      accept(TokenKind::semicolon);
      return set_statement(part, first);
    }
    scan_rest(scope);
  }

  void read_use(ScopeId scope) {
    const std::size_t first = at_++;
    std::string path;
    if (at(TokenKind::string)) path = tokens_.strings[tokens_.list[at_++].value];
    SymbolId alias;
    if (spells("as") && is_name(at_ + 1)) {
      ++at_;
      alias = declare(scope, Kind::used_file);
    }
    accept(TokenKind::semicolon);
    if (alias.valid()) set_statement(alias, first);
    if (path.empty() || !read_file_) return;
    const std::optional<OtherFile> other = read_file_(path);
    if (!other) return;
    // Its own `use` leads no further here.
    const std::unique_ptr<NameTable> used = find_names(other->path, other->text);
    ScopeId target = scope;
    if (alias.valid()) {
      target = open_inner({});
      table_.scopes[target].place = {};
      table_.symbols[alias].members = target;
    }
    const auto file = static_cast<std::uint32_t>(table_.files.size());
    table_.files.push_back(*other);
    for (const Symbol& symbol : used->symbols) {
      const bool shown = symbol.kind == Kind::module || symbol.kind == Kind::function ||
                         symbol.kind == Kind::constant || symbol.kind == Kind::parameter;
      if (!shown || symbol.scope != ScopeId(0)) continue;
      const base::NameId name = table_.names.intern(symbol.name);
      if (!table_.scopes[target].names.emplace(name, SymbolId(table_.symbols.size())).second) continue;
      Symbol imported = symbol;
      imported.scope = target;
      imported.members = {};
      imported.instance_of = {};
      imported.file = file;
      table_.symbols.push(std::move(imported));
    }
  }

  // A name, and behind it anything: `event E when ..`, `energy H = ..`.
  void read_declared(ScopeId scope, Kind kind) {
    const std::size_t first = at_++;
    if (!at_plain_name()) return scan_rest(scope);
    const SymbolId symbol = declare(scope, kind);
    const ScopeId inner = open_inner(scope);
    read_family(inner);
    scan_rest(inner);
    close_scope(inner);
    set_statement(symbol, first);
  }

  // "[" NAME "in" range "]" behind a name.
  void read_family(ScopeId inner) {
    if (!at(TokenKind::left_bracket) || !is_name(at_ + 1) || word(2) != Word::in) return;
    ++at_;
    declare(inner, Kind::counter);
    ++at_;
    scan(inner);
    accept(TokenKind::right_bracket);
  }

  void read_automaton(ScopeId scope) {
    const std::size_t first = at_++;
    if (!at_plain_name()) return scan_rest(scope);
    const SymbolId automaton = declare(scope, Kind::automaton);
    const ScopeId family = open_inner(scope);
    read_family(family);
    const ScopeId modes = open_inner({});
    table_.scopes[modes].place = {};
    table_.symbols[automaton].members = modes;
    if (word() == Word::in) ++at_;
    while (at_plain_name() && !spells("from")) {
      const std::size_t mode = at_;
      const SymbolId symbol = declare(modes, Kind::mode);
      set_statement(symbol, mode);
      if (!accept(TokenKind::comma)) break;
    }
    if (spells("from")) {
      ++at_;
      while (at_plain_name()) {
        const std::size_t start = mention(modes);
        mentions_[start].own_scope_only = true;
        ++at_;
        if (word() == Word::when) {
          ++at_;
          scan(family);
        }
        if (!accept(TokenKind::comma)) break;
      }
    }
    if (!accept(TokenKind::semicolon)) skip_broken(family);
    close_scope(family);
    set_statement(automaton, first);
  }

  // transition, sequence, plan: a head, bodies, words between them.
  void read_jumps(ScopeId scope, Kind kind) {
    const std::size_t first = at_++;
    if (!at_plain_name()) return scan_rest(scope);
    const SymbolId symbol = declare(scope, kind);
    const ScopeId inner = open_inner(scope);
    read_family(inner);
    while (!at_end()) {
      if (accept(TokenKind::left_brace)) {
        read_jump_body(inner);
        const bool phase = word() == Word::for_ && word(2) != Word::in;
        if (word() != Word::until && word() != Word::else_ && !phase) break;
        ++at_;
      } else if (word() == Word::choose) {
        ++at_;
        while (at_plain_name()) {
          declare(inner, Kind::choice);
          accept(TokenKind::equal);
          scan(inner);
          if (!accept(TokenKind::comma)) break;
        }
      } else if (accept(TokenKind::semicolon)) {
        break;
      } else {
        const std::size_t before = at_;
        scan(inner);
        if (at_ > before || at(TokenKind::left_brace)) continue;
        const bool between = word() == Word::in || word() == Word::when || word() == Word::reaching ||
                             word() == Word::until || at(TokenKind::comma);
        if (!between) break;
        ++at_;
      }
    }
    close_scope(inner);
    set_statement(symbol, first);
  }

  void read_jump_body(ScopeId outer) {
    const Level level(depth_);
    const ScopeId scope = open_inner(outer);
    while (!at_end() && !at(TokenKind::right_brace) && depth_ < max_depth) {
      const std::size_t before = at_;
      const Word here = word();
      if (here == Word::unknown) {
        ++at_;
        while (at_plain_name()) {
          declare(scope, Kind::unknown);
          if (accept(TokenKind::tilde)) scan(scope);
          if (!accept(TokenKind::comma)) break;
        }
        accept(TokenKind::semicolon);
      } else if (here == Word::for_) {
        ++at_;
        const ScopeId loop = open_inner(scope);
        if (at_plain_name()) declare(loop, Kind::counter);
        scan(loop);
        if (accept(TokenKind::dot_dot)) scan(loop);
        if (accept(TokenKind::left_brace)) read_jump_body(loop);
        close_scope(loop);
      } else if (here == Word::keep || here == Word::enforce) {
        ++at_;
        if (spells("positions") || spells("velocities")) ++at_;
        scan_rest(scope);
      } else if (here == Word::goto_) {
        ++at_;
        scan_rest(scope);
      } else if (parse::begins_item(here)) {
        break;  // the brace was not closed
      } else {
        scan_rest(scope);
      }
      if (at_ == before) ++at_;
    }
    accept(TokenKind::right_brace);
    close_scope(scope);
  }

  void read_loop(ScopeId scope, Section& section) {
    ++at_;
    const ScopeId inner = open_inner(scope);
    if (at_plain_name()) declare(inner, Kind::counter);
    scan(inner);
    if (accept(TokenKind::left_brace)) {
      items(inner, section, TokenKind::right_brace);
      accept(TokenKind::right_brace);
    } else {
      accept(TokenKind::semicolon);
    }
    close_scope(inner);
  }

  // [ var "with" ] v(0) = e, ..
  void read_conditions(ScopeId scope) {
    const std::size_t first = at_;
    const std::size_t begin = mentions_.size();
    do {
      scan(scope, given_a_start);
      if (word() == Word::with) {
        ++at_;
        scan(scope, given_a_start);
      }
      if (accept(TokenKind::tilde)) scan(scope);
    } while (accept(TokenKind::comma));
    set_statements(begin, first);
    if (!accept(TokenKind::semicolon)) skip_broken(scope);
  }

  void set_statements(std::size_t begin, std::size_t first) {
    const Place statement{place(first).begin, place(at_ > first ? at_ - 1 : first).end};
    for (std::size_t i = begin; i < mentions_.size(); ++i) mentions_[i].statement = statement;
  }

  // What stands left of the first `=`: one name, perhaps with primes, or a tuple of names.
  Rank rank_of_left_side() const {
    std::size_t i = at_;
    const auto kind_at = [&](std::size_t index) { return tokens_.list[std::min(index, last_)].kind; };
    if (is_name(i)) {
      ++i;
      const bool primed = kind_at(i) == TokenKind::prime;
      while (kind_at(i) == TokenKind::prime) ++i;
      if (kind_at(i) == TokenKind::left_bracket && word_at(i + 2) == Word::in) return defined;
      if (kind_at(i) == TokenKind::equal) return primed ? derivative_defined : defined;
    }
    return mentioned;
  }

  void read_equation(ScopeId scope) {
    const std::size_t first = at_;
    const std::size_t begin = mentions_.size();
    const Rank rank = rank_of_left_side();
    ScopeId inner = scope;
    if (rank == mentioned && at(TokenKind::left_paren)) read_tuple(scope);
    if (rank == defined && kind(1) == TokenKind::left_bracket) {
      inner = open_inner(scope);
      mention(scope, defined);
      ++at_;
      read_family(inner);
    }
    // `s = Spring(..)` makes an instance.
    if (rank == defined) {
      const std::size_t equal = inner == scope ? at_ + 1 : at_;
      if (tokens_.list[std::min(equal, last_)].kind == TokenKind::equal && is_name(equal + 1)) {
        std::size_t behind = equal + 2;
        while (tokens_.list[std::min(behind, last_)].kind == TokenKind::dot) behind += 2;
        if (tokens_.list[std::min(behind, last_)].kind == TokenKind::left_paren)
          instances_.push_back({begin, place(behind - 1).begin});
      }
    }
    scan(inner, rank);
    while (word() == Word::rate || word() == Word::when || word() == Word::every) {
      ++at_;
      scan(inner);
    }
    set_statements(begin, first);
    if (inner != scope) close_scope(inner);
    if (!accept(TokenKind::semicolon)) skip_broken(scope);
  }

  // ( x, y ) = .. : marks the names; the scan behind reads the equation as any other.
  void read_tuple(ScopeId scope) {
    const std::size_t start = at_;
    std::vector<std::size_t> names;
    ++at_;
    while (at_plain_name()) {
      names.push_back(at_++);
      if (!accept(TokenKind::comma)) break;
    }
    const bool tuple = accept(TokenKind::right_paren) && at(TokenKind::equal);
    if (!tuple) {
      at_ = start;
      return;
    }
    const std::size_t behind = at_;
    for (const std::size_t name : names) {
      at_ = name;
      mention(scope, defined);
    }
    at_ = behind;
  }

  void read_behaviour(ScopeId scope) {
    const std::size_t first = at_;
    if (!at_plain_name() || (kind(1) != TokenKind::equal && kind(1) != TokenKind::left_bracket))
      return scan_rest(scope);
    const SymbolId behaviour = declare(scope, Kind::behaviour);
    const ScopeId inner = open_inner(scope);
    read_family(inner);
    accept(TokenKind::equal);
    if (word() == Word::init) {
      ++at_;
      if (at_plain_name() && kind(1) == TokenKind::equal) {
        declare(inner, Kind::argument);
        ++at_;
      }
      scan(scope);
      if (word() == Word::in) ++at_;
      if (accept(TokenKind::left_brace)) {
        while (!at_end() && !at(TokenKind::right_brace)) {
          const std::size_t before = at_;
          scan(inner);
          accept(TokenKind::fat_arrow);
          scan(inner);
          if (word() == Word::later) ++at_;
          if (!accept(TokenKind::comma)) accept(TokenKind::semicolon);
          if (parse::begins_item(word()) && word() != Word::for_) break;
          if (at_ == before) ++at_;
        }
        accept(TokenKind::right_brace);
      }
    } else {
      scan(inner);
    }
    close_scope(inner);
    set_statement(behaviour, first);
    if (!accept(TokenKind::comma)) accept(TokenKind::semicolon);
  }

  // -- who is meant
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

  // Statements in statements, at most; deeper ones are passed over.
  static constexpr int max_depth = 256;
  class Level {
   public:
    explicit Level(int& depth) : depth_(depth) { ++depth_; }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    int& depth_;
  };

  NameTable& table_;
  const lex::Tokens& tokens_;
  std::string_view text_;
  const ReadFile& read_file_;
  std::size_t last_ = 0;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::size_t last_option_ = no_token;  // the last word that was known by its place
  Word first_word_ = Word::none;
  parse::Surroundings around_ = parse::Surroundings::none;
  std::vector<Mention> mentions_;
  struct Instance {
    std::size_t target;    // the mention of its name
    std::uint32_t callee;  // where the module's name begins
  };
  std::vector<Instance> instances_;
  std::vector<std::pair<std::size_t, std::size_t>> instance_calls_;  // mentions
};

bool seen_from_a_module(Kind kind) {
  return kind == Kind::constant || kind == Kind::parameter || kind == Kind::function || kind == Kind::module ||
         kind == Kind::used_file;
}

}  // namespace

std::string_view describe(Kind kind) {
  constexpr std::string_view texts[] = {
      "variable",
      "parameter",
      "constant",
      "function",
      "argument",
      "counter",
      "module",
      "port",
      "device",
      "event",
      "behaviour",
      "automaton",
      "mode",
      "transition",
      "sequence",
      "plan",
      "energy",
      "power port",
      "mechanism",
      "body",
      "joint",
      "unknown of a jump",
      "choice of a plan",
      "property",
      "used file",
  };
  return texts[static_cast<std::size_t>(kind)];
}

const Occurrence* NameTable::at(std::uint32_t offset) const {
  auto after =
      std::upper_bound(occurrences.begin(), occurrences.end(), offset,
                       [](std::uint32_t o, const Occurrence& occurrence) { return o < occurrence.place.begin; });
  if (after == occurrences.begin()) return nullptr;
  --after;
  return offset <= after->place.end ? &*after : nullptr;
}

ScopeId NameTable::scope_at(std::uint32_t offset) const {
  // Scopes are opened in the order of the text: the last that holds the place is the innermost.
  for (std::size_t i = scopes.size(); i-- > 0;) {
    const Scope& scope = scopes[ScopeId(i)];
    const bool holds = scope.is_body && i != 0 ? offset > scope.place.begin && offset < scope.place.end
                                               : offset >= scope.place.begin && offset <= scope.place.end;
    if (holds && (scope.outer.valid() || i == 0)) return ScopeId(i);
  }
  return ScopeId(0);
}

SymbolId NameTable::find(base::NameId name, ScopeId from) const {
  bool outside_module = false;
  for (ScopeId at = from; at.valid(); at = scopes[at].outer) {
    const auto found = scopes[at].names.find(name);
    if (found != scopes[at].names.end() && (!outside_module || seen_from_a_module(symbols[found->second].kind)))
      return found->second;
    outside_module = outside_module || (scopes[at].is_body && scopes[at].outer.valid());
  }
  return {};
}

std::vector<SymbolId> NameTable::visible_from(ScopeId from) const {
  std::vector<SymbolId> all;
  for (std::uint32_t i = 0; i < symbols.size(); ++i) {
    const SymbolId id(i);
    const base::NameId name = names.find(symbols[id].name);
    // Only what the chain of scopes holds, and nearer ones hide farther ones.
    bool in_chain = false;
    for (ScopeId at = from; at.valid(); at = scopes[at].outer) in_chain = in_chain || at == symbols[id].scope;
    if (in_chain && name.valid() && find(name, from) == id) all.push_back(id);
  }
  return all;
}

ScopeId NameTable::members_of(SymbolId symbol) const {
  const Symbol& of = symbols[symbol];
  if (of.members.valid()) return of.members;
  return of.instance_of.valid() ? symbols[of.instance_of].members : ScopeId();
}

std::size_t NameTable::token_at(std::uint32_t offset) const {
  auto after = std::upper_bound(tokens.list.begin(), tokens.list.end(), offset,
                                [](std::uint32_t o, const lex::Token& token) { return o < token.begin; });
  if (after == tokens.list.begin()) return no_token;
  --after;
  // A name that ends here, before a sign that begins here, is what is meant.
  if (after->begin == offset && after != tokens.list.begin() && after->kind != lex::TokenKind::name) {
    const auto before = after - 1;
    if (before->end == offset) after = before;
  }
  if (offset > after->end || after->kind == lex::TokenKind::end) return no_token;
  return static_cast<std::size_t>(after - tokens.list.begin());
}

std::size_t NameTable::token_before(std::uint32_t offset) const {
  auto after = std::upper_bound(tokens.list.begin(), tokens.list.end(), offset,
                                [](std::uint32_t o, const lex::Token& token) { return o < token.end; });
  if (after != tokens.list.end() && after->kind == lex::TokenKind::end && after->end <= offset) ++after;
  std::size_t count = static_cast<std::size_t>(after - tokens.list.begin());
  while (count > 0 && (tokens.list[count - 1].kind == lex::TokenKind::end || tokens.list[count - 1].end > offset))
    --count;
  return count == 0 ? no_token : count - 1;
}

std::unique_ptr<NameTable> find_names(const std::string& path, const std::string& text, const ReadFile& read_file) {
  auto table = std::make_unique<NameTable>();
  diag::SourceMap sources;
  diag::Sink diags(1);
  table->dialect = parse::dialect_of(path);
  table->tokens = lex::lex(sources, sources.add(path, text), table->names, diags);
  const parse::Words words(table->names);
  table->words.assign(table->tokens.list.size(), parse::Word::none);
  for (std::size_t i = 0; i < table->words.size(); ++i) {
    const bool member = i > 0 && table->tokens.list[i - 1].kind == lex::TokenKind::dot;
    if (table->tokens.list[i].kind == lex::TokenKind::name && !member)
      table->words[i] = words.reserved(table->tokens.name(i), table->dialect);
  }
  Walker(*table, text, read_file).run();
  return table;
}

}  // namespace lsp
