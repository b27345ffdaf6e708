#include "compiler/emit_llvm/jit.h"

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "compiler/emit_llvm/codegen.h"
#include "compiler/emit_llvm/module.h"
#include "compiler/ir/layout.h"
#include "compiler/ir/numbers.h"
#include "compiler/ir/uses.h"
#include "compiler/reroll/reroll.h"
#include "kernel/kernel.h"

namespace emit_llvm {

namespace {

// Of the process: background threads of all models, and how it ends.
std::atomic<int> threads_at_work = 0;
std::atomic<bool> leaves_threads = false;
std::atomic<bool> left_threads = false;

namespace orc = llvm::orc;
using Clock = std::chrono::steady_clock;

constexpr const char* table_name = "tk_the_model";
constexpr const char* tangent_name = "tk_the_tangent";
using Tangent = decltype(tactus_model::tangent);

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

template <class T>
T must(llvm::Expected<T> value) {
  if (!value) {
    llvm::errs() << "tactus: LLVM: " << llvm::toString(value.takeError()) << '\n';
    TACTUS_CHECK(false);
  }
  return std::move(*value);
}

void must(llvm::Error error) {
  if (error) {
    llvm::errs() << "tactus: LLVM: " << llvm::toString(std::move(error)) << '\n';
    TACTUS_CHECK(false);
  }
}

// What code on processors without SSE 4.1 calls for llvm.floor and llvm.ceil.
double native_floor(double x) { return tk_floor(x); }
double native_ceil(double x) { return tk_ceil(x); }

template <class Function>
struct NamedFunction {
  const char* name;
  Function* address;
};

// The kernel's functions that code may call in this process under their names with the ending `native_ending`.
constexpr const char* native_ending = "_native";
constexpr NamedFunction<double(double)> unary_functions[] = {
    {"tk_sin", tk_sin},   {"tk_cos", tk_cos},   {"tk_tan", tk_tan}, {"tk_asin", tk_asin},
    {"tk_acos", tk_acos}, {"tk_atan", tk_atan}, {"tk_exp", tk_exp}, {"tk_log", tk_log}};
constexpr NamedFunction<double(double, double)> binary_functions[] = {{"tk_atan2", tk_atan2}, {"tk_pow", tk_pow}};
constexpr const char* sincos_name = "tk_sincos";

// Parts of the kernel that are run seldom, or that gain nothing from knowing the model: never compiled again.
constexpr const char* never_specialised[] = {"tk_fixed_steps", "tk_adaptive_step", "tk_first_stage", "tk_first_step",
                                             "tk_worst_state", "tk_delayed",       "tk_table",       "tk_table_2",
                                             "tk_noise",       "tk_rated_steps"};

// The process's own functions that compiled code may call.
orc::SymbolMap native_symbols(orc::ExecutionSession& session) {
  orc::SymbolMap symbols;
  const auto add = [&](const std::string& name, auto* function) {
    symbols[session.intern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                     llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
  const auto add_both = [&](const std::string& name, auto* function) {
    add(name, function);
    add(name + native_ending, function);
  };
  for (const auto& function : unary_functions) add_both(function.name, function.address);
  for (const auto& function : binary_functions) add_both(function.name, function.address);
  add_both(sincos_name, &tk_sincos);
  add("tk_lu_solve", &tk_lu_solve);
  add("tk_solve_constrained", &tk_solve_constrained);
  add("tk_newton", &tk_newton);
  add("tk_newton_tangent", &tk_newton_tangent);
  add("tk_fixed_steps", &tk_fixed_steps);
  add("tk_adaptive_step", &tk_adaptive_step);
  add("tk_rated_steps", &tk_rated_steps);
  add("tk_first_stage", &tk_first_stage);
  add("tk_first_step", &tk_first_step);
  add("tk_worst_state", &tk_worst_state);
  add("tk_delayed", &tk_delayed);
  add("tk_table", &tk_table);
  add("tk_table_2", &tk_table_2);
  add("tk_noise", &tk_noise);
  add("floor", &native_floor);
  add("ceil", &native_ceil);
  add("memcpy", &std::memcpy);
  add("memmove", &std::memmove);
  add("memset", &std::memset);
  return symbols;
}

// After the kernel was linked: what the model's derivative calls by plain name is inlined wherever it stands; elementary
// functions that only the kernel itself calls (tk_pow in step control) are the process's own.
class ElementaryFunctions {
 public:
  // Before linking: which of them the model wants inlined.
  explicit ElementaryFunctions(const llvm::Module& model) {
    const auto note = [&](const char* name) {
      (model.getFunction(name) != nullptr ? inlined_ : native_).push_back(name);
    };
    for (const auto& function : unary_functions) note(function.name);
    for (const auto& function : binary_functions) note(function.name);
    note(sincos_name);
  }
  void apply(llvm::Module& linked) const {
    for (const char* name : native_) {
      if (llvm::Function* function = linked.getFunction(name)) function->deleteBody();
    }
    for (const char* name : inlined_) linked.getFunction(name)->addFnAttr(llvm::Attribute::AlwaysInline);
  }

 private:
  std::vector<const char*> inlined_;
  std::vector<const char*> native_;
};

void set_pattern(const ir::Tangents& tangents, tactus_model& model) {
  model.jacobian = {tangents.jacobian.start.data(), tangents.jacobian.index.data()};
  model.colours = tangents.colours.data();
  model.colour_count = tangents.colour_count;
}

// The metadata half of a table, pointing into a program that outlives it.
class ProcessMetadata {
 public:
  explicit ProcessMetadata(const ir::Program& program) {
    const auto channels_of = [](const std::vector<ir::Channel>& from) {
      std::vector<tactus_channel> to;
      to.reserve(from.size());
      for (const ir::Channel& c : from)
        to.push_back({c.name.c_str(), c.unit.c_str(), c.at, c.rows, c.columns, c.flags});
      return to;
    };
    channels_ = channels_of(program.channels);
    input_channels_ = channels_of(program.input_channels);
    for (const ir::Parameter& p : program.parameters)
      parameters_.push_back({p.name.c_str(), p.unit.c_str(), p.initial, p.low, p.high});
    for (const ir::Port& p : program.ports) ports_.push_back({p.device.c_str(), p.channel, p.is_input ? 1u : 0u});
    for (const ir::Block& b : program.blocks)
      blocks_.push_back({b.equations.c_str(), b.unknowns.c_str(), b.line, b.count, b.warm});
    for (const ir::Drawing& d : program.drawings) {
      drawings_.push_back({d.kind.c_str(), d.text.empty() ? nullptr : d.text.c_str(),
                           static_cast<std::uint32_t>(drawing_options_.size()),
                           static_cast<std::uint32_t>(d.options.size()), d.line});
      for (const ir::DrawingOption& o : d.options)
        drawing_options_.push_back({o.name.c_str(), o.is_text ? o.text.c_str() : nullptr, o.channel});
    }
    ir::EventTable events = ir::event_table(program);
    events_ = std::move(events.events);
    event_times_ = std::move(events.times);
    for (std::size_t k = 0; k < events_.size(); ++k) events_[k].name = program.events[k].name.c_str();
    delays_ = ir::delay_table(program);
    for (const ir::Table& t : program.tables) {
      tables_.push_back({t.method, static_cast<std::uint32_t>(t.x.size()), static_cast<std::uint32_t>(t.y.size()),
                         t.x.data(), t.y.data(), t.values.data(), t.slopes.data()});
    }
    for (const std::string& s : program.state_names) state_names_.push_back(s.c_str());
    for (const ir::Constraint& c : program.constraints) constraints_.push_back({c.text.c_str(), c.line, c.order});
    for (const ir::Condition& c : program.conditions) conditions_.push_back({c.text.c_str(), c.line, c.time});
    if (!program.structures.empty()) {
      for (const ir::Automaton& a : program.automata) {
        std::vector<const char*>& modes = modes_.emplace_back();
        for (const std::string& mode : a.modes) modes.push_back(mode.c_str());
        automata_.push_back({a.name.c_str(), modes.data(), static_cast<std::uint32_t>(modes.size()), a.slot, a.stride});
      }
      model_.automata = automata_.data();
      model_.structure_of = program.structure_of.data();
    }
    plans_ = ir::plan_table(program);
    for (std::size_t k = 0; k < plans_.plans.size(); ++k) plans_.plans[k].name = program.plans[k].name.c_str();
    model_.plans = plans_.plans.data();
    model_.plan_phases = plans_.phases.data();
    model_.plan_places = plans_.places.data();
    subsystems_ = ir::subsystem_table(program);
    model_.subsystems = subsystems_.data();
    model_.joins = program.joins.data();
    if (!program.conflicts.start.empty())
      model_.conflicts = {program.conflicts.start.data(), program.conflicts.index.data()};
    model_.name = program.name.c_str();
    model_.channels = channels_.data();
    model_.input_channels = input_channels_.data();
    model_.parameters = parameters_.data();
    model_.ports = ports_.data();
    model_.blocks = blocks_.data();
    model_.drawings = drawings_.data();
    model_.drawing_options = drawing_options_.data();
    model_.events = events_.data();
    model_.event_times = event_times_.data();
    model_.delays = delays_.data();
    model_.tables = tables_.data();
    model_.relations = program.relations.data();
    model_.constraints = constraints_.data();
    model_.conditions = conditions_.data();
    model_.state_names = state_names_.data();
    model_.state_flags = program.state_flags.empty() ? nullptr : program.state_flags.data();
    model_.constraint_jacobian = {program.constraint_jacobian.start.data(), program.constraint_jacobian.index.data()};
    if (program.tangents) {
      set_pattern(*program.tangents, model_);
      const ir::Factors& factors = program.tangents->factors;
      if (!factors.pattern.start.empty()) {
        model_.factors = {factors.pattern.start.data(), factors.pattern.index.data()};
        model_.factor_order = factors.order.data();
        model_.factor_diagonal = factors.diagonal.data();
        model_.factor_places = factors.places.data();
      }
    }
  }
  ProcessMetadata(const ProcessMetadata&) = delete;
  ProcessMetadata& operator=(const ProcessMetadata&) = delete;

  const tactus_model& model() const { return model_; }  // pointers only

 private:
  tactus_model model_ = {};
  std::vector<tactus_channel> channels_;
  std::vector<tactus_channel> input_channels_;
  std::vector<tactus_parameter> parameters_;
  std::vector<tactus_port> ports_;
  std::vector<tactus_block> blocks_;
  std::vector<tactus_drawing> drawings_;
  std::vector<tactus_drawing_option> drawing_options_;
  std::vector<tactus_event> events_;
  std::vector<double> event_times_;
  std::vector<tactus_delay> delays_;
  std::vector<tactus_table> tables_;
  std::vector<const char*> state_names_;
  std::vector<tactus_constraint> constraints_;
  std::vector<tactus_condition> conditions_;
  std::deque<std::vector<const char*>> modes_;
  std::vector<tactus_automaton> automata_;
  ir::PlanTable plans_;
  std::vector<tactus_subsystem> subsystems_;
};

// A structure that is compiled when it is reached is a table whose functions are doors: the first call of one of them compiles the
// structure, and all go on to its code. Who runs a model may copy its tables, so a door finds what is behind it through something
// that every copy keeps: the place before the first of `state_names`.
class Doors {
 public:
  using Behind = std::function<const tactus_model*()>;  // compiles at the first call; callable from any thread

  void open(const ir::Program& program, const tactus_model& metadata, Behind behind) {
    behind_ = std::move(behind);
    names_.push_back(reinterpret_cast<const char*>(this));
    names_.insert(names_.end(), metadata.state_names, metadata.state_names + program.state_names.size());
    table_ = metadata;
    ir::set_numbers(program, table_);
    table_.layout = ir::layout_of(program);
    table_.state_names = names_.data() + 1;
    table_.initialize = enter<&tactus_model::initialize>;
    table_.derivative = enter<&tactus_model::derivative>;
    table_.outputs = enter<&tactus_model::outputs>;
    if (!program.events.empty()) table_.fire = enter<&tactus_model::fire>;
    if (program.watch_count > 0) table_.watch = enter<&tactus_model::watch>;
    if (!program.constraints.empty()) table_.constrain = enter<&tactus_model::constrain>;
    if (!program.conditions.empty()) table_.condition = enter<&tactus_model::condition>;
    if (program.ledger != 0) table_.energy = enter<&tactus_model::energy>;
    if (program.has_structure) table_.structure = enter<&tactus_model::structure>;
    if (program.has_balance) table_.balance = enter<&tactus_model::balance>;
    if (!program.core.empty()) table_.slopes = enter<&tactus_model::slopes>;
    if (!program.subsystems.empty()) table_.subsystem = enter<&tactus_model::subsystem>;
    if (program.tangents) table_.tangent = enter<&tactus_model::tangent>;
    table_.fixed_steps = enter<&tactus_model::fixed_steps>;
    table_.adaptive_step = enter<&tactus_model::adaptive_step>;
  }
  const tactus_model* table() const { return &table_; }
  // As a call of one of the functions would.
  void knock() const { behind_(); }

 private:
  template <auto entry, class... Arguments>
  static int enter(const tactus_model* door, tactus_instance* instance, Arguments... arguments) {
    const tactus_model* table = reinterpret_cast<const Doors*>(door->state_names[-1])->behind_();
    return (table->*entry)(table, instance, arguments...);
  }

  Behind behind_;
  std::vector<const char*> names_;
  tactus_model table_ = {};
};

// Object files -> callable memory.
class ObjectLoader {
 public:
  ObjectLoader()
      : session_(must(orc::SelfExecutorProcessControl::Create())),
        layer_(session_, must(llvm::jitlink::InProcessMemoryManager::Create())) {}
  ~ObjectLoader() { llvm::consumeError(session_.endSession()); }  // what is left then is memory

  // The address of `symbol`. Callable from any thread.
  template <class Pointer>
  Pointer load(llvm::SmallVector<char, 0> object, const char* tier, const char* symbol) {
    orc::JITDylib& library = session_.createBareJITDylib(tier);
    must(library.define(orc::absoluteSymbols(native_symbols(session_))));
    must(layer_.add(library, std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(object), tier, false)));
    return must(session_.lookup({&library}, symbol)).getAddress().toPtr<Pointer>();
  }

 private:
  orc::ExecutionSession session_;
  orc::ObjectLinkingLayer layer_;
};

}  // namespace

struct CompiledModel::Implementation {
  enum class Role { whole, structure };  // a structure of another program has its tangents already

  Implementation(ir::Program given, const JitOptions& how, Role role)
      : options(how),
        program(role == Role::structure
                    ? std::move(given)
                    : with_all_prepared(with_room_for_tangents(std::move(given), how.tangents), how)),
        looped(program.structures.empty() ? reroll::with_loops(program) : ir::Program()),
        metadata(program) {}

  static std::size_t first_structure(const ir::Program& program) {
    const std::uint32_t first = program.structure_of.front();
    return first == TACTUS_NO_STRUCTURE ? 0 : first;
  }

  // Whether what parameters give can be worked out by another structure's code: it solves nothing and samples no table.
  static bool is_plain(const ir::Function& prepare) {
    for (const ir::Chunk& chunk : prepare.chunks) {
      if (ir::can_fail(chunk)) return false;
      for (const ir::Instruction& i : chunk.instructions) {
        if (i.op == ir::Op::table) return false;
      }
    }
    return true;
  }

  // Of structures that are compiled when they are reached: what parameters give is worked out at the start, by the first one.
  static ir::Program with_all_prepared(ir::Program program, const JitOptions& how) {
    if (!how.compile_when_reached || program.structures.empty()) return program;
    const std::size_t first = first_structure(program);
    ir::Function& all = program.structures[first].prepare;
    for (std::size_t k = 0; k < program.structures.size(); ++k) {
      const ir::Function& prepare = program.structures[k].prepare;
      if (k != first && is_plain(prepare))
        all.chunks.insert(all.chunks.end(), prepare.chunks.begin(), prepare.chunks.end());
    }
    return program;
  }

  static ir::Program with_room_for_tangents(ir::Program program, tangent::Functions functions) {
    // The start itself asks for these, unless the program has brought its own.
    if (!program.tangents) functions |= tangent::needed_by_the_kernel(program);
    for (ir::Program& structure : program.structures)
      structure = with_room_for_tangents(std::move(structure), functions);
    if (!program.structures.empty()) {
      ir::share_layout(program);
      return program;
    }
    program.tangent_work_count = tangent::work_count(program);
    if (functions != tangent::none) tangent::add(program, functions);
    return program;
  }

  // A table for each structure, and one for all: the kernel's functions, which ask for the one that holds.
  void compile_structures() {
    const auto start = Clock::now();
    structure_tables.resize(program.structures.size());
    for (std::size_t k = 0; k < program.structures.size(); ++k) {
      const tactus_model*& place = structure_tables[k];
      structures.emplace_back(
          new CompiledModel(std::make_unique<Implementation>(program.structures[k], options, Role::structure)));
      Implementation& part = *structures.back()->implementation_;
      const auto take = [&place](const tactus_model* better) {
        std::atomic_ref<const tactus_model*>(place).store(better, std::memory_order_release);
      };
      part.announce(take);
      if (options.compile_when_reached && k != first_structure(program) && is_plain(program.structures[k].prepare)) {
        part.doors.open(part.program, part.metadata.model(), [&part, take] {
          std::call_once(part.is_reached, [&] {
            part.compile_quick();
            take(part.quick);
            if (part.has_optimised_tier()) part.thread = aside([&part] { part.compile_optimised(); });
          });
          return part.current.load(std::memory_order_acquire);
        });
        place = part.doors.table();
        continue;
      }
      std::call_once(part.is_reached, [&] { part.compile_quick(); });
      place = part.quick;
      times.build += part.times.build;
    }
    whole = whole_table(structure_tables);
    quick = &whole;
    current.store(quick, std::memory_order_release);
    times.quick = seconds_since(start);
  }

  // A failed check of ours on a thread of its own costs what the thread was to make, not the process.
  template <class Work>
  static std::thread aside(Work work) {
    ++threads_at_work;
    return std::thread([work = std::move(work)] {
      try {
        work();
      } catch (const std::exception& failure) {
        llvm::errs() << "tactus: " << failure.what() << '\n';
      }
      --threads_at_work;
    });
  }

  void begin_optimising() {
    if (!program.structures.empty()) {
      if (options.optimise) thread = aside([this] { optimise_structures(); });
    } else if (has_optimised_tier()) {
      thread = aside([this] { compile_optimised(); });
    }
    const std::lock_guard lock(tangent_mutex);
    if (quick_tangent != nullptr) optimise_tangents();
    for (const auto& structure : structures) {
      Implementation& part = *structure->implementation_;
      const std::lock_guard part_lock(part.tangent_mutex);
      if (part.quick_tangent != nullptr) part.optimise_tangents();
    }
  }

  // Of those that were compiled last; the mutex is held.
  void optimise_tangents() {
    if (!has_optimised_tier()) return;
    tangent_thread = aside([this, &tangents = all_tangents.back()] {
      const bool is_small = 3 * ir::instruction_count(looped) <= options.full_optimisation_limit;
      optimised_tangent.store(
          compile_tangents(tangents, is_small ? Effort::full : Effort::reduced, "optimised tangents"));
    });
  }

  // One after the other on one thread, that which a run begins with first: a thread for each would only make all of them late.
  void optimise_structures() {
    const std::size_t first = first_structure(program);
    const auto optimise_one = [&](std::size_t k) {
      Implementation& part = *structures[k]->implementation_;
      if (!cancelled && structure_is_ready(k) && part.has_optimised_tier()) part.compile_optimised();
    };
    optimise_one(first);
    for (std::size_t k = 0; k < structures.size(); ++k) {
      if (k != first) optimise_one(k);
    }
  }
  // Compiled with the whole, not when reached.
  bool structure_is_ready(std::size_t k) const { return structures[k]->implementation_->doors.table()->abi == 0; }

  // Compiles it now, if it was not reached yet.
  void reach(std::size_t k) const {
    if (!structure_is_ready(k)) structures[k]->implementation_->doors.knock();
  }

  // Tells, now or later, of the optimised table.
  void announce(std::function<void(const tactus_model*)> to) {
    const std::lock_guard lock(listener_mutex);
    listener = std::move(to);
    if (const tactus_model* table = optimised.load(std::memory_order_acquire)) listener(table);
  }

  tactus_model whole_table(const std::vector<const tactus_model*>& tables) const {
    const tactus_model& first = *tables.front();
    tactus_model table = metadata.model();
    table.abi = TACTUS_ABI;
    table.state_count = first.state_count;
    table.input_count = first.input_count;
    table.parameter_count = first.parameter_count;
    table.derived_count = program.derived_count;
    table.output_count = program.output_count;
    table.warm_count = program.warm_count;
    table.discrete_count = program.discrete_count;
    table.event_count = first.event_count;
    table.delay_count = first.delay_count;
    table.table_count = first.table_count;
    table.history_count = first.history_count;
    for (const tactus_model* structure : tables) {
      table.work_count = std::max(table.work_count, structure->work_count);
      table.watch_count = std::max(table.watch_count, structure->watch_count);
      table.relation_count = std::max(table.relation_count, structure->relation_count);
      table.constraint_count = std::max(table.constraint_count, structure->constraint_count);
    }
    table.layout = first.layout;
    table.channel_count = first.channel_count;
    table.input_channel_count = first.input_channel_count;
    table.port_count = first.port_count;
    table.block_count = first.block_count;
    table.drawing_count = first.drawing_count;
    table.drawing_option_count = first.drawing_option_count;
    table.dimensions = first.dimensions;
    table.starting_time = first.starting_time;
    table.ending_time = first.ending_time;
    table.step_size = first.step_size;
    table.tolerance = first.tolerance;
    table.record_period = first.record_period;
    table.event_precision = first.event_precision;
    table.solver = first.solver;
    table.max_transitions = first.max_transitions;
    table.hand_period = first.hand_period;
    table.automaton_count = static_cast<std::uint32_t>(program.automata.size());
    table.plan_count = first.plan_count;
    table.ledger = first.ledger;
    table.book_supplied = first.book_supplied;
    table.book_dissipated = first.book_dissipated;
    table.structures = tables.data();
    table.structure_count = static_cast<std::uint32_t>(tables.size());
    table.prepare = tk_modes_prepare;
    table.initialize = tk_modes_initialize;
    table.derivative = tk_modes_derivative;
    table.outputs = tk_modes_outputs;
    table.fire = tk_modes_fire;
    table.watch = tk_modes_watch;
    table.constrain = tk_modes_constrain;
    table.tangent = first.tangent != nullptr ? tk_modes_tangent : nullptr;
    table.fixed_steps = tk_modes_fixed_steps;
    table.adaptive_step = tk_modes_adaptive_step;
    return table;
  }

  const tactus_model* whole_with_tangents(tangent::Functions functions) {
    std::vector<const tactus_model*> tables;
    for (std::size_t k = 0; k < structures.size(); ++k) reach(k);
    for (const auto& structure : structures) tables.push_back(structure->with_tangents(functions));
    for (const WholeTable& known : whole_tables) {
      if (known.structures == tables) return &known.table;
    }
    WholeTable& added = whole_tables.emplace_back();
    added.structures = std::move(tables);
    added.table = whole_table(added.structures);
    return &added.table;
  }

  void compile_quick() {
    const auto start = Clock::now();
    const auto machine = make_native_machine(Effort::fast);
    llvm::LLVMContext context;
    ModuleOptions how = module_options(*machine);
    how.joins_handlers = true;
    const auto module = build_module(looped, context, how);
    times.build = seconds_since(start);
    quick = loader.load<const tactus_model*>(generate_code(*module, *machine, cancelled), "quick", table_name);
    current.store(quick, std::memory_order_release);
    times.quick = seconds_since(start);
  }

  void compile_optimised() {
    const auto start = Clock::now();
    const Effort effort =
        ir::instruction_count(looped) <= options.full_optimisation_limit ? Effort::full : Effort::reduced;
    const auto machine = make_native_machine(effort);
    llvm::LLVMContext context;
    silence_remarks(context);
    ModuleOptions how = module_options(*machine);
    const KernelEntries entries = specialised_entries(program, options.solver);
    how.fixed_steps = entries.fixed_steps;
    how.adaptive_step = entries.adaptive_step;
    how.always_inline_limit =
        effort == Effort::full ? inlined_in_all / static_cast<std::size_t>(entries.evaluations) : 0;
    how.inline_elementary_limit = inline_elementary_limit;
    const auto module = build_module(looped, context, how);
    const ElementaryFunctions elementary(*module);
    link_kernel(*module, kernel_bitcode_native(), Link::needed);
    elementary.apply(*module);
    for (const char* name : never_specialised) {
      if (llvm::Function* function = module->getFunction(name)) function->deleteBody();
    }
    internalize(*module, {table_name});
    set_target_attributes(*module, machine->getTargetCPU(), machine->getTargetFeatureString());
    optimise(*module, *machine, effort, cancelled);
    if (cancelled) return;
    auto object = generate_code(*module, *machine, cancelled);
    if (cancelled) return;
    const auto* table = loader.load<const tactus_model*>(std::move(object), "optimised", table_name);
    optimised_seconds.store(seconds_since(start));
    const std::lock_guard lock(listener_mutex);
    optimised.store(table, std::memory_order_release);
    current.store(table, std::memory_order_release);
    if (listener) listener(table);
  }

  bool has_optimised_tier() const {
    return options.optimise && may_optimise && program.structures.empty() &&
           ir::instruction_count(looped) <= options.optimisation_limit;
  }

  // Tangents on their own: the tables' other functions stay as they are.
  Tangent compile_tangents(const ir::Tangents& tangents, Effort effort, const std::string& tier) {
    const auto machine = make_native_machine(effort);
    llvm::LLVMContext context;
    silence_remarks(context);
    ModuleOptions how = module_options(*machine);
    how.joins_handlers = effort == Effort::fast;
    const auto module =
        build_tangent_module(looped, reroll::with_loops(tangents, program), tangent_name, *quick, context, how);
    if (effort != Effort::fast) {
      set_target_attributes(*module, machine->getTargetCPU(), machine->getTargetFeatureString());
      optimise(*module, *machine, effort, cancelled);
    }
    if (cancelled) return nullptr;
    auto object = generate_code(*module, *machine, cancelled);
    const std::string name = tier + std::to_string(all_tangents.size());  // each a library of its own
    return cancelled ? nullptr : loader.load<Tangent>(std::move(object), name.c_str(), tangent_name);
  }

  const tactus_model* with_tangents(tangent::Functions functions) {
    const std::lock_guard lock(tangent_mutex);
    if (!structures.empty()) return whole_with_tangents(functions);
    const tangent::Functions own = options.tangents | tangent::needed_by_the_kernel(program);
    if ((functions & ~own) == 0 && program.tangents) return current.load(std::memory_order_acquire);
    if ((functions & ~compiled_tangents) != 0 || quick_tangent == nullptr) {
      if (tangent_thread.joinable()) tangent_thread.join();
      const auto start = Clock::now();
      compiled_tangents |= functions | tangent::needed_by_the_kernel(program);
      optimised_tangent.store(nullptr);
      ir::Tangents& tangents = all_tangents.emplace_back(tangent::make(program, compiled_tangents));
      quick_tangent = compile_tangents(tangents, Effort::fast, "quick tangents");
      tangent_seconds.store(seconds_since(start));
      optimise_tangents();
    }
    const Tangent better = optimised_tangent.load();
    const Tangent tangent = better != nullptr ? better : quick_tangent;
    const tactus_model* base = current.load(std::memory_order_acquire);
    for (const auto& known : tangent_tables) {
      if (known.base == base && known.table.tangent == tangent) return &known.table;
    }
    auto& added = tangent_tables.emplace_back(TangentTable{base, *base});
    added.table.tangent = tangent;
    set_pattern(all_tangents.back(), added.table);
    return &added.table;
  }

  ModuleOptions module_options(const llvm::TargetMachine& machine) const {
    ModuleOptions how;
    how.triple = machine.getTargetTriple().str();
    how.data_layout = machine.createDataLayout().getStringRepresentation();
    how.table = table_name;
    how.metadata = &metadata.model();
    how.native_ending = native_ending;
    return how;
  }

  static constexpr std::size_t inlined_in_all = 1200;  // instructions of the model in one step
  static constexpr std::size_t inline_elementary_limit = 4;

  // A table of a tier with its `tangent` set.
  struct TangentTable {
    const tactus_model* base;
    tactus_model table;
  };

  const JitOptions options;
  const ir::Program program;  // tangents are made from it
  const ir::Program looped;   // what is compiled
  const ProcessMetadata metadata;
  ObjectLoader loader;
  JitTimes times;  // written before the thread starts
  std::atomic<double> optimised_seconds = 0;
  const tactus_model* quick = nullptr;
  std::atomic<const tactus_model*> optimised = nullptr;
  std::atomic<const tactus_model*> current = nullptr;
  std::atomic<bool> cancelled = false;
  bool may_optimise = !options.optimises_when_told;
  std::thread thread;

  std::mutex tangent_mutex;               // guards what follows, save the atomics
  std::deque<ir::Tangents> all_tangents;  // tables point into them
  tangent::Functions compiled_tangents = tangent::none;
  Tangent quick_tangent = nullptr;
  std::atomic<Tangent> optimised_tangent = nullptr;
  std::atomic<double> tangent_seconds = 0;
  std::deque<TangentTable> tangent_tables;  // they never move
  std::thread tangent_thread;

  // With modes.
  struct WholeTable {
    std::vector<const tactus_model*> structures;
    tactus_model table = {};
  };
  std::once_flag is_reached;  // of a structure: its quick code is there
  Doors doors;                // of a structure that is compiled when it is reached
  tactus_model whole = {};
  std::vector<const tactus_model*> structure_tables;  // each the best there is
  std::deque<WholeTable> whole_tables;                // with tangents; they never move
  std::mutex listener_mutex;
  std::function<void(const tactus_model*)> listener;
  std::vector<std::unique_ptr<CompiledModel>> structures;  // last, so that their threads end before what they write to
};

void CompiledModel::leave_threads() { leaves_threads = true; }
bool CompiledModel::has_left_threads() { return left_threads; }

CompiledModel::CompiledModel(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}

CompiledModel::CompiledModel(ir::Program program, const JitOptions& options)
    : CompiledModel(std::make_unique<Implementation>(std::move(program), options, Implementation::Role::whole)) {
  Implementation& self = *implementation_;
  if (self.program.structures.empty()) {
    self.compile_quick();
  } else {
    self.compile_structures();
  }
  if (!options.optimises_when_told) self.begin_optimising();
}

void CompiledModel::begin_optimising() {
  Implementation& self = *implementation_;
  if (self.may_optimise) return;
  self.may_optimise = true;
  for (const auto& structure : self.structures) structure->implementation_->may_optimise = true;
  self.begin_optimising();
}

void CompiledModel::cancel() {
  implementation_->cancelled = true;
  for (const auto& structure : implementation_->structures) structure->implementation_->cancelled = true;
}

CompiledModel::~CompiledModel() {
  cancel();
  if (leaves_threads) {
    for (int i = 0; i < 200 && threads_at_work > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (threads_at_work > 0) {
      left_threads = true;
      (void)implementation_.release();  // with its threads, and its structures with theirs
      return;
    }
  }
  if (implementation_->thread.joinable()) implementation_->thread.join();
  if (implementation_->tangent_thread.joinable()) implementation_->tangent_thread.join();
}

const tactus_model* CompiledModel::current() const { return implementation_->current.load(std::memory_order_acquire); }
const tactus_model* CompiledModel::quick() const { return implementation_->quick; }
const tactus_model* CompiledModel::optimised() const {
  return implementation_->optimised.load(std::memory_order_acquire);
}

const tactus_model* CompiledModel::wait_optimised() {
  if (implementation_->thread.joinable()) implementation_->thread.join();
  for (std::size_t k = 0; k < implementation_->structures.size(); ++k) {
    implementation_->reach(k);
    implementation_->structures[k]->wait_optimised();
  }
  const std::lock_guard lock(implementation_->tangent_mutex);
  if (implementation_->tangent_thread.joinable()) implementation_->tangent_thread.join();
  return current();
}

const tactus_model* CompiledModel::with_tangents(tangent::Functions functions) {
  return implementation_->with_tangents(functions);
}

JitTimes CompiledModel::times() const {
  JitTimes times = implementation_->times;
  times.optimised = implementation_->optimised_seconds.load();
  times.tangents = implementation_->tangent_seconds.load();
  return times;
}

}  // namespace emit_llvm
