#include "compiler/check/dimension_solver.h"

#include <algorithm>
#include <utility>

namespace check {

using parse::Dimension;
using parse::Rational;

Form multiply(const Form& a, const Form& b, Rational factor) {
  if (factor.is_zero()) return a;
  Form result{Form::rigid, a.constant, {}, a.is_stated || b.is_stated};
  result.constant.multiply(b.constant, factor);
  bool valid = factor.valid() && result.constant.valid();
  if (b.terms.empty()) {
    result.terms = a.terms;
  } else {
    result.terms.reserve(a.terms.size() + b.terms.size());
    auto left = a.terms.begin();
    for (const Term& term : b.terms) {
      while (left != a.terms.end() && left->unknown < term.unknown) result.terms.push_back(*left++);
      Rational power = term.factor * factor;
      if (left != a.terms.end() && left->unknown == term.unknown) power = power + (left++)->factor;
      valid &= power.valid();
      if (!power.is_zero()) result.terms.push_back({term.unknown, power});
    }
    result.terms.insert(result.terms.end(), left, a.terms.end());
  }
  return valid ? result : Form{};
}

void DimensionSolver::add(const Form& a, const Form& b, bool weak) {
  Constraint constraint;
  constraint.difference = multiply(a, b, {-1, 1});
  constraint.weak = weak;
  for (const Form* side : {&a, &b}) {
    for (const Term& term : side->terms) {
      const auto same = [&](const Term& left) { return left.unknown == term.unknown; };
      if (std::none_of(constraint.difference.terms.begin(), constraint.difference.terms.end(), same))
        constraint.cancelled.push_back(term.unknown);
    }
  }
  constraint.done = !constraint.difference.is_rigid();
  constraints_.push_back(std::move(constraint));
}

std::vector<std::uint32_t> DimensionSolver::solve() {
  determined_.resize(unknown_count_);
  stated_.assign(unknown_count_, false);
  reasons_.assign(unknown_count_, none);
  pivot_of_.assign(unknown_count_, none);
  first_use_.assign(unknown_count_ + 1, 0);
  for (Constraint& constraint : constraints_) {
    constraint.settled = constraint.difference.constant;
    constraint.open = static_cast<std::uint32_t>(constraint.difference.terms.size());
    for (const Term& term : constraint.difference.terms) ++first_use_[term.unknown + 1];
  }
  for (std::uint32_t i = 0; i < unknown_count_; ++i) first_use_[i + 1] += first_use_[i];
  uses_.resize(first_use_.back());
  use_factors_.resize(first_use_.back());
  std::vector<std::uint32_t> next(first_use_.begin(), first_use_.end());
  for (std::uint32_t c = 0; c < constraints_.size(); ++c) {
    for (const Term& term : constraints_[c].difference.terms) {
      use_factors_[next[term.unknown]] = term.factor;
      uses_[next[term.unknown]++] = c;
    }
  }
  std::vector<std::uint32_t> contradictions;
  propagate(contradictions);
  eliminate(contradictions);
  std::erase_if(contradictions, [&](std::uint32_t c) { return !is_stated(constraints_[c]); });
  return contradictions;
}

void DimensionSolver::propagate(std::vector<std::uint32_t>& contradictions) {
  for (std::uint32_t c = 0; c < constraints_.size(); ++c) {
    if (constraints_[c].open <= 1) enqueue(c);
  }
  std::array<std::size_t, 2> at = {};
  while (at[0] < queues_[0].size() || at[1] < queues_[1].size()) {
    const std::size_t q = at[0] < queues_[0].size() ? 0 : 1;
    const std::uint32_t c = queues_[q][at[q]++];
    Constraint& constraint = constraints_[c];
    if (constraint.done || !constraint.settled.valid()) continue;
    constraint.done = true;
    if (constraint.open == 0) {
      if (!constraint.settled.pure()) contradictions.push_back(c);
      continue;
    }
    const Term term = *std::find_if(constraint.difference.terms.begin(), constraint.difference.terms.end(),
                                    [&](const Term& candidate) { return !determined_[candidate.unknown]; });
    Dimension value;
    value.multiply(constraint.settled, -(Rational{1, 1} / term.factor));
    if (value.valid()) determine(term.unknown, value, c);
  }
}

bool DimensionSolver::is_stated(const Constraint& constraint) const {
  const auto stated = [&](std::uint32_t unknown) { return stated_[unknown]; };
  return constraint.difference.is_stated ||
         std::any_of(constraint.cancelled.begin(), constraint.cancelled.end(), stated) ||
         std::any_of(constraint.difference.terms.begin(), constraint.difference.terms.end(),
                     [&](const Term& term) { return stated(term.unknown); });
}

void DimensionSolver::determine(std::uint32_t unknown, const Dimension& value, std::uint32_t reason) {
  determined_[unknown] = value;
  reasons_[unknown] = reason;
  stated_[unknown] = is_stated(constraints_[reason]);
  for (std::uint32_t use = first_use_[unknown]; use < first_use_[unknown + 1]; ++use) {
    Constraint& constraint = constraints_[uses_[use]];
    constraint.settled.multiply(value, use_factors_[use]);
    if (--constraint.open <= 1 && !constraint.done) enqueue(uses_[use]);
  }
}

void DimensionSolver::eliminate(std::vector<std::uint32_t>& contradictions) {
  std::vector<std::uint32_t> rest;
  std::vector<std::uint32_t> frequency(unknown_count_);
  std::size_t size = 0;
  for (std::uint32_t c = 0; c < constraints_.size(); ++c) {
    if (constraints_[c].done || !constraints_[c].settled.valid()) continue;
    rest.push_back(c);
    for (const Term& term : constraints_[c].difference.terms) ++frequency[term.unknown];
    size += constraints_[c].difference.terms.size();
  }
  const long long most_work = 1'000'000 + 20 * static_cast<long long>(size);
  constexpr std::size_t longest = 200;  // unknowns in one constraint
  for (std::uint32_t c : rest) {
    for (const Term& term : constraints_[c].difference.terms) {
      if (!settle(term.unknown)) return;
    }
    std::optional<Form> form = reduced(constraints_[c].difference);
    work_ += 8 + static_cast<long long>(form ? form->terms.size() : 0);
    if (work_ > most_work) return;
    if (!form || form->terms.size() > longest) continue;
    if (form->terms.empty()) {
      constraints_[c].settled = form->constant;
      constraints_[c].difference.is_stated = form->is_stated;
      if (!form->constant.pure()) contradictions.push_back(c);
      continue;
    }
    const Term pivot = *std::min_element(form->terms.begin(), form->terms.end(), [&](const Term& a, const Term& b) {
      return std::pair(frequency[a.unknown], ~a.unknown) < std::pair(frequency[b.unknown], ~b.unknown);
    });
    // u^f * rest = 1: u = rest^(-1/f).
    Form others = multiply(*form, Form::of_unknown(pivot.unknown), -pivot.factor);
    Form solved = multiply(Form{Form::rigid}, others, -(Rational{1, 1} / pivot.factor));
    if (!others.is_rigid() || !solved.is_rigid()) continue;
    pivot_of_[pivot.unknown] = static_cast<std::uint32_t>(pivots_.size());
    pivots_.push_back(std::move(solved));
  }
  // A pivot knows no earlier ones, so that one pass from the last to the first leaves only free unknowns.
  for (std::size_t i = pivots_.size(); i-- > 0;) {
    if (std::optional<Form> form = reduced(pivots_[i])) pivots_[i] = std::move(*form);
  }
}

// One step of substitution. Empty when the numbers grow too large.
std::optional<Form> DimensionSolver::reduced(Form form) const {
  const bool changes = std::any_of(form.terms.begin(), form.terms.end(), [&](const Term& term) {
    return determined_[term.unknown] || pivot_of_[term.unknown] != none;
  });
  if (!changes) return form;
  Form result{Form::rigid, form.constant, {}, form.is_stated};
  Form substituted{Form::rigid};
  for (const Term& term : form.terms) {
    if (determined_[term.unknown]) {
      result.constant.multiply(*determined_[term.unknown], term.factor);
      result.is_stated = result.is_stated || stated_[term.unknown];
    } else if (pivot_of_[term.unknown] != none) {
      substituted = multiply(substituted, pivots_[pivot_of_[term.unknown]], term.factor);
      if (!substituted.is_rigid()) return std::nullopt;
    } else {
      result.terms.push_back(term);
    }
  }
  result = multiply(result, substituted, {1, 1});
  if (!result.is_rigid()) return std::nullopt;
  return result;
}

// Substitutes in the pivot of an unknown until only unknowns without pivots are left. False when that takes too long.
bool DimensionSolver::settle(std::uint32_t unknown) {
  if (pivot_of_[unknown] == none) return true;
  Form& pivot = pivots_[pivot_of_[unknown]];
  while (std::any_of(pivot.terms.begin(), pivot.terms.end(),
                     [&](const Term& term) { return pivot_of_[term.unknown] != none; })) {
    std::optional<Form> next = reduced(pivot);
    if (!next) return false;
    pivot = std::move(*next);
    work_ += static_cast<long long>(pivot.terms.size()) + 1;
    if (work_ > 10'000'000) return false;
  }
  return true;
}

std::optional<Dimension> DimensionSolver::value(const Form& form) const {
  if (!form.is_rigid()) return std::nullopt;
  const std::optional<Form> known = reduced(form);
  if (!known || !known->terms.empty() || !known->constant.valid()) return std::nullopt;
  return known->constant;
}

std::optional<std::uint32_t> DimensionSolver::reason(std::uint32_t unknown) const {
  return reasons_[unknown] == none ? std::nullopt : std::optional(reasons_[unknown]);
}

}  // namespace check
