#include "compiler/energy/hamiltonian.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "compiler/energy/in_states.h"

namespace energy {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using expr::Op;

constexpr double rounding = 1e-8;  // of the largest value there is: less is zero
constexpr std::size_t most_states =
    60;  // the search for A has as many unknowns as A where slopes depend on one another

class Search {
 public:
  Search(flat::Model& model, const structure::Sorted& sorted) : model_(model), pool_(model.pool), sorted_(sorted) {
    for (std::size_t i = 0; i < sorted.states.size(); ++i) {
      if (pool_.is_constant(sorted.energy_slopes[i], 0)) continue;
      states_.push_back(sorted.states[i]);
      rates_.push_back(sorted.state_rates[i]);
      slopes_.push_back(sorted.energy_slopes[i]);
    }
    for (const flat::Power& port : model.powers) {
      if (port.is_joined) continue;
      for (const flat::Power::Pair& pair : port.pairs) {
        inputs_.push_back(pair.in);
        outputs_.push_back(pair.out);
      }
    }
  }

  std::string describe() {
    if (states_.empty()) return "";
    if (states_.size() > most_states)
      return fmt::format("form  not looked for: {} states, at most {}\n", states_.size(), most_states);
    for (const ExprId in : inputs_) {
      const Op op = pool_[in].op;
      if (op != Op::variable && op != Op::input)
        return fmt::format("form  not looked for: the port takes in `{}`, which is not a name\n",
                           flat::print(model_, in));
    }
    sample();
    if (!fault_.empty()) return fault_;
    return fit();
  }

 private:
  // The numbers at random states and inputs: g and f by columns, u and y, too.
  void sample() {
    InStates in_states(model_, sorted_, std::set<ExprId>(inputs_.begin(), inputs_.end()));
    const auto n = static_cast<Eigen::Index>(states_.size());
    const auto m = static_cast<Eigen::Index>(inputs_.size());
    const Eigen::Index count = 3 * (n + m) + 5;
    g_.resize(n, count);
    f_.resize(n, count);
    u_.resize(m, count);
    y_.resize(m, count);
    std::vector<ExprId> flows;
    std::vector<ExprId> gives;
    for (const ExprId rate : rates_) flows.push_back(in_states(rate));
    for (const ExprId out : outputs_) gives.push_back(in_states(out));
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> anywhere(-1.5, 1.5);
    for (Eigen::Index k = 0; k < count; ++k) {
      std::unordered_map<ExprId, ExprId> at;
      for (const ExprId state : states_) at.emplace(state, pool_.constant(anywhere(random)));
      for (Eigen::Index i = 0; i < m; ++i) {
        u_(i, k) = anywhere(random);
        at.emplace(inputs_[static_cast<std::size_t>(i)], pool_.constant(u_(i, k)));
      }
      symbolic::Substitution put(pool_, [&](ExprId leaf) {
        if (const auto found = at.find(leaf); found != at.end()) return found->second;
        const expr::Node node = pool_[leaf];
        return node.op == Op::parameter ? pool_.constant(model_.parameters[node.index].initial) : ExprId();
      });
      for (Eigen::Index i = 0; i < n; ++i) {
        const auto place = static_cast<std::size_t>(i);
        if (!number(put(slopes_[place]), g_(i, k)) || !number(put(flows[place]), f_(i, k))) return spoil(place);
      }
      for (Eigen::Index i = 0; i < m; ++i) {
        if (number(put(gives[static_cast<std::size_t>(i)]), y_(i, k))) continue;
        fault_ = fmt::format("form  not found: what the port gives, `{}`, depends on more than states\n",
                             flat::print(model_, outputs_[static_cast<std::size_t>(i)]));
        return;
      }
    }
  }

  bool number(ExprId e, double& value) {
    if (!pool_.is_constant(e)) return false;
    value = pool_[e].number;
    return std::isfinite(value);
  }

  void spoil(std::size_t state) {
    fault_ = fmt::format(
        "form  not found: {} is no fixed combination of the energy's slopes and what ports take in; momenta as states, "
        "instead of velocities, are what this form asks for\n",
        flat::print(model_, rates_[state]));
  }

  std::string fit() {
    const Eigen::Index n = f_.rows();
    const Eigen::Index m = u_.rows();
    MatrixXd known(n + m, g_.cols());
    known << g_, u_;
    const Eigen::CompleteOrthogonalDecomposition<MatrixXd> solver(known.transpose());
    const MatrixXd found = solver.solve(f_.transpose()).transpose();
    const MatrixXd off = f_ - found * known;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (off.row(i).cwiseAbs().maxCoeff() <= rounding * (1 + f_.row(i).cwiseAbs().maxCoeff())) continue;
      spoil(static_cast<std::size_t>(i));
      return fault_;
    }
    MatrixXd a = found.leftCols(n);
    const MatrixXd in = found.rightCols(m);
    make_skew(a);
    const MatrixXd j = clean(0.5 * (a - a.transpose()));
    const MatrixXd r = clean(-0.5 * (a + a.transpose()));

    std::string text = "form  x' = (J - R) dH/dx";
    if (m > 0) text += " + G u, y = G' dH/dx";
    std::vector<std::string> names;
    for (const ExprId state : states_) names.push_back(flat::print(model_, state));
    text += fmt::format("\nx  ({})\nJ  {}\nR  {}\n", fmt::join(names, ", "), print(j), print(r));
    if (m > 0) text += fmt::format("G  {}\n", print(clean(in)));
    if (m > 0 && (y_ - in.transpose() * g_).cwiseAbs().maxCoeff() > rounding * (1 + y_.cwiseAbs().maxCoeff()))
      return text +
             "but what the ports give is not G' dH/dx: the product of what enters and leaves is not the power that "
             "enters\n";
    const double least = Eigen::SelfAdjointEigenSolver<MatrixXd>(r).eigenvalues().minCoeff();
    if (least < -rounding)
      return text + fmt::format("but R has the eigenvalue {:.4g}: the model gains energy by itself\n", least);
    return text + "R is positive semidefinite: the model is passive where its energy has a minimum\n";
  }

  // Slopes that depend on one another leave A open along N, A + C N' : C for the smallest symmetric part.
  void make_skew(MatrixXd& a) const {
    const Eigen::Index n = a.rows();
    const Eigen::JacobiSVD<MatrixXd> svd(g_, Eigen::ComputeFullU);
    Eigen::Index rank = 0;
    while (rank < svd.singularValues().size() && svd.singularValues()(rank) > rounding * svd.singularValues()(0))
      ++rank;
    const Eigen::Index open = n - rank;
    if (open == 0) return;
    const MatrixXd across = svd.matrixU().rightCols(open);
    MatrixXd system = MatrixXd::Zero(n * n, n * open);
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index k = 0; k < open; ++k) {
        for (Eigen::Index j = 0; j < n; ++j) {
          system(i * n + j, i * open + k) += across(j, k);
          system(j * n + i, i * open + k) += across(j, k);
        }
      }
    }
    VectorXd wanted(n * n);
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index j = 0; j < n; ++j) wanted(i * n + j) = -(a(i, j) + a(j, i));
    const VectorXd c = system.completeOrthogonalDecomposition().solve(wanted);
    for (Eigen::Index i = 0; i < n; ++i) a.row(i) += c.segment(i * open, open).transpose() * across.transpose();
  }

  static MatrixXd clean(MatrixXd matrix) {
    for (double& entry : matrix.reshaped()) {
      const double near = std::round(entry * 1e6) / 1e6;
      if (std::abs(entry - near) < 1e-9 * std::max(1.0, std::abs(entry))) entry = near == 0 ? 0 : near;
    }
    return matrix;
  }

  static std::string print(const MatrixXd& matrix) {
    std::string text;
    for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
      text += i == 0 ? "[" : "; ";
      for (Eigen::Index j = 0; j < matrix.cols(); ++j) text += fmt::format("{}{:.6g}", j == 0 ? "" : " ", matrix(i, j));
    }
    return text + "]";
  }

  flat::Model& model_;
  expr::Pool& pool_;
  const structure::Sorted& sorted_;
  std::vector<ExprId> states_, rates_, slopes_, inputs_, outputs_;
  MatrixXd g_, f_, u_, y_;
  std::string fault_;
};

}  // namespace

std::string describe_hamiltonian(flat::Model& model, const structure::Sorted& sorted) {
  return Search(model, sorted).describe();
}

}  // namespace energy
