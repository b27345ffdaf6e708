// sphere: at, radius, color. Without a radius, a fortieth of the picture.

import { Matrix4, Vector3 } from "three";
import { extend_bounds } from "./framing";
import { numbers_option, read_point } from "./options";
import { type Maker, nothing_to_dispose } from "./stage";

export const default_radius_share = 1 / 40;

export const make_sphere: Maker = (drawing, stage, color, height) => {
  const at = numbers_option(drawing, "at");
  const radius = numbers_option(drawing, "radius");
  const slot = stage.solids.allocate("sphere");
  const point = new Vector3();
  const matrix = new Matrix4();
  let painted = false;
  return {
    update(moment) {
      if (!painted) stage.solids.paint("sphere", slot, color);
      painted = true;
      const r = radius?.read(moment.values, 0, 0) ?? default_radius_share * moment.extent;
      read_point(at, moment.values, point).z += height;
      stage.solids.place("sphere", slot, matrix.makeScale(r, r, r).setPosition(point));
    },
    extend(bounds, values) {
      read_point(at, values, point);
      extend_bounds(bounds, point.x, point.y, point.z, radius?.read(values, 0, 0) ?? 0);
    },
    dispose: nothing_to_dispose,
  };
};
