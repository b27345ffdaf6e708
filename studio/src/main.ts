// The page of `tactus play`. Enters: the socket. Leaves: the panels, each fed here. Everything that happens once a displayed frame happens in `show_frame`, in
// this order: the hand and the sliders speak, the world is drawn, the plots follow.

import "./base.css";
import "./layout.css";
import "./panels.css";
import "./editor.css";
import { Vector3 } from "three";
import { Connection, type ConnectionState, take_key } from "./connection";
import { Editor } from "./editor";
import { FrameHistory, flag_limiter_acts, flag_passivity_acts, type Frame, same_picture } from "./frames";
import { Gestures } from "./gestures";
import { Hand } from "./hand";
import { drawn_share } from "./hand_mapping";
import { place_icons } from "./icons";
import { Panels } from "./layout";
import { type NoticeAction, Notices } from "./notices";
import { Parameters } from "./parameters";
import { Plots } from "./plots";
import type { ClientMessage, Failure, ServerMessage, State, World } from "./protocol";
import { EnergyPanel } from "./energy";
import { StatisticsPanel } from "./statistics";
import { read_view_theme, ThemeSwitch } from "./theme";
import { TimeControls } from "./time_controls";
import { format_newtons } from "./world/overlay";
import { WorldView } from "./world/view";

const history_seconds = 10;
const history_frames = 620;

interface Inspection {
  readonly frames: number;
  readonly generation: number;
  readonly frames_per_second: number;
  readonly hand: { readonly held: boolean; readonly position: number[]; readonly force: number[] };
  values(name: string): number[];
  // Pixels of the world's element to a point of the world, and back.
  to_world(x: number, y: number): number[];
  to_pixels(point: number[]): number[];
}

declare global {
  interface Window {
    tactus: Inspection;
  }
}

function find<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page lacks #${id}`);
  return element as T;
}

class Page {
  private world_: World | null = null;
  private frames_ = 0;
  private was_dragged_ = false;
  private shown_force_ = "";
  private refusal_: string | null = null;
  private stands_ = false; // the world failed or ended: no hand moves it

  private readonly send_ = (message: ClientMessage): boolean => this.connection_.send(message);
  private readonly history_ = new FrameHistory(history_seconds, history_frames);
  private readonly notices_ = new Notices(find("notices"), find("notes"));
  private readonly panels_ = new Panels(find("app"));
  private readonly theme_ = new ThemeSwitch(find("theme"), () => this.change_theme());
  private readonly hand_ = new Hand(this.send_);
  private readonly parameters_ = new Parameters(find("parameters"), this.send_, (text) => this.notices_.note(text));
  private readonly statistics_ = new StatisticsPanel(find("loop"));
  private readonly energy_ = new EnergyPanel(find("energy-panel"), find("energy"));
  private readonly plots_ = new Plots(find("plots"), find("choose"), this.history_, find("add-plot"));
  private readonly time_ = new TimeControls(
    {
      play: find("play"),
      step: find("step"),
      reset: find("reset"),
      time: find("time"),
      state: find("run-state"),
      speed: find("speed"),
      speed_text: find("speed-text"),
    },
    this.send_,
  );
  private readonly editor_ = new Editor(
    { tabs: find("file-tabs"), text: find("text"), problems: find("problems"), save: find("save") },
    { send: this.send_, note: (text, action) => this.notices_.note(text, action) },
  );
  private readonly view_: WorldView | null = this.make_view();
  private readonly connection_ = new Connection({
    on_state: (state) => this.take_connection(state),
    on_message: (message) => this.take_message(message),
    on_frame: (frame) => this.take_frame(frame),
  });

  start(): void {
    void this.theme_;
    if (this.view_ !== null) {
      new Gestures(find("world"), this.view_, this.hand_, (held) => this.take_hold(held));
      find("fit").addEventListener("click", () => this.view_?.fit());
      // A press on the button is not a press on the world.
      find("fit").addEventListener("pointerdown", (event) => event.stopPropagation());
    }
    // Ctrl-S anywhere saves the text, and never the page.
    document.addEventListener("keydown", (event) => {
      if (event.key !== "s" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
      event.preventDefault();
      this.editor_.save();
    });
    window.tactus = this.make_inspection();
    this.connection_.open();
    requestAnimationFrame((now) => this.show_frame(now));
  }

  private make_view(): WorldView | null {
    const reduced = window.matchMedia("(prefers-reduced-motion: reduce)");
    try {
      return new WorldView(
        find("world"),
        find("picture"),
        find("overlay"),
        read_view_theme(),
        this.history_,
        (text) => this.notices_.note(text),
        () => reduced.matches,
      );
    } catch {
      find("world-empty").textContent = "This browser gives the page no WebGL, so the world cannot be drawn. Text, sliders and plots work.";
      return null;
    }
  }

  private change_theme(): void {
    this.view_?.set_theme(read_view_theme());
    this.plots_.set_theme();
  }

  private show_frame(now_ms: number): void {
    requestAnimationFrame((next) => this.show_frame(next));
    if (this.view_ !== null) this.hand_.tick(this.view_.rig);
    this.parameters_.tick(now_ms);
    this.time_.tick(now_ms);
    this.statistics_.count_picture(now_ms, this.view_?.render(now_ms, this.hand_) === true);
    this.show_fit();
    this.show_force();
    this.energy_.tick();
    this.plots_.tick(now_ms);
  }

  // The button stands out while the picture is where a person put it.
  private show_fit(): void {
    const automatic = String(this.view_?.rig.is_automatic ?? true);
    const button = find("fit");
    if (button.dataset["automatic"] !== automatic) button.dataset["automatic"] = automatic;
  }

  private show_force(): void {
    if (document.body.dataset["connection"] !== "open") {
      this.shown_force_ = find("force-value").textContent = "–";
      find("force").dataset["acts"] = "";
      find("force-bar").style.transform = "scaleX(0)";
      return;
    }
    const frame = this.view_?.playout.latest ?? null;
    const newtons = this.hand_.force(frame);
    if (newtons === null || frame === null) return;
    const text = format_newtons(newtons);
    const acts = frame.flags & flag_limiter_acts ? "limiter" : frame.flags & flag_passivity_acts ? "passivity" : "";
    if (text + acts === this.shown_force_) return;
    this.shown_force_ = text + acts;
    find("force-value").textContent = text;
    find("force").dataset["acts"] = acts;
    const share = drawn_share(newtons, this.hand_.limit);
    find("force-bar").style.transform = `scaleX(${share.toFixed(3)})`;
  }

  private take_hold(held: boolean): void {
    find("world").dataset["held"] = String(held);
    if (held) this.was_dragged_ = true;
    else this.refusal_ = null;
    this.show_hint();
  }

  // How to take the hand, until somebody did; or why it is not felt.
  private show_hint(): void {
    const hint = find("hint");
    const { world_: world, refusal_: refusal } = this;
    find("world").dataset["refused"] = String(refusal !== null);
    hint.dataset["kind"] = refusal !== null ? "refusal" : "advice";
    const can_move = document.body.dataset["connection"] === "open" && !this.stands_;
    hint.hidden = refusal === null && (this.was_dragged_ || world === null || world.hand === null || !can_move);
    const advice = world?.dimensions === 3 ? "Drag the ring to move the hand, anything else to look around" : "Drag anywhere to move the hand";
    const text = refusal ?? advice;
    if (hint.textContent !== text) hint.textContent = text;
  }

  // Another page's hand is felt, and not this one's; or this one's may be, again.
  private take_refusal(why: string | null): void {
    this.refusal_ = this.hand_.held ? why : null;
    this.hand_.set_refused(this.refusal_ !== null);
    this.view_?.invalidate();
    this.show_hint();
  }

  // To a world that can feel it; what was held is let go of otherwise.
  private offer_hand(): void {
    const was_held = this.hand_.held;
    this.hand_.set_offered(document.body.dataset["connection"] === "open" && !this.stands_);
    if (was_held && !this.hand_.held) this.take_hold(false);
    else this.show_hint();
  }

  private take_connection(state: ConnectionState): void {
    const was = document.body.dataset["connection"];
    document.body.dataset["connection"] = state;
    this.time_.set_connection(state);
    // What cannot be told is not offered; the text can be typed all the same.
    find("parameters").inert = state !== "open";
    if (state !== "open") this.parameters_.forget_choices();
    this.offer_hand();
    this.editor_.set_connected(state === "open");
    this.show_force();
    if (state === "open") {
      if (was !== "silent") this.editor_.begin_connection();
      this.notices_.set("connection", null);
    } else if (state === "silent") {
      this.notices_.set("connection", {
        kind: "warning",
        text: "The program does not answer: what is shown here is old.",
        hint: "The page goes on as soon as the program does.",
      });
    } else if (state === "lost") {
      this.notices_.set("connection", {
        kind: "warning",
        text: "The connection is lost. Trying again; what you type is kept.",
        actions: [{ text: "Try now", run: () => this.connection_.open() }],
      });
    } else if (state === "refused") {
      this.notices_.set("connection", {
        kind: "error",
        text: "The server was restarted: open the link it printed.",
        hint: "What you typed is kept in this browser.",
      });
    }
  }

  private take_message(message: ServerMessage): void {
    switch (message.type) {
      case "world":
        this.take_world(message);
        break;
      case "state":
        this.time_.set_state(message);
        this.stands_ = message.failure !== null || message.ended !== null;
        this.offer_hand();
        this.show_failure(message.failure);
        this.show_end(message.failure === null ? message.ended : null);
        break;
      case "diagnostics":
        this.editor_.set_diagnostics(message.version, message.items);
        break;
      case "parameter":
        this.parameters_.take_value(message.name, message.value, message.refused === true);
        break;
      case "hand":
        this.take_refusal(message.refused);
        break;
      case "statistics":
        this.statistics_.take(message);
        break;
      case "saved":
        this.editor_.take_saved(message.file, message.failure);
        break;
      case "note":
        this.notices_.note(message.text);
        break;
    }
  }

  private take_world(world: World): void {
    const known_notes = new Set(this.world_?.notes ?? []);
    this.world_ = world;
    this.history_.clear();
    find("world-name").textContent = world.name;
    document.title = `${world.name} – Tactus`;
    this.hand_.begin_world(world);
    this.view_?.begin_world(world);
    this.editor_.set_world(world);
    this.parameters_.set_world(world.parameters);
    this.plots_.set_world(world);
    this.statistics_.set_world(world.rate);
    this.energy_.set_world(world.values);
    for (const note of world.notes) {
      if (!known_notes.has(note)) this.notices_.note(note);
    }
    find("force").hidden = world.hand === null;
    this.shown_force_ = "";
    this.show_hint();
    if (this.view_ !== null) {
      const empty = find("world-empty");
      empty.hidden = world.drawings.length > 0;
      empty.textContent = 'Nothing is drawn yet. Write a scene, for example “scene sphere at p;”.';
    }
    find("world").dataset["hand"] = String(world.hand !== null);
  }

  private show_failure(failure: Failure | null): void {
    if (failure === null) {
      this.notices_.set("failure", null);
      return;
    }
    const { line } = failure;
    const show_line = {
      text: `Line ${line}`,
      run: () => {
        this.panels_.show_text();
        this.editor_.go_to(this.editor_.first_file, line ?? 1);
      },
    };
    this.notices_.set("failure", {
      kind: "error",
      text: failure.text,
      hint: failure.hint,
      actions: line === null || line === undefined ? [this.reset_action] : [show_line, this.reset_action],
    });
  }

  private show_end(ended: State["ended"]): void {
    this.notices_.set("ended", ended === null ? null : { kind: "info", text: `The world ${ended.text}`, hint: ended.hint, actions: [this.reset_action] });
  }

  private readonly reset_action: NoticeAction = {
    text: "Reset",
    run: () => {
      if (!this.send_({ type: "reset" })) this.notices_.note("There is no connection: nothing was reset.");
    },
  };

  private take_frame(frame: Frame): void {
    if (this.world_ === null || frame.generation !== this.world_.generation) return;
    this.frames_ += 1;
    const shown = this.view_?.playout.latest ?? null;
    if (shown !== null && same_picture(shown, frame)) return;
    this.history_.push(frame);
    this.view_?.push_frame(frame, performance.now());
    this.time_.set_time(frame.time);
    this.energy_.take(frame.values);
    this.plots_.invalidate();
  }

  // For tests and curious people; nothing can be changed through it.
  private make_inspection(): Inspection {
    const page = this;
    return Object.freeze({
      get frames() {
        return page.frames_;
      },
      get generation() {
        return page.world_?.generation ?? 0;
      },
      get frames_per_second() {
        return page.statistics_.frames_per_second;
      },
      get hand() {
        const force = page.view_?.playout.latest?.hand_force ?? [0, 0, 0];
        return Object.freeze({ held: page.hand_.held, position: page.hand_.position, force: [...force] });
      },
      values(name: string): number[] {
        const value = page.world_?.values.find((v) => v.name === name);
        const frames = page.history_.frames;
        const frame = frames[frames.length - 1];
        if (value === undefined || frame === undefined) return [];
        return Array.from(frame.values.subarray(value.at, value.at + value.rows * value.columns));
      },
      to_world(x: number, y: number): number[] {
        const rig = page.view_?.rig;
        if (rig === undefined) return [];
        const point = rig.to_world(x, y, rig.center, rig.center.clone());
        return [point.x, point.y, point.z];
      },
      to_pixels(point: number[]): number[] {
        const rig = page.view_?.rig;
        if (rig === undefined) return [];
        const pixel = rig.to_pixels(new Vector3(point[0], point[1] ?? 0, point[2] ?? 0), new Vector3());
        return [pixel.x, pixel.y];
      },
    });
  }
}

take_key();
place_icons(document);
new Page().start();
