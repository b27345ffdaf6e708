// What the language itself says about its words, functions, settings and members: one line each, for hover and completion.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace lsp {

struct WordDoc {
  std::string_view word;
  std::string_view doc;
};

struct FunctionDoc {
  std::string_view name;
  std::string_view usage;  // "rotate(v, angle)"
  std::string_view doc;
};

struct UnitDoc {
  std::string_view symbol;
  std::string_view doc;
};

// Every reserved word, and `t`, `pi`, `power` and the words that begin parts and drawings.
const WordDoc* find_word(std::string_view word);
std::span<const WordDoc> all_words();
// Of `simulation`.
std::span<const WordDoc> all_settings();
std::vector<std::string_view> all_solvers();
// What stands behind a device's, a body's, a joint's or a mechanism's dot.
std::span<const WordDoc> device_members();
std::span<const WordDoc> body_members();
std::span<const WordDoc> joint_members();
std::span<const WordDoc> mechanism_members();
// What begins a drawing in a scene, a part in a mechanism.
std::span<const WordDoc> all_drawings();
std::span<const WordDoc> all_parts();
std::span<const UnitDoc> all_units();

const FunctionDoc* find_function(std::string_view name);
std::span<const FunctionDoc> all_functions();

// A name that every program knows: `t`, `pi`, and a function of the language where it is called.
bool is_builtin_name(std::string_view name, bool called);

}  // namespace lsp
