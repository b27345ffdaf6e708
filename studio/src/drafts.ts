// What a person typed and has not saved survives a reload. Enters: the text the server holds and the draft kept in the
// browser. Leaves: the text to show. Drafts are kept by file name together with the text they started from, so that a file
// that changed meanwhile is merged: changes that do not touch each other are both kept, else the typed text stays.

export interface Draft {
  base: string;
  text: string;
}

export interface Merged {
  text: string;
  conflict: boolean;
}

// The part of `to` that differs from `from`: from[start, from_end) became to[start, to_end).
export function find_change(from: string, to: string): { start: number; from_end: number; to_end: number } {
  const shorter = Math.min(from.length, to.length);
  let start = 0;
  while (start < shorter && from.charCodeAt(start) === to.charCodeAt(start)) ++start;
  let tail = 0;
  while (tail < shorter - start && from.charCodeAt(from.length - 1 - tail) === to.charCodeAt(to.length - 1 - tail)) {
    ++tail;
  }
  return { start, from_end: from.length - tail, to_end: to.length - tail };
}

export function merge_draft(draft: Draft, server_text: string): Merged {
  if (draft.text === server_text || draft.text === draft.base) return { text: server_text, conflict: false };
  if (draft.base === server_text) return { text: draft.text, conflict: false };
  const mine = find_change(draft.base, draft.text);
  const theirs = find_change(draft.base, server_text);
  const my_text = draft.text.slice(mine.start, mine.to_end);
  if (mine.from_end < theirs.start) {
    return { text: draft.base.slice(0, mine.start) + my_text + server_text.slice(mine.from_end), conflict: false };
  }
  if (theirs.from_end < mine.start) {
    const shift = theirs.to_end - theirs.from_end;
    const text = server_text.slice(0, mine.start + shift) + my_text + server_text.slice(mine.from_end + shift);
    return { text, conflict: false };
  }
  return { text: draft.text, conflict: true };
}

// Texts are kept and compared with one kind of line break; the file keeps the one it came with.
export const line_break_of = (text: string): string => (text.includes("\r\n") ? "\r\n" : "\n");
export const with_line_breaks = (text: string, line_break: string): string => text.replace(/\r\n?|\n/g, line_break);

export type DraftStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export class DraftStore {
  constructor(
    private readonly storage_: DraftStorage,
    private readonly world_: string,
  ) {}

  load(file: string): Draft | null {
    try {
      const draft: unknown = JSON.parse(this.storage_.getItem(this.key(file)) ?? "null");
      if (typeof draft !== "object" || draft === null || !("base" in draft) || !("text" in draft)) return null;
      if (typeof draft.base !== "string" || typeof draft.text !== "string") return null;
      return { base: draft.base, text: draft.text };
    } catch {
      return null;
    }
  }

  // A full or forbidden storage loses the draft, not the page.
  save(file: string, draft: Draft): void {
    try {
      if (draft.base === draft.text) this.storage_.removeItem(this.key(file));
      else this.storage_.setItem(this.key(file), JSON.stringify(draft));
    } catch {
      return;
    }
  }

  remove(file: string): void {
    try {
      this.storage_.removeItem(this.key(file));
    } catch {
      return;
    }
  }

  private key(file: string): string {
    return `tactus.draft.${this.world_}/${file}`;
  }
}
