// The language server: the editor's requests in, answers and diagnostics out (Language Server Protocol 3.17 over JSON-RPC 2.0).
//
// Three threads. One reads messages, so that a request can be cancelled while it waits. One answers them, in their order, from
// the names of the text as it is now. One compiles: it takes the newest text of a document once the editor has been quiet for a
// moment, so typing never queues up work, and answers never wait for the compiler.
#pragma once

#include <string>
#include <vector>

namespace lsp {

// Serves until the editor says `exit` or closes the stream. The exit code: 0 behind a `shutdown`, else 1.
// To a supervisor (supervisor.h) it also reports what it compiles. `allow`: folders and files that documents may read besides what lies in
// their own folders; the editor can name more (`initializationOptions.allow`).
enum class Reports { nothing, compilations };
int serve(int input, int output, Reports reports = Reports::nothing, std::vector<std::string> allow = {});

}  // namespace lsp
