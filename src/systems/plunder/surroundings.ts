/** What a PlunderMachine belongs to: its Machine, Cluster and PlunderCluster, as the cache has them. */
import type { Cache } from "@slipway/kube";
import { LABELS } from "../../cluster-api/names.ts";
import {
  clusterOf,
  clusterOwner,
  inNamespaceOf,
  isControlPlane,
  machineOf,
  owningCluster,
} from "../../cluster-api/owners.ts";
import type { Cluster } from "../../kinds/cluster-api/cluster.ts";
import type { Machine } from "../../kinds/cluster-api/machine.ts";
import { PlunderCluster } from "../../kinds/plunder/plunder-cluster.ts";
import type { PlunderMachine } from "../../kinds/plunder/plunder-machine.ts";
import type { Gate } from "../../machines/wanted-step.ts";
import type { Wanted } from "./claim.ts";

export interface Surroundings {
  owner: Machine | undefined;
  cluster: Cluster | undefined;
  plunderCluster: PlunderCluster | undefined;
}

/** Everything around a machine; each may be missing, for ever or for a while. */
export function surroundingsOf(cache: Cache, machine: PlunderMachine): Surroundings {
  const owner = machineOf(cache, machine);
  const cluster = owner ? clusterOf(cache, owner) : owningCluster(cache, machine);
  const ref = cluster?.spec.infrastructureRef;
  const plunderCluster =
    ref?.kind === PlunderCluster.kind ? cache.get(PlunderCluster, inNamespaceOf(machine, ref.name)) : undefined;
  return { owner, cluster, plunderCluster };
}

/** Name of the Cluster that an object of this system says it belongs to. */
export function clusterNameOf(object: PlunderMachine | PlunderCluster, owner?: Machine): string | undefined {
  return object.metadata.labels?.[LABELS.clusterName] ?? owner?.spec.clusterName ?? clusterOwner(object)?.name;
}

/** What a claim is made from. */
export function wantedOf(machine: PlunderMachine, { owner, plunderCluster }: Surroundings): Wanted {
  return {
    machine,
    cluster: plunderCluster,
    clusterName: clusterNameOf(machine, owner) ?? "",
    isControlPlane: isControlPlane(owner ?? machine),
    failureDomain: owner?.spec.failureDomain,
  };
}

/** What must be there before a host is taken, and is not. */
export function gateOf({ owner, cluster }: Surroundings): Gate | undefined {
  if (owner === undefined) return { reason: "WaitingForMachine", what: "a Machine to own it" };
  if (cluster === undefined) return { reason: "WaitingForCluster", what: `Cluster ${owner.spec.clusterName} to exist` };
  if (cluster.status?.initialization?.infrastructureProvisioned !== true)
    return { reason: "WaitingForClusterInfrastructure", what: "the cluster's infrastructure to be ready" };
  if (owner.spec.bootstrap.dataSecretName === undefined)
    return { reason: "WaitingForBootstrapData", what: "the Machine's bootstrap data" };
  return undefined;
}

/** Whether the Machine has its Node. */
export const hasJoined = ({ owner }: Surroundings): boolean => owner?.status?.nodeRef?.name !== undefined;
