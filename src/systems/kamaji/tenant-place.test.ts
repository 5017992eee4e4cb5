import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault, systemClock } from "@slipway/base";
import type { KubeObject, Resource } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { completeSpec } from "../../kinds/kamaji/defaults.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { tenant as tenantWith } from "../../kinds/kamaji/testing.ts";
import { createAuthority } from "../../pki/authority.ts";
import { ROTATE } from "./names.ts";
import { heldPlace } from "./store-config.ts";
import { keepPlace, removePlaces } from "./tenant-place.ts";
import { bidding, DataStore, dataStore, FakeStores, Turn } from "./testing.ts";

type Any = Resource<KubeObject>;
const READY = { conditions: [{ type: "Ready", status: "True" }] };
const CONFIG = { namespace: "default", name: "a-datastore-config" };
const text = (base64 = ""): string => Buffer.from(base64, "base64").toString();

function rig({
  driver = "etcd" as const as "etcd" | "MySQL" | "NATS",
  tenant = bidding(tenantWith(), "default"),
} = {}) {
  const turn = new Turn([DataStore as Any, dataStore("default", { driver })], [TenantControlPlane as Any, tenant]);
  const fake = new FakeStores(turn.clock);
  const announced: object[] = [];
  const spec = completeSpec(tenant);
  const keep = (of: TenantControlPlane = tenant, announce = async (storage: object) => void announced.push(storage)) =>
    keepPlace(fake.stores, turn.context, { tenant: of, spec }, { overrides: [], announce });
  return { turn, fake, announced, spec, tenant, keep };
}

test("B18 a tenant's place is announced before it is made, and its Secret has what it is known by", async () => {
  const { turn, fake, announced, spec, keep } = rig();
  const { dataStoreSchema: schema, dataStoreUsername: user } = spec;
  const place = await keep(undefined, async (storage) => {
    announced.push(storage);
    assert.deepEqual([fake.done, turn.asked], [[], []]);
  });
  assert.deepEqual(announced, [{ driver: "etcd", dataStoreName: "default", setup: { schema, user } }]);
  assert.deepEqual(fake.done, [`default: ensure ${schema} ${user}`]);
  const { data, metadata, type } = turn.get(Secret, CONFIG);
  assert.deepEqual([type, metadata.ownerReferences?.[0]?.name], ["Opaque", "a"]);
  assert.equal(metadata.labels?.["kamaji.clastix.io/component"], "datastore-config");
  const texts = Object.fromEntries(Object.entries(data!).map(([key, value]) => [key, text(value)]));
  assert.deepEqual(Object.keys(texts).sort(), ["DB_CONNECTION_STRING", "DB_PASSWORD", "DB_SCHEMA", "DB_USER"]);
  assert.deepEqual([texts.DB_CONNECTION_STRING, texts.DB_SCHEMA, texts.DB_USER], ["default:1", schema, user]);
  assert.match(texts.DB_PASSWORD!, /^[\w-]{32}-aA1$/);
  assert.equal(metadata.annotations?.["kamaji.clastix.io/checksum"], place.config.checksum);
  assert.deepEqual(
    [place.driver, place.dataStoreName, place.endpoints, place.overrides, place.kine, place.storeUser],
    [...["etcd", "default", ["default:1"], []], ...[undefined, undefined]],
  );
});

test("a place that was made is not made again while the tenant is ready; another password makes it again", async () => {
  const { turn, fake, tenant, keep } = rig({ driver: "MySQL" });
  const ready = { ...tenant, status: READY } as unknown as TenantControlPlane;
  const first = await keep(ready);
  assert.equal(fake.done.length, 1);
  assert.ok(fake.done[0]!.endsWith(" with a password"));
  assert.deepEqual(await keep(ready), first);
  assert.equal(fake.done.length, 1);
  assert.deepEqual(turn.asked, ["create Secret/default/a-datastore-config"]);
  await keep();
  assert.equal(fake.done.length, 2, "it is looked at while the tenant is not ready");
  turn.get(Secret, CONFIG).metadata.annotations![ROTATE] = "";
  const renewed = await keep(ready);
  assert.notEqual(renewed.config.checksum, first.config.checksum);
  assert.equal(turn.get(Secret, CONFIG).metadata.annotations![ROTATE], undefined);
  assert.equal(fake.done.length, 3);
  fake.refusals.set("default: ensure", new Fault("Unavailable", "db", "away"));
  turn.put(DataStore as Any, {
    ...dataStore("default", { driver: "MySQL" }),
    metadata: { ...dataStore("default").metadata, generation: 2 },
  });
  await assert.rejects(keep(ready), { code: "Unavailable" });
  fake.refusals.clear();
  await keep(ready);
  assert.equal(fake.done.length, 5, "what failed is not taken as made");
});

test("a kine of the tenant has its endpoint in the Secret, and the authority that the database is signed by", async () => {
  const { turn, fake, keep } = rig({ driver: "MySQL" });
  fake.tls.set("default", { ca: "DB CA" });
  const { kine } = await keep();
  const { data } = turn.get(Secret, CONFIG);
  assert.match(kine!.endpoint, /^mysql:\/\/.*@tcp\(default:1\)\//);
  assert.equal(text(data!.KINE_ENDPOINT), kine!.endpoint);
  assert.deepEqual([kine!.secret, kine!.ca], [{ name: "a-datastore-config", key: "KINE_ENDPOINT" }, "DB CA"]);
});

test("of NATS tenants are the DataStore's own user, whose password is not theirs to change", async () => {
  const { turn, fake, keep } = rig({ driver: "NATS" });
  const of = fake.stores.of.bind(fake.stores);
  fake.stores.of = async (...args) => ({ ...(await of(...args)), basicAuth: { username: "kine", password: "secret" } });
  await keep();
  const { data } = turn.get(Secret, CONFIG);
  assert.deepEqual([text(data!.DB_USER), text(data!.DB_PASSWORD)], ["kine", "secret"]);
});

test("an authority that certifies tenants is theirs; one that ends within a day is refused with what to do", async () => {
  const { turn, fake, spec, keep } = rig();
  const clock = { now: () => turn.clock.now() };
  const authority = await createAuthority({ commonName: "etcd", clock });
  fake.authorities.set("default", authority);
  assert.deepEqual((await keep()).storeUser, { user: spec.dataStoreUsername, authority });
  const other = await createAuthority({ commonName: "etcd", clock: systemClock });
  fake.authorities.set("default", { ...authority, keyPem: other.keyPem });
  await assert.rejects(keep(), {
    code: "Invalid",
    message: "certificateAuthority of DataStore/default: certificate and key are not of each other",
    remedy: "give the database and the DataStore a new authority",
  });
  const old = { now: () => turn.clock.now() - 20 * 366 * 86_400_000 };
  fake.authorities.set("default", await createAuthority({ commonName: "etcd", clock: old }));
  await assert.rejects(keep(), /it ends within a day, or has ended/);
});

test("B28 a DataStore that is not there, and names that another tenant has, are refused with what to do", async () => {
  const { turn, spec, tenant, keep } = rig();
  const { dataStoreSchema: schema, dataStoreUsername: user } = spec;
  turn.objects.delete("DataStore//default");
  await assert.rejects(keep(), {
    code: "MissingInput",
    message: "DataStore/default: there is none of this name",
    remedy: "create it, or name another in spec.dataStore",
  });
  turn.put(DataStore as Any, dataStore("default"));
  const other = (setup: object, more: object = {}) => ({
    ...{ ...tenant, metadata: { ...tenant.metadata, annotations: {}, name: "b", uid: "b" } },
    status: { storage: { driver: "etcd", dataStoreName: "default", setup, ...more } },
  });
  const refused = `DataStore/default: ${schema} or its user ${user} is of tenant default/b`;
  for (const setup of [
    { schema, user: "x" },
    { schema: "x", user },
  ]) {
    turn.put(TenantControlPlane as Any, other(setup) as never);
    await assert.rejects(keep(), { code: "Invalid", message: refused });
  }
  for (const [setup, more] of [
    [{ schema: "x", user: "x" }, {}],
    [{ schema, user }, { dataStoreName: "elsewhere" }],
    [{ schema, user }, { driver: undefined }],
  ]) {
    turn.put(TenantControlPlane as Any, other(setup!, more) as never);
    await keep();
  }
  const older = other({}, { driver: undefined });
  const { annotations } = tenant.metadata;
  older.metadata = { ...older.metadata, annotations: { ...annotations }, creationTimestamp: "2020-01-01T00:00:00Z" };
  turn.put(TenantControlPlane as Any, older as never);
  await assert.rejects(keep(), { message: refused }, "of two that ask the older one has it");
});

test("a Secret of the name that is not the tenant's is named with how it is taken over; other refusals are passed on", async () => {
  const { turn, keep } = rig();
  turn.context.client.create = async () => {
    throw new Fault("AlreadyExists", "Secret", "it is there");
  };
  await assert.rejects(keep(), {
    code: "AlreadyExists",
    message: "Secret/a-datastore-config: it is there, and is not this tenant's",
    remedy: /kamaji.clastix.io\/project=kamaji and kamaji.clastix.io\/name=a$/,
  });
  turn.context.client.create = async () => {
    throw new Fault("Forbidden", "Secret", "no");
  };
  await assert.rejects(keep(), { code: "Forbidden" });
});

test("a place that was made before is known by its Secret; without a password nothing is copied", async () => {
  const { turn, spec, tenant, keep } = rig();
  assert.throws(() => heldPlace(turn.context, tenant, spec), {
    code: "MissingInput",
    message: /it has no DB_PASSWORD/,
  });
  await keep();
  const { dataStoreSchema: schema, dataStoreUsername: user } = spec;
  const of = (driver: string) => ({ ...tenant, status: { storage: { driver } } }) as unknown as TenantControlPlane;
  assert.deepEqual(heldPlace(turn.context, of("etcd"), spec), { schema, user });
  const { password } = heldPlace(turn.context, of("MySQL"), spec);
  assert.equal(password, text(turn.get(Secret, CONFIG).data!.DB_PASSWORD));
});

test("a tenant's places are removed from every DataStore that may hold one; one that is away keeps nothing in the others", async () => {
  const { turn, fake, tenant } = rig();
  const storage = { driver: "etcd", dataStoreName: "default", setup: { schema: "s", user: "u" } };
  const annotations = { "slipway.dev/migration": "default/other" };
  const going = {
    ...tenant,
    metadata: { ...tenant.metadata, annotations },
    status: { storage },
  } as unknown as TenantControlPlane;
  turn.put(DataStore as Any, dataStore("other"));
  fake.refusals.set("default: remove", new Fault("Unavailable", "db", "away"));
  fake.leaves.set("other", ["role u: it owns objects elsewhere"]);
  const removals = await removePlaces(fake.stores, turn.context, going);
  assert.deepEqual(fake.done, ["default: remove s u", "other: remove s u"]);
  assert.deepEqual(
    await Promise.all(
      removals.map(({ dataStore, removal }) =>
        removal.then(
          () => dataStore,
          (error: Fault) => error.code,
        ),
      ),
    ),
    ["Unavailable", "other"],
  );
  assert.deepEqual(turn.events, ["Warning LeftOver: role u: it owns objects elsewhere"]);
  assert.deepEqual(await removePlaces(fake.stores, turn.context, tenant), [], "a tenant that never had a place");
  turn.abort.abort(new Error("enough"));
  fake.done.length = 0;
  await assert.rejects(removePlaces(fake.stores, turn.context, going), /enough/);
  assert.equal(fake.done.length, 1, "who gives up asks no other database");
});

test("a database that can't be used, and a DataStore that is gone, keep no tenant: what is left is said", async () => {
  const { turn, fake, tenant } = rig();
  const storage = { driver: "etcd", dataStoreName: "default", setup: { schema: "s", user: "u" } };
  const going = { ...tenant, status: { storage } } as unknown as TenantControlPlane;
  const removed = async (): Promise<string[]> => {
    for (const { removal } of await removePlaces(fake.stores, turn.context, going)) await removal;
    return turn.events.splice(0);
  };
  fake.refusals.set("default: remove", new Fault("BadCredentials", "db", "no", { remedy: "correct it" }));
  assert.deepEqual(await removed(), ["Warning LeftOver: s in DataStore default: db: no; correct it"]);
  for (const code of ["Unavailable", "Timeout", "LostAnswer"] as const) {
    fake.refusals.set("default: remove", new Fault(code, "db", "away"));
    await assert.rejects(removed(), (error) => isFault(error, code));
  }
  turn.objects.delete("DataStore//default");
  assert.deepEqual(await removed(), [
    "Warning LeftOver: s in DataStore default: the DataStore is gone, so its objects were not removed",
  ]);
  const bare = {
    ...tenant,
    status: { storage: { driver: "etcd", dataStoreName: "default" } },
  } as unknown as TenantControlPlane;
  await removePlaces(fake.stores, turn.context, bare);
  assert.match(turn.events[0]!, /LeftOver: {2}in DataStore default/);
});

test("B51 the finalizer of Kamaji's operator is taken off the Secret, those of others stay", async () => {
  const { turn, fake, tenant } = rig();
  const secret = (...finalizers: string[]) =>
    turn.put(
      Secret as Any,
      { metadata: { ...CONFIG, uid: "s", resourceVersion: "4", finalizers } } as unknown as KubeObject,
    );
  secret("mine", "finalizer.kamaji.clastix.io/datastore-secret");
  await removePlaces(fake.stores, turn.context, tenant);
  assert.deepEqual(turn.get(Secret, CONFIG).metadata.finalizers, ["mine"]);
  turn.asked.length = 0;
  for (const finalizers of [["mine"], []]) {
    secret(...finalizers);
    await removePlaces(fake.stores, turn.context, tenant);
  }
  assert.deepEqual(turn.asked, []);
});
