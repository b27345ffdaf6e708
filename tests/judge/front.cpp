#include "front.h"

#include "compiler/check/check.h"
#include "compiler/expand/expand.h"
#include "compiler/expand/use.h"
#include "compiler/flatten/flatten.h"
#include "compiler/lex/lex.h"
#include "compiler/parse/parse.h"
#include "compiler/schemata/schemata.h"
#include "compiler/table/files.h"
#include "diag/sink.h"
#include "diag/source_map.h"

namespace judge {

std::optional<flat::Model> flat_model(const std::string& text, const compiler::Options& options,
                                      const std::string& path) {
  diag::SourceMap sources;
  diag::Sink diags;
  base::Names names;
  const auto file = source::add(path, text, sources, diags);
  if (!file) return std::nullopt;
  parse::Tree tree = parse::parse(lex::lex(sources, *file, names, diags), sources, names, diags, parse::Dialect::tact);
  expand::load_used_files(tree, sources, names, options.read_file, diags);
  if (diags.has_errors()) return std::nullopt;
  std::unordered_map<base::NameId, double> overrides;
  for (const compiler::Override& override : options.overrides) overrides[names.intern(override.name)] = override.value;
  tree = expand::expand(std::move(tree), names, overrides, diags);
  if (diags.has_errors()) return std::nullopt;
  tree = schemata::write_out(std::move(tree), names, diags);
  if (diags.has_errors()) return std::nullopt;
  table::Files data(sources, options.read_file, options.locate_file);
  const check::Model model = check::check(tree, names, overrides, data, diags);
  if (diags.has_errors()) return std::nullopt;
  flat::Model flat = flatten::flatten(model, names, diags);
  if (diags.has_errors()) return std::nullopt;
  // `m = 1` is an equation here: another number stands in it.
  for (const compiler::Override& override : options.overrides) {
    for (flat::Equation& equation : flat.equations) {
      const expr::Node left = flat.pool[equation.left];
      if (left.op == expr::Op::variable && left.order == 0 && flat.pool.is_constant(equation.right) &&
          flat.variables[flat::VariableId(left.index)].name == override.name) {
        equation.right = flat.pool.constant(override.value);
      }
    }
  }
  return flat;
}

}  // namespace judge
