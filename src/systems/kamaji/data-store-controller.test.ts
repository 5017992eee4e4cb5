import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { KubeObject, Resource } from "@slipway/kube";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { tenant as tenantWith } from "../../kinds/kamaji/testing.ts";
import { dataStoreController } from "./data-store-controller.ts";
import { STORE_FINALIZER } from "./names.ts";
import { DataStore, dataStore, FakeStores, Turn } from "./testing.ts";

type Any = Resource<KubeObject>;
const REF = { name: "default" };

function userOf(
  name: string,
  { storage = { driver: "etcd", dataStoreName: "default" } as object, annotations = {} } = {},
) {
  const tenant = tenantWith({}, name);
  return {
    ...tenant,
    metadata: { ...tenant.metadata, uid: name, annotations },
    status: { storage },
  } as unknown as TenantControlPlane;
}

function rig({ finalizers = [STORE_FINALIZER], going = false, users = [] as TenantControlPlane[] } = {}) {
  const turn = new Turn(...users.map((user) => [TenantControlPlane as Any, user] as const));
  const store = dataStore("default");
  store.metadata.finalizers = finalizers;
  if (going) store.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
  turn.put(DataStore as Any, store);
  const fake = new FakeStores(turn.clock);
  const controller = dataStoreController(fake.stores);
  const reconcile = () => controller.reconcile(REF, turn.context);
  const seen = () => {
    const { ready, usedBy, conditions = [] } = turn.get(DataStore, REF).status ?? {};
    return {
      ready,
      usedBy,
      conditions: conditions.map(({ type, status, reason, message }) =>
        `${type.split("/")[1]} ${status} ${reason} ${message}`.trim(),
      ),
    };
  };
  return { turn, fake, controller, reconcile, seen };
}

test("B29 a DataStore's status says that it can be used, and by whom it is", async () => {
  const users = [
    userOf("b"),
    userOf("a"),
    userOf("moved", {
      storage: { driver: "etcd", dataStoreName: "next" },
      annotations: { "slipway.dev/migration": "default/next" },
    }),
    userOf("elsewhere", { storage: { driver: "etcd", dataStoreName: "next" } }),
    userOf("own", { storage: { dataStoreName: "default" } }),
  ];
  const { reconcile, seen } = rig({ users });
  assert.deepEqual(await reconcile(), { againAfterMs: 60_000 });
  const usedBy = ["default/a", "default/b", "default/moved"];
  assert.deepEqual(seen(), {
    ...{ ready: true, usedBy },
    conditions: ["DataStoreValidation True Valid", `DataStoreAllowedDeletion False Used used by ${usedBy.join(", ")}`],
  });
});

test("a DataStore that can't be used says why and what to do", async () => {
  const { fake, reconcile, seen } = rig();
  fake.refusals.set("default: check", new Fault("BadCredentials", "etcd default:1", "no", { remedy: "correct it" }));
  await reconcile();
  assert.deepEqual(seen(), {
    ...{ ready: false, usedBy: [] },
    conditions: [
      "DataStoreValidation False BadCredentials etcd default:1: no; correct it",
      "DataStoreAllowedDeletion True Unused",
    ],
  });
});

test("another leader, and the end of the work, are not said of the database", async () => {
  for (const code of ["NotLeader", "Undeclared"] as const) {
    const { fake, reconcile, seen } = rig();
    fake.refusals.set("default: check", new Fault(code, "x", "y"));
    await assert.rejects(reconcile(), { code });
    assert.equal(seen().ready, undefined);
  }
  const { turn, fake, reconcile } = rig();
  fake.refusals.set("default: check", new Fault("Unavailable", "x", "y"));
  turn.abort.abort();
  await assert.rejects(reconcile(), { code: "Unavailable" });
});

test("a DataStore is kept from going while tenants use it, and closed when it goes", async () => {
  const { turn, fake, reconcile } = rig({ finalizers: [] });
  await reconcile();
  assert.deepEqual(turn.get(DataStore, REF).metadata.finalizers, [STORE_FINALIZER]);
  assert.deepEqual(fake.done, [], "it is looked at when it is kept");
  const used = rig({ going: true, users: [userOf("a")] });
  assert.deepEqual(await used.reconcile(), { againAfterMs: 60_000 });
  assert.deepEqual(used.turn.get(DataStore, REF).metadata.finalizers, [STORE_FINALIZER]);
  const free = rig({ going: true });
  const forgotten: string[] = [];
  free.fake.stores.forget = async (name) => void forgotten.push(name);
  await free.reconcile();
  assert.deepEqual(forgotten, ["default"]);
  assert.deepEqual(free.turn.objects.get("DataStore//default")?.metadata.finalizers ?? [], []);
  const gone = rig();
  gone.turn.objects.delete("DataStore//default");
  assert.deepEqual([await gone.reconcile(), gone.turn.asked], [await free.reconcile(), []]);
});

test("a tenant wakes the DataStores that it has, and those that it had", () => {
  const { controller } = rig();
  const keys = controller.sources[1]!.keys as unknown as (now: unknown, before?: unknown) => { name: string }[];
  const next = userOf("a", { storage: { driver: "etcd", dataStoreName: "next" } });
  assert.deepEqual(keys(userOf("a")), [{ name: "default" }]);
  assert.deepEqual(keys(next, userOf("a")), [{ name: "next" }, { name: "default" }]);
  assert.deepEqual(keys(tenantWith()), []);
});

test("a replica closes the database of a DataStore that is deleted, and keeps that of one which another replica looks after", () => {
  const { turn, fake, controller } = rig();
  const closed: string[] = [];
  fake.stores.forget = async (name) => void closed.push(name);
  controller.left!(REF, turn.context.cache);
  assert.deepEqual(closed, []);
  turn.objects.delete("DataStore//default");
  controller.left!(REF, turn.context.cache);
  assert.deepEqual(closed, ["default"]);
});
