#include "compiler/emit_llvm/module.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Verifier.h>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "compiler/ir/layout.h"
#include "compiler/ir/uses.h"

namespace emit_llvm {

namespace {

using ir::Op;
using ir::Value;

// What surrounds a chunk: pointers, null where the function has none.
struct Surroundings {
  llvm::Value* instance = nullptr;
  llvm::Value* t = nullptr;
  llvm::Value* x = nullptr;
  llvm::Value* dx = nullptr;
  llvm::Value* direction = nullptr;
  llvm::Value* captured = nullptr;
  llvm::Value* z = nullptr;
  llvm::Value* r = nullptr;
  llvm::Value* j = nullptr;
};

class ModuleBuilder {
 public:
  // tangents: null without.
  ModuleBuilder(const ir::Program& program, const ir::Tangents* tangents, llvm::LLVMContext& context,
                const ModuleOptions& options)
      : program_(program),
        tangents_(tangents),
        options_(options),
        layout_(ir::layout_of(program)),
        context_(context),
        module_(std::make_unique<llvm::Module>(options.prefix, context)),
        builder_(context),
        real_(llvm::Type::getDoubleTy(context)),
        i32_(llvm::Type::getInt32Ty(context)),
        i64_(llvm::Type::getInt64Ty(context)),
        pointer_(llvm::PointerType::getUnqual(context)) {
    module_->setTargetTriple(options.triple);
    module_->setDataLayout(options.data_layout);
    // Functions may name the table before it is known: a stand-in until then.
    table_ = new llvm::GlobalVariable(*module_, llvm::Type::getInt8Ty(context), true,
                                      llvm::GlobalValue::ExternalLinkage, nullptr, options.table);
    model_ = table_;
  }

  std::unique_ptr<llvm::Module> build() {
    const Metadata metadata =
        options_.metadata != nullptr ? metadata_of_process(*options_.metadata) : metadata_as_data();
    sampled_ = metadata.tables;
    if (!program_.structures.empty()) return build_whole(metadata);
    residuals();
    llvm::Function* prepare = function("prepare", program_.prepare, Arguments::none);
    llvm::Function* initialize = function("initialize", program_.initialize, Arguments::none);
    llvm::Function* derivative = function("derivative", program_.derivative, Arguments::x_dx);
    llvm::Function* outputs = function("outputs", program_.outputs, Arguments::x);
    llvm::Constant* fire_entry = program_.events.empty() ? null() : fire();
    llvm::Constant* watch = null();
    if (program_.watch_count > 0)
      watch = function("watch", program_.watch, Arguments::x, ir::warm_starts(program_.watch));
    llvm::Constant* constrain = null();
    if (!program_.constraints.empty())
      constrain = function("constrain", program_.constrain, Arguments::x_dx, ir::warm_starts(program_.constrain));
    llvm::Constant* condition = null();
    if (!program_.conditions.empty())
      condition = function("condition", program_.condition, Arguments::x_dx, ir::warm_starts(program_.condition));
    llvm::Constant* energy = null();
    if (program_.ledger != 0)
      energy = function("energy", program_.energy, Arguments::x_dx, ir::warm_starts(program_.energy));
    llvm::Constant* structure_entry = null();
    if (program_.has_structure)
      structure_entry = function("structure", program_.structure, Arguments::x_dx, ir::warm_starts(program_.structure));
    llvm::Constant* balance = null();
    if (program_.has_balance) balance = function("balance", program_.balance, Arguments::x_dx);
    llvm::Constant* slopes = null();
    if (!program_.core.empty()) slopes = function("slopes", program_.slopes, Arguments::x_dx);
    llvm::Constant* tangent_entry = null();
    if (tangents_ != nullptr) tangent_entry = tangent(llvm::GlobalValue::InternalLinkage, options_.prefix + "_tangent");
    llvm::Constant* subsystem_entry = program_.subsystems.empty() ? null() : subsystems();
    table(metadata,
          {prepare, initialize, derivative, outputs, fire_entry, watch, constrain, condition, energy, structure_entry,
           balance, slopes, subsystem_entry, tangent_entry,
           kernel_entry(program_.subsystems.empty() ? options_.fixed_steps : "tk_rated_steps", {i32_, real_, i64_}),
           kernel_entry(options_.adaptive_step, {i32_, real_, real_, real_})});
    return std::move(module_);
  }

  // Only the tangents, for a table that is somewhere else.
  std::unique_ptr<llvm::Module> build_tangents(const std::string& name, const tactus_model& table) {
    sampled_ = metadata_of_process(*options_.metadata).tables;
    model_ = address(&table);
    residuals();
    tangent(llvm::GlobalValue::ExternalLinkage, name);
    table_->eraseFromParent();
    return std::move(module_);
  }

 private:
  enum class Arguments { none, x, x_dx, x_direction_dx };  // beyond model and instance

  // ---- functions

  llvm::Function* declare(const std::string& name, llvm::Type* result, std::span<llvm::Type* const> parameters,
                          llvm::GlobalValue::LinkageTypes linkage) {
    auto* type = llvm::FunctionType::get(result, llvm::ArrayRef(parameters.data(), parameters.size()), false);
    auto* function = llvm::Function::Create(type, linkage, name, *module_);
    function->addFnAttr(llvm::Attribute::NoUnwind);
    return function;
  }

  llvm::Function* kernel_entry(const std::string& name, std::initializer_list<llvm::Type*> beyond) {
    std::vector<llvm::Type*> parameters = {pointer_, pointer_};
    parameters.insert(parameters.end(), beyond);
    return declare(name, i32_, parameters, llvm::GlobalValue::ExternalLinkage);
  }

  // A pure function of doubles from the kernel.
  llvm::FunctionCallee elementary(const char* plain_name, unsigned arity) {
    return pure_function(elementary_name(plain_name), arity);
  }
  llvm::FunctionCallee pure_function(const std::string& name, unsigned arity) {
    if (llvm::Function* known = module_->getFunction(name)) return known;
    std::vector<llvm::Type*> parameters(arity, real_);
    llvm::Function* function = declare(name, real_, parameters, llvm::GlobalValue::ExternalLinkage);
    function->setDoesNotAccessMemory();
    function->setWillReturn();
    return function;
  }
  // A function from the kernel that changes nothing: the same arguments and memory give the same value.
  llvm::FunctionCallee reading_function(const std::string& name, std::initializer_list<llvm::Type*> parameters) {
    if (llvm::Function* known = module_->getFunction(name)) return known;
    llvm::Function* function =
        declare(name, real_, std::span(parameters.begin(), parameters.size()), llvm::GlobalValue::ExternalLinkage);
    function->setOnlyReadsMemory();
    function->setWillReturn();
    return function;
  }

  std::string elementary_name(const char* name) const {
    return inline_elementary_ ? name : name + options_.native_ending;
  }

  llvm::FunctionCallee kernel_function(const std::string& name, llvm::Type* result,
                                       std::initializer_list<llvm::Type*> parameters) {
    if (llvm::Function* known = module_->getFunction(name)) return known;
    return declare(name, result, std::span(parameters.begin(), parameters.size()), llvm::GlobalValue::ExternalLinkage);
  }

  void start_function(llvm::Function* function) {
    builder_.SetInsertPoint(llvm::BasicBlock::Create(context_, "", function));
    sine_slot_ = cosine_slot_ = nullptr;
  }

  void residuals() {
    for (std::size_t k = 0; k < program_.residuals.size(); ++k) {
      residuals_.push_back(residual("_residual_" + std::to_string(k), program_.residuals[k], false));
    }
    if (tangents_ == nullptr) return;
    for (std::size_t k = 0; k < tangents_->residuals.size(); ++k) {
      residual_tangents_.push_back(residual("_residual_tangent_" + std::to_string(k), tangents_->residuals[k], true));
    }
  }

  llvm::Function* residual(const std::string& name, const ir::Chunk& source, bool is_tangent) {
    const std::vector<llvm::Type*> parameters(is_tangent ? 5 : 4, pointer_);
    llvm::Function* f = declare(options_.prefix + name, llvm::Type::getVoidTy(context_), parameters,
                                llvm::GlobalValue::InternalLinkage);
    start_function(f);
    Surroundings around;
    around.captured = f->getArg(0);
    around.z = f->getArg(1);
    if (is_tangent) around.direction = f->getArg(2);
    around.r = f->getArg(is_tangent ? 3 : 2);
    around.j = f->getArg(is_tangent ? 4 : 3);
    chunk(source, around);
    builder_.CreateRetVoid();
    return f;
  }

  // x and dx are not changed, respectively read, by any other way while the function runs.
  void mark_pointers(llvm::Function* f, unsigned first_data_pointer, Arguments arguments) {
    if (arguments == Arguments::none) return;
    f->addParamAttr(first_data_pointer, llvm::Attribute::NoAlias);
    f->addParamAttr(first_data_pointer, llvm::Attribute::ReadOnly);
    if (arguments == Arguments::x) return;
    f->addParamAttr(first_data_pointer + 1, llvm::Attribute::NoAlias);
    if (arguments == Arguments::x_dx) return;
    f->addParamAttr(first_data_pointer + 1, llvm::Attribute::ReadOnly);
    f->addParamAttr(first_data_pointer + 2, llvm::Attribute::NoAlias);
  }

  // Fills t and x of functions that are called without them from the instance.
  Surroundings surroundings(llvm::Function* f, unsigned first, Arguments arguments) {
    Surroundings around;
    around.instance = f->getArg(first);
    if (arguments == Arguments::none) {
      around.t = builder_.CreateLoad(real_, header_field(around.instance, offsetof(tactus_instance, time)));
      around.x = section(around.instance, layout_.states, 0u);
    } else {
      around.t = f->getArg(first + 1);
      around.x = f->getArg(first + 2);
      if (arguments == Arguments::x_dx) around.dx = f->getArg(first + 3);
      if (arguments == Arguments::x_direction_dx) {
        around.direction = f->getArg(first + 3);
        around.dx = f->getArg(first + 4);
      }
    }
    return around;
  }

  static std::size_t elementary_calls(const ir::Function& source) {
    std::size_t count = 0;
    for (const ir::Chunk& c : source.chunks) {
      for (const ir::Instruction& i : c.instructions) count += i.op >= Op::sin && i.op <= Op::power;
    }
    return count;
  }

  // kept_warm: places in the warm section that a success leaves as they were.
  llvm::Function* function(const std::string& name, const ir::Function& source, Arguments arguments,
                           const std::vector<std::uint32_t>& kept_warm = {}) {
    std::vector<llvm::Type*> parameters = {pointer_, pointer_};
    if (arguments != Arguments::none) parameters.insert(parameters.end(), {real_, pointer_});
    if (arguments == Arguments::x_dx) parameters.push_back(pointer_);
    if (arguments == Arguments::x_direction_dx) parameters.insert(parameters.end(), {pointer_, pointer_});

    std::string full_name = options_.prefix;
    full_name += '_';
    full_name += name;
    std::size_t size = 0;
    for (const ir::Chunk& c : source.chunks) size += c.instructions.size();
    const bool always_inline = arguments != Arguments::x_direction_dx && size <= options_.always_inline_limit;
    inline_elementary_ =
        always_inline && arguments == Arguments::x_dx && elementary_calls(source) <= options_.inline_elementary_limit;

    std::vector<llvm::Function*> parts;
    if (source.chunks.size() > 1) {
      for (std::size_t k = 0; k < source.chunks.size(); ++k) {
        llvm::Function* part = declare(full_name + "_" + std::to_string(k), i32_, std::span(parameters).subspan(1),
                                       llvm::GlobalValue::InternalLinkage);
        // With a single caller each the optimiser would join them again, and no longer be linear.
        part->addFnAttr(always_inline ? llvm::Attribute::AlwaysInline : llvm::Attribute::NoInline);
        mark_pointers(part, 2, arguments);
        start_function(part);
        chunk(source.chunks[k], surroundings(part, 0, arguments));
        builder_.CreateRet(builder_.getInt32(TACTUS_OK));
        parts.push_back(part);
      }
    }

    llvm::Function* whole = declare(full_name, i32_, parameters, llvm::GlobalValue::InternalLinkage);
    if (always_inline) whole->addFnAttr(llvm::Attribute::AlwaysInline);
    mark_pointers(whole, 3, arguments);
    start_function(whole);
    const std::vector<llvm::Value*> kept = keep_warm(instance_of(whole), kept_warm);
    if (source.chunks.size() == 1) chunk(source.chunks[0], surroundings(whole, 1, arguments));
    std::vector<llvm::Value*> given;
    for (unsigned k = 1; k < whole->arg_size(); ++k) given.push_back(whole->getArg(k));
    for (std::size_t k = 0; k < parts.size(); ++k) {
      llvm::Value* status = builder_.CreateCall(parts[k], given);
      if (ir::can_fail(source.chunks[k])) return_if_failed(status, nullptr);
    }
    put_warm_back(instance_of(whole), kept_warm, kept);
    builder_.CreateRet(builder_.getInt32(TACTUS_OK));
    inline_elementary_ = false;
    return whole;
  }

  static llvm::Value* instance_of(llvm::Function* entry) { return entry->getArg(1); }

  // With room for it the whole section is kept, which is a copy.
  bool keeps_all(const std::vector<std::uint32_t>& kept_warm) const {
    return !kept_warm.empty() && program_.kept_warm_count > 0;
  }
  void copy_warm(llvm::Value* instance, std::uint32_t to, std::uint32_t from) {
    builder_.CreateMemCpy(section(instance, to, 0u), llvm::Align(8), section(instance, from, 0u), llvm::Align(8),
                          8 * std::uint64_t{program_.kept_warm_count});
  }
  std::vector<llvm::Value*> keep_warm(llvm::Value* instance, const std::vector<std::uint32_t>& kept_warm) {
    std::vector<llvm::Value*> kept;
    if (keeps_all(kept_warm)) {
      copy_warm(instance, layout_.work + ir::kept_warm_place(program_), layout_.warm);
      return kept;
    }
    for (std::uint32_t k : kept_warm) kept.push_back(load(section(instance, layout_.warm, k)));
    return kept;
  }
  void put_warm_back(llvm::Value* instance, const std::vector<std::uint32_t>& kept_warm,
                     const std::vector<llvm::Value*>& kept) {
    if (keeps_all(kept_warm)) copy_warm(instance, layout_.warm, layout_.work + ir::kept_warm_place(program_));
    for (std::size_t k = 0; k < kept.size(); ++k) store(kept[k], section(instance, layout_.warm, kept_warm[k]));
  }

  bool is_joined(const ir::Function& source) const { return options_.joins_handlers && source.chunks.size() == 1; }
  // Its code here, to the return, instead of a function of its own.
  void joined(const ir::Function& source, llvm::Value* instance, const Surroundings& around) {
    const std::vector<std::uint32_t> kept_warm = ir::warm_starts(source);
    const std::vector<llvm::Value*> kept = keep_warm(instance, kept_warm);
    chunk(source.chunks[0], around);
    put_warm_back(instance, kept_warm, kept);
    builder_.CreateRet(builder_.getInt32(TACTUS_OK));
  }

  // The handlers of all events that do something, and the choice between them: one function each, or all of them in one.
  llvm::Function* fire() {
    TACTUS_CHECK(program_.handlers.size() <= program_.events.size());
    std::vector<llvm::Function*> handlers(program_.handlers.size(), nullptr);
    for (std::size_t k = 0; k < program_.handlers.size(); ++k) {
      const ir::Function& source = program_.handlers[k];
      if (source.chunks.empty() || is_joined(source)) continue;
      handlers[k] = function("handler_" + std::to_string(k), source, Arguments::none, ir::warm_starts(source));
    }
    const std::array<llvm::Type*, 3> parameters = {pointer_, pointer_, i32_};
    llvm::Function* whole = declare(options_.prefix + "_fire", i32_, parameters, llvm::GlobalValue::InternalLinkage);
    start_function(whole);
    auto* otherwise = llvm::BasicBlock::Create(context_, "", whole);
    auto* choice = builder_.CreateSwitch(whole->getArg(2), otherwise, static_cast<unsigned>(handlers.size()));
    for (std::size_t k = 0; k < handlers.size(); ++k) {
      const ir::Function& source = program_.handlers[k];
      if (source.chunks.empty()) continue;
      auto* block = llvm::BasicBlock::Create(context_, "", whole);
      choice->addCase(builder_.getInt32(static_cast<std::uint32_t>(k)), block);
      builder_.SetInsertPoint(block);
      if (handlers[k] != nullptr) {
        builder_.CreateRet(builder_.CreateCall(handlers[k], {whole->getArg(0), whole->getArg(1)}));
        continue;
      }
      joined(source, instance_of(whole), surroundings(whole, 1, Arguments::none));
    }
    builder_.SetInsertPoint(otherwise);
    builder_.CreateRet(builder_.getInt32(TACTUS_OK));
    return whole;
  }

  // The functions of all subsystems and the choice between them.
  llvm::Function* subsystems() {
    std::vector<std::pair<std::uint32_t, llvm::Function*>> made;
    for (std::size_t k = 0; k < program_.subsystems.size(); ++k) {
      const ir::Subsystem& s = program_.subsystems[k];
      const auto add = [&](std::uint32_t which, const char* name, const ir::Function& source) {
        if (source.chunks.empty()) return;
        const bool is_derivative = which == TACTUS_SUBSYSTEM_DERIVATIVE;
        made.emplace_back(TACTUS_SUBSYSTEM_FUNCTIONS * static_cast<std::uint32_t>(k) + which,
                          function("subsystem_" + std::to_string(k) + name, source, Arguments::x_dx,
                                   is_derivative ? std::vector<std::uint32_t>() : ir::warm_starts(source)));
      };
      add(TACTUS_SUBSYSTEM_DERIVATIVE, "_derivative", s.derivative);
      add(TACTUS_SUBSYSTEM_ENERGY, "_energy", s.energy);
      add(TACTUS_SUBSYSTEM_SAMPLES, "_samples", s.sample);
    }
    const std::array<llvm::Type*, 6> parameters = {pointer_, pointer_, i32_, real_, pointer_, pointer_};
    llvm::Function* whole =
        declare(options_.prefix + "_subsystem", i32_, parameters, llvm::GlobalValue::InternalLinkage);
    start_function(whole);
    auto* otherwise = llvm::BasicBlock::Create(context_, "", whole);
    auto* choice = builder_.CreateSwitch(whole->getArg(2), otherwise, static_cast<unsigned>(made.size()));
    for (const auto& [which, function] : made) {
      auto* block = llvm::BasicBlock::Create(context_, "", whole);
      choice->addCase(builder_.getInt32(which), block);
      builder_.SetInsertPoint(block);
      builder_.CreateRet(builder_.CreateCall(
          function, {whole->getArg(0), whole->getArg(1), whole->getArg(3), whole->getArg(4), whole->getArg(5)}));
    }
    builder_.SetInsertPoint(otherwise);
    builder_.CreateRet(builder_.getInt32(TACTUS_OK));
    return whole;
  }

  // The functions' tangents and the choice between them; -1 for one that was not asked for.
  llvm::Function* tangent(llvm::GlobalValue::LinkageTypes linkage, const std::string& name) {
    struct Choice {
      tactus_function which;
      const char* name;
      const ir::Function& source;
      bool of_the_instance;  // t and x
    };
    const Choice choices[] = {
        {TACTUS_OF_PREPARE, "prepare_tangent", tangents_->prepare, true},
        {TACTUS_OF_INITIALIZE, "initialize_tangent", tangents_->initialize, true},
        {TACTUS_OF_DERIVATIVE, "derivative_tangent", tangents_->derivative, false},
        {TACTUS_OF_OUTPUTS, "outputs_tangent", tangents_->outputs, false},
        {TACTUS_OF_WATCH, "watch_tangent", tangents_->watch, false},
        {TACTUS_OF_CONSTRAINTS, "constraints_tangent", tangents_->constraints, false},
        {TACTUS_OF_CONDITIONS, "conditions_tangent", tangents_->conditions, false},
    };
    const auto made = [&](const std::string& part, const ir::Function& source) -> llvm::Function* {
      if (source.chunks.empty()) return nullptr;
      return function(part, source, Arguments::x_direction_dx, ir::warm_starts(source));
    };
    std::vector<llvm::Function*> functions;
    for (const Choice& choice : choices) functions.push_back(made(choice.name, choice.source));
    std::vector<llvm::Function*> handlers;
    for (std::size_t k = 0; k < tangents_->handlers.size(); ++k) {
      const ir::Function& source = tangents_->handlers[k];
      handlers.push_back(is_joined(source) ? nullptr : made("handler_" + std::to_string(k) + "_tangent", source));
    }

    std::vector<llvm::Function*> of_subsystems;
    for (std::size_t k = 0; k < tangents_->subsystems.size(); ++k)
      of_subsystems.push_back(made("subsystem_" + std::to_string(k) + "_tangent", tangents_->subsystems[k]));

    const std::array<llvm::Type*, 7> parameters = {pointer_, pointer_, i32_, real_, pointer_, pointer_, pointer_};
    llvm::Function* whole = declare(name, i32_, parameters, linkage);
    start_function(whole);
    llvm::Value* const instance = whole->getArg(1);
    auto* const no_such = llvm::BasicBlock::Create(context_, "", whole);
    auto* const nothing_more = llvm::BasicBlock::Create(context_, "", whole);
    auto* const of_event = tangents_->fire ? llvm::BasicBlock::Create(context_, "", whole) : no_such;
    const auto call = [&](llvm::Function* function, bool of_the_instance) {
      llvm::Value* t = whole->getArg(3);
      llvm::Value* x = whole->getArg(4);
      if (of_the_instance) {
        t = builder_.CreateLoad(real_, header_field(instance, offsetof(tactus_instance, time)));
        x = section(instance, layout_.states, 0u);
      }
      builder_.CreateRet(
          builder_.CreateCall(function, {whole->getArg(0), instance, t, x, whole->getArg(5), whole->getArg(6)}));
    };
    auto* const choice = builder_.CreateSwitch(whole->getArg(2), of_event, std::size(choices));
    for (std::size_t k = 0; k < std::size(choices); ++k) {
      auto* block = functions[k] == nullptr ? no_such : llvm::BasicBlock::Create(context_, "", whole);
      choice->addCase(builder_.getInt32(choices[k].which), block);
      if (functions[k] == nullptr) continue;
      builder_.SetInsertPoint(block);
      call(functions[k], choices[k].of_the_instance);
    }
    for (std::size_t k = 0; k < of_subsystems.size(); ++k) {
      if (of_subsystems[k] == nullptr) continue;
      auto* block = llvm::BasicBlock::Create(context_, "", whole);
      choice->addCase(builder_.getInt32(TACTUS_OF_SUBSYSTEM + static_cast<std::uint32_t>(k)), block);
      builder_.SetInsertPoint(block);
      call(of_subsystems[k], false);
    }
    if (tangents_->fire) {
      // What an event leaves as it was moves as it did.
      builder_.SetInsertPoint(of_event);
      const tactus_model counts = direction_counts();
      const auto keep = [&](std::uint64_t to, std::uint64_t from, std::uint64_t count) {
        if (count == 0) return;
        builder_.CreateMemCpy(offset(whole->getArg(6), 8 * to), llvm::Align(8), offset(whole->getArg(5), 8 * from),
                              llvm::Align(8), 8 * count);
      };
      keep(0, tactus_direction_discrete(&counts), counts.discrete_count);
      keep(counts.discrete_count, tactus_direction_states(&counts), counts.state_count);
      auto* const event = builder_.CreateSwitch(whole->getArg(2), nothing_more, static_cast<unsigned>(handlers.size()));
      for (std::size_t k = 0; k < handlers.size(); ++k) {
        const ir::Function& source = tangents_->handlers[k];
        if (source.chunks.empty()) continue;
        auto* block = llvm::BasicBlock::Create(context_, "", whole);
        event->addCase(builder_.getInt32(static_cast<std::uint32_t>(TACTUS_OF_FIRE + k)), block);
        builder_.SetInsertPoint(block);
        if (handlers[k] != nullptr) {
          call(handlers[k], true);
          continue;
        }
        Surroundings around;
        around.instance = instance;
        around.t = builder_.CreateLoad(real_, header_field(instance, offsetof(tactus_instance, time)));
        around.x = section(instance, layout_.states, 0u);
        around.direction = whole->getArg(5);
        around.dx = whole->getArg(6);
        joined(source, instance, around);
      }
    }
    builder_.SetInsertPoint(nothing_more);
    builder_.CreateRet(builder_.getInt32(TACTUS_OK));
    builder_.SetInsertPoint(no_such);
    builder_.CreateRet(builder_.getInt32(0xffffffffu));
    return whole;
  }

  tactus_model direction_counts() const {
    tactus_model counts = {};
    counts.state_count = static_cast<std::uint32_t>(program_.state_names.size());
    counts.input_count = program_.input_count;
    counts.parameter_count = static_cast<std::uint32_t>(program_.parameters.size());
    counts.derived_count = program_.derived_count;
    counts.discrete_count = program_.discrete_count;
    return counts;
  }

  // ---- memory

  llvm::Value* offset(llvm::Value* base, std::uint64_t bytes) {
    return bytes == 0 ? base : builder_.CreateConstInBoundsGEP1_64(llvm::Type::getInt8Ty(context_), base, bytes);
  }
  llvm::Value* header_field(llvm::Value* instance, std::size_t bytes) { return offset(instance, bytes); }
  llvm::Value* section(llvm::Value* instance, std::uint32_t start, std::uint32_t index) {
    return offset(instance, sizeof(tactus_instance) + 8 * (std::uint64_t{start} + index));
  }
  llvm::Value* load(llvm::Value* address) { return builder_.CreateAlignedLoad(real_, address, llvm::Align(8)); }
  void store(llvm::Value* value, llvm::Value* address) { builder_.CreateAlignedStore(value, address, llvm::Align(8)); }

  // first + turn * step; a constant where it is the same in every turn.
  llvm::Value* in_turn(std::uint32_t first, std::int32_t step) {
    if (step == 0) return builder_.getInt64(first);
    llvm::Value* steps = builder_.CreateMul(turn_, builder_.getInt64(static_cast<std::uint64_t>(std::int64_t{step})));
    return builder_.CreateAdd(builder_.getInt64(first), steps);
  }
  // Of an instruction, or one behind it.
  llvm::Value* place(const ir::Chunk& c, const ir::Instruction& i, std::uint32_t behind = 0) {
    if (i.listed == ir::no_value) return in_turn(i.index + behind, i.step);
    TACTUS_CHECK(behind == 0);
    const std::vector<std::uint32_t> list(c.places.begin() + i.listed, c.places.begin() + i.listed + c.turns);
    return builder_.CreateZExt(from_list(i32_, words(list)), i64_);
  }
  llvm::Value* from_list(llvm::Type* type, llvm::Constant* list) {
    return builder_.CreateLoad(type, builder_.CreateInBoundsGEP(type, list, turn_));
  }
  llvm::Value* element(llvm::Value* base, llvm::Value* index) {
    TACTUS_CHECK(base != nullptr);  // an operation of another kind of function
    if (auto* fixed = llvm::dyn_cast<llvm::ConstantInt>(index)) return offset(base, 8 * fixed->getZExtValue());
    return builder_.CreateInBoundsGEP(real_, base, index);
  }
  llvm::Value* section(llvm::Value* instance, std::uint32_t start, llvm::Value* index) {
    TACTUS_CHECK(instance != nullptr);
    if (auto* fixed = llvm::dyn_cast<llvm::ConstantInt>(index))
      return offset(instance, sizeof(tactus_instance) + 8 * (std::uint64_t{start} + fixed->getZExtValue()));
    return element(section(instance, start, 0u), index);
  }

  // Leaves the function with `status` unless it is TACTUS_OK; with an instance, its failed_block is set on that way out.
  void return_if_failed(llvm::Value* status, llvm::Value* instance, llvm::Value* block = nullptr) {
    llvm::Function* f = builder_.GetInsertBlock()->getParent();
    auto* failed = llvm::BasicBlock::Create(context_, "", f);
    auto* next = llvm::BasicBlock::Create(context_, "", f);
    builder_.CreateCondBr(builder_.CreateICmpEQ(status, builder_.getInt32(TACTUS_OK)), next, failed);
    builder_.SetInsertPoint(failed);
    if (instance != nullptr) {
      builder_.CreateStore(builder_.CreateTrunc(block, i32_),
                           header_field(instance, offsetof(tactus_instance, failed_block)));
    }
    builder_.CreateRet(status);
    builder_.SetInsertPoint(next);
  }

  // ---- instructions

  void sine_or_cosine(const ir::Chunk& c, const ir::Uses& uses, Value v) {
    const ir::Instruction& i = c.instructions[v];
    const Value other = uses.partner(v);
    if (other == ir::no_value) {
      values_[v] = builder_.CreateCall(elementary(i.op == Op::sin ? "tk_sin" : "tk_cos", 1), {values_[i.a]});
      return;
    }
    if (other < v) return;
    if (sine_slot_ == nullptr) {
      llvm::BasicBlock& entry = builder_.GetInsertBlock()->getParent()->getEntryBlock();
      llvm::IRBuilder<> at_entry(&entry, entry.begin());
      sine_slot_ = at_entry.CreateAlloca(real_);
      cosine_slot_ = at_entry.CreateAlloca(real_);
    }
    auto callee =
        kernel_function(elementary_name("tk_sincos"), llvm::Type::getVoidTy(context_), {real_, pointer_, pointer_});
    builder_.CreateCall(callee, {values_[i.a], sine_slot_, cosine_slot_});
    values_[i.op == Op::sin ? v : other] = load(sine_slot_);
    values_[i.op == Op::sin ? other : v] = load(cosine_slot_);
  }

  void solve(const ir::Chunk& c, const ir::Uses& uses, const Surroundings& around, Value v) {
    const ir::Instruction& i = c.instructions[v];
    TACTUS_CHECK(around.instance != nullptr);
    const auto work = [&](const ir::Instruction& of, std::uint32_t behind) {
      return section(around.instance, layout_.work, place(c, of, behind));
    };
    const auto warm = [&](const ir::Instruction& of) {
      return section(around.instance, layout_.warm, in_turn(of.warm, of.warm_step));
    };
    for (std::uint32_t k = 0; k < i.count; ++k) store(values_[c.operands[i.first + k]], work(i, k));
    llvm::Value* scratch = work(i, 0);
    llvm::Value* size = builder_.getInt32(i.size);
    llvm::Value* solution = nullptr;
    llvm::Value* status = nullptr;
    if (i.op == Op::newton_tangent) {
      const ir::Instruction& solved = c.instructions[i.a];
      solution = work(i, i.count + i.size * i.size);
      status = builder_.CreateCall(
          kernel_function("tk_newton_tangent", i32_, {i32_, pointer_, pointer_, pointer_, pointer_, pointer_}),
          {size, residual_tangents_.at(i.residual), work(solved, 0), warm(solved), scratch, work(i, i.count)});
    } else if (i.op == Op::linear_solve) {
      TACTUS_CHECK(i.count == i.size * i.size + i.size);
      solution = work(i, i.size * i.size);
      if (i.warm == 0) {
        status = builder_.CreateCall(kernel_function("tk_lu_solve", i32_, {i32_, pointer_, pointer_}),
                                     {size, scratch, solution});
      } else {
        status = builder_.CreateCall(
            kernel_function("tk_solve_constrained", i32_, {i32_, i32_, pointer_, pointer_, pointer_}),
            {size, builder_.getInt32(i.warm), scratch, solution, work(i, i.size * i.size + i.size)});
      }
    } else {
      solution = warm(i);
      status = builder_.CreateCall(kernel_function("tk_newton", i32_, {i32_, pointer_, pointer_, pointer_, pointer_}),
                                   {size, residuals_.at(i.residual), scratch, solution, work(i, i.count)});
    }
    return_if_failed(status, around.instance, in_turn(i.block, i.block_step));
    auto found = uses.solutions.find(v);
    if (found == uses.solutions.end()) return;
    for (Value user : found->second) {
      TACTUS_CHECK(c.instructions[user].index < i.size);
      values_[user] = load(offset(solution, 8 * std::uint64_t{c.instructions[user].index}));
    }
  }

  void chunk(const ir::Chunk& c, const Surroundings& around) {
    const ir::Uses uses = ir::find_uses(c);
    values_.assign(c.instructions.size(), nullptr);
    const auto once = [&] {
      for (Value v = 0; v < c.instructions.size(); ++v) {
        if (uses.live[v]) instruction(c, uses, around, v);
      }
    };
    if (c.turns == 1) return once();
    llvm::BasicBlock* const before = builder_.GetInsertBlock();
    auto* const loop = llvm::BasicBlock::Create(context_, "", before->getParent());
    builder_.CreateBr(loop);
    builder_.SetInsertPoint(loop);
    llvm::PHINode* const turn = builder_.CreatePHI(i64_, 2);
    turn->addIncoming(builder_.getInt64(0), before);
    turn_ = turn;
    once();
    llvm::Value* const next = builder_.CreateAdd(turn, builder_.getInt64(1));
    turn->addIncoming(next, builder_.GetInsertBlock());
    auto* const behind = llvm::BasicBlock::Create(context_, "", before->getParent());
    builder_.CreateCondBr(builder_.CreateICmpULT(next, builder_.getInt64(c.turns)), loop, behind);
    builder_.SetInsertPoint(behind);
    turn_ = nullptr;
  }

  llvm::Value* call(const char* name, llvm::Value* a) { return builder_.CreateCall(elementary(name, 1), {a}); }
  llvm::Value* call(const char* name, llvm::Value* a, llvm::Value* b) {
    return builder_.CreateCall(elementary(name, 2), {a, b});
  }

  llvm::Value* sampled(const ir::Instruction& i, llvm::Value* a, llvm::Value* b) {
    llvm::Constant* index = builder_.getInt32(i.index);
    llvm::Value* which = llvm::ConstantExpr::getInBoundsGetElementPtr(table_type(), sampled_, index);
    llvm::Value* order = builder_.getInt32(i.size);
    if (b == nullptr)
      return builder_.CreateCall(reading_function("tk_table", {pointer_, i32_, real_}), {which, order, a});
    return builder_.CreateCall(reading_function("tk_table_2", {pointer_, i32_, i32_, real_, real_}),
                               {which, order, builder_.getInt32(i.count), a, b});
  }

  llvm::Value* instance_load(const Surroundings& around, std::uint32_t start, llvm::Value* index) {
    return load(section(around.instance, start, index));
  }

  llvm::Value* listed_number(const ir::Chunk& c, const ir::Instruction& i) {
    return from_list(real_, doubles({c.numbers.begin() + i.listed, c.numbers.begin() + i.listed + c.turns}));
  }

  void instruction(const ir::Chunk& c, const ir::Uses& uses, const Surroundings& around, Value v) {
    const ir::Instruction& i = c.instructions[v];
    llvm::Value* const a = i.a == ir::no_value ? nullptr : values_[i.a];
    llvm::Value* const b = i.b == ir::no_value ? nullptr : values_[i.b];
    llvm::Value*& result = values_[v];
    const auto at = [&] { return place(c, i); };
    switch (i.op) {
      case Op::constant:
        result = i.listed == ir::no_value ? real(i.number) : listed_number(c, i);
        return;
      case Op::time:
        result = around.t;
        return;
      case Op::state:
        result = load(element(around.x, at()));
        return;
      case Op::input: {
        llvm::Value* since =
            builder_.CreateFSub(around.t, load(header_field(around.instance, offsetof(tactus_instance, input_time))));
        llvm::Value* rate = instance_load(around, layout_.input_rates, at());
        result = builder_.CreateFAdd(instance_load(around, layout_.inputs, at()), builder_.CreateFMul(rate, since));
        return;
      }
      case Op::input_rate:
        result = instance_load(around, layout_.input_rates, at());
        return;
      case Op::input_time:
        result = load(header_field(around.instance, offsetof(tactus_instance, input_time)));
        return;
      case Op::parameter:
        result = instance_load(around, layout_.parameters, at());
        return;
      case Op::derived:
        result = instance_load(around, layout_.derived, at());
        return;
      case Op::discrete:
        result = instance_load(around, layout_.discrete, at());
        return;
      case Op::delayed:
        TACTUS_CHECK(around.instance != nullptr);
        result = builder_.CreateCall(reading_function("tk_delayed", {pointer_, pointer_, i32_, real_}),
                                     {model_, around.instance, builder_.CreateTrunc(at(), i32_), around.t});
        return;
      case Op::load_work:
        result = instance_load(around, layout_.work, at());
        return;
      case Op::captured:
        result = load(element(around.captured, at()));
        return;
      case Op::unknown:
        result = load(element(around.z, at()));
        return;
      case Op::direction:
        result = load(element(around.direction, at()));
        return;
      case Op::add:
        result = builder_.CreateFAdd(a, b);
        return;
      case Op::subtract:
        result = builder_.CreateFSub(a, b);
        return;
      case Op::multiply:
        result = builder_.CreateFMul(a, b);
        return;
      case Op::divide:
        result = builder_.CreateFDiv(a, b);
        return;
      case Op::negate:
        result = builder_.CreateFNeg(a);
        return;
      case Op::square_root:
        result = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a);
        return;
      case Op::absolute:
        result = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a);
        return;
      case Op::floor:
        result = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, a);
        return;
      case Op::ceil:
        result = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, a);
        return;
      case Op::sin:
      case Op::cos:
        return sine_or_cosine(c, uses, v);
      case Op::tan:
        result = call("tk_tan", a);
        return;
      case Op::asin:
        result = call("tk_asin", a);
        return;
      case Op::acos:
        result = call("tk_acos", a);
        return;
      case Op::atan:
        result = call("tk_atan", a);
        return;
      case Op::atan2:
        result = call("tk_atan2", a, b);
        return;
      case Op::exp:
        result = call("tk_exp", a);
        return;
      case Op::log:
        result = call("tk_log", a);
        return;
      case Op::power:
        result = call("tk_pow", a, b);
        return;
      case Op::table:
        result = sampled(i, a, b);
        return;
      case Op::noise:
        result = builder_.CreateCall(pure_function("tk_noise", 2), {real(i.number), a});
        return;
      case Op::less:
        result = builder_.CreateFCmpOLT(a, b);
        return;
      case Op::less_equal:
        result = builder_.CreateFCmpOLE(a, b);
        return;
      case Op::equal:
        result = builder_.CreateFCmpOEQ(a, b);
        return;
      case Op::not_equal:
        result = builder_.CreateFCmpUNE(a, b);
        return;
      case Op::logical_and:
        result = builder_.CreateAnd(a, b);
        return;
      case Op::logical_or:
        result = builder_.CreateOr(a, b);
        return;
      case Op::logical_not:
        result = builder_.CreateNot(a);
        return;
      case Op::select:
        result = builder_.CreateSelect(a, b, values_[i.c]);
        return;
      case Op::linear_solve:
      case Op::newton_solve:
      case Op::newton_tangent:
        return solve(c, uses, around, v);
      case Op::solution:
        return;  // read behind its solve
      case Op::store_derivative:
        return store(a, element(around.dx, at()));
      case Op::store_discrete:
        return store(a, section(around.instance, layout_.discrete, at()));
      case Op::store_watched:
        return store(a, section(around.instance, layout_.watched, at()));
      case Op::store_state:
        return store(a, section(around.instance, layout_.states, at()));
      case Op::store_derived:
        return store(a, section(around.instance, layout_.derived, at()));
      case Op::store_output:
        return store(a, section(around.instance, layout_.outputs, at()));
      case Op::store_work:
        return store(a, section(around.instance, layout_.work, at()));
      case Op::store_warm:
        return store(a, section(around.instance, layout_.warm, at()));
      case Op::store_residual:
        return store(a, element(around.r, at()));
      case Op::store_jacobian:
        return store(a, element(around.j, at()));
      case Op::need_determinant: {
        llvm::Value* zero = llvm::ConstantFP::get(real_, 0);
        llvm::Value* singular =
            builder_.CreateOr(builder_.CreateFCmpOEQ(a, zero), builder_.CreateFCmpUNE(builder_.CreateFSub(a, a), zero));
        llvm::Value* status =
            builder_.CreateSelect(singular, builder_.getInt32(TACTUS_SINGULAR), builder_.getInt32(TACTUS_OK));
        return return_if_failed(status, around.instance, in_turn(i.block, i.block_step));
      }
    }
  }

  // ---- the table

  llvm::Constant* u32(std::uint64_t value) { return builder_.getInt32(static_cast<std::uint32_t>(value)); }
  llvm::Constant* real(double value) { return llvm::ConstantFP::get(real_, value); }
  llvm::Constant* null() { return llvm::ConstantPointerNull::get(pointer_); }

  // All texts lie in one array; a text is an address in it.
  llvm::Constant* text(std::string_view text) {
    const std::uint64_t at = texts_.size();
    texts_.append(text);
    texts_.push_back('\0');
    llvm::Constant* index = builder_.getInt32(static_cast<std::uint32_t>(at));
    return llvm::ConstantExpr::getInBoundsGetElementPtr(llvm::Type::getInt8Ty(context_), texts_global_, index);
  }

  llvm::Constant* structure(const std::vector<llvm::Constant*>& fields) {
    std::vector<llvm::Type*> types;
    for (llvm::Constant* field : fields) types.push_back(field->getType());
    return llvm::ConstantStruct::get(llvm::StructType::get(context_, types), fields);
  }

  template <class Item, class Print>
  llvm::Constant* array(const std::vector<Item>& items, Print print) {
    if (items.empty()) return null();
    std::vector<llvm::Constant*> elements;
    for (const Item& item : items) elements.push_back(print(item));
    auto* type = llvm::ArrayType::get(elements[0]->getType(), elements.size());
    return new llvm::GlobalVariable(*module_, type, true, llvm::GlobalValue::PrivateLinkage,
                                    llvm::ConstantArray::get(type, elements));
  }

  llvm::Constant* doubles(const std::vector<double>& values) {
    if (values.empty()) return null();
    llvm::Constant* data = llvm::ConstantDataArray::get(context_, llvm::ArrayRef<double>(values));
    return new llvm::GlobalVariable(*module_, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data);
  }

  llvm::Constant* words(const std::vector<std::uint32_t>& values) {
    if (values.empty()) return null();
    llvm::Constant* data = llvm::ConstantDataArray::get(context_, llvm::ArrayRef<std::uint32_t>(values));
    return new llvm::GlobalVariable(*module_, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data);
  }

  // tactus_table
  llvm::StructType* table_type() {
    return llvm::StructType::get(context_, {i32_, i32_, i32_, pointer_, pointer_, pointer_, pointer_});
  }

  struct Metadata {
    llvm::Constant* name;
    llvm::Constant* channels;
    llvm::Constant* input_channels;
    llvm::Constant* parameters;
    llvm::Constant* ports;
    llvm::Constant* blocks;
    llvm::Constant* drawings;
    llvm::Constant* drawing_options;
    llvm::Constant* events;
    llvm::Constant* event_times;
    llvm::Constant* delays;
    llvm::Constant* tables;
    llvm::Constant* relations;
    llvm::Constant* constraints;
    llvm::Constant* conditions;
    llvm::Constant* state_names;
    llvm::Constant* state_flags;
    llvm::Constant* constraint_start;
    llvm::Constant* constraint_index;
    llvm::Constant* jacobian_start;
    llvm::Constant* jacobian_index;
    llvm::Constant* colours;
    llvm::Constant* factors_start;
    llvm::Constant* factors_index;
    llvm::Constant* factor_order;
    llvm::Constant* factor_diagonal;
    llvm::Constant* factor_places;
    llvm::Constant* automata;
    llvm::Constant* structures;
    llvm::Constant* structure_of;
    llvm::Constant* conflicts_start;
    llvm::Constant* conflicts_index;
    llvm::Constant* plans;
    llvm::Constant* plan_phases;
    llvm::Constant* plan_places;
    llvm::Constant* subsystems;
    llvm::Constant* joins;
  };

  // The table that stands for all structures, whose own tables are named after it.
  std::unique_ptr<llvm::Module> build_whole(const Metadata& metadata) {
    const auto entry = [&](const char* name, std::initializer_list<llvm::Type*> beyond) {
      return kernel_entry(std::string("tk_modes_") + name, beyond);
    };
    table(metadata, {entry("prepare", {}), entry("initialize", {}), entry("derivative", {real_, pointer_, pointer_}),
                     entry("outputs", {real_, pointer_}), entry("fire", {i32_}), entry("watch", {real_, pointer_}),
                     entry("constrain", {real_, pointer_, pointer_}), null(), null(), null(), null(), null(),
                     entry("tangent", {i32_, real_, pointer_, pointer_, pointer_}),
                     entry("fixed_steps", {i32_, real_, i64_}), entry("adaptive_step", {i32_, real_, real_, real_})});
    return std::move(module_);
  }

  llvm::Constant* address(const void* pointer) {
    if (pointer == nullptr) return null();
    return llvm::ConstantExpr::getIntToPtr(builder_.getInt64(reinterpret_cast<std::uintptr_t>(pointer)), pointer_);
  }

  Metadata metadata_of_process(const tactus_model& m) {
    return {address(m.name),
            address(m.channels),
            address(m.input_channels),
            address(m.parameters),
            address(m.ports),
            address(m.blocks),
            address(m.drawings),
            address(m.drawing_options),
            address(m.events),
            address(m.event_times),
            address(m.delays),
            address(m.tables),
            address(m.relations),
            address(m.constraints),
            address(m.conditions),
            address(static_cast<const void*>(m.state_names)),
            address(m.state_flags),
            address(m.constraint_jacobian.start),
            address(m.constraint_jacobian.index),
            address(m.jacobian.start),
            address(m.jacobian.index),
            address(m.colours),
            address(m.factors.start),
            address(m.factors.index),
            address(m.factor_order),
            address(m.factor_diagonal),
            address(m.factor_places),
            address(m.automata),
            address(static_cast<const void*>(m.structures)),
            address(m.structure_of),
            address(m.conflicts.start),
            address(m.conflicts.index),
            address(m.plans),
            address(m.plan_phases),
            address(m.plan_places),
            address(m.subsystems),
            address(m.joins)};
  }

  // Bytes of all texts of the metadata, each with its terminating zero.
  std::size_t text_bytes() const {
    std::size_t bytes = program_.name.size() + 1;
    const auto count = [&](const std::string& text) { bytes += text.size() + 1; };
    for (const auto* channels : {&program_.channels, &program_.input_channels}) {
      for (const ir::Channel& c : *channels) {
        count(c.name);
        count(c.unit);
      }
    }
    for (const ir::Parameter& p : program_.parameters) {
      count(p.name);
      count(p.unit);
    }
    for (const ir::Port& p : program_.ports) count(p.device);
    for (const ir::Block& b : program_.blocks) {
      count(b.equations);
      count(b.unknowns);
    }
    for (const ir::Drawing& d : program_.drawings) {
      count(d.kind);
      if (!d.text.empty()) count(d.text);
      for (const ir::DrawingOption& o : d.options) {
        count(o.name);
        if (o.is_text) count(o.text);
      }
    }
    for (const ir::Event& e : program_.events) count(e.name);
    for (const ir::Constraint& c : program_.constraints) count(c.text);
    for (const ir::Condition& c : program_.conditions) count(c.text);
    for (const std::string& s : program_.state_names) count(s);
    for (const ir::Plan& p : program_.plans) count(p.name);
    if (!program_.structures.empty()) {
      for (const ir::Automaton& a : program_.automata) {
        count(a.name);
        for (const std::string& mode : a.modes) count(mode);
      }
    }
    return bytes;
  }

  Metadata metadata_as_data() {
    auto* bytes = llvm::ArrayType::get(llvm::Type::getInt8Ty(context_), text_bytes());
    texts_global_ = new llvm::GlobalVariable(*module_, bytes, true, llvm::GlobalValue::PrivateLinkage, nullptr);
    const auto channel = [&](const ir::Channel& c) {
      return structure({text(c.name), text(c.unit), u32(c.at), u32(c.rows), u32(c.columns), u32(c.flags)});
    };
    Metadata m = {};
    m.name = text(program_.name);
    m.channels = array(program_.channels, channel);
    m.input_channels = array(program_.input_channels, channel);
    m.parameters = array(program_.parameters, [&](const ir::Parameter& p) {
      return structure({text(p.name), text(p.unit), real(p.initial), real(p.low), real(p.high)});
    });
    m.ports = array(program_.ports, [&](const ir::Port& p) {
      return structure({text(p.device), u32(p.channel), u32(p.is_input ? 1 : 0)});
    });
    m.blocks = array(program_.blocks, [&](const ir::Block& b) {
      return structure({text(b.equations), text(b.unknowns), u32(b.line), u32(b.count), u32(b.warm)});
    });
    std::uint32_t next_option = 0;
    std::vector<ir::DrawingOption> options;
    m.drawings = array(program_.drawings, [&](const ir::Drawing& d) {
      const std::uint32_t first =
          std::exchange(next_option, next_option + static_cast<std::uint32_t>(d.options.size()));
      options.insert(options.end(), d.options.begin(), d.options.end());
      return structure(
          {text(d.kind), d.text.empty() ? null() : text(d.text), u32(first), u32(d.options.size()), u32(d.line)});
    });
    m.drawing_options = array(options, [&](const ir::DrawingOption& o) {
      return structure({text(o.name), o.is_text ? text(o.text) : null(), u32(o.channel)});
    });
    const ir::EventTable events = ir::event_table(program_);
    std::size_t next_event = 0;
    m.events = array(events.events, [&](const tactus_event& e) {
      return structure({text(program_.events[next_event++].name), u32(e.kind), u32(e.first), u32(e.count), u32(e.line),
                        real(e.period), real(e.from), u32(e.flags), u32(e.pulse)});
    });
    m.event_times = doubles(events.times);
    m.delays = array(ir::delay_table(program_), [&](const tactus_delay& d) {
      return structure({u32(d.source), u32(d.duration), u32(d.history), u32(d.capacity), u32(d.is_rate)});
    });
    m.tables = array(program_.tables, [&](const ir::Table& t) {
      return structure({u32(t.method), u32(t.x.size()), u32(t.y.size()), doubles(t.x), doubles(t.y), doubles(t.values),
                        doubles(t.slopes)});
    });
    m.relations = array(program_.relations, [&](const tactus_relation& r) {
      return structure({u32(r.kind), u32(r.guard), u32(r.held), u32(r.source), u32(r.is_strict), u32(r.line)});
    });
    m.constraints = array(program_.constraints, [&](const ir::Constraint& c) {
      return structure({text(c.text), u32(c.line), u32(c.order)});
    });
    m.conditions = array(program_.conditions,
                         [&](const ir::Condition& c) { return structure({text(c.text), u32(c.line), real(c.time)}); });
    m.state_flags = words(program_.state_flags);
    m.constraint_start = words(program_.constraint_jacobian.start);
    m.constraint_index = words(program_.constraint_jacobian.index);
    const ir::Tangents no_tangents;
    const ir::Tangents& tangents = tangents_ != nullptr ? *tangents_ : no_tangents;
    m.jacobian_start = words(tangents.jacobian.start);
    m.jacobian_index = words(tangents.jacobian.index);
    m.colours = words(tangents.colours);
    m.factors_start = words(tangents.factors.pattern.start);
    m.factors_index = words(tangents.factors.pattern.index);
    m.factor_order = words(tangents.factors.order);
    m.factor_diagonal = words(tangents.factors.diagonal);
    m.factor_places = words(tangents.factors.places);
    m.state_names = array(program_.state_names, [&](const std::string& s) { return text(s); });
    m.conflicts_start = words(program_.conflicts.start);
    m.conflicts_index = words(program_.conflicts.index);
    const ir::PlanTable plan_table = ir::plan_table(program_);
    std::size_t next_plan = 0;
    m.plans = array(plan_table.plans, [&](const tactus_plan& p) {
      return structure({text(program_.plans[next_plan++].name), u32(p.event), u32(p.failed), u32(p.first_chosen),
                        u32(p.chosen_count), u32(p.guess), u32(p.first_phase), u32(p.phase_count), u32(p.has_otherwise),
                        u32(p.line)});
    });
    m.plan_phases = array(plan_table.phases, [&](const tactus_plan_phase& p) {
      return structure({u32(p.event), u32(p.target), u32(p.target_count)});
    });
    m.plan_places = words(plan_table.places);
    m.subsystems = array(ir::subsystem_table(program_), [&](const tactus_subsystem& s) {
      return structure(
          {u32(s.multiple), u32(s.first_state), u32(s.state_count), u32(s.ledger), u32(s.phase), u32(s.samples)});
    });
    m.joins = array(program_.joins, [&](const tactus_join& j) {
      const auto two = [&](const std::uint32_t(&pair)[2]) { return structure({u32(pair[0]), u32(pair[1])}); };
      return structure(
          {u32(j.manner), u32(j.count), two(j.subsystem), two(j.sample), two(j.held), u32(j.since), two(j.work)});
    });
    m.automata = m.structures = m.structure_of = null();
    if (!program_.structures.empty()) {
      m.automata = array(program_.automata, [&](const ir::Automaton& a) {
        llvm::Constant* modes = array(a.modes, [&](const std::string& mode) { return text(mode); });
        return structure({text(a.name), modes, u32(a.modes.size()), u32(a.slot), u32(a.stride)});
      });
      std::size_t next_structure = 0;
      m.structures = array(program_.structures, [&](const ir::Program&) -> llvm::Constant* {
        return new llvm::GlobalVariable(*module_, llvm::Type::getInt8Ty(context_), true,
                                        llvm::GlobalValue::ExternalLinkage, nullptr,
                                        structure_table(options_.table, next_structure++));
      });
      m.structure_of = words(program_.structure_of);
    }

    TACTUS_CHECK(texts_.size() == bytes->getNumElements());
    texts_global_->setInitializer(llvm::ConstantDataArray::getString(context_, texts_, false));
    return m;
  }

  llvm::Constant* bytes_of_core() {
    std::array<std::uint8_t, TACTUS_CORE> core = {};
    std::ranges::copy(program_.core, core.begin());
    return llvm::ConstantDataArray::get(context_, core);
  }

  void table(const Metadata& m, const std::vector<llvm::Constant*>& entries) {
    // All that stands in the table from its first function on.
    constexpr std::size_t entry_count =
        (sizeof(tactus_model) - offsetof(tactus_model, prepare)) / sizeof(tactus_model::prepare);
    TACTUS_CHECK(entries.size() == entry_count);
    const tactus_layout& l = layout_;
    std::vector<llvm::Constant*> fields = {
        u32(TACTUS_ABI),
        u32(program_.state_names.size()),
        u32(program_.input_count),
        u32(program_.parameters.size()),
        u32(program_.derived_count),
        u32(program_.output_count),
        u32(program_.warm_count),
        u32(ir::work_count(program_)),
        u32(program_.discrete_count),
        u32(program_.events.size()),
        u32(program_.watch_count),
        u32(program_.delays.size()),
        u32(program_.tables.size()),
        u32(ir::history_count(program_)),
        u32(program_.relations.size()),
        u32(program_.constraints.size()),
        u32(program_.conditions.size()),
        u32(tangents_ != nullptr ? tangents_->colour_count : 0),
        structure({u32(l.states), u32(l.inputs), u32(l.input_rates), u32(l.parameters), u32(l.derived), u32(l.outputs),
                   u32(l.warm), u32(l.discrete), u32(l.clocks), u32(l.history), u32(l.ties), u32(l.snapshot),
                   u32(l.watched), u32(l.work), u32(l.stages), u32(l.projection), u32(l.plan), u32(l.linear),
                   u32(l.size)}),
        m.name,
        m.channels,
        m.input_channels,
        m.parameters,
        m.ports,
        m.blocks,
        m.events,
        m.event_times,
        m.delays,
        m.tables,
        m.relations,
        m.constraints,
        m.conditions,
        m.state_names,
        m.state_flags,
        structure({m.jacobian_start, m.jacobian_index}),
        m.colours,
        structure({m.factors_start, m.factors_index}),
        m.factor_order,
        m.factor_diagonal,
        m.factor_places,
        structure({m.constraint_start, m.constraint_index}),
        u32(program_.channels.size()),
        u32(program_.input_channels.size()),
        u32(program_.ports.size()),
        u32(program_.blocks.size()),
        m.drawings,
        m.drawing_options,
        u32(program_.drawings.size()),
        u32(ir::drawing_option_count(program_)),
        builder_.getInt32(static_cast<std::uint32_t>(program_.dimensions)),
        real(program_.starting_time),
        real(program_.ending_time),
        real(program_.step_size),
        real(program_.tolerance),
        real(program_.record_period),
        real(program_.event_precision),
        builder_.getInt32(static_cast<std::uint32_t>(program_.solver)),
        u32(program_.max_transitions),
        real(program_.hand_period),
        real(program_.guard_precision),
        u32(program_.location_steps),
        m.automata,
        m.structures,
        m.structure_of,
        u32(program_.structures.empty() ? 0 : program_.automata.size()),
        u32(program_.structures.size()),
        structure({m.conflicts_start, m.conflicts_index}),
        m.plans,
        m.plan_phases,
        m.plan_places,
        u32(program_.plans.size()),
        u32(program_.ledger),
        u32(program_.book_supplied),
        u32(program_.book_dissipated),
        u32(program_.core.size()),
        bytes_of_core(),
        m.subsystems,
        m.joins,
        u32(program_.subsystems.size()),
        u32(program_.joins.size()),
        u32(program_.samples),
        u32(program_.sample_count),
    };
    fields.insert(fields.end(), entries.begin(), entries.end());
    llvm::Constant* value = structure(fields);
    auto* global =
        new llvm::GlobalVariable(*module_, value->getType(), true, llvm::GlobalValue::ExternalLinkage, value);
    global->takeName(table_);
    table_->replaceAllUsesWith(global);
    table_->eraseFromParent();
    model_ = table_ = global;
  }

  const ir::Program& program_;
  const ir::Tangents* tangents_;
  const ModuleOptions& options_;
  tactus_layout layout_;
  llvm::LLVMContext& context_;
  std::unique_ptr<llvm::Module> module_;
  llvm::IRBuilder<> builder_;
  llvm::Type* real_;
  llvm::Type* i32_;
  llvm::Type* i64_;
  llvm::PointerType* pointer_;
  llvm::GlobalVariable* table_ = nullptr;
  llvm::Constant* model_ = nullptr;    // what the kernel gets as the model: the table, here or elsewhere
  llvm::Constant* sampled_ = nullptr;  // the table's `tables`
  std::vector<llvm::Function*> residuals_;
  std::vector<llvm::Function*> residual_tangents_;
  std::vector<llvm::Value*> values_;  // of the chunk being built
  llvm::Value* turn_ = nullptr;       // of it, where it has several
  llvm::Value* sine_slot_ = nullptr;  // of the function being built
  llvm::Value* cosine_slot_ = nullptr;
  bool inline_elementary_ = false;
  std::string texts_;
  llvm::GlobalVariable* texts_global_ = nullptr;
};

}  // namespace

std::unique_ptr<llvm::Module> build_module(const ir::Program& program, llvm::LLVMContext& context,
                                           const ModuleOptions& options) {
  return ModuleBuilder(program, program.tangents ? &*program.tangents : nullptr, context, options).build();
}

std::unique_ptr<llvm::Module> build_tangent_module(const ir::Program& program, const ir::Tangents& tangents,
                                                   const std::string& name, const tactus_model& table,
                                                   llvm::LLVMContext& context, const ModuleOptions& options) {
  return ModuleBuilder(program, &tangents, context, options).build_tangents(name, table);
}

std::string structure_table(const std::string& table, std::size_t structure) {
  return table + "_in_" + std::to_string(structure);
}

KernelEntries specialised_entries(const ir::Program& program, int solver) {
  if (solver < 0) {
    const bool has_step = program.step_size != 0;
    solver = tactus_choose_solver(program.solver, has_step, program.tolerance != 0);
  }
  switch (solver) {
    case TACTUS_EULER:
      return {"tk_model_euler_steps", "tk_adaptive_step", 1};
    case TACTUS_RK4:
      return {"tk_model_rk4_steps", "tk_adaptive_step", 4};
    case TACTUS_BS3_FIXED:
      return {"tk_model_bs3_steps", "tk_adaptive_step", 3};
    case TACTUS_MIDPOINT:
      return {"tk_model_midpoint_steps", "tk_adaptive_step", 3};
    case TACTUS_DISCRETE_GRADIENT:
      return {"tk_model_discrete_gradient_steps", "tk_adaptive_step", 7};
    case TACTUS_PASSIVE:
      return {"tk_model_passive_steps", "tk_adaptive_step", 7};
    case TACTUS_BS3:
      return {"tk_fixed_steps", "tk_model_bs3_step", 3};
    case TACTUS_TSIT5:
      return {"tk_fixed_steps", "tk_model_tsit5_step", 6};
    case TACTUS_DOP853:
      return {"tk_fixed_steps", "tk_model_dop853_step", 12};
    default:
      return {"tk_fixed_steps", "tk_adaptive_step", 1};
  }
}

void set_target_attributes(llvm::Module& module, llvm::StringRef cpu, llvm::StringRef features) {
  for (llvm::Function& function : module) {
    for (const char* attribute : {"target-cpu", "tune-cpu", "target-features"}) function.removeFnAttr(attribute);
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", cpu);
    function.addFnAttr("target-features", features);
  }
}

}  // namespace emit_llvm
