// Sliders. Enters: the parameters of a world, changes by other clients, refusals. Leaves: `set` messages, each parameter at most once a displayed frame.
// Numbers are shown and typed in the unit that the text writes, and sent in SI. What a person chose is shown until the server has answered; then the
// server's value is, so that a refused one does not stay. A parameter without a range goes from 0 to twice its size, or -1 to 1 when it starts at 0.
// Double click: back to the start.

import type { ClientMessage, Parameter } from "./protocol";
import { format_number } from "./world/options";

const slider_steps = 1000;
const filter_from = 10;
const answer_within_ms = 2000;

export function slider_range(parameter: Parameter): [number, number] {
  if (parameter.low !== null && parameter.high !== null && parameter.low < parameter.high) return [parameter.low, parameter.high];
  const { initial } = parameter;
  if (initial === 0) return [-parameter.size, parameter.size];
  return initial > 0 ? [0, 2 * initial] : [2 * initial, 0];
}

// As a person writes it in that unit: 0.3490658503988659 of a `size` of pi / 180 is 20.
export function in_unit(value: number, size: number): number {
  return Number((value / size).toPrecision(12));
}

// And back; a number that reads like one of the parameter's own is that one, to the last digit.
export function from_unit(shown: number, parameter: Parameter): number {
  for (const known of [parameter.initial, parameter.low, parameter.high]) {
    if (known !== null && Number((known / parameter.size).toPrecision(12)) === shown) return known;
  }
  return shown * parameter.size;
}

// A typed number, with a comma or a long minus, and perhaps the unit behind it, in brackets or not; null when it is none, or could be two.
export function read_number(text: string, unit: string): number | null {
  const trimmed = text.trim();
  const endings = unit === "" ? [] : [`[${unit}]`, unit, ...(unit === "deg" ? ["°"] : [])];
  const ending = endings.find((each) => trimmed.endsWith(each)) ?? "";
  const bare = trimmed.slice(0, trimmed.length - ending.length).trim().replace("−", "-");
  if (/^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(bare)) return null; // 1,000: a thousand, or one?
  const plain = bare.replace(",", ".");
  const value = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
  return Number.isFinite(value) ? value : null;
}

interface Row {
  // Its value: what the server holds.
  parameter: Parameter;
  // What a person chose and the server has not answered.
  chosen: { value: number; sent_ms: number | null } | null;
  range: [number, number];
  element: HTMLElement;
  slider: HTMLInputElement;
  number: HTMLInputElement;
}

export class Parameters {
  private readonly rows_ = new Map<string, Row>();

  constructor(
    private readonly element_: HTMLElement,
    private readonly send_: (message: ClientMessage) => boolean,
    private readonly note_: (text: string) => void,
  ) {}

  set_world(parameters: readonly Parameter[]): void {
    const same = parameters.length > 0 && parameters.length === this.rows_.size && parameters.every((p) => this.is_same(p));
    if (same) {
      for (const parameter of parameters) this.take_value(parameter.name, parameter.value);
      return;
    }
    this.rows_.clear();
    this.element_.replaceChildren();
    if (parameters.length === 0) {
      const empty = document.createElement("p");
      empty.className = "empty";
      empty.append("This world has no parameters. Write ");
      const code = document.createElement("code");
      code.textContent = "parameter k = 4 in 0..50;";
      empty.append(code, " and a slider appears here.");
      this.element_.append(empty);
      return;
    }
    if (parameters.length >= filter_from) this.add_filter();
    for (const parameter of parameters) this.add_row(parameter);
  }

  private is_same(parameter: Parameter): boolean {
    const known = this.rows_.get(parameter.name)?.parameter;
    if (known === undefined) return false;
    return (["unit", "size", "initial", "low", "high"] as const).every((field) => known[field] === parameter[field]);
  }

  private add_filter(): void {
    const filter = document.createElement("input");
    filter.type = "search";
    filter.placeholder = "Find a parameter";
    filter.className = "filter";
    filter.setAttribute("aria-label", "Find a parameter");
    filter.addEventListener("input", () => {
      const wanted = filter.value.toLowerCase();
      for (const [name, row] of this.rows_) row.element.hidden = !name.toLowerCase().includes(wanted);
    });
    this.element_.append(filter);
  }

  private add_row(parameter: Parameter): void {
    const element = document.createElement("div");
    element.className = "parameter";
    element.title = `starts at ${format_number(in_unit(parameter.initial, parameter.size))} ${parameter.unit}; double click to go back there`.replace(" ;", ";");
    const id = `parameter-${this.rows_.size}`;
    const label = document.createElement("label");
    label.htmlFor = id;
    label.textContent = parameter.name;
    const unit = document.createElement("span");
    unit.className = "unit";
    unit.textContent = parameter.unit;
    const number = document.createElement("input");
    number.type = "text";
    number.inputMode = "decimal";
    number.className = "number";
    number.setAttribute("aria-label", `${parameter.name}, number${parameter.unit === "" ? "" : ` in ${parameter.unit}`}`);
    const slider = document.createElement("input");
    slider.type = "range";
    slider.id = id;
    slider.min = "0";
    slider.max = String(slider_steps);
    slider.step = "1";
    element.append(label, number, unit, slider);
    const row: Row = { parameter: { ...parameter }, chosen: null, range: slider_range(parameter), element, slider, number };
    this.rows_.set(parameter.name, row);
    slider.addEventListener("input", () => {
      const { size } = parameter;
      const [low, high] = row.range.map((end) => end / size) as [number, number];
      // Digits that the width of the range can tell apart, and no more.
      const digits = Math.max(0, 3 - Math.floor(Math.log10(high - low)));
      const shown = low + ((high - low) * Number(slider.value)) / slider_steps;
      const at_an_end = Number(slider.value) === 0 ? row.range[0] : Number(slider.value) === slider_steps ? row.range[1] : null;
      this.choose(row, at_an_end ?? from_unit(Number(shown.toFixed(Math.min(digits, 100))), parameter));
    });
    slider.addEventListener("dblclick", () => this.choose(row, row.parameter.initial));
    label.addEventListener("dblclick", () => this.choose(row, row.parameter.initial));
    number.addEventListener("change", () => {
      const typed = number.value;
      const value = read_number(typed, parameter.unit);
      if (value !== null) this.choose(row, from_unit(value, parameter));
      else if (typed.trim() !== "") this.note_(`\`${parameter.name}\` needs a number${parameter.unit === "" ? "" : ` in ${parameter.unit}`}, not \`${typed.trim().slice(0, 40)}\``);
    });
    // Whatever stands there when it is left: the value in force, or on its way.
    number.addEventListener("blur", () => this.show(row));
    number.addEventListener("keydown", (event) => {
      if (event.key === "Enter") number.blur();
      if (event.key === "Escape") {
        this.show_number(row);
        number.blur();
      }
    });
    this.show(row);
    this.element_.append(element);
  }

  private choose(row: Row, value: number): void {
    row.chosen = { value, sent_ms: null };
    this.show(row);
  }

  private show_number(row: Row): void {
    row.number.value = String(in_unit(row.chosen?.value ?? row.parameter.value, row.parameter.size));
  }

  private show(row: Row): void {
    const value = row.chosen?.value ?? row.parameter.value;
    const { initial, size, unit } = row.parameter;
    const [low, high] = row.range;
    const share = Math.min(Math.max((value - low) / (high - low), 0), 1);
    row.slider.value = String(Math.round(share * slider_steps));
    row.slider.style.setProperty("--share", `${share * 100}%`);
    row.slider.setAttribute("aria-valuetext", `${format_number(in_unit(value, size))} ${unit}`.trim());
    if (document.activeElement !== row.number) this.show_number(row);
    row.element.dataset["changed"] = String(value !== initial);
  }

  // A value that is in force: somebody set it, or it was refused. One that is on its way from here is shown until it is answered.
  take_value(name: string, value: number, refused = false): void {
    const row = this.rows_.get(name);
    if (row === undefined) return;
    row.parameter.value = value;
    if (refused || row.chosen?.value === value) row.chosen = null;
    this.show(row);
  }

  // Nothing is on its way any more: what is shown is what the server last said.
  forget_choices(): void {
    for (const row of this.rows_.values()) {
      row.chosen = null;
      this.show(row);
    }
  }

  // Once a displayed frame.
  tick(now_ms: number): void {
    for (const [name, row] of this.rows_) {
      if (row.chosen === null) continue;
      if (row.chosen.sent_ms === null) {
        if (this.send_({ type: "set", name, value: row.chosen.value })) row.chosen.sent_ms = now_ms;
        else row.chosen = null;
      } else if (now_ms - row.chosen.sent_ms > answer_within_ms) {
        row.chosen = null;
      } else {
        continue;
      }
      this.show(row);
    }
  }
}
