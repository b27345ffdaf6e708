// A line through many points, some pixels wide, for traces, flat springs and outlines. Enters: points, one after another. Leaves: a mesh.
// Each point is written twice, one for each side of the strip; its neighbours are read from the same buffer, six numbers further on, so
// that one upload carries all three.

import { BufferAttribute, BufferGeometry, DynamicDrawUsage, InterleavedBuffer, InterleavedBufferAttribute, Mesh, type ShaderMaterial, Sphere } from "three";

export class Polyline {
  readonly mesh: Mesh<BufferGeometry, ShaderMaterial>;
  private readonly capacity_: number;
  private readonly numbers_: Float32Array;
  private readonly buffer_: InterleavedBuffer;
  private count_ = 0;

  constructor(capacity: number, material: ShaderMaterial) {
    this.capacity_ = capacity;
    // One more point before the first and behind the last: the neighbours of the ends.
    this.numbers_ = new Float32Array((capacity + 2) * 6);
    this.buffer_ = new InterleavedBuffer(this.numbers_, 3);
    this.buffer_.setUsage(DynamicDrawUsage);
    const geometry = new BufferGeometry();
    geometry.setAttribute("before", new InterleavedBufferAttribute(this.buffer_, 3, 0));
    geometry.setAttribute("position", new InterleavedBufferAttribute(this.buffer_, 3, 6));
    geometry.setAttribute("after", new InterleavedBufferAttribute(this.buffer_, 3, 12));
    const side = new Float32Array(capacity * 2);
    const place = new Float32Array(capacity * 2);
    const index = new Uint32Array((capacity - 1) * 6);
    for (let i = 0; i < capacity; ++i) {
      side.set([-1, 1], 2 * i);
      place.set([i, i], 2 * i);
      if (i + 1 < capacity) index.set([2 * i, 2 * i + 2, 2 * i + 1, 2 * i + 1, 2 * i + 2, 2 * i + 3], 6 * i);
    }
    geometry.setAttribute("side", new BufferAttribute(side, 1));
    geometry.setAttribute("place", new BufferAttribute(place, 1));
    geometry.setIndex(new BufferAttribute(index, 1));
    // Never culled and sorted by its order alone, so three.js need not compute one at each change.
    geometry.boundingSphere = new Sphere();
    this.mesh = new Mesh(geometry, material);
    this.mesh.frustumCulled = false;
  }

  begin(): void {
    this.count_ = 0;
  }

  add(x: number, y: number, z: number): void {
    if (this.count_ === this.capacity_) return;
    this.count_ += 1;
    const at = this.count_ * 6;
    const n = this.numbers_;
    n[at] = n[at + 3] = x;
    n[at + 1] = n[at + 4] = y;
    n[at + 2] = n[at + 5] = z;
  }

  end(): void {
    const n = this.numbers_;
    n.copyWithin(0, 6, 12);
    n.copyWithin((this.count_ + 1) * 6, this.count_ * 6, (this.count_ + 1) * 6);
    this.buffer_.needsUpdate = true;
    this.buffer_.clearUpdateRanges();
    this.buffer_.addUpdateRange(0, (this.count_ + 2) * 6);
    this.mesh.geometry.setDrawRange(0, Math.max(this.count_ - 1, 0) * 6);
    this.mesh.visible = this.count_ > 1;
    this.mesh.material.uniforms["count"]!.value = this.count_;
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
  }
}
