// Frames: every field where the protocol puts it; what is shown between two frames; what the history keeps.
import assert from "node:assert/strict";
import { test } from "node:test";
import { decode_frame, FrameHistory, type Frame, Playout, same_picture } from "../src/frames";

function encode(values: number[], generation = 3, time = 1.25): ArrayBuffer {
  const buffer = new ArrayBuffer(96 + 8 * values.length);
  const view = new DataView(buffer);
  view.setUint32(0, 1, true);
  view.setUint32(4, generation, true);
  view.setUint32(8, 0b1010, true);
  view.setUint32(12, values.length, true);
  view.setFloat64(16, time, true);
  for (let i = 0; i < 9; ++i) view.setFloat64(24 + 8 * i, 10 + i, true);
  values.forEach((value, i) => view.setFloat64(96 + 8 * i, value, true));
  return buffer;
}

function frame(time: number, ...values: number[]): Frame {
  return {
    generation: 1,
    flags: 0,
    time,
    hand_position: [0, 0, 0],
    hand_velocity: [0, 0, 0],
    hand_force: [0, 0, 0],
    values: new Float64Array(values),
  };
}

test("a frame is decoded field by field", () => {
  const decoded = decode_frame(encode([0.5, -2, 1e300]));
  assert.ok(decoded !== null);
  assert.equal(decoded.generation, 3);
  assert.equal(decoded.flags, 10);
  assert.equal(decoded.time, 1.25);
  assert.deepEqual(decoded.hand_position, [10, 11, 12]);
  assert.deepEqual(decoded.hand_velocity, [13, 14, 15]);
  assert.deepEqual(decoded.hand_force, [16, 17, 18]);
  assert.deepEqual([...decoded.values], [0.5, -2, 1e300]);
});

test("a frame that is cut, too long or of another kind is none", () => {
  const good = encode([1, 2]);
  assert.equal(decode_frame(good.slice(0, 95)), null);
  assert.equal(decode_frame(good.slice(0, good.byteLength - 8)), null);
  assert.equal(decode_frame(encode([1, 2, 3]).slice(0, 96 + 16)), null);
  new DataView(good).setUint32(0, 2, true);
  assert.equal(decode_frame(good), null);
});

test("values move evenly between frames, discrete ones jump", () => {
  const playout = new Playout();
  playout.begin_world([false, true]);
  const pause = 1000 / 60;
  for (let i = 0; i <= 3; ++i) playout.push(frame(i / 60, i, i), i * pause);
  // One pause behind: frame 2 is shown when frame 3 arrives, and half a pause later halfway.
  const exact = playout.values_at(3 * pause)!;
  assert.ok(Math.abs(exact[0]! - 2) < 1e-9);
  const between = playout.values_at(3.5 * pause)!;
  assert.ok(Math.abs(between[0]! - 2.5) < 1e-9);
  assert.equal(between[1], 2);
  // Nothing beyond the newest frame.
  assert.equal(playout.values_at(30 * pause)![0], 3);
  assert.equal(playout.is_moving(30 * pause), false);
});

test("frames that arrive unevenly are shown evenly", () => {
  const playout = new Playout();
  playout.begin_world([false]);
  const pause = 1000 / 60;
  const jitter = [0, 3, -4, 5, -2, 4, -5, 2];
  const shown: number[] = [];
  let next = 0;
  for (let tick = 0; tick < 60 * 8; ++tick) {
    const now = (tick * pause) / 4;
    while (next * pause + jitter[next % jitter.length]! <= now) {
      playout.push(frame(next / 60, next), now);
      ++next;
    }
    if (tick > 4 * 60) shown.push(playout.values_at(now)![0]!);
  }
  // A quarter of a pause each: never back, and never more than a whole frame at once, though arrivals are up to 9 ms off.
  for (let i = 1; i < shown.length; ++i) {
    const step = shown[i]! - shown[i - 1]!;
    assert.ok(step >= 0 && step < 0.6, `step ${step}`);
  }
});

test("a world that goes back is shown at once, not run backwards", () => {
  const playout = new Playout();
  playout.begin_world([false]);
  playout.push(frame(5, 100), 0);
  playout.push(frame(5.1, 110), 16);
  playout.push(frame(0, 0), 32);
  assert.equal(playout.values_at(33)![0], 0);
});

test("the history keeps its window and thins what is denser", () => {
  const history = new FrameHistory(10, 100);
  for (let i = 0; i <= 3000; ++i) history.push(frame(i * 0.01, i));
  const times = history.frames.map((f) => f.time);
  assert.ok(times.length <= 104, `${times.length} frames`);
  assert.ok(times[0]! >= 30 - 10 - 0.11 && times[0]! <= 20);
  assert.equal(times[times.length - 1], 30);
  for (let i = 1; i + 1 < times.length; ++i) assert.ok(times[i]! - times[i - 1]! >= 0.1 - 1e-9);
  history.push(frame(0, 0));
  assert.equal(history.frames.length, 1);
});

test("a picture is the same when nothing in it changed", () => {
  assert.ok(same_picture(frame(1, 2, NaN), frame(1, 2, NaN)));
  assert.ok(!same_picture(frame(1, 2), frame(1, 3)));
  assert.ok(!same_picture(frame(1, 2), frame(1.1, 2)));
  assert.ok(!same_picture(frame(1, 2), { ...frame(1, 2), hand_force: [0, 1, 0] }));
});

test("a frame is shown to its end, although nobody asked for a while", () => {
  const playout = new Playout();
  playout.begin_world([]);
  playout.push(frame(0, 0), 0);
  playout.push(frame(0.016, 1), 16);
  assert.ok(playout.values_at(20)![0]! < 1);
  assert.ok(playout.is_moving(900)); // long past, and still half way
  assert.equal(playout.values_at(900)![0], 1);
  assert.ok(!playout.is_moving(901));
});
