// Motion. Enters: binary frames, little-endian, 60 a second. Leaves: frames with named fields, a picture of the
// values at any moment between the last few frames, and a history of the last seconds for the plots.

import type { Triple } from "./protocol";

export const flag_paused = 1;
export const flag_hand_present = 2;
export const flag_passivity_acts = 4;
export const flag_limiter_acts = 8;

const header_bytes = 96;

export interface Frame {
  generation: number;
  flags: number;
  time: number;
  hand_position: Triple;
  hand_velocity: Triple;
  hand_force: Triple;
  values: Float64Array;
}

const machine_is_little_endian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

// Null for a frame of another kind or one whose length contradicts its header.
export function decode_frame(buffer: ArrayBuffer): Frame | null {
  if (buffer.byteLength < header_bytes) return null;
  const view = new DataView(buffer);
  if (view.getUint32(0, true) !== 1) return null;
  const count = view.getUint32(12, true);
  if (buffer.byteLength !== header_bytes + 8 * count) return null;
  const triple = (at: number): Triple => [
    view.getFloat64(at, true),
    view.getFloat64(at + 8, true),
    view.getFloat64(at + 16, true),
  ];
  let values: Float64Array;
  if (machine_is_little_endian) {
    values = new Float64Array(buffer, header_bytes, count);
  } else {
    values = new Float64Array(count);
    for (let i = 0; i < count; ++i) values[i] = view.getFloat64(header_bytes + 8 * i, true);
  }
  return {
    generation: view.getUint32(4, true),
    flags: view.getUint32(8, true),
    time: view.getFloat64(16, true),
    hand_position: triple(24),
    hand_velocity: triple(48),
    hand_force: triple(72),
    values,
  };
}

function equal_numbers(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; ++i) if (!Object.is(a[i], b[i])) return false;
  return true;
}

// A world at rest sends the same picture again and again; nobody needs to draw it twice.
export function same_picture(a: Frame, b: Frame): boolean {
  return (
    a.generation === b.generation &&
    a.flags === b.flags &&
    a.time === b.time &&
    equal_numbers(a.hand_position, b.hand_position) &&
    equal_numbers(a.hand_force, b.hand_force) &&
    equal_numbers(a.values, b.values)
  );
}

// Plays frames out evenly although they arrive unevenly. Each frame gets a stamp on the local clock: where the last
// stamp plus the usual pause would put it, drawn a tenth towards when it really came. What is shown lags one pause
// behind, between two frames, so values move smoothly and nothing is extrapolated.
export class Playout {
  private readonly frames_: { frame: Frame; stamp_ms: number }[] = [];
  private pause_ms_ = 1000 / 60;
  private last_arrival_ms_ = -Infinity;
  private discrete_: readonly boolean[] = [];
  private shown_: Float64Array = new Float64Array(0);
  private is_all_shown_ = true;
  // Of the world, of what values_at gave last.
  shown_time = 0;

  // `discrete[i]`: value i jumps and is never shown between two of its values.
  begin_world(discrete: readonly boolean[]): void {
    this.frames_.length = 0;
    this.discrete_ = discrete;
    this.last_arrival_ms_ = -Infinity;
  }

  push(frame: Frame, now_ms: number): void {
    const last = this.frames_[this.frames_.length - 1];
    const arrival_gap = now_ms - this.last_arrival_ms_;
    this.last_arrival_ms_ = now_ms;
    if (arrival_gap > 2 && arrival_gap < 100) this.pause_ms_ += 0.05 * (arrival_gap - this.pause_ms_);
    const fits = last !== undefined && frame.time >= last.frame.time && frame.values.length === last.frame.values.length;
    if (!fits) this.frames_.length = 0;
    let stamp_ms = now_ms;
    if (fits && arrival_gap < 100) {
      const expected = last.stamp_ms + this.pause_ms_;
      stamp_ms = Math.max(expected + 0.1 * (now_ms - expected), last.stamp_ms + 0.1);
      if (Math.abs(stamp_ms - now_ms) > 50) stamp_ms = Math.max(now_ms, last.stamp_ms + 0.1);
    }
    this.frames_.push({ frame, stamp_ms });
    this.is_all_shown_ = false;
    if (this.frames_.length > 4) this.frames_.shift();
  }

  get latest(): Frame | null {
    return this.frames_[this.frames_.length - 1]?.frame ?? null;
  }

  // True until the newest frame is fully shown, however seldom a slow machine asks for values.
  is_moving(now_ms: number): boolean {
    const last = this.frames_[this.frames_.length - 1];
    return last !== undefined && (!this.is_all_shown_ || now_ms - this.pause_ms_ <= last.stamp_ms + 20);
  }

  // The values to show now; the array is overwritten by the next call. Null before the first frame.
  values_at(now_ms: number): Float64Array | null {
    const newest = this.frames_[this.frames_.length - 1];
    if (newest === undefined) return null;
    const at_ms = now_ms - this.pause_ms_;
    if (at_ms >= newest.stamp_ms) this.is_all_shown_ = true;
    let after = this.frames_.length - 1;
    while (after > 0 && this.frames_[after - 1]!.stamp_ms > at_ms) --after;
    const b = this.frames_[after]!;
    const a = this.frames_[Math.max(after - 1, 0)]!;
    const span = b.stamp_ms - a.stamp_ms;
    const share = span > 0 ? Math.min(Math.max((at_ms - a.stamp_ms) / span, 0), 1) : 1;
    this.shown_time = a.frame.time + share * (b.frame.time - a.frame.time);
    const count = b.frame.values.length;
    if (this.shown_.length !== count) this.shown_ = new Float64Array(count);
    for (let i = 0; i < count; ++i) {
      const from = a.frame.values[i]!;
      const to = b.frame.values[i]!;
      this.shown_[i] = this.discrete_[i] ? (share < 1 ? from : to) : from + share * (to - from);
    }
    return this.shown_;
  }
}

// Frames of the last `window` seconds of the world, at most `capacity`: those that lie closer than window/capacity
// replace each other. A world that goes back in time begins a new history.
export class FrameHistory {
  readonly window: number;
  private readonly capacity_: number;
  private frames_: Frame[] = [];
  private newest_is_provisional_ = false;

  constructor(window: number, capacity: number) {
    this.window = window;
    this.capacity_ = capacity;
  }

  clear(): void {
    this.frames_ = [];
    this.newest_is_provisional_ = false;
  }

  push(frame: Frame): void {
    const newest = this.frames_[this.frames_.length - 1];
    if (newest !== undefined && frame.time < newest.time) this.clear();
    if (newest !== undefined && frame.time === newest.time) {
      this.frames_[this.frames_.length - 1] = frame;
      return;
    }
    if (this.newest_is_provisional_) this.frames_.pop();
    const kept = this.frames_[this.frames_.length - 1];
    this.newest_is_provisional_ = kept !== undefined && frame.time - kept.time < this.window / this.capacity_;
    this.frames_.push(frame);
    const oldest_time = frame.time - this.window;
    let drop = 0;
    while (drop < this.frames_.length - 1 && this.frames_[drop + 1]!.time < oldest_time) ++drop;
    if (drop > 0) this.frames_.splice(0, drop);
  }

  get frames(): readonly Frame[] {
    return this.frames_;
  }
}
