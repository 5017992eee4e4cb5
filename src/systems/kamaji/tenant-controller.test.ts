import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { KubeObject, Resource } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { missingDefaults } from "../../kinds/kamaji/defaults.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { overlaid, tenant as tenantWith } from "../../kinds/kamaji/testing.ts";
import type { Observed, Plane } from "../../tenants/plane.ts";
import type { Place, Placeless, Runtime } from "../../tenants/runtime.ts";
import {
  FINALIZER,
  OVERRIDES,
  PAUSED,
  PLACE_BID,
  RUNS_ON,
  RUNTIME,
  SECRET_FINALIZER,
  SOOT_FINALIZER,
} from "./names.ts";
import { Runtimes } from "./runtimes.ts";
import { tenantController } from "./tenant-controller.ts";
import { bidding, DataStore, dataStore, FakeStores, Turn } from "./testing.ts";

type Any = Resource<KubeObject>;
const REF = { namespace: "default", name: "a" };
const asleep: Observed = { readyReplicas: 0, components: [] };

interface Of {
  over?: object;
  annotations?: Record<string, string>;
  finalizers?: string[];
  status?: object;
  runtime?: "process" | "embedded";
}

/** A tenant whose plan is made, with a runtime whose answers the test sets. */
function rig({
  over = {},
  annotations = { [RUNS_ON]: "process" },
  finalizers = [FINALIZER],
  status,
  runtime = "process",
}: Of = {}) {
  const tenant = tenantWith(over);
  Object.assign(tenant.metadata, { annotations, finalizers, generation: 3 });
  const spec = missingDefaults(tenant);
  tenant.spec = overlaid(tenant.spec, spec ?? {}) as typeof tenant.spec;
  if (annotations[RUNS_ON] === "process" && !(PLACE_BID in annotations))
    tenant.metadata = bidding(tenant, "default").metadata;
  if (status !== undefined) tenant.status = status as never;
  const turn = new Turn([TenantControlPlane as Any, tenant], [DataStore as Any, dataStore("default")]);
  const fake = new FakeStores(turn.clock);
  const planes: Plane[] = [];
  const at = {
    place: { host: "192.0.2.1", port: 6443 } as Place | Placeless,
    observed: asleep,
    refusal: undefined as Fault | undefined,
    placed: [] as object[],
    removed: [] as string[],
    removal: undefined as Fault | undefined,
  };
  const running = {
    name: runtime,
    async place(_: string, wanted: object) {
      at.placed.push(wanted);
      return at.place;
    },
    releaseOf: async () => undefined,
    async ensure(plane: Plane) {
      planes.push(plane);
      if (at.refusal !== undefined) throw at.refusal;
      return at.observed;
    },
    async remove(id: string) {
      if (at.removal !== undefined) throw at.removal;
      at.removed.push(id);
    },
    onChange: () => () => {},
  } as unknown as Runtime;
  const runtimes = new Runtimes({ wanted: "process", start: async () => running });
  const controller = tenantController(runtimes, fake.stores);
  const reconcile = () => controller.reconcile(REF, turn.context);
  const now = () => turn.get(TenantControlPlane, REF);
  const condition = (type: string) => {
    const found = now().status?.conditions?.find((one) => one.type === type);
    return found && [found.status, found.reason, found.message];
  };
  return { turn, fake, at, planes, controller, reconcile, now, condition, tenant };
}

test("what is decided once is written on the tenant before anything is made", async () => {
  const { turn, planes, reconcile, now } = rig({ annotations: {}, finalizers: [] });
  await reconcile();
  assert.deepEqual(now().metadata.finalizers, [FINALIZER]);
  await reconcile();
  assert.equal(now().metadata.annotations![RUNS_ON], "process");
  assert.deepEqual([planes, [...turn.objects.keys()].filter((key) => key.startsWith("Secret"))], [[], []]);
  await reconcile();
  assert.equal(planes.length, 1);
});

test("B51 a tenant that another operator has run has its overrides taken over as they are", async () => {
  const dataStoreOverrides = [{ resource: "/events", dataStore: "b" }];
  const status = { kubernetesResources: { version: { version: "v1.34.2", status: "Ready" } } };
  const taken = async (of: Of): Promise<string | undefined> => {
    const { reconcile, now } = rig({ annotations: {}, ...of });
    await reconcile();
    return now().metadata.annotations![OVERRIDES];
  };
  assert.equal(await taken({ over: { dataStoreOverrides }, status }), "/events=b");
  assert.equal(await taken({ over: { dataStoreOverrides } }), undefined, "it was never installed");
  assert.equal(await taken({ status }), undefined);
});

test("a tenant that is paused, or not there, is left alone", async () => {
  const { turn, reconcile, planes } = rig({ annotations: { [PAUSED]: "" } });
  await reconcile();
  turn.objects.delete("TenantControlPlane/default/a");
  await reconcile();
  assert.deepEqual([turn.asked, planes], [[], []]);
});

test("B16 a tenant's plane is what its specification, its place and its Secrets say, and its status what was seen", async () => {
  const { planes, reconcile, now, condition, at, turn } = rig();
  const again = await reconcile();
  const [plane] = planes;
  assert.deepEqual(
    [plane!.host, plane!.port, plane!.version, plane!.replicas, plane!.name],
    ["192.0.2.1", 6443, "v1.34.2", 2, "default/a"],
  );
  assert.equal(plane!.store?.endpoints[0], "http://default:1");
  assert.ok(plane!.kubeconfigs.scheduler.includes("https://192.0.2.1:6443"));
  assert.deepEqual(again, { againAfterMs: 2_000 });
  assert.equal(condition("Ready")![0], "False");
  assert.equal(now().status!.controlPlaneEndpoint, "192.0.2.1:6443");
  assert.deepEqual(at.placed, [{ port: 6443, exact: false }]);
  assert.deepEqual(turn.events, [], "first certificates are no renewals");
  await reconcile();
  assert.deepEqual(at.placed[1], { host: "192.0.2.1", port: 6443, exact: false }, "where it is already");
});

test("a tenant asks for its own port where nodes were given it, and for the address that is named", async () => {
  const status = { controlPlaneEndpoint: "[2001:db8::1]:7443" };
  const placed = async (of: Of): Promise<object> => {
    const { at, reconcile } = rig(of);
    await reconcile();
    return at.placed[0]!;
  };
  const nodePort = {
    controlPlane: { service: { serviceType: "NodePort" } },
    networkProfile: { address: "192.0.2.9", port: 30_443 },
  };
  assert.deepEqual(await placed({ over: nodePort }), { host: "192.0.2.9", port: 30_443, exact: true });
  assert.deepEqual(await placed({ over: nodePort, status }), { host: "192.0.2.9", port: 30_443, exact: true });
  assert.deepEqual(await placed({ status }), { host: "2001:db8::1", port: 7443, exact: false });
  const named = { networkProfile: { address: "2001:db8::1" } };
  assert.deepEqual(await placed({ over: named, status }), { host: "2001:db8::1", port: 7443, exact: false });
  const other = { networkProfile: { address: "192.0.2.9" } };
  assert.deepEqual(await placed({ over: other, status }), { host: "192.0.2.9", port: 6443, exact: false });
});

test("a tenant without a place waits for it in its status, and nothing is made", async () => {
  const { planes, reconcile, at, condition } = rig();
  at.place = { waitsFor: "Service a to get an address" };
  assert.deepEqual(await reconcile(), { againAfterMs: 60_000 });
  assert.match(condition("Ready")!.join(), /Service a to get an address/);
  assert.deepEqual(planes, []);
  const refused = rig();
  refused.at.place = { waitsFor: "Service a to get an address" };
  refused.turn.context.client.updateStatus = async () => {
    throw new Fault("Conflict", "TenantControlPlane/a", "it has changed");
  };
  await assert.rejects(refused.reconcile(), { code: "Conflict" });
});

test("what a runtime does not do that is asked for is named", async () => {
  const over = {
    controlPlane: { ingress: { hostname: "a.example" }, gateway: { hostname: "a.example" } },
    addons: { konnectivity: { server: { port: 8132 } } },
    dataStoreOverrides: [{ resource: "/events", dataStore: "b" }],
  };
  const said = async (runtime: "process" | "embedded"): Promise<string> => {
    const { reconcile, now, at } = rig({ over, annotations: { [RUNS_ON]: runtime, [OVERRIDES]: "" }, runtime });
    at.observed = { ...asleep, ignored: ["its own"] };
    await reconcile();
    await reconcile();
    return JSON.stringify(now().status);
  };
  const embedded = await said("embedded");
  for (const what of [
    "its own",
    "spec.addons.konnectivity: runtime embedded has no server for it",
    "spec.controlPlane.ingress: runtime embedded has no Service to lead to",
    "spec.controlPlane.gateway: runtime embedded has no Service to lead to",
    "spec.dataStoreOverrides: runtime embedded keeps all objects itself",
  ])
    assert.ok(embedded.includes(what), what);
});

test("what prevents a step is in the status; what only a change heals is looked at again, what passes is tried again", async () => {
  const { reconcile, at, condition, now } = rig();
  at.refusal = new Fault("Invalid", "Deployment/a", "two containers of one name", { remedy: "choose other names" });
  assert.deepEqual(await reconcile(), { againAfterMs: 30_000 });
  assert.match(condition("Stalled")!.join(), /True.*two containers of one name; choose other names/);
  assert.equal(now().status!.kubernetesResources!.version!.status, "Provisioning");
  at.refusal = new Fault("Unavailable", "registry", "away");
  await assert.rejects(reconcile(), { code: "Unavailable" });
  assert.match(JSON.stringify(now().status!.conditions), /registry: away/);
  const before = now();
  at.refusal = new Fault("Conflict", "x", "y");
  await assert.rejects(reconcile(), { code: "Conflict" });
  assert.deepEqual(now().status, before.status);
});

test("a specification that can't be is refused with its field before anything is made", async () => {
  const { reconcile, planes, condition } = rig({
    over: { networkProfile: { serviceCidr: "10.96.0.0/16", podCidr: "10.96.0.0/16" } },
  });
  await reconcile();
  assert.match(condition("Stalled")!.join(), /correct the specification/);
  assert.deepEqual(planes, []);
});

function going(of: Of = {}, sinceMs = 0) {
  const made = rig({
    finalizers: [FINALIZER, SOOT_FINALIZER],
    status: { storage: { driver: "etcd", dataStoreName: "default", setup: { schema: "s", user: "u" } } },
    ...of,
  });
  made.tenant.metadata.deletionTimestamp = new Date(made.turn.clock.now() - sinceMs).toISOString();
  return made;
}

test("B27 a tenant that goes is stopped, loses its place, and then its finalizers, Kamaji's among them", async () => {
  const { turn, fake, at, reconcile, now, tenant } = going();
  const metadata = {
    ...REF,
    name: "a-datastore-config",
    uid: "s",
    resourceVersion: "1",
    finalizers: [SECRET_FINALIZER],
  };
  turn.put(Secret as Any, { metadata } as unknown as KubeObject);
  await reconcile();
  assert.deepEqual(at.removed, [tenant.metadata.uid]);
  assert.deepEqual(fake.done, ["default: remove s u"]);
  assert.deepEqual(now()?.metadata.finalizers ?? [], []);
  assert.deepEqual(turn.get(Secret, { ...REF, name: "a-datastore-config" }).metadata.finalizers ?? [], []);
});

test("B27 a tenant waits for what can't be removed for an hour, and then goes without it, which is said", async () => {
  const HOUR = 3_600_000;
  const away = new Fault("Unavailable", "db", "away");
  const early = going({}, HOUR - 1);
  early.fake.refusals.set("default: remove", away);
  await assert.rejects(early.reconcile(), { code: "Unavailable" });
  assert.ok(early.now().metadata.finalizers!.includes(FINALIZER));
  const late = going({}, HOUR);
  late.fake.refusals.set("default: remove", away);
  late.at.removal = new Fault("Unavailable", "Deployment/a", "not gone");
  await late.reconcile();
  assert.deepEqual(late.turn.events, [
    "Warning LeftOver: its control plane: given up after an hour: Deployment/a: not gone",
    "Warning LeftOver: its place in DataStore default: given up after an hour: db: away",
  ]);
  assert.deepEqual(late.now()?.metadata.finalizers ?? [], []);
  const refused = going();
  refused.at.removal = new Fault("Invalid", "Deployment/a", "a webhook refuses it");
  assert.deepEqual(await refused.reconcile(), { againAfterMs: 30_000 }, "it is tried again by itself");
  assert.ok(refused.now().metadata.finalizers!.includes(FINALIZER));
  const stuck = going();
  stuck.at.removal = away;
  await assert.rejects(stuck.reconcile(), { code: "Unavailable" });
  assert.deepEqual(stuck.fake.done, [], "its place stays while its programs run");
});

test("a DataStore's change wakes the tenants that name it, a Secret's the one that it belongs to", () => {
  const { turn, controller, tenant } = rig({
    over: { dataStore: "default", dataStoreOverrides: [{ resource: "/events", dataStore: "b" }] },
  });
  const [, stores, secrets] = controller.sources;
  const when = stores!.when as unknown as (now: DataStore, before: DataStore) => boolean;
  const store = dataStore("default");
  assert.equal(when(store, store), false);
  assert.equal(when(store, { ...store, metadata: { ...store.metadata, generation: 9 } }), true);
  const keys = (of: typeof stores, object: object): object[] =>
    (of!.keys as unknown as (...all: unknown[]) => object[])(object, undefined, turn.context.cache);
  for (const [name, woken] of [
    ["default", 1],
    ["b", 1],
    ["c", 0],
  ] as const)
    assert.equal(keys(stores, dataStore(name)).length, woken, name);
  assert.equal(keys(secrets, { metadata: { namespace: "default", labels: {} } }).length, 0);
  const labels = { "kamaji.clastix.io/name": tenant.metadata.name };
  assert.deepEqual(keys(secrets, { metadata: { namespace: "default", labels } }), [REF]);
});

test("tenants in Pods are shared out one by one; those that run beside the operator stay together, also before that is written", () => {
  const ownerOf = (annotations: Record<string, string>): string => {
    const { turn, controller } = rig({ annotations });
    return controller.owner!(REF, turn.context.cache);
  };
  assert.equal(ownerOf({ [RUNS_ON]: "deployment" }), "tenant/default/a");
  assert.equal(ownerOf({ [RUNTIME]: "deployment" }), "tenant/default/a");
  for (const annotations of [{}, { [RUNS_ON]: "process" }, { [RUNS_ON]: "embedded", [RUNTIME]: "deployment" }])
    assert.equal(ownerOf(annotations as Record<string, string>), "kamaji", JSON.stringify(annotations));
});

test("what was made for a tenant is looked at anew by a replica that comes back to it", async () => {
  const { fake, reconcile, controller, turn, tenant } = rig();
  const { uid } = tenant.metadata;
  await reconcile();
  await fake.stores.make(uid, "place", async () => {});
  controller.left!({ namespace: "default", name: "other" }, turn.context.cache);
  assert.equal(fake.stores.hasMade(uid, "place"), true);
  controller.left!(REF, turn.context.cache);
  assert.equal(fake.stores.hasMade(uid, "place"), false);
});
