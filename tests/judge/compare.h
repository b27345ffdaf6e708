// One model, by the compiler and by the judge.
//
// Both are run twice, the second time finer. What changes between the two runs of one side is how far that side can be
// trusted:
//   allowed = 3 (change of the judge + change of the compiler's solver) + 1e-8 (1 + |value|),
// each change the largest of that channel so far. For a method of order p the finer run is wrong by change / (2^p - 1):
// by 1/15 with Runge-Kutta, 1/3 for the multipliers of Radau; the solver's finer tolerance is 100 times smaller. So 3
// times the change leaves room for errors that grow behind an event, and the floor for rounding in Newton's and located
// times (1e-9 s). What may change by more than 1e-4 says nothing and is not judged; so are values within 1e-6 s of a
// happening, where sides of a jump may differ. A disagreement counts when it is still there at an eighth of the steps.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "judge.h"

namespace judge {

struct Case {
  std::string compiled;  // the text that the compiler gets
  std::string judged;    // the text of the judge: the same, unless something is said in other words
  std::string path = "judged.tact";
  std::map<std::string, std::string> files;  // those that it names; others are looked for on disk, beside `path`
  std::vector<compiler::Override> overrides;
  std::vector<Signal> inputs;
  double end = 2;
  double step = 0.01;  // of the coarser runs; adaptive: the largest
  tactus_solver solver = TACTUS_DOP853;
};

struct Verdict {
  std::string disagreement;  // channel, time and both values; empty: none
  std::string not_judged;    // why there is no verdict; empty: there is one
  bool regular = true;
  std::size_t values = 0;   // compared
  std::size_t unclear = 0;  // left out, for their error may be large
  double allowance = 0;     // the median over values, relative
};

// `patient`: a disagreement is looked at again.
[[nodiscard]] Verdict compare(const Case& one, bool patient = true);

}  // namespace judge
