// box: at, size, rotation, color. In a flat world a pane with an edge (sheer where the page chose its colour), `at` its lower left corner, about which it turns; in space a
// solid, `at` its centre. One number for the size means a square or a cube; without a size, a tenth of the picture.

import { Matrix4, Mesh, MeshBasicMaterial, PlaneGeometry, Vector3 } from "three";
import { extend_bounds } from "./framing";
import { numbers_option, read_point, read_rotation, string_option } from "./options";
import { layer, type Maker, nothing_to_dispose } from "./stage";

const default_size_share = 1 / 10;
// From the middle of a side, so that all corners are joints.
const outline = [[0.5, 0], [1, 0], [1, 1], [0, 1], [0, 0], [0.5, 0]] as const;
export const points_of_outline = outline.length;

export const make_box: Maker = (drawing, stage, color, height) => {
  const at = numbers_option(drawing, "at");
  const size = numbers_option(drawing, "size");
  const rotation = numbers_option(drawing, "rotation");
  const point = new Vector3();
  const sides = new Vector3();
  const turn = new Matrix4();
  const matrix = new Matrix4();
  const corner = new Vector3();

  const read = (values: Float64Array, extent: number): void => {
    const first = size?.read(values, 0, 0) ?? default_size_share * extent;
    if (size === null || size.count === 1) sides.set(first, first, first);
    else sides.set(first, size.read(values, 1, first), size.read(values, 2, first));
    read_point(at, values, point);
    read_rotation(rotation, values, turn);
    matrix.copy(turn).scale(sides).setPosition(point);
  };
  const low = stage.flat ? 0 : -0.5;
  const extend: ReturnType<Maker>["extend"] = (bounds, values) => {
    read(values, 0);
    for (let i = 0; i < 8; ++i) {
      corner.set(low + (i & 1), low + ((i >> 1) & 1), stage.flat ? 0 : low + (i >> 2)).applyMatrix4(matrix);
      extend_bounds(bounds, corner.x, corner.y, corner.z);
    }
  };

  if (!stage.flat) {
    const slot = stage.solids.allocate("cube");
    let painted = false;
    return {
      update(moment) {
        if (!painted) stage.solids.paint("cube", slot, color);
        painted = true;
        read(moment.values, moment.extent);
        stage.solids.place("cube", slot, matrix);
      },
      extend,
      dispose: nothing_to_dispose,
    };
  }

  const is_sheer = string_option(drawing, "color") === null;
  const fill = is_sheer ? color : color.clone().lerp(stage.theme.background, 0.15);
  const pane = new Mesh(
    new PlaneGeometry(1, 1).translate(0.5, 0.5, 0),
    new MeshBasicMaterial({ color: fill, transparent: is_sheer, opacity: is_sheer ? 0.2 : 1, depthWrite: !is_sheer, side: 2 }),
  );
  pane.matrixAutoUpdate = false;
  pane.frustumCulled = false;
  pane.renderOrder = is_sheer ? layer.sheer + height : layer.solid;
  const slot = stage.edges.allocate(color, height);
  stage.scene.add(pane);
  return {
    update(moment) {
      read(moment.values, moment.extent);
      matrix.elements[14] = height;
      pane.matrix.copy(matrix);
      pane.matrixWorldNeedsUpdate = true;
      const edge = stage.edges.line;
      edge.begin(slot);
      for (const [x, y] of outline) {
        corner.set(x, y, 0).applyMatrix4(matrix);
        edge.add(corner.x, corner.y, height + 0.25);
      }
      edge.end();
    },
    extend,
    dispose() {
      pane.removeFromParent();
      pane.geometry.dispose();
      pane.material.dispose();
    },
  };
};
