/** KamajiControlPlanes on the embedded API in virtual time; the test plays Kamaji. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { quietLog as log, seededRandom, systemClock } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createClient, createManager, type KubeObject, type Resource } from "@slipway/kube";
import { ConfigMap, Secret } from "@slipway/kube/core";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { installCrds } from "../../kinds/install.ts";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { KamajiControlPlane } from "../../kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { PacketCluster } from "../../kinds/packet/packet-cluster.ts";
import { kamajiControlPlaneController } from "./controller.ts";
import { aTenant } from "./testing.ts";

const MINUTE = 60_000;
const at = (name: string) => ({ namespace: "default", name });
const Event: Resource<KubeObject & { reason: string; message: string; type: string }> = {
  ...{ group: "events.k8s.io", version: "v1", kind: "Event", plural: "events", namespaced: true },
} as never;

async function stage(t: TestContext) {
  const [clock, random] = [new VirtualClock(), seededRandom(1)];
  const api = await createApiServer({ clock, random, log });
  const client = createClient(api.transport(), { clock, random, log });
  const kinds = [[Cluster], [KamajiControlPlane], [TenantControlPlane], [PacketCluster]];
  // A definition as large as a tenant's takes the server a while of the machine's own time.
  let isInstalled = false;
  const installer = createClient(api.transport(), { clock: systemClock, random, log });
  const installed = installCrds(installer, systemClock, new AbortController().signal, kinds).finally(() => {
    isInstalled = true;
  });
  while (!isInstalled) await clock.run(100);
  await installed;
  const manager = createManager({ transport: api.transport(), clock, random, log, leaderElection: false });
  manager.add(kamajiControlPlaneController());
  void manager.start();
  t.after(async () => {
    const stopped = manager.stop();
    await clock.run(MINUTE);
    await stopped;
    await api.close();
  });
  const plane = () => client.get(KamajiControlPlane, at("plane"));
  const tenant = () => client.get(TenantControlPlane, at("plane"));
  /** In small steps: what the server does in the machine's own time must not look like an answer that never comes. */
  const settle = async (ms = 10_000) => {
    for (let left = ms; left > 0; left -= 20) await clock.run(20);
  };
  const events = async () => (await client.list(Event)).items.map(({ type, reason }) => `${type} ${reason}`);
  return { clock, client, plane, tenant, settle, events };
}
type Stage = Awaited<ReturnType<typeof stage>>;

/** A Cluster with its infrastructure and a control plane. */
async function cluster({ client, settle }: Stage, spec: object = {}, { owners = [] as object[] } = {}) {
  await client.create(PacketCluster, { metadata: at("c1"), spec: { projectID: "p", metro: "da" } } as never);
  const ref = (group: string, kind: string, name: string) => ({ apiGroup: `${group}.cluster.x-k8s.io`, kind, name });
  const made = await client.create(Cluster, {
    metadata: at("c1"),
    spec: {
      controlPlaneRef: ref("controlplane", "KamajiControlPlane", "plane"),
      infrastructureRef: ref("infrastructure", "PacketCluster", "c1"),
    },
  } as never);
  const owner = {
    apiVersion: `${Cluster.group}/${Cluster.version}`,
    kind: "Cluster",
    name: "c1",
    uid: made.metadata.uid,
  };
  await client.create(KamajiControlPlane, {
    metadata: { ...at("plane"), ownerReferences: [...owners, owner] },
    spec: { version: "1.34.2", replicas: 2, network: { serviceType: "LoadBalancer" }, ...spec },
  } as never);
  await settle();
}

/** Kamaji brings the tenant up, reached at this address. */
async function served({ client, tenant, settle }: Stage, controlPlaneEndpoint = "203.0.113.5:6443", more: object = {}) {
  const labels = { "kamaji.clastix.io/project": "kamaji", "kamaji.clastix.io/name": "plane" };
  const data = (texts: Record<string, string>) =>
    Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
  for (const [name, texts] of [
    ["t-admin", { "admin.conf": "kubeconfig" }],
    ["t-ca", { "ca.crt": "crt", "ca.key": "key" }],
  ] as const)
    if ((await client.find(Secret, at(name))) === undefined)
      await client.create(Secret, { metadata: { ...at(name), labels }, data: data(texts) });
  const names = { kubeconfig: { admin: { secretName: "t-admin" } }, certificates: { ca: { secretName: "t-ca" } } };
  const { kubernetesResources } = aTenant().status as { kubernetesResources: { deployment: object } };
  Object.assign(kubernetesResources.deployment, at("plane"));
  const status = { controlPlaneEndpoint, kubernetesResources, ...names, ...more };
  await client.updateStatus(TenantControlPlane, { ...(await tenant()), status } as never);
  await settle();
}

test("A1 B10 a control plane is ready when its tenant answers, not ready when it does not, and both are events", async (t) => {
  const here = await stage(t);
  const { client, plane, events } = here;
  await cluster(here);
  assert.equal((await plane()).status?.ready, false);
  assert.match((await plane()).status?.waitingFor ?? "", /^an address of TenantControlPlane plane/);
  await served(here);
  assert.deepEqual(
    [(await plane()).status?.ready, (await plane()).spec.controlPlaneEndpoint],
    [true, { host: "203.0.113.5", port: 6443 }],
  );
  const infrastructure = await client.get(PacketCluster, at("c1"));
  assert.deepEqual(infrastructure.spec.controlPlaneEndpoint, { host: "203.0.113.5", port: 6443 });
  assert.deepEqual(await events(), ["Normal Ready"]);
  await served(here, undefined, { kubernetesResources: {} });
  assert.equal((await plane()).status?.ready, false);
  assert.deepEqual((await events()).sort(), ["Normal Ready", "Warning NotReady"]);
});

test("the endpoint of a tenant behind a Gateway or an Ingress is theirs; an IPv6 address has no brackets", async (t) => {
  for (const [network, endpoint, expected] of [
    [{ ingress: { hostname: "in.test" } }, "10.0.0.1:6443", { host: "in.test", port: 443 }],
    [
      { gateway: { name: "g", namespace: "n", hostname: "gw.test:8443" } },
      "10.0.0.1:6443",
      { host: "gw.test", port: 8443 },
    ],
    [{}, "[2001:db8::1]:6443", { host: "2001:db8::1", port: 6443 }],
  ] as const) {
    const here = await stage(t);
    await cluster(here, { network: { serviceType: "ClusterIP", ...network } });
    await served(here, endpoint);
    assert.deepEqual((await here.plane()).spec.controlPlaneEndpoint, expected);
  }
});

test("B5 a tenant in another cluster is refused by its field, and nothing is made", async (t) => {
  const here = await stage(t);
  const externalClusterReference = { deploymentNamespace: "x", kubeconfigSecretName: "k", kubeconfigSecretKey: "v" };
  await cluster(here, { deployment: { externalClusterReference } });
  const { status } = await here.plane();
  assert.deepEqual([status?.ready, status?.failureReason], [false, "Invalid"]);
  assert.match(
    status?.failureMessage ?? "",
    /externalClusterReference: tenants in another cluster are not served; remove it/,
  );
  assert.equal(await here.client.find(TenantControlPlane, at("plane")), undefined);
  assert.deepEqual(await here.events(), ["Warning Failed"]);
});

test("B12 the Cluster is found by its kind, whatever else owns the control plane", async (t) => {
  const here = await stage(t);
  await cluster(here, {}, { owners: [{ apiVersion: "v1", kind: "ConfigMap", name: "other", uid: "u" }] });
  assert.ok(await here.tenant());
});

test("B6 a control plane that is deleted goes after its tenant, and not while it is paused", async (t) => {
  const here = await stage(t);
  const { client, plane, tenant, settle } = here;
  await cluster(here);
  const held = await tenant();
  await client.patch(TenantControlPlane, at("plane"), {
    type: "merge",
    body: { metadata: { finalizers: ["test/held"] } },
  });
  await client.patch(Cluster, at("c1"), { type: "merge", body: { spec: { paused: true } } });
  await client.delete(KamajiControlPlane, at("plane"));
  await settle();
  assert.match((await plane()).status?.waitingFor ?? "", /spec\.paused.*: it is deleted when that ends$/);
  assert.equal((await tenant()).metadata.deletionTimestamp, undefined);
  await client.patch(Cluster, at("c1"), { type: "merge", body: { spec: { paused: false } } });
  await settle();
  assert.equal((await plane()).status?.waitingFor, "TenantControlPlane plane to be deleted");
  assert.ok((await tenant()).metadata.deletionTimestamp);
  assert.equal((await tenant()).metadata.uid, held.metadata.uid);
  await client.patch(TenantControlPlane, at("plane"), { type: "merge", body: { metadata: { finalizers: null } } });
  await settle();
  assert.equal(await client.find(KamajiControlPlane, at("plane")), undefined);
});

test("a foreign tenant of the name is neither changed nor deleted", async (t) => {
  const here = await stage(t);
  const { client, plane, tenant, settle } = here;
  const { metadata } = await client.create(ConfigMap, { metadata: at("other") });
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "other", uid: metadata.uid, controller: true };
  const spec = {
    controlPlane: { service: { serviceType: "LoadBalancer" } },
    kubernetes: { version: "v1.33.0", kubelet: {} },
  };
  await client.create(TenantControlPlane, { metadata: { ...at("plane"), ownerReferences: [owner] }, spec } as never);
  await cluster(here);
  assert.match(
    (await plane()).status?.failureMessage ?? "",
    /it belongs to ConfigMap\/other; give the control plane another name/,
  );
  assert.equal((await tenant()).spec.kubernetes.version, "v1.33.0");
  await client.delete(KamajiControlPlane, at("plane"));
  await settle();
  assert.equal(await client.find(KamajiControlPlane, at("plane")), undefined);
  assert.equal((await tenant()).metadata.deletionTimestamp, undefined);
});
