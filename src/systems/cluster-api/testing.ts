/** For this folder's tests: Cluster API's objects with the fields that a test is about. */
import { Fault, quietLog, rfc3339, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Client, Condition, Context, KubeObject, ObjectMeta, Resource } from "@slipway/kube";
import { Node } from "@slipway/kube/core";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import type { ContractReference } from "../../kinds/cluster-api/fields.ts";
import { Machine } from "../../kinds/cluster-api/machine.ts";
import { MachineDeployment } from "../../kinds/cluster-api/machine-deployment.ts";
import { MachineSet } from "../../kinds/cluster-api/machine-set.ts";
import type { ExternalObjects } from "./external-objects.ts";
import type { Seen } from "./mirror.ts";

/** The time at which tests begin, in ms. */
export const NOW = Date.parse("2026-06-01T12:00:00Z");
/** So many seconds before `NOW`. */
export const ago = (seconds: number): string => rfc3339(NOW - seconds * 1000);

/** A condition that has held for an hour. */
export const is = (type: string, status: Condition["status"], of: Partial<Condition> = {}): Condition => ({
  ...{ type, status, reason: `${type}Reason`, message: "", lastTransitionTime: ago(3600) },
  ...of,
});

interface Fields {
  metadata?: Partial<ObjectMeta>;
  spec?: object;
  status?: object;
}

function made<T extends KubeObject>(resource: Resource<T>, name: string, { metadata, spec, status }: Fields): T {
  return {
    apiVersion: resource.group === "" ? resource.version : `${resource.group}/${resource.version}`,
    kind: resource.kind,
    metadata: {
      ...{ name, uid: `uid-${name}`, resourceVersion: "1", creationTimestamp: ago(7200) },
      ...(resource.namespaced && { namespace: "default" }),
      ...metadata,
    },
    ...(spec && { spec }),
    ...(status && { status }),
  } as unknown as T;
}

const MACHINE_SPEC = {
  clusterName: "quay",
  bootstrap: { dataSecretName: "data" },
  infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "SimMachine", name: "m" },
};

/** What a Machine is made of; `of` replaces fields. */
export const machineSpec = (of: object = {}): Machine["spec"] => ({ ...MACHINE_SPEC, ...of }) as Machine["spec"];

/** The Cluster `quay`. */
export const cluster = (of: Fields = {}): Cluster => made(Cluster, "quay", { ...of, spec: { ...of.spec } });
/** A Machine of `quay`. */
export const machine = (name: string, of: Fields = {}): Machine =>
  made(Machine, name, { ...of, spec: machineSpec(of.spec) });
/** A Node. */
export const node = (name: string, of: Fields = {}): Node => made(Node, name, of);

/** A set of three. `template`: fields of its Machines' spec. */
export const machineSet = (name: string, { template = {}, ...of }: Fields & { template?: object } = {}): MachineSet =>
  made(MachineSet, name, {
    ...of,
    spec: { clusterName: "quay", replicas: 3, selector: {}, template: { spec: machineSpec(template) }, ...of.spec },
  });

/** A deployment of three. `template`: fields of its Machines' spec. */
export const deployment = ({ template = {}, ...of }: Fields & { template?: object } = {}): MachineDeployment =>
  made(MachineDeployment, "berth", {
    ...of,
    spec: { clusterName: "quay", replicas: 3, selector: {}, template: { spec: machineSpec(template) }, ...of.spec },
  });

/** An object of a provider as it was seen; without `object`, one that is not there. */
export function seen(kind: string, object?: Fields): Seen {
  const group = "infrastructure.cluster.x-k8s.io";
  const resource = { group, version: "v1beta2", kind, plural: `${kind.toLowerCase()}s`, namespaced: true };
  return {
    reference: { apiGroup: group, kind, name: "m" },
    kind: { resource, contract: "v1beta2" },
    object: object && made(resource, "m", object),
    because: `${kind} m does not exist`,
  };
}

/** Objects behind a client that keeps them, what it was asked to do in order, and faults by `verb Kind` (or `verb Kind/name`). */
export interface Held {
  client: Client;
  asked: string[];
  /** What was sent, by what was asked. */
  bodies: Map<string, unknown>;
  faults: Map<string, Fault>;
  get(kind: string, name: string): KubeObject | undefined;
  put(...objects: KubeObject[]): void;
}

/** A client over these objects. Writes merge fields; nothing is validated. */
export function holding(...objects: KubeObject[]): Held {
  const kept = new Map<string, KubeObject>();
  const keyIn = (kind: string, name: string): string => `${kind}/${name}`;
  const put = (...more: KubeObject[]): void => {
    for (const object of more) kept.set(keyIn(object.kind, object.metadata.name), object);
  };
  put(...objects);
  const asked: string[] = [];
  const bodies = new Map<string, unknown>();
  const faults = new Map<string, Fault>();
  const ask = (verb: string, kind: string, name: string, body?: unknown): void => {
    const what = `${verb} ${kind}/${name}`;
    const fault = faults.get(what) ?? faults.get(`${verb} ${kind}`);
    if (fault !== undefined) throw fault;
    if (verb === "find" || verb === "list") return;
    asked.push(what);
    if (body !== undefined) bodies.set(what, body);
  };
  const merged = (kind: string, name: string, body: object): KubeObject => {
    const before = kept.get(keyIn(kind, name)) ?? { metadata: { name } };
    const { metadata, ...rest } = body as Partial<KubeObject>;
    const after = { ...before, ...rest, metadata: { ...before.metadata, ...metadata } } as KubeObject;
    kept.set(keyIn(kind, name), after);
    return after;
  };
  const client = {
    find: async ({ kind }: Resource, { name }: { name: string }) => {
      ask("find", kind, name);
      return kept.get(keyIn(kind, name));
    },
    list: async ({ kind }: Resource) => {
      ask("list", kind, "");
      return { items: [...kept.values()].filter((object) => object.kind === kind), resourceVersion: "1" };
    },
    create: async ({ kind, group, version }: Resource, body: KubeObject) => {
      ask("create", kind, body.metadata.name, body);
      const { uid = `uid-${body.metadata.name}`, resourceVersion = "1" } = body.metadata;
      const metadata = { ...body.metadata, uid, resourceVersion };
      const object = { ...body, apiVersion: group === "" ? version : `${group}/${version}`, kind, metadata };
      put(object);
      return object;
    },
    patch: async ({ kind }: Resource, { name }: { name: string }, { body }: { body: object }) => {
      ask("patch", kind, name, body);
      return merged(kind, name, body);
    },
    updateStatus: async ({ kind }: Resource, object: KubeObject & { status?: object }) => {
      ask("status", kind, object.metadata.name, object.status);
      return merged(kind, object.metadata.name, { status: object.status } as object);
    },
    evict: async ({ name }: { name: string }) => ask("evict", "Pod", name),
    delete: async ({ kind }: Resource, { name }: { name: string }, options?: object) => {
      ask("delete", kind, name, options);
      if (!kept.delete(keyIn(kind, name))) throw new Fault("NotFound", `${kind}/${name}`, "not found");
    },
  } as unknown as Client;
  return { client, asked, bodies, faults, put, get: (kind, name) => kept.get(keyIn(kind, name)) };
}

/** What a controller is given, over these objects, on a clock that begins at `NOW`; `noted`: events and log lines. */
export function contextOver(held: Held): { context: Context; clock: VirtualClock; noted: string[] } {
  const clock = new VirtualClock(NOW);
  const noted: string[] = [];
  const log = { ...quietLog, warn: (_: object, text: string) => void noted.push(text) };
  const events = {
    warning: (object: KubeObject, reason: string, message: string) =>
      void noted.push(`${object.metadata.name} ${reason}: ${message}`),
    normal: (object: KubeObject, reason: string, message: string) =>
      void noted.push(`${object.metadata.name} ${reason}: ${message}`),
  };
  const { signal } = new AbortController();
  const context = { client: held.client, clock, random: seededRandom(1), log, events, clean: <T>(of: T) => of, signal };
  return { context: context as unknown as Context, clock, noted };
}

/** Kinds of providers that are all served, over these objects; a kind in `missing` has no definition. */
export function externalOver(held: Held, missing: readonly string[] = []): ExternalObjects {
  const kindOf = async ({ apiGroup, kind }: { apiGroup: string; kind: string }) => {
    if (missing.includes(kind)) throw new Fault("NotFound", kind, "the kind has no definition");
    const resource = { group: apiGroup, version: "v1beta2", kind, plural: `${kind.toLowerCase()}s`, namespaced: true };
    return { resource, contract: "v1beta2" };
  };
  const known = async (reference: ContractReference) => ({
    kind: await kindOf(reference),
    object: held.get(reference.kind, reference.name),
  });
  return {
    ...{ kindOf, known, read: known },
    list: async ({ kind }: { kind: string }) => (await held.client.list({ kind } as Resource)).items,
  } as unknown as ExternalObjects;
}
