// tactus lsp: the language server, for editors.
#include <unistd.h>

#include "driver/commands.h"
#include "lsp/supervisor.h"

namespace driver {

int lsp(const LspOptions& options) { return ::lsp::supervise(STDIN_FILENO, STDOUT_FILENO, options.allow); }

}  // namespace driver
