// A run that failed because a value ceased to be finite, or because its step shrank to nothing -> the equation that
// value comes from, and what it read.
//
// Method: from the last state that was good, the derivative is asked further and further along the motion until
// something in it is not finite; there, the first value in the order of evaluation that is not finite while all before
// it are names its equation. A step that shrinks while all is finite names the state whose error is the largest.
#pragma once

#include <cstddef>
#include <vector>

#include "abi/model.h"
#include "api/load.h"
#include "compiler/origins.h"
#include "runtime/sim/failure.h"

namespace api {

// An Instance, kept byte by byte.
class KeptInstance {
 public:
  void keep(const tactus_model& model, const tactus_instance& instance);
  bool empty() const { return block_.empty(); }
  tactus_instance* get() { return reinterpret_cast<tactus_instance*>(block_.data()); }

 private:
  std::vector<double> block_;
};

// Adds equation, line and values to the failure, where more can be said than it says itself. `last`: as the run left
// it; empty when there was no start. `reach`: how far ahead a cause is looked for. The texts are compiled once more, by
// the same options: no run that goes well pays for knowing where its values come from.
void blame(sim::Failure& failure, const tactus_model& model, KeptInstance& last, double reach,
           const std::vector<Text>& texts, compiler::Options options);

// The first `files` of what was compiled, as texts.
std::vector<Text> texts_of(const Compiled& compiled, std::size_t files);

}  // namespace api
