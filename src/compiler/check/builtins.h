// The functions of the language and the shapes they take. One table; check and flatten both read it.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace check {

enum class Builtin {
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  square_root,
  exp,
  log,
  absolute,
  sign,
  floor,
  ceil,  // of each component
  atan2,
  power,
  minimum,
  maximum,
  clamp,  // component-wise, scalars spread
  norm,
  dot,
  cross,
  direction,
  rotate,
  proj,
  distance,
  transpose,
  inverse,
  det,
  skew,
  diag,
  identity,
  index,
  integration,
  diff,
  smooth,
  box,  // only behind `in`
  delay,
  noise,
  table,
  next,  // only in jumps and under `check`
  at,    // only in sequences and plans, which write them out
  since,
};

struct BuiltinRow {
  std::string_view name;
  Builtin id;
  int fewest;
  int most;
  std::string_view usage;
};

inline constexpr std::array builtins = {
    BuiltinRow{"sin", Builtin::sin, 1, 1, "sin(x)"},
    BuiltinRow{"cos", Builtin::cos, 1, 1, "cos(x)"},
    BuiltinRow{"tan", Builtin::tan, 1, 1, "tan(x)"},
    BuiltinRow{"asin", Builtin::asin, 1, 1, "asin(x)"},
    BuiltinRow{"acos", Builtin::acos, 1, 1, "acos(x)"},
    BuiltinRow{"atan", Builtin::atan, 1, 1, "atan(x)"},
    BuiltinRow{"sqrt", Builtin::square_root, 1, 1, "sqrt(x)"},
    BuiltinRow{"exp", Builtin::exp, 1, 1, "exp(x)"},
    BuiltinRow{"log", Builtin::log, 1, 1, "log(x)"},
    BuiltinRow{"abs", Builtin::absolute, 1, 1, "abs(x)"},
    BuiltinRow{"sign", Builtin::sign, 1, 1, "sign(x)"},
    BuiltinRow{"floor", Builtin::floor, 1, 1, "floor(x)"},
    BuiltinRow{"ceil", Builtin::ceil, 1, 1, "ceil(x)"},
    BuiltinRow{"atan2", Builtin::atan2, 2, 2, "atan2(y, x)"},
    BuiltinRow{"power", Builtin::power, 2, 2, "power(x, n)"},
    BuiltinRow{"min", Builtin::minimum, 2, 64, "min(a, b)"},
    BuiltinRow{"max", Builtin::maximum, 2, 64, "max(a, b)"},
    BuiltinRow{"clamp", Builtin::clamp, 3, 3, "clamp(x, low, high)"},
    BuiltinRow{"norm", Builtin::norm, 1, 1, "norm(v)"},
    BuiltinRow{"dot", Builtin::dot, 2, 2, "dot(a, b)"},
    BuiltinRow{"cross", Builtin::cross, 2, 2, "cross(a, b)"},
    BuiltinRow{"direction", Builtin::direction, 1, 1, "direction(v)"},
    BuiltinRow{"rotate", Builtin::rotate, 2, 3, "rotate(v, angle) or rotate(v, axis, angle)"},
    BuiltinRow{"proj", Builtin::proj, 2, 2, "proj(a, b)"},
    BuiltinRow{"distance", Builtin::distance, 2, 2, "distance(a, b)"},
    BuiltinRow{"transpose", Builtin::transpose, 1, 1, "transpose(m)"},
    BuiltinRow{"inverse", Builtin::inverse, 1, 1, "inverse(m)"},
    BuiltinRow{"det", Builtin::det, 1, 1, "det(m)"},
    BuiltinRow{"skew", Builtin::skew, 1, 1, "skew(v)"},
    BuiltinRow{"diag", Builtin::diag, 1, 64, "diag(v) or diag(a, b, ..)"},
    BuiltinRow{"identity", Builtin::identity, 1, 1, "identity(n)"},
    BuiltinRow{"index", Builtin::index, 2, 2, "index(v, i)"},
    BuiltinRow{"integration", Builtin::integration, 1, 1, "integration(e)"},
    BuiltinRow{"diff", Builtin::diff, 2, 2, "diff(e, x)"},
    BuiltinRow{"smooth", Builtin::smooth, 1, 1, "smooth(e)"},
    BuiltinRow{"box", Builtin::box, 2, 2, "box(corner, size)"},
    BuiltinRow{"delay", Builtin::delay, 2, 2, "delay(e, d)"},
    BuiltinRow{"noise", Builtin::noise, 1, 2, "noise(seed) or noise(seed, bandwidth)"},
    BuiltinRow{"table", Builtin::table, 0, 64, "table(\"file.csv\")(x)"},
    BuiltinRow{"next", Builtin::next, 1, 1, "next(x)"},
    BuiltinRow{"at", Builtin::at, 2, 2, "at(start, x)"},
    BuiltinRow{"since", Builtin::since, 1, 1, "since(start)"},
};

inline const BuiltinRow* find_builtin(std::string_view name) {
  for (const BuiltinRow& row : builtins) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace check
