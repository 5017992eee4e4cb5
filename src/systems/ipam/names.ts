/** Names that the address system writes. Finalizers are those of Cluster API's in-cluster provider, so that its live objects are taken over. */
import type { KubeObject } from "@slipway/kube";

export const IPAM = "ipam";
export const FINALIZERS = {
  claim: "ipam.cluster.x-k8s.io/ReleaseAddress",
  address: "ipam.cluster.x-k8s.io/ProtectAddress",
  pool: "ipam.cluster.x-k8s.io/ProtectPool",
} as const;

/** On a pool: addresses that are promised to claims, before their IPAddresses exist. Written under the pool's version, so no two writers promise the same. */
export const PROMISED = "slipway.dev/promised-addresses";

/** A claim or its address, as pools call it: namespace and name. */
export const claimKey = ({ metadata: { namespace, name } }: KubeObject): string => `${namespace}/${name}`;
