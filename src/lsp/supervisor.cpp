#include "lsp/supervisor.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "lsp/messages.h"
#include "lsp/server.h"
#include "lsp/text.h"
#include "process/child.h"
#include "process/diagnostics.h"
#include "process/worker.h"

namespace lsp {
namespace {

using process::Clock;

constexpr double longest_wait = 60;                        // s by the clock for one answer or one compilation
constexpr auto look = std::chrono::milliseconds(100);      // at what the worker does
constexpr auto last_words = std::chrono::seconds(5);       // for the worker to end when it was asked to
constexpr int most_deaths = 5;                             // one behind another, with no text to blame
constexpr const char* our_id = "tactus:initialize-again";  // of what we ask a new worker ourselves

// Seconds of the processor that a process has taken; empty when it is gone.
std::optional<double> processor_time(pid_t pid) {
  clockid_t clock = {};
  timespec taken = {};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &taken) != 0) return std::nullopt;
  return static_cast<double>(taken.tv_sec) + 1e-9 * static_cast<double>(taken.tv_nsec);
}

std::string uri_in(const Json& message) {
  const auto params = message.find("params");
  if (params == message.end() || !params->is_object()) return {};
  const auto document = params->find("textDocument");
  if (document == params->end() || !document->is_object()) return {};
  const auto uri = document->find("uri");
  return uri != document->end() && uri->is_string() ? uri->get<std::string>() : std::string();
}

// A piece of the worker's work, and when it began.
struct Work {
  std::string uri;
  std::int64_t version = 0;  // of the text
  Clock::time_point began = Clock::now();
  double processor = 0;
};

struct Request {
  Json message;
  Work work;
  bool is_answered = false;  // cancelled: the worker's answer is dropped
};

struct Kept {
  std::string language;
  std::int64_t version = 0;
  Text text;
  bool is_withheld = false;  // the worker ended on it: it does not know of it
};

class Supervisor {
 public:
  Supervisor(int input, int output, const std::vector<std::string>& allow, std::string program)
      : input_(input), output_(output), editor_(input, output), allow_(allow), program_(std::move(program)) {}

  int run() {
    if (!start())
      return serve(input_, output_, Reports::nothing,
                   allow_);  // no worker to be had: better unprotected than not at all
    std::thread listener([this] { listen(); });
    std::thread watch([this] { watch_over(); });
    while (std::optional<Message> message = next_message(editor_)) {
      const bool exits = message->content.is_object() && message->content.value("method", Json()) == "exit";
      if (exits) break;
      guarded([&] { hear_editor(*message); });
    }
    end();
    listener.join();
    watch.join();
    return is_shut_down_ ? 0 : 1;
  }

 private:
  using Lock = std::unique_lock<std::timed_mutex>;

  // -- what the editor says
  void hear_editor(Message& message) {
    const Lock lock(mutex_);
    if (message.failure) {
      editor_.write(error_message(nullptr, *message.failure));
      return;
    }
    const Json& content = message.content;
    const auto method = content.is_object() ? content.find("method") : content.end();
    if (!content.is_object() || method == content.end() || !method->is_string()) return pass_on(message.text);
    const auto id = content.find("id");
    const bool is_request = id != content.end() && (id->is_string() || id->is_number_integer());
    if (*method == "$/cancelRequest") return cancel(content, message.text);
    if (is_request) return ask(std::move(message));
    if (id == content.end() && method->get_ref<const std::string&>().starts_with("textDocument/did") &&
        keep(method->get<std::string>(), content))
      return;
    pass_on(message.text);
  }

  void pass_on(std::string_view text) { (void)worker_->write_text(text); }

  void ask(Message message) {
    const std::string uri = uri_in(message.content);
    const auto found = documents_.find(uri);
    if (found != documents_.end() && found->second.is_withheld) {
      editor_.write(error_message(message.content["id"],
                                  {request_failed, "the language server stopped on this text; it waits for a change"}));
      return;
    }
    const std::int64_t version = found == documents_.end() ? 0 : found->second.version;
    pending_.push_back({std::move(message.content), work_on(uri, version), false});
    pass_on(message.text);
  }

  void cancel(const Json& content, std::string_view text) {
    const auto params = content.find("params");
    if (params != content.end() && params->is_object() && params->contains("id")) {
      for (Request& request : pending_) {
        if (request.is_answered || request.message["id"] != (*params)["id"]) continue;
        request.is_answered = true;
        editor_.write(error_message(request.message["id"], {request_cancelled, "cancelled"}));
        break;
      }
    }
    pass_on(text);
  }

  // Whether the worker need not hear of it. What is not as the protocol says is not kept; the worker says so.
  bool keep(const std::string& method, const Json& content) {
    const std::string uri = uri_in(content);
    if (!is_initialized_ || is_shut_down_ || uri.empty()) return false;
    const Json& params = content["params"];
    try {
      if (method == "textDocument/didOpen") {
        const Json& item = params.at("textDocument");
        Kept document{item.value("languageId", std::string("tactus")), item.value("version", std::int64_t{0}),
                      Text(item.at("text").get<std::string>()), false};
        documents_[uri] = std::move(document);
        return false;
      }
      const auto found = documents_.find(uri);
      if (found == documents_.end()) return false;
      Kept& document = found->second;
      if (method == "textDocument/didClose") {
        const bool was_withheld = document.is_withheld;
        documents_.erase(found);
        if (was_withheld) publish(uri, Json::array(), std::nullopt);
        return was_withheld;
      }
      if (method != "textDocument/didChange") return document.is_withheld;
      const std::string before = document.text.content();
      document.text = changed(document.text, params.at("contentChanges"));
      document.version = params.at("textDocument").value("version", document.version + 1);
      if (!document.is_withheld) return false;
      if (document.text.content() == before) return true;
      document.is_withheld = false;
      open(uri, document);
      return true;
    } catch (const Json::exception&) {
      return false;
    } catch (const Failure&) {
      return false;
    }
  }

  Text changed(Text text, const Json& changes) const {
    if (!changes.is_array()) throw Failure{invalid_params, "contentChanges is not a list"};
    for (const Json& one : changes) apply_change(text, one, encoding_);
    return text;
  }

  void open(const std::string& uri, const Kept& document) {
    (void)worker_->write(notification("textDocument/didOpen", {{"textDocument",
                                                                {{"uri", uri},
                                                                 {"languageId", document.language},
                                                                 {"version", document.version},
                                                                 {"text", document.text.content()}}}}));
  }

  void publish(const std::string& uri, Json diagnostics, std::optional<std::int64_t> version) {
    Json params = {{"uri", uri}, {"diagnostics", std::move(diagnostics)}};
    if (version && has_versions_) params["version"] = *version;
    editor_.write(notification("textDocument/publishDiagnostics", std::move(params)));
  }

  // -- what the worker says
  void listen() {
    for (;;) {
      while (std::optional<Message> message = next_message(*worker_, deepest_of_worker))
        guarded([&] { hear_worker(*message); });
      const Lock lock(mutex_);
      const std::string why = reason_.empty()
                                  ? process::ending_in_words(child_->wait(Clock::now() + last_words), longest_wait)
                                  : std::exchange(reason_, {});
      if (is_ending_ || !begin_again(why)) {
        is_over_ = true;
        over_.notify_all();
        return;
      }
    }
  }

  void hear_worker(const Message& message) {
    const Lock lock(mutex_);
    const Json& content = message.content;
    if (!content.is_object()) return;
    const auto method = content.find("method");
    if (method != content.end()) {
      if (*method == compiling_method)
        compiling_ = work_on(content.at("params").at("uri"), content.at("params").at("version"));
      else if (*method == compiled_method)
        compiling_.reset();
      else
        editor_.write_text(message.text);
      if (*method == compiled_method) deaths_ = 0;
      return;
    }
    const auto id = content.find("id");
    if (id == content.end() || *id == our_id) return;
    const auto found =
        std::ranges::find_if(pending_, [&](const Request& request) { return request.message["id"] == *id; });
    if (found != pending_.end()) {
      if (content.contains("result")) note_success(found->message, content["result"]);
      const bool is_answered = found->is_answered;
      pending_.erase(found);
      deaths_ = 0;
      if (!pending_.empty()) restart_clock(pending_.front().work);
      if (is_answered) return;
    }
    editor_.write_text(message.text);
  }

  void note_success(const Json& request, const Json& result) {
    if (request["method"] == "initialize") {
      initialize_ = request;
      is_initialized_ = true;
      encoding_ = result["capabilities"]["positionEncoding"] == "utf-8" ? Encoding::utf8 : Encoding::utf16;
      const Json::json_pointer place("/params/capabilities/textDocument/publishDiagnostics/versionSupport");
      has_versions_ = request.contains(place) && request.at(place) == true;
    }
    if (request["method"] == "shutdown") is_shut_down_ = true;
  }

  // -- the worker itself
  bool start() {
    std::vector<std::string> words = {serving_word};
    words.insert(words.end(), allow_.begin(), allow_.end());
    auto child = std::make_unique<process::Child>(words, program_);
    if (!child->is_started()) return false;
    const std::lock_guard lock(child_mutex_);
    child_ = std::move(child);
    worker_ = std::make_unique<Connection>(child_->from(), child_->to());
    return true;
  }

  Work work_on(const std::string& uri, std::int64_t version) const {
    return {uri, version, Clock::now(), processor_time(child_->pid()).value_or(0)};
  }

  void restart_clock(Work& work) const { work = work_on(work.uri, work.version); }

  // Says what became of what was under way, and starts another worker with what is open. False: there is none.
  bool begin_again(const std::string& why) {
    const std::optional<Work> blamed = compiling_         ? compiling_
                                       : pending_.empty() ? std::nullopt
                                                          : std::optional(pending_.front().work);
    compiling_.reset();
    std::vector<Request> again;
    for (Request& request : pending_) {
      if (!is_initialized_ && request.message["method"] == "initialize")
        again.push_back(std::move(request));
      else if (!request.is_answered)
        editor_.write(
            error_message(request.message["id"],
                          {request_failed, fmt::format("the language server stopped: {}; it was started again", why)}));
    }
    pending_ = std::move(again);
    const auto found = blamed ? documents_.find(blamed->uri) : documents_.end();
    if (found != documents_.end()) {
      // A text that was changed meanwhile has not shown what it does.
      found->second.is_withheld = found->second.version == blamed->version;
      if (found->second.is_withheld) publish(blamed->uri, Json::array({stopped_diagnostic(why)}), blamed->version);
    } else if (++deaths_ > most_deaths) {
      return false;
    }
    if (!start()) return false;
    for (Request& request : pending_) {
      restart_clock(request.work);
      (void)worker_->write(request.message);
    }
    if (!is_initialized_) return true;
    Json initialize = initialize_;
    initialize["id"] = our_id;
    (void)worker_->write(initialize);
    (void)worker_->write(notification("initialized", Json::object()));
    for (const auto& [uri, document] : documents_) {
      if (!document.is_withheld) open(uri, document);
    }
    return true;
  }

  // Kills a worker that is late with the oldest request or with what it compiles.
  void watch_over() {
    const auto kill = [this](const std::string& why) {
      const std::lock_guard lock(child_mutex_);
      reason_ = why;
      child_->kill();
    };
    for (;;) {
      Lock lock(mutex_, std::chrono::duration<double>(longest_wait));
      if (!lock.owns_lock()) {  // it does not read what it is sent
        kill_only();
        continue;
      }
      if (over_.wait_for(lock, look, [this] { return is_over_; })) return;
      const std::optional<double> taken = processor_time(child_->pid());
      const auto is_late = [&](const Work& work) {
        if (taken && *taken - work.processor > process::work_seconds()) {
          kill(fmt::format("it took more than {:g} s", process::work_seconds()));
        } else if (Clock::now() - work.began > std::chrono::duration<double>(longest_wait)) {
          kill(fmt::format("no answer came in {:g} s", longest_wait));
        }
      };
      if (compiling_) is_late(*compiling_);
      if (!pending_.empty()) is_late(pending_.front().work);
    }
  }
  void kill_only() {
    const std::lock_guard lock(child_mutex_);
    child_->kill();
  }

  // The worker answers what it was asked before, then ends. What was cancelled is not waited for.
  void end() {
    Lock lock(mutex_);
    is_ending_ = true;
    pass_on(notification("exit", nullptr).dump());
    const auto is_silent = [this] { return is_over_ || std::ranges::all_of(pending_, &Request::is_answered); };
    while (!is_silent()) over_.wait_for(lock, look);
    const bool is_busy = !is_over_ && !pending_.empty();
    if (is_busy || !over_.wait_for(lock, last_words, [this] { return is_over_; })) kill_only();
  }

  template <class Function>
  void guarded(Function function) {
    try {
      function();
    } catch (const std::exception& failure) {
      editor_.write(notification("window/logMessage", {{"type", 1}, {"message", failure.what()}}));
    }
  }

  int input_, output_;
  Connection editor_;
  std::vector<std::string> allow_;
  std::string program_;
  std::mutex child_mutex_;  // of the pointer, against the watch
  std::unique_ptr<process::Child> child_;
  std::unique_ptr<Connection> worker_;

  std::timed_mutex mutex_;  // guards what follows, and the order of what is written to the worker
  std::condition_variable_any over_;
  std::map<std::string, Kept> documents_;
  std::vector<Request> pending_;  // in their order: the worker is at the first
  std::optional<Work> compiling_;
  std::string reason_;  // why the watch killed it
  Json initialize_;
  Encoding encoding_ = Encoding::utf16;
  bool has_versions_ = false;
  bool is_initialized_ = false;
  bool is_shut_down_ = false;
  bool is_ending_ = false;
  bool is_over_ = false;
  int deaths_ = 0;
};

}  // namespace

int supervise(int input, int output, const std::vector<std::string>& allow, const std::string& program) {
  return Supervisor(input, output, allow, program).run();
}

Json stopped_diagnostic(const std::string& why) {
  const Json start = {{"line", 0}, {"character", 0}};
  return {{"range", {{"start", start}, {"end", {{"line", 0}, {"character", 1}}}}},
          {"severity", 1},
          {"code", process::compiler_stopped.code},
          {"source", "tactus"},
          {"message",
           fmt::format("{}\nhint: {}", fmt::format(process::compiler_stopped.text, why), process::stopped_hint)}};
}

}  // namespace lsp
