#include "compiler/compile.h"

#include <algorithm>
#include <map>

#include "base/nearest.h"
#include "compiler/check/check.h"
#include "compiler/check/diagnostics.h"
#include "compiler/check/tables.h"
#include "compiler/cycles.h"
#include "compiler/energy/gradient.h"
#include "compiler/expand/expand.h"
#include "compiler/expand/use.h"
#include "compiler/expr/budget.h"
#include "compiler/flatten/diagnostics.h"
#include "compiler/flatten/flatten.h"
#include "compiler/hold/hold.h"
#include "compiler/jumps/jumps.h"
#include "compiler/lex/lex.h"
#include "compiler/lower/lower.h"
#include "compiler/modes/modes.h"
#include "compiler/parse/parse.h"
#include "compiler/rates/rates.h"
#include "compiler/reroll/reroll.h"
#include "compiler/schemata/axioms.h"
#include "compiler/schemata/schemata.h"
#include "compiler/structure/structure.h"
#include "compiler/tangent/slopes.h"
#include "compiler/unite/unite.h"

namespace compiler {
namespace {

std::string print_tokens(const lex::Tokens& tokens, const diag::SourceMap& sources) {
  std::string out;
  for (std::size_t i = 0; i + 1 < tokens.list.size(); ++i) {
    out += sources.text(tokens.span(i));
    out += '\n';
  }
  return out;
}

// A text of every structure, with the modes that it belongs to where there are several.
template <class Make>
std::string each(modes::Structures& structures, Make make) {
  std::string all;
  for (std::size_t k = 0; k < structures.list.size(); ++k) {
    modes::Structure& structure = structures.list[k];
    if (structures.list.size() > 1) {
      for (const modes::Combination& combination : structure.combinations)
        all += "// in " + modes::describe(structure.model, combination) + "\n";
    }
    all += make(k, structure.model);
  }
  return all;
}

// Keeps what a pass made, when somebody asked.
class Pages {
 public:
  explicit Pages(Explanation* explanation) : explanation_(explanation) {}
  template <class Make>
  void add(const char* name, const char* title, Make text) {
    if (explanation_) explanation_->stages.push_back({name, title, text()});
  }

 private:
  Explanation* explanation_;
};

void report_unknown_overrides(const std::vector<structure::Override>& left, const flat::Model& flat,
                              diag::Sink& diags) {
  for (const structure::Override& override : left) {
    std::string known;
    std::vector<std::string_view> names;
    for (const flat::Parameter& parameter : flat.parameters) {
      known += (known.empty() ? "`" : ", `") + parameter.name + "`";
      names.push_back(parameter.name);
    }
    auto report = diags.report({}, check::unknown_override, override.name);
    if (auto near = base::nearest(override.name, names)) report.hint("did you mean `{}`?", *near);
    if (known.empty())
      report.hint("declare it: `parameter {} = 1;`", override.name);
    else
      report.hint("its parameters are {}", known);
  }
}

// Parameters, constants, and constants that are written as equations: scalars only. Sorted.
std::vector<std::string> find_settable(const check::Model& model, const flat::Model& flat,
                                       const structure::Sorted& sorted, base::Names& names) {
  std::vector<std::string> found;
  for (const check::Symbol& symbol : model.symbols) {
    const bool is_declared = symbol.role == check::Role::parameter || symbol.role == check::Role::constant;
    if (is_declared && symbol.shape.is_scalar()) found.emplace_back(names.text(symbol.name));
  }
  for (const auto& [variable, value] : sorted.constants)
    if (flat.variables[flat::VariableId(variable)].name.find(' ') ==
        std::string::npos)  // what no person named has blanks
      found.push_back(flat.variables[flat::VariableId(variable)].name);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// The unit behind a number, `-20 [deg]`; null when there is none.
const parse::Unit* find_unit_of(const parse::Tree& tree, parse::NodeId node) {
  while (node.valid() && tree[node].kind == parse::NodeKind::negate) node = tree.child(node, 0);
  if (!node.valid() || tree[node].kind != parse::NodeKind::number || tree[node].unit == 0) return nullptr;
  return &tree.units[tree[node].unit];
}

// Of a parameter's number, or where that has none (`0 in -90 [deg] .. 90 [deg]`) of its range; and rad, where a name
// starts at an angle or is one: dimensions do not tell angles from numbers.
std::vector<WrittenUnit> find_written_units(const check::Model& model, base::Names& names) {
  const parse::Tree& tree = *model.tree;
  std::vector<WrittenUnit> found;
  for (const check::Symbol& symbol : model.symbols) {
    if (symbol.role != check::Role::parameter) continue;
    const parse::Parameter& parameter = tree.parameters[symbol.declaration];
    for (const parse::NodeId node : {parameter.value, parameter.low, parameter.high}) {
      const parse::Unit* unit = find_unit_of(tree, node);
      if (!unit) continue;
      std::string text = unit->text;
      std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; });
      found.push_back({std::string(names.text(symbol.name)), text, parse::to_si(1, unit->measure.scale)});
      break;
    }
  }
  const auto note_angle = [&](parse::NodeId name, parse::NodeId value) {
    const parse::Unit* unit = find_unit_of(tree, value);
    if (!unit || tree[name].kind != parse::NodeKind::name || tree[name].count > 0) return;
    if (unit->text == "deg" || unit->text == "rad" || unit->text == "rev")
      found.push_back({std::string(names.text(tree[name].name)), "rad", 1});
  };
  for (const parse::Condition& condition : tree.conditions) note_angle(condition.variable, condition.value);
  for (const parse::Equation& equation : tree.equations) note_angle(equation.left, equation.right);
  return found;
}

// "p'[2]" is p[2], differentiated once.
std::pair<std::string, std::uint32_t> without_primes(std::string_view name) {
  std::pair<std::string, std::uint32_t> found;
  for (const char c : name) {
    if (c == '\'')
      ++found.second;
    else
      found.first += c;
  }
  return found;
}

// Starts from outside take the place of those that the text gives. A name that is no scalar variable is left out:
// whoever gives starts knows the states.
void set_starts(flat::Model& flat, const std::vector<Start>& starts) {
  std::map<std::pair<std::string, std::uint32_t>, const Start*> given;
  for (const Start& start : starts) given[without_primes(start.name)] = &start;
  std::erase_if(flat.conditions, [&](const flat::Condition& condition) {
    return !condition.later && given.contains({flat.variables[condition.variable].name, condition.order});
  });
  for (std::size_t i = 0; i < flat.variables.size() && !given.empty(); ++i) {
    const flat::Variable& variable = flat.variables[flat::VariableId(i)];
    const auto first = given.lower_bound({variable.name, 0});
    for (auto at = first; at != given.end() && at->first.first == variable.name; ++at)
      flat.conditions.push_back({flat::VariableId(i), at->first.second, flat.pool.constant(at->second->value),
                                 at->second->is_guess, false, variable.span});
  }
}

}  // namespace

const Explanation::Stage* Explanation::find(std::string_view name) const {
  auto found = std::find_if(stages.begin(), stages.end(), [&](const Stage& stage) { return stage.name == name; });
  return found == stages.end() ? nullptr : &*found;
}

namespace {

std::optional<ir::Program> compile_passes(const std::vector<std::uint32_t>& files, diag::SourceMap& sources,
                                          const Options& options, diag::Sink& diags, Explanation* explanation) {
  Pages pages(explanation);
  base::Names names;

  // Texts to one tree.
  parse::Tree tree;
  std::string all_tokens;
  for (std::uint32_t file : files) {
    lex::Tokens tokens = lex::lex(sources, file, names, diags);
    if (explanation) all_tokens += print_tokens(tokens, sources);
    parse::append(tree, parse::parse(tokens, sources, names, diags, parse::dialect_of(sources.name(file))));
  }
  expand::load_used_files(tree, sources, names, options.read_file, diags);
  pages.add("tokens", "the text, cut into words and signs", [&] { return all_tokens; });
  pages.add("tree", "the text as it was read", [&] { return parse::dump(tree, names); });
  if (diags.has_errors()) return std::nullopt;

  std::unordered_map<base::NameId, double> overrides;
  for (const Override& override : options.overrides) overrides[names.intern(override.name)] = override.value;
  std::vector<parse::Given> given;
  tree = expand::expand(std::move(tree), names, overrides, diags, options.aliases, &given);
  pages.add("expanded", "modules, loops, families and used files written out",
            [&] { return parse::dump(tree, names); });
  if (diags.has_errors()) return std::nullopt;
  // No modules, loops and families beyond this point.

  if (!tree.transitions.empty() || !tree.sequences.empty() || !tree.plans.empty())
    pages.add("axioms", "jumps, sequences and plans as formulas", [&] { return schemata::axioms(tree, names); });
  const bool has_phases = !tree.sequences.empty() || !tree.plans.empty();
  tree = schemata::write_out(std::move(tree), names, diags);
  if (has_phases)
    pages.add("transitions", "sequences and plans as automata, transitions and memories",
              [&] { return parse::dump(tree, names); });
  if (diags.has_errors()) return std::nullopt;
  // No sequences and plans beyond this point.

  table::Files data(sources, options.read_file, options.locate_file);
  check::Model model = check::check(tree, names, overrides, data, diags, given);
  if (options.facts) options.facts->take(model, names);
  if (options.written_units && !diags.has_errors()) *options.written_units = find_written_units(model, names);
  pages.add("model", "every name, its role, shape and unit", [&] { return check::dump(model, names); });
  if (!model.tables.empty())
    pages.add("tables", "sampled data: files, methods and ranges", [&] { return check::dump_tables(model); });
  if (diags.has_errors()) return std::nullopt;

  flat::Model flat = flatten::flatten(
      model, names, diags, options.watches_axioms ? flatten::Axioms::watched : flatten::Axioms::taken_as_given);
  pages.add("flat", "scalar equations: vectors taken apart, functions written out", [&] { return flat::dump(flat); });
  if (!flat.events.empty())
    pages.add("events", "what happens at each event, handlers in the order of the data",
              [&] { return flat.event_code; });
  if (diags.has_errors()) return std::nullopt;
  if (!tree.rates.empty()) {
    rates::sample(flat, tree, names, diags);
    if (diags.has_errors()) return std::nullopt;
    pages.add("rates", "what takes steps of its own, and what is held meanwhile", [&] { return rates::dump(flat); });
  }
  if (!options.draws) flat.drawings.clear();
  set_starts(flat, options.starts);
  const bool has_energy = !flat.energies.empty();
  // No vectors and no functions beyond this point.

  // Constants that are written as equations, `m = 1`, show themselves only when equations are sorted.
  std::vector<structure::Override> left;
  for (const Override& override : options.overrides) {
    auto symbol = model.find(names.find(override.name));
    bool is_declared = symbol && (model.symbols[*symbol].role == check::Role::parameter ||
                                  model.symbols[*symbol].role == check::Role::constant);
    if (!is_declared) left.push_back({override.name, override.value});
  }
  const bool has_modes = !flat.automata.empty();
  const bool has_jumps = !flat.transitions.empty();
  std::optional<modes::Structures> structures = modes::split(std::move(flat), diags);
  if (!structures) return std::nullopt;
  flat::Model& first = structures->list.front().model;
  if (has_modes)
    pages.add("modes", "which modes share their equations, and what these are",
              [&] { return modes::dump(*structures); });
  // No modes beyond this point but as discrete values.

  auto sorted = jumps::sort(*structures, left, diags);
  if (sorted) report_unknown_overrides(left, first, diags);
  if (!sorted || diags.has_errors()) return std::nullopt;
  for (std::size_t k = 0; k < sorted->size(); ++k)
    energy::differentiate(structures->list[k].model, (*sorted)[k], diags);
  rates::split(first, sorted->front(), diags);
  if (diags.has_errors()) return std::nullopt;
  pages.add("blocks", "constants, states, and which equations determine what, in order", [&] {
    return each(*structures, [&](std::size_t k, flat::Model& m) { return structure::dump((*sorted)[k], m); });
  });
  if (has_energy) {
    pages.add("energy", "what is stored, as a function of the states, and what ports let in", [&] {
      return each(*structures, [&](std::size_t k, flat::Model& m) { return energy::dump(m, (*sorted)[k]); });
    });
  }
  if (has_jumps) {
    pages.add("jumps", "what each transition solves for, and what it sets", [&] {
      return each(*structures, [&](std::size_t k, flat::Model& m) { return jumps::dump(m, (*sorted)[k]); });
    });
  }
  if (has_jumps) find_cycles(*structures, *sorted, diags);
  // Nothing below reports user errors.
  if (options.settable) *options.settable = find_settable(model, first, sorted->front(), names);
  if (options.facts) {
    options.facts->take(sorted->front(), first);
    return std::nullopt;
  }
  if (options.origins) {
    for (std::size_t k = 0; k < sorted->size(); ++k)
      options.origins->take((*sorted)[k], structures->list[k].model, sources);
    return std::nullopt;
  }
  if (options.guards && has_jumps) judge_guards(*structures, *sorted, *options.guards);
  if (options.interference && !first.plans.empty()) *options.interference = find_interference(*structures, *sorted);

  bool has_relations = false;
  lower::Space space;
  for (std::size_t k = 0; k < sorted->size(); ++k) {
    hold::hold(structures->list[k].model, (*sorted)[k]);
    has_relations = has_relations || !(*sorted)[k].relations.empty();
    lower::widen(space, structures->list[k].model, (*sorted)[k]);
  }
  if (has_relations) {
    pages.add(
        "relations", "comparisons that are located and held, what is watched for them, and where they stand",
        [&] { return each(*structures, [&](std::size_t k, flat::Model& m) { return hold::dump(m, (*sorted)[k]); }); });
  }

  std::vector<ir::Program> programs;
  for (std::size_t k = 0; k < sorted->size(); ++k) {
    programs.push_back(lower::lower(structures->list[k].model, (*sorted)[k], sources, has_modes ? &space : nullptr));
    tangent::add_slopes(programs.back());
    space.derived_count = programs.back().derived_count;
    space.warm_count = programs.back().warm_count;
  }
  ir::Program program;
  if (has_modes) {
    program = unite::unite(std::move(programs), first, *structures);
  } else {
    program = std::move(programs.front());
    program.conflicts = unite::conflicts(first);
  }
  program.name = files.empty() ? "model" : sources.name(files.front());
  // Whoever asks for verdicts on guards, `tactus check`, runs nothing.
  if (!options.guards) reroll::reserve(program);
  pages.add("ir", "the instructions that every backend prints", [&] { return ir::dump(reroll::with_loops(program)); });
  return program;
}

}  // namespace

std::optional<ir::Program> compile(const std::vector<std::uint32_t>& files, diag::SourceMap& sources,
                                   const Options& options, diag::Sink& diags, Explanation* explanation) {
  const expr::Budget budget;
  try {
    return compile_passes(files, sources, options, diags, explanation);
  } catch (const expr::Outgrown& outgrown) {
    diags.report(outgrown.place, flatten::too_large, expr::most_expressions, expr::most_requests)
        .hint(
            "what is written here, with what other lines make of it, is too much: smaller ranges or matrices, or names "
            "for parts that are read often");
    return std::nullopt;
  }
}

}  // namespace compiler
