#include "runtime/control/equilibrium.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "kernel/hybrid.h"
#include "kernel/kernel.h"
#include "runtime/control/as_eigen.h"
#include "runtime/control/least_squares.h"

namespace control {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int most_iterations = 200;
constexpr int most_steps = 400;  // along the motion
constexpr int second_guesses = 24;
constexpr double at_rest = 1e-9;      // of the size of a row's terms
constexpr double not_felt = 1e-10;    // pivots below this part of the largest are directions that nothing feels
constexpr double longest_step = 100;  // of a full step, in units of 1 + |v|

class Search {
 public:
  Search(const tactus_model& model, tactus_instance* instance, std::span<const Input> free)
      : model_(model),
        instance_(instance),
        free_(free),
        states_(static_cast<Index>(model.state_count)),
        unknowns_(states_ + static_cast<Index>(free.size())),
        rows_(states_ + static_cast<Index>(model.constraint_count)),
        warm_(model.warm_count) {}

  VectorXd read() const {
    VectorXd v(unknowns_);
    const double* data = tactus_data_const(instance_);
    for (Index i = 0; i < states_; ++i) v[i] = data[model_.layout.states + i];
    for (std::size_t k = 0; k < free_.size(); ++k) v[states_ + static_cast<Index>(k)] = data[place_of(free_[k])];
    return v;
  }

  tactus_status write(const VectorXd& v) {
    double* data = tactus_data(instance_);
    for (Index i = 0; i < states_; ++i) data[model_.layout.states + i] = v[i];
    bool is_prepared = true;
    for (std::size_t k = 0; k < free_.size(); ++k) {
      data[place_of(free_[k])] = v[states_ + static_cast<Index>(k)];
      is_prepared = is_prepared && !free_[k].is_parameter;
    }
    instance_->first_stage_valid = 0;
    int status = is_prepared ? int{TACTUS_OK} : model_.prepare(&model_, instance_);
    if (status == TACTUS_OK && model_.relation_count > 0) status = tk_settle(&model_, instance_);
    if (status == TACTUS_OK && model_.delay_count > 0) {
      status = tk_begin_histories(&model_, instance_);
      if (status == TACTUS_OK && model_.relation_count > 0) status = tk_settle(&model_, instance_);
    }
    return static_cast<tactus_status>(status);
  }

  // f and g at v, where the instance is left.
  tactus_status evaluate(const VectorXd& v, VectorXd& left) {
    if (auto status = write(v)) return status;
    left.resize(rows_);
    const double* x = tactus_data_const(instance_) + model_.layout.states;
    if (int status = model_.derivative(&model_, instance_, instance_->time, x, left.data()))
      return static_cast<tactus_status>(status);
    std::vector<double> constraints;
    Matrix unused;
    if (auto status = constraint_jacobian(model_, instance_, constraints, unused)) return status;
    for (std::size_t i = 0; i < constraints.size(); ++i) left[states_ + static_cast<Index>(i)] = constraints[i];
    return left.allFinite() ? TACTUS_OK : TACTUS_NOT_FINITE;
  }

  // At the point where the instance is.
  tactus_status differentiate(MatrixXd& jacobian) {
    jacobian = MatrixXd::Zero(rows_, unknowns_);
    if (model_.delay_count > 0) return differences(jacobian);
    Matrix a, b, g, g_free;
    std::vector<double> constraints;
    if (auto status = state_jacobian(model_, instance_, a)) return status;
    if (auto status = differentiate_by(model_, instance_, TACTUS_OF_DERIVATIVE, model_.state_count, free_, b))
      return status;
    if (auto status = constraint_jacobian(model_, instance_, constraints, g)) return status;
    g_free = Matrix(model_.constraint_count, free_.size());
    if (model_.constraint_count > 0) {
      if (auto status =
              differentiate_by(model_, instance_, TACTUS_OF_CONSTRAINTS, model_.constraint_count, free_, g_free))
        return status;
    }
    jacobian << as_eigen(a), as_eigen(b), as_eigen(g), as_eigen(g_free);
    return TACTUS_OK;
  }

  void keep_warm() { std::copy_n(tactus_data(instance_) + model_.layout.warm, warm_.size(), warm_.data()); }
  void restore_warm() { std::copy_n(warm_.data(), warm_.size(), tactus_data(instance_) + model_.layout.warm); }

 private:
  std::size_t place_of(const Input& input) const {
    return (input.is_parameter ? model_.layout.parameters : model_.layout.inputs) + input.index;
  }

  tactus_status differences(MatrixXd& jacobian) {
    const VectorXd here = read();
    VectorXd there = here, ahead, behind;
    for (Index j = 0; j < unknowns_; ++j) {
      const double step = 6e-6 * (1 + std::abs(here[j]));  // the cube root of rounding
      there[j] = here[j] + step;
      if (auto status = evaluate(there, ahead)) return status;
      there[j] = here[j] - step;
      if (auto status = evaluate(there, behind)) return status;
      there[j] = here[j];
      jacobian.col(j) = (ahead - behind) / (2 * step);
    }
    return write(here);
  }

  const tactus_model& model_;
  tactus_instance* instance_;
  std::span<const Input> free_;
  Index states_, unknowns_, rows_;
  std::vector<double> warm_;
};

// The Jacobian with each column times 1 + |v| and each row divided by its size, and those sizes.
struct Scaled {
  MatrixXd jacobian;
  VectorXd columns, rows;

  Scaled(const MatrixXd& given, const VectorXd& v) : columns(v.cwiseAbs().array() + 1), rows(given.rows()) {
    jacobian = given * columns.asDiagonal();
    for (Index i = 0; i < rows.size(); ++i) {
      const double size = jacobian.row(i).lpNorm<1>();
      rows[i] = size > 0 ? size : 1;
    }
    jacobian = (rows.cwiseInverse().asDiagonal() * jacobian).eval();
  }
};

Index find_worst(const VectorXd& left) {
  Index worst = 0;
  if (left.size()) left.cwiseAbs().maxCoeff(&worst);
  return worst;
}

// From the one guess that the instance holds.
Equilibrium search_from_here(const tactus_model& model, tactus_instance* instance, std::span<const Input> free) {
  Equilibrium result;
  Search search(model, instance, free);
  VectorXd v = search.read(), left;
  MatrixXd jacobian;
  const auto failed = [&](tactus_status status) { return (result.status = status) != TACTUS_OK; };
  if (failed(search.evaluate(v, left)) || failed(search.differentiate(jacobian))) return result;

  double off = 0;
  for (int iteration = 0; iteration < most_iterations && v.size() > 0; ++iteration) {
    const Scaled scaled(jacobian, v);
    const VectorXd scaled_left = left.cwiseQuotient(scaled.rows);
    off = scaled_left.norm();
    if (off == 0) break;
    const LeastSquares squares(scaled.jacobian, not_felt);
    if (squares.rank() == 0) break;

    // From the full step on to shorter ones.
    bool is_better = false;
    VectorXd next, next_left;
    MatrixXd next_jacobian;
    search.keep_warm();
    for (double damping = 0; damping < 1e8 && !is_better; damping = damping == 0 ? 1e-6 : 10 * damping) {
      // By `foreseen` the square of what is left over should fall.
      const auto [away, foreseen] = squares.damped(scaled_left, damping);
      const VectorXd step = -away;
      if (damping == 0 && step.lpNorm<Eigen::Infinity>() > longest_step) continue;
      if (!(foreseen > 1e-30 * off * off) || step.norm() < 1e-16) break;
      next = v + scaled.columns.cwiseProduct(step);
      if (search.evaluate(next, next_left) == TACTUS_OK && search.differentiate(next_jacobian) == TACTUS_OK) {
        const double next_off = next_left.cwiseQuotient(scaled.rows).norm();
        is_better = off * off - next_off * next_off > 1e-4 * foreseen;
      }
      if (!is_better) search.restore_warm();
    }
    if (!is_better) break;
    v = next;
    left = next_left;
    jacobian = next_jacobian;
  }
  // Nothing but scratch has changed if this fails, for v was evaluated before.
  if (failed(search.evaluate(v, left))) return result;

  const Scaled scaled(jacobian, v);
  const VectorXd scaled_left = left.cwiseQuotient(scaled.rows);
  result.worst = static_cast<std::size_t>(find_worst(scaled_left));
  result.off = scaled_left.size() == 0 ? 0 : scaled_left.lpNorm<Eigen::Infinity>();
  result.is_found = result.off <= at_rest;
  result.states.assign(v.data(), v.data() + model.state_count);
  result.free.assign(v.data() + model.state_count, v.data() + v.size());
  result.residuals.assign(left.data(), left.data() + left.size());
  if (result.is_found && v.size() > 0) {
    const LeastSquares squares(scaled.jacobian, at_rest);
    const MatrixXd null = squares.null_space();
    result.freedom = static_cast<std::size_t>(null.cols());
    for (Index i = 0; i < v.size() && null.cols() > 0; ++i) {
      if (null.row(i).norm() > 1e-3) result.loose.push_back(static_cast<std::size_t>(i));
    }
    if (model.state_count > 0) {
      std::vector<double> scratch(tactus_direction_size(&model)), by_time(model.state_count);
      const double* x = tactus_data_const(instance) + model.layout.states;
      const int status = tk_time_derivative(&model, instance, instance->time, x, scratch.data(), by_time.data());
      if (status == TACTUS_OK) {
        for (Index i = 0; i < static_cast<Index>(model.state_count); ++i)
          result.depends_on_time |= std::abs(by_time[static_cast<std::size_t>(i)]) > at_rest * scaled.rows[i];
      }
    }
  }
  return result;
}

// The guess that an instance holds, and others around it, near and far in turn.
class Guesses {
 public:
  Guesses(const tactus_model& model, tactus_instance* instance, std::span<const Input> free)
      : search_(model, instance, free),
        instance_(instance),
        header_(*instance),
        data_(tactus_data(instance), tactus_data(instance) + model.layout.snapshot),
        guess_(search_.read()) {}

  const VectorXd& first() const { return guess_; }
  void reset() {
    *instance_ = header_;
    std::copy(data_.begin(), data_.end(), tactus_data(instance_));
  }
  // The k-th, from 1 on, into the instance.
  tactus_status take(int k) {
    reset();
    const double reach = std::pow(10, -1 + k % 4);
    VectorXd v = guess_;
    for (Index i = 0; i < v.size(); ++i) v[i] += reach * uniform() * (1 + std::abs(guess_[i])) / 4;
    return search_.write(v);
  }

 private:
  // In [-1, 1). The sequence is the same everywhere, unlike that of the library's distributions.
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-52 - 1; }

  Search search_;
  tactus_instance* instance_;
  tactus_instance header_;
  std::vector<double> data_;
  VectorXd guess_;
  std::mt19937_64 random_{20};
};

// Follows the motion towards rest, by implicit steps that lengthen as it slows down (pseudo-transient continuation:
// Kelley and Keyes, SIAM J. Numer. Anal. 35(2), 1998): it passes limits and other kinks at which a search for zeros
// stops.
void follow_motion(const tactus_model& model, tactus_instance* instance, std::span<const Input> free) {
  const Index n = static_cast<Index>(model.state_count);
  Search search(model, instance, free);
  VectorXd v = search.read(), left, next_left;
  MatrixXd jacobian;
  if (search.evaluate(v, left) != TACTUS_OK) return;
  const auto speed = [&](const VectorXd& f) {
    return f.head(n).cwiseQuotient((v.head(n).cwiseAbs().array() + 1).matrix()).norm();
  };
  double step = 0.1 / std::max(speed(left), 1e-300);
  for (int k = 0; k < most_steps && speed(left) > 0; ++k) {
    if (search.differentiate(jacobian) != TACTUS_OK) break;
    const MatrixXd shifted = MatrixXd::Identity(n, n) / step - jacobian.leftCols(n).topRows(n);
    VectorXd next = v;
    next.head(n) += shifted.partialPivLu().solve(left.head(n));
    if (model.constraint_count > 0 && next.allFinite())
      (void)tk_project(&model, instance, instance->time, next.data(), 4, 0);  // else the search that follows does
    const bool is_good = next.allFinite() && search.evaluate(next, next_left) == TACTUS_OK;
    if (!is_good) {
      step /= 10;
      if (step < 1e-300 || search.evaluate(v, left) != TACTUS_OK) break;
      continue;
    }
    const double before = speed(left);
    v = next;
    left = next_left;
    step *= std::clamp(before / std::max(speed(left), 1e-300), 0.3, 2.0);
  }
  (void)search.write(v);
}

}  // namespace

Equilibrium find_equilibrium(const tactus_model& model, tactus_instance* instance, std::span<const Input> free) {
  Guesses guesses(model, instance, free);
  Equilibrium best = search_from_here(model, instance, free);
  if (best.status != TACTUS_OK || best.is_found) return best;
  guesses.reset();
  follow_motion(model, instance, free);
  if (Equilibrium other = search_from_here(model, instance, free); other.status == TACTUS_OK && other.is_found)
    return other;
  for (int k = 1; k <= second_guesses; ++k) {
    if (guesses.take(k) != TACTUS_OK) continue;
    Equilibrium other = search_from_here(model, instance, free);
    if (other.status == TACTUS_OK && other.is_found) return other;
    if (other.status == TACTUS_OK && other.off < best.off) best = std::move(other);
  }
  guesses.reset();
  best.status = place(model, instance, free, best);
  return best;
}

std::vector<Equilibrium> find_equilibria(const tactus_model& model, tactus_instance* instance,
                                         std::span<const Input> free, int attempts) {
  Search search(model, instance, free);
  Guesses guesses(model, instance, free);
  const VectorXd& guess = guesses.first();

  struct Found {
    Equilibrium equilibrium;
    VectorXd v;
    MatrixXd jacobian;
    double distance;
  };
  std::vector<Found> all;
  for (int attempt = 0; attempt <= attempts; ++attempt) {
    if (attempt > 0 && guesses.take(attempt) != TACTUS_OK) continue;
    Equilibrium equilibrium = search_from_here(model, instance, free);
    if (equilibrium.status != TACTUS_OK || !equilibrium.is_found) continue;
    const VectorXd v = search.read();
    // The same one, or of the same family: the way there is one that no equation feels.
    const bool is_known = std::any_of(all.begin(), all.end(), [&](const Found& known) {
      const Scaled scaled(known.jacobian, known.v);
      const VectorXd way = (v - known.v).cwiseQuotient(scaled.columns);
      const double length = way.norm();
      return length < 1e-6 || (known.equilibrium.freedom > 0 && (scaled.jacobian * way).norm() < 1e-6 * length);
    });
    MatrixXd jacobian;
    if (is_known || search.differentiate(jacobian) != TACTUS_OK) continue;
    const double distance = (v - guess).cwiseQuotient((guess.cwiseAbs().array() + 1).matrix()).norm();
    all.push_back({std::move(equilibrium), v, std::move(jacobian), distance});
  }
  guesses.reset();
  std::stable_sort(all.begin(), all.end(), [](const Found& a, const Found& b) { return a.distance < b.distance; });
  std::vector<Equilibrium> result;
  for (Found& found : all) result.push_back(std::move(found.equilibrium));
  return result;
}

tactus_status place(const tactus_model& model, tactus_instance* instance, std::span<const Input> free,
                    const Equilibrium& equilibrium) {
  VectorXd v(static_cast<Index>(equilibrium.states.size() + equilibrium.free.size()));
  std::copy(equilibrium.states.begin(), equilibrium.states.end(), v.data());
  std::copy(equilibrium.free.begin(), equilibrium.free.end(), v.data() + equilibrium.states.size());
  return Search(model, instance, free).write(v);
}

}  // namespace control
