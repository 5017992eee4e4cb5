import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { KubeObject, Resource } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { completeSpec } from "../../kinds/kamaji/defaults.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { tenant as tenantWith } from "../../kinds/kamaji/testing.ts";
import type { Observed } from "../../tenants/plane.ts";
import { MIGRATION } from "./names.ts";
import { copyOver, nextMove, tidyMove } from "./tenant-migration.ts";
import { bidding, DataStore, dataStore, FakeStores, statusOf, Turn } from "./testing.ts";

type Any = Resource<KubeObject>;
const REF = { namespace: "default", name: "a" };
const serving: Observed = { readyReplicas: 1, components: [{ component: "x", ready: true }] };
const stopped: Observed = { readyReplicas: 0, components: [] };

/** A tenant with its objects in `default`, which is to have them in `wanted`. */
function rig({ wanted = "next", record = undefined as string | undefined, storage = {} as object | null } = {}) {
  const tenant = bidding(tenantWith({ dataStore: wanted }), wanted);
  if (record !== undefined) tenant.metadata.annotations![MIGRATION] = record;
  if (storage !== null) tenant.status = { storage: { driver: "etcd", dataStoreName: "default", ...storage } } as never;
  const turn = new Turn([TenantControlPlane as Any, tenant]);
  for (const name of ["default", "next"]) turn.put(DataStore as Any, dataStore(name));
  const fake = new FakeStores(turn.clock);
  const spec = completeSpec(tenant);
  const { dataStoreSchema: schema, dataStoreUsername: user } = spec;
  const next = () => nextMove(fake.stores, turn.context, { tenant: turn.get(TenantControlPlane, REF), spec });
  const annotation = () => turn.get(TenantControlPlane, REF).metadata.annotations?.[MIGRATION];
  return { turn, fake, tenant, spec, schema, user, next, annotation };
}

test("B27 a move is written on the tenant once its target answers and has nothing of the name; then it is copied", async () => {
  const { fake, next, annotation } = rig();
  assert.deepEqual(await next(), { step: "announced" });
  assert.deepEqual(fake.done, ["next: check", "next: places"]);
  assert.equal(annotation(), "default/next");
  const turn = (await next()) as { at: string; step: { do: string } };
  assert.deepEqual([turn.at, turn.step.do], ["default", "copy"]);
});

test("a tenant that is where it is to be stays there; one that was never anywhere is to be where it says", async () => {
  const stays = await rig({ wanted: "default" }).next();
  assert.deepEqual(stays, { at: "default", step: { do: "stay", at: "default" } });
  const fresh = (await rig({ storage: null }).next()) as { at: string };
  assert.equal(fresh.at, "next");
  const kept = (await rig({ storage: { driver: undefined } }).next()) as { at: string };
  assert.equal(kept.at, "next", "a runtime kept its objects");
});

test("what prevents a move leaves the tenant where it is, with why", async () => {
  const obstacle = async (prepare: (of: ReturnType<typeof rig>) => void): Promise<Fault> => {
    const of = rig();
    prepare(of);
    const { at, step, obstacle } = (await of.next()) as { at: string; step: object; obstacle?: Fault };
    assert.deepEqual([at, step, of.annotation()], ["default", { do: "stay", at: "default" }, undefined]);
    return obstacle!;
  };
  const driver = await obstacle(({ turn }) => turn.put(DataStore as Any, dataStore("next", { driver: "MySQL" })));
  assert.deepEqual([driver.code, driver.on], ["Unsupported", "DataStore/next"]);
  assert.match(driver.message, /its driver is MySQL, and the tenant's objects are in default, driver etcd/);
  assert.match(driver.remedy!, /set spec.dataStore back to default/);
  const taken = await obstacle(({ fake, schema }) => fake.has.set("next", [schema]));
  assert.deepEqual([taken.code, taken.remedy], ["AlreadyExists", "remove it there, or name another DataStore"]);
  assert.equal((await obstacle(({ turn }) => turn.objects.delete("DataStore//next"))).code, "MissingInput");
  const away = new Fault("Unavailable", "next", "away");
  assert.equal(await obstacle(({ fake }) => fake.refusals.set("next: check", away)), away);
  assert.equal(await obstacle(({ fake }) => fake.refusals.set("next: places", away)), away);
});

test("an object that has changed, another leader and an end of the work are no obstacles but the end of the turn", async () => {
  for (const code of ["Conflict", "NotLeader"] as const) {
    const { fake, next } = rig();
    fake.refusals.set("next: check", new Fault(code, "x", "y"));
    await assert.rejects(next(), { code });
  }
  const { turn, fake, next } = rig();
  fake.refusals.set("next: check", new Fault("Unavailable", "x", "y"));
  turn.abort.abort();
  await assert.rejects(next(), { code: "Unavailable" });
  const stale = rig();
  const before = stale.tenant;
  stale.turn.put(TenantControlPlane as Any, { ...before, metadata: { ...before.metadata, resourceVersion: "9" } });
  await assert.rejects(nextMove(stale.fake.stores, stale.turn.context, stale), { code: "Conflict" });
});

function copying() {
  const of = rig({ record: "default/next" });
  const data = { DB_PASSWORD: Buffer.from("secret").toString("base64") };
  of.turn.put(Secret as Any, { metadata: { ...REF, name: "a-datastore-config" }, data } as unknown as KubeObject);
  for (const name of ["default", "next"]) of.fake.counts.set(name, 3);
  const record = statusOf(of.tenant);
  const copy = (observed: Observed = stopped) =>
    copyOver(of.fake.stores, of.turn.context, record, {
      ...{ spec: of.spec, observed, migration: { from: "default", to: "next" } },
    });
  return { ...of, record, copy };
}

test("B27 objects are copied when the API server has stopped, into an empty place, and counted before and after", async () => {
  const { turn, fake, schema, user, record, copy } = copying();
  assert.deepEqual(await copy(serving), { againAfterMs: 500 });
  assert.deepEqual(await copy({ ...stopped, components: [{ component: "x", ready: false }] }), { againAfterMs: 500 });
  assert.deepEqual(fake.done, []);
  const seen = () => {
    const { conditions, kubernetesResources } = record.object.status!;
    const { status, reason, message } = conditions!.find(({ type }) => type === "Ready")!;
    return [status, reason, message, kubernetesResources!.version!.status];
  };
  assert.deepEqual(seen(), ["False", "Migrating", "its API server to stop", "Migrating"]);
  assert.deepEqual(await copy(), { againAfterMs: 0 });
  assert.deepEqual(seen().slice(2), ["its objects to be copied from default to next", "Migrating"]);
  assert.deepEqual(fake.done, [
    ...["default: count", `next: remove ${schema} ${user}`, `next: ensure ${schema} ${user}`],
    ...[`default: copy ${schema}`, "next: count"],
  ]);
  assert.equal(record.object.status!.storage!.dataStoreName, "next");
  assert.equal(record.object.status!.storage!.driver, "etcd");
  assert.deepEqual(turn.events, ["Normal Migrated: 3 entries from DataStore default to next"]);
});

test("a copy that has another count, what is foreign at the target and each refusal leave the tenant where it is", async () => {
  const failing = async (prepare: (of: ReturnType<typeof copying>) => void, code: Fault["code"]): Promise<Fault> => {
    const of = copying();
    prepare(of);
    const error = (await of.copy().then(
      () => assert.fail(),
      (error: unknown) => error,
    )) as Fault;
    assert.equal(error.code, code);
    assert.deepEqual([of.record.object.status!.storage!.dataStoreName, of.turn.events], ["default", []]);
    return error;
  };
  const short = await failing(({ fake }) => fake.counts.set("next", 2), "Internal");
  assert.match(short.message, /the copy has 2 entries, and 3 were to be copied/);
  assert.equal(short.remedy, "it is made anew");
  await failing(({ fake }) => fake.leaves.set("next", ["keys"]), "AlreadyExists");
  for (const call of ["default: count", "next: remove", "next: ensure", "default: copy", "next: count"])
    await failing(({ fake }) => fake.refusals.set(call, new Fault("Unavailable", "x", "y")), "Unavailable");
  for (const name of ["default", "next"]) {
    const gone = await failing(({ turn }) => turn.objects.delete(`DataStore//${name}`), "MissingInput");
    assert.match(gone.remedy!, /create it again, or set spec.dataStore/);
  }
  for (const more of [{ resourceVersion: "9" }, { uid: "another" }]) {
    const changed = await failing(
      ({ turn, tenant }) =>
        turn.put(TenantControlPlane as Any, { ...tenant, metadata: { ...tenant.metadata, ...more } }),
      "Conflict",
    );
    assert.match(changed.message, /it has changed meanwhile/);
  }
  await failing(({ turn }) => turn.objects.delete("Secret/default/a-datastore-config"), "MissingInput");
  const refusal = new Fault("Conflict", "status", "changed");
  const { fake, turn, tenant, spec } = copying();
  const migration = { from: "default", to: "next" };
  await assert.rejects(
    copyOver(fake.stores, turn.context, statusOf(tenant, refusal), { spec, observed: serving, migration }),
    refusal,
  );
});

test("what a move has left is removed once the tenant serves at its target, and the record with it", async () => {
  const migration = { from: "default", to: "next" };
  const clean = { do: "clean", record: migration } as never;
  const abandon = { do: "abandon", record: migration } as never;
  const of = () => rig({ record: "default/next", storage: { dataStoreName: "next" } });
  const tidy = ({ fake, turn, tenant, spec }: ReturnType<typeof rig>, step: never, observed = serving) =>
    tidyMove(fake.stores, turn.context, tenant, { spec, step, observed });
  for (const [step, observed] of [
    [undefined, serving],
    [{ do: "stay", at: "next" }, serving],
    [clean, stopped],
  ] as const) {
    const one = of();
    assert.equal(await tidy(one, step as never, observed), undefined);
    assert.deepEqual([one.fake.done, one.annotation()], [[], "default/next"]);
  }
  const done = of();
  done.fake.leaves.set("default", ["user a: it has other roles"]);
  assert.equal(await tidy(done, clean), true);
  assert.deepEqual(done.fake.done, [`default: remove ${done.schema} ${done.user}`]);
  assert.deepEqual(
    [done.annotation(), done.turn.events],
    [undefined, ["Warning LeftOver: user a: it has other roles"]],
  );
  const given = of();
  assert.equal(await tidy(given, abandon, stopped), true);
  assert.deepEqual(given.fake.done, [`next: remove ${given.schema} ${given.user}`]);
  const away = of();
  away.fake.refusals.set("default: remove", new Fault("Unavailable", "db", "away"));
  const fault = (await tidy(away, clean)) as Fault;
  assert.deepEqual(
    [fault.code, fault.on, away.annotation()],
    ["Unavailable", "what a move has left in DataStore default", "default/next"],
  );
  assert.match(fault.remedy!, /remove the annotation slipway.dev\/migration to leave it there/);
  away.turn.abort.abort();
  await assert.rejects(tidy(away, clean), { code: "Unavailable" });
  const changed = of();
  changed.turn.put(TenantControlPlane as Any, {
    ...changed.tenant,
    metadata: { ...changed.tenant.metadata, resourceVersion: "9" },
  });
  await assert.rejects(tidy(changed, clean), { code: "Conflict" });
  assert.deepEqual(changed.fake.done, []);
});
