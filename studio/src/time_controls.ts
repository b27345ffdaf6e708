// Time. Enters: `state`, the time of frames, whether there is a connection, buttons and keys (space, `.`, `r` outside of text fields). Leaves: pause, resume,
// step, reset, speed. A world that failed or ended can only be reset, and one nobody is connected to can be told nothing: what cannot be done is not offered.
// The speed slider has twenty steps to a tenth of the speed and to its tenfold; double click: real time.

import { swap_icon } from "./icons";
import type { ConnectionState } from "./connection";
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

const steps_of_ten = 20;
const answer_within_ms = 2000;

export function speed_to_slider(speed: number): number {
  return Math.round(Math.min(Math.max(Math.log10(speed), -1), 1) * steps_of_ten);
}

// Two digits: every step of the slider is another speed, and speed_to_slider leads back to the step.
export function slider_to_speed(position: number): number {
  return Number((10 ** (position / steps_of_ten)).toPrecision(2));
}

const words: Readonly<Record<ConnectionState, string>> = {
  connecting: "connecting",
  open: "",
  silent: "no answer",
  lost: "not connected",
  refused: "not connected",
};

export class TimeControls {
  private state_: State = { type: "state", paused: false, speed: 1, time: 0, failure: null, ended: null };
  private connection_: ConnectionState = "connecting";
  // What a person chose and the server has not answered.
  private chosen_: { speed: number; sent_ms: number | null } | null = null;
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

  private get can_move(): boolean {
    return this.connection_ === "open" && this.state_.failure === null && this.state_.ended === null;
  }

  private toggle(): void {
    if (this.can_move) this.send_({ type: this.state_.paused ? "resume" : "pause" });
  }

  private choose_speed(speed: number): void {
    this.chosen_ = { speed, sent_ms: null };
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
      if (this.can_move) this.send_({ type: "step" });
    } else if (event.key === "r") {
      this.send_({ type: "reset" });
    }
  }

  set_state(state: State): void {
    this.state_ = state;
    if (this.chosen_?.speed === state.speed) this.chosen_ = null;
    this.show();
    this.set_time(state.time);
  }

  set_connection(connection: ConnectionState): void {
    this.connection_ = connection;
    if (connection !== "open") this.chosen_ = null;
    this.show();
  }

  set_time(time: number): void {
    const text = time.toFixed(time < 1000 ? 2 : 1);
    if (text === this.shown_time_) return;
    this.shown_time_ = text;
    this.elements_.time.textContent = text;
  }

  private show(): void {
    const { paused, failure, ended } = this.state_;
    const speed = this.chosen_?.speed ?? this.state_.speed;
    const { play, step, reset, speed: slider, speed_text, state } = this.elements_;
    const is_connected = this.connection_ === "open";
    swap_icon(play, paused ? "play" : "pause");
    play.setAttribute("aria-label", paused ? "Play" : "Pause");
    play.title = `${paused ? "Play" : "Pause"} (space)`;
    play.disabled = step.disabled = !this.can_move;
    reset.disabled = slider.disabled = !is_connected;
    // What is to be done next stands out.
    const offers_reset = is_connected && !this.can_move;
    reset.classList.toggle("primary", offers_reset);
    play.classList.toggle("primary", !offers_reset);
    const word = failure !== null ? "stopped" : ended !== null ? "ended" : paused ? "paused" : "running";
    state.textContent = is_connected ? word : words[this.connection_];
    state.dataset["state"] = is_connected ? word : this.connection_;
    const position = speed_to_slider(speed);
    slider.value = String(position);
    slider.style.setProperty("--share", `${((position + steps_of_ten) / (2 * steps_of_ten)) * 100}%`);
    slider.setAttribute("aria-valuetext", `${Number(speed.toPrecision(4))} times real time`);
    speed_text.textContent = `${Number(speed.toPrecision(4))}×`;
  }

  // Once a displayed frame.
  tick(now_ms: number): void {
    if (this.chosen_ === null) return;
    if (this.chosen_.sent_ms === null) {
      if (this.send_({ type: "speed", value: this.chosen_.speed })) this.chosen_.sent_ms = now_ms;
      else this.chosen_ = null;
    } else if (now_ms - this.chosen_.sent_ms > answer_within_ms) {
      this.chosen_ = null;
    } else {
      return;
    }
    this.show();
  }
}
