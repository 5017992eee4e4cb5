import type { KubeObject } from "@slipway/kube";
import { at } from "../kinds/cluster-api/field-path.ts";

/** The host that a machine runs on: the machine itself, or the one that it is the consumer of. Undefined: no host of the inventory. Pure. */
export function hostOf(object: KubeObject, hosts: readonly KubeObject[]): KubeObject | undefined {
  if (object.kind === "BareMetalHost") return object;
  const { uid, name, namespace } = object.metadata;
  return hosts.find((host) => {
    if (host.metadata.labels?.["slipway.dev/consumer"] === uid) return true;
    const field = (path: string): string => String(at(host, `spec.consumerRef.${path}`) ?? "");
    return field("kind") === object.kind && field("name") === name && field("namespace") === (namespace ?? "");
  });
}
