import { asFault, isFault } from "@slipway/base";
import {
  addFinalizer,
  type Context,
  type Controller,
  DONE,
  removeFinalizer,
  StatusRecord,
  setCondition,
  source,
} from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { DataStore } from "../../kinds/kamaji/data-store.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { storesOfMove } from "./migration-record.ts";
import { KAMAJI, STORE_FINALIZER } from "./names.ts";
import { storesOfOverrides } from "./overrides.ts";
import type { Stores } from "./stores.ts";

const LOOK_MS = 60_000;
const VALID = "kamaji.clastix.io/DataStoreValidation";
const MAY_GO = "kamaji.clastix.io/DataStoreAllowedDeletion";

/** Says of each DataStore whether it can be used and who uses it, and keeps one that is used from being deleted. */
export function dataStoreController(stores: Stores): Controller {
  return {
    name: "data-store",
    system: KAMAJI,
    // One that hangs holds its own worker alone.
    workers: 16,
    owner: ({ name }) => `data-store/${name}`,
    // Tenants use its database wherever it is looked after itself.
    left({ name }, cache) {
      if (cache.get(DataStore, { name }) === undefined) void stores.forget(name);
    },
    sources: [
      source({ resource: DataStore }),
      source({
        resource: TenantControlPlane,
        keys: (tenant, before) => [...new Set([...usedBy(tenant), ...usedBy(before)])].map((name) => ({ name })),
      }),
    ],
    access: [
      { resource: DataStore, verbs: ["get", "patch"] },
      { resource: DataStore, verbs: ["update"], subresource: "status" },
      { resource: Secret, verbs: ["get"] },
    ],
    async reconcile(ref, context) {
      const { cache, client } = context;
      const store = cache.get(DataStore, ref);
      if (store === undefined) {
        await stores.forget(ref.name);
        return DONE;
      }
      const users = cache
        .list(TenantControlPlane)
        .filter((tenant) => usedBy(tenant).includes(store.metadata.name))
        .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
        .sort();
      const isGoing = store.metadata.deletionTimestamp !== undefined;
      if (isGoing && users.length === 0) {
        await stores.forget(store.metadata.name);
        await removeFinalizer(client, DataStore, store, STORE_FINALIZER);
        return DONE;
      }
      if (!isGoing && store.metadata.finalizers?.includes(STORE_FINALIZER) !== true) {
        await addFinalizer(client, DataStore, store, STORE_FINALIZER);
        return DONE;
      }
      await report(stores, context, store, users);
      return { againAfterMs: LOOK_MS };
    },
  };
}

/** The DataStores in which a tenant has a place: one that its runtime keeps has none, whatever it names. */
function usedBy(tenant: TenantControlPlane | undefined): string[] {
  if (tenant === undefined) return [];
  const { driver, dataStoreName } = tenant.status?.storage ?? {};
  return [
    ...new Set([
      ...(driver && dataStoreName ? [dataStoreName] : []),
      ...storesOfMove(tenant),
      ...storesOfOverrides(tenant),
    ]),
  ];
}

async function report(stores: Stores, context: Context, store: DataStore, users: readonly string[]): Promise<void> {
  const { client, clock, signal } = context;
  const fault = await stores
    .of(client, store)
    .then((open) => open.datastore.check(signal))
    .then(
      () => undefined,
      (error: unknown) => {
        if (signal.aborted || isFault(error, "NotLeader", "Undeclared")) throw error;
        return asFault(error, `DataStore/${store.metadata.name}`);
      },
    );
  const observedGeneration = store.metadata.generation ?? 0;
  const now = clock.now();
  const valid = {
    ...{ type: VALID, observedGeneration, message: fault?.advice ?? "" },
    ...(fault === undefined
      ? { status: "True" as const, reason: "Valid" }
      : { status: "False" as const, reason: fault.code }),
  };
  const free = {
    ...{ type: MAY_GO, observedGeneration },
    ...(users.length === 0
      ? { status: "True" as const, reason: "Unused", message: "" }
      : { status: "False" as const, reason: "Used", message: `used by ${users.join(", ")}` }),
  };
  const conditions = setCondition(setCondition(store.status?.conditions ?? [], valid, now), free, now);
  const record = new StatusRecord(context, DataStore, store);
  await record.write({ ready: fault === undefined, usedBy: [...users], observedGeneration, conditions });
}
