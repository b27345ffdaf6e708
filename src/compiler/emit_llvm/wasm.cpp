#include "compiler/emit_llvm/wasm.h"

#include <fmt/format.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/raw_ostream.h>
#ifdef TACTUS_HAS_LLD
#include <lld/Common/Driver.h>
LLD_HAS_DRIVER(wasm)
#endif

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "base/check.h"
#include "compiler/emit_llvm/codegen.h"
#include "compiler/emit_llvm/module.h"
#include "compiler/ir/layout.h"
#include "compiler/reroll/reroll.h"
#include "compiler/tangent/needed.h"

namespace emit_llvm {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t inlined_in_all = 400;  // instructions of the model in one step: a page is loaded, too
const std::atomic<bool> never_cancelled = false;

// A folder of our own in the system's place for temporary files; removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "tactus-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }  // empty when it could not be made

 private:
  fs::path path_;
};

bool run_linker(const std::vector<std::string>& arguments, std::string& failure) {
#ifdef TACTUS_HAS_LLD
  // lld keeps global state.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  std::vector<const char*> list;
  for (const std::string& argument : arguments) list.push_back(argument.c_str());
  llvm::raw_string_ostream messages(failure);
  const lld::Result result = lld::lldMain(list, messages, messages, {{lld::Wasm, &lld::wasm::link}});
  return result.retCode == 0;
#else
  std::vector<char*> list;
  std::vector<std::string> copies = arguments;
  copies[0] = "wasm-ld-19";
  for (std::string& argument : copies) list.push_back(argument.data());
  list.push_back(nullptr);
  pid_t child = 0;
  int status = 0;
  if (const int error = posix_spawnp(&child, list[0], nullptr, nullptr, list.data(), environ); error != 0) {
    failure = std::string("cannot run wasm-ld-19: ") + std::strerror(error);
    return false;
  }
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  failure = "wasm-ld-19 failed";
  return false;
#endif
}

std::vector<std::uint8_t> link(const llvm::SmallVector<char, 0>& object, const std::vector<std::string>& exports,
                               std::string& failure) {
  const TemporaryFolder folder;
  if (folder.path().empty()) {
    failure = "cannot create a folder for temporary files";
    return {};
  }
  const std::string object_path = folder.path() / "model.o";
  const std::string wasm_path = folder.path() / "model.wasm";
  std::ofstream(object_path, std::ios::binary).write(object.data(), static_cast<std::streamsize>(object.size()));
  std::vector<std::string> arguments = {"wasm-ld", "--no-entry",       "--strip-all", "--export=__heap_base",
                                        "-z",      "stack-size=262144"};
  for (const std::string& name : exports) arguments.push_back("--export=" + name);
  arguments.insert(arguments.end(), {object_path, "-o", wasm_path});
  if (!run_linker(arguments, failure)) return {};
  std::ifstream file(wasm_path, std::ios::binary);
  std::vector<std::uint8_t> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (bytes.empty()) failure = "the linker wrote nothing";
  return bytes;
}

ModuleOptions options_for(const llvm::TargetMachine& machine) {
  ModuleOptions options;
  options.triple = machine.getTargetTriple().str();
  options.data_layout = machine.createDataLayout().getStringRepresentation();
  return options;
}

std::vector<std::uint8_t> finish(llvm::Module& module, llvm::TargetMachine& machine,
                                 const std::vector<std::string>& exports, std::string& failure) {
  set_target_attributes(module, machine.getTargetCPU(), machine.getTargetFeatureString());
  optimise(module, machine, Effort::full, never_cancelled);
  return link(generate_code(module, machine, never_cancelled), exports, failure);
}

// The module of a program, with those of its structures, whose loops are the kernel's own.
std::unique_ptr<llvm::Module> build_with_structures(const ir::Program& given, llvm::LLVMContext& context,
                                                    const ModuleOptions& options) {
  ir::Program needed = given;
  tangent::add_needed(needed);
  ir::Program program = reroll::with_loops(needed);
  ir::share_layout(program);
  auto whole = build_module(program, context, options);
  for (std::size_t k = 0; k < program.structures.size(); ++k) {
    ModuleOptions own = options;
    own.prefix = options.prefix + "_in_" + std::to_string(k);
    own.table = structure_table(options.table, k);
    own.fixed_steps = "tk_fixed_steps";
    own.adaptive_step = "tk_adaptive_step";
    own.always_inline_limit = 0;
    const bool failed = llvm::Linker::linkModules(*whole, build_module(program.structures[k], context, own));
    TACTUS_CHECK(!failed);
  }
  return whole;
}

}  // namespace

std::vector<std::uint8_t> emit_wasm(const ir::Program& program, std::string& failure) {
  for (const ir::Condition& condition : program.conditions) {
    if (condition.time <= program.starting_time) continue;
    failure = fmt::format(
        "a module does not search for the start that `{}` asks for: find it first, and put it in as the start",
        condition.text);
    return {};
  }
  const auto machine = make_wasm_machine();
  llvm::LLVMContext context;
  silence_remarks(context);
  ModuleOptions options = options_for(*machine);
  const KernelEntries entries = specialised_entries(program, -1);
  options.fixed_steps = entries.fixed_steps;
  options.adaptive_step = entries.adaptive_step;
  options.always_inline_limit = inlined_in_all / static_cast<std::size_t>(entries.evaluations);
  const auto module = build_with_structures(program, context, options);
  link_kernel(*module, kernel_bitcode_wasm(), Link::all);
  internalize(*module, {options.table});
  return finish(*module, *machine, {options.table}, failure);
}

std::vector<std::uint8_t> emit_wasm_batch(std::span<const ir::Program> programs, std::string& failure) {
  const auto machine = make_wasm_machine();
  llvm::LLVMContext context;
  silence_remarks(context);
  llvm::Module whole("batch", context);
  whole.setTargetTriple(machine->getTargetTriple().str());
  whole.setDataLayout(machine->createDataLayout());
  std::vector<std::string> tables;
  for (std::size_t k = 0; k < programs.size(); ++k) {
    ModuleOptions options = options_for(*machine);
    options.prefix = "m" + std::to_string(k);
    options.table = options.prefix + "_model";
    tables.push_back(options.table);
    const bool failed = llvm::Linker::linkModules(whole, build_with_structures(programs[k], context, options));
    TACTUS_CHECK(!failed);
  }
  link_kernel(whole, kernel_bitcode_wasm(), Link::all);
  for (llvm::GlobalVariable& variable : whole.globals()) {
    if (variable.getName() == "tk_the_model") variable.setLinkage(llvm::GlobalValue::ExternalWeakLinkage);
  }
  return finish(whole, *machine, tables, failure);
}

}  // namespace emit_llvm
