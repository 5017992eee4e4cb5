import { isFault } from "@slipway/base";
import { type Context, controllerOf, type KubeObject, refOf, removeFinalizer } from "@slipway/kube";
import { IPAddress } from "../../kinds/ipam/ip-address.ts";
import { IPAddressClaim } from "../../kinds/ipam/ip-address-claim.ts";
import { inBatches } from "../cluster-api/in-batches.ts";
import { claimKey, FINALIZERS } from "./names.ts";
import type { PoolSort } from "./pool-sorts.ts";
import { AT_ONCE } from "./pool-view.ts";

export interface Released {
  sort: PoolSort;
  /** Undefined: it is gone, and with it what it kept. */
  pool: KubeObject | undefined;
  claims: readonly IPAddressClaim[];
}

/** Takes the addresses of deleted claims back: first the IPAddress goes, then what the pool keeps of it, then the claim. Resolves with the pool as it is then. */
export async function release({ client }: Context, { sort, pool, claims }: Released): Promise<KubeObject | undefined> {
  if (claims.length === 0) return pool;
  await inBatches(claims, AT_ONCE, async (claim) => {
    const address = await client.find(IPAddress, refOf(claim));
    if (address === undefined || controllerOf(address)?.uid !== claim.metadata.uid) return;
    try {
      await client.delete(IPAddress, refOf(address), { uid: address.metadata.uid });
    } catch (error) {
      if (!isFault(error, "NotFound", "Conflict")) throw error;
    }
    await removeFinalizer(client, IPAddress, address, FINALIZERS.address);
  });
  const body = pool && sort.release(pool, new Set(claims.map(claimKey)));
  const left =
    pool && body
      ? await client.patch(sort.resource, refOf(pool), {
          type: "merge",
          body: { ...body, metadata: { resourceVersion: pool.metadata.resourceVersion } },
        })
      : pool;
  await inBatches(claims, AT_ONCE, (claim) => removeFinalizer(client, IPAddressClaim, claim, FINALIZERS.claim));
  return left;
}
