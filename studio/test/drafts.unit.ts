// Nothing typed is lost: what becomes of a draft when the server's text is the same, or has changed meanwhile.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DraftStore, find_change, merge_draft } from "../src/drafts";

const base = "system\n  x' = -k * x;\n  y' = x;\n";

test("a change is found as the smallest range", () => {
  assert.deepEqual(find_change("abcd", "abXcd"), { start: 2, from_end: 2, to_end: 3 });
  assert.deepEqual(find_change("aaa", "aa"), { start: 2, from_end: 3, to_end: 2 });
  assert.deepEqual(find_change("same", "same"), { start: 4, from_end: 4, to_end: 4 });
});

test("a draft over the text it started from is the draft", () => {
  const text = base.replace("-k", "-2 * k");
  assert.deepEqual(merge_draft({ base, text }, base), { text, conflict: false });
});

test("a draft that changed nothing gives way", () => {
  const server = base + "// new\n";
  assert.deepEqual(merge_draft({ base, text: base }, server), { text: server, conflict: false });
});

test("changes in different places are both kept, in either order", () => {
  const mine = base.replace("-k", "-2 * k");
  const server = base.replace("y' = x", "y' = x + 1");
  const both = mine.replace("y' = x", "y' = x + 1");
  assert.deepEqual(merge_draft({ base, text: mine }, server), { text: both, conflict: false });
  assert.deepEqual(merge_draft({ base, text: server }, mine), { text: both, conflict: false });
});

test("changes in one place keep what was typed, and say so", () => {
  const mine = base.replace("-k", "-2 * k");
  const server = base.replace("-k", "-3 * k");
  assert.deepEqual(merge_draft({ base, text: mine }, server), { text: mine, conflict: true });
});

test("drafts are kept by world and file; broken ones are none", () => {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
    removeItem: (name: string) => void kept.delete(name),
  };
  const store = new DraftStore(storage, "two_ball");
  store.save("a.tact", { base, text: "x" });
  assert.deepEqual(store.load("a.tact"), { base, text: "x" });
  assert.equal(store.load("b.tact"), null);
  assert.equal(new DraftStore(storage, "other").load("a.tact"), null);
  kept.set([...kept.keys()][0]!, "{not json");
  assert.equal(store.load("a.tact"), null);
  store.save("a.tact", { base, text: base });
  assert.equal(kept.size, 0);
});

test("a storage that refuses loses the draft, not the page", () => {
  const refuse = (): never => {
    throw new Error("full");
  };
  const store = new DraftStore({ getItem: refuse, setItem: refuse, removeItem: refuse }, "w");
  store.save("a", { base: "", text: "x" });
  store.remove("a");
  assert.equal(store.load("a"), null);
});
