/** What a MachineDeployment's status says. Pure. */
import { type Condition, type ConditionUpdate, conditionOf, selectorText, setCondition } from "@slipway/kube";
import { aggregate } from "../../../cluster-api/conditions.ts";
import { type OldUpdate, setOldCondition } from "../../../cluster-api/old-conditions.ts";
import type { Machine } from "../../../kinds/cluster-api/machine.ts";
import type { MachineDeployment, MachineDeploymentStatus } from "../../../kinds/cluster-api/machine-deployment.ts";
import type { MachineSet } from "../../../kinds/cluster-api/machine-set.ts";
import { versionsOf } from "../machine-set/machine-set-status.ts";
import { paceOf } from "./portions.ts";

export interface DeploymentFacts {
  deployment: MachineDeployment;
  sets: readonly MachineSet[];
  current: MachineSet | undefined;
  machines: readonly Machine[];
  now: number;
}

interface Counted {
  replicas: number;
  readyReplicas: number;
  availableReplicas: number;
  upToDateReplicas: number;
}

const NAMES = ["replicas", "readyReplicas", "availableReplicas", "upToDateReplicas"] as const;

/** The status of a MachineDeployment: its counters are the sums of its MachineSets'. Pure. */
export function deploymentStatus(facts: DeploymentFacts): Partial<MachineDeploymentStatus> {
  const { deployment, sets, current, machines } = facts;
  const counted = Object.fromEntries(
    NAMES.map((name) => [name, sets.reduce((total, { status }) => total + (status?.[name] ?? 0), 0)]),
  ) as unknown as Counted;
  const { generation } = deployment.metadata;
  const wanted = wantedOf(deployment);
  return {
    ...counted,
    selector: selectorText(deployment.spec.selector),
    versions: versionsOf(machines),
    phase: counted.replicas < wanted ? "ScalingUp" : counted.replicas > wanted ? "ScalingDown" : "Running",
    conditions: conditionsOf(facts, counted),
    ...(generation !== undefined && { observedGeneration: generation }),
    deprecated: {
      v1beta1: {
        readyReplicas: counted.readyReplicas,
        availableReplicas: counted.availableReplicas,
        updatedReplicas: current?.status?.replicas ?? 0,
        unavailableReplicas: Math.max(0, wanted - counted.availableReplicas),
        conditions: oldConditions(facts, counted),
      },
    },
  };
}

const wantedOf = ({ metadata, spec }: MachineDeployment): number =>
  metadata.deletionTimestamp === undefined ? spec.replicas : 0;

function conditionsOf(facts: DeploymentFacts, counted: Counted): Condition[] {
  const { deployment, now } = facts;
  const { generation } = deployment.metadata;
  const updates = [
    available(deployment, counted),
    ofMachines(facts, "MachinesReady", "Ready"),
    ofMachines(facts, "MachinesUpToDate", "UpToDate"),
    rollingOut(facts),
    scaling(facts, counted, "ScalingUp"),
    scaling(facts, counted, "ScalingDown"),
    remediating(facts),
    deleting(facts),
  ];
  return updates.reduce<Condition[]>(
    (list, of) =>
      setCondition(list, { ...of, ...(generation !== undefined && { observedGeneration: generation }) }, now),
    deployment.status?.conditions ?? [],
  );
}

/** The fewest Machines that must be available. */
function leastAvailable({ spec }: MachineDeployment): number {
  if (spec.rollout?.strategy?.type === "OnDelete") return spec.replicas;
  const { maxSurge, maxUnavailable } = paceOf(spec.rollout?.strategy?.rollingUpdate, spec.replicas);
  return maxSurge === 0 && maxUnavailable > spec.replicas ? 0 : Math.max(0, spec.replicas - maxUnavailable);
}

function available(deployment: MachineDeployment, { availableReplicas }: Counted): ConditionUpdate {
  const type = "Available";
  const least = leastAvailable(deployment);
  if (availableReplicas >= least) return { type, status: "True", reason: "Available", message: "" };
  const message = `${availableReplicas} available replicas, at least ${least} required (spec.replicas is ${deployment.spec.replicas})`;
  return { type, status: "False", reason: "NotAvailable", message };
}

function ofMachines({ machines, now }: DeploymentFacts, type: string, of: "Ready" | "UpToDate"): ConditionUpdate {
  const told = machines.filter(
    ({ metadata, status }) =>
      of === "Ready" ||
      conditionOf(status?.conditions, of) !== undefined ||
      now - Date.parse(metadata.creationTimestamp) >= 10_000,
  );
  if (told.length === 0) return { type, status: "True", reason: "NoReplicas", message: "" };
  const reasons = { issue: `Not${of}`, unknown: `${of}Unknown`, good: of };
  return aggregate(
    told.map(({ metadata, status }) => ({ name: metadata.name, conditions: status?.conditions })),
    { type, of, kind: "Machine", reasons },
  );
}

function rollingOut({ machines }: DeploymentFacts): ConditionUpdate {
  const type = "RollingOut";
  const outdated = machines.filter(({ status }) => conditionOf(status?.conditions, "UpToDate")?.status === "False");
  if (outdated.length === 0) return { type, status: "False", reason: "NotRollingOut", message: "" };
  const lines = new Set(
    outdated.flatMap(({ status }) => conditionOf(status?.conditions, "UpToDate")!.message.split("\n")),
  );
  const message = `Rolling out ${outdated.length} not up-to-date replicas\n${[...lines].toSorted().join("\n")}`;
  return { type, status: "True", reason: "RollingOut", message };
}

function scaling(
  { deployment, sets }: DeploymentFacts,
  { replicas }: Counted,
  type: "ScalingUp" | "ScalingDown",
): ConditionUpdate {
  const wanted = wantedOf(deployment);
  const isDoing = type === "ScalingUp" ? replicas < wanted : replicas > wanted;
  if (!isDoing) return { type, status: "False", reason: `Not${type}`, message: "" };
  const why = sets.flatMap(({ metadata, status }) => {
    const said = conditionOf(status?.conditions, type);
    const [, ...lines] = said?.status === "True" ? said.message.split("\n") : [];
    return lines.length === 0 ? [] : [`\n* MachineSet ${metadata.name}: ${lines.join(" ").replaceAll("* ", "")}`];
  });
  const message = `Scaling ${type === "ScalingUp" ? "up" : "down"} from ${replicas} to ${wanted} replicas${why.join("")}`;
  return { type, status: "True", reason: type, message };
}

function remediating({ sets }: DeploymentFacts): ConditionUpdate {
  const type = "Remediating";
  if (sets.length === 0) return { type, status: "False", reason: "NotRemediating", message: "" };
  return aggregate(
    sets.map(({ metadata, status }) => ({ name: metadata.name, conditions: status?.conditions })),
    { type, kind: "MachineSet", reasons: { issue: type, unknown: "RemediatingUnknown", good: "NotRemediating" } },
  );
}

function deleting({ deployment, sets }: DeploymentFacts): ConditionUpdate {
  const type = "Deleting";
  if (deployment.metadata.deletionTimestamp === undefined)
    return { type, status: "False", reason: "NotDeleting", message: "" };
  return { type, status: "True", reason: "Deleting", message: `Deleting ${sets.length} MachineSets` };
}

function oldConditions({ deployment, sets, now }: DeploymentFacts, { availableReplicas, replicas }: Counted) {
  const least = leastAvailable(deployment);
  const isAvailable = availableReplicas >= least;
  const updates: OldUpdate[] = [
    isAvailable
      ? { type: "Available", status: "True" }
      : {
          ...{ type: "Available", status: "False", severity: "Warning", reason: "WaitingForAvailableMachines" },
          message: `Minimum availability requires ${least} replicas, current ${availableReplicas} available`,
        },
    sets.length > 0 && replicas === deployment.spec.replicas
      ? { type: "MachineSetReady", status: "True" }
      : { type: "MachineSetReady", status: "False", severity: "Info", reason: "WaitingForMachineSet" },
    isAvailable
      ? { type: "Ready", status: "True" }
      : {
          ...{ type: "Ready", status: "False", severity: "Warning", reason: "WaitingForAvailableMachines" },
          message: `Minimum availability requires ${least} replicas, current ${availableReplicas} available`,
        },
  ];
  let list = deployment.status?.deprecated?.v1beta1?.conditions;
  for (const update of updates) list = setOldCondition(list, update, now);
  return list;
}
