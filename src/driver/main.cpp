// tactus: the command line.
#include <csignal>

#include "driver/command_line.h"
#include "driver/commands.h"

namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that left is a failed write, reported as such
  return std::visit(Overloaded{
                        [](const driver::Finished& finished) { return finished.exit_code; },
                        [](const driver::RunOptions& options) { return driver::run(options); },
                        [](const driver::CheckOptions& options) { return driver::check(options); },
                        [](const driver::ExplainOptions& options) { return driver::explain(options); },
                        [](const driver::PlotOptions& options) { return driver::plot(options); },
                        [](const driver::ExportCOptions& options) { return driver::export_c(options); },
                    },
                    driver::parse_command_line(argc, argv));
}
