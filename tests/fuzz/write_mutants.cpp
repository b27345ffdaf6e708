// write_mutants FOLDER SEED COUNT INPUT..: random programs for what is fuzzed from outside (black_box.py). Enters:
// programs (parts.h); leaves: FOLDER/0, FOLDER/1, .., each with the files of one program that has no errors; every
// eighth is whatever came out.
//
// The front end of this build says what has errors; a text that breaks it is in FOLDER/last, and the program ends as a
// fuzz target does.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "cpu_limit.h"
#include "front_end.h"
#include "mutate.h"
#include "parts.h"

namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

// Names of other files may be anything: those that would leave the folder are left out.
void write_parts(const fs::path& folder, const fuzz::Input& input) {
  fs::create_directories(folder);
  for (const fuzz::Part& part : input.parts) {
    const bool is_plain = !part.name.empty() && part.name.size() < 100 && part.name[0] != '.' &&
                          part.name.find_first_of(std::string("/\0\r", 3)) == std::string::npos;
    if (is_plain) write(folder / part.name, part.text);
  }
}

}  // namespace

int main(int count, char** arguments) {
  fuzz::want_big_stack(arguments);
  if (count < 5) return 2;
  const fs::path folder = arguments[1];
  const auto seed = static_cast<std::uint32_t>(std::strtoul(arguments[2], nullptr, 10));
  const auto wanted = static_cast<std::size_t>(std::strtoul(arguments[3], nullptr, 10));
  std::vector<std::string> texts;
  for (int i = 4; i < count; ++i) {
    std::ifstream file(arguments[i], std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  fs::create_directories(folder);
  fuzz::Mutator mutator;
  std::mt19937 random(seed);
  for (std::size_t done = 0, tries = 0; done < wanted && tries < 100 * wanted; ++tries) {
    mutator.seed(static_cast<std::uint32_t>(random()));
    std::string text = texts[random() % texts.size()];
    if (random() % 4 == 0) text = mutator.cross(text, texts[random() % texts.size()]);
    for (unsigned i = 0, changes = 1 + random() % 2; i < changes; ++i) text = mutator.mutate(text);
    if (text.size() > 16384) continue;
    write(folder / "last", text);
    const fuzz::CpuLimit limit;
    if (done % 8 != 7 && !fuzz::is_program(text)) continue;
    write_parts(folder / std::to_string(done), fuzz::take_apart(text));
    ++done;
  }
  fs::remove(folder / "last");
  return 0;
}
