/** A tenant on real programs whose events are in another etcd than the rest. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock as clock, deadline } from "@slipway/base";
import { ConfigMap, Event } from "@slipway/kube/core";
import { DataStore } from "../../src/kinds/kamaji/data-store.ts";
import { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { findAssets, TENANT_BINARIES } from "../../src/kubernetes/assets.ts";
import { type EtcdServer, startEtcd } from "../datastores/servers/etcd.ts";
import { NAMESPACE, stateOf, tenantsWorld } from "../system/tenants-world.ts";

const assets = await findAssets(process.env, ["etcd", ...TENANT_BINARIES]).catch((error: Error) => error);
const skip = assets instanceof Error ? `${assets.message}; run \`make kube-assets\`` : false;

const content = (text = "") => ({ content: Buffer.from(text).toString("base64") });
const dataStoreOf = ({ authority, options }: EtcdServer): DataStore["spec"] => ({
  driver: "etcd",
  endpoints: [...options.endpoints],
  tlsConfig: {
    certificateAuthority: { certificate: content(authority.certificatePem), privateKey: content(authority.keyPem) },
    clientCertificate: { certificate: content(options.tls?.cert), privateKey: content(options.tls?.key) },
  },
});

test("a tenant's events are in the etcd of its override and nowhere else, and it leaves nothing in either", {
  skip,
}, async (t) => {
  const own = await startEtcd(t);
  const other = await startEtcd(t, [], true, own.certificates);
  const before = [await own.contents(), await other.contents()];
  const { client, apply, until, inTenant } = await tenantsWorld(t, String(assets));
  await client.create(DataStore, { metadata: { name: "own" }, spec: dataStoreOf(own) });
  await client.create(DataStore, { metadata: { name: "other" }, spec: dataStoreOf(other) });
  await apply("a", { dataStore: "own", dataStoreOverrides: [{ resource: "/events", dataStore: "other" }] });
  const { metadata } = await until("a", (one) => stateOf(one) === "Ready");
  await inTenant("a", async (inside) => {
    await inside.create(ConfigMap, { metadata: { namespace: "default", name: "mine" } });
    const involvedObject = { kind: "ConfigMap", namespace: "default", name: "mine" };
    await inside.create(Event, { metadata: { namespace: "default", name: "mine" }, involvedObject, reason: "Test" });
    assert.ok(await inside.find(Event, { namespace: "default", name: "mine" }));
  });
  const keysOf = async (server: EtcdServer) => (await server.contents()).filter((line) => line.startsWith("key "));
  const events = `key /${metadata.uid}/events/`;
  assert.ok((await keysOf(other)).includes(`${events}default/mine`));
  assert.deepEqual(
    (await keysOf(other)).filter((key) => !key.startsWith(events)),
    [],
  );
  assert.ok((await keysOf(own)).includes(`key /${metadata.uid}/configmaps/default/mine`));
  assert.deepEqual(
    (await keysOf(own)).filter((key) => key.startsWith(events)),
    [],
  );
  const ref = { namespace: NAMESPACE, name: "a" };
  await client.delete(TenantControlPlane, ref);
  const { signal, done } = deadline(clock, 60_000);
  while ((await client.find(TenantControlPlane, ref)) !== undefined) {
    assert.ok(!signal.aborted, "the tenant is still there");
    await clock.sleep(100);
  }
  done();
  assert.deepEqual([await own.contents(), await other.contents()], before);
});
