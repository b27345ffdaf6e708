// How well the loop keeps time. Enters: `statistics` four times a second, the page's own displayed frames. Leaves: a small table.

import type { Statistics } from "./protocol";

const labels = {
  rate: "rate",
  late: "late by",
  late_tail: "at worst",
  compute: "computing",
  longest: "longest",
  missed: "missed",
  behind: "behind",
  steal: "taken away",
  scheduling: "scheduling",
  page: "this page",
} as const;

const explanations: Readonly<Record<keyof typeof labels, string>> = {
  rate: "ticks of the loop in a second",
  late: "how long after its deadline a tick begins, half of the time",
  late_tail: "the same, 99 and 99.9 of 100 times",
  compute: "how long a tick computes: half of the time, 99 of 100 times",
  longest: "the longest that a tick has computed",
  missed: "ticks that began after the next deadline, of all",
  behind: "by how much the world has fallen behind the clock",
  steal: "how much of the processor other machines took",
  scheduling: "fifo: the loop comes before other programs; normal: it waits its turn",
  page: "pictures this page draws in a second",
};

function format_microseconds(us: number): string {
  if (!Number.isFinite(us)) return "–";
  if (us >= 10000) return `${(us / 1000).toFixed(0)} ms`;
  if (us >= 1000) return `${(us / 1000).toFixed(1)} ms`;
  return `${us < 10 ? us.toFixed(1) : us.toFixed(0)} µs`;
}

export class StatisticsPanel {
  private readonly cells_ = new Map<keyof typeof labels, HTMLElement>();
  private rate_ = 0;
  private pictures_ = 0;
  private since_ms_ = performance.now();
  private frames_per_second_ = 0;

  constructor(element: HTMLElement) {
    const list = document.createElement("dl");
    for (const key of Object.keys(labels) as (keyof typeof labels)[]) {
      const term = document.createElement("dt");
      term.textContent = labels[key];
      const value = document.createElement("dd");
      value.textContent = "–";
      term.title = value.title = explanations[key];
      this.cells_.set(key, value);
      list.append(term, value);
    }
    element.append(list);
  }

  set_world(rate: number): void {
    this.rate_ = rate;
    this.write("rate", rate >= 1000 ? `${Number((rate / 1000).toPrecision(3))} kHz` : `${Number(rate.toPrecision(3))} Hz`);
  }

  get frames_per_second(): number {
    return this.frames_per_second_;
  }

  take(statistics: Statistics): void {
    const { late, compute, missed, ticks, steal, scheduling, slipped } = statistics;
    this.write("late", format_microseconds(late.median));
    this.write("late_tail", `${format_microseconds(late.p99)} · ${format_microseconds(late.p999)}`);
    this.write("compute", `${format_microseconds(compute.median)} · ${format_microseconds(compute.p99)}`);
    const share = ticks > 0 ? (100 * missed) / ticks : 0;
    let text = `${missed}${missed > 0 ? ` (${share < 0.01 ? "<0.01" : share.toFixed(2)} %)` : ""}`;
    this.write("missed", text);
    this.write("behind", slipped > 0.001 ? `${slipped.toFixed(2)} s` : "0 s");
    this.write("longest", format_microseconds(compute.longest));
    this.write("steal", `${steal.toFixed(1)} %`);
    this.write("scheduling", scheduling);
    const late_badly = this.rate_ > 0 && late.p99 > 1e6 / this.rate_;
    this.cells_.get("late_tail")!.dataset["bad"] = String(late_badly);
    this.cells_.get("missed")!.dataset["bad"] = String(share > 1);
  }

  // Once a displayed frame; `drawn`: the world moved, a picture was needed.
  count_picture(now_ms: number, drawn: boolean): void {
    if (drawn) this.pictures_ += 1;
    const passed = now_ms - this.since_ms_;
    if (passed < 1000) return;
    this.frames_per_second_ = (this.pictures_ * 1000) / passed;
    this.write("page", this.pictures_ === 0 ? "at rest" : `${this.frames_per_second_.toFixed(0)} frames/s`);
    this.pictures_ = 0;
    this.since_ms_ = now_ms;
  }

  private write(key: keyof typeof labels, text: string): void {
    const cell = this.cells_.get(key)!;
    if (cell.textContent !== text) cell.textContent = text;
  }
}
