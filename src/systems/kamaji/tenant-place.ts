/** A tenant's place in its DataStore: made before its API server needs it, removed when the tenant goes. */
import { asFault, Fault, isFault } from "@slipway/base";
import type { Context } from "@slipway/kube";
import type { Place } from "../../datastores/place.ts";
import { problemsOfDataStores } from "../../kinds/kamaji/check-data-stores.ts";
import { DataStore, type Driver } from "../../kinds/kamaji/data-store.ts";
import type { CompleteSpec } from "../../kinds/kamaji/defaults.ts";
import { TenantControlPlane, type TenantControlPlaneStatus } from "../../kinds/kamaji/tenant-control-plane.ts";
import type { Authority } from "../../pki/authority.ts";
import { certificateFault } from "../../pki/renewal.ts";
import type { PlaneKine } from "../../tenants/plane.ts";
import { storesOfMove } from "./migration-record.ts";
import { KINE_ENDPOINT, keepConfig, releaseConfig } from "./store-config.ts";
import type { Stores } from "./stores.ts";
import { LEFT_MS, type StoreUser } from "./tenant-pki.ts";

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
}

type Storage = NonNullable<TenantControlPlaneStatus["storage"]>;

/**
 * Makes what is missing of the place; `announce` has written first where it is, so that it is found when the tenant goes. What was made
 * stays unlooked at while the tenant is ready. Rejects with `MissingInput` for a DataStore that is not there, and with what the database says.
 */
export async function keepPlace(
  stores: Stores,
  context: Context,
  tenant: TenantControlPlane,
  spec: CompleteSpec,
  announce: (storage: Storage) => Promise<void>,
): Promise<TenantPlace> {
  const { client, signal } = context;
  const { dataStore: name, dataStoreSchema: schema, dataStoreUsername: user } = spec;
  const store = usableStore(stores, context, tenant, spec);
  const { driver } = store.spec;
  const open = await stores.of(client, store);
  const { datastore, endpoints, authority, tls } = open;
  if (authority !== undefined) refuseEnding(name, authority, context.clock.now());
  await announce({ driver, dataStoreName: name, setup: { schema, user } });
  const { password, kineEndpoint, ...config } = await keepConfig(context, tenant, {
    ...{ driver, schema, user, store: open },
  });
  const place: Place = { schema, user, ...(driver !== "etcd" && { password }) };
  const what = JSON.stringify([name, store.metadata.generation, config.checksum]);
  const { uid } = tenant.metadata;
  if (!isReady(tenant) || !stores.hasMade(uid, what))
    await stores.make(uid, what, () => datastore.ensure(place, signal));
  return {
    ...{ driver, dataStoreName: name, endpoints, config },
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

/** The DataStore that the specification names. Throws `Invalid` where another tenant has the names there, `MissingInput` where it is not there. */
export function usableStore(
  stores: Stores,
  context: Context,
  tenant: TenantControlPlane,
  { dataStore: name, dataStoreSchema: schema, dataStoreUsername: user }: CompleteSpec,
): DataStore {
  const other = holderOf(stores, context, tenant, { name, schema, user });
  if (other !== undefined)
    throw new Fault("Invalid", `DataStore/${name}`, `${schema} or its user ${user} is of tenant ${other}`, {
      remedy: "choose another dataStoreSchema and dataStoreUsername, or leave them out",
    });
  const store = context.cache.get(DataStore, { name });
  if (store === undefined)
    throw new Fault("MissingInput", `DataStore/${name}`, "there is none of this name", {
      remedy: "create it, or name another in spec.dataStore",
    });
  refuseUnsuited(context, tenant, name);
  return store;
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

/** What a tenant's overrides ask of other DataStores. */
function refuseUnsuited({ cache }: Context, tenant: TenantControlPlane, name: string): void {
  const drivers = new Map(cache.list(DataStore).map(({ metadata, spec }) => [metadata.name, spec.driver]));
  const problems = problemsOfDataStores(tenant, name, drivers);
  if (problems.length === 0) return;
  const what = problems.map(({ field, message }) => `${field}: ${message}`).join("; ");
  throw new Fault("MissingInput", `TenantControlPlane/${tenant.metadata.name}`, what);
}

interface Names {
  name: string;
  schema: string;
  user: string;
}

/**
 * Another tenant that has the schema or the user (B28): the first one that asked keeps it. Who asked is known here from now on, and in the status of those that had it
 * before this process began.
 */
function holderOf(stores: Stores, { cache }: Context, tenant: TenantControlPlane, names: Names): string | undefined {
  const { uid } = tenant.metadata;
  const others = cache.list(TenantControlPlane).filter(({ metadata }) => metadata.uid !== uid);
  const written = others.find((tenant) => {
    const { dataStoreName, driver, setup } = tenant.status?.storage ?? {};
    const isThere = dataStoreName === names.name || storesOfMove(tenant).includes(names.name);
    return driver && isThere && (setup?.schema === names.schema || setup?.user === names.user);
  });
  const asked = stores.claim(uid, names);
  const holder = written ?? others.find(({ metadata }) => metadata.uid === asked);
  return holder && `${holder.metadata.namespace}/${holder.metadata.name}`;
}

/** Removes the tenant's place; what could not be removed is said in an event, and does not keep the tenant. */
export async function removePlace(stores: Stores, context: Context, tenant: TenantControlPlane): Promise<void> {
  stores.release(tenant.metadata.uid);
  await releaseConfig(context, tenant);
  const { dataStoreName, driver, setup } = tenant.status?.storage ?? {};
  if (!driver || !dataStoreName) return;
  const { schema = "", user = "" } = setup ?? {};
  for (const name of new Set([dataStoreName, ...storesOfMove(tenant)]))
    await removeAt(stores, context, tenant, { name, schema, user });
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
