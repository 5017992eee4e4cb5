/** Tenants as Deployments of a cluster: what is there, what is waited for, and what becomes of changes by others. */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { systemClock as clock, deadline } from "@slipway/base";
import type { KubeObject, Resource } from "@slipway/kube";
import { ConfigMap, Deployment, Namespace, Secret, Service } from "@slipway/kube/core";
import { DataStore } from "../../src/kinds/kamaji/data-store.ts";
import { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { createAuthority } from "../../src/pki/authority.ts";
import { NAMESPACE, stateOf, type TenantsWorld, tenantsWorld } from "./tenants-world.ts";

const A = { namespace: NAMESPACE, name: "a" };
const isReady = (one: TenantControlPlane): boolean => stateOf(one) === "Ready";
const ofTemplate = ({ spec }: Deployment, label: string): string | undefined =>
  spec!.template!.metadata!.labels![`component.kamaji.clastix.io/${label}`];

/** Resolves with the object once it is so. */
async function until<T extends KubeObject>(
  { client }: TenantsWorld,
  resource: Resource<T>,
  ref: { namespace: string; name: string },
  what: (object: T | undefined) => boolean,
): Promise<T | undefined> {
  const { signal, done } = deadline(clock, 30_000);
  try {
    for (;;) {
      const found = await client.find(resource, ref);
      if (what(found)) return found;
      assert.ok(!signal.aborted, `not in time: ${JSON.stringify(found)}`);
      await clock.sleep(25);
    }
  } finally {
    done();
  }
}

/** Changes a tenant's specification, and resolves when the controller has dealt with it. */
async function change(world: TenantsWorld, spec: object): Promise<TenantControlPlane> {
  const changed = await world.client.patch(TenantControlPlane, A, { type: "merge", body: { spec } });
  return await world.until(
    "a",
    (one) => one.status!.observedGeneration === changed.metadata.generation && isReady(one),
  );
}

test("B26 Deployment and Service are not written without a change, nor by another operator", async (t) => {
  const world = await tenantsWorld(t, "deployment");
  await world.apply("a");
  await world.until("a", isReady);
  const versions = async () => [
    (await world.client.get(Service, A)).metadata.resourceVersion,
    (await world.client.get(Deployment, A)).metadata.resourceVersion,
  ];
  const before = await versions();
  await world.restart();
  await change(world, { addons: { kubeProxy: { imageTag: "v1.33.1" } } });
  assert.deepEqual(await versions(), before);
});

test("B8 what is no longer asked for goes, what others wrote stays, and what they changed of ours is put back", async (t) => {
  const world = await tenantsWorld(t, "deployment");
  const { client } = world;
  const additionalMetadata = { annotations: { mine: "1" }, labels: { mine: "1" } };
  await world.apply("a", {
    controlPlane: { deployment: { replicas: 1 }, service: { serviceType: "LoadBalancer", additionalMetadata } },
  });
  await world.until("a", isReady);
  await client.patch(Service, A, { type: "merge", body: { metadata: { annotations: { theirs: "1" } } } });
  await client.patch(Deployment, A, { type: "merge", body: { spec: { replicas: 7 } } });
  await until(world, Deployment, A, (one) => one?.spec?.replicas === 1);
  assert.equal((await client.get(Service, A)).metadata.annotations!.mine, "1");
  await change(world, { controlPlane: { service: { additionalMetadata: null } } });
  const { annotations, labels } = (await client.get(Service, A)).metadata;
  assert.deepEqual([annotations!.mine, labels!.mine, annotations!.theirs], [undefined, undefined, "1"]);
  await client.delete(Deployment, A);
  await until(world, Deployment, A, (one) => one?.status?.readyReplicas === 1);
});

test("a tenant without an address says what it waits for, and goes on when there is one", async (t) => {
  const world = await tenantsWorld(t, "deployment");
  await world.apply("a", { networkProfile: { port: 36_443, loadBalancerClass: "nobody.example/lb" } });
  const waiting = await world.until("a", (one) => one.status?.waitingFor !== undefined);
  assert.equal(waiting.status!.waitingFor, "Service a to get an address from a load balancer");
  assert.equal(stateOf(waiting), "Provisioning");
  const ready = waiting.status!.conditions!.find(({ type }) => type === "Ready")!;
  assert.deepEqual([ready.status, ready.reason], ["False", "NoAddress"]);
  assert.equal(await world.client.find(Deployment, A), undefined);
  const service = await world.client.get(Service, A);
  const status = { loadBalancer: { ingress: [{ ip: "127.0.0.9" }] } };
  await world.client.updateStatus(Service, { ...service, status });
  const tenant = await world.until("a", isReady);
  assert.equal(tenant.status!.controlPlaneEndpoint, "127.0.0.9:36443");
  assert.deepEqual(tenant.status!.kubernetesResources!.service!.loadBalancer, status.loadBalancer);
  assert.equal(tenant.status!.waitingFor, undefined);
});

test("Pods that don't start are what the tenant waits for, with the reason", async (t) => {
  const world = await tenantsWorld(t, "deployment");
  const additionalContainers = [{ name: "mine", image: "mine", args: ["--key-file=/etc/kubernetes/mine.key"] }];
  const service = { serviceType: "LoadBalancer" };
  await world.apply("a", { controlPlane: { deployment: { replicas: 1, additionalContainers }, service } });
  const waiting = await world.until("a", (one) => /mine.key/.test(one.status?.waitingFor ?? ""));
  assert.match(waiting.status!.waitingFor!, /^Deployment a: 0 of 1 Pods are ready: mine has no file/);
  await change(world, { controlPlane: { deployment: { additionalContainers: null } } });
});

test("a name of the control plane's own is refused on the tenant, and a field without effect is said there", async (t) => {
  const world = await tenantsWorld(t, "deployment");
  const additionalContainers = [{ name: "kube-scheduler", image: "mine" }];
  const service = { serviceType: "LoadBalancer" };
  const extraArgs = { apiServer: ["--secure-port=1"] };
  const deployment = { replicas: 1, additionalContainers, extraArgs };
  await world.apply("a", { controlPlane: { deployment, service } });
  const stalled = await world.until(
    "a",
    (one) => one.status?.conditions?.some(({ type }) => type === "Stalled") === true,
  );
  assert.match(stalled.status!.waitingFor!, /additionalContainers: kube-scheduler is a container of the control plane/);
  const tenant = await change(world, { controlPlane: { deployment: { additionalContainers: null } } });
  const ignored = tenant.status!.conditions!.find(({ type }) => type === "FieldsIgnored")!;
  assert.equal(ignored.message, "spec.controlPlane.deployment.extraArgs.apiServer: --secure-port is managed");
  const corrected = await change(world, { controlPlane: { deployment: { extraArgs: null } } });
  assert.deepEqual(
    corrected.status!.conditions!.map(({ type }) => type),
    ["Ready"],
  );
});

test("a tenant whose Pods can't listen is not ready and says so; it is once they can", async (t) => {
  const world = await tenantsWorld(t, "deployment");
  const other = createServer();
  // Another test may have the address at the same time, which is just as good.
  const { promise, resolve } = Promise.withResolvers<void>();
  other.once("error", () => resolve()).listen(36_443, "127.0.0.2", resolve);
  await promise;
  await world.apply("a");
  const waiting = await world.until("a", ({ status }) => /0 of 1 Pods/.test(status?.waitingFor ?? ""));
  assert.equal(isReady(waiting), false);
  other.close();
  await world.until("a", isReady);
});

test("a Secret that changes replaces the Pods, and no other does", async (t) => {
  const world = await tenantsWorld(t, "deployment");
  await world.apply("a");
  await world.until("a", isReady);
  const before = await world.client.get(Deployment, A);
  const body = { metadata: { annotations: { "certs.kamaji.clastix.io/rotate": "" } } };
  await world.client.patch(Secret, { ...A, name: "a-scheduler-kubeconfig" }, { type: "merge", body });
  const mark = "scheduler-kubeconfig";
  const after = await until(world, Deployment, A, (one) => ofTemplate(one!, mark) !== ofTemplate(before, mark));
  assert.equal(ofTemplate(after!, "api-server-certificate"), ofTemplate(before, "api-server-certificate"));
});

test("konnectivity is in the Pods and in the tenant while it is asked for", async (t) => {
  const world = await tenantsWorld(t, "deployment");
  const names = async () =>
    (await world.client.get(Deployment, A)).spec!.template!.spec!.containers as { name: string }[];
  const inTenant = async () =>
    await world.inTenant("a", async (inside) =>
      (await inside.list(DaemonSet)).items.map(({ metadata }) => metadata.name),
    );
  const konnectivity = { server: { port: 8132 }, agent: {} };
  await world.apply("a", { addons: { konnectivity } });
  const tenant = await world.until("a", isReady);
  assert.equal(tenant.status!.addons!.konnectivity!.enabled, true);
  assert.deepEqual(tenant.status!.addons!.konnectivity!.agent!.name, "konnectivity-agent");
  assert.ok((await names()).some(({ name }) => name === "konnectivity-server"));
  assert.deepEqual(await inTenant(), ["konnectivity-agent"]);
  const config = { ...A, name: "a-konnectivity-egress-selector-configuration" };
  assert.ok(await world.client.find(ConfigMap, config));
  await change(world, { addons: { konnectivity: null } });
  await until(world, ConfigMap, config, (one) => one === undefined);
  assert.ok(!(await names()).some(({ name }) => name === "konnectivity-server"));
  assert.deepEqual(await inTenant(), []);
});

test("a deleted tenant leaves nothing in the cluster", async (t) => {
  const world = await tenantsWorld(t, "deployment");
  await world.apply("a", { addons: { konnectivity: { server: { port: 8132 } } } });
  await world.until("a", isReady);
  await world.client.delete(TenantControlPlane, A);
  await until(world, TenantControlPlane, A, (one) => one === undefined);
  const { signal, done } = deadline(clock, 30_000);
  const left = async () => {
    const lists = await Promise.all(
      ([Deployment, Service, Secret, ConfigMap] as Resource[]).map((one) =>
        world.client.list(one, { namespace: NAMESPACE }),
      ),
    );
    return lists.flatMap(({ items }) => items.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
  };
  while ((await left()).some((name) => !/kube-root-ca/.test(name))) {
    assert.ok(!signal.aborted, `left: ${await left()}`);
    await clock.sleep(25);
  }
  done();
});

interface DaemonSet extends KubeObject {
  spec?: object;
}
const DaemonSet: Resource<DaemonSet> = {
  ...{ group: "apps", version: "v1", kind: "DaemonSet", plural: "daemonsets", namespaced: true },
};

test("a tenant in a database that is no etcd has a kine of its own, and keeps its objects under a new password", async (t) => {
  const world = await tenantsWorld(t, "deployment");
  const { client } = world;
  const { certificatePem } = await createAuthority({ commonName: "postgres", clock });
  const content = (text: string) => ({ content: Buffer.from(text).toString("base64") });
  await client.create(DataStore, {
    metadata: { name: "postgres" },
    spec: {
      driver: "PostgreSQL",
      endpoints: ["db.example:5432"],
      basicAuth: { username: content("root"), password: content("x") },
      tlsConfig: { certificateAuthority: { certificate: content(certificatePem) } },
    },
  });
  await world.apply("a", { dataStore: "postgres" });
  const tenant = await world.until("a", isReady);
  assert.deepEqual([tenant.status!.storage!.driver, tenant.status!.storage!.dataStoreName], ["PostgreSQL", "postgres"]);
  const held = await client.get(Secret, { ...A, name: "a-datastore-certificate" });
  assert.deepEqual(Object.keys(held.data!), ["ca.crt"]);
  assert.equal(held.metadata.ownerReferences![0]!.uid, tenant.metadata.uid);
  await world.inTenant("a", async (inside) => await inside.create(Namespace, { metadata: { name: "mine" } }));
  const before = ofTemplate(await client.get(Deployment, A), "datastore-config");
  const body = { metadata: { annotations: { "certs.kamaji.clastix.io/rotate": "" } } };
  await client.patch(Secret, { ...A, name: "a-datastore-config" }, { type: "merge", body });
  await until(world, Deployment, A, (one) => ofTemplate(one!, "datastore-config") !== before);
  await world.until("a", isReady);
  await world.inTenant("a", async (inside) => assert.ok(await inside.find(Namespace, { name: "mine" })));
  await change(world, {
    controlPlane: { deployment: { additionalContainers: [{ name: "kine", image: "mine/kine:1" }] } },
  });
  const { containers } = (await client.get(Deployment, A)).spec!.template!.spec as unknown as { containers: object[] };
  assert.ok(containers.some((one) => "image" in one && one.image === "mine/kine:1"));
});
