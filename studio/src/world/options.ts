// Options of a drawing. Enters: a constant, or a reference into the frame. Leaves: numbers, a point, a rotation, a text.
// Nothing here allocates once a drawing is made, apart from texts.

import { Matrix4, Vector3 } from "three";
import type { Drawing, DrawingOption, Reference } from "../protocol";

function is_reference(option: unknown): option is Reference {
  return typeof option === "object" && option !== null && "at" in option && "count" in option;
}

// Reads element `index` of an option; `fallback` beyond its end or where it is missing.
export type Reader = (values: Float64Array, index: number, fallback: number) => number;

export interface NumbersOption {
  count: number;
  at: number | null;
  read: Reader;
}

export function numbers_option(drawing: Drawing, name: string): NumbersOption | null {
  const option = drawing[name];
  if (option === undefined || option === null || typeof option === "string") return null;
  if (is_reference(option)) {
    const { at, count } = option;
    return {
      count,
      at,
      read: (values, index, fallback) => (index < count ? (values[at + index] ?? fallback) : fallback),
    };
  }
  const constants = (typeof option === "number" ? [option] : option).filter((e) => typeof e === "number");
  return { count: constants.length, at: null, read: (_, index, fallback) => constants[index] ?? fallback };
}

// Missing components are zero: a scalar lies on the x axis, a 2D point in the plane.
export function read_point(option: NumbersOption | null, values: Float64Array, into: Vector3): Vector3 {
  if (option === null) return into.set(0, 0, 0);
  return into.set(option.read(values, 0, 0), option.read(values, 1, 0), option.read(values, 2, 0));
}

// An angle (about z), or a 3 x 3 matrix row by row.
export function read_rotation(option: NumbersOption | null, values: Float64Array, into: Matrix4): Matrix4 {
  if (option === null) return into.identity();
  if (option.count < 9) return into.makeRotationZ(option.read(values, 0, 0));
  const r = (index: number): number => option.read(values, index, 0);
  return into.set(r(0), r(1), r(2), 0, r(3), r(4), r(5), 0, r(6), r(7), r(8), 0, 0, 0, 0, 1);
}

export function string_option(drawing: Drawing, name: string): string | null {
  const option = drawing[name];
  return typeof option === "string" ? option : null;
}

// The scalars a text shows: an array of constants and references, or one reference to several.
export function list_readers(option: Drawing[string] | undefined): ((values: Float64Array) => number | string)[] {
  if (option === undefined || option === null) return [];
  if (is_reference(option)) {
    return Array.from({ length: option.count }, (_, i) => (values: Float64Array) => values[option.at + i] ?? NaN);
  }
  if (Array.isArray(option)) return (option as DrawingOption[]).flatMap((element) => list_readers(element));
  return [() => option];
}

// `n = {0}` with the values put in; `{{` and `}}` are braces. A placeholder without a value stays as it is.
export function fill_template(template: string, values: readonly (number | string)[]): string {
  return template.replace(/\{\{|\}\}|\{(\d+)\}/g, (whole, digits: string | undefined) => {
    if (whole === "{{") return "{";
    if (whole === "}}") return "}";
    const value = values[Number(digits)];
    if (value === undefined) return whole;
    return typeof value === "number" ? format_number(value) : value;
  });
}

// Four significant digits, integers as they are; a minus as long as a plus.
export function format_number(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "not a number" : value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  const is_whole = Number.isInteger(value) && size < 1e7;
  const text = is_whole ? String(value) : size >= 1e6 || size < 1e-4 ? value.toExponential(3) : value.toPrecision(4);
  return with_minus(text);
}

export const with_minus = (number: string): string => number.replaceAll("-", "−");
