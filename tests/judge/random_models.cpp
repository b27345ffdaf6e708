#include "random_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace judge {
namespace {

// A text whose parts are put together at the end.
class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15u + 1) {}

  struct Part {
    const char* feature;
    void (Writer::*write)();
  };
  static const std::vector<Part>& parts();

  RandomModel whole(std::uint64_t seed) {
    start_ = pick(5) == 0 ? value(-1, 3) : 0;
    if (start_ != 0) note("starting_time");
    head_ += fmt::format("parameter k = {}, m = {} in 0.1..10;\nconstant c = {};\n", number(0.5, 2), number(0.5, 2),
                         number(0.1, 1));
    // Something to read for those that follow.
    explicit_equation();
    const auto& all = parts();
    use_part(all[seed % all.size()]);
    for (int i = pick(4) + 1; i > 0; --i) use_part(all[static_cast<std::size_t>(pick(static_cast<int>(all.size())))]);
    if (pick(3) == 0) {
      note("override");
      one_.overrides.push_back({"k", value(0.5, 2)});
      if (pick(2)) one_.overrides.push_back({"c", value(0.1, 1)});
    }
    // Fixed steps are only as good as what is located between them.
    const bool has_edges = contains_any({"conditions", "corners", "kink in a loop", "tables", "maps", "inputs"});
    static constexpr tactus_solver solvers[] = {TACTUS_DOP853, TACTUS_TSIT5, TACTUS_RK4};
    one_.solver = solvers[pick(has_edges ? 2 : 3)];
    note(one_.solver == TACTUS_RK4 ? "fixed steps" : "adaptive steps");
    return finish();
  }

  RandomModel with_units() {
    note("units");
    note("override");
    const bool grams = pick(2);
    head_ +=
        fmt::format("parameter mass = {} [{}], stiffness = {} [N/cm], b = {} [N*s/m];\nconstant g = 9.81 [m/s^2];\n",
                    grams ? number(500, 2000) : number(0.5, 2), grams ? "g" : "kg", number(0.02, 0.2), number(0.2, 1));
    boundary_ += fmt::format("  x(0) = {} [cm], x'(0) = {} [km/h], a(0) = {} [deg], a'(0) = {} [rpm];\n",
                             value(-20, 20), value(-2, 2), value(-60, 60), value(-5, 5));
    system(fmt::format("mass * x'' = -stiffness * x - b * x' + mass * g * sin(a) + {} [N] * sin(2 [Hz] * t)",
                       number(0, 2)));
    system(fmt::format("{} [kg*m^2] * a'' = -{} [N*m] * sin(a) - {} [N*m*s] * a' + {} [N] * x * cos(a)", number(0.5, 1),
                       number(2, 9), number(0.1, 0.5), number(0.1, 0.5)));
    system("E = mass / 2 * x'^2 + stiffness / 2 * x^2");
    system(fmt::format("P = b * x'^2 / {} [mW]", number(1, 9)));
    system(fmt::format("v = clamp(x', -{} [cm/s], {} [cm/s])", number(5, 50), number(5, 50)));
    system(fmt::format("u = {} [V] * if a > {} [deg] then 1 else -0.5", number(1, 12), value(-20, 20)));
    system(fmt::format("{} [mH] * i' + {} [Ohm] * i = u", number(200, 900), number(1, 3)));
    boundary_ += fmt::format("  i(0) = {} [mA];\n", value(-100, 100));
    one_.overrides.push_back({"stiffness", value(2, 20)});
    return finish();
  }

  // --- Constrained mechanisms
  // -------------------------------------------------------------------------------------------

  RandomModel constrained() {
    note("constrained");
    start_ = 0;
    one_.end = 1;
    one_.step = 0.0025;  // multipliers converge with order 2 only
    switch (pick(4)) {
      case 0: {  // one pendulum, damped and driven
        const double angle = value(-1.5, 1.5), length = value(0.5, 2);
        head_ += fmt::format("parameter b = {}, g = 9.81;\nconstant l = {};\n", number(0, 0.5), length);
        boundary_ += start("x", length * std::sin(angle), 0) + start("y", -length * std::cos(angle), 0);
        system(fmt::format("m * x'' = -f * x - b * x' + {} * sin(3 * t)", number(0, 1)));
        system("m * y'' = -f * y - b * y' - m * g");
        system("x^2 + y^2 = l^2");
        system(fmt::format("m = {}", number(0.5, 2)));
        system("tension = f * l");
        break;
      }
      case 1: {  // a double pendulum
        const double a = value(-1, 1), b = value(-1, 1);
        boundary_ += fmt::format("  p(0) = ({}, {}), p'(0) = (0, 0);\n  q(0) = ({}, {}), q'(0) = (0, 0);\n",
                                 std::sin(a), -std::cos(a), std::sin(a) + std::sin(b), -std::cos(a) - std::cos(b));
        system(fmt::format("{0} * p'' = -f1 * p + f2 * (q - p) - (0, 9.81 * {0})", number(0.5, 2)));
        system(fmt::format("{0} * q'' = -f2 * (q - p) - (0, 9.81 * {0})", number(0.5, 2)));
        system("dot(p, p) = 1");
        system("dot(q - p, q - p) = 1");
        break;
      }
      case 2: {  // two masses joined rigidly, and a gear
        boundary_ += start("x", 0.3, 0.1) + start("z", 0.8, 0.1) + start("w", 0, 0.2);
        system(fmt::format("{} * x'' = F - {} * x - 0.3 * x'", number(0.5, 2), number(1, 5)));
        system(fmt::format("{} * z'' = -F + T + sin(t)", number(0.5, 2)));
        system("z = x + 0.5");
        system(fmt::format("{} * w'' = -{} * T - 0.1 * w'", number(0.5, 2), 2));
        system("w = 2 * (z - 0.8)");
        break;
      }
      default: {  // a velocity that is prescribed: index 2
        boundary_ += start("x", 0.2, 1) + "  y(0) = 0.5;\n";
        system(fmt::format("{} * x'' = F - {} * x", number(0.5, 2), number(1, 5)));
        system("x' + 0.1 * y = 1.05");
        system(fmt::format("y' = -{} * y + 0.1 * F", number(0.5, 2)));
        break;
      }
    }
    return finish();
  }

 private:
  // --- Small things
  // -----------------------------------------------------------------------------------------------------

  int pick(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  double value(double low, double high) {
    const double part = static_cast<double>(random_() % 10000) / 10000;
    return std::round((low + part * (high - low)) * 1000) / 1000;
  }
  std::string number(double low, double high) { return bracketed(value(low, high)); }
  static std::string bracketed(double v) { return v < 0 ? fmt::format("({})", v) : fmt::format("{}", v); }
  std::string fresh(const char* stem) { return fmt::format("{}{}", stem, ++count_); }
  void note(const std::string& feature) { features_.insert(feature); }
  void use_part(const Part& part) {
    note(part.feature);
    (this->*part.write)();
  }
  bool contains_any(std::initializer_list<const char*> features) const {
    return std::any_of(features.begin(), features.end(), [&](const char* each) { return features_.contains(each); });
  }
  static std::string primes(int n) { return std::string(static_cast<std::size_t>(n), '\''); }

  void system(const std::string& equation) { system(equation, equation); }
  void system(const std::string& compiled, const std::string& judged) {
    system_ += "  " + compiled + ";\n";
    judged_ += "  " + judged + ";\n";
  }
  static std::string start(const std::string& name, double v, double rate) {
    return fmt::format("  {0}(0) = {1}, {0}'(0) = {2};\n", name, v, rate);
  }

  std::string any(const std::vector<std::string>& names) {
    return names.empty() ? "t" : names[static_cast<std::size_t>(pick(static_cast<int>(names.size())))];
  }
  // Continuous, of earlier parts.
  std::string name() { return any(smooth_); }
  // Also what jumps.
  std::string any_name() { return pick(3) && !jumping_.empty() ? any(jumping_) : name(); }

  std::string smooth(int depth) {
    if (depth == 0) return pick(4) ? name() : number(-1, 1);
    const std::string a = smooth(depth - 1), b = smooth(depth - 1);
    switch (pick(12)) {
      case 0:
        return "(" + a + " + " + b + ")";
      case 1:
        return "(" + a + " - " + b + ") / m";
      case 2:
        return "sin(" + a + ") * cos(" + b + ")";
      case 3:
        return "atan2(" + a + ", 1 + (" + b + ")^2)";
      case 4:
        return "sqrt(1 + (" + a + ")^2)";
      case 5:
        return "log(2 + (" + a + ")^2)";
      case 6:
        return "exp(-(" + a + ")^2)";
      case 7:
        return "tan(sin(" + a + ") / 2)";
      case 8:
        return "power(1 + (" + a + ")^2, 0.3)";
      case 9:
        return "asin(sin(" + a + ") / 2) + acos(cos(" + b + ") / 3)";
      case 10:
        return "atan(" + a + ") * " + number(-1, 1);
      default:
        return "k * sin(t + " + a + ")";
    }
  }
  // Within -1 .. 1.
  std::string drive() { return "sin(" + smooth(1 + pick(2)) + ")"; }
  std::string drive_any() { return pick(2) ? drive() : "sin(" + any_name() + " + " + smooth(1) + ")"; }

  // A new damped state; the right side's drive may read anything before.
  std::string state(const std::string& drive, int order) {
    const std::string x = fresh("x");
    static const char* const damping[] = {"{0}", "2 * {0} + 1.5 * {0}'", "{0} + 3 * {0}' + 3 * {0}''"};
    for (int k = 0; k < order; ++k) boundary_ += fmt::format("  {}{}(0) = {};\n", x, primes(k), number(-1, 1));
    system(fmt::format("{}{} = {} * {} - ({})", x, primes(order), number(0.5, 2), drive,
                       fmt::format(fmt::runtime(damping[order - 1]), x)));
    smooth_.push_back(x);
    if (order > 1) smooth_.push_back(x + "'");
    return x;
  }

  // --- Parts
  // ------------------------------------------------------------------------------------------------------------

  void explicit_equation() { state(drive_any(), 1 + pick(3)); }

  void implicit_equation() {
    const std::string x = fresh("x");
    boundary_ += fmt::format("  {}(0) = {};\n", x, number(-1, 1));
    switch (pick(4)) {
      case 0:
        system(fmt::format("{} * {}' + {}'^3 / 10 + {} = {}", number(0.5, 2), x, x, x, drive_any()));
        break;
      case 1:
        boundary_ += fmt::format("  {}'(0) = {};\n", x, number(-1, 1));
        system(fmt::format("0 = m * {0}'' + 0.2 * sin({0}'') + k * {0} + {0}' - {1}", x, drive_any()));
        break;
      case 2:
        boundary_ += fmt::format("  {0}'(0) = {1}, {0}''(0) = k - {0};\n", x, number(-1, 1));
        system(fmt::format("{1} - {0} = {0}''' + 3 * {0}'' + 3 * {0}'", x, drive_any()));
        break;
      default:
        system(fmt::format("exp({0}' / 2) + {0}' = 1 - {0} + {1} / 2", x, drive_any()));
    }
    smooth_.push_back(x);
  }

  // Two accelerations, each in both equations: a cart and a pendulum.
  void coupled_equations() {
    const std::string x = fresh("x"), a = fresh("a");
    boundary_ += start(x, value(-1, 1), 0) + start(a, value(-1, 1), 0);
    system(fmt::format("0 = {2} * {0}'' + ({1}'' * cos({1}) - {1}'^2 * sin({1})) + {0} + {0}' - {3}", x, a,
                       number(3, 6), drive_any()));
    system(fmt::format("0 = {2} * sin({1}) + {0}'' * cos({1}) + {3} * {1}'' + {1}' / 2", x, a, number(2, 9),
                       number(1, 2)));
    smooth_.insert(smooth_.end(), {x, a, a + "'"});
  }

  void linear_loop() {
    const int n = 2 + pick(4);
    std::vector<std::string> unknowns;
    for (int i = 0; i < n; ++i) unknowns.push_back(fresh("y"));
    for (int i = 0; i < n; ++i) {
      std::string left;
      for (int j = 0; j < n; ++j) {
        if (i != j && pick(3) == 0) continue;
        const std::string factor = i == j ? fmt::format("({} + {}^2)", n + 1, name()) : number(-1, 1);
        left += (left.empty() ? "" : " + ") + factor + " * " + unknowns[static_cast<std::size_t>(j)];
      }
      system(left + " = " + drive_any());
    }
    jumping_.insert(jumping_.end(), unknowns.begin(), unknowns.end());
  }

  void nonlinear_loop() {
    const std::string a = fresh("z"), b = fresh("z");
    switch (pick(5)) {
      case 0:
        system(fmt::format("{0} + {0}^3 + exp({0}) / 10 = {1}", a, smooth(2)));
        system(fmt::format("{} = {} / 2", b, a));
        break;
      case 1:
        system(fmt::format("{0} = {2} * sin({1}) + {3}", a, b, number(0.1, 0.5), drive_any()));
        system(fmt::format("{1} = {2} * cos({0}) + {3}", a, b, number(0.1, 0.5), drive()));
        break;
      case 2:
        note("kink in a loop");
        system(fmt::format("{0} + 0.4 * abs({0}) + 0.2 * {1} = {2}", a, b, drive()));
        system(fmt::format("{1} - 0.3 * max({0}, {1}) = {2}", a, b, drive()));
        break;
      case 3:
        note("guess");
        boundary_ += fmt::format("  {}(0) ~ {};\n", a, pick(2) ? 2 : -2);
        system(fmt::format("{0}^2 + sin({0}) / 10 = 4 + {1}", a, drive()));
        system(fmt::format("{0} = {1}^2", b, a));
        break;
      default:
        system(fmt::format("{0} + 0.5 * {1} + {0}^3 = {2}", a, b, drive_any()));
        system(fmt::format("{1} - 0.5 * {0} + atan({1}) = {2}", a, b, drive()));
    }
    jumping_.insert(jumping_.end(), {a, b});
  }

  void vectors() {
    const std::string p = fresh("p"), r = fresh("r");
    const int n = 2 + pick(2);
    const auto tuple = [&](const std::function<std::string()>& make) {
      std::string text = "(" + make();
      for (int i = 1; i < n; ++i) text += ", " + make();
      return text + ")";
    };
    boundary_ += fmt::format("  {0} with {0}(0) = {1}, {0}'(0) = {2};\n", p, tuple([&] { return number(0.5, 1.5); }),
                             tuple([&] { return number(-1, 1); }));
    system(
        fmt::format("m * {0}'' + k * {0} + {1} * {0}' = {2}", p, number(0.5, 2), tuple([&] { return drive_any(); })));
    const std::string d = tuple([&] { return number(1.5, 3); });
    switch (pick(6)) {
      case 0:
        system(fmt::format("{} = norm({} + {})", r, p, d));
        break;
      case 1:
        system(fmt::format("{} = dot(direction({} + {}), {})", r, p, d, p));
        break;
      case 2:
        system(fmt::format("{} = {}", r,
                           n == 2 ? fmt::format("cross({}, {})", p, d) : fmt::format("norm(1 + cross({}, {}))", p, d)));
        break;
      case 3:
        system(fmt::format(
            "{} = {}[1]", r,
            n == 2 ? fmt::format("rotate({}, {})", p, name()) : fmt::format("rotate({}, {}, {})", p, d, name())));
        break;
      case 4:
        system(fmt::format("{} = distance(proj({}, {}), {} - 3)", r, p, d, p));
        break;
      default:
        system(fmt::format("{} = sum(i in 1..{}: i * {}[i]^2) + index({}, 2)", r, n, p, p));
    }
    smooth_.insert(smooth_.end(), {r, p + "[1]", p + "'[2]"});
  }

  void matrices() {
    const std::string q = fresh("q"), a = fresh("A"), s = fresh("s");
    boundary_ += fmt::format("  {}(0) = ({}, {}, {});\n", q, number(-1, 1), number(-1, 1), number(-1, 1));
    head_ += fmt::format("constant {} = ((-1, {}, 0), ({}, -1.5, {}), (0, {}, -2));\n", a, number(-1, 1), number(-1, 1),
                         number(-1, 1), number(-1, 1));
    switch (pick(5)) {
      case 0:
        system(fmt::format("{0}' = {1} * {0} + ({2}, 0, {3})", q, a, drive(), drive()));
        system(fmt::format("{} = det(identity(3) + {} / 10)", s, a));
        break;
      case 1:
        system(fmt::format("(identity(3) + transpose({1}) / 10) * {0}' = {1} * {0} + ({2}, 0, 1)", q, a, drive()));
        system(fmt::format("{} = norm({} - 2)", s, a));
        break;
      case 2:
        system(fmt::format("{0}' = inverse(diag(2, {2}, 3) + skew(({3}, 0.1, 0.2))) * ({1} * {0})", q, a, number(1, 3),
                           name()));
        system(fmt::format("{} = {}[1, 2] + {}[2]", s, a, q));
        break;
      case 3: {
        const std::string w = fresh("W");
        boundary_ += fmt::format("  {}(0) = ((1, 0), (0, {}));\n", w, number(-1, 1));
        system(fmt::format("{0}' = ((-1, {1}), (-{1}, -1)) * {0}", w, number(0.1, 1)));
        system(fmt::format("{0}' = -{0} + {1}[1]", q, a));
        system(fmt::format("{} = det({} * transpose({}))", s, w, w));
        break;
      }
      default: {
        const std::string v = fresh("v");
        system(fmt::format("(4 * identity(3) + {1}) * {0} = {2} + ({3}, 1, 0)", v, a, q, drive_any()));
        system(fmt::format("{0}' = {2} / 4 - {0}", q, a, v));
        system(fmt::format("{} = dot({}, {})", s, v, q));
        jumping_.push_back(v + "[1]");
      }
    }
    smooth_.insert(smooth_.end(), {q + "[1]", q + "[3]"});
    jumping_.push_back(s);
  }

  void functions() {
    const std::string f = fresh("f"), y = fresh("y");
    head_ += fmt::format("function {}(a, b) = a * cos(b) - {} * b / (1 + a^2) * k;\n", f, number(0.1, 1));
    head_ += fmt::format("function {}of(v) = {}(v[1], {}(v[2], c));\n", f, f, f);
    system(fmt::format("{} = {}({}, {}) + {}of(({}, {}))", y, f, smooth(1), any_name(), f, name(), drive()));
    state(fmt::format("sin({}({}, {}))", f, name(), name()), 1);
    jumping_.push_back(y);
  }

  void conditions() {
    const std::string y = fresh("g"), edge = number(-0.5, 0.5);
    const std::string a = smooth(1), b = smooth(1);
    std::string e;
    switch (pick(8)) {
      case 0:
        e = fmt::format("if {} < {} && !({} > {}) then {} else {}", a, edge, b, number(0.5, 1.5), smooth(1), drive());
        break;
      case 1:
        e = fmt::format("if({0} >= {1} || {0} < {1} - 0.3, k, -c)", name(), edge);
        break;
      case 2:
        e = fmt::format("floor(3 * {} + 0.213) / 3 + ceil(2 * {} + 0.371)", a, b);
        break;
      case 3:
        e = fmt::format("sign({} - {}) * {}", name(), edge, a);
        break;
      case 4:
        e = fmt::format("({} > {}) * {}", name(), edge, a);
        break;
      case 5:
        e = fmt::format("if {} in {}..{} then 1 else {}", name(), edge, number(0.6, 1), drive());
        break;
      case 6:
        e = fmt::format("if ({}, {}) in box(({}, -1), (1, 2)) then 1 else -1", name(), name(), edge);
        break;
      default:
        e = fmt::format("if {} then {} else if {} > {} then 1 else 2", pick(2) ? "true" : "k > 1", a, name(), edge);
    }
    system(y + " = " + e);
    jumping_.push_back(y);
    state(fmt::format("sin({})", y), 1 + pick(2));
  }

  void corners() {
    const std::string y = fresh("g");
    std::string e;
    switch (pick(4)) {
      case 0:
        e = fmt::format("min({}, {}, {})", smooth(1), number(-0.3, 0.3), name());
        break;
      case 1:
        e = fmt::format("max({}, abs({}) - 0.4)", smooth(1), name());
        break;
      case 2:
        e = fmt::format("clamp({}, -{}, {})", smooth(2), number(0.1, 0.5), number(0.1, 0.5));
        break;
      default:
        e = fmt::format("abs({}) * {} + smooth(max({}, 0))", name(), number(0.5, 1), name());
    }
    system(y + " = " + e);
    smooth_.push_back(y);
    // A state's own corners do not slide.
    const std::string x = fresh("x");
    boundary_ += fmt::format("  {0}(0) = {1}, {0}'(0) = {2};\n", x, number(-1, 1), number(-1, 1));
    system(
        fmt::format("{0}'' = -{1} * {0} - {0}' * abs({0}') - max({0} - 0.2, 0) + {2}", x, number(1, 4), drive_any()));
    smooth_.push_back(x);
  }

  void modules() {
    const std::string mass = fresh("Mass"), spring = fresh("Spring"), b = fresh("ball"), f = fresh("pull");
    head_ += fmt::format(
        "module {} = (\n  ports x, force;\n  parameter w = {} in 0.1..10;\n  boundary x(0) = {}, x'(0) = 0;\n  system "
        "w * x'' "
        "= force - x' * d;  d = {};\n)\nmodule {} = (\n  ports length, force;\n  parameter s = {};\n  system force = "
        "-s * length "
        "- length^3;\n)\n",
        mass, number(0.5, 2), number(-1, 1), number(0.5, 1), spring, number(1, 4));
    system(fmt::format("{} = {}(w = {})", b, mass, pick(2) ? number(0.5, 2) : "1 + k"));
    system(fmt::format("{}({}.x - {} * {}, {})", spring, b, number(0.1, 0.5), drive(), f));
    system(fmt::format("{0}.force = {1} + {2}", b, f, drive_any()));
    smooth_.insert(smooth_.end(), {b + ".x", b + ".x'"});
  }

  void families() {
    const std::string cell = fresh("Cell"), pair = fresh("Pair"), c = fresh("cell"), n = fresh("n"), w = fresh("w"),
                      mean = fresh("mean");
    const int count = 3 + pick(3);
    head_ += fmt::format("parameter {} = {};\n", n, count);
    head_ += fmt::format(
        "module {} = (\n  ports v, left, right;\n  boundary v(0) = {};\n  system v' = left - 2 * v + right;\n)\nmodule "
        "{} = (\n  ports a, "
        "u;\n  system inner = {}(left = u); inner.right = a; a = inner.v / 2 + u;\n)\n",
        cell, number(-1, 1), pair, cell);
    system(fmt::format("{}[i in 1..{}] = {}()", c, n, cell));
    system(fmt::format("for i in 2..{0} - 1 {{ {1}[i].left = {1}[i - 1].v;  {1}[i].right = {1}[i + 1].v; }}", n, c));
    system(
        fmt::format("{0}[1].left = {1}; {0}[1].right = {0}[2].v; {0}[{2}].left = {0}[{2} - 1].v; {0}[{2}].right = {3}",
                    c, drive_any(), n, pick(2) ? "0" : drive()));
    system(fmt::format("{} = sum(i in 1..{}: {}[i].v) / {}", mean, n, c, n));
    system(fmt::format("{0}[i in 1..{1}] = if i < {1} then {2}[i + 1].v / i else {2}[1].v", w, n, c));
    const std::string two = fresh("two");
    system(fmt::format("{} = {}(u = {})", two, pair, name()));
    smooth_.insert(smooth_.end(), {mean, w + "[2]", c + "[3].v", two + ".inner.v"});
  }

  void used_file() {
    const std::string f = fresh("lib"), y = fresh("y");
    one_.files[f + ".tact"] = fmt::format(
        "constant gain = {};\nfunction soft(x) = x / (1 + gain * x^2);\nmodule Lag = ( ports u, y; parameter T = {}; "
        "boundary y(0) = 0; "
        "system T * y' + y = soft(u); )\n",
        number(0.5, 2), number(0.3, 1));
    head_ += fmt::format("use \"{0}.tact\" as {0};\n", f);
    system(fmt::format("{} = {}.Lag({}, {}out)", y, f, drive_any(), y));
    smooth_.push_back(y + "out");
  }

  // Behaviours with ticks, times and conditions.
  void reactive() {
    const std::string clock = fresh("clock"), bell = fresh("bell"), rise = fresh("rise");
    const std::string n = fresh("n"), cur = fresh("cur"), prev = fresh("prev"), level = fresh("level");
    head_ += pick(2) ? fmt::format("event {} every {};\n", clock, number(0.05, 0.4))
                     : fmt::format("event {} every {} from {};\n", clock, number(0.05, 0.4), number(0.01, 0.3));
    const double first = start_ + value(0.1, 0.7);
    head_ += fmt::format("event {} at {}, {};\n", bell, first, first + value(0.2, 1));
    const std::string watched = name();
    note("when");
    head_ += fmt::format("event {} when {} > {};\n", rise, watched, pick(2) ? number(-0.3, 0.3) : cur);
    reactive_ += fmt::format("  {} = init a = {} in {{ {} => a + 1, {} => a / 2 + {} }};\n", n, number(0, 1), rise,
                             bell, smooth(1));
    reactive_ += fmt::format("  {} = init {} in {{ {} => {} }};\n", cur, number(-0.5, 0.5), clock, name());
    note("later");
    reactive_ += fmt::format("  {} = init 0 in {{ {} => {} later, {} => {} }};\n", prev, clock, cur, rise, n);
    const std::string moved = fresh("moved");
    reactive_ += fmt::format("  {} = init a = (0, c) in {{ {} => if {} > {} then (a[2] + 0.1, {}) else a * 0.5 }};\n",
                             level, clock, cur, prev, name());
    reactive_ += fmt::format("  {} = {} - {} + {};\n", moved, cur, prev, name());
    jumping_.insert(jumping_.end(), {cur, prev, level + "[1]", moved});
    behaviours_.insert(behaviours_.end(), {cur, prev, level + "[2]"});
    state(fmt::format("sin({} + {} * {})", cur, level + "[2]", name()), 1 + pick(2));
  }

  // A thermostat: what is watched is moved by what the events change.
  void thermostat() {
    const std::string x = fresh("T"), on = fresh("on"), cold = fresh("cold"), warm = fresh("warm");
    note("when");
    head_ += fmt::format("event {0} when {2} < 0.4;\nevent {1} when {2} > 0.6;\n", cold, warm, x);
    boundary_ += fmt::format("  {}(0) = {};\n", x, number(0, 1));
    system(fmt::format("{0}' = {1} * ({2} - {0}) + 0.2 * {3}", x, number(1, 3), on, drive()));
    reactive_ += fmt::format("  {} = init {} in {{ {} => 1, {} => 0 }};\n", on, pick(2), cold, warm);
    smooth_.push_back(x);
    jumping_.push_back(on);
  }

  std::string csv(int columns) {
    std::string text = "x, a, b\n";
    double x = value(-1.5, -0.8);
    for (int i = 0; i < 6; ++i, x += value(0.2, 0.9)) {
      text += fmt::format("{}", x);
      for (int k = 0; k < columns; ++k) text += fmt::format(", {}", value(-1, 1));
      text += "\n";
    }
    return columns == 2 ? text : text.substr(text.find('\n') + 1);
  }

  void tables() {
    const std::string file = fresh("data") + ".csv", y = fresh("y");
    one_.files[file] = csv(2);
    static const char* const methods[] = {"", ", linear", ", cubic", ", hold", ", method = cubic"};
    const int method = pick(5);
    const std::string column = pick(2) ? ", column = \"a\"" : ", column = 2";
    note(method == 3 ? "table hold" : method < 2 ? "table linear" : "table cubic");
    switch (pick(3)) {
      case 0:
        system(fmt::format("{} = table(\"{}\"{}{})({})", y, file, methods[method], column, smooth(1)));
        break;
      case 1:
        system(fmt::format("{} = dot(table(\"{}\"{})({}), (1, {}))", y, file, methods[method], name(), number(0, 1)));
        break;
      default:
        system(fmt::format("{} = norm(2 + table(\"{}\"{}{})(({}, {})))", y, file, methods[method], column, name(),
                           name()));
    }
    (method == 3 ? jumping_ : smooth_).push_back(y);
    if (method != 3) state(fmt::format("table(\"{}\"{}{})({})", file, methods[method], column, name()), 1);
  }

  void maps() {
    const std::string file = fresh("map") + ".csv", y = fresh("y");
    std::string text = "-, -1, -0.2, 0.5, 1.1\n";
    double x = value(-1.5, -0.8);
    for (int i = 0; i < 5; ++i, x += value(0.3, 0.9))
      text += fmt::format("{}, {}, {}, {}, {}\n", x, value(-1, 1), value(-1, 1), value(-1, 1), value(-1, 1));
    one_.files[file] = text;
    static const char* const methods[] = {"", ", cubic", ", hold"};
    const int method = pick(3);
    note(method == 2 ? "map hold" : method == 0 ? "map linear" : "map cubic");
    system(fmt::format("{} = table(\"{}\"{})({}, {})", y, file, methods[method], name(), smooth(1)));
    (method == 2 ? jumping_ : smooth_).push_back(y);
  }

  void delays() {
    const std::string lag = fresh("lag"), y = fresh("late");
    head_ += fmt::format("parameter {} = {} in 0.02..2;\n", lag, number(0.08, 0.5));
    switch (pick(5)) {
      case 0: {
        const std::string x = fresh("x");
        boundary_ += fmt::format("  {}(0) = {};\n", x, number(-1, 1));
        system(fmt::format("{0}' = -{1} * delay({0}, {2}) + 0.3 * {3}", x, number(0.3, 1.5), lag, drive_any()));
        system(fmt::format("{} = delay({}, 2 * {}) + {}", y, x, lag, name()));
        smooth_.push_back(x);
        break;
      }
      case 1:
        system(fmt::format("{} = delay(sin(3 * t) * {} + {}, {})", y, name(),
                           behaviours_.empty() ? name() : any(behaviours_), lag));
        break;
      case 2: {
        const std::string p = fresh("p");
        boundary_ += fmt::format("  {}(0) = ({}, {});\n", p, number(-1, 1), number(-1, 1));
        system(fmt::format("{0}' = ({1}, 0) - {0} + 0.5 * delay({0}, {2})", p, drive_any(), lag));
        system(fmt::format("{} = {}[1] * delay({}, {})[2]", y, p, p, number(0.1, 0.6)));
        break;
      }
      case 3: {
        note("derivative of a delay");
        const std::string x = state(drive(), 1 + pick(2));
        system(fmt::format("{} = delay({}, {})'", y, x, lag));
        break;
      }
      default:
        system(fmt::format("{} = delay(delay({}, {}), {}) + delay(noise({}, 3), {})", y, name(), lag, number(0.05, 0.3),
                           pick(99), lag));
        note("noise");
    }
    jumping_.push_back(y);
    state(fmt::format("sin({})", y), 1);
  }

  void noise() {
    const std::string y = fresh("seen");
    state(fmt::format("sin(noise({}, {}) + {})", pick(1000), number(1, 4), name()), 1);
    system(fmt::format("{} = {} + 0.1 * noise({} + 1, 2 * k)", y, name(), pick(100)));
    smooth_.push_back(y);
  }

  void integrals() {
    const std::string y = fresh("far");
    system(fmt::format("{} = integration(abs({}) + {} * {})", y, name(), number(0.1, 1), any_name()));
    system(fmt::format("{0}mean = integration({1}) / (1 + integration({2}))", y, drive(), "1"));
    smooth_.push_back(y + "mean");
  }

  // diff is worked out before the flat model: the judge's text says it by differences, to the fourth order.
  void derivatives() {
    const std::string f = fresh("U"), x = state(drive(), 2), y = fresh("slope");
    head_ += fmt::format(
        "function {}(x) = x^4 / 4 + {} * sin(2 * x) - x * exp(-x^2) / (2 + cos(x)) + sqrt(2 + x^2) * atan(x) + power(2 "
        "+ x^2, {});\n",
        f, number(-1, 1), number(0.2, 1.5));
    const std::string by_differences = fmt::format(
        "(8 * ({0}({1} + 0.001) - {0}({1} - 0.001)) - ({0}({1} + 0.002) - {0}({1} - 0.002))) / 0.012", f, x);
    system(fmt::format("{} = diff({}({}), {})", y, f, x, x), fmt::format("{} = {}", y, by_differences));
    const std::string z = fresh("x");
    boundary_ += start(z, value(-0.5, 0.5), 0);
    system(fmt::format("{0}'' = -{0} - {0}' - sin(diff({1}({2}), {2})) / 4", z, f, x),
           fmt::format("{0}'' = -{0} - {0}' - sin({1}) / 4", z, by_differences));
    smooth_.insert(smooth_.end(), {z, "sin(" + y + ")"});
  }

  // The derivative of a definition, which the compiler works out; for the judge a hidden constraint.
  void differentiated_definition() {
    const std::string w = fresh("w"), s = fresh("s");
    const std::string x = state(drive(), 1 + pick(2));
    system(fmt::format("{} = sin({} * t) * {} + {}", w, number(1, 3), number(0.5, 1),
                       pick(2) ? "0" : x + " * " + number(0.2, 1)));
    system(fmt::format("{} = {}' + {}", s, w, name()));
    if (pick(2)) {
      const std::string v = fresh("v");
      system(fmt::format("{} = (cos(t), {} * sin(2 * t))", v, number(0.5, 1)));
      system(fmt::format("{}speed = norm({}' + 3) + dot({}'', (1, 1))", v, v, v));
    }
    if (pick(2)) {
      const std::string e = fresh("e");
      system(fmt::format("{} = ({} * cos(t))'", e, x), fmt::format("{0}of = {1} * cos(t);\n  {0} = {0}of'", e, x));
    }
    state(fmt::format("sin({})", s), 1);
  }

  void inputs() {
    if (has_input_) return;
    has_input_ = true;
    head_ += "external hand reads u writes force = (x1, k)\n";
    for (int i = 0; i < 2; ++i) {
      Signal signal;
      for (double t = start_ - 0.10037; t < start_ + 2.5; t += value(0.05, 0.4)) {
        signal.times.push_back(t);
        signal.values.push_back(value(-1, 1));
      }
      one_.inputs.push_back(signal);
    }
    const std::string y = fresh("y");
    state("sin(u[1] + u[2])", 2);
    system(fmt::format("{} = u'[1] * {} + u[2]", y, number(0.1, 0.4)));
    jumping_.push_back(y);
  }

  void constants() {
    const std::string j = fresh("J"), y = fresh("y"), g = fresh("G");
    system(fmt::format("{} = {}", j, number(0.5, 2)));
    system(fmt::format("{} = 2 * {} + pi", g, j));
    system(fmt::format("{} * {} = {} + {}", j, y, g, any_name()));
    if (pick(2)) {
      note("override");
      one_.overrides.push_back({j, value(0.5, 2)});
    }
    jumping_.push_back(y);
  }

  // A start that is left out is 0.
  void missing_start() {
    const std::string x = fresh("x");
    if (pick(2)) boundary_ += fmt::format("  {}'(0) = k * {};\n", x, name());
    system(fmt::format("{0}'' + 2 * {0}' + {0} = {1}", x, drive_any()));
    smooth_.push_back(x);
  }

  // Starts are written at 0 above.
  std::string at_start(std::string text) const {
    for (const char* sign : {"=", "~"}) {
      const std::string zero = fmt::format("(0) {}", sign), real = fmt::format("({}) {}", start_, sign);
      for (std::size_t at = 0; (at = text.find(zero, at)) != std::string::npos; at += real.size())
        text.replace(at, zero.size(), real);
    }
    return text;
  }

  RandomModel finish() {
    one_.end += start_;
    const auto text = [&](const std::string& equations) {
      std::string all =
          fmt::format("simulation starting_time = {} ending_time = {} event_precision = 1e-12\n", start_, one_.end) +
          head_;
      if (!boundary_.empty()) all += "boundary\n" + boundary_;
      all += "system\n" + equations;
      if (!reactive_.empty()) all += "reactive\n" + reactive_;
      return all;
    };
    one_.compiled = at_start(text(system_));
    one_.judged = at_start(text(judged_));
    for (auto& [name, content] : one_.files) content = at_start(content);
    return {std::move(one_), std::move(features_)};
  }

  std::mt19937_64 random_;
  Case one_;
  std::set<std::string> features_;
  std::string head_, boundary_, system_, judged_, reactive_;
  std::vector<std::string> smooth_, jumping_;
  std::vector<std::string> behaviours_;  // what jumps at events only: a delay remembers these jumps, others it smooths
  int count_ = 0;
  double start_ = 0;
  bool has_input_ = false;
};

const std::vector<Writer::Part>& Writer::parts() {
  static const std::vector<Part> all = {
      {"explicit equation", &Writer::explicit_equation},
      {"implicit equation", &Writer::implicit_equation},
      {"coupled equations", &Writer::coupled_equations},
      {"linear loop", &Writer::linear_loop},
      {"nonlinear loop", &Writer::nonlinear_loop},
      {"vectors", &Writer::vectors},
      {"matrices", &Writer::matrices},
      {"functions", &Writer::functions},
      {"conditions", &Writer::conditions},
      {"corners", &Writer::corners},
      {"modules", &Writer::modules},
      {"families", &Writer::families},
      {"used file", &Writer::used_file},
      {"reactive", &Writer::reactive},
      {"thermostat", &Writer::thermostat},
      {"tables", &Writer::tables},
      {"maps", &Writer::maps},
      {"delays", &Writer::delays},
      {"noise", &Writer::noise},
      {"integrals", &Writer::integrals},
      {"derivatives", &Writer::derivatives},
      {"differentiated definition", &Writer::differentiated_definition},
      {"inputs", &Writer::inputs},
      {"constants", &Writer::constants},
      {"missing start", &Writer::missing_start},
  };
  return all;
}

}  // namespace

RandomModel random_model(std::uint64_t seed) {
  if (has_index_reduction && seed % 10 == 9) return random_constrained_model(seed);
  return seed % 25 == 24 ? Writer(seed).with_units() : Writer(seed).whole(seed);
}

RandomModel random_constrained_model(std::uint64_t seed) { return Writer(seed).constrained(); }

std::set<std::string> all_features() {
  std::set<std::string> all = {"starting_time", "override",  "units",        "kink in a loop",        "guess",
                               "when",          "later",     "table linear", "table cubic",           "table hold",
                               "map linear",    "map cubic", "map hold",     "derivative of a delay", "fixed steps",
                               "adaptive steps"};
  for (const Writer::Part& part : Writer::parts()) all.insert(part.feature);
  if (has_index_reduction) all.insert("constrained");
  return all;
}

}  // namespace judge
