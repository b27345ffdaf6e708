// The language server: the editor's requests in, answers and diagnostics out (Language Server Protocol 3.17 over JSON-RPC 2.0).
//
// Three threads. One reads messages, so that a request can be cancelled while it waits. One answers them, in their order, from
// the names of the text as it is now. One compiles: it takes the newest text of a document once the editor has been quiet for a
// moment, so typing never queues up work, and answers never wait for the compiler.
#pragma once

namespace lsp {

// Serves until the editor says `exit` or closes the stream. The exit code: 0 behind a `shutdown`, else 1.
int serve(int input, int output);

}  // namespace lsp
