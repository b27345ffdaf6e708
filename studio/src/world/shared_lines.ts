// Thin lines of a flat world that many drawings share: springs and the edges of boxes, each kind in one draw call. Enters: slots with a colour, then points.
// Leaves: one mesh.

import type { Color, Object3D, Vector2 } from "three";
import { make_line_material } from "./materials";
import { Polyline } from "./polyline";
import { layer } from "./stage";

export class SharedLines {
  private readonly colors_: Color[] = [];
  private line_: Polyline | null = null;
  private lowest_ = Infinity;

  constructor(
    private readonly points_: number,
    private readonly width_: number,
  ) {}

  // Slots are handed out while drawings are made, before `build`.
  allocate(color: Color, height: number): number {
    this.lowest_ = Math.min(this.lowest_, height);
    return this.colors_.push(color) - 1;
  }

  build(scene: Object3D, viewport: Vector2): void {
    if (this.colors_.length === 0) return;
    this.line_ = new Polyline(this.points_, this.colors_, make_line_material(this.width_, 0, viewport));
    this.line_.mesh.renderOrder = layer.sheer + this.lowest_;
    scene.add(this.line_.mesh);
  }

  // Valid after `build`.
  get line(): Polyline {
    if (this.line_ === null) throw new Error("lines are used before they are built");
    return this.line_;
  }

  dispose(): void {
    this.line_?.dispose();
  }
}
