// ground: height, color. Everything below a height in a flat world, a level plane in space; or heights from low to high: hills.ts.

import { Color, Mesh, MeshBasicMaterial, PlaneGeometry } from "three";
import { extend_bounds } from "./framing";
import { make_line_material } from "./materials";
import { make_hills } from "./hills";
import { numbers_option, string_option } from "./options";
import { Polyline } from "./polyline";
import { layer, type Maker, type Stage } from "./stage";

// Times the picture: beyond its edges in a flat world, an area to stand on in space.
const reach = 40;
const reach_in_space = 1.6;

export const make_ground: Maker = (drawing, stage, color, order) => {
  const height = numbers_option(drawing, "height");
  const is_chosen = string_option(drawing, "color") === null;
  const tint = is_chosen ? stage.theme.ink : new Color(color);
  const opacity = (stage.flat ? 0.1 : 0.06) * (is_chosen ? 1 : 3);
  const heights = numbers_option(drawing, "heights");
  const low = numbers_option(drawing, "low");
  const high = numbers_option(drawing, "high");
  if (heights !== null && low !== null && high !== null) return make_hills({ heights, low, high }, stage, hill_color(stage, tint), opacity, order);
  const geometry = new PlaneGeometry(1, 1);
  if (stage.flat) geometry.translate(0, -0.5, 0);
  const plane = new Mesh(
    geometry,
    new MeshBasicMaterial({ color: tint, transparent: true, opacity, depthWrite: false, side: 2 }),
  );
  plane.renderOrder = layer.sheer + order;
  plane.frustumCulled = false;
  stage.scene.add(plane);
  let edge: Polyline | null = null;
  if (stage.flat) {
    edge = new Polyline(2, [tint], make_line_material(1.5, 0, stage.viewport));
    edge.mesh.renderOrder = layer.sheer + order;
    stage.scene.add(edge.mesh);
  }
  return {
    is_everywhere: true,
    update(moment) {
      const level = height?.read(moment.values, 0, 0) ?? 0;
      const side = (stage.flat ? reach : reach_in_space) * moment.extent;
      plane.scale.set(side, side, 1);
      const { x, y } = moment.center;
      plane.position.set(x, stage.flat ? level : y, stage.flat ? order : level);
      if (edge !== null) {
        edge.begin();
        edge.add(x - side / 2, level, order);
        edge.add(x + side / 2, level, order);
        edge.end();
      }
    },
    extend(bounds, values) {
      const level = height?.read(values, 0, 0) ?? 0;
      if (bounds.min[0] > bounds.max[0]) return;
      const x = (bounds.min[0] + bounds.max[0]) / 2;
      const y = (bounds.min[1] + bounds.max[1]) / 2;
      if (stage.flat) extend_bounds(bounds, x, level, 0);
      else extend_bounds(bounds, x, y, level);
    },
    dispose() {
      plane.removeFromParent();
      geometry.dispose();
      plane.material.dispose();
      edge?.dispose();
    },
  };
};

// One does not see through a surface in space, so it is pale where a plane is thin.
function hill_color(stage: Stage, tint: Color): Color {
  return stage.flat ? tint : tint.clone().lerp(stage.theme.background, 0.55);
}
