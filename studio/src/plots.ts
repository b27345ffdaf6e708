// Panels of curves. Enters: the panels a text asks for, the history of frames. Leaves: uPlot charts over the last seconds of the world. A person may add and
// remove values and panels; that outlives a reload, and lasts until the text asks for other panels. While the world stands still the cursor reads values.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { FrameHistory } from "./frames";
import { make_icon } from "./icons";
import { KeptPlots } from "./kept_plots";
import { list_scalars, type Scalar, type World } from "./protocol";
import { css_color, series_colors } from "./theme";
import { format_number, with_minus } from "./world/options";

const update_every_ms = 60;
// Beyond it the span of an axis is no number.
const largest_drawn = 1e300;
const axis_font = "11px system-ui, sans-serif";

// `names` are what is wanted in it; those that the world has are shown.
interface Panel {
  names: string[];
  element: HTMLElement;
  legend: HTMLElement;
  chart_box: HTMLElement;
  chart: uPlot | null;
  values: HTMLElement[];
}

export class Plots {
  private panels_: Panel[] = [];
  private scalars_ = new Map<string, Scalar>();
  private asked_: string[][] | null = null;
  private kept_: KeptPlots | null = null;
  private last_update_ms_ = 0;
  private stale_ = true;
  private readonly sizes_ = new ResizeObserver((entries) => {
    for (const entry of entries) {
      const panel = this.panels_.find((p) => p.chart_box === entry.target);
      const { width, height } = entry.contentRect;
      if (panel?.chart != null && width > 0 && height > 0) panel.chart.setSize({ width, height });
    }
  });

  constructor(
    private readonly element_: HTMLElement,
    private readonly dialog_: HTMLDialogElement,
    private readonly history_: FrameHistory,
    add_button: HTMLButtonElement,
  ) {
    add_button.addEventListener("click", () => {
      const panel = this.add_panel([]);
      this.show_empty_state();
      this.choose_values(panel);
    });
    dialog_.addEventListener("click", (event) => {
      if (event.target === dialog_) dialog_.close();
    });
    dialog_.addEventListener("close", () => {
      for (const panel of this.panels_.filter((p) => p.names.length === 0)) this.remove_panel(panel);
      this.show_empty_state();
      this.keep();
    });
  }

  set_world(world: World): void {
    this.scalars_ = new Map(list_scalars(world.values).map((scalar) => [scalar.name, scalar]));
    this.kept_ = new KeptPlots(window.localStorage, world.name);
    if (JSON.stringify(world.plots) !== JSON.stringify(this.asked_)) {
      // A page that opens shows what was arranged. When a text asks for others, what a person added stays; of the text's own panels go those
      // that it no longer asks for.
      const before = this.asked_;
      const has = (list: readonly string[][], names: string[]): boolean => list.some((each) => JSON.stringify(each) === JSON.stringify(names));
      const arranged = this.panels_.map((panel) => panel.names);
      const panels =
        before === null
          ? (this.kept_.load(world.plots) ?? world.plots)
          : [...arranged.filter((names) => !has(before, names) || has(world.plots, names)), ...world.plots.filter((names) => !has(before, names))];
      this.asked_ = world.plots;
      for (const panel of [...this.panels_]) this.remove_panel(panel);
      for (const names of panels) this.add_panel(names);
      this.keep();
    } else {
      for (const panel of this.panels_) this.build(panel);
    }
    this.show_empty_state();
    this.stale_ = true;
  }

  set_theme(): void {
    for (const panel of this.panels_) this.build(panel);
    this.stale_ = true;
  }

  invalidate(): void {
    this.stale_ = true;
  }

  private keep(): void {
    if (this.asked_ !== null) this.kept_?.save(this.asked_, this.panels_.map((panel) => panel.names));
  }

  private shown_names(panel: Panel): string[] {
    return panel.names.filter((name) => this.scalars_.has(name));
  }

  private show_empty_state(): void {
    this.element_.dataset["empty"] = String(this.panels_.every((panel) => panel.element.hidden));
  }

  private add_panel(names: string[]): Panel {
    const element = document.createElement("section");
    element.className = "plot";
    const legend = document.createElement("div");
    legend.className = "plot-legend";
    const chart_box = document.createElement("div");
    chart_box.className = "plot-chart";
    element.append(legend, chart_box);
    const panel: Panel = { names: [...names], element, legend, chart_box, chart: null, values: [] };
    this.panels_.push(panel);
    this.element_.append(element);
    this.sizes_.observe(chart_box);
    this.build(panel);
    return panel;
  }

  private remove_panel(panel: Panel): void {
    this.sizes_.unobserve(panel.chart_box);
    panel.chart?.destroy();
    panel.element.remove();
    this.panels_ = this.panels_.filter((p) => p !== panel);
    this.show_empty_state();
  }

  private build(panel: Panel): void {
    const colors = series_colors();
    panel.chart?.destroy();
    panel.chart = null;
    panel.values = [];
    panel.legend.replaceChildren();
    const names = this.shown_names(panel);
    panel.element.hidden = names.length === 0 && panel.names.length > 0;
    panel.element.setAttribute("aria-label", `plot of ${names.join(", ")}`);
    names.forEach((name, i) => {
      const item = document.createElement("span");
      item.className = "legend-item";
      item.style.setProperty("--color", colors[i % colors.length]!);
      const unit = this.scalars_.get(name)?.unit ?? "";
      const label = document.createElement("span");
      label.className = "legend-name";
      label.textContent = unit === "" ? name : `${name} [${unit}]`;
      const value = document.createElement("output");
      value.className = "legend-value";
      panel.values.push(value);
      const remove = document.createElement("button");
      remove.type = "button";
      remove.className = "quiet";
      remove.setAttribute("aria-label", `remove ${name}`);
      remove.append(make_icon("close"));
      remove.addEventListener("click", () => {
        panel.names = panel.names.filter((n) => n !== name);
        if (panel.names.length === 0) this.remove_panel(panel);
        else this.build(panel);
        this.stale_ = true;
        this.keep();
      });
      item.append(label, value, remove);
      panel.legend.append(item);
    });
    const choose = document.createElement("button");
    choose.type = "button";
    choose.className = "quiet";
    choose.title = "Choose values";
    choose.setAttribute("aria-label", "Choose values");
    choose.append(make_icon("plus"));
    choose.addEventListener("click", () => this.choose_values(panel));
    panel.legend.append(choose);

    const { clientWidth, clientHeight } = panel.chart_box;
    const grid = { stroke: css_color("--grid"), width: 1 };
    const axis = { stroke: css_color("--muted"), font: axis_font, grid, ticks: { show: false } };
    panel.chart = new uPlot(
      {
        width: clientWidth || 300,
        height: clientHeight || 120,
        legend: { show: false },
        padding: [8, 14, 0, 0],
        pxAlign: 0, // else every point is rounded to a pixel, and slow curves become stairs
        cursor: { drag: { x: false, y: false }, sync: { key: "tactus" }, points: { size: 6 }, y: false },
        scales: {
          x: { time: false, range: () => this.time_range() },
          y: { range: (_, low: number | null, high: number | null) => value_range(low, high) },
        },
        axes: [
          { ...axis, size: 22, gap: 2, space: 60, values: (_, splits) => splits.map((s) => with_minus(`${Number(s.toPrecision(6))} s`)) },
          { ...axis, size: 46, gap: 4, space: 26, values: (_, splits) => splits.map((s) => with_minus(String(Number(s.toPrecision(4))))) },
        ],
        series: [
          {},
          ...names.map((name, i) => ({
            label: name,
            stroke: colors[i % colors.length]!,
            width: 1.5,
            points: { show: false },
            ...(this.scalars_.get(name)?.discrete === true ? { paths: uPlot.paths.stepped!({ align: 1 }) } : {}),
          })),
        ],
        hooks: { setCursor: [() => this.show_values(panel)] },
      },
      [[], ...names.map(() => [])],
      panel.chart_box,
    );
    this.stale_ = true;
  }

  private time_range(): [number, number] {
    const frames = this.history_.frames;
    const first = frames[0]?.time ?? 0;
    const last = frames[frames.length - 1]?.time ?? 0;
    const { window } = this.history_;
    return last - first >= window * 0.99 ? [last - window, last] : [first, first + window];
  }

  // The value under the cursor, or the newest.
  private show_values(panel: Panel): void {
    const { chart } = panel;
    if (chart === null) return;
    const index = chart.cursor.idx ?? chart.data[0].length - 1;
    panel.values.forEach((element, i) => {
      const value = chart.data[i + 1]?.[index];
      const text = value === undefined || value === null ? "" : format_number(value);
      if (element.textContent !== text) element.textContent = text;
    });
  }

  // Once a displayed frame; draws less often than that.
  tick(now_ms: number): void {
    if (!this.stale_ || now_ms - this.last_update_ms_ < update_every_ms) return;
    if (this.element_.offsetParent === null) return;
    this.last_update_ms_ = now_ms;
    this.stale_ = false;
    const frames = this.history_.frames;
    const times = frames.map((frame) => frame.time);
    for (const panel of this.panels_) {
      if (panel.chart === null) continue;
      const curves = this.shown_names(panel).map((name) => {
        const at = this.scalars_.get(name)?.at ?? -1;
        return frames.map((frame) => {
          const value = frame.values[at];
          return value !== undefined && Math.abs(value) < largest_drawn ? value : null;
        });
      });
      panel.chart.setData([times, ...curves]);
      this.show_values(panel);
    }
  }

  private choose_values(panel: Panel): void {
    const filter = document.createElement("input");
    filter.type = "search";
    filter.placeholder = "Find a value";
    filter.setAttribute("aria-label", "Find a value");
    const list = document.createElement("div");
    list.className = "choices";
    for (const scalar of this.scalars_.values()) {
      const label = document.createElement("label");
      const box = document.createElement("input");
      box.type = "checkbox";
      box.checked = panel.names.includes(scalar.name);
      const name = document.createElement("span");
      name.textContent = scalar.name;
      const unit = document.createElement("span");
      unit.className = "unit";
      unit.textContent = scalar.unit;
      box.addEventListener("change", () => {
        panel.names = box.checked ? [...panel.names, scalar.name] : panel.names.filter((n) => n !== scalar.name);
        this.build(panel);
        this.keep();
      });
      label.append(box, name, unit);
      list.append(label);
    }
    filter.addEventListener("input", () => {
      const wanted = filter.value.toLowerCase();
      for (const label of list.children) (label as HTMLElement).hidden = !(label.textContent ?? "").toLowerCase().includes(wanted);
    });
    const done = document.createElement("button");
    done.type = "button";
    done.className = "primary";
    done.textContent = "Done";
    done.addEventListener("click", () => this.dialog_.close());
    const title = document.createElement("h2");
    title.textContent = "Values in this plot";
    this.dialog_.replaceChildren(title, filter, list, done);
    this.dialog_.showModal();
  }
}

// A little air above and below; a curve that does not move lies in the middle.
export function value_range(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) return [-1, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (high - low <= 1e-9 * size || high === low) return size === 0 ? [-1, 1] : [low - 0.5 * size, high + 0.5 * size];
  const air = 0.08 * (high - low);
  return [low - air, high + air];
}
