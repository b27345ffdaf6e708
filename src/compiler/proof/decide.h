// A question in, a verdict out: as it is written first, a look for a point over a few boxes, by Z3 then, over many
// boxes last.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/proof/question.h"
#include "compiler/proof/solver_process.h"

namespace proof {

struct Limits {
  double seconds = 4;         // for one question: half of it is Z3's
  std::size_t boxes = 20000;  // for one question
  std::string solver = "z3";
  std::size_t first_boxes = 64;  // looked at for an overlap before Z3 is asked
};

class Prover {
 public:
  explicit Prover(Limits limits = {}) : limits_(std::move(limits)), solver_(limits_.solver) {}

  [[nodiscard]] Verdict decide(const Question& question);

  // What a person should know about all answers so far, each thing once: that Z3 is missing.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Limits limits_;
  SolverProcess solver_;
  std::vector<std::string> notes_;
};

}  // namespace proof
