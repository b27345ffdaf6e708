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
#include "play/describe.h"
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

constexpr const char* busy = "the loop is busy: try again";

std::string text_of(const Json& message) { return message.dump(-1, ' ', false, Json::error_handler_t::replace); }

// The file's text, as source::load gives it; empty when there is none.
std::optional<std::string> read_text(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  if (in.bad()) return std::nullopt;
  return text;
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
  bool is_too_deep = false;
  const auto keeps = [&](int depth, Json::parse_event_t, Json&) {
    is_too_deep = is_too_deep || depth > deepest;
    return !is_too_deep;
  };
  Json message = Json::parse(text, keeps, false);
  return is_too_deep ? Json(Json::value_t::discarded) : message;
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

}  // namespace

Session::Session(Prepared first, std::vector<SourceText> texts, SessionOptions options, Audience& audience)
    : audience_(audience),
      options_(std::move(options)),
      texts_(std::move(texts)),
      code_(std::move(first.code)),
      discrete_(std::move(first.discrete)),
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
  if (compiling_.valid()) compiling_.wait();
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

// --- What pages say ---------------------------------------------------------------------------------------------------

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
    is_taken = loop_->step();
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
  if (holder_ == from) {
    holder_.reset();
    loop_->hand({});
  }
}

void Session::hand(Listener from, const Json& message) {
  if (holder_ && *holder_ != from) return;
  live::Pointer pointer;
  if (!message.contains("position") || !message["position"].is_array()) return;
  const Json& position = message["position"];
  for (std::size_t i = 0; i < std::min<std::size_t>(position.size(), 3); ++i) {
    if (!position[i].is_number() || !(std::abs(position[i].get<double>()) <= farthest)) return;
    pointer.position[i] = position[i].get<double>();
  }
  const auto button = message.find("button");
  pointer.buttons[0] = button != message.end() && *button == Json(true) ? 1 : 0;
  pointer.is_present = true;
  holder_ = from;
  loop_->hand(pointer);
}

void Session::set(Listener from, const std::string& name, double value) {
  const tactus_model& model = loop_->current().world->model();
  const auto* const end = model.parameters + model.parameter_count;
  const auto* const found =
      std::find_if(model.parameters, end, [&](const tactus_parameter& parameter) { return name == parameter.name; });
  if (found == end) return refuse(from, fmt::format("there is no parameter `{}`", name.substr(0, 80)));
  if (!std::isfinite(value)) return refuse(from, fmt::format("`{}` needs a number", name));
  if (found->low < found->high && !(value >= found->low && value <= found->high))
    return refuse(from, fmt::format("`{}` is between {:g} and {:g}, not {:g}", name, found->low, found->high, value));
  const auto index = static_cast<std::uint32_t>(found - model.parameters);
  if (!loop_->set_parameter(loop_->current().generation, index, value)) return refuse(from, busy);
  parameters_[index] = value;
  audience_.tell_all(text_of({{"type", "parameter"}, {"name", name}, {"value", value}}));
}

void Session::set_speed(Listener from, double value) {
  if (!std::isfinite(value)) return refuse(from, "a speed needs a number");
  const double speed = std::clamp(value, slowest, fastest);
  if (!loop_->set_speed(speed)) return refuse(from, busy);
  speed_ = speed;
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

// --- What becomes of texts --------------------------------------------------------------------------------------------

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
  compiler_ =
      std::jthread([promise = std::move(promise), texts = as_texts(texts_), overrides = options_.overrides,
                    moved = moved_parameters(), period = options_.period, tell = options_.when_compiled]() mutable {
        try {
          promise.set_value(prepare(texts, overrides, moved, period));
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
  diagnostics_ = diagnostic_items(prepared.compiled, prepared.texts);
  // What compiles is shown to all, with what is said of it; a version of 0 answers no edit, so it comes first.
  if (prepared.running) audience_.tell_all(text_of({{"type", "diagnostics"}, {"version", 0}, {"items", diagnostics_}}));
  for (const auto& [listener, version] : compiling_for_)
    audience_.tell(listener, text_of({{"type", "diagnostics"}, {"version", version}, {"items", diagnostics_}}));
  if (prepared.running) {
    adopt(std::move(prepared), true);
  } else if (prepared.failure) {
    audience_.tell_all(
        text_of({{"type", "note"}, {"text", "the edited world does not start: " + prepared.failure->text}}));
  }
  begin_compiling();
}

void Session::reset(Listener from) {
  if (ready_) return refuse(from, busy);
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
  if (loop_->settle()) {
    ready_ = std::move(prepared);
    ready_goes_on_ = goes_on;
    return;
  }
  // A world that stands still because it failed has nothing to go on with.
  const bool keeps = goes_on && loop_->current().status == TACTUS_OK;
  prepared.running->generation = ++generation_;
  give_hand(*prepared.running->world);
  const std::vector<double> started_with = prepared.running->world->parameters();
  std::vector<double> parameters = parameters_of(prepared.running->world->model(), moved_parameters());
  if (keeps) prepared.running->world->plan_to_take_over(*loop_->current().world, *discrete_, *prepared.discrete);
  if (!loop_->replace(prepared.running, keeps)) {
    ready_ = std::move(prepared);
    ready_goes_on_ = goes_on;
    return;
  }
  while (loop_->settle()) std::this_thread::sleep_for(std::chrono::microseconds(200));  // at most a tick
  free_aside(std::exchange(code_, std::move(prepared.code)));
  if (!prepared.texts.empty()) code_texts_ = std::move(prepared.texts);
  if (prepared.discrete) discrete_ = std::move(prepared.discrete);
  parameters_ = std::move(parameters);
  // What a person moved while it was compiled.
  for (std::uint32_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i] != started_with[i] && !loop_->set_parameter(generation_, i, parameters_[i]))
      parameters_[i] = started_with[i];
  }
  failure_.reset();
  told_failure_ = false;
  audience_.tell_all(text_of(world_message()));
  audience_.tell_all(text_of(state_message()));
}

// Old code ends with the thread that still optimises it, which can take a tenth of a second: nobody waits for that.
void Session::free_aside(std::shared_ptr<emit_llvm::CompiledModel> code) {
  using namespace std::chrono_literals;
  std::erase_if(freeing_, [](const auto& done) { return done.wait_for(0s) == std::future_status::ready; });
  if (code != code_)
    freeing_.push_back(std::async(std::launch::async, [old = std::move(code)]() mutable { old.reset(); }));
}

// --- What pages are told ----------------------------------------------------------------------------------------------

Json Session::world_message() {
  Json message = {{"type", "world"}, {"generation", loop_->current().generation}};
  message.update(describe(*loop_->current().world, parameters_));
  message["name"] = std::filesystem::path(texts_.front().path).stem().string();
  message["files"] = Json::array();
  const std::vector<api::Text> all = as_texts(texts_);
  for (const SourceText& text : texts_)
    message["files"].push_back(
        {{"name", shown_name(text.path, all)}, {"text", text.text}, {"edited", text.text != text.on_disk}});
  return message;
}

Json Session::state_message() {
  return {{"type", "state"},
          {"paused", loop_->is_paused()},
          {"speed", speed_},
          {"time", newest().time},
          {"failure", failure_json(failure_)}};
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
    plans = {{"begun", counts.begun.load()},
             {"failed", counts.failed.load()},
             {"late", counts.late.load()},
             {"dropped", counts.dropped.load()}};
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
  const std::string text = fmt::format(
      "the world is {:.1f} s behind the clock: a tick takes {:.0f} us (median) of the {:.0f} us it has; slow it down, "
      "or make steps longer",
      slipped, microseconds(loop_->statistics().compute.quantile(0.5)),
      1e6 * loop_->current().world->timing().period / speed_);
  notes_ = loop_->notes();
  notes_.push_back(text);
  audience_.tell_all(text_of({{"type", "note"}, {"text", text}}));
}

void Session::take_edits() {
  finish_compiling();
  if (ready_ && !loop_->settle()) {
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
  live::Running& now = loop_->current();
  live::Mailbox<live::Shown>& shown = now.world->shown();
  if (shown.refresh()) {
    audience_.show(frame_of(shown.newest(), now.generation));
    ++frames_;
  }
  const int status = now.status.load(std::memory_order_acquire);
  if (status != TACTUS_OK && !told_failure_) {
    const tactus_model& model = now.world->model();
    failure_ = sim::describe_failure(model, *now.world->instance().get(), static_cast<tactus_status>(status), false);
    const live::Planner* planner = now.world->planner();
    if (status == TACTUS_NO_PLAN && planner && planner->gave_up())
      failure_->hint = fmt::format(
          "none of {} searches for it ended in time, the last within {:.3g} s: this machine is busy, or "
          "the search is long; `else {{ .. }}` says what happens then, and the world goes on",
          live::most_questions, std::ldexp(live::plan_budget, live::most_questions - 1));
    api::KeptInstance last;
    last.keep(model, *now.world->instance().get());
    api::blame(*failure_, model, last, now.world->timing().period, code_texts_, {.overrides = options_.overrides});
    told_failure_ = true;
    audience_.tell_all(text_of(state_message()));
  }
  if (loop_->is_paused() != was_paused_) {
    was_paused_ = loop_->is_paused();
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
