#include "play/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "api/blame.h"
#include "base/nesting.h"
#include "compiler/source/folders.h"
#include "play/describe.h"
#include "play/diagnostics.h"
#include "play/meshes.h"
#include "runtime/trace/replace_file.h"

namespace play {
namespace {

constexpr std::int64_t passes_a_second = 60;
constexpr std::int64_t statistics_every = passes_a_second / 4;
constexpr std::size_t longest_text = 512 * 1024;
constexpr double slowest = 0.01, fastest = 100;
constexpr double farthest = 1e6;         // of a hand, in its own coordinates: beyond it no screen reaches
constexpr int deepest = 8;               // of a message's arrays and objects; the protocol's have two
constexpr double least_slip_told = 0.5;  // s
// A text that takes longer to compile is given up for a newer one; what takes less is worth showing on the way.
constexpr auto patience = std::chrono::milliseconds(500);
constexpr std::chrono::duration<double> longest_silence(live::mouse_limits.input_age);  // of who has the hand
constexpr std::chrono::seconds usual_tick(1);  // so long the session waits for the end of a tick

constexpr const char* busy = "the loop is busy: try again";

std::string text_of(const Json& message) { return message.dump(-1, ' ', false, Json::error_handler_t::replace); }

// The file's text, as source::load gives it; empty when there is none.
std::optional<std::string> read_text(const std::string& path) {
  std::optional<source::File> file = source::read_regular_file(path, source::max_bytes).file;
  if (!file) return std::nullopt;
  if (file->text.starts_with("\xef\xbb\xbf")) file->text.erase(0, 3);
  return std::move(file->text);
}

double microseconds(double seconds) { return std::round(seconds * 1e8) / 100; }

// Time taken away by the machine's host, and all time, of all processors since it started.
std::pair<std::int64_t, std::int64_t> jiffies() {
  std::ifstream stat("/proc/stat");
  std::string word;
  stat >> word;
  std::int64_t all = 0, stolen = 0, value = 0;
  for (int i = 0; i < 8 && stat >> value; ++i) {
    all += value;
    if (i == 7) stolen = value;
  }
  return {stolen, all};
}

// What a page sent, or discarded. A message that is too deep is not kept: copying and freeing one takes stack.
Json parse(std::string_view text) {
  if (base::nests_deeper(text, deepest)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

std::vector<api::Text> as_texts(const std::vector<SourceText>& texts) {
  std::vector<api::Text> result;
  for (const SourceText& text : texts) result.push_back({text.path, text.text});
  return result;
}

// In the page there is no command line to change; the text is there.
std::string hint_for_page(const sim::Failure& failure) {
  switch (failure.status) {
    case TACTUS_NOT_FINITE:
      return "perhaps it really does; if it should not, the step may be too long: write a smaller `step_size` in "
             "`simulation`";
    case TACTUS_STEP_TOO_SMALL:
      return "the solution may grow without bound there, or jump; a fixed `step_size` in `simulation` may pass it";
    case TACTUS_OFF_CONSTRAINTS:
      return "if it jumps there, let it change in a short time instead, such as `clamp((t - 1) / 0.01, 0, 1)`; if not, "
             "the step is too long: write a smaller `step_size` in `simulation`";
    case TACTUS_NO_SOLVER:
      return "write an explicit solver in `simulation`: `solver = rk4`";
    default:
      return failure.hint;
  }
}

Json failure_json(const std::optional<sim::Failure>& failure) {
  if (!failure) return nullptr;
  return {{"kind", failure->kind},
          {"text", failure->text},
          {"hint", hint_for_page(*failure)},
          {"line", failure->line > 0 ? Json(failure->line) : Json(nullptr)}};
}

// In the unit in which the page shows it.
std::string out_of_range(const tactus_parameter& parameter, const compiler::WrittenUnit& unit, double value) {
  const std::string sign = unit.unit.empty() ? "" : " " + unit.unit;
  return fmt::format("`{}` is between {:.12g} and {:.12g}{}, not {:.12g}", parameter.name, parameter.low / unit.size,
                     parameter.high / unit.size, sign, value / unit.size);
}

Json ended_json(const std::optional<Ended>& ended) {
  if (!ended) return nullptr;
  return {{"text", ended->text}, {"hint", ended->hint}};
}

}  // namespace

Session::Session(Prepared first, std::vector<SourceText> texts, SessionOptions options, Audience& audience)
    : audience_(audience),
      options_(std::move(options)),
      texts_(std::move(texts)),
      code_(std::move(first.code)),
      discrete_(std::move(first.discrete)),
      units_(std::move(first.units)),
      code_texts_(std::move(first.texts)),
      diagnostics_(diagnostic_items(first.compiled, as_texts(texts_))),
      was_paused_(options_.begins_paused) {
  parameters_ = first.running->world->parameters();
  first.running->generation = generation_;
  give_hand(*first.running->world);
  loop_ = std::make_unique<live::Loop>(std::move(first.running), options_.loop, options_.begins_paused);
  notes_ = loop_->notes();
}

Session::~Session() {
  using namespace std::chrono_literals;
  while (compiling_.valid() && compiling_.wait_for(10ms) != std::future_status::ready) {
    if (options_.rehearsal) options_.rehearsal->cancel();
  }
}

const live::Shown& Session::newest() {
  live::Mailbox<live::Shown>& shown = loop_->current().world->shown();
  shown.refresh();
  return shown.newest();
}

SourceText* Session::find_text(const std::string& name) {
  const std::vector<api::Text> all = as_texts(texts_);
  const auto found =
      std::ranges::find_if(texts_, [&](const SourceText& text) { return shown_name(text.path, all) == name; });
  return found == texts_.end() ? nullptr : &*found;
}

// --- What pages say
// ---------------------------------------------------------------------------------------------------

void Session::message(Listener from, std::string_view text) {
  const Json message = parse(text);
  if (!message.is_object() || !message.contains("type") || !message["type"].is_string())
    return refuse(from, "a message that is no object with a `type` was not understood");
  const std::string type = message["type"];
  const auto number = [&](const char* name) {
    return message.contains(name) && message[name].is_number() ? message[name].get<double>() : NAN;
  };
  const auto word = [&](const char* name) {
    return message.contains(name) && message[name].is_string() ? message[name].get<std::string>() : std::string();
  };
  bool is_taken = true;
  if (type == "hello") {
    if (options_.waits_for_page && loop_->resume()) options_.waits_for_page = false;
    audience_.tell(from, text_of(world_message()));
    audience_.tell(from, text_of(state_message()));
    audience_.tell(from, text_of({{"type", "diagnostics"}, {"version", 0}, {"items", diagnostics_}}));
    for (const std::string& note : notes_) audience_.tell(from, text_of({{"type", "note"}, {"text", note}}));
  } else if (type == "pause") {
    is_taken = loop_->pause();
  } else if (type == "resume") {
    is_taken = loop_->resume();
  } else if (type == "step") {
    step(from);
  } else if (type == "reset") {
    reset(from);
  } else if (type == "speed") {
    set_speed(from, number("value"));
  } else if (type == "set") {
    set(from, word("name"), number("value"));
  } else if (type == "hand") {
    hand(from, message);
  } else if (type == "leave") {
    left(from);
  } else if (type == "edit") {
    edit(from, message);
  } else if (type == "save") {
    save(from, word("file"));
  } else {
    refuse(from, fmt::format("`{}` is no message of this version", type.substr(0, 40)));
  }
  if (!is_taken) refuse(from, busy);
}

void Session::refuse(Listener from, const std::string& why) {
  audience_.tell(from, text_of({{"type", "note"}, {"text", why}}));
}

void Session::left(Listener from) {
  refused_hands_.erase(from);
  if (holder_ == from) free_hand();
}

// Nobody holds it any more: those who were refused hear that they may.
void Session::free_hand() {
  holder_.reset();
  loop_->hand({});
  for (const Listener each : refused_hands_) audience_.tell(each, text_of({{"type", "hand"}, {"refused", nullptr}}));
  refused_hands_.clear();
}

// Once, however often its pointer speaks.
void Session::refuse_hand(Listener from, const std::string& why) {
  if (refused_hands_.insert(from).second) audience_.tell(from, text_of({{"type", "hand"}, {"refused", why}}));
}

void Session::hand(Listener from, const Json& message) {
  const auto now = time_now();
  live::Pointer pointer;
  if (!message.contains("position") || !message["position"].is_array()) return;
  const Json& position = message["position"];
  for (std::size_t i = 0; i < std::min<std::size_t>(position.size(), 3); ++i) {
    if (!position[i].is_number() || !(std::abs(position[i].get<double>()) <= farthest)) return;
    pointer.position[i] = position[i].get<double>();
  }
  const auto button = message.find("button");
  pointer.buttons[0] = button != message.end() && *button == Json(true) ? 1 : 0;
  if (simulated_)
    return refuse_hand(from, "a simulated hand holds this world (--device): what is dragged here is not felt");
  // Whoever has it and is silent has lost it.
  if (holder_ && *holder_ != from && now - holder_heard_ <= longest_silence)
    return refuse_hand(from, "another page holds the hand: what is dragged here is not felt until it lets go");
  pointer.is_present = true;
  if (holder_ && *holder_ != from) free_hand();
  holder_ = from;
  holder_heard_ = now;
  loop_->hand(pointer);
}

void Session::set(Listener from, const std::string& name, double value) {
  const tactus_model& model = loop_->current().world->model();
  const auto* const end = model.parameters + model.parameter_count;
  const auto* const found =
      std::find_if(model.parameters, end, [&](const tactus_parameter& parameter) { return name == parameter.name; });
  if (found == end) return refuse(from, fmt::format("there is no parameter `{}`", name.substr(0, 80)));
  const auto index = static_cast<std::uint32_t>(found - model.parameters);
  // Whoever is refused hears which value is in force.
  const auto refuse_value = [&](const std::string& why) {
    refuse(from, why);
    audience_.tell(from,
                   text_of({{"type", "parameter"}, {"name", name}, {"value", parameters_[index]}, {"refused", true}}));
  };
  if (!std::isfinite(value)) return refuse_value(fmt::format("`{}` needs a number", name));
  if (found->low < found->high && !(value >= found->low && value <= found->high))
    return refuse_value(out_of_range(*found, shown_unit(*found, *units_), value));
  if (adopting_ || !loop_->set_parameter(loop_->current().generation, index, value)) return refuse_value(busy);
  parameters_[index] = value;
  audience_.tell_all(text_of({{"type", "parameter"}, {"name", name}, {"value", value}}));
}

void Session::set_speed(Listener from, double value) {
  const double speed = std::clamp(value, slowest, fastest);
  if (!std::isfinite(value) || !loop_->set_speed(speed)) {
    refuse(from, std::isfinite(value) ? busy : "a speed needs a number");
    return audience_.tell(from, text_of(state_message()));
  }
  speed_ = speed;
  note_slow_ticks();
  audience_.tell_all(text_of(state_message()));
}

void Session::save(Listener from, const std::string& name) {
  SourceText* text = find_text(name);
  Json failure = nullptr;
  if (!text) {
    failure = fmt::format("`{}` is not among the model's files", name);
  } else {
    std::string why;
    const std::optional<std::string> there = read_text(text->path);
    if (there && *there != text->on_disk && *there != text->text) {
      // Once told, whoever saves again means it.
      text->on_disk = *there;
      failure = "it has changed on the disk since it was read here; save once more to write over that";
    } else if (trace::replace_file(text->path, text->text, why)) {
      text->on_disk = text->text;
    } else {
      failure = why;
    }
  }
  audience_.tell(from, text_of({{"type", "saved"}, {"file", name}, {"failure", failure}}));
}

void Session::edit(Listener from, const Json& message) {
  if (!message.contains("text") || !message["text"].is_string() || !message.contains("version") ||
      !message["version"].is_number_integer())
    return refuse(from, "an edit needs a `file`, its `text` and a `version`");
  const auto file = message.find("file");
  SourceText* text = file != message.end() && file->is_string() ? find_text(*file) : nullptr;
  if (!text) return refuse(from, "the edited file is not among the model's files");
  if (message["text"].get_ref<const std::string&>().size() > longest_text)
    return refuse(from, fmt::format("the edited text is longer than {} KiB: it was not taken", longest_text / 1024));
  text->text = message["text"];
  waiting_[from] = message["version"];
  begin_compiling();
}

// --- What becomes of texts
// --------------------------------------------------------------------------------------------

std::vector<Moved> Session::moved_parameters() const {
  const tactus_model& model = loop_->current().world->model();
  std::vector<Moved> moved;
  for (std::uint32_t i = 0; i < model.parameter_count; ++i) {
    const tactus_parameter& parameter = model.parameters[i];
    if (parameters_[i] != parameter.initial) moved.push_back({parameter.name, parameters_[i], parameter.initial});
  }
  return moved;
}

void Session::begin_compiling() {
  if (compiling_.valid() || waiting_.empty()) return;
  compiling_for_ = std::move(waiting_);
  waiting_.clear();
  std::promise<Prepared> promise;
  compiling_ = promise.get_future();
  compiling_since_ = std::chrono::steady_clock::now();
  Attempt attempt = {as_texts(texts_), options_.overrides, moved_parameters(), options_.period, options_.allow};
  compiler_ = std::jthread([promise = std::move(promise), attempt = std::move(attempt), rehearsal = options_.rehearsal,
                            tell = options_.when_compiled]() mutable {
    try {
      promise.set_value(rehearsal ? rehearsal->prepare(attempt)
                                  : prepare(attempt.texts, attempt.overrides, attempt.moved, attempt.period,
                                            Optimising::at_once, attempt.allow));
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
    if (tell) tell();
  });
}

void Session::finish_compiling() {
  using namespace std::chrono_literals;
  if (!compiling_.valid() || compiling_.wait_for(0s) != std::future_status::ready) return;
  Prepared prepared;
  try {
    prepared = compiling_.get();
  } catch (const std::exception& failure) {  // out of memory, say: the world that runs goes on
    for (const auto& [listener, version] : compiling_for_) {
      audience_.tell(listener, text_of({{"type", "diagnostics"}, {"version", version}, {"items", diagnostics_}}));
      refuse(listener, fmt::format("the edited text could not be compiled: {}", failure.what()));
    }
    return begin_compiling();
  }
  if (prepared.is_given_up) {
    waiting_.merge(compiling_for_);  // who has no newer version is answered by the newer text
    return begin_compiling();
  }
  diagnostics_ = prepared.items ? *prepared.items : diagnostic_items(prepared.compiled, prepared.texts);
  if (!prepared.running && prepared.failure) {
    const std::string& why = prepared.failure->text;
    const std::uint32_t line = std::max<std::uint32_t>(prepared.failure->line, 1);
    Json item = {{"file", shown_name(texts_.front().path, as_texts(texts_))}, {"line", line}, {"column", 1}};
    item["end_line"] = line;
    item["end_column"] = 1;
    item["severity"] = "error";
    item["code"] = does_not_start.code;
    item["text"] = fmt::format(does_not_start.text, why);
    item["hint"] = does_not_start_hint;
    diagnostics_.push_back(std::move(item));
  }
  // What compiles is shown to all, with what is said of it; a version of 0 answers no edit, so it comes first.
  if (prepared.running) audience_.tell_all(text_of({{"type", "diagnostics"}, {"version", 0}, {"items", diagnostics_}}));
  for (const auto& [listener, version] : compiling_for_)
    audience_.tell(listener, text_of({{"type", "diagnostics"}, {"version", version}, {"items", diagnostics_}}));
  if (prepared.running) {
    adopt(std::move(prepared), true);
  } else if (prepared.failure) {
    audience_.tell_all(
        text_of({{"type", "note"}, {"text", fmt::format(does_not_start.text, std::as_const(prepared.failure->text))}}));
  }
  begin_compiling();
}

void Session::step(Listener from) {
  if (failure_) return refuse(from, "the world has failed: a reset begins it again, or an edit mends it");
  if (ended()) return refuse(from, "the world has ended: a reset begins it again");
  if (!loop_->step()) refuse(from, busy);
}

// Typing does not wait for a text that is not wanted any more.
void Session::give_up_if_late() {
  if (!options_.rehearsal || !compiling_.valid() || waiting_.empty()) return;
  if (std::chrono::steady_clock::now() - compiling_since_ > patience) options_.rehearsal->cancel();
}

void Session::optimise_what_went_well() {
  if (!options_.rehearsal || compiling_.valid() || ready_ || adopting_) return;
  std::string why;
  const Rehearsal::Optimised optimised = options_.rehearsal->optimised(why);
  if (optimised == Rehearsal::Optimised::yes) code_->begin_optimising();
  if (optimised == Rehearsal::Optimised::never)
    tell_trouble(
        fmt::format("the compiler stopped while it made this world faster: {}; it goes on as it is; please "
                    "report it with the model",
                    why));
}

void Session::tell_trouble(const std::string& text) {
  if (std::exchange(trouble_, text) != text) audience_.tell_all(text_of({{"type", "note"}, {"text", text}}));
}

void Session::reset(Listener from) {
  if (ready_ || adopting_) return refuse(from, busy);
  Prepared prepared = prepare_again(code_, moved_parameters(), options_.period);
  if (prepared.running) return adopt(std::move(prepared), false);
  audience_.tell_all(text_of({{"type", "note"}, {"text", "it does not start: " + prepared.failure->text}}));
}

void Session::give_hand(live::World& world) {
  const double period = world.timing().period;
  if (!options_.make_hand) return;
  if (!simulated_ || simulated_period_ != period) simulated_ = options_.make_hand(period);
  simulated_period_ = period;
  world.set_hand(simulated_);
}

// The loop takes one world at a time; of several that wait only the newest counts.
void Session::adopt(Prepared prepared, bool goes_on) {
  if (adopting_) {
    ready_ = std::move(prepared);
    ready_goes_on_ = goes_on;
    return;
  }
  // A world that stands still because it failed has nothing to go on with.
  const bool keeps = goes_on && loop_->current().status == TACTUS_OK;
  prepared.running->generation = ++generation_;
  give_hand(*prepared.running->world);
  Adopting next;
  next.started_with = prepared.running->world->parameters();
  next.parameters = parameters_of(prepared.running->world->model(), moved_parameters());
  if (keeps) prepared.running->world->plan_to_take_over(*loop_->current().world, *discrete_, *prepared.discrete);
  if (!loop_->replace(prepared.running, keeps)) {
    ready_ = std::move(prepared);
    ready_goes_on_ = goes_on;
    return;
  }
  next.prepared = std::move(prepared);
  adopting_ = std::move(next);
  finish_adopting(usual_tick);
}

// The loop takes a new world between two ticks. A tick that lasts is not waited for: the next pass looks again.
void Session::finish_adopting(std::chrono::microseconds at_most) {
  if (!adopting_) return;
  const auto until = std::chrono::steady_clock::now() + at_most;
  while (loop_->settle()) {
    if (std::chrono::steady_clock::now() >= until) return;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  Adopting done = std::move(*adopting_);
  adopting_.reset();
  free_aside(std::exchange(code_, std::move(done.prepared.code)));
  if (!done.prepared.texts.empty()) code_texts_ = std::move(done.prepared.texts);
  if (done.prepared.discrete) discrete_ = std::move(done.prepared.discrete);
  if (done.prepared.units) units_ = std::move(done.prepared.units);
  parameters_ = std::move(done.parameters);
  // What a person moved while it was compiled.
  for (std::uint32_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i] != done.started_with[i] && !loop_->set_parameter(generation_, i, parameters_[i]))
      parameters_[i] = done.started_with[i];
  }
  failure_.reset();
  told_failure_ = false;
  was_ended_ = false;
  audience_.tell_all(text_of(world_message()));
  audience_.tell_all(text_of(state_message()));
  note_slow_ticks();
}

// Old code ends with the thread that still optimises it, which can take a tenth of a second: nobody waits for that.
void Session::free_aside(std::shared_ptr<emit_llvm::CompiledModel> code) {
  using namespace std::chrono_literals;
  std::erase_if(freeing_, [](const auto& done) { return done.wait_for(0s) == std::future_status::ready; });
  if (code != code_)
    freeing_.push_back(std::async(std::launch::async, [old = std::move(code)]() mutable { old.reset(); }));
}

// --- What pages are told
// ----------------------------------------------------------------------------------------------

Json Session::world_message() {
  Json message = {{"type", "world"}, {"generation", loop_->current().generation}};
  message.update(describe(*loop_->current().world, parameters_, *units_));
  for (Json& drawing : message["drawings"]) {
    if (drawing["kind"] == "mesh" && drawing.contains("file"))
      drawing["file"] = mesh_path(drawing["file"].get<std::string>(), texts_.front().path, options_.allow);
  }
  message["name"] = std::filesystem::path(texts_.front().path).stem().string();
  message["files"] = Json::array();
  const std::vector<api::Text> all = as_texts(texts_);
  for (const SourceText& text : texts_)
    message["files"].push_back(
        {{"name", shown_name(text.path, all)}, {"text", text.text}, {"edited", text.text != text.on_disk}});
  return message;
}

Json Session::state_message() {
  return {{"type", "state"},       {"paused", loop_->is_paused()},      {"speed", speed_},
          {"time", newest().time}, {"failure", failure_json(failure_)}, {"ended", ended_json(ended())}};
}

std::optional<Ended> Session::ended() {
  const live::Shown& shown = newest();
  if (!(shown.flags & live::flag::ended)) return std::nullopt;
  const live::World& world = *loop_->current().world;
  if (const std::int32_t event = world.stopped_by(); event >= 0)
    return Ended{fmt::format("stopped at t = {:.9g}: {}", shown.time, world.model().events[event].name),
                 "a reset begins it again; an edit can take the `stop when` away"};
  return Ended{fmt::format("ended at t = {:.9g}: `ending_time = {:.9g}`", shown.time, world.model().ending_time),
               "a reset begins it again; with a later `ending_time`, or none, it goes on"};
}

Json Session::statistics() {
  const live::Statistics& counted = loop_->statistics();
  const auto times = [](const live::Histogram& histogram) {
    return Json{{"median", microseconds(histogram.quantile(0.5))},
                {"p99", microseconds(histogram.quantile(0.99))},
                {"p999", microseconds(histogram.quantile(0.999))},
                {"longest", microseconds(histogram.longest())}};
  };
  const std::int64_t ticks = counted.ticks;
  Json plans = nullptr;
  if (const live::Planner* planner = loop_->current().world->planner()) {
    const live::Planner::Counts& counts = planner->counts();
    plans = {{"begun", counts.begun.load()}, {"put_back", counts.put_back.load()}, {"failed", counts.failed.load()},
             {"late", counts.late.load()},   {"dropped", counts.dropped.load()},   {"waited", counts.waited.load()}};
  }
  return {{"ticks", ticks},
          {"plans", plans},
          {"late", times(counted.late)},
          {"compute", times(counted.compute)},
          {"missed", counted.missed.load()},
          {"slipped", 1e-9 * static_cast<double>(counted.slipped.load())},
          {"steal", steal_},
          {"steps", ticks * loop_->current().world->timing().substeps},
          {"scheduling", loop_->scheduling()},
          {"frames", std::round(frames_a_second_)},
          {"clients", audience_.size()}};
}

void Session::note_overrun() {
  const double slipped = 1e-9 * static_cast<double>(loop_->statistics().slipped.load());
  if (slipped < std::max(least_slip_told, 2 * slipped_told_)) return;
  slipped_told_ = slipped;
  const double takes = microseconds(loop_->statistics().compute.quantile(0.5));
  const double has = 1e6 * loop_->current().world->timing().period / speed_;
  const std::string text =
      fmt::format("the world is {:.1f} s behind the clock: a tick takes {:.0f} us (median) of the {:.0f} us it has; {}",
                  slipped, takes, has,
                  takes > has / 2 ? "slow it down, or make steps longer"
                                  : "the program was held up, by a suspended machine or by other programs");
  notes_ = loop_->notes();
  tell_note(text);
}

void Session::tell_note(const std::string& text) {
  notes_.push_back(text);
  audience_.tell_all(text_of({{"type", "note"}, {"text", text}}));
}

// The first time, and whenever their number has doubled.
void Session::note_stall() {
  const std::int64_t stalls = loop_->port().stalls();
  if (stalls == 0 || stalls < 2 * stalls_told_) return;
  stalls_told_ = stalls;
  tell_note(
      fmt::format("no tick came for {:g} ms, so the hand was given no force ({} so far): a tick takes {:.0f} us "
                  "(median), {:.3g} s at "
                  "most",
                  1e3 * loop_->port().limits().tick_age, stalls,
                  microseconds(loop_->statistics().compute.quantile(0.5)), loop_->statistics().compute.longest()));
}

void Session::note_slow_ticks() {
  const double period = loop_->current().world->timing().period / speed_;
  const bool is_slow = period > loop_->port().limits().tick_age && loop_->current().world->hand().force_count > 0;
  if (is_slow && !told_slow_)
    tell_note(
        fmt::format("ticks come every {:.3g} s: too far apart for a force, so the hand is given none; one needs a tick "
                    "every {:g} s",
                    period, loop_->port().limits().tick_age));
  told_slow_ = is_slow;
}

// The force is what the port gives now, whether or not the world has ticked since the last picture.
void Session::show_frame() {
  live::Running& running = loop_->current();
  const live::Port* own = running.world->own_port();
  const live::Sample felt = (own ? *own : loop_->port()).newest();
  live::Mailbox<live::Shown>& shown = running.world->shown();
  const bool is_new = shown.refresh();
  if (!is_new && felt.force == felt_shown_) return;
  felt_shown_ = felt.force;
  audience_.show(frame_of(shown.newest(), felt, running.generation));
  ++frames_;
}

void Session::take_edits() {
  finish_adopting({});
  give_up_if_late();
  finish_compiling();
  if (ready_ && !adopting_) {
    Prepared next = std::move(*ready_);
    ready_.reset();
    adopt(std::move(next), ready_goes_on_);
  }
}

void Session::go_on() {
  ++passes_;
  live::Running& running = loop_->current();
  running.table.store(best_table(*code_, running.world->timing().solver), std::memory_order_release);
  take_edits();
  optimise_what_went_well();
  if (holder_ && time_now() - holder_heard_ > longest_silence) free_hand();
  (void)loop_->cancel_long_tick();
  show_frame();
  note_stall();
  live::Running& now = loop_->current();
  const int status = now.status.load(std::memory_order_acquire);
  if (status != TACTUS_OK && !told_failure_) {
    const tactus_model& model = now.world->model();
    failure_ = sim::describe_failure(model, *now.world->instance().get(), static_cast<tactus_status>(status), false);
    if (now.world->is_cancelled()) {
      failure_->kind = "too_much_work";
      failure_->text = fmt::format("the tick at t = {} was not at its end after {} s, and was given up",
                                   now.world->time(), live::Loop::longest_tick / live::second);
      failure_->hint = "longer steps, or fewer events; `tactus run` shows where time goes";
    }
    api::KeptInstance last;
    last.keep(model, *now.world->instance().get());
    api::blame(*failure_, model, last, now.world->timing().period, code_texts_,
               {.overrides = options_.overrides, .allow = options_.allow});
    told_failure_ = true;
    audience_.tell_all(text_of(state_message()));
  }
  const bool has_ended = (now.world->shown().newest().flags & live::flag::ended) != 0;
  if (loop_->is_paused() != was_paused_ || has_ended != was_ended_) {
    was_paused_ = loop_->is_paused();
    was_ended_ = has_ended;
    audience_.tell_all(text_of(state_message()));
  }
  if (passes_ % statistics_every != 0) return;
  if (passes_ % passes_a_second == 0) {
    frames_a_second_ = static_cast<double>(frames_ - frames_before_);
    frames_before_ = frames_;
    const auto [stolen, all] = jiffies();
    if (jiffies_before_ > 0 && all > jiffies_before_)
      steal_ = 100.0 * static_cast<double>(stolen - stolen_before_) / static_cast<double>(all - jiffies_before_);
    stolen_before_ = stolen;
    jiffies_before_ = all;
    note_overrun();
  }
  Json message = {{"type", "statistics"}};
  message.update(statistics());
  audience_.tell_all(text_of(message));
}

}  // namespace play
