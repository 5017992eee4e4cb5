/** Tenants' control planes as users apply them, on the embedded API: run embedded, and as Pods of a simulated cluster. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { systemClock as clock, deadline } from "@slipway/base";
import { ConfigMap, Event, Namespace, Node, Secret } from "@slipway/kube/core";
import { DataStore } from "../../src/kinds/kamaji/data-store.ts";
import { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { NAMESPACE, stateOf, tenantsWorld } from "./tenants-world.ts";

/** A test on each runtime that needs no programs. */
function onEach(name: string, run: (t: TestContext, runs: string) => Promise<void>): void {
  for (const runs of ["embedded", "deployment"]) test(`${name} (${runs})`, async (t) => await run(t, runs));
}

onEach(
  "a TenantControlPlane becomes a cluster of its own, with Kamaji's Secrets and a kubeconfig that works",
  async (t, runs) => {
    const { client, apply, until, inTenant } = await tenantsWorld(t, runs);
    await apply("a");
    const tenant = await until("a", (one) => stateOf(one) === "Ready");
    const { status } = tenant;
    assert.match(status!.controlPlaneEndpoint!, /^127\.0\.0\.\d:\d+$/);
    assert.equal(status!.kubernetesResources!.version!.version, "v1.33.0");
    assert.equal(status!.kubeconfig!.admin!.secretName, "a-admin-kubeconfig");
    const secrets = (await client.list(Secret, { namespace: NAMESPACE })).items;
    const keys = Object.fromEntries(
      secrets.map(({ metadata, data = {} }) => [metadata.name, Object.keys(data).sort()]),
    );
    assert.deepEqual(keys, {
      "a-admin-kubeconfig": ["admin.conf", "admin.svc", "super-admin.conf", "super-admin.svc"],
      "a-api-server-certificate": ["apiserver.crt", "apiserver.key"],
      "a-api-server-kubelet-client-certificate": ["apiserver-kubelet-client.crt", "apiserver-kubelet-client.key"],
      "a-ca": ["ca.crt", "ca.key", "tls.crt", "tls.key"],
      "a-controller-manager-kubeconfig": ["controller-manager.conf"],
      ...(runs === "deployment" && {
        "a-datastore-certificate": ["ca.crt", "server.crt", "server.key"],
        "a-datastore-config": ["DB_CONNECTION_STRING", "DB_PASSWORD", "DB_SCHEMA", "DB_USER"],
      }),
      "a-front-proxy-ca-certificate": ["front-proxy-ca.crt", "front-proxy-ca.key"],
      "a-front-proxy-client-certificate": ["front-proxy-client.crt", "front-proxy-client.key"],
      "a-sa-certificate": ["sa.key", "sa.pub"],
      "a-scheduler-kubeconfig": ["scheduler.conf"],
    });
    await inTenant("a", async (inside) => {
      const config = await inside.get(ConfigMap, { namespace: "kube-system", name: "kubeadm-config" });
      assert.match(config.data!.ClusterConfiguration!, /v1\.33\.0/);
      assert.ok(await inside.get(ConfigMap, { namespace: "kube-public", name: "cluster-info" }));
      assert.deepEqual((await inside.list(Node)).items, []);
    });
  },
);

onEach(
  "B26 a reconcile without a change writes nothing, neither here nor in the tenant; nor does another operator",
  async (t, runs) => {
    const { client, apply, until, inTenant, restart } = await tenantsWorld(t, runs);
    await apply("a");
    await until("a", (one) => stateOf(one) === "Ready");
    const versions = async () => ({
      here: (await client.list(Secret, { namespace: NAMESPACE })).items.map(({ metadata }) => metadata.resourceVersion),
      inside: await inTenant("a", async (inside) =>
        (await inside.list(ConfigMap)).items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]),
      ),
    });
    const before = await versions();
    await client.patch(
      TenantControlPlane,
      { namespace: NAMESPACE, name: "a" },
      { type: "merge", body: { metadata: { labels: { a: "b" } } } },
    );
    await restart();
    await client.patch(
      TenantControlPlane,
      { namespace: NAMESPACE, name: "a" },
      { type: "merge", body: { spec: { controlPlane: { deployment: { replicas: 3 } } } } },
    );
    await until("a", (one) => one.status?.kubernetesResources?.deployment?.replicas === 3);
    assert.deepEqual(await versions(), before);
  },
);

onEach("a tenant sleeps with replicas 0, wakes with its objects, and goes up in version", async (t, runs) => {
  const { client, apply, until, inTenant } = await tenantsWorld(t, runs);
  await apply("a");
  await until("a", (one) => stateOf(one) === "Ready");
  await inTenant("a", async (inside) => await inside.create(Namespace, { metadata: { name: "mine" } }));
  const scale = async (replicas: number) =>
    await client.patch(
      TenantControlPlane,
      { namespace: NAMESPACE, name: "a" },
      { type: "merge", body: { spec: { controlPlane: { deployment: { replicas } } } } },
    );
  await scale(0);
  await until("a", (one) => stateOf(one) === "Sleeping");
  const [host, port] = (await until("a", () => true)).status!.controlPlaneEndpoint!.split(":");
  await assert.rejects(once(connect(Number(port), host!), "connect"), /ECONNREFUSED/);
  await scale(1);
  await until("a", (one) => stateOf(one) === "Ready");
  await apply("a", { kubernetes: { version: "v1.34.1", kubelet: { cgroupfs: "systemd" } } });
  await until(
    "a",
    (one) => one.status?.kubernetesResources?.version?.version === "v1.34.1" && stateOf(one) === "Ready",
  );
  await inTenant("a", async (inside) => assert.ok(await inside.find(Namespace, { name: "mine" })));
});

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

onEach("B25 flags that have no effect are reported by their field", async (t, runs) => {
  const { apply, until } = await tenantsWorld(t, runs);
  const deployment = { replicas: 1, extraArgs: { apiServer: ["--secure-port=9443"] } };
  await apply("a", { controlPlane: { deployment, service: { serviceType: "LoadBalancer" } } });
  const ignored = ({ status }: TenantControlPlane) => status?.conditions?.find(({ type }) => type === "FieldsIgnored");
  const tenant = await until("a", (one) => stateOf(one) === "Ready" && ignored(one) !== undefined);
  assert.match(ignored(tenant)!.message, /spec.controlPlane.deployment.extraArgs.apiServer: /);
});

onEach("a certificate is made anew on request, the clients' keys stay", async (t, runs) => {
  const { client, apply, until, inTenant } = await tenantsWorld(t, runs);
  await apply("a");
  await until("a", (one) => stateOf(one) === "Ready");
  const ref = { namespace: NAMESPACE, name: "a-api-server-certificate" };
  const before = await client.get(Secret, ref);
  const body = { metadata: { annotations: { "certs.kamaji.clastix.io/rotate": "" } } };
  await client.patch(Secret, ref, { type: "merge", body });
  const checksum = (one: TenantControlPlane) => one.status?.certificates?.apiServer?.checksum;
  const held = checksum(await until("a", () => true));
  await until("a", (one) => checksum(one) !== held);
  const after = await client.get(Secret, ref);
  assert.notEqual(after.data!["apiserver.crt"], before.data!["apiserver.crt"]);
  assert.equal(after.metadata.annotations?.["certs.kamaji.clastix.io/rotate"], undefined);
  await inTenant("a", async (inside) => await inside.list(Node));
});

onEach(
  "what is wrong with a tenant is in its status, with what to do, and heals when it is corrected",
  async (t, runs) => {
    const { apply, until } = await tenantsWorld(t, runs);
    await apply("a", {}, { "slipway.dev/runtime": "mainframe" });
    const stalled = await until("a", (one) => one.status?.conditions?.some(({ type }) => type === "Stalled") === true);
    assert.match(
      stalled.status!.conditions!.find(({ type }) => type === "Stalled")!.message,
      /"mainframe" is none of deployment, process, embedded/,
    );
    await apply("a");
    const ready = await until("a", (one) => stateOf(one) === "Ready");
    assert.deepEqual(
      ready.status!.conditions!.map(({ type, status }) => [type, status]),
      [["Ready", "True"]],
    );
  },
);

onEach("a deleted tenant's API and data are gone, and its name can be used again", async (t, runs) => {
  const { client, apply, until, inTenant } = await tenantsWorld(t, runs);
  await apply("a");
  await until("a", (one) => stateOf(one) === "Ready");
  await inTenant("a", async (inside) => await inside.create(Namespace, { metadata: { name: "mine" } }));
  const ref = { namespace: NAMESPACE, name: "a" };
  const { uid } = (await client.get(TenantControlPlane, ref)).metadata;
  await client.delete(TenantControlPlane, ref);
  const { signal, done } = deadline(clock, 30_000);
  while (
    (await client.find(TenantControlPlane, ref)) !== undefined ||
    (await client.list(Secret, { namespace: NAMESPACE })).items.length > 0
  ) {
    assert.ok(!signal.aborted, "the tenant or its Secrets are still there");
    await clock.sleep(25);
  }
  done();
  await apply("a");
  const again = await until("a", (one) => stateOf(one) === "Ready");
  assert.notEqual(again.metadata.uid, uid);
  await inTenant("a", async (inside) => assert.equal(await inside.find(Namespace, { name: "mine" }), undefined));
});

onEach("a tenant whose runtime is none goes when it is deleted", async (t, runs) => {
  const { client, apply, until } = await tenantsWorld(t, runs);
  await apply("a", {}, { "slipway.dev/runtime": "mainframe" });
  await until("a", (one) => one.status?.waitingFor !== undefined);
  const ref = { namespace: NAMESPACE, name: "a" };
  await client.delete(TenantControlPlane, ref);
  const { signal, done } = deadline(clock, 10_000);
  while ((await client.find(TenantControlPlane, ref)) !== undefined) {
    assert.ok(!signal.aborted, "the tenant is still there");
    await clock.sleep(25);
  }
  done();
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
