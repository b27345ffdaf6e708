// The words of the language and where they are reserved.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "compiler/parse/parse.h"

namespace parse {

enum class Word : std::uint8_t {
  none,
  // reserved in every kind of file
  simulation,
  external,
  boundary,
  system,
  module,
  ports,
  reads,
  writes,
  observes,
  event,
  rate,
  when,
  with,
  if_,
  then,
  else_,
  init,
  in,
  later,
  // reserved in .tact besides
  reactive,
  scene,
  check,
  parameter,
  constant,
  function,
  automaton,
  transition,
  sequence,
  plan,
  energy,
  mechanism,
  use,
  for_,
  goto_,
  keep,
  enforce,
  unknown,
  require,
  expect,
  stop,
  join,
  interact,
  apply,
  invariant,
  until,
  choose,
  reaching,
  every,
  true_,
  false_,
};

// All words, as they are written.
std::span<const std::string_view> spellings();

// Looks words up by their name id.
class Words {
 public:
  explicit Words(base::Names& names);
  // The word with this spelling, reserved or not.
  Word spelled(base::NameId name) const { return name.value < words_.size() ? words_[name.value] : Word::none; }
  // The same if `dialect` reserves it, else none.
  Word reserved(base::NameId name, Dialect dialect) const {
    const Word word = spelled(name);
    return dialect == Dialect::tact || word <= Word::later ? word : Word::none;
  }

 private:
  std::vector<Word> words_;
};

// Opens a section: may stand where a `;` is missing.
constexpr bool is_opening(Word word) {
  return word == Word::simulation || word == Word::external || word == Word::boundary || word == Word::system ||
         word == Word::reactive || word == Word::scene || word == Word::check;
}

// Begins an item and stands nowhere else, so that the parser can resume there.
constexpr bool begins_item(Word word) {
  switch (word) {
    case Word::module:
    case Word::event:
    case Word::parameter:
    case Word::constant:
    case Word::function:
    case Word::automaton:
    case Word::transition:
    case Word::sequence:
    case Word::plan:
    case Word::energy:
    case Word::mechanism:
    case Word::use:
    case Word::for_:
    case Word::require:
    case Word::expect:
    case Word::stop:
    case Word::join:
    case Word::interact:
    case Word::apply:
    case Word::invariant:
      return true;
    default:
      return is_opening(word);
  }
}

}  // namespace parse
