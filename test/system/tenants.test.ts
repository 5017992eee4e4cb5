/** Tenants' control planes as users apply them, on the embedded API: run embedded, and as Pods of a simulated cluster. As processes: `test/kubernetes/tenant-promises.test.ts`. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemClock as clock, deadline } from "@slipway/base";
import { ConfigMap, Event, Node } from "@slipway/kube/core";
import { DataStore } from "../../src/kinds/kamaji/data-store.ts";
import type { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { everyPromise } from "./tenant-promises.ts";
import { NAMESPACE, stateOf, tenantsWorld } from "./tenants-world.ts";

const RUNS = ["embedded", "deployment"];
for (const runs of RUNS) everyPromise({ name: runs, runs, version: "v1.33.0", later: "v1.34.1" });

/** A test on each runtime that needs no programs, and has releases of every minor. */
function onEach(name: string, run: (t: TestContext, runs: string) => Promise<void>): void {
  for (const runs of RUNS) test(`${name} (${runs})`, async (t) => await run(t, runs));
}

const to = (version: string) => ({ kubernetes: { version, kubelet: { cgroupfs: "systemd" } } });
const isAt = (version: string) => (one: TenantControlPlane) =>
  one.status?.kubernetesResources?.version?.version === version && stateOf(one) === "Ready";

onEach("B16 a tenant goes up over several minors one by one, and says so", async (t, runs) => {
  const { client, apply, until } = await tenantsWorld(t, runs);
  await apply("a");
  await until("a", isAt("v1.33.0"));
  await apply("a", to("v1.36.1"));
  await until("a", isAt("v1.36.1"));
  const { signal, done } = deadline(clock, 10_000);
  const told = async () =>
    (await client.list(Event, { namespace: NAMESPACE })).items
      .filter(({ reason }) => reason === "Upgraded")
      .map(({ message }) => message);
  while ((await told()).length < 3) {
    assert.ok(!signal.aborted, `events: ${await told()}`);
    await clock.sleep(25);
  }
  done();
  assert.deepEqual((await told()).sort(), [
    "from v1.33.0 to v1.34.0",
    "from v1.34.0 to v1.35.0",
    "from v1.35.0 to v1.36.1",
  ]);
});

onEach(
  "B16 nodes that are too old for the next version hold an upgrade back, by name, until they are gone",
  async (t, runs) => {
    const { apply, until, inTenant } = await tenantsWorld(t, runs);
    await apply("a");
    await until("a", isAt("v1.33.0"));
    const node = { metadata: { name: "old" }, status: { nodeInfo: { kubeletVersion: "v1.31.4" } } };
    await inTenant("a", async (inside) => {
      const made = await inside.create(Node, node);
      await inside.updateStatus(Node, { ...made, status: node.status });
    });
    await apply("a", to("v1.35.2"));
    const held = await until("a", (one) => /node old has kubelet v1.31.4/.test(one.status?.waitingFor ?? ""));
    assert.match(held.status!.waitingFor!, /can't go up to v1.35.2.*works with v1.32 and later.*remove these nodes/s);
    assert.equal(held.status!.kubernetesResources!.version!.version, "v1.34.0");
    await inTenant("a", async (inside) => await inside.delete(Node, { name: "old" }));
    await until("a", isAt("v1.35.2"));
  },
);

test("writePermissions keep a tenant's users from what they name, and its operator from nothing", async (t) => {
  const { apply, until, inTenant } = await tenantsWorld(t);
  await apply("a");
  await until("a", (one) => stateOf(one) === "Ready");
  const settings = (name: string) => ({ metadata: { namespace: "default", name } });
  await inTenant("a", async (inside) => await inside.create(ConfigMap, settings("before")));
  await apply("a", { writePermissions: { blockCreation: true, blockUpdate: true } });
  await until("a", (one) => stateOf(one) === "WriteLimited");
  await inTenant("a", async (inside) => {
    await assert.rejects(inside.create(ConfigMap, settings("after")), /writes-are-blocked/);
    const body = { data: { a: "b" } };
    await assert.rejects(
      inside.patch(ConfigMap, settings("before").metadata, { type: "merge", body }),
      /writes-are-blocked/,
    );
    await inside.delete(ConfigMap, settings("before").metadata);
  });
  await inTenant(
    "a",
    async (inside) => await inside.create(ConfigMap, settings("of-its-operator")),
    "super-admin.conf",
  );
  await apply("a");
  await until("a", (one) => stateOf(one) === "Ready");
  await inTenant("a", async (inside) => await inside.create(ConfigMap, settings("after")));
});

test("a tenant whose objects its runtime keeps does not count as a user of the DataStore that it names", async (t) => {
  const { client, apply, until } = await tenantsWorld(t);
  const content = { content: "YQ==" };
  await client.create(DataStore, {
    metadata: { name: "default" },
    spec: { driver: "MySQL", endpoints: ["127.0.0.1:1"], basicAuth: { username: content, password: content } },
  });
  await apply("a");
  await until("a", (one) => stateOf(one) === "Ready");
  const { signal, done } = deadline(clock, 30_000);
  const conditions = async () => (await client.get(DataStore, { name: "default" })).status?.conditions ?? [];
  while ((await conditions()).length === 0) {
    assert.ok(!signal.aborted, "no condition names the DataStore");
    await clock.sleep(25);
  }
  done();
  const store = await client.get(DataStore, { name: "default" });
  assert.deepEqual(store.status!.usedBy, []);
  assert.equal((await conditions()).find(({ type }) => /AllowedDeletion/.test(type))!.status, "True");
  await client.delete(DataStore, { name: "default" });
});
