// A smooth way through points that were passed at known times: cubic Hermite pieces with the slopes of Catmull and Rom (1974) in time. Enters: points, three numbers
// each, and their times, not decreasing. Leaves: the points and `between` more in each gap. Where the speed changes abruptly, as in a bounce or
// a jump, the slope is that of the slower side, so that the line does not swing past it.

const abrupt = 4;

export function smooth_way(points: Float64Array, times: Float64Array, count: number, between: number, add: (x: number, y: number, z: number) => void): void {
  const slopes = new Float64Array(3 * count);
  for (let i = 1; i + 1 < count; ++i) {
    const before = times[i]! - times[i - 1]!;
    const after = times[i + 1]! - times[i]!;
    if (!(before > 0 && after > 0)) continue;
    const arrives = distance(points, i - 1, i) / before;
    const leaves = distance(points, i, i + 1) / after;
    let [from, to] = [i - 1, i + 1];
    if (arrives > abrupt * leaves) from = i;
    else if (leaves > abrupt * arrives) to = i;
    for (let c = 0; c < 3; ++c) slopes[3 * i + c] = (points[3 * to + c]! - points[3 * from + c]!) / (times[to]! - times[from]!);
  }
  for (let i = 0; i < count; ++i) {
    add(points[3 * i]!, points[3 * i + 1]!, points[3 * i + 2]!);
    // The ends have no slope: their pieces are straight.
    if (i === 0 || i + 2 >= count) continue;
    const span = times[i + 1]! - times[i]!;
    for (let k = 1; k <= between; ++k) {
      const s = k / (between + 1);
      const stay = (1 + 2 * s) * (1 - s) * (1 - s);
      const start = s * (1 - s) * (1 - s) * span;
      const end = s * s * (s - 1) * span;
      const at = (c: number): number =>
        stay * points[3 * i + c]! + (1 - stay) * points[3 * i + 3 + c]! + start * slopes[3 * i + c]! + end * slopes[3 * i + 3 + c]!;
      add(at(0), at(1), at(2));
    }
  }
}

function distance(points: Float64Array, i: number, j: number): number {
  return Math.hypot(points[3 * j]! - points[3 * i]!, points[3 * j + 1]! - points[3 * i + 1]!, points[3 * j + 2]! - points[3 * i + 2]!);
}
