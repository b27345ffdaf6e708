#include "compiler/emit_llvm/table.h"

#include <cstring>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "compiler/emit_llvm/constants.h"
#include "compiler/emit_llvm/module.h"
#include "compiler/ir/numbers.h"

namespace emit_llvm {

namespace {

// All texts lie in one array; a text is an address in it. The array is a stand-in until `close`.
class Texts {
 public:
  explicit Texts(llvm::Module& module)
      : module_(module),
        byte_(llvm::Type::getInt8Ty(module.getContext())),
        array_(new llvm::GlobalVariable(module, byte_, true, llvm::GlobalValue::ExternalLinkage, nullptr)) {}

  llvm::Constant* operator()(std::string_view text) {
    llvm::Constant* at = Constants(module_).number(bytes_.size());
    bytes_.append(text);
    bytes_.push_back('\0');
    return llvm::ConstantExpr::getInBoundsGetElementPtr(byte_, array_, at);
  }
  // -> the first text. Whoever holds another outside the module's data holds it no longer.
  llvm::Constant* close() {
    llvm::GlobalVariable* all =
        Constants(module_).data(llvm::ConstantDataArray::getString(module_.getContext(), bytes_, false));
    array_->replaceAllUsesWith(all);
    array_->eraseFromParent();
    return all;
  }

 private:
  llvm::Module& module_;
  llvm::Type* byte_;
  llvm::GlobalVariable* array_;
  std::string bytes_;
};

Fields numbers_of(const ir::Program& program, const Constants& make) {
  Fields fields;
  const tactus_model origin = {};
  ir::visit_numbers(program, [&](const char*, auto member, auto value) {
    const auto place = reinterpret_cast<const char*>(&(origin.*member)) - reinterpret_cast<const char*>(&origin);
    TACTUS_CHECK(fields.emplace(place, make.number(value)).second);
  });
  for (std::size_t k = 0; k < TACTUS_CORE; ++k)
    fields[offsetof(tactus_model, core) + k] = make.byte(k < program.core.size() ? program.core[k] : 0);
  const tactus_layout layout = ir::layout_of(program);
  for (std::size_t at = 0; at < sizeof layout; at += sizeof(std::uint32_t)) {
    std::uint32_t word = 0;
    std::memcpy(&word, reinterpret_cast<const char*>(&layout) + at, sizeof word);
    TACTUS_CHECK(fields.emplace(offsetof(tactus_model, layout) + at, make.number(word)).second);
  }
  return fields;
}

// Whatever of a table's data is no number is a pointer.
std::vector<std::size_t> places_of_pointers(const Fields& numbers) {
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < offsetof(tactus_model, prepare); at += sizeof(void*)) {
    const auto number = numbers.lower_bound(at);
    if (number == numbers.end() || number->first >= at + sizeof(void*)) places.push_back(at);
  }
  return places;
}

}  // namespace

Fields pointers_of_process(const ir::Program& program, const tactus_model& metadata, llvm::Module& module) {
  const Constants make(module);
  Fields fields;
  for (const std::size_t place : places_of_pointers(numbers_of(program, make))) {
    const void* pointer = nullptr;
    std::memcpy(&pointer, reinterpret_cast<const char*>(&metadata) + place, sizeof pointer);
    fields[place] = make.address(pointer);
  }
  return fields;
}

Fields pointers_as_data(const ir::Program& program, const std::string& table, llvm::Module& module) {
  const Constants make(module);
  Texts text(module);
  const auto row = [&](auto... fields) {
    const auto field = [&](auto value) -> llvm::Constant* {
      if constexpr (std::is_convertible_v<decltype(value), llvm::Constant*>)
        return value;
      else
        return make.number(value);
    };
    return make.structure({field(fields)...});
  };
  const auto channel = [&](const ir::Channel& c) {
    return row(text(c.name), text(c.unit), c.at, c.rows, c.columns, c.flags);
  };
  Fields fields;
  const auto pattern = [&](std::size_t place, const auto& from) {
    fields[place + offsetof(tactus_pattern, start)] = make.numbers(from.start);
    fields[place + offsetof(tactus_pattern, index)] = make.numbers(from.index);
  };
  text(program.name);
  fields[offsetof(tactus_model, channels)] = make.array(program.channels, channel);
  fields[offsetof(tactus_model, input_channels)] = make.array(program.input_channels, channel);
  fields[offsetof(tactus_model, parameters)] = make.array(program.parameters, [&](const ir::Parameter& p) {
    return row(text(p.name), text(p.unit), p.initial, p.low, p.high);
  });
  fields[offsetof(tactus_model, ports)] =
      make.array(program.ports, [&](const ir::Port& p) { return row(text(p.device), p.channel, p.is_input ? 1 : 0); });
  fields[offsetof(tactus_model, blocks)] = make.array(program.blocks, [&](const ir::Block& b) {
    return row(text(b.equations), text(b.unknowns), b.line, b.count, b.warm);
  });
  std::uint32_t next_option = 0;
  std::vector<ir::DrawingOption> options;
  fields[offsetof(tactus_model, drawings)] = make.array(program.drawings, [&](const ir::Drawing& d) {
    const std::uint32_t first = std::exchange(next_option, next_option + static_cast<std::uint32_t>(d.options.size()));
    options.insert(options.end(), d.options.begin(), d.options.end());
    return row(text(d.kind), d.text.empty() ? make.null() : text(d.text), first, d.options.size(), d.line);
  });
  fields[offsetof(tactus_model, drawing_options)] = make.array(options, [&](const ir::DrawingOption& o) {
    return row(text(o.name), o.is_text ? text(o.text) : make.null(), o.channel);
  });
  const ir::EventTable events = ir::event_table(program);
  std::size_t next_event = 0;
  fields[offsetof(tactus_model, events)] = make.array(events.events, [&](const tactus_event& e) {
    return row(text(program.events[next_event++].name), e.kind, e.first, e.count, e.line, e.period, e.from, e.flags,
               e.pulse);
  });
  fields[offsetof(tactus_model, event_times)] = make.numbers(events.times);
  fields[offsetof(tactus_model, delays)] = make.array(ir::delay_table(program), [&](const tactus_delay& d) {
    return row(d.source, d.duration, d.history, d.capacity, d.is_rate);
  });
  fields[offsetof(tactus_model, tables)] = make.array(program.tables, [&](const ir::Table& t) {
    return row(t.method, t.x.size(), t.y.size(), make.numbers(t.x), make.numbers(t.y), make.numbers(t.values),
               make.numbers(t.slopes));
  });
  fields[offsetof(tactus_model, relations)] = make.array(program.relations, [&](const tactus_relation& r) {
    return row(r.kind, r.guard, r.held, r.source, r.is_strict, r.line);
  });
  fields[offsetof(tactus_model, constraints)] =
      make.array(program.constraints, [&](const ir::Constraint& c) { return row(text(c.text), c.line, c.order); });
  fields[offsetof(tactus_model, conditions)] =
      make.array(program.conditions, [&](const ir::Condition& c) { return row(text(c.text), c.line, c.time); });
  fields[offsetof(tactus_model, state_flags)] = make.numbers(program.state_flags);
  pattern(offsetof(tactus_model, constraint_jacobian), program.constraint_jacobian);
  const ir::Tangents no_tangents;
  const ir::Tangents& tangents = program.tangents ? *program.tangents : no_tangents;
  pattern(offsetof(tactus_model, jacobian), tangents.jacobian);
  fields[offsetof(tactus_model, colours)] = make.numbers(tangents.colours);
  pattern(offsetof(tactus_model, factors), tangents.factors.pattern);
  fields[offsetof(tactus_model, factor_order)] = make.numbers(tangents.factors.order);
  fields[offsetof(tactus_model, factor_diagonal)] = make.numbers(tangents.factors.diagonal);
  fields[offsetof(tactus_model, factor_places)] = make.numbers(tangents.factors.places);
  fields[offsetof(tactus_model, state_names)] =
      make.array(program.state_names, [&](const std::string& s) { return text(s); });
  pattern(offsetof(tactus_model, conflicts), program.conflicts);
  const ir::PlanTable plan_table = ir::plan_table(program);
  std::size_t next_plan = 0;
  fields[offsetof(tactus_model, plans)] = make.array(plan_table.plans, [&](const tactus_plan& p) {
    return row(text(program.plans[next_plan++].name), p.event, p.failed, p.first_chosen, p.chosen_count, p.guess,
               p.first_phase, p.phase_count, p.has_otherwise, p.line);
  });
  fields[offsetof(tactus_model, plan_phases)] =
      make.array(plan_table.phases, [&](const tactus_plan_phase& p) { return row(p.event, p.target, p.target_count); });
  fields[offsetof(tactus_model, plan_places)] = make.numbers(plan_table.places);
  fields[offsetof(tactus_model, subsystems)] = make.array(ir::subsystem_table(program), [&](const tactus_subsystem& s) {
    return row(s.multiple, s.first_state, s.state_count, s.ledger, s.phase, s.samples);
  });
  fields[offsetof(tactus_model, joins)] = make.array(program.joins, [&](const tactus_join& j) {
    const auto two = [&](const std::uint32_t(&pair)[2]) { return row(pair[0], pair[1]); };
    return row(j.manner, j.count, two(j.subsystem), two(j.sample), two(j.held), j.since, two(j.work));
  });
  for (const std::size_t place :
       {offsetof(tactus_model, automata), offsetof(tactus_model, structures), offsetof(tactus_model, structure_of)})
    fields[place] = make.null();
  if (!program.structures.empty()) {
    fields[offsetof(tactus_model, automata)] = make.array(program.automata, [&](const ir::Automaton& a) {
      llvm::Constant* modes = make.array(a.modes, [&](const std::string& mode) { return text(mode); });
      return row(text(a.name), modes, a.modes.size(), a.slot, a.stride);
    });
    std::size_t next_structure = 0;
    fields[offsetof(tactus_model, structures)] =
        make.array(program.structures, [&](const ir::Program&) -> llvm::Constant* {
          return new llvm::GlobalVariable(module, llvm::Type::getInt8Ty(module.getContext()), true,
                                          llvm::GlobalValue::ExternalLinkage, nullptr,
                                          structure_table(table, next_structure++));
        });
    fields[offsetof(tactus_model, structure_of)] = make.numbers(program.structure_of);
  }
  fields[offsetof(tactus_model, name)] = text.close();
  return fields;
}

llvm::Constant* table_of(const ir::Program& program, Fields pointers, const std::vector<llvm::Constant*>& functions,
                         llvm::Module& module) {
  const Constants make(module);
  Fields fields = numbers_of(program, make);
  for (const std::size_t place : places_of_pointers(fields)) TACTUS_CHECK(pointers.contains(place));
  fields.merge(pointers);
  TACTUS_CHECK(pointers.empty());
  constexpr std::size_t function_count =
      (sizeof(tactus_model) - offsetof(tactus_model, prepare)) / sizeof(tactus_model::prepare);
  TACTUS_CHECK(functions.size() == function_count);
  std::vector<llvm::Constant*> row;
  for (const auto& [place, value] : fields) row.push_back(value);
  row.insert(row.end(), functions.begin(), functions.end());
  return make.structure(row);
}

}  // namespace emit_llvm
