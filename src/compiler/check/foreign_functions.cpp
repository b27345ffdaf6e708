#include "compiler/check/foreign_functions.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "compiler/parse/parse.h"

namespace check {
namespace {

struct ForeignFunction {
  std::string_view name;
  std::string_view hint;  // $1, $2 are the arguments as written
};

constexpr ForeignFunction foreign_functions[] = {
    {"ln", "the natural logarithm is `log($1)`"},
    {"log10", "write `log($1) / log(10)`"},
    {"log2", "write `log($1) / log(2)`"},
    {"pow", "write `($1)^($2)` or `power($1, $2)`"},
    {"sqr", "write `($1)^2`"},
    {"square", "write `($1)^2`"},
    {"cbrt", "write `($1)^(1/3)`"},
    {"fabs", "write `abs($1)`"},
    {"sgn", "write `sign($1)`"},
    {"arcsin", "write `asin($1)`"},
    {"arccos", "write `acos($1)`"},
    {"arctan", "write `atan($1)`"},
    {"arctan2", "write `atan2($1, $2)`"},
    {"tg", "write `tan($1)`"},
    {"cot", "write `1 / tan($1)`"},
    {"sec", "write `1 / cos($1)`"},
    {"csc", "write `1 / sin($1)`"},
    {"sind", "angles are radians: write `sin($1 * pi / 180)`, or the number with its unit, `30 [deg]`"},
    {"cosd", "angles are radians: write `cos($1 * pi / 180)`, or the number with its unit, `30 [deg]`"},
    {"tand", "angles are radians: write `tan($1 * pi / 180)`, or the number with its unit, `30 [deg]`"},
    {"deg2rad", "write `$1 * pi / 180`, or the number with its unit, `30 [deg]`"},
    {"radians", "write `$1 * pi / 180`, or the number with its unit, `30 [deg]`"},
    {"sinh", "write `(exp($1) - exp(-($1))) / 2`"},
    {"cosh", "write `(exp($1) + exp(-($1))) / 2`"},
    {"tanh", "write `1 - 2 / (exp(2 * ($1)) + 1)`"},
    {"hypot", "write `norm(($1, $2))`"},
    {"mag", "the length of a vector is `norm($1)`"},
    {"magnitude", "the length of a vector is `norm($1)`"},
    {"length", "the length of a vector is `norm($1)`"},
    {"normalize", "write `direction($1)`"},
    {"normalise", "write `direction($1)`"},
    {"sum", "a sum runs over a counter: `sum(i in 1..3: $1[i])`"},
    {"mean", "write `sum(i in 1..3: $1[i]) / 3`"},
    {"inner", "write `dot($1, $2)`"},
    {"dotproduct", "write `dot($1, $2)`"},
    {"crossproduct", "write `cross($1, $2)`"},
    {"ceiling", "write `ceil($1)`"},
    {"fix", "write `sign($1) * floor(abs($1))`"},
    {"inv", "write `inverse($1)`"},
    {"eye", "write `identity($1)`"},
    {"zeros", "the number `0` has any shape: write `0`"},
    {"ones", "write the vector out, `(1, 1)`; a scalar beside a vector spreads by itself"},
    {"vector", "a vector is written `(a, b)`"},
    {"matrix", "a matrix is written `((a, b), (c, d))`"},
    {"array", "a vector is written `(a, b)`, a matrix `((a, b), (c, d))`"},
    {"mod", "write `$1 - ($2) * floor(($1) / ($2))`"},
    {"fmod", "write `$1 - ($2) * floor(($1) / ($2))`"},
    {"rem", "write `$1 - ($2) * floor(($1) / ($2))`"},
    {"round", "write `floor($1 + 0.5)`"},
    {"integer", "write `floor($1)`"},
    {"sat", "write `clamp($1, low, high)`"},
    {"saturate", "write `clamp($1, $2, $3)`"},
    {"saturation", "write `clamp($1, low, high)`"},
    {"limit", "write `clamp($1, low, high)`"},
    {"clip", "write `clamp($1, $2, $3)`"},
    {"integrator", "write `integration($1)`, or the equation `x' = $1;` with a start `x(0)`"},
    {"integral", "write `integration($1)`, or the equation `x' = $1;` with a start `x(0)`"},
    {"integrate", "write `integration($1)`, or the equation `x' = $1;` with a start `x(0)`"},
    {"cumtrapz", "write `integration($1)`"},
    {"derivative", "a derivative by time is a prime: `($1)'`"},
    {"ddt", "a derivative by time is a prime: `($1)'`"},
    {"gradient", "a derivative by time is a prime, by another name `diff(e, x)`"},
    {"pre",
     "a behaviour's own old value has a name: `n = init old = 0 in { clock => old + 1 }`; `later` reads old values of "
     "others"},
    {"previous",
     "a behaviour's own old value has a name: `n = init old = 0 in { clock => old + 1 }`; `later` reads old values of "
     "others"},
    {"edge", "an event is declared: `event E when $1;`"},
    {"sample", "a clock is an event: `event clock every 0.1;`"},
    {"heaviside", "write `if $1 >= 0 then 1 else 0`"},
    {"step", "write `if t >= 1 then 1 else 0`"},
    {"where", "write `if $1 then $2 else $3`"},
    {"ifelse", "write `if $1 then $2 else $3`"},
    {"noEvent", "write `smooth($1)`"},
    {"rand", "write `noise(1)`"},
    {"random", "write `noise(1)`"},
    {"interp1", "write `table(\"file.csv\")(x)`"},
};

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

}  // namespace

std::optional<std::string> foreign_function_advice(const parse::Tree& tree, const base::Names& names,
                                                   parse::NodeId call) {
  const parse::Node& node = tree[call];
  const std::string& name = names.text(tree[tree.child(call, 0)].name);
  for (const ForeignFunction& foreign : foreign_functions) {
    if (foreign.name != name) continue;
    std::string out;
    for (std::size_t i = 0; i < foreign.hint.size(); ++i) {
      if (foreign.hint[i] != '$') {
        out += foreign.hint[i];
        continue;
      }
      const auto argument = static_cast<std::uint32_t>(foreign.hint[++i] - '0');
      if (argument >= node.child_count) {
        out += "..";
        continue;
      }
      const parse::NodeKind kind = tree[tree.child(call, argument)].kind;
      const bool is_simple = kind == parse::NodeKind::name || kind == parse::NodeKind::number;
      // Parentheses around a name or a number go, those of a call stay.
      const bool in_group = out.ends_with('(') && i + 1 < foreign.hint.size() && foreign.hint[i + 1] == ')' &&
                            (out.size() < 2 || !is_letter_or_digit(out[out.size() - 2]));
      if (is_simple && in_group) {
        out.pop_back();
        ++i;
      }
      out += parse::print(tree, names, tree.child(call, argument));
    }
    return out;
  }
  return std::nullopt;
}

}  // namespace check
