#include "driver/proofs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/expr/pool.h"
#include "driver/report.h"

namespace driver {
namespace {

using compiler::GuardPair;
using compiler::Guards;
using proof::Answer;

// All but a few of thousands of pairs look alike: those that are fine are only counted then.
constexpr std::size_t longest_table = 50;

std::string place(base::Span span, const diag::SourceMap& sources) {
  if (span.file >= sources.size()) return "";
  const diag::Position at = sources.position(span.file, span.begin);
  return fmt::format("{}:{}:{}", sources.name(span.file), at.line, at.column);
}

std::string witness_text(const proof::Verdict& verdict) {
  std::string text;
  for (const proof::Coordinate& at : verdict.witness)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", at.name,
                        at.text.empty() ? expr::print_number(at.value) : at.text);
  return text.empty() ? "always" : text;
}

std::size_t count(const Guards& guards, Answer answer) {
  return static_cast<std::size_t>(std::count_if(guards.pairs.begin(), guards.pairs.end(),
                                                [&](const GuardPair& pair) { return pair.verdict.answer == answer; }));
}

nlohmann::ordered_json json_of_side(const std::string& name, base::Span span, const diag::SourceMap& sources) {
  nlohmann::ordered_json side = {{"name", name}};
  if (span.file >= sources.size()) return side;
  const diag::Position at = sources.position(span.file, span.begin);
  side["file"] = sources.name(span.file);
  side["line"] = at.line;
  side["column"] = at.column;
  return side;
}

}  // namespace

bool has_overlap(const compiler::Guards& guards) { return count(guards, Answer::overlap) > 0; }

std::string proofs_text(const Guards& guards, const diag::SourceMap& sources) {
  if (guards.pairs.empty()) return "";
  const std::size_t exclusive = count(guards, Answer::exclusive);
  const std::size_t overlaps = count(guards, Answer::overlap);
  const std::size_t unknown = count(guards, Answer::unknown);
  const auto apart = static_cast<std::size_t>(std::count_if(
      guards.pairs.begin(), guards.pairs.end(), [](const GuardPair& pair) { return !pair.have_common_mode; }));
  std::string text = fmt::format("{} of transitions could disagree: {} exclusive{}, {} overlapping, {} unknown\n",
                                 counted(guards.pairs.size(), "pair"), exclusive,
                                 apart > 0 ? fmt::format(" ({} without a common mode)", apart) : "", overlaps, unknown);
  const bool is_short = guards.pairs.size() <= longest_table;
  std::size_t width = 0;
  auto is_shown = [&](const GuardPair& pair) {
    return (is_short && pair.have_common_mode) || pair.verdict.answer != Answer::exclusive;
  };
  auto title = [](const GuardPair& pair) { return fmt::format("{}, {}", pair.first, pair.second); };
  for (const GuardPair& pair : guards.pairs)
    if (is_shown(pair)) width = std::min<std::size_t>(40, std::max(width, title(pair).size()));
  for (const Answer answer : {Answer::exclusive, Answer::unknown, Answer::overlap}) {
    for (const GuardPair& pair : guards.pairs) {
      if (pair.verdict.answer != answer || !is_shown(pair)) continue;
      text +=
          fmt::format("  {:<{}}  {:<9}  by {}", title(pair), width, proof::name(answer), proof::name(pair.verdict.by));
      if (answer == Answer::unknown) text += fmt::format(": {}", pair.verdict.why);
      if (answer == Answer::overlap) {
        text += fmt::format(": {}\n", witness_text(pair.verdict));
        text += fmt::format("    {}  {}\n", place(pair.first_span, sources), pair.first);
        text += fmt::format("    {}  {}", place(pair.second_span, sources), pair.second);
      }
      text += '\n';
    }
  }
  for (const std::string& note : guards.notes) text += fmt::format("  note: {}\n", note);
  if (overlaps > 0)
    text += "  hint: where both guards hold, the run stops: add to one of them what tells it from the other\n";
  return text;
}

nlohmann::ordered_json json_of(const Guards& guards, const diag::SourceMap& sources) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const GuardPair& pair : guards.pairs) {
    nlohmann::ordered_json row = {{"first", json_of_side(pair.first, pair.first_span, sources)},
                                  {"second", json_of_side(pair.second, pair.second_span, sources)},
                                  {"verdict", proof::name(pair.verdict.answer)},
                                  {"by", proof::name(pair.verdict.by)}};
    if (pair.verdict.answer == Answer::overlap) {
      row["witness"] = nlohmann::ordered_json::object();
      for (const proof::Coordinate& at : pair.verdict.witness) {
        if (at.text.empty())
          row["witness"][at.name] = json_number(at.value);
        else
          row["witness"][at.name] = at.text;
      }
    }
    if (pair.verdict.answer == Answer::unknown) row["why"] = pair.verdict.why;
    list.push_back(std::move(row));
  }
  return list;
}

std::string plans_text(const std::vector<compiler::Interference>& plans) {
  std::string text;
  for (const compiler::Interference& plan : plans) {
    const std::size_t during = plan.causes.size() + plan.harmless.size();
    if (plan.causes.empty()) {
      const char* verb = during == 1 ? "changes" : "change";
      const std::string meanwhile = during == 0
                                        ? ""
                                        : fmt::format("; {} can be taken during it, and {} nothing that it depends on",
                                                      counted(during, "transition"), verb);
      text += fmt::format("plan {}: nothing can interfere{}\n", plan.plan, meanwhile);
      continue;
    }
    text += fmt::format("plan {}: {} could interfere\n", plan.plan, counted(plan.causes.size(), "transition"));
    std::size_t width = 0;
    for (const compiler::Interference::Cause& cause : plan.causes)
      width = std::min<std::size_t>(40, std::max(width, cause.transition.size()));
    for (const compiler::Interference::Cause& cause : plan.causes)
      text +=
          fmt::format("  {:<{}}  in phase {} changes {}{}\n", cause.transition, width, fmt::join(cause.phases, ", "),
                      fmt::join(cause.changes, ", "), cause.is_foreseen ? "" : "; the search does not foresee it");
  }
  return text;
}

nlohmann::ordered_json json_of(const std::vector<compiler::Interference>& plans, const diag::SourceMap& sources) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const compiler::Interference& plan : plans) {
    nlohmann::ordered_json row = json_of_side(plan.plan, plan.span, sources);
    row["depends_on"] = plan.depends_on;
    row["interfering"] = nlohmann::ordered_json::array();
    for (const compiler::Interference::Cause& cause : plan.causes) {
      nlohmann::ordered_json each = json_of_side(cause.transition, cause.span, sources);
      each["changes"] = cause.changes;
      each["phases"] = cause.phases;
      each["foreseen"] = cause.is_foreseen;
      row["interfering"].push_back(std::move(each));
    }
    row["harmless"] = plan.harmless;
    list.push_back(std::move(row));
  }
  return list;
}

}  // namespace driver
