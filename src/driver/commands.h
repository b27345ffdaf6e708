// The commands: each an options struct, filled by command_line.cpp, and one function that returns the exit code. One
// file a command.
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
  exit_internal = 70,      // a mistake of ours, or no memory is left (EX_SOFTWARE of sysexits.h)
  exit_interrupted = 130,  // 128 + SIGINT, as shells count
};

struct RunOptions {
  std::vector<std::string> files;
  std::vector<std::string> allow;  // more folders and files that the model may read
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
  std::vector<std::string> init;     // SimSect's initialisation files
  std::string base;                  // SimSect's output files: base.data, base.initial, base.param
  bool monitor_axioms = false;       // the axioms of jumps, sequences and plans are checks, too
  bool json = false;
  bool quiet = false;
};
int run(const RunOptions& options);

struct CheckOptions {
  std::vector<std::string> files;
  std::vector<std::string> allow;  // more folders and files that the model may read
  std::vector<std::string> set;
  std::optional<double> rate;        // ticks a second that it has to keep
  std::optional<double> proof_time;  // seconds for each pair of transitions; 0: none is asked about
  bool json = false;
  bool quiet = false;
};
int check(const CheckOptions& options);

struct ExplainOptions {
  std::vector<std::string> files;
  std::vector<std::string> allow;  // more folders and files that the model may read
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
  bool stdio = true;               // the only way; editors say it aloud
  std::vector<std::string> allow;  // more folders and files that the model may read
};
int lsp(const LspOptions& options);

// What other commands start as children of theirs; no person types it.
struct WorkerOptions {
  enum class Kind { rehearses_edits, serves_an_editor } kind = Kind::rehearses_edits;
  std::vector<std::string> allow;  // of an editor's worker
};
int work(const WorkerOptions& options);

struct PlotOptions {
  std::string table;  // a CSV file
  std::string out;    // empty: the table's name with .svg
  std::vector<std::string> show;
  bool json = false;
  bool quiet = false;
};
int plot(const PlotOptions& options);

// Where a model is looked at: what linearize and equilibrium share.
struct PointOptions {
  std::vector<std::string> files;
  std::vector<std::string> allow;  // more folders and files that the model may read
  std::vector<std::string> set;
  std::vector<std::string> devices;
  std::vector<std::string> hold;   // "input=value"
  std::vector<std::string> free;   // each "u,k": inputs and parameters that a state of rest may choose
  std::vector<std::string> guess;  // "state=value": where its search begins
  bool json = false;
  bool quiet = false;
};

struct LinearizeOptions {
  PointOptions point;
  std::string at;  // a time, or "equilibrium"; empty: the start
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::string csv;
  std::vector<std::string> plot;       // Bode: .svg, .png, .pdf, or .csv for the numbers
  std::vector<std::string> step_plot;  // the same of the step response
};
int linearize(const LinearizeOptions& options);

struct EquilibriumOptions {
  PointOptions point;
  bool all = false;
  std::string csv;
};
int equilibrium(const EquilibriumOptions& options);

struct PlayOptions {
  std::vector<std::string> files;
  std::vector<std::string> allow;  // more folders and files that the model may read
  std::vector<std::string> set;
  std::optional<double> rate;  // ticks a second
  std::vector<std::string> devices;
  double speed = 1;
  double spin = 0;  // us
  int port = 0;     // 0: any
  bool headless = false;
  std::optional<double> seconds;  // --for
  bool paused = false;
  bool no_browser = false;
  bool normal_priority = false;
  bool json = false;
  bool quiet = false;
};
int play(const PlayOptions& options);

struct WallOptions {
  std::string preset;
  std::optional<double> mass, damping, coulomb, encoder, force_limit;  // of the device, SI
  std::vector<double> arm;                                             // mass, damping, stiffness
  double rate = 1000;
  int delay = 0;  // ticks
  double amplitude = 1e-3;
  bool unilateral = false;
  double push = 1;
  std::vector<double> at;  // dampings of the wall
  bool guard = false;
  std::vector<std::string> out;  // .svg, .png, .pdf
  std::string csv;
  bool list_presets = false;
  bool json = false;
  bool quiet = false;
};
int wall(const WallOptions& options);

struct ExportCOptions {
  std::vector<std::string> files;
  std::vector<std::string> allow;  // more folders and files that the model may read
  std::vector<std::string> set;
  std::string directory;
  std::string name;  // empty: the first file's, without its ending
  bool json = false;
  bool quiet = false;
};
int export_c(const ExportCOptions& options);

}  // namespace driver
