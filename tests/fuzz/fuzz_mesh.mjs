// Files of triangles, as a disk, another program or an enemy leaves them -> the page's reader of meshes (studio/src/world/mesh_file.ts).
//
//   node fuzz_mesh.mjs --seed S (--runs N | --seconds N) --findings FOLDER
//   node fuzz_mesh.mjs FILE        once more; the ending says how it is read
//
// Whatever the bytes are: whole triangles of finite corners, no more than the bytes can stand for, within so much processor time.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const { transformSync } = await import(pathToFileURL(join(root, "studio/node_modules/esbuild/lib/main.js")).href);
const reader = readFileSync(join(root, "studio/src/world/mesh_file.ts"), "utf8");
const { code } = transformSync(reader, { loader: "ts", format: "esm" });
const { parse_triangles } = await import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`);

const longest = 2; // s of processor time
const processor_seconds = () => (({ user, system }) => (user + system) / 1e6)(process.cpuUsage());

// What is wrong with this file, or "".
function look_at(name, bytes) {
  const begin = processor_seconds();
  let corners;
  try {
    corners = parse_triangles(name, bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  } catch (failure) {
    return `it throws ${failure}`;
  }
  if (processor_seconds() - begin > longest) return `more than ${longest} s of processor time`;
  if (corners.length % 9 !== 0) return `${corners.length} numbers are no whole triangles`;
  if (corners.length > 9 * bytes.length) return `${corners.length} numbers of ${bytes.length} bytes`;
  if (!corners.every(Number.isFinite)) return "a corner is not finite";
  return "";
}

const [first, ...rest] = process.argv.slice(2);
if (first !== undefined && !first.startsWith("--")) {
  const wrong = look_at(first, readFileSync(first));
  console.log(wrong === "" ? "nothing wrong" : wrong);
  process.exit(wrong === "" ? 0 : 1);
}
const options = { seed: 1, runs: Infinity, seconds: Infinity, findings: "." };
const words = [first, ...rest];
for (let i = 0; i + 1 < words.length; i += 2) {
  const name = words[i].slice(2);
  options[name] = name === "findings" ? words[i + 1] : Number(words[i + 1]);
}

// mulberry32: the same numbers on every machine.
let state = options.seed >>> 0;
function below(bound) {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
}
const any = (list) => list[below(list.length)];

const text = "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1e0 0\nendloop\nendfacet\nendsolid\n";
const quad = "# a quad\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nvt 0 0\nf 1/1 2/2 3/3 -1/4\nf 1//1 2//1 3//1\n";
function binary(count) {
  const view = new DataView(new ArrayBuffer(84 + 50 * count));
  view.setUint32(80, count, true);
  for (let i = 0; i < count; ++i) for (let k = 0; k < 12; ++k) view.setFloat32(84 + 50 * i + 4 * k, i + k, true);
  return Buffer.from(view.buffer);
}
const seeds = [["a.stl", Buffer.from(text)], ["a.stl", binary(1)], ["a.STL", binary(4)], ["a.obj", Buffer.from(quad)], ["a.stl", Buffer.alloc(0)]];
const extremes = ["nan", "Infinity", "-1e999", "0x10", "vertex", "vertex ", " ", "\n", "f ", "v ", "f 1 2 3\n", "f -9 1e9 0\n", "v 1\n", "\0", "9".repeat(400), " ".repeat(3000),
  "vertex ".repeat(500), "v 1 2 3 4 5\n", "f " + "1 ".repeat(1500) + "\n", "\xff\xfe", "vertex\u00a01 2 3"].map((word) => Buffer.from(word, "latin1"));

function spoil(bytes) {
  for (let i = below(6); i >= 0; --i) {
    const at = below(bytes.length + 1);
    const kind = below(5);
    if (kind === 0) bytes = Buffer.concat([bytes.subarray(0, at), any(extremes), bytes.subarray(at)]);
    else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.min(bytes.length, at + any([1, 2, 12, 50])))]);
    else if (kind === 2) bytes = Buffer.concat([bytes, bytes.subarray(0, at)]);
    else if (bytes.length > 0) {
      bytes = Buffer.from(bytes);
      bytes[at % bytes.length] = any([0, 255, 127, 128, 48 + below(10), 32, 10, below(256)]);
    }
  }
  return bytes.subarray(0, 1 << 16);
}

const begin = processor_seconds();
const found = new Map();
let done = 0;
let kept = seeds.slice();
for (; done < options.runs && processor_seconds() - begin < options.seconds; ++done) {
  const [name, bytes] = any(kept);
  const next = spoil(bytes);
  const wrong = look_at(name, next);
  if (wrong !== "") {
    const kind = wrong.replace(/\d+/g, "N");
    if (!found.has(kind)) {
      mkdirSync(options.findings, { recursive: true });
      const file = join(options.findings, `mesh-${options.seed}-${done}${name.slice(name.lastIndexOf("."))}`);
      writeFileSync(file, next);
      found.set(kind, file);
      console.log(`mesh: ${wrong}\n  again: node ${fileURLToPath(import.meta.url)} ${file}`);
    }
  } else if (below(20) === 0) {
    // Now and then it goes on from what came out.
    kept[seeds.length + below(30)] = [name, next];
    kept = kept.filter((each) => each !== undefined);
  }
}
console.log(`runs ${done}`);
process.exit(found.size === 0 ? 0 : 1);
