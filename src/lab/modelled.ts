import { Fault } from "@slipway/base";
import type { KubeObject } from "@slipway/kube";

/** Reads a folder of manifests that is made after an example: what is missing or too many is refused, with the example to look at. */
export function modelledOn(example: string) {
  const lacks = (name: string, what: string): Fault =>
    new Fault("BadRequest", name, what, { remedy: `take ${example} as a model` });
  /** The one object of a kind. `name`: of the folder. */
  const only = (objects: readonly KubeObject[], kind: string, name: string): KubeObject => {
    const found = objects.filter((object) => object.kind === kind);
    if (found.length === 1) return found[0]!;
    throw lacks(
      name,
      found.length === 0 ? `there is no ${kind}` : `there are ${found.length} ${kind}s, and the lab makes one`,
    );
  };
  return { lacks, only };
}
