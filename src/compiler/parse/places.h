// Words that are known by their place only: names everywhere but in these statements, behind an operand. The layout and
// the editor's tables read them; the parser's productions spell their own.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

#include "compiler/parse/words.h"

namespace parse {

// What stands around a statement and gives its words a meaning.
enum class Surroundings { none, scene, mechanism };

namespace places {
inline constexpr std::string_view drawing[] = {"at",       "from",  "to",    "along",  "size",  "radius",
                                               "rotation", "color", "scale", "height", "follow"};
// What begins a drawing; other words are reported by `check`.
inline constexpr std::string_view drawing_kinds[] = {"sphere", "box",    "cylinder", "spring", "arrow", "trace",
                                                     "text",   "ground", "mesh",     "camera", "plot",  "robot"};
inline constexpr std::string_view part[] = {"mass", "com",  "inertia", "at",       "rotation", "shape",  "from",
                                            "to",   "axis", "damping", "friction", "dh",       "limits", "driven"};
inline constexpr std::string_view interact[] = {"push", "pull", "damping", "at", "while"};
inline constexpr std::string_view apply[] = {"at", "on"};
inline constexpr std::string_view event[] = {"at", "from"};
inline constexpr std::string_view automaton[] = {"from"};
inline constexpr std::string_view join[] = {"to", "hold", "extrapolate", "passive"};
inline constexpr std::string_view use[] = {"as"};
}  // namespace places

// `first` is the reserved word that begins the statement, none for an entry.
constexpr bool is_known_by_place(std::string_view spelled, Word first, Surroundings around) {
  const auto among = [&](const auto& words) {
    return std::find(std::begin(words), std::end(words), spelled) != std::end(words);
  };
  switch (first) {
    case Word::interact:
      return among(places::interact);
    case Word::apply:
      return among(places::apply);
    case Word::event:
      return among(places::event);
    case Word::automaton:
      return among(places::automaton);
    case Word::join:
      return among(places::join);
    case Word::use:
      return among(places::use);
    case Word::none:
      if (around == Surroundings::scene) return among(places::drawing);
      return around == Surroundings::mechanism && among(places::part);
    default:
      return false;
  }
}

}  // namespace parse
