// The panels that a person arranged, kept in the browser. Enters: what the text asks for and what is shown. Leaves: what to show after a reload. Kept by the
// name of the world together with what the text asked for then: when it asks for something else, the text wins.

export type PlotStorage = Pick<Storage, "getItem" | "setItem" | "removeItem">;

const is_panels = (value: unknown): value is string[][] =>
  Array.isArray(value) && value.every((panel) => Array.isArray(panel) && panel.every((name) => typeof name === "string"));

export class KeptPlots {
  constructor(
    private readonly storage_: PlotStorage,
    private readonly world_: string,
  ) {}

  // Null: nothing was arranged, or of another text.
  load(asked: string[][]): string[][] | null {
    try {
      const kept: unknown = JSON.parse(this.storage_.getItem(this.key) ?? "null");
      if (typeof kept !== "object" || kept === null || !("asked" in kept) || !("panels" in kept)) return null;
      if (JSON.stringify(kept.asked) !== JSON.stringify(asked) || !is_panels(kept.panels)) return null;
      return kept.panels;
    } catch {
      return null;
    }
  }

  // A full or forbidden storage loses the arrangement, not the page.
  save(asked: string[][], panels: string[][]): void {
    try {
      if (JSON.stringify(asked) === JSON.stringify(panels)) this.storage_.removeItem(this.key);
      else this.storage_.setItem(this.key, JSON.stringify({ asked, panels }));
    } catch {
      return;
    }
  }

  private get key(): string {
    return `tactus.plots.${this.world_}`;
  }
}
