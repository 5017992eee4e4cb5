/** Which Machines of a set go first when there are too many. Pure. */
import { conditionOf } from "@slipway/kube";
import { ANNOTATIONS } from "../../../cluster-api/names.ts";
import type { Machine } from "../../../kinds/cluster-api/machine.ts";

export type Order = "Random" | "Newest" | "Oldest";

const MUST = 100;
const ASKED_FOR = 80;
const BETTER = 50;
const RANDOM = 20;
const DAY_MS = 86_400_000;
/** After so long an age hardly counts more. */
const FORGOTTEN_MS = 10 * DAY_MS;

/** How much a Machine deserves to go: the highest first. */
export function deletionPriority(machine: Machine, order: Order, now: number): number {
  const { metadata } = machine;
  if (metadata.deletionTimestamp !== undefined) return MUST;
  if (metadata.annotations?.[ANNOTATIONS.deleteMachine] !== undefined) return ASKED_FOR;
  if (isUnhealthy(machine)) return BETTER;
  if (order === "Random") return RANDOM;
  const age = Math.max(0, now - Date.parse(metadata.creationTimestamp));
  const oldest = BETTER * (1 - Math.exp(-age / FORGOTTEN_MS));
  return order === "Oldest" ? oldest : BETTER - oldest;
}

/** Whether a Machine is of no use as it is. */
export function isUnhealthy({ status }: Machine): boolean {
  const isFalse = (type: string): boolean => conditionOf(status?.conditions, type)?.status === "False";
  return status?.nodeRef === undefined || isFalse("NodeHealthy") || isFalse("HealthCheckSucceeded");
}

/** The Machines to delete, so many of them; those that are being deleted already come first and count. Ties go by name. */
export function machinesToDelete(machines: readonly Machine[], count: number, order: Order, now: number): Machine[] {
  const ranked = machines.map((machine) => ({ machine, priority: deletionPriority(machine, order, now) }));
  ranked.sort((a, b) => b.priority - a.priority || (a.machine.metadata.name < b.machine.metadata.name ? -1 : 1));
  return ranked.slice(0, Math.max(0, count)).map(({ machine }) => machine);
}
