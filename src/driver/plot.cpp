// tactus plot: the rows of a run -> a figure.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/nearest.h"
#include "driver/channels.h"
#include "driver/commands.h"
#include "driver/report.h"
#include "runtime/trace/csv_reader.h"
#include "runtime/trace/figure.h"
#include "runtime/trace/staircase.h"

namespace driver {

int plot(const PlotOptions& options) {
  auto usage = [&](std::string_view text, std::string_view hint) { return usage_error(options.json, text, hint); };
  std::string failure;
  std::string out = options.out;
  if (out.empty())
    out = options.table == "-" ? "run.svg" : std::filesystem::path(options.table).replace_extension(".svg").string();
  if (!trace::can_write_figure(out, failure)) return usage(failure, "");
  auto table =
      trace::read_csv(options.table, {.increasing_time = false, .finite = false, .header_only_allowed = true}, failure);
  if (!table) return usage(failure, "");
  if (table->columns.size() < 2) return usage(fmt::format("`{}` has no column behind the time", options.table), "");

  std::vector<std::string> names = table->names;
  for (std::size_t i = names.size(); i < table->columns.size(); ++i)
    names.push_back(i == 0 ? "t" : fmt::format("column {}", i + 1));
  std::vector<std::string> units = table->units;
  units.resize(names.size());
  if (!options.show.empty() && names_nothing(options.show))
    return usage("--show names nothing", "such as --show p,p[1]; without --show all columns are drawn");
  std::vector<std::size_t> chosen;
  for (const std::string& list : options.show) {
    for (const std::string& name : split_names(list)) {
      std::size_t before = chosen.size();
      for (std::size_t i = 1; i < names.size(); ++i) {
        if (names[i] == name || names[i].starts_with(name + "[")) chosen.push_back(i);
      }
      if (chosen.size() > before) continue;
      if (name == names[0])
        return usage(fmt::format("`{}` cannot be chosen: the first column is the time of all curves", name),
                     "leave it out of --show");
      auto near = base::nearest(name, names);
      return usage(
          fmt::format("`{}` has no column `{}`", options.table, name),
          near ? fmt::format("did you mean `{}`?", *near) : fmt::format("its columns are {}", fmt::join(names, ", ")));
    }
  }
  if (options.show.empty()) {
    for (std::size_t i = 1; i < names.size(); ++i) chosen.push_back(i);
  }

  std::vector<trace::Curve> curves;
  for (std::size_t i : chosen)
    curves.push_back(
        {names[i], units[i], table->columns[0], table->columns[i], trace::looks_like_staircase(table->columns[i])});
  if (!trace::write_figure(trace::layout_panels(curves), out, failure)) return not_kept(options.json, failure);
  if (options.json) {
    print_json({{"status", "done"}, {"out", out}, {"rows", table->rows()}, {"curves", chosen.size()}});
  } else if (!options.quiet) {
    say(stdout, "wrote {}\n", out);
  }
  return exit_done;
}

}  // namespace driver
