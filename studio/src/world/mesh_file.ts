// Files of triangles. Enters: the bytes of an .stl (binary or text) or .obj file. Leaves: corners of triangles, nine numbers each;
// empty for what is neither. A triangle with a corner that is missing or not finite is left out: one of them would make the extent of the
// whole picture a number that is none.

export function parse_triangles(name: string, bytes: ArrayBuffer): Float32Array {
  if (name.toLowerCase().endsWith(".obj")) return parse_obj(new TextDecoder().decode(bytes));
  if (bytes.byteLength >= 84) {
    const view = new DataView(bytes);
    const count = view.getUint32(80, true);
    if (bytes.byteLength === 84 + 50 * count) return parse_binary_stl(view, count);
  }
  return parse_text_stl(new TextDecoder().decode(bytes));
}

// Puts nine numbers behind the triangles so far if they are a triangle.
function add_triangle(corners: number[], triangle: number[]): void {
  if (triangle.length === 9 && triangle.every((number) => Number.isFinite(Math.fround(number)))) corners.push(...triangle);
}

// 80 bytes of heading, the number of triangles, then for each a normal, three corners and two bytes.
function parse_binary_stl(view: DataView, count: number): Float32Array {
  const corners: number[] = [];
  const triangle = new Array<number>(9);
  for (let i = 0; i < count; ++i) {
    for (let k = 0; k < 9; ++k) triangle[k] = view.getFloat32(84 + 50 * i + 12 + 4 * k, true);
    add_triangle(corners, triangle);
  }
  return new Float32Array(corners);
}

// A new facet begins a new triangle, whatever the one before it lacked.
function parse_text_stl(text: string): Float32Array {
  const corners: number[] = [];
  let triangle: number[] = [];
  for (const match of text.matchAll(/facet|vertex[^\S\n]+(\S+)[^\S\n]+(\S+)[^\S\n]+(\S+)/g)) {
    if (match[1] === undefined) {
      triangle = [];
      continue;
    }
    triangle.push(Number(match[1]), Number(match[2]), Number(match[3]));
    if (triangle.length < 9) continue;
    add_triangle(corners, triangle);
    triangle = [];
  }
  return new Float32Array(corners);
}

function parse_obj(text: string): Float32Array {
  const points: number[][] = [];
  const corners: number[] = [];
  for (const line of text.split("\n")) {
    const words = line.trim().split(/\s+/);
    if (words[0] === "v") points.push(words.slice(1, 4).map(Number));
    if (words[0] !== "f") continue;
    const face = words.slice(1).map((word) => {
      const index = parseInt(word, 10);
      return points[index < 0 ? points.length + index : index - 1];
    });
    for (let i = 1; i + 1 < face.length; ++i) {
      add_triangle(corners, [face[0] ?? [], face[i] ?? [], face[i + 1] ?? []].flat());
    }
  }
  return new Float32Array(corners);
}
