// The grid. Enters: the camera. Leaves: lines at round numbers, some 90 pixels apart, and where to write those numbers: along the lower and
// left edges of a flat world, along two sides of the ground in space.

import { BufferAttribute, BufferGeometry, CustomBlending, Group, LineBasicMaterial, LineSegments, OneFactor, OneMinusSrcAlphaFactor, type Scene, SrcAlphaFactor, Vector3, ZeroFactor } from "three";
import type { CameraRig } from "./camera";
import { format_tick, nice_step } from "./framing";
import type { Theme } from "./materials";
import { layer } from "./stage";

export interface Tick {
  text: string;
  x: number;
  y: number;
  align: "left" | "center" | "right";
  strong: boolean;
}

const pixels_a_step = 90;

// Drawn before everything else and under it, wherever things are: not `transparent`, else three.js draws them last.
function make_lines(opacity: number): LineSegments<BufferGeometry, LineBasicMaterial> {
  const lines = new LineSegments(
    new BufferGeometry(),
    new LineBasicMaterial({ opacity, blending: CustomBlending, blendSrc: SrcAlphaFactor, blendDst: OneMinusSrcAlphaFactor, blendSrcAlpha: ZeroFactor, blendDstAlpha: OneFactor, depthWrite: false, depthTest: false }),
  );
  lines.frustumCulled = false;
  lines.renderOrder = layer.grid;
  return lines;
}

export class Grid {
  private readonly group_ = new Group();
  private readonly minor_ = make_lines(0.055);
  private readonly major_ = make_lines(0.11);
  private readonly axes_ = make_lines(0.38);
  private key_ = "";

  constructor(scene: Scene) {
    this.group_.add(this.minor_, this.major_, this.axes_);
    scene.add(this.group_);
  }

  set_theme(theme: Theme): void {
    for (const lines of [this.minor_, this.major_, this.axes_]) lines.material.color.copy(theme.ink);
  }

  update(rig: CameraRig, unit: string): Tick[] {
    return rig.flat ? this.update_flat(rig, unit) : this.update_deep(rig, unit);
  }

  private set_lines(key: string, minor: number[], major: number[], axes: number[]): void {
    this.key_ = key;
    for (const [lines, numbers] of [[this.minor_, minor], [this.major_, major], [this.axes_, axes]] as const) {
      lines.geometry.dispose();
      lines.geometry = new BufferGeometry();
      lines.geometry.setAttribute("position", new BufferAttribute(new Float32Array(numbers), 3));
      lines.visible = numbers.length > 0;
    }
  }

  private update_flat(rig: CameraRig, unit: string): Tick[] {
    const half_height = rig.span / 2;
    const half_width = (half_height * rig.width) / rig.height;
    const step = nice_step((pixels_a_step * rig.span) / rig.height);
    const minor_step = step / 5;
    const low_x = Math.floor((rig.center.x - half_width) / step) * step;
    const low_y = Math.floor((rig.center.y - half_height) / step) * step;
    const steps_x = Math.ceil((2 * half_width) / step) + 2;
    const steps_y = Math.ceil((2 * half_height) / step) + 2;
    const high_x = low_x + steps_x * step;
    const high_y = low_y + steps_y * step;
    const key = `2 ${step} ${low_x} ${low_y} ${steps_x} ${steps_y}`;
    if (key !== this.key_) {
      const minor: number[] = [];
      const major: number[] = [];
      const axes: number[] = [];
      for (let i = 0; i <= 5 * steps_x; ++i) {
        const x = low_x + i * minor_step;
        const into = Math.abs(x) < minor_step / 2 ? axes : i % 5 === 0 ? major : minor;
        into.push(x, low_y, 0, x, high_y, 0);
      }
      for (let i = 0; i <= 5 * steps_y; ++i) {
        const y = low_y + i * minor_step;
        const into = Math.abs(y) < minor_step / 2 ? axes : i % 5 === 0 ? major : minor;
        into.push(low_x, y, 0, high_x, y, 0);
      }
      this.set_lines(key, minor, major, axes);
    }
    const ticks: Tick[] = [];
    const pixel = rig.height / rig.span;
    const suffix = unit === "" ? "" : ` [${unit}]`;
    for (let i = 0; i <= steps_x; ++i) {
      const value = low_x + i * step;
      const x = rig.width / 2 + (value - rig.center.x) * pixel;
      if (x > 44 && x < rig.width - 34 - 8 * suffix.length) ticks.push({ text: format_tick(value, step), x, y: rig.height - 10, align: "center", strong: false });
    }
    for (let i = 0; i <= steps_y; ++i) {
      const value = low_y + i * step;
      const y = rig.height / 2 - (value - rig.center.y) * pixel;
      if (y > 76 && y < rig.height - 28) ticks.push({ text: format_tick(value, step), x: 8, y, align: "left", strong: false });
    }
    ticks.push({ text: `x${suffix}`, x: rig.width - 8, y: rig.height - 10, align: "right", strong: true });
    ticks.push({ text: `y${suffix}`, x: 8, y: 60, align: "left", strong: true });
    return ticks;
  }

  private update_deep(rig: CameraRig, unit: string): Tick[] {
    const step = nice_step((pixels_a_step * rig.span) / rig.height);
    const reach = Math.min(Math.max(Math.ceil((0.36 * rig.span) / step), 2), 10);
    const middle_x = Math.round(rig.center.x / step) * step;
    const middle_y = Math.round(rig.center.y / step) * step;
    const low_x = middle_x - reach * step;
    const low_y = middle_y - reach * step;
    const high_x = middle_x + reach * step;
    const high_y = middle_y + reach * step;
    // The upright axis stands at the corner farthest from the camera, behind everything.
    const far_x = Math.cos(rig.azimuth) > 0 ? low_x : high_x;
    const far_y = Math.sin(rig.azimuth) > 0 ? low_y : high_y;
    const top = Math.min(Math.max(Math.ceil((rig.center.z + 0.16 * rig.span) / step), 1), 2 * reach);
    const key = `3 ${step} ${middle_x} ${middle_y} ${reach} ${far_x} ${far_y} ${top}`;
    if (key !== this.key_) {
      const major: number[] = [];
      const axes: number[] = [];
      for (let i = 0; i <= 2 * reach; ++i) {
        const x = low_x + i * step;
        const y = low_y + i * step;
        (Math.abs(x) < step / 2 ? axes : major).push(x, low_y, 0, x, high_y, 0);
        (Math.abs(y) < step / 2 ? axes : major).push(low_x, y, 0, high_x, y, 0);
      }
      axes.push(far_x, far_y, 0, far_x, far_y, top * step);
      this.set_lines(key, [], major, axes);
    }
    // Written along the sides that are nearer to the camera, where they cover nothing.
    const side_x = Math.cos(rig.azimuth) > 0 ? high_x : low_x;
    const side_y = Math.sin(rig.azimuth) > 0 ? high_y : low_y;
    const ticks: Tick[] = [];
    const point = new Vector3();
    const add = (text: string, x: number, y: number, z: number, strong: boolean): void => {
      rig.to_pixels(point.set(x, y, z), point);
      if (point.z < 1 && point.x > 8 && point.x < rig.width - 8 && point.y > 50 && point.y < rig.height - 8) {
        ticks.push({ text, x: point.x, y: point.y, align: "center", strong });
      }
    };
    const suffix = unit === "" ? "" : ` [${unit}]`;
    const outside_x = side_x + 0.35 * step * Math.sign(side_x - middle_x);
    const outside_y = side_y + 0.35 * step * Math.sign(side_y - middle_y);
    for (let i = 1; i < 2 * reach; ++i) {
      if (i !== reach || reach < 2) {
        add(format_tick(low_x + i * step, step), low_x + i * step, outside_y, 0, false);
        add(format_tick(low_y + i * step, step), outside_x, low_y + i * step, 0, false);
      }
    }
    add(`x${suffix}`, middle_x, outside_y + (outside_y - side_y), 0, true);
    add(`y${suffix}`, outside_x + (outside_x - side_x), middle_y, 0, true);
    for (let i = 1; i < top; ++i) add(format_tick(i * step, step), far_x, far_y, i * step, false);
    add(`z${suffix}`, far_x, far_y, (top + 0.15) * step, true);
    return ticks;
  }
}
