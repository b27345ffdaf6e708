// node wasm_trail.mjs MODULE RUNS TRAILS: the runs of compare.cpp, in wasm. RUNS has one run a line: table solver h t_end
// tolerance records steps parts. TRAILS gets for each its length and its values, as doubles.
import { readFileSync, writeFileSync } from "node:fs";

const [modulePath, runsPath, trailsPath] = process.argv.slice(2);
const { instance: wasm } = await WebAssembly.instantiate(readFileSync(modulePath), {});
const w = wasm.exports;

// Keep in step with run() in compare.cpp.
function run(model, plan) {
  const trail = [];
  const instance = (w.__heap_base.value + 15) & ~15;
  const dense = instance + w.instance_bytes(model);
  const end = dense + 8 * w.state_count(model);
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
    if (plan.solver < 4) {
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
  const [table, solver, h, t_end, tolerance, records, steps, parts] = line.split(" ");
  const trail = run(w[table].value, {
    solver: +solver, h: +h, t_end: +t_end, tolerance: +tolerance, records: +records, steps: +steps,
    parts: +parts === 1,
  });
  all.push(Float64Array.of(trail.length, ...trail));
}
writeFileSync(trailsPath, Buffer.concat(all.map((a) => Buffer.from(a.buffer))));
