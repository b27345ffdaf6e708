#include "compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "api/load.h"
#include "api/used_files.h"
#include "compiler/emit_llvm/jit.h"
#include "diag/sink.h"
#include "front.h"
#include "runtime/sim/run.h"

namespace judge {
namespace {

constexpr double period_share = 0.0731;  // samples seldom meet the ticks of clocks
constexpr double largest_change = 1e-4;
constexpr double floor_of_error = 1e-8;

struct Rows : sim::Observer {
  std::vector<double> times;
  std::vector<std::vector<double>> outputs;
  bool row(double t, std::span<const double> values) override {
    times.push_back(t);
    outputs.emplace_back(values.begin(), values.end());
    return true;
  }
};

struct Fineness {
  double step;       // of the coarser runs: the judge's own, the solver's largest
  double tolerance;  // of the solver's coarser run
};

class Comparison {
 public:
  explicit Comparison(const Case& one) : case_(one) {}

  Verdict run(bool patient) {
    compiler::Options options;
    options.overrides = case_.overrides;
    options.read_file = [this](const std::string& from, const std::string& path) -> source::Reading {
      const auto found = case_.files.find(path);
      if (found == case_.files.end()) return api::UsedFiles({case_.path}, {})(from, path);
      return source::File{path, found->second};
    };
    api::Compiled compiled = api::compile_text(case_.path, case_.compiled, options);
    if (!compiled.program) {
      verdict_.disagreement = "the compiler refuses: " + diag::render_text(compiled.diags, compiled.sources, false);
      return verdict_;
    }
    flat_ = flat_model(case_.judged, options, case_.path);
    if (!flat_) {
      verdict_.disagreement = "the judge's text has errors";
      return verdict_;
    }
    emit_llvm::CompiledModel code(std::move(*compiled.program), {.optimise = false});
    table_ = code.quick();
    if (sim::has_later_conditions(*table_)) {
      verdict_.not_judged = "it has boundary values at other times";
      return verdict_;
    }
    for (const Fineness& fineness : {Fineness{case_.step, 1e-8}, Fineness{case_.step / 8, 1e-10}}) {
      const bool regular = verdict_.regular;
      verdict_ = {};
      verdict_.regular = regular;
      look(fineness);
      if (!patient || (verdict_.disagreement.empty() && verdict_.not_judged.empty())) break;
    }
    return verdict_;
  }

 private:
  void look(const Fineness& fineness) {
    Rows coarse, fine;
    for (auto [rows, tolerance] : {std::pair{&coarse, fineness.tolerance}, {&fine, 0.01 * fineness.tolerance}}) {
      sim::Settings settings;
      settings.solver = case_.solver;
      if (case_.solver >= TACTUS_BS3) settings.tolerance = tolerance;
      settings.step = tolerance == fineness.tolerance ? fineness.step : fineness.step / 2;
      settings.until = case_.end;
      settings.every = period_share * (case_.end - table_->starting_time);
      sim::Request request;
      std::string failure;
      const auto plan = sim::make_plan(*table_, settings, failure);
      if (!plan) {
        verdict_.disagreement = "no plan: " + failure;
        return;
      }
      request.table = [this] { return table_; };
      request.plan = *plan;
      std::vector<trace::Signal> signals;
      for (const Signal& signal : case_.inputs)
        signals.push_back(*trace::Signal::from_table({{"t", "u"}, {signal.times, signal.values}}, "u", failure));
      for (std::uint32_t i = 0; i < signals.size() && i < table_->input_count; ++i)
        request.feeds.push_back({i, &signals[i], 0});
      const sim::Outcome outcome = sim::run(request, rows);
      if (outcome.ending != sim::Ending::done) {
        verdict_.disagreement = "the run failed: " + (outcome.failure ? outcome.failure->text : "");
        return;
      }
    }
    Request request{fineness.step, case_.end, fine.times, case_.inputs};
    const Opinion rough = simulate(*flat_, request);
    request.step /= 2;
    const Opinion opinion = simulate(*flat_, request);
    for (const Opinion* each : {&rough, &opinion}) {
      if (!each->trouble.empty()) verdict_.not_judged = each->trouble;
    }
    if (!verdict_.not_judged.empty()) return;
    verdict_.regular = opinion.regular;

    std::vector<double> allowances;
    for (std::uint32_t c = 0; c < table_->channel_count; ++c) {
      const tactus_channel& channel = table_->channels[c];
      for (std::uint32_t i = 0; i < channel.rows * channel.columns; ++i) {
        double change = 0, change_of_judge = 0;
        for (std::size_t k = 0; k < fine.times.size(); ++k) {
          if (!opinion.rows[k].is_settled || !rough.rows[k].is_settled) continue;
          const std::optional<double> value = find(opinion, k, channel, i);
          const std::optional<double> before = find(rough, k, channel, i);
          if (!value || !before || is_near(opinion, fine.times[k]) || is_near(rough, fine.times[k])) continue;
          const double compiled = fine.outputs[k][channel.at + i];
          change = std::max(change, std::fabs(compiled - coarse.outputs[k][channel.at + i]));
          change_of_judge = std::max(change_of_judge, std::fabs(*value - *before));
          const double size = 1 + std::fabs(*value);
          if (!(change < largest_change * size) || !(change_of_judge < largest_change * size)) {
            ++verdict_.unclear;
            continue;
          }
          const double allowed = 3 * (change + change_of_judge) + floor_of_error * size;
          allowances.push_back(allowed / size);
          ++verdict_.values;
          if (!(std::fabs(compiled - *value) <= allowed) && verdict_.disagreement.empty()) {
            verdict_.disagreement = fmt::format(
                "{}[{}] at t = {}: the compiler says {:.17g} (+- {:.2g}), the judge {:.17g} (+- {:.2g}), difference "
                "{:.3g}",
                channel.name, i + 1, fine.times[k], compiled, change, *value, change_of_judge, compiled - *value);
          }
        }
      }
    }
    std::sort(allowances.begin(), allowances.end());
    if (!allowances.empty()) verdict_.allowance = allowances[allowances.size() / 2];
  }

  // What is recorded at the very time of an event are the values behind it, on both sides.
  static bool is_near(const Opinion& opinion, double t) {
    return std::any_of(opinion.happenings.begin(), opinion.happenings.end(),
                       [&](double at) { return std::fabs(at - t) < 1e-6 && !(opinion.regular && at == t); });
  }

  std::optional<double> find(const Opinion& opinion, std::size_t row, const tactus_channel& channel,
                             std::uint32_t i) const {
    for (const flat::Group& group : flat_->groups) {
      const std::uint32_t v = group.first.value + i;
      const std::uint32_t known = i < group.shape.size() ? opinion.leaves.order[v] : 0;
      for (std::uint32_t order = 0; order <= known; ++order) {
        if (flat::primed(group.name, order) != channel.name) continue;
        return opinion.rows[row].leaves[opinion.leaves.at(v, order)];
      }
    }
    for (const flat::Discrete& discrete : flat_->discrete) {
      if (discrete.name == channel.name) return opinion.rows[row].discrete[discrete.first + i];
    }
    return std::nullopt;
  }

  const Case& case_;
  Verdict verdict_;
  std::optional<flat::Model> flat_;
  const tactus_model* table_ = nullptr;
};

}  // namespace

Verdict compare(const Case& one, bool patient) { return Comparison(one).run(patient); }

}  // namespace judge
