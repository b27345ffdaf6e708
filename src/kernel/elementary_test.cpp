// The elementary functions against MPFR: at most 1 ulp over each function's whole range, special values exactly.
//
// The exact value is taken at 200 bits; the error of a result is |result - exact| in units of the last place of a
// double at `exact` (2^-1074 for subnormals); an infinite result counts as 2^1024. Arguments come from fixed seeds. The
// environment variable TACTUS_ELEMENTARY_SCALE multiplies the number of points; the greatest error is recorded as a
// test property.
#include "kernel/elementary.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <limits>
#include <random>
#include <string>

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest = std::numeric_limits<double>::denorm_min();
constexpr double smallest_normal = std::numeric_limits<double>::min();
constexpr double pi = 0x1.921fb54442d18p+1;

class Exact {
 public:
  Exact() { mpfr_init2(value_, 200); }
  ~Exact() { mpfr_clear(value_); }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

using MpfrUnary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using MpfrBinary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

// |result - exact| in ulps of `exact`; infinity when exactly one of them is NaN, or a zero is asked for and not given.
double ulps(double result, mpfr_ptr exact) {
  if (mpfr_nan_p(exact) != 0 || std::isnan(result))
    return mpfr_nan_p(exact) != 0 && std::isnan(result) ? 0.0 : infinity;
  if (mpfr_zero_p(exact) != 0) return result == 0.0 ? 0.0 : infinity;
  static Exact difference, bound;
  mpfr_set_ui_2exp(bound.get(), 1, 1024, MPFR_RNDN);
  if (mpfr_cmpabs(exact, bound.get()) > 0) mpfr_setsign(exact, bound.get(), mpfr_signbit(exact), MPFR_RNDN);
  if (std::isinf(result)) {
    mpfr_setsign(difference.get(), bound.get(), std::signbit(result), MPFR_RNDN);
  } else {
    mpfr_set_d(difference.get(), result, MPFR_RNDN);
  }
  mpfr_sub(difference.get(), difference.get(), exact, MPFR_RNDN);
  long place = std::max<long>(mpfr_get_exp(exact) - 53, -1074);
  mpfr_mul_2si(difference.get(), difference.get(), -place, MPFR_RNDN);
  return std::abs(mpfr_get_d(difference.get(), MPFR_RNDU));
}

class Elementary : public testing::Test {
 protected:
  void TearDown() override {
    RecordProperty("points", std::to_string(points_));
    RecordProperty("greatest_ulps", std::to_string(greatest_));
    RecordProperty("worst_argument", worst_);
  }

  // `count` arguments, multiplied by the scale, drawn by `draw`.
  void sweep(int count, double (*function)(double), MpfrUnary reference, const std::function<double()>& draw) {
    for (long i = 0; i < count * scale(); ++i) expect_close(function, reference, draw());
  }

  void sweep2(int count, double (*function)(double, double), MpfrBinary reference,
              const std::function<double()>& draw_a, const std::function<double()>& draw_b) {
    for (long i = 0; i < count * scale(); ++i) {
      double a = draw_a();
      expect_close2(function, reference, a, draw_b());
    }
  }

  void expect_close(double (*function)(double), MpfrUnary reference, double x) {
    mpfr_set_d(a_.get(), x, MPFR_RNDN);
    reference(exact_.get(), a_.get(), MPFR_RNDN);
    judge(function(x), [x] { return print(x); });
  }

  void expect_close2(double (*function)(double, double), MpfrBinary reference, double a, double b) {
    mpfr_set_d(a_.get(), a, MPFR_RNDN);
    mpfr_set_d(b_.get(), b, MPFR_RNDN);
    reference(exact_.get(), a_.get(), b_.get(), MPFR_RNDN);
    judge(function(a, b), [a, b] { return print(a) + ", " + print(b); });
  }

  // Every bit pattern of a finite double.
  double any() {
    while (true) {
      double x = tk_from_bits(random_());
      if (std::isfinite(x)) return x;
    }
  }
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  // Magnitudes spread evenly over the exponents [low, high), either sign.
  double spread(int low, int high) {
    double x = std::ldexp(uniform(1.0, 2.0), std::uniform_int_distribution<int>(low, high - 1)(random_));
    return random_() & 1 ? x : -x;
  }
  // A few to 2^20 units in the last place away from x.
  double beside(double x) {
    int64_t reach = int64_t{1} << (random_() % 21);
    return tk_from_bits(tk_bits(x) +
                        static_cast<uint64_t>(std::uniform_int_distribution<int64_t>(-reach, reach)(random_)));
  }

  std::mt19937_64 random_{20240607};

 private:
  static std::string print(double x) {
    char text[64];
    std::snprintf(text, sizeof text, "%a", x);
    return text;
  }
  static int scale() {
    static const char* text = std::getenv("TACTUS_ELEMENTARY_SCALE");
    static const int value = text == nullptr ? 1 : std::atoi(text);
    return value;
  }
  template <class Arguments>
  void judge(double result, Arguments arguments) {
    double error = ulps(result, exact_.get());
    points_ += 1;
    if (error > greatest_) {
      greatest_ = error;
      worst_ = arguments();
    }
    EXPECT_LE(error, 1.0) << "at " << arguments() << ": got " << print(result);
  }

  Exact a_, b_, exact_;
  long points_ = 0;
  double greatest_ = 0.0;
  std::string worst_;
};

void expect_same(double got, double wanted, double a, double b = 0.0) {
  if (std::isnan(wanted)) {
    EXPECT_TRUE(std::isnan(got)) << "at " << a << ", " << b << ": got " << got;
  } else {
    EXPECT_EQ(tk_bits(got), tk_bits(wanted)) << "at " << a << ", " << b << ": got " << got << ", wanted " << wanted;
  }
}

// Doubles that come closest to a multiple of pi/2, and other hard ones: J.-M. Muller, Elementary Functions, ch. 11.
constexpr double hard_angles[] = {
    0x1.6ac5b262ca1ffp+849,
    0x1.7ffffffffffffp+1023,
    0x1.921fb54442d18p+0,
    0x1.921fb54442d18p+1,
    0x1.2d97c7f3321d2p+2,
    0x1.921fb54442d18p-1,
    0x1.921fb54442d19p-1,
    0x1.921fb54442d17p-1,
    1e22,
    0x1.fffffffffffffp+1023,
    0x1.0p+1023,
    0x1.5p+300,
    0x1.0p-1022,
    0x1.0p-1074,
    0x1.8p-28,
};

class Angles : public Elementary {
 protected:
  void sweep_angles(double (*function)(double), MpfrUnary reference) {
    for (double x : hard_angles) {
      expect_close(function, reference, x);
      expect_close(function, reference, -x);
    }
    expect_close(function, reference, std::ldexp(6381956970095103.0, 797));
    sweep(15000, function, reference, [this] { return uniform(-pi, pi); });
    sweep(15000, function, reference, [this] { return uniform(-100.0, 100.0); });
    sweep(10000, function, reference, [this] { return uniform(-1e5, 1e5); });
    sweep(10000, function, reference, [this] { return spread(-30, 30); });
    sweep(5000, function, reference, [this] { return spread(-1022, 1024); });
    sweep(5000, function, reference, [this] { return any(); });
    sweep(10000, function, reference, [this] { return beside(std::floor(uniform(1.0, 100.0)) * (pi / 4)); });
    sweep(10000, function, reference, [this] { return beside(std::floor(spread(0, 40)) * (pi / 2)); });
    sweep(1000, function, reference, [this] { return tk_from_bits(random_() >> 12); });
  }
};

TEST_F(Angles, SinIsWithinOneUlp) { sweep_angles(tk_sin, mpfr_sin); }
TEST_F(Angles, CosIsWithinOneUlp) { sweep_angles(tk_cos, mpfr_cos); }
TEST_F(Angles, TanIsWithinOneUlp) { sweep_angles(tk_tan, mpfr_tan); }

TEST_F(Angles, SinCosGivesTheBitsOfSinAndCos) {
  auto compare = [](double x) {
    double s = 0.0;
    double c = 0.0;
    tk_sincos(x, &s, &c);
    expect_same(s, tk_sin(x), x);
    expect_same(c, tk_cos(x), x);
  };
  for (double x : hard_angles) compare(x), compare(-x);
  for (double x : {0.0, -0.0, infinity, -infinity, nan_value}) compare(x);
  for (int i = 0; i < 100000; ++i) {
    compare(any());
    compare(spread(-30, 30));
    compare(uniform(-10.0, 10.0));
  }
}

TEST_F(Angles, SymmetriesHoldExactly) {
  for (int i = 0; i < 100000; ++i) {
    double x = spread(-40, 60);
    expect_same(tk_sin(-x), -tk_sin(x), x);
    expect_same(tk_cos(-x), tk_cos(x), x);
    expect_same(tk_tan(-x), -tk_tan(x), x);
    double s = tk_sin(x);
    double c = tk_cos(x);
    EXPECT_NEAR(s * s + c * c, 1.0, 1e-15);
  }
}

TEST_F(Angles, SpecialValues) {
  for (double x : {0.0, -0.0, smallest, -smallest, 0x1p-1022, 0x1p-40}) {
    expect_same(tk_sin(x), x, x);
    expect_same(tk_tan(x), x, x);
    expect_same(tk_cos(x), 1.0, x);
  }
  for (double x : {infinity, -infinity, nan_value}) {
    expect_same(tk_sin(x), nan_value, x);
    expect_same(tk_cos(x), nan_value, x);
    expect_same(tk_tan(x), nan_value, x);
  }
}

TEST_F(Elementary, AsinIsWithinOneUlp) {
  sweep(30000, tk_asin, mpfr_asin, [this] { return uniform(-1.0, 1.0); });
  sweep(10000, tk_asin, mpfr_asin, [this] { return spread(-60, 0); });
  sweep(2000, tk_asin, mpfr_asin, [this] { return spread(-1074, 0); });
  sweep(5000, tk_asin, mpfr_asin, [this] { return 1.0 - std::abs(spread(-53, -1)); });
  sweep(5000, tk_asin, mpfr_asin, [this] { return beside(random_() & 1 ? 0.5 : -0.5); });
  for (double x : {1.0, -1.0, 0.5, -0.5}) expect_close(tk_asin, mpfr_asin, x);
}

TEST_F(Elementary, AcosIsWithinOneUlp) {
  sweep(30000, tk_acos, mpfr_acos, [this] { return uniform(-1.0, 1.0); });
  sweep(10000, tk_acos, mpfr_acos, [this] { return spread(-60, 0); });
  sweep(2000, tk_acos, mpfr_acos, [this] { return spread(-1074, 0); });
  sweep(5000, tk_acos, mpfr_acos, [this] { return 1.0 - std::abs(spread(-53, -1)); });
  sweep(5000, tk_acos, mpfr_acos, [this] { return std::abs(spread(-53, -1)) - 1.0; });
  sweep(5000, tk_acos, mpfr_acos, [this] { return beside(random_() & 1 ? 0.5 : -0.5); });
  for (double x : {1.0, -1.0, 0.5, -0.5}) expect_close(tk_acos, mpfr_acos, x);
}

TEST_F(Elementary, AsinAndAcosSpecialValues) {
  for (double x : {0.0, -0.0, smallest, -smallest, 0x1p-1022, 0x1p-40}) expect_same(tk_asin(x), x, x);
  expect_same(tk_acos(1.0), 0.0, 1.0);
  expect_same(tk_acos(-1.0), pi, -1.0);
  expect_same(tk_acos(0.0), pi / 2, 0.0);
  expect_same(tk_asin(1.0), pi / 2, 1.0);
  for (double x : {1.0000000000000002, -1.0000000000000002, 2.0, largest, infinity, -infinity, nan_value}) {
    expect_same(tk_asin(x), nan_value, x);
    expect_same(tk_acos(x), nan_value, x);
  }
}

TEST_F(Elementary, AtanIsWithinOneUlp) {
  sweep(20000, tk_atan, mpfr_atan, [this] { return uniform(-5.0, 5.0); });
  sweep(20000, tk_atan, mpfr_atan, [this] { return spread(-30, 30); });
  sweep(5000, tk_atan, mpfr_atan, [this] { return spread(-80, 80); });
  sweep(5000, tk_atan, mpfr_atan, [this] { return any(); });
  sweep(5000, tk_atan, mpfr_atan, [this] { return beside(random_() & 1 ? 0.41421356237309503 : 2.414213562373095); });
  sweep(5000, tk_atan, mpfr_atan, [this] { return beside(1.0); });
  for (double x : {0.0, -0.0, smallest, -smallest}) expect_same(tk_atan(x), x, x);
  expect_same(tk_atan(infinity), pi / 2, infinity);
  expect_same(tk_atan(-infinity), -pi / 2, -infinity);
  expect_same(tk_atan(largest), pi / 2, largest);
  expect_same(tk_atan(nan_value), nan_value, nan_value);
}

TEST_F(Elementary, Atan2IsWithinOneUlp) {
  auto plane = [this] { return uniform(-10.0, 10.0); };
  auto wide = [this] { return spread(-40, 40); };
  auto bits = [this] { return any(); };
  auto low = [this] { return tk_from_bits(random_() >> 11); };
  auto high = [this] { return spread(1000, 1024); };
  sweep2(20000, tk_atan2, mpfr_atan2, plane, plane);
  sweep2(20000, tk_atan2, mpfr_atan2, wide, wide);
  sweep2(5000, tk_atan2, mpfr_atan2, bits, bits);
  sweep2(5000, tk_atan2, mpfr_atan2, low, low);
  sweep2(5000, tk_atan2, mpfr_atan2, high, high);
  sweep2(5000, tk_atan2, mpfr_atan2, [this] { return spread(-450, -350); }, [this] { return spread(-450, -350); });
  sweep2(5000, tk_atan2, mpfr_atan2, [this] { return spread(350, 450); }, [this] { return spread(350, 450); });
  sweep2(5000, tk_atan2, mpfr_atan2, [this] { return spread(-1060, -1000); }, [this] { return spread(-30, 60); });
  sweep2(
      5000, tk_atan2, mpfr_atan2, [this] { return beside(1.0); },
      [this] { return beside(random_() & 1 ? 1.0 : -1.0); });
  sweep2(5000, tk_atan2, mpfr_atan2, [this] { return beside(0.41421356237309503); }, [] { return 1.0; });
  sweep2(5000, tk_atan2, mpfr_atan2, [this] { return beside(2.414213562373095); }, [] { return -1.0; });
}

TEST_F(Elementary, Atan2SpecialValues) {
  struct Case {
    double y, x, wanted;
  };
  const Case cases[] = {
      {0.0, 0.0, 0.0},
      {0.0, -0.0, pi},
      {0.0, 1.0, 0.0},
      {0.0, -1.0, pi},
      {0.0, infinity, 0.0},
      {0.0, -infinity, pi},
      {1.0, 0.0, pi / 2},
      {1.0, -0.0, pi / 2},
      {smallest, 0.0, pi / 2},
      {infinity, 0.0, pi / 2},
      {1.0, infinity, 0.0},
      {1.0, -infinity, pi},
      {infinity, 1.0, pi / 2},
      {infinity, -1.0, pi / 2},
      {infinity, infinity, pi / 4},
      {infinity, -infinity, 3 * pi / 4},
      {1.0, 1.0, pi / 4},
      {largest, smallest, pi / 2},
      {smallest, largest, 0.0},
      {smallest, -largest, pi},
      {nan_value, 1.0, nan_value},
      {1.0, nan_value, nan_value},
      {nan_value, infinity, nan_value},
      {0.0, nan_value, nan_value},
  };
  for (const Case& c : cases) {
    expect_same(tk_atan2(c.y, c.x), c.wanted, c.y, c.x);
    expect_same(tk_atan2(-c.y, c.x), -c.wanted, -c.y, c.x);
  }
}

TEST_F(Elementary, ExpIsWithinOneUlp) {
  sweep(20000, tk_exp, mpfr_exp, [this] { return uniform(-10.0, 10.0); });
  sweep(20000, tk_exp, mpfr_exp, [this] { return uniform(-746.0, 710.0); });
  sweep(20000, tk_exp, mpfr_exp, [this] { return spread(-60, 10); });
  sweep(10000, tk_exp, mpfr_exp, [this] { return uniform(-746.0, -707.0); });
  sweep(10000, tk_exp, mpfr_exp, [this] { return uniform(707.0, 709.9); });
  sweep(5000, tk_exp, mpfr_exp, [this] { return spread(-1074, 10); });
  sweep(5000, tk_exp, mpfr_exp, [this] { return beside(0x1.62e42fefa39efp+9); });
  sweep(5000, tk_exp, mpfr_exp, [this] { return beside(random_() & 1 ? -0x1.74910d52d3051p9 : -708.3964185322641); });
  sweep(5000, tk_exp, mpfr_exp,
        [this] { return beside((std::floor(uniform(-500.0, 500.0)) + 0.5) * 0x1.62e42fefa39efp-9); });
}

TEST_F(Elementary, ExpSpecialValues) {
  for (double x : {0.0, -0.0, smallest, -smallest, 1e-300}) expect_same(tk_exp(x), 1.0, x);
  for (double x : {709.7827128933841, 710.0, 1e4, largest, infinity}) expect_same(tk_exp(x), infinity, x);
  for (double x : {-745.1332191019412, -746.0, -1e4, -largest, -infinity}) expect_same(tk_exp(x), 0.0, x);
  expect_same(tk_exp(-745.0), smallest, -745.0);
  expect_same(tk_exp(1.0), 0x1.5bf0a8b145769p+1, 1.0);
  expect_same(tk_exp(nan_value), nan_value, nan_value);
}

TEST_F(Elementary, LogIsWithinOneUlp) {
  sweep(20000, tk_log, mpfr_log, [this] { return uniform(0.0, 10.0); });
  sweep(20000, tk_log, mpfr_log, [this] { return std::abs(spread(-1022, 1024)); });
  sweep(20000, tk_log, mpfr_log, [this] { return uniform(0.98, 1.02); });
  sweep(20000, tk_log, mpfr_log, [this] { return uniform(0.5, 2.0); });
  sweep(10000, tk_log, mpfr_log, [this] { return 1.0 + spread(-52, -5); });
  sweep(5000, tk_log, mpfr_log, [this] { return beside(1.0); });
  sweep(5000, tk_log, mpfr_log, [this] { return tk_from_bits(random_() >> 12); });
  // The bins' borders.
  sweep(5000, tk_log, mpfr_log,
        [this] { return beside(tk_from_bits(0x3ff0000000000000u - (153ull << 44) + (random_() % 129 << 45))); });
}

TEST_F(Elementary, LogSpecialValues) {
  expect_same(tk_log(1.0), 0.0, 1.0);
  expect_same(tk_log(0.0), -infinity, 0.0);
  expect_same(tk_log(-0.0), -infinity, -0.0);
  expect_same(tk_log(infinity), infinity, infinity);
  for (double x : {-smallest, -1.0, -largest, -infinity, nan_value}) expect_same(tk_log(x), nan_value, x);
  expect_same(tk_log(smallest), -0x1.74385446d71c3p+9, smallest);
}

TEST_F(Elementary, PowIsWithinOneUlp) {
  auto positive = [this] { return std::abs(spread(-1022, 1024)); };
  auto sub = [this] { return tk_from_bits(random_() >> 12); };
  double base = 1.0;
  // An exponent that takes the last base near overflow or underflow.
  auto to_edge = [this, &base] {
    double goal = (random_() & 1) != 0 ? uniform(1022.0, 1024.1) : uniform(-1076.0, -1020.0);
    return goal / std::log2(base);
  };
  auto keep = [&base](const std::function<double()>& draw) { return [&base, draw] { return base = draw(); }; };
  sweep2(20000, tk_pow, mpfr_pow, [this] { return uniform(0.0, 10.0); }, [this] { return uniform(-5.0, 5.0); });
  sweep2(20000, tk_pow, mpfr_pow, positive, [this] { return uniform(-1.0, 1.0); });
  sweep2(10000, tk_pow, mpfr_pow, positive, [this] { return spread(-20, 12); });
  sweep2(10000, tk_pow, mpfr_pow, [this] { return uniform(0.9, 1.1); }, [this] { return spread(-5, 14); });
  sweep2(10000, tk_pow, mpfr_pow, keep([this] { return std::abs(spread(-20, 20)); }), to_edge);
  sweep2(10000, tk_pow, mpfr_pow, keep([this] { return uniform(0.98, 1.02); }), to_edge);
  sweep2(10000, tk_pow, mpfr_pow, keep([this] { return 1.0 + spread(-50, -5); }), to_edge);
  sweep2(5000, tk_pow, mpfr_pow, keep(sub), to_edge);
  sweep2(5000, tk_pow, mpfr_pow, sub, [this] { return uniform(-0.9, 0.9); });
  sweep2(
      5000, tk_pow, mpfr_pow, [this] { return -std::abs(spread(-10, 10)); },
      [this] { return std::floor(uniform(-60.0, 60.0)); });
  sweep2(5000, tk_pow, mpfr_pow, [this] { return any(); }, [this] { return any(); });
  sweep2(
      5000, tk_pow, mpfr_pow, [this] { return std::floor(uniform(2.0, 1000.0)); },
      [this] { return std::floor(uniform(-20.0, 20.0)); });
}

TEST_F(Elementary, PowSpecialValues) {
  struct Case {
    double x, y, wanted;
  };
  const Case cases[] = {
      {0.0, -1.0, infinity},
      {-0.0, -1.0, -infinity},
      {0.0, -3.0, infinity},
      {-0.0, -3.0, -infinity},
      {0.0, -2.0, infinity},
      {-0.0, -2.0, infinity},
      {0.0, -2.5, infinity},
      {-0.0, -2.5, infinity},
      {-0.0, -0x1p53, infinity},
      {-0.0, -9007199254740991.0, -infinity},
      {0.0, -infinity, infinity},
      {-0.0, -infinity, infinity},
      {0.0, 3.0, 0.0},
      {-0.0, 3.0, -0.0},
      {-0.0, 2.0, 0.0},
      {-0.0, 0.5, 0.0},
      {0.0, infinity, 0.0},
      {-1.0, infinity, 1.0},
      {-1.0, -infinity, 1.0},
      {-1.0, 3.0, -1.0},
      {-1.0, 4.0, 1.0},
      {-1.0, largest, 1.0},
      {1.0, nan_value, 1.0},
      {1.0, infinity, 1.0},
      {1.0, -largest, 1.0},
      {nan_value, 0.0, 1.0},
      {nan_value, -0.0, 1.0},
      {infinity, 0.0, 1.0},
      {-5.0, 0.0, 1.0},
      {0.0, 0.0, 1.0},
      {-8.0, 1.0 / 3.0, nan_value},
      {-smallest, 0.5, nan_value},
      {0.5, -infinity, infinity},
      {-0.5, -infinity, infinity},
      {2.0, -infinity, 0.0},
      {-2.0, -infinity, 0.0},
      {0.5, infinity, 0.0},
      {2.0, infinity, infinity},
      {-2.0, infinity, infinity},
      {-infinity, -3.0, -0.0},
      {-infinity, -2.0, 0.0},
      {-infinity, -0.5, 0.0},
      {-infinity, 3.0, -infinity},
      {-infinity, 2.0, infinity},
      {-infinity, 0.5, infinity},
      {infinity, -2.0, 0.0},
      {infinity, 0.1, infinity},
      {nan_value, 1.0, nan_value},
      {2.0, nan_value, nan_value},
      {0.0, nan_value, nan_value},
      {2.0, 1024.0, infinity},
      {-2.0, 1025.0, -infinity},
      {-2.0, 1024.0, infinity},
      {2.0, -1074.0, smallest},
      {-2.0, -1073.0, -2 * smallest},
      {-2.0, -1074.0, smallest},
      {2.0, -1076.0, 0.0},
      {-2.0, -1077.0, -0.0},
      {2.0, -1022.0, smallest_normal},
      {largest, 2.0, infinity},
      {-largest, 3.0, -infinity},
      {1.0000000000000002, largest, infinity},
      {1.0000000000000002, -largest, 0.0},
      {0.9999999999999999, largest, 0.0},
      {-1.0000000000000002, largest, infinity},
      {3.0, 2.0, 9.0},
      {-3.0, 3.0, -27.0},
      {10.0, 15.0, 1e15},
      {4.0, 0.5, 2.0},
      {smallest, 1.0, smallest},
      {largest, 1.0, largest},
      {smallest, 0.5, 0x1p-537},
      {2.0, smallest, 1.0},
      {largest, -smallest, 1.0},
  };
  for (const Case& c : cases) expect_same(tk_pow(c.x, c.y), c.wanted, c.x, c.y);
}

TEST_F(Elementary, PowWithExponentOneIsExact) {
  for (int i = 0; i < 100000; ++i) {
    double x = std::abs(any());
    expect_same(tk_pow(x, 1.0), x, x);
  }
}

TEST_F(Elementary, SqrtIsCorrectlyRoundedBothWays) {
  auto compare = [](double x) {
    expect_same(tk_sqrt(x), std::sqrt(x), x);
    expect_same(tk_sqrt_by_digits(x), std::sqrt(x), x);
  };
  for (double x : {0.0, -0.0, 1.0, 2.0, 4.0, smallest, smallest_normal, largest, infinity, -1.0, -infinity, nan_value})
    compare(x);
  for (int i = 0; i < 200000; ++i) {
    compare(std::abs(any()));
    compare(tk_from_bits(random_() >> 12));
    double root = uniform(1.0, 2.0);
    compare(beside(root * root));
  }
}

TEST_F(Elementary, FloorCeilAbsAreExact) {
  auto compare = [](double x) {
    expect_same(tk_floor(x), std::floor(x), x);
    expect_same(tk_ceil(x), std::ceil(x), x);
    expect_same(tk_abs(x), std::abs(x), x);
  };
  for (double x :
       {0.0, 0.3, 0.5, 0.7, 1.0, 1.5, 2.5, smallest, largest, infinity, nan_value, 0x1p51, 0x1p52, 0x1.0000000000001p52,
        0x1.fffffffffffffp51, 0x1.fffffffffffffp50, 0x1p53, 0x1.fffffffffffffp-2, 0x1.fffffffffffffp-1}) {
    compare(x);
    compare(-x);
  }
  for (int i = 0; i < 200000; ++i) {
    compare(any());
    compare(spread(-5, 56));
    compare(beside(std::floor(spread(0, 52)) + 0.5));
  }
}

// Every build and target must give these bits: gcc and clang at any level, with or without the host's instructions, and
// wasm32. A change of method changes the number; a change of compiler or flags must not.
TEST(ElementaryBits, AreTheSameEverywhere) {
  uint64_t state = 88172645463325252u;
  auto draw = [&state] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  };
  auto within = [&draw](double low, double high) {
    return low + (high - low) * (static_cast<double>(draw() >> 11) * 0x1p-53);
  };
  uint64_t hash = 1469598103934665603u;
  auto add = [&hash](double value) {
    uint64_t bits = value != value ? 0x7ff8000000000000u : tk_bits(value);
    hash = (hash ^ bits) * 1099511628211u;
    hash ^= hash >> 29;
  };
  for (int i = 0; i < 30000; ++i) {
    const double pairs[][2] = {{tk_from_bits(draw()), tk_from_bits(draw())},
                               {within(-10.0, 10.0), within(-5.0, 5.0)},
                               {within(-1.0, 1.0), within(-1.0, 1.0)},
                               {within(-1000.0, 1000.0), within(-100.0, 100.0)}};
    for (const auto& [x, y] : pairs) {
      add(tk_sin(x));
      add(tk_cos(x));
      add(tk_tan(x));
      add(tk_asin(x));
      add(tk_acos(x));
      add(tk_atan(x));
      add(tk_atan2(y, x));
      add(tk_exp(x));
      add(tk_log(tk_abs(x)));
      add(tk_pow(x, y));
      add(tk_pow(tk_abs(x), y));
      add(tk_sqrt(x));
      add(tk_floor(x));
      add(tk_ceil(x));
    }
  }
  EXPECT_EQ(hash, 17607574685673041867u);
}

}  // namespace
