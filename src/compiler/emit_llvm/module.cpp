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
#include "compiler/emit_llvm/constants.h"
#include "compiler/emit_llvm/table.h"
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
        make_(*module_),
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
    const Fields metadata = options_.metadata != nullptr ? pointers_of_process(program_, *options_.metadata, *module_)
                                                         : pointers_as_data(program_, options_.table, *module_);
    sampled_ = metadata.at(offsetof(tactus_model, tables));
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
    sampled_ = make_.address(options_.metadata->tables);
    model_ = make_.address(&table);
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
    return builder_.CreateZExt(from_list(i32_, make_.numbers(list)), i64_);
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
    return from_list(real_, make_.numbers(std::vector<double>(c.numbers.begin() + i.listed,
                                                              c.numbers.begin() + i.listed + c.turns)));
  }

  void instruction(const ir::Chunk& c, const ir::Uses& uses, const Surroundings& around, Value v) {
    const ir::Instruction& i = c.instructions[v];
    llvm::Value* const a = i.a == ir::no_value ? nullptr : values_[i.a];
    llvm::Value* const b = i.b == ir::no_value ? nullptr : values_[i.b];
    llvm::Value*& result = values_[v];
    const auto at = [&] { return place(c, i); };
    switch (i.op) {
      case Op::constant:
        result = i.listed == ir::no_value ? make_.number(i.number) : listed_number(c, i);
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
        result = builder_.CreateCall(pure_function("tk_noise", 2), {make_.number(i.number), a});
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

  llvm::Constant* null() { return make_.null(); }

  // tactus_table
  llvm::StructType* table_type() {
    return llvm::StructType::get(context_, {i32_, i32_, i32_, pointer_, pointer_, pointer_, pointer_});
  }

  // The table that stands for all structures, whose own tables are named after it.
  std::unique_ptr<llvm::Module> build_whole(const Fields& metadata) {
    const auto entry = [&](const char* name, std::initializer_list<llvm::Type*> beyond) {
      return kernel_entry(std::string("tk_modes_") + name, beyond);
    };
    table(metadata, {entry("prepare", {}), entry("initialize", {}), entry("derivative", {real_, pointer_, pointer_}),
                     entry("outputs", {real_, pointer_}), entry("fire", {i32_}), entry("watch", {real_, pointer_}),
                     entry("constrain", {real_, pointer_, pointer_}), null(), null(), null(), null(), null(), null(),
                     entry("tangent", {i32_, real_, pointer_, pointer_, pointer_}),
                     entry("fixed_steps", {i32_, real_, i64_}), entry("adaptive_step", {i32_, real_, real_, real_})});
    return std::move(module_);
  }

  void table(const Fields& pointers, const std::vector<llvm::Constant*>& functions) {
    llvm::Constant* value = table_of(program_, pointers, functions, *module_);
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
  Constants make_;
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
