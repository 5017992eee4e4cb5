/**
 * A workload cluster as a tree, as `clusterctl describe cluster` draws it: the columns are the same, and the last one says what a row waits for
 * also where its conditions do not. Pure.
 */
import { type Condition, conditionOf, controllerOf, type KubeObject } from "@slipway/kube";
import { conditionsOf, controlPlaneOf } from "../cluster-api/contract.ts";
import { isControlPlane } from "../cluster-api/owners.ts";
import { at } from "../kinds/cluster-api/field-path.ts";
import type { MachineSet } from "../kinds/cluster-api/machine-set.ts";
import { since } from "../views/since.ts";
import { type Branch, drawnTree } from "./branches.ts";
import type { ClusterFacts, MachineFacts, Referenced } from "./cluster-description.ts";
import { table } from "./progress.ts";

/** How many names of a group of Machines are shown. */
const NAMES = 3;
const HEADS = ["NAME", "REPLICAS", "AVAILABLE", "READY", "UP TO DATE", "STATUS", "REASON", "SINCE", "MESSAGE"];

interface Counters {
  desired?: number | undefined;
  replicas?: number | undefined;
  available?: number | undefined;
  ready?: number | undefined;
  upToDate?: number | undefined;
}

interface Row {
  name: string;
  counters?: Counters;
  condition?: Condition | undefined;
  message?: string | undefined;
  children: readonly Row[];
}

/** The tree in lines. `each`: every Machine has a row, with its objects; default: Machines in the same state share one. `now`: ms since 1970. */
export function clusterLines(facts: ClusterFacts, now: number, { each = false } = {}): string[] {
  const { cluster, infrastructure, controlPlane } = facts;
  const { status } = cluster;
  const root: Row = {
    name: `Cluster/${cluster.metadata.name}`,
    counters: sumOf(status?.controlPlane, status?.workers),
    ...standing(cluster, "Available"),
    children: [
      ...(infrastructure ? [referencedRow("ClusterInfrastructure - ", infrastructure)] : []),
      ...(controlPlane ? [controlPlaneRow(controlPlane, facts, each)] : []),
      ...workers(facts, each),
    ],
  };
  return table(HEADS, drawnTree(branchOf(root, now))).map((line) => line.trimEnd());
}

function controlPlaneRow(controlPlane: Referenced, { machines }: ClusterFacts, each: boolean): Row {
  const row = referencedRow("ControlPlane - ", controlPlane, "Available");
  if (!("object" in controlPlane)) return row;
  const { desiredReplicas, replicas, availableReplicas, readyReplicas, upToDateReplicas } = controlPlaneOf(
    controlPlane.object,
    controlPlane.contract,
  );
  const own = machines.filter(({ machine }) => isControlPlane(machine));
  return {
    ...row,
    counters: {
      ...{ desired: desiredReplicas, replicas, available: availableReplicas, ready: readyReplicas },
      upToDate: upToDateReplicas,
    },
    children: machineRows(own, each),
  };
}

/** MachineDeployments with their Machines, then MachineSets and Machines of nobody. */
function workers({ deployments, sets, machines }: ClusterFacts, each: boolean): Row[] {
  const own = machines.filter(({ machine }) => !isControlPlane(machine));
  const ofSet = byOwner(own, sets, ({ machine }) => machine);
  const ofDeployment = byOwner(sets, deployments, (set) => set);
  const machinesOf = (some: readonly MachineSet[] = []) =>
    machineRows(
      some.flatMap(({ metadata }) => ofSet.get(metadata.uid) ?? []),
      each,
    );
  const rows = [
    ...deployments.map((deployment) => ({
      name: `MachineDeployment/${deployment.metadata.name}`,
      counters: countersOf(deployment.spec.replicas, deployment.status),
      ...standing(deployment, "Available"),
      children: machinesOf(ofDeployment.get(deployment.metadata.uid)),
    })),
    ...(ofDeployment.get(undefined) ?? []).map((set) => ({
      name: `MachineSet/${set.metadata.name}`,
      counters: countersOf(set.spec.replicas, set.status),
      ...standing(set, "MachinesReady"),
      children: machinesOf([set]),
    })),
  ];
  const others = machineRows(ofSet.get(undefined) ?? [], each);
  return [
    ...(rows.length > 0 ? [{ name: "Workers", children: rows }] : []),
    ...(others.length > 0 ? [{ name: "Other", children: others }] : []),
  ];
}

/** The members by the uid of the one of `owners` that controls them; those of none of these by undefined. */
function byOwner<T>(members: readonly T[], owners: readonly KubeObject[], objectOf: (member: T) => KubeObject) {
  const uids = new Set(owners.map(({ metadata }) => metadata.uid));
  return Map.groupBy(members, (member) => {
    const uid = controllerOf(objectOf(member))?.uid;
    return uid !== undefined && uids.has(uid) ? uid : undefined;
  });
}

type Counted = Partial<
  Record<
    "desiredReplicas" | "replicas" | "availableReplicas" | "readyReplicas" | "upToDateReplicas",
    number | undefined
  >
>;

function countersOf(desired: number | undefined, counted: Counted = {}): Counters {
  const { replicas, availableReplicas: available, readyReplicas: ready, upToDateReplicas: upToDate } = counted;
  return { desired, replicas, available, ready, upToDate };
}

/** Undefined stays undefined: what nobody counts is no zero. */
function sumOf(...of: readonly (Counted | undefined)[]): Counters {
  const sum = (values: readonly (number | undefined)[]): number | undefined => {
    const known = values.filter((value) => value !== undefined);
    return known.length === 0 ? undefined : known.reduce((a, b) => a + b);
  };
  const all = of.map((counted) => countersOf(counted?.desiredReplicas, counted));
  return {
    desired: sum(all.map(({ desired }) => desired)),
    replicas: sum(all.map(({ replicas }) => replicas)),
    available: sum(all.map(({ available }) => available)),
    ready: sum(all.map(({ ready }) => ready)),
    upToDate: sum(all.map(({ upToDate }) => upToDate)),
  };
}

function machineRows(machines: readonly MachineFacts[], each: boolean): Row[] {
  const rows = machines
    .toSorted((a, b) => (a.machine.metadata.name < b.machine.metadata.name ? -1 : 1))
    .map((facts) => machineRow(facts, each));
  if (each) return rows;
  const state = ({ condition, message }: Row) => `${condition?.status} ${condition?.reason} ${message}`;
  return [...Map.groupBy(rows, state).values()].map((group) => (group.length === 1 ? group[0]! : grouped(group)));
}

function machineRow({ machine, infrastructure, bootstrap }: MachineFacts, each: boolean): Row {
  const row = standing(machine, "Ready");
  const made = [
    referencedRow("MachineInfrastructure - ", infrastructure),
    ...(bootstrap ? [referencedRow("BootstrapConfig - ", bootstrap)] : []),
  ];
  // What the Machine says of them already is not said twice.
  const children = made.filter(({ message }) => each || (message !== undefined && row.condition?.status !== "True"));
  return { name: `Machine/${machine.metadata.name}`, ...row, children };
}

function grouped(group: readonly Row[]): Row {
  const names = group.map(({ name }) => name.slice("Machine/".length));
  const [{ condition, message }] = group as [Row];
  const oldest = group.map((one) => one.condition).toSorted((a, b) => changeOf(a) - changeOf(b))[0] ?? condition;
  const more = names.length > NAMES ? ", …" : "";
  const see = `See ${names.slice(0, NAMES).join(", ")}${more}`;
  return {
    name: `${group.length} Machines...`,
    condition: oldest,
    message: message ? `${see}\n${message}` : see,
    children: [],
  };
}

const changeOf = (condition: Condition | undefined): number => Date.parse(condition?.lastTransitionTime ?? "") || 0;

function referencedRow(role: string, referenced: Referenced, type = "Ready"): Row {
  const { kind, name } = referenced.reference;
  const row = { name: `${role}${kind}/${name}`, children: [] };
  return "object" in referenced
    ? { ...row, ...standing(referenced.object, type) }
    : { ...row, message: referenced.missing };
}

/** The condition that stands for an object, and what it waits for. */
function standing(object: KubeObject, type: string): Pick<Row, "condition" | "message"> {
  const condition = conditionOf(conditionsOf(object), type);
  const waitingFor = at(object, "status.waitingFor");
  const waits = typeof waitingFor === "string" && waitingFor !== "" ? waitingFor : undefined;
  const deleting = object.metadata.deletionTimestamp === undefined ? undefined : "it is being deleted";
  const said = condition?.status === "True" ? undefined : condition?.message || undefined;
  return { condition, message: said ?? waits ?? deleting };
}

/** A row and those below it, with their cells. */
function branchOf({ name, counters, condition, message, children }: Row, now: number): Branch {
  return {
    name,
    cells: [
      ...counterCells(counters),
      ...(condition === undefined ? ["", ""] : [`${condition.type}: ${condition.status}`, condition.reason]),
      condition === undefined ? "" : since(now - changeOf(condition)),
      message ?? "",
    ],
    children: children.map((child) => branchOf(child, now)),
  };
}

function counterCells(counters: Counters = {}): string[] {
  const { desired, replicas, available, ready, upToDate } = counters;
  const text = (value: number | undefined): string => (value === undefined ? "" : String(value));
  const both = desired === undefined ? text(replicas) : `${replicas ?? 0}/${desired}`;
  return [both, text(available), text(ready), text(upToDate)];
}
