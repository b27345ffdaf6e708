// Every recorded name as a channel, and the options of pictures.
#include <algorithm>
#include <limits>

#include "abi/model.h"
#include "compiler/lower/lowering.h"

namespace lower {

void Lowering::build_outputs() {
  FunctionBuilder builder = motion_builder();
  std::vector<bool> is_recorded(model_.variables.size());
  for (const flat::Group& group : model_.groups) {
    for (std::uint32_t i = 0; i < group.shape.size(); ++i) is_recorded[group.first.value + i] = true;
  }
  is_recorded.resize(std::max(is_recorded.size(), model_.variables.size()));
  std::vector<ExprId> wanted;
  for (const auto& [leaf, block] : motion_.block_of) {
    if (is_recorded[pool_[leaf].index]) wanted.push_back(leaf);
  }
  for (const flat::Drawing& drawing : model_.drawings) {
    for (const flat::DrawnOption& option : drawing.options) {
      for (ExprId item : option.items) {
        const auto leaves = symbolic::leaves(pool_, item, Op::variable);
        wanted.insert(wanted.end(), leaves.begin(), leaves.end());
      }
    }
  }
  solve_needed(builder, wanted);
  for (std::size_t g = 0; g < model_.groups.size(); ++g) {
    const flat::Group& group = model_.groups[g];
    for (std::uint32_t order = 0; order < space_->orders[g]; ++order) {
      std::vector<ExprId> items;
      bool constant = !is_one_of_many_;
      for (std::uint32_t i = 0; i < group.shape.size(); ++i) {
        ExprId leaf = pool_.variable(group.first.value + i, order);
        auto number = sorted_.constants.find(group.first.value + i);
        if (number != sorted_.constants.end()) {
          items.push_back(pool_.constant(order == 0 ? number->second : 0));
        } else if (is_known(leaf)) {
          items.push_back(leaf);
          auto block = motion_.block_of.find(leaf);
          if (block == motion_.block_of.end() || !static_block_[block->second]) constant = false;
        } else {
          items.push_back(pool_.constant(std::numeric_limits<double>::quiet_NaN()));
        }
      }
      std::uint32_t flags = (constant ? TACTUS_CHANNEL_CONSTANT : 0) | (order > 0 ? TACTUS_CHANNEL_DERIVATIVE : 0) |
                            (group.written && order == 0 ? TACTUS_CHANNEL_WRITTEN : 0);
      add_channel(flat::primed(group.name, order), flat::unit_of(group.quantity, order), group.shape, items, flags,
                  builder);
      if (order == 0)
        channel_of_group_[static_cast<std::size_t>(&group - model_.groups.data())] =
            static_cast<std::uint32_t>(program_.channels.size() - 1);
    }
  }
  for (const flat::Discrete& discrete : model_.discrete) {
    std::vector<ExprId> values;
    for (std::uint32_t i = 0; i < discrete.shape.size(); ++i) values.push_back(pool_.discrete(discrete.first + i));
    add_channel(discrete.name, flat::unit_of(discrete.quantity, 0), discrete.shape, values, TACTUS_CHANNEL_DISCRETE,
                builder);
  }
  for (const flat::Automaton& automaton : model_.automata) {
    add_channel(automaton.name, "", expr::Shape::scalar(), {pool_.discrete(automaton.slot)}, TACTUS_CHANNEL_DISCRETE,
                builder);
  }
  for (const flat::Input& input : model_.inputs) {
    std::vector<ExprId> values, rates;
    for (std::uint32_t i = 0; i < input.shape.size(); ++i) {
      values.push_back(pool_.input(input.first + i));
      rates.push_back(pool_.input_rate(input.first + i));
    }
    add_channel(input.name, flat::unit_of(input.quantity, 0), input.shape, values, 0, builder);
    add_channel(flat::primed(input.name, 1), flat::unit_of(input.quantity, 1), input.shape, rates,
                TACTUS_CHANNEL_DERIVATIVE, builder);
  }
  // Each mode by its name, 1 or 0.
  for (const flat::Automaton& automaton : model_.automata) {
    for (std::size_t mode = 0; mode < automaton.modes.size(); ++mode) {
      const ExprId is_it =
          pool_.make(Op::equal, pool_.discrete(automaton.slot), pool_.constant(static_cast<double>(mode)));
      add_channel(automaton.name + "." + automaton.modes[mode], "", expr::Shape::scalar(),
                  {pool_.make(Op::select, is_it, pool_.constant(1), pool_.constant(0))}, TACTUS_CHANNEL_DISCRETE,
                  builder);
    }
  }
  add_drawings(builder);
  program_.outputs = builder.take();
}

void Lowering::add_drawings(FunctionBuilder& builder) {
  for (const flat::Drawing& drawing : model_.drawings) {
    ir::Drawing made{drawing.kind, drawing.text, line_of(drawing.span), {}};
    for (const flat::DrawnOption& option : drawing.options) {
      if (option.items.empty()) {
        made.options.push_back({option.name, option.text, true, 0});
        continue;
      }
      // With modes always one of its own, so that it is the same one in all of them.
      auto known = channel_of_items_.find(option.items);
      if (is_one_of_many_ || known == channel_of_items_.end() ||
          !has_shape(program_.channels[known->second], option.shape)) {
        const bool is_constant =
            std::all_of(option.items.begin(), option.items.end(), [&](ExprId item) { return is_static(item); });
        add_channel(option.label, "", option.shape, option.items,
                    TACTUS_CHANNEL_SCENE | (is_constant ? TACTUS_CHANNEL_CONSTANT : 0), builder);
        known = channel_of_items_.find(option.items);
      }
      made.options.push_back({option.name, "", false, known->second});
    }
    program_.drawings.push_back(std::move(made));
  }
}

bool Lowering::has_shape(const ir::Channel& channel, const expr::Shape& shape) {
  return channel.rows == shape.rows && channel.columns == shape.columns;
}

void Lowering::add_channel(std::string name, std::string unit, const expr::Shape& shape,
                           const std::vector<ExprId>& items, std::uint32_t flags, FunctionBuilder& builder) {
  channel_of_items_[items] = static_cast<std::uint32_t>(program_.channels.size());
  program_.channels.push_back(
      {std::move(name), std::move(unit), program_.output_count, shape.rows, shape.columns, flags});
  for (ExprId item : items) {
    builder.may_split();
    builder.store(ir::Op::store_output, program_.output_count++, builder.value(where_known(item)));
  }
}

ExprId Lowering::where_known(ExprId e) {
  for (ExprId leaf : symbolic::leaves(pool_, e, Op::variable)) {
    if (!is_known(leaf)) return pool_.constant(std::numeric_limits<double>::quiet_NaN());
  }
  return e;
}

}  // namespace lower
