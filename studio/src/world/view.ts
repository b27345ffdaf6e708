// The world as one sees it. Enters: a world, its frames, gestures. Leaves: pictures, only when something changed. Drawn with three.js in one pass without
// lights or shadows; a machine that cannot keep up gets one pixel of the canvas for each of the page, then fewer, and no multisampling.

import { Color, ColorManagement, Group, LinearSRGBColorSpace, Scene, Vector2, Vector3, WebGLRenderer } from "three";
import { FrameHistory, type Frame, Playout } from "../frames";
import type { Hand } from "../hand";
import { list_scalars, type World } from "../protocol";
import { points_of_outline } from "./box";
import { CameraRig } from "./camera";
import { make_drawings } from "./drawings";
import { type Bounds, empty_bounds, Framing, is_empty, largest_side } from "./framing";
import { Grid } from "./grid";
import type { Theme } from "./materials";
import { numbers_option, type NumbersOption, read_point } from "./options";
import { Overlay, type OverlayColors, type PlacedLabel } from "./overlay";
import { SharedLines } from "./shared_lines";
import { Solids } from "./solids";
import { points_of_zigzag } from "./spring";
import type { DrawingView, Label, Moment, Stage } from "./stage";

ColorManagement.enabled = false;

const slow_frame_ms = 28;
// Pixels of the canvas for one of the page, as fine as the machine can keep up with; less than one only where the processor draws.
const coarser_ratios: readonly number[] = [1, 0.8, 0.65];
const label_pixels = 13;
const patience_ms = 600;
const widening_ms = 1500;

const make_springs = (): SharedLines => new SharedLines(points_of_zigzag, 2);
const make_edges = (): SharedLines => new SharedLines(points_of_outline, 1.5);

export interface ViewTheme extends Theme {
  overlay: OverlayColors;
}

export class WorldView {
  readonly rig = new CameraRig();
  readonly playout = new Playout();
  private readonly renderer_: WebGLRenderer;
  private readonly overlay_: Overlay;
  private readonly scene_ = new Scene();
  private content_ = new Group();
  private retired_: (() => void)[] = [];
  private readonly grid_: Grid;
  private readonly framing_ = new Framing();
  private readonly viewport_ = new Vector2(1, 1);
  private readonly labels_: Label[] = [];
  private solids_ = new Solids();
  private springs_ = make_springs();
  private edges_ = make_edges();
  private drawings_: DrawingView[] = [];
  private world_: World | null = null;
  private hand_: Hand | null = null; // of the last picture
  private follow_: NumbersOption | null = null;
  private span_: NumbersOption | null = null;
  private unit_ = "";
  private dirty_ = true;
  private last_render_ms_ = 0;
  private ratio_ = 1;
  private readonly is_software_: boolean;
  private slowness_ = 0;
  private last_whole_ms_ = 0;
  private widens_ = false;
  private readonly moment_: Moment;

  constructor(
    private readonly element_: HTMLElement,
    canvas: HTMLCanvasElement,
    overlay_canvas: HTMLCanvasElement,
    private theme_: ViewTheme,
    private readonly history_: FrameHistory,
    private readonly report_: (text: string) => void,
    private readonly reduced_motion_: () => boolean,
  ) {
    this.is_software_ = draws_in_software();
    this.renderer_ = new WebGLRenderer({ canvas, antialias: !this.is_software_, powerPreference: "high-performance" });
    this.renderer_.outputColorSpace = LinearSRGBColorSpace;
    this.overlay_ = new Overlay(overlay_canvas, theme_.overlay);
    this.grid_ = new Grid(this.scene_);
    this.ratio_ = Math.min(window.devicePixelRatio, 2);
    this.moment_ = {
      values: new Float64Array(0),
      time: 0,
      history: [],
      extent: 1,
      center: new Vector3(),
      units_per_pixel: (point) => this.rig.units_per_pixel(point),
      labels: this.labels_,
    };
    this.set_theme(theme_);
    // A graphics card that went away and came back has forgotten the picture.
    canvas.addEventListener("webglcontextrestored", () => this.invalidate());
    new ResizeObserver(() => this.resize()).observe(element_);
    this.resize();
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.element_;
    if (clientWidth === 0 || clientHeight === 0) return;
    this.renderer_.setPixelRatio(this.ratio_);
    this.renderer_.setSize(clientWidth, clientHeight, false);
    this.overlay_.resize(clientWidth, clientHeight, Math.min(window.devicePixelRatio, 2));
    this.viewport_.set(clientWidth, clientHeight);
    this.rig.resize(clientWidth, clientHeight);
    this.rig.apply();
    this.invalidate();
    // At once: a resized canvas is empty, and an empty frame would flash.
    this.render(performance.now(), this.hand_);
  }

  invalidate(): void {
    this.dirty_ = true;
  }

  set_theme(theme: ViewTheme): void {
    this.theme_ = theme;
    this.scene_.background = theme.background;
    this.overlay_.set_colors(theme.overlay);
    this.grid_.set_theme(theme);
    if (this.world_ !== null) this.build();
    this.invalidate();
  }

  // A new generation of the same world keeps the camera.
  begin_world(world: World): void {
    const same = this.world_ !== null && this.world_.name === world.name && this.world_.dimensions === world.dimensions;
    this.world_ = world;
    const discrete: boolean[] = [];
    for (const scalar of list_scalars(world.values)) discrete[scalar.at] = scalar.discrete;
    this.playout.begin_world(discrete);
    if (!same) {
      this.rig.begin_world(world.dimensions === 2);
      this.framing_.begin_world(2);
    }
    const camera = world.drawings.find((drawing) => drawing.kind === "camera");
    this.follow_ = camera === undefined ? null : (numbers_option(camera, "follow") ?? numbers_option(camera, "at"));
    this.span_ = camera === undefined ? null : numbers_option(camera, "scale");
    this.unit_ = this.find_unit(world);
    this.build();
    this.invalidate();
  }

  // The unit of the axes is that of the first point that is drawn.
  private find_unit(world: World): string {
    for (const drawing of world.drawings) {
      for (const name of ["at", "from", "point"]) {
        const at = numbers_option(drawing, name)?.at ?? null;
        if (at === null) continue;
        const value = world.values.find((v) => v.at <= at && at < v.at + v.rows * v.columns);
        if (value !== undefined) return value.unit;
      }
    }
    return "";
  }

  // What was drawn before is freed when the new is drawn: until then its shaders are the new one's too, and need not be compiled again.
  private build(): void {
    const [drawings, solids, springs, edges] = [this.drawings_, this.solids_, this.springs_, this.edges_];
    this.retired_.push(() => {
      for (const drawing of drawings) drawing.dispose();
      solids.dispose();
      springs.dispose();
      edges.dispose();
    });
    this.content_.removeFromParent();
    this.content_ = new Group();
    this.scene_.add(this.content_);
    this.solids_ = new Solids();
    this.springs_ = make_springs();
    this.edges_ = make_edges();
    const stage: Stage = {
      scene: this.content_,
      solids: this.solids_,
      springs: this.springs_,
      edges: this.edges_,
      theme: this.theme_,
      flat: this.world_?.dimensions !== 3,
      viewport: this.viewport_,
      projection: this.rig.camera.projectionMatrix,
      report: this.report_,
      invalidate: () => this.invalidate(),
    };
    this.drawings_ = make_drawings(this.world_?.drawings ?? [], stage);
  }

  push_frame(frame: Frame, now_ms: number): void {
    this.playout.push(frame, now_ms);
    this.invalidate();
  }

  private bounds_of(values: Float64Array, bounds: Bounds): Bounds {
    for (const drawing of this.drawings_) if (drawing.is_everywhere !== true) drawing.extend(bounds, values);
    for (const drawing of this.drawings_) if (drawing.is_everywhere === true) drawing.extend(bounds, values);
    return bounds;
  }

  // Shows everything that was drawn in the last seconds.
  fit(): void {
    const bounds = empty_bounds();
    const frames = this.history_.frames;
    const stride = Math.max(1, Math.floor(frames.length / 60));
    for (let i = 0; i < frames.length; i += stride) this.bounds_of(frames[i]!.values, bounds);
    const latest = this.playout.latest;
    if (latest !== null) this.bounds_of(latest.values, bounds);
    this.framing_.fit(bounds);
    this.rig.fit();
    this.invalidate();
  }

  // Draws when something moved since the last time; true when it did.
  render(now_ms: number, hand: Hand | null): boolean {
    this.hand_ = hand;
    const moving = this.playout.is_moving(now_ms);
    if (!this.dirty_ && !moving && !(hand?.held ?? false)) return false;
    this.dirty_ = false;
    const dt_ms = now_ms - this.last_render_ms_;
    this.last_render_ms_ = now_ms;
    if (moving) this.watch_speed(dt_ms);

    const values = this.playout.values_at(now_ms);
    const held = hand?.held ?? false;
    let follow: Vector3 | null = null;
    if (values !== null) {
      const bounds = this.bounds_of(values, empty_bounds());
      if (follow_is_finite(this.follow_, values)) follow = read_point(this.follow_, values, new Vector3());
      this.framing_.update(bounds, held);
      if (held && this.rig.flat && follow === null && hand !== null) this.make_room(bounds, hand, now_ms, dt_ms);
    }
    const span = values !== null && this.span_ !== null ? this.span_.read(values, 0, 0) : 0;
    // A hand that drags keeps the picture still: the point under it would move otherwise.
    if (!held || follow !== null) {
      const at_once = this.reduced_motion_();
      if (this.framing_.is_known && this.rig.update(Math.min(dt_ms, 100) / 1000, this.framing_, follow, span > 0 ? span : null, at_once)) this.invalidate();
    }

    this.labels_.length = 0;
    if (values !== null) {
      const moment = this.moment_;
      moment.values = values;
      moment.time = this.playout.shown_time;
      moment.history = this.history_.frames;
      const [x, y, z] = this.framing_.size;
      moment.center.set(...this.framing_.center);
      if (follow !== null) moment.center.copy(follow);
      moment.extent = this.rig.flat ? Math.max(x, y) : Math.hypot(x, y, z);
      for (const drawing of this.drawings_) drawing.update(moment);
    }
    const ticks = this.grid_.update(this.rig, this.unit_);
    this.renderer_.render(this.scene_, this.rig.camera);
    for (const dispose of this.retired_.splice(0)) dispose();
    const picture = hand?.picture(this.rig, values, this.playout.latest) ?? null;
    this.overlay_.draw(ticks, this.place_labels(), picture);
    return true;
  }

  // Under a hand that drags the picture rests. When something stays well out of it, the picture widens slowly about the pointer, so that the hand stays
  // where it is; a ball held at the edge sticks out by its radius, and that is no reason.
  private make_room(bounds: Bounds, hand: Hand, now_ms: number, dt_ms: number): void {
    const is_wide = this.rig.span > 2.5 * largest_side(bounds);
    if (!this.rig.is_automatic || is_empty(bounds) || is_wide || this.rig.shows(bounds, this.widens_ ? 0.03 : 0.12)) {
      this.last_whole_ms_ = now_ms;
      this.widens_ = false;
      return;
    }
    this.widens_ = now_ms - this.last_whole_ms_ > patience_ms;
    if (!this.widens_) return;
    const { x, y } = hand.pixel;
    this.rig.zoom_about(Math.exp(Math.min(dt_ms, 100) / widening_ms), x, y);
  }

  private place_labels(): PlacedLabel[] {
    const point = new Vector3();
    const placed: PlacedLabel[] = [];
    for (const label of this.labels_) {
      const units = this.rig.units_per_pixel(point.set(label.x, label.y, label.z));
      this.rig.to_pixels(point, point);
      if (point.z >= 1) continue;
      const size = label.height === null ? label_pixels : Math.min(Math.max(label.height / units, 8), 96);
      placed.push({ text: label.text, x: point.x, y: point.y, size, color: label.color });
    }
    return placed;
  }

  private watch_speed(dt_ms: number): void {
    // A pause counts for a few frames at most: a page that was hidden is not slow, one whose every frame is a pause is.
    const frames = Math.min(dt_ms / slow_frame_ms, 5);
    this.slowness_ = frames > 1 ? this.slowness_ + frames : Math.max(0, this.slowness_ - 0.5);
    if (this.slowness_ <= 40) return;
    this.slowness_ = 0;
    const coarser = coarser_ratios.find((ratio) => ratio < this.ratio_);
    if (coarser === undefined || (coarser < 1 && !this.is_software_)) return;
    this.ratio_ = coarser;
    queueMicrotask(() => this.resize());
  }

  dispose(): void {
    this.renderer_.dispose();
  }
}

// Multisampling doubles the cost of a picture where the processor draws it.
function draws_in_software(): boolean {
  const context = document.createElement("canvas").getContext("webgl2");
  if (context === null) return false;
  const extension = context.getExtension("WEBGL_debug_renderer_info");
  const name: unknown = context.getParameter(extension === null ? context.RENDERER : extension.UNMASKED_RENDERER_WEBGL);
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return typeof name === "string" && /swiftshader|llvmpipe|software|basic render/i.test(name);
}

function follow_is_finite(option: NumbersOption | null, values: Float64Array): boolean {
  if (option === null) return false;
  return Number.isFinite(option.read(values, 0, 0) + option.read(values, 1, 0) + option.read(values, 2, 0));
}

export function parse_color(text: string): Color {
  return new Color(text.trim());
}

