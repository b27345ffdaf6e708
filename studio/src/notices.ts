// What a person should know now: banners that stay while something is so (connection, failure), and notes that go away. Enters: texts.
// Leaves: banners above the panels, which move down; notes over a corner of the world,
// where nothing moves for them and no number stands.

import { make_icon } from "./icons";

export interface NoticeAction {
  text: string;
  run: () => void;
}

export interface Notice {
  kind: "error" | "warning" | "info" | "note";
  text: string;
  hint?: string | undefined;
  actions?: readonly NoticeAction[] | undefined;
}

const note_stays_ms = 9000;
const most_notes = 4;

export class Notices {
  private readonly shown_ = new Map<string, HTMLElement>();
  private notes_ = 0;

  constructor(
    private readonly banners_: HTMLElement,
    private readonly notes_box_: HTMLElement,
  ) {}

  // One notice for each key; null takes it away.
  set(key: string, notice: Notice | null): void {
    this.shown_.get(key)?.remove();
    this.shown_.delete(key);
    if (notice === null) return;
    const box = document.createElement("div");
    box.className = "notice";
    box.dataset["kind"] = notice.kind;
    box.dataset["key"] = key;
    box.dataset["text"] = notice.text;
    if (notice.kind === "error") box.setAttribute("role", "alert");
    if (notice.kind === "error" || notice.kind === "warning") box.append(make_icon("warning"));
    const text = document.createElement("p");
    text.textContent = notice.text;
    if (notice.hint) {
      const hint = document.createElement("span");
      hint.className = "hint";
      hint.textContent = notice.hint;
      text.append(hint);
    }
    box.append(text);
    for (const { text: label, run } of notice.actions ?? []) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "link";
      button.textContent = label;
      button.dataset["action"] = label;
      button.addEventListener("click", run);
      box.append(button);
    }
    if (notice.kind === "note") {
      const close = document.createElement("button");
      close.type = "button";
      close.className = "quiet";
      close.setAttribute("aria-label", "Close");
      close.append(make_icon("close"));
      close.addEventListener("click", () => this.set(key, null));
      box.append(close);
    }
    this.shown_.set(key, box);
    const place = notice.kind === "note" ? this.notes_box_ : this.banners_;
    place.append(box);
    place.scrollTop = place.scrollHeight; // where there is little room, the newest is seen
  }

  // The same again takes the place of the one that is there; of many, the oldest goes.
  note(text: string, action?: NoticeAction): void {
    const key = `note ${++this.notes_}`;
    const there = [...this.shown_].filter(([, box]) => box.dataset["kind"] === "note");
    for (const [old, box] of there) if (box.dataset["text"] === text) this.set(old, null);
    const more = [...this.shown_].filter(([, box]) => box.dataset["kind"] === "note" && box.querySelector(".link") === null);
    for (const [old] of more.slice(0, Math.max(0, more.length + 1 - most_notes))) this.set(old, null);
    const closing = action === undefined ? [] : [{ text: action.text, run: () => (action.run(), this.set(key, null)) }];
    this.set(key, { kind: "note", text, actions: closing });
    if (action === undefined) window.setTimeout(() => this.set(key, null), note_stays_ms);
  }
}
