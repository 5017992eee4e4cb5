import { parseTime } from "@slipway/base";
import type { Instance } from "../../kinds/harvester/instance.ts";
import type { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import { PROTECT } from "./names.ts";
import { driftOf, instanceSpecOf } from "./pool-template.ts";

/** What a pool needs next, and the counts of its status. */
export interface PoolPlan {
  /** How many Instances to create. */
  create: number;
  /** Not before this moment, ms: machines that fail one after the other are replaced ever more slowly. */
  createNotBefore: number;
  /** Instances to delete, with the reason for each. */
  remove: { instance: Instance; because: string }[];
  counts: { status: string; ready: number; requested: number; needed: number; replicas: number; drifted: number };
  /** Instances that protection keeps from being removed although there are too many. */
  heldBack: number;
}

const SLOW_DOWN_BASE_MS = 60_000;
const SLOW_DOWN_MAX_MS = 30 * 60_000;
/** So many replacements in a row come at once: a bad machine is common, a bad batch is not. */
const FREE_REPLACEMENTS = 2;

/**
 * Decides for one pool. Pure. Instances that are being deleted never count as present (H4), so their
 * replacement comes at once and a scale-down never removes one too many.
 */
export function planPool(pool: InstancePool, instances: readonly Instance[]): PoolPlan {
  const wanted = pool.spec.count ?? 0;
  const present = instances.filter((instance) => instance.metadata.deletionTimestamp === undefined);
  const ready = present.filter((instance) => instance.status?.status === "managed").length;
  const template = instanceSpecOf(pool);
  const drifted = present.filter((instance) => driftOf(template, instance).length > 0);
  const surplus = Math.max(0, present.length - wanted);
  const victims = surplus === 0 ? [] : leavingOrder(present).slice(0, surplus);
  const create = Math.max(0, wanted - present.length);
  const roll = surplus > 0 || create > 0 ? [] : rollOut(pool, present, drifted, instances.length - present.length);
  return {
    create,
    createNotBefore: createNotBefore(pool),
    remove: [
      ...victims.map((instance) => ({ instance, because: "the pool was scaled down" })),
      ...roll.map((instance) => ({ instance, because: "the pool's specification changed" })),
    ],
    counts: {
      status: statusWord(present.length, ready, wanted),
      ready,
      requested: wanted,
      needed: wanted - present.length,
      replicas: present.length,
      drifted: drifted.length,
    },
    heldBack: surplus - victims.length,
  };
}

/**
 * The order in which a shrinking pool lets machines go (H5): those that failed, those still on their way, those whose Node is not
 * Ready, then the Ready ones; in each group the drifted before the others, then the youngest first, then by name. Protected ones never.
 */
export function leavingOrder(instances: readonly Instance[]): Instance[] {
  const rank = (instance: Instance): number => {
    const status = instance.status?.status;
    if (status === "failed") return 0;
    if (status !== "managed") return 1;
    return instance.status?.conditions?.some((c) => c.type === "Ready" && c.status === "True") ? 3 : 2;
  };
  const drift = (instance: Instance): number => (instance.status?.drift?.length ? 0 : 1);
  const born = (instance: Instance): number => parseTime(instance.metadata.creationTimestamp) ?? 0;
  return instances
    .filter((instance) => instance.metadata.annotations?.[PROTECT] !== "true")
    .toSorted(
      (a, b) =>
        rank(a) - rank(b) || drift(a) - drift(b) || born(b) - born(a) || (a.metadata.name < b.metadata.name ? -1 : 1),
    );
}

/** Drifted Instances to replace now, so that never more than `maxUnavailable` machines are missing (H28). */
function rollOut(
  pool: InstancePool,
  present: readonly Instance[],
  drifted: readonly Instance[],
  leaving: number,
): Instance[] {
  if (pool.spec.updateStrategy?.type !== "RollingUpdate") return [];
  const unavailable = leaving + present.filter((instance) => instance.status?.status !== "managed").length;
  const allowed = Math.max(0, (pool.spec.updateStrategy.maxUnavailable ?? 1) - unavailable);
  const order = leavingOrder(drifted);
  // One that is not in service yet costs no availability.
  const free = order.filter((instance) => instance.status?.status !== "managed");
  return [...free, ...order.filter((instance) => !free.includes(instance)).slice(0, allowed)];
}

/** The addon's words: tokenReady while Instances are to be made, cleanupNodes while there are too many. */
function statusWord(present: number, ready: number, wanted: number): string {
  if (present < wanted) return "tokenReady";
  if (present > wanted) return "cleanupNodes";
  return ready === wanted ? "ready" : "submitted";
}

function createNotBefore(pool: InstancePool): number {
  const { count = 0, at } = pool.status?.replacements ?? {};
  const last = parseTime(at);
  if (last === undefined || count <= FREE_REPLACEMENTS) return 0;
  return last + Math.min(SLOW_DOWN_MAX_MS, SLOW_DOWN_BASE_MS * 2 ** (count - FREE_REPLACEMENTS - 1));
}
