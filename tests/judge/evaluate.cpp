#include "evaluate.h"

#include <algorithm>
#include <cmath>

#include "kernel/kernel.h"

namespace judge {

namespace {

bool has_pieces(Op op) {
  switch (op) {
    case Op::less:
    case Op::less_equal:
    case Op::equal:
    case Op::not_equal:
    case Op::floor:
    case Op::ceil:
    case Op::absolute:
    case Op::table:
    case Op::table_2:
    case Op::noise:
      return true;
    default:
      return false;
  }
}

// Slopes of the monotone cubic: F. N. Fritsch and J. Butland, SIAM J. Sci. Stat. Comput. 5(2), 1984; ends as in C.
// Moler, Numerical Computing with MATLAB, section 3.4.
std::vector<double> slopes_of(const std::vector<double>& x, const std::vector<double>& v) {
  const std::size_t n = x.size();
  std::vector<double> h, d, s(n, 0.0);
  for (std::size_t k = 0; k + 1 < n; ++k) {
    h.push_back(x[k + 1] - x[k]);
    d.push_back((v[k + 1] - v[k]) / h[k]);
  }
  if (n == 2) return {d[0], d[0]};
  for (std::size_t k = 1; k + 1 < n; ++k) {
    if (d[k - 1] * d[k] <= 0) continue;
    const double a = 2 * h[k] + h[k - 1], b = h[k] + 2 * h[k - 1];
    s[k] = (a + b) / (a / d[k - 1] + b / d[k]);
  }
  const auto end = [](double h0, double h1, double d0, double d1) {
    const double slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if (slope * d0 <= 0) return 0.0;
    if (d0 * d1 < 0 && std::fabs(slope) > 3 * std::fabs(d0)) return 3 * d0;
    return slope;
  };
  s[0] = end(h[0], h[1], d[0], d[1]);
  s[n - 1] = end(h[n - 2], h[n - 3], d[n - 2], d[n - 3]);
  return s;
}

// The derivative of that order at u of c[0] + c[1] u + c[2] u^2 + c[3] u^3.
double polynomial(std::vector<double> c, double u, std::uint32_t order) {
  for (std::uint32_t k = 0; k < order; ++k) {
    for (std::size_t i = 1; i < c.size(); ++i) c[i - 1] = c[i] * static_cast<double>(i);
    if (!c.empty()) c.pop_back();
  }
  double value = 0;
  for (std::size_t i = c.size(); i-- > 0;) value = value * u + c[i];
  return value;
}

}  // namespace

int piece_of(const std::vector<double>& x, double at) {
  if (at < x.front()) return -1;
  return static_cast<int>(std::upper_bound(x.begin(), x.end(), at) - x.begin()) - 1;
}

double interpolate(tactus_table_method method, const std::vector<double>& x, const std::vector<double>& values,
                   double at, int piece, std::uint32_t order) {
  if (piece < 0) return order == 0 ? values.front() : 0;
  const std::size_t k = static_cast<std::size_t>(piece);
  if (k + 1 >= x.size()) return order == 0 ? values.back() : 0;
  const double h = x[k + 1] - x[k], u = at - x[k];
  const double rise = (values[k + 1] - values[k]) / h;
  switch (method) {
    case TACTUS_HOLD:
      return order == 0 ? values[k] : 0;
    case TACTUS_LINEAR:
      return polynomial({values[k], rise}, u, order);
    case TACTUS_CUBIC: {
      const std::vector<double> s = slopes_of(x, values);
      return polynomial({values[k], s[k], (3 * rise - 2 * s[k] - s[k + 1]) / h, (s[k] + s[k + 1] - 2 * rise) / (h * h)},
                        u, order);
    }
  }
  return 0;
}

Evaluator::Evaluator(const flat::Model& model, const std::vector<ExprId>& extra) : model_(model) {
  std::vector<ExprId> roots = extra;
  for (const flat::Equation& equation : model.equations) {
    roots.push_back(equation.left);
    roots.push_back(equation.right);
  }
  leaves_.order.resize(model.variables.size());
  for (const flat::Delay& delay : model.delays) {
    auto& order = leaves_.order[delay.source.value];
    order = std::max(order, delay.order);
  }
  place_.resize(model.pool.size(), 0);
  std::vector<bool> visited;
  expr::visit_postorder(model.pool, roots, visited, [&](ExprId id) {
    const expr::Node& node = model.pool[id];
    Step step{node, 0, 0, 0, 0};
    const int operands = expr::operand_count(node.op);
    if (operands > 0) step.a = place_[node.a.value];
    if (operands > 1) step.b = place_[node.b.value];
    if (operands > 2) step.c = place_[node.c.value];
    if (has_pieces(node.op)) {
      step.piece = static_cast<std::uint32_t>(pieces_.size());
      pieces_.push_back(0);
    }
    if (node.op == Op::variable) leaves_.order[node.index] = std::max(leaves_.order[node.index], node.order);
    place_[id.value] = static_cast<std::uint32_t>(steps_.size());
    steps_.push_back(step);
  });
  values_.resize(steps_.size());
  for (std::uint32_t order : leaves_.order) {
    leaves_.first.push_back(leaves_.count);
    leaves_.count += order + 1;
  }

  // Who reads what, for the differences.
  std::vector<std::vector<std::uint32_t>> reads(steps_.size());
  readers_.resize(leaves_.count);
  reading_equations_.resize(leaves_.count);
  for (std::uint32_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    auto& mine = reads[i];
    if (step.node.op == Op::variable) mine.push_back(leaves_.at(step.node.index, step.node.order));
    const int operands = expr::operand_count(step.node.op);
    const std::uint32_t children[] = {step.a, step.b, step.c};
    for (int k = 0; k < operands; ++k) mine.insert(mine.end(), reads[children[k]].begin(), reads[children[k]].end());
    std::sort(mine.begin(), mine.end());
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
    for (std::uint32_t leaf : mine) readers_[leaf].push_back(i);
  }
  for (std::uint32_t e = 0; e < model.equations.size(); ++e) {
    const flat::Equation& equation = model.equations[flat::EquationId(e)];
    std::vector<std::uint32_t> mine = reads[place_[equation.left.value]];
    const auto& right = reads[place_[equation.right.value]];
    mine.insert(mine.end(), right.begin(), right.end());
    std::sort(mine.begin(), mine.end());
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
    for (std::uint32_t leaf : mine) reading_equations_[leaf].push_back(e);
  }
}

double Evaluator::residual(std::size_t equation) const {
  const flat::Equation& e = model_.equations[flat::EquationId(equation)];
  return value(e.left) - value(e.right);
}

double Evaluator::held_piece(const Step& step, const Pieces* held, double live) {
  pieces_[step.piece] = live;
  return held ? (*held)[step.piece] : live;
}

double Evaluator::table(const Step& step, double x, const Pieces* held) {
  const flat::Table& table = model_.tables[step.node.index];
  const int piece = static_cast<int>(held_piece(step, held, piece_of(table.x, x)));
  return interpolate(table.method, table.x, table.values, x, piece, step.node.order);
}

double Evaluator::table_2(const Step& step, double x, double y, const Pieces* held) {
  const flat::Table& table = model_.tables[step.node.index];
  constexpr double wide = 65536;
  const double live = piece_of(table.x, x) * wide + piece_of(table.y, y) + 1;
  const double piece = held_piece(step, held, live);
  const int piece_x = static_cast<int>(std::floor(piece / wide));
  const int piece_y = static_cast<int>(piece - piece_x * wide) - 1;
  const auto at = [&](double b) {
    std::vector<double> across;
    for (std::size_t i = 0; i < table.x.size(); ++i) {
      const auto row = table.values.begin() + static_cast<std::ptrdiff_t>(i * table.y.size());
      across.push_back(interpolate(table.method, table.y,
                                   std::vector<double>(row, row + static_cast<std::ptrdiff_t>(table.y.size())), b,
                                   piece_y, 0));
    }
    return interpolate(table.method, table.x, across, x, piece_x, step.node.order);
  };
  // Along y by five points: exact for the bilinear, and to e^4 for the cubic, whose slopes across are not polynomials.
  const bool beyond = piece_y < 0 || piece_y + 1 >= static_cast<int>(table.y.size());
  if (step.node.order_b == 0) return at(y);
  if (beyond) return 0;
  const double e = 2e-3;
  if (step.node.order_b == 1) return (8 * (at(y + e) - at(y - e)) - (at(y + 2 * e) - at(y - 2 * e))) / (12 * e);
  return (16 * (at(y + e) + at(y - e)) - (at(y + 2 * e) + at(y - 2 * e)) - 30 * at(y)) / (12 * e * e);
}

void Evaluator::run(const Step& step, std::uint32_t at, const Point& point, const Pieces* held) {
  const expr::Node& node = step.node;
  const double a = values_[step.a], b = values_[step.b], c = values_[step.c];
  const auto piece = [&](double live) { return held_piece(step, held, live); };
  double& value = values_[at];
  switch (node.op) {
    case Op::constant:
    case Op::truth:
      value = node.number;
      break;
    case Op::time:
      value = point.t;
      break;
    case Op::variable:
      value = point.leaves[leaves_.at(node.index, node.order)];
      break;
    case Op::input:
      value = point.inputs[node.index];
      break;
    case Op::input_rate:
      value = point.input_rates[node.index];
      break;
    case Op::parameter:
      value = point.parameters[node.index];
      break;
    case Op::discrete:
      value = point.discrete[node.index];
      break;
    case Op::delayed:
      value = point.delayed[node.index];
      break;
    case Op::add:
      value = a + b;
      break;
    case Op::subtract:
      value = a - b;
      break;
    case Op::multiply:
      value = a * b;
      break;
    case Op::divide:
      value = a / b;
      break;
    case Op::negate:
      value = -a;
      break;
    case Op::square_root:
      value = std::sqrt(a);
      break;
    case Op::absolute:
      value = piece(std::signbit(a) ? -1 : 1) * a;
      break;
    case Op::floor:
      value = piece(std::floor(a));
      break;
    case Op::ceil:
      value = piece(std::ceil(a));
      break;
    case Op::sin:
      value = std::sin(a);
      break;
    case Op::cos:
      value = std::cos(a);
      break;
    case Op::tan:
      value = std::tan(a);
      break;
    case Op::asin:
      value = std::asin(a);
      break;
    case Op::acos:
      value = std::acos(a);
      break;
    case Op::atan:
      value = std::atan(a);
      break;
    case Op::atan2:
      value = std::atan2(a, b);
      break;
    case Op::exp:
      value = std::exp(a);
      break;
    case Op::log:
      value = std::log(a);
      break;
    case Op::power:
      value = std::pow(a, b);
      break;
    case Op::table:
      value = table(step, a, held);
      break;
    case Op::table_2:
      value = table_2(step, a, b, held);
      break;
    case Op::noise:
      // Random numbers are data: the kernel's own.
      piece(std::floor(a));
      value = tk_noise(node.number, a);
      break;
    case Op::select:
      value = a != 0 ? b : c;
      break;
    case Op::less:
      value = piece(a < b);
      break;
    case Op::less_equal:
      value = piece(a <= b);
      break;
    case Op::equal:
      value = piece(a == b);
      break;
    case Op::not_equal:
      value = piece(a != b);
      break;
    case Op::logical_and:
      value = a != 0 && b != 0;
      break;
    case Op::logical_or:
      value = a != 0 || b != 0;
      break;
    case Op::logical_not:
      value = a == 0;
      break;
  }
}

void Evaluator::evaluate(const Point& point, const Pieces* held) {
  for (std::uint32_t i = 0; i < steps_.size(); ++i) run(steps_[i], i, point, held);
}

void Evaluator::jacobian(Point point, const Pieces& held, std::vector<double>& rows) {
  rows.assign(equation_count() * leaves_.count, 0.0);
  evaluate(point, &held);
  std::vector<double> before(equation_count());
  for (std::size_t e = 0; e < before.size(); ++e) before[e] = residual(e);
  const std::vector<double> values = values_;
  const Pieces pieces = pieces_;
  for (std::uint32_t leaf = 0; leaf < leaves_.count; ++leaf) {
    const double kept = point.leaves[leaf];
    const double moved = kept + 1e-7 * std::max(1.0, std::fabs(kept));
    point.leaves[leaf] = moved;
    for (std::uint32_t i : readers_[leaf]) run(steps_[i], i, point, &held);
    for (std::uint32_t e : reading_equations_[leaf])
      rows[e * leaves_.count + leaf] = (residual(e) - before[e]) / (moved - kept);
    for (std::uint32_t i : readers_[leaf]) values_[i] = values[i];
    point.leaves[leaf] = kept;
  }
  pieces_ = pieces;
}

}  // namespace judge
