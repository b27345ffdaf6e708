// The commands: each an options struct, filled by command_line.cpp, and one function that returns the exit code. One file a
// command.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace driver {

// Exit codes of the program (architecture, section 6).
enum ExitCode : int {
  exit_done = 0,
  exit_model_errors = 1,
  exit_usage = 2,
  exit_check_broken = 3,
  exit_run_failed = 4,
  exit_interrupted = 130,  // 128 + SIGINT, as shells count
};

struct RunOptions {
  std::vector<std::string> files;
  std::optional<double> until;
  std::vector<std::string> set;  // "name=value"
  std::string solver;
  std::optional<double> step;
  std::optional<double> tolerance;
  std::optional<double> every;
  std::vector<std::string> show;     // each "a,b"
  std::string out;                   // "-": standard output
  std::vector<std::string> plot;     // .svg, .png, .pdf
  std::vector<std::string> devices;  // "NAME=KIND:ARGUMENT"
  bool json = false;
  bool quiet = false;
};
int run(const RunOptions& options);

struct CheckOptions {
  std::vector<std::string> files;
  std::vector<std::string> set;
  bool json = false;
  bool quiet = false;
};
int check(const CheckOptions& options);

struct ExplainOptions {
  std::vector<std::string> files;
  std::vector<std::string> set;
  std::string dump;      // a stage; empty: all, for people
  bool initial = false;  // the start instead: given, found, following
  bool json = false;
};
int explain(const ExplainOptions& options);

struct FormatOptions {
  std::vector<std::string> files;  // "-": standard input, to standard output
  std::string name;                // of standard input; its ending says which words are reserved
  bool check = false;              // write nothing, say which files would change
  bool to_stdout = false;
  bool json = false;
  bool quiet = false;
};
int format(const FormatOptions& options);

// The language server, on standard input and output.
struct LspOptions {
  bool stdio = true;  // the only way; editors say it aloud
};
int lsp(const LspOptions& options);

struct PlotOptions {
  std::string table;  // a CSV file
  std::string out;    // empty: the table's name with .svg
  std::vector<std::string> show;
  bool json = false;
  bool quiet = false;
};
int plot(const PlotOptions& options);

struct ExportCOptions {
  std::vector<std::string> files;
  std::vector<std::string> set;
  std::string directory;
  std::string name;  // empty: the first file's, without its ending
  bool json = false;
  bool quiet = false;
};
int export_c(const ExportCOptions& options);

}  // namespace driver
