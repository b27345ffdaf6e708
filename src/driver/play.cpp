// tactus play: a model's text -> a world that moves with the clock, in a page under the mouse, or without one.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "compiler/emit_llvm/jit.h"
#include "compiler/source/source.h"
#include "driver/browser.h"
#include "driver/commands.h"
#include "driver/interrupt.h"
#include "driver/report.h"
#include "driver/settings.h"
#include "play/session.h"
#include "server/page.h"
#include "server/server.h"

namespace driver {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto pass = std::chrono::nanoseconds(1'000'000'000 / 60);

// The server's thread on one side, the session's on the other.
class Stage : public server::Handler, public play::Audience {
 public:
  struct Event {
    server::Client client = {};
    std::optional<std::string> text;  // empty: the client has gone
  };

  void opened(server::Client) override {}
  void message(server::Client client, std::string_view text) override { put({client, std::string(text)}); }
  void closed(server::Client client) override { put({client, std::nullopt}); }

  void tell(play::Listener listener, std::string text) override {
    if (server) server->send(static_cast<server::Client>(listener), std::move(text));
  }
  void tell_all(std::string text) override {
    if (server) server->send_all(std::move(text));
  }
  void show(std::span<const std::byte> frame) override {
    if (server) server->send_frame(frame);
  }
  std::size_t size() const override { return server ? server->clients() : 0; }

  // `next` returns at once.
  void wake() {
    const std::scoped_lock lock(mutex_);
    is_awake_ = true;
    wakes_.notify_one();
  }

  // The next event, or none by then or when woken.
  std::optional<Event> next(Clock::time_point until) {
    std::unique_lock lock(mutex_);
    wakes_.wait_until(lock, until, [&] { return is_awake_ || !events_.empty(); });
    is_awake_ = false;
    if (events_.empty()) return std::nullopt;
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

  server::Server* server = nullptr;  // null: nobody watches

 private:
  // While the session is busy with one message (a search for a start), no more than these wait; what a mouse says
  // beyond is old. Of what a person says with a button or a key, more.
  static constexpr std::size_t most_waiting = 4096, most_waiting_of_all = 16384;

  void put(Event event) {
    const std::scoped_lock lock(mutex_);
    if (event.text) {
      const bool is_of_mouse = event.text->starts_with(R"({"type":"hand")");  // as the page writes it
      if (events_.size() >= (is_of_mouse ? most_waiting : most_waiting_of_all)) return;
    }
    events_.push_back(std::move(event));
    wakes_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable wakes_;
  std::deque<Event> events_;
  bool is_awake_ = false;
};

// The files as they are; empty, after the mistakes went into `reading`, when one of them is no text.
std::optional<std::vector<play::SourceText>> read_texts(const std::vector<std::string>& files, api::Compiled& reading) {
  std::vector<play::SourceText> texts;
  for (const std::string& path : files) {
    const auto file = source::load(path, reading.sources, reading.diags);
    if (!file) continue;
    const std::string text(reading.sources.text(*file));
    texts.push_back({path, text, text});
  }
  if (texts.size() < files.size()) return std::nullopt;
  return texts;
}

void print_statistics(const play::Json& numbers, double time) {
  const auto line = [&](const char* name) {
    const play::Json& part = numbers[name];
    return fmt::format("median {} us, 99% {} us, 99.9% {} us, longest {} us", part["median"].get<double>(),
                       part["p99"].get<double>(), part["p999"].get<double>(), part["longest"].get<double>());
  };
  say(stdout, "t = {:g} after {} ticks, {} of them missed; {} scheduling\n", time, numbers["ticks"].get<std::int64_t>(),
      numbers["missed"].get<std::int64_t>(), numbers["scheduling"].get<std::string>());
  say(stdout, "  late       {}\n  computing  {}\n", line("late"), line("compute"));
  if (const double slipped = numbers["slipped"]; slipped > 0) say(stdout, "  {:.3g} s behind the clock\n", slipped);
}

constexpr const char open_it_yourself[] = "open it in a browser; it works once\n";

// The page, and its address told. Null, the mistake being told, when it cannot be served.
std::unique_ptr<server::Server> serve(const PlayOptions& options, Stage& stage, Browser& browser) {
  const std::filesystem::path folder = std::filesystem::path(options.files.front()).parent_path();
  server::Options serving;
  serving.port = static_cast<std::uint16_t>(options.port);
  serving.assets = server::page_assets();
  serving.folder = folder.empty() ? "." : folder.string();
  serving.allowed = options.allow;
  std::unique_ptr<server::Server> server;
  try {
    server = std::make_unique<server::Server>(serving, stage);
  } catch (const std::runtime_error& failure) {
    (void)usage_error(options.json, failure.what(), "choose another with --port, or leave it out");
    return nullptr;
  }
  write_text(stdout, (options.json ? play::Json{{"url", server->url()}}.dump() : server->url()) + "\n");
  std::fflush(stdout);
  const bool is_open = !options.no_browser && browser.open(server->url());
  if (!options.quiet && !options.json) {
    if (!is_open && !options.no_browser) say(stderr, open_it_yourself);
    if (isatty(STDIN_FILENO)) say(stderr, "enter: a link for another browser; ctrl-C: the end\n");
  }
  return server;
}

// Whether the person at the terminal pressed enter.
bool enter_was_pressed() {
  pollfd keyboard = {STDIN_FILENO, POLLIN, 0};
  if (!isatty(STDIN_FILENO) || poll(&keyboard, 1, 0) <= 0 || !(keyboard.revents & POLLIN)) return false;
  char line[256];
  return read(STDIN_FILENO, line, sizeof line) > 0;
}

int tell_start_failed(const PlayOptions& options, const sim::Failure& failure) {
  if (options.json) print_json({{"status", "failed"}, {"failure", failure.text}});
  say(stderr, "tactus: {}\n", failure.text);
  if (!failure.hint.empty()) say(stderr, "  hint: {}\n", failure.hint);
  return exit_run_failed;
}

int tell_end(const PlayOptions& options, play::Session& session) {
  const play::Json numbers = session.statistics();
  const std::optional<play::Ended> ended = session.ended();
  if (options.json) {
    play::Json object = {{"status", session.failure() ? "failed" : "done"}, {"time", session.time()}};
    object.update(numbers);
    object["notes"] = session.notes();
    object["ended"] = ended ? play::Json(ended->text) : play::Json(nullptr);
    if (session.failure()) object["failure"] = session.failure()->text;
    print_json(object);
  } else if (!options.quiet) {
    print_statistics(numbers, session.time());
    if (ended) say(stdout, "{}\n", ended->text);
    if (session.failure()) say(stderr, "{}\n", session.failure()->text);
  }
  return session.failure() ? exit_run_failed : exit_done;
}

}  // namespace

int play(const PlayOptions& options) {
  Mistake mistake;
  const auto overrides = read_overrides(options.set, mistake);
  if (!overrides) return usage_error(options.json, mistake.text, mistake.hint);
  api::Compiled reading;
  const auto texts = read_texts(options.files, reading);
  if (!texts) {
    reading.is_misuse = api::is_about_use(reading.diags);
    return model_errors(options.json, reading);
  }

  std::vector<api::Text> sources;
  for (const play::SourceText& text : *texts) sources.push_back({text.path, text.text});
  play::SessionOptions settings;
  settings.period = options.rate ? 1 / *options.rate : 0;
  settings.overrides = *overrides;
  settings.allow = options.allow;
  settings.waits_for_page = !options.paused && !options.headless && server::is_page_built();
  settings.begins_paused = options.paused || settings.waits_for_page;
  std::optional<play::HandSpec> hand;
  for (const std::string& word : options.devices) {
    const auto device = read_device(word, mistake);
    if (!device) return usage_error(options.json, mistake.text, mistake.hint);
    if (device->kind == "mouse") continue;
    if (device->kind != "simulated" && device->kind != "script") {
      return usage_error(
          options.json, fmt::format("there is no kind of device `{}` here", device->kind),
          "kinds: mouse, simulated (hand=simulated:touch), script (hand=script:(sin(t),0)); a file: tactus run");
    }
    hand = play::read_hand(device->kind, device->argument, mistake.text, mistake.hint);
    std::string failure;
    if (hand && !play::make_hand(*hand, 1e-3, 0, failure)) {
      hand.reset();
      mistake = {failure, "such as target=(0.03*sin(3*t),0)"};
    }
    if (!hand) return usage_error(options.json, mistake.text, mistake.hint);
    settings.make_hand = [spec = *hand](double period) {
      std::string ignored;
      return play::make_hand(spec, period, 0, ignored);
    };
    hand->title = device->name;
  }
  settings.loop = {.spin = options.spin * 1e-6, .real_time = !options.normal_priority};
  play::Prepared prepared =
      play::prepare(sources, *overrides, {}, settings.period, play::Optimising::at_once, options.allow);
  if (!prepared.code) return model_errors(options.json, prepared.compiled);
  const bool talks = !options.json && !options.quiet;
  if (talks) print_warnings(prepared.compiled);
  if (prepared.failure) return tell_start_failed(options, *prepared.failure);
  std::vector<std::string> notes = prepared.running->world->timing().notes;
  if (hand) {
    const std::string& name = prepared.running->world->hand().device;
    if (hand->title != name)
      return usage_error(options.json, fmt::format("the model has no `external {}` that it reads from", hand->title),
                         name.empty() ? "it reads from none" : fmt::format("its hand is `{}`", name));
    notes.insert(notes.end(), hand->notes.begin(), hand->notes.end());
  }

  Interrupt interrupt;
  Browser browser;
  Stage stage;
  settings.when_compiled = [&stage] { stage.wake(); };
  if (!options.headless) settings.rehearsal = std::make_shared<play::Rehearsal>();
  std::unique_ptr<server::Server> server;
  play::Session session(std::move(prepared), *texts, settings, stage);
  if (options.speed != 1) session.message({}, fmt::format(R"({{"type":"speed","value":{}}})", options.speed));
  if (!options.headless) {
    server = serve(options, stage, browser);
    if (!server) return exit_usage;
    stage.server = server.get();
  }
  notes.insert(notes.end(), session.notes().begin(), session.notes().end());
  if (server && !server::is_page_built())
    notes.emplace_back(
        "this program was built without its page, so a browser shows none: `./dev studio` and then `./dev build` put "
        "it "
        "in, which needs Node; the world runs");
  for (const std::string& note : notes) {
    if (talks) say(stderr, "note: {}\n", note);
  }

  // A mistake of ours is told; the world goes on.
  const auto guarded = [&](const auto& work) {
    try {
      work();
    } catch (const std::exception& failure) {
      session.tell_trouble(failure.what());
    }
  };
  const auto begin = Clock::now();
  auto next = begin;
  while (!interrupt.asked()) {
    if (options.seconds && std::chrono::duration<double>(Clock::now() - begin).count() >= *options.seconds) break;
    if (const auto event = stage.next(next)) {
      if (event->text) {
        guarded([&] { session.message(static_cast<play::Listener>(event->client), *event->text); });
      } else {
        session.left(static_cast<play::Listener>(event->client));
      }
    }
    guarded([&] { session.take_edits(); });
    if (Clock::now() < next) continue;  // however many come, frames go out
    guarded([&] { session.go_on(); });
    next = std::max(next + pass, Clock::now());
    if (browser.has_failed() && talks) say(stderr, open_it_yourself);
    if (server && server->clients() > 0) browser.forget_link();
    if (server && enter_was_pressed()) say(stdout, "{}\n", server->new_url());
    if (options.headless && (session.failure() || session.ended())) break;
  }
  stage.server = nullptr;
  server.reset();
  emit_llvm::CompiledModel::leave_threads();  // who ends a world does not wait for LLVM
  return tell_end(options, session);
}

}  // namespace driver
