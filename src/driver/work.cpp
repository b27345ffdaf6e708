// The children of `tactus play` and `tactus lsp`: texts in, verdicts or answers out, on standard input and output.
#include <unistd.h>

#include "driver/commands.h"
#include "lsp/server.h"
#include "play/rehearsal.h"
#include "process/worker.h"

namespace driver {

int work(const WorkerOptions& options) {
  process::spring_traps("beginning");
  if (options.kind == WorkerOptions::Kind::rehearses_edits) return ::play::rehearse_edits(STDIN_FILENO, STDOUT_FILENO);
  process::become_worker();
  return ::lsp::serve(STDIN_FILENO, STDOUT_FILENO, ::lsp::Reports::compilations, options.allow);
}

}  // namespace driver
