// What a person waits for while writing a program of 10,000 lines: the compiler's word on it, the language server's
// answers right after a change, its layout. The server is asked through pipes, as by an editor.
#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "api/load.h"
#include "bench.h"
#include "compiler/format/format.h"
#include "compiler/source/source.h"
#include "lsp/connection.h"
#include "lsp/server.h"

namespace bench {
namespace {

using Json = nlohmann::json;

// Chains of oscillators with functions, constants, parameters and comments: four lines each.
std::string program(int lines) {
  std::string text = "constant c = 0.5;\nparameter k = 2 in 0..10;\nfunction pull(a, b) = k * (b - a);\nsystem\n";
  for (int i = 0; i < lines / 4; ++i) {
    text +=
        fmt::format("  // oscillator {0}\n  x{0}' = v{0};\n  v{0}' = pull(x{0}, {1}) - c * v{0};\n  e{0} = v{0}^2/2;\n",
                    i, i == 0 ? "sin(t)" : fmt::format("x{}", i - 1));
  }
  return text;
}

// A server on its own thread, asked through pipes.
class Editor {
 public:
  Editor() {
    if (pipe(to_server_) != 0 || pipe(from_server_) != 0) std::abort();
    server_ = std::thread([this] { lsp::serve(to_server_[0], from_server_[1]); });
    connection_.emplace(from_server_[0], to_server_[1]);
    ask("initialize", {{"capabilities", Json::object()}});
  }
  ~Editor() {
    ask("shutdown", nullptr);
    notify("exit", nullptr);
    server_.join();
    for (int end : {to_server_[0], to_server_[1], from_server_[0], from_server_[1]}) close(end);
  }
  void notify(const char* method, Json params) {
    connection_->write({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
  }
  // Returns when the answer is there.
  Json ask(const char* method, Json params) {
    connection_->write({{"jsonrpc", "2.0"}, {"id", ++id_}, {"method", method}, {"params", std::move(params)}});
    return wait([this](const Json& message) { return message.value("id", 0) == id_ && !message.contains("method"); });
  }
  template <class Wanted>
  Json wait(Wanted wanted) {
    std::string text;
    while (connection_->read(text) == lsp::Connection::Outcome::message) {
      Json message = Json::parse(text);
      if (wanted(message)) return message;
    }
    std::abort();
  }

 private:
  int to_server_[2];
  int from_server_[2];
  std::thread server_;
  std::optional<lsp::Connection> connection_;
  int id_ = 0;
};

}  // namespace

std::vector<Figure> measure_editor(const Options& options) {
  const int lines = options.smoke ? 400 : 10'000;
  const int runs = options.smoke ? 1 : 11;
  const std::string text = program(lines);
  std::vector<Figure> figures;
  const auto add_of = [&](const std::string& what, double goal, auto work) {
    std::vector<double> seconds;
    for (int i = 0; i < runs; ++i) {
      const auto before = Clock::now();
      work(i);
      seconds.push_back(seconds_since(before));
    }
    figures.push_back({what, median(seconds) * 1e3, "ms", goal, ""});
  };
  const auto add = [&](const std::string& what, double goal, auto work) {
    add_of(fmt::format("{}, {} lines", what, lines), goal, work);
  };

  add("check", 200, [&](int) {
    compiler::Facts facts;
    compiler::Options wanted;
    wanted.facts = &facts;
    const api::Compiled compiled = api::compile_text("a.tact", text, wanted);
    if (compiled.diags.has_errors())
      fmt::print(stderr, "{}", diag::render_text(compiled.diags, compiled.sources, false));
  });
  add("format", 0, [&](int) {
    diag::SourceMap sources;
    diag::Sink diags;
    const auto file = source::add("a.tact", text, sources, diags);
    if (!file || !format::format(*file, sources, diags)) std::abort();
  });

  Editor editor;
  const Json document = {{"uri", "file:///bench/a.tact"}};
  editor.notify("textDocument/didOpen",
                {{"textDocument", {{"uri", "file:///bench/a.tact"}, {"version", 0}, {"text", text}}}});
  // The last line but one is an oscillator's; every question comes right behind a change there.
  const int last = lines + 1;
  int version = 0;
  const auto change = [&] {
    const Json place = {{"line", last}, {"character", 2}};
    editor.notify("textDocument/didChange",
                  {{"textDocument", {{"uri", "file:///bench/a.tact"}, {"version", ++version}}},
                   {"contentChanges", {{{"range", {{"start", place}, {"end", place}}}, {"text", " "}}}}});
  };
  const Json params = {{"textDocument", document}, {"position", {{"line", lines / 2 + 2}, {"character", 3}}}};
  for (const char* method : {"hover", "completion", "definition"}) {
    add(fmt::format("{} behind a change", method), 50, [&](int) {
      change();
      editor.ask(fmt::format("textDocument/{}", method).c_str(), params);
    });
  }
  add("outline behind a change", 0, [&](int) {
    change();
    editor.ask("textDocument/documentSymbol", {{"textDocument", document}});
  });
  add("diagnostics behind a change", 0, [&](int) {
    change();
    editor.wait([&](const Json& message) { return message.value("method", "") == "textDocument/publishDiagnostics"; });
  });

  // One line of 50 kB: what is told of each of its names.
  const int names = options.smoke ? 1000 : 25'000;
  std::string line = "system\n  y = 1; x = y";
  for (int i = 1; i < names; ++i) line += "+y";
  const Json long_line = {{"uri", "file:///bench/line.tact"}};
  editor.notify("textDocument/didOpen",
                {{"textDocument", {{"uri", "file:///bench/line.tact"}, {"version", 0}, {"text", line + ";\n"}}}});
  const Json on_y = {{"textDocument", long_line}, {"position", {{"line", 1}, {"character", 2}}}};
  for (const char* method : {"semanticTokens/full", "documentHighlight"}) {
    add_of(fmt::format("{}, one line of {} kB", method, line.size() / 1000), 0,
           [&](int) { editor.ask(fmt::format("textDocument/{}", method).c_str(), on_y); });
  }
  return figures;
}

}  // namespace bench
