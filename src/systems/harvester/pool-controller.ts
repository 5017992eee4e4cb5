import { type Clock, isFault, isoTime } from "@slipway/base";
import {
  addFinalizer,
  type Client,
  type Context,
  type Controller,
  DONE,
  isTrue,
  type Outcome,
  removeFinalizer,
  StatusRecord,
  source,
} from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { Instance } from "../../kinds/harvester/instance.ts";
import { InstancePool } from "../../kinds/harvester/instance-pool.ts";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import { accountOf } from "../providers/accounts.ts";
import { specConcerns } from "./claim.ts";
import type { Harvester } from "./harvester.ts";
import { isMissing, JOIN_FACTS_ACCESS } from "./join-facts.ts";
import { HARVESTER, POOL_FINALIZER, POOL_LABEL, PROTECT, poolOwner } from "./names.ts";
import { PoolPace } from "./pool-pace.ts";
import { type PoolPlan, planPool } from "./pool-plan.ts";
import { type Obstacle, type PoolFacts, poolStatus } from "./pool-status.ts";
import { instanceDraft, instanceSpecOf, treatmentPatch } from "./pool-template.ts";

const INPUT_RETRY_MS = 10_000;
const CREATES_AT_ONCE = 16;
/** A reconcile creates Instances for this long, then writes down how far it is: far below the deadline of reconciles. */
const CREATE_FOR_MS = 30_000;
export const BY_POOL = "pool";

/** Keeps as many Instances as the pool wants, and reports their state. It owns their existence and treatment; the instance controller owns their machines. */
export function poolController(harvester: Harvester): Controller {
  const pace = new PoolPace();
  return {
    name: "instancepool",
    system: HARVESTER,
    sources: [
      source({ resource: InstancePool }),
      source({
        resource: Instance,
        indexes: { [BY_POOL]: (instance) => [instance.metadata.labels?.[POOL_LABEL] ?? ""] },
        keys: (instance) => {
          const name = instance.metadata.labels?.[POOL_LABEL];
          return name === undefined ? [] : [{ name }];
        },
      }),
    ],
    access: [
      { resource: InstancePool, verbs: ["get", "patch"] },
      { resource: InstancePool, verbs: ["update"], subresource: "status" },
      { resource: Instance, verbs: ["list", "create", "patch", "delete"] },
      { resource: MachineProvider, verbs: ["get"] },
      { resource: Secret, verbs: ["get"], namespace: harvester.addon.namespace },
      ...JOIN_FACTS_ACCESS,
    ],
    owner: ({ name }) => poolOwner(name),
    async reconcile(ref, context) {
      const pool = context.cache.get(InstancePool, ref);
      if (pool === undefined) {
        pace.forget(ref.name);
        return DONE;
      }
      const restMs = pace.restMs(ref.name, context.clock.monotonic());
      // What the user changed is taken up at once.
      if (restMs > 0 && pool.status?.observedGeneration === pool.metadata.generation) return { againAfterMs: restMs };
      const instances = context.cache.byIndex(Instance, BY_POOL, ref.name);
      pace.looked(ref.name, context.clock.monotonic(), instances.length);
      if (await guardDeletion(context, pool)) return DONE;
      await treat(context, pool, instances);
      const cached = planPool(pool, instances);
      if (cached.create === 0 && cached.remove.length === 0) {
        await reportPool(context, pool, cached, { instances });
        return DONE;
      }
      return await resize(harvester, context, pool);
    },
  };
}

/** What changes the number of Instances is decided on the server's word, not the cache's (H2, H4). */
async function resize(harvester: Harvester, context: Context, pool: InstancePool): Promise<Outcome> {
  const { client, clock, events } = context;
  const selector = { labelSelector: `${POOL_LABEL}=${pool.metadata.name}` };
  const { items } = await client.list(Instance, selector);
  const plan = planPool(pool, items);
  for (const { instance, because } of plan.remove) {
    await client.delete(Instance, { name: instance.metadata.name }, { uid: instance.metadata.uid });
    events.normal(pool, "Removing", `${instance.metadata.name}: ${because}`);
  }
  if (plan.create === 0) {
    await reportPool(context, pool, plan, { instances: items });
    return DONE;
  }
  const obstacle = await obstacleOf(harvester, context, pool);
  const late = plan.createNotBefore - clock.now();
  const inTheWay = obstacle ?? (late > 0 ? slowedDown(plan) : undefined);
  const reported = await reportPool(context, pool, plan, { obstacle: inTheWay, instances: items });
  if (obstacle !== undefined) return { againAfterMs: INPUT_RETRY_MS };
  if (late > 0) return { againAfterMs: late };
  const { made, next } = await createInstances(context, reported, plan.create);
  events.normal(pool, "Creating", `${made} of ${plan.counts.requested} instances`);
  const after = await client.list(Instance, selector);
  await reportPool(context, reported, planPool(reported, after.items), { instances: after.items, nextOrdinal: next });
  return made < plan.create ? { againAfterMs: 0 } : DONE;
}

/**
 * Creates Instances under names that follow from the ordinal; one that exists already only moves the ordinal on. Returns how many were made
 * in the time there is, and the next ordinal.
 */
async function createInstances(
  { client, clock }: { client: Client; clock: Pick<Clock, "monotonic"> },
  pool: InstancePool,
  count: number,
): Promise<{ made: number; next: number }> {
  const until = clock.monotonic() + CREATE_FOR_MS;
  let ordinal = pool.status?.nextOrdinal ?? 0;
  let made = 0;
  while (made < count && clock.monotonic() < until) {
    const batch = Array.from({ length: Math.min(CREATES_AT_ONCE, count - made) }, () => ordinal++);
    const results = await Promise.all(
      batch.map(async (number) => {
        try {
          await client.create(Instance, instanceDraft(pool, number));
          return 1;
        } catch (error) {
          if (isFault(error, "AlreadyExists")) return 0;
          throw error;
        }
      }),
    );
    made += results.reduce<number>((sum, result) => sum + result, 0);
  }
  return { made, next: ordinal };
}

/** What prevents the creation of Instances; reported on the pool, checked again soon (H3, H14). */
async function obstacleOf(harvester: Harvester, context: Context, pool: InstancePool): Promise<Obstacle | undefined> {
  const fatal = specConcerns(instanceSpecOf(pool)).filter((concern) => concern.fatal);
  if (fatal.length > 0) return { reason: "Invalid", message: fatal.map((c) => `${c.field}: ${c.message}`).join("; ") };
  try {
    await harvester.accounts.fleet(accountOf(pool.spec, context.client, harvester.addon));
    await harvester.inputs.token(context.client);
    await harvester.inputs.serverUrl(context.client, pool.spec.harvester?.serverURL);
    return undefined;
  } catch (error) {
    if (isMissing(error)) return { reason: "MissingInput", message: error.advice };
    throw error;
  }
}

function slowedDown(plan: PoolPlan): Obstacle {
  return {
    reason: "ReplacingSlowly",
    message: `several machines failed in a row: the next is created at ${isoTime(plan.createNotBefore)}`,
  };
}

/** Lets changes of treatment reach the Instances that exist, and every change those for which nothing was ordered yet. */
async function treat({ client }: Context, pool: InstancePool, instances: readonly Instance[]): Promise<void> {
  const template = instanceSpecOf(pool);
  for (const instance of instances) {
    const body = instance.metadata.deletionTimestamp === undefined ? treatmentPatch(template, instance) : undefined;
    if (body !== undefined) await client.patch(Instance, { name: instance.metadata.name }, { type: "merge", body });
  }
}

/** A protected pool holds a finalizer, so its deletion waits; true when the pool is on its way out. */
async function guardDeletion({ client, events }: Context, pool: InstancePool): Promise<boolean> {
  const guarded = pool.metadata.annotations?.[PROTECT] === "true";
  const held = pool.metadata.finalizers?.includes(POOL_FINALIZER) === true;
  const leaving = pool.metadata.deletionTimestamp !== undefined;
  if (leaving && guarded && held) events.warning(pool, "Protected", `not deleted: it has the annotation ${PROTECT}`);
  if (guarded && !held && !leaving) await addFinalizer(client, InstancePool, pool, POOL_FINALIZER);
  if (!guarded && held) await removeFinalizer(client, InstancePool, pool, POOL_FINALIZER);
  // A change of the finalizers brings us back here.
  return leaving || guarded !== held;
}

/** Writes the pool's status where it differs, and returns the pool as it is then. */
async function reportPool(
  context: Context,
  pool: InstancePool,
  plan: PoolPlan,
  { obstacle, instances, nextOrdinal = pool.status?.nextOrdinal }: Partial<PoolFacts> & Pick<PoolFacts, "instances">,
): Promise<InstancePool> {
  const { clock, events } = context;
  const record = new StatusRecord(context, InstancePool, pool, (before, after) => {
    if (isTrue(after.status?.conditions, "Ready") && !isTrue(before.status?.conditions, "Ready"))
      events.normal(pool, "Ready", `${plan.counts.ready} of ${plan.counts.requested} machines have joined`);
    if (obstacle !== undefined) events.warning(pool, obstacle.reason, obstacle.message);
  });
  return await record.write(poolStatus(pool, plan, { obstacle, instances, nextOrdinal, now: clock.now() }));
}
