// What `tactus check` says about transitions that could disagree, and about those that can interfere with plans: tables
// for people, arrays for JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "compiler/guards.h"
#include "compiler/interference.h"
#include "diag/source_map.h"

namespace driver {

// Whether it is a broken check: the exit code 3.
[[nodiscard]] bool has_overlap(const compiler::Guards& guards);

// A summary, and one line a pair, those that overlap last and with their places; "" without pairs. Pairs without a
// common mode are only counted, and of many pairs those that are exclusive.
[[nodiscard]] std::string proofs_text(const compiler::Guards& guards, const diag::SourceMap& sources);

// [{"first": {"name", "file", "line", "column"}, "second": {..}, "verdict", "by", "witness": {name: value}, "why"}];
// `witness` only of an overlap, `why` only of what is unknown.
[[nodiscard]] nlohmann::ordered_json json_of(const compiler::Guards& guards, const diag::SourceMap& sources);

// A line for each plan, and below it one for each transition that can interfere; "" without plans.
[[nodiscard]] std::string plans_text(const std::vector<compiler::Interference>& plans);

// [{"name", "file", "line", "column", "depends_on": [..], "interfering": [{"name", .., "changes": [..], "phases": [..],
// "foreseen"}], "harmless": [..]}]
[[nodiscard]] nlohmann::ordered_json json_of(const std::vector<compiler::Interference>& plans,
                                             const diag::SourceMap& sources);

}  // namespace driver
