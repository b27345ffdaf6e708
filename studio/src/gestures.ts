// Pointers, wheel and keys over the world. Enters: DOM events. Leaves: calls to the hand or to the camera. One pointer with the first button is the hand
// where it accepts, else it turns (space) or moves (flat) the picture; another button moves the picture; two fingers zoom and move it; the wheel zooms,
// or pushes the held hand away in space.

import type { Hand } from "./hand";
import type { WorldView } from "./world/view";

type Action = "hand" | "orbit" | "pan" | "pinch" | null;

const key_steps: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

export class Gestures {
  private readonly pointers_ = new Map<number, { x: number; y: number }>();
  private action_: Action = null;
  private left_ = 0;
  private top_ = 0;

  constructor(
    private readonly element_: HTMLElement,
    private readonly view_: WorldView,
    private readonly hand_: Hand,
    private readonly on_hand_: (held: boolean) => void,
  ) {
    element_.addEventListener("pointerdown", (event) => this.press(event));
    element_.addEventListener("pointermove", (event) => this.move(event));
    for (const kind of ["pointerup", "pointercancel", "lostpointercapture"] as const) {
      element_.addEventListener(kind, (event) => this.lift(event));
    }
    element_.addEventListener("wheel", (event) => this.roll(event), { passive: false });
    element_.addEventListener("contextmenu", (event) => event.preventDefault());
    element_.addEventListener("keydown", (event) => this.key(event));
    element_.addEventListener("keyup", (event) => {
      if (event.key in key_steps) this.let_go();
    });
    element_.addEventListener("blur", () => this.let_go());
    window.addEventListener("blur", () => this.let_go());
  }

  private press(event: PointerEvent): void {
    const box = this.element_.getBoundingClientRect();
    this.left_ = box.left;
    this.top_ = box.top;
    const x = event.clientX - this.left_;
    const y = event.clientY - this.top_;
    this.pointers_.set(event.pointerId, { x, y });
    this.element_.setPointerCapture(event.pointerId);
    if (this.pointers_.size > 1) {
      this.let_go();
      this.action_ = "pinch";
      return;
    }
    const { rig, playout } = this.view_;
    const values = playout.values_at(performance.now());
    if (event.button === 0 && this.hand_.accepts(rig, x, y, values, playout.latest)) {
      this.action_ = "hand";
      this.hand_.press(x, y, values, playout.latest);
      if (this.hand_.held) this.on_hand_(true);
    } else {
      this.action_ = event.button === 0 && !rig.flat ? "orbit" : "pan";
    }
    this.view_.invalidate();
  }

  private move(event: PointerEvent): void {
    const before = this.pointers_.get(event.pointerId);
    if (before === undefined) return;
    const x = event.clientX - this.left_;
    const y = event.clientY - this.top_;
    const { rig } = this.view_;
    if (this.action_ === "hand") this.hand_.move(x, y);
    else if (this.action_ === "orbit") rig.orbit(x - before.x, y - before.y);
    else if (this.action_ === "pan") rig.pan(x - before.x, y - before.y);
    else if (this.action_ === "pinch") this.pinch(event.pointerId, x, y);
    this.pointers_.set(event.pointerId, { x, y });
    this.view_.invalidate();
  }

  private pinch(moved: number, x: number, y: number): void {
    const before = this.pointers_.get(moved)!;
    const other = [...this.pointers_].find(([id]) => id !== moved)?.[1];
    if (other === undefined) return;
    const { rig } = this.view_;
    const distance_before = Math.hypot(before.x - other.x, before.y - other.y);
    const distance = Math.hypot(x - other.x, y - other.y);
    rig.pan((x - before.x) / 2, (y - before.y) / 2);
    if (distance > 1) rig.zoom(distance_before / distance, (x + other.x) / 2, (y + other.y) / 2);
  }

  private lift(event: PointerEvent): void {
    if (!this.pointers_.delete(event.pointerId)) return;
    if (this.action_ === "hand") this.let_go();
    if (this.pointers_.size === 0) this.action_ = null;
    this.view_.invalidate();
  }

  private let_go(): void {
    if (!this.hand_.held) return;
    this.hand_.release();
    this.on_hand_(false);
    this.view_.invalidate();
  }

  private roll(event: WheelEvent): void {
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1);
    const { rig } = this.view_;
    if (this.hand_.held) {
      this.hand_.push_depth(rig, -pixels / 2000);
    } else {
      const box = this.element_.getBoundingClientRect();
      // A pinch on a touchpad arrives as a wheel with the control key, in smaller numbers.
      rig.zoom(Math.exp(pixels * (event.ctrlKey ? 0.01 : 0.0015)), event.clientX - box.left, event.clientY - box.top);
    }
    this.view_.invalidate();
  }

  private key(event: KeyboardEvent): void {
    const step = key_steps[event.key];
    const { rig, playout } = this.view_;
    if (step !== undefined) {
      event.preventDefault();
      const pixels = event.shiftKey ? 40 : 12;
      if (this.hand_.exists) {
        const was_held = this.hand_.held;
        this.hand_.nudge(rig, step[0] * pixels, step[1] * pixels, playout.values_at(performance.now()), playout.latest);
        if (!was_held && this.hand_.held) this.on_hand_(true);
      } else if (rig.flat) {
        rig.pan(-step[0] * 3 * pixels, -step[1] * 3 * pixels);
      } else {
        rig.orbit(-step[0] * pixels, -step[1] * pixels);
      }
    } else if (event.key === "+" || event.key === "-") {
      rig.zoom(event.key === "+" ? 0.85 : 1 / 0.85, rig.width / 2, rig.height / 2);
    } else if (event.key === "f") {
      this.view_.fit();
    } else {
      return;
    }
    this.view_.invalidate();
  }
}
