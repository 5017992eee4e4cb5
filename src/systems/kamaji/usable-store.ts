/** Whether a tenant may use a DataStore: it is there, suits the tenant, and has its names free. */
import { Fault } from "@slipway/base";
import type { Context } from "@slipway/kube";
import { problemsOfDataStores } from "../../kinds/kamaji/check-data-stores.ts";
import { DataStore } from "../../kinds/kamaji/data-store.ts";
import type { CompleteTenant } from "../../kinds/kamaji/defaults.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { bidsFor, holdsPlace, rivalOf } from "./place-bid.ts";

/**
 * The DataStore that the specification names. Throws `Invalid` where another tenant has the names there, or asks for them with the right of way,
 * `Conflict` while it is not seen that nobody else asks for them, and `MissingInput` where the DataStore is not there.
 */
export function freeStore(
  context: Context,
  { tenant, spec: { dataStore: name, dataStoreSchema: schema, dataStoreUsername: user } }: CompleteTenant,
): DataStore {
  refuseTaken(context, tenant, { name, schema, user });
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
export function usableStore(context: Context, of: CompleteTenant): DataStore {
  const store = freeStore(context, of);
  refuseUnsuited(context, of.tenant, of.spec.dataStore);
  return store;
}

export interface Names {
  name: string;
  schema: string;
  user: string;
}

function refuseTaken({ cache }: Context, tenant: TenantControlPlane, { name, ...names }: Names): void {
  const isHeld = holdsPlace(tenant, names, name);
  const rival = rivalOf(tenant, names, name, cache.list(TenantControlPlane));
  if (rival?.holds === true || (rival?.first === true && !isHeld)) {
    const { namespace, name: other } = rival.tenant.metadata;
    const what = `${names.schema} or its user ${names.user} is of tenant ${namespace}/${other}`;
    throw new Fault("Invalid", `DataStore/${name}`, what, {
      remedy: "make the tenant anew with another dataStoreSchema and dataStoreUsername, or without them",
    });
  }
  if (!isHeld && (rival !== undefined || !bidsFor(tenant, names, name)))
    throw new Fault("Conflict", `DataStore/${name}`, "another tenant may ask for the same names");
}
