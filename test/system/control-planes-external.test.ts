/** Control planes whose tenants run in another cluster (`externalClusterReference`): two management APIs, the tenants' runtime at the second. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Namespace, Secret } from "@slipway/kube/core";
import { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { KamajiControlPlane } from "../../src/kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { kubeconfig } from "../../src/pki/kubeconfig.ts";
import { CONTROL_PLANE, EXTERNAL_FINALIZER } from "../../src/systems/kamaji-control-plane/names.ts";
import {
  type ControlPlanesWorld,
  conditionOf,
  controlPlanesWorld,
  manifests,
  NAMESPACE,
} from "./control-planes-world.ts";

const THERE = "tenants";
const HOLD = "example.org/hold";
const reference = (more: object = {}) => ({
  spec: {
    deployment: {
      externalClusterReference: {
        ...{ kubeconfigSecretName: "elsewhere", kubeconfigSecretKey: "value", deploymentNamespace: THERE },
        ...more,
      },
    },
  },
});

/** The cluster with the control planes, and the one with the tenants. */
async function worlds(t: TestContext): Promise<{ here: ControlPlanesWorld; there: ControlPlanesWorld }> {
  const there = await controlPlanesWorld(t);
  await there.client.create(Namespace, { metadata: { name: THERE } });
  // The management cluster itself has no Kamaji.
  const here = await controlPlanesWorld(t, { kamaji: false, openExternal: () => there.transport() });
  return { here, there };
}

async function withKubeconfig({ client }: ControlPlanesWorld, namespace = NAMESPACE): Promise<void> {
  const value = kubeconfig({ name: "elsewhere", server: "https://elsewhere.invalid", token: "t" });
  await client.create(Secret, {
    metadata: { name: "elsewhere", namespace },
    data: { value: Buffer.from(value).toString("base64") },
  });
}

const tenantsOf = async ({ client }: ControlPlanesWorld) =>
  (await client.list(TenantControlPlane, { namespace: THERE })).items;

/** A control plane that is ready, by its tenant in the other cluster. */
async function ready(t: TestContext, port: number) {
  const { here, there } = await worlds(t);
  await withKubeconfig(here);
  await here.apply(...manifests({ ...reference(), port }));
  await here.own("a");
  const plane = await here.until(KamajiControlPlane, "a-plane", ({ status }) => status?.ready === true);
  return { here, there, plane };
}

test("B5 a tenant runs in another cluster as kcp-<uid>; Secrets, endpoint and state come from there, and its deletion is waited for", async (t) => {
  const { here, there, plane } = await ready(t, 37_610);
  const [tenant] = await tenantsOf(there);
  assert.equal(tenant?.metadata.name, `kcp-${plane.metadata.uid}`);
  assert.equal(conditionOf(plane, "FoundExternalReferenceClient"), "True");
  const secret = await here.client.get(Secret, { namespace: NAMESPACE, name: "a-kubeconfig" });
  // The next port, where somebody's connection happens to have that one.
  const at = { namespace: THERE, name: tenant!.metadata.name };
  const endpoint = (await there.client.get(TenantControlPlane, at)).status?.controlPlaneEndpoint;
  assert.ok(Buffer.from(secret.data!.value!, "base64").toString().includes(`https://${endpoint}\n`));
  assert.ok(await here.client.find(Secret, { namespace: NAMESPACE, name: "a-ca" }));

  const ref = { namespace: THERE, name: tenant!.metadata.name };
  const finalizers = [...(tenant!.metadata.finalizers ?? []), HOLD];
  await there.client.patch(TenantControlPlane, ref, { type: "merge", body: { metadata: { finalizers } } });
  await here.client.delete(KamajiControlPlane, { namespace: NAMESPACE, name: "a-plane" });
  const wait = `TenantControlPlane ${ref.name} to be deleted`;
  await here.until(KamajiControlPlane, "a-plane", ({ status }) => status?.waitingFor === wait);
  const held = await there.until(TenantControlPlane, ref, ({ metadata }) => metadata.finalizers?.join() === HOLD);
  await there.client.patch(TenantControlPlane, ref, { type: "merge", body: { metadata: { finalizers: [] } } });
  assert.ok(held.metadata.deletionTimestamp);
  await here.gone(KamajiControlPlane, "a-plane");
  assert.deepEqual(await tenantsOf(there), []);
});

test("B5 a control plane whose tenant is gone already is deleted at once", async (t) => {
  const { here, there } = await ready(t, 37_611);
  const cluster = { namespace: NAMESPACE, name: "a" };
  await here.client.patch(Cluster, cluster, { type: "merge", body: { spec: { paused: true } } });
  await here.until(KamajiControlPlane, "a-plane", (plane) => conditionOf(plane, "Paused") === "True");
  const [tenant] = await tenantsOf(there);
  await there.client.delete(TenantControlPlane, { namespace: THERE, name: tenant!.metadata.name });
  await there.gone(TenantControlPlane, { namespace: THERE, name: tenant!.metadata.name });
  await here.client.delete(KamajiControlPlane, { namespace: NAMESPACE, name: "a-plane" });
  await here.client.patch(Cluster, cluster, { type: "merge", body: { spec: { paused: false } } });
  await here.gone(KamajiControlPlane, "a-plane");
});

test("B5 a kubeconfig that is missing, then comes; one of another namespace is refused", async (t) => {
  const { here } = await worlds(t);
  await here.apply(...manifests({ ...reference(), port: 37_612 }));
  await here.own("a");
  const missing = /Secret\/default\/elsewhere.*there is no kubeconfig in key value/;
  const waits = await here.until(KamajiControlPlane, "a-plane", ({ status }) => missing.test(status?.waitingFor ?? ""));
  assert.equal(conditionOf(waits, "FoundExternalReferenceClient"), "False");
  await withKubeconfig(here);
  await here.until(KamajiControlPlane, "a-plane", ({ status }) => status?.ready === true);

  await here.client.create(Namespace, { metadata: { name: "theirs" } });
  await withKubeconfig(here, "theirs");
  await here.apply(
    ...manifests({
      cluster: "b",
      controlPlane: "b-plane",
      ...reference({ kubeconfigSecretNamespace: "theirs" }),
      port: 37_613,
    }),
  );
  await here.own("b");
  const refused = await here.until(KamajiControlPlane, "b-plane", ({ status }) => Boolean(status?.failureMessage));
  assert.match(
    refused.status!.failureMessage!,
    /Secret\/theirs\/elsewhere is in another namespace.*--kamaji-kubeconfigs-anywhere/,
  );
});

/** A tenant of a control plane as the original provider makes it: named after its uid, with nothing on it that says whose it is. */
async function originalTenant(there: ControlPlanesWorld, { metadata: { uid } }: KamajiControlPlane, port: number) {
  return await there.client.create(TenantControlPlane, {
    metadata: { namespace: THERE, name: `kcp-${uid}` },
    spec: {
      dataStore: "default",
      controlPlane: { deployment: { replicas: 2 }, service: { serviceType: "LoadBalancer" } },
      kubernetes: { version: "v1.27.0", kubelet: { cgroupfs: "systemd" } },
      networkProfile: { port, serviceCidrs: ["172.26.0.0/16"], podCidrs: ["192.168.0.0/16"] },
      addons: { coreDNS: {}, kubeProxy: {} },
    },
  } as never);
}

/** A control plane with the original's finalizer and a tenant in the other cluster, of which Slipway has done nothing yet. */
async function original(t: TestContext, port: number) {
  const { here, there } = await worlds(t);
  await withKubeconfig(here);
  await here.apply(...manifests({ ...reference(), port }));
  const plane = await here.until(KamajiControlPlane, "a-plane", ({ status }) => status?.waitingFor !== undefined);
  const body = { metadata: { finalizers: [EXTERNAL_FINALIZER] } };
  await here.client.patch(KamajiControlPlane, { namespace: NAMESPACE, name: "a-plane" }, { type: "merge", body });
  return { here, there, live: await originalTenant(there, plane, port) };
}

test("B51 a tenant that the original has made in another cluster goes on, and is deleted with its control plane", async (t) => {
  const { here, there, live } = await original(t, 37_614);
  await here.own("a");
  await here.until(KamajiControlPlane, "a-plane", ({ status }) => status?.ready === true);
  assert.deepEqual(
    (await tenantsOf(there)).map(({ metadata }) => metadata.uid),
    [live.metadata.uid],
  );
  await here.client.delete(KamajiControlPlane, { namespace: NAMESPACE, name: "a-plane" });
  await here.gone(KamajiControlPlane, "a-plane");
  assert.deepEqual(await tenantsOf(there), []);
});

test("B51 a control plane of the original's that was deleted in the meantime ends with its tenant in the other cluster", async (t) => {
  const { here, there } = await original(t, 37_615);
  await here.client.delete(KamajiControlPlane, { namespace: NAMESPACE, name: "a-plane" });
  await here.gone(KamajiControlPlane, "a-plane");
  assert.deepEqual(await tenantsOf(there), []);
});

test("B5 a tenant of that name which another control plane has marked as its own is left alone", async (t) => {
  const { here, there, live } = await original(t, 37_616);
  const ref = { namespace: THERE, name: live.metadata.name };
  const body = { metadata: { annotations: { [CONTROL_PLANE]: "default/another" } } };
  await there.client.patch(TenantControlPlane, ref, { type: "merge", body });
  await here.own("a");
  const refused = await here.until(KamajiControlPlane, "a-plane", ({ status }) => Boolean(status?.failureMessage));
  assert.match(refused.status!.failureMessage!, /it was made for another control plane/);
  await here.client.delete(KamajiControlPlane, { namespace: NAMESPACE, name: "a-plane" });
  await here.gone(KamajiControlPlane, "a-plane");
  assert.equal((await tenantsOf(there))[0]?.metadata.uid, live.metadata.uid);
});
