// The words of src/words as strings: room for them is the host's to find.
#pragma once

#include <string>
#include <vector>

#include "words/failure.h"

namespace sim {

// What tk_describe_failure and tk_find_failed_evaluation try things out in.
inline std::vector<double> words_room(const tactus_model& model) {
  return std::vector<double>(tk_words_room(&model) / sizeof(double) + 1);
}

// What `write(tk_text* text, tk_text* hint)` writes, whole: it is called a second time where the first text was cut.
template <typename Write>
void write_words(std::string& text, std::string& hint, Write write) {
  text.resize(2048);
  hint.resize(1024);
  for (;;) {
    tk_text words = tk_text_in(text.data(), text.size());
    tk_text advice = tk_text_in(hint.data(), hint.size());
    write(&words, &advice);
    const bool is_whole = words.length < text.size() && advice.length < hint.size();
    text.resize(words.length + (is_whole ? 0 : 1));
    hint.resize(advice.length + (is_whole ? 0 : 1));
    if (is_whole) return;
  }
}

// What `write(tk_text*)` writes.
template <typename Write>
std::string in_words(Write write) {
  std::string text;
  std::string hint;
  write_words(text, hint, [&](tk_text* words, tk_text*) { write(words); });
  return text;
}

}  // namespace sim
