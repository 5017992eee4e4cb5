/** KamajiControlPlanes over the real Kamaji: its manager makes the tenants, ours tells Cluster API of them. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemClock as clock } from "@slipway/base";
import { Deployment, Secret } from "@slipway/kube/core";
import { connectionOf, createHttpTransport } from "@slipway/kube/http";
import { TenantControlPlane } from "../../../src/kinds/kamaji/tenant-control-plane.ts";
import { KamajiControlPlane } from "../../../src/kinds/kamaji-control-plane/kamaji-control-plane.ts";
import {
  type ControlPlanesWorld,
  conditionOf,
  controlPlanesWorld,
  manifests,
  NAMESPACE,
} from "../../system/control-planes-world.ts";
import { programs } from "./clusterctl.ts";
import { startKamaji } from "./kamaji-manager.ts";

const LAST_WORDS = 8_000;

const folder = await programs("kamaji", "etcd", "kubectl");
const skip = folder instanceof Error ? folder.message : false;

test("a KamajiControlPlane over Kamaji's own manager becomes Ready, is scaled, passes its version on, and leaves nothing", {
  skip,
}, async (t) => {
  const world = await controlPlanesWorld(t, { kamaji: false, tenantsByOthers: true });
  const kamaji = await startKamaji(t, { world, programs: String(folder) });
  try {
    await walk(t, world);
  } catch (cause) {
    throw new Error(`Kamaji's last words:\n${(await kamaji.said()).slice(-LAST_WORDS)}`, { cause });
  }
});

async function walk(t: TestContext, world: ControlPlanesWorld): Promise<void> {
  const { client, until } = world;
  await world.apply(...manifests({ spec: { version: "1.29.6" } }));
  await world.own("a");

  const ready = await until(KamajiControlPlane, "a-plane", (one) => conditionOf(one, "Ready") === "True");
  assert.deepEqual(
    [ready.status?.initialization?.controlPlaneInitialized, ready.status?.version, ready.status?.readyReplicas],
    [true, "v1.29.6", 2],
  );
  const tenant = await client.get(TenantControlPlane, { namespace: NAMESPACE, name: "a-plane" });
  assert.ok(tenant.metadata.finalizers?.includes("finalizer.kamaji.clastix.io"), "Kamaji has it in its hands");

  // What Cluster API's core takes the cluster's address and access from.
  const secret = await client.get(Secret, { namespace: NAMESPACE, name: "a-kubeconfig" });
  const text = Buffer.from(secret.data!.value!, "base64").toString();
  const transport = createHttpTransport(connectionOf(text, "a-kubeconfig", clock));
  t.after(() => transport.close());
  // What Kamaji writes into the tenant is not asked for: it reaches it by the Service's name, and here is no DNS of a cluster.
  const { status, body } = await transport.request({ method: "GET", path: "/version" });
  assert.deepEqual([status, (body as { gitVersion?: string }).gitVersion], [200, "v1.29.6+slipway"]);

  const at = { namespace: NAMESPACE, name: "a-plane" };
  await client.patch(KamajiControlPlane, at, { type: "merge", body: { spec: { replicas: 3 } } });
  await until(Deployment, "a-plane", ({ spec }) => spec?.replicas === 3);
  await until(KamajiControlPlane, "a-plane", ({ status }) => status?.readyReplicas === 3);
  await client.patch(KamajiControlPlane, at, { type: "merge", body: { spec: { version: "1.30.2" } } });
  // The upgrade itself is kubeadm's, in the tenant.
  await until(TenantControlPlane, "a-plane", ({ spec }) => spec.kubernetes.version === "v1.30.2");

  await client.delete(KamajiControlPlane, at);
  await world.gone(KamajiControlPlane, "a-plane");
  await world.gone(TenantControlPlane, "a-plane");
  await world.gone(Deployment, "a-plane");
}
