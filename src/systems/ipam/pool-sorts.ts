/** The sorts of pools that claims may name: how each is read, and where it keeps what it has promised. Pure. */
import { Fault } from "@slipway/base";
import type { KubeObject, Resource } from "@slipway/kube";
import { GlobalInClusterIPPool, InClusterIPPool } from "../../kinds/ipam/in-cluster-ip-pool.ts";
import { IPPool } from "../../kinds/ipam/ip-pool.ts";
import { allocateIp, checkIpPool, readIpPool, releaseIps } from "./allocator/ip-pool-plan.ts";
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
  /** Addresses for claims that wait, beside those of `held` (which exist as IPAddresses). Claims that are left out got none. */
  promise(pool: T, held: readonly Held[], waiting: readonly string[]): Promised;
  /** The change that takes these claims' addresses back; undefined: the pool does not keep them. */
  release(pool: T, claims: ReadonlySet<string>): object | undefined;
  /** Whether `status.ipAddresses` counts its addresses. */
  counts: boolean;
}

function inCluster<T extends InClusterIPPool | GlobalInClusterIPPool>(resource: Resource<T>): PoolSort<T> {
  return {
    resource,
    read: (pool) => readPool(pool.spec),
    promise(pool, held, waiting) {
      const exist = new Set(held.map(({ claim }) => claim));
      const open = promisedBy(pool).filter(({ claim }) => !exist.has(claim) && waiting.includes(claim));
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
  promise(pool, _, waiting) {
    let { spec } = pool;
    const addresses = new Map<string, string>();
    for (const claim of waiting)
      try {
        const { ip, spec: next } = allocateIp(spec, ownerOf(claim));
        addresses.set(claim, ip);
        spec = next;
      } catch (error) {
        if (!(error instanceof Fault && error.code === "NoCapacity")) throw error;
        break;
      }
    const { allocatedIPs, nextMAC } = spec;
    return { addresses, ...(spec !== pool.spec && { body: { spec: { allocatedIPs, nextMAC } } }) };
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
