/** What is promised to claims, written on their pool. */
import { Fault } from "@slipway/base";
import { type Context, type KubeObject, keyOf, refOf } from "@slipway/kube";
import { IPPool } from "../../kinds/ipam/ip-pool.ts";
import { parseMac } from "./allocator/mac.ts";
import type { Held } from "./allocator/pool.ts";
import type { PoolView } from "./pool-view.ts";

const TRIES = 5;
const NONE: ReadonlySet<bigint> = new Set();

/**
 * Promises addresses under the pool's version. Where the pool gives MAC addresses, too, others are looked at before and after: two pools have no
 * version in common, so of two who chose the same MAC address at once, whoever sees it takes another one before anybody is told. Rejects as the
 * API does.
 */
export async function promised(
  { client }: Context,
  { sort, pool: before }: PoolView,
  held: readonly Held[],
  waiting: readonly string[],
): Promise<{ addresses: ReadonlyMap<string, string>; pool: KubeObject }> {
  let pool = before;
  let isWritten = true;
  for (let tries = 1; tries <= TRIES; tries++) {
    const { addresses, body } = sort.promise(
      pool,
      held,
      waiting,
      sort.withoutClashes ? await macsBeside(client, pool) : NONE,
    );
    if (body !== undefined || !isWritten) {
      const { resourceVersion } = pool.metadata;
      const metadata = { ...(body as { metadata?: object } | undefined)?.metadata, resourceVersion };
      pool = await client.patch(sort.resource, refOf(pool), { type: "merge", body: { ...body, metadata } });
      isWritten = true;
    }
    const better = sort.withoutClashes?.(pool, waiting, await macsBeside(client, pool));
    if (!better) return { addresses, pool };
    pool = better;
    isWritten = false;
  }
  throw new Fault("Conflict", `${before.kind} ${before.metadata.name}`, "other pools take the same MAC addresses");
}

/** MAC addresses that other IPPools have given, in all namespaces, as the API has them now. */
async function macsBeside(client: Context["client"], pool: KubeObject): Promise<Set<bigint>> {
  const own = keyOf(refOf(pool));
  const { items } = await client.list(IPPool);
  return new Set(
    items
      .filter((other) => keyOf(refOf(other)) !== own)
      .flatMap(({ spec }) => spec.allocatedIPs.flatMap(({ mac }) => numberOf(mac))),
  );
}

/** Nothing for a text that is none: its own pool says so. */
function numberOf(mac: string): bigint[] {
  try {
    return [parseMac(mac, "")];
  } catch {
    return [];
  }
}
