import { asFault, isFault } from "@slipway/base";
import {
  addFinalizer,
  type Context,
  type Controller,
  DONE,
  type KubeObject,
  keyOf,
  type Outcome,
  type Ref,
  refOf,
  removeFinalizer,
  StatusRecord,
  setCondition,
  source,
} from "@slipway/kube";
import { ANNOTATIONS } from "../../cluster-api/names.ts";
import { isPaused } from "../../cluster-api/pause.ts";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { IPAddress } from "../../kinds/ipam/ip-address.ts";
import { IPAddressClaim } from "../../kinds/ipam/ip-address-claim.ts";
import { inBatches } from "../in-batches.ts";
import { numbersOf, type Pool } from "./allocator/pool.ts";
import { hasAddress, isTold, mayBeReleased, mayBeServed } from "./claim-standing.ts";
import { giveAddresses } from "./give-addresses.ts";
import { claimKey, FINALIZERS, IPAM, PROMISED } from "./names.ts";
import type { PoolSort } from "./pool-sorts.ts";
import { AT_ONCE, type PoolView, tell } from "./pool-view.ts";
import { release, strays } from "./release.ts";

const NEXT_BATCH_MS = 20;

/** Until a claim is looked at again whose Cluster is paused, missing, or whose pool is used up: the events that end this come by themselves. */
const LOOK_AGAIN_MS = 60_000;

/**
 * Gives claims the addresses of one sort of pools, and takes them back. Its key is the pool, so that one pass serves all its claims, and two
 * never decide about one pool at once.
 */
export function poolController(sort: PoolSort): Controller {
  const { resource } = sort;
  const poolOf = (claim: {
    metadata: KubeObject["metadata"];
    spec: { poolRef: IPAddressClaim["spec"]["poolRef"] };
  }): Ref[] => {
    const { apiGroup, kind, name } = claim.spec.poolRef;
    if (apiGroup !== resource.group || kind !== resource.kind) return [];
    return [resource.namespaced ? { namespace: claim.metadata.namespace!, name } : { name }];
  };
  const index = `pool:${resource.kind}`;
  const byPool = (object: IPAddressClaim | IPAddress): string[] => poolOf(object).map(keyOf);
  return {
    name: `ipam-${resource.kind.toLowerCase()}`,
    system: IPAM,
    owner: (ref) => `${resource.plural}/${keyOf(ref)}`,
    sources: [
      source({
        resource,
        when: (pool, before) => matters(pool) !== matters(before) || (promises(before) && !promises(pool)),
      }),
      source({
        resource: IPAddressClaim,
        indexes: { [index]: byPool, cluster: clusterIndex },
        keys: poolOf,
        when: (claim, before) => matters(claim) !== matters(before),
      }),
      source({
        resource: IPAddress,
        indexes: { [index]: byPool },
        // One that stood in the way of a claim need not be of its pool.
        keys: (address, _, cache) =>
          [address, cache.get(IPAddressClaim, refOf(address))].flatMap((one) => (one ? poolOf(one) : [])),
        when: (address, before) => matters(address) !== matters(before),
      }),
      source({
        resource: Cluster,
        optional: true,
        when: (cluster, before) => isPaused(cluster, cluster) !== isPaused(before, before),
        keys: (cluster, _, cache) => cache.byIndex(IPAddressClaim, "cluster", keyOf(refOf(cluster))).flatMap(poolOf),
      }),
    ],
    access: [
      { resource, verbs: ["get", "patch"] },
      ...(sort.withoutClashes === undefined ? [] : [{ resource, verbs: ["list"] as const }]),
      { resource, verbs: ["update"], subresource: "status" },
      { resource: IPAddressClaim, verbs: ["get", "patch"] },
      { resource: IPAddressClaim, verbs: ["update"], subresource: "status" },
      { resource: IPAddress, verbs: ["get", "create", "patch", "delete"] },
    ],
    async reconcile(ref, context) {
      const claims = context.cache.byIndex(IPAddressClaim, index, keyOf(ref));
      const going = claims.filter((claim) => mayBeReleased(context.cache, claim));
      const addresses = context.cache.byIndex(IPAddress, index, keyOf(ref));
      const pool = await release(context, {
        ...{ sort, pool: context.cache.get(resource, ref) },
        ...{ claims: going, strays: strays(addresses, claims) },
      });
      const open = claims.filter((claim) => claim.metadata.deletionTimestamp === undefined);
      if (pool === undefined) return await tellAll(context, open, `${resource.kind} ${ref.name} does not exist`);
      if (pool.metadata.deletionTimestamp !== undefined)
        return await end(context, { sort, pool, claims: open }, addresses);
      return await keep(context, { sort, pool, claims: open });
    },
  };
}

const clusterIndex = ({ metadata, spec }: IPAddressClaim): string[] =>
  spec.clusterName === undefined ? [] : [`${metadata.namespace}/${spec.clusterName}`];

/** What of an object decides. Our own writes to a status don't. */
const matters = ({ metadata: { generation, deletionTimestamp, finalizers, annotations } }: KubeObject): string =>
  JSON.stringify([generation, deletionTimestamp, finalizers, annotations?.[ANNOTATIONS.paused]]);

/** Somebody who takes a damaged annotation off wants the pool to go on. */
const promises = ({ metadata: { annotations } }: KubeObject): boolean => annotations?.[PROMISED] !== undefined;

async function tellAll(context: Context, claims: readonly IPAddressClaim[], message: string): Promise<Outcome> {
  const without = claims.filter(({ status }) => status?.addressRef === undefined);
  await inBatches(without, AT_ONCE, (claim) => tell(context, claim, { reason: "PoolNotReady", message }));
  return DONE;
}

/** A pool that is deleted stays while addresses of it are in use. */
async function end(
  context: Context,
  { sort, pool, claims }: PoolView,
  addresses: readonly IPAddress[],
): Promise<Outcome> {
  await tellAll(context, claims, `${pool.kind} ${pool.metadata.name} is being deleted`);
  if (addresses.length > 0) {
    await report(
      context,
      { sort, pool },
      {
        status: "False",
        reason: "Deleting",
        message: `waits until ${addresses.length} addresses are given back: ${addresses.slice(0, 3).map(claimKey).join(", ")}`,
      },
    );
    return DONE;
  }
  await removeFinalizer(context.client, sort.resource, pool, FINALIZERS.pool);
  return DONE;
}

async function keep(context: Context, view: PoolView): Promise<Outcome> {
  const { sort, claims } = view;
  let read: Pool;
  try {
    read = sort.read(view.pool);
  } catch (error) {
    if (!isFault(error, "Invalid", "NotFound")) throw error;
    const { message, remedy } = asFault(error, view.pool.metadata.name);
    const text = remedy === undefined ? message : `${message}; ${remedy}`;
    await report(context, view, { status: "False", reason: "InvalidPool", message: text });
    return await tellAll(context, claims, `${view.pool.kind} ${view.pool.metadata.name}: ${text}`);
  }
  const served = claims.filter((claim) => mayBeServed(context.cache, claim));
  const waiting = served.filter((claim) => !hasAddress(context.cache, claim));
  let { pool } = view;
  let held: readonly string[] | undefined;
  let isOver = true;
  if (waiting.length > 0) {
    pool = await addFinalizer(context.client, sort.resource, pool, FINALIZERS.pool);
    const given = await giveAddresses(context, { sort, pool, claims: waiting });
    ({ pool, held, isOver } = given);
  }
  const ready = served.filter((claim) => hasAddress(context.cache, claim) && !isTold(claim));
  await inBatches(ready, AT_ONCE, (claim) => tell(context, claim, { address: claim.metadata.name }));
  held ??= context.cache
    .byIndex(IPAddress, `pool:${sort.resource.kind}`, keyOf(refOf(pool)))
    .map(({ spec }) => spec.address);
  await report(
    context,
    { sort, pool },
    { status: "True", reason: "Ready", message: "" },
    sort.counts ? numbersOf(read, held) : undefined,
  );
  if (!isOver) return { againAfterMs: NEXT_BATCH_MS };
  return served.length < claims.length ? { againAfterMs: LOOK_AGAIN_MS } : DONE;
}

interface Told {
  status: "True" | "False";
  reason: string;
  message: string;
}
type PoolStatus = { conditions?: ReturnType<typeof setCondition>; ipAddresses?: ReturnType<typeof numbersOf> };

async function report(
  context: Context,
  { sort, pool }: { sort: PoolSort; pool: KubeObject & { status?: PoolStatus } },
  told: Told,
  ipAddresses?: PoolStatus["ipAddresses"],
): Promise<void> {
  const { generation: observedGeneration = 1 } = pool.metadata;
  const conditions = setCondition(
    pool.status?.conditions,
    { type: "Ready", ...told, observedGeneration },
    context.clock.now(),
  );
  const record = new StatusRecord<KubeObject & { status?: PoolStatus }>(context, sort.resource, pool);
  await record.write({ conditions, ...(ipAddresses && { ipAddresses }) });
}
