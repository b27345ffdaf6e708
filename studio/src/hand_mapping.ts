// Between the picture and the hand's own coordinates: a point P of the picture is the hand at (P - offset) / scale, component by component.
// Components the hand does not have are 0 for the hand and lie at the offset in the picture.

import type { HandSetup, Triple } from "./protocol";

export function picture_to_hand(setup: HandSetup, x: number, y: number, z: number): Triple {
  const point = [x, y, z];
  const position: Triple = [0, 0, 0];
  for (let i = 0; i < Math.min(setup.components, 3); ++i) {
    const scale = setup.scale[i]!;
    position[i] = scale === 0 ? 0 : (point[i]! - setup.offset[i]!) / scale;
  }
  return position;
}

export function hand_to_picture(setup: HandSetup, position: Triple): Triple {
  const point: Triple = [0, 0, 0];
  for (let i = 0; i < 3; ++i) {
    point[i] = setup.offset[i]! + (i < setup.components ? position[i]! * setup.scale[i]! : 0);
  }
  return point;
}

// How much of the longest arrow, or bar, a force is drawn as. Steeper for small ones: a tenth of a newton and the limit must both be seen.
export function drawn_share(newtons: number, limit: number): number {
  return limit > 0 ? Math.min(newtons / limit, 1) ** 0.4 : 0;
}

// A force acts along the axes of the hand; an axis with a negative scale points the other way in the picture.
export function force_direction(setup: HandSetup, force: Triple): Triple {
  return [
    force[0] * Math.sign(setup.scale[0] || 1),
    force[1] * Math.sign(setup.scale[1] || 1),
    force[2] * Math.sign(setup.scale[2] || 1),
  ];
}
