/** Where a lab's cluster stands, by what its view shows. Pure. */
import type { ClusterView } from "./view.ts";
import { isNodeReady } from "./view.ts";

/** Whether the cards of all machines are hosts that the engine has at rest, for whoever wants one. */
export function areOffered({ hosts }: ClusterView, macs: readonly string[]): boolean {
  const isOffered = (mac: string): boolean =>
    hosts.some(
      ({ spec, status }) =>
        spec.bootMACAddress?.toLowerCase() === mac &&
        spec.consumerRef === undefined &&
        status?.provisioning?.state === "available",
    );
  return macs.every(isOffered);
}

/** Whether every worker has a Node that is ready, none of one that leaves, and Cluster API says so, too. */
export function areReady(view: ClusterView, count: number): boolean {
  return haveNodes(view, count) && view.workers?.status?.readyReplicas === count;
}

/** Whether there are so many Machines, and each has a Node that is ready. */
export function haveNodes({ machines, nodes }: ClusterView, count: number): boolean {
  const running = machines.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const isReady = (name: string | undefined): boolean =>
    nodes.some((node) => node.metadata.name === name && isNodeReady(node));
  return (
    machines.length === count &&
    running.length === count &&
    running.every(({ status }) => isReady(status?.nodeRef?.name)) &&
    nodes.length === count
  );
}

/** Whether every Deployment runs on all workers, a Pod of it on each, and all its Pods are ready. */
export function isSpread({ deployments, pods, nodes }: ClusterView, names: readonly string[]): boolean {
  return names.every((name) => {
    const deployment = deployments.find(({ metadata }) => metadata.name === name);
    const labels = Object.entries(deployment?.spec?.selector?.matchLabels ?? {});
    if (deployment?.status?.readyReplicas !== nodes.length || labels.length === 0) return false;
    const own = pods.filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined &&
        labels.every(([key, value]) => metadata.labels?.[key] === value) &&
        status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True"),
    );
    return new Set(own.map(({ spec }) => spec?.nodeName)).size === nodes.length;
  });
}

/** Whether the MachineHealthCheck has found the machine unhealthy, and it is its owner's to replace it. */
export function isRemediated({ machines }: ClusterView, name: string): boolean {
  const conditions = machines.find(({ metadata }) => metadata.name === name)?.status?.conditions ?? [];
  return conditions.some(({ type }) => type === "OwnerRemediated");
}

/** Whether nothing of the cluster is left, and nobody has a host. */
export function isGone(view: ClusterView, macs: readonly string[]): boolean {
  const { cluster, machines, infraMachines } = view;
  return cluster === undefined && machines.length === 0 && infraMachines.length === 0 && areOffered(view, macs);
}
