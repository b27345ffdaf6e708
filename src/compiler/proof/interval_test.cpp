// What an operation gives of intervals contains what it gives of numbers in them. Compared with long doubles, which
// have 11 bits more: rounding to them keeps order and doubles, so what lies between two doubles still does.
#include "compiler/proof/interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace proof {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double number() {
    switch (engine_() % 6) {
      case 0:
        return 0;
      case 1:
        return std::ldexp(unit() - 0.5, static_cast<int>(engine_() % 200) - 100);
      case 2:
        return std::floor(unit() * 20 - 10);
      case 3:
        return (unit() - 0.5) * 100;
      default:
        return (unit() - 0.5) * 6;
    }
  }
  Interval interval() {
    const double a = number();
    if (engine_() % 4 == 0) return {a, a};
    const double b = engine_() % 3 == 0 ? a + unit() * 1e-3 : number();
    Interval made{std::min(a, b), std::max(a, b)};
    if (engine_() % 12 == 0) made.low = -inf;
    if (engine_() % 12 == 0) made.high = inf;
    return made;
  }
  double inside(Interval a) {
    const double low = std::isinf(a.low) ? std::min(-100.0, a.high - 100) : a.low;
    const double high = std::isinf(a.high) ? std::max(100.0, a.low + 100) : a.high;
    switch (engine_() % 5) {
      case 0:
        return low;
      case 1:
        return high;
      default:
        return std::clamp(low + unit() * (high - low), low, high);
    }
  }
  double unit() { return std::uniform_real_distribution<double>(0, 1)(engine_); }

 private:
  std::mt19937 engine_;
};

void expect_inside(Interval found, long double value, const char* what, double a, double b) {
  if (std::isnan(value) || std::isinf(value)) return;
  EXPECT_TRUE(static_cast<long double>(found.low) <= value && value <= static_cast<long double>(found.high))
      << what << " of " << a << ", " << b << " is " << static_cast<double>(value) << ", not in [" << found.low << ", "
      << found.high << "]";
}

TEST(Interval, ContainsWhatNumbersGive) {
  struct Binary {
    const char* name;
    Interval (*interval)(Interval, Interval);
    long double (*number)(long double, long double);
  };
  const Binary binary[] = {
      {"+", [](Interval a, Interval b) { return a + b; }, [](long double a, long double b) { return a + b; }},
      {"-", [](Interval a, Interval b) { return a - b; }, [](long double a, long double b) { return a - b; }},
      {"*", [](Interval a, Interval b) { return a * b; }, [](long double a, long double b) { return a * b; }},
      {"/", [](Interval a, Interval b) { return a / b; }, [](long double a, long double b) { return a / b; }},
      {"atan2", [](Interval a, Interval b) { return atan2(a, b); },
       [](long double a, long double b) { return a == 0 && b == 0 ? 0 : std::atan2(a, b); }},
      {"power", [](Interval a, Interval b) { return power(a, b); },
       [](long double a, long double b) { return std::pow(a, b); }},
  };
  struct Unary {
    const char* name;
    Interval (*interval)(Interval);
    long double (*number)(long double);
  };
  const Unary unary[] = {
      {"negate", [](Interval a) { return -a; }, [](long double a) { return -a; }},
      {"square", [](Interval a) { return square(a); }, [](long double a) { return a * a; }},
      {"cube", [](Interval a) { return whole_power(a, 3); }, [](long double a) { return a * a * a; }},
      {"sixth", [](Interval a) { return whole_power(a, 6); }, [](long double a) { return std::pow(a, 6.0L); }},
      {"sqrt", [](Interval a) { return square_root(a); }, [](long double a) { return std::sqrt(a); }},
      {"abs", [](Interval a) { return absolute(a); }, [](long double a) { return std::abs(a); }},
      {"floor", [](Interval a) { return floor(a); }, [](long double a) { return std::floor(a); }},
      {"ceil", [](Interval a) { return ceil(a); }, [](long double a) { return std::ceil(a); }},
      {"sin", [](Interval a) { return sin(a); }, [](long double a) { return std::sin(a); }},
      {"cos", [](Interval a) { return cos(a); }, [](long double a) { return std::cos(a); }},
      {"tan", [](Interval a) { return tan(a); }, [](long double a) { return std::tan(a); }},
      {"asin", [](Interval a) { return asin(a); }, [](long double a) { return std::asin(a); }},
      {"acos", [](Interval a) { return acos(a); }, [](long double a) { return std::acos(a); }},
      {"atan", [](Interval a) { return atan(a); }, [](long double a) { return std::atan(a); }},
      {"exp", [](Interval a) { return exp(a); }, [](long double a) { return std::exp(a); }},
      {"log", [](Interval a) { return log(a); }, [](long double a) { return std::log(a); }},
  };
  Random random(1);
  for (int round = 0; round < 20000; ++round) {
    const Interval a = random.interval(), b = random.interval();
    for (int sample = 0; sample < 3; ++sample) {
      const double x = random.inside(a), y = random.inside(b);
      for (const Binary& each : binary) expect_inside(each.interval(a, b), each.number(x, y), each.name, x, y);
      for (const Unary& each : unary) expect_inside(each.interval(a), each.number(x), each.name, x, 0);
    }
  }
}

TEST(Interval, ExactResultsStayPoints) {
  EXPECT_EQ((Interval{0.5, 0.5} + Interval{0.25, 0.25}), (Interval{0.75, 0.75}));
  EXPECT_EQ((Interval{3, 3} * Interval{-2, 5}), (Interval{-6, 15}));
  EXPECT_EQ((Interval{1, 1} / Interval{4, 4}), (Interval{0.25, 0.25}));
  EXPECT_EQ(square_root({4, 9}), (Interval{2, 3}));
  const Interval tenth_and_fifth = Interval::point(0.1) + Interval::point(0.2);
  EXPECT_LT(tenth_and_fifth.low, tenth_and_fifth.high);
  EXPECT_EQ(std::nextafter(tenth_and_fifth.low, inf), tenth_and_fifth.high);
}

TEST(Interval, DependentSquaresAndQuotientsKnowTheirSigns) {
  EXPECT_EQ(square({-1, 2}), (Interval{0, 4}));
  EXPECT_EQ((Interval{1, 2} / Interval{0, 4}), (Interval{0.25, inf}));
  EXPECT_EQ((Interval{1, 2} / Interval{-4, 0}), (Interval{-inf, -0.25}));
  EXPECT_EQ((Interval{1, 2} / Interval{-1, 1}), (Interval{-inf, inf}));
  EXPECT_EQ(quotient({1, 2}, {0, 4}), (Interval{-inf, inf}));
  EXPECT_EQ(quotient({1, 2}, {1, 4}), (Interval{0.25, 2}));
  EXPECT_EQ((Interval{1, inf} * Interval{0, 0}), (Interval{0, 0}));
}

TEST(Interval, SineKnowsItsExtrema) {
  EXPECT_EQ(sin({1, 2}).high, 1);
  EXPECT_EQ(sin({4, 5}).low, -1);
  EXPECT_LT(sin({0, 1.5}).high, 1);
  EXPECT_EQ(cos({-0.1, 0.1}).high, 1);
  EXPECT_EQ(cos({3, 3.2}).low, -1);
  EXPECT_EQ(sin({-inf, 0}), (Interval{-1, 1}));
  EXPECT_EQ(tan({1, 2}), (Interval{-inf, inf}));
}

TEST(Interval, RootsUndoPowers) {
  Random random(2);
  for (int round = 0; round < 20000; ++round) {
    const Interval x = random.interval();
    const double inside = random.inside(x);
    for (const int exponent : {2, 3, 4, 5}) {
      const Interval image = whole_power(Interval::point(inside), exponent);
      const Interval back = whole_root(image, exponent, x);
      EXPECT_TRUE(back.contains(inside)) << inside << " ^ " << exponent;
    }
  }
  EXPECT_EQ(whole_root({4, 9}, 2, {0, inf}), (Interval{2, 3}));
  EXPECT_EQ(whole_root({4, 9}, 2, {-inf, inf}), (Interval{-3, 3}));
  EXPECT_EQ(whole_root({4, 9}, 2, {-inf, 1}), (Interval{-3, -2}));
  EXPECT_TRUE(whole_root({-9, -4}, 2, {-inf, inf}).is_empty());
}

}  // namespace
}  // namespace proof
