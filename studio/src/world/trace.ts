// trace: point, color. The way a point went in the last seconds, fading; taken from the history of frames, so it needs no memory of its own
// and a reset clears it. Between frames, a sixtieth of a second apart, the way is drawn smooth.

import { Vector3 } from "three";
import { extend_bounds } from "./framing";
import { make_line_material } from "./materials";
import { numbers_option, read_point } from "./options";
import { Polyline } from "./polyline";
import { smooth_way } from "./smooth";
import { layer, type Maker } from "./stage";

const most_frames = 620;
const points_between = 3;
const most_points = most_frames * (points_between + 1) + 1;

export const make_trace: Maker = (drawing, stage, color, height) => {
  const option = numbers_option(drawing, "point");
  const line = new Polyline(most_points, [color], make_line_material(2, 1, stage.viewport));
  line.mesh.renderOrder = layer.sheer + height;
  stage.scene.add(line.mesh);
  const point = new Vector3();
  const points = new Float64Array(3 * most_frames);
  const times = new Float64Array(most_frames);
  return {
    update(moment) {
      line.begin();
      const frames = moment.history;
      // The newest frames are not shown yet; the line ends where the point is drawn.
      let last = frames.length;
      while (last > 0 && frames[last - 1]!.time >= moment.time) last -= 1;
      let count = 0;
      for (let i = Math.max(0, last - most_frames); i < last; ++i) {
        read_point(option, frames[i]!.values, point);
        if (!Number.isFinite(point.x + point.y + point.z)) continue;
        points.set([point.x, point.y, point.z + height], 3 * count);
        times[count] = frames[i]!.time;
        count += 1;
      }
      smooth_way(points, times, count, points_between, (x, y, z) => line.add(x, y, z));
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
