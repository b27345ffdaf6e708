// arrow: at, along, scale, color. Its head is some 12 pixels long at every zoom, shorter on a short arrow. Without a scale, the longest
// arrow of the last while spans a quarter of the picture.

import { Matrix4, Vector3 } from "three";
import { extend_bounds } from "./framing";
import { numbers_option, read_point } from "./options";
import { lay_rod } from "./rod";
import { type Maker, nothing_to_dispose } from "./stage";

const head_pixels = 13;
const longest_share = 1 / 4;

export const make_arrow: Maker = (drawing, stage, color, height) => {
  const at = numbers_option(drawing, "at");
  const along = numbers_option(drawing, "along");
  const scale = numbers_option(drawing, "scale");
  const shaft = stage.solids.allocate("shaft");
  const head = stage.solids.allocate("head");
  const from = new Vector3();
  const to = new Vector3();
  const neck = new Vector3();
  const matrix = new Matrix4();
  let longest = 0;
  let painted = false;
  return {
    update(moment) {
      if (!painted) {
        stage.solids.paint("shaft", shaft, color);
        stage.solids.paint("head", head, color);
        painted = true;
      }
      read_point(at, moment.values, from).z += height;
      read_point(along, moment.values, to);
      const size = to.length();
      longest = Math.max(0.999 * longest, size);
      const factor = scale?.read(moment.values, 0, 1) ?? (longest > 0 ? (longest_share * moment.extent) / longest : 0);
      const pixel = moment.units_per_pixel(from);
      const length = size * Math.abs(factor);
      if (!(length > 2 * pixel) || !Number.isFinite(length)) {
        stage.solids.hide("shaft", shaft);
        stage.solids.hide("head", head);
        return;
      }
      to.multiplyScalar(factor).add(from);
      const head_length = Math.min(head_pixels * pixel, 0.5 * length);
      neck.lerpVectors(to, from, head_length / length);
      stage.solids.place("shaft", shaft, lay_rod(from, neck, Math.min(1.6 * pixel, 0.12 * head_length), matrix));
      stage.solids.place("head", head, lay_rod(neck, to, 0.42 * head_length, matrix));
    },
    extend(bounds, values) {
      read_point(at, values, from);
      extend_bounds(bounds, from.x, from.y, from.z);
    },
    dispose: nothing_to_dispose,
  };
};
