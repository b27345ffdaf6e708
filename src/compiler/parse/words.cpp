#include "compiler/parse/words.h"

#include <iterator>

namespace parse {
namespace {

// In the order of Word.
constexpr std::string_view texts[] = {
    "",           "simulation", "external", "boundary", "system",    "module",    "ports",    "reads",    "writes",
    "observes",   "event",      "rate",     "when",     "with",      "if",        "then",     "else",     "init",
    "in",         "later",      "reactive", "scene",    "check",     "parameter", "constant", "function", "automaton",
    "transition", "sequence",   "plan",     "energy",   "mechanism", "use",       "for",      "goto",     "keep",
    "enforce",    "unknown",    "require",  "expect",   "stop",      "join",      "interact", "apply",    "invariant",
    "until",      "choose",     "reaching", "every",    "true",      "false",
};
static_assert(std::size(texts) == static_cast<std::size_t>(Word::false_) + 1);

}  // namespace

std::span<const std::string_view> spellings() { return std::span(texts).subspan(1); }

Words::Words(base::Names& names) {
  for (std::size_t i = 1; i < std::size(texts); ++i) {
    const base::NameId name = names.intern(texts[i]);
    if (name.value >= words_.size()) words_.resize(name.value + 1, Word::none);
    words_[name.value] = static_cast<Word>(i);
  }
}

}  // namespace parse
