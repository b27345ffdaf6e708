// What an editor is connected with: it passes messages on to a worker, this program once more, which does all that reads a text (server.h). A
// text that crashes the worker, or takes it longer or more memory than bounds allow, is said to be so; the worker is started again with the
// documents that are open, and the text is kept from it until it changes. The supervisor itself knows JSON, and where a change goes in a text.
//
//   editor --requests, changes--> supervisor --the same--> worker
//   editor <--answers, diagnostics-- supervisor <--the same, and what it compiles-- worker
//
// A request that is cancelled is answered at once, whatever the worker does.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lsp {

// The worker's command: `tactus` with this word, and what is allowed behind it.
inline constexpr const char* serving_word = "serve-editor";

// Serves until the editor says `exit` or closes the stream. The exit code: 0 behind a `shutdown`, else 1.
// `allow`: as lsp::serve takes it.
int supervise(int input, int output, const std::vector<std::string>& allow = {},
              const std::string& program = "/proc/self/exe");

// At the beginning of a text: the compiler ended on it.
[[nodiscard]] nlohmann::json stopped_diagnostic(const std::string& why);

}  // namespace lsp
