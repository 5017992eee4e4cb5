/** The sorts of pools that claims may name: how each is read, and where it keeps what it has promised. Pure. */
import { Fault } from "@slipway/base";
import type { KubeObject, Resource } from "@slipway/kube";
import { GlobalInClusterIPPool, InClusterIPPool } from "../../kinds/ipam/in-cluster-ip-pool.ts";
import { IPPool } from "../../kinds/ipam/ip-pool.ts";
import { allocateIps, checkIpPool, readIpPool, releaseIps } from "./allocator/ip-pool-plan.ts";
import { parseMac } from "./allocator/mac.ts";
import { assign, type Held, type Pool, readPool } from "./allocator/pool.ts";
import { PROMISED } from "./names.ts";

/** What is promised, and the change of the pool that says so; no change where it says so already. */
export interface Promised {
  addresses: ReadonlyMap<string, string>;
  body?: object;
}

export interface PoolSort<T extends KubeObject = KubeObject> {
  resource: Resource<T>;
  /** Throws a `Fault` that says what of the specification is wrong. */
  read(pool: T): Pool;
  /** Addresses for claims that wait, beside those of `held` (which exist as IPAddresses). Claims that are left out got none. `takenMacs`: of other pools. */
  promise(pool: T, held: readonly Held[], waiting: readonly string[], takenMacs: ReadonlySet<bigint>): Promised;
  /** Of pools that give MAC addresses, too: the pool without what these claims were promised, where another pool has the same MAC address. Undefined: none has. */
  withoutClashes?(pool: T, claims: readonly string[], takenMacs: ReadonlySet<bigint>): T | undefined;
  /** The change that takes these claims' addresses back; undefined: the pool does not keep them. */
  release(pool: T, claims: ReadonlySet<string>): object | undefined;
  /** Whether `status.ipAddresses` counts its addresses. */
  counts: boolean;
}

function inCluster<T extends InClusterIPPool | GlobalInClusterIPPool>(resource: Resource<T>): PoolSort<T> {
  return {
    resource,
    read(pool) {
      // Damage to it is told as damage to the specification is.
      promisedBy(pool);
      return readPool(pool.spec);
    },
    promise(pool, held, waiting) {
      const exist = new Set(held.map(({ claim }) => claim));
      const asked = new Set(waiting);
      const open = promisedBy(pool).filter(({ claim }) => !exist.has(claim) && asked.has(claim));
      const addresses = assign(readPool(pool.spec), [...held, ...open], waiting);
      const promised = Object.fromEntries([...addresses].filter(([claim]) => !exist.has(claim)));
      const text = JSON.stringify(promised);
      const isSaid = pool.metadata.annotations?.[PROMISED] === text;
      return { addresses, ...(!isSaid && { body: { metadata: { annotations: { [PROMISED]: text } } } }) };
    },
    release: () => undefined,
    counts: true,
  };
}

/** What a pool has promised. An annotation that is damaged is an error: somebody's address may be in it. */
function promisedBy(pool: KubeObject): Held[] {
  const text = pool.metadata.annotations?.[PROMISED];
  if (text === undefined) return [];
  try {
    return Object.entries(JSON.parse(text) as Record<string, string>).map(([claim, address]) => ({ claim, address }));
  } catch (cause) {
    throw new Fault("Invalid", `annotation ${PROMISED}`, "it is no JSON", {
      remedy: "remove it, once every claim of the pool has its IPAddress",
      cause,
    });
  }
}

/** Who has an address of an IPPool, where that is a claim. */
const ownerOf = (claim: string): string => `IPAddressClaim/${claim}`;

const airship: PoolSort<IPPool> = {
  resource: IPPool,
  read(pool) {
    checkIpPool(pool.spec);
    return readIpPool(pool.spec);
  },
  promise(pool, _, waiting, takenMacs) {
    const { spec, given } = allocateIps(pool.spec, waiting.map(ownerOf), undefined, takenMacs);
    const { allocatedIPs, nextMAC } = spec;
    const addresses = new Map(
      waiting.flatMap((claim) => {
        const ip = given.get(ownerOf(claim))?.ip;
        return ip === undefined ? [] : [[claim, ip] as const];
      }),
    );
    return { addresses, ...(spec !== pool.spec && { body: { spec: { allocatedIPs, nextMAC } } }) };
  },
  withoutClashes(pool, claims, takenMacs) {
    const owners = new Set(claims.map(ownerOf));
    const clashing = pool.spec.allocatedIPs.filter(
      ({ allocatedTo, mac }) => owners.has(allocatedTo) && takenMacs.has(parseMac(mac, "spec.allocatedIPs.mac")),
    );
    if (clashing.length === 0) return undefined;
    return { ...pool, spec: releaseIps(pool.spec, new Set(clashing.map(({ allocatedTo }) => allocatedTo))) };
  },
  release(pool, claims) {
    const spec = releaseIps(pool.spec, new Set([...claims].map(ownerOf)));
    return spec === pool.spec ? undefined : { spec: { allocatedIPs: spec.allocatedIPs } };
  },
  counts: false,
};

export const POOL_SORTS = [
  inCluster(InClusterIPPool),
  inCluster(GlobalInClusterIPPool),
  airship,
] as unknown as readonly PoolSort[];
