// The energy book. Enters: the values of a world that declares energy, and each frame's numbers. Leaves: a bar for every entry, all of one scale,
// from the middle to the right or left by its sign; what came from nowhere stands out. Hidden for a world without energy.

import type { ValueLayout } from "./protocol";
import { format_number } from "./world/options";

// stored = start + supplied - dissipated + booked + invented.
const entries = {
  start: "what the world stored at the start",
  stored: "what the world stores now",
  supplied: "what ports let in since the start",
  dissipated: "what friction took since the start",
  booked: "what the solver put in and has yet to take back",
  invented: "what came from nowhere: errors of the solver",
} as const;
type Entry = keyof typeof entries;

// Of the largest energy seen: more than this from nowhere is worth a look, and less than that is rounding.
const noticeable = 1e-3;
const rounding = 1e-9;

interface Row {
  number: HTMLElement;
  bar: HTMLElement;
}

export type Book = Readonly<Record<Entry, number>>;

// The book in the values of a frame; null when the world keeps none.
export function find_book(values: readonly ValueLayout[]): ((numbers: ArrayLike<number>) => Book) | null {
  const places = new Map(values.map((value) => [value.name, value.at]));
  const at = (entry: string): number | undefined => places.get(`book.${entry}`);
  if (at("start") === undefined || at("stored") === undefined) return null;
  return (numbers) => {
    const read = (entry: Entry): number => numbers[at(entry) ?? -1] ?? 0;
    return {
      start: read("start"),
      stored: read("stored"),
      supplied: read("supplied"),
      dissipated: read("dissipated"),
      booked: read("booked"),
      invented: read("invented"),
    };
  };
}

export class EnergyPanel {
  private readonly rows_ = new Map<Entry, Row>();
  private read_: ((numbers: ArrayLike<number>) => Book) | null = null;
  private book_: Book | null = null;
  private scale_ = 0;

  constructor(
    private readonly panel_: HTMLElement,
    element: HTMLElement,
  ) {
    const list = document.createElement("dl");
    for (const entry of Object.keys(entries) as Entry[]) {
      const term = document.createElement("dt");
      term.textContent = entry;
      const number = document.createElement("dd");
      const meter = document.createElement("dd");
      meter.className = "energy-bar";
      meter.setAttribute("aria-hidden", "true");
      const bar = document.createElement("span");
      meter.append(bar);
      term.title = number.title = entries[entry];
      this.rows_.set(entry, { number, bar });
      list.append(term, number, meter);
    }
    element.append(list);
  }

  set_world(values: readonly ValueLayout[]): void {
    this.read_ = find_book(values);
    this.panel_.hidden = this.read_ === null;
    this.scale_ = 0;
    this.book_ = null;
  }

  take(numbers: ArrayLike<number>): void {
    if (this.read_ !== null) this.book_ = this.read_(numbers);
  }

  // Once a displayed frame.
  tick(): void {
    const book = this.book_;
    if (book === null) return;
    this.book_ = null;
    const all = Object.values(book).map(Math.abs).filter(Number.isFinite);
    this.scale_ = Math.max(this.scale_, ...all);
    for (const [entry, { number, bar }] of this.rows_) {
      const value = Math.abs(book[entry]) < rounding * this.scale_ ? 0 : book[entry];
      const share = this.scale_ > 0 && Number.isFinite(value) ? value / this.scale_ : 0;
      const text = `${format_number(value)} J`;
      if (number.textContent !== text) number.textContent = text;
      bar.style.width = `${(50 * Math.abs(share)).toFixed(2)}%`;
      bar.style.left = `${(50 * Math.min(1, 1 + share)).toFixed(2)}%`;
      const is_bad = entry === "invented" && (!Number.isFinite(value) || share > noticeable);
      bar.dataset["bad"] = number.dataset["bad"] = String(is_bad);
    }
  }
}
