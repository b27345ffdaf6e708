#!/bin/sh
# The kernel and its words travel: they need no library. Every way they are compiled is tried here, and no undefined symbol may remain.
#   native   each .c alone and all linked into one object, -ffreestanding -nostdlib
#   wasm32   the same with clang
#   one file all texts one after the other, includes of our own dropped, as `export c` prints them, -O0 to -O3
#   model    the one file with a small model and specialise.c behind it: as the JIT, the page and an export have it
# The last is also run: specialised and generic functions must give the same bits, at -O0 and -O3, from every compiler. And
# so is a model with events, a delay, a table and noise: its rows must have the same bits everywhere.
set -eu
src=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failures=0

find_tool() {
  for tool in "$@"; do
    if command -v "$tool" > /dev/null; then echo "$tool"; return; fi
  done
}
gcc=$(find_tool gcc cc)
clang=$(find_tool clang-19 clang)
nm=$(find_tool llvm-nm-19 llvm-nm nm)
wasm_ld=$(find_tool wasm-ld-19 wasm-ld)
# clang minds unused functions when a header became part of the file.
strict="-std=c11 -ffreestanding -ffp-contract=off -Wall -Wextra -Wpedantic -Werror -Wno-unused-function"

# no_undefined WHAT OBJECT: names that the linker itself supplies are none of a library.
no_undefined() {
  missing=$("$nm" --undefined-only "$2" | grep -v -e '__stack_pointer' -e '__indirect_function_table' -e '__memory_base' \
    -e '__linear_memory' -e '_GLOBAL_OFFSET_TABLE_' || true)
  if [ -n "$missing" ]; then
    echo "FAILED: $1 needs:"
    echo "$missing"
    failures=$((failures + 1))
  else
    echo "ok: $1"
  fi
}

sources=$(ls "$src"/kernel/*.c "$src"/words/*.c | grep -v "/specialise\.c$")

# The one file: headers in the order of their includes, each once; then the sources.
one="$dir/kernel_in_one_file.c"
python3 - "$src" $sources > "$one" <<'PYTHON'
import os, re, sys
root, seen = sys.argv[1], set()
def put(path):
    if path in seen:
        return
    seen.add(path)
    for line in open(path):
        include = re.match(r'\s*#include "([^"]+)"', line)
        if include:
            put(os.path.join(root, include.group(1)))
        else:
            sys.stdout.write(line)
for source in sys.argv[2:]:
    put(source)
PYTHON

cat > "$dir/model.c" <<'MODEL'
static int oscillate(const tactus_model* m, tactus_instance* i, double t, const double* x, double* dx) {
  (void)m, (void)i;
  for (int k = 0; k < STATES; k++) dx[k] = tk_sin(t) - x[(k + 1) % STATES];
  return TACTUS_OK;
}
static int oscillate_along(const tactus_model* m, tactus_instance* i, uint32_t function, double t, const double* x,
                           const double* d, double* result) {
  (void)m, (void)i, (void)function, (void)x;
  for (int k = 0; k < STATES; k++) result[k] = tk_cos(t) * d[0] - d[1 + (k + 1) % STATES];
  return TACTUS_OK;
}
int tk_model_fixed_steps(const tactus_model* m, tactus_instance* i, int solver, double h, int64_t count);
int tk_model_adaptive_step(const tactus_model* m, tactus_instance* i, int solver, double t_end, double h_max, double tol);
extern const tactus_model tk_the_model;
const tactus_model tk_the_model = {
    .abi = TACTUS_ABI, .state_count = STATES,
    .layout = {.inputs = STATES, .input_rates = STATES, .parameters = STATES, .derived = STATES, .outputs = STATES,
               .warm = STATES, .snapshot = 2 * STATES, .work = 2 * STATES, .stages = 2 * STATES,
               .linear = (2 + TACTUS_STAGE_VECTORS) * STATES,
               .size = (2 + TACTUS_STAGE_VECTORS + 4 + 2 * STATES) * STATES + 1},
    .derivative = oscillate, .tangent = oscillate_along, .fixed_steps = tk_model_fixed_steps, .adaptive_step = tk_model_adaptive_step};
MODEL
grep -v '^#include' "$src/kernel/specialise.c" > "$dir/specialise_text.c"
for n in 2 16 40; do
  { cat "$one"; echo "#define STATES $n"; cat "$dir/model.c" "$dir/specialise_text.c"; } > "$dir/with_model_$n.c"
done

cat > "$dir/main.c" <<'MAIN'
#include <stdio.h>
static double block_a[8192], block_b[8192];
static tactus_instance* begin(double* block) {
  tactus_instance* instance = (tactus_instance*)(void*)block;
  tk_reset(&tk_the_model, instance);
  for (int i = 0; i < STATES; i++) tk_states(&tk_the_model, instance)[i] = 0.1 * i;
  tk_start(&tk_the_model, instance);
  return instance;
}
static uint64_t hash_of_snapshot(const double* block) {
  uint64_t hash = 14695981039346656037u;
  const unsigned char* bytes = (const unsigned char*)block;
  for (uint64_t i = 0; i < sizeof(tactus_instance) + 8 * tk_the_model.layout.snapshot; i++) {
    hash = (hash ^ bytes[i]) * 1099511628211u;
  }
  return hash;
}
int main(void) {
  for (int solver = TACTUS_EULER; solver <= TACTUS_ROSENBROCK; solver++) {
    tactus_instance* a = begin(block_a);
    tactus_instance* b = begin(block_b);
    for (int i = 0; i < 100; i++) {
      if (!tactus_is_adaptive(solver)) {
        tk_fixed_steps(&tk_the_model, a, solver, 0.01, 7);
        tk_the_model.fixed_steps(&tk_the_model, b, solver, 0.01, 7);
      } else {
        tk_adaptive_step(&tk_the_model, a, solver, 1e9, 0.0, 1e-6);
        tk_the_model.adaptive_step(&tk_the_model, b, solver, 1e9, 0.0, 1e-6);
      }
    }
    if (a->status != TACTUS_OK) return 1;
    printf("solver %d: %016llx %s\n", solver, (unsigned long long)hash_of_snapshot(block_a),
           hash_of_snapshot(block_a) == hash_of_snapshot(block_b) ? "same" : "SPECIALISED DIFFERS");
  }
  return 0;
}
MAIN

cat > "$dir/hybrid_model.c" <<'HYBRID'
#include <stdio.h>
static const double knots[] = {-1, 0, 0.5, 2}, samples[] = {0, 1, 1.5, 1.6}, slopes[] = {1, 1, 0.2, 0};
static const tactus_table curve = {TACTUS_CUBIC, 4, 0, knots, 0, samples, slopes};
static const tactus_event two_events[] = {{"clock", TACTUS_EVERY, 0, 0, 1, 0.137, 0}, {"zero", TACTUS_WHEN, 0, 1, 2, 0, 0}};
static const tactus_delay one_delay[] = {{1, 0, 0, 128}};
static int last(const tactus_model* m, tactus_instance* i) {
  tactus_data(i)[m->layout.derived] = 0.3;
  return TACTUS_OK;
}
static int begin_at_one(const tactus_model* m, tactus_instance* i) {
  tactus_data(i)[m->layout.states] = 1.0;
  return TACTUS_OK;
}
static int flow(const tactus_model* m, tactus_instance* i, double t, const double* x, double* dx) {
  dx[0] = -tk_delayed(m, i, 0, t) + tactus_data(i)[m->layout.discrete] + tk_noise(3, 10 * t) * tk_table(&curve, 1, x[0]);
  return TACTUS_OK;
}
static int flow_along(const tactus_model* m, tactus_instance* i, uint32_t function, double t, const double* x,
                      const double* d, double* result) {
  (void)m, (void)i, (void)function;
  result[0] = tk_noise(3, 10 * t) * tk_table(&curve, 2, x[0]) * d[1];
  return TACTUS_OK;
}
static int handle(const tactus_model* m, tactus_instance* i, uint32_t event) {
  double* discrete = tactus_data(i) + m->layout.discrete;
  discrete[event] = event == 0 ? -0.5 * tactus_data(i)[m->layout.states] : discrete[event] + 1.0;
  return TACTUS_OK;
}
static int look(const tactus_model* m, tactus_instance* i, double t, const double* x) {
  (void)t;
  tactus_data(i)[m->layout.watched] = x[0] <= 0.0;
  tactus_data(i)[m->layout.watched + 1] = x[0];
  return TACTUS_OK;
}
static double memory[4096];
int main(void) {
  static tactus_model m = {.abi = TACTUS_ABI, .state_count = 1, .derived_count = 1, .discrete_count = 2, .event_count = 2,
                           .watch_count = 2, .delay_count = 1, .history_count = 258, .events = two_events,
                           .delays = one_delay, .prepare = last, .initialize = begin_at_one, .derivative = flow,
                           .fire = handle, .watch = look, .tangent = flow_along, .fixed_steps = tk_fixed_steps,
                           .adaptive_step = tk_adaptive_step};
  tactus_instance* i = (tactus_instance*)(void*)memory;
  tk_layout(&m, &m.layout);
  for (int solver = TACTUS_EULER; solver <= TACTUS_ROSENBROCK; solver++) {
    uint64_t hash = 14695981039346656037u;
    int status = tk_reset(&m, i) | tk_start(&m, i) | tk_begin_events(&m, i);
    while (i->time < 5.0 && status == TACTUS_OK) {
      status = tk_part(&m, i, solver, 0.01, 1e-8, 5.0) | tk_fire(&m, i);
      for (uint32_t k = 0; k < m.layout.snapshot; k++) hash = (hash ^ tk_bits(memory[k])) * 1099511628211u;
    }
    if (status != TACTUS_OK) return 1;
    printf("solver %d: %016llx %.17g\n", solver, (unsigned long long)hash, tactus_data(i)[m.layout.states]);
  }
  return 0;
}
HYBRID
cat "$one" "$dir/hybrid_model.c" > "$dir/hybrid.c"

# same_hybrid LABEL COMPILER FLAGS..: against the first that was tried
same_hybrid() {
  label=$1
  shift
  "$@" -std=c11 -ffp-contract=off "$dir/hybrid.c" -o "$dir/hybrid"
  if ! "$dir/hybrid" > "$dir/hybrid.txt"; then
    echo "FAILED: $label, the model with events does not run"
    failures=$((failures + 1))
  elif [ ! -e "$dir/hybrid_first.txt" ]; then
    mv "$dir/hybrid.txt" "$dir/hybrid_first.txt"
  elif ! cmp -s "$dir/hybrid.txt" "$dir/hybrid_first.txt"; then
    echo "FAILED: $label, a model with events has other bits:"
    diff "$dir/hybrid_first.txt" "$dir/hybrid.txt" || true
    failures=$((failures + 1))
  else
    echo "ok: $label, a model with events has the same bits"
  fi
}
for n in 2 16 40; do cat "$dir/with_model_$n.c" "$dir/main.c" > "$dir/main_$n.c"; done

# same_bits LABEL STATES COMPILER FLAGS..: the program's lines are those of the first one tried.
same_bits() {
  label=$1
  n=$2
  shift 2
  "$@" -std=c11 -ffp-contract=off "$dir/main_$n.c" -o "$dir/main"
  "$dir/main" > "$dir/lines" || { echo "FAILED: $label does not run"; failures=$((failures + 1)); }
  [ -e "$dir/first_$n" ] || cp "$dir/lines" "$dir/first_$n"
  if grep -q DIFFERS "$dir/lines" || ! cmp -s "$dir/lines" "$dir/first_$n"; then
    echo "FAILED: $label has other bits:"
    diff "$dir/first_$n" "$dir/lines" || true
    failures=$((failures + 1))
  else
    echo "ok: $label, $n states, same bits"
  fi
}

# separately LABEL COMPILER FLAGS..
separately() {
  label=$1
  shift
  objects=""
  for source in $sources; do
    object="$dir/$(basename "$source" .c).o"
    "$@" $strict -I"$src" -c "$source" -o "$object"
    objects="$objects $object"
  done
  case $label in
    *wasm32*) "$wasm_ld" -r $objects -o "$dir/all.o" ;;
    *) "$@" -nostdlib -r $objects -o "$dir/all.o" ;;
  esac
  no_undefined "$label" "$dir/all.o"
}

# try LABEL COMPILER FLAGS..
try() {
  label=$1
  shift
  "$@" $strict -c "$dir/with_model_16.c" -o "$dir/model.o"
  no_undefined "$label, one file with a model" "$dir/model.o"
}

if [ -n "$gcc" ]; then separately "$gcc" "$gcc" -O3; fi
if [ -n "$clang" ]; then
  separately "$clang" "$clang" -O3
  if [ -n "$wasm_ld" ]; then separately "$clang wasm32" "$clang" --target=wasm32 -O3; fi
fi
for level in -O0 -O2 -O3; do
  for compiler in $gcc $clang; do
    try "$compiler $level" "$compiler" $level
    case $level in
      -O0 | -O3)
        for n in 2 16 40; do same_bits "$compiler $level" $n "$compiler" $level; done
        same_hybrid "$compiler $level" "$compiler" $level
        ;;
    esac
  done
  if [ -n "$clang" ]; then try "$clang wasm32 $level" "$clang" --target=wasm32 $level; fi
done
exit $((failures > 0))
