#include "compiler/emit_llvm/codegen.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/Linker/Linker.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Pass.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>
#include <llvm/Transforms/IPO/Internalize.h>

#include <mutex>
#include <set>
#include <string>

#include "base/check.h"

// kernel_blobs.S
extern "C" {
extern const char tactus_kernel_native_begin[];
extern const char tactus_kernel_native_end[];
extern const char tactus_kernel_wasm_begin[];
extern const char tactus_kernel_wasm_end[];
}

// WebAssembly is not the native target: its initialisers have C names and no header of their own.
extern "C" {
void LLVMInitializeWebAssemblyTargetInfo();
void LLVMInitializeWebAssemblyTarget();
void LLVMInitializeWebAssemblyTargetMC();
void LLVMInitializeWebAssemblyAsmPrinter();
}

namespace emit_llvm {

namespace {

std::unique_ptr<llvm::TargetMachine> make_machine(const std::string& triple, const std::string& cpu,
                                                  const std::string& features, llvm::CodeGenOptLevel level,
                                                  llvm::Reloc::Model relocation) {
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  TACTUS_CHECK(target != nullptr);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.EnableFastISel = level == llvm::CodeGenOptLevel::None;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, cpu, features, options, relocation, llvm::CodeModel::Small, level, true));
}

// Empties each function that the code generator reaches after cancellation.
class CancelPass : public llvm::FunctionPass {
 public:
  explicit CancelPass(const std::atomic<bool>& cancelled) : FunctionPass(identity), cancelled_(cancelled) {}
  bool runOnFunction(llvm::Function& function) override {
    if (!cancelled_.load(std::memory_order_relaxed)) return false;
    for (llvm::BasicBlock& block : function) block.dropAllReferences();
    while (!function.empty()) function.begin()->eraseFromParent();
    new llvm::UnreachableInst(function.getContext(), llvm::BasicBlock::Create(function.getContext(), "", &function));
    return true;
  }
  static char identity;

 private:
  const std::atomic<bool>& cancelled_;
};
char CancelPass::identity = 0;

}  // namespace

std::string_view kernel_bitcode_native() {
  return {tactus_kernel_native_begin, static_cast<std::size_t>(tactus_kernel_native_end - tactus_kernel_native_begin)};
}

std::string_view kernel_bitcode_wasm() {
  return {tactus_kernel_wasm_begin, static_cast<std::size_t>(tactus_kernel_wasm_end - tactus_kernel_wasm_begin)};
}

std::unique_ptr<llvm::TargetMachine> make_native_machine(Effort effort) {
  static const bool once = [] {
    return !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  }();
  TACTUS_CHECK(once);
  static const std::string features = [] {
    llvm::SubtargetFeatures list;
    for (const auto& feature : llvm::sys::getHostCPUFeatures()) list.AddFeature(feature.getKey(), feature.getValue());
    return list.getString();
  }();
  const auto level = effort == Effort::fast      ? llvm::CodeGenOptLevel::None
                     : effort == Effort::reduced ? llvm::CodeGenOptLevel::Less
                                                 : llvm::CodeGenOptLevel::Default;
  return make_machine(llvm::sys::getProcessTriple(), llvm::sys::getHostCPUName().str(), features, level,
                      llvm::Reloc::PIC_);
}

std::unique_ptr<llvm::TargetMachine> make_wasm_machine() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeWebAssemblyTargetInfo();
    LLVMInitializeWebAssemblyTarget();
    LLVMInitializeWebAssemblyTargetMC();
    LLVMInitializeWebAssemblyAsmPrinter();
  });
  return make_machine("wasm32-unknown-unknown", "generic",
                      "+bulk-memory,+nontrapping-fptoint,+sign-ext,+mutable-globals", llvm::CodeGenOptLevel::Default,
                      llvm::Reloc::Static);
}

void silence_remarks(llvm::LLVMContext& context) {
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo* info, void*) { TACTUS_CHECK(info->getSeverity() != llvm::DS_Error); });
}

void link_kernel(llvm::Module& module, std::string_view bitcode, Link which) {
  const llvm::MemoryBufferRef buffer(llvm::StringRef(bitcode.data(), bitcode.size()), "kernel");
  // Lazy: only the functions that are linked in are read.
  auto kernel = llvm::getLazyBitcodeModule(buffer, module.getContext());
  TACTUS_CHECK(static_cast<bool>(kernel));
  (*kernel)->setTargetTriple(module.getTargetTriple());
  (*kernel)->setDataLayout(module.getDataLayout());
  const bool failed = llvm::Linker::linkModules(
      module, std::move(*kernel), which == Link::needed ? llvm::Linker::LinkOnlyNeeded : llvm::Linker::None);
  TACTUS_CHECK(!failed);
}

void internalize(llvm::Module& module, std::initializer_list<std::string_view> kept) {
  const std::set<std::string_view> names(kept);
  llvm::internalizeModule(module, [&](const llvm::GlobalValue& value) {
    const auto* function = llvm::dyn_cast<llvm::Function>(&value);
    if (function != nullptr && function->hasFnAttribute("wasm-export-name")) return true;
    const llvm::StringRef name = value.getName();
    return names.contains(std::string_view(name.data(), name.size()));
  });
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine, Effort effort, const std::atomic<bool>& cancelled) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopInterleaving = false;

  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [&](llvm::StringRef, const llvm::Any&) { return !cancelled.load(std::memory_order_relaxed); });

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  const auto level = effort == Effort::full ? llvm::OptimizationLevel::O2 : llvm::OptimizationLevel::O1;
  builder.buildPerModuleDefaultPipeline(level).run(module, modules);
}

llvm::SmallVector<char, 0> generate_code(llvm::Module& module, llvm::TargetMachine& machine,
                                         const std::atomic<bool>& cancelled) {
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  // What addPassesToEmitFile does, with our own pass behind the last one that goes through the whole module: from there
  // on each function goes all the way to its machine code before the next begins.
  auto& target = static_cast<llvm::LLVMTargetMachine&>(machine);
  llvm::legacy::PassManager passes;
  auto* information = new llvm::MachineModuleInfoWrapperPass(&target);
  llvm::TargetPassConfig* config = target.createPassConfig(passes);
  config->setDisableVerify(true);
  const std::unique_ptr<llvm::ModulePass> last_of_module(
      llvm::createPreISelIntrinsicLoweringPass());  // for its identity
  config->insertPass(last_of_module->getPassID(), new CancelPass(cancelled));
  passes.add(config);
  passes.add(information);
  bool failed = config->addISelPasses();
  TACTUS_CHECK(!failed);
  config->addMachinePasses();
  config->setInitialized();
  failed = target.addAsmPrinter(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile,
                                information->getMMI().getContext());
  TACTUS_CHECK(!failed);
  passes.add(llvm::createFreeMachineFunctionPass());
  passes.run(module);
  return object;
}

}  // namespace emit_llvm
