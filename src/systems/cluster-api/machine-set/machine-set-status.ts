/** What a MachineSet's status says. Pure. */
import { type Condition, type ConditionUpdate, conditionOf, selectorText, setCondition } from "@slipway/kube";
import { aggregate } from "../../../cluster-api/conditions.ts";
import { setOldCondition } from "../../../cluster-api/old-conditions.ts";
import type { Machine } from "../../../kinds/cluster-api/machine.ts";
import type { MachineSet, MachineSetStatus } from "../../../kinds/cluster-api/machine-set.ts";

export interface MachineSetFacts {
  set: MachineSet;
  /** Those that are being deleted included. */
  machines: readonly Machine[];
  /** What keeps it from making Machines. */
  obstacles: readonly string[];
  /** What the last attempt to make one failed with. */
  failure: string | undefined;
  now: number;
}

const hasTrue = (type: string) => (machine: Machine) =>
  conditionOf(machine.status?.conditions, type)?.status === "True";
/** A Machine so young need not say yet whether it is up to date. */
const YOUNG_MS = 10_000;

/** The status of a MachineSet, counted from its Machines' conditions. Pure. */
export function machineSetStatus(facts: MachineSetFacts): Partial<MachineSetStatus> {
  const { set, machines } = facts;
  const { generation } = set.metadata;
  const counters = {
    readyReplicas: machines.filter(hasTrue("Ready")).length,
    availableReplicas: machines.filter(hasTrue("Available")).length,
  };
  const labels = Object.entries(set.spec.template.metadata?.labels ?? {});
  const isLabelled = (machine: Machine) => labels.every(([key, value]) => machine.metadata.labels?.[key] === value);
  return {
    replicas: machines.length,
    ...counters,
    upToDateReplicas: machines.filter(hasTrue("UpToDate")).length,
    selector: selectorText(set.spec.selector),
    versions: versionsOf(machines),
    conditions: conditionsOf(facts),
    ...(generation !== undefined && { observedGeneration: generation }),
    deprecated: {
      v1beta1: {
        ...set.status?.deprecated?.v1beta1,
        ...counters,
        fullyLabeledReplicas: machines.filter(isLabelled).length,
        conditions: oldConditions(facts),
      },
    },
  };
}

/** How many Machines have each version, the lowest first. */
export function versionsOf(machines: readonly Machine[]): MachineSetStatus["versions"] {
  const versions = Map.groupBy(
    machines.filter(({ spec }) => spec.version !== undefined),
    ({ spec }) => spec.version!,
  );
  const list = [...versions].map(([version, of]) => ({ version, replicas: of.length }));
  return list.length === 0
    ? undefined
    : list.toSorted((a, b) => a.version.localeCompare(b.version, "en", { numeric: true }));
}

function conditionsOf(facts: MachineSetFacts): Condition[] {
  const { set, now } = facts;
  const { generation } = set.metadata;
  const updates = [
    scalingUp(facts),
    scalingDown(facts),
    machinesReady(facts),
    machinesUpToDate(facts),
    remediating(facts),
    deleting(facts),
  ];
  return updates.reduce<Condition[]>(
    (list, of) =>
      setCondition(list, { ...of, ...(generation !== undefined && { observedGeneration: generation }) }, now),
    set.status?.conditions ?? [],
  );
}

function scalingUp({ set, machines, obstacles, failure }: MachineSetFacts): ConditionUpdate {
  const type = "ScalingUp";
  const wanted = set.metadata.deletionTimestamp === undefined ? set.spec.replicas : 0;
  if (machines.length >= wanted) return { type, status: "False", reason: "NotScalingUp", message: "" };
  const why = [...obstacles, ...(failure === undefined ? [] : [failure])];
  const lines = why.map((text) => `\n* ${text}`).join("");
  const message = `Scaling up from ${machines.length} to ${wanted} replicas${why.length > 0 ? ` is blocked because:${lines}` : ""}`;
  return { type, status: "True", reason: "ScalingUp", message };
}

function scalingDown({ set, machines }: MachineSetFacts): ConditionUpdate {
  const type = "ScalingDown";
  const wanted = set.metadata.deletionTimestamp === undefined ? set.spec.replicas : 0;
  if (machines.length <= wanted) return { type, status: "False", reason: "NotScalingDown", message: "" };
  const leaving = machines.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const waits = leaving.length === 0 ? "" : `\n* ${leaving.length} Machines are being deleted`;
  return {
    type,
    status: "True",
    reason: "ScalingDown",
    message: `Scaling down from ${machines.length} to ${wanted} replicas${waits}`,
  };
}

const aggregated = ({ metadata, status }: Machine) => ({ name: metadata.name, conditions: status?.conditions });

function machinesReady({ machines }: MachineSetFacts): ConditionUpdate {
  const type = "MachinesReady";
  if (machines.length === 0) return { type, status: "True", reason: "NoReplicas", message: "" };
  const reasons = { issue: "NotReady", unknown: "ReadyUnknown", good: "Ready" };
  return aggregate(machines.map(aggregated), { type, of: "Ready", kind: "Machine", reasons });
}

function machinesUpToDate({ machines, now }: MachineSetFacts): ConditionUpdate {
  const type = "MachinesUpToDate";
  const told = machines.filter(
    ({ metadata, status }) =>
      conditionOf(status?.conditions, "UpToDate") !== undefined ||
      now - Date.parse(metadata.creationTimestamp) >= YOUNG_MS,
  );
  if (told.length === 0) return { type, status: "True", reason: "NoReplicas", message: "" };
  const reasons = { issue: "NotUpToDate", unknown: "UpToDateUnknown", good: "UpToDate" };
  return aggregate(told.map(aggregated), { type, of: "UpToDate", kind: "Machine", reasons });
}

/** Machines that a MachineHealthCheck has asked the set to replace. */
export const toBeRemediated = (machines: readonly Machine[]): Machine[] =>
  machines.filter(
    ({ status }) =>
      conditionOf(status?.conditions, "HealthCheckSucceeded")?.status === "False" &&
      conditionOf(status?.conditions, "OwnerRemediated")?.status === "False",
  );

function remediating({ machines, obstacles }: MachineSetFacts): ConditionUpdate {
  const type = "Remediating";
  const sick = toBeRemediated(machines);
  if (sick.length === 0) return { type, status: "False", reason: "NotRemediating", message: "" };
  const names = sick.map(({ metadata }) => metadata.name).toSorted();
  const blocked = obstacles.length === 0 ? "" : `; waits for: ${obstacles.join("; ")}`;
  return {
    type,
    status: "True",
    reason: "Remediating",
    message: `Machines to be replaced: ${names.join(", ")}${blocked}`,
  };
}

function deleting({ set, machines }: MachineSetFacts): ConditionUpdate {
  const type = "Deleting";
  if (set.metadata.deletionTimestamp === undefined)
    return { type, status: "False", reason: "NotDeleting", message: "" };
  return { type, status: "True", reason: "Deleting", message: `Deleting ${machines.length} Machines` };
}

function oldConditions({ set, machines, failure, now }: MachineSetFacts) {
  const held = set.status?.deprecated?.v1beta1?.conditions;
  const created =
    failure === undefined
      ? setOldCondition(held, { type: "MachinesCreated", status: "True" }, now)
      : setOldCondition(
          held,
          {
            type: "MachinesCreated",
            status: "False",
            severity: "Error",
            reason: "MachineCreationFailed",
            message: failure,
          },
          now,
        );
  const ready = machines.filter(hasTrue("Ready")).length;
  const isReady = ready === machines.length;
  const all = setOldCondition(
    created,
    isReady
      ? { type: "MachinesReady", status: "True" }
      : {
          type: "MachinesReady",
          status: "False",
          severity: "Info",
          reason: "MachinesNotReady",
          message: `${ready} of ${machines.length} Machines are ready`,
        },
    now,
  );
  const resized =
    machines.length === set.spec.replicas
      ? setOldCondition(all, { type: "Resized", status: "True" }, now)
      : setOldCondition(
          all,
          {
            ...{ type: "Resized", status: "False", severity: "Warning" },
            reason: machines.length < set.spec.replicas ? "ScalingUp" : "ScalingDown",
            message: `Scaling from ${machines.length} to ${set.spec.replicas} replicas`,
          },
          now,
        );
  const isGood = isReady && machines.length === set.spec.replicas;
  return setOldCondition(
    resized,
    isGood
      ? { type: "Ready", status: "True" }
      : { type: "Ready", status: "False", severity: "Info", reason: "NotReady" },
    now,
  );
}
