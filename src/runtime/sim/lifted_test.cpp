// Sensitivities of models filled by hand, tangents and all, against closed forms: smooth, sampled by a clock, switched
// by a relation, and with a time that is a parameter.
#include "runtime/sim/lifted.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/sim/instance.h"
#include "runtime/sim/models_for_tests.h"

namespace sim {
namespace {

constexpr int solvers[] = {TACTUS_RK4, TACTUS_BS3, TACTUS_TSIT5, TACTUS_DOP853};

struct Started {
  Started(const tactus_model& inner, std::vector<Seed> seeds)
      : lifted(inner, std::move(seeds)), instance(lifted.model()) {
    EXPECT_EQ(tk_reset(&lifted.model(), instance.get()), TACTUS_OK);
  }
  void start() {
    EXPECT_EQ(tk_start(&lifted.model(), instance.get()), TACTUS_OK);
    EXPECT_EQ(tk_begin_events(&lifted.model(), instance.get()), TACTUS_OK);
  }
  int run(int solver, double t_end, double h = 0.01) { return lifted.run(instance.get(), solver, h, 1e-10, t_end); }
  double x(std::size_t state = 0) { return instance.states()[state]; }
  double s(std::size_t seed, std::size_t state = 0) { return lifted.sensitivity(instance.get(), seed)[state]; }

  Lifted lifted;
  Instance instance;
};

// The parts of a direction of a model, for tangents written by hand.
struct Along {
  Along(const tactus_model* m, const double* d)
      : t(d[0]),
        x(d + tactus_direction_states(m)),
        parameter(d + tactus_direction_parameters(m)),
        discrete(d + tactus_direction_discrete(m)) {}
  double t;
  const double* x;
  const double* parameter;
  const double* discrete;
};

// x' = -k x, x(0) = 1, with tangents.
struct DecayWithTangents : Decay {
  DecayWithTangents() {
    table.tangent = [](const tactus_model* m, tactus_instance* i, std::uint32_t function, double, const double* x,
                       const double* d, double* result) {
      const Along along(m, d);
      const double k = tactus_data(i)[m->layout.parameters];
      if (function == TACTUS_OF_DERIVATIVE) result[0] = -along.parameter[0] * x[0] - k * along.x[0];
      if (function == TACTUS_OF_OUTPUTS) {
        result[0] = along.x[0];
        result[1] = along.t;
      }
      if (function == TACTUS_OF_INITIALIZE) result[0] = 0;
      return int{TACTUS_OK};
    };
  }
};

TEST(Lifted, SmoothMotionByStartAndParameter) {
  const DecayWithTangents decay;
  for (int solver : solvers) {
    Started started(decay.table, {{Seed::start_of_state, 0}, {Seed::parameter, 0}});
    tactus_data(started.instance.get())[started.lifted.model().layout.parameters] = 0.7;
    started.start();
    ASSERT_EQ(started.run(solver, 2), TACTUS_OK);
    // rk4 at 0.01, the others with tolerance 1e-10 a step
    EXPECT_NEAR(started.x(), std::exp(-1.4), 1e-8);
    EXPECT_NEAR(started.s(0), std::exp(-1.4), 1e-8);
    EXPECT_NEAR(started.s(1), -2 * std::exp(-1.4), 1e-8);
    double outputs[2] = {};
    ASSERT_EQ(started.lifted.output_sensitivity(started.instance.get(), 1, outputs), TACTUS_OK);
    EXPECT_EQ(outputs[0], started.s(1));
  }
}

TEST(Lifted, NamesItsStates) {
  const DecayWithTangents decay;
  const Lifted lifted(decay.table, {{Seed::start_of_state, 0}, {Seed::parameter, 0}});
  EXPECT_STREQ(lifted.model().state_names[0], "x");
  EXPECT_STREQ(lifted.model().state_names[1], "d x/d x(0)");
  EXPECT_STREQ(lifted.model().state_names[2], "d x/d k");
}

TEST(Lifted, SaysWhyNot) {
  EXPECT_NE(Lifted::obstacle(Decay().table), "");
  EXPECT_EQ(Lifted::obstacle(DecayWithTangents().table), "");
  EXPECT_NE(Lifted::obstacle(Counter().table), "");
  EXPECT_NE(Lifted::obstacle(Late().table), "");
}

// x' = -k u, u := x at every tick of 0.5: x after n ticks is (1 - k / 2)^n.
struct Sampled : HandFilled {
  Sampled() {
    state_names = {"x"};
    parameters = {{"k", "", 0.8, 0, 0}};
    events = {{"clock", TACTUS_EVERY, 0, 0, 1, 0.5, 0, 0, 0}};
    table.discrete_count = 1;
    table.initialize = [](const tactus_model* m, tactus_instance* i) {
      tactus_data(i)[m->layout.states] = 1;
      return int{TACTUS_OK};
    };
    table.derivative = [](const tactus_model* m, tactus_instance* i, double, const double*, double* dx) {
      dx[0] = -tactus_data(i)[m->layout.parameters] * tactus_data(i)[m->layout.discrete];
      return int{TACTUS_OK};
    };
    table.fire = [](const tactus_model* m, tactus_instance* i, std::uint32_t) {
      tactus_data(i)[m->layout.discrete] = tactus_data(i)[m->layout.states];
      return int{TACTUS_OK};
    };
    table.tangent = [](const tactus_model* m, tactus_instance* i, std::uint32_t function, double, const double*,
                       const double* d, double* result) {
      const Along along(m, d);
      const double k = tactus_data(i)[m->layout.parameters];
      const double u = tactus_data(i)[m->layout.discrete];
      if (function == TACTUS_OF_DERIVATIVE) result[0] = -along.parameter[0] * u - k * along.discrete[0];
      if (function == TACTUS_OF_INITIALIZE) result[0] = result[1] = 0;
      if (function == TACTUS_OF_FIRE) result[0] = result[1] = along.x[0];  // the state stays
      return int{TACTUS_OK};
    };
    finish();
  }
};

TEST(Lifted, ThroughTheTicksOfAClock) {
  const Sampled sampled;
  for (int solver : solvers) {
    Started started(sampled.table, {{Seed::parameter, 0}, {Seed::start_of_state, 0}});
    started.start();
    ASSERT_EQ(started.run(solver, 2.5), TACTUS_OK);
    EXPECT_NEAR(started.x(), std::pow(0.6, 5), 1e-12);
    EXPECT_NEAR(started.s(0), -0.5 * 5 * std::pow(0.6, 4), 1e-12);
    EXPECT_NEAR(started.s(1), std::pow(0.6, 5), 1e-12);
    // At 2.5 the clock ticked, too.
    EXPECT_NEAR(started.lifted.discrete_sensitivity(started.instance.get(), 0)[0], started.s(0), 1e-12);
  }
}

// x' = p while x < 1 is held, then q: x = 1 + q (t - (1 - x0) / p). When x passes 1, u := t + x; y' = u.
struct Switched : HandFilled {
  std::vector<tactus_relation> relations;
  Switched() {
    state_names = {"x", "y"};
    parameters = {{"p", "", 2, 0, 0}, {"q", "", 0.5, 0, 0}, {"x0", "", 0.25, 0, 0}};
    events = {{"full", TACTUS_WHEN, 1, 1, 1, 0, 0, 0, 0}};
    relations = {{TACTUS_TRUTH, 0, 0, 0, 1, 1}};
    table.relations = relations.data();
    table.relation_count = 1;
    table.watch_count = 2;  // the guard, the condition
    table.discrete_count = 2;
    table.initialize = [](const tactus_model* m, tactus_instance* i) {
      double* data = tactus_data(i);
      data[m->layout.states] = data[m->layout.parameters + 2];
      data[m->layout.states + 1] = 0;
      data[m->layout.discrete] = data[m->layout.discrete + 1] = 0;
      return int{TACTUS_OK};
    };
    table.derivative = [](const tactus_model* m, tactus_instance* i, double, const double*, double* dx) {
      const double* data = tactus_data(i);
      dx[0] = data[m->layout.parameters + (data[m->layout.discrete] > 0.5 ? 0 : 1)];
      dx[1] = data[m->layout.discrete + 1];
      return int{TACTUS_OK};
    };
    table.watch = [](const tactus_model* m, tactus_instance* i, double, const double* x) {
      double* data = tactus_data(i);
      data[m->layout.watched] = 1 - x[0];
      data[m->layout.watched + 1] = data[m->layout.discrete] > 0.5 ? 0 : 1;
      return int{TACTUS_OK};
    };
    table.fire = [](const tactus_model* m, tactus_instance* i, std::uint32_t) {
      tactus_data(i)[m->layout.discrete + 1] = i->time + tactus_data(i)[m->layout.states];
      return int{TACTUS_OK};
    };
    table.tangent = [](const tactus_model* m, tactus_instance* i, std::uint32_t function, double, const double*,
                       const double* d, double* result) {
      const Along along(m, d);
      switch (function) {
        case TACTUS_OF_DERIVATIVE:
          result[0] = along.parameter[tactus_data(i)[m->layout.discrete] > 0.5 ? 0 : 1];
          result[1] = along.discrete[1];
          break;
        case TACTUS_OF_INITIALIZE:
          result[0] = along.parameter[2];
          result[1] = result[2] = result[3] = 0;
          break;
        case TACTUS_OF_WATCH:
          result[0] = -along.x[0];
          result[1] = 0;
          break;
        case TACTUS_OF_FIRE:
          result[0] = along.discrete[0];
          result[1] = along.t + along.x[0];
          result[2] = along.x[0];
          result[3] = along.x[1];
          break;
      }
      return int{TACTUS_OK};
    };
    finish();
  }
};

TEST(Lifted, AcrossARelationThatChanges) {
  const Switched switched;
  const double p = 2, q = 0.5, x0 = 0.25, end = 1;
  const double tau = (1 - x0) / p;
  const double dtau[] = {-tau / p, 0, -1 / p};  // by p, q, x0
  for (int solver : solvers) {
    Started started(switched.table,
                    {{Seed::parameter, 0}, {Seed::parameter, 1}, {Seed::parameter, 2}, {Seed::start_of_state, 0}});
    started.start();
    ASSERT_EQ(started.run(solver, end), TACTUS_OK);
    // The event is located to 1e-9.
    EXPECT_NEAR(started.x(0), 1 + q * (end - tau), 1e-8);
    EXPECT_NEAR(started.x(1), (tau + 1) * (end - tau), 1e-8);
    for (std::size_t seed = 0; seed < 3; ++seed) {
      EXPECT_NEAR(started.s(seed, 0), -q * dtau[seed] + (seed == 1 ? end - tau : 0), 1e-8) << seed;
      // u = tau + 1, y = u (end - tau)
      EXPECT_NEAR(started.lifted.discrete_sensitivity(started.instance.get(), seed)[1], dtau[seed], 1e-8) << seed;
      EXPECT_NEAR(started.s(seed, 1), dtau[seed] * (end - tau) - (tau + 1) * dtau[seed], 1e-8) << seed;
    }
    EXPECT_NEAR(started.s(3, 0), started.s(2, 0), 1e-8);
    EXPECT_NEAR(started.s(3, 1), started.s(2, 1), 1e-8);
  }
}

// A guard that stands still along the motion where it is zero: when it is crossed does not depend smoothly on anything.
TEST(Lifted, ASurfaceThatIsOnlyTouchedHasNoSensitivity) {
  struct Touching : HandFilled {
    std::vector<tactus_relation> relations = {{TACTUS_TRUTH, 0, 0, 0, 1, 1}};
    Touching() {
      state_names = {"x"};
      table.relations = relations.data();
      table.relation_count = 1;
      table.watch_count = 1;
      table.discrete_count = 1;
      table.initialize = [](const tactus_model*, tactus_instance*) { return int{TACTUS_OK}; };
      table.derivative = [](const tactus_model*, tactus_instance*, double t, const double*, double* dx) {
        dx[0] = 1 - t;
        return int{TACTUS_OK};
      };
      table.watch = [](const tactus_model* m, tactus_instance* i, double, const double* x) {
        tactus_data(i)[m->layout.watched] = x[0] - 0.25;
        return int{TACTUS_OK};
      };
      // Says that the guard does not move along the motion, as at the very top.
      table.tangent = [](const tactus_model* m, tactus_instance*, std::uint32_t function, double, const double*,
                         const double* d, double* result) {
        const Along along(m, d);
        result[0] = function == TACTUS_OF_DERIVATIVE ? -along.t : along.t != 0 ? 0 : along.x[0];
        if (function == TACTUS_OF_INITIALIZE) result[1] = 0;
        return int{TACTUS_OK};
      };
      finish();
    }
  };
  const Touching touching;
  Started started(touching.table, {{Seed::start_of_state, 0}});
  started.start();
  EXPECT_EQ(started.run(TACTUS_TSIT5, 1), TACTUS_SINGULAR);
}

}  // namespace
}  // namespace sim
