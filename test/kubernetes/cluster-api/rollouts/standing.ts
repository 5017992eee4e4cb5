/** Where a deployment stands: how many Machines of each template there are, and in what state. Pure. */
import { controllerOf, isTrue, type KubeObject } from "@slipway/kube";
import type { Machine } from "../../../../src/kinds/cluster-api/machine.ts";
import type { MachineDeployment } from "../../../../src/kinds/cluster-api/machine-deployment.ts";
import type { MachineSet } from "../../../../src/kinds/cluster-api/machine-set.ts";
import { paceOf } from "../../../../src/systems/cluster-api/machine-deployment/portions.ts";
import {
  onDelete,
  rollingUpdate,
  type SetState,
  type Sizes,
  whilePaused,
} from "../../../../src/systems/cluster-api/machine-deployment/rollout-plan.ts";
import { byAge } from "../../../../src/systems/cluster-api/machine-deployment/sets.ts";

/** A provider's machine. */
export type Host = KubeObject & { status?: { initialization?: { provisioned?: boolean } } };

/** All objects of one core at a moment. */
export interface Snapshot {
  deployments: readonly MachineDeployment[];
  sets: readonly MachineSet[];
  machines: readonly Machine[];
  hosts: readonly Host[];
}

export interface SetStanding {
  template: string;
  size: number;
  ready: readonly string[];
  making: readonly string[];
  leaving: readonly string[];
}

export interface Standing {
  /** The current template. */
  template: string;
  sets: readonly SetStanding[];
  /** What the core has still to do; undefined: nothing, the next step is its surroundings'. */
  underWay: string | undefined;
}

/** The same text: the same number of sets, and of Machines in each state. */
export const textOf = ({ sets }: Standing): string =>
  sets
    .map((set) => `${set.template}=${set.size}: ${set.ready.length}r ${set.making.length}m ${set.leaving.length}l`)
    .join(" | ");

/** How the deployment of this name stands. */
export function standingOf(snapshot: Snapshot, name: string): Standing {
  const deployment = snapshot.deployments.find(({ metadata }) => metadata.name === name)!;
  const sets = snapshot.sets.filter((set) => controllerOf(set)?.uid === deployment.metadata.uid).toSorted(byAge);
  const machinesOf = (set: MachineSet): Machine[] =>
    snapshot.machines.filter((machine) => controllerOf(machine)?.uid === set.metadata.uid);
  const hosts = new Map(snapshot.hosts.map((host) => [host.metadata.name, host]));
  const standings = sets.map((set) => setStanding(set, machinesOf(set)));
  const obstacle =
    sets.flatMap((set) => machinesOf(set).flatMap((machine) => machineUnderWay(machine, hosts) ?? []))[0] ??
    sets.flatMap((set, at) => setUnderWay(set, standings[at]!) ?? [])[0] ??
    deploymentUnderWay(deployment, sets);
  return {
    template: templateOf(deployment),
    sets: standings.toSorted((a, b) => (a.template < b.template ? -1 : 1)),
    underWay: obstacle,
  };
}

const templateOf = ({ spec }: MachineDeployment | MachineSet): string => spec.template.spec.infrastructureRef.name;

function setStanding(set: MachineSet, machines: readonly Machine[]): SetStanding {
  const isLeaving = ({ metadata }: Machine): boolean => metadata.deletionTimestamp !== undefined;
  const names = (of: (machine: Machine) => boolean): string[] =>
    machines
      .filter(of)
      .map(({ metadata }) => metadata.name)
      .toSorted();
  return {
    template: templateOf(set),
    size: set.spec.replicas,
    ready: names((machine) => !isLeaving(machine) && isTrue(machine.status?.conditions, "Available")),
    making: names((machine) => !isLeaving(machine) && !isTrue(machine.status?.conditions, "Available")),
    leaving: names(isLeaving),
  };
}

/** What a Machine's controller has still to do. */
function machineUnderWay(machine: Machine, hosts: ReadonlyMap<string, Host>): string | undefined {
  const { name, deletionTimestamp } = machine.metadata;
  const host = hosts.get(name);
  if (host?.metadata.finalizers === undefined) return `${name} has no host that is held`;
  if (deletionTimestamp !== undefined)
    return host.metadata.deletionTimestamp === undefined ? `the host of ${name} is not deleted` : undefined;
  const isHostReady = host.status?.initialization?.provisioned === true;
  return isHostReady === isTrue(machine.status?.conditions, "Available") ? undefined : `${name} is not yet available`;
}

/** What a set's controller has still to do. */
function setUnderWay({ metadata, spec, status }: MachineSet, standing: SetStanding): string | undefined {
  const stay = standing.ready.length + standing.making.length;
  const all = stay + standing.leaving.length;
  if (metadata.deletionTimestamp !== undefined) return `${metadata.name} is being deleted`;
  if (status?.observedGeneration !== metadata.generation) return `${metadata.name} is not seen`;
  const isOff = metadata.annotations?.["cluster.x-k8s.io/disable-machine-create"] === "true";
  if (stay > spec.replicas || (all < spec.replicas && !isOff)) return `${metadata.name} has not its size`;
  const counted = [status?.replicas ?? 0, status?.availableReplicas ?? 0];
  return counted[0] === all && counted[1] === standing.ready.length ? undefined : `${metadata.name} has not counted`;
}

const stateOf = ({ metadata, spec, status }: MachineSet): SetState => ({
  name: metadata.name,
  spec: spec.replicas,
  actual: status?.replicas ?? 0,
  available: status?.availableReplicas ?? 0,
});

/** What the deployment's controller has still to do. */
function deploymentUnderWay(deployment: MachineDeployment, sets: readonly MachineSet[]): string | undefined {
  const { metadata, spec, status } = deployment;
  if (status?.observedGeneration !== metadata.generation) return "the deployment is not seen";
  const sum = (of: (state: SetState) => number): number => sets.reduce((total, set) => total + of(stateOf(set)), 0);
  const isCounted =
    (status?.replicas ?? 0) === sum(({ actual }) => actual) &&
    (status?.availableReplicas ?? 0) === sum(({ available }) => available);
  if (!isCounted) return "the deployment has not counted";
  const current = sets.find((set) => templateOf(set) === templateOf(deployment));
  const old = sets.filter((set) => set !== current);
  if (spec.paused === true) return pausedUnderWay(deployment, current, old);
  if (current === undefined) return "there is no set of the current template";
  const next = nextSizes(deployment, current, old);
  if (next.size > 0) return `next: ${JSON.stringify([...next])}`;
  const isComplete =
    [status?.replicas, status?.availableReplicas, status?.upToDateReplicas].every((n) => (n ?? 0) === spec.replicas) &&
    current.spec.replicas === spec.replicas;
  return isComplete && old.some((set) => set.spec.replicas === 0 && (set.status?.replicas ?? 0) === 0)
    ? "empty sets are left"
    : undefined;
}

/** While a roll-out stands still sets are scaled, and nothing else. */
function pausedUnderWay(
  { spec }: MachineDeployment,
  current: MachineSet | undefined,
  old: readonly MachineSet[],
): string | undefined {
  const { type, rollingUpdate: pace } = spec.rollout?.strategy ?? {};
  const maxSurge = type === "OnDelete" ? undefined : paceOf(pace, spec.replicas).maxSurge;
  const facts = { replicas: spec.replicas, maxSurge, current: current && stateOf(current), old: old.map(stateOf) };
  const next = whilePaused(facts);
  return next.size > 0 ? `next: ${JSON.stringify([...next])}` : undefined;
}

function nextSizes({ spec }: MachineDeployment, current: MachineSet, old: readonly MachineSet[]): Sizes {
  const facts = { replicas: spec.replicas, current: stateOf(current), old: old.map(stateOf) };
  const { type, rollingUpdate: pace } = spec.rollout?.strategy ?? {};
  return type === "OnDelete" ? onDelete(facts) : rollingUpdate({ ...facts, pace: paceOf(pace, spec.replicas) });
}
