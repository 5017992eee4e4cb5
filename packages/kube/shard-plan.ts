import { hashOf, preference } from "./shard-of.ts";

/**
 * Who should hold each shard. `holders`: who holds it now, by shard; a holder that is not among `replicas` holds nothing any more.
 *
 * Pure, and the same for every replica that sees the same. No replica is given two more than another, and no other plan of which that holds
 * moves fewer shards. Without replicas nobody holds anything.
 */
export function planShards(
  holders: readonly (string | undefined)[],
  replicas: readonly string[],
): (string | undefined)[] {
  const held = new Map<string, number[]>([...new Set(replicas)].sort().map((replica) => [replica, []]));
  if (held.size === 0) return holders.map(() => undefined);
  for (const [shard, holder] of holders.entries()) if (holder !== undefined) held.get(holder)?.push(shard);
  const plan: (string | undefined)[] = holders.map(() => undefined);
  const room = new Map<string, number>();
  const atLeast = Math.floor(holders.length / held.size);
  const withOneMore = holders.length % held.size;
  // Who holds most keeps most: so the fewest move.
  const byLoad = [...held].sort(([, a], [, b]) => b.length - a.length);
  for (const [place, [replica, shards]] of byLoad.entries()) {
    const share = place < withOneMore ? atLeast + 1 : atLeast;
    const kept = byPreference(replica, shards).slice(0, share);
    for (const shard of kept) plan[shard] = replica;
    room.set(replica, share - kept.length);
  }
  for (const [shard, planned] of plan.entries()) {
    if (planned !== undefined) continue;
    const taker = preferred(shard, room);
    plan[shard] = taker;
    room.set(taker, room.get(taker)! - 1);
  }
  return plan;
}

function byPreference(replica: string, shards: readonly number[]): number[] {
  const own = hashOf(replica);
  return shards.toSorted((a, b) => preference(own, b) - preference(own, a));
}

/** Of the replicas that have room, the one that prefers the shard most. */
function preferred(shard: number, room: ReadonlyMap<string, number>): string {
  let best: string | undefined;
  let most = -1;
  for (const [replica, left] of room) {
    const weight = left > 0 ? preference(hashOf(replica), shard) : -1;
    if (weight > most) [best, most] = [replica, weight];
  }
  return best!;
}
