#include "mutate.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "compiler/check/builtins.h"
#include "compiler/parse/words.h"

namespace fuzz {
namespace {

constexpr std::string_view signs[] = {
    "+", "-", "*", "/", "^", "=", "<", "<=", ">", ">=", "!=", "&&", "||", "->", "=>", "~", ",", ":", ".", ".."};

constexpr std::string_view numbers[] = {"0",          "1",
                                        "2",          "-1",
                                        "3",          "0.5",
                                        "1e308",      "5e-324",
                                        "1e-9",       "2147483648",
                                        "4294967296", "9007199254740993",
                                        "1e18",       "9223372036854775807",
                                        "64",         "1000000",
                                        "0.1",        "1 [N/m]",
                                        "90 [deg]",   "2 [kHz]",
                                        "20 [degC]"};

// Words that are known by their place only.
constexpr std::string_view place_words[] = {"at",
                                            "from",
                                            "to",
                                            "as",
                                            "starting_time",
                                            "ending_time",
                                            "step_size",
                                            "solver",
                                            "tolerance",
                                            "record_period",
                                            "event_precision",
                                            "max_transitions",
                                            "rk4",
                                            "tsit5",
                                            "GUI",
                                            "ridl",
                                            "hand",
                                            "t",
                                            "pi",
                                            "sum",
                                            "next",
                                            "radius",
                                            "color",
                                            "sphere",
                                            "power",
                                            "phase1",
                                            "start",
                                            "book"};

// `$` is a name of the program, `#` a number, `@` an operand of some program.
constexpr std::string_view declarations[] = {
    "parameter $ = # in 0..#;",
    "parameter $ = @;",
    "constant $ = @;",
    "function $($, $) = @;",
    "event $ every #;",
    "event $ every # from #;",
    "event $ when @ > @;",
    "event $ at #, #;",
    "event $[i in 1..2] when @ > i;",
    "simulation starting_time = # ending_time = # step_size = #",
    "simulation solver = rk4, tolerance = #;",
    "external $ reads $ writes $ observes event $ rate #;",
    "external ridl reads $ writes $ observes event $ rate #",
    "boundary $(0) = @, $'(0) = @;",
    "boundary $ with $(0) = (#, #), $'(0) ~ @;",
    "system $ = @;",
    "system $' = @;",
    "system $'' + @ = 0;",
    "system ($, $) = @;",
    "system @ = @;",
    "system $[i in 1..3] = @;",
    "system $ = $($, $ = @);",
    "system $[i in 1..2] = $(i);",
    "system $ = integration(@);",
    "system $ = table(\"t.csv\")(@);",
    "system $ = delay(@, #) + noise(#);",
    "system $ = sum(i in 1..3: $[i] * @);",
    "system $ = if @ > @ then @ else @;",
    "system $ = diff(@, $);",
    "system $ = $.$;",
    "system $ = @ in 1..2;",
    "reactive $ = init # in { $ => @ }",
    "reactive $ = init $ = @ in { $ => @ later, $ => if @ > @ then @ else @ },",
    "reactive $ = @,",
    "reactive $[i in 1..2] = init i in { $ => $ + i }",
    "module $ = ( ports $, $ : 2; parameter $ = #; system $ = @; $' = @; );",
    "module $ = ( ports $; boundary $(0) = #; reactive $ = init 0 in { $ => @ } );",
    "for i in 1..3 { system $[i] = @; }",
    "use \"mechanics\";",
    "use \"mechanics\" as $;",
    "automaton $ in $, $;",
    "automaton $[i in 1..2] in $, $ from $ when @ > i, $;",
    "in $.$ { $ = @; }",
    "in $.$ || !$.$ require @ > @;",
    "transition $ in $.$ when @ > @ { next($') = @; goto $.$; }",
    "transition $[i in 1..2] when $ { unknown $ ~ @; next($) = @ + $; keep $; enforce velocities; }",
    "transition $ { for i in 1..2 { unknown $; $ = i * next($); goto $[i].$; } }",
    "sequence $ in $.$ when @ > @ { next($) = @; } until since(start) > # { goto $.$; } until @ > at(phase1, $) { }",
    "plan $ when @ > @ choose $ = @, $ = # { next($') = $; } for $ reaching $ = @ { goto $.$; } else { }",
    "plan $ choose $ = (#, #) { next($) = $; } for # reaching $ = at(start, @) { } for # { }",
    "require @ > @ else \"no\";",
    "expect $.$;",
    "stop when @ > @ \"done\";",
    "invariant @ = @;",
    "energy $ = @;",
    "power $: $ -> @;",
    "power $ -> @;",
    "module $ = ( system $' = $; energy $ = @; power $: $ -> @; ) system $ = $(); $ = $(); join $.$ to $.$;",
    "join $.$ to $ hold;",
    "join $.$ to $.$ extrapolate;",
    "guard $.$ reserve #;",
    "system $ = $() rate # [kHz];",
    "system $[i in 1..2] = $() rate # [Hz];",
    "storage ($, $) energy $ = @ structure J = ((0, @), (-@, 0)), R = ((0, 0), (0, @)), G = (0, @) power $: $ -> $;",
    "storage ($) energy $ structure J = 0, R = @;",
    "simulation solver = discrete_gradient step_size = #",
    "simulation solver = passive step_size = #",
    "simulation solver = rosenbrock tolerance = # max_transitions = #",
    "scene sphere at $ radius #;",
    "check $: always[0..1](@ > @);",
    "check $ -> eventually[#..#]($.$ until next(@) > @);",
    "check $.phase1 || $.failed -> $.Idle;",
};

// Whole parts that compile by themselves, in front of or behind any program: `%` is a number that the names of the part
// end with, so that they are its own; `$`, `#` and `@` as above. What reads `@` may be refused, what stands beside it
// is not.
constexpr std::string_view parts[] = {
    "boundary q%(0) = 1; p%(0) = 0; system q%' = p%; p%' = -q%; energy H% = p%^2 / 2 + q%^2 / 2;",
    "boundary q%(0) = 1; p%(0) = 0; system q%' = p%; p%' = -sin(q%) - p% / # + @; energy H% = p%^2 / 2 - cos(q%);",
    "boundary q%(0) = 1; p%(0) = 0; system storage (q%, p%) energy H% = p%^2 / 2 - cos(q%) structure J = ((0, 1), (-1, "
    "0)), R = ((0, 0), (0, 0.2)), G = (0, 1) power m%: F% -> v%; F% = @;",
    "module S% = ( boundary q(0) = 0; system q' = v; F = q; energy H = q^2 / 2; power end: v -> F; ) module M% = ( "
    "boundary p(0) = 2; system p' = F; v = p / 2; energy H = p^2 / 4; power end: F -> v; ) system s% = S%(); m% = "
    "M%(); join s%.end to m%.end;",
    "module S% = ( boundary q(0) = 0; system q' = v; F = q; energy H = q^2 / 2; power end: v -> F; ) module M% = ( "
    "boundary p(0) = 2; system p' = F; v = p / 2; energy H = p^2 / 4; power end: F -> v; ) system s% = S%() rate 1 "
    "[kHz]; m% = M%() rate 20 [Hz]; join s%.end to m%.end;",
    "module S% = ( boundary q(0) = 0; system q' = v; F = 40 * q - # * v; power end: v -> F; ) module M% = ( boundary "
    "p(0) = 1; system p' = F; v = p; energy H = p^2 / 2; power end: F -> v; ) system s% = S%(); m% = M%(); join s%.end "
    "to m%.end; guard s%.end;",
    "boundary y% with y%(0) = 1, y%'(0) = 0; system y%'' = -9.81; transition B% when y% <= 0 && y%' < 0 { next(y%') = "
    "-0.7 * y%'; } check B% -> next(y%') > -y%' / 2;",
    "automaton a% in On, Off from On; boundary z%(0) = 0; in a%.On { z%' = 1; } in a%.Off { z%' = @; } transition U% "
    "in a%.On when z% > 1 { goto a%.Off; } transition D% in a%.Off when z% < 0.5 { goto a%.On; }",
    "automaton a% in L, R from L; boundary z%(0) = 0; z%'(0) = 1; in a%.L { z%'' = -z% + @; } in a%.R { z%' = 2 - z%; "
    "} transition T% in a%.L when z% > # { goto a%.R; keep z%; } transition V% in a%.R when t > # { goto a%.L; "
    "next(z%') = @; }",
    "boundary x%(0) = 1; y%(0) = 0; x%'(0) = 0; y%'(0) ~ 0; system x%'' = -l% * x%; y%'' = -l% * y% - 9.81; x%^2 + "
    "y%^2 = 1;",
    "boundary v%(0) = 1; system v%' = -0.5 * sign(v%) + @; transition K% when v% > # { next(v%) = -v%; enforce "
    "velocities; }",
    "system w%^3 + w% = sin(t) + @; u% = exp(-w%) * w%'; boundary w%(0) ~ 0;",
    "plan P% when t > 0.2 choose c% = 1 { next(r%) = c%; } for 0.3 reaching r% = 0.5 { } else { } boundary r%(0) = 1; "
    "system r%' = -r%;",
    "sequence Q% when r% < 0.5 { next(r%) = 1; } until since(start) > 0.1 { } boundary r%(0) = 1; system r%' = -r%;",
    "parameter k% = 2 in 0..#; event e% every 0.1 reactive n% = init 0 in { e% => n% + k% } system d% = delay(n%, 0.2) "
    "+ integration(@);",
    "external hand reads u% writes force = -f% boundary b%(0) = 0; b%'(0) = 0; system f% = 4 * (u% - b%) + u%' - b%'; "
    "b%'' = f%;",
    "boundary g%(0) = 0, g%(1) = 1; system g%'' = -g% + @;",
};

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word(std::string_view text) { return std::ranges::find(parse::spellings(), text) != parse::spellings().end(); }

bool is_operand(PieceKind kind) {
  return kind == PieceKind::name || kind == PieceKind::number || kind == PieceKind::text;
}

std::size_t blanks_end(std::string_view text, std::size_t i) {
  while (i < text.size()) {
    if (std::isspace(static_cast<unsigned char>(text[i]))) {
      ++i;
    } else if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i, 2) == "/*") {
      const std::size_t end = text.find("*/", i + 2);
      i = end == std::string_view::npos ? text.size() : end + 2;
    } else {
      break;
    }
  }
  return i;
}

std::size_t number_end(std::string_view text, std::size_t i) {
  while (i < text.size() && (is_digit(text[i]) || (text[i] == '.' && i + 1 < text.size() && is_digit(text[i + 1]))))
    ++i;
  if (i + 1 < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    const std::size_t exponent = i + 1 + (text[i + 1] == '-' || text[i + 1] == '+');
    if (exponent < text.size() && is_digit(text[exponent])) {
      i = exponent;
      while (i < text.size() && is_digit(text[i])) ++i;
    }
  }
  return i;
}

// The piece behind the bracket that closes the one at `open`, or the end.
std::size_t behind_bracket(const Pieces& pieces, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < pieces.size(); ++i) {
    if (pieces[i].kind == PieceKind::open) ++depth;
    if (pieces[i].kind == PieceKind::close && --depth == 0) return i + 1;
  }
  return pieces.size();
}

Pieces part(const Pieces& pieces, std::size_t begin, std::size_t end) {
  return {pieces.begin() + static_cast<std::ptrdiff_t>(begin), pieces.begin() + static_cast<std::ptrdiff_t>(end)};
}

void replace(Pieces& pieces, std::size_t begin, std::size_t end, const Pieces& with) {
  pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(begin), pieces.begin() + static_cast<std::ptrdiff_t>(end));
  pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(begin), with.begin(), with.end());
}

}  // namespace

Pieces cut(std::string_view text) {
  Pieces pieces;
  for (std::size_t i = 0;;) {
    const std::size_t begin = blanks_end(text, i);
    Piece piece{PieceKind::blank, std::string(text.substr(i, begin - i)), ""};
    if (begin >= text.size()) {
      if (!piece.before.empty()) pieces.push_back(std::move(piece));
      return pieces;
    }
    const char c = text[begin];
    std::size_t end = begin + 1;
    if (is_letter(c)) {
      while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
      piece.kind = is_word(text.substr(begin, end - begin)) ? PieceKind::word : PieceKind::name;
    } else if (is_digit(c)) {
      end = number_end(text, begin);
      piece.kind = PieceKind::number;
    } else if (c == '"') {
      while (end < text.size() && text[end] != '"' && text[end] != '\n') end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
      piece.kind = PieceKind::text;
    } else if (c == '(' || c == '[' || c == '{') {
      piece.kind = PieceKind::open;
    } else if (c == ')' || c == ']' || c == '}') {
      piece.kind = PieceKind::close;
    } else if (c == ';') {
      piece.kind = PieceKind::separator;
    } else {
      piece.kind = PieceKind::sign;
      const std::string_view two = text.substr(begin, 2);
      if (two == "<=" || two == ">=" || two == "!=" || two == "&&" || two == "||" || two == "->" || two == "=>" ||
          two == "..")
        ++end;
    }
    piece.token = text.substr(begin, end - begin);
    pieces.push_back(std::move(piece));
    i = end;
  }
}

std::string join(const Pieces& pieces) {
  std::string text;
  for (const Piece& piece : pieces) {
    // Names that came together by a change stay apart.
    if (piece.before.empty() && !text.empty() && !piece.token.empty() &&
        (is_letter(text.back()) || is_digit(text.back())) &&
        (is_letter(piece.token.front()) || is_digit(piece.token.front())))
      text += ' ';
    text += piece.before;
    text += piece.token;
  }
  return text;
}

Mutator::Mutator() {
  seen_operands_.push_back(cut("x"));
  remember(cut(
      "system x' = sin(t) + 2 * y; (a, b) = (x, -y); p'' = direction(p) / norm(p)^2; m = ((1, 0), (0, 1)) * (x, y);"));
}

std::vector<Mutator::Range> Mutator::statements(const Pieces& pieces) {
  std::vector<Range> found;
  std::vector<std::size_t> begins = {0};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    if (piece.kind == PieceKind::open) {
      begins.push_back(i + 1);
    } else if (piece.kind == PieceKind::close && begins.size() > 1) {
      if (begins.back() < i) found.push_back({begins.back(), i});
      begins.pop_back();
      if (piece.token == "}") {
        found.push_back({begins.back(), i + 1});
        begins.back() = i + 1;
      }
    } else if (piece.kind == PieceKind::separator) {
      if (begins.back() < i + 1) found.push_back({begins.back(), i + 1});
      begins.back() = i + 1;
    } else if (piece.token == "," && begins.back() < i) {
      found.push_back({begins.back(), i + 1});
      begins.back() = i + 1;
    }
  }
  if (begins.back() < pieces.size() || found.empty())
    found.push_back({std::min(begins.back(), pieces.size()), pieces.size()});
  return found;
}

// A name, number or group with what is behind it: primes, indices, arguments, members.
Mutator::Range Mutator::some_operand(const Pieces& pieces) {
  for (int tries = 0; tries < 16; ++tries) {
    const std::size_t begin = below(pieces.size());
    if (begin >= pieces.size() || !(is_operand(pieces[begin].kind) || pieces[begin].token == "(")) continue;
    std::size_t end = pieces[begin].kind == PieceKind::open ? behind_bracket(pieces, begin) : begin + 1;
    while (end < pieces.size()) {
      if (pieces[end].token == "'") {
        ++end;
      } else if (pieces[end].token == "(" || pieces[end].token == "[") {
        end = behind_bracket(pieces, end);
      } else if (pieces[end].token == "." && end + 1 < pieces.size() && pieces[end + 1].kind == PieceKind::name) {
        end += 2;
      } else {
        break;
      }
    }
    // Sometimes with the operand behind the next operator.
    if (below(3) == 0 && end + 1 < pieces.size() && pieces[end].kind == PieceKind::sign &&
        is_operand(pieces[end + 1].kind))
      end += 2;
    return {begin, end};
  }
  return {0, 0};
}

void Mutator::remember(const Pieces& pieces) {
  constexpr std::size_t most = 4000;
  const auto keep = [&](std::vector<Pieces>& list, Pieces item) {
    if (item.empty() || item.size() > 60) return;
    if (list.size() < most)
      list.push_back(std::move(item));
    else
      list[below(most)] = std::move(item);
  };
  const std::vector<Range> ranges = statements(pieces);
  for (int i = 0; i < 2 && !ranges.empty(); ++i) {
    const Range range = any(ranges);
    keep(seen_statements_, part(pieces, range.begin, range.end));
  }
  for (int i = 0; i < 2; ++i) {
    const Range range = some_operand(pieces);
    keep(seen_operands_, part(pieces, range.begin, range.end));
  }
}

std::string Mutator::name_of(const Pieces& pieces) {
  for (int tries = 0; tries < 12 && !pieces.empty(); ++tries) {
    const Piece& piece = any(pieces);
    if (piece.kind == PieceKind::name) return piece.token;
  }
  constexpr std::string_view fresh[] = {"x", "y", "k", "E", "M", "p", "a"};
  return std::string(any(fresh));
}

Piece Mutator::replacement(const Pieces& pieces, const Piece& piece) {
  Piece result = piece;
  switch (piece.kind) {
    case PieceKind::name:
      if (below(6) == 0)
        result.token = any(check::builtins).name;
      else if (below(8) == 0)
        result.token = any(place_words);
      else
        result.token = name_of(pieces);
      break;
    case PieceKind::number:
      result.token = any(numbers);
      break;
    case PieceKind::word:
      result.token = any(parse::spellings());
      break;
    case PieceKind::sign:
      result.token = any(signs);
      break;
    default:
      result.token = below(2) ? std::string(any(numbers)) : name_of(pieces);
  }
  return result;
}

Pieces Mutator::declaration(const Pieces& pieces) {
  std::string text = "\n";
  const std::string number = std::to_string(below(1000));
  for (const char c : below(4) == 0 ? any(parts) : any(declarations)) {
    if (c == '%')
      text += number;
    else if (c == '$')
      text += name_of(pieces);
    else if (c == '#')
      text += any(numbers);
    else if (c == '@')
      text += below(2) ? join(any(seen_operands_)) : name_of(pieces);
    else
      text += c;
  }
  return cut(text);
}

Pieces Mutator::wrapped_statement(const Pieces& pieces, Range range) {
  const std::string inner = join(part(pieces, range.begin, range.end));
  const std::string name = name_of(pieces);
  switch (below(6)) {
    case 0:
      return cut("\nmodule W = ( ports " + name + ", q; system " + inner + " );\nsystem w = W(" + name_of(pieces) +
                 ");\n");
    case 1:
      return cut("\nfor i in 1.." + std::string(any(numbers)) + " { " + inner + " }\n");
    case 2:
      return cut("\nfor " + name + " in 1..2 { " + inner + " }\n");
    case 3:
      return cut("\nmodule " + name + " = ( " + inner + " )\nsystem w[i in 1..2] = " + name + "();\n");
    case 4:
      return cut("\nreactive " + name + " = init 0 in { " + name_of(pieces) + " => " + inner + " }\nsystem ");
    default:
      return cut("\nin " + name + ".M { " + inner + " }\n");
  }
}

Pieces Mutator::wrapped_operand(const Pieces& pieces, Range range) {
  const std::string inner = join(part(pieces, range.begin, range.end));
  switch (below(10)) {
    case 0:
      return cut(" if " + name_of(pieces) + " > 0 then " + inner + " else " + join(any(seen_operands_)));
    case 1:
      return cut(" (" + inner + ", " + join(any(seen_operands_)) + ")");
    case 2:
      return cut(" (" + inner + ")'");
    case 3:
      return cut(inner + "[" + std::string(any(numbers)) + "]");
    case 4:
      return cut(inner + "." + name_of(pieces));
    case 5:
      return cut(" sum(i in 1..3: " + inner + ")");
    case 6:
      return cut(" -" + inner + "^" + std::string(any(numbers)));
    case 7:
      return cut(" (" + inner + " > " + name_of(pieces) + ")");
    default: {
      const check::BuiltinRow& row = any(check::builtins);
      std::string call = " " + std::string(row.name) + "(" + inner;
      for (int i = 1; i < row.fewest; ++i) call += ", " + (below(2) ? join(any(seen_operands_)) : name_of(pieces));
      return cut(call + ")");
    }
  }
}

void Mutator::change(Pieces& pieces) {
  if (pieces.empty()) {
    pieces = declaration(pieces);
    return;
  }
  const std::vector<Range> ranges = statements(pieces);
  const std::size_t place = below(pieces.size());
  const auto place_of = [&](std::size_t index) { return pieces.begin() + static_cast<std::ptrdiff_t>(index); };
  switch (below(24)) {
    case 19:
    case 20:
    case 21: {
      // What most programs survive: another number.
      for (int tries = 0; tries < 16; ++tries) {
        Piece& piece = pieces[below(pieces.size())];
        if (piece.kind != PieceKind::number) continue;
        piece.token = any(numbers);
        break;
      }
      break;
    }
    case 22: {
      // One operand in the place of another.
      const Range to = some_operand(pieces);
      const Range from = some_operand(pieces);
      if (to.end > to.begin && from.end > from.begin)
        replace(pieces, to.begin, to.end, part(pieces, from.begin, from.end));
      break;
    }
    case 0:
      pieces.erase(place_of(place));
      break;
    case 1: {
      const Piece copy = pieces[place];
      pieces.insert(place_of(place), copy);
      break;
    }
    case 2:
      std::swap(pieces[place].token, pieces[below(pieces.size())].token);
      break;
    case 3:
    case 4:
    case 5:
      pieces[place] = replacement(pieces, pieces[place]);
      break;
    case 6: {
      const Piece fresh = replacement(pieces, any(pieces));
      pieces.insert(place_of(place), fresh);
      break;
    }
    case 7:
      if (is_operand(pieces[place].kind)) pieces.insert(place_of(place + 1), {PieceKind::sign, "", "'"});
      break;
    case 8: {
      const Range range = any(ranges);
      replace(pieces, range.begin, range.end, {});
      break;
    }
    case 9: {
      const Range range = any(ranges);
      replace(pieces, range.end, range.end, part(pieces, range.begin, range.end));
      break;
    }
    case 10: {
      const Range from = any(ranges);
      const Pieces moved = part(pieces, from.begin, from.end);
      const std::size_t to = any(ranges).end;
      replace(pieces, to, to, moved);
      if (to >= from.end) replace(pieces, from.begin, from.end, {});
      break;
    }
    case 11:
    case 12: {
      const std::size_t to = any(ranges).end;
      if (!seen_statements_.empty()) replace(pieces, to, to, any(seen_statements_));
      break;
    }
    case 13:
    case 14: {
      const std::size_t to = any(ranges).end;
      replace(pieces, to, to, declaration(pieces));
      break;
    }
    case 15: {
      const Range range = any(ranges);
      replace(pieces, range.begin, range.end, wrapped_statement(pieces, range));
      break;
    }
    case 16:
    case 17: {
      const Range range = some_operand(pieces);
      if (range.end > range.begin) replace(pieces, range.begin, range.end, wrapped_operand(pieces, range));
      break;
    }
    case 18: {
      const Range range = some_operand(pieces);
      if (range.end > range.begin) replace(pieces, range.begin, range.end, any(seen_operands_));
      break;
    }
    default: {
      // One name becomes another everywhere.
      const std::string from = name_of(pieces);
      const std::string to = name_of(pieces);
      for (Piece& piece : pieces)
        if (piece.token == from) piece.token = to;
    }
  }
}

std::string Mutator::mutate(std::string_view text) {
  Pieces pieces = cut(text);
  if (!pieces.empty()) remember(pieces);
  for (std::size_t i = 0, count = 1 + below(5); i < count; ++i) change(pieces);
  return join(pieces);
}

std::string Mutator::cross(std::string_view text, std::string_view other) {
  Pieces pieces = cut(text);
  const Pieces others = cut(other);
  if (pieces.empty() || others.empty()) return std::string(text);
  const std::vector<Range> givers = statements(others);
  for (std::size_t i = 0, count = 1 + below(4); i < count; ++i) {
    const std::vector<Range> takers = statements(pieces);
    if (takers.empty()) break;
    const Range from = any(givers);
    const Range to = any(takers);
    replace(pieces, below(2) ? to.begin : to.end, to.end, part(others, from.begin, from.end));
  }
  return join(pieces);
}

}  // namespace fuzz
