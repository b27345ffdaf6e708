// Modes: which combinations of them can be reached, and the equations of each.
//
//   flat::Model with automata -> a flat::Model for each structure, in which all equations hold
//
// Reached is what the starts give and, from there, what any transition leads to whose `in` holds, whatever its guard
// says.
//
// Combinations share a structure when their equations differ only in what they say that one and the same leaf is: p'' =
// a here and p'' = b there become p'' = if mode then a else b, and the mode is a discrete value. All else (N = 0 here,
// gap = 0 there) is another structure, with states, constraints and an index of its own. In a structure whose
// combinations agree on a mode, that mode is a constant, and what is said of other modes falls out.
//
// A model without automata has one structure, itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/flat/model.h"
#include "diag/sink.h"

namespace modes {

using Combination = std::vector<std::uint32_t>;  // by automaton, the place of its mode

struct Structure {
  flat::Model model;
  std::vector<Combination> combinations;
  bool is_start = false;  // a run can begin in it
};

struct Structures {
  std::vector<Structure> list;
  std::vector<std::uint32_t> strides;       // by automaton
  std::vector<std::uint32_t> structure_of;  // by combination, as the sum of mode * stride; TACTUS_NO_STRUCTURE

  std::uint32_t of(const Combination& combination) const {
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < combination.size(); ++i) at += combination[i] * strides[i];
    return structure_of[at];
  }
};

// Combinations that can be reached, and structures, at most.
inline constexpr std::size_t most_combinations = 65'536;
inline constexpr std::size_t most_structures = 512;

// Empty after reporting that there are too many.
[[nodiscard]] std::optional<Structures> split(flat::Model model, diag::Sink& diags);

// A truth value over modes, where the modes are these. Invalid counts as true.
[[nodiscard]] bool holds(flat::Model& model, flat::ExprId mode, const Combination& combination);
// The combination that a transition leads to.
[[nodiscard]] Combination after(const flat::Transition& transition, Combination combination);
// "ball.Rolling, clock.Stopped"
[[nodiscard]] std::string describe(const flat::Model& model, const Combination& combination);
std::string dump(const Structures& structures);

}  // namespace modes
