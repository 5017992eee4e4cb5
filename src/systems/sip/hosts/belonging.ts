/** Whose a host is, as a sub-cluster sees it. Pure. */
import { obstacle } from "../../../inventory/claims/choose.ts";
import { type Consumer, consumerOf } from "../../../inventory/claims/claim.ts";
import type { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import { CLAIMED_AT, CLUSTER_NAME, CLUSTER_NAMESPACE, NODE_TYPE } from "../../../kinds/sip/labels.ts";
import { SIPCluster } from "../../../kinds/sip/sip-cluster.ts";
import type { Candidate, Held } from "../schedule/schedule.ts";

/** A host as the schedule names it: namespace and name. */
export const hostId = ({ metadata }: BareMetalHost): string => `${metadata.namespace ?? ""}/${metadata.name}`;

/** The cluster as its hosts' consumer. */
export const consumer = (cluster: SIPCluster): Consumer => consumerOf(SIPCluster, cluster);

/** Whether the host bears the cluster's labels: those are what its users go by. */
export function isLabelled({ metadata }: BareMetalHost, cluster: SIPCluster): boolean {
  const { labels = {} } = metadata;
  return (
    labels[CLUSTER_NAME] === cluster.metadata.name && labels[CLUSTER_NAMESPACE] === (cluster.metadata.namespace ?? "")
  );
}

/** Whether the host's consumer is this cluster, or an earlier one of its name. */
export function isConsumed({ spec }: BareMetalHost, cluster: SIPCluster): boolean {
  const held = spec.consumerRef;
  return (
    held?.kind === SIPCluster.kind &&
    held.apiVersion?.split("/")[0] === SIPCluster.group &&
    held.name === cluster.metadata.name &&
    held.namespace === cluster.metadata.namespace
  );
}

/** Who uses a host of the cluster that it was handed to; undefined: nobody does. */
export function userOf(host: BareMetalHost, cluster: SIPCluster): string | undefined {
  const held = host.spec.consumerRef;
  if (held === undefined || isConsumed(host, cluster)) return undefined;
  return `${held.kind ?? "object"} ${held.namespace ?? ""}/${held.name ?? ""}`;
}

/** The hosts that the cluster has. One that is being deleted is no longer counted. */
export function heldBy(hosts: readonly BareMetalHost[], cluster: SIPCluster): Held[] {
  return hosts
    .filter((host) => isLabelled(host, cluster))
    .map((host) => {
      const { labels = {}, annotations = {}, creationTimestamp = "", deletionTimestamp } = host.metadata;
      const role = deletionTimestamp === undefined ? (labels[NODE_TYPE] ?? "") : "";
      const since = annotations[CLAIMED_AT] ?? creationTimestamp;
      return { id: hostId(host), role, labels, since, isUsed: userOf(host, cluster) !== undefined };
    });
}

/** Hosts that the cluster does not have yet, those first that are reserved for it. `closed`: namespaces whose hosts it may not have. `bad`: why certain hosts won't do. */
export function candidatesFor(
  hosts: readonly BareMetalHost[],
  cluster: SIPCluster,
  { closed, bad }: { closed: ReadonlySet<string>; bad: ReadonlyMap<string, string> },
): Candidate[] {
  const others = hosts.filter((host) => !isLabelled(host, cluster));
  const rank = (host: BareMetalHost): number => (isConsumed(host, cluster) ? 0 : 1);
  return others
    .map((host) => ({ id: hostId(host), rank: rank(host), host }))
    .sort((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1))
    .map(({ id, host }) => ({
      ...{ id, labels: host.metadata.labels ?? {} },
      obstacle: bad.get(id) ?? obstacleOf(host, cluster, closed),
    }));
}

function obstacleOf(host: BareMetalHost, cluster: SIPCluster, closed: ReadonlySet<string>): string | undefined {
  const { labels = {}, namespace = "", deletionTimestamp } = host.metadata;
  const other = labels[CLUSTER_NAME];
  if (other !== undefined) return `in cluster ${labels[CLUSTER_NAMESPACE] ?? ""}/${other}`;
  if (closed.has(namespace)) return `no HostDeployPolicy of namespace ${namespace} lets this one have its hosts`;
  if (isConsumed(host, cluster)) return deletionTimestamp === undefined ? undefined : "being deleted";
  const { networkData, preprovisioningNetworkDataName } = host.spec;
  const why = obstacle(host, {});
  if (why !== undefined) return why;
  return networkData?.name === undefined && preprovisioningNetworkDataName === undefined
    ? "no network data"
    : undefined;
}
