import { isoTime } from "@slipway/base";
import { type Condition, isStalled, type StatusFields, setCondition, stalledBy } from "@slipway/kube";
import type { Instance } from "../../kinds/harvester/instance.ts";
import type { InstancePool, InstancePoolStatus } from "../../kinds/harvester/instance-pool.ts";
import { POOL_LABEL } from "./names.ts";
import type { PoolPlan } from "./pool-plan.ts";

/** What stands in the way of creating Instances. */
export interface Obstacle {
  reason: string;
  message: string;
}

export interface PoolFacts {
  obstacle: Obstacle | undefined;
  instances: readonly Instance[];
  /** The ordinal after those used up by now. */
  nextOrdinal: number | undefined;
  now: number;
}

/** Every field of a pool's status: what earlier writers left in one that is not named here would stay. */
type WholeStatus = Required<StatusFields<InstancePool>>;

/** The status of a pool as it should read; what is not to be in it is undefined. Pure. */
export function poolStatus(pool: InstancePool, plan: PoolPlan, facts: PoolFacts): WholeStatus {
  const { obstacle, nextOrdinal } = facts;
  return {
    ...plan.counts,
    // An obstacle in the way of the first Instance leaves the addon's word for "new".
    status: obstacle !== undefined && plan.counts.replicas === 0 ? (pool.status?.status ?? "") : plan.counts.status,
    selector: `${POOL_LABEL}=${pool.metadata.name}`,
    observedGeneration: pool.metadata.generation ?? 0,
    conditions: conditionsOf(pool, plan, facts),
    nextOrdinal,
    replacements: replacementsOf(pool, plan, facts),
    // harvester-equinix-addon left the join token here.
    token: undefined,
  };
}

/** Counts replacements without a success in between; the pool that is complete starts anew. */
function replacementsOf(
  pool: InstancePool,
  plan: PoolPlan,
  { instances, nextOrdinal, now }: PoolFacts,
): InstancePoolStatus["replacements"] {
  if (plan.counts.ready === plan.counts.requested) return undefined;
  const held = pool.status?.replacements;
  const created = nextOrdinal !== undefined && nextOrdinal !== pool.status?.nextOrdinal;
  if (created && instances.some((instance) => instance.status?.failure !== undefined)) {
    return { count: (held?.count ?? 0) + 1, at: isoTime(now) };
  }
  return held;
}

function conditionsOf(pool: InstancePool, plan: PoolPlan, { obstacle, instances, now }: PoolFacts): Condition[] {
  const { counts } = plan;
  let list: readonly Condition[] = pool.status?.conditions ?? [];
  const set = (type: string, status: boolean, reason: string, message: string): void => {
    const observedGeneration = pool.metadata.generation ?? 0;
    list = setCondition(list, { type, status: status ? "True" : "False", reason, message, observedGeneration }, now);
  };
  const joined = `${counts.ready} of ${counts.requested} machines have joined`;
  if (obstacle !== undefined) set("Ready", false, obstacle.reason, obstacle.message);
  else if (plan.heldBack > 0)
    set("Ready", false, "Protected", `${plan.heldBack} machines too many are protected from deletion`);
  else if (counts.status === "ready") set("Ready", true, "Complete", joined);
  else
    set(
      "Ready",
      false,
      instances.some(({ status }) => isStalled(status)) ? "Stalled" : "Progressing",
      [joined, ...whatWaits(instances)].join("; "),
    );
  set(
    "UpToDate",
    counts.drifted === 0,
    counts.drifted === 0 ? "UpToDate" : "Drifted",
    counts.drifted === 0 ? "" : driftMessage(pool, counts.drifted),
  );
  return [...list];
}

const NAMED_AT_MOST = 3;

/** What stalls machines first, then what the others wait for. */
function whatWaits(instances: readonly Instance[]): string[] {
  const stalled: Instance[] = [];
  const waiting: Instance[] = [];
  for (const instance of instances) {
    const { status } = instance;
    if (isStalled(status)) stalled.push(instance);
    else if (status?.waitingFor !== undefined && status.status !== "managed") waiting.push(instance);
  }
  const named = [...stalled, ...waiting.slice(0, NAMED_AT_MOST)].slice(0, NAMED_AT_MOST);
  const rest = stalled.length + waiting.length - named.length;
  const texts = named.map(({ metadata, status }) =>
    isStalled(status) ? `${metadata.name}: ${stalledBy(status)}` : `${metadata.name} waits for ${status?.waitingFor}`,
  );
  return [...texts, ...(rest > 0 ? [`and ${rest} more`] : [])];
}

function driftMessage(pool: InstancePool, drifted: number): string {
  const how =
    pool.spec.updateStrategy?.type === "RollingUpdate"
      ? "they are being replaced"
      : "delete them to have them replaced";
  return `${drifted} machines were made with an older specification: ${how}`;
}
