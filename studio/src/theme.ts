// Light and dark. Enters: the system's preference and a button. Leaves: an attribute on the document for the style sheet, and its colours for what is
// drawn on canvases.

import { swap_icon } from "./icons";
import { parse_color, type ViewTheme } from "./world/view";

const key = "tactus.theme";
const palette_size = 6;

function read_choice(): string | null {
  try {
    return window.localStorage.getItem(key);
  } catch {
    return null;
  }
}

export class ThemeSwitch {
  private readonly prefers_dark_ = window.matchMedia("(prefers-color-scheme: dark)");
  private choice_ = read_choice();

  constructor(
    private readonly button_: HTMLButtonElement,
    private readonly on_change_: () => void,
  ) {
    button_.addEventListener("click", () => {
      this.choice_ = this.is_dark ? "light" : "dark";
      try {
        window.localStorage.setItem(key, this.choice_);
      } catch {
        // Without storage the choice lasts as long as the page.
      }
      this.apply();
      this.on_change_();
    });
    this.prefers_dark_.addEventListener("change", () => {
      this.apply();
      this.on_change_();
    });
    this.apply();
  }

  private get is_dark(): boolean {
    return this.choice_ === null ? this.prefers_dark_.matches : this.choice_ === "dark";
  }

  private apply(): void {
    document.documentElement.dataset["theme"] = this.is_dark ? "dark" : "light";
    swap_icon(this.button_, this.is_dark ? "sun" : "moon");
    this.button_.setAttribute("aria-label", this.is_dark ? "Light colours" : "Dark colours");
    this.button_.title = this.is_dark ? "Light colours" : "Dark colours";
  }
}

export function css_color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function series_colors(): string[] {
  return Array.from({ length: palette_size }, (_, i) => css_color(`--series-${i + 1}`));
}

export function read_view_theme(): ViewTheme {
  return {
    background: parse_color(css_color("--world")),
    ink: parse_color(css_color("--ink")),
    accent: parse_color(css_color("--accent")),
    palette: series_colors().map(parse_color),
    overlay: {
      ink: css_color("--ink"),
      muted: css_color("--muted"),
      background: css_color("--world"),
      accent: css_color("--accent"),
      warning: css_color("--warning"),
    },
  };
}
