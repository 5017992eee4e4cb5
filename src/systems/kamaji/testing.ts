/** For tests: one turn of a controller at a management cluster in memory, and databases that keep a record of what is done to them. */
import { Fault, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Context, KubeObject, Resource, StatusRecord } from "@slipway/kube";
import type { Datastore } from "../../datastores/datastore.ts";
import type { Place } from "../../datastores/place.ts";
import { DataStore, type Driver } from "../../kinds/kamaji/data-store.ts";
import { completeSpec } from "../../kinds/kamaji/defaults.ts";
import type { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { PLACE_BID } from "./names.ts";
import type { OpenStore, StoresPorts } from "./stores.ts";
import { Stores } from "./stores.ts";

type Ref = { namespace?: string; name: string };
const keyOf = (kind: string, { namespace = "", name }: Ref): string => `${kind}/${namespace}/${name}`;

/** JSON merge patch (RFC 7396). */
function merged(into: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const out: Record<string, unknown> = typeof into === "object" && into !== null ? { ...into } : {};
  for (const [key, value] of Object.entries(patch))
    if (value === null) delete out[key];
    else out[key] = merged(out[key], value);
  return out;
}

/** One turn of a controller at a management cluster in memory, which holds these objects. */
export class Turn {
  readonly objects = new Map<string, KubeObject>();
  /** Requests that change something: `create Secret/ns/name`. */
  readonly asked: string[] = [];
  readonly events: string[] = [];
  readonly clock = new VirtualClock(Date.UTC(2026, 0, 1));
  readonly abort = new AbortController();
  readonly context: Context;

  constructor(...objects: (readonly [Resource<KubeObject>, KubeObject])[]) {
    for (const [resource, object] of objects) this.put(resource, object);
    const tell =
      (kind: string) =>
      (_: unknown, reason: string, message: string): void =>
        void this.events.push(`${kind} ${reason}: ${message}`);
    this.context = {
      ...{ clock: this.clock, random: seededRandom(1), signal: this.abort.signal, clean: <T>(value: T): T => value },
      events: { normal: tell("Normal"), warning: tell("Warning") },
      cache: {
        get: (resource: Resource<KubeObject>, ref: Ref) => this.objects.get(keyOf(resource.kind, ref)),
        list: ({ kind }: Resource<KubeObject>, namespace?: string) =>
          [...this.objects]
            .filter(
              ([key, { metadata }]) =>
                key.startsWith(`${kind}/`) && (namespace ?? metadata.namespace) === metadata.namespace,
            )
            .map(([, object]) => object),
      },
      client: {
        get: async (resource: Resource<KubeObject>, ref: Ref) => this.#held(resource, ref),
        find: async (resource: Resource<KubeObject>, ref: Ref) => this.objects.get(keyOf(resource.kind, ref)),
        create: async (resource: Resource<KubeObject>, object: KubeObject) => {
          const key = keyOf(resource.kind, object.metadata);
          this.asked.push(`create ${key}`);
          if (this.objects.has(key)) throw new Fault("AlreadyExists", key, "it is there");
          this.objects.set(key, { ...object, metadata: { ...object.metadata, resourceVersion: "1" } });
          return this.objects.get(key);
        },
        delete: async (resource: Resource<KubeObject>, ref: Ref) => {
          this.asked.push(`delete ${keyOf(resource.kind, ref)}`);
          this.#held(resource, ref);
          this.objects.delete(keyOf(resource.kind, ref));
        },
        updateStatus: async (resource: Resource<KubeObject>, object: KubeObject) => {
          this.asked.push(`status ${keyOf(resource.kind, object.metadata)}`);
          this.put(resource, object);
          return object;
        },
        patch: async (
          resource: Resource<KubeObject>,
          ref: Ref,
          { type, body }: { type: string; body: { metadata?: { resourceVersion?: string } } },
        ) => {
          const key = keyOf(resource.kind, ref);
          this.asked.push(`patch ${key}`);
          if (type === "apply" && !this.objects.has(key)) this.put(resource, { metadata: ref } as KubeObject);
          const before = this.#held(resource, ref);
          const version = body.metadata?.resourceVersion;
          if (version !== undefined && version !== before.metadata.resourceVersion)
            throw new Fault("Conflict", key, "it has changed");
          const now = merged(before, body) as KubeObject;
          now.metadata.resourceVersion = `${Number(before.metadata.resourceVersion) + 1}`;
          this.objects.set(key, now);
          return now;
        },
      },
    } as unknown as Context;
  }

  put(resource: Resource<KubeObject>, object: KubeObject): void {
    this.objects.set(keyOf(resource.kind, object.metadata), object);
  }

  get<T extends KubeObject>({ kind }: Resource<T>, ref: Ref): T {
    return this.objects.get(keyOf(kind, ref)) as T;
  }

  #held({ kind }: Resource<KubeObject>, ref: Ref): KubeObject {
    const held = this.objects.get(keyOf(kind, ref));
    if (held === undefined) throw new Fault("NotFound", keyOf(kind, ref), "there is none");
    return held;
  }
}

/** A DataStore of this name, as the API has it. */
export function dataStore(name: string, { driver = "etcd", ca }: { driver?: Driver; ca?: string } = {}): DataStore {
  return {
    ...{ apiVersion: "kamaji.clastix.io/v1alpha1", kind: "DataStore" },
    metadata: { name, uid: `uid of ${name}`, resourceVersion: "1", generation: 1 },
    spec: { driver, endpoints: [`${name}:1`], ...(ca !== undefined && { tlsConfig: ca }) },
  } as unknown as DataStore;
}

/** A tenant whose bid for places in these DataStores stands on it, by the names that it has. */
export function bidding(tenant: TenantControlPlane, ...dataStores: string[]): TenantControlPlane {
  const { dataStoreSchema: schema, dataStoreUsername: user } = completeSpec(tenant);
  const annotations = { ...tenant.metadata.annotations, [PLACE_BID]: JSON.stringify({ schema, user, dataStores }) };
  return { ...tenant, metadata: { ...tenant.metadata, annotations } };
}

/** Databases by their DataStore's name. */
export class FakeStores {
  /** What was done to which: `default: ensure a`. */
  readonly done: string[] = [];
  /** Schemas that each has already. */
  readonly has = new Map<string, string[]>();
  /** Entries of each. */
  readonly counts = new Map<string, number>();
  /** What each leaves behind at a removal. */
  readonly leaves = new Map<string, string[]>();
  /** What each answers to this call instead: `default: ensure`. */
  readonly refusals = new Map<string, Fault>();
  readonly authorities = new Map<string, OpenStore["authority"]>();
  readonly tls = new Map<string, OpenStore["tls"]>();
  readonly stores: Stores;

  constructor(clock: VirtualClock) {
    this.stores = new Stores({ clock, log: undefined as never } satisfies StoresPorts);
    this.stores.of = async (_, { metadata, spec }) => {
      const { name } = metadata;
      const authority = this.authorities.get(name);
      const tls = this.tls.get(name);
      return {
        ...{ datastore: this.#datastore(name), endpoints: spec.endpoints },
        ...(authority !== undefined && { authority }),
        ...(tls !== undefined && { tls }),
      };
    };
  }

  #datastore(name: string): Datastore {
    const call = async <T>(what: string, answer: T): Promise<T> => {
      this.done.push(`${name}: ${what}`);
      const refusal = this.refusals.get(`${name}: ${what.split(" ")[0]}`);
      if (refusal !== undefined) throw refusal;
      return answer;
    };
    return {
      driver: "etcd",
      check: () => call("check", undefined),
      ensure: ({ schema, user, password }: Place) =>
        call(`ensure ${[schema, user, ...(password === undefined ? [] : ["with a password"])].join(" ")}`, undefined),
      remove: ({ schema, user }: Place) => call(`remove ${schema} ${user}`, this.leaves.get(name) ?? []),
      places: () => call("places", this.has.get(name) ?? []),
      count: () => call("count", this.counts.get(name) ?? 0),
      copy: ({ schema }: Place) => call(`copy ${schema}`, undefined),
      close: async () => {},
    } as Datastore;
  }
}

/** The status of a tenant as a turn writes it; `refusal` answers each write. */
export function statusOf(tenant: TenantControlPlane, refusal?: Fault): StatusRecord<TenantControlPlane> {
  const record = {
    object: tenant,
    async write(status: object) {
      if (refusal !== undefined) throw refusal;
      record.object = { ...record.object, status: { ...record.object.status, ...status } } as TenantControlPlane;
    },
  };
  return record as unknown as StatusRecord<TenantControlPlane>;
}

export { DataStore };
