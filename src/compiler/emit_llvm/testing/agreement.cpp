#include "compiler/emit_llvm/testing/agreement.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <thread>

#include "compiler/emit_llvm/jit.h"

namespace backend_testing {

Agreement compare_all_backends(std::span<const ir::Program> programs, std::span<const Plan> plans) {
  Agreement result;
  std::vector<WasmRun> runs;
  for (std::size_t k = 0; k < programs.size(); ++k) runs.push_back({k, plans[k]});
  const CLibrary library(programs, "cc -O1");
  const std::vector<Trail> wasm = has_node() ? run_wasm_batch(programs, runs) : std::vector<Trail>();
  // Models ahead of the one that is compared: their optimised tiers are compiled meanwhile, one on each processor.
  std::deque<std::unique_ptr<emit_llvm::CompiledModel>> ahead;
  std::size_t started = 0;
  for (std::size_t k = 0; k < programs.size(); ++k) {
    for (; started < programs.size() && ahead.size() < std::max(1u, std::thread::hardware_concurrency()); ++started) {
      emit_llvm::JitOptions options;
      options.solver = plans[started].solver;
      ahead.push_back(std::make_unique<emit_llvm::CompiledModel>(programs[started], options));
    }
    const auto model = std::move(ahead.front());
    ahead.pop_front();
    const Trail quick = run_table(model->quick(), plans[k]);
    const tactus_model* optimised = model->wait_optimised();
    auto differs = [&](const char* backend, const Trail& other) {
      std::string place = first_difference(quick, other);
      if (place.empty()) return false;
      result.difference = std::string(backend) + ": " + programs[k].name + ", solver " +
                          std::to_string(plans[k].solver) + ": " + place + "\n" + ir::dump(programs[k]);
      return true;
    };
    if (differs("C", run_table(library.model(k), plans[k])) || differs("optimised", run_table(optimised, plans[k])) ||
        (!wasm.empty() && differs("wasm", wasm[k]))) {
      return result;
    }
    // The first record stands at the start, the last one at the end: see record() in compare.cpp.
    const std::size_t discrete = programs[k].discrete_count;
    const std::size_t behind = discrete + programs[k].watch_count;
    const std::size_t record = 6 + programs[k].state_names.size() + programs[k].output_count + behind;
    result.ran_to_the_end += quick[quick.size() - record] == 0;
    result.jumped += !std::equal(quick.end() - static_cast<std::ptrdiff_t>(behind),
                                 quick.end() - static_cast<std::ptrdiff_t>(behind - discrete),
                                 quick.begin() + static_cast<std::ptrdiff_t>(record - behind));
    for (double value : quick) result.finite_values += std::isfinite(value);
    result.values += quick.size();
  }
  return result;
}

}  // namespace backend_testing
