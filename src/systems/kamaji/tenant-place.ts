/** A tenant's place in its DataStore: made before its API server needs it, removed when the tenant goes. */
import { asFault, Fault, isFault } from "@slipway/base";
import type { Context } from "@slipway/kube";
import type { Place } from "../../datastores/place.ts";
import { DataStore, type Driver } from "../../kinds/kamaji/data-store.ts";
import type { CompleteTenant } from "../../kinds/kamaji/defaults.ts";
import type { TenantControlPlane, TenantControlPlaneStatus } from "../../kinds/kamaji/tenant-control-plane.ts";
import type { Authority } from "../../pki/authority.ts";
import { certificateFault } from "../../pki/renewal.ts";
import type { PlaneKine } from "../../tenants/plane.ts";
import { storesOfMove } from "./migration-record.ts";
import { type Override, storesOfOverrides } from "./overrides.ts";
import { KINE_ENDPOINT, keepConfig, releaseConfig } from "./store-config.ts";
import type { Stores } from "./stores.ts";
import { openOverrides } from "./tenant-overrides.ts";
import { LEFT_MS, type StoreUser } from "./tenant-pki.ts";
import { freeStore, type Names } from "./usable-store.ts";

/** Where a tenant's objects are, and by what it is known there. */
export interface TenantPlace {
  driver: Driver;
  dataStoreName: string;
  endpoints: readonly string[];
  /** The Secret with its user and password. */
  config: { secretName: string; checksum: string };
  /** Who certifies it to the DataStore; unset: nobody here can. */
  storeUser?: StoreUser;
  /** Of the kine between its API server and a database that is no etcd. */
  kine?: Omit<PlaneKine, "extraArgs">;
  /** Resources that are elsewhere, and where. */
  overrides: readonly { resource: string; endpoints: readonly string[] }[];
}

/** Where a tenant's objects are, as its status has it. */
export type Storage = NonNullable<TenantControlPlaneStatus["storage"]>;

/**
 * Makes what is missing of the place; `announce` has written first where it is, so that it is found when the tenant goes. What was made
 * stays unlooked at while the tenant is ready. Rejects with `MissingInput` for a DataStore that is not there, and with what the database says.
 */
export async function keepPlace(
  stores: Stores,
  context: Context,
  of: CompleteTenant,
  { overrides, announce }: { overrides: readonly Override[]; announce: (storage: Storage) => Promise<void> },
): Promise<TenantPlace> {
  const { client, signal } = context;
  const { tenant, spec } = of;
  const { dataStore: name, dataStoreSchema: schema, dataStoreUsername: user } = spec;
  const store = freeStore(context, of);
  const { driver } = store.spec;
  const open = await stores.of(client, store);
  const { datastore, endpoints, authority, tls } = open;
  if (authority !== undefined) refuseEnding(name, authority, context.clock.now());
  const elsewhere = await openOverrides(stores, context, of, { overrides, authority });
  await announce({ driver, dataStoreName: name, setup: { schema, user } });
  const { password, kineEndpoint, ...config } = await keepConfig(context, tenant, {
    ...{ driver, schema, user, store: open },
  });
  const place: Place = { schema, user, ...(driver !== "etcd" && { password }) };
  const others = [...new Map(elsewhere.map(({ store, open }) => [store.metadata.name, { store, open }])).values()];
  const generations = [store, ...others.map((one) => one.store)].map(({ metadata }) => [
    metadata.name,
    metadata.generation,
  ]);
  const what = JSON.stringify([generations, config.checksum]);
  const { uid } = tenant.metadata;
  if (!isReady(tenant) || !stores.hasMade(uid, what))
    await stores.make(uid, what, async () => {
      for (const each of [datastore, ...others.map(({ open }) => open.datastore)]) await each.ensure(place, signal);
    });
  return {
    ...{ driver, dataStoreName: name, endpoints, config },
    overrides: elsewhere.map(({ resource, open }) => ({ resource, endpoints: open.endpoints })),
    ...(authority !== undefined && { storeUser: { user, authority } }),
    ...(kineEndpoint !== undefined && {
      kine: {
        endpoint: kineEndpoint,
        secret: { name: config.secretName, key: KINE_ENDPOINT },
        ...(tls?.ca !== undefined && { ca: tls.ca }),
      },
    }),
  };
}

/** It signs certificates of tenants, which would end with it. */
function refuseEnding(name: string, { certificatePem, keyPem }: Authority, now: number): void {
  const fault = certificateFault({ certificatePem, keyPem }, { now, leftMs: LEFT_MS });
  if (fault === undefined) return;
  const what =
    fault === "expiring" ? "it ends within a day, or has ended" : "certificate and key are not of each other";
  throw new Fault("Invalid", `certificateAuthority of DataStore/${name}`, what, {
    remedy: "give the database and the DataStore a new authority",
  });
}

function isReady({ status }: TenantControlPlane): boolean {
  return status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") === true;
}

/** The removal of a tenant's place from one DataStore. */
interface PlaceRemoval {
  dataStore: string;
  /** Rejects while the database is away. */
  removal: Promise<void>;
}

/**
 * Removes the tenant's place from each DataStore that may hold one; one that is away keeps nothing in the others. What a database can't
 * remove is said in an event, and does not keep the tenant.
 */
export async function removePlaces(
  stores: Stores,
  context: Context,
  tenant: TenantControlPlane,
): Promise<PlaceRemoval[]> {
  stores.forgetMade(tenant.metadata.uid);
  await releaseConfig(context, tenant);
  const { dataStoreName, driver, setup } = tenant.status?.storage ?? {};
  if (!driver || !dataStoreName) return [];
  const { schema = "", user = "" } = setup ?? {};
  const removals: PlaceRemoval[] = [];
  for (const dataStore of new Set([dataStoreName, ...storesOfMove(tenant), ...storesOfOverrides(tenant)])) {
    const removal = removeAt(stores, context, tenant, { name: dataStore, schema, user });
    // One after the other: the caller sees how each has ended.
    await removal.catch(() => {});
    context.signal.throwIfAborted();
    removals.push({ dataStore, removal });
  }
  return removals;
}

async function removeAt(
  stores: Stores,
  { cache, client, events, signal }: Context,
  tenant: TenantControlPlane,
  { name, schema, user }: Names,
): Promise<void> {
  const store = cache.get(DataStore, { name });
  const what = `${schema} in DataStore ${name}`;
  if (store === undefined) {
    events.warning(tenant, "LeftOver", `${what}: the DataStore is gone, so its objects were not removed`);
    return;
  }
  try {
    const { datastore } = await stores.of(client, store);
    for (const left of await datastore.remove({ schema, user }, signal)) events.warning(tenant, "LeftOver", left);
  } catch (error) {
    if (signal.aborted) throw error;
    // A database that is only away for now is waited for; one that can't be used as it is would keep the tenant for ever.
    if (isFault(error, "Unavailable", "Timeout", "LostAnswer")) throw error;
    events.warning(tenant, "LeftOver", `${what}: ${asFault(error, name).advice}`);
  }
}
