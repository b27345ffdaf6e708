// The scene of a world. Enters: its drawings. Leaves: one view for each, from the table of makers; kinds this page does not know are left
// out and reported once.

import { Color } from "three";
import type { Drawing } from "../protocol";
import { make_arrow } from "./arrow";
import { make_box } from "./box";
import { make_cylinder } from "./cylinder";
import { make_ground } from "./ground";
import { make_mesh } from "./mesh";
import { string_option } from "./options";
import { make_sphere } from "./sphere";
import { make_spring } from "./spring";
import { type DrawingView, type Maker, most_drawings, type Stage } from "./stage";
import { make_text } from "./text";
import { make_trace } from "./trace";

const makers: Readonly<Record<string, Maker>> = {
  sphere: make_sphere,
  box: make_box,
  cylinder: make_cylinder,
  spring: make_spring,
  arrow: make_arrow,
  trace: make_trace,
  text: make_text,
  ground: make_ground,
  mesh: make_mesh,
};

// Kinds that take their colour from the palette in turn; the others are drawn in ink or accent.
const chosen_from_palette = new Set(["sphere", "box", "mesh", "trace"]);

// `turn` of `turns`: more things than colours are all of the first, a rainbow says nothing.
function choose_color(drawing: Drawing, stage: Stage, turn: number, turns: number): Color {
  const given = string_option(drawing, "color");
  if (given !== null && CSS.supports("color", given)) return new Color(given);
  const { palette } = stage.theme;
  if (chosen_from_palette.has(drawing.kind)) return turns > palette.length ? palette[0]! : palette[turn]!;
  if (drawing.kind === "arrow") return stage.theme.accent;
  return stage.theme.ink.clone().lerp(stage.theme.background, 0.4);
}

export function make_drawings(drawings: readonly Drawing[], stage: Stage): DrawingView[] {
  const views: DrawingView[] = [];
  const turns = new Map<string, number>();
  const totals = new Map<string, number>();
  for (const { kind } of drawings) totals.set(kind, (totals.get(kind) ?? 0) + 1);
  const unknown = new Set<string>();
  for (const drawing of drawings) {
    if (drawing.kind === "camera") continue;
    const maker = makers[drawing.kind];
    if (maker === undefined) {
      unknown.add(drawing.kind);
      continue;
    }
    const turn = turns.get(drawing.kind) ?? 0;
    turns.set(drawing.kind, turn + 1);
    const color = choose_color(drawing, stage, turn, totals.get(drawing.kind) ?? 1);
    const height = stage.flat ? Math.min(views.length + 1, most_drawings) : 0;
    views.push(maker(drawing, stage, color, height));
  }
  stage.solids.build(stage.scene, stage.theme, stage.flat, stage.projection);
  stage.springs.build(stage.scene, stage.viewport);
  stage.edges.build(stage.scene, stage.viewport);
  for (const kind of unknown) stage.report(`this page cannot draw a ${kind}`);
  return views;
}
