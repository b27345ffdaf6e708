// trace: point, color. The way a point went in the last seconds, fading; taken from the history of frames, so it needs no memory of its own
// and a reset clears it.

import { Vector3 } from "three";
import { extend_bounds } from "./framing";
import { make_line_material } from "./materials";
import { numbers_option, read_point } from "./options";
import { Polyline } from "./polyline";
import { layer, type Maker } from "./stage";

const most_points = 620;

export const make_trace: Maker = (drawing, stage, color, height) => {
  const option = numbers_option(drawing, "point");
  const line = new Polyline(most_points, [color], make_line_material(2, 1, stage.viewport));
  line.mesh.renderOrder = layer.sheer + height;
  stage.scene.add(line.mesh);
  const point = new Vector3();
  return {
    update(moment) {
      line.begin();
      const frames = moment.history;
      // The newest frame is not shown yet; the line ends where the point is drawn.
      const last = frames.length - 1;
      for (let i = Math.max(0, last - most_points + 1); i < last; ++i) {
        read_point(option, frames[i]!.values, point);
        if (Number.isFinite(point.x + point.y + point.z)) line.add(point.x, point.y, point.z + height);
      }
      read_point(option, moment.values, point);
      line.add(point.x, point.y, point.z + height);
      line.end();
    },
    extend(bounds, values) {
      read_point(option, values, point);
      extend_bounds(bounds, point.x, point.y, point.z);
    },
    dispose: () => line.dispose(),
  };
};
