// A text -> its layout. Tokens and comments stay, in their order; laying out once more changes nothing; only a mistake
// of the lexer stops it. The first line chooses the kind of file (parts.h).
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "compiler/format/format.h"
#include "compiler/lex/lex.h"
#include "compiler/source/source.h"
#include "cpu_limit.h"
#include "must.h"
#include "parts.h"

namespace {

using fuzz::must;

struct Laid {
  diag::SourceMap sources;
  diag::Sink diags;
  std::optional<std::uint32_t> file;
  std::optional<std::string> text;

  Laid(const std::string& name, const std::string& before) {
    file = source::add(name, before, sources, diags);
    if (file) text = format::format(*file, sources, diags);
  }
};

std::string without_blanks(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (!std::isspace(static_cast<unsigned char>(c))) result += c;
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::CpuLimit limit;
  const fuzz::Input input = fuzz::take_apart({reinterpret_cast<const char*>(data), size});
  for (const fuzz::Part& part : input.parts) {
    const Laid once(part.name, part.text);
    if (!once.file) continue;
    must(once.text.has_value() != once.diags.has_errors(), "a text is laid out if and only if nothing is wrong with it",
         part.text);
    if (!once.text) continue;
    // The source map's text: without the byte order mark.
    must(without_blanks(*once.text) == without_blanks(once.sources.text(*once.file)), "layout changes blanks only",
         *once.text);
    const Laid twice(part.name, *once.text);
    must(twice.text == once.text, "laid out twice is laid out once",
         *once.text + "\n-----\n" + twice.text.value_or("nothing"));
  }
  return 0;
}
