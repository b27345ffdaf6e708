// The hand: mouse, touch or pen as a haptic device. Enters: presses and motions of one pointer over the world, in pixels. Leaves: `hand` messages, one
// for each displayed frame while held, `leave` when let go; and what to draw. In a flat world the point under the pointer is the hand; in space the
// point in the plane through the handle that faces the camera, which the wheel moves away and nearer. A hand that is refused, since another page's is felt, goes on
// speaking, so that it is felt as soon as the other lets go; until then it is not drawn as one that holds.

import { Vector3 } from "three";
import { flag_hand_present, flag_limiter_acts, type Frame } from "./frames";
import { drawn_share, force_direction, hand_to_picture, picture_to_hand } from "./hand_mapping";
import type { ClientMessage, HandSetup, Triple, World } from "./protocol";
import type { CameraRig } from "./world/camera";
import type { HandPicture } from "./world/overlay";

// How near a press must be to the handle to take it, where empty space turns the camera.
const grasp_pixels = 70;
const longest_arrow_pixels = 110;
const arrow_shows_share = 0.0005;

export class Hand {
  private setup_: HandSetup | null = null;
  private handle_: { at: number; rows: number } | null = null;
  private held_ = false;
  private offered_ = false;
  private refused_ = false;
  private pixel_x_ = 0;
  private pixel_y_ = 0;
  private position_: Triple = [0, 0, 0];
  private readonly through_ = new Vector3();
  private readonly point_ = new Vector3();
  private readonly scratch_ = new Vector3();

  constructor(private readonly send_: (message: ClientMessage) => boolean) {}

  begin_world(world: World): void {
    this.setup_ = world.hand;
    const name = world.hand?.handle ?? null;
    const value = name === null ? undefined : world.values.find((v) => v.name === name);
    this.handle_ = value === undefined ? null : { at: value.at, rows: value.rows };
    if (this.setup_ === null) this.held_ = false;
  }

  get exists(): boolean {
    return this.setup_ !== null;
  }

  get held(): boolean {
    return this.held_;
  }

  set_refused(refused: boolean): void {
    this.refused_ = refused && this.held_;
  }

  // Held here, and felt by the world.
  private get is_felt(): boolean {
    return this.held_ && !this.refused_;
  }

  get pixel(): { x: number; y: number } {
    return { x: this.pixel_x_, y: this.pixel_y_ };
  }

  get position(): Triple {
    return [...this.position_];
  }

  get limit(): number {
    return this.setup_?.limit ?? 0;
  }

  // Where the handle is drawn: the value that follows the hand, or else the hand as the server knows it.
  private handle_point(values: Float64Array | null, frame: Frame | null, into: Vector3): Vector3 {
    const setup = this.setup_!;
    const [x, y, z] = hand_to_picture(setup, frame?.hand_position ?? [0, 0, 0]);
    into.set(x, y, z);
    if (this.handle_ !== null && values !== null) {
      for (let i = 0; i < Math.min(this.handle_.rows, 3); ++i) into.setComponent(i, values[this.handle_.at + i] ?? 0);
    }
    return into;
  }

  // Would a press here take the hand?
  accepts(rig: CameraRig, pixel_x: number, pixel_y: number, values: Float64Array | null, frame: Frame | null): boolean {
    if (this.setup_ === null) return false;
    if (rig.flat) return true;
    rig.to_pixels(this.handle_point(values, frame, this.scratch_), this.scratch_);
    return this.scratch_.z < 1 && Math.hypot(this.scratch_.x - pixel_x, this.scratch_.y - pixel_y) < grasp_pixels;
  }

  // Whether there is a world that can feel it: with a connection, neither failed nor ended.
  set_offered(offered: boolean): void {
    this.offered_ = offered;
    if (!offered) this.release();
  }

  press(pixel_x: number, pixel_y: number, values: Float64Array | null, frame: Frame | null): void {
    if (this.setup_ === null || !this.offered_) return;
    this.held_ = true;
    this.pixel_x_ = pixel_x;
    this.pixel_y_ = pixel_y;
    this.handle_point(values, frame, this.through_);
  }

  move(pixel_x: number, pixel_y: number): void {
    this.pixel_x_ = pixel_x;
    this.pixel_y_ = pixel_y;
  }

  // The wheel while held: the plane of motion goes away from the camera (positive) or comes nearer.
  push_depth(rig: CameraRig, share: number): void {
    if (!this.held_ || rig.flat) return;
    this.through_.addScaledVector(rig.looking(this.scratch_), share * rig.span);
  }

  // Keys: the hand goes by so many pixels from where it is, as if it were held there.
  nudge(rig: CameraRig, pixels_x: number, pixels_y: number, values: Float64Array | null, frame: Frame | null): void {
    if (this.setup_ === null || !this.offered_) return;
    if (!this.held_) {
      rig.to_pixels(this.handle_point(values, frame, this.scratch_), this.scratch_);
      this.press(this.scratch_.x, this.scratch_.y, values, frame);
    }
    this.move(this.pixel_x_ + pixels_x, this.pixel_y_ + pixels_y);
  }

  release(): void {
    if (!this.held_) return;
    this.held_ = false;
    this.refused_ = false;
    this.send_({ type: "leave" });
  }

  // Once a displayed frame, also when the pointer rests: the camera may move under it, and the server knows that it is still there.
  tick(rig: CameraRig): void {
    if (!this.held_ || this.setup_ === null) return;
    rig.to_world(this.pixel_x_, this.pixel_y_, this.through_, this.point_);
    this.position_ = picture_to_hand(this.setup_, this.point_.x, this.point_.y, this.point_.z);
    this.send_({ type: "hand", position: this.position_, button: true });
  }

  // Newtons on the hand, after the limiter; null without a hand in the world.
  force(frame: Frame | null): number | null {
    if (this.setup_ === null || frame === null) return null;
    return Math.hypot(...frame.hand_force);
  }

  picture(rig: CameraRig, values: Float64Array | null, frame: Frame | null): HandPicture | null {
    const setup = this.setup_;
    if (setup === null || frame === null) return null;
    const present = (frame.flags & flag_hand_present) !== 0;
    const hand = this.scratch_;
    if (!this.is_felt && !present) {
      // Nobody holds it: the ring shows where to take it.
      rig.to_pixels(this.handle_point(values, frame, this.point_), hand);
      return hand.z < 1 ? { hand: { x: hand.x, y: hand.y }, held: false, handle: null, force: { x: 0, y: 0 }, newtons: 0, limited: false } : null;
    }
    const [x, y, z] = hand_to_picture(setup, this.is_felt ? this.position_ : frame.hand_position);
    const units = rig.units_per_pixel(this.point_.set(x, y, z));
    rig.to_pixels(this.point_, hand);
    const at = { x: hand.x, y: hand.y };
    const newtons = Math.hypot(...frame.hand_force);
    let force = { x: 0, y: 0 };
    if (newtons > arrow_shows_share * setup.limit) {
      const [fx, fy, fz] = force_direction(setup, frame.hand_force);
      const length = (longest_arrow_pixels * drawn_share(newtons, setup.limit) * units) / newtons;
      this.point_.set(x + fx * length, y + fy * length, z + fz * length);
      rig.to_pixels(this.point_, hand);
      force = { x: hand.x - at.x, y: hand.y - at.y };
    }
    rig.to_pixels(this.handle_point(values, frame, this.point_), hand);
    const handle = hand.z < 1 ? { x: hand.x, y: hand.y } : null;
    return { hand: at, held: this.is_felt, handle, force, newtons, limited: (frame.flags & flag_limiter_acts) !== 0 };
  }
}
