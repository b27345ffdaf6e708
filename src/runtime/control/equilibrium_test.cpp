// Linearisation and rest of models whose tables are filled by hand; compiled ones are in tests/control_test.py.
#include "runtime/control/equilibrium.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "runtime/control/analyze.h"
#include "runtime/sim/instance.h"
#include "runtime/sim/models_for_tests.h"

namespace control {
namespace {

// A bead on the circle x^2 + y^2 = r^2 that slides against friction, without inertia, under the forces u and -g: the
// velocity is the tangential force. Parameter r; output 3 x + u. At rest the circle's tangent is at right angles to (u,
// -g).
struct Bead : sim::HandFilled {
  static constexpr double g = 2;

  struct Values {
    double x, y, u, r;
  };
  static Values values(const tactus_model* model, const tactus_instance* instance, const double* x) {
    const double* data = tactus_data_const(instance);
    return {x[0], x[1], data[model->layout.inputs], data[model->layout.parameters]};
  }
  // The tangential part of (u, -g): (u y + g x) (y, -x) / r^2.
  static int derivative(const tactus_model* model, tactus_instance* instance, double, const double* x, double* dx) {
    const Values v = values(model, instance, x);
    const double along = (v.u * v.y + g * v.x) / (v.r * v.r);
    dx[0] = along * v.y;
    dx[1] = -along * v.x;
    return TACTUS_OK;
  }
  static int constrain(const tactus_model* model, tactus_instance* instance, double, const double* x, double* result) {
    const Values v = values(model, instance, x);
    result[0] = v.x * v.x + v.y * v.y - v.r * v.r;
    result[1] = 2 * v.x;
    result[2] = 2 * v.y;
    return TACTUS_OK;
  }
  static int tangent(const tactus_model* model, tactus_instance* instance, std::uint32_t function, double,
                     const double* x, const double* d, double* result) {
    const Values v = values(model, instance, x);
    const double dx = d[1], dy = d[2], du = d[tactus_direction_inputs(model)],
                 dr = d[tactus_direction_parameters(model)];
    if (function == TACTUS_OF_OUTPUTS) result[0] = 3 * dx + du;
    if (function == TACTUS_OF_CONSTRAINTS) result[0] = 2 * v.x * dx + 2 * v.y * dy - 2 * v.r * dr;
    if (function != TACTUS_OF_DERIVATIVE) return TACTUS_OK;
    const double along = (v.u * v.y + g * v.x) / (v.r * v.r);
    const double d_along = (du * v.y + v.u * dy + g * dx) / (v.r * v.r) - 2 * along * dr / v.r;
    result[0] = d_along * v.y + along * dy;
    result[1] = -d_along * v.x - along * dx;
    return TACTUS_OK;
  }

  Bead() {
    state_names = {"x", "y"};
    channels = {{"out", "", 0, 1, 1, 0}};
    input_channels = {{"u", "", 0, 1, 1, 0}};
    parameters = {{"r", "", 5, 0, 0}};
    table.constraint_count = 1;
    static const std::uint32_t constraint_start[] = {0, 2}, constraint_index[] = {0, 1};
    table.constraint_jacobian = {constraint_start, constraint_index};
    static const tactus_constraint constraint = {"x^2 + y^2 = r^2", 1, 0};
    table.constraints = &constraint;
    static const std::uint32_t start[] = {0, 2, 4}, index[] = {0, 1, 0, 1}, colours[] = {0, 1};
    table.jacobian = {start, index};
    table.colours = colours;
    table.colour_count = 2;
    table.initialize = [](const tactus_model* model, tactus_instance* instance) {
      double* x = tactus_data(instance) + model->layout.states;
      x[0] = 3;
      x[1] = -4;
      return int{TACTUS_OK};
    };
    table.derivative = derivative;
    table.constrain = constrain;
    table.tangent = tangent;
    table.outputs = [](const tactus_model* model, tactus_instance* instance, double, const double* x) {
      tactus_data(instance)[model->layout.outputs] = 3 * x[0] + tactus_data(instance)[model->layout.inputs];
      return int{TACTUS_OK};
    };
    finish();
  }
};

struct Placed {
  Bead bead;
  sim::Instance instance{bead.table};
  Placed(double x, double y, double u = 0) {
    EXPECT_EQ(tk_reset(&bead.table, instance.get()), TACTUS_OK);
    instance.states()[0] = x;
    instance.states()[1] = y;
    instance.section(bead.table.layout.inputs)[0] = u;
  }
};

const Input force{"u", "", false, 0}, radius{"r", "", true, 0};

// In the angle from below a, r a' = u cos a - g sin a, x = r sin a. At a = 0, u = 0: r a' = u - g a, so x' = u - (g /
// r) x; and r moves nothing there but y.
TEST(Linearize, OnAConstraint) {
  Placed placed(0, -5);
  const std::vector<Input> inputs = {force, radius};
  const std::vector<Output> outputs = {{"out", "", false, 0}, {"y", "", true, 1}};
  const Linearization linear = linearize(placed.bead.table, placed.instance.get(), inputs, outputs);
  ASSERT_EQ(linear.status, TACTUS_OK);
  EXPECT_EQ(linear.independent, std::vector<std::uint32_t>{0});
  EXPECT_EQ(linear.system.states, std::vector<std::string>{"x"});
  EXPECT_NEAR(linear.system.a(0, 0), -Bead::g / 5, 1e-14);
  EXPECT_NEAR(linear.system.b(0, 0), 1, 1e-14);
  EXPECT_NEAR(linear.system.b(0, 1), 0, 1e-14);
  EXPECT_NEAR(linear.system.c(0, 0), 3, 1e-14);
  EXPECT_NEAR(linear.system.d(0, 0), 1, 1e-14);
  EXPECT_NEAR(linear.system.c(1, 0), 0, 1e-14);
  EXPECT_NEAR(linear.system.d(1, 1), -1, 1e-14);  // y = -r
  EXPECT_FALSE(linear.reads_rates);
}

// At rest under u: tan a = u / g. In the angle, a' = (u cos a - g sin a) / r has the slope -sqrt(u^2 + g^2) / r.
TEST(Equilibrium, OnAConstraint) {
  Placed placed(3, -4, 1.5);
  const Equilibrium found = find_equilibrium(placed.bead.table, placed.instance.get(), {});
  ASSERT_TRUE(found.is_found);
  EXPECT_NEAR(found.states[0], 5 * 0.6, 1e-13);
  EXPECT_NEAR(found.states[1], -5 * 0.8, 1e-13);
  EXPECT_EQ(found.freedom, 0u);
  const Linearization linear = linearize(placed.bead.table, placed.instance.get(), {}, {});
  const Analysis analysis = analyze(linear.system);
  ASSERT_EQ(analysis.poles.size(), 1u);
  EXPECT_NEAR(analysis.poles[0].value.real(), -2.5 / 5, 1e-13);
}

TEST(Equilibrium, GuessOffTheConstraint) {
  Placed placed(1, -1);
  const Equilibrium found = find_equilibrium(placed.bead.table, placed.instance.get(), {});
  ASSERT_TRUE(found.is_found);
  EXPECT_NEAR(found.states[0], 0, 1e-12);
  EXPECT_NEAR(found.states[1], -5, 1e-12);
}

TEST(Equilibrium, FreeInputMakesAFamily) {
  Placed placed(3, -4);
  const std::vector<Input> free = {force};
  const Equilibrium found = find_equilibrium(placed.bead.table, placed.instance.get(), free);
  ASSERT_TRUE(found.is_found);
  EXPECT_EQ(found.freedom, 1u);
  EXPECT_NEAR(found.free[0], -Bead::g * found.states[0] / found.states[1], 1e-12);
  EXPECT_EQ(tactus_data(placed.instance.get())[placed.bead.table.layout.inputs], found.free[0]);
}

TEST(Equilibrium, AllOfThem) {
  Placed placed(3, -4);
  const auto all = find_equilibria(placed.bead.table, placed.instance.get(), {}, 60);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_NEAR(all[0].states[1], -5, 1e-12);
  EXPECT_NEAR(all[1].states[1], 5, 1e-12);
  EXPECT_EQ(placed.instance.states()[0], 3);  // the guess is kept
  EXPECT_EQ(place(placed.bead.table, placed.instance.get(), {}, all[1]), TACTUS_OK);
  const Analysis analysis = analyze(linearize(placed.bead.table, placed.instance.get(), {}, {}).system);
  EXPECT_EQ(analysis.stability, Stability::unstable);
}

}  // namespace
}  // namespace control
