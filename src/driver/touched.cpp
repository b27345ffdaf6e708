#include "driver/touched.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "play/prepare.h"

namespace driver {
namespace {

constexpr std::int64_t ticks_between_looks = 256;

live::Timing timing_of(const tactus_model& model, const sim::Plan& plan) {
  live::Timing timing = live::choose_timing(model, 0);
  if (plan.adaptive()) return timing;
  timing.notes.clear();
  timing.solver = plan.solver;
  timing.substeps = std::max<std::int64_t>(1, std::llround(std::ceil(timing.period / plan.step - 1e-9)));
  return timing;
}

// Checks that are broken now and were not before.
void note_broken(const tactus_model& model, const tactus_instance* instance, double time,
                 std::vector<sim::Fired>& broken) {
  if (static_cast<std::size_t>(instance->broken_checks) <= broken.size()) return;
  const double* clocks = tactus_data(const_cast<tactus_instance*>(instance)) + model.layout.clocks;
  for (std::uint32_t e = 0; e < model.event_count; ++e) {
    if (model.events[e].kind != TACTUS_CHECK || clocks[e] != 1) continue;
    if (std::none_of(broken.begin(), broken.end(), [&](const sim::Fired& b) { return b.event == e; }))
      broken.push_back({e, time});
  }
}

}  // namespace

sim::Outcome run_touched(emit_llvm::CompiledModel& code, const sim::Request& request, const play::HandSpec& hand,
                         sim::Observer* observer) {
  sim::Outcome outcome;
  const tactus_model& model = *code.quick();
  const sim::Plan& plan = request.plan;
  live::World world(model, timing_of(model, plan));
  const live::Timing& timing = world.timing();
  outcome.solver = static_cast<tactus_solver>(timing.solver);
  std::vector<double> parameters = play::parameters_of(model, {});
  for (const sim::ParameterValue& value : request.parameters) parameters[value.index] = value.value;
  outcome.failure = world.start(parameters);
  outcome.notes = timing.notes;
  std::string failure;
  const std::shared_ptr<live::Hand> device = play::make_hand(hand, timing.period, plan.start, failure);
  if (!device && !outcome.failure) {
    outcome.failure = sim::Failure{};
    outcome.failure->text = failure;
  }
  if (outcome.failure) {
    outcome.ending = sim::Ending::failed;
    outcome.time = plan.start;
    return outcome;
  }
  world.set_hand(device);
  if (request.at_start) request.at_start(*world.instance().get());
  const tactus_model* table = play::best_table(code, timing.solver);
  const auto ticks = static_cast<std::int64_t>(std::floor((plan.end - plan.start) / timing.period + 1e-9));
  double recorded = 0;
  bool is_kept = observer == nullptr || observer->row(world.time(), world.outputs());
  double strongest = 0;
  std::int64_t limited = 0;
  std::int64_t done = 0;
  for (; done < ticks && is_kept; ++done) {
    const int status = world.tick(table, {}, 0);
    if (status != TACTUS_OK) {
      outcome.ending = status == TACTUS_STOPPED ? sim::Ending::stopped : sim::Ending::failed;
      if (status != TACTUS_STOPPED)
        outcome.failure =
            sim::describe_failure(model, *world.instance().get(), static_cast<tactus_status>(status), false);
      break;
    }
    const live::Sample felt = world.own_port()->newest();
    strongest = std::max(strongest, std::hypot(felt.force[0], felt.force[1], felt.force[2]));
    limited += felt.acts != 0 ? 1 : 0;
    note_broken(model, world.instance().get(), world.time(), outcome.broken);
    const double after = world.time() - plan.start;
    const bool is_last = done + 1 == ticks;
    if (observer != nullptr && (is_last || plan.is_every_step || !(plan.period > 0) ||
                                after >= recorded + plan.period - 0.5 * timing.period)) {
      recorded = plan.is_every_step ? 0 : recorded + plan.period;
      is_kept = observer->row(world.time(), world.outputs());
    }
    if (done % ticks_between_looks != 0) continue;
    table = play::best_table(code, timing.solver);
    if (request.progress) request.progress(world.time());
    if (request.stop != nullptr && request.stop->load()) {
      outcome.ending = sim::Ending::interrupted;
      break;
    }
  }
  if (!is_kept) outcome.ending = sim::Ending::not_kept;
  outcome.time = world.time();
  outcome.steps = done * timing.substeps;
  outcome.outputs = world.outputs();
  if (request.at_end) request.at_end(*world.instance().get());
  const tk_passivity& guard = world.passivity();
  outcome.notes.push_back(fmt::format(
      "the hand ({}) felt at most {:.4g} N in {} ticks of {:g} s; the world took {:.4g} J from it, the guard {:.4g} J; "
      "the limiter acted in {} of them",
      hand.title, strongest, done, timing.period, guard.taken, guard.removed, limited));
  return outcome;
}

}  // namespace driver
