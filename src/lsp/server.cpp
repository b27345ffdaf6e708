#include "lsp/server.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <variant>

#include "api/load.h"
#include "api/used_files.h"
#include "compiler/format/format.h"
#include "compiler/source/folders.h"
#include "compiler/source/source.h"
#include "lsp/answers.h"
#include "lsp/connection.h"
#include "lsp/messages.h"
#include "lsp/supervisor.h"
#include "process/worker.h"

namespace lsp {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds quiet_time{60};
constexpr std::size_t max_document_bytes = source::max_bytes;

// file:///home/a%20b.tact -> /home/a b.tact; another scheme stays as it is.
std::string path_of(const std::string& uri) {
  constexpr std::string_view scheme = "file://";
  if (!uri.starts_with(scheme)) return uri;
  std::size_t at = uri.find('/', scheme.size());
  if (at == std::string::npos) return uri;
  std::string path;
  for (; at < uri.size(); ++at) {
    const auto digit = [&](std::size_t i) {
      const char c = i < uri.size() ? uri[i] : '\0';
      return c >= '0' && c <= '9'   ? c - '0'
             : c >= 'a' && c <= 'f' ? c - 'a' + 10
             : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                    : -1;
    };
    if (uri[at] == '%' && digit(at + 1) >= 0 && digit(at + 2) >= 0) {
      path += static_cast<char>(digit(at + 1) * 16 + digit(at + 2));
      at += 2;
    } else {
      path += uri[at];
    }
  }
  return path;
}

// A text to compile, as it was when it was asked for.
struct Job {
  std::string uri;
  std::vector<api::Text> texts;    // the first is the document
  std::vector<std::string> files;  // in the folders of these it may read
  std::vector<std::string> allow;  // and there
  std::int64_t version = 0;
  std::uint64_t revision = 0;
  Clock::time_point due;
};

struct Compiled {
  std::uint64_t revision = 0;
  std::shared_ptr<const compiler::Facts> facts;
};

struct Document {
  std::string uri;
  std::string path;
  Text text;
  std::int64_t version = 0;
  std::uint64_t revision = 0;  // ours: rises with every change of any document
  std::unique_ptr<NameTable> names;
  std::uint64_t names_revision = 0;

  // The document as a file; one that was never saved has no folder.
  std::vector<std::string> files() const {
    return path.starts_with('/') ? std::vector<std::string>{path} : std::vector<std::string>{};
  }
};

// -- the compiler's thread

class Diagnoser {
 public:
  Diagnoser(Connection& connection, const Client& client, Reports reports)
      : connection_(connection), client_(client), reports_(reports) {}
  ~Diagnoser() { stop(); }
  Diagnoser(const Diagnoser&) = delete;
  Diagnoser& operator=(const Diagnoser&) = delete;

  void start() {
    thread_ = std::thread([this] { run(); });
  }
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  // Replaces what waits for the same document.
  void ask(Job job) {
    {
      const std::lock_guard lock(mutex_);
      newest_[job.uri] = job.revision;
      waiting_[job.uri] = std::move(job);
    }
    wake_.notify_all();
  }
  // Nothing more about this document; what was said is taken back.
  void forget(const std::string& uri) {
    const std::lock_guard lock(mutex_);
    waiting_.erase(uri);
    newest_.erase(uri);
    facts_.erase(uri);
    connection_.write(published(uri, Json::array(), std::nullopt));
  }
  std::shared_ptr<const compiler::Facts> facts(const std::string& uri) {
    const std::lock_guard lock(mutex_);
    const auto found = facts_.find(uri);
    return found == facts_.end() ? nullptr : found->second;
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      if (waiting_.empty()) {
        wake_.wait(lock);
        continue;
      }
      const auto next = std::min_element(waiting_.begin(), waiting_.end(),
                                         [](const auto& a, const auto& b) { return a.second.due < b.second.due; });
      if (Clock::now() < next->second.due) {
        wake_.wait_until(lock, next->second.due);
        continue;
      }
      const Job job = std::move(next->second);
      waiting_.erase(next);
      lock.unlock();
      auto facts = std::make_shared<compiler::Facts>();
      report(compiling_method, job);
      Json diagnostics = diagnose(job, *facts);
      report(compiled_method, job);
      lock.lock();
      const auto current = newest_.find(job.uri);
      if (current == newest_.end()) continue;  // closed
      if (!facts->empty()) facts_[job.uri] = std::move(facts);
      if (current->second == job.revision) connection_.write(published(job.uri, std::move(diagnostics), job.version));
    }
  }

  void report(const char* method, const Job& job) {
    if (reports_ == Reports::compilations)
      connection_.write(notification(method, {{"uri", job.uri}, {"version", job.version}}));
  }

  // A check of ours that fails is said of the text.
  Json diagnose(const Job& job, compiler::Facts& facts) const {
    compiler::Options options;
    options.facts = &facts;
    const api::UsedFiles used(job.files, job.allow);
    options.read_file = [&](const std::string& from, const std::string& path) { return used(from, path); };
    options.locate_file = [&](const std::string& from, const std::string& path) { return used.locate(from, path); };
    try {
      process::spring_traps(job.texts.front().text);
      return list(job, api::compile_texts(job.texts, options));
    } catch (const std::exception& failure) {
      return Json::array({stopped_diagnostic(failure.what())});
    }
  }

  Json published(const std::string& uri, Json diagnostics, std::optional<std::int64_t> version) const {
    Json params = {{"uri", uri}, {"diagnostics", std::move(diagnostics)}};
    if (version && client_.versions) params["version"] = *version;
    return notification("textDocument/publishDiagnostics", std::move(params));
  }

  Json list(const Job& job, const api::Compiled& compiled) const {
    // The compiler left a byte order mark out.
    const std::uint32_t shift = job.texts.front().text.starts_with("\xef\xbb\xbf") ? 3 : 0;
    const Text text(job.texts.front().text);
    const NameTable no_names;
    const View view{job.uri, text, no_names, nullptr, client_};
    const auto is_here = [&](const base::Span& span) {
      return span.file >= compiled.sources.size() || compiled.sources.name(span.file) == job.texts.front().name;
    };
    const auto elsewhere = [&](const base::Span& span) {
      const diag::Position at = compiled.sources.position(span.file, span.begin);
      return fmt::format("{}:{}:{}", compiled.sources.name(span.file), at.line, at.column);
    };
    const auto visible = [&](base::Span span) {
      Place place{std::min(span.begin + shift, text.size()), std::min(span.end + shift, text.size())};
      if (place.end > place.begin) return place;
      // A place between two characters is shown on the one behind it, or before it at the end of a line.
      const std::string& content = text.content();
      if (place.end < text.size() && content[place.end] != '\n' && content[place.end] != '\r')
        ++place.end;
      else if (place.begin > 0 && content[place.begin - 1] != '\n' && content[place.begin - 1] != '\r')
        --place.begin;
      while (place.begin > 0 && !diag_starts(content, place.begin)) --place.begin;
      while (place.end < text.size() && !diag_starts(content, place.end)) ++place.end;
      return place;
    };
    Json all = Json::array();
    for (const diag::Diagnostic& diagnostic : compiled.diags.diagnostics()) {
      const bool here = is_here(diagnostic.span);
      std::string message = here ? diagnostic.text : fmt::format("{}: {}", elsewhere(diagnostic.span), diagnostic.text);
      for (const std::string& hint : diagnostic.hints) message += "\nhint: " + hint;
      Json related = Json::array();
      for (const diag::Related& other : diagnostic.related) {
        if (client_.related_information && is_here(other.span))
          related.push_back({{"location", {{"uri", job.uri}, {"range", range_of(view, visible(other.span))}}},
                             {"message", other.text}});
        else
          message += fmt::format("\nnote: {}: {}", elsewhere(other.span), other.text);
      }
      Json one = {{"range", range_of(view, here ? visible(diagnostic.span) : Place{0, 0})},
                  {"severity", diagnostic.severity == diag::Severity::error ? 1 : 2},
                  {"code", diagnostic.code},
                  {"source", "tactus"},
                  {"message", std::move(message)},
                  {"data", {{"hints", diagnostic.hints}}}};
      if (!related.empty()) one["relatedInformation"] = std::move(related);
      all.push_back(std::move(one));
    }
    return all;
  }
  static bool diag_starts(const std::string& content, std::uint32_t at) {
    return (static_cast<unsigned char>(content[at]) & 0xc0u) != 0x80u;
  }

  Connection& connection_;
  const Client& client_;
  const Reports reports_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::map<std::string, Job> waiting_;
  std::map<std::string, std::uint64_t> newest_;
  std::map<std::string, std::shared_ptr<const compiler::Facts>> facts_;
};

// -- the reader's thread

class Inbox {
 public:
  explicit Inbox(Connection& connection) : connection_(connection) {}

  void read_all() {
    while (std::optional<Message> message = next_message(connection_)) {
      note_cancellation(message->content);
      const bool exits = message->content.is_object() && message->content.value("method", Json()) == "exit";
      push(std::move(*message));
      if (exits) break;
    }
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    wake_.notify_all();
  }

  // Empty at the end of the stream.
  std::optional<Message> take() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return ended_ || !messages_.empty(); });
    if (messages_.empty()) return std::nullopt;
    Message message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }
  bool take_cancellation(const Json& id) {
    const std::lock_guard lock(mutex_);
    return cancelled_.erase(id.dump()) > 0;
  }

 private:
  void push(Message message) {
    {
      const std::lock_guard lock(mutex_);
      messages_.push_back(std::move(message));
    }
    wake_.notify_all();
  }
  // Only a request that still waits can be cancelled.
  void note_cancellation(const Json& content) {
    if (!content.is_object() || content.value("method", Json()) != "$/cancelRequest") return;
    const auto params = content.find("params");
    if (params == content.end() || !params->is_object() || !params->contains("id")) return;
    const Json& id = (*params)["id"];
    const std::lock_guard lock(mutex_);
    for (const Message& waiting : messages_)
      if (waiting.content.is_object() && waiting.content.value("id", Json()) == id &&
          waiting.content.contains("method"))
        cancelled_.insert(id.dump());
  }

  Connection& connection_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Message> messages_;
  std::set<std::string> cancelled_;
  bool ended_ = false;
};

// -- answering

class Server {
 public:
  Server(int input, int output, Reports reports, std::vector<std::string> allow)
      : connection_(input, output),
        diagnoser_(connection_, client_, reports),
        inbox_(connection_),
        allow_(std::move(allow)) {}

  int run() {
    diagnoser_.start();
    std::thread reader([this] { inbox_.read_all(); });
    while (!exiting_) {
      std::optional<Message> message = inbox_.take();
      if (!message) break;
      if (message->failure)
        send_error(nullptr, *message->failure);
      else
        handle(message->content);
    }
    diagnoser_.stop();
    reader.join();  // it ends with `exit` or the stream
    return shut_down_ ? 0 : 1;
  }

 private:
  void send_error(const Json& id, const Failure& failure) { connection_.write(error_message(id, failure)); }

  void handle(const Json& message) {
    if (!message.is_object())
      return send_error(
          nullptr, {invalid_request, message.is_array() ? "batches are not part of the protocol" : "not an object"});
    const auto id = message.find("id");
    const bool has_id = id != message.end();
    const bool good_id = has_id && (id->is_string() || id->is_number_integer());
    const auto method = message.find("method");
    if (method == message.end()) {
      if (message.contains("result") || message.contains("error")) return;  // an answer to nothing we asked
      return send_error(good_id ? *id : Json(), {invalid_request, "the message has no method"});
    }
    if (!method->is_string() || (has_id && !good_id))
      return send_error(good_id ? *id : Json(), {invalid_request, "the method or the id is of a wrong type"});
    const std::string& name = method->get_ref<const std::string&>();
    const auto params = message.find("params");
    static const Json nothing = Json::object();
    const Json& given = params == message.end() || params->is_null() ? nothing : *params;
    if (!has_id) {
      try {
        notice(name, given);
      } catch (const Failure& failure) {
        log(fmt::format("{}: {}", name, failure.message));
      } catch (const Json::exception&) {
        log(fmt::format("{}: the parameters are of a wrong type", name));
      } catch (const std::exception& error) {
        log(fmt::format("{}: {}", name, error.what()));
      }
      return;
    }
    if (inbox_.take_cancellation(*id)) return send_error(*id, {request_cancelled, "cancelled"});
    try {
      Json result = answer(name, given);
      connection_.write({{"jsonrpc", "2.0"}, {"id", *id}, {"result", std::move(result)}});
    } catch (const Failure& failure) {
      send_error(*id, failure);
    } catch (const Json::exception&) {
      send_error(*id, {invalid_params, "the parameters are of a wrong type"});
    } catch (const std::exception& error) {
      send_error(*id, {internal_error, error.what()});
    }
  }

  void log(const std::string& text) {
    connection_.write(notification("window/logMessage", {{"type", 2}, {"message", text}}));
  }

  // -- notifications
  void notice(const std::string& method, const Json& params) {
    if (method == "exit") {
      exiting_ = true;
      return;
    }
    if (!initialized_ || shut_down_) return;
    if (method == "textDocument/didOpen") return open(params);
    if (method == "textDocument/didChange") return change(params);
    if (method == "textDocument/didClose") return close(params);
    if (method == "textDocument/didSave") {
      Document& document = document_in(params);
      if (const auto text = params.find("text"); text != params.end() && text->is_string())
        set_text(document, Text(text->get<std::string>()));
      return diagnose(document, std::chrono::milliseconds(0));
    }
    // `initialized`, `$/..` and what no server must know.
  }

  void open(const Json& params) {
    const Json& item = params.at("textDocument");
    Document document;
    document.uri = item.at("uri").get<std::string>();
    document.path = path_of(document.uri);
    document.text = Text(item.at("text").get<std::string>());
    document.version = item.value("version", std::int64_t{0});
    document.revision = ++revision_;
    const std::string uri = document.uri;
    documents_[uri] = std::move(document);
    diagnose(documents_[uri], std::chrono::milliseconds(0));
  }

  void set_text(Document& document, Text text) {
    document.text = std::move(text);
    document.revision = ++revision_;
  }

  void change(const Json& params) {
    Document& document = document_in(params);
    const Json& changes = params.at("contentChanges");
    if (!changes.is_array()) throw Failure{invalid_params, "contentChanges is not a list"};
    Text text = document.text;
    for (const Json& one : changes) apply_change(text, one, client_.encoding);
    document.version = params.at("textDocument").value("version", document.version + 1);
    set_text(document, std::move(text));
    diagnose(document, quiet_time);
  }

  void close(const Json& params) {
    const Document& document = document_in(params);
    diagnoser_.forget(document.uri);
    documents_.erase(std::string(document.uri));
  }

  // What belongs to the program of this document: for x.phydl also x.ridl, as it stands in the editor or else on the disk.
  void diagnose(const Document& document, std::chrono::milliseconds delay) {
    Job job;
    job.uri = document.uri;
    job.version = document.version;
    job.revision = document.revision;
    job.due = Clock::now() + delay;
    job.texts.push_back({document.path, document.text.content()});
    job.files = document.files();
    job.allow = allow_;
    const fs::path path = document.path;
    const bool phydl = path.extension() == ".phydl", ridl = path.extension() == ".ridl";
    if (phydl || ridl) {
      const std::string partner = fs::path(path).replace_extension(phydl ? ".ridl" : ".phydl").string();
      const auto opened = std::find_if(documents_.begin(), documents_.end(),
                                       [&](const auto& entry) { return entry.second.path == partner; });
      if (opened != documents_.end())
        job.texts.push_back({partner, opened->second.text.content()});
      else if (auto file = read_beside(document, partner))
        job.texts.push_back({partner, std::move(file->text)});
    }
    diagnoser_.ask(std::move(job));
  }

  // -- requests
  Json answer(const std::string& method, const Json& params) {
    if (method == "initialize") return initialize(params);
    if (!initialized_) throw Failure{not_initialized, "`initialize` comes first"};
    if (shut_down_) throw Failure{invalid_request, "the server is shut down"};
    if (method == "shutdown") {
      shut_down_ = true;
      return nullptr;
    }
    if (!method.starts_with("textDocument/"))
      throw Failure{method_not_found, fmt::format("there is no method `{}`", method)};
    const std::string_view what = std::string_view(method).substr(std::string_view("textDocument/").size());
    if (what == "documentSymbol") return symbols(view_in(params));
    if (what == "foldingRange") return folds(view_in(params));
    if (what == "semanticTokens/full") return colours(view_in(params));
    if (what == "formatting") return format_document(params);
    if (what == "hover") return hover(view_in(params), offset_in(params));
    if (what == "completion") return completion(view_in(params), offset_in(params));
    if (what == "definition") return definition(view_in(params), offset_in(params));
    if (what == "documentHighlight") return highlights(view_in(params), offset_in(params));
    if (what == "references") {
      const Json context = params.value("context", Json::object());
      return references(view_in(params), offset_in(params), context.value("includeDeclaration", true));
    }
    if (what == "prepareRename") {
      const View view = view_in(params);
      const std::uint32_t offset = offset_in(params);
      if (const std::string reason = why_not_renamed(view, offset); !reason.empty())
        throw Failure{request_failed, reason};
      return prepare_rename(view, offset);
    }
    if (what == "rename") {
      const View view = view_in(params);
      std::string refusal;
      Json edit = rename(view, offset_in(params), params.at("newName").get<std::string>(), refusal);
      if (!refusal.empty()) throw Failure{request_failed, refusal};
      return edit;
    }
    throw Failure{method_not_found, fmt::format("there is no method `{}`", method)};
  }

  Json initialize(const Json& params) {
    if (initialized_) throw Failure{invalid_request, "`initialize` comes once"};
    if (!params.is_object()) throw Failure{invalid_params, "the parameters are not an object"};
    const auto get = [&](std::initializer_list<const char*> keys) -> Json {
      const Json* at = &params;
      for (const char* key : keys) {
        if (!at->is_object()) return nullptr;
        const auto found = at->find(key);
        if (found == at->end()) return nullptr;
        at = &*found;
      }
      return *at;
    };
    const auto says = [&](std::initializer_list<const char*> keys) { return get(keys) == true; };
    const Json encodings = get({"capabilities", "general", "positionEncodings"});
    if (encodings.is_array() && std::find(encodings.begin(), encodings.end(), "utf-8") != encodings.end())
      client_.encoding = Encoding::utf8;
    client_.snippets = says({"capabilities", "textDocument", "completion", "completionItem", "snippetSupport"});
    client_.related_information = says({"capabilities", "textDocument", "publishDiagnostics", "relatedInformation"});
    client_.versions = says({"capabilities", "textDocument", "publishDiagnostics", "versionSupport"});
    client_.hierarchical_symbols =
        says({"capabilities", "textDocument", "documentSymbol", "hierarchicalDocumentSymbolSupport"});
    const Json formats = get({"capabilities", "textDocument", "hover", "contentFormat"});
    client_.markdown = formats.is_array() && std::find(formats.begin(), formats.end(), "markdown") != formats.end();
    if (const Json allow = get({"initializationOptions", "allow"}); allow.is_array()) {
      for (const Json& path : allow)
        if (path.is_string()) allow_.push_back(path.get<std::string>());
    }
    initialized_ = true;
    return {{"capabilities",
             {{"positionEncoding", client_.encoding == Encoding::utf8 ? "utf-8" : "utf-16"},
              {"textDocumentSync", {{"openClose", true}, {"change", 2}, {"save", {{"includeText", false}}}}},
              {"hoverProvider", true},
              {"completionProvider", {{"triggerCharacters", {".", "["}}}},
              {"definitionProvider", true},
              {"referencesProvider", true},
              {"documentHighlightProvider", true},
              {"documentSymbolProvider", true},
              {"foldingRangeProvider", true},
              {"documentFormattingProvider", true},
              {"renameProvider", {{"prepareProvider", true}}},
              {"semanticTokensProvider", {{"legend", semantic_legend()}, {"full", true}}}}},
            {"serverInfo", {{"name", "tactus"}, {"version", TACTUS_VERSION}}}};
  }

  Json format_document(const Json& params) {
    const View view = view_in(params);
    const Document& document = document_in(params);
    diag::SourceMap sources;
    diag::Sink diags;
    const auto file = source::add(document.path, document.text.content(), sources, diags);
    const auto formatted = file ? ::format::format(*file, sources, diags) : std::nullopt;
    if (!formatted) {
      const diag::Diagnostic& first = diags.diagnostics().front();
      throw Failure{request_failed, fmt::format("not laid out: line {}: {}",
                                                sources.position(first.span.file, first.span.begin).line, first.text)};
    }
    return edits_to(view, *formatted);
  }

  // -- parameters
  Document& document_in(const Json& params) {
    const std::string uri = params.at("textDocument").at("uri").get<std::string>();
    const auto found = documents_.find(uri);
    if (found == documents_.end()) throw Failure{invalid_params, fmt::format("`{}` is not open", uri)};
    return found->second;
  }

  View view_in(const Json& params) {
    Document& document = document_in(params);
    process::spring_traps(document.text.content(), "answering-");
    if (!document.names || document.names_revision != document.revision) {
      document.names = find_names(document.path, document.text.content(),
                                  [&](const std::string& used) { return read_used(document, used); });
      document.names_revision = document.revision;
    }
    facts_ = diagnoser_.facts(document.uri);
    return {document.uri, document.text, *document.names, facts_.get(), client_};
  }

  // Beside the file that uses it; what the editor holds comes before what the disk holds.
  std::optional<OtherFile> read_used(const Document& from, const std::string& used) {
    const std::string path = (fs::path(from.path).parent_path() / used).lexically_normal().string();
    for (const auto& [uri, document] : documents_)
      if (document.path == path) return OtherFile{path, document.text.content()};
    auto file = read_beside(from, path);
    return file ? std::optional(OtherFile{path, std::move(file->text)}) : std::nullopt;
  }

  // As the compiler would read it: in the document's folder and where else the person allowed.
  std::optional<source::File> read_beside(const Document& document, const std::string& path) const {
    return source::Folders(document.files(), allow_).read(path, max_document_bytes).file;
  }

  std::uint32_t offset_in(const Json& params) {
    return document_in(params).text.offset_of(position_in(params.at("position")), client_.encoding);
  }

  Connection connection_;
  Client client_;
  Diagnoser diagnoser_;
  Inbox inbox_;
  std::map<std::string, Document> documents_;
  std::shared_ptr<const compiler::Facts> facts_;  // keeps what the last view borrowed
  std::vector<std::string> allow_;                // where documents may read besides their own folders
  std::uint64_t revision_ = 0;
  bool initialized_ = false;
  bool shut_down_ = false;
  bool exiting_ = false;
};

}  // namespace

int serve(int input, int output, Reports reports, std::vector<std::string> allow) {
  return Server(input, output, reports, std::move(allow)).run();
}

}  // namespace lsp
