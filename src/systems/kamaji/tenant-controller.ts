import { asFault, isFault } from "@slipway/base";
import {
  type Access,
  addFinalizer,
  type Context,
  type Controller,
  DONE,
  keyOf,
  type Outcome,
  type Ref,
  type Resource,
  refOf,
  removeFinalizer,
  StatusRecord,
  source,
  stalled,
} from "@slipway/kube";
import { ConfigMap, Deployment, Ingress, Secret, Service } from "@slipway/kube/core";
import { DataStore } from "../../kinds/kamaji/data-store.ts";
import { completeSpec, missingDefaults } from "../../kinds/kamaji/defaults.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { JudgedPki } from "../../pki/tenant/judged.ts";
import { Applied } from "../../tenants/deployment/applied.ts";
import { TlsRoute } from "../../tenants/deployment/tls-route.ts";
import { Aside } from "./aside.ts";
import {
  FINALIZER,
  KAMAJI,
  OVERRIDES,
  PAUSED,
  PLACE_BID,
  PROJECT,
  RUNS_ON,
  RUNTIME,
  SECRET_FINALIZER,
  SOOT_FINALIZER,
  TENANT_LABEL,
} from "./names.ts";
import { wantedOverrides, writeOverrides } from "./overrides.ts";
import { wantedBid } from "./place-bid.ts";
import type { Runtimes } from "./runtimes.ts";
import { configNameOf } from "./store-config.ts";
import type { Stores } from "./stores.ts";
import { bindingsNote, ofSubClusters } from "./sub-cluster.ts";
import { TenantContents } from "./tenant-contents.ts";
import { keepTenant, type TenantParts, type TenantRecord } from "./tenant-keep.ts";
import { removePlaces } from "./tenant-place.ts";

/** Gives each TenantControlPlane its certificates, has it run, fills it with what nodes need to join, and keeps its status true. `inCluster`: planes may run as Deployments of the cluster, which are watched. */
export function tenantController(
  runtimes: Runtimes,
  stores: Stores,
  { inCluster = false, ...surroundings }: Pick<TenantParts, "makePki"> & { inCluster?: boolean } = {},
): Controller {
  const contents = new TenantContents();
  const judged = new JudgedPki();
  const applied = new Applied({ ofTenants: true });
  const aside = new Aside();
  const parts: TenantParts = { runtimes, stores, contents, aside, applied, judged, ...surroundings };
  /** Whose plane an id is, for what runtimes report, and which ids a key has had. */
  const refs = new Map<string, Ref>();
  const forget = (uid: string): void => {
    refs.delete(uid);
    contents.forget(uid);
    aside.forget(uid);
    judged.forget(uid);
    stores.forgetMade(uid);
  };
  return {
    name: "tenant-control-plane",
    system: KAMAJI,
    workers: 16,
    // Planes of one process stay together with it: one replica has all of them.
    owner(ref, cache) {
      const { annotations = {} } = cache.get(TenantControlPlane, ref)?.metadata ?? {};
      return runtimes.isBound(annotations[RUNS_ON], annotations[RUNTIME]) ? KAMAJI : `tenant/${keyOf(ref)}`;
    },
    left(ref) {
      for (const [uid, known] of refs) if (keyOf(known) === keyOf(ref)) forget(uid);
    },
    sources: [
      source({ resource: TenantControlPlane }),
      source({
        resource: DataStore,
        when: (store, before) => before.metadata.generation !== store.metadata.generation,
        keys: ({ metadata }, _, cache) =>
          cache
            .list(TenantControlPlane)
            .filter(({ spec }) => storesNamedBy(spec).includes(metadata.name))
            .map((tenant) => refOf(tenant)),
      }),
      ofTenants(Secret),
      ofTenants(ConfigMap),
      ...(inCluster ? PLANE_OBJECTS.map(ofTenants) : []),
      ofSubClusters(),
    ],
    access: [
      { resource: TenantControlPlane, verbs: ["get", "patch"] },
      { resource: TenantControlPlane, verbs: ["update"], subresource: "status" },
      { resource: Secret, verbs: ["get", "create", "patch"] },
      { resource: ConfigMap, verbs: ["get", "create", "patch", ...(inCluster ? (["delete"] as const) : [])] },
      ...(inCluster ? [...PLANE_OBJECTS, TlsRoute].map((resource): Access => ({ resource, verbs: PLANE_VERBS })) : []),
    ],
    listen(wake) {
      const wakeOf = (id: string): void => {
        const ref = refs.get(id);
        if (ref !== undefined) wake(ref);
      };
      const ends = [runtimes.onChange(wakeOf), aside.onDone(wakeOf)];
      return () => {
        for (const end of ends) end();
        aside.stop();
      };
    },
    async reconcile(ref, context) {
      const tenant = context.cache.get(TenantControlPlane, ref);
      if (tenant === undefined) return DONE;
      const { uid, deletionTimestamp, finalizers = [], annotations = {} } = tenant.metadata;
      refs.set(uid, { namespace: tenant.metadata.namespace!, name: tenant.metadata.name });
      const record: TenantRecord = new StatusRecord(context, TenantControlPlane, tenant);
      if (deletionTimestamp !== undefined) {
        if (finalizers.includes(FINALIZER)) {
          const ended = await reported(context, record, () => end(parts, context, tenant));
          if (ended !== DONE) return ended;
        }
        forget(uid);
        return DONE;
      }
      if (annotations[PAUSED] !== undefined) return DONE;
      if (!finalizers.includes(FINALIZER)) {
        await addFinalizer(context.client, TenantControlPlane, tenant, FINALIZER);
        return DONE;
      }
      return await reported(context, record, async () => {
        if (await decided(parts, context, tenant)) return DONE;
        return await keepTenant(parts, context, record);
      });
    },
  };
}

function storesNamedBy({ dataStore, dataStoreOverrides = [] }: TenantControlPlane["spec"]): (string | undefined)[] {
  return [dataStore, ...dataStoreOverrides.map((one) => one.dataStore)];
}

/** What a plane consists of that runs as Pods of the cluster, beside ConfigMaps. */
const PLANE_OBJECTS: readonly Resource[] = [Deployment, Service, Ingress];
const PLANE_VERBS = ["get", "create", "patch", "delete"] as const;

/** Objects with a tenant's labels wake the tenant. A cluster may be without Ingresses. */
function ofTenants(resource: Resource) {
  const [[label, project] = []] = Object.entries(PROJECT);
  return source({
    resource,
    optional: resource.kind === "Ingress",
    labelSelector: `${label}=${project}`,
    keys: ({ metadata }) => {
      const name = metadata.labels?.[TENANT_LABEL];
      return name === undefined ? [] : [{ namespace: metadata.namespace!, name }];
    },
  });
}

/** What its user repairs may lie outside of all that is watched: a program, a port, a Secret of the DataStore's. */
const STALLED_LOOK_MS = 30_000;

/** What prevents the next step is on the object before the queue backs off. What only a change can heal is looked at again, too. */
async function reported(
  { clock, signal }: Context,
  record: TenantRecord,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted || isFault(error, "Conflict", "NotLeader", "Undeclared")) throw error;
    const fault = asFault(error, `TenantControlPlane/${record.object.metadata.name}`);
    const { metadata, status } = record.object;
    const decided = { now: clock.now(), observedGeneration: metadata.generation ?? 0 };
    await record.write({ ...stalled(status, fault, decided), ...firstState(record.object) });
    if (fault.retryable) throw error;
    return { againAfterMs: STALLED_LOOK_MS };
  }
}

/** Kamaji's word for a tenant that has none yet: `kubectl get` shows it. */
function firstState({
  status,
}: TenantControlPlane): Pick<NonNullable<TenantControlPlane["status"]>, "kubernetesResources"> {
  const { version = { version: "", status: "Provisioning" as const }, ...others } = status?.kubernetesResources ?? {};
  return { kubernetesResources: { ...others, version } };
}

/**
 * Writes down what is decided once, before anything is made by it: what the specification leaves open, where the tenant runs, and where it asks for a
 * place. True: it was written now.
 */
async function decided(
  { runtimes }: TenantParts,
  { client, cache }: Context,
  tenant: TenantControlPlane,
): Promise<boolean> {
  const { annotations = {}, resourceVersion } = tenant.metadata;
  const runsOn = runtimes.decide(annotations[RUNS_ON], annotations[RUNTIME]);
  const spec = missingDefaults(tenant);
  const note = bindingsNote(cache, tenant);
  const bid = runsOn === "embedded" ? undefined : bidOf(cache, tenant);
  if (spec === undefined && runsOn === annotations[RUNS_ON] && note === undefined && bid === annotations[PLACE_BID])
    return false;
  const decisions = { [RUNS_ON]: runsOn, [PLACE_BID]: bid ?? null, ...overridesTakenOver(tenant), ...note };
  const body = {
    metadata: { resourceVersion, annotations: decisions },
    ...(spec !== undefined && { spec }),
  };
  await client.patch(TenantControlPlane, refOf(tenant), { type: "merge", body });
  return true;
}

/** By the names that the specification has once what it leaves open is written. */
function bidOf(cache: Context["cache"], tenant: TenantControlPlane): string | undefined {
  const { dataStore, dataStoreSchema: schema, dataStoreUsername: user } = completeSpec(tenant);
  const wanted = [dataStore, ...wantedOverrides(tenant).map((one) => one.dataStore)];
  return wantedBid(tenant, { schema, user }, wanted, cache.list(TenantControlPlane));
}

/** A tenant that another operator has run (B51) has its objects where its specification says. */
function overridesTakenOver(tenant: TenantControlPlane): Record<string, string> {
  const { annotations = {} } = tenant.metadata;
  const at = wantedOverrides(tenant);
  const isInstalled = Boolean(tenant.status?.kubernetesResources?.version?.version);
  if (annotations[RUNS_ON] !== undefined || !isInstalled || at.length === 0) return {};
  return { [OVERRIDES]: writeOverrides({ at, left: [] }) };
}

/** What can't be removed is tried for so long; then the tenant goes without it (B27). */
const GIVEN_UP_AFTER_MS = 3_600_000;

async function end({ runtimes, stores }: TenantParts, context: Context, tenant: TenantControlPlane): Promise<Outcome> {
  const { uid, annotations = {}, deletionTimestamp } = tenant.metadata;
  const { clock, client, events, signal } = context;
  const removed = async (what: string, removal: Promise<void>): Promise<void> => {
    try {
      await removal;
    } catch (error) {
      if (signal.aborted || clock.now() - Date.parse(deletionTimestamp!) < GIVEN_UP_AFTER_MS) throw error;
      events.warning(tenant, "LeftOver", `${what}: given up after an hour: ${asFault(error, what).advice}`);
    }
  };
  await removed(
    "its control plane",
    runtimes.remove(uid, annotations[RUNS_ON], { tenant, client, cache: context.cache }),
  );
  const places = await removePlaces(stores, context, tenant);
  for (const { dataStore, removal } of places) await removed(`its place in DataStore ${dataStore}`, removal);
  await freeConfig(context, tenant);
  await removeFinalizer(client, TenantControlPlane, tenant, SOOT_FINALIZER);
  await removeFinalizer(client, TenantControlPlane, tenant, FINALIZER);
  return DONE;
}

/** What Kamaji's operator would have done with the Secret of a tenant that it had. */
async function freeConfig({ cache, client }: Context, tenant: TenantControlPlane): Promise<void> {
  const config = cache.get(Secret, { namespace: tenant.metadata.namespace!, name: configNameOf(tenant) });
  if (config !== undefined) await removeFinalizer(client, Secret, config, SECRET_FINALIZER);
}
