import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { type Client, createClient } from "@slipway/kube";
import { ConfigMap } from "@slipway/kube/core";
import { createHttpTransport } from "@slipway/kube/http";
import { type TestPlane, testPlane } from "../testing.ts";
import { EmbeddedRuntime } from "./embedded-runtime.ts";

async function rig(t: TestContext) {
  const dir = mkdtempSync(join(tmpdir(), "slipway-tenants-"));
  const open = () => new EmbeddedRuntime({ clock, random, log, host: "127.0.0.1", dir });
  const at = { runtime: open(), open };
  t.after(async () => {
    await at.runtime.close();
    rmSync(dir, { recursive: true });
  });
  return at;
}

async function planeOn(runtime: EmbeddedRuntime, id: string): Promise<TestPlane> {
  return await testPlane(id, await runtime.place(id, { port: 37_443, exact: false }));
}

async function connected<T>({ admin }: TestPlane, use: (client: Client, version: string) => Promise<T>): Promise<T> {
  const transport = createHttpTransport(admin);
  try {
    const { body } = await transport.request({ method: "GET", path: "/version" });
    return await use(createClient(transport, { clock, random, log }), (body as { gitVersion: string }).gitVersion);
  } finally {
    await transport.close();
  }
}

const settings = { metadata: { name: "settings", namespace: "default" }, data: { colour: "blue" } };

test("tenants have an API each, by their own certificates, at their own ports", async (t) => {
  const { runtime } = await rig(t);
  const [a, b] = [await planeOn(runtime, "a"), await planeOn(runtime, "b")];
  assert.notEqual(a.plane.port, b.plane.port);
  for (const { plane } of [a, b]) assert.equal((await runtime.ensure(plane)).readyReplicas, 1);
  await connected(a, async (client) => await client.create(ConfigMap, settings));
  await connected(b, async (client) => assert.equal(await client.find(ConfigMap, settings.metadata), undefined));
  await assert.rejects(
    connected({ ...b, admin: { ...b.admin, server: a.admin.server } }, async () => undefined),
    /certificate/i,
  );
  const impostor = createHttpTransport({ ...b.admin, ca: a.admin.ca, server: a.admin.server });
  assert.equal((await impostor.request({ method: "GET", path: "/api/v1/secrets" })).status, 401);
  await impostor.close();
});

test("a tenant has the lists that upstream's Cluster API goes through before it takes a machine away", async (t) => {
  const { runtime } = await rig(t);
  const { plane, admin } = await planeOn(runtime, "a");
  await runtime.ensure(plane);
  const transport = createHttpTransport(admin);
  for (const path of ["/api/v1/pods", "/apis/storage.k8s.io/v1/volumeattachments"])
    assert.equal((await transport.request({ method: "GET", path })).status, 200, path);
  await transport.close();
});

test("a tenant that sleeps is not reached, and has its objects when it wakes, in another version, too", async (t) => {
  const { runtime } = await rig(t);
  const a = await planeOn(runtime, "a");
  await runtime.ensure(a.plane);
  await connected(a, async (client) => await client.create(ConfigMap, settings));
  assert.deepEqual(await runtime.ensure({ ...a.plane, replicas: 0 }), { readyReplicas: 0, components: [] });
  await assert.rejects(
    connected(a, async () => undefined),
    /ECONNREFUSED/,
  );
  await runtime.ensure({ ...a.plane, version: "v1.30.4" });
  await connected(a, async (client, version) => {
    assert.equal(version, "v1.30.4+slipway");
    assert.deepEqual((await client.get(ConfigMap, settings.metadata)).data, { colour: "blue" });
  });
});

test("another process goes on with the objects, at the same port; a removed tenant leaves nothing", async (t) => {
  const at = await rig(t);
  const a = await planeOn(at.runtime, "a");
  await at.runtime.ensure(a.plane);
  await connected(a, async (client) => await client.create(ConfigMap, settings));
  await at.runtime.close();
  at.runtime = at.open();
  assert.deepEqual(await at.runtime.place("a", { port: a.plane.port, exact: true }), {
    host: "127.0.0.1",
    port: a.plane.port,
  });
  await at.runtime.ensure(a.plane);
  await connected(a, async (client) => assert.ok(await client.find(ConfigMap, settings.metadata)));
  await at.runtime.remove("a");
  await at.runtime.ensure(a.plane);
  await connected(a, async (client) => assert.equal(await client.find(ConfigMap, settings.metadata), undefined));
});

test("a new serving certificate is shown without a restart of the API", async (t) => {
  const { runtime } = await rig(t);
  const a = await planeOn(runtime, "a");
  await runtime.ensure(a.plane);
  await connected(a, async (client) => await client.create(ConfigMap, settings));
  const renewed = await testPlane("a", a.plane);
  await runtime.ensure({
    ...a.plane,
    pki: { ...a.plane.pki, ca: renewed.plane.pki.ca, apiServer: renewed.plane.pki.apiServer },
  });
  await connected(renewed, async (client) => assert.ok(await client.find(ConfigMap, settings.metadata)));
});

test("a port that must be that one and is taken is refused by name", async (t) => {
  const { runtime } = await rig(t);
  const { port } = await runtime.place("a", { port: 37_443, exact: false });
  await assert.rejects(runtime.place("b", { port, exact: true }), new RegExp(`port ${port} of 127.0.0.1 is taken`));
  await runtime.remove("a");
  assert.equal((await runtime.place("b", { port, exact: true })).port, port);
});

test("a port that somebody takes before the tenant listens is not insisted on", async (t) => {
  const { runtime } = await rig(t);
  const a = await planeOn(runtime, "a");
  const other = createServer().listen(a.plane.port, "127.0.0.1");
  await once(other, "listening");
  t.after(() => other.close());
  await assert.rejects(runtime.ensure(a.plane), /can't listen on/);
  const elsewhere = await planeOn(runtime, "a");
  assert.notEqual(elsewhere.plane.port, a.plane.port);
  await runtime.ensure(elsewhere.plane);
  await connected(elsewhere, async (client) => assert.deepEqual((await client.list(ConfigMap)).items.length > 0, true));
});

test("what an embedded API takes no notice of is reported, and so is what it is", async (t) => {
  const { runtime } = await rig(t);
  const { plane } = await planeOn(runtime, "a");
  const extraArgs = { apiServer: ["--v=4"], controllerManager: [], scheduler: ["--v=4"] };
  assert.deepEqual(await runtime.ensure({ ...plane, replicas: 3, extraArgs }), {
    ...{ readyReplicas: 3, version: plane.version },
    components: [{ component: "kube-apiserver", ready: true, version: plane.version, message: "embedded in Slipway" }],
    ignored: ["apiServer", "scheduler"].map(
      (of) => `spec.controlPlane.deployment.extraArgs.${of}: an embedded API takes no flags`,
    ),
  });
  assert.equal(await runtime.releaseOf("v1.35"), "v1.35.0");
});

test("the administrator's way in needs no port; a tenant that is not there has none", async (t) => {
  const { runtime } = await rig(t);
  const { plane } = await planeOn(runtime, "a");
  assert.equal(runtime.transport("a"), undefined);
  await runtime.ensure({ ...plane, replicas: 0 });
  const client = createClient(runtime.transport("a")!, { clock, random, log });
  await client.create(ConfigMap, settings);
  assert.deepEqual((await client.get(ConfigMap, settings.metadata)).data, settings.data);
  await runtime.remove("a");
  assert.equal(runtime.transport("a"), undefined);
});

test("a tenant's Service kubernetes has an address of its own prefixes, and accounts' tokens its domain's issuer", async (t) => {
  const { runtime } = await rig(t);
  const { plane } = await planeOn(runtime, "a");
  await runtime.ensure({ ...plane, serviceCidrs: ["10.55.0.0/16"], clusterDomain: "rack.example" });
  const at = runtime.transport("a")!;
  const service = await at.request({ method: "GET", path: "/api/v1/namespaces/default/services/kubernetes" });
  assert.match((service.body as { spec: { clusterIP: string } }).spec.clusterIP, /^10\.55\./);
  const account = "/api/v1/namespaces/default/serviceaccounts/default/token";
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
  const { status } = (await at.request({ method: "POST", path: account, body })).body as { status: { token: string } };
  const [, claims] = status.token.split(".");
  const { iss } = JSON.parse(Buffer.from(claims!, "base64url").toString()) as { iss: string };
  assert.equal(iss, "https://kubernetes.default.svc.rack.example");
});
