/** Which Machines are unhealthy, and whether they may be remediated. Pure. */
import { conditionOf } from "@slipway/kube";
import type { Node } from "@slipway/kube/core";
import { ANNOTATIONS } from "../../../cluster-api/names.ts";
import { isControlPlane } from "../../../cluster-api/owners.ts";
import type { Cluster } from "../../../kinds/cluster-api/cluster.ts";
import type { Machine } from "../../../kinds/cluster-api/machine.ts";
import type { MachineHealthCheck } from "../../../kinds/cluster-api/machine-health-check.ts";
import { portionOf } from "../machine-deployment/portions.ts";

/** The Node of a Machine. `unknown`: the workload cluster does not answer. */
export type NodeKnown = { is: "none" } | { is: "there"; node: Node } | { is: "gone" } | { is: "unknown" };

export interface Target {
  machine: Machine;
  node: NodeKnown;
}

export type Health =
  | { is: "healthy" }
  | { is: "unhealthy"; reason: string; message: string }
  /** Not healthy, and not unhealthy for long enough. */
  | { is: "pending"; inMs: number }
  /** Nothing can be said: what was said last stays. */
  | { is: "unknown" };

const STARTUP_SECONDS = 600;

/** Whether remediation leaves a Machine out. */
export const isSkipped = ({ metadata }: Machine): boolean =>
  metadata.annotations?.[ANNOTATIONS.skipRemediation] !== undefined ||
  metadata.annotations?.[ANNOTATIONS.paused] !== undefined;

/** How a Machine is at `now`. */
export function healthOf({ machine, node }: Target, check: MachineHealthCheck, cluster: Cluster, now: number): Health {
  if (machine.metadata.annotations?.[ANNOTATIONS.remediateMachine] !== undefined)
    return {
      is: "unhealthy",
      reason: "HasRemediateAnnotation",
      message: `Health check failed: marked for remediation via ${ANNOTATIONS.remediateMachine} annotation`,
    };
  if (node.is === "gone") {
    const name = machine.status?.nodeRef?.name ?? "";
    return { is: "unhealthy", reason: "NodeDeleted", message: `Health check failed: Node ${name} has been deleted` };
  }
  const waits: number[] = [];
  const machineHealth = byConditions(
    (type) => conditionOf(machine.status?.conditions, type),
    check.spec.checks?.unhealthyMachineConditions,
    { reason: "UnhealthyMachine", on: "Machine", now },
    waits,
  );
  if (machineHealth !== undefined) return machineHealth;
  if (node.is === "unknown") return { is: "unknown" };
  if (node.is === "none") {
    const started = startup(machine, check, cluster, now);
    if (started.is !== "pending") return started;
    return { is: "pending", inMs: Math.min(started.inMs, ...waits) };
  }
  const nodeHealth = byConditions(
    (type) => conditionOf(node.node.status?.conditions, type),
    check.spec.checks?.unhealthyNodeConditions,
    { reason: "UnhealthyNode", on: "Node", now },
    waits,
  );
  if (nodeHealth !== undefined) return nodeHealth;
  return waits.length === 0 ? { is: "healthy" } : { is: "pending", inMs: Math.min(...waits) };
}

type Condition = { status: string; lastTransitionTime?: string };
type Rule = { type: string; status: string; timeoutSeconds: number };

function byConditions(
  find: (type: string) => Condition | undefined,
  rules: readonly Rule[] = [],
  { reason, on, now }: { reason: string; on: string; now: number },
  waits: number[],
): Health | undefined {
  for (const { type, status, timeoutSeconds } of rules) {
    const held = find(type);
    if (held?.status !== status) continue;
    const left = Date.parse(held.lastTransitionTime ?? "") + timeoutSeconds * 1000 - now;
    if (left > 0) waits.push(left);
    else
      return {
        is: "unhealthy",
        reason,
        message: `Health check failed: Condition ${type} on ${on} is reporting status ${status} for more than ${timeoutSeconds}s`,
      };
  }
  return undefined;
}

/** A Machine without a Node: the clock starts when all that it needs was there. */
function startup(machine: Machine, check: MachineHealthCheck, cluster: Cluster, now: number): Health {
  const seconds = check.spec.checks?.nodeStartupTimeoutSeconds ?? STARTUP_SECONDS;
  if (seconds === 0) return { is: "pending", inMs: Number.POSITIVE_INFINITY };
  const times = [
    machine.metadata.creationTimestamp,
    trueSince(cluster, "ControlPlaneInitialized"),
    trueSince(cluster, "InfrastructureReady"),
    trueSince(machine, "InfrastructureReady"),
  ].map((time) => Date.parse(time ?? ""));
  const from = Math.max(...times.filter(Number.isFinite));
  const left = from + seconds * 1000 - now;
  if (left > 0) return { is: "pending", inMs: left };
  return {
    is: "unhealthy",
    reason: "NodeStartupTimeout",
    message: `Health check failed: Node failed to report startup in ${seconds}s`,
  };
}

function trueSince({ status }: Cluster | Machine, type: string): string | undefined {
  const held = conditionOf(status?.conditions, type);
  return held?.status === "True" ? held.lastTransitionTime : undefined;
}

/** Whether the Machine is looked at: one of the control plane always, others when their cluster is up. */
export function isWatched(machine: Machine, { status }: Cluster): boolean {
  const is = status?.initialization;
  return isControlPlane(machine) || (is?.infrastructureProvisioned === true && is.controlPlaneInitialized === true);
}

export interface Allowance {
  allowed: boolean;
  /** How many more may be remediated. */
  left: number;
  /** Why none may. */
  message: string;
}

/** Whether remediation happens with so many of the Machines unhealthy. */
export function allowance({ spec }: MachineHealthCheck, expected: number, healthy: number): Allowance {
  const unhealthy = expected - healthy;
  const trigger = spec.remediation?.triggerIf;
  const [, from, to] = /^\[(\d+)-(\d+)\]$/.exec(trigger?.unhealthyInRange ?? "") ?? [];
  if (from !== undefined) {
    const allowed = unhealthy >= Number(from) && unhealthy <= Number(to);
    const message = `Remediation is not allowed, the number of not started or unhealthy machines does not fall within the range (total: ${expected}, unhealthy: ${unhealthy}, unhealthyInRange: ${trigger?.unhealthyInRange})`;
    return { allowed, left: allowed ? Math.max(0, Number(to) - unhealthy) : 0, message };
  }
  const most = portionOf(trigger?.unhealthyLessThanOrEqualTo ?? "100%", expected, "down");
  const allowed = unhealthy <= most;
  const message = `Remediation is not allowed, the number of not started or unhealthy machines exceeds maxUnhealthy (total: ${expected}, unhealthy: ${unhealthy}, maxUnhealthy: ${trigger?.unhealthyLessThanOrEqualTo ?? "100%"})`;
  return { allowed, left: Math.max(0, most - unhealthy), message };
}
