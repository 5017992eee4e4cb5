/** What objects of workload clusters stay together with where replicas share out work: their Cluster, whatever system works on them. */
import type { Cache, Controller, KubeObject, Ref, Resource } from "@slipway/kube";
import { LABELS } from "./names.ts";
import { clusterOwner } from "./owners.ts";

/** What a Cluster and all that belongs to it stay together with. */
export const withCluster = ({ namespace = "", name }: Ref): string => `cluster/${namespace}/${name}`;

/** Owners of a kind whose objects name their Cluster in their specification. */
export function byClusterName<T extends KubeObject & { spec: { clusterName: string } }>(
  resource: Resource<T>,
): NonNullable<Controller["owner"]> {
  return ownedBy(resource, ({ spec }) => spec.clusterName);
}

/** Owners of a provider's kind: the Cluster by label, else by reference. One that has neither yet stays by itself. */
export function byClusterOf(resource: Resource): NonNullable<Controller["owner"]> {
  return ownedBy(resource, (object) => object.metadata.labels?.[LABELS.clusterName] ?? clusterOwner(object)?.name);
}

function ownedBy<T extends KubeObject>(resource: Resource<T>, clusterOf: (object: T) => string | undefined) {
  return ({ namespace = "", name }: Ref, cache: Cache): string => {
    const object = cache.get(resource, { namespace, name });
    const cluster = object && clusterOf(object);
    return cluster === undefined
      ? `${resource.plural}/${namespace}/${name}`
      : withCluster({ namespace, name: cluster });
  };
}
