// What is written over the world: numbers of the grid, texts of the scene, and the hand. Enters: places in pixels. Leaves: a 2D canvas above the
// world's, redrawn when something on it changed.

import type { Tick } from "./grid";

export interface PlacedLabel {
  text: string;
  x: number;
  y: number;
  size: number;
  color: string | null;
}

// Pixels of the view; `force` the arrow to draw.
export interface HandPicture {
  hand: { x: number; y: number };
  held: boolean;
  handle: { x: number; y: number } | null;
  force: { x: number; y: number };
  newtons: number;
  limited: boolean;
}

export interface OverlayColors {
  ink: string;
  muted: string;
  background: string;
  accent: string;
  warning: string;
}

const font = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const ring_radius = 13;

export class Overlay {
  private readonly context_: CanvasRenderingContext2D;
  private ratio_ = 1;
  private width_ = 1;
  private height_ = 1;
  private shown_ = "";

  constructor(
    private readonly canvas_: HTMLCanvasElement,
    private colors_: OverlayColors,
  ) {
    const context = canvas_.getContext("2d");
    if (context === null) throw new Error("no 2D canvas");
    this.context_ = context;
  }

  set_colors(colors: OverlayColors): void {
    this.colors_ = colors;
    this.shown_ = "";
  }

  resize(width: number, height: number, ratio: number): void {
    this.width_ = width;
    this.height_ = height;
    this.ratio_ = ratio;
    this.canvas_.width = Math.round(width * ratio);
    this.canvas_.height = Math.round(height * ratio);
    this.shown_ = "";
  }

  draw(ticks: readonly Tick[], labels: readonly PlacedLabel[], hand: HandPicture | null): void {
    const wanted = JSON.stringify([ticks, labels, hand]);
    if (wanted === this.shown_) return;
    this.shown_ = wanted;
    const c = this.context_;
    c.setTransform(this.ratio_, 0, 0, this.ratio_, 0, 0);
    c.clearRect(0, 0, this.width_, this.height_);
    c.textBaseline = "middle";
    c.lineJoin = "round";
    for (const tick of ticks) {
      c.font = `${tick.strong ? "600 " : ""}11px ${font}`;
      c.textAlign = tick.align;
      this.write(tick.text, tick.x, tick.y, tick.strong ? this.colors_.ink : this.colors_.muted);
    }
    c.textAlign = "left";
    for (const label of labels) {
      c.font = `500 ${label.size.toFixed(1)}px ${font}`;
      // A text whose place is in view is written in view, too.
      let x = label.x;
      if (x > 0 && x < this.width_) x = Math.max(Math.min(x, this.width_ - 8 - c.measureText(label.text).width), 8);
      this.write(label.text, x, label.y, label.color ?? this.colors_.ink);
    }
    if (hand !== null) this.draw_hand(hand);
  }

  // With a seam of background around the letters, so that they stay readable on anything.
  private write(text: string, x: number, y: number, color: string): void {
    const c = this.context_;
    c.strokeStyle = this.colors_.background;
    c.lineWidth = 3;
    c.strokeText(text, x, y);
    c.fillStyle = color;
    c.fillText(text, x, y);
  }

  private draw_hand(picture: HandPicture): void {
    const c = this.context_;
    const { x, y } = picture.hand;
    c.globalAlpha = picture.held ? 1 : 0.5;
    if (picture.handle !== null) this.draw_spring(picture.handle, picture.hand);
    c.strokeStyle = this.colors_.accent;
    c.lineWidth = picture.held ? 2.5 : 1.5;
    c.beginPath();
    c.arc(x, y, ring_radius, 0, 2 * Math.PI);
    c.stroke();
    if (picture.held) {
      c.globalAlpha = 0.14;
      c.fillStyle = this.colors_.accent;
      c.fill();
      c.globalAlpha = 1;
    }
    const length = Math.hypot(picture.force.x, picture.force.y);
    if (length > 3) {
      const along_x = picture.force.x / length;
      const along_y = picture.force.y / length;
      const from_x = x + along_x * ring_radius;
      const from_y = y + along_y * ring_radius;
      const to_x = from_x + picture.force.x;
      const to_y = from_y + picture.force.y;
      const head = Math.min(11, 0.7 * length);
      c.strokeStyle = c.fillStyle = picture.limited ? this.colors_.warning : this.colors_.accent;
      c.lineWidth = 3;
      c.lineCap = "butt";
      c.beginPath();
      c.moveTo(from_x, from_y);
      c.lineTo(to_x - 0.8 * along_x * head, to_y - 0.8 * along_y * head);
      c.stroke();
      c.beginPath();
      c.moveTo(to_x, to_y);
      c.lineTo(to_x - along_x * head - along_y * head * 0.5, to_y - along_y * head + along_x * head * 0.5);
      c.lineTo(to_x - along_x * head + along_y * head * 0.5, to_y - along_y * head - along_x * head * 0.5);
      c.fill();
      c.font = `600 12px ${font}`;
      c.textAlign = along_x < -0.3 ? "right" : along_x > 0.3 ? "left" : "center";
      const text_x = Math.min(Math.max(to_x + along_x * 12, 40), this.width_ - 40);
      const text_y = Math.min(Math.max(to_y + along_y * 14, 14), this.height_ - 14);
      this.write(format_newtons(picture.newtons), text_x, text_y, this.colors_.ink);
    }
    c.globalAlpha = 1;
  }

  // The virtual spring between the handle and the hand, as a fine zigzag; nothing where they are one.
  private draw_spring(from: { x: number; y: number }, to: { x: number; y: number }): void {
    const length = Math.hypot(to.x - from.x, to.y - from.y);
    if (!(length > ring_radius + 6) || length > 1e5) return;
    const c = this.context_;
    const along_x = (to.x - from.x) / length;
    const along_y = (to.y - from.y) / length;
    const reach = length - ring_radius;
    const teeth = 14;
    const amplitude = Math.min(5, reach / 6);
    c.strokeStyle = this.colors_.accent;
    c.lineWidth = 1.5;
    c.beginPath();
    c.moveTo(from.x, from.y);
    for (let i = 1; i < teeth; ++i) {
      const at = (i / teeth) * reach;
      const aside = i === 1 || i === teeth - 1 ? 0 : (i % 2 === 0 ? 1 : -1) * amplitude;
      c.lineTo(from.x + along_x * at - along_y * aside, from.y + along_y * at + along_x * aside);
    }
    c.lineTo(from.x + along_x * reach, from.y + along_y * reach);
    c.stroke();
  }
}

export function format_newtons(newtons: number): string {
  return `${newtons.toFixed(newtons < 10 ? 2 : 1)} N`;
}
