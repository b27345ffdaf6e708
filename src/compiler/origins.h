// Where the values of a model come from, as plain data: for a message about a run that failed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/flat/model.h"
#include "compiler/structure/structure.h"
#include "diag/source_map.h"

namespace compiler {

// One value and the equation it is worked out from.
struct Origin {
  std::string name;  // "x'", "p'[2]"
  std::string text;  // the equation, as it was written where a person wrote it
  std::uint32_t line = 0;
  std::vector<std::string> reads;  // names in it, without its own
};

struct Origins {
  std::vector<Origin> start;                 // in the order in which they are worked out
  std::vector<std::vector<Origin>> motion;   // by structure
  std::map<std::string, std::string> rates;  // by state: the name of its derivative

  void take(const structure::Sorted& sorted, const flat::Model& model, const diag::SourceMap& sources);
};

}  // namespace compiler
