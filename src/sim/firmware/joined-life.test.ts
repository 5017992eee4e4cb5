/** A machine that joins a cluster by kubeadm, against an API in memory whose signer is the test. */
import assert from "node:assert/strict";
import { createHash, X509Certificate } from "node:crypto";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ADMIN, createApiServer } from "@slipway/apiserver";
import { Fault, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { createClient, type KubeObject, type Resource, type Transport } from "@slipway/kube";
import { ConfigMap, Node, Pod } from "@slipway/kube/core";
import { createAuthority } from "../../pki/authority.ts";
import { signatureOf } from "../../tenants/embedded/cluster-info-signature.ts";
import type { Progress } from "../hardware.ts";
import { createFirmware } from "./firmware.ts";
import { type JoinEnd, kubeadmJoin, type OpenApi } from "./kubeadm-join.ts";
import { runKubelet } from "./kubelet.ts";
import { sampleHardware } from "./sample-hardware.ts";
import { NO_TIMINGS, type Timings } from "./timings.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const Request: Resource<KubeObject & { spec?: Record<string, unknown>; status?: object }> = {
  ...{ group: "certificates.k8s.io", version: "v1", kind: "CertificateSigningRequest" },
  ...{ plural: "certificatesigningrequests", namespaced: false },
};
const TOKEN = "abcdef.0123456789abcdef";
const ENDPOINT = "10.0.0.1:6443";
const SERVER = "https://api.example:6443";
const CERTIFICATE = "the certificate";

/** A cluster that a machine may join, as kubeadm has made it. `connections`: how it was reached. */
async function rig(t: TestContext) {
  const clock = new VirtualClock(START);
  const ports = { clock, random: seededRandom(1), log: quietLog };
  const { certificatePem } = await createAuthority({ commonName: "kubernetes", clock });
  const api = await createApiServer({ ...ports });
  t.after(() => api.close());
  const client = createClient(api.transport(ADMIN), ports);
  const until = async <T>(look: () => Promise<T | undefined> | T | undefined, forMs = 10_000): Promise<T> => {
    const end = clock.now() + forMs;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      assert.ok(clock.now() < end, `not in time: ${look}`);
      await clock.run(50);
      for (let turns = 0; turns < 20; turns++) await setImmediate();
    }
  };
  const done = async <T>(work: Promise<T>, forMs?: number): Promise<T> => {
    let end: (() => T) | undefined;
    work.then(
      (value) => {
        end = () => value;
      },
      (error: unknown) => {
        end = () => {
          throw error;
        };
      },
    );
    return (await until(() => end, forMs))();
  };
  const data = Buffer.from(certificatePem).toString("base64");
  const kubeconfig = JSON.stringify({
    clusters: [{ cluster: { server: SERVER, "certificate-authority-data": data } }],
  });
  const map = (namespace: string, name: string, held: Record<string, string>) =>
    done(client.create(ConfigMap, { metadata: { namespace, name }, data: held }));
  await map("kube-system", "kubeadm-config", { ClusterConfiguration: "kubernetesVersion: v1.35.2\n" });
  await map("kube-system", "kubelet-config", { kubelet: "" });
  const info = (held: Record<string, string>) => map("kube-public", "cluster-info", held);
  const signed = (): Promise<unknown> =>
    info({ kubeconfig, "jws-kubeconfig-abcdef": signatureOf(kubeconfig, "abcdef", "0123456789abcdef") });
  const hash = `sha256:${createHash("sha256")
    .update(new X509Certificate(certificatePem).publicKey.export({ type: "spki", format: "der" }))
    .digest("hex")}`;
  const connections: Parameters<OpenApi>[0][] = [];
  let closed = 0;
  const open: OpenApi = (connection) => {
    connections.push(connection);
    const transport = api.transport(ADMIN);
    return { ...transport, close: async () => void closed++ } as Transport;
  };
  /** Signs the requests that come. */
  const sign = async (): Promise<Record<string, unknown>> => {
    const request = await until(async () => (await client.list(Request)).items[0]);
    const status = { certificate: Buffer.from(CERTIFICATE).toString("base64") };
    await done(client.updateStatus(Request, { ...request, status }));
    return { ...request.spec, name: request.metadata.name };
  };
  const power = new AbortController();
  t.after(() => power.abort());
  const join = (text: string): Promise<JoinEnd> => kubeadmJoin(text, machine, { ...ports, signal: power.signal, open });
  const machine = { hostname: "m", addresses: [{ type: "InternalIP", address: "10.0.0.7" }] };
  return {
    ...{ api, clock, client, until, done, map, info, signed, hash, connections, open, sign, join, power, ports },
  };
}

const file = (hash: string, rest: object = {}, bootstrapToken: object = {}): string =>
  JSON.stringify({
    ...{ apiVersion: "kubeadm.k8s.io/v1beta4", kind: "JoinConfiguration" },
    discovery: {
      bootstrapToken: { token: TOKEN, apiServerEndpoint: ENDPOINT, caCertHashes: [hash], ...bootstrapToken },
    },
    ...rest,
  });
const SMALL = (type: string, reason: string, message: string) => ({
  ...{ type, status: "False", reason, message },
  ...{ lastHeartbeatTime: "2026-01-01T00:00:00Z", lastTransitionTime: "2026-01-01T00:00:00Z" },
});

test("a machine trusts what the token signs, asks for its certificate and registers its Node", async (t) => {
  const { client, done, signed, hash, connections, sign, join } = await rig(t);
  await signed();
  const nodeRegistration = {
    kubeletExtraArgs: [
      { name: "cloud-provider", value: "external" },
      { name: "provider-id", value: "x://1" },
    ],
    taints: [{ key: "own", effect: "NoSchedule" }],
  };
  const joining = join(file(hash, { nodeRegistration }));
  const { request, ...asked } = (await sign()) as { request: string };
  const end = await done(joining);
  assert.match(Buffer.from(request, "base64").toString(), /^-----BEGIN CERTIFICATE REQUEST-----/);
  assert.match(String((asked as Record<string, unknown>).name), /^node-csr-/);
  const { signerName, usages } = asked as Record<string, unknown>;
  assert.deepEqual(
    [signerName, usages],
    ["kubernetes.io/kube-apiserver-client-kubelet", ["digital signature", "client auth"]],
  );
  assert.ok(end.is === "joined");
  const { key, ca, ...kubelet } = end.kubelet as unknown as Record<string, string>;
  assert.deepEqual([end.node, kubelet], ["m", { server: SERVER, cert: CERTIFICATE }]);
  assert.match(key!, /PRIVATE KEY/);
  const [first, second, third] = connections as unknown as Record<string, unknown>[];
  assert.deepEqual(first, { server: `https://${ENDPOINT}`, insecure: true });
  const { authorization, ...byToken } = second as { authorization: () => Promise<string> };
  assert.deepEqual([byToken, await authorization()], [{ server: SERVER, ca }, `Bearer ${TOKEN}`]);
  assert.deepEqual([third, connections.length], [end.kubelet, 3]);
  const { metadata, spec, status } = await done(client.get(Node, { name: "m" }));
  assert.deepEqual(metadata.labels, {
    ...{ "kubernetes.io/hostname": "m", "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" },
  });
  const uninitialized = { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" };
  assert.equal(spec?.providerID, "x://1");
  assert.deepEqual(spec?.taints?.slice(0, 2), [{ key: "own", effect: "NoSchedule" }, uninitialized]);
  assert.deepEqual(status?.addresses, [
    { type: "InternalIP", address: "10.0.0.7" },
    { type: "Hostname", address: "m" },
  ]);
  assert.equal(status?.nodeInfo?.kubeletVersion, "v1.35.2");
  assert.deepEqual(
    status?.conditions?.map(({ lastHeartbeatTime: _, lastTransitionTime: __, ...one }) => Object.values(one).join(" ")),
    [
      "MemoryPressure False KubeletHasSufficientMemory kubelet has sufficient memory available",
      "DiskPressure False KubeletHasNoDiskPressure kubelet has no disk pressure",
      "PIDPressure False KubeletHasSufficientPID kubelet has sufficient PID available",
      "Ready False KubeletNotReady container runtime network not ready: cni plugin not initialized",
    ],
  );
});

test("a Node has the name that the file gives, and without arguments neither provider's ID nor taints", async (t) => {
  const { client, done, info, hash, sign, join, connections } = await rig(t);
  const kubeconfig = JSON.stringify({
    clusters: [{ cluster: { "certificate-authority-data": "" } }],
  });
  await info({ kubeconfig, "jws-kubeconfig-abcdef": signatureOf(kubeconfig, "abcdef", "0123456789abcdef") });
  await assert.rejects(done(join(file(hash))), "a cluster without an authority");
  assert.equal(connections.length, 1);
  await done(client.delete(ConfigMap, { namespace: "kube-public", name: "cluster-info" }));
  const { certificatePem } = await createAuthority({ commonName: "other", clock: { now: () => START } });
  const ca = Buffer.from(certificatePem).toString("base64");
  const other = JSON.stringify({ clusters: [{ cluster: { "certificate-authority-data": ca } }] });
  await info({ kubeconfig: other, "jws-kubeconfig-abcdef": signatureOf(other, "abcdef", "0123456789abcdef") });
  const text = file("sha256:0", { nodeRegistration: { name: "named" } }, { unsafeSkipCAVerification: true });
  const joining = join(text);
  await sign();
  const end = await done(joining);
  assert.ok(end.is === "joined");
  assert.deepEqual([end.node, end.kubelet.server], ["named", `https://${ENDPOINT}`]);
  const { spec, status } = await done(client.get(Node, { name: "named" }));
  assert.equal(spec?.providerID, undefined);
  assert.ok(!(spec?.taints ?? []).some(({ key }) => key.includes("cloudprovider")));
  assert.deepEqual(status?.addresses?.at(-1), { type: "Hostname", address: "named" });
});

test("kubeadm refuses what it can't trust, a name that is taken, and gives up after five minutes", async (t) => {
  const { client, done, map, info, signed, hash, join, clock } = await rig(t);
  const said = async (text: string, forMs?: number): Promise<string> => {
    const end = await done(join(text), forMs);
    return end.is === "refused" ? end.message : end.is;
  };
  await info({ kubeconfig: "{}", "jws-kubeconfig-other0": "a..b" });
  const from = clock.now();
  assert.equal(
    await said(file(hash), 400_000),
    "kubeadm: timed out waiting for cluster-info with the token's signature",
  );
  const took = clock.now() - from;
  assert.ok(took > 300_000 && took < 301_000, String(took));
  const again = async (held: () => Promise<unknown>): Promise<void> => {
    await done(client.delete(ConfigMap, { namespace: "kube-public", name: "cluster-info" }));
    await held();
  };
  await again(() => info({ kubeconfig: "{}", "jws-kubeconfig-abcdef": "a..b" }));
  assert.equal(await said(file(hash)), "kubeadm: cluster-info is not signed by the token");
  await again(signed);
  assert.equal(await said(file(`${hash}0`)), "kubeadm: none of the public keys has the hash that is pinned");
  assert.equal(
    await said(file(hash, {}, { caCertHashes: undefined })),
    "kubeadm: none of the public keys has the hash that is pinned",
  );
  const conditions = [{ type: "Ready", status: "True" }];
  await done(client.create(Node, { metadata: { name: "m" }, status: { conditions } } as never));
  assert.equal(await said(file(hash)), "kubeadm: a Node m that is Ready exists already");
  await done(client.delete(ConfigMap, { namespace: "kube-system", name: "kubelet-config" }));
  await assert.rejects(done(join(file(hash))), { code: "NotFound", message: /kubelet-config/ });
  await map("kube-system", "kubelet-config", {});
});

const pod = (name: string, spec: object = {}) =>
  ({
    metadata: { namespace: "default", name },
    spec: { nodeName: "m", containers: [{ name: "c", image: "i" }], ...spec },
  }) as never;
const NETWORK = {
  hostNetwork: true,
  volumes: [{ name: "cni", hostPath: { path: "/etc/cni/net.d" } }],
  containers: [{ name: "c", image: "i", volumeMounts: [{ name: "cni", mountPath: "/x" }] }],
};

test("a kubelet runs the Pods of its node; those with an address once there is a network, and with it the Node is Ready", async (t) => {
  const { client, done, until, clock, open, ports } = await rig(t);
  const stop = new AbortController();
  const conditions = [
    SMALL("MemoryPressure", "r", "m"),
    { ...SMALL("Ready", "KubeletNotReady", "no"), lastTransitionTime: "2025-01-01T00:00:00Z" },
  ].map((one) => ({ ...one, lastTransitionTime: "2025-01-01T00:00:00Z" }));
  await done(client.create(Node, { metadata: { name: "m" }, status: { conditions, addresses: [] } } as never));
  await done(client.create(Pod, pod("before")));
  await done(client.create(Pod, pod("host", { hostNetwork: true })));
  await done(client.create(Pod, pod("elsewhere", { nodeName: "other", hostNetwork: true })));
  let closed = 0;
  const counted: OpenApi = (connection) => ({ ...open(connection), close: async () => void closed++ }) as Transport;
  const kubelet = runKubelet("m", { server: "s" }, { ...ports, signal: stop.signal, open: counted });
  const phase = async (name: string) =>
    (await client.find(Pod, { namespace: "default", name }))?.status?.phase ?? "none";
  const runs = (name: string) => until(async () => ((await phase(name)) === "Running" ? true : undefined));
  await runs("host");
  await clock.run(1_000);
  assert.deepEqual([await phase("before"), await phase("elsewhere")], ["Pending", "Pending"]);
  const ready = async () =>
    (await client.get(Node, { name: "m" })).status?.conditions?.find(({ type }) => type === "Ready");
  assert.equal((await ready())?.status, "False");

  await done(client.create(Pod, pod("network", NETWORK)));
  await runs("before");
  await runs("network");
  const { lastHeartbeatTime: _, ...is } = (await ready())!;
  assert.equal(Date.parse(is.lastTransitionTime!) > START - 1, true);
  assert.deepEqual(
    { ...is, lastTransitionTime: "" },
    {
      ...{ type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" },
      lastTransitionTime: "",
    },
  );
  const all = (await client.get(Node, { name: "m" })).status?.conditions ?? [];
  assert.deepEqual(
    all.map(({ type, lastTransitionTime }) => [type, lastTransitionTime! < "2025-06"]),
    [
      ["MemoryPressure", true],
      ["DiskPressure", false],
      ["PIDPressure", false],
      ["Ready", false],
    ],
  );
  await done(client.create(Pod, pod("after")));
  await runs("after");
  assert.match((await client.get(Pod, { namespace: "default", name: "after" })).status?.podIP ?? "", /^10\.244\./);
  assert.equal((await client.get(Pod, { namespace: "default", name: "host" })).status?.podIP, undefined);
  await done(client.delete(Pod, { namespace: "default", name: "after" }));
  await until(async () => ((await phase("after")) === "none" ? true : undefined));
  stop.abort();
  await done(kubelet);
  assert.deepEqual([closed, await phase("elsewhere")], [1, "Pending"]);
});

test("a Pod that brought the network and runs already makes the Node ready, too", async (t) => {
  const { client, done, until, open, ports } = await rig(t);
  const stop = new AbortController();
  await done(client.create(Node, { metadata: { name: "m" } }));
  const created = await done(client.create(Pod, pod("network", NETWORK)));
  await done(client.updateStatus(Pod, { ...created, status: { phase: "Running" } } as never));
  await done(client.create(Pod, pod("waits")));
  const kubelet = runKubelet("m", { server: "s" }, { ...ports, signal: stop.signal, open });
  await until(async () =>
    (await client.get(Pod, { namespace: "default", name: "waits" })).status?.phase === "Running" ? true : undefined,
  );
  stop.abort();
  await done(kubelet);
});

/** What a machine says that starts with user data. */
async function lived(
  userData: string,
  { timings = NO_TIMINGS, of }: { timings?: Timings; of?: Awaited<ReturnType<typeof rig>> } = {},
) {
  const clock = of?.clock ?? new VirtualClock(START);
  const said: string[] = [];
  const firmware = createFirmware({
    ...{ clock, random: { fraction: () => 0.5 } as never, log: quietLog, site: undefined, timings },
    http: async () => {
      throw new Fault("Unavailable", "x", "nobody answers");
    },
    ...(of !== undefined && { random: of.ports.random, openApi: of.open }),
  });
  const say = ({ stage, message }: Progress): void =>
    void said.push(`${(clock.now() - START) / 1000} ${stage}: ${message}`);
  const machine = firmware.fromNetwork(sampleHardware(), { scriptUrl: "", userData }, say);
  return { clock, said, machine };
}
const TIMES: Timings = {
  ...{ postMs: 1_000, dhcpMs: 2_000, kernelMs: 4_000, installMs: 8_000, diskBootMs: 16_000, joinRetryMs: 32_000 },
};

test("the provider's image carries out user data that is cloud-init's, and says what became of it, step by step", async () => {
  const all = async (userData: string): Promise<string[]> => {
    const { clock, said } = await lived(userData, { timings: TIMES });
    await clock.run(60_000);
    assert.equal(clock.pending, 0);
    return said;
  };
  const begin = ["1 dhcp: asks for an address"];
  const image = [...begin, "3 installing: starts the provider's image"];
  const recorded = (count: number) => `27 installed: is set up by cloud-init: ${count} commands are recorded`;
  assert.deepEqual(await all("#!/bin/sh"), [...begin, "3 shell: nothing to boot"]);
  assert.deepEqual(await all("#cloud-config\n- a"), [...image, "11 failed: cloud-init: the user data is no mapping"]);
  assert.deepEqual(await all("#cloud-config\nruncmd: [ls, 'kubeadm init']"), [...image, recorded(2)]);
  const join = (path: string) =>
    `#cloud-config\nwrite_files: [{path: /j, content: "kind: X"}]\nruncmd: [ls, "x && kubeadm join --config ${path} -v5"]`;
  assert.deepEqual(await all(join("/none")), [...image, recorded(2), "27 failed: kubeadm: /none does not exist"]);
  assert.deepEqual(await all(join("/j")), [
    ...image,
    recorded(2),
    "27 failed: kubeadm: the file has no JoinConfiguration",
  ]);
});

test("a machine that has joined by its user data runs its Pods, until its power goes", async (t) => {
  const of = await rig(t);
  await of.signed();
  const text = file(of.hash).replaceAll('"', '\\"');
  const { said, machine } = await lived(
    `#cloud-config\nwrite_files: [{path: /j, content: "${text}"}]\nruncmd: [kubeadm join --config /j]`,
    { of },
  );
  await of.sign();
  await of.until(() => said.find((line) => line.endsWith("joined: has joined as Node pool-abcdefgh")));
  const { status } = await of.done(of.client.get(Node, { name: "pool-abcdefgh" }));
  assert.deepEqual(status?.addresses, [
    { type: "InternalIP", address: "10.0.0.7" },
    { type: "ExternalIP", address: "198.51.100.7" },
    { type: "Hostname", address: "pool-abcdefgh" },
  ]);
  await of.done(of.client.create(Pod, pod("host", { nodeName: "pool-abcdefgh", hostNetwork: true })));
  await of.until(async () =>
    (await of.client.get(Pod, { namespace: "default", name: "host" })).status?.phase === "Running" ? true : undefined,
  );
  machine.off();
  await of.done(of.client.create(Pod, pod("late", { nodeName: "pool-abcdefgh", hostNetwork: true })));
  await of.clock.run(5_000);
  assert.equal((await of.client.get(Pod, { namespace: "default", name: "late" })).status?.phase, "Pending");
});
