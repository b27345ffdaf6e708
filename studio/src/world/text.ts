// text: text, values, at, scale, color. `{0}`, `{1}` are replaced by the values; `scale` is the height of the letters in units of the world.

import { Vector3 } from "three";
import { extend_bounds } from "./framing";
import { fill_template, list_readers, numbers_option, read_point, string_option } from "./options";
import { type Maker, nothing_to_dispose } from "./stage";

export const make_text: Maker = (drawing) => {
  const template = string_option(drawing, "text") ?? "";
  const readers = list_readers(drawing["values"]);
  const at = numbers_option(drawing, "at");
  const scale = numbers_option(drawing, "scale");
  const color = string_option(drawing, "color");
  const point = new Vector3();
  return {
    update(moment) {
      read_point(at, moment.values, point);
      const text = fill_template(template, readers.map((read) => read(moment.values)));
      const height = scale?.read(moment.values, 0, 0) ?? null;
      moment.labels.push({ text, x: point.x, y: point.y, z: point.z, height, color });
    },
    extend(bounds, values) {
      if (at === null) return;
      read_point(at, values, point);
      extend_bounds(bounds, point.x, point.y, point.z);
    },
    dispose: nothing_to_dispose,
  };
};
