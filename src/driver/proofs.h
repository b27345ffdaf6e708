// What `tactus check` says about transitions that could disagree: a table for people, an array for JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/span.h"
#include "compiler/proof/question.h"
#include "diag/source_map.h"

namespace driver {

// Two transitions that both `goto` one automaton or both mention `next` of one name, and whether their guards can hold at once.
struct GuardPair {
  std::string first, second;
  base::Span first_span, second_span;  // of the guards
  proof::Verdict verdict;
};

struct Proofs {
  std::vector<GuardPair> pairs;
  std::vector<std::string> notes;
};

// Whether it is a broken check: the exit code 3.
[[nodiscard]] bool has_overlap(const Proofs& proofs);

// One line a pair, those that overlap last and with their places, and a summary; "" without pairs.
[[nodiscard]] std::string proofs_text(const Proofs& proofs, const diag::SourceMap& sources);

// [{"first": {"name", "file", "line", "column"}, "second": {..}, "verdict", "by", "witness": {name: value}, "why"}]; `witness` only of an
// overlap, `why` only of what is unknown.
[[nodiscard]] nlohmann::ordered_json json_of(const Proofs& proofs, const diag::SourceMap& sources);

}  // namespace driver
