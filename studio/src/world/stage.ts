// What a drawing is made on and shown at: the seam between the view and the makers of drawings, one file for each kind.

import type { Color, Matrix4, Object3D, Vector2, Vector3 } from "three";
import type { Frame } from "../frames";
import type { Drawing } from "../protocol";
import type { Bounds } from "./framing";
import type { Theme } from "./materials";
import type { SharedLines } from "./shared_lines";
import type { Solids } from "./solids";

export interface Stage {
  scene: Object3D;
  solids: Solids;
  springs: SharedLines;
  edges: SharedLines;
  theme: Theme;
  flat: boolean;
  viewport: Vector2;
  projection: Matrix4;
  report(text: string): void;
  // Something arrived late (a mesh file): draw again.
  invalidate(): void;
}

export interface Label {
  text: string;
  x: number;
  y: number;
  z: number;
  // Height of the letters in units of the world; null: the page's usual size.
  height: number | null;
  color: string | null;
}

// `extent`: the size of the picture in units of the world, from which missing sizes are chosen.
export interface Moment {
  values: Float64Array;
  // Of the world, of these values: the newest frames of the history may be later.
  time: number;
  history: readonly Frame[];
  extent: number;
  // The middle of what is shown.
  center: Vector3;
  units_per_pixel(point: Vector3): number;
  labels: Label[];
}

export interface DrawingView {
  update(moment: Moment): void;
  // Sizes that the page chooses do not count: they follow from the bounds.
  extend(bounds: Bounds, values: Float64Array): void;
  // It is everywhere, like a ground: shown as far as the others reach, so asked last.
  readonly is_everywhere?: boolean;
  dispose(): void;
}

// In a flat world a later drawing covers an earlier: `height` is its place in the order of the text and its z, and the depth buffer sorts. In space it is 0.
export type Maker = (drawing: Drawing, stage: Stage, color: Color, height: number) => DrawingView;

// When things are drawn: first what writes depth, then, in the order of the text, what only tests it because one sees through it or its edges are soft.
export const layer = { grid: -1, solid: 0, sheer: 10 } as const;

// The largest z in a flat world.
export const most_drawings = 20000;

export const nothing_to_dispose = (): void => undefined;
