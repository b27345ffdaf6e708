// Two materials, both made for a renderer without a graphics card: no lights, no textures, no shadow maps, smooth edges without multisampling.
// soft: half Lambert from the upper left of the camera, and a rim towards the ink of the theme, so that a white ball on white and
//       a black ball on black still have an edge. A round shape ends where its surface turns away; the last pixel before that fades.
// line: a strip of triangles as wide as asked in pixels, wherever the camera stands.

import { type Color, ShaderMaterial, Vector2 } from "three";

export interface Theme {
  background: Color;
  ink: Color;
  accent: Color;
  palette: Color[];
}

const soft_vertex = `
varying vec3 v_normal;
varying vec3 v_towards;
varying vec3 v_color;
uniform vec3 color;
void main() {
  vec3 n = normal;
  vec4 p = vec4(position, 1.0);
  v_color = color;
#ifdef USE_INSTANCING
  mat3 m = mat3(instanceMatrix);
  n /= max(vec3(dot(m[0], m[0]), dot(m[1], m[1]), dot(m[2], m[2])), vec3(1e-30));
  n = m * n;
  p = instanceMatrix * p;
#endif
#ifdef USE_INSTANCING_COLOR
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
uniform vec3 ink;
uniform vec3 background;
uniform float round_edge;
void main() {
  vec3 n = normalize(v_normal);
  if (!gl_FrontFacing) n = -n;
  float lit = 0.5 + 0.5 * dot(n, vec3(-0.37, 0.56, 0.74));
  vec3 c = v_color * mix(0.55, 1.0, lit) + vec3(0.10) * smoothstep(0.80, 1.0, lit);
  float away = sqrt(max(1.0 - pow(dot(n, normalize(v_towards)), 2.0), 0.0));
  float rim = pow(away, 8.0);
  float edge = clamp((1.0 - away) / max(fwidth(away), 1e-5), 0.0, 1.0);
  gl_FragColor = vec4(mix(c, mix(ink, background, 0.35), 0.7 * rim), mix(1.0, edge, round_edge));
}`;

// `round`: the shape has no flat faces, so its edges may fade.
export function make_soft_material(theme: Theme, flat: boolean, round: boolean, color?: Color): ShaderMaterial {
  return new ShaderMaterial({
    vertexShader: soft_vertex,
    fragmentShader: soft_fragment,
    uniforms: {
      ink: { value: theme.ink },
      background: { value: theme.background },
      color: { value: color ?? theme.accent },
      round_edge: { value: round ? 1 : 0 },
    },
    depthTest: !flat,
    depthWrite: !flat,
    transparent: flat || round,
  });
}

const line_vertex = `
attribute vec3 before;
attribute vec3 after;
attribute float side;
attribute float place;
uniform vec2 viewport;
uniform float width;
uniform float count;
uniform float fade;
varying float v_alpha;
varying float v_across;
vec2 to_pixels(vec4 clip) { return clip.xy / max(clip.w, 1e-6) * viewport * 0.5; }
void main() {
  vec4 clip = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  vec2 here = to_pixels(clip);
  vec2 from = here - to_pixels(projectionMatrix * modelViewMatrix * vec4(before, 1.0));
  vec2 to = to_pixels(projectionMatrix * modelViewMatrix * vec4(after, 1.0)) - here;
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
  v_alpha = mix(1.0, pow(clamp(place / max(count - 1.0, 1.0), 0.0, 1.0), 1.5), fade);
  gl_Position = clip;
}`;

const line_fragment = `
uniform vec3 color;
uniform float opacity;
uniform float width;
varying float v_alpha;
varying float v_across;
void main() {
  float edge = clamp(0.5 * width + 0.5 - abs(v_across), 0.0, 1.0);
  gl_FragColor = vec4(color, opacity * v_alpha * edge);
}`;

// `viewport` in pixels of the canvas, shared by all lines and kept by the view.
export function make_line_material(color: Color, width: number, fade: number, flat: boolean, viewport: Vector2): ShaderMaterial {
  return new ShaderMaterial({
    vertexShader: line_vertex,
    fragmentShader: line_fragment,
    uniforms: {
      color: { value: color },
      width: { value: width },
      fade: { value: fade },
      count: { value: 2 },
      opacity: { value: 1 },
      viewport: { value: viewport },
    },
    transparent: true,
    depthTest: !flat,
    depthWrite: false,
    side: 2,
  });
}
