/**
 * Two tenants that name the same schema or user in one DataStore would read each other's objects: the first one that asks has the names (B28). Who asks
 * writes a bid on its own object first, and takes the names once its cache shows that bid and nobody else's. A watch shows objects of a kind in
 * the order in which they were written, so of two bids the later one's owner sees the earlier one, whichever replicas they are on. Pure.
 */
import type { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { storesOfMove } from "./migration-record.ts";
import { PLACE_BID } from "./names.ts";
import { storesOfOverrides } from "./overrides.ts";

/** What a tenant is known by in each of its DataStores. */
export interface PlaceNames {
  schema: string;
  user: string;
}

interface Bid extends PlaceNames {
  dataStores: readonly string[];
}

/** Who has names in a DataStore, or asks for them too. `holds`: its status says that they are its own. `first`: it has the right of way. */
export interface Rival {
  tenant: TenantControlPlane;
  holds: boolean;
  first: boolean;
}

/** Whether the tenant has, or may have, a place by one of the names in the DataStore. */
export function holdsPlace(tenant: TenantControlPlane, { schema, user }: PlaceNames, dataStore: string): boolean {
  const { dataStoreName, driver, setup } = tenant.status?.storage ?? {};
  if (!driver || (setup?.schema !== schema && setup?.user !== user)) return false;
  return [dataStoreName, ...storesOfMove(tenant), ...storesOfOverrides(tenant)].includes(dataStore);
}

/** Whether the tenant's bid names the DataStore, with one of the names. */
export function bidsFor(tenant: TenantControlPlane, names: PlaceNames, dataStore: string): boolean {
  const text = tenant.metadata.annotations?.[PLACE_BID];
  // Most tenants' bids have other names, and need not be read.
  if (text === undefined || !(text.includes(names.schema) || text.includes(names.user))) return false;
  const bid = readBid(text);
  if (bid === undefined || !bid.dataStores.includes(dataStore)) return false;
  return bid.schema === names.schema || bid.user === names.user;
}

/** The tenant that stands in the way: one that holds the names before one that asks, and of those one with the right of way. */
export function rivalOf(
  tenant: TenantControlPlane,
  names: PlaceNames,
  dataStore: string,
  all: readonly TenantControlPlane[],
): Rival | undefined {
  let found: Rival | undefined;
  for (const other of all) {
    if (other.metadata.uid === tenant.metadata.uid) continue;
    if (holdsPlace(other, names, dataStore)) return { tenant: other, holds: true, first: true };
    // One that is deleted takes nothing any more.
    if (other.metadata.deletionTimestamp !== undefined || !bidsFor(other, names, dataStore)) continue;
    if (found?.first !== true) found = { tenant: other, holds: false, first: isFirst(other, tenant) };
  }
  return found;
}

/**
 * The tenant's bid as it should stand on it; undefined: none. A DataStore in which another has the names is not asked for, and of two that ask the one
 * without the right of way takes its bid back. What is held already needs none.
 */
export function wantedBid(
  tenant: TenantControlPlane,
  names: PlaceNames,
  dataStores: readonly string[],
  all: readonly TenantControlPlane[],
): string | undefined {
  const asked = readBid(tenant.metadata.annotations?.[PLACE_BID]);
  const isSame = asked?.schema === names.schema && asked.user === names.user;
  const before: ReadonlySet<string> = new Set(isSame ? asked.dataStores : []);
  const wanted = [...new Set(dataStores)].filter((dataStore) => {
    if (holdsPlace(tenant, names, dataStore)) return before.has(dataStore);
    const rival = rivalOf(tenant, names, dataStore, all);
    return rival === undefined || (!rival.first && before.has(dataStore));
  });
  if (wanted.length === 0) return undefined;
  const { schema, user } = names;
  return JSON.stringify({ schema, user, dataStores: wanted.sort() } satisfies Bid);
}

/** The older one has the right of way. */
function isFirst({ metadata: a }: TenantControlPlane, { metadata: b }: TenantControlPlane): boolean {
  const [ofA, ofB] = [a, b].map(({ creationTimestamp = "", uid }) => `${creationTimestamp} ${uid}`);
  return ofA! < ofB!;
}

/** What can't be read asks for nothing. */
function readBid(text: string | undefined): Bid | undefined {
  if (text === undefined) return undefined;
  try {
    const { schema, user, dataStores } = JSON.parse(text) as Partial<Bid>;
    if (typeof schema !== "string" || typeof user !== "string" || !Array.isArray(dataStores)) return undefined;
    return { schema, user, dataStores: dataStores.filter((name) => typeof name === "string") };
  } catch {
    return undefined;
  }
}
