#include "compiler/energy/storage.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <random>

#include "compiler/energy/diagnostics.h"
#include "compiler/energy/in_states.h"
#include "compiler/energy/numbers.h"

namespace energy {
namespace {

using Eigen::MatrixXd;

constexpr double rounding = 1e-9;  // of the entries there are: less is zero
constexpr int points = 20;

class Check {
 public:
  Check(flat::Model& model, const structure::Sorted& sorted, diag::Sink& diags)
      : model_(model), sorted_(sorted), diags_(diags), in_states_(model, sorted) {
    for (const flat::Condition& condition : model.conditions) {
      const ExprId value = in_states_(condition.value);
      if (!condition.later && !condition.guess && model.pool.is_constant(value))
        start_.emplace(model.pool.variable(condition.variable.value, condition.order), model.pool[value].number);
    }
  }

  void run() {
    for (const flat::Storage& storage : model_.storages) {
      const std::size_t n = storage.states.size();
      if (!is_square(storage.j, n, "J") || !is_square(storage.r, n, "R")) continue;
      if (storage.g.entries.size() % n != 0) {
        diags_.report(storage.g.span, wrong_size, "G", storage.g.entries.size(), n)
            .hint("it has a row for each state and a column for each input of the port");
        continue;
      }
      if (depends_on_more(storage)) continue;
      if (!is_equal_across(storage.j, n, true) || !is_equal_across(storage.r, n, false)) continue;
      judge_loss(storage.r, n);
    }
  }

 private:
  bool is_square(const flat::Storage::Matrix& matrix, std::size_t n, const char* name) {
    if (matrix.entries.empty() || matrix.entries.size() == n * n) return true;
    if (matrix.entries.size() == 1 && model_.pool.is_constant(matrix.entries[0], 0)) return true;
    diags_.report(matrix.span, wrong_size, name, matrix.entries.size(), n)
        .hint("it has a row and a column for each state, in the order of the states");
    return false;
  }

  bool depends_on_more(const flat::Storage& storage) {
    const ExprId value = in_states_(model_.pool.variable(storage.energy.value, 0));
    for (const ExprId leaf : symbolic::leaves(model_.pool, value, expr::Op::variable)) {
      if (std::find(storage.states.begin(), storage.states.end(), leaf) != storage.states.end()) continue;
      diags_.report(storage.span, energy_of_others, flat::print(model_, leaf))
          .hint("name it among the states of the storage, or leave what it stores to an `energy` of its own");
      return true;
    }
    return false;
  }

  // Entry (i, j); not valid: zero.
  static ExprId entry(const flat::Storage::Matrix& matrix, std::size_t n, std::size_t i, std::size_t j) {
    return matrix.entries.size() == n * n ? matrix.entries[i * n + j] : ExprId();
  }

  std::string at_point(const std::unordered_map<ExprId, double>& point, ExprId e) {
    std::string text;
    for (const ExprId leaf : symbolic::leaves(model_.pool, e, expr::Op::variable)) {
      if (const auto found = point.find(leaf); found != point.end())
        text += fmt::format("{}{} = {:.4g}", text.empty() ? "" : ", ", flat::print(model_, leaf), found->second);
    }
    return text.empty() ? "" : " at " + text;
  }

  // m[i,j] = -m[j,i], or without the sign.
  bool is_equal_across(const flat::Storage::Matrix& matrix, std::size_t n, bool is_skew) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> anywhere(-1.5, 1.5);
    for (std::size_t i = 0; i < n && matrix.entries.size() == n * n; ++i) {
      for (std::size_t j = is_skew ? i : i + 1; j < n; ++j) {
        const ExprId one = in_states_(entry(matrix, n, i, j));
        const ExprId other = in_states_(entry(matrix, n, j, i));
        const ExprId off = is_skew ? model_.pool.add(one, other) : model_.pool.subtract(one, other);
        if (model_.pool.is_constant(off, 0)) continue;
        for (int k = 0; k < points; ++k) {
          std::unordered_map<ExprId, double> point;
          for (const ExprId state : sorted_.states) point.emplace(state, anywhere(random));
          Numbers numbers(model_, point);
          const auto a = numbers(one);
          const auto b = numbers(other);
          const double sign = is_skew ? -1 : 1;
          if (!a || !b || std::abs(*a - sign * *b) <= rounding * (std::abs(*a) + std::abs(*b))) continue;
          const std::string where = at_point(point, off);
          if (is_skew)
            diags_.report(matrix.span, not_skew, i + 1, j + 1, *a, j + 1, i + 1, *b, where)
                .hint(
                    "J exchanges energy and neither makes nor takes any: J[i,j] = -J[j,i], and its diagonal is 0; "
                    "what is lost belongs into R");
          else
            diags_.report(matrix.span, not_symmetric, i + 1, j + 1, *a, j + 1, i + 1, *b, where)
                .hint("R[i,j] = R[j,i]; what is exchanged without loss belongs into J");
          return false;
        }
      }
    }
    return true;
  }

  // R at a point; none where it is not a number there.
  std::optional<MatrixXd> matrix_at(const flat::Storage::Matrix& matrix, std::size_t n,
                                    const std::unordered_map<ExprId, double>& point) {
    Numbers numbers(model_, point);
    MatrixXd at(n, n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const auto value = numbers(in_states_(entry(matrix, n, i, j)));
        if (!value) return std::nullopt;
        at(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = *value;
      }
    }
    return at;
  }

  // Where a number, or the start, already shows that R makes energy.
  void judge_loss(const flat::Storage::Matrix& matrix, std::size_t n) {
    if (matrix.entries.size() != n * n) return;
    const auto judge = [&](const std::string& when) {
      const auto at = matrix_at(matrix, n, start_);
      if (!at) return true;
      const double least = Eigen::SelfAdjointEigenSolver<MatrixXd>(*at).eigenvalues().minCoeff();
      if (!(least < -rounding * (1 + at->cwiseAbs().maxCoeff()))) return true;
      Eigen::Index place = 0;
      const double diagonal = at->diagonal().minCoeff(&place);
      auto report = diags_.report(matrix.span, makes_energy, least, when);
      if (diagonal < 0) report.hint("R[{0},{0}] is {1:.4g}", place + 1, diagonal);
      report.hint("what R takes is dH/dx' R dH/dx, which is never negative if R has no negative eigenvalue");
      return false;
    };
    const bool is_fixed = std::all_of(matrix.entries.begin(), matrix.entries.end(), [&](ExprId e) {
      return symbolic::leaves(model_.pool, in_states_(e), expr::Op::variable).empty();
    });
    if (!judge(is_fixed ? "" : " at the start")) return;
    for (flat::Parameter& parameter : model_.parameters) {
      if (!(parameter.low < parameter.high)) continue;
      const double initial = parameter.initial;
      for (const double end : {parameter.low, parameter.high}) {
        parameter.initial = end;
        const bool is_fine = judge(fmt::format(" for {} = {:.4g}", parameter.name, end));
        parameter.initial = initial;
        if (!is_fine) return;
      }
    }
  }

  flat::Model& model_;
  const structure::Sorted& sorted_;
  diag::Sink& diags_;
  InStates in_states_;
  std::unordered_map<ExprId, double> start_;
};

}  // namespace

void check_storages(flat::Model& model, const structure::Sorted& sorted, diag::Sink& diags) {
  if (!model.storages.empty()) Check(model, sorted, diags).run();
}

std::vector<expr::ExprId> structure_of_storages(flat::Model& model, const structure::Sorted& sorted) {
  if (model.storages.empty()) return {};
  for (const flat::Power& port : model.powers)
    if (port.is_joined) return {};
  for (const flat::Energy& energy : model.energies) {
    if (std::ranges::none_of(model.storages, [&](const flat::Storage& s) { return s.energy == energy.variable; }))
      return {};
  }
  InStates in_states(model, sorted);
  const std::size_t n = sorted.states.size();
  std::vector<ExprId> entries(n * n, model.pool.constant(0));
  for (const flat::Storage& storage : model.storages) {
    const std::size_t own = storage.states.size();
    std::vector<std::size_t> places;
    for (const ExprId state : storage.states) {
      const auto found = std::find(sorted.states.begin(), sorted.states.end(), state);
      if (found == sorted.states.end()) return {};
      places.push_back(static_cast<std::size_t>(found - sorted.states.begin()));
    }
    for (std::size_t i = 0; i < own; ++i) {
      for (std::size_t j = 0; j < own; ++j) {
        ExprId e = model.pool.constant(0);
        if (storage.j.entries.size() == own * own) e = in_states(storage.j.entries[i * own + j]);
        if (storage.r.entries.size() == own * own)
          e = model.pool.subtract(e, in_states(storage.r.entries[i * own + j]));
        entries[places[i] * n + places[j]] = e;
      }
    }
  }
  return entries;
}

}  // namespace energy
