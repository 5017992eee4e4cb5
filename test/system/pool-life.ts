/** What lives of pools under faults have in common: a time of mischief after each wish, and then peace until it is fulfilled. */
import type { HarvesterWorld } from "./harvester-world.ts";
import { assertInvariants } from "./invariants.ts";
import { HOUR, MINUTE, SECOND } from "./world.ts";

const MISCHIEF_MS = 40 * MINUTE;

export interface Life {
  /** Does some harm, or none. */
  mischief(): Promise<void>;
  /** Ends all harm. */
  mend(): Promise<void>;
  /** Rejects when a promise of this life's own is broken. */
  check?(): Promise<void>;
}

/** Waits through the mischief and until the pool has `count` machines. Rejects when that takes a day, or an invariant is broken. */
export async function livesTo(world: HarvesterWorld, count: number, { mischief, mend, check }: Life): Promise<void> {
  const ends = world.clock.now() + MISCHIEF_MS;
  await world.until(
    `the pool has ${count} machines`,
    async () => {
      await assertInvariants(world);
      await check?.();
      if (world.clock.now() < ends) await mischief();
      else await mend();
      return world.clock.now() >= ends && (await world.converged()) && (await world.instances()).length === count;
    },
    24 * HOUR,
    30 * SECOND,
  );
}
