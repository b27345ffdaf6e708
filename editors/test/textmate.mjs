// The TextMate grammar in VS Code's own engine (vscode-textmate, vscode-oniguruma), over every program of the repository.
//
//   node editors/test/textmate.mjs
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { programs, reservedWords, root } from "./programs.mjs";

const require = createRequire(import.meta.url);
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

const wasm = fs.readFileSync(path.join(path.dirname(require.resolve("vscode-oniguruma")), "onig.wasm"));
await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
const file = path.join(root, "editors/vscode/syntaxes/tactus.tmLanguage.json");
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async () => textmate.parseRawGrammar(fs.readFileSync(file, "utf8"), file),
});
const grammar = await registry.loadGrammar("source.tactus");

// [[text, innermost scope]], blanks left out.
function scopes(text) {
  const found = [];
  let state = textmate.INITIAL;
  for (const line of text.split(/\r?\n/)) {
    const result = grammar.tokenizeLine(line, state);
    state = result.ruleStack;
    for (const token of result.tokens) {
      const piece = line.slice(token.startIndex, token.endIndex);
      if (piece.trim()) found.push([piece, token.scopes[token.scopes.length - 1].replace(/\.tactus$/, "")]);
    }
  }
  return found;
}
const scopeOf = (text, piece) => (scopes(text).find(([shown]) => shown === piece) ?? [])[1];

for (const word of reservedWords()) {
  assert.match(scopeOf(`x ${word} y`, word) ?? "", /^(keyword|constant\.language)/, `the word ${word}`);
  assert.match(scopeOf(`x_${word} = 1`, `x_${word}`), /^variable/, `x_${word} is a name`);
}
assert.deepEqual(scopes("  x'' = -4 [N/m] * sin(t); // a"), [
  ["x", "variable.other"],
  ["''", "keyword.operator.derivative"],
  ["=", "keyword.operator.assignment"],
  ["-", "keyword.operator.arithmetic"],
  ["4", "constant.numeric"],
  ["[", "punctuation.definition.unit"],
  ["N/m", "keyword.other.unit"],
  ["]", "punctuation.definition.unit"],
  ["*", "keyword.operator.arithmetic"],
  ["sin", "support.function"],
  ["(", "source"],
  ["t", "constant.language"],
  [")", "source"],
  [";", "punctuation.terminator"],
  ["// a", "comment.line.double-slash"],
]);
assert.equal(scopeOf("parameter e = 0.5 in 0..0.95;", ".."), "keyword.operator.range");
assert.equal(scopeOf("parameter e = 0.5 in 0..0.95;", "0.95"), "constant.numeric");
assert.equal(scopeOf("function U(q) = q;", "U"), "entity.name.function");
assert.equal(scopeOf("module Leg = ()", "Leg"), "entity.name.type");
assert.equal(scopeOf("ball.Rolling", "Rolling"), "variable.other.member");
assert.equal(scopeOf("a.in = 1", "in"), "variable.other.member");
assert.equal(scopeOf("größe = 1", "größe"), "variable.other");
assert.equal(scopeOf('text "n = {n}\\"" at p;', "{n}"), "constant.other.placeholder");
assert.equal(scopeOf("power end: v -> F;", "power"), "keyword.declaration");
assert.equal(scopeOf("power end[2]: v -> F;", "power"), "keyword.declaration");
assert.equal(scopeOf("power = F * v;", "power"), "variable.other");
assert.equal(scopeOf("y = power(x, 3);", "power"), "support.function");
assert.equal(scopeOf("storage (q, p) energy H = q^2 structure J = [0, 1; -1, 0];", "storage"), "keyword.declaration");
assert.equal(scopeOf("storage (q, p) energy H = q^2 structure J = [0, 1; -1, 0];", "energy"), "keyword.declaration");
assert.equal(scopeOf("storage (q, p) energy H = q^2 structure J = [0, 1; -1, 0];", "structure"), "keyword.other");
assert.equal(scopeOf("guard a.end reserve 0.2;", "guard"), "keyword.declaration");
assert.equal(scopeOf("guard a.end reserve 0.2;", "reserve"), "keyword.other");
assert.equal(scopeOf("guard = 1;", "guard"), "variable.other");
assert.equal(scopeOf("a = Spring() rate 1 [kHz];", "rate"), "keyword.other");
for (const manner of ["hold", "extrapolate", "passive"]) {
  assert.equal(scopeOf(`join a.end to b[1].end ${manner};`, manner), "keyword.other");
  assert.equal(scopeOf(`x = ${manner};`, manner), "variable.other", "a name like any other");
}
assert(scopes("/* a\n system */ x").every(([piece, scope]) => piece === "x" || scope.startsWith("comment.block")));

let count = 0;
for (const { path: name, text } of programs()) {
  for (const [piece, scope] of scopes(text)) {
    count += 1;
    assert.doesNotMatch(scope, /^invalid/, `${name}: ${piece}`);
    // Only brackets have no colour of their own.
    if (scope === "source") assert.match(piece.trim(), /^[()[\]{}.\s]+$/, `${name}: ${piece}`);
  }
}
console.log(`TextMate grammar: ${count} tokens`);
