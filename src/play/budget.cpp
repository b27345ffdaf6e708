#include "play/budget.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "compiler/ir/cost.h"
#include "compiler/tangent/tangent.h"
#include "kernel/sections.h"
#include "runtime/live/histogram.h"

namespace play {
namespace {

struct Stages {
  int evaluations = 0;     // of the derivative
  double vector_work = 0;  // operations a state
  int energies = 0;        // evaluations of the energy, as a rule and at most: a search is bounded, kernel/balance.c
  int most_energies = 0;
  int most_evaluations = 0;  // where Newton's method takes more than it does as a rule
};

Stages stages_of(int solver) {
  switch (solver) {
    case TACTUS_EULER:
      return {1, 3};
    case TACTUS_BS3_FIXED:
      return {3, 14};
    case TACTUS_ROSENBROCK_FIXED:
      return {8, 130};
    case TACTUS_PASSIVE:
      return {1, 10, 10, 250};
    case TACTUS_PASSIVE_BS3:
      return {3, 24, 12, 252};
    case TACTUS_PASSIVE_RK4:
      return {4, 30, 13, 253};
    case TACTUS_MIDPOINT:
      return {4, 40, 0, 0, 62};
    case TACTUS_DISCRETE_GRADIENT:
      return {4, 60, 6, 96, 62};
    case TACTUS_GONZALEZ:
      return {6, 80, 12, 82, 42};
    case TACTUS_MEAN_VALUE:
      return {6, 120, 30, 202, 42};
    default:
      return {4, 16};
  }
}

// How often guards are looked at, of kernel/locate.c.
struct Looks {
  double usual = 0;
  double most = 0;         // where a step is gone through in the shortest pieces
  double of_an_event = 0;  // besides, to find its instant
};

Looks looks_of(const ir::Program& program, double step) {
  if (program.watch.chunks.empty() && program.handlers.empty()) return {};
  Looks looks;
  const double precision = program.event_precision > 0 ? program.event_precision : TK_DEFAULT_PRECISION;
  // Halving that is optimal at worst, with one step more allowed.
  looks.of_an_event = std::max(std::ceil(std::log2(step / precision)), 0.0) + 2;
  if (program.relations.empty()) {
    looks.usual = looks.most = 1;
    return looks;
  }
  looks.usual = TK_NODES;
  // Each piece that is taken may be followed by one twice as long that is not.
  const double pieces = 2 * TK_PIECES + std::log2(TK_PIECES);
  // A cubic has at most two low points in a piece.
  const double followed = 2.0 * (1 + TK_DESCENTS) * static_cast<double>(program.relations.size());
  looks.most = TK_NODES + (TK_NODES - 1) * pieces + TK_PIECES * followed;
  return looks;
}

// Of the derivative's tangent, and how many of them make its matrix.
struct MatrixCost {
  ir::Cost tangent;
  double columns = 0;
};

MatrixCost matrix_cost_of(const ir::Program& program) {
  ir::Program with = program;
  with.tangents = tangent::make(program, tangent::only(TACTUS_OF_DERIVATIVE));
  return {ir::cost_of(with, with.tangents->derivative), static_cast<double>(with.tangents->colour_count)};
}

}  // namespace

Bound bound_of(const ir::Program& program, const live::Timing& timing) {
  if (!program.structures.empty()) {  // the costliest of its modes
    Bound most;
    for (const ir::Program& structure : program.structures) {
      const Bound bound = bound_of(structure, timing);
      most.usual = std::max(most.usual, bound.usual);
      most.most = std::max(most.most, bound.most);
      most.each_event = std::max(most.each_event, bound.each_event);
      most.newton_blocks = std::max(most.newton_blocks, bound.newton_blocks);
    }
    return most;
  }
  const auto substeps = static_cast<double>(timing.substeps);
  const auto states = static_cast<double>(program.state_names.size());
  const Stages stages = stages_of(timing.solver);
  const ir::Cost derivative = ir::cost_of(program, program.derivative);
  const ir::Cost outputs = ir::cost_of(program, program.outputs);
  const ir::Cost watch = ir::cost_of(program, program.watch);
  const ir::Cost constrain = ir::cost_of(program, program.constrain);
  const ir::Cost energy = ir::cost_of(program, program.energy);
  const ir::Cost slopes = ir::cost_of(program, program.slopes);
  const bool is_stiff = tactus_is_stiff_solver(timing.solver);
  const MatrixCost matrix = is_stiff ? matrix_cost_of(program) : MatrixCost{};

  // A step: the stages and the energy, the matrix of a stiff method (a tangent a colour, or with the flow) and its
  // elimination, and at most two projections with rows orthogonalised twice.
  const auto step = [&](double ir::Cost::* kind) {
    const bool is_most = kind == &ir::Cost::most;
    double sum = stages.vector_work * states;
    sum += (is_most ? std::max(stages.evaluations, stages.most_evaluations) : stages.evaluations) * derivative.*kind;
    sum += (is_most ? stages.most_energies : stages.energies) * energy.*kind;
    if (is_stiff)
      sum += matrix.columns * matrix.tangent.*kind + slopes.*kind + 2 * states * states * states / 3 +
             16 * states * states;
    if (const auto rows = static_cast<double>(program.constraints.size()); rows > 0)
      sum += TK_FIXED_PROJECTIONS * (constrain.*kind + 8 * rows * rows * states);
    return sum;
  };

  Bound bound;
  const Looks looks = looks_of(program, timing.period / substeps);
  // Each looks at a place between: what is watched there, and the states there.
  const auto look = [&](double ir::Cost::* kind) { return watch.*kind + 8 * states; };
  bound.usual = substeps * (step(&ir::Cost::usual) + looks.usual * look(&ir::Cost::usual)) + outputs.usual;
  bound.most = substeps * (step(&ir::Cost::most) + looks.most * look(&ir::Cost::most)) + outputs.most;
  double fire = 0;
  for (const ir::Function& handler : program.handlers) fire += ir::cost_of(program, handler).most;
  // It is found; then the step is completed, gone through again.
  if (looks.usual > 0)
    bound.each_event = 2 * step(&ir::Cost::most) + (looks.of_an_event + looks.most) * look(&ir::Cost::most) + fire;
  bound.newton_blocks = derivative.newton_blocks;
  bound.largest_newton = derivative.largest_newton;
  bound.evaluations = stages.evaluations * static_cast<int>(timing.substeps);
  return bound;
}

Measured measure(live::World& world, const tactus_model* table, double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr double radius = 0.05, turn = 3;  // m, rad/s
  constexpr std::int64_t warming = 100, most_ticks = 1'000'000;
  Measured measured;
  live::Histogram histogram;
  live::Pointer pointer;
  pointer.is_present = true;
  const double period = world.timing().period;
  const auto begin = Clock::now();
  for (std::int64_t k = 0; k < most_ticks + warming; ++k) {
    const double angle = turn * period * static_cast<double>(k);
    pointer.position = {radius * std::sin(angle), radius * (1 - std::cos(angle)), 0};
    const auto before = Clock::now();
    const int status = world.tick(table, pointer, 0);
    const auto after = Clock::now();
    if (k >= warming) histogram.count(std::chrono::duration_cast<std::chrono::nanoseconds>(after - before).count());
    if (status != TACTUS_OK) {
      measured.failure =
          sim::describe_failure(world.model(), *world.instance().get(), static_cast<tactus_status>(status), false);
      break;
    }
    if (k >= 2 * warming && std::chrono::duration<double>(after - begin).count() > seconds) break;
  }
  measured.ticks = static_cast<std::int64_t>(histogram.total());
  measured.median = histogram.quantile(0.5);
  measured.p99 = histogram.quantile(0.99);
  measured.longest = histogram.longest();
  return measured;
}

}  // namespace play
