/**
 * What a cloud controller manager writes on a Node that has just joined (Kubernetes' documentation, Cloud Controller Manager, node
 * controller), from what is known of its Machine. Pure.
 */
import type { Node } from "@slipway/kube/core";
import type { Machine } from "../../kinds/cluster-api/machine.ts";

/** Kubelets with `--cloud-provider=external` register with it: nothing is scheduled there before somebody has looked. */
const UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized";
const ZONE = "topology.kubernetes.io/zone";

/** What is to be written, the status first: once the taint is gone, addresses and zone are relied on. */
export interface NodeFacts {
  /** A merge patch of the status. */
  status: object;
  /** A merge patch of labels and taints, guarded by the list of taints that was read. */
  patch: object;
}

/** Undefined: the kubelet asks for nothing, or had its answer. From then on the kubelet keeps what is there. */
export function nodeFacts({ metadata, spec, status }: Node, machine: Machine): NodeFacts | undefined {
  const taints = (spec?.taints ?? []).filter(({ key }) => key !== UNINITIALIZED);
  if (taints.length === (spec?.taints ?? []).length) return undefined;
  const hostnames = (status?.addresses ?? []).filter(({ type }) => type === "Hostname");
  const others = (machine.status?.addresses ?? []).filter(({ type }) => type !== "Hostname");
  const zone = machine.status?.failureDomain;
  const labels = zone && metadata.labels?.[ZONE] === undefined ? { [ZONE]: zone } : {};
  return {
    status: { status: { addresses: others.length === 0 ? (status?.addresses ?? []) : [...hostnames, ...others] } },
    patch: { metadata: { labels }, spec: { taints } },
  };
}
