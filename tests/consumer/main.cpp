// x'' = -k x from rest at 1: x = cos(sqrt(k) t).
#include <tactus/tactus.h>

#include <cmath>
#include <cstdio>

int main() {
  tactus::Model model = tactus::Model::from_text(
      "parameter k = 4;\n"
      "boundary x with x(0) = 1, x'(0) = 0;\n"
      "system x'' = -k * x;\n");
  model.set("k", 9);
  model.advance(1);
  double error = std::abs(model.get("x") - std::cos(3.0));
  std::printf("libtactus %s: x(1) = %.9f, error %.1e\n", tactus::version(), model.get("x"), error);
  return error < 1e-5 ? 0 : 1;
}
