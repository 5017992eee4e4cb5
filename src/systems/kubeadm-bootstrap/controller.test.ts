/** KubeadmConfigs on the embedded API in virtual time; the workload cluster is the same API, reached when the test says so. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createApiServer } from "@slipway/apiserver";
import { quietLog as log, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { controllerReference, createClient, createManager } from "@slipway/kube";
import { Namespace, Secret } from "@slipway/kube/core";
import { Cluster } from "../../kinds/cluster-api/cluster.ts";
import { Machine } from "../../kinds/cluster-api/machine.ts";
import { installCrds } from "../../kinds/install.ts";
import { KubeadmConfig } from "../../kinds/kubeadm/kubeadm-config.ts";
import { createAuthority } from "../../pki/authority.ts";
import type { WorkloadClusters } from "../../workload/workload-clusters.ts";
import type { ForeignProvider } from "../foreign-provider.ts";
import { kubeadmConfigController } from "./controller.ts";
import { tokensOf } from "./tokens.ts";

const MINUTE = 60_000;
const at = (name: string) => ({ namespace: "default", name });

async function stage(t: TestContext) {
  const [clock, random] = [new VirtualClock(), seededRandom(1)];
  const api = await createApiServer({ clock, random, log });
  const client = createClient(api.transport(), { clock, random, log });
  const installed = installCrds(client, clock, new AbortController().signal, [[Cluster], [Machine], [KubeadmConfig]]);
  await clock.run(MINUTE);
  await installed;
  if ((await client.find(Namespace, { name: "kube-system" })) === undefined)
    await client.create(Namespace, { metadata: { name: "kube-system" } });
  const workload = { isThere: true, foreign: undefined as string | undefined, changed: (_: object) => {} };
  const workloads = {
    of: () => (workload.isThere ? { client, isReached: true } : { isReached: false, why: "connection refused" }),
    onChange: (listener: (cluster: object) => void) => {
      workload.changed = listener;
      return () => {};
    },
  } as unknown as WorkloadClusters;
  const foreign = { found: async () => workload.foreign } as unknown as ForeignProvider;
  const manager = createManager({ transport: api.transport(), clock, random, log, leaderElection: false });
  manager.add(kubeadmConfigController({ workloads, foreign, clock, random, onSecret: () => {} }));
  void manager.start();
  t.after(async () => {
    const stopped = manager.stop();
    await clock.run(MINUTE);
    await stopped;
    await api.close();
  });
  const config = () => client.get(KubeadmConfig, at("w"));
  const condition = async (type: string) => (await config()).status?.conditions?.find((one) => one.type === type);
  const settle = (ms = 10_000) => clock.run(ms);
  return { clock, client, workload, config, condition, settle };
}
type Stage = Awaited<ReturnType<typeof stage>>;

/** A Cluster that is ready, its CA, a worker's Machine and its configuration. */
async function worker({ client, clock }: Stage, { hasVersion = true, spec = {}, ca = true } = {}) {
  const cluster = await client.create(Cluster, {
    metadata: at("c1"),
    spec: {
      controlPlaneEndpoint: { host: "203.0.113.5", port: 6443 },
      controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "KamajiControlPlane", name: "p" },
      infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "PacketCluster", name: "c1" },
    },
  } as never);
  const initialization = { infrastructureProvisioned: true, controlPlaneInitialized: true };
  await client.updateStatus(Cluster, { ...cluster, status: { initialization } } as never);
  if (ca) {
    const { certificatePem } = await createAuthority({ commonName: "kubernetes", clock });
    await client.create(Secret, {
      metadata: at("c1-ca"),
      data: { "tls.crt": Buffer.from(certificatePem).toString("base64") },
    });
  }
  const machine = await client.create(Machine, {
    metadata: at("m1"),
    spec: {
      clusterName: "c1",
      ...(hasVersion && { version: "v1.34.2" }),
      bootstrap: { configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfig", name: "w" } },
      infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "PacketMachine", name: "m1" },
    },
  } as never);
  const owner = {
    apiVersion: `${Machine.group}/${Machine.version}`,
    kind: "Machine",
    name: "m1",
    uid: machine.metadata.uid,
    controller: true,
  };
  return await client.create(KubeadmConfig, {
    metadata: { ...at("w"), labels: { "cluster.x-k8s.io/cluster-name": "c1" }, ownerReferences: [owner] },
    spec,
  } as never);
}

test("A8 a worker's data are written once, with a token that is renewed until its Node has joined, and removed then", async (t) => {
  const here = await stage(t);
  const { client, clock, condition, config, settle } = here;
  await worker(here);
  await settle();
  assert.equal((await condition("Ready"))?.status, "True");
  const secret = await client.get(Secret, at("w"));
  const userData = Buffer.from(secret.data!.value!, "base64").toString();
  const [token] = await tokensOf(client, await config());
  assert.ok(userData.includes(token!.token) && userData.includes("203.0.113.5:6443"), userData);
  await clock.run(20 * MINUTE);
  const [renewed] = await tokensOf(client, await config());
  assert.equal(renewed?.token, token?.token);
  assert.ok(renewed!.ends > clock.now() + 7 * MINUTE, "it is valid for long enough to miss a look");
  const machine = await client.get(Machine, at("m1"));
  await client.updateStatus(Machine, { ...machine, status: { ...machine.status, nodeRef: { name: "n" } } } as never);
  await settle();
  assert.deepEqual(await tokensOf(client, await config()), []);
  assert.equal((await client.get(Secret, at("w"))).metadata.resourceVersion, secret.metadata.resourceVersion);
});

test("what prevents the data is on the object with what to do, and goes once it is mended", async (t) => {
  const here = await stage(t);
  const { client, condition, settle } = here;
  await worker(here, { hasVersion: false });
  await settle();
  const ready = await condition("Ready");
  assert.deepEqual([ready?.status, ready?.reason], ["False", "MissingInput"]);
  assert.match(ready!.message, /spec\.version is missing.*such as v1\.34\.2/);
  await client.patch(Machine, at("m1"), { type: "merge", body: { spec: { version: "v1.34.2" } } });
  await settle();
  assert.equal((await condition("Ready"))?.status, "True");
});

test("the workload cluster's API and its CA are waited for by name, and a cluster that is reached goes on at once, its CA within ten seconds", async (t) => {
  const here = await stage(t);
  const { client, workload, config, condition, settle } = here;
  workload.isThere = false;
  await worker(here, { ca: false });
  await settle();
  assert.equal((await config()).status?.waitingFor, "the API of Cluster c1: connection refused");
  workload.isThere = true;
  workload.changed(at("c1"));
  await settle(1_000);
  assert.equal((await config()).status?.waitingFor, "Secret c1-ca with the key tls.crt");
  const { certificatePem } = await createAuthority({ commonName: "kubernetes", clock: here.clock });
  await client.create(Secret, {
    metadata: at("c1-ca"),
    data: { "tls.crt": Buffer.from(certificatePem).toString("base64") },
  });
  await settle(11_000);
  assert.equal((await condition("Ready"))?.status, "True");
});

test("data that an operator has left without saying so are replaced: their token may be gone", async (t) => {
  const here = await stage(t);
  const { client, workload, config, condition, settle } = here;
  workload.isThere = false;
  await worker(here);
  await settle();
  const left = { value: Buffer.from("of a token that is gone").toString("base64") };
  const ownerReferences = [controllerReference(KubeadmConfig, await config())];
  await client.create(Secret, { metadata: { ...at("w"), ownerReferences }, data: left });
  workload.isThere = true;
  workload.changed(at("c1"));
  await settle(1_000);
  assert.equal((await condition("Ready"))?.status, "True");
  const { data } = await client.get(Secret, at("w"));
  assert.match(Buffer.from(data!.value!, "base64").toString(), /JoinConfiguration/);
});

test("beside upstream's provider nothing is touched", async (t) => {
  const here = await stage(t);
  here.workload.foreign = "Deployment capi/x";
  await worker(here);
  await here.settle();
  assert.equal((await here.config()).status, undefined);
  assert.equal(await here.client.find(Secret, at("w")), undefined);
});

test("a Secret of the name that is foreign is refused and left as it is; the configuration's own is taken", async (t) => {
  const here = await stage(t);
  const { client, condition, settle } = here;
  const foreign = await client.create(Secret, { metadata: at("w"), data: {} });
  await worker(here);
  await settle();
  const ready = await condition("Ready");
  assert.deepEqual([ready?.status, ready?.reason], ["False", "Refused"]);
  assert.match(
    ready!.message,
    /Secret\/w: it belongs to something else; delete it, or give the KubeadmConfig another name/,
  );
  assert.equal((await client.get(Secret, at("w"))).metadata.resourceVersion, foreign.metadata.resourceVersion);
  await client.delete(Secret, at("w"));
  // What only the user can mend waits for a change of the object.
  await client.patch(KubeadmConfig, at("w"), {
    type: "merge",
    body: { metadata: { annotations: { mended: "true" } } },
  });
  await settle();
  assert.equal((await condition("Ready"))?.status, "True");
});

test("a configuration that goes takes its token with it, where the cluster answers; else it goes all the same", async (t) => {
  for (const isThere of [true, false]) {
    const here = await stage(t);
    const { client, workload, config, settle } = here;
    await worker(here);
    await settle();
    const before = await config();
    assert.equal((await tokensOf(client, before)).length, 1);
    workload.isThere = isThere;
    await client.delete(KubeadmConfig, at("w"));
    await settle();
    assert.equal(await client.find(KubeadmConfig, at("w")), undefined);
    assert.equal((await tokensOf(client, before)).length, isThere ? 0 : 1);
  }
});

test("what only upstream's provider serves is refused on the object, and no data are written", async (t) => {
  const here = await stage(t);
  await worker(here, { spec: { format: "ignition" } });
  await here.settle();
  const ready = await here.condition("Ready");
  assert.deepEqual([ready?.status, ready?.reason], ["False", "Invalid"]);
  assert.equal(await here.client.find(Secret, at("w")), undefined);
});
