// The tree-sitter grammar, read without tree-sitter: grammar.js is run with its own functions, checked to need one token of
// lookahead (so that the generator finds no conflict), and interpreted by recursive descent over its corpus and over every
// program of the repository. Where the program `tree-sitter` is installed, it generates, tests and parses too.
//
//   node editors/test/tree_sitter.mjs
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { programs, reservedWords, root } from "./programs.mjs";

const folder = path.join(root, "editors/tree-sitter-tactus");

// -- grammar.js -> rules

const rule = (value) => {
  if (typeof value === "string") return { type: "string", value };
  if (value instanceof RegExp) return { type: "pattern", value };
  return value;
};
globalThis.seq = (...parts) => ({ type: "seq", parts: parts.map(rule) });
globalThis.choice = (...parts) => ({ type: "choice", parts: parts.map(rule) });
globalThis.repeat = (part) => ({ type: "repeat", part: rule(part) });
globalThis.token = (part) => ({ type: "token", part: rule(part) });
globalThis.grammar = (definition) => {
  const symbols = new Proxy({}, { get: (_, name) => ({ type: "symbol", name }) });
  const rules = {};
  for (const [name, make] of Object.entries(definition.rules)) rules[name] = rule(make(symbols));
  return { ...definition, rules, extras: definition.extras(symbols), word: definition.word(symbols).name };
};
const { rules, word } = createRequire(import.meta.url)(path.join(folder, "grammar.js"));

// -- terminals

const escape = (text) => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
function source(part) {
  switch (part.type) {
    case "string": return escape(part.value);
    case "pattern": return part.value.source;
    case "seq": return part.parts.map(source).join("");
    case "choice": return `(?:${part.parts.map(source).join("|")})`;
    case "repeat": return `(?:${source(part.part)})*`;
    case "token": return source(part.part);
  }
  throw new Error(`not a part of a token: ${part.type}`);
}
const isTerminal = (part) => ["string", "pattern", "token"].includes(part.type);
const terminals = new Map(); // key -> { regex, literal }
function keyOf(part) {
  const key = part.type === "string" ? `"${part.value}"` : source(part);
  if (!terminals.has(key)) terminals.set(key, { regex: new RegExp(source(part), "uy"), literal: part.type === "string" });
  return key;
}
(function collect(part) {
  if (isTerminal(part)) keyOf(part);
  else if (part.parts) part.parts.forEach(collect);
  else if (part.part) collect(part.part);
})({ parts: Object.values(rules) });

// Longest match; of equals the literal, as tree-sitter's keyword extraction does.
const comments = { line_comment: keyOf(rules.line_comment), block_comment: keyOf(rules.block_comment) };
function lex(text) {
  const tokens = [];
  for (let at = 0; at < text.length; ) {
    const blank = /\s+/uy;
    blank.lastIndex = at;
    if (blank.test(text)) {
      at = blank.lastIndex;
      continue;
    }
    let best = null;
    for (const [key, { regex, literal }] of terminals) {
      regex.lastIndex = at;
      const match = regex.exec(text);
      if (!match || match[0].length === 0) continue;
      const longer = !best || match[0].length > best.text.length;
      if (longer || (match[0].length === best.text.length && literal && !best.literal)) best = { key, text: match[0], literal };
    }
    assert(best, `no token at ${JSON.stringify(text.slice(at, at + 30))}`);
    const comment = Object.entries(comments).find(([, key]) => key === best.key);
    tokens.push({ ...best, at, comment: comment && comment[0] });
    at += best.text.length;
  }
  tokens.push({ key: "end", text: "", at: text.length });
  return tokens;
}

// -- one token of lookahead is enough: FIRST sets of alternatives are disjoint, and a repeat's FIRST is not in its FOLLOW

const first = new Map();
const nullable = (part) => part.type === "repeat" || (part.type === "seq" && part.parts.every(nullable));
function firstOf(part, seen = new Set()) {
  switch (part.type) {
    case "symbol": {
      if (first.has(part.name)) return first.get(part.name);
      assert(!seen.has(part.name), `${part.name} is left-recursive`);
      const set = firstOf(rules[part.name], new Set([...seen, part.name]));
      first.set(part.name, set);
      return set;
    }
    case "seq": {
      const set = new Set();
      for (const one of part.parts) {
        for (const key of firstOf(one, seen)) set.add(key);
        if (!nullable(one)) break;
      }
      return set;
    }
    case "choice": return new Set(part.parts.flatMap((one) => [...firstOf(one, seen)]));
    case "repeat": return firstOf(part.part, seen);
  }
  return new Set([keyOf(part)]);
}
const disjoint = (a, b, where) => {
  for (const key of a) assert(!b.has(key), `${where}: ${key} may begin both`);
};
const follow = new Map(Object.keys(rules).map((name) => [name, new Set()]));
follow.get("source_file").add("end");
function passDown(part, after, check, where) {
  switch (part.type) {
    case "symbol": {
      const set = follow.get(part.name);
      const before = set.size;
      after.forEach((key) => set.add(key));
      return set.size !== before;
    }
    case "choice": {
      if (check) part.parts.forEach((a, i) => part.parts.slice(0, i).forEach((b) => disjoint(firstOf(a), firstOf(b), where)));
      return part.parts.map((one) => passDown(one, after, check, where)).some(Boolean);
    }
    case "repeat": {
      if (check) disjoint(firstOf(part.part), after, where);
      return passDown(part.part, new Set([...after, ...firstOf(part.part)]), check, where);
    }
    case "seq": {
      let changed = false;
      let behind = after;
      for (const one of [...part.parts].reverse()) {
        changed = passDown(one, behind, check, where) || changed;
        behind = nullable(one) ? new Set([...behind, ...firstOf(one)]) : firstOf(one);
      }
      return changed;
    }
  }
  return false;
}
const structural = Object.keys(rules).filter((name) => !isTerminal(rules[name]));
for (let changed = true; changed; )
  changed = structural.map((name) => passDown(rules[name], follow.get(name), false, name)).some(Boolean);
structural.forEach((name) => passDown(rules[name], follow.get(name), true, name));

// -- interpretation

function parse(text) {
  const tokens = lex(text);
  let at = 0;
  const out = [];
  const skipComments = () => {
    while (tokens[at].comment) out.push([tokens[at++].comment]);
  };
  const fail = () => {
    const line = text.slice(0, tokens[at].at).split("\n").length;
    throw new Error(`line ${line}: \`${tokens[at].text}\` is not expected`);
  };
  const stack = [out];
  const put = (node) => stack[stack.length - 1].push(node);
  const comment = () => {
    while (tokens[at].comment) put([tokens[at++].comment]);
  };
  function read(part) {
    comment();
    switch (part.type) {
      case "symbol": {
        if (part.name.startsWith("_")) return read(rules[part.name]);
        const node = [part.name];
        put(node);
        stack.push(node);
        read(rules[part.name]);
        stack.pop();
        return;
      }
      case "seq": return part.parts.forEach(read);
      case "repeat":
        for (comment(); firstOf(part.part).has(tokens[at].key); comment()) read(part.part);
        return;
      case "choice": {
        const taken = part.parts.find((one) => firstOf(one).has(tokens[at].key));
        if (!taken) fail();
        return read(taken);
      }
    }
    if (tokens[at].key !== keyOf(part)) fail();
    at += 1;
  }
  skipComments();
  const node = ["source_file", ...out.splice(0)];
  stack[0] = node;
  read(rules.source_file);
  comment();
  if (tokens[at].key !== "end") fail();
  return node;
}
const shown = (node) => `(${node.map((part) => (typeof part === "string" ? part : shown(part))).join(" ")})`;

// -- tests

for (const reserved of reservedWords()) {
  const key = lex(reserved)[0].key;
  assert.equal(key, `"${reserved}"`, `the word ${reserved} is not in the grammar`);
}
assert.equal(lex("größe")[0].key, keyOf(rules[word]));

let cases = 0;
for (const file of fs.readdirSync(path.join(folder, "test/corpus"))) {
  const text = fs.readFileSync(path.join(folder, "test/corpus", file), "utf8");
  for (const match of text.matchAll(/^=+\n(.*)\n=+\n([^]*?)\n-+\n([^]*?)(?=\n=+\n|$(?![^]))/gm)) {
    const expected = match[3].replace(/\s+/g, " ").replace(/\s*([()])\s*/g, "$1").replace(/\)\(/g, ") (").replace(/(\w)\(/g, "$1 (");
    assert.equal(shown(parse(match[2])), expected, match[1]);
    cases += 1;
  }
}
assert(cases >= 5);

const all = programs();
assert(all.length > 40);
for (const { path: file, text } of all) {
  try {
    parse(text);
  } catch (error) {
    assert.fail(`${file}: ${error.message}`);
  }
}
console.log(`tree-sitter grammar: ${cases} cases of the corpus, ${all.length} programs`);

// Names in the queries are nodes of the grammar.
for (const query of fs.readdirSync(path.join(folder, "queries"))) {
  const text = fs.readFileSync(path.join(folder, "queries", query), "utf8").replace(/;.*$/gm, "").replace(/"[^"]*"/g, "");
  for (const match of text.matchAll(/\(([a-z_]+)/g)) assert(rules[match[1]], `${query}: there is no node ${match[1]}`);
}

if (spawnSync("tree-sitter", ["--version"]).status === 0) {
  const copy = fs.mkdtempSync(path.join(root, "build-tree-sitter-"));
  try {
    fs.cpSync(folder, copy, { recursive: true });
    const run = (...words) => {
      const done = spawnSync("tree-sitter", words, { cwd: copy, encoding: "utf8" });
      assert.equal(done.status, 0, `tree-sitter ${words[0]}\n${done.stdout}\n${done.stderr}`);
    };
    run("generate");
    run("test");
    run("parse", "--quiet", ...all.map(({ path: file }) => file));
    console.log("tree-sitter itself agrees");
  } finally {
    fs.rmSync(copy, { recursive: true, force: true });
  }
}
