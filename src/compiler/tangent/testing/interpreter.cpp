#include "compiler/tangent/testing/interpreter.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "compiler/ir/layout.h"
#include "kernel/kernel.h"

namespace tangent_testing {

namespace {

using Complex = std::complex<double>;
using ir::Op;
using ir::Value;

double real(double v) { return v; }
double real(const Complex& v) { return v.real(); }

// Elementary functions: the kernel's.
double square_root(double a) { return tk_sqrt(a); }
double sine(double a) { return tk_sin(a); }
double cosine(double a) { return tk_cos(a); }
double tangent(double a) { return tk_tan(a); }
double arc_sine(double a) { return tk_asin(a); }
double arc_cosine(double a) { return tk_acos(a); }
double arc_tangent(double a) { return tk_atan(a); }
double arc_tangent_2(double a, double b) { return tk_atan2(a, b); }
double exponential(double a) { return tk_exp(a); }
double logarithm(double a) { return tk_log(a); }
double power(double a, double b) { return tk_pow(a, b); }

// f(a + i e) = f(a) + i e f'(a) for tiny e, f' by the standard library as the textbook has it: std::complex loses tiny
// parts, and where one part is NaN the other one too.
Complex expanded(const Complex& a, double value, double slope) { return {value, slope * a.imag()}; }

Complex square_root(const Complex& a) {
  if (a.real() < 0) return {NAN, NAN};
  return expanded(a, tk_sqrt(a.real()), 1 / std::sqrt(4 * a.real()));
}
Complex sine(const Complex& a) { return expanded(a, tk_sin(a.real()), std::cos(a.real())); }
Complex cosine(const Complex& a) { return expanded(a, tk_cos(a.real()), -std::sin(a.real())); }
Complex tangent(const Complex& a) { return expanded(a, tk_tan(a.real()), std::pow(std::cos(a.real()), -2)); }
Complex arc_sine(const Complex& a) { return expanded(a, tk_asin(a.real()), std::pow(1 - a.real() * a.real(), -0.5)); }
Complex arc_cosine(const Complex& a) {
  return expanded(a, tk_acos(a.real()), -std::pow(1 - a.real() * a.real(), -0.5));
}
Complex arc_tangent(const Complex& a) {
  return expanded(a, tk_atan(a.real()), std::pow(std::cos(tk_atan(a.real())), 2));
}
// The angle of (b, a), turned by the part of (b', a') across it.
Complex arc_tangent_2(const Complex& a, const Complex& b) {
  const double angle = tk_atan2(a.real(), b.real());
  const double radius = std::hypot(a.real(), b.real());
  if (radius == 0) return {angle, NAN};
  return {angle, (a.imag() * std::cos(angle) - b.imag() * std::sin(angle)) / radius};
}
Complex exponential(const Complex& a) { return expanded(a, tk_exp(a.real()), std::exp(a.real())); }
Complex logarithm(const Complex& a) {
  if (a.real() < 0) return {NAN, NAN};
  return {tk_log(a.real()), a.imag() / a.real()};
}
Complex power(const Complex& a, const Complex& b) {
  const double value = tk_pow(a.real(), b.real());
  // By the base with the exponent held, by the exponent with the base held: exp(b log a), a > 0.
  const double by_base = a.imag() == 0 || b.real() == 0 ? 0 : b.real() * std::pow(a.real(), b.real() - 1) * a.imag();
  const double by_exponent = b.imag() == 0 || a.real() == 0 ? 0 : value * std::log(a.real()) * b.imag();
  return {value, by_base + by_exponent};
}

double quotient(double a, double b) { return a / b; }
// Of a real part 0 only infinity comes, whatever the tiny imaginary part.
Complex quotient(const Complex& a, const Complex& b) {
  return b.real() == 0 ? Complex(a.real() / b.real(), NAN) : a / b;
}

double sampled(const tactus_table& table, std::uint32_t order_x, std::uint32_t order_y, double x, const double* y) {
  if (y == nullptr) return tk_table(&table, static_cast<int>(order_x), x);
  return tk_table_2(&table, static_cast<int>(order_x), static_cast<int>(order_y), x, *y);
}
double sampled(const tactus_table& table, const ir::Instruction& i, double a, const double* b) {
  return sampled(table, i.size, i.count, a, b);
}
// Chords of the table over a tiny way would be rounding only: its own derivative, which the kernel's tests hold against
// chords.
Complex sampled(const tactus_table& table, const ir::Instruction& i, const Complex& a, const Complex* b) {
  const double second = b != nullptr ? b->real() : 0;
  const double* y = b != nullptr ? &second : nullptr;
  double imaginary = a.imag() * sampled(table, i.size + 1, i.count, a.real(), y);
  if (b != nullptr) imaginary += b->imag() * sampled(table, i.size, i.count + 1, a.real(), y);
  return {sampled(table, i.size, i.count, a.real(), y), imaginary};
}

template <class T>
bool gauss(std::vector<T> a, std::vector<T>& b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t row = k; row < n; ++row) {
      if (std::abs(real(a[row * n + k])) > std::abs(real(a[pivot * n + k]))) pivot = row;
    }
    if (!(std::abs(real(a[pivot * n + k])) > 0)) return false;
    for (std::size_t column = 0; column < n; ++column) std::swap(a[k * n + column], a[pivot * n + column]);
    std::swap(b[k], b[pivot]);
    for (std::size_t row = k + 1; row < n; ++row) {
      const T factor = a[row * n + k] / a[k * n + k];
      for (std::size_t column = k; column < n; ++column) a[row * n + column] -= factor * a[k * n + column];
      b[row] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t column = k + 1; column < n; ++column) b[k] -= a[k * n + column] * b[column];
    b[k] /= a[k * n + k];
  }
  return true;
}

template <class T>
struct Residual {
  std::vector<T> captured, z, direction, r, j;
};

template <class T>
class Interpreter {
 public:
  Interpreter(const ir::Program& program, Scene<T>* scene, Residual<T>* residual)
      : program_(program), scene_(scene), residual_(residual) {}

  bool chunk(const ir::Chunk& c) {
    values_.assign(c.instructions.size(), T());
    truths_.assign(c.instructions.size(), false);
    solved_.assign(c.instructions.size(), {});
    for (Value v = 0; v < c.instructions.size(); ++v) {
      if (!instruction(c, v)) return false;
    }
    return true;
  }

 private:
  bool instruction(const ir::Chunk& c, Value v) {
    const ir::Instruction& i = c.instructions[v];
    T& result = values_[v];
    const T a = i.a == ir::no_value ? T() : values_[i.a];
    const T b = i.b == ir::no_value ? T() : values_[i.b];
    const auto operand = [&](std::uint32_t k) { return values_[c.operands[i.first + k]]; };
    switch (i.op) {
      case Op::constant:
        result = i.number;
        return true;
      case Op::time:
        result = scene_->t;
        return true;
      case Op::state:
        result = scene_->x.at(i.index);
        return true;
      case Op::input:
        result = scene_->inputs.at(i.index) + scene_->input_rates.at(i.index) * (scene_->t - scene_->input_time);
        return true;
      case Op::input_rate:
        result = scene_->input_rates.at(i.index);
        return true;
      case Op::input_time:
        result = scene_->input_time;
        return true;
      case Op::parameter:
        result = scene_->parameters.at(i.index);
        return true;
      case Op::derived:
        result = scene_->derived.at(i.index);
        return true;
      case Op::discrete:
        result = scene_->discrete.at(i.index);
        return true;
      case Op::delayed:
        result = scene_->delayed(i.index, real(scene_->t));
        return true;
      case Op::load_work:
        result = scene_->work.at(i.index);
        return true;
      case Op::captured:
        result = residual_->captured.at(i.index);
        return true;
      case Op::unknown:
        result = residual_->z.at(i.index);
        return true;
      case Op::direction:
        result = residual_ != nullptr ? residual_->direction.at(i.index) : scene_->direction.at(i.index);
        return true;
      case Op::add:
        result = a + b;
        return true;
      case Op::subtract:
        result = a - b;
        return true;
      case Op::multiply:
        result = a * b;
        return true;
      case Op::divide:
        result = quotient(a, b);
        return true;
      case Op::negate:
        result = -a;
        return true;
      case Op::square_root:
        result = square_root(a);
        return true;
      case Op::absolute:
        result = real(a) < 0 ? -a : a;
        return true;
      case Op::floor:
        result = tk_floor(real(a));
        return true;
      case Op::ceil:
        result = tk_ceil(real(a));
        return true;
      case Op::sin:
        result = sine(a);
        return true;
      case Op::cos:
        result = cosine(a);
        return true;
      case Op::tan:
        result = tangent(a);
        return true;
      case Op::asin:
        result = arc_sine(a);
        return true;
      case Op::acos:
        result = arc_cosine(a);
        return true;
      case Op::atan:
        result = arc_tangent(a);
        return true;
      case Op::atan2:
        result = arc_tangent_2(a, b);
        return true;
      case Op::exp:
        result = exponential(a);
        return true;
      case Op::log:
        result = logarithm(a);
        return true;
      case Op::power:
        result = power(a, b);
        return true;
      case Op::table: {
        const ir::Table& t = program_.tables.at(i.index);
        const tactus_table table = {t.method,
                                    static_cast<std::uint32_t>(t.x.size()),
                                    static_cast<std::uint32_t>(t.y.size()),
                                    t.x.data(),
                                    t.y.data(),
                                    t.values.data(),
                                    t.slopes.data()};
        result = sampled(table, i, a, i.b == ir::no_value ? nullptr : &b);
        return true;
      }
      case Op::noise:
        result = tk_noise(i.number, real(a));
        return true;
      case Op::less:
        truths_[v] = real(a) < real(b);
        return true;
      case Op::less_equal:
        truths_[v] = real(a) <= real(b);
        return true;
      case Op::equal:
        truths_[v] = real(a) == real(b);
        return true;
      case Op::not_equal:
        truths_[v] = real(a) != real(b);
        return true;
      case Op::logical_and:
        truths_[v] = truths_[i.a] && truths_[i.b];
        return true;
      case Op::logical_or:
        truths_[v] = truths_[i.a] || truths_[i.b];
        return true;
      case Op::logical_not:
        truths_[v] = !truths_[i.a];
        return true;
      case Op::select:
        result = truths_[i.a] ? b : values_[i.c];
        return true;
      case Op::linear_solve: {
        std::vector<T> matrix;
        for (std::uint32_t k = 0; k < i.size * i.size; ++k) matrix.push_back(operand(k));
        for (std::uint32_t k = 0; k < i.size; ++k) solved_[v].push_back(operand(i.size * i.size + k));
        return gauss(matrix, solved_[v]);
      }
      case Op::newton_solve: {
        Residual<T> inside;
        for (std::uint32_t k = 0; k < i.count; ++k) inside.captured.push_back(operand(k));
        return newton(i, inside, solved_[v]);
      }
      case Op::newton_tangent: {
        const ir::Instruction& solve = c.instructions[i.a];
        Residual<T> inside;
        for (std::uint32_t k = 0; k < solve.count; ++k) inside.captured.push_back(values_[c.operands[solve.first + k]]);
        for (std::uint32_t k = 0; k < i.count; ++k) inside.direction.push_back(operand(k));
        inside.z = solved_[i.a];
        inside.r.assign(i.size, T());
        inside.j.assign(i.size * i.size, T());
        if (!Interpreter(program_, nullptr, &inside).chunk(program_.tangents->residuals.at(i.residual))) return false;
        for (T& r : inside.r) r = -r;
        solved_[v] = inside.r;
        return gauss(inside.j, solved_[v]);
      }
      case Op::solution:
        result = solved_[i.a].at(i.index);
        return true;
      case Op::store_derivative:
        scene_->result.at(i.index) = a;
        return true;
      case Op::store_discrete:
        scene_->discrete.at(i.index) = a;
        return true;
      case Op::store_watched:
        scene_->watched.at(i.index) = a;
        return true;
      case Op::store_state:
        scene_->states.at(i.index) = a;
        return true;
      case Op::store_derived:
        scene_->derived.at(i.index) = a;
        return true;
      case Op::store_output:
        scene_->outputs.at(i.index) = a;
        return true;
      case Op::store_work:
        scene_->work.at(i.index) = a;
        return true;
      case Op::store_warm:
        scene_->warm.at(i.index) = a;
        return true;
      case Op::store_residual:
        residual_->r.at(i.index) = a;
        return true;
      case Op::store_jacobian:
        residual_->j.at(i.index) = a;
        return true;
      case Op::need_determinant:
        return real(a) != 0 && std::isfinite(real(a));
    }
    return false;
  }

  // Full steps from the warm start until they no longer matter, and two more for the imaginary parts.
  bool newton(const ir::Instruction& i, Residual<T>& inside, std::vector<T>& z) {
    z.assign(scene_->warm.begin() + i.warm, scene_->warm.begin() + i.warm + i.size);
    int more = 2;
    for (int iteration = 0; iteration < 60; ++iteration) {
      inside.z = z;
      inside.r.assign(i.size, T());
      inside.j.assign(i.size * i.size, T());
      if (!Interpreter(program_, nullptr, &inside).chunk(program_.residuals.at(i.residual))) return false;
      std::vector<T> step = inside.r;
      if (!gauss(inside.j, step)) return false;
      bool is_small = true;
      for (std::size_t k = 0; k < z.size(); ++k) {
        if (!std::isfinite(real(step[k]))) return false;
        z[k] -= step[k];
        is_small = is_small && std::abs(real(step[k])) <= 1e-12 * (1 + std::abs(real(z[k])));
      }
      if (is_small && more-- == 0) {
        std::copy(z.begin(), z.end(), scene_->warm.begin() + i.warm);
        return true;
      }
    }
    return false;
  }

  const ir::Program& program_;
  Scene<T>* scene_;
  Residual<T>* residual_;
  std::vector<T> values_;
  std::vector<bool> truths_;
  std::vector<std::vector<T>> solved_;
};

template <class T>
bool run(const ir::Program& program, const ir::Function& function, Scene<T>& scene) {
  Interpreter<T> interpreter(program, &scene, nullptr);
  return std::ranges::all_of(function.chunks, [&](const ir::Chunk& chunk) { return interpreter.chunk(chunk); });
}

tactus_model counts_of(const ir::Program& program) {
  tactus_model model = {};
  model.state_count = static_cast<std::uint32_t>(program.state_names.size());
  model.input_count = program.input_count;
  model.parameter_count = static_cast<std::uint32_t>(program.parameters.size());
  model.derived_count = program.derived_count;
  model.discrete_count = program.discrete_count;
  return model;
}

// scene + step * direction in T.
template <class T>
Scene<T> move(const ir::Program& program, std::uint32_t function, const Scene<double>& from,
              const std::vector<double>& direction, T step) {
  const tactus_model counts = counts_of(program);
  const auto along = [&](const std::vector<double>& values, std::uint64_t at) {
    std::vector<T> moved;
    for (std::size_t k = 0; k < values.size(); ++k) moved.push_back(values[k] + step * direction[at + k]);
    return moved;
  };
  const auto still = [](const std::vector<double>& values) { return std::vector<T>(values.begin(), values.end()); };
  Scene<T> to;
  to.t = from.t + step * direction[0];
  to.input_time = from.input_time;
  to.x = along(from.x, tactus_direction_states(&counts));
  to.states = along(from.states, tactus_direction_states(&counts));
  if (function == TACTUS_OF_INITIALIZE || function >= TACTUS_OF_FIRE) to.x = to.states;
  to.inputs = along(from.inputs, tactus_direction_inputs(&counts));
  to.input_rates = along(from.input_rates, tactus_direction_input_rates(&counts));
  to.parameters = along(from.parameters, tactus_direction_parameters(&counts));
  to.derived = along(from.derived, tactus_direction_derived(&counts));
  to.discrete = along(from.discrete, tactus_direction_discrete(&counts));
  to.warm = still(from.warm);
  to.work = still(from.work);
  to.outputs = still(from.outputs);
  to.watched = still(from.watched);
  to.result.resize(std::max<std::size_t>(result_size(program, function),
                                         program.constraints.size() + program.constraint_jacobian.index.size()));
  to.delayed = from.delayed;
  return to;
}

const ir::Function& function_of(const ir::Program& program, std::uint32_t function) {
  static const ir::Function nothing;
  switch (function) {
    case TACTUS_OF_PREPARE:
      return program.prepare;
    case TACTUS_OF_INITIALIZE:
      return program.initialize;
    case TACTUS_OF_DERIVATIVE:
      return program.derivative;
    case TACTUS_OF_OUTPUTS:
      return program.outputs;
    case TACTUS_OF_WATCH:
      return program.watch;
    case TACTUS_OF_CONSTRAINTS:
      return program.constrain;
    case TACTUS_OF_CONDITIONS:
      return program.condition;
    default:
      return function - TACTUS_OF_FIRE < program.handlers.size() ? program.handlers[function - TACTUS_OF_FIRE]
                                                                 : nothing;
  }
}

template <class T>
std::vector<T> results(const ir::Program& program, std::uint32_t function, Scene<T> scene, bool& status) {
  status = run(program, function_of(program, function), scene);
  std::vector<T> values;
  switch (function) {
    case TACTUS_OF_PREPARE:
      return scene.derived;
    case TACTUS_OF_INITIALIZE:
      values = scene.states;
      values.insert(values.end(), scene.discrete.begin(), scene.discrete.end());
      return values;
    case TACTUS_OF_OUTPUTS:
      return scene.outputs;
    case TACTUS_OF_WATCH:
      return scene.watched;
    case TACTUS_OF_DERIVATIVE:
    case TACTUS_OF_CONSTRAINTS:
    case TACTUS_OF_CONDITIONS:
      scene.result.resize(result_size(program, function));
      return scene.result;
    default:
      values = scene.discrete;
      values.insert(values.end(), scene.states.begin(), scene.states.end());
      return values;
  }
}

}  // namespace

bool carry_out(const ir::Program& program, const ir::Function& function, Scene<double>& scene) {
  return run(program, function, scene);
}
bool carry_out(const ir::Program& program, const ir::Function& function, Scene<Complex>& scene) {
  return run(program, function, scene);
}

std::size_t result_size(const ir::Program& program, std::uint32_t function) {
  switch (function) {
    case TACTUS_OF_PREPARE:
      return program.derived_count;
    case TACTUS_OF_INITIALIZE:
      return program.state_names.size() + program.discrete_count;
    case TACTUS_OF_DERIVATIVE:
      return program.state_names.size();
    case TACTUS_OF_OUTPUTS:
      return program.output_count;
    case TACTUS_OF_WATCH:
      return program.watch_count;
    case TACTUS_OF_CONSTRAINTS:
      return program.constraints.size();
    case TACTUS_OF_CONDITIONS:
      return program.conditions.size();
    default:
      return program.discrete_count + program.state_names.size();
  }
}

Scene<double> scene_of(const ir::Program& program, const tactus_model* model, tactus_instance* instance) {
  Scene<double> scene;
  const tactus_layout layout = model != nullptr ? model->layout : tactus_layout{};
  const auto section = [&](std::uint32_t at, std::size_t count) {
    std::vector<double> values(count, 0.0);
    if (instance != nullptr) std::copy_n(tactus_data(instance) + at, count, values.begin());
    return values;
  };
  scene.states = section(layout.states, program.state_names.size());
  scene.x = scene.states;
  scene.inputs = section(layout.inputs, program.input_count);
  scene.input_rates = section(layout.input_rates, program.input_count);
  scene.parameters = section(layout.parameters, program.parameters.size());
  scene.derived = section(layout.derived, program.derived_count);
  scene.discrete = section(layout.discrete, program.discrete_count);
  scene.warm = section(layout.warm, program.warm_count);
  scene.work.assign(2 * program.work_count + 2 * program.discrete_count, NAN);
  scene.outputs = section(layout.outputs, program.output_count);
  scene.watched = section(layout.watched, program.watch_count);
  if (instance != nullptr) {
    scene.t = instance->time;
    scene.input_time = instance->input_time;
    scene.delayed = [=](std::uint32_t index, double t) { return tk_delayed(model, instance, index, t); };
  }
  return scene;
}

std::vector<double> complex_step(const ir::Program& program, std::uint32_t function, const Scene<double>& scene,
                                 const std::vector<double>& direction, bool& status) {
  constexpr double step = 1e-150;
  const auto values = results(program, function, move(program, function, scene, direction, Complex(0, step)), status);
  std::vector<double> tangents;
  // What is no longer tiny is no longer linear.
  for (const Complex& value : values) {
    const bool is_linear = std::isfinite(value.real()) && std::abs(value.imag()) < 1e-100;
    tangents.push_back(is_linear ? value.imag() / step : NAN);
  }
  return tangents;
}

std::vector<double> moved(const ir::Program& program, std::uint32_t function, const Scene<double>& scene,
                          const std::vector<double>& direction, double step, bool& status) {
  return results(program, function, move(program, function, scene, direction, step), status);
}

}  // namespace tangent_testing
