import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "@slipway/base";
import { controllerReference } from "@slipway/kube";
import { Deployment, Secret } from "@slipway/kube/core";
import { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import {
  KamajiControlPlane,
  KamajiControlPlaneV1alpha1,
} from "../../src/kinds/kamaji-control-plane/kamaji-control-plane.ts";
import { PacketCluster } from "../../src/kinds/packet/packet-cluster.ts";
import { conditionOf, controlPlanesWorld, manifests, NAMESPACE } from "./control-planes-world.ts";

const at = (name: string) => ({ namespace: NAMESPACE, name });

test("A1 B2 a control plane becomes a tenant, tells the infrastructure, and reports by both contracts", async (t) => {
  const { apply, own, until, client } = await controlPlanesWorld(t);
  await apply(...manifests());
  const lonely = await until(KamajiControlPlane, "a-plane", ({ status }) => status?.waitingFor !== undefined);
  assert.equal(lonely.status?.waitingFor, "a Cluster that names it in spec.controlPlaneRef", "B12");
  await own("a");
  const ready = await until(KamajiControlPlane, "a-plane", ({ status }) => status?.ready === true);
  const { status } = ready;
  assert.equal(status?.externalManagedControlPlane, true);
  assert.equal(status?.initialization?.controlPlaneInitialized, true);
  assert.equal(status?.initialized, true);
  assert.equal(status?.version, "v1.27.0");
  assert.deepEqual(
    [
      status?.replicas,
      status?.readyReplicas,
      status?.availableReplicas,
      status?.upToDateReplicas,
      status?.unavailableReplicas,
    ],
    [2, 2, 2, 2, 0],
  );
  const done = await until(KamajiControlPlane, "a-plane", (one) => conditionOf(one, "Ready") === "True");
  assert.deepEqual(
    done.status?.conditions?.map((one) => [one.type, one.status, one.reason]),
    [
      ["TenantControlPlaneCreated", "True", "Succeeded"],
      ["TenantControlPlaneAddressReady", "True", "Succeeded"],
      ["ControlPlaneEndpointPatched", "True", "Succeeded"],
      ["InfrastructureClusterPatched", "True", "Succeeded"],
      ["KamajiControlPlaneIsInitialized", "True", "Succeeded"],
      ["KubeadmResourcesCreated", "True", "Succeeded"],
      ["KamajiControlPlaneIsReady", "True", "Succeeded"],
      ["Available", "True", "Available"],
      ["Ready", "True", "Ready"],
    ].toSorted(byFirst(done.status?.conditions?.map(({ type }) => type) ?? [])),
  );
  const tenant = await client.get(TenantControlPlane, at("a-plane"));
  const [host, port] = tenant.status!.controlPlaneEndpoint!.split(":");
  const endpoint = { host, port: Number(port) };
  assert.deepEqual(done.spec.controlPlaneEndpoint, endpoint);
  const infrastructure = await client.get(PacketCluster, at("a"));
  assert.deepEqual(infrastructure.spec.controlPlaneEndpoint, endpoint);
  assert.deepEqual([infrastructure.status?.ready, infrastructure.status?.initialization?.provisioned], [true, true]);
  assert.equal(tenant.metadata.labels?.["cluster.x-k8s.io/cluster-name"], "a");
  assert.deepEqual(tenant.spec.networkProfile?.serviceCidrs, ["172.26.0.0/16"]);
  assert.deepEqual(tenant.spec.networkProfile?.podCidrs, ["192.168.0.0/16"]);
  assert.deepEqual(tenant.spec.networkProfile?.dnsServiceIPs, ["172.26.0.10"], "B11");
  assert.deepEqual(tenant.spec.kubernetes.kubelet.preferredAddressTypes, ["ExternalIP", "InternalIP", "Hostname"]);
  assert.deepEqual([tenant.spec.addons?.coreDNS, tenant.spec.addons?.kubeProxy], [{}, {}]);
  const secrets = await Promise.all(["a-kubeconfig", "a-ca"].map((name) => client.get(Secret, at(name))));
  assert.deepEqual(
    secrets.map(({ type, data, metadata }) => [
      type,
      Object.keys(data ?? {}).sort(),
      metadata.labels?.["cluster.x-k8s.io/cluster-name"],
    ]),
    [
      ["cluster.x-k8s.io/secret", ["value"], "a"],
      ["cluster.x-k8s.io/secret", ["tls.crt", "tls.key"], "a"],
    ],
  );
  assert.ok(secrets.every(({ data }) => Object.values(data ?? {}).every((value) => value.length > 100)));
  const old = (await client.get(KamajiControlPlaneV1alpha1, at("a-plane"))) as unknown as KamajiControlPlane;
  assert.deepEqual([old.status?.initialized, old.status?.ready, old.status?.updatedReplicas], [true, true, 2]);
});

test("A3 B4 B6 a paused Cluster's control plane is left alone and says so; unpausing it goes on at once", async (t) => {
  const { apply, own, until, client, gone } = await controlPlanesWorld(t);
  await apply(...manifests({ port: 40_000 }));
  await client.patch(Cluster, at("a"), { type: "merge", body: { spec: { paused: true } } });
  await own("a");
  const paused = await until(KamajiControlPlane, "a-plane", (one) => conditionOf(one, "Paused") === "True");
  assert.match(paused.status?.waitingFor ?? "", /spec\.paused/);
  assert.equal(await client.find(TenantControlPlane, at("a-plane")), undefined);
  await client.patch(Cluster, at("a"), { type: "merge", body: { spec: { paused: false } } });
  const ready = await until(KamajiControlPlane, "a-plane", (one) => conditionOf(one, "Ready") === "True");
  assert.equal(conditionOf(ready, "Paused"), undefined);
  assert.ok(ready.spec.controlPlaneEndpoint!.port! >= 40_000, "A2 B3");

  await client.patch(Cluster, at("a"), { type: "merge", body: { spec: { paused: true } } });
  await until(KamajiControlPlane, "a-plane", (one) => conditionOf(one, "Paused") === "True");
  await client.delete(KamajiControlPlane, at("a-plane"));
  const held = await until(KamajiControlPlane, "a-plane", ({ status }) =>
    /deleted when/.test(status?.waitingFor ?? ""),
  );
  assert.ok(held.metadata.deletionTimestamp);
  assert.ok(await client.find(TenantControlPlane, at("a-plane")));
  await client.patch(Cluster, at("a"), { type: "merge", body: { spec: { paused: false } } });
  await gone(KamajiControlPlane, "a-plane");
  assert.equal(await client.find(TenantControlPlane, at("a-plane")), undefined, "its tenant went before it");
  await gone(Secret, "a-kubeconfig");
});

test("B13 Kamaji's kinds may come after the control plane", async (t) => {
  const { apply, own, until, installKamaji } = await controlPlanesWorld(t, { kamaji: false });
  await apply(...manifests());
  await own("a");
  await installKamaji();
  await until(KamajiControlPlane, "a-plane", (one) => conditionOf(one, "Ready") === "True");
});

test("B10 B8 what is changed or removed reaches the tenant; one that sleeps is not ready", async (t) => {
  const { apply, own, until, client, writes } = await controlPlanesWorld(t);
  await apply(
    ...manifests({
      spec: {
        network: {
          serviceType: "LoadBalancer",
          loadBalancerConfig: { loadBalancerSourceRanges: ["192.0.2.0/24"] },
          serviceLabels: { tier: "gold" },
        },
      },
    }),
  );
  await own("a");
  await until(KamajiControlPlane, "a-plane", (one) => conditionOf(one, "Ready") === "True");
  const body = {
    spec: {
      network: { loadBalancerConfig: null, serviceLabels: null },
      apiServer: { probes: { liveness: { periodSeconds: 30 } } },
    },
  };
  await client.patch(KamajiControlPlane, at("a-plane"), { type: "merge", body });
  const changed = await until(
    TenantControlPlane,
    "a-plane",
    ({ spec }) => spec.networkProfile?.loadBalancerSourceRanges === undefined,
  );
  assert.deepEqual(changed.spec.controlPlane.service.additionalMetadata?.labels, undefined);
  assert.deepEqual(
    changed.spec.controlPlane.deployment?.probes,
    { apiServer: { liveness: { periodSeconds: 30 } } },
    "B7",
  );
  assert.deepEqual(changed.spec.networkProfile?.dnsServiceIPs, ["172.26.0.10"], "B11");
  await until(KamajiControlPlane, "a-plane", (one) => conditionOf(one, "Ready") === "True");
  const before = writes();
  await client.patch(Cluster, at("a"), { type: "merge", body: { metadata: { labels: { any: "thing" } } } });
  await client.patch(KamajiControlPlane, at("a-plane"), { type: "merge", body: { spec: { replicas: 0 } } });
  const asleep = await until(KamajiControlPlane, "a-plane", ({ status }) => status?.ready === false);
  assert.match(asleep.status?.waitingFor ?? "", /sleeps: spec\.replicas is 0/);
  assert.equal(conditionOf(asleep, "Available"), "False");
  assert.equal(asleep.status?.initialization?.controlPlaneInitialized, true, "done once");
  assert.ok(writes() - before < 12, `${writes() - before} writes for one change`);
});

test("B14 B9 an infrastructure cluster with another endpoint is named, and the control plane becomes ready nevertheless", async (t) => {
  const { apply, own, until, client } = await controlPlanesWorld(t);
  const [cluster, packet, plane] = manifests() as [object, { metadata: object; spec: object }, object];
  const strange = {
    ...packet,
    metadata: { name: "a", annotations: { "slipway.dev/control-plane-endpoint": "check" } },
  };
  await apply(cluster, strange, plane);
  await own("a");
  const ready = await until(KamajiControlPlane, "a-plane", ({ status }) => status?.ready === true);
  assert.equal(conditionOf(ready, "Ready"), "False");
  assert.match(
    ready.status?.waitingFor ?? "",
    /PacketCluster\/a has no endpoint.*set its spec\.controlPlaneEndpoint to /,
  );
  const controlPlaneEndpoint = ready.spec.controlPlaneEndpoint;
  await client.patch(PacketCluster, at("a"), { type: "merge", body: { spec: { controlPlaneEndpoint } } });
  await client.patch(Cluster, at("a"), { type: "merge", body: { spec: { controlPlaneEndpoint } } });
  await until(KamajiControlPlane, "a-plane", (one) => conditionOf(one, "Ready") === "True");
});

/** In the order that a list of conditions has come to. */
const byFirst = (order: readonly string[]) => (a: readonly string[], b: readonly string[]) =>
  order.indexOf(a[0]!) - order.indexOf(b[0]!);

test("beside Kamaji's own control plane provider nothing is touched; Slipway's own Deployment, labelled alike by clusterctl, is none", async (t) => {
  for (const [labels, isServed] of [
    [{ "cluster.x-k8s.io/provider": "control-plane-kamaji" }, false],
    [{ "cluster.x-k8s.io/provider": "control-plane-kamaji", "app.kubernetes.io/name": "slipway" }, true],
  ] as const) {
    const { apply, own, until, client } = await controlPlanesWorld(t);
    const app = { matchLabels: { app: "provider" } };
    const pod = { metadata: { labels: app.matchLabels }, spec: { containers: [{ name: "manager", image: "m" }] } };
    await client.create(Deployment, {
      metadata: { name: "provider", namespace: NAMESPACE, labels },
      spec: { selector: app, template: pod } as never,
    });
    await apply(...manifests({ port: 37_620 }));
    await own("a");
    if (isServed) await until(KamajiControlPlane, "a-plane", ({ status }) => status?.ready === true);
    else await systemClock.sleep(500);
    const { status, metadata } = await client.get(KamajiControlPlane, at("a-plane"));
    assert.deepEqual([status !== undefined, metadata.finalizers !== undefined], [isServed, isServed]);
    assert.equal((await client.find(TenantControlPlane, at("a-plane"))) !== undefined, isServed);
  }
});

test("B51 what Kamaji's own control plane provider has made goes on: the tenant, its authority, and the Secrets that Cluster API reads", async (t) => {
  const { apply, own, until, client } = await controlPlanesWorld(t);
  await apply(...manifests({ port: 37_640 }));
  const plane = await until(KamajiControlPlane, "a-plane", ({ status }) => status?.waitingFor !== undefined);
  const labels = { "cluster.x-k8s.io/cluster-name": "a" };
  const ownerReferences = [controllerReference(KamajiControlPlane, plane)];
  // By no apply: the original is a client that updates, and its fields are its own.
  const live = await client.create(TenantControlPlane, {
    metadata: { ...at("a-plane"), labels, ownerReferences },
    spec: {
      dataStore: "default",
      controlPlane: { deployment: { replicas: 2 }, service: { serviceType: "LoadBalancer" } },
      kubernetes: { version: "v1.27.0", kubelet: { cgroupfs: "systemd" } },
      networkProfile: { port: 37_640, serviceCidrs: ["172.26.0.0/16"], podCidrs: ["192.168.0.0/16"] },
      addons: { coreDNS: {}, kubeProxy: {} },
    },
  } as never);
  await until(TenantControlPlane, "a-plane", ({ status }) => status?.kubernetesResources?.version?.status === "Ready");
  const authority = await client.get(Secret, at("a-plane-ca"));
  const secret = await client.create(Secret, {
    ...{ metadata: { ...at("a-kubeconfig"), labels, ownerReferences }, type: "cluster.x-k8s.io/secret" },
    data: { value: Buffer.from("of the original").toString("base64") },
  } as never);

  await own("a");
  await until(KamajiControlPlane, "a-plane", (one) => conditionOf(one, "Ready") === "True");
  const tenant = await client.get(TenantControlPlane, at("a-plane"));
  assert.equal(tenant.metadata.uid, live.metadata.uid);
  assert.deepEqual(tenant.spec.kubernetes.kubelet.preferredAddressTypes, ["ExternalIP", "InternalIP", "Hostname"]);
  const [ca, kubeconfig] = await Promise.all(["a-ca", "a-kubeconfig"].map((name) => client.get(Secret, at(name))));
  assert.deepEqual((await client.get(Secret, at("a-plane-ca"))).data, authority.data);
  assert.equal(ca!.data!["tls.crt"], authority.data!["ca.crt"]);
  assert.equal(kubeconfig!.metadata.uid, secret.metadata.uid);
  const admin = await client.get(Secret, at("a-plane-admin-kubeconfig"));
  assert.equal(kubeconfig!.data!.value, admin.data!["admin.conf"]);
});
