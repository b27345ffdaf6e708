// CVODE behind a table: closed forms, published answers, rows, events, the sparse matrix beside the dense one; and the
// switch to a stiff solver. BDF errs by a few tolerances a decade of time: its bounds here are 100 of them.
#include "runtime/sim/cvode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "runtime/sim/instance.h"
#include "runtime/sim/models_for_tests.h"
#include "runtime/sim/run.h"

namespace sim {
namespace {

struct Kept : Observer {
  std::vector<double> times;
  std::vector<std::vector<double>> rows;
  bool row(double t, std::span<const double> outputs) override {
    times.push_back(t);
    rows.emplace_back(outputs.begin(), outputs.end());
    return true;
  }
};

Request request_for(const HandFilled& model, const Settings& settings) {
  Request request;
  request.table = [&model] { return &model.table; };
  std::string failure;
  auto plan = make_plan(model.table, settings, failure);
  EXPECT_TRUE(plan) << failure;
  if (plan) request.plan = *plan;
  return request;
}

// x' = -1e6 (x - cos t) - sin t, x(0) = 1: x = cos t. Counts in `falls` how often x fell below 0.5. Outputs: x, falls.
struct StiffFollower : HandFilled {
  StiffFollower() {
    state_names = {"x"};
    channels = {{"x", "", 0, 1, 1, 0}, {"falls", "", 1, 1, 1, TACTUS_CHANNEL_DISCRETE}};
    events = {{"falls", TACTUS_WHEN, 0, 1, 4, 0, 0, 0, 0}};
    table.watch_count = 1;
    table.discrete_count = 2;
    table.initialize = [](const tactus_model* model, tactus_instance* instance) {
      tactus_data(instance)[model->layout.states] = 1;
      return int{TACTUS_OK};
    };
    table.derivative = [](const tactus_model*, tactus_instance*, double t, const double* x, double* dx) {
      dx[0] = -1e6 * (x[0] - std::cos(t)) - std::sin(t);
      return int{TACTUS_OK};
    };
    table.tangent = [](const tactus_model*, tactus_instance*, std::uint32_t, double t, const double*, const double* d,
                       double* result) {
      result[0] = -1e6 * (d[1] + std::sin(t) * d[0]) - std::cos(t) * d[0];
      return int{TACTUS_OK};
    };
    table.outputs = [](const tactus_model* model, tactus_instance* instance, double, const double* x) {
      double* data = tactus_data(instance);
      data[model->layout.outputs] = x[0];
      data[model->layout.outputs + 1] = data[model->layout.discrete];
      return int{TACTUS_OK};
    };
    table.fire = [](const tactus_model* model, tactus_instance* instance, std::uint32_t) {
      tactus_data(instance)[model->layout.discrete] += 1;
      tactus_data(instance)[model->layout.discrete + 1] = instance->time;
      return int{TACTUS_OK};
    };
    table.watch = [](const tactus_model* model, tactus_instance* instance, double, const double* x) {
      tactus_data(instance)[model->layout.watched] = x[0] < 0.5;
      return int{TACTUS_OK};
    };
    finish();
  }
};

// Heat in a rod of n cells between cold ends, started in its slowest mode: that decays alone. Output: the first cell.
struct Rod : HandFilled {
  explicit Rod(std::uint32_t n, bool with_pattern) : names(n) {
    for (std::uint32_t i = 0; i < n; ++i) {
      names[i] = "x[" + std::to_string(i + 1) + "]";
      state_names.push_back(names[i].c_str());
    }
    channels = {{"x1", "", 0, 1, 1, 0}};
    table.initialize = [](const tactus_model* model, tactus_instance* instance) {
      const double pi = 3.141592653589793;
      for (std::uint32_t i = 0; i < model->state_count; ++i)
        tactus_data(instance)[model->layout.states + i] = std::sin(pi * (i + 1) / (model->state_count + 1));
      return int{TACTUS_OK};
    };
    table.derivative = [](const tactus_model* model, tactus_instance*, double, const double* x, double* dx) {
      const std::uint32_t count = model->state_count;
      for (std::uint32_t i = 0; i < count; ++i) {
        double left = i > 0 ? x[i - 1] : 0;
        double right = i + 1 < count ? x[i + 1] : 0;
        dx[i] = (count + 1.0) * (count + 1.0) * (left - 2 * x[i] + right);
      }
      return int{TACTUS_OK};
    };
    table.tangent = [](const tactus_model* model, tactus_instance* instance, std::uint32_t, double t, const double*,
                       const double* d,
                       double* result) { return model->derivative(model, instance, t, d + 1, result); };
    table.outputs = [](const tactus_model* model, tactus_instance* instance, double, const double* x) {
      tactus_data(instance)[model->layout.outputs] = x[0];
      return int{TACTUS_OK};
    };
    if (with_pattern) {
      start = {0};
      for (std::uint32_t j = 0; j < n; ++j) {
        for (std::uint32_t i = j > 0 ? j - 1 : 0; i <= j + 1 && i < n; ++i) index.push_back(i);
        start.push_back(static_cast<std::uint32_t>(index.size()));
        colours.push_back(j % 3);
      }
      table.jacobian = {start.data(), index.data()};
      table.colours = colours.data();
      table.colour_count = 3;
    }
    finish();
  }
  double x1(double t) const {
    const double pi = 3.141592653589793;
    const double n = table.state_count;
    const double s = 2 * (n + 1) * std::sin(pi / (2 * (n + 1)));
    return std::sin(pi / (n + 1)) * std::exp(-s * s * t);
  }
  std::vector<std::string> names;
  std::vector<std::uint32_t> start, index, colours;
};

TEST(Cvode, FollowsTheClosedFormWithRowsAndEvents) {
  StiffFollower model;
  Kept kept;
  Outcome outcome = run(
      request_for(model, {.solver = TACTUS_CVODE, .step = 1.0, .tolerance = 1e-8, .until = 15.0, .every = 0.1}), &kept);
  ASSERT_EQ(outcome.ending, Ending::done) << outcome.failure->text;
  ASSERT_EQ(kept.rows.size(), 151u);
  const double pi = 3.141592653589793;
  for (std::size_t k = 0; k < kept.rows.size(); ++k) {
    EXPECT_NEAR(kept.rows[k][0], std::cos(kept.times[k]), 1e-6) << kept.times[k];
    // Falls at pi / 3, 7 pi / 3, 13 pi / 3; no row is nearer to one than 0.01.
    EXPECT_EQ(kept.rows[k][1], std::ceil((kept.times[k] - pi / 3) / (2 * pi))) << kept.times[k];
  }
  EXPECT_LT(outcome.steps, 1500);  // an explicit method: 4 million
}

TEST(Cvode, AnEventIsLocatedOnItsPolynomial) {
  StiffFollower model;
  Cvode cvode(model.table);
  EXPECT_FALSE(cvode.is_sparse());
  const tactus_model* table = cvode.table(&model.table);
  Instance instance(*table);
  ASSERT_EQ(tk_reset(table, instance.get()), TACTUS_OK);
  ASSERT_EQ(tk_start(table, instance.get()), TACTUS_OK);
  ASSERT_EQ(tk_begin_events(table, instance.get()), TACTUS_OK);
  while (instance->time < 2.0) {
    ASSERT_EQ(tk_part(table, instance.get(), TACTUS_CVODE, 1.0, 1e-8, 2.0), TACTUS_OK);
    ASSERT_EQ(tk_fire(table, instance.get()), TACTUS_OK);
  }
  EXPECT_NEAR(instance.section(table->layout.discrete)[1], std::acos(0.5), 2e-6);
  EXPECT_EQ(instance->time, 2.0);
  EXPECT_NEAR(instance.states()[0], std::cos(2.0), 1e-6);
}

TEST(Cvode, ManyStatesBySparseAndDenseMatrices) {
  for (std::uint32_t n : {60u, 150u}) {
    Rod sparse(n, true);
    Rod dense(n, false);
    EXPECT_TRUE(Cvode(sparse.table).is_sparse());
    EXPECT_FALSE(Cvode(dense.table).is_sparse());
    const Settings settings{.solver = TACTUS_CVODE, .tolerance = 1e-9, .until = 0.1};
    Outcome first = run(request_for(sparse, settings), nullptr);
    Outcome second = run(request_for(dense, settings), nullptr);
    ASSERT_EQ(first.ending, Ending::done);
    ASSERT_EQ(second.ending, Ending::done);
    EXPECT_NEAR(first.outputs[0], sparse.x1(0.1), 1e-7);
    EXPECT_NEAR(second.outputs[0], sparse.x1(0.1), 1e-7);
    // The same steps, but for rounding in the factors.
    EXPECT_NEAR(first.outputs[0], second.outputs[0], 1e-10);
  }
  Rod large(2000, true);
  Outcome outcome = run(request_for(large, {.solver = TACTUS_CVODE, .tolerance = 1e-8, .until = 0.1}), nullptr);
  ASSERT_EQ(outcome.ending, Ending::done);
  EXPECT_NEAR(outcome.outputs[0], large.x1(0.1), 1e-6);
  EXPECT_LT(outcome.steps, 2000);  // the fastest mode decays at 1.6e7
}

TEST(Cvode, AModelThatCannotBeEvaluatedAnyFurtherSaysSo) {
  Explosion model;
  model.table.tangent = [](const tactus_model*, tactus_instance*, std::uint32_t, double, const double* x,
                           const double* d, double* result) {
    result[0] = 2 * x[0] * d[1];
    return int{TACTUS_OK};
  };
  Outcome outcome = run(request_for(model, {.solver = TACTUS_CVODE, .until = 2.0}), nullptr);
  EXPECT_EQ(outcome.ending, Ending::failed);
  EXPECT_NEAR(outcome.time, 1.0, 1e-4);
}

TEST(Stiff, ATableWithoutTangentsSaysSo) {
  Decay model;
  for (tactus_solver solver : {TACTUS_ROSENBROCK, TACTUS_CVODE}) {
    Outcome outcome = run(request_for(model, {.solver = solver, .until = 1.0}), nullptr);
    ASSERT_EQ(outcome.ending, Ending::failed);
    EXPECT_EQ(outcome.failure->kind, "no_solver");
    EXPECT_NE(outcome.failure->hint.find("tsit5"), std::string::npos);
  }
}

TEST(Stiff, ARunWithoutAChosenSolverSwitchesAndSaysSo) {
  StiffFollower model;
  Request request = request_for(model, {.step = std::nullopt, .until = 0.5});
  request.stiff_table = request.table;
  Outcome outcome = run(request, nullptr);
  ASSERT_EQ(outcome.ending, Ending::done);
  EXPECT_EQ(outcome.solver, TACTUS_ROSENBROCK);
  ASSERT_TRUE(outcome.switched_at);
  EXPECT_LT(*outcome.switched_at, 0.01);
  EXPECT_LT(outcome.steps, 1500);
  EXPECT_NEAR(outcome.outputs[0], std::cos(0.5), 1e-6);
  ASSERT_EQ(outcome.notes.size(), 1u);
  EXPECT_NE(outcome.notes[0].find("`rosenbrock` took over"), std::string::npos) << outcome.notes[0];

  Rod rod(60, true);
  Request large = request_for(rod, {.until = 0.5});
  large.stiff_table = large.table;
  Outcome sparse = run(large, nullptr);
  ASSERT_EQ(sparse.ending, Ending::done);
  EXPECT_EQ(sparse.solver, TACTUS_CVODE);
  EXPECT_NEAR(sparse.outputs[0], rod.x1(0.5), 1e-5);
}

TEST(Stiff, AChosenSolverStaysAndFixedStepsAreNotWatched) {
  StiffFollower model;
  Request request = request_for(model, {.solver = TACTUS_TSIT5, .until = 0.01});
  request.stiff_table = request.table;
  Outcome outcome = run(request, nullptr);
  EXPECT_EQ(outcome.solver, TACTUS_TSIT5);
  EXPECT_FALSE(outcome.switched_at);
  ASSERT_EQ(outcome.notes.size(), 1u);
  EXPECT_NE(outcome.notes[0].find("--solver rosenbrock"), std::string::npos) << outcome.notes[0];

  Request fixed = request_for(model, {.step = 1e-6, .until = 0.001});
  fixed.stiff_table = fixed.table;
  EXPECT_TRUE(run(fixed, nullptr).notes.empty());
}

TEST(Stiff, RowsInsideFixedStiffStepsAreOfTheMethod) {
  StiffFollower model;
  Kept kept;
  Outcome outcome =
      run(request_for(model, {.solver = TACTUS_ROSENBROCK, .step = 0.1, .until = 2.0, .every = 0.03}), &kept);
  ASSERT_EQ(outcome.ending, Ending::done);
  EXPECT_EQ(outcome.steps, 20);
  for (std::size_t k = 0; k < kept.rows.size(); ++k)
    EXPECT_NEAR(kept.rows[k][0], std::cos(kept.times[k]), 1e-5) << kept.times[k];
}

}  // namespace
}  // namespace sim
