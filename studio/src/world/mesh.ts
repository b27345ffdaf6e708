// mesh: file, at, scale, rotation, color. The file comes from the model's folder; until it is there, and when it cannot be read, nothing is drawn
// and a note says why.

import { BufferAttribute, BufferGeometry, Mesh, Vector3 } from "three";
import { extend_bounds } from "./framing";
import { make_soft_material } from "./materials";
import { parse_triangles } from "./mesh_file";
import { numbers_option, read_point, read_rotation, string_option } from "./options";
import { layer, type Maker } from "./stage";

async function load_geometry(file: string): Promise<BufferGeometry> {
  const answer = await fetch(`/files/${file.split("/").map(encodeURIComponent).join("/")}`);
  if (!answer.ok) throw new Error(`the server has no file ${file}`);
  const corners = parse_triangles(file, await answer.arrayBuffer());
  if (corners.length === 0) throw new Error(`${file} holds no triangles that can be read: .stl and .obj files are`);
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(corners, 3));
  geometry.computeVertexNormals();
  geometry.computeBoundingSphere();
  return geometry;
}

export const make_mesh: Maker = (drawing, stage, color, height) => {
  const at = numbers_option(drawing, "at");
  const scale = numbers_option(drawing, "scale");
  const rotation = numbers_option(drawing, "rotation");
  const file = string_option(drawing, "file") ?? "";
  const material = make_soft_material(stage.theme, color);
  material.side = 2;
  const mesh = new Mesh(new BufferGeometry(), material);
  mesh.matrixAutoUpdate = false;
  mesh.frustumCulled = false;
  mesh.visible = false;
  mesh.renderOrder = layer.solid;
  stage.scene.add(mesh);
  let disposed = false;
  load_geometry(file).then(
    (geometry) => {
      if (disposed) return;
      mesh.geometry = geometry;
      mesh.visible = true;
      stage.invalidate();
    },
    (error: unknown) => {
      if (!disposed) stage.report(error instanceof Error ? error.message : `${file} cannot be read`);
    },
  );
  const point = new Vector3();
  const size = new Vector3();
  const read = (values: Float64Array): void => {
    const first = scale?.read(values, 0, 1) ?? 1;
    size.set(first, scale?.read(values, 1, first) ?? first, scale?.read(values, 2, first) ?? first);
    read_point(at, values, point);
  };
  return {
    update(moment) {
      read(moment.values);
      read_rotation(rotation, moment.values, mesh.matrix);
      // In a flat world it is pressed flat between the drawings before and behind it.
      const radius = mesh.geometry.boundingSphere?.radius ?? 1;
      if (stage.flat) size.z = 0.4 / Math.max(radius, 1e-9);
      point.z += height;
      mesh.matrix.scale(size).setPosition(point);
      mesh.matrixWorldNeedsUpdate = true;
    },
    extend(bounds, values) {
      read(values);
      const sphere = mesh.geometry.boundingSphere;
      const radius = sphere === null ? 0 : (sphere.radius + sphere.center.length()) * Math.max(size.x, size.y, size.z);
      extend_bounds(bounds, point.x, point.y, point.z, radius);
    },
    dispose() {
      disposed = true;
      mesh.removeFromParent();
      mesh.geometry.dispose();
      material.dispose();
    },
  };
};

