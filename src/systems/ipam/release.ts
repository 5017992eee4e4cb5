import { isFault } from "@slipway/base";
import { type Context, controllerOf, type KubeObject, refOf, removeFinalizer } from "@slipway/kube";
import { IPAddress } from "../../kinds/ipam/ip-address.ts";
import { IPAddressClaim } from "../../kinds/ipam/ip-address-claim.ts";
import { inBatches } from "../in-batches.ts";
import { claimKey, FINALIZERS } from "./names.ts";
import type { PoolSort } from "./pool-sorts.ts";
import { AT_ONCE } from "./pool-view.ts";

export interface Released {
  sort: PoolSort;
  /** Undefined: it is gone, and with it what it kept. */
  pool: KubeObject | undefined;
  /** Claims that are deleted and may go. */
  claims: readonly IPAddressClaim[];
  /** Addresses without a claim: see `strays`. */
  strays: readonly IPAddress[];
}

/**
 * Addresses of a pool whose claim is not there: somebody deleted both, or an operator that was deposed wrote one after its successor had let the
 * claim go. What a person wrote without an owner stays until that person deletes it.
 */
export function strays(addresses: readonly IPAddress[], claims: readonly IPAddressClaim[]): IPAddress[] {
  const uids = new Set(claims.map(({ metadata }) => metadata.uid));
  return addresses.filter((address) => {
    const owner = controllerOf(address);
    const { finalizers, deletionTimestamp } = address.metadata;
    if (finalizers?.includes(FINALIZERS.address) !== true || uids.has(owner?.uid ?? "")) return false;
    return owner?.kind === IPAddressClaim.kind || deletionTimestamp !== undefined;
  });
}

/** Takes addresses back: first the IPAddress goes, then what the pool keeps of it, then the claim. Resolves with the pool as it is then. */
export async function release(context: Context, { sort, pool, ...of }: Released): Promise<KubeObject | undefined> {
  const { client } = context;
  const freed = new Set(of.claims.map(claimKey));
  await inBatches(of.claims, AT_ONCE, async (claim) => {
    const address = await client.find(IPAddress, refOf(claim));
    if (address !== undefined && controllerOf(address)?.uid === claim.metadata.uid) await takeBack(context, address);
  });
  await inBatches(of.strays, AT_ONCE, async (address) => {
    // The cache may not have the claim yet.
    const claim = await client.find(IPAddressClaim, refOf(address));
    if (claim !== undefined && controllerOf(address)?.uid === claim.metadata.uid) return;
    await takeBack(context, address);
    // A successor of the claim's name may have the same address by now.
    if (claim === undefined) freed.add(claimKey(address));
  });
  const body = pool && freed.size > 0 ? sort.release(pool, freed) : undefined;
  const left =
    pool && body
      ? await client.patch(sort.resource, refOf(pool), {
          type: "merge",
          body: { ...body, metadata: { resourceVersion: pool.metadata.resourceVersion } },
        })
      : pool;
  await inBatches(of.claims, AT_ONCE, (claim) => removeFinalizer(client, IPAddressClaim, claim, FINALIZERS.claim));
  return left;
}

async function takeBack({ client }: Context, address: IPAddress): Promise<void> {
  try {
    await client.delete(IPAddress, refOf(address), { uid: address.metadata.uid });
  } catch (error) {
    if (!isFault(error, "NotFound", "Conflict")) throw error;
  }
  await removeFinalizer(client, IPAddress, address, FINALIZERS.address);
}
