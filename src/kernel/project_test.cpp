// Projection, start and the solutions of rank-deficient systems against closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/sections.h"

namespace {

// Rows of random numbers, `dependent` of them sums of others.
std::vector<double> random_rows(std::mt19937& dice, std::uint32_t rows, std::uint32_t n, std::uint32_t dependent) {
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<double> a(rows * n);
  for (double& entry : a) entry = number(dice);
  for (std::uint32_t i = rows - dependent; i < rows; ++i) {
    for (std::uint32_t j = 0; j < n; ++j) a[i * n + j] = 2 * a[j] - a[n + j] * (i + 1.0);
  }
  return a;
}

std::vector<double> times(const std::vector<double>& a, const std::vector<double>& x) {
  std::vector<double> b(a.size() / x.size());
  for (std::size_t i = 0; i < b.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) b[i] += a[i * x.size() + j] * x[j];
  }
  return b;
}

TEST(LeastNorm, MeetsWhatCanBeMetAndIsOrthogonalToWhatIsFree) {
  std::mt19937 dice(7);
  std::uniform_real_distribution<double> number(-1, 1);
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t n = 3 + static_cast<std::uint32_t>(dice() % 8);
    const std::uint32_t rows = 2 + static_cast<std::uint32_t>(dice() % (n - 1));
    const std::uint32_t dependent = rows > 2 ? static_cast<std::uint32_t>(dice() % (rows - 1)) : 0;
    const std::vector<double> a = random_rows(dice, rows, n, dependent);
    std::vector<double> x(n);
    for (double& entry : x) entry = number(dice);
    const std::vector<double> b = times(a, x);
    std::vector<double> left = b, work(rows * rows + 3 * rows), u(n), destroyed = a;
    EXPECT_EQ(tk_least_norm(rows, n, destroyed.data(), left.data(), u.data(), work.data()), rows - dependent);
    const std::vector<double> met = times(a, u);
    double square = 0, along = 0;
    for (std::uint32_t i = 0; i < rows; ++i) {
      EXPECT_NEAR(met[i], b[i], 1e-11);
      EXPECT_NEAR(left[i], 0, 1e-11);
    }
    // u is the part of x in the span of the rows: u . (x - u) = 0.
    for (std::uint32_t j = 0; j < n; ++j) {
      square += u[j] * u[j];
      along += u[j] * x[j];
    }
    EXPECT_NEAR(square, along, 1e-10);
    // Its factors serve another right side as well as ones of its own.
    for (double& entry : x) entry = number(dice);
    const std::vector<double> other = times(a, x);
    std::vector<double> anew = a, again(n), fresh(n), rest = other, room(work.size());
    tk_least_norm_again(rows, n, destroyed.data(), other.data(), again.data(), work.data());
    tk_least_norm(rows, n, anew.data(), rest.data(), fresh.data(), room.data());
    for (std::uint32_t j = 0; j < n; ++j) EXPECT_NEAR(again[j], fresh[j], 1e-12);
  }
}

TEST(LeastNorm, SaysWhatCannotBeMet) {
  std::vector<double> a = {1, 1, 2, 2}, b = {1, 3}, u(2), work(4 + 6);
  EXPECT_EQ(tk_least_norm(2, 2, a.data(), b.data(), u.data(), work.data()), 1u);
  EXPECT_NEAR(std::abs(b[0]) + std::abs(b[1]), 1, 1e-15);  // u + v = 1 leaves 1 of 2 u + 2 v = 3
}

TEST(SolveConstrained, SharesWhatIsNotDetermined) {
  // x + p + q = 3; x = 1; 2 p + 2 q = 4: x is determined, p and q are not, the shortest are 1 each.
  std::vector<double> a = {1, 1, 1, 1, 0, 0, 0, 2, 2}, b = {3, 1, 4}, work(2 * 9 + 5 * 3 + 9);
  ASSERT_EQ(tk_solve_constrained(3, 1, a.data(), b.data(), work.data()), TACTUS_OK);
  for (double value : b) EXPECT_NEAR(value, 1, 1e-14);
  // The same when p must be determined.
  a = {1, 1, 1, 1, 0, 0, 0, 2, 2}, b = {3, 1, 4};
  EXPECT_EQ(tk_solve_constrained(3, 2, a.data(), b.data(), work.data()), TACTUS_SINGULAR);
  // And when the equations contradict each other.
  a = {1, 1, 1, 1, 0, 0, 0, 2, 2}, b = {3, 1, 5};
  EXPECT_EQ(tk_solve_constrained(3, 1, a.data(), b.data(), work.data()), TACTUS_SINGULAR);
}

// A point on the unit circle: x^2 + y^2 = 1 and its derivative, states (x, y, x', y').
class Circle {
 public:
  explicit Circle(std::vector<std::uint32_t> flags) : flags_(std::move(flags)) {
    model.abi = TACTUS_ABI;
    model.state_count = 4;
    model.constraint_count = 2;
    model.state_flags = flags_.data();
    model.constraint_jacobian = {start_, index_};
    model.constrain = [](const tactus_model*, tactus_instance*, double, const double* s, double* result) -> int {
      const double made[] = {
          s[0] * s[0] + s[1] * s[1] - 1, s[0] * s[2] + s[1] * s[3], 2 * s[0], 2 * s[1], s[2], s[3], s[0], s[1]};
      std::memcpy(result, made, sizeof made);
      return TACTUS_OK;
    };
    tk_layout(&model, &model.layout);
    block_.resize(tactus_instance_bytes(&model) / 8 + 1);
    tk_reset(&model, instance());
  }
  tactus_instance* instance() { return reinterpret_cast<tactus_instance*>(block_.data()); }
  double* states() { return tk_states(&model, instance()); }

  tactus_model model = {};

 private:
  std::uint32_t start_[3] = {0, 2, 6};
  std::uint32_t index_[6] = {0, 1, 0, 1, 2, 3};
  std::vector<std::uint32_t> flags_;
  std::vector<double> block_;
};

constexpr std::uint32_t free_ = TACTUS_STATE_FREE, given = TACTUS_STATE_GIVEN;

TEST(Project, GoesToTheNearestPointOfTheCircle) {
  Circle circle({free_, free_, free_, free_});
  double x[4] = {0.6 * 1.001, 0.8 * 1.001, -0.8, 0.6};
  ASSERT_EQ(tk_project(&circle.model, circle.instance(), 0, x, 2, 0.0), TACTUS_OK);
  EXPECT_NEAR(x[0] * x[0] + x[1] * x[1], 1, 1e-12);  // Newton twice: 1e-3, 1e-6, 1e-12
  EXPECT_NEAR(x[0] * x[2] + x[1] * x[3], 0, 1e-12);
  ASSERT_EQ(tk_project(&circle.model, circle.instance(), 0, x, 2, 0.0), TACTUS_OK);
  EXPECT_NEAR(x[0] * x[0] + x[1] * x[1], 1, 1e-15);
  EXPECT_NEAR(x[0] * x[2] + x[1] * x[3], 0, 1e-15);
  EXPECT_NEAR(x[0], 0.6, 2e-4);  // weights 1 / (1 + |x|) turn it by less than the distance
  EXPECT_LE(circle.instance()->constraint_residual, 2.1e-3);
  EXPECT_EQ(circle.instance()->first_stage_valid, 0);
}

// Off by so little that one iteration, or a second with the factors of the first, is enough.
TEST(Project, ComesAsNearWithFewerFactors) {
  for (const double off : {1e-7, 1e-10}) {
    Circle circle({free_, free_, free_, free_});
    double x[4] = {0.6 * (1 + off), 0.8 * (1 + off), -0.8, 0.6};
    ASSERT_EQ(tk_project(&circle.model, circle.instance(), 0, x, 2, 0.0), TACTUS_OK);
    EXPECT_NEAR(x[0] * x[0] + x[1] * x[1], 1, 4e-16) << off;
    EXPECT_NEAR(x[0] * x[2] + x[1] * x[3], 0, 4e-16) << off;
    EXPECT_LE(circle.instance()->constraint_residual, 4e-16) << off;  // measured: what rounding leaves
  }
}

// What few constraints have to themselves ends where the way for any number of them ends.
TEST(Project, FewConstraintsAreNoOthers) {
  std::mt19937 dice(11);
  std::uniform_real_distribution<double> number(-1, 1);
  for (int round = 0; round < 300; ++round) {
    Circle few({free_, free_, free_, free_}), any({free_, free_, free_, free_});
    const double angle = 4 * number(dice), speed = 5 * number(dice),
                 off = std::pow(10, -8 + 6 * std::abs(number(dice)));
    std::vector<double> x = {std::cos(angle), std::sin(angle), -speed * std::sin(angle), speed * std::cos(angle)};
    for (double& value : x) value += off * number(dice);
    std::vector<double> y = x;
    few.instance()->first_stage_valid = any.instance()->first_stage_valid = 1;
    ASSERT_EQ(tk_project(&few.model, few.instance(), 0, x.data(), 10, 1e-5), TACTUS_OK);
    ASSERT_EQ(tk_project_any(&any.model, any.instance(), 0, y.data(), 10, 1e-5), TACTUS_OK);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], 1e-14 * (1 + std::abs(speed)));
    EXPECT_EQ(few.instance()->first_stage_valid, any.instance()->first_stage_valid);
    EXPECT_LE(few.instance()->constraint_residual, 1e-15 * (2 + 2 * std::abs(speed)));
  }
}

// Rows that nearly follow from each other are left to the way with pivots, bit for bit.
TEST(Project, FewConstraintsThatNearlyAgreeAreLeftToPivots) {
  Circle few({free_, free_, free_, free_}), any({free_, free_, free_, free_});
  for (Circle* circle : {&few, &any}) {
    circle->model.constrain = [](const tactus_model*, tactus_instance*, double, const double* s,
                                 double* result) -> int {
      const double made[] = {s[0] + s[1] - 1,  // and s[0] + s[1] + (s[2] + s[3]) / 100 = 1
                             s[0] + s[1] + 0.01 * (s[2] + s[3]) - 1,
                             1,
                             1,
                             1,
                             1,
                             0.01,
                             0.01};
      std::memcpy(result, made, sizeof made);
      return TACTUS_OK;
    };
  }
  double x[4] = {0.501, 0.502, 0.02, -0.01};
  double y[4] = {0.501, 0.502, 0.02, -0.01};
  ASSERT_EQ(tk_project(&few.model, few.instance(), 0, x, 10, 0.0), TACTUS_OK);
  ASSERT_EQ(tk_project_any(&any.model, any.instance(), 0, y, 10, 0.0), TACTUS_OK);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(x[i], y[i]);
  EXPECT_NEAR(x[0] + x[1], 1, 4e-16);
  EXPECT_NEAR(x[2] + x[3], 0, 1e-13);  // rounding of the second, a hundred times
}

TEST(Project, ChangesNothingWhereNothingIsOff) {
  Circle circle({free_, free_, free_, free_});
  circle.instance()->first_stage_valid = 1;
  double x[4] = {0, -1, 2, 0};
  ASSERT_EQ(tk_project(&circle.model, circle.instance(), 0, x, 10, 0.0), TACTUS_OK);
  EXPECT_EQ(x[0], 0);
  EXPECT_EQ(x[1], -1);
  EXPECT_EQ(circle.instance()->first_stage_valid, 1);
  EXPECT_EQ(circle.instance()->constraint_residual, 0);
}

TEST(Project, RefusesWhatIsFarOff) {
  Circle circle({free_, free_, free_, free_});
  double x[4] = {3, 4, 0, 0};
  EXPECT_EQ(tk_project(&circle.model, circle.instance(), 0, x, 10, 0.0), TACTUS_OFF_CONSTRAINTS);
}

TEST(Start, FindsWhatIsFreeAndKeepsWhatIsGiven) {
  Circle circle({given, free_, given, free_});
  const double begin[4] = {0.6, 1, 0.8, 0};
  std::memcpy(circle.states(), begin, sizeof begin);
  ASSERT_EQ(tk_solve_start(&circle.model, circle.instance()), TACTUS_OK);
  EXPECT_EQ(circle.states()[0], 0.6);
  EXPECT_EQ(circle.states()[2], 0.8);
  EXPECT_NEAR(circle.states()[1], 0.8, 1e-14);
  EXPECT_NEAR(circle.states()[3], -0.6, 1e-14);
}

TEST(Start, LeavesAGuessWhereTheConstraintIsFlat) {
  // At y = 0 the derivative of y^2 vanishes: Newton alone stands still.
  Circle circle({given, free_, given, free_});
  const double begin[4] = {0.6, 0, 0.8, 0};
  std::memcpy(circle.states(), begin, sizeof begin);
  ASSERT_EQ(tk_solve_start(&circle.model, circle.instance()), TACTUS_OK);
  EXPECT_NEAR(std::abs(circle.states()[1]), 0.8, 1e-12);
}

TEST(Start, MovesNothingThatNeedNotMove) {
  // The circle is flat at its centre: found from beside it, the velocities come back to rest.
  Circle circle({free_, TACTUS_STATE_ASSUMED, free_, TACTUS_STATE_ASSUMED});
  ASSERT_EQ(tk_solve_start(&circle.model, circle.instance()), TACTUS_OK);
  EXPECT_NEAR(std::abs(circle.states()[0]), 1, 1e-14);
  EXPECT_EQ(circle.states()[1], 0);
  EXPECT_EQ(circle.states()[2], 0);
  EXPECT_EQ(circle.states()[3], 0);
}

TEST(Start, GoesToTheNearestOfMany) {
  // From (3, 1) the nearest point of the circle in the norm weighted with 1/4 and 1/2, by a scan.
  Circle circle({free_, free_, free_, free_});
  const double begin[4] = {3, 1, 0, 0};
  std::memcpy(circle.states(), begin, sizeof begin);
  ASSERT_EQ(tk_solve_start(&circle.model, circle.instance()), TACTUS_OK);
  double nearest = 1e9, angle = 0;
  for (double a = 0; a < 1.5; a += 1e-5) {
    const double x = (std::cos(a) - 3) / 4, y = (std::sin(a) - 1) / 2;
    if (x * x + y * y < nearest) nearest = x * x + y * y, angle = a;
  }
  EXPECT_NEAR(std::atan2(circle.states()[1], circle.states()[0]), angle, 1e-3);
}

TEST(Start, SaysWhichConstraintIsContradicted) {
  Circle circle({given, given, free_, free_});
  const double begin[4] = {0.7, 0.7, 0, 0};
  std::memcpy(circle.states(), begin, sizeof begin);
  EXPECT_EQ(tk_solve_start(&circle.model, circle.instance()), TACTUS_NO_START);
  EXPECT_EQ(circle.instance()->failed_index, 0);
  EXPECT_EQ(circle.states()[0], 0.7);
  EXPECT_EQ(circle.states()[2], 0);
}

TEST(Start, HasNoneWhereThereIsNone) {
  Circle circle({given, free_, free_, free_});
  const double begin[4] = {1.5, 0.5, 0, 0};
  std::memcpy(circle.states(), begin, sizeof begin);
  EXPECT_EQ(tk_solve_start(&circle.model, circle.instance()), TACTUS_NO_START);
}

TEST(DependentConstraints, AreCounted) {
  Circle circle({free_, free_, free_, free_});
  double depends[2] = {-1, -1};
  const double x[4] = {0.6, 0.8, 0.8, -0.6};
  EXPECT_EQ(tk_dependent_constraints(&circle.model, circle.instance(), 0, x, depends), 0);
  const double at_rest[4] = {0, 0, 0.8, -0.6};  // in the middle the first has no derivative
  EXPECT_EQ(tk_dependent_constraints(&circle.model, circle.instance(), 0, at_rest, depends), 1);
  EXPECT_EQ(depends[0], 1);
  EXPECT_EQ(depends[1], 0);
}

}  // namespace
