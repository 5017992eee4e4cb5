import { asFault, isFault } from "@slipway/base";
import {
  addFinalizer,
  type Context,
  controllerOf,
  controllerReference,
  type KubeObject,
  keyOf,
  ownerReference,
  refOf,
} from "@slipway/kube";
import { LABELS } from "../../cluster-api/names.ts";
import { IPAddress } from "../../kinds/ipam/ip-address.ts";
import { IPAddressClaim } from "../../kinds/ipam/ip-address-claim.ts";
import { inBatches } from "../in-batches.ts";
import type { Held } from "./allocator/pool.ts";
import { claimKey, FINALIZERS } from "./names.ts";
import { AT_ONCE, type PoolView, tell } from "./pool-view.ts";
import { promised } from "./promised.ts";

/** Claims that get their addresses in one pass: what is promised to them is an annotation, and annotations have 256 KiB together. */
const BATCH = 500;

export interface Given {
  pool: KubeObject;
  /** All addresses of the pool that are in use. */
  held: string[];
  /** Whether nothing can be given any more: all have theirs, or the pool is used up. */
  isOver: boolean;
}

/**
 * Gives claims that wait their addresses, so many of them as one pass may. What exists is read from the API, after the pool's version that the promise is written under: whoever
 * else promised from this pool meanwhile makes that write a `Conflict`, and what was promised before is in the list or on the pool. Rejects
 * with the first failure, when every claim had its try.
 */
export async function giveAddresses(context: Context, view: PoolView): Promise<Given> {
  const claims = view.claims.slice(0, BATCH);
  const held = await heldOf(context, view);
  const { addresses, pool } = await promised(context, view, held, claims.map(claimKey));
  const failures: unknown[] = [];
  await inBatches(claims, AT_ONCE, async (claim) => {
    const address = addresses.get(claimKey(claim));
    try {
      if (address === undefined) await tellExhausted(context, pool, claim);
      else await give(context, { ...view, pool }, claim, address);
    } catch (error) {
      if (context.signal.aborted) throw error;
      failures.push(error);
    }
  });
  if (failures.length > 0) throw failures[0];
  const later = view.claims.slice(BATCH);
  const isExhausted = addresses.size < claims.length;
  if (isExhausted) await inBatches(later, AT_ONCE, (claim) => tellExhausted(context, pool, claim));
  const inUse = new Set([...held.map(({ address }) => address), ...addresses.values()]);
  return { pool, held: [...inUse], isOver: isExhausted || later.length === 0 };
}

const tellExhausted = (context: Context, pool: KubeObject, claim: IPAddressClaim): Promise<void> =>
  tell(context, claim, {
    reason: "PoolExhausted",
    message: `${pool.kind} ${pool.metadata.name} has no free address; one that is given back or added is taken by itself`,
  });

/** The addresses of the pool that exist, as the API has them now. */
async function heldOf({ client }: Context, { sort: { resource }, pool }: PoolView): Promise<Held[]> {
  const { namespace, name } = pool.metadata;
  const { items } = await client.list(IPAddress, resource.namespaced && namespace !== undefined ? { namespace } : {});
  return items
    .filter(
      ({ spec: { poolRef } }) =>
        poolRef.apiGroup === resource.group && poolRef.kind === resource.kind && poolRef.name === name,
    )
    .map((address) => ({
      claim: keyOf({ namespace: address.metadata.namespace!, name: address.spec.claimRef.name }),
      address: address.spec.address,
    }));
}

async function give(context: Context, { sort, pool }: PoolView, claim: IPAddressClaim, address: string): Promise<void> {
  const { client } = context;
  const kept = await addFinalizer(client, IPAddressClaim, claim, FINALIZERS.claim);
  const { prefix, gateway } = sort.read(pool);
  const { clusterName, poolRef } = claim.spec;
  try {
    await client.create(IPAddress, {
      metadata: {
        ...refOf(claim),
        finalizers: [FINALIZERS.address],
        ownerReferences: [
          controllerReference(IPAddressClaim, claim),
          { ...ownerReference(sort.resource, pool), blockOwnerDeletion: true },
        ],
        ...(clusterName !== undefined && { labels: { [LABELS.clusterName]: clusterName } }),
      },
      spec: {
        claimRef: { name: claim.metadata.name },
        poolRef,
        address,
        prefix,
        ...(gateway !== undefined && { gateway }),
      },
    });
    context.events.normal(claim, "AddressAllocated", `${address}/${prefix} of ${pool.kind} ${pool.metadata.name}`);
  } catch (error) {
    if (!isFault(error, "AlreadyExists")) return await failed(context, kept, error);
    const other = await client.get(IPAddress, refOf(claim));
    if (controllerOf(other)?.uid !== claim.metadata.uid)
      return await tell(context, kept, {
        reason: "AllocationFailed",
        message: `an IPAddress of the claim's name exists, and is not the claim's; delete it, or name the claim otherwise`,
      });
  }
  await tell(context, kept, { address });
}

async function failed(context: Context, claim: IPAddressClaim, error: unknown): Promise<never> {
  if (!context.signal.aborted && !isFault(error, "NotLeader", "Undeclared"))
    await tell(context, claim, { reason: "AllocationFailed", message: asFault(error, "IPAddress").message });
  throw error;
}
