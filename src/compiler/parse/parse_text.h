// For tests: a text, its tree and what was reported about it.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "compiler/lex/lex.h"
#include "compiler/parse/parse.h"
#include "compiler/source/source.h"

namespace parse {

struct ParsedText {
  diag::SourceMap sources;
  diag::Sink diags{1000};
  base::Names names;
  Tree tree;

  explicit ParsedText(std::string text, Dialect dialect = Dialect::tact) {
    const auto file = source::add("a.tact", std::move(text), sources, diags);
    if (file) tree = parse(lex::lex(sources, *file, names, diags), sources, names, diags, dialect);
  }

  // "P002@3:7 P017@4:1"
  std::string reports() const {
    std::string all;
    for (const diag::Diagnostic& diagnostic : diags.diagnostics()) {
      const diag::Position place = sources.position(diagnostic.span.file, diagnostic.span.begin);
      all += fmt::format("{}{}@{}:{}", all.empty() ? "" : " ", diagnostic.code, place.line, place.column);
    }
    return all;
  }

  std::string dumped() const { return dump(tree, names); }
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::filesystem::path testdata() {
  return std::filesystem::path(TACTUS_SOURCE_DIR) / "src/compiler/parse/testdata";
}

}  // namespace parse
