// SimSect's initialisation files, read and written.
//
//   # a comment
//   symbol_name = 1e-10;
//   other_name  = "text";
//
// The format of the SimSect user's manual (CSE-TR-436-00), 2.4.1. Beyond it, a comment may stand behind a statement,
// and a name may be written as in a model: `p'[2]`, `leg[1].k`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "diag/sink.h"
#include "diag/source_map.h"

namespace simsect {

struct Assignment {
  std::string name;
  base::Span name_span;
  base::Span value_span;
  bool is_text = false;
  double number = 0;  // finite
  std::string text;   // without its quotes; neither quotes nor ends of lines in it
};

// In the order of the file. What is wrong is reported and left out; the rest is still read. Warns of names that are
// given twice.
[[nodiscard]] std::vector<Assignment> read_init_file(std::uint32_t file, const diag::SourceMap& sources,
                                                     diag::Sink& diags);

struct NamedNumber {
  std::string name;
  double value = 0;
};

// Numbers in the shortest form that reads back as the same bits; what is not finite stands as a comment, for the format
// has no word for it.
[[nodiscard]] std::string write_init_file(std::string_view comment, const std::vector<NamedNumber>& numbers);

}  // namespace simsect
