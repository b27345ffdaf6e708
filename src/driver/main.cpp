// tactus: the command line.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "driver/command_line.h"
#include "driver/commands.h"
#include "driver/report.h"

namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

// A standard stream that came closed gets a place where nothing can be written, else the next file that is opened would take
// its number and the messages.
void occupy_standard_streams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0) (void)!open("/dev/null", O_RDONLY);
  }
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a reader that left is a failed write, reported as such
  int exit_code = std::visit(Overloaded{
                                 [](const driver::Finished& finished) { return finished.exit_code; },
                                 [](const driver::RunOptions& options) { return driver::run(options); },
                                 [](const driver::CheckOptions& options) { return driver::check(options); },
                                 [](const driver::ExplainOptions& options) { return driver::explain(options); },
                                 [](const driver::FormatOptions& options) { return driver::format(options); },
                                 [](const driver::LspOptions& options) { return driver::lsp(options); },
                                 [](const driver::PlotOptions& options) { return driver::plot(options); },
                                 [](const driver::LinearizeOptions& options) { return driver::linearize(options); },
                                 [](const driver::EquilibriumOptions& options) { return driver::equilibrium(options); },
                                 [](const driver::PlayOptions& options) { return driver::play(options); },
                                 [](const driver::WallOptions& options) { return driver::wall(options); },
                                 [](const driver::ExportCOptions& options) { return driver::export_c(options); },
                             },
                             driver::parse_command_line(argc, argv));
  return driver::exit_code_after_output(exit_code);
}
