#include "front_end.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "api/library_texts.h"
#include "compiler/compile.h"
#include "compiler/emit_c/emit_c.h"
#include "compiler/lex/lex.h"
#include "compiler/parse/parse.h"
#include "compiler/source/source.h"
#include "must.h"
#include "parts.h"

namespace fuzz {
namespace {

struct Compiled {
  diag::SourceMap sources;
  diag::Sink diags;
  compiler::Explanation explanation;
  std::optional<ir::Program> program;
};

// The files of the input, then the library; every other name is a small table.
source::Reader reader(const Input& input) {
  return [&input](const std::string&, const std::string& path) -> std::optional<source::File> {
    for (const Part& part : input.parts) {
      if (part.name == path) return source::File{part.name, part.text};
    }
    for (const std::string& name : {path, path + ".tact"}) {
      if (auto text = api::library_texts().find(name); text != api::library_texts().end())
        return source::File{"library/" + name, std::string(text->second)};
    }
    if (path.ends_with(".csv")) return source::File{path, "x,y\n0,0\n1,2\n2.5,1\n4,-3\n"};
    return std::nullopt;
  };
}

void compile(const Input& input, Compiled& result, bool explain) {
  std::vector<std::uint32_t> files;
  bool good = true;
  for (const Part& part : input.parts) {
    if (!part.is_compiled) continue;
    const auto file = source::add(part.name, part.text, result.sources, result.diags);
    if (file) files.push_back(*file);
    good = good && file.has_value();
  }
  if (!good) return;
  const compiler::Options options{.overrides = input.overrides, .read_file = reader(input)};
  result.program =
      compiler::compile(files, result.sources, options, result.diags, explain ? &result.explanation : nullptr);
}

void check_span(base::Span span, const diag::SourceMap& sources) {
  must(span.file < sources.size(), "a diagnostic names a file");
  must(span.begin <= span.end && span.end <= sources.text(span.file).size(), "a diagnostic points into its file");
}

void check_diagnostics(const Compiled& compiled) {
  for (const diag::Diagnostic& diagnostic : compiled.diags.diagnostics()) {
    check_span(diagnostic.span, compiled.sources);
    for (const diag::Related& related : diagnostic.related) check_span(related.span, compiled.sources);
    must(!diagnostic.text.empty() && diagnostic.text.find('\n') == std::string::npos, "a diagnostic is one line",
         diagnostic.text);
  }
  const bool has_any = !compiled.diags.diagnostics().empty();
  must(diag::render_text(compiled.diags, compiled.sources, true).empty() != has_any, "diagnostics show as text");
  const auto json = nlohmann::json::parse(diag::render_json(compiled.diags, compiled.sources), nullptr, false);
  must(json.is_array() && json.size() == compiled.diags.diagnostics().size(), "diagnostics show as JSON");
}

struct Parsed {
  diag::SourceMap sources;
  diag::Sink diags;
  base::Names names;
  parse::Tree tree;

  Parsed(std::string text, parse::Dialect dialect) {
    const auto file = source::add("again.tact", std::move(text), sources, diags);
    if (file) tree = parse::parse(lex::lex(sources, *file, names, diags), sources, names, diags, dialect);
  }
};

// Stand-ins for the functions that a program declares: a call's meaning may hang on there being one (`der(x)`).
std::string declarations(const Parsed& parsed) {
  std::string text;
  const auto add = [&](const parse::Body& body) {
    for (const parse::Function& function : body.functions)
      text += "function " + parsed.names.text(function.name) + "(x) = x;\n";
  };
  add(parsed.tree);
  std::for_each(parsed.tree.bodies.begin(), parsed.tree.bodies.end(), add);
  return text;
}

// Numbers of one equation's side and back: the text that print gives is a fixed point.
void check_printed(const Input& input) {
  for (const Part& part : input.parts) {
    const parse::Dialect dialect = parse::dialect_of(part.name);
    if (!part.is_compiled || dialect == parse::Dialect::ridl) continue;
    const Parsed first(part.text, dialect);
    if (first.diags.has_errors()) continue;
    for (const parse::Equation& equation : first.tree.equations) {
      if (!equation.right.valid()) continue;
      const std::string printed = parse::print(first.tree, first.names, equation.right);
      const Parsed again(declarations(first) + "system\n  y = " + printed + ";\n", dialect);
      if (again.diags.has_errors()) {
        must(false, "a printed expression can be read",
             printed + "\n" + diag::render_text(again.diags, again.sources, false));
      }
      must(again.tree.equations.size() == 1, "a printed expression is one expression", printed);
      const std::string reprinted = parse::print(again.tree, again.names, again.tree.equations[0].right);
      must(reprinted == printed, "a printed expression reads back as itself", printed + "\n" + reprinted);
    }
    for (const parse::Property& property : first.tree.properties) {
      const std::string printed = parse::print(first.tree, first.names, property.formula);
      const Parsed again(declarations(first) + "check\n  " + printed + ";\n", dialect);
      must(again.tree.properties.size() == 1, "a printed formula is one formula", printed);
      const std::string reprinted = parse::print(again.tree, again.names, again.tree.properties[0].formula);
      must(reprinted == printed, "a printed formula reads back as itself", printed + "\n" + reprinted);
    }
  }
}

// FNV-1a, to choose the inputs that cost a second compilation.
std::uint32_t hash(std::string_view text) {
  std::uint32_t value = 2166136261u;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 16777619u;
  return value;
}

}  // namespace

void check_front_end(std::string_view text) {
  const Input input = take_apart(text);
  const std::uint32_t chosen = hash(text);
  Compiled first;
  compile(input, first, chosen % 2 == 0);
  check_diagnostics(first);
  must(first.program.has_value() != first.diags.has_errors(), "a program is lowered if and only if it has no errors",
       diag::render_text(first.diags, first.sources, false));
  if (first.program) must(!emit_c::emit_model(*first.program, "m").empty(), "a lowered program prints as C");
  if (chosen % 4 == 1) check_printed(input);
  if (chosen % 8 == 2) {
    Compiled second;
    compile(input, second, false);
    must(diag::render_text(first.diags, first.sources, false) == diag::render_text(second.diags, second.sources, false),
         "compiling again reports the same");
    must(first.program.has_value() == second.program.has_value(), "compiling again gives a program again");
    if (first.program)
      must(ir::dump(*first.program) == ir::dump(*second.program), "compiling again gives the same program");
  }
}

bool is_program(std::string_view text) {
  const Input input = take_apart(text);
  Compiled compiled;
  compile(input, compiled, false);
  return compiled.program.has_value();
}

void want_big_stack(char** argv) {
  constexpr rlim_t bytes = rlim_t{256} << 20;
  rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= bytes) return;
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? bytes : std::min(bytes, limit.rlim_max);
  if (setrlimit(RLIMIT_STACK, &limit) == 0 && !std::getenv("TACTUS_FUZZ_STARTED")) {
    setenv("TACTUS_FUZZ_STARTED", "1", 1);
    execv("/proc/self/exe", argv);
  }
}

}  // namespace fuzz
