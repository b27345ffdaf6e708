// Lines through many points, some pixels wide: traces, flat springs, outlines. Enters: for each strip its points, one after another. Leaves: one mesh for all
// strips. Each point is written twice, one for each side of its strip; its neighbours are read from the same buffer, six numbers further on, so that
// one upload carries all three. Each strip has one point more before its first and behind its last: the neighbours of the ends.

import { BufferAttribute, BufferGeometry, type Color, DynamicDrawUsage, InterleavedBuffer, InterleavedBufferAttribute, Mesh, type ShaderMaterial, Sphere } from "three";

const numbers_a_point = 6;

export class Polyline {
  readonly mesh: Mesh<BufferGeometry, ShaderMaterial>;
  private readonly capacity_: number;
  private readonly numbers_: Float32Array;
  private readonly buffer_: InterleavedBuffer;
  private readonly index_: BufferAttribute;
  private readonly counts_: Uint32Array; // points of each strip that are drawn
  private strip_ = 0;
  private count_ = 0;

  // `capacity` points for each strip, one colour for each strip.
  constructor(capacity: number, colors: readonly Color[], material: ShaderMaterial) {
    this.capacity_ = capacity;
    const strips = colors.length;
    const stride = capacity + 2;
    this.numbers_ = new Float32Array((strips * stride + 2) * numbers_a_point);
    this.buffer_ = new InterleavedBuffer(this.numbers_, 3);
    this.buffer_.setUsage(DynamicDrawUsage);
    const geometry = new BufferGeometry();
    geometry.setAttribute("before", new InterleavedBufferAttribute(this.buffer_, 3, 0));
    geometry.setAttribute("position", new InterleavedBufferAttribute(this.buffer_, 3, numbers_a_point));
    geometry.setAttribute("after", new InterleavedBufferAttribute(this.buffer_, 3, 2 * numbers_a_point));
    const points = strips * stride;
    const side = new Float32Array(points * 2);
    const place = new Float32Array(points * 2);
    const tint = new Float32Array(points * 6);
    this.counts_ = new Uint32Array(strips);
    this.index_ = new BufferAttribute(new Uint32Array(strips * (capacity - 1) * 6), 1).setUsage(DynamicDrawUsage);
    for (let strip = 0; strip < strips; ++strip) {
      const { r, g, b } = colors[strip]!;
      for (let i = 0; i < capacity; ++i) {
        const point = strip * stride + i;
        side.set([-1, 1], 2 * point);
        place.set([i, i], 2 * point);
        tint.set([r, g, b, r, g, b], 6 * point);
      }
    }
    geometry.setAttribute("side", new BufferAttribute(side, 1));
    geometry.setAttribute("place", new BufferAttribute(place, 1));
    geometry.setAttribute("tint", new BufferAttribute(tint, 3));
    geometry.setIndex(this.index_);
    geometry.setDrawRange(0, 0);
    // Never culled and sorted by its order alone, so three.js need not compute one at each change.
    geometry.boundingSphere = new Sphere();
    this.mesh = new Mesh(geometry, material);
    this.mesh.frustumCulled = false;
  }

  // Two triangles from each point to the next, for as many points as each strip has.
  private lay_triangles(): void {
    const { array } = this.index_;
    let at = 0;
    this.counts_.forEach((count, strip) => {
      const first = 2 * strip * (this.capacity_ + 2);
      for (let v = first; v < first + 2 * (count - 1); v += 2) {
        array[at++] = v;
        array[at++] = v + 2;
        array[at++] = v + 1;
        array[at++] = v + 1;
        array[at++] = v + 2;
        array[at++] = v + 3;
      }
    });
    this.index_.needsUpdate = true;
    this.mesh.geometry.setDrawRange(0, at);
  }

  begin(strip = 0): void {
    this.strip_ = strip;
    this.count_ = 0;
  }

  add(x: number, y: number, z: number): void {
    if (this.count_ === this.capacity_) return;
    this.count_ += 1;
    const at = (this.strip_ * (this.capacity_ + 2) + this.count_) * numbers_a_point;
    const n = this.numbers_;
    n[at] = n[at + 3] = x;
    n[at + 1] = n[at + 4] = y;
    n[at + 2] = n[at + 5] = z;
  }

  // A strip shorter than its capacity ends in its last point again and again, which draws nothing.
  end(): void {
    const n = this.numbers_;
    const start = this.strip_ * (this.capacity_ + 2) * numbers_a_point;
    const last = start + this.count_ * numbers_a_point;
    const stop = start + (this.capacity_ + 2) * numbers_a_point;
    if (this.count_ === 0) n.fill(0, start, stop);
    else n.copyWithin(start, start + numbers_a_point, start + 2 * numbers_a_point);
    for (let at = last + numbers_a_point; this.count_ > 0 && at < stop; at += numbers_a_point) {
      n.copyWithin(at, last, last + numbers_a_point);
    }
    this.buffer_.needsUpdate = true;
    if (this.counts_[this.strip_] !== this.count_) {
      this.counts_[this.strip_] = this.count_;
      this.lay_triangles();
    }
    this.mesh.material.uniforms["count"]!.value = this.count_;
  }

  dispose(): void {
    this.mesh.removeFromParent();
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
  }
}
