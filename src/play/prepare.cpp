#include "play/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "api/blame.h"
#include "lsp/text.h"
#include "runtime/sim/shooting.h"

namespace play {
namespace {

void make_world(Prepared& prepared, const std::vector<Moved>& moved, double period) {
  const tactus_model& model = *prepared.code->quick();
  live::Timing timing = live::choose_timing(model, period);
  if ((prepared.failure = live::find_unbounded_work(model, timing))) return;
  const int solver = timing.solver;
  auto running = std::make_unique<live::Running>();
  running->world = std::make_unique<live::World>(model, std::move(timing));
  running->table = best_table(*prepared.code, solver);
  running->owner = prepared.code;
  prepared.failure = running->world->start(parameters_of(model, moved),
                                           sim::has_later_conditions(model) ? prepared.code->with_tangents() : nullptr);
  if (prepared.failure) return;
  running->world->plan_elsewhere();
  prepared.running = std::move(running);
}

}  // namespace

std::vector<double> parameters_of(const tactus_model& model, const std::vector<Moved>& moved) {
  std::vector<double> result;
  for (std::uint32_t i = 0; i < model.parameter_count; ++i) {
    const tactus_parameter& parameter = model.parameters[i];
    const auto found = std::ranges::find(moved, parameter.name, &Moved::name);
    const bool stays = found != moved.end() && found->initial == parameter.initial;
    result.push_back(stays ? found->value : parameter.initial);
  }
  return result;
}

const tactus_model* best_table(emit_llvm::CompiledModel& code, int solver) {
  return tactus_is_stiff_solver(solver) ? code.with_tangents(tangent::only(TACTUS_OF_DERIVATIVE)) : code.current();
}

Prepared prepare(const std::vector<api::Text>& texts, const Overrides& overrides, const std::vector<Moved>& moved,
                 double period, Optimising optimising, const std::vector<std::string>& allow) {
  const compiler::Options compiling{.overrides = overrides, .allow = allow};
  Prepared prepared;
  prepared.texts = texts;
  std::vector<compiler::WrittenUnit> units;
  compiler::Options with_units = compiling;
  with_units.written_units = &units;
  prepared.compiled = api::compile_texts(texts, with_units);
  prepared.units = std::make_shared<const std::vector<compiler::WrittenUnit>>(std::move(units));
  if (!prepared.compiled.program) return prepared;
  emit_llvm::JitOptions tiers;
  tiers.optimises_when_told = optimising == Optimising::when_told;
  tiers.tangents = tangent::needed_by_the_kernel(*prepared.compiled.program);
  prepared.discrete = std::make_shared<const std::vector<live::Named>>(discrete_names(*prepared.compiled.program));
  prepared.code = std::make_shared<emit_llvm::CompiledModel>(std::move(*prepared.compiled.program), tiers);
  prepared.compiled.program.reset();
  make_world(prepared, moved, period);
  if (prepared.failure) {
    api::KeptInstance none;
    api::blame(*prepared.failure, *prepared.code->quick(), none, 0, texts, compiling);
  }
  return prepared;
}

std::vector<live::Named> discrete_names(const ir::Program& program) {
  const ir::Function& outputs = program.structures.empty() ? program.outputs : program.structures.front().outputs;
  std::unordered_map<std::uint32_t, std::uint32_t> slot_of;  // by output
  for (const ir::Chunk& chunk : outputs.chunks) {
    const auto place = [&](const ir::Instruction& of, std::uint32_t turn) {
      if (of.listed != ir::no_value) return chunk.places[of.listed + turn];
      return static_cast<std::uint32_t>(of.index + static_cast<std::int64_t>(turn) * of.step);
    };
    for (const ir::Instruction& stored : chunk.instructions) {
      if (stored.op != ir::Op::store_output) continue;
      const ir::Instruction& from = chunk.instructions[stored.a];
      if (from.op != ir::Op::discrete) continue;
      for (std::uint32_t turn = 0; turn < chunk.turns; ++turn) slot_of.emplace(place(stored, turn), place(from, turn));
    }
  }
  std::vector<live::Named> names;
  for (const ir::Automaton& automaton : program.automata)
    names.push_back({fmt::format("{} in {}", automaton.name, fmt::join(automaton.modes, ", ")), automaton.slot});
  const auto is_mode = [&](std::uint32_t slot) {
    return std::ranges::find(program.automata, slot, &ir::Automaton::slot) != program.automata.end();
  };
  for (const ir::Channel& channel : program.channels) {
    if (!(channel.flags & TACTUS_CHANNEL_DISCRETE)) continue;
    for (std::uint32_t i = 0; i < channel.rows * channel.columns; ++i) {
      const auto found = slot_of.find(channel.at + i);
      if (found != slot_of.end() && !is_mode(found->second))
        names.push_back({fmt::format("{}[{}]", channel.name, i + 1), found->second});
    }
  }
  return names;
}

Prepared prepare_again(std::shared_ptr<emit_llvm::CompiledModel> code, const std::vector<Moved>& moved, double period) {
  Prepared prepared;
  prepared.code = std::move(code);
  make_world(prepared, moved, period);
  return prepared;
}

std::string shown_name(const std::string& path, const std::vector<api::Text>& texts) {
  const auto last = [](const std::string& of) { return std::filesystem::path(of).filename().string(); };
  const std::string name = last(path);
  const bool is_ours = std::ranges::find(texts, path, &api::Text::name) != texts.end();
  const auto same = std::ranges::count_if(texts, [&](const api::Text& text) { return last(text.name) == name; });
  return is_ours && same == 1 ? name : path;
}

Json diagnostic_items(const api::Compiled& compiled, const std::vector<api::Text>& texts) {
  Json items = Json::array();
  for (const diag::Diagnostic& diagnostic : compiled.diags.diagnostics()) {
    const auto place = [&](std::uint32_t offset) {
      const diag::Position position = compiled.sources.position(diagnostic.span.file, offset);
      const std::string_view line = compiled.sources.line(diagnostic.span.file, position.line);
      const std::string_view text = compiled.sources.text(diagnostic.span.file);
      const auto from = static_cast<std::size_t>(line.data() - text.data());
      const std::size_t bytes = std::min<std::size_t>(offset - from, line.size());
      return std::pair(position.line, lsp::length_of(line.substr(0, bytes), lsp::Encoding::utf16) + 1);
    };
    const auto [line, column] = place(diagnostic.span.begin);
    const auto [end_line, end_column] = place(diagnostic.span.end);
    items.push_back({{"file", shown_name(compiled.sources.name(diagnostic.span.file), texts)},
                     {"line", line},
                     {"column", column},
                     {"end_line", end_line},
                     {"end_column", end_column},
                     {"severity", diagnostic.severity == diag::Severity::error ? "error" : "warning"},
                     {"code", diagnostic.code},
                     {"text", diagnostic.text},
                     {"hint", fmt::format("{}", fmt::join(diagnostic.hints, "\n"))}});
  }
  return items;
}

}  // namespace play
