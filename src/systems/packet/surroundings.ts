/** What a PacketMachine belongs to: its Machine, Cluster and PacketCluster, as the cache has them. */
import type { Cache, Ref } from "@slipway/kube";
import { ANNOTATIONS, GROUPS, LABELS } from "../../cluster-api/names.ts";
import { clusterOf, isControlPlane, machineOf, ownerOf, owningCluster } from "../../cluster-api/owners.ts";
import type { Cluster } from "../../kinds/cluster-api/cluster.ts";
import type { Machine } from "../../kinds/cluster-api/machine.ts";
import { PacketCluster } from "../../kinds/packet/packet-cluster.ts";
import type { PacketMachine } from "../../kinds/packet/packet-machine.ts";
import type { Gate } from "../../machines/wanted-step.ts";
import type { Wanted } from "./claim.ts";

export interface Surroundings {
  owner: Machine | undefined;
  cluster: Cluster | undefined;
  packetCluster: PacketCluster | undefined;
}

/** Everything around a machine; each may be missing, for ever or for a while. */
export function surroundingsOf(cache: Cache, machine: PacketMachine): Surroundings {
  const owner = machineOf(cache, machine);
  const cluster = owner ? clusterOf(cache, owner) : owningCluster(cache, machine);
  return { owner, cluster, packetCluster: packetClusterOf(cache, machine, cluster) };
}

function packetClusterOf(
  cache: Cache,
  machine: PacketMachine,
  cluster: Cluster | undefined,
): PacketCluster | undefined {
  const ref = cluster?.spec.infrastructureRef;
  if (ref?.kind === PacketCluster.kind)
    return cache.get(PacketCluster, { namespace: machine.metadata.namespace!, name: ref.name });
  const name = clusterNameOf(machine, undefined);
  return name === undefined
    ? undefined
    : cache.byIndex(PacketCluster, "cluster", `${machine.metadata.namespace}/${name}`)[0];
}

/** Name of the Cluster that an object of this system says it belongs to. */
export function clusterNameOf(
  { metadata }: PacketMachine | PacketCluster,
  owner: Machine | undefined,
): string | undefined {
  const byOwner = ownerOf({ metadata } as PacketCluster, { group: GROUPS.core, kind: "Cluster" })?.name;
  return metadata.labels?.[LABELS.clusterName] ?? owner?.spec.clusterName ?? byOwner;
}

/** What a claim is made from. */
export function wantedOf(machine: PacketMachine, { owner, packetCluster }: Surroundings): Omit<Wanted, "machine"> {
  const { namespace = "", name } = machine.metadata;
  return {
    cluster: packetCluster,
    names: { namespace, cluster: clusterNameOf(machine, owner) ?? "", machine: name },
    isControlPlane: isControlPlane(owner ?? machine),
    failureDomain: owner?.spec.failureDomain,
  };
}

/** What must be there before a machine is ordered, and is not. */
export function gateOf({ owner, cluster, packetCluster }: Surroundings): Gate | undefined {
  if (owner === undefined) return { reason: "WaitingForMachine", what: "a Machine to own it" };
  if (cluster === undefined) return { reason: "WaitingForCluster", what: `Cluster ${owner.spec.clusterName} to exist` };
  if (cluster.status?.initialization?.infrastructureProvisioned !== true)
    return { reason: "WaitingForClusterInfrastructure", what: "the cluster's infrastructure to be ready" };
  if (!owner.spec.bootstrap.dataSecretName)
    return { reason: "WaitingForBootstrapData", what: "the Machine's bootstrap data" };
  if (packetCluster === undefined)
    return { reason: "WaitingForPacketCluster", what: "the cluster's PacketCluster to exist" };
  return undefined;
}

/** Whether the Machine has its Node. */
export function hasJoined({ owner }: Surroundings): boolean {
  return owner?.status?.nodeRef?.name !== undefined;
}

/** Whether something else sees to the PacketCluster: its controller leaves it alone. */
export function isExternallyManaged({ metadata }: PacketCluster): boolean {
  return metadata.annotations?.[ANNOTATIONS.managedBy] !== undefined;
}

/** Namespace and name of an object that is in a namespace. */
export function refOf({ metadata }: PacketMachine | PacketCluster): Ref {
  return { namespace: metadata.namespace!, name: metadata.name };
}
