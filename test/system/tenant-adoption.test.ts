/** A live tenant of Kamaji's, taken over. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock as clock, deadline } from "@slipway/base";
import { Deployment, Node, Secret, Service } from "@slipway/kube/core";
import { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { createAuthority } from "../../src/pki/authority.ts";
import { createKeyPair, publicPem } from "../../src/pki/keys.ts";
import { NAMESPACE, stateOf, tenantsWorld } from "./tenants-world.ts";

const encoded = (texts: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]));
const PAUSED = "kamaji.clastix.io/paused";
const FINALIZERS = ["finalizer.kamaji.clastix.io", "finalizer.kamaji.clastix.io/soot"];
const ref = { namespace: NAMESPACE, name: "a" };

/** A Deployment and a Service as Kamaji's operator leaves them: by an update of its own, with parts that are not made here. */
function planeOfKamaji(uid: string) {
  const metadata = (component: string) => ({
    ...ref,
    labels: {
      "kamaji.clastix.io/project": "kamaji",
      "kamaji.clastix.io/name": "a",
      "kamaji.clastix.io/component": component,
    },
    annotations: { "kamaji.clastix.io/checksum": "d41d8cd98f00b204e9800998ecf8427e" },
    ownerReferences: [
      { apiVersion: "kamaji.clastix.io/v1alpha1", kind: "TenantControlPlane", name: "a", uid, controller: true },
    ],
  });
  const selector = { "kamaji.clastix.io/name": "a" };
  const image = "registry.k8s.io/kube-apiserver:v1.33.0";
  return {
    service: {
      metadata: metadata("service"),
      spec: {
        type: "LoadBalancer",
        selector,
        ports: [{ name: "kube-apiserver", port: 36_443, targetPort: 36_443, protocol: "TCP" }],
      },
    },
    deployment: {
      metadata: metadata("deployment"),
      spec: {
        replicas: 2,
        selector: { matchLabels: selector },
        template: {
          metadata: { labels: selector },
          spec: {
            initContainers: [{ name: "chmod", image: "registry.example/kine:v1", command: ["sh"] }],
            containers: [{ name: "kube-apiserver", image, args: ["--etcd-compaction-interval=0"], env: [] }],
            volumes: [{ name: "etc-ssl-certs", secret: { secretName: "a-ca" } }],
          },
        },
      },
    },
  };
}

test("B51 a live Deployment of Kamaji's becomes our own: the same object and Service, without what only Kamaji's operator wanted", async (t) => {
  const { client, clientAs, until } = await tenantsWorld(t, "deployment");
  const made = await client.create(TenantControlPlane, {
    metadata: { ...ref, annotations: { [PAUSED]: "" }, finalizers: FINALIZERS },
    spec: {
      dataStore: "default",
      controlPlane: { deployment: { replicas: 2 }, service: { serviceType: "LoadBalancer" } },
      kubernetes: { version: "v1.33.0", kubelet: { cgroupfs: "systemd" } },
      networkProfile: { port: 36_443 },
    },
  } as never);
  const theirs = clientAs("kamaji");
  const before = planeOfKamaji(made.metadata.uid);
  const service = await theirs.create(Service, before.service as never);
  const deployment = await theirs.create(Deployment, before.deployment as never);
  await client.patch(Deployment, ref, { type: "merge", body: { metadata: { annotations: { theirs: "1" } } } });
  await client.patch(TenantControlPlane, ref, {
    type: "merge",
    body: { metadata: { annotations: { [PAUSED]: null } } },
  });
  await until("a", (one) => stateOf(one) === "Ready" && one.status?.waitingFor === undefined);
  const [nowService, now] = [await client.get(Service, ref), await client.get(Deployment, ref)];
  assert.deepEqual([nowService.metadata.uid, now.metadata.uid], [service.metadata.uid, deployment.metadata.uid]);
  assert.equal(now.metadata.annotations?.theirs, "1", "what others wrote stays");
  const pod = now.spec!.template!.spec as { initContainers?: unknown; volumes: { name: string }[] };
  assert.deepEqual(pod.initContainers ?? [], []);
  assert.deepEqual(
    pod.volumes.map(({ name }) => name).filter((name) => name === "etc-ssl-certs"),
    [],
  );
});

test("B51 a tenant of Kamaji's keeps its authority, keys and place, runs on, and goes though Kamaji's operator is gone", async (t) => {
  const { client, until, inTenant } = await tenantsWorld(t);
  const secret = async (name: string, texts: Record<string, string>, finalizers: string[] = []) =>
    await client.create(Secret, {
      metadata: {
        ...{ namespace: NAMESPACE, name: `a-${name}`, finalizers },
        labels: { "kamaji.clastix.io/project": "kamaji", "kamaji.clastix.io/name": "a" },
      },
      data: encoded(texts),
    });
  const { certificatePem, keyPem } = await createAuthority({ commonName: "kubernetes", clock, algorithm: "RSA-2048" });
  const signing = await createKeyPair("RSA-2048");
  await secret("ca", { "ca.crt": certificatePem, "ca.key": keyPem, "tls.crt": certificatePem, "tls.key": keyPem });
  await secret("sa-certificate", { "sa.key": signing.keyPem, "sa.pub": publicPem(signing.keyPem) });
  await secret("datastore-config", { DB_SCHEMA: "tenants_a", DB_USER: "tenants_a" }, [
    "finalizer.kamaji.clastix.io/datastore-secret",
  ]);
  const made = await client.create(TenantControlPlane, {
    metadata: { ...ref, annotations: { [PAUSED]: "" }, finalizers: FINALIZERS },
    spec: {
      dataStore: "default",
      controlPlane: { deployment: { replicas: 2 }, service: { serviceType: "LoadBalancer" } },
      kubernetes: { version: "v1.33.0", kubelet: { cgroupfs: "systemd" } },
      networkProfile: { port: 36_443 },
    },
  } as never);
  const status = {
    kubernetesResources: { version: { version: "v1.33.0", status: "Ready" } },
    storage: { driver: "", dataStoreName: "default", setup: { schema: "tenants_a", user: "tenants_a" } },
  };
  await client.updateStatus(TenantControlPlane, { ...made, status } as never);
  await client.patch(TenantControlPlane, ref, {
    type: "merge",
    body: { metadata: { annotations: { [PAUSED]: null } } },
  });

  const tenant = await until("a", (one) => stateOf(one) === "Ready" && one.status?.kubeconfig?.admin !== undefined);
  assert.deepEqual([tenant.spec.dataStoreSchema, tenant.spec.dataStoreUsername], ["tenants_a", "tenants_a"]);
  const held = async (name: string) => (await client.get(Secret, { namespace: NAMESPACE, name: `a-${name}` })).data!;
  assert.deepEqual((await held("ca"))["ca.crt"], encoded({ x: certificatePem }).x);
  assert.deepEqual((await held("sa-certificate"))["sa.key"], encoded({ x: signing.keyPem }).x);
  await inTenant("a", async (inside) => assert.deepEqual((await inside.list(Node)).items, []));

  await client.delete(TenantControlPlane, ref);
  const { signal, done } = deadline(clock, 30_000);
  while ((await client.find(TenantControlPlane, ref)) !== undefined) {
    assert.ok(!signal.aborted, "the tenant is still there");
    await clock.sleep(25);
  }
  done();
  const config = await client.find(Secret, { namespace: NAMESPACE, name: "a-datastore-config" });
  assert.deepEqual(config?.metadata.finalizers ?? [], []);
});
