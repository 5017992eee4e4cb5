import type { KubeObject } from "@slipway/kube";
import { dump } from "js-yaml";

/** What kubectl apply keeps for itself: the object again. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** An object without what Kubernetes keeps for itself: who set which field, and what was applied last. Pure. */
export function shownObject(object: KubeObject): KubeObject {
  const { managedFields: _, annotations, ...metadata } = object.metadata;
  const kept = Object.entries(annotations ?? {}).filter(([name]) => name !== LAST_APPLIED);
  return { ...object, metadata: { ...metadata, ...(kept.length > 0 && { annotations: Object.fromEntries(kept) }) } };
}

/** The same as YAML. */
export function yamlOf(object: KubeObject): string {
  return dump(shownObject(object), { lineWidth: 140, noRefs: true });
}
