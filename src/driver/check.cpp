// tactus check: every mistake of a model, and nothing run; with --rate also whether it keeps up with a clock, by
// counting and by trying.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "abi/model.h"
#include "api/blame.h"
#include "api/load.h"
#include "compiler/cycles.h"
#include "compiler/ir/cost.h"
#include "compiler/reroll/reroll.h"
#include "driver/commands.h"
#include "driver/proofs.h"
#include "driver/report.h"
#include "driver/settings.h"
#include "play/budget.h"
#include "play/prepare.h"

namespace driver {
namespace {

constexpr double trying_seconds = 0.5;

struct Kept {
  live::Timing timing;
  play::Bound bound;
  play::Measured measured;
  double share = 0;  // of the time that a tick has, at the median

  const char* verdict() const {
    if (measured.failure) return "failed";
    if (share > 1) return "too slow";
    return measured.p99 > timing.period ? "often late" : "keeps up";
  }
};

std::optional<sim::Failure> try_rate(ir::Program program, double rate, const std::vector<api::Text>& texts,
                                     const compiler::Options& options, Kept& kept) {
  reroll::reserve(program);
  emit_llvm::JitOptions tiers;
  tiers.tangents = tangent::needed_by_the_kernel(program);
  const ir::Program counted_program = program;
  auto code = std::make_shared<emit_llvm::CompiledModel>(std::move(program), tiers);
  code->wait_optimised();
  play::Prepared prepared = play::prepare_again(code, {}, 1 / rate);
  api::KeptInstance last;
  if (prepared.failure) {
    api::blame(*prepared.failure, *code->current(), last, 0, texts, options);
    return prepared.failure;
  }
  live::World& world = *prepared.running->world;
  kept.timing = world.timing();
  kept.bound = play::bound_of(counted_program, kept.timing);
  kept.measured = play::measure(world, play::best_table(*code, kept.timing.solver), trying_seconds);
  kept.share = kept.measured.median / kept.timing.period;
  if (kept.measured.failure) {
    last.keep(world.model(), *world.instance().get());
    api::blame(*kept.measured.failure, world.model(), last, kept.timing.period, texts, options);
  }
  return std::nullopt;
}

nlohmann::ordered_json json_of(const Kept& kept) {
  return {
      {"rate", 1 / kept.timing.period},
      {"verdict", kept.verdict()},
      {"solver", tactus_solver_name(kept.timing.solver)},
      {"steps_a_tick", kept.timing.substeps},
      {"operations", {{"usual", kept.bound.usual}, {"most", kept.bound.most}, {"each_event", kept.bound.each_event}}},
      {"newton_blocks", kept.bound.newton_blocks},
      {"seconds", {{"median", kept.measured.median}, {"p99", kept.measured.p99}, {"longest", kept.measured.longest}}},
      {"ticks", kept.measured.ticks},
      {"share", kept.share}};
}

void print(const Kept& kept) {
  say(stdout, "at {:g} ticks a second, {} of {} in each: {}\n", 1 / kept.timing.period,
      counted(static_cast<std::size_t>(kept.timing.substeps), "step"), tactus_solver_name(kept.timing.solver),
      kept.verdict());
  say(stdout, "  at most    {:.0f} operations a tick{}\n", kept.bound.most,
      kept.bound.each_event > 0 ? fmt::format(", and {:.0f} for each event inside it", kept.bound.each_event) : "");
  if (kept.bound.newton_blocks > 0)
    say(stdout,
        "             {} solved by Newton's method in each of {} evaluations, the largest of {}: at most {:.0f} "
        "iterations of {:.0f} halvings; {:.0f} operations a tick as a rule\n",
        counted(kept.bound.newton_blocks, "block"), kept.bound.evaluations,
        counted(kept.bound.largest_newton, "unknown"), ir::newton_iterations, ir::newton_halvings, kept.bound.usual);
  say(stdout, "  measured   {:.3g} us (median), {:.3g} us (99%), {:.3g} us at worst of {} ticks here\n",
      1e6 * kept.measured.median, 1e6 * kept.measured.p99, 1e6 * kept.measured.longest, kept.measured.ticks);
  say(stdout, "  that is    {:.2g}% of the {:g} us that a tick has\n", 100 * kept.share, 1e6 * kept.timing.period);
  for (const std::string& note : kept.timing.notes) say(stdout, "  note: {}\n", note);
  if (kept.measured.failure) say(stderr, "{}\n", kept.measured.failure->text);
}

}  // namespace

int check(const CheckOptions& options) {
  Mistake mistake;
  auto overrides = read_overrides(options.set, mistake);
  if (!overrides) return usage_error(options.json, mistake.text, mistake.hint);
  compiler::Options compile{*overrides};
  compile.allow = options.allow;
  compiler::Guards guards;
  guards.limits.seconds = options.proof_time.value_or(guards.limits.seconds);
  guards.seconds = std::max(guards.seconds, guards.limits.seconds);
  if (options.proof_time.value_or(1) > 0) compile.guards = &guards;
  std::vector<compiler::Interference> plans;
  compile.interference = &plans;
  api::Compiled compiled = api::compile_files(options.files, compile, false);
  if (!compiled.program) return model_errors(options.json, compiled);

  const ir::Program& program = *compiled.program;
  std::optional<Kept> kept;
  if (options.rate) {
    const std::vector<api::Text> texts = api::texts_of(compiled, options.files.size());
    if (const auto failure = try_rate(program, *options.rate, texts, {.overrides = *overrides, .allow = options.allow},
                                      kept.emplace())) {
      if (options.json) print_json({{"status", "failed"}, {"failure", failure->text}});
      say(stderr, "tactus: {}\n", failure->text);
      if (!failure->hint.empty()) say(stderr, "  hint: {}\n", failure->hint);
      return exit_run_failed;
    }
  }
  if (options.json) {
    nlohmann::ordered_json object;
    object["status"] = "ok";
    object["diagnostics"] = nlohmann::ordered_json::parse(diag::render_json(compiled.diags, compiled.sources));
    object["states"] = program.state_names.size();
    object["parameters"] = program.parameters.size();
    object["inputs"] = program.input_count;
    object["blocks"] = program.blocks.size();
    object["compile_seconds"] = compiled.seconds;
    if (!guards.pairs.empty()) object["guards"] = json_of(guards, compiled.sources);
    if (!plans.empty()) object["plans"] = json_of(plans, compiled.sources);
    if (!guards.notes.empty()) object["notes"] = guards.notes;
    if (kept) object["rate"] = json_of(*kept);
    print_json(object);
  } else if (!options.quiet) {
    print_warnings(compiled);
    std::size_t warnings = compiled.diags.diagnostics().size();
    say(stdout, "{}: {}: {}, {}, {}, {}\n", program.name,
        warnings == 0 ? "no mistakes found" : "no errors, " + counted(warnings, "warning"),
        counted(program.state_names.size(), "state"), counted(program.parameters.size(), "parameter"),
        counted(program.input_count, "input"), counted(program.blocks.size(), "solved block"));
    say(stdout, "{}", proofs_text(guards, compiled.sources));
    say(stdout, "{}", plans_text(plans));
    if (kept) print(*kept);
  }
  if (has_overlap(guards) || compiler::is_endless(compiled.diags)) return exit_check_broken;
  return kept && (kept->measured.failure || kept->share > 1) ? exit_check_broken : exit_done;
}

}  // namespace driver
