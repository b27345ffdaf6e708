// A stand-in for `tactus play`: serves dist/ under the same content policy and speaks the same protocol, with worlds computed here at 1 kHz.
//   node test/mock_server.mjs [two_ball | space | pendulum | chain] [port]
// For tests: start_mock() returns the messages it received, and ways to drop, refuse and disturb clients. "Compiling" means looking for the word `oops`,
// which is an error, and `explode`, which makes the world fail.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const content_types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8" };
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self' ws://HOST; img-src 'self' data: blob:";

const example = (name) => readFileSync(join(root, "../examples", name), "utf8");
const add = (a, b) => a.map((x, i) => x + b[i]);
const subtract = (a, b) => a.map((x, i) => x - b[i]);
const times = (s, a) => a.map((x) => s * x);

const corners = ["0 0 0", "1 0 0", "0 1 0", "0 0 1"];
const faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
const tetrahedron = `solid t\n${faces.map((face) => `facet\n${face.map((i) => `vertex ${corners[i]}`).join("\n")}\nendfacet`).join("\n")}\nendsolid`;

// Each world: what `world` says, and step(h, hand) -> { values, force }.
const worlds = {
  two_ball() {
    const start = () => ({ black: [0, 0], speed: [0, 0], white: [0, 0], white_before: [0, 0], cross1: 0, cross2: 0, in1: false, in2: false });
    const box1 = [350, -300];
    const box2 = [-350, 200];
    const inside = (p, c) => p[0] >= c[0] && p[0] <= c[0] + 50 && p[1] >= c[1] && p[1] <= c[1] + 50;
    return {
      world: {
        name: "two_ball",
        dimensions: 2,
        rate: 1000,
        files: [{ name: "two_ball.tact", text: example("two_ball.tact"), edited: false }],
        values: [
          { name: "white_ball", unit: "", rows: 2, columns: 1, at: 0, flags: [] },
          { name: "black_ball", unit: "", rows: 2, columns: 1, at: 2, flags: [] },
          { name: "F", unit: "", rows: 2, columns: 1, at: 4, flags: [] },
          { name: "cross1", unit: "", rows: 1, columns: 1, at: 6, flags: ["discrete"] },
          { name: "cross2", unit: "", rows: 1, columns: 1, at: 7, flags: ["discrete"] },
        ],
        parameters: [
          { name: "k", unit: "", size: 1, value: 4, initial: 4, low: 0, high: 50 },
          { name: "b", unit: "", size: 1, value: 1, initial: 1, low: 0, high: 10 },
          { name: "m", unit: "", size: 1, value: 1, initial: 1, low: 0.1, high: 10 },
        ],
        hand: { device: "hand", components: 2, scale: [2000, 2000, 2000], offset: [0, 0, 0], handle: "white_ball", limit: 8 },
        drawings: [
          { kind: "box", at: box1, size: [50, 50], color: "seagreen" },
          { kind: "box", at: box2, size: [50, 50] },
          { kind: "text", text: "entered {0} times", values: [{ at: 6, count: 1 }], at: [350, -240] },
          { kind: "text", text: "entered {0} times", values: [{ at: 7, count: 1 }], at: [-350, 260] },
          { kind: "trace", point: { at: 2, count: 2 } },
          { kind: "spring", from: { at: 0, count: 2 }, to: { at: 2, count: 2 } },
          { kind: "sphere", at: { at: 2, count: 2 }, radius: 18, color: "black" },
          { kind: "sphere", at: { at: 0, count: 2 }, radius: 12, color: "white" },
          { kind: "arrow", at: { at: 2, count: 2 }, along: { at: 4, count: 2 }, scale: 0.12 },
        ],
        plots: [
          ["black_ball[1]", "black_ball[2]"],
          ["F[1]", "F[2]"],
        ],
        notes: [],
      },
      start,
      step(s, h, hand, p) {
        s.white_before = s.white;
        if (hand !== null) s.white = times(2000, hand.slice(0, 2));
        const white_speed = times(1 / h, subtract(s.white, s.white_before));
        const force = add(times(p.k, subtract(s.white, s.black)), times(p.b, subtract(white_speed, s.speed)));
        s.speed = add(s.speed, times(h / p.m, force));
        s.black = add(s.black, times(h, s.speed));
        const now1 = inside(s.black, box1);
        const now2 = inside(s.black, box2);
        if (now1 && !s.in1) s.cross1 += 1;
        if (now2 && !s.in2) s.cross2 += 1;
        s.in1 = now1;
        s.in2 = now2;
        s.force = force;
        return { values: [...s.white, ...s.black, ...force, s.cross1, s.cross2], force: times(-0.004, [...force, 0]) };
      },
    };
  },
  space() {
    const start = () => ({ p: [0.6, 0, 1], v: [0, 0.8, 0], hand: [0, 0, 1.6], angle: 0 });
    return {
      world: {
        name: "space",
        dimensions: 3,
        rate: 1000,
        files: [
          { name: "space.tact", text: "// A ball on a spring in space.\nboundary p(0) = (0.6, 0, 1);\nsystem\n  m * p'' = k * (h - p) - b * p';\n", edited: false },
          { name: "parts.tact", text: "constant g = 9.81 [m/s^2];\n", edited: false },
        ],
        values: [
          { name: "p", unit: "m", rows: 3, columns: 1, at: 0, flags: [] },
          { name: "h", unit: "m", rows: 3, columns: 1, at: 3, flags: [] },
          { name: "F", unit: "N", rows: 3, columns: 1, at: 6, flags: [] },
          { name: "R", unit: "", rows: 3, columns: 3, at: 9, flags: [] },
        ],
        parameters: [
          { name: "k", unit: "N/m", size: 1, value: 20, initial: 20, low: 0, high: 200 },
          { name: "b", unit: "N*s/m", size: 1, value: 0.2, initial: 0.2, low: null, high: null },
          { name: "tilt", unit: "deg", size: Math.PI / 180, value: Math.PI / 9, initial: Math.PI / 9, low: 0, high: Math.PI / 2 },
        ],
        hand: { device: "hand", components: 3, scale: [1, 1, 1], offset: [0, 0, 0], handle: "h", limit: 8 },
        drawings: [
          { kind: "ground", height: 0 },
          { kind: "box", at: [0.9, 0.7, 0.2], size: [0.4, 0.4, 0.4], rotation: { at: 9, count: 9 } },
          { kind: "cylinder", from: [0, 0, 0], to: [0, 0, 0.5], radius: 0.05 },
          { kind: "mesh", file: "parts/tetrahedron.stl", at: [-0.6, 0.8, 0], scale: 0.4 },
          { kind: "spring", from: { at: 3, count: 3 }, to: { at: 0, count: 3 } },
          { kind: "sphere", at: { at: 0, count: 3 }, radius: 0.12 },
          { kind: "sphere", at: { at: 3, count: 3 }, color: "white" },
          { kind: "arrow", at: { at: 0, count: 3 }, along: { at: 6, count: 3 } },
          { kind: "trace", point: { at: 0, count: 3 } },
          { kind: "text", text: "z = {0} m", values: [{ at: 2, count: 1 }], at: { at: 0, count: 3 } },
        ],
        plots: [["p[1]", "p[2]", "p[3]"], ["F[3]"]],
        notes: [],
      },
      start,
      step(s, h, hand, p) {
        if (hand !== null) s.hand = hand;
        const force = subtract(times(p.k, subtract(s.hand, s.p)), times(p.b, s.v));
        s.v = add(s.v, times(h, add(force, [0, 0, -9.81 * 0.6])));
        s.p = add(s.p, times(h, s.v));
        s.angle += h * 0.7;
        const c = Math.cos(s.angle);
        const n = Math.sin(s.angle);
        return { values: [...s.p, ...s.hand, ...force, c, -n, 0, n, c, 0, 0, 0, 1], force: times(-1, force) };
      },
    };
  },
  // A hundred balls and springs: what a large picture costs.
  chain() {
    const count = 100;
    const at = (i) => ({ at: 2 * i, count: 2 });
    return {
      world: {
        name: "chain",
        dimensions: 2,
        rate: 1000,
        files: [{ name: "chain.tact", text: "// A wave runs along a chain.\n", edited: false }],
        values: Array.from({ length: count }, (_, i) => ({ name: `p${i + 1}`, unit: "m", rows: 2, columns: 1, at: 2 * i, flags: [] })),
        parameters: [{ name: "height", unit: "m", size: 1, value: 4, initial: 4, low: 0, high: 10 }],
        hand: { device: "hand", components: 2, scale: [1, 1, 1], offset: [0, 0, 0], handle: "p1", limit: 8 },
        drawings: Array.from({ length: count }, (_, i) => [
          { kind: "sphere", at: at(i), radius: 0.3 },
          ...(i > 0 ? [{ kind: "spring", from: at(i - 1), to: at(i), radius: 0.15 }] : []),
        ]).flat(),
        plots: [["p50[2]"]],
        notes: [],
      },
      start: () => ({ t: 0 }),
      step(s, h, hand, p) {
        s.t += h;
        const values = Array.from({ length: count }, (_, i) => [i - 50, p.height * Math.sin(0.2 * i - 3 * s.t)]).flat();
        return { values, force: [0, 0, 0] };
      },
    };
  },
  pendulum() {
    const start = () => ({ a: 0.1, w: 0, x: 0, v: 0, hand: 0 });
    return {
      world: {
        name: "inverted_pendulum",
        dimensions: 2,
        rate: 1000,
        files: [{ name: "inverted_pendulum.tact", text: example("inverted_pendulum.tact"), edited: false }],
        values: [
          { name: "hand_x", unit: "m", rows: 1, columns: 1, at: 0, flags: [] },
          { name: "cart", unit: "m", rows: 2, columns: 1, at: 1, flags: [] },
          { name: "ball", unit: "m", rows: 2, columns: 1, at: 3, flags: [] },
          { name: "a", unit: "", rows: 1, columns: 1, at: 5, flags: [] },
          { name: "corner", unit: "m", rows: 2, columns: 1, at: 6, flags: [] },
        ],
        parameters: [{ name: "k_h", unit: "N/m", size: 1, value: 200, initial: 200, low: 0, high: 1000 }],
        hand: { device: "hand", components: 1, scale: [1, 1, 1], offset: [0, 0, 0], handle: "hand_x", limit: 8 },
        drawings: [
          { kind: "ground", height: -0.5 },
          { kind: "spring", from: { at: 0, count: 1 }, to: { at: 1, count: 2 } },
          { kind: "sphere", at: { at: 0, count: 1 }, radius: 0.15, color: "white" },
          { kind: "box", at: { at: 6, count: 2 }, size: [2, 1], color: "slategray" },
          { kind: "cylinder", from: { at: 1, count: 2 }, to: { at: 3, count: 2 }, radius: 0.08 },
          { kind: "sphere", at: { at: 3, count: 2 }, radius: 0.4, color: "tomato" },
        ],
        plots: [],
        notes: ["the hand rests at the origin until somebody takes it"],
      },
      start,
      step(s, h, hand, p) {
        if (hand !== null) s.hand = hand[0];
        const F = p.k_h * (s.hand - s.x) - 8 * s.v;
        const [M, m, l, g] = [10, 1, 4, 9.81];
        // (M+m) x'' + m l cos a a'' = F + m l w^2 sin a;  cos a x'' + l a'' = g sin a
        const c = Math.cos(s.a);
        const n = Math.sin(s.a);
        const right = F + m * l * s.w * s.w * n;
        const xdd = (right - m * c * g * n) / (M + m - m * c * c);
        const add_ = (g * n - c * xdd) / l;
        s.v += h * xdd;
        s.w += h * add_;
        s.x += h * s.v;
        s.a += h * s.w;
        return { values: [s.hand, s.x, 0, s.x + l * Math.sin(s.a), l * Math.cos(s.a), s.a, s.x - 1, -0.5], force: [-F / 50, 0, 0] };
      },
    };
  },
};

export function encode_frame({ generation, flags, time, hand, velocity, force, values }) {
  const buffer = Buffer.alloc(96 + 8 * values.length);
  buffer.writeUInt32LE(1, 0);
  buffer.writeUInt32LE(generation, 4);
  buffer.writeUInt32LE(flags, 8);
  buffer.writeUInt32LE(values.length, 12);
  buffer.writeDoubleLE(time, 16);
  [...hand, ...velocity, ...force, ...values].forEach((x, i) => buffer.writeDoubleLE(x, 24 + 8 * i));
  return buffer;
}

export async function start_mock({ name = "two_ball", port = 0, quiet = true } = {}) {
  const made = worlds[name]();
  const world = { type: "world", generation: 1, ...made.world };
  const disk = new Map(world.files.map((file) => [file.name, file.text]));
  const received = [];
  const state = { type: "state", paused: false, speed: 1, time: 0, failure: null, ended: null };
  let model = made.start();
  let time = 0;
  let hand = null;
  let hand_present = false;
  let refusing = false;
  let silent = false;
  let last = { values: made.step(made.start(), 0.001, null, parameters()).values, force: [0, 0, 0] };
  let ticks = 0;

  function parameters() {
    return Object.fromEntries(world.parameters.map((p) => [p.name, p.value]));
  }

  const http = createServer((request, response) => {
    if (refusing) {
      response.writeHead(403).end();
      return;
    }
    const path = request.url.split("?")[0];
    const file = path === "/" ? "index.html" : path.slice(1);
    if (path === "/files/parts/tetrahedron.stl") {
      response.end(tetrahedron);
      return;
    }
    try {
      const bytes = readFileSync(join(root, "dist", file));
      response.writeHead(200, {
        "content-type": content_types[extname(file)] ?? "application/octet-stream",
        "content-security-policy": policy.replace("HOST", request.headers.host),
        "cache-control": "no-store",
      });
      response.end(request.method === "HEAD" ? undefined : bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  const sockets = new WebSocketServer({ noServer: true });
  http.on("upgrade", (request, socket, head) => {
    if (refusing) {
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      return;
    }
    sockets.handleUpgrade(request, socket, head, (client) => serve(client));
  });
  const say = (client, message) => client.readyState === 1 && client.send(JSON.stringify(message));
  const say_all = (message) => sockets.clients.forEach((client) => say(client, message));
  const say_state = () => say_all({ ...state, time });

  function diagnose(file, text) {
    const items = [];
    text.split("\n").forEach((line, i) => {
      const at = line.indexOf("oops");
      if (at < 0) return;
      items.push({
        file, line: i + 1, column: at + 1, end_line: i + 1, end_column: at + 5, severity: "error", code: "S002",
        text: "no equation determines `oops`", hint: "write an equation for `oops`, or make it a parameter",
      });
    });
    return items;
  }

  function edit(message) {
    const file = world.files.find((f) => f.name === message.file);
    if (file === undefined) return [];
    const items = diagnose(message.file, message.text);
    file.text = message.text;
    file.edited = file.text !== disk.get(file.name);
    if (items.length === 0) {
      world.generation += 1;
      state.failure = message.text.includes("explode")
        ? { kind: "step", text: "the step size became too small at t = 1.25", hint: "lower the tolerance, or look for a division by zero", line: 12 }
        : null;
      say_all(world);
      say_state();
    }
    return items;
  }

  function serve(client) {
    client.on("message", (data) => {
      const message = JSON.parse(data.toString());
      received.push(message);
      switch (message.type) {
        case "hello":
          say(client, world);
          say(client, { ...state, time });
          say(client, { type: "diagnostics", version: 0, items: world.files.flatMap((f) => diagnose(f.name, f.text)) });
          break;
        case "pause":
        case "resume":
          state.paused = message.type === "pause";
          say_state();
          break;
        case "step":
          state.paused = true;
          advance(0.001);
          say_state();
          break;
        case "reset":
          model = made.start();
          time = 0;
          state.failure = state.ended = null;
          say_state();
          break;
        case "speed":
          state.speed = message.value;
          say_state();
          break;
        case "set":
          for (const p of world.parameters) {
            if (p.name !== message.name) continue;
            const refused = p.low !== null && !(message.value >= p.low && message.value <= p.high);
            if (refused) {
              say(client, { type: "note", text: `\`${p.name}\` is between ${p.low} and ${p.high}, not ${message.value}` });
              say(client, { type: "parameter", name: p.name, value: p.value, refused: true });
            } else {
              p.value = message.value;
              say_all({ type: "parameter", name: p.name, value: p.value });
            }
          }
          break;
        case "hand":
          hand = message.position;
          hand_present = true;
          break;
        case "leave":
          hand_present = false;
          break;
        case "edit":
          say(client, { type: "diagnostics", version: message.version, items: edit(message) });
          break;
        case "save": {
          const file = world.files.find((f) => f.name === message.file);
          disk.set(file.name, file.text);
          file.edited = false;
          say_all({ type: "saved", file: file.name, failure: null });
          break;
        }
      }
    });
  }

  function advance(seconds) {
    const steps = Math.max(1, Math.round(seconds / 0.001));
    for (let i = 0; i < steps; ++i) {
      last = made.step(model, 0.001, hand, parameters());
      time += 0.001;
      ticks += 1;
    }
  }

  let before = performance.now();
  let owed = 0;
  const loop = setInterval(() => {
    const now = performance.now();
    const passed = Math.min((now - before) / 1000, 0.1);
    before = now;
    if (!state.paused && state.failure === null && state.ended === null && !silent) {
      owed += passed * state.speed;
      if (owed >= 0.001) {
        const due = Math.floor(owed / 0.001) * 0.001;
        advance(due);
        owed -= due;
      }
    }
    if (silent) return;
    const size = Math.hypot(...last.force);
    const limit = world.hand.limit;
    const limited = size > limit;
    const force = hand_present ? times(limited ? limit / size : 1, last.force) : [0, 0, 0];
    const flags = (state.paused ? 1 : 0) | (hand_present ? 2 : 0) | (limited && hand_present ? 8 : 0);
    const frame = encode_frame({ generation: world.generation, flags, time, hand: hand ?? [0, 0, 0], velocity: [0, 0, 0], force, values: last.values });
    for (const client of sockets.clients) if (client.readyState === 1 && client.bufferedAmount < 100000) client.send(frame);
  }, 1000 / 60);
  const telling = setInterval(() => {
    if (silent) return;
    say_all({
      type: "statistics", ticks, late: { median: 31 + Math.random() * 4, p99: 120, p999: 240 }, compute: { median: 1.2, p99: 2, longest: 40 },
      missed: 3, slipped: 0, steal: 0.2, steps: ticks, scheduling: "normal", frames: 60, clients: sockets.clients.size,
    });
  }, 250);

  await new Promise((resolve) => http.listen(port, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${http.address().port}/#key=${"0".repeat(32)}`;
  if (!quiet) console.log(address);
  return {
    address,
    received,
    world,
    disk,
    say_all,
    edit,
    values: () => last.values,
    drop: () => sockets.clients.forEach((client) => client.terminate()),
    refuse: (on) => (refusing = on),
    be_silent: (on) => (silent = on),
    // The world ends, or fails, where it is.
    end: (ended) => {
      state.ended = ended;
      say_state();
    },
    fail: (failure) => {
      state.failure = failure;
      say_state();
    },
    stop: async () => {
      clearInterval(loop);
      clearInterval(telling);
      sockets.clients.forEach((client) => client.terminate());
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await start_mock({ name: process.argv[2] ?? "two_ball", port: Number(process.argv[3] ?? 8123), quiet: false });
}
