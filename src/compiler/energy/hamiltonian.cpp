#include "compiler/energy/hamiltonian.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "abi/model.h"
#include "compiler/energy/in_states.h"
#include "compiler/energy/storage.h"

namespace energy {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using expr::Op;

constexpr double rounding = 1e-8;  // of the largest value there is: less is zero
constexpr std::size_t most_states =
    60;  // the search for A has as many unknowns as A where slopes depend on one another
constexpr std::size_t most_parameters = 16;  // that are moved one by one, in a form of at most so many states
constexpr Eigen::Index most_with_parameters = 12;
constexpr Eigen::Index most_bending = 6;  // states, for matrices that change with them: n^3 unknowns

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
    sample(samples());
    if (!fault_.empty()) return fault_;
    return fit();
  }

  // J - R over all states of the model where it depends on nothing but parameters; else empty.
  std::vector<ExprId> constant_structure() {
    if (states_.empty() || states_.size() > most_states) return {};
    for (const ExprId in : inputs_)
      if (pool_[in].op != Op::variable && pool_[in].op != Op::input) return {};
    sample(samples());
    if (!fault_.empty()) return {};
    const Eigen::Index n = f_.rows();
    MatrixXd found = solve();
    if (spoilt(found) >= 0) return {};
    MatrixXd a = found.leftCols(n);
    make_skew(a);
    found.leftCols(n) = clean(a);
    if (spoilt(found) >= 0 || !ports_agree(found)) return {};
    const std::vector<ExprId> of_parameters =
        entries_by_parameters(found, [n](const MatrixXd& of) { return MatrixXd(of.leftCols(n)); });
    if (of_parameters.empty()) return {};
    std::vector<ExprId> entries(sorted_.states.size() * sorted_.states.size(), pool_.constant(0));
    std::vector<std::size_t> places;
    for (const ExprId state : states_)
      places.push_back(static_cast<std::size_t>(std::find(sorted_.states.begin(), sorted_.states.end(), state) -
                                                sorted_.states.begin()));
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index j = 0; j < n; ++j)
        entries[places[static_cast<std::size_t>(i)] * sorted_.states.size() + places[static_cast<std::size_t>(j)]] =
            of_parameters[static_cast<std::size_t>(i * n + j)];
    return entries;
  }

 private:
  // (A, G) at the parameters as they are; nothing where the form does not hold.
  std::optional<MatrixXd> form_here() {
    sample(samples());
    const bool is_sampled = fault_.empty();
    fault_.clear();
    if (!is_sampled) return std::nullopt;
    const MatrixXd found = solve();
    if (spoilt(found) >= 0 || !ports_agree(found)) return std::nullopt;
    return tidy(found);
  }

  // The same with the A that is most nearly skew.
  MatrixXd tidy(MatrixXd found) const {
    MatrixXd a = found.leftCols(f_.rows());
    make_skew(a);
    found.leftCols(f_.rows()) = a;
    return clean(found);
  }

  // The entries of part((A, G)), by rows, as functions of the parameters: numbers, c p q / r with whole powers, or a +
  // b p + c q. Each parameter is moved alone, which says how an entry follows; then all of them at once, where the
  // entries must do, too. Empty where that fails. `all` is (A, G) now.
  template <class Part>
  std::vector<ExprId> entries_by_parameters(const MatrixXd& all, Part part) {
    const std::vector<flat::Parameter> before = model_.parameters;
    const MatrixXd base = part(all);
    const Eigen::Index n = base.rows();
    const Eigen::Index columns = base.cols();
    const auto differs = [](double x, double y) { return std::abs(x - y) > rounding * (1 + std::abs(y)); };
    const auto moved_to = [](double value, int step) { return value == 0 ? step - 1.0 : step * value; };
    struct Moved {
      std::size_t parameter;
      MatrixXd twice, thrice;
    };
    std::vector<Moved> moved;
    if (before.size() <= most_parameters && n <= most_with_parameters) {
      for (std::size_t k = 0; k < before.size(); ++k) {
        MatrixXd at[2];
        for (const int step : {2, 3}) {
          model_.parameters[k].initial = moved_to(before[k].initial, step);
          const std::optional<MatrixXd> there = form_here();
          model_.parameters = before;
          if (!there) return {};
          at[step - 2] = part(*there);
        }
        moved.push_back({k, at[0], at[1]});
      }
    }
    std::vector<ExprId> entries;
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index j = 0; j < columns; ++j) {
        const double now = base(i, j);
        std::vector<const Moved*> by;
        for (const Moved& m : moved)
          if (differs(m.twice(i, j), now) || differs(m.thrice(i, j), now)) by.push_back(&m);
        double factor = now;
        ExprId product;
        for (const Moved* m : by) {
          const double value = before[m->parameter].initial;
          const double power = now == 0 || value == 0 ? 0 : std::round(std::log2(m->twice(i, j) / now));
          if (!(std::abs(power) >= 1 && std::abs(power) <= 3) || differs(m->twice(i, j), now * std::pow(2, power)) ||
              differs(m->thrice(i, j), now * std::pow(3, power))) {
            factor = std::nan("");
            break;
          }
          factor /= std::pow(value, power);
          for (int times = 0; times < std::abs(power); ++times) {
            const ExprId leaf = pool_.parameter(static_cast<std::uint32_t>(m->parameter));
            if (!product.valid()) product = pool_.constant(1);
            product = power > 0 ? pool_.multiply(product, leaf) : pool_.divide(product, leaf);
          }
        }
        factor = clean<MatrixXd>(MatrixXd::Constant(1, 1, factor))(0, 0);
        if (std::isfinite(factor)) {
          const ExprId number = pool_.constant(factor);
          entries.push_back(!product.valid() ? number
                            : factor == 1    ? product
                            : factor == -1   ? pool_.negate(product)
                                             : pool_.multiply(number, product));
          continue;
        }
        double rest = now;
        std::vector<std::pair<double, std::size_t>> terms;
        for (const Moved* m : by) {
          const double value = before[m->parameter].initial;
          const double slope = (m->twice(i, j) - now) / (moved_to(value, 2) - value);
          if (differs(m->thrice(i, j), now + slope * (moved_to(value, 3) - value))) return {};
          terms.emplace_back(slope, m->parameter);
          rest -= slope * value;
        }
        entries.push_back(sum_of(rest, terms));
      }
    }
    for (const double more : {0.7, 1.3}) {
      for (flat::Parameter& parameter : model_.parameters) parameter.initial = more * parameter.initial + 0.01;
      const std::optional<MatrixXd> there = form_here();
      symbolic::Substitution put(pool_, [&](ExprId leaf) {
        const expr::Node node = pool_[leaf];
        return node.op == Op::parameter ? pool_.constant(model_.parameters[node.index].initial) : ExprId();
      });
      bool is_fine = there.has_value();
      for (std::size_t e = 0; is_fine && e < entries.size(); ++e) {
        double value = 0;
        const auto place = static_cast<Eigen::Index>(e);
        is_fine = number(put(entries[e]), value) && !differs(value, part(*there)(place / columns, place % columns));
      }
      model_.parameters = before;
      if (!is_fine) return {};
    }
    return entries;
  }

  // rest + c p + ..
  ExprId sum_of(double rest, const std::vector<std::pair<double, std::size_t>>& terms) {
    const auto tidied = [](double of) { return clean<MatrixXd>(MatrixXd::Constant(1, 1, of))(0, 0); };
    ExprId sum;
    if (tidied(rest) != 0) sum = pool_.constant(tidied(rest));
    for (const auto& [factor, parameter] : terms) {
      const double size = std::abs(tidied(factor));
      const ExprId leaf = pool_.parameter(static_cast<std::uint32_t>(parameter));
      const ExprId term = size == 1 ? leaf : pool_.multiply(pool_.constant(size), leaf);
      if (!sum.valid())
        sum = factor < 0 ? pool_.negate(term) : term;
      else
        sum = factor < 0 ? pool_.subtract(sum, term) : pool_.add(sum, term);
    }
    return sum.valid() ? sum : pool_.constant(0);
  }

  Eigen::Index samples() const { return static_cast<Eigen::Index>(3 * (states_.size() + inputs_.size()) + 5); }

  // The numbers at random states and inputs: x, g and f by columns, u and y, too.
  void sample(Eigen::Index count) {
    InStates in_states(model_, sorted_, std::set<ExprId>(inputs_.begin(), inputs_.end()));
    const auto n = static_cast<Eigen::Index>(states_.size());
    const auto m = static_cast<Eigen::Index>(inputs_.size());
    x_.resize(n, count);
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
      for (Eigen::Index i = 0; i < n; ++i) {
        x_(i, k) = anywhere(random);
        at.emplace(states_[static_cast<std::size_t>(i)], pool_.constant(x_(i, k)));
      }
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

  MatrixXd known() const {
    MatrixXd all(g_.rows() + u_.rows(), g_.cols());
    all << g_, u_;
    return all;
  }

  // (A, G) for f = A g + G u.
  MatrixXd solve() const {
    const Eigen::CompleteOrthogonalDecomposition<MatrixXd> solver(known().transpose());
    return solver.solve(f_.transpose()).transpose();
  }

  // The first equation that these matrices do not give; -1: they give all.
  Eigen::Index spoilt(const MatrixXd& found) const {
    const MatrixXd off = f_ - found * known();
    for (Eigen::Index i = 0; i < f_.rows(); ++i)
      if (!(off.row(i).cwiseAbs().maxCoeff() <= rounding * (1 + f_.row(i).cwiseAbs().maxCoeff()))) return i;
    return -1;
  }

  bool ports_agree(const MatrixXd& found) const {
    if (u_.rows() == 0) return true;
    const MatrixXd in = found.rightCols(u_.rows());
    return (y_ - in.transpose() * g_).cwiseAbs().maxCoeff() <= rounding * (1 + y_.cwiseAbs().maxCoeff());
  }

  std::string fit() {
    const Eigen::Index n = f_.rows();
    const Eigen::Index m = u_.rows();
    const MatrixXd found = solve();
    if (const Eigen::Index row = spoilt(found); row >= 0) {
      if (const std::string bending = fit_bending(); !bending.empty()) return bending;
      spoil(static_cast<std::size_t>(row));
      return fault_;
    }
    MatrixXd a = found.leftCols(n);
    const MatrixXd in = found.rightCols(m);
    make_skew(a);
    const MatrixXd j = clean<MatrixXd>(0.5 * (a - a.transpose()));
    const MatrixXd r = clean<MatrixXd>(-0.5 * (a + a.transpose()));

    const bool ports_fit = ports_agree(found);
    // As functions of the parameters, where they are such.
    std::string shown_j = print(j);
    std::string shown_r = print(r);
    std::string shown_g = print(clean<MatrixXd>(in));
    bool has_parameters = false;
    if (ports_fit) {
      const MatrixXd here = tidy(found);
      const auto show = [&](auto part, Eigen::Index columns, std::string& shown) {
        const std::vector<ExprId> entries = entries_by_parameters(here, part);
        if (std::ranges::all_of(entries, [&](ExprId e) { return pool_.is_constant(e); })) return;
        has_parameters = true;
        shown = print(entries, columns);
      };
      const auto of_a = [n](const MatrixXd& of) { return MatrixXd(of.leftCols(n)); };
      show([&](const MatrixXd& of) { return MatrixXd(0.5 * (of_a(of) - of_a(of).transpose())); }, n, shown_j);
      show([&](const MatrixXd& of) { return MatrixXd(-0.5 * (of_a(of) + of_a(of).transpose())); }, n, shown_r);
      const bool structure_has_them = has_parameters;
      if (m > 0) show([m](const MatrixXd& of) { return MatrixXd(of.rightCols(m)); }, m, shown_g);
      has_parameters = structure_has_them;
    }

    std::string text = "form  x' = (J - R) dH/dx";
    if (m > 0) text += " + G u, y = G' dH/dx";
    std::vector<std::string> names;
    for (const ExprId state : states_) names.push_back(flat::print(model_, state));
    text += fmt::format("\nx  ({})\nJ  {}\nR  {}\n", fmt::join(names, ", "), shown_j, shown_r);
    if (m > 0) text += fmt::format("G  {}\n", shown_g);
    if (!ports_fit)
      return text +
             "but what the ports give is not G' dH/dx: the product of what enters and leaves is not the power that "
             "enters\n";
    const double least = Eigen::SelfAdjointEigenSolver<MatrixXd>(r).eigenvalues().minCoeff();
    if (least < -rounding)
      return text + fmt::format("but R has the eigenvalue {:.4g}: the model gains energy by itself\n", least);
    text += fmt::format("R is positive semidefinite{}: the model is passive where its energy has a minimum\n",
                        has_parameters ? " with the parameters as they are" : "");
    if (sorted_.structure.empty())
      text +=
          "some entries are numbers only while the parameters stay as they are: for `gonzalez` and `mean_value` give "
          "the "
          "matrices by `storage`\n";
    return text;
  }

  // J, R and G that change with the states as a + b x. Families from the plainest on; empty where none fits.
  std::string fit_bending() {
    const Eigen::Index n = f_.rows();
    const Eigen::Index m = u_.rows();
    if (n > most_bending) return "";
    sample(2 * n * (n + 1) + 6 * (n + m) + 20);
    if (!fault_.empty()) return fault_.clear(), "";
    struct Family {
      bool bends_j, has_r, bends_r, bends_g;
    };
    for (const Family& family : {Family{true, false, false, false}, Family{false, true, true, false},
                                 Family{true, true, false, false}, Family{true, true, true, true}}) {
      terms_.clear();
      for (Eigen::Index i = 0; i < n; ++i) {
        for (Eigen::Index j = i + 1; j < n; ++j) add_terms('J', i, j, family.bends_j);
        for (Eigen::Index j = i; j < n && family.has_r; ++j) add_terms('R', i, j, family.bends_r);
        for (Eigen::Index j = 0; j < m; ++j) add_terms('G', i, j, family.bends_g);
      }
      // One state has no J but 0.
      if (terms_.empty() || static_cast<Eigen::Index>(terms_.size()) > n * f_.cols()) continue;
      if (const std::string text = solve_terms(); !text.empty()) return text;
    }
    return "";
  }

  // One unknown number: of entry (row, column) the part that does not change, or the factor of a state.
  struct Term {
    char matrix;
    Eigen::Index row, column;
    Eigen::Index state;  // -1: of none
  };

  void add_terms(char matrix, Eigen::Index i, Eigen::Index j, bool bends) {
    for (Eigen::Index k = -1; k < (bends ? f_.rows() : 0); ++k) terms_.push_back({matrix, i, j, k});
  }

  std::string solve_terms() {
    const Eigen::Index n = f_.rows();
    const Eigen::Index count = f_.cols();
    MatrixXd system = MatrixXd::Zero(n * count, static_cast<Eigen::Index>(terms_.size()));
    VectorXd wanted(n * count);
    for (Eigen::Index k = 0; k < count; ++k) {
      wanted.segment(k * n, n) = f_.col(k);
      for (std::size_t c = 0; c < terms_.size(); ++c) {
        const Term& term = terms_[c];
        const double factor = term.state < 0 ? 1 : x_(term.state, k);
        const auto column = static_cast<Eigen::Index>(c);
        if (term.matrix == 'G') {
          system(k * n + term.row, column) += factor * u_(term.column, k);
          continue;
        }
        const double sign = term.matrix == 'J' ? 1 : -1;
        system(k * n + term.row, column) += sign * factor * g_(term.column, k);
        if (term.row != term.column) system(k * n + term.column, column) -= factor * g_(term.row, k);
      }
    }
    // Not Eigen's BDCSVD, which reads past an empty list where a matrix falls into blocks of which one is zero.
    Eigen::CompleteOrthogonalDecomposition<MatrixXd> decomposition;
    decomposition.setThreshold(1e-10);
    decomposition.compute(system);
    VectorXd found = decomposition.solve(wanted);
    const VectorXd off = system * found - wanted;
    if (!(off.cwiseAbs().maxCoeff() <= rounding * (1 + wanted.cwiseAbs().maxCoeff()))) return "";
    if (system.cols() - decomposition.rank() == 1)
      round_off(found, decomposition.colsPermutation() * decomposition.matrixZ().bottomRows(1).transpose());
    return print_terms(found);
  }

  // Along the one direction that is left open, to where most numbers are whole.
  static void round_off(VectorXd& found, const VectorXd& open) {
    const auto whole = [](const VectorXd& v) {
      return (v.array() - v.array().round()).abs().unaryExpr([](double x) { return x < 1e-9 ? 1.0 : 0.0; }).sum();
    };
    VectorXd best = found;
    for (Eigen::Index i = 0; i < found.size(); ++i) {
      if (std::abs(open(i)) < 1e-9) continue;
      for (const double target : {-1.0, 0.0, 1.0}) {
        const VectorXd moved = found + (target - found(i)) / open(i) * open;
        if (whole(moved) > whole(best)) best = moved;
      }
    }
    found = best;
  }

  std::string print_terms(const VectorXd& numbers) {
    const Eigen::Index n = f_.rows();
    const Eigen::Index m = u_.rows();
    const VectorXd tidy = clean(numbers);
    const auto entry = [&](char matrix, Eigen::Index i, Eigen::Index j) {
      std::string text;
      const bool is_turned = matrix != 'G' && i > j;
      for (std::size_t c = 0; c < terms_.size(); ++c) {
        const Term& term = terms_[c];
        if (term.matrix != matrix || term.row != (is_turned ? j : i) || term.column != (is_turned ? i : j)) continue;
        const double value = (is_turned && matrix == 'J' ? -1 : 1) * tidy(static_cast<Eigen::Index>(c));
        if (std::abs(value) < rounding) continue;
        text += text.empty() ? (value < 0 ? "-" : "") : (value < 0 ? " - " : " + ");
        const std::string name =
            term.state < 0 ? "" : flat::print(model_, states_[static_cast<std::size_t>(term.state)]);
        if (name.empty() || std::abs(std::abs(value) - 1) > 1e-9) text += fmt::format("{:.6g}", std::abs(value));
        if (!name.empty()) text += std::abs(std::abs(value) - 1) > 1e-9 ? "*" + name : name;
      }
      return text.empty() ? std::string("0") : text;
    };
    const auto all = [&](char matrix, Eigen::Index columns) {
      std::string text;
      for (Eigen::Index i = 0; i < n; ++i)
        for (Eigen::Index j = 0; j < columns; ++j)
          text += fmt::format("{}{}", j > 0 ? ", " : i > 0 ? "; " : "[", entry(matrix, i, j));
      return text + "]";
    };
    std::string text = m > 0 ? "form  x' = (J(x) - R(x)) dH/dx + G(x) u" : "form  x' = (J(x) - R(x)) dH/dx";
    std::vector<std::string> names;
    for (const ExprId state : states_) names.push_back(flat::print(model_, state));
    text += fmt::format("\nx  ({})\nJ  {}\nR  {}\n", fmt::join(names, ", "), all('J', n), all('R', n));
    if (m > 0) text += fmt::format("G  {}\n", all('G', m));
    return text + judge_bending(tidy);
  }

  // What the matrices say at the points that were looked at.
  std::string judge_bending(const VectorXd& numbers) {
    const Eigen::Index n = f_.rows();
    const Eigen::Index m = u_.rows();
    double least = 0;
    double off = 0;
    for (Eigen::Index k = 0; k < f_.cols(); ++k) {
      MatrixXd r = MatrixXd::Zero(n, n);
      MatrixXd in = MatrixXd::Zero(n, m);
      for (std::size_t c = 0; c < terms_.size(); ++c) {
        const Term& term = terms_[c];
        const double value = numbers(static_cast<Eigen::Index>(c)) * (term.state < 0 ? 1 : x_(term.state, k));
        if (term.matrix == 'R') r(term.row, term.column) += value;
        if (term.matrix == 'R' && term.row != term.column) r(term.column, term.row) += value;
        if (term.matrix == 'G') in(term.row, term.column) += value;
      }
      least = std::min(least, Eigen::SelfAdjointEigenSolver<MatrixXd>(r).eigenvalues().minCoeff());
      if (m > 0) off = std::max(off, (y_.col(k) - in.transpose() * g_.col(k)).cwiseAbs().maxCoeff());
    }
    if (off > rounding * (1 + (m > 0 ? y_.cwiseAbs().maxCoeff() : 0)))
      return "but what the ports give is not G' dH/dx: the product of what enters and leaves is not the power that "
             "enters\n";
    if (least < -rounding)
      return fmt::format("but R has the eigenvalue {:.4g} somewhere: the model gains energy by itself there\n", least);
    return fmt::format(
        "R is positive semidefinite at all {} points that were looked at: the model is passive where its energy has a "
        "minimum\n",
        f_.cols());
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

  template <class Matrix>
  static Matrix clean(Matrix matrix) {
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
      for (Eigen::Index j = 0; j < matrix.cols(); ++j)
        text += fmt::format("{}{:.6g}", j == 0 ? "" : ", ", matrix(i, j));
    }
    return text + "]";
  }

  std::string print(const std::vector<ExprId>& entries, Eigen::Index n) const {
    std::string text;
    for (std::size_t e = 0; e < entries.size(); ++e) {
      const bool is_first = static_cast<Eigen::Index>(e) % n == 0;
      text += e == 0 ? "[" : is_first ? "; " : ", ";
      text += flat::print(model_, entries[e]);
    }
    return text + "]";
  }

  flat::Model& model_;
  expr::Pool& pool_;
  const structure::Sorted& sorted_;
  std::vector<ExprId> states_, rates_, slopes_, inputs_, outputs_;
  MatrixXd x_, g_, f_, u_, y_;
  std::vector<Term> terms_;
  std::string fault_;
};

}  // namespace

namespace {

// As storages say it, entries as written.
std::string describe_storages(flat::Model& model) {
  std::string text;
  for (const flat::Storage& storage : model.storages) {
    const std::size_t n = storage.states.size();
    std::vector<std::string> names;
    for (const ExprId state : storage.states) names.push_back(flat::print(model, state));
    text += fmt::format("storage  x' = (J - R) dH/dx{}\nx  ({})\n",
                        storage.g.entries.empty() ? "" : " + G u, y = G' dH/dx", fmt::join(names, ", "));
    const auto print = [&](char name, const flat::Storage::Matrix& matrix, std::size_t columns) {
      if (matrix.entries.empty() || columns == 0) return;
      text += fmt::format("{}  ", name);
      for (std::size_t i = 0; i < matrix.entries.size(); ++i)
        text += fmt::format("{}{}",
                            i == 0             ? "["
                            : i % columns == 0 ? "; "
                                               : ", ",
                            flat::print(model, matrix.entries[i]));
      text += "]\n";
    };
    print('J', storage.j, storage.j.entries.size() == 1 ? 1 : n);
    print('R', storage.r, storage.r.entries.size() == 1 ? 1 : n);
    print('G', storage.g, storage.g.entries.size() / n);
  }
  if (!text.empty())
    text += "J is skew, and R is positive semidefinite as far as it is a number; else the run watches it\n";
  return text;
}

}  // namespace

std::string describe_hamiltonian(flat::Model& model, const structure::Sorted& sorted) {
  const std::string given = describe_storages(model);
  if (!structure_of_storages(model, sorted).empty()) return given;
  return given + Search(model, sorted).describe();
}

std::vector<ExprId> find_structure(flat::Model& model, const structure::Sorted& sorted) {
  std::vector<ExprId> given = structure_of_storages(model, sorted);
  if (!given.empty()) return given;
  const bool is_asked = tactus_needs_structure(model.settings.solver.value_or(-1)) != 0;
  if (!is_asked && sorted.states.size() > looked_for_unasked) return {};
  return Search(model, sorted).constant_structure();
}

}  // namespace energy
