// ir::Program -> machine code in this process, in two tiers with the same bits:
//
//   quick      the model's functions as they are, selected in one linear pass (LLVM -O0, FastISel); the kernel is the one
//              that this program was built with. Ready when compile() returns.
//   optimised  the model linked with the kernel's bitcode: a whole step is one function (-O2 for this processor, without
//              vectorisers and contraction). Compiled on a background thread and swapped in when ready.
//
// Tangents are compiled with the model when JitOptions say so, else at the first call of with_tangents: most runs need none.
//
// All tables have the same layout and metadata, so a running Instance moves from one to the other between two calls.
// This header knows nothing of LLVM.
#pragma once

#include <cstddef>
#include <memory>

#include "abi/model.h"
#include "compiler/ir/ir.h"
#include "compiler/tangent/tangent.h"

namespace emit_llvm {

struct JitOptions {
  // Start the background thread; without it only the quick tier exists.
  bool optimise = true;
  // Not before begin_optimising() says so: whoever wants to know first that it goes well tries it in another process (play/rehearsal.h).
  bool optimises_when_told = false;
  // The tactus_solver whose loop the optimised tier inlines; the others run too, without inlining. -1: what the model says.
  int solver = -1;
  // Above this many IR instructions in all the optimised tier keeps chunks as calls and uses -O1.
  std::size_t full_optimisation_limit = 20'000;
  // Above this many there is no optimised tier: it would not pay.
  std::size_t optimisation_limit = 2'000'000;
  // Tangents that every table has from the start, for a solver that needs them.
  tangent::Functions tangents = tangent::none;
  // Of a model with modes only the structure that a run begins with is compiled before the constructor returns; every other when a
  // function of its table is called for the first time. That call allocates and may take milliseconds: not for real time.
  bool compile_when_reached = false;
};

// How long the parts took; for `--time` and benchmarks. Seconds.
struct JitTimes {
  double build = 0;      // IR instructions -> LLVM
  double quick = 0;      // from compile() to a callable quick table, all included
  double optimised = 0;  // from the thread's start to the optimised table; 0 until then
  double tangents = 0;   // the last call of with_tangents that compiled; 0 until then
};

// Owns the code and the metadata behind its tables: they die with it. Not movable, since tables point into it.
class CompiledModel {
 public:
  // The program must be well formed (lower's output); anything else is our own bug: base::CheckFailed. One that shows on a background
  // thread only costs the optimised tier.
  explicit CompiledModel(ir::Program program, const JitOptions& options = {});
  // Cancels the background threads at their next function or pass, and waits for that: LLVM may be minutes from it. After
  // `leave_threads`, only for a moment.
  ~CompiledModel();
  CompiledModel(const CompiledModel&) = delete;
  CompiledModel& operator=(const CompiledModel&) = delete;

  // The best table there is now: wait-free, callable from a real-time thread. Once optimised, always optimised.
  const tactus_model* current() const;
  const tactus_model* quick() const;
  // Null until it is ready, and for ever when there is none.
  const tactus_model* optimised() const;
  // The best table there is now with the tangents of these functions at least. The first call that needs them compiles their quick
  // tier and starts another background thread for the optimised one. Locks and may allocate: not for a real-time thread, which may
  // use what it gave.
  const tactus_model* with_tangents(tangent::Functions functions = tangent::all);
  // Of `optimises_when_told`: now. At most once; not while with_tangents runs.
  void begin_optimising();
  // From any thread: what is not optimised by now stays so.
  void cancel();
  // Blocks until all structures are compiled and the background threads have ended, then current().
  const tactus_model* wait_optimised();

  JitTimes times() const;

  // The process is about to end: what is destroyed from now on waits 0.2 s at most for LLVM, then leaves the threads, and what they use,
  // behind. Where `has_left_threads`, only _Exit may end the process: they must not meet destructors of globals.
  static void leave_threads();
  static bool has_left_threads();

 private:
  struct Implementation;
  explicit CompiledModel(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace emit_llvm
