#include "play/rehearsal.h"

#include <fmt/format.h>
#include <malloc.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "process/diagnostics.h"
#include "process/worker.h"

namespace play {
namespace {

using process::Clock;

// Optimising is worth more time than an answer to a person who waits.
constexpr double longest_optimising = 30;  // s of the processor
constexpr std::chrono::milliseconds quiet_time{300};
// What a child has to leave what it was optimising for the next edit.
constexpr auto leaving = std::chrono::seconds(1);

// CBOR: a path need not be UTF-8.
std::string bytes_of(const Json& message) {
  std::string bytes;
  Json::to_cbor(message, bytes);
  return bytes;
}

Json request_of(const Attempt& attempt, std::uint64_t number) {
  Json request = {{"number", number}, {"period", attempt.period}, {"texts", Json::array()}};
  for (const api::Text& text : attempt.texts) request["texts"].push_back({text.name, text.text});
  request["overrides"] = Json::array();
  for (const compiler::Override& one : attempt.overrides) request["overrides"].push_back({one.name, one.value});
  request["moved"] = Json::array();
  for (const Moved& one : attempt.moved) request["moved"].push_back({one.name, one.value, one.initial});
  request["allow"] = attempt.allow;
  return request;
}

Attempt attempt_of(const Json& request) {
  Attempt attempt;
  attempt.period = request.at("period");
  for (const Json& text : request.at("texts")) attempt.texts.push_back({text.at(0), text.at(1)});
  for (const Json& one : request.at("overrides")) attempt.overrides.push_back({one.at(0), one.at(1)});
  for (const Json& one : request.at("moved")) attempt.moved.push_back({one.at(0), one.at(1), one.at(2)});
  attempt.allow = request.at("allow").get<std::vector<std::string>>();
  return attempt;
}

// The child's side: what was rehearsed, while it is optimised.
class Optimisation {
 public:
  Optimisation(std::shared_ptr<emit_llvm::CompiledModel> code, std::vector<api::Text> texts, int output,
               std::uint64_t number)
      : code_(std::move(code)), thread_([this, texts = std::move(texts), output, number] {
          for (const api::Text& text : texts) process::spring_traps(text.text, "optimising-");
          code_->begin_optimising();
          (void)code_->wait_optimised();
          if (!is_left_) (void)process::write_message(output, bytes_of({{"number", number}, {"kind", "optimised"}}));
        }) {}
  // Cancels it.
  ~Optimisation() {
    is_left_ = true;
    code_->cancel();
    thread_.join();
  }
  Optimisation(const Optimisation&) = delete;
  Optimisation& operator=(const Optimisation&) = delete;

 private:
  std::shared_ptr<emit_llvm::CompiledModel> code_;
  std::atomic<bool> is_left_ = false;
  std::thread thread_;
};

// While somebody types, one text follows another: the last is worth optimising.
bool is_quiet(int input) {
  pollfd next{input, POLLIN, 0};
  return ::poll(&next, 1, static_cast<int>(quiet_time.count())) == 0;
}

// So that the first edit finds everything loaded.
void warm_up() {
  (void)prepare({{"warm.tact", "simulation step_size = 0.01\nboundary x with x(0) = 1;\nsystem\n  x' = -x;\n"}}, {}, {},
                0, Optimising::when_told);
}

}  // namespace

int rehearse_edits(int input, int output) {
  process::become_worker();
  warm_up();
  std::unique_ptr<Optimisation> optimisation;
  for (std::string bytes; process::read_message(input, bytes);) {
    optimisation.reset();
    process::begin_work(process::work_seconds());
    const Json request = Json::from_cbor(bytes);
    const std::uint64_t number = request.at("number");
    Json answer = {{"number", number}, {"kind", "begun"}};
    if (!process::write_message(output, bytes_of(answer))) break;
    answer["kind"] = "tried";
    const Attempt attempt = attempt_of(request);
    Prepared prepared;
    try {
      for (const api::Text& text : attempt.texts) process::spring_traps(text.text);
      prepared = prepare(attempt.texts, attempt.overrides, attempt.moved, attempt.period, Optimising::when_told,
                         attempt.allow);
      answer["items"] = diagnostic_items(prepared.compiled, attempt.texts);
      answer["failure"] = prepared.failure ? Json(prepared.failure->text) : Json(nullptr);
      answer["line"] = prepared.failure ? prepared.failure->line : 0;
      answer["runs"] = prepared.running != nullptr;
    } catch (const std::exception& failure) {
      prepared = Prepared();
      answer["items"] = stopped_items(attempt.texts, failure.what());
      answer["failure"] = nullptr;
      answer["runs"] = false;
    }
    if (!process::write_message(output, bytes_of(answer))) break;
    prepared.running.reset();
    ::malloc_trim(0);
    if (!prepared.code || !is_quiet(input)) continue;
    process::begin_work(longest_optimising);
    optimisation = std::make_unique<Optimisation>(std::move(prepared.code), attempt.texts, output, number);
  }
  return 0;
}

Json stopped_items(const std::vector<api::Text>& texts, const std::string& why) {
  Json item = {{"file", shown_name(texts.front().name, texts)}, {"line", 1}, {"column", 1}, {"end_line", 1}};
  item["end_column"] = 1;
  item["severity"] = "error";
  item["code"] = process::compiler_stopped.code;
  item["text"] = fmt::format(process::compiler_stopped.text, why) + "; the world goes on with the text before";
  item["hint"] = process::stopped_hint;
  return Json::array({std::move(item)});
}

Rehearsal::Rehearsal(std::string program, double seconds) : program_(std::move(program)), seconds_(seconds) { start(); }

void Rehearsal::start() {
  auto child = std::make_unique<process::Child>(std::vector<std::string>{rehearsing_word}, program_);
  const std::lock_guard lock(changing_);
  std::swap(child_, child);
  is_optimising_ = false;
}

void Rehearsal::cancel() {
  const std::lock_guard lock(changing_);
  if (!is_rehearsing_) return;
  is_cancelled_ = true;
  child_->kill();
}

bool Rehearsal::send(const Attempt& attempt) {
  return process::write_message(child_->to(), bytes_of(request_of(attempt, number_)));
}

Rehearsal::Heard Rehearsal::hear(std::string_view kind, Clock::time_point deadline, Json& message) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready{child_->from(), POLLIN, 0};
    const int count = ::poll(&ready, 1, static_cast<int>(std::clamp<long long>(left, 0, 1000)));
    if (count < 0 && errno != EINTR) return Heard::ended;
    if (count <= 0 && left > 0) continue;
    if (count <= 0) return Heard::late;
    std::string bytes;
    if (!process::read_message(child_->from(), bytes)) return Heard::ended;
    message = Json::from_cbor(bytes, true, false);
    if (message.is_discarded()) return Heard::ended;
    if (message.at("number") == number_ && message.at("kind") == kind) return Heard::answer;
  }
}

std::string Rehearsal::ending(double cpu_seconds) {
  return process::ending_in_words(child_->wait(Clock::now() + std::chrono::seconds(5)), cpu_seconds);
}

Rehearsal::Verdict Rehearsal::rehearse(const Attempt& attempt, Json& answer, std::string& why) {
  ++number_;
  const bool was_optimising = std::exchange(is_optimising_, false);
  const auto is_cancelled = [&] {
    const std::lock_guard lock(changing_);
    return is_cancelled_;
  };
  bool is_sent = child_->is_started() && send(attempt);
  // A child that ended before, or that does not leave what it optimised before, is no judge of this edit.
  if (!is_sent || (was_optimising && hear("begun", Clock::now() + leaving, answer) != Heard::answer)) {
    start();
    if (!child_->is_started()) return Verdict::nobody;
    if (is_cancelled()) return Verdict::given_up;
    is_sent = send(attempt);
  }
  const auto allowed = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds_));
  const Heard heard = is_sent ? hear("tried", Clock::now() + allowed, answer) : Heard::ended;
  if (heard == Heard::answer) return Verdict::heard;
  why = heard == Heard::late ? fmt::format("no answer came in {:g} s", seconds_) : ending(process::work_seconds());
  start();
  return is_cancelled() ? Verdict::given_up : Verdict::stopped;
}

Prepared Rehearsal::prepare(const Attempt& attempt) {
  const auto set_rehearsing = [&](bool is_rehearsing) {
    const std::lock_guard lock(changing_);
    is_rehearsing_ = is_rehearsing;
    is_cancelled_ = false;
  };
  Json answer;
  std::string why;
  set_rehearsing(true);
  const Verdict verdict = rehearse(attempt, answer, why);
  set_rehearsing(false);
  const bool was_heard = verdict == Verdict::heard;
  if (verdict == Verdict::nobody || (was_heard && answer.at("runs"))) {
    is_optimising_ = was_heard;
    return play::prepare(attempt.texts, attempt.overrides, attempt.moved, attempt.period,
                         was_heard ? Optimising::when_told : Optimising::at_once, attempt.allow);
  }
  Prepared refused;
  refused.texts = attempt.texts;
  refused.is_given_up = verdict == Verdict::given_up;
  refused.items = was_heard ? answer.at("items") : stopped_items(attempt.texts, why);
  if (was_heard && answer.at("failure").is_string()) {
    refused.failure.emplace();
    refused.failure->text = answer.at("failure");
    refused.failure->line = answer.at("line");
  }
  return refused;
}

Rehearsal::Optimised Rehearsal::optimised(std::string& why) {
  if (!is_optimising_) return Optimised::not_yet;
  Json answer;
  const Heard heard = hear("optimised", Clock::now(), answer);
  if (heard == Heard::late) return Optimised::not_yet;
  is_optimising_ = false;
  if (heard == Heard::answer) return Optimised::yes;
  why = ending(longest_optimising);
  start();
  return Optimised::never;
}

}  // namespace play
