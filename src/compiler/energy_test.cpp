// What the compiler finds out about an energy: its slopes, and the Hamiltonian form or what spoils it.
#include <gtest/gtest.h>

#include "compiler/compile.h"

namespace {

std::string explained(const std::string& text) {
  diag::SourceMap sources;
  diag::Sink diags;
  compiler::Explanation explanation;
  const auto file = source::add("model.tact", text, sources, diags);
  EXPECT_TRUE(compiler::compile({*file}, sources, {}, diags, &explanation)) << diag::render_text(diags, sources, false);
  const auto* stage = explanation.find("energy");
  return stage == nullptr ? "" : stage->text;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string pendulum = R"(
  parameter d = 0.1;
  boundary q(0) = 1, p(0) = 0;
  system
    q' = p;  p' = -sin(q) - d * p + F;  F = cos(t);
)";

TEST(Energy, FormOfAPendulumWithAMotor) {
  const std::string text = explained(pendulum + "energy H = p^2 / 2 - cos(q);  power motor: F -> p;");
  EXPECT_TRUE(has(text, "by q  sin(q)\n")) << text;
  EXPECT_TRUE(has(text, "J  [0, 1; -1, 0]\nR  [0, 0; 0, d]\nG  [0; 1]\n")) << text;
  EXPECT_TRUE(has(text, "the model is passive")) << text;
}

// Two masses and one spring: the slopes by q1 and q2 are opposite, so that they do not determine J alone.
TEST(Energy, FormWhereSlopesDependOnOneAnother) {
  const std::string text = explained(R"(
    boundary q1(0) = 0, q2(0) = 0, p1(0) = 1, p2(0) = 0;
    system
      q1' = p1 / 2;  q2' = p2 / 3;  r = q2 - q1;
      p1' = 5 * r + 0.2 * (p2 / 3 - p1 / 2);  p2' = -5 * r - 0.2 * (p2 / 3 - p1 / 2);
      energy H = p1^2 / 4 + p2^2 / 6 + 5 * r^2 / 2;
  )");
  EXPECT_TRUE(has(text,
                  "J  [0, 0, 1, 0; 0, 0, 0, 1; -1, 0, 0, 0; 0, -1, 0, 0]\n"
                  "R  [0, 0, 0, 0; 0, 0, 0, 0; 0, 0, 0.2, -0.2; 0, 0, -0.2, 0.2]\n"))
      << text;
}

TEST(Energy, SaysWhatSpoilsTheForm) {
  EXPECT_TRUE(has(explained(pendulum + "energy H = p^4 / 4 - cos(q);  power motor: F -> p^3;"),
                  "form  not found: q' is no fixed combination"));
  EXPECT_TRUE(has(explained(pendulum + "energy H = p^2 / 2 - cos(q);  power motor: F -> 2 * p;"),
                  "what the ports give is not G' dH/dx"));
  EXPECT_TRUE(has(explained(R"(
    boundary q(0) = 1, p(0) = 0;
    system q' = p;  p' = -q + 0.3 * p;  energy H = p^2 / 2 + q^2 / 2;)"),
                  "R has the eigenvalue -0.3: the model gains energy by itself"));
}

TEST(Energy, DependsOnStatesAlone) {
  const auto codes = [](const std::string& text) {
    diag::SourceMap sources;
    diag::Sink diags;
    const auto file = source::add("model.tact", text, sources, diags);
    EXPECT_FALSE(compiler::compile({*file}, sources, {}, diags));
    return diag::render_text(diags, sources, false);
  };
  EXPECT_TRUE(has(codes("boundary x(0) = 1; system x' = -x; y + z = x; y - 2 * z = 3 * x; energy H = y^2;"), "N001"));
  EXPECT_TRUE(has(codes("boundary x(0) = 1; system x' = -x; energy H = x^2 + t;"), "N002"));
}

}  // namespace
