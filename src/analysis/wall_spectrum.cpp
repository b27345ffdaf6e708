// Linear walls by eigenvalues. States: x, v, the position of the last tick, and the forces under way. The device's part
// is the matrix exponential of its equations by Eigen: a computation of its own, beside haptic/linear_motion.cpp.
#include <Eigen/Dense>
#include <cmath>
#include <unsupported/Eigen/MatrixFunctions>

#include "analysis/virtual_wall.h"

namespace analysis {
namespace {

class Spectrum {
 public:
  explicit Spectrum(const Loop& loop) : loop_(loop) {
    const double mass = loop.device.mass + loop.arm.mass;
    Eigen::Matrix3d flow = Eigen::Matrix3d::Zero();  // of x, v and a constant force
    flow(0, 1) = 1;
    flow(1, 0) = -loop.arm.stiffness / mass;
    flow(1, 1) = -(loop.device.damping + loop.arm.damping) / mass;
    flow(1, 2) = 1 / mass;
    step_ = (flow * loop.period).eval().exp();
  }

  double radius(const Wall& wall) const {
    const int delay = loop_.delay, size = 3 + delay;
    Eigen::MatrixXd next = Eigen::MatrixXd::Zero(size, size);
    Eigen::RowVectorXd force = Eigen::RowVectorXd::Zero(size);
    force(0) = -(wall.stiffness + wall.damping / loop_.period);
    force(2) = wall.damping / loop_.period;
    // What acts is the force itself or the oldest under way, which stands last.
    Eigen::RowVectorXd acting = force;
    if (delay > 0) acting = Eigen::RowVectorXd::Unit(size, size - 1);
    next.topLeftCorner<2, 2>() = step_.topLeftCorner<2, 2>();
    next.topRows<2>() += step_.topRightCorner<2, 1>() * acting;
    next(2, 0) = 1;
    if (delay > 0) next.row(3) = force;
    for (int i = 4; i < size; ++i) next(i, i - 1) = 1;
    return Eigen::EigenSolver<Eigen::MatrixXd>(next, false).eigenvalues().cwiseAbs().maxCoeff();
  }

 private:
  const Loop& loop_;
  Eigen::Matrix3d step_;
};

// A soft wall, to tell whether its damping alone can be borne.
double soft(const Loop& loop) {
  const double mass = loop.device.mass + loop.arm.mass;
  return 1e-5 * mass / (loop.period * loop.period);
}

}  // namespace

double spectral_radius(const Loop& loop, const Wall& wall) { return Spectrum(loop).radius(wall); }

double linear_stiffness(const Loop& loop, double wall_damping) {
  const Spectrum spectrum(loop);
  const auto is_stable = [&](double stiffness) { return spectrum.radius({stiffness, wall_damping}) < 1; };
  // Low enough to be below the limit of any wall that has one worth the name.
  double low = 1e-3 * std::max(soft(loop), theory_stiffness(loop, wall_damping));
  if (!is_stable(low)) return 0;
  double high = low;
  while (is_stable(high *= 1.05)) low = high;
  while (high - low > 1e-9 * high) {
    const double middle = (low + high) / 2;
    (is_stable(middle) ? low : high) = middle;
  }
  return low;
}

double most_wall_damping(const Loop& loop) {
  const Spectrum spectrum(loop);
  const double mass = loop.device.mass + loop.arm.mass;
  const auto is_stable = [&](double damping) { return spectrum.radius({soft(loop), damping}) < 1; };
  double low = 0, high = mass / loop.period / (1 + loop.delay);
  while (is_stable(high)) low = high, high *= 2;
  while (high - low > 1e-6 * high) {
    const double middle = (low + high) / 2;
    (is_stable(middle) ? low : high) = middle;
  }
  return low;
}

double most_guard_damping(const Loop& loop) { return most_wall_damping(loop) / 2; }

}  // namespace analysis
