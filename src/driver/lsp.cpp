// tactus lsp: the language server, for editors.
#include <unistd.h>

#include "driver/commands.h"
#include "lsp/server.h"

namespace driver {

int lsp(const LspOptions&) { return ::lsp::serve(STDIN_FILENO, STDOUT_FILENO); }

}  // namespace driver
