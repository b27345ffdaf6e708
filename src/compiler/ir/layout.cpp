#include "compiler/ir/layout.h"

#include "kernel/kernel.h"

namespace ir {

tactus_layout layout_of(const Program& program) {
  tactus_model model = {};
  model.state_count = static_cast<std::uint32_t>(program.state_names.size());
  model.input_count = program.input_count;
  model.parameter_count = static_cast<std::uint32_t>(program.parameters.size());
  model.derived_count = program.derived_count;
  model.output_count = program.output_count;
  model.warm_count = program.warm_count;
  model.work_count = program.work_count;
  tactus_layout layout = {};
  tk_layout(&model, &layout);
  return layout;
}

}  // namespace ir
