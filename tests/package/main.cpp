// The program of docs/library.md. Exits with 0 when the ball is where the closed form says.
#include <tactus/tactus.h>

#include <cmath>
#include <cstdio>

int main() {
  try {
    tactus::Model ball = tactus::Model::from_text(R"(
      simulation  step_size = 0.001
      parameter k = 1, m = 1;
      boundary  x with x(0) = 20, x'(0) = 0;
      system    m * x'' + k * x = 0;
    )");
    ball.set("k", 4);
    for (int i = 0; i < 1000; ++i) ball.step(0.001);
    ball.advance(3);
    std::printf("t = %g, x = %.9f\n", ball.time(), ball.get("x"));
    return std::abs(ball.get("x") - 20 * std::cos(2 * 3.0)) < 1e-9 ? 0 : 1;
  } catch (const tactus::Error& error) {
    std::fputs(error.what(), stderr);
    return 1;
  }
}
