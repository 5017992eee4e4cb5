/** The order in which a Machine is deleted, and what each step waits for. Pure. */
import { conditionOf } from "@slipway/kube";
import type { Node } from "@slipway/kube/core";
import { ANNOTATIONS } from "../../../cluster-api/names.ts";
import { isControlPlane } from "../../../cluster-api/owners.ts";
import type { Cluster } from "../../../kinds/cluster-api/cluster.ts";
import type { Machine } from "../../../kinds/cluster-api/machine.ts";
import type { NodeSeen } from "./machine-status.ts";

/** What of the cluster decides whether the Node of a Machine is touched. */
export interface NodeRules {
  /** Undefined: it is gone. */
  cluster: Cluster | undefined;
  controlPlane: { isDeleting: boolean; isExternallyManaged: boolean } | undefined;
  /** Machines of the control plane that are not being deleted. */
  controlPlaneMachines: readonly Machine[];
  node: NodeSeen;
}

/** Why the Node is left as it is; undefined: it is drained and deleted. */
export function nodeIsLeft(
  machine: Machine,
  { cluster, controlPlane, controlPlaneMachines, node }: NodeRules,
): string | undefined {
  if (cluster === undefined) return "the Cluster is gone";
  if (cluster.metadata.deletionTimestamp !== undefined) return "the Cluster is being deleted";
  if (controlPlane?.isDeleting) return "the control plane is being deleted";
  if (machine.status?.nodeRef === undefined && node.is !== "there") return "the Machine has no Node";
  if (controlPlane?.isExternallyManaged) return undefined;
  const others = controlPlaneMachines.filter(({ metadata }) => metadata.uid !== machine.metadata.uid);
  if (others.length > 0) return undefined;
  if (isControlPlane(machine)) return "it is the last Machine of the control plane";
  return "the control plane has no Machines";
}

/** The hooks that still hold a Machine, by their prefix. */
export const hooksOf = ({ metadata }: Machine, prefix: string): string[] =>
  Object.keys(metadata.annotations ?? {}).filter((name) => name === prefix || name.startsWith(`${prefix}/`));

export interface DrainRules {
  /** Of the infrastructure object: its host may be gone already. */
  isInfrastructureLeaving: boolean;
  now: number;
}

/** Whether Pods are no longer waited for. */
export function drainIsSkipped(machine: Machine, { isInfrastructureLeaving, now }: DrainRules): boolean {
  const { deletion } = machine.status ?? {};
  return (
    machine.metadata.annotations?.[ANNOTATIONS.excludeDrain] !== undefined ||
    isInfrastructureLeaving ||
    deletion?.waitForPreTerminateHookStartTime !== undefined ||
    isOver(deletion?.nodeDrainStartTime, machine.spec.deletion?.nodeDrainTimeoutSeconds, now)
  );
}

/** Whether volumes are no longer waited for. */
export function volumesAreSkipped(machine: Machine, node: Node | undefined, now: number): boolean {
  const { deletion } = machine.status ?? {};
  return (
    machine.metadata.annotations?.[ANNOTATIONS.excludeVolumeWait] !== undefined ||
    (node !== undefined && isUnreachable(node)) ||
    isOver(deletion?.waitForNodeVolumeDetachStartTime, machine.spec.deletion?.nodeVolumeDetachTimeoutSeconds, now)
  );
}

/** Whether the kubelet has not reported for a while. */
export const isUnreachable = (node: Node): boolean =>
  conditionOf(node.status?.conditions, "Ready")?.status === "Unknown";

/** Unset or 0 seconds: never. */
function isOver(since: string | undefined, seconds: number | undefined, now: number): boolean {
  return since !== undefined && seconds !== undefined && seconds > 0 && now - Date.parse(since) >= seconds * 1000;
}

const NODE_DELETION_SECONDS = 10;

/** Whether the Node is given up. 0 seconds: never. */
export function nodeIsGivenUp({ metadata, spec }: Machine, now: number): boolean {
  const seconds = spec.deletion?.nodeDeletionTimeoutSeconds ?? NODE_DELETION_SECONDS;
  return seconds > 0 && now - Date.parse(metadata.deletionTimestamp ?? "") >= seconds * 1000;
}
