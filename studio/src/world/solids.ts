// Solid things, all of one shape in one draw call. Enters: a matrix and a colour for each slot. Leaves: one mesh a shape. Shapes of few corners are written
// out, each corner with its matrix and colour: a processor that draws in place of a graphics card takes every instance for a draw call of its own. Others
// are instances.
// Shapes: sphere of radius 1 (two triangles, see materials.ts; so are the others in flat worlds); cylinder, shaft and head (of arrows) of radius 1 along y from 0 to 1; cube of side 1 about its middle.

import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  type Color,
  ConeGeometry,
  CylinderGeometry,
  DynamicDrawUsage,
  InstancedMesh,
  Matrix4,
  Mesh,
  PlaneGeometry,
  type Object3D,
  type ShaderMaterial,
  Sphere,
} from "three";
import { make_ball_material, make_rod_material, make_soft_material, type Theme } from "./materials";
import { layer } from "./stage";

export type Shape = "sphere" | "cylinder" | "cube" | "shaft" | "head";

const shapes: readonly Shape[] = ["cube", "cylinder", "sphere", "shaft", "head"];

const nowhere = new Matrix4().makeScale(0, 0, 0);
// So many corners are written again when a thing moves.
const few_corners = 24;

interface Many {
  readonly mesh: Mesh;
  place(slot: number, matrix: Matrix4): void;
  paint(slot: number, color: Color): void;
  dispose(): void;
}

function make_instances(geometry: BufferGeometry, material: ShaderMaterial, count: number): Many {
  const mesh = new InstancedMesh(geometry, material, count);
  mesh.boundingSphere = new Sphere();
  return {
    mesh,
    place(slot, matrix) {
      mesh.setMatrixAt(slot, matrix);
      mesh.instanceMatrix.needsUpdate = true;
    },
    paint(slot, color) {
      mesh.setColorAt(slot, color);
      if (mesh.instanceColor !== null) mesh.instanceColor.needsUpdate = true;
    },
    dispose: () => mesh.dispose(),
  };
}

// The attributes are called as those of instances are, so that the materials need not know.
function write_out(one: BufferGeometry, material: ShaderMaterial, count: number): Many {
  const corners = one.getAttribute("position").count;
  const all = new BufferGeometry();
  for (const name of ["position", "normal"]) {
    const from = one.getAttribute(name).array;
    const to = new Float32Array(from.length * count);
    for (let slot = 0; slot < count; ++slot) to.set(from, slot * from.length);
    all.setAttribute(name, new BufferAttribute(to, 3));
  }
  const order = one.getIndex()?.array ?? [];
  const index = new Uint32Array(order.length * count);
  for (let i = 0; i < index.length; ++i) index[i] = order[i % order.length]! + corners * Math.floor(i / order.length);
  all.setIndex(new BufferAttribute(index, 1));
  all.boundingSphere = new Sphere();
  const matrices = new BufferAttribute(new Float32Array(16 * corners * count), 16).setUsage(DynamicDrawUsage);
  const colors = new BufferAttribute(new Float32Array(3 * corners * count), 3).setUsage(DynamicDrawUsage);
  all.setAttribute("instanceMatrix", matrices);
  all.setAttribute("instanceColor", colors);
  one.dispose();
  material.defines["WRITTEN_OUT"] = "";
  return {
    mesh: new Mesh(all, material),
    place(slot, matrix) {
      for (let i = 0; i < corners; ++i) matrix.toArray(matrices.array, 16 * (slot * corners + i));
      matrices.needsUpdate = true;
    },
    paint(slot, color) {
      for (let i = 0; i < corners; ++i) color.toArray(colors.array, 3 * (slot * corners + i));
      colors.needsUpdate = true;
    },
    dispose: () => undefined,
  };
}

function make_geometry(shape: Shape, flat: boolean, count: number): BufferGeometry {
  const fine = count <= 100;
  if (flat && shape !== "sphere" && shape !== "cube") return new PlaneGeometry(2, 1).translate(0, 0.5, 0);
  switch (shape) {
    case "sphere":
      return new PlaneGeometry(2, 2);
    case "cylinder":
    case "shaft":
      return new CylinderGeometry(1, 1, 1, fine ? 20 : 10).translate(0, 0.5, 0);
    case "head":
      return new ConeGeometry(1, 1, fine ? 20 : 10).translate(0, 0.5, 0);
    case "cube":
      return new BoxGeometry(1, 1, 1);
  }
}

function make_material(shape: Shape, theme: Theme, flat: boolean, projection: Matrix4): ShaderMaterial {
  if (shape === "sphere") return make_ball_material(theme, flat, projection);
  if (flat && shape !== "cube") return make_rod_material(theme, shape === "head" ? 1 : 0);
  return make_soft_material(theme);
}

export class Solids {
  private readonly all_ = new Map<Shape, Many>();
  private readonly counts_: Record<Shape, number> = { sphere: 0, cylinder: 0, cube: 0, shaft: 0, head: 0 };

  // Slots are handed out while drawings are made, before `build`.
  allocate(shape: Shape): number {
    return this.counts_[shape]++;
  }

  build(scene: Object3D, theme: Theme, flat: boolean, projection: Matrix4): void {
    for (const shape of shapes) {
      const count = this.counts_[shape];
      if (count === 0) continue;
      const geometry = make_geometry(shape, flat, count);
      const make = geometry.getAttribute("position").count <= few_corners ? write_out : make_instances;
      const many = make(geometry, make_material(shape, theme, flat, projection), count);
      for (let i = 0; i < count; ++i) {
        many.place(i, nowhere);
        many.paint(i, theme.accent);
      }
      many.mesh.frustumCulled = false;
      many.mesh.renderOrder = layer.solid;
      this.all_.set(shape, many);
      scene.add(many.mesh);
    }
  }

  place(shape: Shape, slot: number, matrix: Matrix4): void {
    this.all_.get(shape)?.place(slot, matrix);
  }

  hide(shape: Shape, slot: number): void {
    this.place(shape, slot, nowhere);
  }

  paint(shape: Shape, slot: number, color: Color): void {
    this.all_.get(shape)?.paint(slot, color);
  }

  dispose(): void {
    for (const many of this.all_.values()) {
      many.mesh.removeFromParent();
      many.mesh.geometry.dispose();
      for (const material of [many.mesh.material].flat()) material.dispose();
      many.dispose();
    }
    this.all_.clear();
  }
}
