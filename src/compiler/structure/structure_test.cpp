// What no text can reach by itself: models built by hand.
#include "compiler/structure/structure.h"

#include <gtest/gtest.h>

namespace structure {
namespace {

// x' = 1, and a delay of x by `duration`.
flat::Model with_delay(expr::ExprId (*duration)(expr::Pool&)) {
  flat::Model model;
  const flat::VariableId x = model.variables.push({"x", {}});
  model.equations.push({model.pool.variable(x.value, 1), model.pool.constant(1), {}, 0});
  model.delays.push_back({x, 0, duration(model.pool), {}});
  return model;
}

TEST(Structure, RefusesADelayThatMoves) {
  flat::Model model = with_delay([](expr::Pool& pool) { return pool.variable(0, 0); });
  std::vector<Override> overrides;
  diag::Sink diags;
  EXPECT_FALSE(sort(model, overrides, diags).has_value());
  ASSERT_EQ(diags.error_count(), 1u);
  EXPECT_EQ(diags.diagnostics().front().code, "S014");
}

TEST(Structure, TakesADelayThatIsKnown) {
  flat::Model model = with_delay([](expr::Pool& pool) { return pool.constant(0.5); });
  std::vector<Override> overrides;
  diag::Sink diags;
  EXPECT_TRUE(sort(model, overrides, diags).has_value());
  EXPECT_FALSE(diags.has_errors());
}

}  // namespace
}  // namespace structure
