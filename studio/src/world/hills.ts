// A ground whose height is a function, which the program samples: `heights` at places side by side, from `low` to `high`. In a flat world the area below
// the line through them; in space a surface. What is constant along y in space (a function of x alone) reaches across the picture.

import { BufferAttribute, BufferGeometry, type Color, DynamicDrawUsage, Mesh, MeshBasicMaterial, Sphere, type Vector2 } from "three";
import { type Bounds, extend_bounds } from "./framing";
import { make_line_material, make_soft_material } from "./materials";
import type { NumbersOption } from "./options";
import { Polyline } from "./polyline";
import { layer, type DrawingView, type Stage } from "./stage";

const depth_in_extents = 40;

export interface Samples {
  heights: NumbersOption;
  low: NumbersOption;
  high: NumbersOption;
}

export function make_hills(samples: Samples, stage: Stage, tint: Color, opacity: number, order: number): DrawingView {
  return stage.flat ? make_profile(samples, stage, tint, opacity, order) : make_surface(samples, stage, tint);
}

function make_mesh_geometry(vertices: number, index: number[]): { geometry: BufferGeometry; position: BufferAttribute } {
  const geometry = new BufferGeometry();
  const position = new BufferAttribute(new Float32Array(3 * vertices), 3).setUsage(DynamicDrawUsage);
  geometry.setAttribute("position", position);
  geometry.setIndex(index);
  geometry.boundingSphere = new Sphere();
  return { geometry, position };
}

function make_profile({ heights, low, high }: Samples, stage: Stage, tint: Color, opacity: number, order: number): DrawingView {
  const count = heights.count;
  const index: number[] = [];
  for (let i = 0; i + 1 < count; ++i) index.push(2 * i, 2 * i + 1, 2 * i + 2, 2 * i + 2, 2 * i + 1, 2 * i + 3);
  const { geometry, position } = make_mesh_geometry(2 * count, index);
  const area = new Mesh(geometry, new MeshBasicMaterial({ color: tint, transparent: true, opacity, depthWrite: false, side: 2 }));
  area.renderOrder = layer.sheer + order;
  area.frustumCulled = false;
  stage.scene.add(area);
  const edge = new Polyline(count, [tint], make_line_material(1.5, 0, stage.viewport as Vector2));
  edge.mesh.renderOrder = layer.sheer + order;
  stage.scene.add(edge.mesh);
  return {
    is_everywhere: true,
    update({ values, extent }) {
      const from = low.read(values, 0, 0);
      const step = (high.read(values, 0, 0) - from) / (count - 1);
      let lowest = Infinity;
      for (let i = 0; i < count; ++i) lowest = Math.min(lowest, finite(heights.read(values, i, 0)));
      edge.begin();
      for (let i = 0; i < count; ++i) {
        const x = from + i * step;
        const y = finite(heights.read(values, i, 0));
        position.setXYZ(2 * i, x, y, order);
        position.setXYZ(2 * i + 1, x, lowest - depth_in_extents * extent, order);
        edge.add(x, y, order);
      }
      edge.end();
      position.needsUpdate = true;
    },
    // Where there is something else, what lies below it; by itself, all of it.
    extend(bounds, values) {
      const from = low.read(values, 0, 0);
      const step = (high.read(values, 0, 0) - from) / (count - 1);
      const [left, right] = reach_of(bounds, 0);
      for (let i = 0; i < count; ++i) {
        const x = from + i * step;
        if (x >= left - step && x <= right + step) extend_bounds(bounds, x, finite(heights.read(values, i, 0)), 0);
      }
    },
    dispose() {
      area.removeFromParent();
      geometry.dispose();
      area.material.dispose();
      edge.dispose();
    },
  };
}

function make_surface({ heights, low, high }: Samples, stage: Stage, tint: Color): DrawingView {
  const is_over_plane = low.count > 1;
  const columns = is_over_plane ? Math.round(Math.sqrt(heights.count)) : heights.count;
  const rows = is_over_plane ? columns : 2;
  const index: number[] = [];
  for (let i = 0; i + 1 < columns; ++i) {
    for (let j = 0; j + 1 < rows; ++j) {
      const a = i * rows + j;
      index.push(a, a + rows, a + 1, a + 1, a + rows, a + rows + 1);
    }
  }
  const { geometry, position } = make_mesh_geometry(columns * rows, index);
  geometry.setAttribute("normal", new BufferAttribute(new Float32Array(3 * columns * rows), 3).setUsage(DynamicDrawUsage));
  const surface = new Mesh(geometry, make_soft_material(stage.theme, tint));
  surface.material.side = 2;
  surface.renderOrder = layer.solid;
  surface.frustumCulled = false;
  stage.scene.add(surface);
  const height_at = (values: Float64Array, i: number, j: number): number =>
    finite(heights.read(values, is_over_plane ? i * rows + j : i, 0));
  return {
    is_everywhere: true,
    update({ values, extent }) {
      for (let i = 0; i < columns; ++i) {
        const x = between(low, high, values, 0, i / (columns - 1));
        for (let j = 0; j < rows; ++j) {
          const y = is_over_plane ? between(low, high, values, 1, j / (rows - 1)) : (j - 0.5) * 1.6 * extent;
          position.setXYZ(i * rows + j, x, y, height_at(values, i, j));
        }
      }
      position.needsUpdate = true;
      geometry.computeVertexNormals();
    },
    extend(bounds, values) {
      const [left, right] = reach_of(bounds, 0);
      const [near, far] = reach_of(bounds, 1);
      for (let i = 0; i < columns; ++i) {
        const x = between(low, high, values, 0, i / (columns - 1));
        if (x < left || x > right) continue;
        for (let j = 0; j < (is_over_plane ? rows : 1); ++j) {
          const y = is_over_plane ? between(low, high, values, 1, j / (rows - 1)) : Math.max(near, Math.min(far, 0));
          if (y >= near && y <= far) extend_bounds(bounds, x, y, height_at(values, i, j));
        }
      }
    },
    dispose() {
      surface.removeFromParent();
      geometry.dispose();
      surface.material.dispose();
    },
  };
}

const finite = (value: number): number => (Number.isFinite(value) ? value : 0);

function between(low: NumbersOption, high: NumbersOption, values: Float64Array, axis: number, share: number): number {
  const from = low.read(values, axis, 0);
  return from + share * (high.read(values, axis, 0) - from);
}

// What is there already, or everything when nothing is.
function reach_of(bounds: Bounds, axis: 0 | 1): [number, number] {
  if (!(bounds.min[axis] <= bounds.max[axis])) return [-Infinity, Infinity];
  return [bounds.min[axis], bounds.max[axis]];
}
