import { isFault } from "@slipway/base";
import { type Context, type KubeObject, StatusRecord } from "@slipway/kube";
import { IPAddressClaim } from "../../kinds/ipam/ip-address-claim.ts";
import { claimStatus, type Standing } from "./claim-status.ts";
import type { PoolSort } from "./pool-sorts.ts";

/** Objects that are written at a time. */
export const AT_ONCE = 16;

/** A pool with claims of it. */
export interface PoolView {
  sort: PoolSort;
  pool: KubeObject;
  claims: readonly IPAddressClaim[];
}

/** Writes a claim's status. One that changed meanwhile comes again by its event. */
export async function tell(context: Context, claim: IPAddressClaim, standing: Standing): Promise<void> {
  try {
    const status = claimStatus(claim, standing, context.clock.now());
    await new StatusRecord(context, IPAddressClaim, claim).write(status);
  } catch (error) {
    if (!isFault(error, "Conflict", "NotFound")) throw error;
  }
}
