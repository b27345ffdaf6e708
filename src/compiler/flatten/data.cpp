// Delays, noise and tables.
//
//   delay(e, d)      ->   the leaf delayed(k), its source a new variable s with s = e unless e is a name
//   noise(seed, b)   ->   noise of the phase 2 b t
//   table(..)(u)     ->   a leaf for each column; known arguments are looked up here
#include <cmath>

#include "compiler/flatten/flattener.h"
#include "compiler/table/slopes.h"
#include "kernel/kernel.h"

namespace flatten {

Value Flattener::delay(const Value& value, ExprId duration, base::Span span) {
  return each(value, [&](ExprId item) {
    flat::Delay made{{}, 0, duration, span};
    if (flat_.pool[item].op == Op::variable) {
      made.source = flat::VariableId(flat_.pool[item].index);
      made.order = flat_.pool[item].order;
    } else {
      auto [source, is_new] = delayed_.try_emplace(item);
      if (is_new) source->second = add_hidden(flat::print(flat_, item), item, span);
      made.source = source->second;
    }
    return flat::delayed(flat_, made);
  });
}

Value Flattener::noise(const std::vector<Value>& arguments, base::Span span) {
  expr::Pool& pool = flat_.pool;
  const ExprId seed = as_number(arguments[0].items[0]);
  const ExprId bandwidth = arguments.size() > 1 ? as_number(arguments[1].items[0]) : pool.constant(10);
  if (!pool.is_constant(seed) || !std::isfinite(pool[seed].number)) {
    diags_.report(span, noise_not_static, "seed")
        .hint("write a number or a constant; a module takes it as a port: `ports x, seed;`");
    return number(0);
  }
  symbolic::Substitution begin(pool, [&](ExprId leaf) {
    return pool[leaf].op == Op::parameter ? pool.constant(flat_.parameters[pool[leaf].index].initial) : ExprId();
  });
  const ExprId known = begin(bandwidth);
  if (!pool.is_constant(known)) {
    diags_.report(span, noise_not_static, "bandwidth").hint("make it of numbers, constants and parameters");
  } else if (!(pool[known].number > 0)) {
    diags_.report(span, bandwidth_not_positive, expr::print_number(pool[known].number))
        .hint("write `noise(1, 50 [Hz])` for noise up to 50 cycles a second");
  }
  const ExprId phase = pool.multiply(pool.multiply(pool.constant(2), bandwidth), pool.time());
  return scalar(pool.noise(pool[seed].number, phase));
}

Value Flattener::table_value(NodeId id, std::uint32_t index, const Scope* scope) {
  const check::Table& table = model_.tables[index];
  const std::vector<std::uint32_t>& columns = place_table(index);
  const Value x = evaluate(tree_.child(id, 1), scope);
  if (table.is_map) {
    return component_wise(x, evaluate(tree_.child(id, 2), scope),
                          [&](ExprId a, ExprId b) { return sampled(columns[0], a, b); });
  }
  if (columns.size() == 1) return each(x, [&](ExprId a) { return sampled(columns[0], a, {}); });
  Value result{Shape::vector(static_cast<std::uint32_t>(columns.size())), {}, false};
  for (std::uint32_t column : columns) result.items.push_back(sampled(column, as_number(x.items[0]), {}));
  return result;
}

ExprId Flattener::sampled(std::uint32_t column, ExprId a, ExprId b) {
  expr::Pool& pool = flat_.pool;
  if (!pool.is_constant(a) || (b.valid() && !pool.is_constant(b)))
    return b.valid() ? pool.table_2(column, a, b) : pool.table(column, a);
  const flat::Table& from = flat_.tables[column];
  const tactus_table table{static_cast<std::uint32_t>(from.method),
                           static_cast<std::uint32_t>(from.x.size()),
                           static_cast<std::uint32_t>(from.y.size()),
                           from.x.data(),
                           from.y.data(),
                           from.values.data(),
                           from.slopes.data()};
  return pool.constant(b.valid() ? tk_table_2(&table, 0, 0, pool[a].number, pool[b].number)
                                 : tk_table(&table, 0, pool[a].number));
}

const std::vector<std::uint32_t>& Flattener::place_table(std::uint32_t index) {
  auto [placed, is_new] = placed_tables_.try_emplace(index);
  if (!is_new) return placed->second;
  const check::Table& table = model_.tables[index];
  const table::Samples& samples = table.samples;
  const std::string file = samples.file.substr(samples.file.find_last_of("/\\") + 1);
  for (std::size_t i = 0; i < samples.values.size(); ++i) {
    flat::Table made{file, table.method, samples.x, samples.y, samples.values[i], {}};
    if (samples.values.size() > 1)
      made.name += samples.names[i].empty() ? fmt::format("[{}]", i + 1) : fmt::format("[{}]", samples.names[i]);
    if (table.method == TACTUS_CUBIC) made.slopes = slopes_of(made);
    placed->second.push_back(static_cast<std::uint32_t>(flat_.tables.size()));
    flat_.tables.push_back(std::move(made));
  }
  return placed->second;
}

std::vector<double> Flattener::slopes_of(const flat::Table& table) {
  if (table.y.empty()) return table::monotone_slopes(table.x, table.values);
  std::vector<double> slopes;
  const std::size_t width = table.y.size();
  for (std::size_t row = 0; row < table.x.size(); ++row) {
    const auto of_row = table::monotone_slopes(table.y, std::span(table.values).subspan(row * width, width));
    slopes.insert(slopes.end(), of_row.begin(), of_row.end());
  }
  return slopes;
}

}  // namespace flatten
