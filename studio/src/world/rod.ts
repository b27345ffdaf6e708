// The matrix that lays a shape along y from 0 to 1 between two points: cylinders, and shafts and heads of arrows.

import { Matrix4, Vector3 } from "three";

const along = new Vector3();
const aside = new Vector3();
const across = new Vector3();

export function lay_rod(from: Vector3, to: Vector3, radius: number, into: Matrix4): Matrix4 {
  along.subVectors(to, from);
  const length = along.length();
  if (!(length > 0)) return into.makeScale(0, 0, 0).setPosition(from);
  across.set(0, 0, 1);
  if (Math.abs(along.z) > 0.9 * length) across.set(1, 0, 0);
  aside.crossVectors(along, across).normalize().multiplyScalar(radius);
  across.crossVectors(aside, along).normalize().multiplyScalar(radius);
  return into.makeBasis(aside, along, across).setPosition(from);
}
