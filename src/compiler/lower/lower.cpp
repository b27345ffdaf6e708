#include "compiler/lower/lower.h"

#include <algorithm>

#include "base/check.h"
#include "compiler/lower/lowering.h"
#include "compiler/lower/regroup.h"

namespace lower {

ir::Program Lowering::run() {
  const std::set<ExprId> own(sorted_.states.begin(), sorted_.states.end());
  for (std::uint32_t i = 0; i < space_->states.size(); ++i) {
    const auto [variable, order] = space_->states[i];
    const ExprId leaf = pool_.variable(variable, order);
    if (own.contains(leaf)) state_index_.emplace(leaf, i);
    place_of_state_.emplace(leaf, i);
    program_.state_names.push_back(leaf_name(leaf));
  }
  motion_ = solve_all(sorted_.motion);
  start_ = solve_all(sorted_.start);
  find_static();
  Regroup regroup(pool_, [this](ExprId e) { return is_static(e); });
  for (Solution& solution : motion_.solutions) {
    for (ExprId& e : solution.values) e = regroup(e);
    if (solution.determinant.valid()) solution.determinant = regroup(solution.determinant);
  }
  prepare_ = std::make_unique<FunctionBuilder>(
      pool_, program_.work_count,
      [](ExprId) -> ir::Instruction {
        TACTUS_CHECK(!"a leaf of a static block");
        return {};
      },
      [](ExprId) { return std::nullopt; });
  for (std::size_t b = 0; b < motion_.solutions.size(); ++b) {
    if (!static_block_[b]) continue;
    const Solution& solution = motion_.solutions[b];
    if (solution.kind == Solution::newton) {
      store_guesses(*prepare_, solution.unknowns, warm_of(solution), [this](ExprId guess) {
        return symbolic::leaves(pool_, guess, Op::variable).empty() && is_static(guess);
      });
    }
    solve(*prepare_, motion_, b);
  }
  build_derivative();
  build_outputs();
  build_initialize();
  build_watch();
  build_handlers();
  build_constraints();
  build_conditions();
  build_energy();
  build_subsystems();
  program_.prepare = prepare_->take();
  describe();
  return std::move(program_);
}

std::string Lowering::leaf_name(ExprId leaf) const {
  return flat::primed(model_.variables[flat::VariableId(pool_[leaf].index)].name, pool_[leaf].order);
}

void Lowering::order_by_subsystem() {
  if (sorted_.subsystem_of.empty()) return;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> subsystem;
  for (std::size_t i = 0; i < sorted_.states.size(); ++i)
    subsystem[{pool_[sorted_.states[i]].index, pool_[sorted_.states[i]].order}] = sorted_.subsystem_of[i];
  std::stable_sort(own_space_.states.begin(), own_space_.states.end(),
                   [&](const auto& a, const auto& b) { return subsystem.at(a) < subsystem.at(b); });
}

std::uint32_t Lowering::line_of(base::Span span) const {
  return sources_.size() > 0 ? sources_.position(span.file, span.begin).line : 0;
}

void Lowering::describe() {
  program_.discrete_count = model_.discrete_count;
  program_.event_precision = model_.settings.event_precision.value_or(0);
  program_.max_transitions = static_cast<std::uint32_t>(model_.settings.max_transitions.value_or(0));
  for (const flat::Table& table : model_.tables)
    program_.tables.push_back({table.method, table.x, table.y, table.values, table.slopes});
  program_.input_count = model_.input_count;
  for (const flat::Input& input : model_.inputs) {
    program_.input_channels.push_back(
        {input.name, flat::unit_of(input.quantity, 0), input.first, input.shape.rows, input.shape.columns, 0});
  }
  for (const flat::Parameter& parameter : model_.parameters) {
    program_.parameters.push_back({parameter.name, parameter.unit, parameter.initial, parameter.low, parameter.high});
  }
  for (const flat::Port& port : model_.ports) {
    program_.ports.push_back({port.device, port.is_input ? port.index : channel_of_group_[port.index], port.is_input});
  }
  const flat::Settings& settings = model_.settings;
  program_.starting_time = settings.starting_time;
  program_.ending_time = settings.ending_time.value_or(settings.starting_time);
  program_.step_size = settings.step_size.value_or(0);
  program_.tolerance = settings.tolerance.value_or(0);
  program_.record_period = settings.record_period.value_or(0);
  program_.solver = settings.solver.value_or(-1);
  program_.hand_period = settings.hand_period.value_or(0);
  program_.dimensions = model_.dimensions;
}

void widen(Space& space, const flat::Model& model, const structure::Sorted& sorted) {
  const expr::Pool& pool = model.pool;
  std::set<std::pair<std::uint32_t, std::uint32_t>> states(space.states.begin(), space.states.end());
  std::set<std::pair<std::uint32_t, std::uint32_t>> known;
  const auto quantity = [&](ExprId leaf) { return std::pair(pool[leaf].index, pool[leaf].order); };
  for (ExprId leaf : sorted.states) {
    states.insert(quantity(leaf));
    known.insert(quantity(leaf));
  }
  for (ExprId leaf : sorted.motion.unknowns) known.insert(quantity(leaf));
  space.states.assign(states.begin(), states.end());
  space.orders.resize(model.groups.size());
  for (std::size_t g = 0; g < model.groups.size(); ++g) {
    const flat::Group& group = model.groups[g];
    const auto has = [&](std::uint32_t order) {
      for (std::uint32_t i = 0; i < group.shape.size(); ++i) {
        const std::uint32_t variable = group.first.value + i;
        if (!known.contains({variable, order}) && !(order == 0 && sorted.constants.contains(variable))) return false;
      }
      return true;
    };
    std::uint32_t order = 0;
    while (has(order)) ++order;
    space.orders[g] = std::max(space.orders[g], order);
  }
}

std::string equation_text(const flat::Model& model, const flat::Equation& equation, const diag::SourceMap& sources) {
  std::string_view source = sources.size() > 0 ? sources.text(equation.span) : std::string_view();
  if (equation.component != 0 || source.empty() || source.size() > 200) {
    return flat::print(model, equation.left) + " = " + flat::print(model, equation.right);
  }
  std::string text;
  for (char c : source) {
    bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank)
      text += c;
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  while (!text.empty() && (text.back() == ';' || text.back() == ' ')) text.pop_back();
  return text;
}

ir::Program lower(flat::Model& model, const structure::Sorted& sorted, const diag::SourceMap& sources,
                  const Space* space) {
  return Lowering(model, sorted, sources, space).run();
}

}  // namespace lower
