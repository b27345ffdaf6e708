// node wasm_trail.mjs MODULE RUNS TRAILS: the runs of compare.cpp, in wasm. RUNS has one run a line: table solver h t_end
// tolerance records steps parts tangents. TRAILS gets for each its length and its values, as doubles.
import { readFileSync, writeFileSync } from "node:fs";

const [modulePath, runsPath, trailsPath] = process.argv.slice(2);
const { instance: wasm } = await WebAssembly.instantiate(readFileSync(modulePath), {});
const w = wasm.exports;

// Keep in step with append_tangents() in compare.cpp.
function tangents(model, instance, memory, trail) {
  const doubles = (address, count) => new Float64Array(w.memory.buffer, address, count);
  const push = (values) => values.forEach((value) => trail.push(value));
  const size = w.direction_size(model);
  const n = w.state_count(model);
  const direction = doubles(memory, size);
  for (let k = 0; k < size; ++k) direction[k] = 0.25 * ((k * 37) % 11) - 1.25;
  const scratch = memory + 8 * size;
  const result = scratch + 8 * (size + n);
  const t = w.time(instance);
  const x = w.states(model, instance);
  for (let f = 0; f < 7 + w.event_count(model) + 1; ++f) {
    const count = w.tangent_size(model, f);
    doubles(result, count).fill(0);
    const status = w.tangent(model, instance, f, t, x, memory, result);
    trail.push(status);
    if (status === 0) push(doubles(result, count));
  }
  if (w.dense_jacobian(model, instance, t, x, scratch, result) === 0) push(doubles(result, n * n));
  if (w.time_derivative(model, instance, t, x, scratch, result) === 0) push(doubles(result, n));
}

// Keep in step with run() in compare.cpp.
function run(model, plan) {
  const trail = [];
  const instance = (w.__heap_base.value + 15) & ~15;
  const dense = instance + w.instance_bytes(model);
  const tangentMemory = dense + 8 * w.state_count(model);
  const most = w.state_count(model) ** 2 + w.state_count(model) + w.output_count(model) + w.watch_count(model) +
    w.direction_size(model);
  const end = tangentMemory + 8 * (2 * w.direction_size(model) + w.state_count(model) + most);
  if (end > w.memory.buffer.byteLength) w.memory.grow(Math.ceil((end - w.memory.buffer.byteLength) / 65536));
  new Uint8Array(w.memory.buffer, instance, end - instance).fill(0);
  const doubles = (address, count) => new Float64Array(w.memory.buffer, address, count);
  const record = (status) => {
    const recorded = w.outputs_now(model, instance);
    const watched = w.watch_now(model, instance);
    trail.push(status, w.failed_block(instance), w.failed_index(instance), w.time(instance), recorded, watched);
    trail.push(...doubles(w.states(model, instance), w.state_count(model)));
    trail.push(...doubles(w.output_values(model, instance), w.output_count(model)));
    trail.push(...doubles(w.discrete(model, instance), w.discrete_count(model)));
    trail.push(...doubles(w.watched(model, instance), w.watch_count(model)));
    if (plan.tangents) tangents(model, instance, tangentMemory, trail);
  };
  let order = 1;
  const fire = () => {
    let status = 0;
    for (let count = order % 3; w.event_count(model) > 0 && status === 0 && count <= 2; ++count) {
      order = (order * 75 + 74) % 65537;
      status = w.fire_event(model, instance, order % (w.event_count(model) + 1));
      w.values_changed(instance);
    }
    return status;
  };

  let status = w.reset(model, instance);
  const inputs = doubles(w.inputs(model, instance), w.input_count(model));
  const rates = doubles(w.input_rates(model, instance), w.input_count(model));
  for (let k = 0; k < inputs.length; ++k) {
    inputs[k] = 0.5 + 0.25 * k;
    rates[k] = 0.125 * (k + 1);
  }
  if (status === 0) status = w.start(model, instance);
  if (status === 0) status = w.begin_events(model, instance);
  record(status);
  for (let k = 0; k < plan.records && status === 0 && w.time(instance) < plan.t_end; ++k) {
    const before = w.time(instance);
    if (plan.parts) {
      status = w.part(model, instance, plan.solver, plan.h, plan.tolerance, plan.t_end);
      if (status === 0 && w.time(instance) > before) {
        w.between(model, instance, plan.solver, before + 0.5 * (w.time(instance) - before), dense);
        trail.push(...doubles(dense, w.state_count(model)));
      }
      if (status === 0) status = w.fire(model, instance);
      record(status);
      continue;
    }
    if (plan.solver < 4 || plan.solver > 8) { // tactus_is_adaptive
      status = w.fixed_steps(model, instance, plan.solver, plan.h, plan.steps);
    } else {
      status = w.adaptive_step(model, instance, plan.solver, plan.t_end, plan.h, plan.tolerance);
      if (status === 0) {
        w.dense(model, instance, plan.solver, before + 0.5 * (w.time(instance) - before), dense);
        trail.push(...doubles(dense, w.state_count(model)));
      }
    }
    if (status === 0) status = fire();
    record(status);
  }
  return trail;
}

const all = [];
for (const line of readFileSync(runsPath, "utf8").trim().split("\n")) {
  const [table, solver, h, t_end, tolerance, records, steps, parts, tangents] = line.split(" ");
  const trail = run(w[table].value, {
    solver: +solver, h: +h, t_end: +t_end, tolerance: +tolerance, records: +records, steps: +steps,
    parts: +parts === 1, tangents: +tangents === 1,
  });
  all.push(Float64Array.from([trail.length].concat(trail)));
}
writeFileSync(trailsPath, Buffer.concat(all.map((a) => Buffer.from(a.buffer))));
