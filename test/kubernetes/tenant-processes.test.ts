/** A tenant's control plane as processes: the real programs, on an etcd of the test. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock, deadline, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { createClient } from "@slipway/kube";
import { ConfigMap, Namespace, Secret } from "@slipway/kube/core";
import { createHttpTransport } from "@slipway/kube/http";
import { DataStore } from "../../src/kinds/kamaji/data-store.ts";
import { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { findAssets, TENANT_BINARIES } from "../../src/kubernetes/assets.ts";
import { etcdFlags } from "../../src/kubernetes/flags.ts";
import { KeptProcess } from "../../src/kubernetes/kept-process.ts";
import { Stores } from "../../src/systems/kamaji/stores.ts";
import type { Observed, Plane } from "../../src/tenants/plane.ts";
import { ProcessRuntime } from "../../src/tenants/process/process-runtime.ts";
import { type TestPlane, testPlane } from "../../src/tenants/testing.ts";
import { NAMESPACE, stateOf, tenantsWorld } from "../system/tenants-world.ts";
import { freePort } from "./free-port.ts";

const assets = await findAssets(process.env, ["etcd", ...TENANT_BINARIES]).catch((error: Error) => error);
const skip = assets instanceof Error ? `${assets.message}; run \`make kube-assets\`` : false;

async function rig(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), "slipway-tenants-"));
  const [port, peerPort] = [await freePort(), await freePort()];
  const etcd = new KeptProcess({
    command: join(String(assets), "etcd"),
    args: etcdFlags({ dir: join(dir, "etcd"), port, peerPort }),
    logFile: join(dir, "etcd.log"),
    orphaned: "KILL",
  });
  const runtime = new ProcessRuntime({
    clock,
    host: "127.0.0.1",
    dir,
    assets: async () => String(assets),
    releaseOf: async () => undefined,
    kine: async () => join(String(assets), "kine"),
    tunnel: async () => join(String(assets), "proxy-server"),
  });
  t.after(async () => {
    await runtime.close();
    await etcd.stop("KILL");
    rmSync(dir, { recursive: true });
  });
  const planeOf = async (id: string): Promise<TestPlane> => {
    const made = await testPlane(id, await runtime.place(id, { port: 38_443, exact: false }));
    return { ...made, plane: { ...made.plane, store: { endpoints: [`http://127.0.0.1:${port}`], prefix: `/${id}` } } };
  };
  return { runtime, planeOf };
}

/** Asks until the plane is as wanted. */
async function until(runtime: ProcessRuntime, plane: Plane, what: (seen: Observed) => boolean): Promise<Observed> {
  const { signal, done } = deadline(clock, 120_000);
  try {
    for (;;) {
      const seen = await runtime.ensure(plane);
      if (what(seen)) return seen;
      if (signal.aborted) throw new Error(`not in time: ${JSON.stringify(seen)}`);
      await clock.sleep(100);
    }
  } finally {
    done();
  }
}

const never = new AbortController().signal;
const isReady = ({ readyReplicas }: Observed): boolean => readyReplicas === 1;

test("a tenant's programs run, are started again when they die, sleep and wake with their objects, and leave nothing", {
  skip,
}, async (t) => {
  const { runtime, planeOf } = await rig(t);
  const { plane, admin } = await planeOf("a");
  const seen = await until(runtime, plane, isReady);
  assert.equal(seen.version, "v1.36.3");
  assert.deepEqual(
    seen.components.map(({ component, ready }) => [component, ready]),
    TENANT_BINARIES.map((name) => [name, true]),
  );
  const usage = await runtime.usage();
  assert.deepEqual(
    usage.map(({ tenant, component }) => [tenant, component]),
    TENANT_BINARIES.map((name) => [plane.name, name]),
  );
  for (const { residentBytes } of usage) assert.ok(residentBytes > 2 ** 20);
  const transport = createHttpTransport(admin);
  t.after(() => transport.close());
  const client = createClient(transport, { clock, random, log });
  await client.create(Namespace, { metadata: { name: "mine" } });
  const until2 = deadline(clock, 30_000);
  // Its controllers work: they put the authority into each namespace.
  while ((await client.find(ConfigMap, { namespace: "mine", name: "kube-root-ca.crt" })) === undefined) {
    assert.ok(!until2.signal.aborted, "no controller put the authority into the namespace");
    await clock.sleep(100);
  }
  until2.done();

  const before = runtime.pids("a");
  assert.equal(before.length, 3);
  process.kill(before[0]!, "SIGKILL");
  await until(runtime, plane, (one) => !isReady(one) || runtime.pids("a")[0] !== before[0]);
  await until(runtime, plane, (one) => isReady(one) && runtime.pids("a").length === 3);
  assert.notEqual(runtime.pids("a")[0], before[0]);

  assert.equal((await runtime.ensure({ ...plane, replicas: 0 })).readyReplicas, 0);
  assert.deepEqual(runtime.pids("a"), []);
  await until(runtime, plane, isReady);
  assert.ok(await client.find(Namespace, { name: "mine" }));

  const last = runtime.pids("a");
  await runtime.remove("a");
  for (const pid of last) assert.throws(() => process.kill(pid, 0), /ESRCH/);
});

test("a tenant whose port somebody took meanwhile gets another one", { skip }, async (t) => {
  const { runtime, planeOf } = await rig(t);
  const { plane } = await planeOf("a");
  const { host, port } = plane;
  const foreign = createServer();
  foreign.listen(port, host);
  await once(foreign, "listening");
  t.after(() => foreign.close());
  const moved = async (): Promise<Plane> => ({
    ...plane,
    ...(await runtime.place("a", { host, port, exact: false })),
  });
  await until(runtime, plane, ({ components }) =>
    components.some(({ message }) => /address already in use/.test(message ?? "")),
  );
  assert.notEqual((await moved()).port, port);
  await until(runtime, await moved(), isReady);
});

test("B18 what a tenant's overrides ask of DataStores that are not there is said", { skip }, async (t) => {
  const { apply, until } = await tenantsWorld(t, String(assets));
  await apply("a", { dataStoreOverrides: [{ resource: "/events", dataStore: "other" }] });
  const held = await until("a", (one) => one.status?.waitingFor !== undefined);
  assert.match(held.status!.waitingFor!, /there is no DataStore "other": create it, or name one of default/);
});

test("a flag that a program refuses is said in its own words, and heals when it is taken out", { skip }, async (t) => {
  const { runtime, planeOf } = await rig(t);
  const { plane } = await planeOf("a");
  const wrong = { ...plane, extraArgs: { ...plane.extraArgs, apiServer: ["--no-such-flag=1"] } };
  const seen = await until(runtime, wrong, ({ components }) =>
    components.some(({ message }) => /exit code/.test(message ?? "")),
  );
  assert.match(seen.components.map(({ message }) => message).join(), /no-such-flag/);
  await until(runtime, plane, isReady);
});

test("a tenant of the default DataStore becomes a cluster, and leaves nothing in etcd", { skip }, async (t) => {
  const { client, apply, until, inTenant } = await tenantsWorld(t, String(assets));
  await apply("a");
  const { metadata, status } = await until("a", (one) => stateOf(one) === "Ready");
  assert.deepEqual(
    [status!.storage!.driver, status!.storage!.dataStoreName, status!.storage!.setup!.user],
    ["etcd", "default", metadata.uid],
  );
  await inTenant("a", async (inside) => {
    assert.ok(await inside.find(ConfigMap, { namespace: "kube-system", name: "kubeadm-config" }));
    await inside.create(Namespace, { metadata: { name: "mine" } });
  });
  const store = await client.get(DataStore, { name: "default" });
  assert.deepEqual([store.status?.ready, store.status?.usedBy], [true, [`${NAMESPACE}/a`]]);

  const stores = new Stores({ clock, log });
  t.after(() => stores.close());
  const { datastore } = await stores.of(client, store);
  assert.deepEqual(await datastore.places(never), [metadata.uid]);
  const ref = { namespace: NAMESPACE, name: "a" };
  await client.delete(TenantControlPlane, ref);
  const { signal, done } = deadline(clock, 60_000);
  while ((await client.find(TenantControlPlane, ref)) !== undefined) {
    assert.ok(!signal.aborted, "the tenant is still there");
    await clock.sleep(100);
  }
  done();
  assert.deepEqual(await datastore.places(never), []);
  assert.deepEqual(
    (await client.list(Secret, { namespace: NAMESPACE })).items.map(({ metadata }) => metadata.name),
    ["slipway-tenants-etcd"],
  );
});

test("B18 a tenant whose DataStore is missing says so, and is healed when it is there", { skip }, async (t) => {
  const { client, apply, until } = await tenantsWorld(t, String(assets));
  await apply("a", { dataStore: "later" });
  const held = await until("a", (one) => one.status?.conditions?.some(({ type }) => type === "Stalled") === true);
  assert.match(held.status!.waitingFor!, /DataStore\/later: there is none of this name.*create it, or name another/);
  const { spec } = await client.get(DataStore, { name: "default" });
  await client.create(DataStore, { metadata: { name: "later" }, spec });
  await until("a", (one) => stateOf(one) === "Ready");
});

test("B28 a tenant gets no other tenant's place, whatever it asks for, and takes nothing of it along", {
  skip,
}, async (t) => {
  const { client, apply, until, inTenant } = await tenantsWorld(t, String(assets));
  await apply("a");
  const { metadata } = await until("a", (one) => stateOf(one) === "Ready");
  await inTenant("a", async (inside) => await inside.create(Namespace, { metadata: { name: "mine" } }));
  for (const wanted of [{ dataStoreSchema: metadata.uid }, { dataStoreUsername: metadata.uid }]) {
    await apply("thief", wanted);
    const held = await until("thief", (one) => one.status?.waitingFor !== undefined);
    assert.match(
      held.status!.waitingFor!,
      /is of tenant tenants\/a; make the tenant anew with another dataStoreSchema/,
    );
    await client.delete(TenantControlPlane, { namespace: NAMESPACE, name: "thief" });
    const { signal, done } = deadline(clock, 30_000);
    while ((await client.find(TenantControlPlane, { namespace: NAMESPACE, name: "thief" })) !== undefined) {
      assert.ok(!signal.aborted, "the tenant is still there");
      await clock.sleep(50);
    }
    done();
  }
  await inTenant("a", async (inside) => assert.ok(await inside.find(Namespace, { name: "mine" })));
});
