/** Which hosted control plane is a sub-cluster's: the one of its name, or that of the Cluster of its name, in the same namespace. Pure. */
import type { KubeObject } from "@slipway/kube";

const CAPI_CLUSTER = "cluster.x-k8s.io/cluster-name";

/** Names that the SIPCluster of a TenantControlPlane may have, the best first. */
export function sipNamesOf({ metadata }: KubeObject): string[] {
  const cluster = metadata.labels?.[CAPI_CLUSTER];
  return [metadata.name, ...(cluster === undefined || cluster === metadata.name ? [] : [cluster])];
}

/** The TenantControlPlane of a SIPCluster among those of its namespace. */
export function hostedPlaneOf<T extends KubeObject>({ metadata }: KubeObject, planes: readonly T[]): T | undefined {
  const named = planes.find((plane) => plane.metadata.name === metadata.name);
  return named ?? planes.find((plane) => sipNamesOf(plane).includes(metadata.name));
}
