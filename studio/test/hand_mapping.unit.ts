// The pointer as a hand: pixels to the picture, the picture to the hand's own coordinates, and back.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Vector3 } from "three";
import { drawn_share, force_direction, hand_to_picture, picture_to_hand } from "../src/hand_mapping";
import type { HandSetup } from "../src/protocol";
import { CameraRig } from "../src/world/camera";
import { Framing } from "../src/world/framing";

const setup: HandSetup = { device: "hand", components: 2, scale: [2000, -500, 1], offset: [10, 20, 0], handle: null, limit: 8 };

test("a point of the picture is the hand at (P - offset) / scale", () => {
  assert.deepEqual(picture_to_hand(setup, 410, -480, 7), [0.2, 1, 0]);
  assert.deepEqual(hand_to_picture(setup, [0.2, 1, 5]), [410, -480, 0]);
});

test("a hand with one component moves along x only", () => {
  const line = { ...setup, components: 1 };
  assert.deepEqual(picture_to_hand(line, 410, 999, 999), [0.2, 0, 0]);
  assert.deepEqual(hand_to_picture(line, [0.2, 3, 3]), [410, 20, 0]);
});

test("an axis that is turned around turns the force around", () => {
  assert.deepEqual(force_direction(setup, [1, 2, 3]), [1, -2, 3]);
});

test("a small force is seen beside a large one, and none is drawn longer than the limit", () => {
  assert.equal(drawn_share(0, 8), 0);
  assert.equal(drawn_share(8, 8), 1);
  assert.equal(drawn_share(80, 8), 1);
  assert.ok(drawn_share(0.1, 8) > 0.15);
  assert.ok(drawn_share(0.2, 8) > drawn_share(0.1, 8));
  assert.equal(drawn_share(1, 0), 0);
});

test("a pixel of a flat world and its point are each other's images", () => {
  const rig = new CameraRig();
  rig.begin_world(true);
  rig.resize(800, 500);
  const framing = new Framing();
  framing.begin_world(1);
  framing.fit({ min: [-350, -300, 0], max: [400, 250, 0] });
  rig.update(0.016, framing, null, null, true);
  const point = rig.to_world(123, 77, rig.center, new Vector3());
  const pixel = rig.to_pixels(point, new Vector3());
  assert.ok(Math.abs(pixel.x - 123) < 1e-6 && Math.abs(pixel.y - 77) < 1e-6);
  // Everything is in view.
  for (const [x, y] of [[-350, -300], [400, 250]] as const) {
    rig.to_pixels(new Vector3(x, y, 0), pixel);
    assert.ok(pixel.x > 0 && pixel.x < 800 && pixel.y > 0 && pixel.y < 500);
  }
  // One pixel to the right is one unit of a pixel to the right; one down is one less.
  const right = rig.to_world(124, 78, rig.center, new Vector3());
  assert.ok(Math.abs(right.x - point.x - rig.span / 500) < 1e-9);
  assert.ok(Math.abs(right.y - point.y + rig.span / 500) < 1e-9);
});

test("in space the point lies in the plane through the handle that faces the camera", () => {
  const rig = new CameraRig();
  rig.begin_world(false);
  rig.resize(800, 500);
  const framing = new Framing();
  framing.begin_world(1);
  framing.fit({ min: [-1, -1, 0], max: [1, 1, 2] });
  rig.update(0.016, framing, null, null, true);
  const handle = new Vector3(0.3, -0.2, 1.1);
  const point = rig.to_world(500, 200, handle, new Vector3());
  const direction = rig.looking(new Vector3());
  assert.ok(Math.abs(point.clone().sub(handle).dot(direction)) < 1e-6);
  const pixel = rig.to_pixels(point, new Vector3());
  assert.ok(Math.abs(pixel.x - 500) < 1e-4 && Math.abs(pixel.y - 200) < 1e-4);
});

test("zooming keeps the point under the pointer", () => {
  for (const flat of [true, false]) {
    const rig = new CameraRig();
    rig.begin_world(flat);
    rig.resize(640, 480);
    const framing = new Framing();
    framing.begin_world(1);
    framing.fit({ min: [-1, -1, 0], max: [1, 1, 1] });
    rig.update(0.016, framing, null, null, true);
    const before = rig.to_world(100, 90, rig.center, new Vector3());
    rig.zoom(0.5, 100, 90);
    const pixel = rig.to_pixels(before, new Vector3());
    assert.ok(Math.hypot(pixel.x - 100, pixel.y - 90) < 0.5, `${flat}: ${pixel.x} ${pixel.y}`);
  }
});
