// Ten thousand damaged programs, the same ones in every run: whatever the text, the front end returns, reports inside
// the text, and can print what it read.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "compiler/parse/parse_text.h"

namespace parse {
namespace {

constexpr std::string_view fragments[] = {"(",        ")",          "[",        "]",         "{",
                                          "}",        ";",          ",",        "'",         "=",
                                          "==",       "->",         "=>",       "..",        ".",
                                          "\"",       "/*",         "*/",       "//",        "\n",
                                          "if",       "then",       "else",     "in",        "system",
                                          "boundary", "simulation", "external", "reads",     "observes event",
                                          "module",   "transition", "plan",     "for",       "sum(i in 1..",
                                          "1e999",    "0.5",        "[N/m]",    "−",         "\u00a0",
                                          "und",      "with",       "function", "parameter", "~"};

std::string mutated(std::string text, const std::vector<std::string>& seeds, std::mt19937& random) {
  const auto below = [&](std::size_t bound) { return bound == 0 ? 0 : random() % bound; };
  const std::size_t count = 1 + below(6);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = below(text.size() + 1);
    const std::size_t length = std::min<std::size_t>(below(20), text.size() - place);
    switch (below(6)) {
      case 0:
        text.erase(place, length);
        break;
      case 1:
        text.insert(place, fragments[below(std::size(fragments))]);
        break;
      case 2:
        text.insert(place, text.substr(below(text.size() + 1), length));
        break;
      case 3:
        text.resize(place);
        break;
      case 4: {
        const std::string& other = seeds[below(seeds.size())];
        text.insert(place, other.substr(below(other.size() + 1), below(60)));
        break;
      }
      default:
        if (place < text.size()) text[place] = static_cast<char>(below(128));
    }
  }
  return text;
}

bool has_items(const Tree& tree) {
  return tree.settings.size() + tree.externals.size() + tree.conditions.size() + tree.equations.size() +
             tree.parameters.size() + tree.constants.size() + tree.functions.size() + tree.events.size() +
             tree.behaviours.size() + tree.modules.size() + tree.loops.size() + tree.uses.size() +
             tree.drawings.size() + tree.automata.size() + tree.in_blocks.size() + tree.musts.size() +
             tree.transitions.size() + tree.sequences.size() + tree.plans.size() + tree.invariants.size() +
             tree.properties.size() + tree.energies.size() + tree.powers.size() + tree.joins.size() >
         0;
}

TEST(Mutation, TenThousandDamagedProgramsAreSurvived) {
  std::vector<std::string> seeds;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(testdata()))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) seeds.push_back(read_text(path));
  ASSERT_GT(seeds.size(), 30u);

  std::mt19937 random(20240607);  // its sequence is the same on every platform
  std::size_t errors = 0;
  for (std::size_t i = 0; i < 10'000; ++i) {
    const ParsedText text(mutated(seeds[i % seeds.size()], seeds, random), i % 5 == 0 ? Dialect::phydl : Dialect::tact);
    errors += text.diags.error_count();
    for (const diag::Diagnostic& diagnostic : text.diags.diagnostics()) {
      ASSERT_LE(diagnostic.span.begin, diagnostic.span.end);
      ASSERT_LE(diagnostic.span.end, text.sources.text(0).size());
    }
    ASSERT_FALSE(text.diags.has_errors() && diag::render_text(text.diags, text.sources, true).empty());
    for (const Equation& equation : text.tree.equations)
      ASSERT_FALSE(print(text.tree, text.names, equation.right).empty());
    ASSERT_EQ(text.dumped().empty(), !has_items(text.tree));
  }
  EXPECT_GT(errors, 10'000u);
}

}  // namespace
}  // namespace parse
