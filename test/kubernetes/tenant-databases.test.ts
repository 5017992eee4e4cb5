/** Tenants whose objects are in real PostgreSQL, MariaDB and NATS, each behind a kine of its own. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { systemClock as clock, deadline } from "@slipway/base";
import { Namespace, Secret } from "@slipway/kube/core";
import { DataStore } from "../../src/kinds/kamaji/data-store.ts";
import { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { findAssets, TENANT_BINARIES } from "../../src/kubernetes/assets.ts";
import { MIGRATION } from "../../src/systems/kamaji/names.ts";
import { NEEDS as MARIADB, mariadb } from "../datastores/servers/mariadb.ts";
import { NEEDS as NATS, nats, plainNats } from "../datastores/servers/nats.ts";
import { NEEDS as POSTGRESQL, postgresql } from "../datastores/servers/postgresql.ts";
import { skipWithout } from "../datastores/servers/programs.ts";
import type { Server, Stage } from "../datastores/servers/stage.ts";
import { NAMESPACE, stateOf, tenantsWorld } from "../system/tenants-world.ts";
import { tcpProxy } from "./tcp-proxy.ts";

const assets = await findAssets(process.env, ["etcd", "kine", ...TENANT_BINARIES]).catch((error: Error) => error);
const unbuilt = assets instanceof Error ? `${assets.message}; run \`make kube-assets\`` : false;
const REF = { namespace: NAMESPACE, name: "a" };

function dataStoreOf({ options }: Server, port: number, { isSecure = true } = {}): DataStore["spec"] {
  const content = (text: string) => ({ content: Buffer.from(text).toString("base64") });
  const { username, password } = options.basicAuth!;
  return {
    driver: options.driver,
    endpoints: [`127.0.0.1:${port}`],
    basicAuth: { username: content(username), password: content(password) },
    ...(isSecure && { tlsConfig: { certificateAuthority: { certificate: content(options.tls!.ca!) } } }),
  };
}

/** Command lines of all processes, as everybody reads them. */
function commandLines(): string[] {
  const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return ids.flatMap((id) => {
    try {
      return [readFileSync(`/proc/${id}/cmdline`, "utf8").replaceAll("\0", " ")];
    } catch {
      return [];
    }
  });
}

function promises(stage: Stage, needs: readonly string[]): void {
  test(`${stage.driver}: a tenant lives, sleeps and wakes with its objects, outlives a loss of its database, and leaves nothing`, {
    skip: unbuilt || skipWithout(needs, "Debian's packages"),
  }, async (t) => {
    const server = await stage.start(t);
    const before = await server.contents();
    let proxy = await tcpProxy(server.port);
    t.after(() => proxy.close().catch(() => {}));
    const world = await tenantsWorld(t, String(assets));
    const { client, apply, until, inTenant, restart } = world;
    await client.create(DataStore, { metadata: { name: "db" }, spec: dataStoreOf(server, proxy.port) });
    await apply("a", { dataStore: "db" });
    const { metadata, status } = await until("a", (one) => stateOf(one) === "Ready");
    const secret = await client.get(Secret, { namespace: NAMESPACE, name: "a-datastore-config" });
    assert.deepEqual(Object.keys(secret.data!).sort(), [
      ...["DB_CONNECTION_STRING", "DB_PASSWORD", "DB_SCHEMA", "DB_USER", "KINE_ENDPOINT"],
    ]);
    assert.deepEqual(
      [status!.storage!.driver, status!.storage!.config!.secretName, status!.storage!.setup!.schema],
      [stage.driver, "a-datastore-config", metadata.uid],
    );
    const password = Buffer.from(secret.data!.DB_PASSWORD!, "base64").toString();
    const lines = commandLines();
    assert.ok(lines.some((line) => line.includes(`${metadata.uid}/kine.sock`)));
    assert.deepEqual(
      lines.filter((line) => line.includes(password)),
      [],
    );
    await inTenant("a", async (inside) => await inside.create(Namespace, { metadata: { name: "mine" } }));

    const isThere = () => inTenant("a", async (inside) => assert.ok(await inside.find(Namespace, { name: "mine" })));
    await restart();
    const soon = deadline(clock, 120_000);
    // The status is the former operator's until the new one has looked.
    while (
      !(await isThere().then(
        () => true,
        () => soon.signal.aborted,
      ))
    )
      await clock.sleep(100);
    soon.done();
    await isThere();
    const again = await client.get(Secret, { namespace: NAMESPACE, name: "a-datastore-config" });
    assert.deepEqual(again.data, secret.data);

    const scale = async (replicas: number) =>
      await client.patch(TenantControlPlane, REF, {
        type: "merge",
        body: { spec: { controlPlane: { deployment: { replicas } } } },
      });
    await scale(0);
    await until("a", (one) => stateOf(one) === "Sleeping");
    assert.deepEqual(
      commandLines().filter((line) => line.includes(metadata.uid)),
      [],
    );
    await scale(1);
    await until("a", (one) => stateOf(one) === "Ready");
    await isThere();

    const { port } = proxy;
    await proxy.close();
    const held = await until(
      "a",
      (one) => stateOf(one) === "NotReady" && /ECONNREFUSED/.test(one.status?.waitingFor ?? ""),
    );
    assert.match(held.status!.waitingFor!, /start the server, or correct spec.endpoints of the DataStore/);
    proxy = await tcpProxy(server.port, clock, port);
    await until("a", (one) => stateOf(one) === "Ready");
    await isThere();

    await client.delete(TenantControlPlane, REF);
    const { signal, done } = deadline(clock, 60_000);
    while ((await client.find(TenantControlPlane, REF)) !== undefined) {
      assert.ok(!signal.aborted, "the tenant is still there");
      await clock.sleep(50);
    }
    done();
    assert.deepEqual(await server.contents(), before);
    assert.deepEqual(
      commandLines().filter((line) => line.includes(metadata.uid)),
      [],
    );
  });
}

promises(postgresql, POSTGRESQL);
promises(mariadb, MARIADB);
promises(nats, NATS);

for (const [stage, needs] of [
  [postgresql, POSTGRESQL],
  [mariadb, MARIADB],
  [plainNats, NATS],
] as const)
  test(`${stage.driver}: a tenant is ready without TLS, too`, {
    skip: unbuilt || skipWithout(needs, "Debian's packages"),
  }, async (t) => {
    const server = await stage.start(t);
    const { client, apply, until, inTenant } = await tenantsWorld(t, String(assets));
    const spec = dataStoreOf(server, server.port, { isSecure: false });
    await client.create(DataStore, { metadata: { name: "db" }, spec });
    await apply("a", { dataStore: "db" });
    const { metadata, status } = await until("a", (one) => stateOf(one) === "Ready");
    assert.equal(status!.observedGeneration, metadata.generation);
    await inTenant("a", async (inside) => assert.ok(await inside.find(Namespace, { name: "kube-system" })));
  });

test("PostgreSQL: a tenant moves to another server with its objects, and leaves nothing behind", {
  skip: unbuilt || skipWithout(POSTGRESQL, "Debian's packages"),
}, async (t) => {
  const [first, second] = [await postgresql.start(t), await postgresql.start(t)];
  const before = await first.contents();
  const { client, apply, until, inTenant } = await tenantsWorld(t, String(assets));
  for (const [name, server] of Object.entries({ first, second }))
    await client.create(DataStore, { metadata: { name }, spec: dataStoreOf(server, server.port) });
  await apply("a", { dataStore: "first" });
  await until("a", (one) => stateOf(one) === "Ready");
  await inTenant("a", async (inside) => await inside.create(Namespace, { metadata: { name: "mine" } }));
  const version = await inTenant("a", async (inside) => (await inside.get(Namespace, { name: "mine" })).metadata);
  await apply("a", { dataStore: "second" });
  await until("a", (one) => stateOf(one) === "Migrating");
  const { status } = await until(
    "a",
    (one) => stateOf(one) === "Ready" && one.metadata.annotations?.[MIGRATION] === undefined,
  );
  assert.equal(status!.storage!.dataStoreName, "second");
  await inTenant("a", async (inside) => {
    const { uid, resourceVersion } = (await inside.get(Namespace, { name: "mine" })).metadata;
    assert.deepEqual([uid, resourceVersion], [version.uid, version.resourceVersion]);
  });
  assert.deepEqual(await first.contents(), before);
  await client.delete(TenantControlPlane, REF);
  const { signal, done } = deadline(clock, 60_000);
  while ((await client.find(TenantControlPlane, REF)) !== undefined) {
    assert.ok(!signal.aborted, "the tenant is still there");
    await clock.sleep(50);
  }
  done();
  assert.deepEqual(await second.contents(), before);
});
