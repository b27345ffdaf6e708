// tactus: the command line.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "base/check.h"
#include "compiler/emit_llvm/jit.h"
#include "driver/command_line.h"
#include "driver/commands.h"
#include "driver/report.h"

namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

// A standard stream that came closed gets a place where nothing can be written, else the next file that is opened would
// take its number and the messages.
void occupy_standard_streams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0) (void)!open("/dev/null", O_RDONLY);
  }
}

int run_command(int argc, char** argv) {
  return std::visit(Overloaded{
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
                        [](const driver::WorkerOptions& options) { return driver::work(options); },
                    },
                    driver::parse_command_line(argc, argv));
}

// What an exception says to a person.
std::string words_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const base::CheckFailed& failed) {
    return failed.what();
  } catch (const std::bad_alloc&) {
    return "there is not enough memory for this";
  } catch (const std::exception& failure) {
    return fmt::format("internal error: {}; please report it with the model", failure.what());
  } catch (...) {
    return "internal error: an exception of an unknown kind; please report it with the model";
  }
}

// One that no thread caught, or that came where none can pass: in a destructor, under C.
[[noreturn]] void end_in_words() {
  if (const std::exception_ptr thrown = std::current_exception()) driver::say(stderr, "tactus: {}\n", words_of(thrown));
  std::fflush(stdout);
  std::_Exit(driver::exit_internal);
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_streams();
  // A reader that left and a file that may not grow are failed writes, reported as such.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::set_terminate(end_in_words);
  int exit_code = driver::exit_done;
  try {
    exit_code = run_command(argc, argv);
  } catch (...) {
    const bool json = std::any_of(argv, argv + argc, [](std::string_view word) { return word == "--json"; });
    exit_code = driver::internal_error(json, words_of(std::current_exception()));
  }
  exit_code = driver::exit_code_after_output(exit_code);
  if (emit_llvm::CompiledModel::has_left_threads()) std::_Exit(exit_code);
  return exit_code;
}
