// Sliders. Enters: the parameters of a world, changes by other clients. Leaves: `set` messages, each parameter at most once a displayed frame.
// A parameter without a range goes from 0 to twice its size, or -1 to 1 when it starts at 0. Double click: back to the start.

import type { ClientMessage, Parameter } from "./protocol";
import { format_number } from "./world/options";

const slider_steps = 1000;
const filter_from = 10;

export function slider_range(parameter: Parameter): [number, number] {
  if (parameter.low !== null && parameter.high !== null && parameter.low < parameter.high) return [parameter.low, parameter.high];
  const { initial } = parameter;
  if (initial === 0) return [-1, 1];
  return initial > 0 ? [0, 2 * initial] : [2 * initial, 0];
}

interface Row {
  parameter: Parameter;
  range: [number, number];
  element: HTMLElement;
  slider: HTMLInputElement;
  number: HTMLInputElement;
}

export class Parameters {
  private readonly rows_ = new Map<string, Row>();
  private readonly waiting_ = new Map<string, number>();

  constructor(
    private readonly element_: HTMLElement,
    private readonly send_: (message: ClientMessage) => boolean,
  ) {}

  set_world(parameters: readonly Parameter[]): void {
    const same = parameters.length > 0 && parameters.length === this.rows_.size && parameters.every((p) => this.is_same(p));
    if (same) {
      for (const parameter of parameters) this.take_value(parameter.name, parameter.value);
      return;
    }
    this.rows_.clear();
    this.waiting_.clear();
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
    return known.unit === parameter.unit && known.initial === parameter.initial && known.low === parameter.low && known.high === parameter.high;
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
    element.title = `starts at ${format_number(parameter.initial)}; double click to go back there`;
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
    number.setAttribute("aria-label", `${parameter.name}, number`);
    const slider = document.createElement("input");
    slider.type = "range";
    slider.id = id;
    slider.min = "0";
    slider.max = String(slider_steps);
    slider.step = "1";
    element.append(label, unit, number, slider);
    const row: Row = { parameter: { ...parameter }, range: slider_range(parameter), element, slider, number };
    this.rows_.set(parameter.name, row);
    slider.addEventListener("input", () => {
      const [low, high] = row.range;
      // Digits that the width of the range can tell apart, and no more.
      const digits = Math.max(0, 3 - Math.floor(Math.log10(high - low)));
      const value = low + ((high - low) * Number(slider.value)) / slider_steps;
      this.choose(row, Number(value.toFixed(Math.min(digits, 15))));
    });
    slider.addEventListener("dblclick", () => this.choose(row, row.parameter.initial));
    label.addEventListener("dblclick", () => this.choose(row, row.parameter.initial));
    number.addEventListener("change", () => {
      const value = Number(number.value.replace(",", ".").replace("−", "-"));
      if (number.value.trim() !== "" && Number.isFinite(value)) this.choose(row, value);
      else this.show(row);
    });
    number.addEventListener("keydown", (event) => {
      if (event.key === "Enter") number.blur();
      if (event.key === "Escape") {
        this.show(row);
        number.blur();
      }
    });
    this.show(row);
    this.element_.append(element);
  }

  private choose(row: Row, value: number): void {
    row.parameter.value = value;
    this.waiting_.set(row.parameter.name, value);
    this.show(row);
  }

  private show(row: Row): void {
    const { value, initial } = row.parameter;
    const [low, high] = row.range;
    const share = Math.min(Math.max((value - low) / (high - low), 0), 1);
    row.slider.value = String(Math.round(share * slider_steps));
    row.slider.style.setProperty("--share", `${share * 100}%`);
    row.slider.setAttribute("aria-valuetext", `${format_number(value)} ${row.parameter.unit}`);
    if (document.activeElement !== row.number) row.number.value = String(Number(value.toPrecision(7)));
    row.element.dataset["changed"] = String(value !== initial);
  }

  // A value somebody else chose; one that is on its way from here wins.
  take_value(name: string, value: number): void {
    const row = this.rows_.get(name);
    if (row === undefined || this.waiting_.has(name)) return;
    // The server answers with what was sent some frames ago; a slider under the finger must not jump back.
    if (row.slider.matches(":active")) return;
    row.parameter.value = value;
    this.show(row);
  }

  // Once a displayed frame.
  tick(): void {
    for (const [name, value] of this.waiting_) {
      if (this.send_({ type: "set", name, value })) this.waiting_.delete(name);
    }
  }
}
