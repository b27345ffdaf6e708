// Bytes -> the reader of SimSect's initialisation files, and what its symbols mean for a model with odd names. What is
// read lies in the text and is finite; numbers that are written again read back as themselves.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cpu_limit.h"
#include "must.h"
#include "simsect/init_file.h"
#include "simsect/settings.h"

using fuzz::must;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::CpuLimit limit;
  diag::SourceMap sources;
  diag::Sink diags;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto assignments = simsect::read_init_file(sources.add("SimSect.rc", text), sources, diags);
  std::vector<simsect::NamedNumber> numbers;
  for (const simsect::Assignment& each : assignments) {
    must(sources.text(each.name_span) == each.name && !each.name.empty(), "a name stands in the text");
    must(each.value_span.begin >= each.name_span.end && each.value_span.end <= size, "a value stands behind its name");
    must(each.is_text || std::isfinite(each.number), "a number is finite");
    must(each.text.find_first_of("\"\n") == std::string::npos, "a text has neither quotes nor ends of lines");
    if (!each.is_text) numbers.push_back({each.name, each.number});
  }

  diag::Sink again_diags;
  const auto again =
      simsect::read_init_file(sources.add("again.rc", simsect::write_init_file(text, numbers)), sources, again_diags);
  must(!again_diags.has_errors() && again.size() == numbers.size(), "what is written reads back");
  for (std::size_t i = 0; i < again.size(); ++i)
    must(again[i].name == numbers[i].name && again[i].number == numbers[i].value,
         "what is written reads back as itself");

  const simsect::ModelNames names{"m", {"k", "p_1", "tolerance", "a.b"}, {"x", "x'", "p[1]", "p'[2]", "a[b]"}};
  diag::Sink meaning_diags;
  const simsect::Meaning meaning = simsect::find_meaning(assignments, names, meaning_diags);
  must(meaning.parameters.size() <= names.parameters.size() && meaning.starts.size() <= names.states.size(),
       "a name has one meaning");
  must(meaning.integrator.tolerance.value_or(1) > 0 && meaning.integrator.record_period.value_or(0) >= 0,
       "settings are in their ranges");
  (void)diag::render_text(diags, sources, false);
  (void)diag::render_json(meaning_diags, sources);
  return 0;
}
