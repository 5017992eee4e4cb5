/** What a Cluster's status says, decided from what was seen. Pure. */
import { type Condition, type ConditionUpdate, controllerOf, setCondition } from "@slipway/kube";
import { type Aggregated, aggregate, summary } from "../../../cluster-api/conditions.ts";
import { conditionsOf, controlPlaneOf, endpointOf, infraClusterOf } from "../../../cluster-api/contract.ts";
import { type OldUpdate, oldReady, setOldCondition } from "../../../cluster-api/old-conditions.ts";
import { isControlPlane } from "../../../cluster-api/owners.ts";
import type { Cluster, ClusterStatus } from "../../../kinds/cluster-api/cluster.ts";
import type { Machine } from "../../../kinds/cluster-api/machine.ts";
import type { MachineDeployment } from "../../../kinds/cluster-api/machine-deployment.ts";
import type { MachineSet } from "../../../kinds/cluster-api/machine-set.ts";
import { mirrored, mirroredOld, type Seen } from "../mirror.ts";

export interface ClusterFacts {
  cluster: Cluster;
  infrastructure: Seen | undefined;
  controlPlane: Seen | undefined;
  machines: readonly Machine[];
  /** Those of no deployment. */
  sets: readonly MachineSet[];
  deployments: readonly MachineDeployment[];
  /** Whether the workload cluster answers; undefined: it is not asked yet. */
  connection: { isReached: boolean; why: string } | undefined;
  deleting: { reason: string; message: string } | undefined;
  now: number;
}

/** The fields of the status that follow from the facts. */
export function clusterStatus(facts: ClusterFacts): Partial<ClusterStatus> {
  const { cluster } = facts;
  const initialization = initializationOf(facts);
  const failureDomains =
    facts.infrastructure?.object && facts.infrastructure.kind && initialization.infrastructureProvisioned
      ? infraClusterOf(facts.infrastructure.object, facts.infrastructure.kind.contract).failureDomains
      : undefined;
  const { generation } = cluster.metadata;
  return {
    initialization,
    ...(failureDomains && failureDomains.length > 0 && { failureDomains }),
    controlPlane: controlPlaneCounters(facts),
    workers: workerCounters(facts),
    conditions: clusterConditions(facts, initialization),
    phase: phaseOf(cluster, initialization),
    ...(generation !== undefined && { observedGeneration: generation }),
    deprecated: {
      v1beta1: { ...cluster.status?.deprecated?.v1beta1, conditions: oldConditions(facts, initialization) },
    },
  };
}

type Initialization = NonNullable<ClusterStatus["initialization"]>;

/** Once true, both stay. */
function initializationOf({ cluster, infrastructure, controlPlane, machines }: ClusterFacts): Initialization {
  const held = cluster.status?.initialization;
  const isInitialized =
    cluster.spec.controlPlaneRef === undefined
      ? machines.some((machine) => isControlPlane(machine) && machine.status?.nodeRef !== undefined)
      : controlPlane !== undefined && isControlPlaneInitialized(controlPlane);
  const isProvisioned =
    cluster.spec.infrastructureRef === undefined ||
    (infrastructure !== undefined && isInfraProvisioned(infrastructure));
  return {
    ...((held?.infrastructureProvisioned || isProvisioned) && { infrastructureProvisioned: true }),
    ...((held?.controlPlaneInitialized || isInitialized) && { controlPlaneInitialized: true }),
  };
}

/** Whether the infrastructure says that it is there. */
export const isInfraProvisioned = ({ kind, object }: Seen): boolean =>
  kind !== undefined && object !== undefined && infraClusterOf(object, kind.contract).provisioned;

/** Whether the control plane says that it has answered. */
export const isControlPlaneInitialized = ({ kind, object }: Seen): boolean =>
  kind !== undefined && object !== undefined && controlPlaneOf(object, kind.contract).initialized;

function phaseOf({ metadata, spec }: Cluster, is: Initialization): NonNullable<ClusterStatus["phase"]> {
  if (metadata.deletionTimestamp !== undefined) return "Deleting";
  if (is.infrastructureProvisioned && endpointOf(spec.controlPlaneEndpoint) !== undefined) return "Provisioned";
  return spec.infrastructureRef !== undefined || spec.controlPlaneRef !== undefined ? "Provisioning" : "Pending";
}

type Counters = NonNullable<ClusterStatus["controlPlane"]>;

function controlPlaneCounters({ controlPlane, machines, cluster }: ClusterFacts): Counters | undefined {
  if (cluster.spec.controlPlaneRef === undefined) {
    const own = machines.filter(isControlPlane);
    return own.length === 0 ? undefined : counted(own, own.length);
  }
  if (controlPlane?.object === undefined || controlPlane.kind === undefined) return undefined;
  const { desiredReplicas, replicas, readyReplicas, availableReplicas, upToDateReplicas } = controlPlaneOf(
    controlPlane.object,
    controlPlane.kind.contract,
  );
  const given = { desiredReplicas, replicas, readyReplicas, availableReplicas, upToDateReplicas };
  const known = Object.entries(given).filter(([, value]) => value !== undefined);
  return known.length === 0 ? undefined : (Object.fromEntries(known) as Counters);
}

function counted(machines: readonly Machine[], desired: number): Counters {
  const having = (type: string) => machines.filter((machine) => hasTrue(machine, type)).length;
  return {
    desiredReplicas: desired,
    replicas: machines.length,
    readyReplicas: having("Ready"),
    availableReplicas: having("Available"),
    upToDateReplicas: having("UpToDate"),
  };
}

const hasTrue = ({ status }: Machine, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === "True") === true;

function workerCounters({ machines, sets, deployments }: ClusterFacts): Counters {
  const alone = machines.filter((machine) => !isControlPlane(machine) && controllerOf(machine) === undefined);
  const groups = [...deployments, ...sets].map(({ spec, status }) => ({
    desiredReplicas: spec.replicas,
    replicas: status?.replicas ?? 0,
    readyReplicas: status?.readyReplicas ?? 0,
    availableReplicas: status?.availableReplicas ?? 0,
    upToDateReplicas: status?.upToDateReplicas ?? 0,
  }));
  return [...groups, counted(alone, alone.length)].reduce<Counters>(
    (sum, one) =>
      Object.fromEntries(
        Object.entries(one).map(([name, value]) => [name, (sum[name as "replicas"] ?? 0) + (value as number)]),
      ),
    {},
  );
}

function clusterConditions(facts: ClusterFacts, is: Initialization): Condition[] {
  const { cluster, now } = facts;
  const { generation } = cluster.metadata;
  const update = (list: Condition[], of: ConditionUpdate): Condition[] =>
    setCondition(list, { ...of, ...(generation !== undefined && { observedGeneration: generation }) }, now);
  const parts = [
    infrastructureReady(facts),
    controlPlaneInitialized(is),
    controlPlaneAvailable(facts, is),
    workersAvailable(facts),
    ...machineConditions(facts),
    ...groupConditions(facts),
    remoteConnection(facts),
    facts.deleting === undefined
      ? { type: "Deleting", status: "False" as const, reason: "NotDeleting", message: "" }
      : { type: "Deleting", status: "True" as const, ...facts.deleting },
  ];
  const list = parts.reduce(update, cluster.status?.conditions ?? []);
  return update(list, available(list, cluster));
}

function available(list: readonly Condition[], { spec }: Cluster): ConditionUpdate {
  const gates = spec.availabilityGates ?? [];
  return summary(list, {
    type: "Available",
    of: [
      ...["Deleting", "RemoteConnectionProbe", "InfrastructureReady", "ControlPlaneAvailable", "WorkersAvailable"],
      ...gates.map(({ conditionType }) => conditionType),
    ],
    negative: gates.flatMap(({ conditionType, polarity }) => (polarity === "Negative" ? [conditionType] : [])),
    reasons: { issue: "NotAvailable", unknown: "AvailableUnknown", good: "Available" },
  });
}

function infrastructureReady({ cluster, infrastructure }: ClusterFacts): ConditionUpdate {
  const type = "InfrastructureReady";
  if (infrastructure === undefined) return { type, status: "True", reason: "NoInfrastructure", message: "" };
  return mirrored(infrastructure, {
    ...{ type, of: "Ready", isGood: isInfraProvisioned(infrastructure) },
    message: `${infrastructure.reference.kind} status.initialization.provisioned is false`,
    wasThere: cluster.status?.initialization?.infrastructureProvisioned === true,
  });
}

function controlPlaneInitialized(is: Initialization): ConditionUpdate {
  const type = "ControlPlaneInitialized";
  return is.controlPlaneInitialized
    ? { type, status: "True", reason: "Initialized", message: "" }
    : { type, status: "False", reason: "NotInitialized", message: "Control plane not yet initialized" };
}

const PLANE_REASONS = { good: "Available", bad: "NotAvailable" };

function controlPlaneAvailable({ cluster, controlPlane }: ClusterFacts, is: Initialization): ConditionUpdate {
  const type = "ControlPlaneAvailable";
  const isGood = is.controlPlaneInitialized === true;
  const message = "Control plane not yet initialized";
  if (controlPlane === undefined)
    return isGood
      ? { type, status: "True", reason: PLANE_REASONS.good, message: "" }
      : { type, status: "False", reason: PLANE_REASONS.bad, message };
  const wasThere = cluster.status?.initialization?.controlPlaneInitialized === true;
  return mirrored(controlPlane, { type, of: "Available", isGood, message, wasThere, reasons: PLANE_REASONS });
}

function workersAvailable({ deployments }: ClusterFacts): ConditionUpdate {
  const type = "WorkersAvailable";
  if (deployments.length === 0) return { type, status: "True", reason: "NoWorkers", message: "" };
  return aggregate(deployments.map(named), {
    ...{ type, of: "Available", kind: "MachineDeployment" },
    reasons: { issue: "NotAvailable", unknown: "AvailableUnknown", good: "Available" },
  });
}

const named = ({ metadata, status }: Machine | MachineSet | MachineDeployment): Aggregated => ({
  name: metadata.name,
  conditions: status?.conditions,
});

function machineConditions({ machines }: ClusterFacts): ConditionUpdate[] {
  const [planes, workers] = [machines.filter(isControlPlane), machines.filter((machine) => !isControlPlane(machine))];
  const of = (type: string, condition: "Ready" | "UpToDate", all: readonly Machine[]): ConditionUpdate => {
    // Machines of no deployment are never out of date.
    const told =
      condition === "Ready"
        ? all
        : all.filter((machine) => machine.status?.conditions?.some((c) => c.type === condition));
    if (told.length === 0) return { type, status: "True", reason: "NoReplicas", message: "" };
    const reasons = { issue: `Not${condition}`, unknown: `${condition}Unknown`, good: condition };
    return aggregate(told.map(named), { type, of: condition, kind: "Machine", reasons });
  };
  return [
    of("ControlPlaneMachinesReady", "Ready", planes),
    of("ControlPlaneMachinesUpToDate", "UpToDate", planes),
    of("WorkerMachinesReady", "Ready", workers),
    of("WorkerMachinesUpToDate", "UpToDate", workers),
  ];
}

/** What deployments, sets and the control plane are doing. */
function groupConditions({ deployments, sets, controlPlane }: ClusterFacts): ConditionUpdate[] {
  return ["RollingOut", "ScalingUp", "ScalingDown", "Remediating"].map((type) => {
    const plane = controlPlane?.object && conditionsOf(controlPlane.object);
    const groups = [...deployments, ...(type === "RollingOut" ? [] : sets)].map(named);
    const all = [
      ...(plane?.some((condition) => condition.type === type)
        ? [{ name: controlPlane!.reference.name, conditions: plane, first: true }]
        : []),
      ...groups,
    ];
    if (all.length === 0) return { type, status: "False", reason: `Not${type}`, message: "" };
    const reasons = { issue: type, unknown: `${type}Unknown`, good: `Not${type}` };
    return aggregate(all, { type, kind: "MachineDeployment", reasons });
  });
}

function remoteConnection({ connection }: ClusterFacts): ConditionUpdate {
  const type = "RemoteConnectionProbe";
  if (connection?.isReached) return { type, status: "True", reason: "ProbeSucceeded", message: "" };
  const message =
    connection === undefined ? "Remote connection not established yet" : `Remote connection: ${connection.why}`;
  return { type, status: "False", reason: "ProbeFailed", message };
}

function oldConditions(facts: ClusterFacts, is: Initialization) {
  const { cluster, infrastructure, controlPlane, now } = facts;
  const initialized: OldUpdate = is.controlPlaneInitialized
    ? { type: "ControlPlaneInitialized", status: "True" }
    : {
        type: "ControlPlaneInitialized",
        status: "False",
        severity: "Info",
        reason: "WaitingForControlPlaneProviderInitialized",
      };
  const updates: OldUpdate[] = [
    infrastructure === undefined
      ? { type: "InfrastructureReady", status: "True" }
      : mirroredOld(infrastructure, {
          ...{ type: "InfrastructureReady", reason: "WaitingForInfrastructure", message: "" },
          isGood: isInfraProvisioned(infrastructure),
        }),
    initialized,
    ...(controlPlane === undefined
      ? []
      : [
          mirroredOld(controlPlane, {
            ...{ type: "ControlPlaneReady", reason: "WaitingForControlPlane", message: "" },
            isGood: isPlaneReady(controlPlane),
          }),
        ]),
  ];
  let list = cluster.status?.deprecated?.v1beta1?.conditions;
  for (const update of updates) list = setOldCondition(list, update, now);
  return setOldCondition(list, oldReady(list, ["ControlPlaneReady", "InfrastructureReady"]), now);
}

function isPlaneReady({ kind, object }: Seen): boolean {
  if (kind === undefined || object === undefined) return false;
  const { ready, initialized } = controlPlaneOf(object, kind.contract);
  return kind.contract === "v1beta1" ? ready : initialized;
}
