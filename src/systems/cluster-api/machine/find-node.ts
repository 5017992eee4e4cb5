import type { Node } from "@slipway/kube/core";
import { isControlPlane } from "../../../cluster-api/owners.ts";
import type { Cluster } from "../../../kinds/cluster-api/cluster.ts";
import type { Machine } from "../../../kinds/cluster-api/machine.ts";
import type { Session } from "../../../workload/session.ts";
import type { NodeSeen } from "./machine-status.ts";

const awaited = (reason: string, message: string): NodeSeen => ({ is: "awaited", reason, message });

/**
 * The Node of a Machine: the one with its providerID, byte for byte. Where several have it, a host has lied about its id, and none is believed. Does not ask the workload cluster: its
 * Nodes are watched.
 */
export function findNode(machine: Machine, cluster: Cluster, session: () => Session): NodeSeen {
  const { providerID } = machine.spec;
  const held = machine.status?.nodeRef?.name;
  const is = cluster.status?.initialization;
  if (is?.infrastructureProvisioned !== true && held === undefined)
    return awaited(
      "InspectionFailed",
      "Waiting for Cluster status.initialization.infrastructureProvisioned to be true",
    );
  // The first Node of a control plane that no object runs is what shows that it answers.
  const begins = cluster.spec.controlPlaneRef === undefined && isControlPlane(machine);
  if (is?.controlPlaneInitialized !== true && held === undefined && !begins)
    return awaited("InspectionFailed", "Waiting for Cluster control plane to be initialized");
  const workload = session();
  if (workload.client === undefined || !workload.isReached)
    return { is: "unknown", since: workload.lostAt ?? 0, why: workload.why ?? "it does not answer" };
  if (providerID === undefined)
    return awaited("InspectionFailed", `Waiting for ${machine.spec.infrastructureRef.kind} to report spec.providerID`);
  const nodes = workload.nodesBy(providerID);
  if (nodes.length > 1)
    return {
      is: "disputed",
      message: `several Nodes have its providerID ${providerID}: ${names(nodes)}; delete those that are not of this machine`,
    };
  const [node] = nodes;
  if (node !== undefined) return { is: "there", node };
  return held === undefined
    ? awaited("NodeDoesNotExist", `Waiting for a Node with spec.providerID ${providerID} to exist`)
    : { is: "deleted", name: held };
}

const names = (nodes: readonly Node[]): string =>
  nodes
    .map(({ metadata }) => metadata.name)
    .toSorted()
    .join(", ");
