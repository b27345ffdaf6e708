// Time. Enters: `state`, the time of frames, buttons and keys (space, `.`, `r` outside of text fields). Leaves: pause, resume, step, reset, speed.
// The speed slider is logarithmic from 0.1 to 10; double click: real time.

import { swap_icon } from "./icons";
import type { ClientMessage, State } from "./protocol";

export interface TimeElements {
  play: HTMLButtonElement;
  step: HTMLButtonElement;
  reset: HTMLButtonElement;
  time: HTMLElement;
  state: HTMLElement;
  speed: HTMLInputElement;
  speed_text: HTMLElement;
}

export function speed_to_slider(speed: number): number {
  return Math.min(Math.max(Math.log10(speed), -1), 1) * 100;
}

// Two digits, and exactly 1 around the middle.
export function slider_to_speed(position: number): number {
  if (Math.abs(position) < 3) return 1;
  return Number((10 ** (position / 100)).toPrecision(2));
}

export class TimeControls {
  private state_: State = { type: "state", paused: false, speed: 1, time: 0, failure: null };
  private waiting_speed_: number | null = null;
  private shown_time_ = "";

  constructor(
    private readonly elements_: TimeElements,
    private readonly send_: (message: ClientMessage) => boolean,
  ) {
    elements_.play.addEventListener("click", () => this.toggle());
    elements_.step.addEventListener("click", () => this.send_({ type: "step" }));
    elements_.reset.addEventListener("click", () => this.send_({ type: "reset" }));
    elements_.speed.addEventListener("input", () => this.choose_speed(slider_to_speed(Number(elements_.speed.value))));
    elements_.speed.addEventListener("dblclick", () => this.choose_speed(1));
    document.addEventListener("keydown", (event) => this.key(event));
    this.show();
  }

  get paused(): boolean {
    return this.state_.paused || this.state_.failure !== null;
  }

  private toggle(): void {
    this.send_({ type: this.state_.paused ? "resume" : "pause" });
  }

  private choose_speed(speed: number): void {
    this.waiting_speed_ = speed;
    this.state_ = { ...this.state_, speed };
    this.show();
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target;
    if (target instanceof HTMLElement && target.closest("input, textarea, select, dialog, [contenteditable=true]") !== null) return;
    if (event.key === " ") {
      // A button that was reached by keyboard takes the space as its click; one that was clicked does not keep it.
      if (target instanceof HTMLButtonElement) {
        if (target.matches(":focus-visible")) return;
        target.blur();
      }
      event.preventDefault();
      if (!event.repeat) this.toggle();
    } else if (event.key === ".") {
      this.send_({ type: "step" });
    } else if (event.key === "r") {
      this.send_({ type: "reset" });
    }
  }

  set_state(state: State): void {
    this.state_ = this.waiting_speed_ === null ? state : { ...state, speed: this.waiting_speed_ };
    this.show();
    this.set_time(state.time);
  }

  set_time(time: number): void {
    const text = time.toFixed(time < 1000 ? 2 : 1);
    if (text === this.shown_time_) return;
    this.shown_time_ = text;
    this.elements_.time.textContent = text;
  }

  private show(): void {
    const { paused, speed, failure } = this.state_;
    const { play, speed: slider, speed_text, state } = this.elements_;
    swap_icon(play, paused ? "play" : "pause");
    play.setAttribute("aria-label", paused ? "Play" : "Pause");
    play.title = `${paused ? "Play" : "Pause"} (space)`;
    const word = failure !== null ? "stopped" : paused ? "paused" : "running";
    state.textContent = word;
    state.dataset["state"] = word;
    slider.value = String(speed_to_slider(speed));
    slider.style.setProperty("--share", `${(speed_to_slider(speed) + 100) / 2}%`);
    slider.setAttribute("aria-valuetext", `${speed} times real time`);
    speed_text.textContent = `${Number(speed.toPrecision(2))}×`;
  }

  // Once a displayed frame.
  tick(): void {
    if (this.waiting_speed_ === null) return;
    if (this.send_({ type: "speed", value: this.waiting_speed_ })) this.waiting_speed_ = null;
  }
}
