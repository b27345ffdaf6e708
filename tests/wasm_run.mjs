// node wasm_run.mjs MODEL.wasm [--until T] [--step H] [--every T] [--solver NAME] [--tolerance E] [--set NAME=VALUE]..
//
// What `tactus run --out -` writes, computed in wasm: the plan is that of runtime/sim/plan.cpp, the loop that of
// runtime/sim/run.cpp without devices. Numbers are the shortest that read back as the same bits, so two CSV files agree when
// their values do. Exit codes: 0 done, 2 usage, 3 a check is broken, 4 the run failed.
import { readFileSync, writeSync } from "node:fs";

const gridSlack = 1e-9;
const [bs3Fixed, rosenbrockFixed, bs3, rosenbrock, cvode] = [2, 3, 4, 7, 8];
const solvers = { euler: 0, rk4: 1, bs3, tsit5: 5, dop853: 6, rosenbrock, cvode, midpoint: 9, passive: 10, discrete_gradient: 11 };

const { instance: wasm } = await WebAssembly.instantiate(readFileSync(process.argv[2]), {});
const w = wasm.exports;
const model = w.model();
const count = { states: w.state_count(model), warm: w.warm_count(model), outputs: w.output_count(model) };

// Memory: the instance, then four states for interpolation.
const instance = (w.__heap_base.value + 15) & ~15;
const scratch = instance + w.instance_bytes(model);
const [x, x0, f0, f1] = [0, 1, 2, 3].map((k) => scratch + 8 * k * count.states);
const end = scratch + 32 * count.states;
if (end > w.memory.buffer.byteLength) w.memory.grow(Math.ceil((end - w.memory.buffer.byteLength) / 65536));
const doubles = (address, length) => new Float64Array(w.memory.buffer, address, length);
const text = (address) => {
  const bytes = new Uint8Array(w.memory.buffer, address);
  return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
};

function usage(message) {
  process.stderr.write(`${text(w.model_name(model))}: ${message}\n`);
  process.exit(2);
}

// What was asked for.
const asked = {};
const set = [];
for (let k = 3; k < process.argv.length; k += 2) {
  const [word, value] = process.argv.slice(k, k + 2);
  if (value === undefined) usage(`${word} without a value`);
  if (word === "--set") set.push(value);
  else if (word === "--solver") asked.solver = solvers[value] ?? usage(`no solver ${value}`);
  else if (["--until", "--step", "--every", "--tolerance"].includes(word)) {
    asked[word.slice(2)] = Number(value);
    if (!Number.isFinite(Number(value))) usage(`${value} is not a number`);
  } else usage(`no option ${word}`);
}

// The number when `ratio` is a whole one, at least 1.
function whole(ratio) {
  let nearest = Math.floor(ratio);
  if (ratio - nearest >= 0.5) nearest += 1;
  return nearest >= 1 && Math.abs(ratio - nearest) <= gridSlack * nearest ? nearest : undefined;
}

function makePlan() {
  const plan = { start: w.starting_time(model), fullSteps: 0, lastStep: 0, periodSteps: 0 };
  if (asked.until !== undefined) plan.end = asked.until;
  else plan.end = w.ending_time(model) > plan.start ? w.ending_time(model) : plan.start + 10;
  if (plan.end < plan.start) usage("the run cannot end before it starts");
  const span = plan.end - plan.start;
  const step = asked.step ?? (w.step_size(model) || undefined);
  const tolerance = asked.tolerance ?? (w.tolerance(model) || undefined);
  if (step <= 0) usage("the step must be positive");
  plan.solver = asked.solver ?? (w.solver(model) >= 0 ? w.solver(model) : step !== undefined ? solvers.rk4 : solvers.tsit5);
  if (plan.solver === bs3 && step !== undefined && tolerance === undefined) plan.solver = bs3Fixed;
  if (plan.solver === bs3Fixed && step === undefined) plan.solver = bs3;
  if (plan.solver === rosenbrock && step !== undefined && tolerance === undefined) plan.solver = rosenbrockFixed;
  if (plan.solver === rosenbrockFixed && step === undefined) plan.solver = rosenbrock;
  if (plan.solver === cvode) usage("`cvode` stays at home: --solver rosenbrock travels");
  plan.adaptive = plan.solver >= bs3 && plan.solver <= cvode;
  if (plan.adaptive) {
    plan.tolerance = tolerance ?? 1e-6;
    const relations = w.relation_count(model);
    const isBlind = count.warm > 0 || w.table_count(model) > 0 || w.delay_count(model) > 0 || (w.watch_count(model) > 0 && relations === 0);
    const longest = isBlind ? span / 1000 : relations > 0 ? span / 100 : span;
    plan.step = step ?? (longest > 0 ? longest : 1);
  } else {
    if (step === undefined) usage("this solver takes fixed steps: give --step");
    plan.step = step;
    plan.fullSteps = whole(span / step);
    if (plan.fullSteps === undefined) {
      plan.fullSteps = Math.floor(span / step);
      plan.lastStep = plan.end - (plan.start + plan.fullSteps * step);
    }
  }
  const every = asked.every ?? w.record_period(model);
  if (asked.every !== undefined || every !== 0) {
    if (!(every > 0)) usage("the record period must be positive");
    plan.period = every;
    if (!plan.adaptive) plan.periodSteps = whole(every / plan.step) ?? 0;
  } else if (plan.adaptive) {
    plan.period = span > 0 ? span / 1000 : 1;
  } else {
    plan.periodSteps = Math.max(1, Math.ceil((span / plan.step / 1000) * (1 - gridSlack)));
    plan.period = plan.periodSteps * plan.step;
  }
  return plan;
}

// Labels and places of the recorded scalars: all channels but constants (2) and derivatives (1); failing that, all but derivatives.
// Models with instances or a scene are not run here.
function columns() {
  for (const excluded of [3, 1]) {
    const found = [];
    for (let k = 0; k < w.channel_count(model); ++k) {
      if (w.channel_flags(model, k, 0) & excluded) continue;
      const name = text(w.channel_name(model, k, 0));
      const unit = text(w.channel_unit(model, k, 0));
      const [rows, across, at] = [w.channel_rows(model, k, 0), w.channel_columns(model, k, 0), w.channel_at(model, k, 0)];
      for (let n = 0; n < rows * across; ++n) {
        const index = rows * across === 1 ? "" : across === 1 ? `[${n + 1}]` : `[${Math.floor(n / across) + 1}][${(n % across) + 1}]`;
        found.push({ label: name + index + (unit === "" ? "" : ` [${unit}]`), at: at + n });
      }
    }
    if (found.length > 0) return found;
  }
  return [];
}

const plan = makePlan();
const shown = columns();
const quoted = (label) => (/^$|[,;\t"\n\r]|^[ #]| $/.test(label) ? `"${label.replaceAll('"', '""')}"` : label);
const number = (v) => (Number.isNaN(v) ? "nan" : v === Infinity ? "inf" : v === -Infinity ? "-inf" : Object.is(v, -0) ? "-0" : String(v));
let lines = ["t", ...shown.map((c) => quoted(c.label))].join(",") + "\n";
function flush() {
  for (let bytes = Buffer.from(lines); bytes.length > 0; ) bytes = bytes.subarray(writeSync(1, bytes));
  lines = "";
}

// A failed call leaves by this.
class Failure extends Error {
  constructor(status) {
    super();
    this.status = status;
  }
}
const check = (status) => {
  if (status !== 0) throw new Failure(status);
};

let nextRow = 0;
let recorded;
const rowTime = (index) => plan.start + index * plan.period;
const states = () => w.states(model, instance);

// Calls that must leave no trace in what the motion depends on.
function keepingWarm(call) {
  const warm = doubles(w.warm(model, instance), count.warm);
  const kept = warm.slice();
  const status = call();
  warm.set(kept);
  check(status);
}
function record(t, at) {
  keepingWarm(() => w.outputs(model, instance, t, at));
  const outputs = doubles(w.output_values(model, instance), count.outputs);
  recorded = t;
  lines += [t, ...shown.map((c) => outputs[c.at])].map(number).join(",") + "\n";
  if (lines.length > 1 << 16) flush();
}

const hasEvents = w.runs_in_parts(model) !== 0;

function advanceTo(step) {
  const left = step - w.steps(instance);
  const steps = hasEvents ? w.event_steps : w.fixed_steps;
  if (left > 0) check(steps(model, instance, plan.solver, plan.step, left));
}

// The rows strictly inside the last part, then what is due at its end. Rows closer to the end than `close` are after it.
function endPart(close) {
  for (let t = rowTime(nextRow); t < w.time(instance) - close; t = rowTime(++nextRow)) {
    w.between(model, instance, plan.solver, t, x);
    recordBetween(t);
  }
  check(w.fire(model, instance));
}

// The row at t inside a step, from x.
function recordBetween(t) {
  w.put_back(model, instance, t, x);
  record(t, x);
}

function partsWithRows(h) {
  const end = w.steps(instance) + 1;
  const close = gridSlack * h;
  while (w.steps(instance) < end) {
    check(w.part(model, instance, plan.solver, h, 0, Infinity));
    endPart(close);
    for (; w.steps(instance) < end && rowTime(nextRow) <= w.time(instance) + close; ++nextRow) record(rowTime(nextRow), states());
  }
}

function stepWithRows(h) {
  if (hasEvents) {
    partsWithRows(h);
    return;
  }
  const from = w.time(instance);
  const inside = from + h * (1 - gridSlack);
  const rows = rowTime(nextRow) < inside;
  const isStiff = plan.solver === rosenbrockFixed;
  if (rows && !isStiff) {
    doubles(x0, count.states).set(doubles(states(), count.states));
    keepingWarm(() => w.derivative(model, instance, from, states(), f0));
  }
  check(w.fixed_steps(model, instance, plan.solver, h, 1));
  if (!rows) return;
  if (!isStiff) keepingWarm(() => w.derivative(model, instance, w.time(instance), states(), f1));
  const [vx, v0, v1, s0, s1] = [x, x0, states(), f0, f1].map((a) => doubles(a, count.states));
  for (let t = rowTime(nextRow); t < inside; t = rowTime(++nextRow)) {
    const s = (t - from) / h;
    const r = 1 - s;
    if (isStiff) w.between(model, instance, plan.solver, t, x);
    for (let i = 0; i < count.states && !isStiff; ++i) {
      vx[i] = r * v0[i] + s * v1[i] + s * (s - 1) * ((1 - 2 * s) * (v1[i] - v0[i]) + (s - 1) * h * s0[i] + s * h * s1[i]);
    }
    recordBetween(t);
  }
}

function fixed() {
  while (plan.periodSteps > 0 && w.steps(instance) < plan.fullSteps) {
    const row = nextRow * plan.periodSteps;
    advanceTo(Math.min(row, plan.fullSteps));
    if (w.steps(instance) === row) {
      record(w.time(instance), states());
      nextRow++;
    }
  }
  while (w.steps(instance) < plan.fullSteps) {
    const steps = (rowTime(nextRow) - plan.start) / plan.step;
    advanceTo(Math.trunc(Math.min(steps + gridSlack, plan.fullSteps)));
    if (Math.abs(steps - w.steps(instance)) <= gridSlack) {
      record(w.time(instance), states());
      nextRow++;
    } else if (w.steps(instance) < plan.fullSteps) {
      stepWithRows(plan.step);
    }
  }
  if (plan.lastStep > 0) {
    w.count_from_here(instance);
    stepWithRows(plan.lastStep);
    w.set_time(instance, plan.end);
  }
}

function adaptive() {
  while (hasEvents && w.time(instance) < plan.end) {
    const close = gridSlack * plan.period;
    check(w.part(model, instance, plan.solver, plan.step, plan.tolerance, plan.end));
    endPart(close);
    for (; w.time(instance) < plan.end && rowTime(nextRow) <= w.time(instance) + close; ++nextRow) record(rowTime(nextRow), states());
  }
  while (w.time(instance) < plan.end) {
    check(w.adaptive_step(model, instance, plan.solver, plan.end, plan.step, plan.tolerance));
    for (let t = rowTime(nextRow); t <= w.time(instance) && t < plan.end; t = rowTime(++nextRow)) {
      if (t === w.time(instance)) {
        record(t, states());
      } else {
        w.dense(model, instance, plan.solver, t, x);
        recordBetween(t);
      }
    }
  }
}

function lastRow() {
  if (!doubles(states(), count.states).every(Number.isFinite)) return;
  const close = gridSlack * (plan.adaptive ? plan.period : plan.step);
  if (recorded === undefined || w.time(instance) - recorded > close) record(w.time(instance), states());
}

let failure;
const attempt = (part) => {
  try {
    part();
    return true;
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    failure ??= thrown;
    return false;
  }
};
const started = attempt(() => {
  const parameters = doubles(w.parameters(model, instance), w.parameter_count(model));
  check(w.reset(model, instance));
  for (const word of set) {
    const [name, value] = word.split("=");
    const index = [...parameters.keys()].find((k) => text(w.parameter_name(model, k)) === name);
    if (index === undefined || value === undefined || !Number.isFinite(Number(value))) usage(`cannot set ${word}`);
    parameters[index] = Number(value);
  }
  check(w.start(model, instance));
  for (let k = 0; k < w.delay_count(model); ++k) {
    const duration = w.delay_duration(model, instance, k);
    const short = !plan.adaptive && duration < plan.step * (1 - gridSlack);
    if (!(duration > 0 && Number.isFinite(duration)) || short) {
      process.stderr.write(`a delay lasts ${duration}: it must be positive and, with fixed steps, not shorter than --step\n`);
      process.exit(4);
    }
  }
  check(w.begin_events(model, instance));
});
if (started) {
  attempt(() => {
    record(w.time(instance), states());
    nextRow = 1;
    if (plan.adaptive) adaptive();
    else fixed();
  });
  const stopped = failure?.status === 10;  // `stop when`
  if (stopped) failure = undefined;
  attempt(lastRow);
  if (!failure && w.runs_in_parts(model)) attempt(() => check(w.end_run(model, instance)));
}
flush();
if (failure) {
  process.stderr.write(`${text(w.model_name(model))}: the run failed at t = ${w.time(instance)} with status ${failure.status}\n`);
  process.exit(4);
}
const broken = w.broken_checks(model, instance);
if (broken > 0) {
  process.stderr.write(`${text(w.model_name(model))}: ${broken} checks broken\n`);
  process.exit(3);
}
