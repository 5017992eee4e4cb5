import { isTrue } from "@slipway/kube";
import type { Node } from "@slipway/kube/core";
import type { Instance } from "../../kinds/harvester/instance.ts";
import type { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";

/** What the API has of a lab's pool. */
export interface PoolView {
  pool: InstancePool | undefined;
  instances: readonly Instance[];
  hosts: readonly BareMetalHost[];
  nodes: readonly Node[];
}

/** One machine: its host's state, whose it is, and its Node. */
export interface MachineRow {
  machine: string;
  host: string;
  instance: string;
  node: string;
  /** What is waited for. */
  doing: string;
}

const NONE = "-";

/** The machines by name, and behind them the Instances that have none. Pure. */
export function machineRows({ instances, hosts, nodes }: PoolView): MachineRow[] {
  const owned = new Set<string>();
  const rows = hosts.map((host): MachineRow => {
    const instance = instances.find(({ metadata }) => metadata.name === host.spec.consumerRef?.name);
    if (instance !== undefined) owned.add(instance.metadata.name);
    const state = host.status?.provisioning?.state || "new";
    return {
      machine: host.metadata.name,
      host: host.status?.errorMessage ? `${state}, error` : state,
      instance: instance === undefined ? NONE : instanceWord(instance),
      node: nodeWord(nodes.find(({ metadata }) => metadata.name === instance?.metadata.name)),
      doing: host.status?.errorMessage || waitOf(instance?.status) || waitOf(host.status) || "",
    };
  });
  const waiting = instances
    .filter(({ metadata }) => !owned.has(metadata.name))
    .map(
      (instance): MachineRow => ({
        machine: NONE,
        host: NONE,
        instance: instanceWord(instance),
        node: nodeWord(nodes.find(({ metadata }) => metadata.name === instance.metadata.name)),
        doing: waitOf(instance.status) ?? "",
      }),
    );
  return [...rows.toSorted((a, b) => (a.machine < b.machine ? -1 : 1)), ...waiting];
}

/** Where the pool as a whole is. `wiped`: it is deleted, and all its machines are offered again. Pure. */
export function poolWord({ pool, instances, hosts, nodes }: PoolView): "on its way" | "ready" | "going" | "wiped" {
  if (pool === undefined || pool.metadata.deletionTimestamp !== undefined) {
    const isOffered = (host: BareMetalHost): boolean =>
      host.spec.consumerRef === undefined && host.status?.provisioning?.state === "available";
    return pool === undefined && instances.length === 0 && hosts.every(isOffered) ? "wiped" : "going";
  }
  const wanted = pool.spec.count;
  const members = nodes.filter((node) => isNodeReady(node) && instances.some(isOf(node)));
  const isReported = isTrue(pool.status?.conditions, "Ready") && pool.status?.ready === wanted;
  return isReported && instances.length === wanted && members.length === wanted ? "ready" : "on its way";
}

const isOf =
  (node: Node) =>
  ({ metadata }: Instance): boolean =>
    metadata.name === node.metadata.name;

function waitOf(status: { waitingFor?: string | undefined } | undefined): string | undefined {
  return status?.waitingFor ? `waiting for ${status.waitingFor}` : undefined;
}

function instanceWord({ metadata, status }: Instance): string {
  const word = metadata.deletionTimestamp === undefined ? status?.status || "new" : "releasing";
  return `${metadata.name}: ${word}`;
}

function nodeWord(node: Node | undefined): string {
  if (node === undefined) return NONE;
  return isNodeReady(node) ? "Ready" : "not Ready";
}

function isNodeReady({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
}
