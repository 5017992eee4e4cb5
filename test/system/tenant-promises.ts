/** What holds for a tenant on every runtime, as its user sees it: one suite for all of them. */
import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { systemClock as clock, deadline } from "@slipway/base";
import { ConfigMap, Deployment, Namespace, Node, Secret } from "@slipway/kube/core";
import { TenantControlPlane } from "../../src/kinds/kamaji/tenant-control-plane.ts";
import { remotesOfChildren } from "./remotes.ts";
import { NAMESPACE, stateOf, tenantsWorld } from "./tenants-world.ts";

/** A runtime that the suite runs on. */
export interface Run {
  name: string;
  /** As `tenantsWorld` takes it. */
  runs: string;
  /** That the world's tenants have by themselves. */
  version: string;
  /** One that they can go up to; unset: there is none. */
  later?: string;
}

interface PodSpec {
  containers: { image: string }[];
}

type Promised = (t: TestContext, run: Run) => Promise<void>;
const promises: [name: string, holds: Promised][] = [];
const promise = (name: string, holds: Promised): void => void promises.push([name, holds]);

/** Declares all tests, on one runtime. `skip`: why it can't be had here. */
export function everyPromise(run: Run, skip: string | false = false): void {
  for (const [name, holds] of promises) test(`${name} (${run.name})`, { skip }, async (t) => await holds(t, run));
}

/** The runtime's own Secrets, such as that of its etcd, are none of the tenant's. */
const isOfTenant = ({ metadata }: Secret): boolean => metadata.name.startsWith("a-");

/** ConfigMaps that kube-apiserver and kube-controller-manager write by themselves, some of them only after the tenant is ready. */
const OF_KUBERNETES = new Set([
  "extension-apiserver-authentication",
  "kube-apiserver-legacy-service-account-token-tracking",
  "kube-root-ca.crt",
]);

promise(
  "a TenantControlPlane becomes a cluster of its own, with Kamaji's Secrets and a kubeconfig that works",
  async (t, run) => {
    const { client, apply, until, inTenant } = await tenantsWorld(t, run.runs);
    await apply("a");
    const tenant = await until("a", (one) => stateOf(one) === "Ready");
    const { status } = tenant;
    assert.equal(status!.observedGeneration, tenant.metadata.generation);
    assert.match(status!.controlPlaneEndpoint!, /^127\.\d+\.\d+\.\d+:\d+$/);
    assert.equal(status!.kubernetesResources!.version!.version, run.version);
    assert.equal(status!.kubeconfig!.admin!.secretName, "a-admin-kubeconfig");
    const secrets = (await client.list(Secret, { namespace: NAMESPACE })).items.filter(isOfTenant);
    const keys = Object.fromEntries(
      secrets.map(({ metadata, data = {} }) => [metadata.name, Object.keys(data).sort()]),
    );
    assert.deepEqual(keys, {
      "a-admin-kubeconfig": ["admin.conf", "admin.svc", "super-admin.conf", "super-admin.svc"],
      "a-api-server-certificate": ["apiserver.crt", "apiserver.key"],
      "a-api-server-kubelet-client-certificate": ["apiserver-kubelet-client.crt", "apiserver-kubelet-client.key"],
      "a-ca": ["ca.crt", "ca.key", "tls.crt", "tls.key"],
      "a-controller-manager-kubeconfig": ["controller-manager.conf"],
      ...(run.runs !== "embedded" && {
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
      assert.ok(config.data!.ClusterConfiguration!.includes(run.version));
      assert.ok(await inside.get(ConfigMap, { namespace: "kube-public", name: "cluster-info" }));
      assert.deepEqual((await inside.list(Node)).items, []);
    });
  },
);

promise(
  "B26 a reconcile without a change writes nothing, neither here nor in the tenant; nor does another operator",
  async (t, run) => {
    const { client, apply, until, inTenant, restart } = await tenantsWorld(t, run.runs);
    await apply("a");
    await until("a", (one) => stateOf(one) === "Ready");
    const versions = async () => ({
      here: (await client.list(Secret, { namespace: NAMESPACE })).items.map(({ metadata }) => metadata.resourceVersion),
      inside: await inTenant("a", async (inside) =>
        (await inside.list(ConfigMap)).items
          .filter(({ metadata }) => !OF_KUBERNETES.has(metadata.name))
          .map(({ metadata }) => [metadata.name, metadata.resourceVersion]),
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

promise(
  "a tenant sleeps with replicas 0, wakes with its objects, and goes up in version, but not down",
  async (t, run) => {
    const { client, apply, until, inTenant } = await tenantsWorld(t, run.runs);
    await apply("a", { controlPlane: { deployment: { replicas: 2 }, service: { serviceType: "LoadBalancer" } } });
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
    const { later } = run;
    if (later !== undefined) {
      await apply("a", { kubernetes: { version: later, kubelet: { cgroupfs: "systemd" } } });
      await until(
        "a",
        (one) => one.status?.kubernetesResources?.version?.version === later && stateOf(one) === "Ready",
      );
    }
    const down = apply("a", { kubernetes: { version: "v1.32.9", kubelet: { cgroupfs: "systemd" } } });
    await assert.rejects(down, /the minor version can't go below the one that is installed/);
    await inTenant("a", async (inside) => assert.ok(await inside.find(Namespace, { name: "mine" })));
  },
);

promise(
  "B20 the version of CoreDNS is chosen by its tag alone, and its configuration is the user's",
  async (t, run) => {
    const { apply, until, inTenant, restart } = await tenantsWorld(t, run.runs);
    const ref = { namespace: "kube-system", name: "coredns" };
    const imageIs = async (tag: string): Promise<void> =>
      await inTenant("a", async (inside) => {
        const { signal, done } = deadline(clock, 60_000);
        const image = async (): Promise<string> => {
          const pod = (await inside.find(Deployment, ref))?.spec?.template?.spec as PodSpec | undefined;
          return pod?.containers[0]?.image ?? "";
        };
        while ((await image()) !== `registry.k8s.io/coredns/coredns:${tag}`) {
          assert.ok(!signal.aborted, `it is ${await image()}`);
          await clock.sleep(25);
        }
        done();
      });
    await apply("a", { addons: { coreDNS: { imageTag: "v1.11.9" } } });
    await until("a", (one) => stateOf(one) === "Ready");
    await imageIs("v1.11.9");
    const mine = { Corefile: ".:53 { forward . 192.0.2.53 }" };
    await inTenant("a", async (inside) => await inside.patch(ConfigMap, ref, { type: "merge", body: { data: mine } }));
    await restart();
    await apply("a", { addons: { coreDNS: { imageTag: "v1.12.0" } } });
    await imageIs("v1.12.0");
    await inTenant("a", async (inside) => assert.deepEqual((await inside.get(ConfigMap, ref)).data, mine));
  },
);

promise("B19 the families of addresses are in the order in which they were given", async (t, run) => {
  const { apply, until, inTenant } = await tenantsWorld(t, run.runs);
  // A real API server refuses Services of another family than its address first.
  const inOrder = (four: string, six: string) => (run.name === "process" ? [four, six] : [six, four]);
  const [serviceCidrs, podCidrs] = [inOrder("10.96.0.0/16", "fd00::/108"), inOrder("10.244.0.0/16", "fd01::/64")];
  await apply("a", { networkProfile: { port: 37_643, serviceCidrs, podCidrs } });
  await until("a", (one) => stateOf(one) === "Ready");
  await inTenant("a", async (inside) => {
    const { data } = await inside.get(ConfigMap, { namespace: "kube-system", name: "kubeadm-config" });
    assert.ok(data!.ClusterConfiguration!.includes(`serviceSubnet: ${serviceCidrs.join(",")}`));
    assert.ok(data!.ClusterConfiguration!.includes(`podSubnet: ${podCidrs.join(",")}`));
  });
});

promise("B23 accounts' tokens are issued in the name of the cluster's domain", async (t, run) => {
  const { apply, until, inTenant } = await tenantsWorld(t, run.runs);
  await apply("a", { networkProfile: { port: 37_743, clusterDomain: "rack.example" } });
  await until("a", (one) => stateOf(one) === "Ready");
  await inTenant("a", async (_, transport) => {
    const { status, body } = await transport.request({ method: "GET", path: "/.well-known/openid-configuration" });
    assert.equal(status, 200);
    const { issuer } = typeof body === "string" ? JSON.parse(body) : (body as { issuer: string });
    assert.equal(issuer, "https://kubernetes.default.svc.rack.example");
  });
});

promise("B24 a tenant that can't start delays no other", async (t, run) => {
  const { apply, until } = await tenantsWorld(t, run.runs);
  const deployment = { replicas: 1, extraArgs: { apiServer: ["--no-such-flag"] } };
  if (run.name === "process")
    await apply("a", { controlPlane: { deployment, service: { serviceType: "LoadBalancer" } } });
  else await apply("a", { networkProfile: { port: 37_843, certSANs: ["no name"] } });
  await until("a", (one) => one.status?.waitingFor !== undefined);
  await apply("b");
  await until("b", (one) => stateOf(one) === "Ready");
  assert.notEqual(stateOf(await until("a", () => true)), "Ready");
});

promise("B29 a tenant's life reaches this machine and nobody else", async (t, run) => {
  const reached = new Set<string>();
  const watch = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    socket.on("lookup", (_error, _address, _family, host) => void reached.add(host));
    socket.on("connectionAttempt", (ip) => void reached.add(ip));
  };
  subscribe("net.client.socket", watch);
  t.after(() => void unsubscribe("net.client.socket", watch));
  const { client, apply, until, inTenant, restart } = await tenantsWorld(t, run.runs);
  await apply("a");
  await until("a", (one) => stateOf(one) === "Ready");
  await inTenant("a", async (inside) => await inside.create(Namespace, { metadata: { name: "mine" } }));
  await restart();
  await until("a", (one) => stateOf(one) === "Ready");
  for (const remote of remotesOfChildren()) reached.add(remote);
  await client.delete(TenantControlPlane, { namespace: NAMESPACE, name: "a" });
  const { signal, done } = deadline(clock, 60_000);
  while ((await client.find(TenantControlPlane, { namespace: NAMESPACE, name: "a" })) !== undefined) {
    assert.ok(!signal.aborted, "the tenant is still there");
    await clock.sleep(25);
  }
  done();
  assert.ok(reached.size > 0, "nothing is watched");
  assert.deepEqual(
    [...reached].filter((host) => !/^(127\.\d+\.\d+\.\d+|::1|localhost)$/.test(host)),
    [],
  );
});

promise("B25 flags that have no effect are reported by their field", async (t, run) => {
  const { apply, until } = await tenantsWorld(t, run.runs);
  const deployment = { replicas: 1, extraArgs: { apiServer: ["--secure-port=9443"] } };
  await apply("a", { controlPlane: { deployment, service: { serviceType: "LoadBalancer" } } });
  const ignored = ({ status }: TenantControlPlane) => status?.conditions?.find(({ type }) => type === "FieldsIgnored");
  const tenant = await until("a", (one) => stateOf(one) === "Ready" && ignored(one) !== undefined);
  assert.match(ignored(tenant)!.message, /spec.controlPlane.deployment.extraArgs.apiServer: /);
});

promise("a certificate is made anew on request, the clients' keys stay", async (t, run) => {
  const { client, apply, until, inTenant } = await tenantsWorld(t, run.runs);
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
  // A real API server starts anew with it, and refuses until it has read who may do what.
  const { signal, done } = deadline(clock, 60_000);
  const refusal = async (): Promise<unknown> =>
    await inTenant("a", async (inside) => await inside.list(Node)).then(
      () => undefined,
      (error: unknown) => error,
    );
  for (let refused = await refusal(); refused !== undefined; refused = await refusal()) {
    assert.ok(!signal.aborted, `it does not answer: ${refused}`);
    await clock.sleep(100);
  }
  done();
});

promise(
  "what is wrong with a tenant is in its status, with what to do, and heals when it is corrected",
  async (t, run) => {
    const { apply, until } = await tenantsWorld(t, run.runs);
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

promise("B27 a deleted tenant's API and data are gone, and its name can be used again", async (t, run) => {
  const { client, apply, until, inTenant } = await tenantsWorld(t, run.runs);
  await apply("a");
  await until("a", (one) => stateOf(one) === "Ready");
  await inTenant("a", async (inside) => await inside.create(Namespace, { metadata: { name: "mine" } }));
  const ref = { namespace: NAMESPACE, name: "a" };
  const { uid } = (await client.get(TenantControlPlane, ref)).metadata;
  await client.delete(TenantControlPlane, ref);
  const { signal, done } = deadline(clock, 30_000);
  while (
    (await client.find(TenantControlPlane, ref)) !== undefined ||
    (await client.list(Secret, { namespace: NAMESPACE })).items.some(isOfTenant)
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

promise("B27 a tenant whose runtime is none goes when it is deleted", async (t, run) => {
  const { client, apply, until } = await tenantsWorld(t, run.runs);
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
