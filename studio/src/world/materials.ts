// Four materials, made for a renderer without a graphics card: no lights, no textures, no shadow maps, smooth edges without multisampling.
// soft: half Lambert from the upper left of the camera, and a rim towards the ink of the theme, so that a white ball on white and
//       a black ball on black still have an edge.
// ball: the same light on a sphere of two triangles that face the camera; each pixel meets its ray with the sphere, so it is round at every zoom.
// rod:  the same light on a cylinder or cone in a flat world, of two triangles.
// line: a strip of triangles as wide as asked in pixels, wherever the camera stands.

import { type Color, type Matrix4, ShaderMaterial, type Vector2 } from "three";

export interface Theme {
  background: Color;
  ink: Color;
  accent: Color;
  palette: Color[];
}

const light = `
uniform vec3 ink;
uniform vec3 background;
vec3 shade(vec3 color, vec3 n, float away) {
  float lit = 0.5 + 0.5 * dot(n, vec3(-0.37, 0.56, 0.74));
  vec3 c = color * mix(0.55, 1.0, lit) + vec3(0.10) * smoothstep(0.80, 1.0, lit);
  return mix(c, mix(ink, background, 0.3), 0.8 * pow(away, 7.0));
}`;

// What stands in for instances: solids.ts.
const written_out = `
#ifdef WRITTEN_OUT
attribute mat4 instanceMatrix;
attribute vec3 instanceColor;
#endif
`;

const ball_vertex = `${written_out}
varying vec3 v_place;
varying vec3 v_center;
varying float v_radius;
varying vec3 v_color;
void main() {
  vec3 center = (modelViewMatrix * instanceMatrix[3]).xyz;
  float radius = length(instanceMatrix[0].xyz);
  // From nearby one sees a sphere wider than its diameter.
  vec3 back = isOrthographic ? vec3(0.0, 0.0, 1.0) : -normalize(center);
  float distance_ratio = isOrthographic ? 0.0 : min(radius / length(center), 0.95);
  float reach = 1.06 * radius / sqrt(1.0 - distance_ratio * distance_ratio);
  vec3 right = normalize(cross(vec3(0.0, 1.0, 0.0), back));
  vec3 up = cross(back, right);
  v_place = center + reach * (position.x * right + position.y * up);
  v_center = center;
  v_radius = radius;
  v_color = instanceColor;
  gl_Position = projectionMatrix * vec4(v_place, 1.0);
}`;

const ball_fragment = `
varying vec3 v_place;
varying vec3 v_center;
varying float v_radius;
varying vec3 v_color;
uniform mat4 projection;
${light}
void main() {
  vec3 ray = isOrthographic ? vec3(0.0, 0.0, -1.0) : normalize(v_place);
  vec3 from = isOrthographic ? vec3(v_place.xy, v_center.z + 2.0 * v_radius) : vec3(0.0);
  float along = dot(v_center - from, ray);
  float beside = length(v_center - from - along * ray);
  float edge = clamp((v_radius - beside) / max(fwidth(beside), 1e-9) + 0.5, 0.0, 1.0);
  if (edge < 0.02) discard;
  float depth = sqrt(max(v_radius * v_radius - beside * beside, 0.0));
  vec3 hit = from + (along - depth) * ray;
  vec3 n = normalize(hit - v_center);
  float away = min(beside / v_radius, 1.0);
  gl_FragColor = vec4(shade(v_color, n, away), edge);
#ifdef DEEP
  vec4 clip = projection * vec4(hit, 1.0);
  gl_FragDepth = 0.5 + 0.5 * clip.z / clip.w;
#endif
}`;

// For instances whose matrix is a scale and a place. `projection` is the camera's own matrix, which three.js gives to vertices only.
export function make_ball_material(theme: Theme, flat: boolean, projection: Matrix4): ShaderMaterial {
  return new ShaderMaterial({
    vertexShader: ball_vertex,
    fragmentShader: ball_fragment,
    uniforms: { ink: { value: theme.ink }, background: { value: theme.background }, projection: { value: projection } },
    defines: flat ? {} : { DEEP: "" },
    transparent: true,
  });
}

const rod_vertex = `${written_out}
varying vec2 v_place;
varying vec3 v_aside;
varying vec3 v_color;
void main() {
  // A little beyond the shape, so that its edges can fade.
  v_place = vec2(1.15 * position.x, position.y);
  v_aside = normalize(mat3(modelViewMatrix) * instanceMatrix[0].xyz);
  v_color = instanceColor;
  gl_Position = projectionMatrix * (modelViewMatrix * (instanceMatrix * vec4(v_place, 0.0, 1.0)));
}`;

const rod_fragment = `
varying vec2 v_place;
varying vec3 v_aside;
varying vec3 v_color;
uniform float taper;
${light}
void main() {
  float half_width = mix(1.0, max(1.0 - v_place.y, 1e-3), taper);
  float s = v_place.x / half_width;
  float edge = clamp((half_width - abs(v_place.x)) / max(fwidth(v_place.x) * (1.0 + 0.5 * taper), 1e-9) + 0.5, 0.0, 1.0);
  float away = min(abs(s), 1.0);
  vec3 n = v_aside * clamp(s, -1.0, 1.0) + vec3(0.0, 0.0, sqrt(1.0 - away * away));
  if (edge < 0.02) discard;
  gl_FragColor = vec4(shade(v_color, n, taper > 0.5 ? 0.0 : away), edge);
}`;

// For instances laid by rod.ts in a flat world. `taper` 1: a cone.
export function make_rod_material(theme: Theme, taper: 0 | 1): ShaderMaterial {
  return new ShaderMaterial({
    vertexShader: rod_vertex,
    fragmentShader: rod_fragment,
    uniforms: { ink: { value: theme.ink }, background: { value: theme.background }, taper: { value: taper } },
    transparent: true,
    side: 2,
  });
}

const soft_vertex = `${written_out}
varying vec3 v_normal;
varying vec3 v_towards;
varying vec3 v_color;
uniform vec3 color;
void main() {
  vec3 n = normal;
  vec4 p = vec4(position, 1.0);
  v_color = color;
#if defined(USE_INSTANCING) || defined(WRITTEN_OUT)
  mat3 m = mat3(instanceMatrix);
  n /= max(vec3(dot(m[0], m[0]), dot(m[1], m[1]), dot(m[2], m[2])), vec3(1e-30));
  n = m * n;
  p = instanceMatrix * p;
#endif
#if defined(USE_INSTANCING_COLOR) || defined(WRITTEN_OUT)
  v_color = instanceColor;
#endif
  v_normal = normalMatrix * n;
  vec4 seen = modelViewMatrix * p;
  v_towards = isOrthographic ? vec3(0.0, 0.0, 1.0) : -seen.xyz;
  gl_Position = projectionMatrix * seen;
}`;

const soft_fragment = `
varying vec3 v_normal;
varying vec3 v_towards;
varying vec3 v_color;
${light}
void main() {
  vec3 n = normalize(v_normal);
  if (!gl_FrontFacing) n = -n;
  float away = sqrt(max(1.0 - pow(dot(n, normalize(v_towards)), 2.0), 0.0));
  gl_FragColor = vec4(shade(v_color, n, away), 1.0);
}`;

export function make_soft_material(theme: Theme, color?: Color): ShaderMaterial {
  return new ShaderMaterial({
    vertexShader: soft_vertex,
    fragmentShader: soft_fragment,
    uniforms: {
      ink: { value: theme.ink },
      background: { value: theme.background },
      color: { value: color ?? theme.accent },
    },
  });
}

const line_vertex = `
attribute vec3 before;
attribute vec3 after;
attribute float side;
attribute float place;
attribute vec3 tint;
uniform vec2 viewport;
uniform float width;
uniform float count;
uniform float fade;
varying float v_alpha;
varying float v_across;
varying vec3 v_tint;
// Vector by matrix by matrix: the other way round each vertex would multiply matrices.
vec4 to_clip(vec3 point) { return projectionMatrix * (modelViewMatrix * vec4(point, 1.0)); }
vec2 to_pixels(vec4 clip) { return clip.xy / max(clip.w, 1e-6) * viewport * 0.5; }
void main() {
  vec4 clip = to_clip(position);
  vec2 here = to_pixels(clip);
  vec2 from = here - to_pixels(to_clip(before));
  vec2 to = to_pixels(to_clip(after)) - here;
  vec2 a = dot(from, from) > 1e-6 ? normalize(from) : vec2(0.0);
  vec2 b = dot(to, to) > 1e-6 ? normalize(to) : a;
  if (a == vec2(0.0)) a = b;
  vec2 along = a + b;
  along = dot(along, along) > 1e-4 ? normalize(along) : b;
  vec2 across = vec2(-along.y, along.x);
  float miter = 1.0 / max(dot(across, vec2(-b.y, b.x)), 0.35);
  float half_width = 0.5 * width + 0.75;
  clip.xy += across * side * half_width * miter / (viewport * 0.5) * clip.w;
  v_across = side * half_width;
  v_tint = tint;
  v_alpha = mix(1.0, pow(clamp(place / max(count - 1.0, 1.0), 0.0, 1.0), 1.5), fade);
  gl_Position = clip;
}`;

const line_fragment = `
uniform float width;
varying float v_alpha;
varying float v_across;
varying vec3 v_tint;
void main() {
  float edge = clamp(0.5 * width + 0.5 - abs(v_across), 0.0, 1.0);
  gl_FragColor = vec4(v_tint, v_alpha * edge);
}`;

// `viewport` in pixels of the canvas, shared by all lines and kept by the view.
export function make_line_material(width: number, fade: number, viewport: Vector2): ShaderMaterial {
  return new ShaderMaterial({
    vertexShader: line_vertex,
    fragmentShader: line_fragment,
    uniforms: {
      width: { value: width },
      fade: { value: fade },
      count: { value: 2 },
      viewport: { value: viewport },
    },
    transparent: true,
    depthWrite: false,
    side: 2,
  });
}
