#include "compiler/emit_llvm/testing/compare.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "compiler/emit_c/emit_c.h"
#include "compiler/emit_llvm/wasm.h"
#include "kernel/kernel.h"

namespace backend_testing {

namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "tactus-test-XXXXXX").string();
    TACTUS_CHECK(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

void write(const std::string& path, const void* data, std::size_t size) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  TACTUS_CHECK(file.good());
}

void run_or_abort(const std::string& command) {
  if (std::system(command.c_str()) == 0) return;
  std::fprintf(stderr, "failed: %s\n", command.c_str());
  std::abort();
}

// Keep in step with tangents() in wasm_trail.mjs.
void append_tangents(const tactus_model* model, tactus_instance* instance, Trail& trail) {
  const double* x = tactus_data(instance) + model->layout.states;
  std::vector<double> direction(tactus_direction_size(model));
  for (std::size_t k = 0; k < direction.size(); ++k) direction[k] = 0.25 * static_cast<double>(k * 37 % 11) - 1.25;
  const std::uint32_t counts[] = {model->derived_count,  model->state_count + model->discrete_count,
                                  model->state_count,    model->output_count,
                                  model->watch_count,    model->constraint_count,
                                  model->condition_count};
  for (std::uint32_t function = 0; function < TACTUS_OF_FIRE + model->event_count + 1; ++function) {
    std::vector<double> result(function < TACTUS_OF_FIRE ? counts[function]
                                                         : model->discrete_count + model->state_count);
    const int status = model->tangent(model, instance, function, instance->time, x, direction.data(), result.data());
    trail.push_back(status);
    if (status == TACTUS_OK) trail.insert(trail.end(), result.begin(), result.end());
  }
  const std::uint32_t n = model->state_count;
  std::vector<double> scratch(tk_jacobian_scratch(model));
  std::vector<double> matrix(n * n);
  std::vector<double> rate(n);
  int status = tk_dense_jacobian(model, instance, instance->time, x, scratch.data(), matrix.data());
  if (status == TACTUS_OK) trail.insert(trail.end(), matrix.begin(), matrix.end());
  status = tk_time_derivative(model, instance, instance->time, x, scratch.data(), rate.data());
  if (status == TACTUS_OK) trail.insert(trail.end(), rate.begin(), rate.end());
}

// Keep in step with run() in wasm_trail.mjs.
Trail run(const tactus_model* first, const tactus_model* second, const Plan& plan) {
  Trail trail;
  std::vector<double> memory(tactus_instance_bytes(first) / 8 + 1);
  auto* instance = reinterpret_cast<tactus_instance*>(memory.data());
  double* const data = tactus_data(instance);
  const tactus_layout& layout = first->layout;
  const tactus_model* model = first;
  const auto append = [&](std::uint32_t section, std::uint32_t count) {
    trail.insert(trail.end(), data + section, data + section + count);
  };
  const auto record = [&](int status) {
    const int recorded = tk_outputs(model, instance, instance->time, data + layout.states);
    const int watched = model->watch ? model->watch(model, instance, instance->time, data + layout.states) : TACTUS_OK;
    trail.insert(trail.end(), {double(status), double(instance->failed_block), double(instance->failed_index),
                               instance->time, double(recorded), double(watched)});
    append(layout.states, model->state_count);
    append(layout.outputs, model->output_count);
    append(layout.discrete, model->discrete_count);
    append(layout.watched, model->watch_count);
    if (plan.tangents) append_tangents(model, instance, trail);
  };
  // Some events, in an order that is the same in every run; seldom one that there is not.
  std::uint32_t order = 1;
  const auto fire = [&] {
    int status = TACTUS_OK;
    for (std::uint32_t count = order % 3; model->fire && status == TACTUS_OK && count <= 2; ++count) {
      order = (order * 75 + 74) % 65537;
      status = model->fire(model, instance, order % (model->event_count + 1));
      instance->first_stage_valid = 0;
    }
    return status;
  };

  int status = tk_reset(model, instance);
  for (std::uint32_t k = 0; k < model->input_count; ++k) {
    data[layout.inputs + k] = 0.5 + 0.25 * k;
    data[layout.input_rates + k] = 0.125 * (k + 1);
  }
  if (status == TACTUS_OK) status = tk_start(model, instance);
  if (status == TACTUS_OK) status = tk_begin_events(model, instance);
  record(status);
  std::vector<double> dense(model->state_count);
  for (int k = 0; k < plan.records && status == TACTUS_OK && instance->time < plan.t_end; ++k) {
    model = k % 2 == 0 ? first : second;
    const double before = instance->time;
    if (plan.parts) {
      status = tk_part(model, instance, plan.solver, plan.h, plan.tolerance, plan.t_end);
      if (status == TACTUS_OK && instance->time > before) {
        tk_between(model, instance, plan.solver, before + 0.5 * (instance->time - before), dense.data());
        trail.insert(trail.end(), dense.begin(), dense.end());
      }
      if (status == TACTUS_OK) status = tk_fire(model, instance);
      record(status);
      continue;
    }
    if (!tactus_is_adaptive(plan.solver)) {
      status = model->fixed_steps(model, instance, plan.solver, plan.h, plan.steps);
    } else {
      status = model->adaptive_step(model, instance, plan.solver, plan.t_end, plan.h, plan.tolerance);
      if (status == TACTUS_OK) {
        tk_dense(model, instance, plan.solver, before + 0.5 * (instance->time - before), dense.data());
        trail.insert(trail.end(), dense.begin(), dense.end());
      }
    }
    if (status == TACTUS_OK) status = fire();
    record(status);
  }
  return trail;
}

std::vector<Trail> run_node(const std::vector<std::uint8_t>& wasm, const std::vector<std::string>& tables,
                            std::span<const WasmRun> runs) {
  const Folder folder;
  write(folder.file("model.wasm"), wasm.data(), wasm.size());
  std::string list;
  for (const WasmRun& r : runs) {
    list += fmt::format("{} {} {} {} {} {} {} {} {}\n", tables[r.model], r.plan.solver, r.plan.h, r.plan.t_end,
                        r.plan.tolerance, r.plan.records, r.plan.steps, r.plan.parts ? 1 : 0, r.plan.tangents ? 1 : 0);
  }
  write(folder.file("runs"), list.data(), list.size());
  run_or_abort(fmt::format("node '{}/src/compiler/emit_llvm/testing/wasm_trail.mjs' '{}' '{}' '{}'", TACTUS_SOURCE_DIR,
                           folder.file("model.wasm"), folder.file("runs"), folder.file("trails")));
  // For each run its length and its doubles.
  std::ifstream file(folder.file("trails"), std::ios::binary);
  std::vector<Trail> trails;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    double length = 0;
    file.read(reinterpret_cast<char*>(&length), 8);
    Trail& trail = trails.emplace_back(static_cast<std::size_t>(length));
    file.read(reinterpret_cast<char*>(trail.data()), static_cast<std::streamsize>(8 * trail.size()));
  }
  TACTUS_CHECK(file.good());
  return trails;
}

}  // namespace

std::vector<Plan> plans_of_all_solvers(double h, double t_end, Parts parts) {
  std::vector<Plan> plans;
  for (int solver = TACTUS_EULER; solver <= TACTUS_ROSENBROCK; ++solver) {
    Plan plan;
    plan.solver = solver;
    plan.h = !tactus_is_adaptive(solver) ? h : 50 * h;
    plan.t_end = t_end;
    plan.records = !tactus_is_adaptive(solver) ? 50 : 200;
    plans.push_back(plan);
    plan.parts = true;
    if (parts == Parts::too) plans.push_back(plan);
  }
  return plans;
}

Trail run_table(const tactus_model* model, const Plan& plan) { return run(model, model, plan); }
Trail run_alternating(const tactus_model* first, const tactus_model* second, const Plan& plan) {
  return run(first, second, plan);
}

std::string first_difference(const Trail& a, const Trail& b) {
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
    const bool both_nan = std::isnan(a[k]) && std::isnan(b[k]);
    if (!both_nan && std::bit_cast<std::uint64_t>(a[k]) != std::bit_cast<std::uint64_t>(b[k])) {
      return fmt::format("value {} of {}: {:a} and {:a}", k, a.size(), a[k], b[k]);
    }
  }
  return a.size() == b.size() ? "" : fmt::format("{} and {} values", a.size(), b.size());
}

CLibrary::CLibrary(std::span<const ir::Program> programs, const std::string& compiler) {
  const Folder folder;
  std::string text = "#include \"kernel/kernel.h\"\n";
  for (std::size_t k = 0; k < programs.size(); ++k) text += emit_c::emit_model(programs[k], fmt::format("m{}", k));
  write(folder.file("models.c"), text.data(), text.size());
  std::string kernel;
  for (const auto& entry : fs::directory_iterator(TACTUS_SOURCE_DIR "/src/kernel")) {
    if (entry.path().extension() == ".c" && entry.path().stem() != "specialise")
      kernel += fmt::format(" '{}'", entry.path().string());
  }
  run_or_abort(fmt::format(
      "{} -std=c11 -Wall -Wextra -Wpedantic -Werror -ffp-contract=off -shared -fPIC '-I{}/src' '{}' {} -o '{}'",
      compiler, TACTUS_SOURCE_DIR, folder.file("models.c"), kernel, folder.file("models.so")));
  handle_ = dlopen(folder.file("models.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  TACTUS_CHECK(handle_ != nullptr);
  for (std::size_t k = 0; k < programs.size(); ++k) {
    models_.push_back(static_cast<const tactus_model*>(dlsym(handle_, fmt::format("m{}_model", k).c_str())));
    TACTUS_CHECK(models_.back() != nullptr);
  }
}

CLibrary::~CLibrary() { dlclose(handle_); }

std::vector<Trail> run_wasm_batch(std::span<const ir::Program> programs, std::span<const WasmRun> runs) {
  std::string failure;
  const std::vector<std::uint8_t> wasm = emit_llvm::emit_wasm_batch(programs, failure);
  if (wasm.empty()) std::fprintf(stderr, "%s\n", failure.c_str());
  TACTUS_CHECK(!wasm.empty());
  std::vector<std::string> tables;
  for (std::size_t k = 0; k < programs.size(); ++k) tables.push_back(fmt::format("m{}_model", k));
  return run_node(wasm, tables, runs);
}

std::vector<Trail> run_wasm(const ir::Program& program, std::span<const Plan> plans) {
  std::string failure;
  const std::vector<std::uint8_t> wasm = emit_llvm::emit_wasm(program, failure);
  if (wasm.empty()) std::fprintf(stderr, "%s\n", failure.c_str());
  TACTUS_CHECK(!wasm.empty());
  std::vector<WasmRun> runs;
  for (const Plan& plan : plans) runs.push_back({0, plan});
  return run_node(wasm, {"tk_the_model"}, runs);
}

bool has_node() { return std::system("node --version > /dev/null 2>&1") == 0; }

}  // namespace backend_testing
