// spring: from, to, radius, color. A zigzag in a flat world, a helix of a round wire in space; its ends are straight, its turns as
// many at every length, but for a zigzag of few pixels, which has fewer teeth: more would be a blot. Without a radius, a sixtieth of the picture.

import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Mesh, Sphere, Vector3 } from "three";
import { extend_bounds } from "./framing";
import { make_soft_material } from "./materials";
import { numbers_option, read_point } from "./options";
import { type Maker, nothing_to_dispose } from "./stage";

const default_radius_share = 1 / 60;
const straight_share = 0.12;
// As many zigzags from so many pixels on.
const zigzag_levels: readonly { zigzags: number; pixels: number }[] = [
  { zigzags: 9, pixels: 60 },
  { zigzags: 5, pixels: 24 },
  { zigzags: 3, pixels: 0 },
];
const most_zigzags = zigzag_levels[0]!.zigzags;
export const points_of_zigzag = 2 * most_zigzags + 4;

// The level for a length; a spring that swings about a limit keeps the one it has.
export function choose_zigzags(pixels: number, now: number): number {
  const level = (of: number): number => zigzag_levels.find((each) => of >= each.pixels)?.zigzags ?? most_zigzags;
  const [fewer, more] = [level(pixels / 1.15), level(pixels * 1.15)];
  return now >= fewer && now <= more ? now : level(pixels);
}
const turns = 9;
const rings_a_turn = 14;
const wire_sides = 6;

export const make_spring: Maker = (drawing, stage, color, height) => {
  const from = numbers_option(drawing, "from");
  const to = numbers_option(drawing, "to");
  const radius = numbers_option(drawing, "radius");
  const a = new Vector3();
  const b = new Vector3();
  const along = new Vector3();
  const aside = new Vector3();
  const across = new Vector3();

  const extend: ReturnType<Maker>["extend"] = (bounds, values) => {
    read_point(from, values, a);
    read_point(to, values, b);
    extend_bounds(bounds, a.x, a.y, a.z);
    extend_bounds(bounds, b.x, b.y, b.z);
  };
  // Ends, axes of unit length and the radius, at the moment; false when the spring has no length.
  const read = (values: Float64Array): number => {
    read_point(from, values, a);
    read_point(to, values, b);
    along.subVectors(b, a);
    const length = along.length();
    if (!(length > 0)) return 0;
    across.set(0, 0, 1);
    if (!stage.flat && Math.abs(along.z) > 0.9 * length) across.set(1, 0, 0);
    aside.crossVectors(across, along).normalize();
    across.crossVectors(along, aside).normalize();
    return length;
  };

  if (stage.flat) {
    const slot = stage.springs.allocate(color, height);
    let zigzags = 0;
    return {
      update(moment) {
        const length = read(moment.values);
        // A spring shorter than its own width would be a blot: its teeth shrink with it.
        const r = Math.min(radius?.read(moment.values, 0, 0) ?? default_radius_share * moment.extent, 0.12 * length);
        zigzags = choose_zigzags(length / moment.units_per_pixel(a), zigzags);
        const { line } = stage.springs;
        line.begin(slot);
        if (length > 0) {
          const tooth = (share: number, side: number): void =>
            line.add(a.x + along.x * share + aside.x * r * side, a.y + along.y * share + aside.y * r * side, height);
          tooth(0, 0);
          tooth(straight_share, 0);
          const teeth = 2 * zigzags;
          for (let i = 0; i < teeth; ++i) {
            tooth(straight_share + ((i + 0.5) / teeth) * (1 - 2 * straight_share), i % 2 === 0 ? 1 : -1);
          }
          tooth(1 - straight_share, 0);
          tooth(1, 0);
        }
        line.end();
      },
      extend,
      dispose: nothing_to_dispose,
    };
  }

  const rings = turns * rings_a_turn + 3;
  const positions = new BufferAttribute(new Float32Array(rings * wire_sides * 3), 3).setUsage(DynamicDrawUsage);
  const normals = new BufferAttribute(new Float32Array(rings * wire_sides * 3), 3).setUsage(DynamicDrawUsage);
  const index: number[] = [];
  for (let ring = 0; ring + 1 < rings; ++ring) {
    for (let side = 0; side < wire_sides; ++side) {
      const p = ring * wire_sides + side;
      const q = ring * wire_sides + ((side + 1) % wire_sides);
      index.push(p, q, p + wire_sides, q, q + wire_sides, p + wire_sides);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", positions);
  geometry.setAttribute("normal", normals);
  geometry.setIndex(index);
  geometry.boundingSphere = new Sphere();
  const material = make_soft_material(stage.theme, color);
  material.side = 2;
  const mesh = new Mesh(geometry, material);
  mesh.frustumCulled = false;
  stage.scene.add(mesh);
  const center = new Vector3();
  const outward = new Vector3();
  const binormal = new Vector3();
  const normal = new Vector3();
  return {
    update(moment) {
      const length = read(moment.values);
      mesh.visible = length > 0;
      if (length === 0) return;
      const r = radius?.read(moment.values, 0, 0) ?? default_radius_share * moment.extent;
      const wire = Math.min(0.16 * r, (0.25 * length) / turns);
      for (let ring = 0; ring < rings; ++ring) {
        const is_end = ring === 0 || ring === rings - 1;
        const share = (ring - 1) / (rings - 3);
        const phase = 2 * Math.PI * turns * share;
        const at = is_end ? (ring === 0 ? 0 : 1) : straight_share + share * (1 - 2 * straight_share);
        outward.copy(aside).multiplyScalar(Math.cos(phase)).addScaledVector(across, Math.sin(phase));
        center.copy(a).addScaledVector(along, at);
        if (!is_end) center.addScaledVector(outward, r);
        // The wire runs nearly around the axis: the axis itself is close enough to its second normal.
        binormal.copy(along).divideScalar(length);
        for (let side = 0; side < wire_sides; ++side) {
          const angle = (2 * Math.PI * side) / wire_sides;
          normal.copy(outward).multiplyScalar(Math.cos(angle)).addScaledVector(binormal, Math.sin(angle));
          const vertex = ring * wire_sides + side;
          positions.setXYZ(vertex, center.x + wire * normal.x, center.y + wire * normal.y, center.z + wire * normal.z);
          normals.setXYZ(vertex, normal.x, normal.y, normal.z);
        }
      }
      positions.needsUpdate = true;
      normals.needsUpdate = true;
    },
    extend,
    dispose() {
      mesh.removeFromParent();
      geometry.dispose();
      material.dispose();
    },
  };
};
