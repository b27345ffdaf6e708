// Solid things, all of one shape in one draw call. Enters: a matrix and a colour for each slot. Leaves: instanced meshes.
// Shapes: sphere of radius 1 (two triangles, see materials.ts; so are the others in flat worlds); cylinder, shaft and head (of arrows) of radius 1 along y from 0 to 1; cube of side 1 about its middle.

import { BoxGeometry, type BufferGeometry, type Color, ConeGeometry, CylinderGeometry, InstancedMesh, Matrix4, PlaneGeometry, type Object3D, type ShaderMaterial, Sphere } from "three";
import { make_ball_material, make_rod_material, make_soft_material, type Theme } from "./materials";
import { layer } from "./stage";

export type Shape = "sphere" | "cylinder" | "cube" | "shaft" | "head";

const shapes: readonly Shape[] = ["cube", "cylinder", "sphere", "shaft", "head"];

const nowhere = new Matrix4().makeScale(0, 0, 0);

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
  private readonly meshes_ = new Map<Shape, InstancedMesh>();
  private readonly counts_: Record<Shape, number> = { sphere: 0, cylinder: 0, cube: 0, shaft: 0, head: 0 };

  // Slots are handed out while drawings are made, before `build`.
  allocate(shape: Shape): number {
    return this.counts_[shape]++;
  }

  build(scene: Object3D, theme: Theme, flat: boolean, projection: Matrix4): void {
    for (const shape of shapes) {
      const count = this.counts_[shape];
      if (count === 0) continue;
      const mesh = new InstancedMesh(make_geometry(shape, flat, count), make_material(shape, theme, flat, projection), count);
      for (let i = 0; i < count; ++i) {
        mesh.setMatrixAt(i, nowhere);
        mesh.setColorAt(i, theme.accent);
      }
      mesh.frustumCulled = false;
      mesh.boundingSphere = new Sphere();
      mesh.renderOrder = layer.solid;
      this.meshes_.set(shape, mesh);
      scene.add(mesh);
    }
  }

  place(shape: Shape, slot: number, matrix: Matrix4): void {
    const mesh = this.meshes_.get(shape);
    if (mesh === undefined) return;
    mesh.setMatrixAt(slot, matrix);
    mesh.instanceMatrix.needsUpdate = true;
  }

  hide(shape: Shape, slot: number): void {
    this.place(shape, slot, nowhere);
  }

  paint(shape: Shape, slot: number, color: Color): void {
    const mesh = this.meshes_.get(shape);
    if (mesh === undefined) return;
    mesh.setColorAt(slot, color);
    if (mesh.instanceColor !== null) mesh.instanceColor.needsUpdate = true;
  }

  dispose(): void {
    for (const mesh of this.meshes_.values()) {
      mesh.removeFromParent();
      mesh.geometry.dispose();
      for (const material of [mesh.material].flat()) material.dispose();
      mesh.dispose();
    }
    this.meshes_.clear();
  }
}
