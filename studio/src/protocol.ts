// What the page and `tactus play` say to each other in JSON (motion comes in binary: frames.ts).
// Enters: the text of a message from the server. Leaves: a typed message, or null for one this page does not know,
// which is dropped so that a newer server may say more.

export interface SourceFile {
  name: string;
  text: string;
  edited: boolean;
}

export interface ValueLayout {
  name: string;
  unit: string;
  rows: number;
  columns: number;
  at: number;
  flags: string[];
}

// Numbers in SI; `size` is one `unit`, the text's own, in SI.
export interface Parameter {
  name: string;
  unit: string;
  size: number;
  value: number;
  initial: number;
  low: number | null;
  high: number | null;
}

export type Triple = [number, number, number];

// A point P of the picture is the hand at (P - offset) / scale.
export interface HandSetup {
  device: string;
  components: number;
  scale: Triple;
  offset: Triple;
  handle: string | null;
  limit: number;
}

export interface Reference {
  at: number;
  count: number;
}

export type DrawingOption = number | number[] | string | Reference;

export interface Drawing {
  kind: string;
  [option: string]: DrawingOption | DrawingOption[];
}

export interface World {
  type: "world";
  generation: number;
  name: string;
  dimensions: 2 | 3;
  rate: number;
  files: SourceFile[];
  values: ValueLayout[];
  parameters: Parameter[];
  hand: HandSetup | null;
  drawings: Drawing[];
  plots: string[][];
  notes: string[];
}

export interface DiagnosticItem {
  file: string;
  line: number;
  column: number;
  end_line: number;
  end_column: number;
  severity: string;
  code: string;
  text: string;
  hint: string;
}

export interface Failure {
  kind: string;
  text: string;
  hint: string;
  line: number | null;
}

export interface State {
  type: "state";
  paused: boolean;
  speed: number;
  time: number;
  failure: Failure | null;
  ended: { text: string; hint: string } | null;
}

// Times in microseconds, `slipped` in seconds, `steal` in percent.
export interface Statistics {
  type: "statistics";
  ticks: number;
  late: { median: number; p99: number; p999: number };
  compute: { median: number; p99: number; longest: number };
  missed: number;
  slipped: number;
  steal: number;
  steps: number;
  scheduling: string;
  frames: number;
  clients: number;
}

export type ServerMessage =
  | World
  | State
  | Statistics
  | { type: "diagnostics"; version: number; items: DiagnosticItem[] }
  | { type: "parameter"; name: string; value: number; refused?: boolean }
  | { type: "hand"; refused: string | null }
  | { type: "saved"; file: string; failure: string | null }
  | { type: "note"; text: string };

export type ClientMessage =
  | { type: "hello"; version: 1 }
  | { type: "pause" | "resume" | "step" | "reset" | "leave" }
  | { type: "speed"; value: number }
  | { type: "set"; name: string; value: number }
  | { type: "hand"; position: Triple; button: boolean }
  | { type: "edit"; file: string; text: string; version: number }
  | { type: "save"; file: string };

const known_types = new Set(["world", "state", "statistics", "diagnostics", "parameter", "hand", "saved", "note"]);

export function parse_message(text: string): ServerMessage | null {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof message !== "object" || message === null || !("type" in message)) return null;
  if (typeof message.type !== "string" || !known_types.has(message.type)) return null;
  return message as ServerMessage;
}

// The scalars of a world by the names that plots use: `a`, `p[1]`, `R[2][3]`; each with its place in a frame.
export interface Scalar {
  name: string;
  unit: string;
  at: number;
  discrete: boolean;
}

export function list_scalars(values: ValueLayout[]): Scalar[] {
  const scalars: Scalar[] = [];
  for (const value of values) {
    const discrete = value.flags.includes("discrete");
    for (let row = 0; row < value.rows; ++row) {
      for (let column = 0; column < value.columns; ++column) {
        let name = value.name;
        if (value.columns > 1) name += `[${row + 1}][${column + 1}]`;
        else if (value.rows > 1) name += `[${row + 1}]`;
        scalars.push({ name, unit: value.unit, at: value.at + row * value.columns + column, discrete });
      }
    }
  }
  return scalars;
}
