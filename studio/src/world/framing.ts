// What the camera should show. Enters: the bounds of what is drawn now. Leaves: the bounds to show, which grow when something
// leaves them and shrink only when asked (`fit`), so that the picture is calm. Frozen while a hand drags.

export interface Bounds {
  min: [number, number, number];
  max: [number, number, number];
}

export function empty_bounds(): Bounds {
  return { min: [Infinity, Infinity, Infinity], max: [-Infinity, -Infinity, -Infinity] };
}

const largest_coordinate = 1e12;

export function extend_bounds(bounds: Bounds, x: number, y: number, z: number, radius = 0): void {
  const point = [x, y, z];
  if (!point.every((c) => Math.abs(c) < largest_coordinate)) return;
  for (let i = 0; i < 3; ++i) {
    bounds.min[i] = Math.min(bounds.min[i]!, point[i]! - radius);
    bounds.max[i] = Math.max(bounds.max[i]!, point[i]! + radius);
  }
}

export function is_empty(bounds: Bounds): boolean {
  return !(bounds.min[0] <= bounds.max[0]);
}

export function largest_side(bounds: Bounds): number {
  if (is_empty(bounds)) return 0;
  return Math.max(bounds.max[0] - bounds.min[0], bounds.max[1] - bounds.min[1], bounds.max[2] - bounds.min[2]);
}

// What lies in one point, or nearly so next to what was seen before, is not magnified until its rounding errors fill the picture.
const smallest_share = 0.05;

export class Framing {
  private shown_: Bounds = empty_bounds();
  private smallest_side_ = 1;
  private largest_seen_ = 0;

  // `smallest_side`: that of the picture where everything lies in one point.
  begin_world(smallest_side: number): void {
    this.shown_ = empty_bounds();
    this.smallest_side_ = smallest_side;
    this.largest_seen_ = 0;
  }

  fit(bounds: Bounds): void {
    if (is_empty(bounds)) return;
    this.shown_ = { min: [...bounds.min], max: [...bounds.max] };
    const side = largest_side(bounds);
    this.largest_seen_ = Math.max(this.largest_seen_, side);
    if (this.largest_seen_ > 0) this.smallest_side_ = smallest_share * this.largest_seen_;
  }

  update(bounds: Bounds, frozen: boolean): void {
    if (frozen || is_empty(bounds)) return;
    if (is_empty(this.shown_)) {
      this.fit(bounds);
      return;
    }
    // Growing goes a little beyond what is needed, so that an oscillation that builds up does not move the camera each time.
    for (let i = 0; i < 3; ++i) {
      const side = Math.max(this.shown_.max[i]! - this.shown_.min[i]!, 0.25 * largest_side(this.shown_));
      if (bounds.max[i]! > this.shown_.max[i]!) this.shown_.max[i] = bounds.max[i]! + 0.08 * side;
      if (bounds.min[i]! < this.shown_.min[i]!) this.shown_.min[i] = bounds.min[i]! - 0.08 * side;
    }
    this.largest_seen_ = Math.max(this.largest_seen_, largest_side(this.shown_));
  }

  get is_known(): boolean {
    return !is_empty(this.shown_);
  }

  get center(): [number, number, number] {
    if (is_empty(this.shown_)) return [0, 0, 0];
    const { min, max } = this.shown_;
    return [(min[0] + max[0]) / 2, (min[1] + max[1]) / 2, (min[2] + max[2]) / 2];
  }

  // Width, height, depth to show; the largest of them is never nothing.
  get size(): [number, number, number] {
    if (is_empty(this.shown_) || largest_side(this.shown_) < this.smallest_side_) {
      return [this.smallest_side_, this.smallest_side_, this.smallest_side_];
    }
    const { min, max } = this.shown_;
    return [max[0] - min[0], max[1] - min[1], max[2] - min[2]];
  }
}

// The largest of 1, 2, 5 times a power of ten that is at most `about`.
export function nice_step(about: number): number {
  if (!(about > 0) || !Number.isFinite(about)) return 1;
  const power = 10 ** Math.floor(Math.log10(about));
  const rest = about / power;
  return (rest >= 5 ? 5 : rest >= 2 ? 2 : 1) * power;
}

// A tick's label: as many digits as its step needs.
export function format_tick(value: number, step: number): string {
  if (Math.abs(value) < step / 1000) return "0";
  if (Math.abs(value) >= 1e6 || step < 1e-5) return value.toExponential(Math.max(0, Math.round(Math.log10(Math.abs(value) / step))));
  return value.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9))).replace("-", "−");
}
