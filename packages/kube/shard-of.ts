/** Which shard an owner's work is in: the same for every replica, now and after each restart. */

/** Each shard's Lease is written every two seconds. */
export const MOST_SHARDS = 64;

const PRIME = 0x01000193;
const BASIS = 0x811c9dc5;

/** 32 bits of a text (FNV-1a), spread evenly. */
export function hashOf(text: string): number {
  let hash = BASIS;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), PRIME);
  return mixed(hash);
}

/** How much one prefers the other (rendezvous hashing): each of a pair's two sides may be the one that chooses. */
export function preference(a: number, b: number): number {
  return mixed(a ^ mixed(b + 0x9e3779b9));
}

/** The shard, from 0, of everything that stays together with `owner`. Another number of shards moves only what the new ones take, or the old ones leave. */
export function shardOf(owner: string, shards: number): number {
  if (shards === 1) return 0;
  const own = hashOf(owner);
  let best = 0;
  let most = -1;
  for (let shard = 0; shard < shards; shard++) {
    const weight = preference(own, shard);
    if (weight <= most) continue;
    best = shard;
    most = weight;
  }
  return best;
}

function mixed(bits: number): number {
  let z = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
  return (z ^ (z >>> 16)) >>> 0;
}
