/** What a Machine's status says, decided from what was seen. Pure. */
import { rfc3339 } from "@slipway/base";
import { type Condition, type ConditionUpdate, conditionOf, setCondition } from "@slipway/kube";
import type { Node } from "@slipway/kube/core";
import { summary } from "../../../cluster-api/conditions.ts";
import { bootstrapOf, infraMachineOf } from "../../../cluster-api/contract.ts";
import { type OldUpdate, oldReady, setOldCondition } from "../../../cluster-api/old-conditions.ts";
import type { Machine, MachineStatus } from "../../../kinds/cluster-api/machine.ts";
import type { MachineDeployment } from "../../../kinds/cluster-api/machine-deployment.ts";
import type { MachineSet } from "../../../kinds/cluster-api/machine-set.ts";
import { upToDate } from "../machine-deployment/up-to-date.ts";
import { mirrored, mirroredOld, type Seen } from "../mirror.ts";

/** The Node of a Machine. `unknown`: the workload cluster does not answer, since then (ms). */
export type NodeSeen =
  | { is: "awaited"; reason: string; message: string }
  | { is: "there"; node: Node }
  | { is: "deleted"; name: string }
  | { is: "disputed"; message: string }
  | { is: "unknown"; since: number; why: string };

/** How far the deletion of a Machine is. */
export interface Deleting {
  reason: string;
  message: string;
}

export interface MachineFacts {
  machine: Machine;
  /** Undefined: the bootstrap data was given by name. */
  bootstrap: Seen | undefined;
  infrastructure: Seen;
  node: NodeSeen;
  deleting: Deleting | undefined;
  /** The set and the deployment that it is of; undefined: of none. */
  deployed: Deployed | undefined;
  paused: ConditionUpdate;
  now: number;
}

/** Whose template a Machine is made of. */
export interface Deployed {
  set: MachineSet;
  deployment: MachineDeployment;
}

/** A lost connection leaves what was known of Nodes as it is for so long. */
export const CONNECTION_DOWN_MS = 5 * 60_000;

/** The fields of the status that follow from the facts. */
export function machineStatus(facts: MachineFacts): Partial<MachineStatus> {
  const { machine, now } = facts;
  const initialization = initializationOf(facts);
  const conditions = conditionsOf(facts, initialization);
  const phase = phaseOf(facts, initialization);
  const held = machine.status;
  return {
    initialization,
    ...infrastructureFields(facts, initialization.infrastructureProvisioned === true),
    ...nodeFields(facts),
    conditions,
    phase,
    ...(phase !== held?.phase && { lastUpdated: rfc3339(now) }),
    ...(machine.metadata.generation !== undefined && { observedGeneration: machine.metadata.generation }),
    deprecated: { v1beta1: { ...held?.deprecated?.v1beta1, conditions: oldConditions(facts, initialization) } },
  };
}

type Initialization = NonNullable<MachineStatus["initialization"]>;

/** Once true, both stay. */
function initializationOf({ machine, bootstrap, infrastructure }: MachineFacts): Initialization {
  const held = machine.status?.initialization;
  const isBootstrapped =
    bootstrap === undefined
      ? machine.spec.bootstrap.dataSecretName !== undefined
      : isBootstrapReady(bootstrap) && machine.spec.bootstrap.dataSecretName !== undefined;
  return {
    ...((held?.bootstrapDataSecretCreated || isBootstrapped) && { bootstrapDataSecretCreated: true }),
    ...((held?.infrastructureProvisioned ||
      (isProvisioned(infrastructure) && machine.spec.providerID !== undefined)) && {
      infrastructureProvisioned: true,
    }),
  };
}

/** Whether the bootstrap configuration has made its data. */
export function isBootstrapReady({ kind, object }: Seen): boolean {
  return kind !== undefined && object !== undefined && bootstrapOf(object, kind.contract).created;
}

/** Whether the infrastructure has the machine, and says under which id. */
export function isProvisioned({ kind, object }: Seen): boolean {
  if (kind === undefined || object === undefined) return false;
  const { provisioned, providerID } = infraMachineOf(object, kind.contract);
  return provisioned && providerID !== undefined;
}

function infrastructureFields({ infrastructure: { kind, object } }: MachineFacts, isThere: boolean) {
  if (!isThere || kind === undefined || object === undefined) return {};
  const { addresses, failureDomain } = infraMachineOf(object, kind.contract);
  return { ...(addresses && { addresses }), ...(failureDomain && { failureDomain }) };
}

/** The Node that was its first stays the one that it names, as upstream: a liar with its id does not take its place. */
function nodeFields({ machine, node }: MachineFacts): Partial<MachineStatus> {
  if (node.is !== "there") return {};
  const { metadata, status } = node.node;
  return {
    nodeRef: machine.status?.nodeRef ?? { name: metadata.name },
    ...(status?.nodeInfo && { nodeInfo: status.nodeInfo as MachineStatus["nodeInfo"] }),
  };
}

function phaseOf({ machine, node }: MachineFacts, is: Initialization): NonNullable<MachineStatus["phase"]> {
  if (machine.metadata.deletionTimestamp !== undefined) return "Deleting";
  const hasNode = node.is === "there" || machine.status?.nodeRef !== undefined;
  if (hasNode && is.infrastructureProvisioned) return "Running";
  if (is.infrastructureProvisioned || machine.spec.providerID !== undefined) return "Provisioned";
  return is.bootstrapDataSecretCreated ? "Provisioning" : "Pending";
}

function conditionsOf(facts: MachineFacts, is: Initialization): Condition[] {
  const { machine, now } = facts;
  const { generation } = machine.metadata;
  const update = (list: Condition[] | undefined, of: ConditionUpdate): Condition[] =>
    setCondition(list, { ...of, ...(generation !== undefined && { observedGeneration: generation }) }, now);
  let list: Condition[] = machine.status?.conditions ?? [];
  for (const of of [
    facts.paused,
    bootstrapCondition(facts, is),
    infrastructureCondition(facts),
    ...nodeConditions(facts),
    deletingCondition(facts),
    upToDateCondition(facts),
  ])
    if (of !== undefined) list = update(list, of);
  list = update(list, readyCondition(list, machine));
  return update(list, availableCondition(list, machine, now));
}

function bootstrapCondition({ bootstrap, machine }: MachineFacts, is: Initialization): ConditionUpdate {
  const type = "BootstrapConfigReady";
  if (bootstrap === undefined) return { type, status: "True", reason: "DataSecretProvided", message: "" };
  const wasThere = is.bootstrapDataSecretCreated === true;
  const isLeaving = machine.metadata.deletionTimestamp !== undefined;
  // The data is there and stays; the configuration is no longer needed.
  if (bootstrap.object === undefined && wasThere && !isLeaving)
    return { type, status: "True", reason: "DataSecretProvided", message: "" };
  const message = `${bootstrap.reference.kind} status.initialization.dataSecretCreated is false`;
  return mirrored(bootstrap, { type, of: "Ready", isGood: isBootstrapReady(bootstrap), message, wasThere });
}

function infrastructureCondition({ machine, infrastructure }: MachineFacts): ConditionUpdate {
  return mirrored(infrastructure, {
    type: "InfrastructureReady",
    of: "Ready",
    isGood: isProvisioned(infrastructure),
    message: `${infrastructure.reference.kind} status.initialization.provisioned is false`,
    wasThere: machine.status?.initialization?.infrastructureProvisioned === true,
  });
}

function nodeConditions({ node, machine, now }: MachineFacts): ConditionUpdate[] {
  const both = (of: Omit<ConditionUpdate, "type">): ConditionUpdate[] =>
    ["NodeReady", "NodeHealthy"].map((type) => ({ type, ...of }));
  switch (node.is) {
    case "there":
      return [nodeReady(node.node), nodeHealthy(node.node)];
    case "deleted": {
      const isLeaving = machine.metadata.deletionTimestamp !== undefined;
      const message = `Node ${node.name} has been deleted${isLeaving ? "" : " while the Machine still exists"}`;
      return both({ status: "False", reason: "NodeDeleted", message });
    }
    case "awaited":
      return both({ status: "Unknown", reason: node.reason, message: node.message });
    case "disputed":
      return both({ status: "Unknown", reason: "InternalError", message: node.message });
    case "unknown": {
      const isKnown = conditionOf(machine.status?.conditions, "NodeReady") !== undefined;
      // What was seen last is shown for a while.
      if (isKnown && now - node.since < CONNECTION_DOWN_MS) return [];
      return both({ status: "Unknown", reason: "ConnectionDown", message: `Remote connection is down: ${node.why}` });
    }
  }
}

function nodeReady(node: Node): ConditionUpdate {
  const ready = conditionOf(node.status?.conditions, "Ready");
  if (ready?.status === "True") return { type: "NodeReady", status: "True", reason: "NodeReady", message: "" };
  const message = `* Node.Ready: ${ready?.message || ready?.reason || "Condition not yet reported"}`;
  if (ready?.status === "False") return { type: "NodeReady", status: "False", reason: "NodeNotReady", message };
  return { type: "NodeReady", status: "Unknown", reason: "NodeReadyUnknown", message };
}

/** Conditions of a Node that count, and the status that is good. */
const HEALTH = { Ready: "True", MemoryPressure: "False", DiskPressure: "False", PIDPressure: "False" } as const;

function nodeHealthy(node: Node): ConditionUpdate {
  const type = "NodeHealthy";
  const parts = Object.entries(HEALTH).map(([name, good]) => {
    const held = conditionOf(node.status?.conditions, name);
    const status = held?.status ?? "Unknown";
    return { line: `* Node.${name}: ${held?.message || held?.reason || "Condition not yet reported"}`, status, good };
  });
  const bad = parts.filter(({ status, good }) => status !== good && status !== "Unknown");
  const unknown = parts.filter(({ status }) => status === "Unknown");
  const message = [...bad, ...unknown].map(({ line }) => line).join("\n");
  if (bad.length > 0) return { type, status: "False", reason: "NodeNotHealthy", message };
  if (unknown.length > 0) return { type, status: "Unknown", reason: "NodeHealthUnknown", message };
  return { type, status: "True", reason: "NodeHealthy", message: "" };
}

function deletingCondition({ deleting }: MachineFacts): ConditionUpdate {
  if (deleting === undefined) return { type: "Deleting", status: "False", reason: "NotDeleting", message: "" };
  return { type: "Deleting", status: "True", ...deleting };
}

function upToDateCondition(facts: MachineFacts): ConditionUpdate | undefined {
  const { machine, deployed, now } = facts;
  if (deployed === undefined || machine.metadata.deletionTimestamp !== undefined) return undefined;
  const seen = { ...machine, status: { ...machine.status, ...nodeFields(facts) } };
  return upToDate(seen, deployed.set, deployed.deployment, now);
}

function readyCondition(list: readonly Condition[], { spec }: Machine): ConditionUpdate {
  const gates = spec.readinessGates ?? [];
  return summary(list, {
    type: "Ready",
    of: [
      ...["Deleting", "Updating", "BootstrapConfigReady", "InfrastructureReady", "NodeHealthy", "HealthCheckSucceeded"],
      ...gates.map(({ conditionType }) => conditionType),
    ],
    optional: ["Updating", "HealthCheckSucceeded"],
    negative: gates.flatMap(({ conditionType, polarity }) => (polarity === "Negative" ? [conditionType] : [])),
    reasons: { issue: "NotReady", unknown: "ReadyUnknown", good: "Ready" },
  });
}

function availableCondition(list: readonly Condition[], machine: Machine, now: number): ConditionUpdate {
  const type = "Available";
  if (conditionOf(list, "Ready")?.status !== "True") return { type, status: "False", reason: "NotReady", message: "" };
  if (availableInMs(list, machine, now) > 0)
    return {
      type,
      status: "False",
      reason: "WaitingForMinReadySeconds",
      message: `Ready for less than ${machine.spec.minReadySeconds} s`,
    };
  return { type, status: "True", reason: "Available", message: "" };
}

/** How long until a Machine that stays Ready is available; 0: it is, or it is not Ready. */
export function availableInMs(list: readonly Condition[] | undefined, { spec }: Machine, now: number): number {
  const ready = conditionOf(list, "Ready");
  if (ready?.status !== "True") return 0;
  return Math.max(0, Date.parse(ready.lastTransitionTime) + (spec.minReadySeconds ?? 0) * 1000 - now);
}

function oldConditions(facts: MachineFacts, is: Initialization) {
  const { machine, bootstrap, infrastructure, now } = facts;
  const updates: OldUpdate[] = [
    bootstrap === undefined || (bootstrap.object === undefined && is.bootstrapDataSecretCreated)
      ? { type: "BootstrapReady", status: "True" }
      : mirroredOld(bootstrap, {
          ...{ type: "BootstrapReady", reason: "WaitingForDataSecret", message: "" },
          isGood: isBootstrapReady(bootstrap),
        }),
    mirroredOld(infrastructure, {
      ...{ type: "InfrastructureReady", reason: "WaitingForInfrastructure", message: "" },
      isGood: isProvisioned(infrastructure),
    }),
    oldNodeHealthy(facts),
  ];
  let list = machine.status?.deprecated?.v1beta1?.conditions;
  for (const update of updates) list = setOldCondition(list, update, now);
  return setOldCondition(list, oldReady(list, ["BootstrapReady", "InfrastructureReady", "HealthCheckSucceeded"]), now);
}

function oldNodeHealthy({ node }: MachineFacts): OldUpdate {
  const type = "NodeHealthy";
  if (node.is !== "there")
    return node.is === "deleted"
      ? { type, status: "False", severity: "Error", reason: "NodeNotFound" }
      : { type, status: "False", severity: "Info", reason: "WaitingForNodeRef" };
  const { status, message } = nodeHealthy(node.node);
  if (status === "True") return { type, status };
  if (status === "False") return { type, status, severity: "Warning", reason: "NodeConditionsFailed", message };
  return { type, status, reason: "NodeConditionsFailed", message };
}
