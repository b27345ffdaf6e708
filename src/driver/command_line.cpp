#include "driver/command_line.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "base/nearest.h"
#include "driver/report.h"
#include "runtime/sim/plan.h"

namespace driver {
namespace {

constexpr const char* main_footer = R"(Examples:
  tactus run ball.tact                          the final values
  tactus run ball.tact --plot ball.svg          a picture
  tactus check ball.tact                        only look for mistakes
  tactus explain ball.tact                      what the compiler made of it
  tactus format ball.tact                       lay out its text

`tactus COMMAND --help` says more about each.
Exit codes: 0 done; 1 the model has errors; 2 usage; 3 a check was broken; 4 the run failed, all rows kept;
130 interrupted (ctrl-C), all rows kept.)";

constexpr const char* run_footer = R"(Examples:
  tactus run ball.tact --until 20 --out ball.csv --plot ball.svg
  tactus run ball.tact --set k=9 --set m=2 --show p,p'
  tactus run lorenz.tact --solver dop853 --tolerance 1e-10 --every 0.01 --out -
  tactus run two_ball.tact --device hand=file:hand.csv --json

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
Stages: tokens tree expanded model tables flat events blocks relations ir c llvm; tables, events and relations where there are some)";

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

constexpr const char* export_footer = R"(Examples:
  tactus export c ball.tact -o ball_c           ball_c/ball.c, ball.h, Makefile
  make -C ball_c && ball_c/ball > run.csv)";

// Adds --set, which several commands take.
void add_set(CLI::App& command, std::vector<std::string>& set) {
  command.add_option("--set", set, "give a parameter or constant another value: --set k=9")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

void add_files(CLI::App& command, std::vector<std::string>& files) {
  command.add_option("files", files, "the model: .tact, or .phydl and .ridl together")->required()->type_name("FILE..");
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
    return usage_error(json, fmt::format("`{}` is not a number, which {} needs", value, name), help);
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
  CLI::App app{"Tactus: from equations to touch. Compiles a text of equations to machine code and runs it.", "tactus"};
  app.footer(main_footer);
  app.set_version_flag("--version", std::string("tactus ") + TACTUS_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);

  RunOptions run;
  CLI::App* run_command = app.add_subcommand("run", "run a model");
  run_command->footer(run_footer);
  add_files(*run_command, run.files);
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
  run_command->add_option("--out", run.out, "write the rows there; `-`: standard output")->type_name("run.csv");
  run_command->add_option("--plot", run.plot, "draw them: .svg, .png or .pdf")
      ->type_name("run.svg")
      ->allow_extra_args(false);
  run_command->add_option("--device", run.devices, "what stands behind an `external`: --device hand=file:hand.csv")
      ->type_name("NAME=KIND:ARG")
      ->allow_extra_args(false);
  run_command->add_flag("--json", run.json, "print one JSON object");
  run_command->add_flag("--quiet", run.quiet, "print nothing but errors");

  CheckOptions check;
  CLI::App* check_command = app.add_subcommand("check", "look for mistakes, run nothing");
  check_command->footer(check_footer);
  add_files(*check_command, check.files);
  add_set(*check_command, check.set);
  check_command->add_flag("--json", check.json, "print one JSON object");
  check_command->add_flag("--quiet", check.quiet, "print nothing but errors");

  ExplainOptions explain;
  CLI::App* explain_command = app.add_subcommand("explain", "show what each stage of the compiler made");
  explain_command->footer(explain_footer);
  add_files(*explain_command, explain.files);
  add_set(*explain_command, explain.set);
  explain_command->add_option("--dump", explain.dump, "print this stage alone, in full")->type_name("STAGE");
  explain_command->add_flag("--initial", explain.initial, "show the start instead: what is given, found, follows");
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

  CLI::App* export_command = app.add_subcommand("export", "let a compiled model leave the house");
  export_command->require_subcommand(1);
  export_command->footer(export_footer);
  ExportCOptions export_c;
  CLI::App* export_c_command = export_command->add_subcommand("c", "as C: one .c, one .h, a Makefile");
  export_c_command->footer(export_footer);
  add_files(*export_c_command, export_c.files);
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
      std::vector<std::string> names = {"run", "check", "explain", "format", "lsp", "plot", "export"};
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
  return export_c;
}

}  // namespace driver
