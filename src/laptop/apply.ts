import { Fault } from "@slipway/base";
import { type Client, type KubeObject, nameOf, type Resource, refOf } from "@slipway/kube";
import { CustomResourceDefinition, Namespace, Secret } from "@slipway/kube/core";
import { ALL_KINDS } from "../operator/kinds.ts";

const KNOWN: readonly Resource[] = [Namespace, Secret, CustomResourceDefinition, ...ALL_KINDS.flat()];

/** Applies objects as `kubectl apply --server-side` does: namespaces first, then in the given order. */
export async function applyObjects(client: Client, objects: readonly KubeObject[]): Promise<void> {
  const first = objects.filter((object) => object.kind === Namespace.kind);
  for (const object of [...first, ...objects.filter((object) => !first.includes(object))]) {
    const resource = resourceOf(object);
    await client.patch(resource, refOf(object), {
      type: "apply",
      body: object,
      fieldManager: "slipway-apply",
      force: true,
    });
  }
}

function resourceOf(object: KubeObject): Resource {
  const found = KNOWN.find(
    ({ group, version, kind }) =>
      kind === object.kind && object.apiVersion === (group ? `${group}/${version}` : version),
  );
  if (found !== undefined) return found;
  throw new Fault(
    "Invalid",
    nameOf(object, refOf(object)),
    `Slipway's examples have no ${object.apiVersion} ${object.kind}`,
    {
      remedy: `apply it with kubectl; known here: ${KNOWN.map((known) => known.kind).join(", ")}`,
    },
  );
}
