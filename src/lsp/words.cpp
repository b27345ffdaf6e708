#include "lsp/words.h"

#include <algorithm>

#include "abi/model.h"

namespace lsp {
namespace {

constexpr WordDoc words[] = {
    {"simulation", "settings of the run: `simulation ending_time = 10 step_size = 0.001`"},
    {"external", "something outside the model: `external hand reads u writes force = -F`"},
    {"boundary", "values at the start: `x with x(0) = 1, x'(0) = 0;` (`~` instead of `=` is a guess)"},
    {"system", "the equations, in any order and any form: `m * x'' = -k * x;`"},
    {"reactive", "behaviours that change at events: `n = init k = 0 in { Bounce => k + 1 }`"},
    {"scene", "what a person sees: `sphere at p radius 0.1;`"},
    {"check", "properties of the run: `always[0..10](abs(a) < 0.5);`"},
    {"module", "equations with ports, made once and used often: `module Spring = ( ports x, F; system F = -k * x; )`"},
    {"ports", "the names by which a module is connected: `ports r : 3, F : 3;`"},
    {"reads", "inputs: values that come from outside"},
    {"writes", "outputs: values that go outside; `writes force = -F` gives one a name of the device"},
    {"observes", "events that reach the reactive part: `observes event clock rate 0.1`"},
    {"event", "an instant: `event E every 0.1;`, `event E when x > 1;`, `event E at 5, 7;`"},
    {"rate", "an instance's own step, `s = S() rate 1 [kHz];`; behind `observes event` a period in seconds"},
    {"when", "the condition at which something happens"},
    {"with", "`x with x(0) = 1`: whose start is given; `interact arm with hand`: whose touch"},
    {"if", "a choice: `if c then a else b`, or `if(c, a, b)`"},
    {"then", "`if c then a else b`"},
    {"else", "the other choice; the message of `require`; what happens when a plan fails"},
    {"init", "a behaviour's first value: `init a = 0 in { E => a + 1 }`; `a` is its own old value"},
    {"in", "membership: `x in 0..1`, `p in box`; the mode in which something holds: `in ball.Rolling { .. }`"},
    {"later", "this handler runs behind the ordinary ones and sees their new values"},
    {"parameter", "a value that may be changed while the model runs: `parameter k = 4 [N/m] in 0..50;`"},
    {"constant", "a value that is fixed when the model is compiled: `constant g = 9.81;`"},
    {"function", "an expression with arguments: `function U(q) = k/2 * q^2;`"},
    {"automaton", "a variable of modes: `automaton ball in Bouncing, Rolling;`"},
    {"transition", "a jump: `transition Bounce when y <= 0 && y' < 0 { next(y') = -e * y'; }`"},
    {"sequence", "phases, each until its condition: `sequence S { .. } until c { .. }`"},
    {"plan", "chooses values now so that targets hold later: `plan P choose v = 1 { .. } for T reaching x = 0 { .. }`"},
    {"energy", "an energy of the model or module: `energy H = m/2 * v^2;`"},
    {"mechanism", "bodies and joints: `mechanism arm ( body .. ; joint .. ; )`, or `from \"arm.urdf\"`"},
    {"use", "modules, functions and constants of another file: `use \"file.tact\" as n;`"},
    {"for", "repeats statements: `for i in 1..6 { .. }`; in a plan the duration of a phase"},
    {"goto", "the mode after the jump: `goto ball.Rolling;`"},
    {"keep", "says aloud that a state keeps its value in a jump"},
    {"enforce", "jumps onto the constraints of the mode that is entered: `enforce velocities;`"},
    {"unknown", "unknowns of a jump's equations: `unknown J ~ 0;`"},
    {"require", "a breach stops the run: `require x >= 0 else \"..\";`"},
    {"expect", "a breach is a warning: `expect x >= 0 else \"..\";`"},
    {"stop", "ends the run well: `stop when charge <= 0 \"flat\";`"},
    {"join", "connects two power ports: `join a.end to b.end;`; between rates `hold`, `extrapolate` or `passive`"},
    {"interact", "lets a hand touch a mechanism: `interact arm with hand push 500 [N/m];`"},
    {"apply", "adds a force at a point or a torque on a body: `apply F at P;`"},
    {"invariant", "a consequence of the equations, used for projection: `invariant transpose(R) * R = identity(3);`"},
    {"until", "the end of a phase; in a check `f until g`"},
    {"choose", "a plan's unknowns with the values from which the search starts"},
    {"reaching", "a plan's targets at the end of a phase"},
    {"every", "a period: `every 0.001`"},
    {"true", "the truth value"},
    {"false", "the truth value"},
    {"t", "the time, in seconds"},
    {"pi", "3.14159.., half a turn"},
    {"power", "a port that carries power: `power end: F -> v;`; also the function `power(x, n)`"},
    {"storage",
     "x' = (J - R) dH/dx + G u, given by its matrices: `storage (q, p) energy H = e structure J = .., R = .., G = .. "
     "power F -> v;`"},
    {"guard", "a passivity observer and controller at a port: `guard a.end;`, `guard a.end reserve 0.2;`"},
    {"structure", "the matrices of a storage: `structure J = ((0, 1), (-1, 0)), R = .., G = ..`"},
    {"reserve", "what a guarded port may give besides what it got, in joules: `guard a.end reserve 0.2;`"},
    {"hold", "of a join between rates: each gets what the other last gave"},
    {"extrapolate", "of a join between rates: each gets the line through what the other last gave"},
    {"passive", "of a join between rates: the Passive Sample and Hold, which makes no energy; also a solver"},
};

constexpr WordDoc settings[] = {
    {"starting_time", "the time at the start; 0 when not given"},
    {"ending_time", "the time at which the run ends"},
    {"step_size", "the fixed step, or an adaptive solver's largest"},
    {"solver",
     "euler, rk4, bs3, tsit5, dop853, rosenbrock or cvode; with an energy passive, passive_bs3, passive_rk4, "
     "discrete_gradient, gonzalez or mean_value; midpoint"},
    {"tolerance", "of an adaptive solver; 1e-6 when not given"},
    {"record_period", "the time between two recorded rows"},
    {"event_precision", "how exactly the time of an event is located"},
    {"max_transitions", "jumps at one instant, at most"},
};

constexpr WordDoc of_device[] = {
    {"position", "where the hand is, in metres"},
    {"velocity", "how fast it moves"},
    {"rotation", "its rotation matrix"},
    {"button", "`button[i]`: whether it is pressed"},
    {"force", "what acts on the hand, in newtons"},
};
constexpr WordDoc of_body[] = {
    {"position", "of its frame in the world"},
    {"rotation", "its rotation matrix"},
    {"velocity", "of its frame in the world"},
};
constexpr WordDoc of_joint[] = {
    {"angle", "of a revolute joint"},
    {"position", "of a prismatic joint"},
    {"torque", "what drives it; 0 unless an equation mentions it"},
};
constexpr WordDoc of_mechanism[] = {
    {"q", "all positions"},
    {"v", "all velocities"},
    {"tau", "all torques"},
};

constexpr WordDoc drawings[] = {
    {"sphere", "`sphere at p radius r color \"red\";`"},
    {"box", "`box at p size s rotation R;`"},
    {"cylinder", "`cylinder from a to b radius r;`"},
    {"spring", "`spring from a to b;`"},
    {"arrow", "`arrow at p along F scale s;`"},
    {"trace", "`trace p;` the path of a point"},
    {"text", "`text \"n = {n}\" at p;`"},
    {"robot", "`robot arm;` a mechanism's shapes"},
    {"ground", "`ground height f;`"},
    {"mesh", "`mesh \"x.stl\" at p;`"},
    {"camera", "`camera follow p;`"},
    {"plot", "`plot x, y;`"},
};
constexpr WordDoc parts[] = {
    {"gravity", "`gravity (0, 0, -9.81);`"},
    {"body", "`body upper mass 4.6 com (0, 0, 0.2) inertia diag(0.1, 0.1, 0.01);`"},
    {"joint", "`joint shoulder revolute axis (0, 1, 0) from world to upper;`"},
    {"loop", "a joint that closes a loop of the tree"},
};

constexpr UnitDoc units[] = {
    {"m", "metre"},
    {"kg", "kilogram"},
    {"s", "second"},
    {"A", "ampere"},
    {"K", "kelvin"},
    {"mol", "mole"},
    {"cd", "candela"},
    {"Hz", "hertz"},
    {"N", "newton"},
    {"Pa", "pascal"},
    {"J", "joule"},
    {"W", "watt"},
    {"C", "coulomb"},
    {"V", "volt"},
    {"F", "farad"},
    {"Ohm", "ohm"},
    {"S", "siemens"},
    {"Wb", "weber"},
    {"T", "tesla"},
    {"H", "henry"},
    {"rad", "radian"},
    {"deg", "degree"},
    {"rev", "turn"},
    {"rpm", "turns per minute"},
    {"mm", "millimetre"},
    {"cm", "centimetre"},
    {"km", "kilometre"},
    {"g", "gram"},
    {"t", "tonne"},
    {"ms", "millisecond"},
    {"us", "microsecond"},
    {"min", "minute"},
    {"h", "hour"},
    {"day", "day"},
    {"kHz", "kilohertz"},
    {"kN", "kilonewton"},
    {"mN", "millinewton"},
    {"kPa", "kilopascal"},
    {"bar", "bar"},
    {"kJ", "kilojoule"},
    {"kW", "kilowatt"},
    {"mA", "milliampere"},
    {"mV", "millivolt"},
    {"L", "litre"},
    {"Wh", "watt-hour"},
    {"eV", "electronvolt"},
    {"percent", "1/100"},
    {"N/m", "stiffness"},
    {"N*s/m", "damping"},
    {"m/s", "speed"},
    {"m/s^2", "acceleration"},
    {"rad/s", "angular speed"},
    {"N*m", "torque"},
    {"kg*m^2", "inertia"},
    {"km/h", "speed"},
    {"kg/m^3", "density"},
};

constexpr FunctionDoc functions[] = {
    {"sin", "sin(x)", "sine of an angle in radians, of each component"},
    {"cos", "cos(x)", "cosine of an angle in radians, of each component"},
    {"tan", "tan(x)", "tangent of an angle in radians"},
    {"asin", "asin(x)", "angle whose sine is x"},
    {"acos", "acos(x)", "angle whose cosine is x"},
    {"atan", "atan(x)", "angle whose tangent is x"},
    {"atan2", "atan2(y, x)", "angle of the point (x, y), in -pi..pi"},
    {"sqrt", "sqrt(x)", "square root"},
    {"exp", "exp(x)", "e to the power x"},
    {"log", "log(x)", "natural logarithm"},
    {"power", "power(x, n)", "x to the power n, the same as x^n"},
    {"abs", "abs(x)", "magnitude of a number; its kink is located"},
    {"sign", "sign(x)", "-1, 0 or 1; its jump is located"},
    {"min", "min(a, b)", "the least of two or more"},
    {"max", "max(a, b)", "the greatest of two or more"},
    {"clamp", "clamp(x, low, high)", "x, but not below low and not above high"},
    {"floor", "floor(x)", "the greatest whole number not above x"},
    {"ceil", "ceil(x)", "the least whole number not below x"},
    {"norm", "norm(v)", "length of a vector"},
    {"dot", "dot(a, b)", "scalar product"},
    {"cross", "cross(a, b)", "vector product; of plane vectors the number a[1]*b[2] - a[2]*b[1]"},
    {"direction", "direction(v)", "v divided by its length; of zero: zero"},
    {"rotate", "rotate(v, angle)", "v turned counter-clockwise; in space rotate(v, axis, angle)"},
    {"proj", "proj(a, b)", "the part of a along b"},
    {"distance", "distance(a, b)", "distance of two points"},
    {"transpose", "transpose(m)", "the matrix with rows and columns exchanged"},
    {"inverse", "inverse(m)", "the inverse matrix"},
    {"det", "det(m)", "determinant"},
    {"skew", "skew(v)", "the matrix with skew(v) * x = cross(v, x)"},
    {"diag", "diag(a, b)", "the matrix with these on its diagonal"},
    {"identity", "identity(n)", "the n x n matrix with ones on its diagonal"},
    {"index", "index(v, i)", "the i-th component, the same as v[i]"},
    {"integration", "integration(e)", "integral over time since the start"},
    {"diff", "diff(e, x)", "derivative of an expression by a name, found by symbols"},
    {"smooth", "smooth(e)", "e, its relations evaluated and not held between events"},
    {"delay", "delay(e, d)", "e as it was d seconds ago"},
    {"noise", "noise(seed)", "random numbers that the seed fixes"},
    {"table", "table(\"file.csv\")", "a function read from a table; behind it stands its argument"},
    {"box", "box(corner, size)", "a box for `in`"},
    {"next", "next(e)", "the value after the jump"},
    {"at", "at(start, e)", "the value at the start of a sequence, or at the end of a phase"},
    {"since", "since(start)", "the time since the start of a sequence, or since the end of a phase"},
    {"sum", "sum(i in 1..n: e)", "the sum over a counter"},
    {"always", "always[a..b](f)", "f holds from a to b seconds from now"},
    {"eventually", "eventually[a..b](f)", "f holds some time from a to b seconds from now"},
    {"point", "point(body, p)", "a point fixed to a body of a mechanism"},
    {"inverse_dynamics", "inverse_dynamics(arm, q, v, a)", "the torques that give the acceleration a"},
};

template <class Row, std::size_t n>
const Row* find_row(const Row (&rows)[n], std::string_view Row::* key, std::string_view wanted) {
  const auto found = std::find_if(std::begin(rows), std::end(rows), [&](const Row& row) { return row.*key == wanted; });
  return found == std::end(rows) ? nullptr : &*found;
}

}  // namespace

const WordDoc* find_word(std::string_view word) { return find_row(words, &WordDoc::word, word); }
std::span<const WordDoc> all_words() { return words; }
std::span<const WordDoc> all_settings() { return settings; }
std::vector<std::string_view> all_solvers() {
  std::vector<std::string_view> names;
  for (int solver = 0; solver < TACTUS_SOLVER_COUNT; ++solver) {
    if (tactus_adaptive_form(solver) == solver) names.emplace_back(tactus_solver_name(solver));
  }
  return names;
}
std::span<const WordDoc> device_members() { return of_device; }
std::span<const WordDoc> body_members() { return of_body; }
std::span<const WordDoc> joint_members() { return of_joint; }
std::span<const WordDoc> mechanism_members() { return of_mechanism; }
std::span<const WordDoc> all_drawings() { return drawings; }
std::span<const WordDoc> all_parts() { return parts; }
std::span<const UnitDoc> all_units() { return units; }
const FunctionDoc* find_function(std::string_view name) { return find_row(functions, &FunctionDoc::name, name); }
std::span<const FunctionDoc> all_functions() { return functions; }

bool is_builtin_name(std::string_view name, bool called) {
  if (name == "t" || name == "pi") return true;
  return called && find_function(name) != nullptr;
}

}  // namespace lsp
