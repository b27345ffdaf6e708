// The texts of the model. Enters: files, diagnostics and `saved` from the server, keys. Leaves: `edit` as soon as the one before is answered, `save`, drafts that survive a
// reload, marks at what is wrong and a list of it. Where another client changed a text it is taken over, unless this one has something the server
// has not seen.

import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Annotation, EditorState, type Text } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { DraftStore, find_change, line_break_of, merge_draft, with_line_breaks } from "./drafts";
import { language_for } from "./language";
import type { ClientMessage, DiagnosticItem, SourceFile, World } from "./protocol";

// Keys that come together go together; while the program compiles, what is typed waits for its answer, but not for ever.
const send_after_ms = 15;
const send_unanswered_after_ms = 250;
const texts_remembered = 8;
// What the program takes, in bytes: src/play/session.cpp.
const longest_text = 512 * 1024;

const from_elsewhere = Annotation.define<boolean>();

interface OpenFile {
  name: string;
  state: EditorState;
  // What the drafts are measured against: the text on disk as far as it is known.
  base: string;
  // The server's text differs from the disk.
  edited: boolean;
  server_text: string;
  // What the last `world` showed, and what was sent from here: no news when a `world` shows them again.
  world_text: string;
  sent_texts: string[];
  unsent: boolean;
  // How the file ends its lines; in here every line ends with \n.
  line_break: string;
  saving: string | null;
  told_too_long: boolean;
}

export interface EditorElements {
  tabs: HTMLElement;
  text: HTMLElement;
  problems: HTMLElement;
  save: HTMLButtonElement;
}

export interface EditorOutlets {
  send(message: ClientMessage): boolean;
  note(text: string, action?: { text: string; run: () => void }): void;
}

export class Editor {
  private readonly files_ = new Map<string, OpenFile>();
  private readonly view_: EditorView;
  private active_: string | null = null;
  private drafts_: DraftStore | null = null;
  private items_: readonly DiagnosticItem[] = [];
  private connected_ = false;
  private version_ = 0;
  private answered_version_ = 0;
  private timer_: number | undefined;
  private fresh_connection_ = true;

  constructor(
    private readonly elements_: EditorElements,
    private readonly outlets_: EditorOutlets,
  ) {
    this.view_ = new EditorView({ parent: elements_.text, state: this.make_state("", "untitled.tact") });
    this.view_.dom.hidden = true;
    elements_.save.addEventListener("click", () => this.save());
    window.addEventListener("pagehide", () => this.flush());
  }

  private make_state(text: string, file: string): EditorState {
    return EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        highlightActiveLineGutter(),
        highlightSpecialChars(),
        history(),
        drawSelection(),
        EditorState.allowMultipleSelections.of(true),
        indentUnit.of("  "),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        search({ top: true }),
        lintGutter(),
        EditorView.lineWrapping,
        language_for(file),
        keymap.of([
          { key: "Mod-s", preventDefault: true, run: () => (this.save(), true) },
          ...closeBracketsKeymap,
          ...searchKeymap,
          ...historyKeymap,
          ...defaultKeymap,
          indentWithTab,
        ]),
        EditorView.contentAttributes.of({ "aria-label": `text of ${file}`, spellcheck: "false", autocapitalize: "off" }),
        EditorView.updateListener.of((update) => {
          const open = this.files_.get(this.active_ ?? "");
          if (open === undefined) return;
          open.state = update.state;
          if (!update.docChanged) return;
          if (update.transactions.some((t) => t.docChanged && t.annotation(from_elsewhere) !== true)) this.typed(open);
          this.show_tabs();
        }),
      ],
    });
  }

  // The next `world` is the first of a new connection: local texts are measured against it.
  begin_connection(): void {
    this.fresh_connection_ = true;
    this.answered_version_ = this.version_;
  }

  set_world(world: World): void {
    this.drafts_ ??= new DraftStore(window.localStorage, world.name);
    const names = new Set(world.files.map((file) => file.name));
    for (const name of [...this.files_.keys()]) {
      if (!names.has(name)) this.files_.delete(name);
    }
    for (const file of world.files) this.take_file({ ...file, text: with_line_breaks(file.text, "\n") }, line_break_of(file.text));
    this.fresh_connection_ = false;
    if (this.active_ === null || !this.files_.has(this.active_)) {
      this.active_ = null;
      const first = world.files[0];
      if (first !== undefined) this.show(first.name);
    }
    this.show_tabs();
    this.schedule();
  }

  private take_file(file: SourceFile, line_break: string): void {
    const open = this.files_.get(file.name);
    const draft = this.drafts_?.load(file.name) ?? null;
    if (open === undefined) {
      const base = file.edited ? (draft?.base ?? file.text) : file.text;
      const merged = draft === null ? { text: file.text, conflict: false } : merge_draft(draft, file.text);
      const made: OpenFile = {
        name: file.name,
        state: this.make_state(merged.text, file.name),
        base,
        edited: file.edited,
        server_text: file.text,
        world_text: file.text,
        sent_texts: [],
        unsent: merged.text !== file.text,
        line_break,
        saving: null,
        told_too_long: false,
      };
      this.files_.set(file.name, made);
      if (merged.conflict) this.tell_conflict(made, file.text);
      if (!file.edited && merged.text === file.text) this.drafts_?.remove(file.name);
      return;
    }
    const is_news = file.text !== open.world_text && !open.sent_texts.includes(file.text);
    open.edited = file.edited;
    open.server_text = file.text;
    open.world_text = file.text;
    const text = open.state.doc.toString();
    if (this.fresh_connection_) {
      const merged = merge_draft({ base: open.base, text }, file.text);
      if (!file.edited) open.base = file.text;
      this.replace_text(open, merged.text);
      open.unsent = merged.text !== file.text;
      if (merged.conflict) this.tell_conflict(open, file.text);
      return;
    }
    if (!file.edited) open.base = file.text;
    if (text === file.text) {
      open.unsent = false;
      if (!file.edited) this.drafts_?.remove(file.name);
    } else if (is_news && !open.unsent && this.answered_version_ >= this.version_) {
      this.replace_text(open, file.text);
    }
  }

  private tell_conflict(open: OpenFile, server_text: string): void {
    this.outlets_.note(`${open.name} has changed since you typed; what you typed is kept.`, {
      text: "Take the file's text instead",
      run: () => {
        this.drafts_?.remove(open.name);
        this.replace_text(open, server_text);
        open.unsent = true;
        this.schedule();
        this.show_tabs();
      },
    });
  }

  // Changes as little as possible, so that the cursor stays where it is.
  private replace_text(open: OpenFile, text: string): void {
    const before = open.state.doc.toString();
    if (before === text) return;
    const { start, from_end, to_end } = find_change(before, text);
    const change = {
      changes: { from: start, to: from_end, insert: text.slice(start, to_end) },
      annotations: from_elsewhere.of(true),
    };
    if (open.name === this.active_) this.view_.dispatch(change);
    else open.state = open.state.update(change).state;
  }

  private typed(open: OpenFile): void {
    open.unsent = true;
    this.drafts_?.save(open.name, { base: open.base, text: open.state.doc.toString() });
    this.schedule();
  }

  private schedule(): void {
    window.clearTimeout(this.timer_);
    const is_answered = this.answered_version_ >= this.version_;
    this.timer_ = window.setTimeout(() => this.flush(), is_answered ? send_after_ms : send_unanswered_after_ms);
  }

  private flush(): void {
    window.clearTimeout(this.timer_);
    for (const open of this.files_.values()) {
      if (!open.unsent) continue;
      const text = open.state.doc.toString();
      // A half of a pair is no letter, and JSON cannot carry it.
      const sent = with_line_breaks(text, open.line_break).replace(/\p{Surrogate}/gu, "\ufffd");
      if (this.is_too_long(open, sent)) continue;
      const version = this.version_ + 1;
      if (!this.outlets_.send({ type: "edit", file: open.name, text: sent, version })) continue;
      this.version_ = version;
      open.unsent = false;
      open.server_text = text;
      open.sent_texts = [...open.sent_texts.slice(1 - texts_remembered), text];
      open.edited = text !== open.base;
    }
    this.show_tabs();
  }

  // A text that is nearly too long by its letters is measured, which takes a while.
  private is_too_long(open: OpenFile, text: string): boolean {
    const is_long = text.length > longest_text / 4 && new TextEncoder().encode(text).length > longest_text;
    if (is_long && !open.told_too_long) {
      this.outlets_.note(
        `${open.name} is longer than ${longest_text / 1024} KiB, too long to be changed here: what you type is kept in this browser, and the world goes on without it. Use another editor, and open it again.`,
      );
    }
    open.told_too_long = is_long;
    return is_long;
  }

  save(): void {
    const open = this.files_.get(this.active_ ?? "");
    if (open === undefined) return;
    // Another page may have sent another text since: what stands here is what is saved.
    open.unsent = true;
    this.flush();
    if (open.told_too_long) {
      this.outlets_.note(`${open.name} is not saved: it is too long to be changed here.`);
      return;
    }
    if (open.unsent || !this.outlets_.send({ type: "save", file: open.name })) {
      this.outlets_.note(`${open.name} is not saved: there is no connection. What you typed is kept in this browser.`);
      return;
    }
    open.saving = open.state.doc.toString();
  }

  take_saved(file: string, failure: string | null): void {
    const open = this.files_.get(file);
    if (open === undefined) return;
    if (failure !== null) {
      this.outlets_.note(`${file} is not saved: ${failure}`);
    } else {
      open.base = open.saving ?? open.server_text;
      open.edited = open.server_text !== open.base;
      const text = open.state.doc.toString();
      this.drafts_?.save(file, { base: open.base, text });
    }
    open.saving = null;
    this.show_tabs();
  }

  set_diagnostics(version: number, items: readonly DiagnosticItem[]): void {
    if (version < this.version_ && this.answered_version_ < this.version_ && version > 0) return;
    this.answered_version_ = Math.max(this.answered_version_, this.version_);
    this.items_ = items;
    this.show_diagnostics();
    this.show_tabs();
    if ([...this.files_.values()].some((open) => open.unsent)) this.schedule();
  }

  // Without a connection nobody reads the text.
  set_connected(connected: boolean): void {
    this.connected_ = connected;
    this.show_diagnostics();
  }

  private show_diagnostics(): void {
    const open = this.files_.get(this.active_ ?? "");
    if (open !== undefined) {
      const doc = open.state.doc;
      const marks = this.items_.filter((item) => item.file === open.name).map((item) => make_mark(doc, item));
      this.view_.dispatch(setDiagnostics(this.view_.state, marks));
    }
    const list = this.elements_.problems;
    list.replaceChildren();
    if (!this.connected_) {
      list.dataset["state"] = "unchecked";
      const word = document.createElement("p");
      word.textContent = "Not checked: there is no connection";
      list.append(word);
      return;
    }
    const errors = this.items_.filter((item) => item.severity === "error").length;
    list.dataset["state"] = errors > 0 ? "error" : this.items_.length > 0 ? "warning" : "good";
    if (this.items_.length === 0) {
      const good = document.createElement("p");
      good.textContent = "No problems";
      list.append(good);
      return;
    }
    for (const item of this.items_) {
      const row = document.createElement("button");
      row.type = "button";
      row.className = "problem";
      row.dataset["severity"] = item.severity;
      const place = document.createElement("span");
      place.className = "problem-place";
      place.textContent = this.files_.size > 1 || !this.files_.has(item.file) ? `${item.file}:${item.line}` : `line ${item.line}`;
      const text = document.createElement("span");
      text.className = "problem-text";
      text.textContent = item.text;
      if (item.hint !== "" && item.hint !== undefined && item.hint !== null) {
        const hint = document.createElement("span");
        hint.className = "problem-hint";
        hint.textContent = item.hint;
        text.append(hint);
      }
      const code = document.createElement("span");
      code.className = "problem-code";
      code.textContent = item.code;
      row.append(place, text, code);
      row.addEventListener("click", () => this.go_to(item.file, item.line, item.column));
      list.append(row);
    }
  }

  go_to(file: string | null, line: number, column = 1): void {
    const name = file ?? this.active_;
    if (name === null || !this.files_.has(name)) return;
    this.show(name);
    const doc = this.view_.state.doc;
    const place = position_of(doc, line, column);
    this.view_.dispatch({ selection: { anchor: place }, effects: EditorView.scrollIntoView(place, { y: "center" }) });
    this.view_.focus();
  }

  get first_file(): string | null {
    return this.files_.keys().next().value ?? null;
  }

  private show(name: string): void {
    const open = this.files_.get(name);
    if (open === undefined || this.active_ === name) return;
    this.active_ = name;
    this.view_.setState(open.state);
    this.view_.dom.hidden = false;
    this.show_diagnostics();
    this.show_tabs();
  }

  private is_unsaved(open: OpenFile): boolean {
    return open.edited || open.unsent || open.state.doc.toString() !== open.server_text;
  }

  private show_tabs(): void {
    const tabs: HTMLElement[] = [];
    for (const open of this.files_.values()) {
      const tab = document.createElement("button");
      tab.type = "button";
      tab.className = "file-tab";
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-selected", String(open.name === this.active_));
      tab.textContent = open.name;
      const unsaved = this.is_unsaved(open);
      tab.dataset["unsaved"] = String(unsaved);
      tab.title = unsaved ? `${open.name}: not saved (Ctrl-S)` : open.name;
      tab.dataset["errors"] = String(this.items_.some((item) => item.file === open.name && item.severity === "error"));
      tab.addEventListener("click", () => this.show(open.name));
      tabs.push(tab);
    }
    this.elements_.tabs.replaceChildren(...tabs);
    const active = this.files_.get(this.active_ ?? "");
    this.elements_.save.disabled = active === undefined || !this.is_unsaved(active);
  }
}

// Lines and columns from 1, columns in UTF-16 units, as CodeMirror's positions are; what lies outside is brought inside.
function position_of(doc: Text, line: number, column: number): number {
  const found = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return Math.min(found.from + Math.max(column - 1, 0), found.to);
}

function make_mark(doc: Text, item: DiagnosticItem): Diagnostic {
  const from = position_of(doc, item.line, item.column);
  const to = Math.max(position_of(doc, item.end_line, item.end_column), from);
  const severity = item.severity === "error" || item.severity === "warning" ? item.severity : "info";
  return {
    from,
    to,
    severity,
    message: item.text,
    renderMessage: () => {
      const box = document.createElement("div");
      box.textContent = item.text;
      if (item.hint) {
        const hint = document.createElement("div");
        hint.className = "problem-hint";
        hint.textContent = item.hint;
        box.append(hint);
      }
      return box;
    },
  };
}
