import type { Clock } from "@slipway/base";
import type { Access, Client } from "@slipway/kube";
import { Lease } from "@slipway/kube/core";

/** The Lease that Metal3's operator leads by (baremetal-operator, `LeaderElectionID`), in whichever namespace it runs. */
const LEASE = "baremetal-operator";
/** A look is good for so long. */
const LOOK_MS = 60_000;
/** A leader that has not renewed its Lease for so many of its durations is gone. */
const DURATIONS = 4;
const DURATION_S = 15;

/** What finding Metal3's operator takes. */
export const METAL3_OPERATOR_ACCESS: Access = { resource: Lease, verbs: ["list"] };

/** Tells whether Metal3's own operator leads in the cluster. It looks once a minute. */
export function metal3Operator(): (at: {
  client: Client;
  clock: Pick<Clock, "now" | "monotonic">;
}) => Promise<boolean> {
  let last: { isThere: Promise<boolean>; at: number } | undefined;
  return ({ client, clock }) => {
    const now = clock.monotonic();
    if (last === undefined || now - last.at > LOOK_MS) last = { isThere: leads(client, clock), at: now };
    const { isThere } = last;
    isThere.catch(() => {
      // The next one looks again.
      if (last?.isThere === isThere) last = undefined;
    });
    return isThere;
  };
}

async function leads(client: Client, clock: Pick<Clock, "now">): Promise<boolean> {
  const { items } = await client.list(Lease, { fieldSelector: `metadata.name=${LEASE}` });
  return items.some(({ spec }) => {
    if (!spec?.holderIdentity || spec.renewTime === undefined) return false;
    const alive = DURATIONS * (spec.leaseDurationSeconds ?? DURATION_S) * 1_000;
    return clock.now() - Date.parse(spec.renewTime) < alive;
  });
}
