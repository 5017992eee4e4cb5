/** Whether a tenant may use a DataStore: it is there, suits the tenant, and has its names free. */
import { Fault } from "@slipway/base";
import type { Context } from "@slipway/kube";
import { problemsOfDataStores } from "../../kinds/kamaji/check-data-stores.ts";
import { DataStore } from "../../kinds/kamaji/data-store.ts";
import type { CompleteSpec } from "../../kinds/kamaji/defaults.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { storesOfMove } from "./migration-record.ts";
import { storesOfOverrides } from "./overrides.ts";
import type { Stores } from "./stores.ts";

/** The DataStore that the specification names. Throws `Invalid` where another tenant has the names there, `MissingInput` where it is not there. */
export function freeStore(
  stores: Stores,
  context: Context,
  tenant: TenantControlPlane,
  { dataStore: name, dataStoreSchema: schema, dataStoreUsername: user }: CompleteSpec,
): DataStore {
  const other = holderOf(stores, context, tenant, { name, schema, user });
  if (other !== undefined)
    throw new Fault("Invalid", `DataStore/${name}`, `${schema} or its user ${user} is of tenant ${other}`, {
      remedy: "make the tenant anew with another dataStoreSchema and dataStoreUsername, or without them",
    });
  const store = context.cache.get(DataStore, { name });
  if (store === undefined)
    throw new Fault("MissingInput", `DataStore/${name}`, "there is none of this name", {
      remedy: "create it, or name another in spec.dataStore",
    });
  return store;
}

/** What a tenant's overrides ask of other DataStores. */
function refuseUnsuited({ cache }: Context, tenant: TenantControlPlane, name: string): void {
  const drivers = new Map(cache.list(DataStore).map(({ metadata, spec }) => [metadata.name, spec.driver]));
  const problems = problemsOfDataStores(tenant, name, drivers);
  if (problems.length === 0) return;
  const what = problems.map(({ field, message }) => `${field}: ${message}`).join("; ");
  throw new Fault("MissingInput", `TenantControlPlane/${tenant.metadata.name}`, what);
}

/** The same, for a tenant that is to have its objects there: also `MissingInput` where its overrides don't go with that. */
export function usableStore(
  stores: Stores,
  context: Context,
  tenant: TenantControlPlane,
  spec: CompleteSpec,
): DataStore {
  const store = freeStore(stores, context, tenant, spec);
  refuseUnsuited(context, tenant, spec.dataStore);
  return store;
}

export interface Names {
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
    const stores = [dataStoreName, ...storesOfMove(tenant), ...storesOfOverrides(tenant)];
    return driver && stores.includes(names.name) && (setup?.schema === names.schema || setup?.user === names.user);
  });
  const asked = stores.claim(uid, names);
  const holder = written ?? others.find(({ metadata }) => metadata.uid === asked);
  return holder && `${holder.metadata.namespace}/${holder.metadata.name}`;
}
