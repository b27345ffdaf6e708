#include "compiler/proof/decide.h"

#include <fmt/format.h>

#include "compiler/proof/contradiction.h"
#include "compiler/proof/intervals.h"
#include "compiler/proof/polynomial.h"
#include "compiler/proof/tape.h"

namespace proof {

Verdict Prover::decide(const Question& question) {
  const Tape tape = make_tape(question);
  if (is_contradictory(tape)) return {Answer::exclusive, Method::structure, {}, {}};

  // Z3 takes 20 ms to start; guards that overlap widely show it at once.
  std::string why_not_at_once;
  const auto first = decide_by_intervals(question, tape, limits_.first_boxes, limits_.seconds / 4, why_not_at_once);
  if (first && first->answer == Answer::overlap) return *first;

  std::string why;
  if (solver_.is_there()) {
    if (auto verdict = decide_by_polynomials(question, tape, solver_, limits_.seconds / 2, why)) return *verdict;
  } else if (notes_.empty()) {
    notes_.push_back(fmt::format("`{}` is not in PATH: guards are judged by intervals alone", limits_.solver));
  }

  std::string why_not_boxes;
  if (auto verdict = decide_by_intervals(question, tape, limits_.boxes, limits_.seconds / 2, why_not_boxes))
    return *verdict;
  return {Answer::unknown, Method::intervals, {}, why.empty() ? why_not_boxes : why + "; " + why_not_boxes};
}

}  // namespace proof
