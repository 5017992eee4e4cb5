import { type Client, Discovery, type KubeObject, type Transport } from "@slipway/kube";
import { Namespace } from "@slipway/kube/core";

/** The API that objects are applied to. */
export interface ApplyTo {
  client: Client;
  /** For its discovery documents: what kinds there are. */
  transport: Transport;
}

/**
 * Applies objects of any kinds that the API serves, as `kubectl apply --server-side` does: namespaces first, then in the given order. Those that
 * name no namespace go to `default`. A field that is null is left out, as a create does; server-side apply refuses it. Gives them as they are stored. Throws `NotFound` for a kind that is not served.
 */
export async function applyObjects(
  { client, transport }: ApplyTo,
  objects: readonly KubeObject[],
): Promise<KubeObject[]> {
  const kinds = new Discovery(transport);
  const applied: KubeObject[] = [];
  const first = objects.filter((object) => object.kind === Namespace.kind);
  for (const object of [...first, ...objects.filter((object) => !first.includes(object))]) {
    const body = withoutNulls(object) as KubeObject;
    const resource = await kinds.resourceOf(body.apiVersion, body.kind);
    const { name, namespace = "default" } = body.metadata;
    const ref = resource.namespaced ? { name, namespace } : { name };
    const patch = { type: "apply", body, fieldManager: "slipway-apply", force: true } as const;
    applied.push(await client.patch(resource, ref, patch));
  }
  return applied;
}

/** The same without fields that are null. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, of]) => (of === null ? [] : [[key, withoutNulls(of)]])),
  );
}
