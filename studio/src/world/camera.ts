// The camera. Enters: what to show (framing.ts), gestures of a person. Leaves: a three.js camera, and the ways between points of the world and
// pixels of the view. A flat world is seen straight from above, x right and y up; space in perspective from an orbit, z up.
// Until a person zooms or turns, the camera follows the framing, smoothly; `fit` gives it back.

import { MathUtils, OrthographicCamera, PerspectiveCamera, Vector3 } from "three";
import type { Bounds, Framing } from "./framing";
import { most_drawings } from "./stage";

const margin = 1.08;
// Pixels at the edges that read-outs and the numbers of the axes take.
const inset = { top: 56, right: 12, bottom: 30, left: 48 } as const;
const smoothing_s = 0.22;
const field_of_view_deg = 38;

const scratch = new Vector3();
const ray = new Vector3();

export class CameraRig {
  flat = true;
  is_automatic = true;
  width = 1;
  height = 1;
  readonly center = new Vector3();
  // Units of the world that the view is high, at the centre.
  span = 2;
  azimuth = -0.9;
  elevation = 0.42;
  private settled_ = false;
  // Where it was seen from when it was fitted: turning does not zoom.
  private fitted_from_: readonly [number, number] = [this.azimuth, this.elevation];
  private readonly flat_camera_ = new OrthographicCamera();
  private readonly deep_camera_ = new PerspectiveCamera(field_of_view_deg);

  constructor() {
    this.deep_camera_.up.set(0, 0, 1);
  }

  get camera(): OrthographicCamera | PerspectiveCamera {
    return this.flat ? this.flat_camera_ : this.deep_camera_;
  }

  begin_world(flat: boolean): void {
    this.flat = flat;
    this.is_automatic = true;
    this.settled_ = false;
  }

  // Shows everything again, from where the person looks now.
  fit(): void {
    this.is_automatic = true;
    this.fitted_from_ = [this.azimuth, this.elevation];
  }

  resize(width: number, height: number): void {
    if (this.width !== Math.max(width, 1) || this.height !== Math.max(height, 1)) this.settled_ = false;
    this.width = Math.max(width, 1);
    this.height = Math.max(height, 1);
  }

  private span_to_show(framing: Framing): number {
    const [x, y, z] = framing.size;
    const free_width = Math.max(this.width - inset.left - inset.right, 50);
    const free_height = Math.max(this.height - inset.top - inset.bottom, 50);
    if (this.flat) return margin * this.height * Math.max(y / free_height, x / free_width);
    return margin * this.span_of_box(x, y, z, free_width / this.height, free_height / this.height);
  }

  // The least height of the picture, at the centre, that has all corners of a box inside of such shares of it: nearer corners need more.
  private span_of_box(x: number, y: number, z: number, width: number, height: number): number {
    const [azimuth, elevation] = this.fitted_from_;
    const [ca, sa, ce, se] = [Math.cos(azimuth), Math.sin(azimuth), Math.cos(elevation), Math.sin(elevation)];
    const per_span = 1 / (2 * Math.tan(MathUtils.degToRad(field_of_view_deg) / 2));
    let span = 0;
    for (let corner = 0; corner < 8; ++corner) {
      const px = (corner & 1 ? 0.5 : -0.5) * x;
      const py = (corner & 2 ? 0.5 : -0.5) * y;
      const pz = (corner & 4 ? 0.5 : -0.5) * z;
      const right = -sa * px + ca * py;
      const up = -se * (ca * px + sa * py) + ce * pz;
      const near = ce * (ca * px + sa * py) + se * pz; // towards the camera
      // |right| D / (D - near) <= width span / 2 with D = per_span span, and so for the height.
      const needed = Math.max((2 * Math.abs(right)) / width, (2 * Math.abs(up)) / height);
      span = Math.max(span, needed + near / per_span);
    }
    return span;
  }

  // One displayed frame on; true while the camera still moves. `follow` replaces the centre, `span` the height of the picture.
  update(dt: number, framing: Framing, follow: Vector3 | null, span: number | null, at_once: boolean): boolean {
    let moving = false;
    if (this.is_automatic) {
      const target_span = span ?? this.span_to_show(framing);
      scratch.set(...framing.center);
      if (follow !== null) scratch.copy(follow);
      if (this.flat) {
        const unit = target_span / this.height;
        scratch.x += 0.5 * (inset.right - inset.left) * unit;
        scratch.y += 0.5 * (inset.top - inset.bottom) * unit;
      }
      if (!this.settled_ || at_once) {
        this.span = target_span;
        this.center.copy(scratch);
        this.settled_ = true;
      } else {
        const share = 1 - Math.exp(-dt / smoothing_s);
        const ratio = target_span / this.span;
        this.span *= ratio ** share;
        // A followed point is held fast; it moves smoothly by itself.
        this.center.lerp(scratch, follow !== null ? 1 : share);
        moving = Math.abs(ratio - 1) > 0.002 || this.center.distanceTo(scratch) > 0.001 * this.span;
        if (!moving) {
          this.span = target_span;
          this.center.copy(scratch);
        }
      }
    }
    this.apply();
    return moving;
  }

  private get distance(): number {
    return this.span / (2 * Math.tan(MathUtils.degToRad(field_of_view_deg) / 2));
  }

  apply(): void {
    if (this.flat) {
      const camera = this.flat_camera_;
      const half_height = this.span / 2;
      const half_width = (half_height * this.width) / this.height;
      camera.left = -half_width;
      camera.right = half_width;
      camera.top = half_height;
      camera.bottom = -half_height;
      // z is the order of drawings: see stage.ts.
      camera.near = -most_drawings - 1;
      camera.far = 2;
      camera.position.set(this.center.x, this.center.y, 0);
      camera.updateProjectionMatrix();
    } else {
      const camera = this.deep_camera_;
      const distance = this.distance;
      camera.aspect = this.width / this.height;
      camera.near = distance / 100;
      camera.far = distance * 50;
      const level = Math.cos(this.elevation) * distance;
      camera.position.set(Math.cos(this.azimuth) * level, Math.sin(this.azimuth) * level, Math.sin(this.elevation) * distance);
      camera.position.add(this.center);
      camera.lookAt(this.center);
      camera.updateProjectionMatrix();
    }
    this.camera.updateMatrixWorld();
  }

  // Pixels from the upper left corner of the view; z > 1 lies behind the camera.
  to_pixels(point: Vector3, into: Vector3): Vector3 {
    into.copy(point).project(this.camera);
    return into.set((into.x * 0.5 + 0.5) * this.width, (0.5 - into.y * 0.5) * this.height, into.z);
  }

  // The point under a pixel: in the plane of a flat world, or in the plane through `through` that faces the camera.
  to_world(pixel_x: number, pixel_y: number, through: Vector3, into: Vector3): Vector3 {
    const x = (2 * pixel_x) / this.width - 1;
    const y = 1 - (2 * pixel_y) / this.height;
    if (this.flat) {
      const half_height = this.span / 2;
      return into.set(this.center.x + (x * half_height * this.width) / this.height, this.center.y + y * half_height, 0);
    }
    const camera = this.deep_camera_;
    camera.getWorldDirection(scratch);
    ray.set(x, y, 0.5).unproject(camera).sub(camera.position).normalize();
    const depth = into.copy(through).sub(camera.position).dot(scratch);
    return into.copy(camera.position).addScaledVector(ray, depth / Math.max(ray.dot(scratch), 1e-6));
  }

  units_per_pixel(point: Vector3): number {
    if (this.flat) return this.span / this.height;
    const camera = this.deep_camera_;
    camera.getWorldDirection(scratch);
    const depth = Math.max(ray.copy(point).sub(camera.position).dot(scratch), camera.near);
    return (2 * depth * Math.tan(MathUtils.degToRad(field_of_view_deg) / 2)) / this.height;
  }

  // The direction in which the camera looks.
  looking(into: Vector3): Vector3 {
    return this.camera.getWorldDirection(into);
  }

  // Does all of it lie in the picture, or beyond its edges by at most this share of its height? Asked in flat worlds.
  shows(bounds: Bounds, tolerance: number): boolean {
    const half_height = (0.5 + tolerance) * this.span;
    const half_width = ((0.5 * this.width) / this.height + tolerance) * this.span;
    return (
      bounds.min[0] >= this.center.x - half_width &&
      bounds.max[0] <= this.center.x + half_width &&
      bounds.min[1] >= this.center.y - half_height &&
      bounds.max[1] <= this.center.y + half_height
    );
  }

  // A person zooms: from now on the picture is theirs.
  zoom(factor: number, pixel_x: number, pixel_y: number): void {
    this.is_automatic = false;
    this.zoom_about(factor, pixel_x, pixel_y);
  }

  // The point under the pixel stays under it.
  zoom_about(factor: number, pixel_x: number, pixel_y: number): void {
    const before = this.to_world(pixel_x, pixel_y, this.center, new Vector3());
    this.span = Math.min(Math.max(this.span * factor, 1e-9), 1e12);
    this.apply();
    const after = this.to_world(pixel_x, pixel_y, this.center, new Vector3());
    this.center.add(before.sub(after));
    this.apply();
  }

  pan(pixels_x: number, pixels_y: number): void {
    this.is_automatic = false;
    const unit = this.units_per_pixel(this.center);
    if (this.flat) {
      this.center.x -= pixels_x * unit;
      this.center.y += pixels_y * unit;
    } else {
      const matrix = this.deep_camera_.matrixWorld;
      this.center.addScaledVector(scratch.setFromMatrixColumn(matrix, 0), -pixels_x * unit);
      this.center.addScaledVector(scratch.setFromMatrixColumn(matrix, 1), pixels_y * unit);
    }
    this.apply();
  }

  // Turning does not end the following of the framing: only its direction is the person's.
  orbit(pixels_x: number, pixels_y: number): void {
    this.azimuth -= pixels_x * 0.008;
    this.elevation = MathUtils.clamp(this.elevation + pixels_y * 0.008, -1.5, 1.5);
    this.apply();
  }
}
