/** Carries out what `migration-plan.ts` decides: a tenant's objects go to another DataStore of the same driver, and never are in two at once. */
import { asFault, Fault } from "@slipway/base";
import { type Context, isStalled, type Outcome, refOf, type StatusRecord, setCondition, waitFor } from "@slipway/kube";
import type { Datastore } from "../../datastores/datastore.ts";
import type { Place } from "../../datastores/place.ts";
import { DataStore } from "../../kinds/kamaji/data-store.ts";
import type { CompleteSpec, CompleteTenant } from "../../kinds/kamaji/defaults.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import type { Observed } from "../../tenants/plane.ts";
import { type Migration, type MigrationStep, migrationStep, writeMigration } from "./migration-plan.ts";
import { recordOf, unreadable } from "./migration-record.ts";
import { MIGRATION } from "./names.ts";
import { heldPlace } from "./store-config.ts";
import type { Stores } from "./stores.ts";
import { refuseOtherAuthority } from "./tenant-overrides.ts";
import { usableStore } from "./usable-store.ts";

const STOPPING_MS = 500;

type Record = StatusRecord<TenantControlPlane>;

/** What of a move concerns this turn; `announced`: it was now, and the next turn goes on. */
export type Move = Turn | { step: "announced" };

interface Turn {
  /** The DataStore that has the tenant's objects. */
  at: string;
  step: MigrationStep;
  /** Why it can't begin; the tenant goes on where it is. */
  obstacle?: Fault;
}

/** Decides, and announces a move that is to begin. Rejects with `Conflict` where the object has changed. */
export async function nextMove(stores: Stores, context: Context, of: CompleteTenant): Promise<Move> {
  const { tenant, spec } = of;
  const { driver, dataStoreName } = tenant.status?.storage ?? {};
  const at = driver ? dataStoreName : undefined;
  const stays = { do: "stay", at: at ?? spec.dataStore } as const;
  try {
    const step = migrationStep({ wanted: spec.dataStore, at, record: recordOf(tenant) });
    if (step.do === "refuse") throw unreadable(tenant, step.because);
    if (step.do !== "announce") return { at: at ?? spec.dataStore, step };
    await announce(stores, context, of, step);
    return { step: "announced" };
  } catch (error) {
    if (context.signal.aborted || at === undefined) throw error;
    const obstacle = asFault(error, `TenantControlPlane/${tenant.metadata.name}`);
    if (obstacle.code === "Conflict" || obstacle.code === "NotLeader") throw error;
    return { at, step: stays, obstacle };
  }
}

async function announce(
  stores: Stores,
  context: Context,
  { tenant, spec }: CompleteTenant,
  { from, to, turnsBack }: { from: string; to: string; turnsBack: boolean },
): Promise<void> {
  const { client, signal } = context;
  const store = usableStore(context, { tenant, spec: { ...spec, dataStore: to } });
  const { driver } = tenant.status!.storage!;
  if (store.spec.driver !== driver)
    throw new Fault(
      "Unsupported",
      `DataStore/${to}`,
      `its driver is ${store.spec.driver}, and the tenant's objects are in ${from}, driver ${driver}`,
      { remedy: `set spec.dataStore back to ${from}, or make another tenant there and apply the objects to it` },
    );
  const { datastore, authority } = await stores.of(client, store);
  await datastore.check(signal);
  await refuseOtherAuthority(stores, context, tenant, authority);
  const schema = spec.dataStoreSchema;
  if (!turnsBack && (await datastore.places(signal)).includes(schema))
    throw new Fault(
      "AlreadyExists",
      `DataStore/${to}`,
      `it has ${schema} already, and not as a copy of this tenant's`,
      {
        remedy: "remove it there, or name another DataStore",
      },
    );
  await writeRecord(context, tenant, { from, to });
}

/** Under the object's version: what was decided on an older one ends here. */
async function writeRecord(
  { client }: Pick<Context, "client">,
  tenant: TenantControlPlane,
  record: Migration | null,
): Promise<void> {
  const annotations = { [MIGRATION]: record === null ? null : writeMigration(record) };
  const body = { metadata: { resourceVersion: tenant.metadata.resourceVersion, annotations } };
  await client.patch(TenantControlPlane, refOf(tenant), { type: "merge", body });
}

/**
 * Before something is removed: rejects with `Conflict` where the object is no longer as it was decided on. What an older cache takes for a
 * copy may be what the tenant serves from by now.
 */
async function requireUnchanged({ client }: Pick<Context, "client">, tenant: TenantControlPlane): Promise<void> {
  const { metadata } = await client.get(TenantControlPlane, refOf(tenant));
  if (metadata.uid === tenant.metadata.uid && metadata.resourceVersion === tenant.metadata.resourceVersion) return;
  throw new Fault("Conflict", `TenantControlPlane/${metadata.name}`, "it has changed meanwhile");
}

async function opened(stores: Stores, { cache, client }: Context, name: string): Promise<Datastore> {
  const store = cache.get(DataStore, { name });
  if (store === undefined)
    throw new Fault("MissingInput", `DataStore/${name}`, "there is none of this name", {
      remedy: "create it again, or set spec.dataStore to where the tenant's objects are",
    });
  return (await stores.of(client, store)).datastore;
}

/**
 * Copies, once the API server is stopped, and names the target in the status. What was there of an earlier attempt is removed first. Rejects
 * with what either database says; `Internal` where the copy has another count than the source.
 */
export async function copyOver(
  stores: Stores,
  context: Context,
  record: Record,
  { spec, observed, migration }: { spec: CompleteSpec; observed: Observed; migration: Migration },
): Promise<Outcome> {
  const { from, to } = migration;
  const stopped = observed.readyReplicas === 0 && observed.components.length === 0;
  await report(context, record, stopped ? `its objects to be copied from ${from} to ${to}` : "its API server to stop");
  if (!stopped) return { againAfterMs: STOPPING_MS };
  const place = heldPlace(context, record.object, spec);
  const [source, target] = [await opened(stores, context, from), await opened(stores, context, to)];
  await requireUnchanged(context, record.object);
  const count = await carry(source, target, place, context.signal);
  // Under the object's version: a specification that was changed meanwhile wins.
  await record.write({ storage: { ...record.object.status?.storage, dataStoreName: to } });
  context.events.normal(record.object, "Migrated", `${count} entries from DataStore ${from} to ${to}`);
  return { againAfterMs: 0 };
}

/** Resolves with how many entries there are. */
async function carry(source: Datastore, target: Datastore, place: Place, signal: AbortSignal): Promise<number> {
  const wanted = await source.count(place, signal);
  const foreign = await target.remove(place, signal);
  if (foreign.length > 0) throw new Fault("AlreadyExists", place.schema, foreign.join("; "));
  await target.ensure(place, signal);
  await source.copy(place, target, () => {}, signal);
  const there = await target.count(place, signal);
  if (there !== wanted)
    throw new Fault("Internal", place.schema, `the copy has ${there} entries, and ${wanted} were to be copied`, {
      remedy: "it is made anew",
    });
  return there;
}

async function report({ clock }: Context, record: Record, what: string): Promise<void> {
  const { status, metadata } = record.object;
  const now = clock.now();
  const observedGeneration = metadata.generation ?? 0;
  const ready = { type: "Ready", status: "False" as const, reason: "Migrating", message: what, observedGeneration };
  const version = { version: "", ...status?.kubernetesResources?.version, status: "Migrating" as const };
  await record.write({
    kubernetesResources: { ...status?.kubernetesResources, version },
    conditions: setCondition(status?.conditions ?? [], ready, now),
    // What stalls it stays until the copy is there: each change here would be another turn at once, without a pause.
    ...(!isStalled(status) && waitFor(status, { what, now })),
  });
}

/**
 * Removes what a move has left in the DataStore that no longer has the tenant's objects, and the record with it: of a move that was given up,
 * and of one that is done once the tenant serves. True: it was done now; undefined: nothing is to be done. A `Fault`: why it can't be done, which does not keep the tenant.
 */
export async function tidyMove(
  stores: Stores,
  context: Context,
  tenant: TenantControlPlane,
  { spec, step, observed }: { spec: CompleteSpec; step: MigrationStep | undefined; observed: Observed },
): Promise<true | Fault | undefined> {
  if (step?.do !== "abandon" && (step?.do !== "clean" || observed.readyReplicas === 0)) return undefined;
  const { events, signal } = context;
  const name = step.do === "clean" ? step.record.from : step.record.to;
  const { dataStoreSchema: schema, dataStoreUsername: user } = spec;
  await requireUnchanged(context, tenant);
  try {
    const datastore = await opened(stores, context, name);
    for (const left of await datastore.remove({ schema, user }, signal)) events.warning(tenant, "LeftOver", left);
  } catch (error) {
    if (signal.aborted) throw error;
    const { code, message } = asFault(error, name);
    return new Fault(code, `what a move has left in DataStore ${name}`, message, {
      remedy: `mend that, or remove the annotation ${MIGRATION} to leave it there`,
      cause: error,
    });
  }
  await writeRecord(context, tenant, null);
  return true;
}
