/** What a claim's status says. Pure. */
import { type Condition, setCondition } from "@slipway/kube";
import { setOldCondition } from "../../cluster-api/old-conditions.ts";
import type { IPAddressClaim } from "../../kinds/ipam/ip-address-claim.ts";

/** How a claim stands: with its address, or without and why. */
export type Standing =
  | { address: string }
  | { reason: "PoolNotReady" | "PoolExhausted" | "AllocationFailed"; message: string };

type ClaimStatus = NonNullable<IPAddressClaim["status"]>;

/** The status of a claim that stands so: the condition Ready of both eras, and its address. `now`: in milliseconds. */
export function claimStatus(claim: IPAddressClaim, standing: Standing, now: number): ClaimStatus {
  const { generation: observedGeneration = 1 } = claim.metadata;
  const isReady = "address" in standing;
  const told = isReady
    ? { status: "True" as const, reason: "Ready", message: "" }
    : { status: "False" as const, reason: standing.reason, message: standing.message };
  const conditions: Condition[] = setCondition(
    claim.status?.conditions,
    { type: "Ready", ...told, observedGeneration },
    now,
  );
  const old = setOldCondition(
    claim.status?.deprecated?.v1beta1?.conditions,
    isReady
      ? { type: "Ready", status: "True" }
      : { type: "Ready", status: "False", severity: "Error", reason: standing.reason, message: standing.message },
    now,
  );
  return {
    ...claim.status,
    conditions,
    deprecated: { v1beta1: { conditions: old } },
    // A claim's IPAddress has its name.
    ...(isReady && { addressRef: { name: claim.metadata.name } }),
  };
}
