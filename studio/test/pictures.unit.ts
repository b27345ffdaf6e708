// Small exact things of the picture: texts with values, round numbers, framing, ranges, files of triangles, names of scalars.
import assert from "node:assert/strict";
import { test } from "node:test";
import { KeptPlots } from "../src/kept_plots";
import { from_unit, in_unit, read_number, slider_range } from "../src/parameters";
import { list_scalars, parse_message } from "../src/protocol";
import { slider_to_speed, speed_to_slider } from "../src/time_controls";
import { empty_bounds, extend_bounds, format_tick, Framing, nice_step } from "../src/world/framing";
import { parse_triangles } from "../src/world/mesh_file";
import { fill_template, format_number, list_readers, numbers_option } from "../src/world/options";
import { smooth_way } from "../src/world/smooth";
import { choose_zigzags } from "../src/world/spring";

test("a text shows its values", () => {
  assert.equal(fill_template("n = {0}, x = {1}", [3, 0.123456]), "n = 3, x = 0.1235");
  assert.equal(fill_template("{{0}} {1} {0}", ["a"]), "{0} {1} a");
  assert.equal(format_number(-1234567.5), "−1.235e+6");
  assert.equal(format_number(NaN), "not a number");
});

test("options are constants or places in the frame", () => {
  const values = new Float64Array([5, 6, 7]);
  const reference = numbers_option({ kind: "sphere", at: { at: 1, count: 2 } }, "at")!;
  assert.deepEqual([reference.read(values, 0, 0), reference.read(values, 1, 0), reference.read(values, 2, -1)], [6, 7, -1]);
  const constant = numbers_option({ kind: "sphere", radius: 2 }, "radius")!;
  assert.deepEqual([constant.read(values, 0, 0), constant.read(values, 1, 9)], [2, 9]);
  assert.equal(numbers_option({ kind: "sphere" }, "radius"), null);
  const readers = list_readers([{ at: 0, count: 2 }, 4, "w"]);
  assert.deepEqual(readers.map((read) => read(values)), [5, 6, 4, "w"]);
});

test("steps are round", () => {
  assert.equal(nice_step(0.7), 0.5);
  assert.equal(nice_step(99), 50);
  assert.equal(nice_step(2), 2);
  assert.equal(format_tick(-0.30000000000000004, 0.1), "−0.3");
  assert.equal(format_tick(1e-17, 0.1), "0");
  assert.equal(format_tick(1500, 500), "1500");
});

test("the frame grows when something leaves, rests while a hand drags, shrinks when asked", () => {
  const framing = new Framing();
  framing.begin_world(2);
  assert.deepEqual(framing.size, [2, 2, 2]);
  const bounds = (x: number) => {
    const b = empty_bounds();
    extend_bounds(b, -1, -1, 0);
    extend_bounds(b, x, 1, 0);
    return b;
  };
  framing.update(bounds(1), false);
  assert.deepEqual(framing.center, [0, 0, 0]);
  framing.update(bounds(9), true);
  assert.equal(framing.size[0], 2);
  framing.update(bounds(9), false);
  assert.ok(framing.size[0] >= 10);
  framing.update(bounds(1), false);
  assert.ok(framing.size[0] >= 10);
  framing.fit(bounds(1));
  assert.equal(framing.size[0], 2);
  const wild = empty_bounds();
  extend_bounds(wild, NaN, 0, 0);
  extend_bounds(wild, Infinity, 0, 0);
  framing.update(wild, false);
  assert.equal(framing.size[0], 2);
});

test("a point and its rounding errors are not magnified", () => {
  const framing = new Framing();
  framing.begin_world(2);
  const at = (...xs: number[]) => {
    const b = empty_bounds();
    for (const x of xs) extend_bounds(b, x, 0, 0);
    return b;
  };
  framing.update(at(0), false);
  framing.update(at(0, 1e-12), false);
  assert.deepEqual(framing.size, [2, 2, 2]);
  framing.update(at(0, 100), false);
  assert.ok(framing.size[0] >= 100);
  framing.fit(at(50, 50 + 1e-9));
  assert.ok(framing.size[0] >= 5 && framing.size[0] < 10);
  // A small world is as good as a large one.
  framing.begin_world(2);
  framing.update(at(0, 1e-6), false);
  assert.equal(framing.size[0], 1e-6);
});

test("sliders without a range", () => {
  const p = { name: "k", unit: "", size: 1, value: 4, initial: 4, low: null, high: null };
  assert.deepEqual(slider_range(p), [0, 8]);
  assert.deepEqual(slider_range({ ...p, initial: -3 }), [-6, 0]);
  assert.deepEqual(slider_range({ ...p, initial: 0 }), [-1, 1]);
  assert.deepEqual(slider_range({ ...p, low: 1, high: 5 }), [1, 5]);
  assert.deepEqual(slider_range({ ...p, initial: 0, size: 0.01 }), [-0.01, 0.01]);
});

test("numbers are shown in the unit of the text, and come back exactly", () => {
  const size = Math.PI / 180;
  const tilt = { name: "tilt", unit: "deg", size, value: 0, initial: 20 * size, low: 0, high: Math.PI / 2 };
  assert.equal(in_unit(0.3490658503988659, size), 20);
  assert.equal(in_unit(0.07, 0.01), 7);
  assert.equal(in_unit(123456789.123, 1), 123456789.123);
  assert.equal(from_unit(20, tilt), tilt.initial);
  assert.equal(from_unit(90, tilt), tilt.high);
  assert.equal(from_unit(10, tilt), 10 * size);
  for (const text of ["20", " 20 deg", "20deg", "2e1", "20,0", "20 [deg]", "20°", "+20."]) assert.equal(read_number(text, "deg"), 20, text);
  assert.equal(read_number("−5", ""), -5);
  for (const text of ["", "deg", "abc", "1e999", "NaN", "20 rad", "1 2", "1,000", "0x10", "20 [rad]"]) assert.equal(read_number(text, "deg"), null, text);
});

test("an arrangement of plots is kept until the text asks for others", () => {
  const stored = new Map<string, string>();
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
    removeItem: (key: string) => void stored.delete(key),
  };
  const kept = new KeptPlots(storage, "w");
  assert.equal(kept.load([["a"]]), null);
  kept.save([["a"]], [["a", "b"], ["c"]]);
  assert.deepEqual(new KeptPlots(storage, "w").load([["a"]]), [["a", "b"], ["c"]]);
  assert.equal(kept.load([["b"]]), null);
  assert.equal(new KeptPlots(storage, "other").load([["a"]]), null);
  kept.save([["a"]], [["a"]]);
  assert.equal(stored.size, 0);
  for (const text of ["{", "3", '{"asked":[["a"]],"panels":3}', '{"asked":[["a"]],"panels":[[3]]}']) {
    stored.set("tactus.plots.w", text);
    assert.equal(kept.load([["a"]]), null, text);
  }
});

test("speed is logarithmic and finds real time", () => {
  assert.equal(slider_to_speed(-20), 0.1);
  assert.equal(slider_to_speed(0), 1);
  assert.equal(slider_to_speed(20), 10);
  assert.equal(speed_to_slider(0.01), -20);
  assert.equal(speed_to_slider(100), 20);
  // Else a key that moves it by one would lead nowhere.
  for (let position = -20; position <= 20; ++position) assert.equal(speed_to_slider(slider_to_speed(position)), position);
});

test("scalars have the names of plots", () => {
  const scalars = list_scalars([
    { name: "a", unit: "rad", rows: 1, columns: 1, at: 0, flags: [] },
    { name: "p", unit: "m", rows: 2, columns: 1, at: 1, flags: ["discrete"] },
    { name: "R", unit: "", rows: 2, columns: 2, at: 3, flags: [] },
  ]);
  assert.deepEqual(scalars.map((s) => `${s.name}@${s.at}`), ["a@0", "p[1]@1", "p[2]@2", "R[1][1]@3", "R[1][2]@4", "R[2][1]@5", "R[2][2]@6"]);
  assert.deepEqual(scalars.map((s) => s.discrete), [false, true, true, false, false, false, false]);
});

test("unknown and broken messages are dropped", () => {
  assert.equal(parse_message("{"), null);
  assert.equal(parse_message("null"), null);
  assert.equal(parse_message('{"type":"weather"}'), null);
  assert.equal(parse_message('{"type":"note","text":"x"}')?.type, "note");
});

test("triangles of text and binary STL and of OBJ", () => {
  const text = "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1e0 0\nendloop\nendfacet\nendsolid";
  const encoder = new TextEncoder();
  assert.deepEqual([...parse_triangles("a.stl", encoder.encode(text).buffer)], [0, 0, 0, 1, 0, 0, 0, 1, 0]);
  const binary = new DataView(new ArrayBuffer(84 + 50));
  binary.setUint32(80, 1, true);
  for (let k = 0; k < 9; ++k) binary.setFloat32(96 + 4 * k, k, true);
  assert.deepEqual([...parse_triangles("a.STL", binary.buffer)], [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  const quad = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1/1 2/2 3/3 -1/4\n";
  assert.deepEqual([...parse_triangles("q.obj", encoder.encode(quad).buffer)], [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0]);
  assert.equal(parse_triangles("x.stl", encoder.encode("nothing").buffer).length, 0);
});

test("a triangle with a corner that is missing or not finite is left out, and the others stay", () => {
  const encoder = new TextEncoder();
  const facet = (first: string): string => `facet normal 0 0 1\nouter loop\n${first}\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n`;
  const good = [0, 0, 0, 1, 0, 0, 0, 1, 0];
  for (const wrong of ["vertex nan 0 0", "vertex 1e39 0 0", "vertex 0 0", "vertex", "vertex 0 0 here"]) {
    const text = `solid s\n${facet(wrong)}${facet("vertex 0 0 0")}endsolid`;
    assert.deepEqual([...parse_triangles("a.stl", encoder.encode(text).buffer)], good, wrong);
  }
  const binary = new DataView(new ArrayBuffer(84 + 2 * 50));
  binary.setUint32(80, 2, true);
  binary.setFloat32(96, NaN, true);
  good.forEach((number, k) => binary.setFloat32(146 + 4 * k, number, true));
  assert.deepEqual([...parse_triangles("a.stl", binary.buffer)], good);
  const points = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1\nv a b c\nv 0 Infinity 0\n";
  const faces = "f 1 2 4\nf 1 2 5\nf 1 2 6\nf 1 2 99\nf 1 2\nf 0 1 2\nf 1 2 3\n";
  assert.deepEqual([...parse_triangles("q.obj", encoder.encode(points + faces).buffer)], good);
});

test("a trace through few points of a circle stays near it, and does not swing past a jump", () => {
  const count = 25;
  const times = Float64Array.from({ length: count }, (_, i) => i / 60);
  const circle = Float64Array.from({ length: 3 * count }, (_, i) => [Math.cos, Math.sin, () => 0][i % 3]!((2 * Math.PI * Math.floor(i / 3)) / 12));
  const radii: number[] = [];
  smooth_way(circle, times, count, 3, (x, y) => radii.push(Math.hypot(x, y)));
  assert.equal(radii.length, count + 3 * (count - 3));
  const inner = radii.slice(5, -2);
  assert.ok(Math.min(...inner) > 0.995 && Math.max(...inner) < 1.005, `${Math.min(...inner)}`);
  const jump = Float64Array.from({ length: 3 * count }, (_, i) => (i % 3 === 0 && i / 3 > 12 ? 1 : 0));
  const xs: number[] = [];
  smooth_way(jump, times, count, 3, (x) => xs.push(x));
  assert.ok(xs.every((x, i) => x >= 0 && x <= 1 && (i === 0 || x >= xs[i - 1]!)));
});

test("a short zigzag has fewer teeth, and one that swings about the limit keeps them", () => {
  assert.equal(choose_zigzags(400, 0), 9);
  assert.equal(choose_zigzags(40, 0), 5);
  assert.equal(choose_zigzags(5, 0), 3);
  assert.equal(choose_zigzags(58, 9), 9);
  assert.equal(choose_zigzags(62, 5), 5);
  assert.equal(choose_zigzags(30, 9), 5);
  assert.equal(choose_zigzags(NaN, 0), 9);
});
