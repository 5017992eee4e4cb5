import { isoTime } from "@slipway/base";
import type { Instance, InstanceStatus } from "../../kinds/harvester/instance.ts";

/** The entry in an Instance's status about its release, begun now (ms since 1970) where there is none yet. Pure. */
export function releaseOf({ status }: Instance, now: number): NonNullable<InstanceStatus["release"]> {
  const { reason, at, drained, accepted } = status?.release ?? {
    reason: status?.failure?.reason ?? "Deleted",
    at: isoTime(now),
  };
  return { reason, at, ...(drained !== undefined && { drained }), ...(accepted !== undefined && { accepted }) };
}
