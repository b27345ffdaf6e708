// Panels. Enters: switches, tabs and splitters. Leaves: attributes and sizes on the page that the style sheet reads; they are remembered.
// Wide pages show all panels, which switches hide; smaller ones show one at a time, by tabs.

const key = "tactus.layout";

interface Layout {
  text: boolean;
  plots: boolean;
  side: boolean;
  text_width: number;
  plots_height: number;
}

const first_layout: Layout = { text: true, plots: true, side: true, text_width: 400, plots_height: 200 };

function load_layout(): Layout {
  try {
    const kept: unknown = JSON.parse(window.localStorage.getItem(key) ?? "null");
    if (typeof kept === "object" && kept !== null) return { ...first_layout, ...kept };
  } catch {
    return { ...first_layout };
  }
  return { ...first_layout };
}

export class Panels {
  private readonly layout_ = load_layout();

  constructor(private readonly app_: HTMLElement) {
    for (const name of ["text", "plots", "side"] as const) {
      const button = this.find(`show-${name}`);
      button.addEventListener("click", () => {
        this.layout_[name] = !this.layout_[name];
        this.apply();
      });
    }
    const tabs = [...app_.querySelectorAll<HTMLButtonElement>(".tabs [role=tab]")];
    for (const tab of tabs) {
      tab.addEventListener("click", () => this.show_tab(tab.dataset["tab"]!));
      tab.addEventListener("keydown", (event) => {
        const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        if (step === 0) return;
        const visible = tabs.filter((t) => t.offsetParent !== null);
        const next = visible[(visible.indexOf(tab) + step + visible.length) % visible.length]!;
        next.focus();
        this.show_tab(next.dataset["tab"]!);
      });
    }
    this.split("split-text", "x", 260, 900, "text_width", 1);
    this.split("split-plots", "y", 110, 520, "plots_height", -1);
    this.show_tab(app_.dataset["tab"]!);
    this.apply();
  }

  private find(id: string): HTMLElement {
    return this.app_.querySelector<HTMLElement>(`#${id}`)!;
  }

  show_tab(name: string): void {
    this.app_.dataset["tab"] = name;
    for (const tab of this.app_.querySelectorAll<HTMLElement>(".tabs [role=tab]")) {
      const selected = tab.dataset["tab"] === name;
      tab.setAttribute("aria-selected", String(selected));
      tab.tabIndex = selected ? 0 : -1;
    }
  }

  // Makes the text visible, whatever the size of the page.
  show_text(): void {
    this.layout_.text = true;
    this.show_tab("text");
    this.apply();
  }

  private apply(): void {
    for (const name of ["text", "plots", "side"] as const) {
      this.app_.classList.toggle(`no-${name}`, !this.layout_[name]);
      this.find(`show-${name}`).setAttribute("aria-pressed", String(this.layout_[name]));
    }
    this.app_.style.setProperty("--text-width", `${this.layout_.text_width}px`);
    this.app_.style.setProperty("--plots-height", `${this.layout_.plots_height}px`);
    try {
      window.localStorage.setItem(key, JSON.stringify(this.layout_));
    } catch {
      return;
    }
  }

  private split(id: string, axis: "x" | "y", least: number, most: number, name: "text_width" | "plots_height", sign: 1 | -1): void {
    const splitter = this.find(id);
    let from = 0;
    let size = 0;
    const set = (value: number): void => {
      this.layout_[name] = Math.round(Math.min(Math.max(value, least), most));
      this.apply();
    };
    splitter.addEventListener("pointerdown", (event) => {
      splitter.setPointerCapture(event.pointerId);
      from = axis === "x" ? event.clientX : event.clientY;
      size = this.layout_[name];
      event.preventDefault();
    });
    splitter.addEventListener("pointermove", (event) => {
      if (!splitter.hasPointerCapture(event.pointerId)) return;
      set(size + sign * ((axis === "x" ? event.clientX : event.clientY) - from));
    });
    splitter.addEventListener("dblclick", () => set(first_layout[name]));
    splitter.addEventListener("keydown", (event) => {
      const steps: Record<string, number> = axis === "x" ? { ArrowLeft: -16, ArrowRight: 16 } : { ArrowUp: -16, ArrowDown: 16 };
      const step = steps[event.key];
      if (step === undefined) return;
      event.preventDefault();
      set(this.layout_[name] + sign * step);
    });
  }
}
