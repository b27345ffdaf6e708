// write_dictionary FILE: the words, functions and signs of the language, as a dictionary of libFuzzer.
#include <fstream>
#include <string_view>

#include "compiler/check/builtins.h"
#include "compiler/lex/lex.h"
#include "compiler/parse/words.h"

int main(int count, char** arguments) {
  if (count != 2) return 2;
  std::ofstream file(arguments[1]);
  const auto write = [&](std::string_view text) { file << '"' << text << "\"\n"; };
  for (const std::string_view word : parse::spellings()) write(word);
  for (const check::BuiltinRow& row : check::builtins) write(std::string(row.name) + "(");
  for (int kind = static_cast<int>(lex::TokenKind::plus); kind <= static_cast<int>(lex::TokenKind::right_brace);
       ++kind) {
    const std::string_view described = lex::describe(static_cast<lex::TokenKind>(kind));
    if (described.size() > 2 && described.front() == '`') write(described.substr(1, described.size() - 2));
  }
  for (const char* text :
       {"1e308", "5e-324", "-1", "0", "1..3", "[N/m]", "[i in 1..3]", "velocities", "start", "phase1", ".phase1",
        ".failed", ".Idle", "always[0..1](", "\\x0a", "//= a.ridl\\x0a", "//set k=2\\x0a"})
    write(text);
  return file.good() ? 0 : 1;
}
