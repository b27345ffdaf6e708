// Names of every program of the repository, whole and damaged: whatever the text, every occurrence is written as its symbol is
// called, and lies in the text.
#include "lsp/names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace lsp {
namespace {

namespace fs = std::filesystem;

std::vector<std::pair<std::string, std::string>> programs() {
  std::vector<std::pair<std::string, std::string>> found;
  for (const char* folder : {"examples", "src"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TACTUS_SOURCE_DIR) / folder)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".tact" && extension != ".phydl" && extension != ".ridl") continue;
      std::ifstream file(entry.path(), std::ios::binary);
      std::stringstream text;
      text << file.rdbuf();
      found.emplace_back(entry.path().string(), text.str());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

void expect_sound(const std::string& path, const std::string& text) {
  const auto names = find_names(path, text);
  std::uint32_t last = 0;
  for (const Occurrence& occurrence : names->occurrences) {
    ASSERT_LE(occurrence.place.end, text.size());
    ASSERT_LE(last, occurrence.place.begin) << "in order, none twice: " << path;
    last = occurrence.place.end;
    const Symbol& symbol = names->symbols[occurrence.symbol];
    ASSERT_EQ(text.substr(occurrence.place.begin, occurrence.place.end - occurrence.place.begin), symbol.name) << path;
  }
  for (const Symbol& symbol : names->symbols) {
    ASSERT_LE(symbol.statement.begin, symbol.place.begin) << symbol.name << " in " << path;
    ASSERT_LE(symbol.place.end, symbol.statement.end) << symbol.name << " in " << path;
  }
  for (std::uint32_t offset = 0; offset <= text.size(); offset += 1 + static_cast<std::uint32_t>(text.size()) / 50) {
    names->visible_from(names->scope_at(offset));
    names->at(offset);
    names->token_at(offset);
    names->token_before(offset);
  }
}

TEST(Names, AreSoundInEveryProgram) {
  for (const auto& [path, text] : programs()) expect_sound(path, text);
}

TEST(Names, AreSoundInDamagedPrograms) {
  const auto all = programs();
  ASSERT_GT(all.size(), 80u);
  std::mt19937 random(5);  // its sequence is the same on every platform
  const auto below = [&](std::size_t bound) { return bound == 0 ? 0 : random() % bound; };
  constexpr std::string_view pieces[] = {"(",
                                         ")",
                                         "{",
                                         "}",
                                         "[",
                                         "]",
                                         ";",
                                         ",",
                                         ".",
                                         "=",
                                         "for",
                                         "module M = (",
                                         "sum(i in 1..",
                                         "system",
                                         "plan",
                                         "until",
                                         "in",
                                         "\"",
                                         "'",
                                         "choose",
                                         "unknown",
                                         "external",
                                         "use \"x\" as"};
  for (int round = 0; round < 3000; ++round) {
    auto [path, text] = all[below(all.size())];
    for (std::size_t k = 1 + below(5); k > 0; --k) {
      const std::size_t place = below(text.size() + 1);
      if (below(2) == 0)
        text.erase(place, below(30));
      else
        text.insert(place, pieces[below(std::size(pieces))]);
    }
    expect_sound(path, text);
    if (HasFatalFailure()) return;
  }
}

// "x@3": the symbol's kind and the line of its definition.
std::string meaning(const std::string& text, const std::string& before, std::size_t shift = 0) {
  const auto names = find_names("a.tact", text);
  const Occurrence* found = names->at(static_cast<std::uint32_t>(text.find(before) + before.size() + shift));
  if (!found) return "nothing";
  const Symbol& symbol = names->symbols[found->symbol];
  const auto line = std::count(text.begin(), text.begin() + symbol.place.begin, '\n') + 1;
  return std::string(describe(symbol.kind)) + "@" + std::to_string(line);
}

TEST(Names, OfAJumpAndAPlan) {
  const std::string text =
      "system\n"
      "  u' = 0;\n"
      "  plan Trip in ship.Docked when go\n"
      "    choose th = 0.2, T1 = 8 {\n"
      "    next(u) = cos(th);\n"
      "  } for T1 reaching u = 3 { unknown J; next(u) = J; }\n"
      "automaton ship in Docked, Burn from Burn when u > 0;\n"
      "event go at 5;\n";
  EXPECT_EQ(meaning(text, "cos("), "choice of a plan@4");
  EXPECT_EQ(meaning(text, "for "), "choice of a plan@4");
  EXPECT_EQ(meaning(text, "next(u) = J; }", static_cast<std::size_t>(-4)), "unknown of a jump@6");
  EXPECT_EQ(meaning(text, "in ship."), "mode@7");
  EXPECT_EQ(meaning(text, "from "), "mode@7");
  EXPECT_EQ(meaning(text, "when "), "event@8");
  EXPECT_EQ(meaning(text, "reaching "), "variable@2");
}

TEST(Names, OfABehaviourAndAScene) {
  const std::string text =
      "reactive\n  n = init k = 0 in { clock => k + 1 },\n  m = n\nscene\n  sphere at p radius radius;\n  plot n;\n"
      "  text \"{k + n} {{n} n\" at p;\n";
  EXPECT_EQ(meaning(text, "clock => "), "argument@2");
  EXPECT_EQ(meaning(text, "m = "), "behaviour@2");
  EXPECT_EQ(meaning(text, "plot "), "behaviour@2");
  EXPECT_EQ(meaning(text, "{k + "), "behaviour@2");
  EXPECT_EQ(meaning(text, "{{n} "), "nothing");
  EXPECT_EQ(meaning(text, "{{"), "nothing");
  EXPECT_EQ(meaning(text, "p "), "nothing");
  EXPECT_EQ(meaning(text, "p radius "), "variable@5");
}

}  // namespace
}  // namespace lsp
