// cylinder: from, to, radius, color. Without a radius, a hundredth of the picture.

import { Matrix4, Vector3 } from "three";
import { extend_bounds } from "./framing";
import { numbers_option, read_point } from "./options";
import { lay_rod } from "./rod";
import { type Maker, nothing_to_dispose } from "./stage";

export const make_cylinder: Maker = (drawing, stage, color, height) => {
  const from = numbers_option(drawing, "from");
  const to = numbers_option(drawing, "to");
  const radius = numbers_option(drawing, "radius");
  const slot = stage.solids.allocate("cylinder");
  const a = new Vector3();
  const b = new Vector3();
  const matrix = new Matrix4();
  let painted = false;
  return {
    update(moment) {
      if (!painted) stage.solids.paint("cylinder", slot, color);
      painted = true;
      read_point(from, moment.values, a).z += height;
      read_point(to, moment.values, b).z += height;
      stage.solids.place("cylinder", slot, lay_rod(a, b, radius?.read(moment.values, 0, 0) ?? moment.extent / 100, matrix));
    },
    extend(bounds, values) {
      read_point(from, values, a);
      read_point(to, values, b);
      extend_bounds(bounds, a.x, a.y, a.z);
      extend_bounds(bounds, b.x, b.y, b.z);
    },
    dispose: nothing_to_dispose,
  };
};
