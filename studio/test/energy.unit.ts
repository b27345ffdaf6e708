// The energy book: found by its names, wherever they lie in a frame.
import assert from "node:assert/strict";
import { test } from "node:test";
import { find_book } from "../src/energy";
import type { ValueLayout } from "../src/protocol";

function layout(names: string[]): ValueLayout[] {
  return names.map((name, at) => ({ name, unit: "J", rows: 1, columns: 1, at, flags: [] }));
}

test("the book is read from a frame, from what was there at the start to what came from nowhere", () => {
  const read = find_book(
    layout(["q", "book.invented", "book.stored", "book.start", "book.booked", "book.dissipated", "book.supplied"]),
  );
  assert.deepEqual(read?.([9, 0.5, 3, 1, 0.25, 4, 6]), { start: 1, stored: 3, supplied: 6, dissipated: 4, booked: 0.25, invented: 0.5 });
});

test("a world without energy has no book", () => {
  assert.equal(find_book(layout(["q", "book"])), null);
});
