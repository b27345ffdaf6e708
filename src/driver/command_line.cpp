#include "driver/command_line.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "base/nearest.h"
#include "driver/report.h"
#include "lsp/supervisor.h"
#include "play/rehearsal.h"
#include "runtime/sim/plan.h"

namespace driver {
namespace {

constexpr const char* main_footer = R"(Examples:
  tactus run ball.tact                          the final values
  tactus run ball.tact --plot ball.svg          a picture
  tactus play two_ball.tact                     moving in a page, under the mouse
  tactus check ball.tact                        only look for mistakes
  tactus explain ball.tact                      what the compiler made of it
  tactus format ball.tact                       lay out its text
  tactus linearize cart.tact --at equilibrium   poles, zeros, Bode and step plots
  tactus wall --preset touch --rate 1000        how stiff a wall a device can show

`tactus COMMAND --help` says more about each.
Exit codes: 0 done; 1 the model has errors; 2 usage; 3 a check was broken; 4 the run failed, all rows kept;
130 interrupted (ctrl-C), all rows kept.)";

constexpr const char* run_footer = R"(Examples:
  tactus run ball.tact --until 20 --out ball.csv --plot ball.svg
  tactus run ball.tact --set k=9 --set m=2 --show p,p'
  tactus run lorenz.tact --solver dop853 --tolerance 1e-10 --every 0.01 --out -
  tactus run two_ball.tact --device hand=file:hand.csv --json
  tactus run slip.tact --init SimSect.rc --base slip

Solvers: euler rk4 bs3 (fixed steps), bs3 tsit5 dop853 (adaptive), rosenbrock (both) and cvode (adaptive) for stiff systems.
Without --solver: rk4 when a step is given, else tsit5, and from where the system turns out stiff on a stiff one, with a note.
`bs3` and `rosenbrock` with a step and without a tolerance take fixed steps. For an adaptive solver --step is the largest step.
Without --every about 1000 rows are recorded. Rows stream to the file as they are computed; ctrl-C ends the run well.
A device's file has the time in its first column, then one column a value, linear in between; columns are matched by the
names in the header (`hand[1]` or `hand.1`), or taken in order.
--json prints one object; numbers that are not finite stand as the strings "nan", "inf", "-inf".)";

constexpr const char* check_footer = R"(Examples:
  tactus check ball.tact
  tactus check ball.phydl ball.ridl --json      files given together are one program)";

constexpr const char* explain_footer = R"(Examples:
  tactus explain ball.tact                      every stage, long ones shortened
  tactus explain ball.tact --dump=blocks        one stage, in full
  tactus explain pendulum.tact --initial        the start: given values kept, free ones found
Stages: tokens tree expanded axioms transitions model tables flat events modes blocks jumps relations ir c llvm; axioms, transitions, tables, events,
modes, jumps and relations where there are some)";

constexpr const char* format_footer = R"(Examples:
  tactus format ball.tact                       rewrites the file
  tactus format --check *.tact                  exit code 1 if one would change, and their names
  tactus format - < ball.tact                   standard input to standard output

Only blanks change: lines stay as they were broken, tokens and comments stay as they are. A file that is not read as
it stands (a stray character, an open comment) is left alone, and the reason is told.)";

constexpr const char* lsp_footer =
    R"(An editor starts it, not a person: it speaks the Language Server Protocol. docs/editors.md says how to tell
VS Code, Neovim, Helix and Emacs about it.)";

constexpr const char* plot_footer = R"(Examples:
  tactus plot run.csv                           writes run.svg
  tactus plot run.csv -o energy.png --show H,p[1])";

constexpr const char* linearize_footer = R"(Examples:
  tactus linearize motor.tact                               at the start: A, B, C, D, poles, margins
  tactus linearize cart.tact --at equilibrium --guess a=0.1 at the nearest state of rest
  tactus linearize cart.tact --at 3 --inputs F --outputs x,a  where a run of 3 seconds ends
  tactus linearize motor.tact --plot bode.svg --step-plot step.svg --csv abcd.csv

Without --inputs: all that an `external` reads. --inputs may also name parameters. Without --outputs: all that an `external` writes,
else the states. A plot whose name ends in .csv is a table of its numbers. --csv writes one table: a row for each state's
derivative and each output, a column for each state and each input.)";

constexpr const char* equilibrium_footer = R"(Examples:
  tactus equilibrium pendulum.tact                          from the start as a guess
  tactus equilibrium pendulum.tact --guess a=3              from elsewhere
  tactus equilibrium crane.tact --free F --guess F=100      which force holds it?
  tactus equilibrium pendulum.tact --all --json             all that are found from many guesses

Exit code 4 when there is none: then the closest point is told, and what does not come to rest there.)";

constexpr const char* play_footer = R"(Examples:
  tactus play examples/two_ball.tact                        in a page, under the mouse
  tactus play pendulum.tact --speed 0.25 --set l=2
  tactus play two_ball.tact --headless --for 10 --json      no page: how well the loop keeps its time

Prints the page's address, which works once and only on this machine, and opens it where there is a screen. The text can be edited in the
page; nothing is written to the file until it is saved there. Ctrl-C ends the world and tells how the loop kept its time.)";

constexpr const char* wall_footer = R"(Examples:
  tactus wall --preset touch --rate 1000 --delay 1 --out wall.svg
  tactus wall --mass 0.1 --damping 0.5 --delay 1            a device of 100 g without friction
  tactus wall --preset falcon --guard --csv wall.csv        with the passivity controller before the hand
  tactus wall --preset omega --arm 0.15,3,400 --unilateral  held against a wall of one side
  tactus wall --list-presets

A virtual wall pushes back with K x + B v, computed from samples and held from tick to tick: too stiff, and it shakes. For each
damping B the largest stiffness K: `passive` whoever holds the device; `theory` (b + B) / (T/2 + t_d); `linear` by the eigenvalues of
the sampled loop; `simulated` with friction and encoder, where the amplitude begins to grow. docs/walls.md explains.
All is in SI units. The same command prints the same digits.)";

constexpr const char* export_footer = R"(Examples:
  tactus export c ball.tact -o ball_c           ball_c/ball.c, ball.h, Makefile
  make -C ball_c && ball_c/ball > run.csv)";

// Adds --set, which several commands take.
void add_set(CLI::App& command, std::vector<std::string>& set) {
  command.add_option("--set", set, "give a parameter or constant another value: --set k=9")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

// Adds --allow, which every command that compiles takes.
void add_allow(CLI::App& command, std::vector<std::string>& allow) {
  command
      .add_option("--allow", allow,
                  "let the model read there, too; without it, only in its own folder. May be repeated")
      ->type_name("PATH")
      ->allow_extra_args(false)
      ->check(CLI::Validator(
          [](std::string& path) {
            std::error_code error;
            return std::filesystem::exists(path, error) ? std::string()
                                                        : fmt::format("there is no folder or file `{}`", path);
          },
          "PATH"));
}

void add_files(CLI::App& command, std::vector<std::string>& files, std::vector<std::string>& allow) {
  command.add_option("files", files, "the model: .tact, or .phydl and .ridl together")->required()->type_name("FILE..");
  add_allow(command, allow);
}

// What says where a model is looked at.
void add_point(CLI::App& command, PointOptions& point) {
  add_files(command, point.files, point.allow);
  add_set(command, point.set);
  command.add_option("--hold", point.hold, "keep an input at this value; one that nothing feeds is 0")
      ->type_name("INPUT=VALUE")
      ->allow_extra_args(false);
  command.add_option("--device", point.devices, "what stands behind an `external`: --device hand=file:hand.csv")
      ->type_name("NAME=KIND:ARG")
      ->allow_extra_args(false);
  command.add_option("--free", point.free, "inputs and parameters that the state of rest may choose")
      ->type_name("u,k")
      ->allow_extra_args(false);
  command.add_option("--guess", point.guess, "where the search for rest begins; the start when not given")
      ->type_name("STATE=VALUE")
      ->allow_extra_args(false);
  command.add_flag("--json", point.json, "print one JSON object");
  command.add_flag("--quiet", point.quiet, "print nothing but errors");
}

// A number from `low` to `high`; what is none, such as `nan`, is neither. (CLI::Range lets it pass.)
CLI::Validator within(double low, double high) {
  const std::string range =
      std::isinf(high) ? fmt::format("of at least {}", low) : fmt::format("between {} and {}", low, high);
  return CLI::Validator(
      [=](std::string& word) {
        char* end = nullptr;
        const double value = std::strtod(word.c_str(), &end);
        const bool is_number = end != word.c_str() && *end == '\0' && std::isfinite(value);
        return is_number && value >= low && value <= high ? std::string()
                                                          : fmt::format("`{}` is not a number {}", word, range);
      },
      std::isinf(high) ? std::string("NONNEGATIVE") : fmt::format("FLOAT in [{} - {}]", low, high));
}

bool wants_json(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

// "tactus export c"
std::string full_name(const CLI::App& command) {
  std::string name = command.get_name();
  for (const CLI::App* parent = command.get_parent(); parent; parent = parent->get_parent())
    name = parent->get_name() + " " + name;
  return name;
}

// The option's name that was probably meant, of the command that was reached.
std::string hint_for_option(const CLI::App& command, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  std::string bare = word.substr(0, word.find('='));
  if (auto near = base::nearest(bare, names)) return fmt::format("did you mean {}?", *near);
  return fmt::format("`{} --help` lists the options", full_name(command));
}

// What CLI11 found wrong, in our words: it tells of the mistake only by its own text.
int tell_parse_error(bool json, const CLI::App& command, const CLI::ParseError& error) {
  const std::string text = error.what();
  const std::string help = fmt::format("`{} --help` shows examples", full_name(command));
  const std::string option = text.substr(0, text.find_first_of(": "));
  constexpr std::string_view unread = "Could not convert: ";
  if (std::size_t equals = text.find(" = "); text.starts_with(unread) && equals != text.npos) {
    std::string name = text.substr(unread.size(), equals - unread.size()), value = text.substr(equals + 3);
    const CLI::Option* found = command.get_option_no_throw(name);
    if (found && found->get_expected_max() == 0) return usage_error(json, fmt::format("{} takes no value", name), help);
    double number = 0;
    const char* what = CLI::detail::lexical_cast(value, number) ? "whole number in digits" : "number";
    return usage_error(json, fmt::format("`{}` is not a {}, which {} needs", value, what, name), help);
  }
  if (text.find(": At Most 1 required") != text.npos)
    return usage_error(json, fmt::format("{} is given more than once", option), "give it once");
  if (text.ends_with(" missing")) return usage_error(json, fmt::format("{} needs a value", option), help);
  if (text == "files is required") return usage_error(json, "no model is named", help);
  if (text == "table is required") return usage_error(json, "no table is named: which rows are to be drawn?", help);
  if (text == "--out is required")
    return usage_error(json, "--out is missing: the folder that is to be written", "such as -o ball_c; " + help);
  return usage_error(json, text, help);
}

// `tactus export` without a form that it knows.
int tell_export_forms(bool json, int argc, const char* const* argv) {
  int at = 1;
  while (at < argc && std::string_view(argv[at]) != "export") ++at;
  for (++at; at < argc; ++at) {
    if (argv[at][0] != '-')
      return usage_error(json, fmt::format("a model cannot be exported as `{}`: only `c` is known", argv[at]),
                         "such as `tactus export c ball.tact -o ball_c`");
  }
  return usage_error(json, "it is not said as what to export: only `c` is known",
                     "such as `tactus export c ball.tact -o ball_c`");
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  if (argc == 2 && argv[1] == std::string_view(::play::rehearsing_word))
    return WorkerOptions{WorkerOptions::Kind::rehearses_edits, {}};
  if (argc >= 2 && argv[1] == std::string_view(::lsp::serving_word))
    return WorkerOptions{WorkerOptions::Kind::serves_an_editor, {argv + 2, argv + argc}};
  CLI::App app{"Tactus: from equations to touch. Compiles a text of equations to machine code and runs it.", "tactus"};
  app.footer(main_footer);
  app.set_version_flag("--version", std::string("tactus ") + TACTUS_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);

  RunOptions run;
  CLI::App* run_command = app.add_subcommand("run", "run a model");
  run_command->footer(run_footer);
  add_files(*run_command, run.files, run.allow);
  run_command->add_option("--until", run.until, "the time at which the run ends")->type_name("T");
  add_set(*run_command, run.set);
  run_command->add_option("--solver", run.solver, "euler, rk4, bs3, tsit5, dop853, rosenbrock or cvode")
      ->type_name("S");
  run_command->add_option("--step", run.step, "the fixed step, or an adaptive solver's largest")->type_name("H");
  run_command->add_option("--tolerance", run.tolerance, "of an adaptive solver; 1e-6 when none is given")
      ->type_name("E");
  run_command->add_option("--every", run.every, "record a row every DT seconds")->type_name("DT");
  run_command->add_option("--show", run.show, "what to record and show: p, p', p[1]; all that moves when not given")
      ->type_name("a,b")
      ->allow_extra_args(false);
  run_command->add_option("-o,--out", run.out, "write the rows there; `-`: standard output")->type_name("run.csv");
  run_command->add_option("--plot", run.plot, "draw them: .svg, .png or .pdf")
      ->type_name("run.svg")
      ->allow_extra_args(false);
  run_command->add_option("--device", run.devices, "what stands behind an `external`: --device hand=file:hand.csv")
      ->type_name("NAME=KIND:ARG")
      ->allow_extra_args(false);
  run_command->add_option("--init", run.init, "SimSect's initialisation file: settings, parameters, starts")
      ->type_name("FILE")
      ->allow_extra_args(false);
  run_command->add_option("--base", run.base, "write SimSect's files NAME.data, NAME.initial, NAME.param")
      ->type_name("NAME");
  run_command->add_flag("--monitor-axioms", run.monitor_axioms,
                        "watch what jumps, sequences and plans promise (explain --axioms), like checks");
  run_command->add_flag("--json", run.json, "print one JSON object");
  run_command->add_flag("--quiet", run.quiet, "print nothing but errors");

  CheckOptions check;
  CLI::App* check_command = app.add_subcommand("check", "look for mistakes, run nothing");
  check_command->footer(check_footer);
  add_files(*check_command, check.files, check.allow);
  add_set(*check_command, check.set);
  check_command->add_option("--rate", check.rate, "whether it keeps up with so many ticks a second")
      ->type_name("HZ")
      ->check(within(1, 100000));
  check_command
      ->add_option("--proof-time", check.proof_time,
                   "seconds for each pair of transitions that could disagree, 4 when not given; 0: none is asked about")
      ->type_name("S")
      ->check(within(0, 3600));
  check_command->add_flag("--json", check.json, "print one JSON object");
  check_command->add_flag("--quiet", check.quiet, "print nothing but errors");

  ExplainOptions explain;
  CLI::App* explain_command = app.add_subcommand("explain", "show what each stage of the compiler made");
  explain_command->footer(explain_footer);
  add_files(*explain_command, explain.files, explain.allow);
  add_set(*explain_command, explain.set);
  explain_command->add_option("--dump", explain.dump, "print this stage alone, in full")->type_name("STAGE");
  explain_command->add_flag("--initial", explain.initial, "show the start instead: what is given, found, follows");
  explain_command->add_flag_callback(
      "--axioms", [&explain] { explain.dump = "axioms"; },
      "show jumps, sequences and plans as formulas (--dump=axioms)");
  explain_command->add_flag("--json", explain.json, "print one JSON object");

  FormatOptions format;
  CLI::App* format_command = app.add_subcommand("format", "lay out a model's text");
  format_command->footer(format_footer);
  format_command->add_option("files", format.files, "texts: .tact, .phydl, .ridl; `-`: standard input")
      ->required()
      ->type_name("FILE..");
  format_command->add_flag("--check", format.check, "write nothing; name the files that would change");
  format_command->add_flag("--stdout", format.to_stdout, "print the result, leave the files alone");
  format_command->add_option("--name", format.name, "what standard input is called: its ending says how it is read")
      ->type_name("NAME");
  format_command->add_flag("--json", format.json, "print one JSON object");
  format_command->add_flag("--quiet", format.quiet, "print nothing but errors");

  LspOptions lsp;
  CLI::App* lsp_command =
      app.add_subcommand("lsp", "serve an editor: the language server, on standard input and output");
  lsp_command->footer(lsp_footer);
  add_allow(*lsp_command, lsp.allow);
  lsp_command->add_flag("--stdio", lsp.stdio, "on standard input and output; editors that say so are understood");

  PlotOptions plot;
  CLI::App* plot_command = app.add_subcommand("plot", "draw the rows of a run");
  plot_command->footer(plot_footer);
  plot_command->add_option("table", plot.table, "a CSV file; its first column is the time")
      ->required()
      ->type_name("run.csv");
  plot_command->add_option("-o,--out", plot.out, "the picture: .svg, .png or .pdf")->type_name("run.svg");
  plot_command->add_option("--show", plot.show, "the columns to draw: p, p[1]")
      ->type_name("a,b")
      ->allow_extra_args(false);
  plot_command->add_flag("--json", plot.json, "print one JSON object");
  plot_command->add_flag("--quiet", plot.quiet, "print nothing but errors");

  LinearizeOptions linearize;
  CLI::App* linearize_command =
      app.add_subcommand("linearize", "the linear system at one instant: A, B, C, D, poles, Bode, step");
  linearize_command->footer(linearize_footer);
  linearize_command->add_option("--at", linearize.at, "a time to run to, or `equilibrium`; the start when not given")
      ->type_name("T");
  linearize_command->add_option("--inputs", linearize.inputs, "inputs and parameters that move it: u, p[1], k")
      ->type_name("a,b")
      ->allow_extra_args(false);
  linearize_command->add_option("--outputs", linearize.outputs, "what is looked at: x, x', p[1]")
      ->type_name("a,b")
      ->allow_extra_args(false);
  linearize_command->add_option("--csv", linearize.csv, "write A, B, C and D as one table")->type_name("abcd.csv");
  linearize_command->add_option("--plot", linearize.plot, "draw the Bode plot: .svg, .png, .pdf; .csv: its numbers")
      ->type_name("bode.svg")
      ->allow_extra_args(false);
  linearize_command->add_option("--step-plot", linearize.step_plot, "draw the step response; the same endings")
      ->type_name("step.svg")
      ->allow_extra_args(false);
  add_point(*linearize_command, linearize.point);

  EquilibriumOptions equilibrium;
  CLI::App* equilibrium_command = app.add_subcommand("equilibrium", "find a state of rest");
  equilibrium_command->footer(equilibrium_footer);
  equilibrium_command->add_flag("--all", equilibrium.all, "look from many guesses, and list all that are found");
  equilibrium_command->add_option("--csv", equilibrium.csv, "write names and values")->type_name("rest.csv");
  add_point(*equilibrium_command, equilibrium.point);

  CLI::App* export_command = app.add_subcommand("export", "let a compiled model leave the house");
  export_command->require_subcommand(1);
  export_command->footer(export_footer);
  PlayOptions play;
  CLI::App* play_command = app.add_subcommand("play", "run a model with the clock, in a page, under the mouse");
  play_command->footer(play_footer);
  add_files(*play_command, play.files, play.allow);
  add_set(*play_command, play.set);
  play_command->add_option("--rate", play.rate, "ticks a second; as the text says, else 1000, when not given")
      ->type_name("HZ")
      ->check(within(10, 20000));
  play_command
      ->add_option("--device", play.devices,
                   "what stands behind the hand in a person's place: --device hand=simulated:touch")
      ->type_name("NAME=KIND:..");
  play_command->add_option("--speed", play.speed, "seconds of the world a second of the clock")
      ->type_name("S")
      ->check(within(0.01, 100));
  play_command->add_flag("--paused", play.paused, "begin paused");
  play_command->add_option("--port", play.port, "where the page is; any that is free when not given")
      ->type_name("PORT")
      ->check(CLI::Range(0, 65535));
  play_command->add_flag("--no-browser", play.no_browser, "only print the page's address");
  play_command->add_flag("--headless", play.headless, "without a page");
  play_command->add_option("--for", play.seconds, "end after so many seconds")
      ->type_name("SECONDS")
      ->check(within(0, HUGE_VAL));
  play_command->add_option("--spin", play.spin, "wait awake for so long before each tick")
      ->type_name("US")
      ->check(within(0, 1000));
  play_command->add_flag("--normal-priority", play.normal_priority, "without real-time priority and locked memory");
  play_command->add_flag("--json", play.json, "print JSON");
  play_command->add_flag("--quiet", play.quiet, "print nothing but the address and errors");

  WallOptions wall;
  CLI::App* wall_command =
      app.add_subcommand("wall", "the largest stable stiffness of a virtual wall, by theory and in simulated time");
  wall_command->footer(wall_footer);
  wall_command->add_option("--preset", wall.preset, "a device by name; --list-presets tells which there are")
      ->type_name("NAME");
  wall_command->add_flag("--list-presets", wall.list_presets, "print the devices that are known, and end");
  wall_command->add_option("--rate", wall.rate, "ticks a second; 1000 when not given")->type_name("HZ");
  wall_command->add_option("--delay", wall.delay, "ticks from a force to its effect; 0 when not given")
      ->type_name("TICKS");
  wall_command->add_option("--mass", wall.mass, "of the device, as felt at its handle")->type_name("KG");
  wall_command->add_option("--damping", wall.damping, "viscous, of the device")->type_name("NS/M");
  wall_command->add_option("--coulomb", wall.coulomb, "friction that does not depend on speed")->type_name("N");
  wall_command->add_option("--encoder", wall.encoder, "one step of the encoder; 0: exact")->type_name("M");
  wall_command->add_option("--force-limit", wall.force_limit, "the largest force of the device")->type_name("N");
  wall_command->add_option("--arm", wall.arm, "holds the device: mass, damping, stiffness")
      ->delimiter(',')
      ->type_name("KG,NS/M,N/M")
      ->allow_extra_args(false);
  wall_command->add_option("--amplitude", wall.amplitude, "from where the device is let go; 0.001 when not given")
      ->type_name("M");
  wall_command->add_flag("--unilateral", wall.unilateral, "a wall of one side, the arm leaning on it; needs --arm");
  wall_command->add_option("--push", wall.push, "with how much it leans; 1 when not given")->type_name("N");
  wall_command->add_option("--at", wall.at, "at these dampings of the wall; 17 of them when not given")
      ->delimiter(',')
      ->type_name("B,B")
      ->allow_extra_args(false);
  wall_command->add_flag("--guard", wall.guard, "also with a passivity controller between wall and device");
  wall_command->add_option("-o,--out", wall.out, "draw it: .svg, .png or .pdf")
      ->type_name("wall.svg")
      ->allow_extra_args(false);
  wall_command->add_option("--csv", wall.csv, "write the table there")->type_name("wall.csv");
  wall_command->add_flag("--json", wall.json, "print one JSON object");
  wall_command->add_flag("--quiet", wall.quiet, "print nothing but errors");

  ExportCOptions export_c;
  CLI::App* export_c_command = export_command->add_subcommand("c", "as C: one .c, one .h, a Makefile");
  export_c_command->footer(export_footer);
  add_files(*export_c_command, export_c.files, export_c.allow);
  add_set(*export_c_command, export_c.set);
  export_c_command->add_option("-o,--out", export_c.directory, "the folder, created when missing")
      ->required()
      ->type_name("DIR");
  export_c_command->add_option("--name", export_c.name, "base name of the files; the first file's when not given")
      ->type_name("NAME");
  export_c_command->add_flag("--json", export_c.json, "print one JSON object");
  export_c_command->add_flag("--quiet", export_c.quiet, "print nothing but errors");

  // The innermost command that was reached: its help, its options.
  auto reached = [&]() -> const CLI::App& {
    const CLI::App* command = &app;
    for (auto inner = command->get_subcommands(); !inner.empty(); inner = command->get_subcommands())
      command = inner.front();
    return *command;
  };
  bool json = wants_json(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const CLI::App& command = reached();
    std::string before;  // "tactus export" for `c`
    for (const CLI::App* parent = command.get_parent(); parent; parent = parent->get_parent())
      before = before.empty() ? parent->get_name() : parent->get_name() + " " + before;
    say(stdout, "{}", command.help(before));
    return Finished{};
  } catch (const CLI::CallForAllHelp&) {
    say(stdout, "{}", app.help("", CLI::AppFormatMode::All));
    return Finished{};
  } catch (const CLI::CallForVersion& version) {
    say(stdout, "{}\n", version.what());
    return Finished{};
  } catch (const CLI::ExtrasError&) {
    // The first word nobody knows: an option, or a command.
    auto words = app.remaining(true);
    std::string word = words.empty() ? "" : words.front();
    const CLI::App& command = reached();
    if (!word.empty() && word.front() == '-')
      return Finished{usage_error(json, fmt::format("there is no option `{}`", word), hint_for_option(command, word))};
    return Finished{
        usage_error(json, fmt::format("`{}` is not expected here", word), "`tactus --help` lists the commands")};
  } catch (const CLI::RequiredError& error) {
    const CLI::App& command = reached();
    if (&command == &app) {
      std::string word = argc > 1 ? argv[1] : "";
      std::vector<std::string> names = {"run",       "check",       "explain", "format", "lsp",   "plot",
                                        "linearize", "equilibrium", "play",    "wall",   "export"};
      if (word.empty())
        return Finished{
            usage_error(json, "a command is missing", "such as `tactus run model.tact`; `tactus --help` lists them")};
      auto near = base::nearest(word, names);
      if (word.front() == '-')
        return Finished{usage_error(json, fmt::format("there is no option `{}` without a command", word),
                                    "`tactus --help` lists the commands")};
      return Finished{
          usage_error(json, fmt::format("there is no command `{}`", word),
                      near ? fmt::format("did you mean `tactus {}`?", *near) : "`tactus --help` lists them")};
    }
    if (&command == export_command) return Finished{tell_export_forms(json, argc, argv)};
    return Finished{tell_parse_error(json, command, error)};
  } catch (const CLI::ParseError& error) {
    return Finished{tell_parse_error(json, reached(), error)};
  }

  if (*run_command) return run;
  if (*check_command) return check;
  if (*explain_command) return explain;
  if (*format_command) return format;
  if (*lsp_command) return lsp;
  if (*plot_command) return plot;
  if (*linearize_command) return linearize;
  if (*equilibrium_command) return equilibrium;
  if (*play_command) return play;
  if (*wall_command) return wall;
  return export_c;
}

}  // namespace driver
