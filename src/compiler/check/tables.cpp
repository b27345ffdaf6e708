#include "compiler/check/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "compiler/check/diagnostics.h"
#include "compiler/parse/parse.h"

namespace check {

using parse::NodeId;
using parse::NodeKind;

bool is_table_word(const Model& model, const base::Names& names, NodeId callee) {
  const parse::Node& node = (*model.tree)[callee];
  if (node.kind != NodeKind::name || names.text(node.name) != "table") return false;
  auto found = model.find(node.name);
  return !found || model.symbols[*found].role != Role::function;
}

bool is_table_call(const Model& model, const base::Names& names, NodeId call) {
  const parse::Tree& tree = *model.tree;
  const NodeId callee = tree.child(call, 0);
  return tree[callee].kind == NodeKind::call && is_table_word(model, names, tree.child(callee, 0));
}

std::optional<std::uint32_t> TableReader::find(NodeId call) {
  if (auto known = model_.table_calls.find(call); known != model_.table_calls.end()) return known->second;
  if (failed_.contains(call)) return std::nullopt;
  auto made = read(call);
  if (made)
    model_.table_calls.emplace(call, *made);
  else
    failed_.emplace(call, true);
  return made;
}

std::optional<std::uint32_t> TableReader::read(NodeId call) {
  const NodeId table = tree_.child(call, 0);
  const bool is_map = tree_[call].child_count == 3;
  const bool has_path = tree_[table].child_count > 1 && tree_[tree_.child(table, 1)].kind == NodeKind::string;
  if (!has_path) {
    diags_.report(tree_[table].span, table_without_file).hint("write `table(\"file.csv\")(x)`");
    return std::nullopt;
  }
  auto options = read_options(table, is_map);
  if (!options) return std::nullopt;
  const parse::Node& path = tree_[tree_.child(table, 1)];
  const table::Sheet* sheet = files_.open(tree_.texts[path.text], path.span, diags_);
  if (!sheet) return std::nullopt;
  for (std::uint32_t i = 0; i < model_.tables.size(); ++i) {
    const Table& known = model_.tables[i];
    if (known.sheet == sheet && known.method == options->method && known.is_map == is_map &&
        known.column == options->column.which)
      return i;
  }
  auto samples = is_map ? table::read_map(*sheet, files_.sources(), path.span, diags_)
                        : table::read_columns(*sheet, files_.sources(), options->column, path.span, diags_);
  if (!samples) return std::nullopt;
  model_.tables.push_back({sheet, options->method, is_map, options->column.which, std::move(*samples)});
  return static_cast<std::uint32_t>(model_.tables.size() - 1);
}

std::optional<TableReader::Options> TableReader::read_options(NodeId table, bool is_map) {
  Options options;
  bool is_good = true;
  for (std::uint32_t i = 2; i < tree_[table].child_count; ++i) {
    const NodeId child = tree_.child(table, i);
    const parse::Node& node = tree_[child];
    const std::string name = node.kind == NodeKind::argument ? names_.text(node.name) : "";
    if (node.kind == NodeKind::name) {
      is_good = read_method(child, options) && is_good;
    } else if (name == "method") {
      is_good = read_method(tree_.child(child, 0), options) && is_good;
    } else if (name == "column") {
      is_good = read_column(tree_.child(child, 0), is_map, options) && is_good;
    } else {
      const std::string seen = name.empty() ? parse::print(tree_, names_, child) : name;
      diags_.report(node.span, unknown_table_option, seen)
          .hint("behind the file may stand hold, linear or cubic, and `column = \"name\"` or `column = 3`");
      is_good = false;
    }
  }
  return is_good ? std::optional(options) : std::nullopt;
}

bool TableReader::read_method(NodeId word, Options& options) {
  static constexpr std::array methods = {"hold", "linear", "cubic"};
  const parse::Node& node = tree_[word];
  const std::string name = node.kind == NodeKind::name     ? names_.text(node.name)
                           : node.kind == NodeKind::string ? tree_.texts[node.text]
                                                           : parse::print(tree_, names_, word);
  auto found = std::find(methods.begin(), methods.end(), name);
  if (found != methods.end()) {
    options.method = static_cast<tactus_table_method>(found - methods.begin());
    return true;
  }
  auto report = diags_.report(node.span, unknown_table_option, name);
  if (auto near = base::nearest(name, methods)) report.hint("did you mean `{}`?", *near);
  report.hint("between its rows a table is hold, linear or cubic (monotone)");
  return false;
}

bool TableReader::read_column(NodeId value, bool is_map, Options& options) {
  const parse::Node& node = tree_[value];
  if (is_map) {
    diags_.report(node.span, column_of_map).hint("with two arguments all of the file is the map; drop `column`");
    return false;
  }
  options.column.span = node.span;
  if (node.kind == NodeKind::string) {
    options.column.which = tree_.texts[node.text];
    return true;
  }
  if (auto number = numbers_.whole(value, nullptr)) {
    options.column.which = *number;
    return true;
  }
  diags_.report(node.span, not_constant, "the column of a table")
      .hint("write its name in quotes, or its number: `column = \"torque\"`, `column = 3`");
  return false;
}

std::string dump_tables(const Model& model) {
  static constexpr const char* methods[] = {"hold", "linear", "cubic"};
  std::string out;
  auto range = [](const std::vector<double>& values) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    return fmt::format("{}..{}", *low, *high);
  };
  for (const Table& table : model.tables) {
    const table::Samples& samples = table.samples;
    out += fmt::format("{}: {}, {} rows", samples.file, methods[table.method], samples.x.size());
    if (table.is_map) {
      out += fmt::format(" and {} columns, ({}, {}) -> {}\n", samples.y.size(), range(samples.x), range(samples.y),
                         range(samples.values[0]));
      continue;
    }
    auto named = [](const std::string& name) { return name.empty() ? "" : name + " "; };
    out += fmt::format(", {}{} ->", named(samples.x_name), range(samples.x));
    for (std::size_t i = 0; i < samples.values.size(); ++i)
      out += fmt::format("{} {}{}", i == 0 ? "" : ",", named(samples.names[i]), range(samples.values[i]));
    out += '\n';
  }
  return out;
}

}  // namespace check
