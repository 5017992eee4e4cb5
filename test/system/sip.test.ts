/** SIPClusters: what upstream's own cases ask for (C1 to C7, M1 to M12, S1, S2), and what upstream got wrong. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { ConfigMap, Deployment, Secret, Service } from "@slipway/kube/core";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { HOST_KEY, MINUTE, NAMESPACE, networkData, nodes, RACK_KEY, SERVICES, SipWorld } from "./sip-world.ts";

const CONTRACT = ["sip.airshipit.org/cluster-namespace", "sip.airshipit.org/cluster-name"];

/** Hosts as upstream's tests have them: `node00` and on. `same`: all have one host label. */
async function racked(world: SipWorld, controlPlanes: number, workers: number, same = false): Promise<void> {
  await world.secret("ssh-private-keys", { key: "a private key" });
  const labels = [
    ...Array.from({ length: controlPlanes }, () => "control-plane"),
    ...Array.from({ length: workers }, () => "worker"),
  ];
  for (const [at, label] of labels.entries())
    await world.host(`node0${at}`, {
      ...{ label, rack: "r06", host: same ? "stl2r06o001" : `stl2r06o00${at}`, address: `32.68.51.${139 + at}` },
    });
}

test("SIP-17 C1 M1 hosts of both roles are claimed, each with its role, and everything that serves them is there", async (t) => {
  const world = await SipWorld.running(t);
  await racked(world, 3, 4);
  await world.apply("subcluster-test1", { nodes: nodes(3, 4), services: SERVICES });
  const { status } = await world.untilReady("subcluster-test1");
  assert.deepEqual(
    await world.members("subcluster-test1"),
    [0, 1, 2, 3, 4, 5, 6].map((at) => `default/node0${at} ${at < 3 ? "ControlPlane" : "Worker"}`),
  );
  for (const host of await world.hosts()) {
    assert.equal(host.spec.consumerRef?.name, "subcluster-test1");
    assert.deepEqual(
      CONTRACT.map((label) => host.metadata.labels?.[label]),
      [NAMESPACE, "subcluster-test1"],
    );
  }
  assert.equal(status?.scheduled, "7/7");
  const listed = status!.hosts!.map(({ name, role }) => `${role} ${name}`);
  assert.deepEqual(
    listed.toSorted(),
    [0, 1, 2, 3, 4, 5, 6].map((at) => `${at < 3 ? "ControlPlane" : "Worker"} node0${at}`),
  );
  assert.deepEqual(status?.hosts?.[0]?.addresses, { "oam-ipv4": "32.68.51.139" });
});

const SHORT = [
  ["C2 two control planes where three are wanted", [2, 4], nodes(3, 4), false],
  ["C3 two workers where four are wanted", [3, 2], nodes(3, 4), false],
  ["C4 workers on one server", [1, 2], nodes(1, 2), true],
  ["C5 control planes on one server", [2, 1], nodes(2, 1), true],
  ["C6 workers in one rack", [1, 2], nodes(1, 2, RACK_KEY), false],
  ["C7 control planes in one rack", [2, 1], nodes(2, 1, RACK_KEY), false],
] as const;
for (const [name, [controlPlanes, workers], wanted, same] of SHORT)
  test(`SIP-17 ${name}: no host gets a label or a consumer, and the reason is there for each host`, async (t) => {
    const world = await SipWorld.running(t);
    await racked(world, controlPlanes, workers, same);
    await world.apply("short", { nodes: wanted, services: SERVICES });
    await world.until("it is told", async () => (await world.ready("short"))?.reason === "Unschedulable");
    await world.clock.run(10 * MINUTE);
    for (const { metadata, spec } of await world.hosts()) {
      assert.ok(!Object.keys(metadata.labels ?? {}).some((label) => label.startsWith("sip.airshipit.org/")));
      assert.equal(spec.consumerRef, undefined);
    }
    const { status } = (await world.cluster("short"))!;
    assert.ok((status?.passedOver?.length ?? 0) > 0);
    assert.match(status?.waitingFor ?? "", /^hosts: role \w+ has \d of \d hosts/);
    assert.deepEqual(await world.made(), []);
  });

test("SIP-16 SIP-N6 without a count a role has no hosts, and services without hosts are served", async (t) => {
  const world = await SipWorld.running(t);
  await racked(world, 1, 1);
  await world.apply("empty", { nodes: { ControlPlane: { labelSelector: {} } }, services: {} });
  const { status } = await world.untilReady("empty");
  assert.deepEqual([status?.scheduled, await world.members("empty")], ["0/0", []]);
});

test("SIP-1 SIP-2 SIP-N1 SIP-N2 expansion and contraction move exactly the difference, and a full cluster stays Ready without spare hosts", async (t) => {
  const world = await SipWorld.running(t);
  await racked(world, 0, 3);
  const count = async (workers: number) => await world.apply("one", { nodes: nodes(0, workers), services: {} });
  await count(1);
  await world.untilReady("one");
  const [first] = await world.members("one");
  await count(3);
  await world.untilReady("one");
  assert.equal((await world.members("one")).length, 3);
  const ready = await world.ready("one");
  await world.clock.run(60 * MINUTE);
  assert.deepEqual(await world.ready("one"), ready);
  const before = (await world.cluster("one"))!.metadata.resourceVersion;
  await world.clock.run(60 * MINUTE);
  assert.equal((await world.cluster("one"))!.metadata.resourceVersion, before, "SIP-10 nothing was written");
  await count(2);
  await world.until("one host is free", async () => (await world.members("one")).length === 2);
  await world.untilReady("one");
  const free = (await world.hosts()).filter(({ spec }) => spec.consumerRef === undefined);
  assert.equal(free.length, 1);
  assert.ok((await world.members("one")).includes(first!), "the first that came stays");
});

test("SIP-4 SIP-N4 M7 M8 M9 M10 M12 hosts without readable Secrets are passed over, each with its reason, and good ones take their places", async (t) => {
  const world = await SipWorld.running(t);
  await world.host("a-no-network", { networkData: null });
  await world.host("b-foo", { networkData: JSON.stringify({ foo: 1 }) });
  await world.host("c-no-bmc", { bmc: null });
  await world.host("d-foo-bmc", { bmc: { foo: "x" } });
  await world.host("e-no-id", { networkData: networkData("10.0.0.1").replaceAll("oam-ipv4", "else") });
  await world.host("f-none");
  await world.change("f-none", { spec: { networkData: null } });
  await world.host("y", { address: "10.0.0.8" });
  await world.host("z", { address: "10.0.0.9" });
  const balanced = { loadBalancerControlPlane: SERVICES.loadBalancerControlPlane };
  await world.apply("some", { nodes: nodes(0, 2, ""), services: balanced });
  await world.untilReady("some");
  assert.deepEqual(await world.members("some"), ["default/y Worker", "default/z Worker"]);
  await world.apply("more", { nodes: nodes(0, 1, ""), services: balanced });
  await world.until("it is told", async () => (await world.ready("more"))?.reason === "Unschedulable");
  const { status } = (await world.cluster("more"))!;
  const reasons = new Map(status!.passedOver!.map(({ host, reason }) => [host.replace("default/", ""), reason]));
  assert.match(reasons.get("a-no-network")!, /networkData: Secret default\/a-no-network-network-data is not there/);
  assert.match(reasons.get("b-foo")!, /there is no list of networks/);
  assert.match(reasons.get("c-no-bmc")!, /Secret default\/c-no-bmc-bmc-credentials is not there/);
  assert.match(reasons.get("d-foo-bmc")!, /no username or no password/);
  assert.match(reasons.get("e-no-id")!, /there is no network "oam-ipv4"/);
  assert.equal(reasons.get("f-none"), "no network data");
  assert.equal(reasons.get("y"), "in cluster default/some");
  await world.secret("a-no-network-network-data", { networkData: networkData("10.0.0.2") });
  await world.untilReady("more");
  assert.deepEqual(await world.members("more"), ["default/a-no-network Worker"]);
});

test("SIP-5 SIP-N5 two hosts of one name in two namespaces are both claimed, and told apart by every service", async (t) => {
  const world = await SipWorld.running(t);
  await world.secret("ssh-private-keys", { key: "a private key" });
  await world.host("twin", { address: "10.0.0.1" });
  await world.host("twin", { address: "10.0.0.2", namespace: "other" });
  await world.apply("both", { nodes: nodes(0, 2, ""), services: SERVICES });
  await world.untilReady("both");
  assert.deepEqual(await world.members("both"), ["default/twin Worker", "other/twin Worker"]);
  const config = await world.secretText("loadbalancer-worker-both", "haproxy.cfg");
  assert.match(config, /server twin\.default 10\.0\.0\.1:30002/);
  assert.match(config, /server twin\.other 10\.0\.0\.2:30002/);
});

test("SIP-6 hosts that are in error, paused, in use or not available are passed over", async (t) => {
  const world = await SipWorld.running(t);
  for (const name of ["a", "b", "c", "d", "e"]) await world.host(name);
  await world.change("a", { metadata: { annotations: { "baremetalhost.metal3.io/paused": "" } } });
  await world.change("b", { spec: { consumerRef: { kind: "Metal3Machine", name: "m", namespace: NAMESPACE } } });
  const c = (await world.hosts()).find(({ metadata }) => metadata.name === "c")!;
  await world.passing(
    world.client.updateStatus(BareMetalHost, { ...c, status: { ...c.status, errorMessage: "no power" } }),
  );
  const d = (await world.hosts()).find(({ metadata }) => metadata.name === "d")!;
  await world.state(d, "provisioned");
  await world.apply("one", { nodes: nodes(0, 1, ""), services: {} });
  await world.untilReady("one");
  assert.deepEqual(await world.members("one"), ["default/e Worker"]);
  await world.apply("two", { nodes: nodes(0, 1, ""), services: {} });
  await world.until("it is told", async () => (await world.ready("two"))?.reason === "Unschedulable");
  const passed = (await world.cluster("two"))!.status!.passedOver!.map(({ host, reason }) => `${host} ${reason}`);
  assert.deepEqual(passed.toSorted(), [
    "default/a paused",
    "default/b in use",
    "default/c in error",
    "default/d not available",
    "default/e in cluster default/one",
  ]);
});

test("SIP-6 a host that comes free while a Ready cluster is found short is taken at once, though its freeing woke nobody", async (t) => {
  let freed = 0;
  const between = (inner: Transport): Transport => ({
    ...inner,
    watch: (request) => inner.watch(request),
    async request(request) {
      const isShort = request.method === "PUT" && JSON.stringify(request.body ?? "").includes("Unschedulable");
      if (isShort && freed++ === 0) {
        const body = { metadata: { annotations: { "baremetalhost.metal3.io/paused": null } } };
        await world.client.patch(BareMetalHost, { namespace: NAMESPACE, name: "b" }, { type: "merge", body });
        await world.clock.sleep(500);
      }
      return await inner.request(request);
    },
  });
  const world: SipWorld = await SipWorld.create({ between });
  t.after(() => world.close());
  await world.start();
  for (const name of ["a", "b"]) await world.host(name);
  await world.change("b", { metadata: { annotations: { "baremetalhost.metal3.io/paused": "" } } });
  await world.apply("grows", { nodes: nodes(0, 1, ""), services: {} });
  await world.untilReady("grows");
  await world.apply("grows", { nodes: nodes(0, 2, ""), services: {} });
  await world.clock.run(5_000);
  assert.equal(freed, 1);
  assert.deepEqual(await world.members("grows"), ["default/a Worker", "default/b Worker"]);
});

test("SIP-3 SIP-N3 a cluster that grows takes no second host of a rack", async (t) => {
  const world = await SipWorld.running(t);
  await world.host("a", { rack: "r1" });
  await world.host("b", { rack: "r1" });
  await world.host("c", { rack: "r2" });
  await world.apply("one", { nodes: nodes(0, 1, RACK_KEY), services: {} });
  await world.untilReady("one");
  await world.apply("one", { nodes: nodes(0, 2, RACK_KEY), services: {} });
  await world.untilReady("one");
  assert.deepEqual(await world.members("one"), ["default/a Worker", "default/c Worker"]);
});

test("SIP-8 SIP-13 SIP-15 S1 M4 M6 Service, Secret and Deployment of each entry are there, with all that they need and in any namespace", async (t) => {
  const world = await SipWorld.running(t);
  await world.secret("ssh-private-keys", { key: "a private key" }, "other");
  await world.host("cp-1", { label: "control-plane", address: "192.168.0.1" });
  await world.host("cp-2", { label: "control-plane", address: "192.168.0.2" });
  const [balancer] = SERVICES.loadBalancerControlPlane;
  const services = {
    ...SERVICES,
    loadBalancerControlPlane: [balancer, { ...balancer, nodePort: 31_000, replicas: 3 }],
  };
  await world.apply("s1", { nodes: nodes(2, 0, ""), services }, "other");
  const { status } = await world.untilReady("s1", "other");
  assert.deepEqual(await world.made(), [
    "ConfigMap jumphost-s1",
    ...["jumphost-s1", "loadbalancer-controlplane-s1", "loadbalancer-controlplane2-s1", "loadbalancer-worker-s1"].map(
      (name) => `Deployment ${name}`,
    ),
    ...["jumphost-s1", "jumphostbmc-s1", "jumphostkey-s1"].map((name) => `Secret ${name}`),
    ...["loadbalancer-controlplane-s1", "loadbalancer-controlplane2-s1", "loadbalancer-worker-s1"].map(
      (name) => `Secret ${name}`,
    ),
    ...["jumphost-s1", "loadbalancer-controlplane-s1", "loadbalancer-controlplane2-s1", "loadbalancer-worker-s1"].map(
      (name) => `Service ${name}`,
    ),
  ]);
  const config = await world.secretText("loadbalancer-controlplane-s1", "haproxy.cfg", "other");
  assert.match(config, /server cp-1 192\.168\.0\.1:6443\n {2}server cp-2 192\.168\.0\.2:6443\n$/);
  const jump = await world.passing(world.client.get(Deployment, { name: "jumphost-s1", namespace: "other" }));
  assert.deepEqual(jump.spec?.template?.spec?.hostAliases, [
    { ip: "192.168.0.1", hostnames: ["cp-1"] },
    { ip: "192.168.0.2", hostnames: ["cp-2"] },
  ]);
  const hosts = JSON.parse(await world.secretText("jumphost-s1", "hosts", "other"));
  assert.deepEqual(hosts[0], {
    ...{ name: "cp-1", role: "ControlPlane", address: "192.168.0.1" },
    bmc: {
      address: "redfish+https://32.68.51.12/redfish/v1/Systems/System.Embedded.1",
      origin: "https://32.68.51.12",
      system: "/redfish/v1/Systems/System.Embedded.1",
    },
  });
  assert.doesNotMatch(JSON.stringify(hosts), /root|test/, "no credentials are in the list");
  assert.equal(await world.secretText("jumphostbmc-s1", "cp-2.username", "other"), "root");
  assert.equal(await world.secretText("jumphostbmc-s1", "cp-2.password", "other"), "test");
  assert.match(
    await world.secretText("jumphost-s1", "ssh_config", "other"),
    /Host cp-1\n {2}HostName 192\.168\.0\.1\n/,
  );
  const second = await world.passing(
    world.client.get(Deployment, { name: "loadbalancer-controlplane2-s1", namespace: "other" }),
  );
  assert.equal(second.spec?.replicas, 3);
  assert.deepEqual(
    status?.endpoints?.map(({ service, ports, servers }) => [service, ports?.length, servers?.length]),
    [
      ["loadbalancer-controlplane-s1", 1, 2],
      ["loadbalancer-controlplane2-s1", 1, 2],
      ["loadbalancer-worker-s1", 10, 0],
      ["jumphost-s1", 1, undefined],
    ],
  );
  assert.deepEqual(status?.endpoints?.[1]?.ports, [31_000]);
});

test("SIP-17 S2 a jump host whose only key is none is refused because of the key, and what is right beside it is deployed", async (t) => {
  const world = await SipWorld.running(t);
  await world.secret("ssh-private-keys", { key: "a private key" });
  const [jump] = SERVICES.jumpHost;
  const [balancer] = SERVICES.loadBalancerControlPlane;
  const right = { ...SERVICES, loadBalancerControlPlane: [{ ...balancer, nodePort: 30_001 }] };
  const services = { ...right, jumpHost: [{ ...jump, sshAuthorizedKeys: ["sshrsaAAAAB3invalidkey"] }] };
  await world.apply("s2", { services });
  await world.until("it is told", async () => (await world.ready("s2"))?.reason === "InfraServiceFailure");
  assert.match((await world.ready("s2"))!.message, /jumpHost\[0\]\.sshAuthorizedKeys\[0\].*no public key of OpenSSH/);
  assert.ok((await world.made()).includes("Deployment loadbalancer-worker-s2"));
  await world.apply("s2", { services: right });
  await world.untilReady("s2");
});

test("SIP-19 SIP-N7 a network that no host has is an error on any service, the later ones, too", async (t) => {
  const world = await SipWorld.running(t);
  await racked(world, 1, 1);
  const [jump] = SERVICES.jumpHost;
  const services = { ...SERVICES, jumpHost: [{ ...jump, nodeInterfaceId: "nowhere" }] };
  await world.apply("n7", { nodes: nodes(1, 1), services });
  await world.until("it is told", async () => (await world.ready("n7"))?.reason === "Unschedulable");
  assert.match((await world.ready("n7"))!.message, /there is no network "nowhere"/);
  assert.deepEqual(await world.members("n7"), []);
});

test("SIP-7 SIP-11 SIP-N8 SIP-N9 hosts that come and go reach every file and roll the Pods, drift is repaired, and a removed entry is deleted", async (t) => {
  const world = await SipWorld.running(t);
  await racked(world, 1, 2);
  await world.apply("n8", { nodes: nodes(1, 1), services: SERVICES });
  await world.untilReady("n8");
  const templates = async (): Promise<Map<string, string>> => {
    const { items } = await world.passing(world.client.list(Deployment));
    return new Map(items.map(({ metadata, spec }) => [metadata.name, JSON.stringify(spec?.template)]));
  };
  const before = await templates();
  await world.apply("n8", { nodes: nodes(1, 2), services: SERVICES });
  await world.until("both are balanced over", async () =>
    (await world.secretText("loadbalancer-worker-n8", "haproxy.cfg")).includes("server node02 32.68.51.141:30011"),
  );
  await world.untilReady("n8");
  assert.match(await world.secretText("jumphost-n8", "hosts"), /"node02"/);
  assert.match(await world.secretText("jumphost-n8", "ssh_config"), /Host node02/);
  const after = await templates();
  assert.notEqual(after.get("loadbalancer-worker-n8"), before.get("loadbalancer-worker-n8"));
  assert.notEqual(after.get("jumphost-n8"), before.get("jumphost-n8"));
  assert.equal(after.get("loadbalancer-controlplane-n8"), before.get("loadbalancer-controlplane-n8"));

  const key = await world.secretText("jumphostkey-n8", "ssh_host_ed25519_key");
  const ref = { name: "loadbalancer-worker-n8", namespace: NAMESPACE };
  await world.passing(world.client.patch(Secret, ref, { type: "merge", body: { data: { "haproxy.cfg": "" } } }));
  await world.passing(world.client.delete(Service, ref));
  await world.until("it is repaired", async () => {
    const service = await world.client.find(Service, ref);
    return service !== undefined && (await world.secretText(ref.name, "haproxy.cfg")).includes("node02");
  });
  const { loadBalancerWorker: _, ...fewer } = SERVICES;
  await world.apply("n8", { nodes: nodes(1, 2), services: fewer });
  await world.until("it is gone", async () => !(await world.made()).some((name) => name.includes("worker")));
  await world.untilReady("n8");
  assert.equal(await world.secretText("jumphostkey-n8", "ssh_host_ed25519_key"), key, "its own host key stays");
});

test("SIP-7 SIP-N10 deletion gives back every host and deletes everything, and a host that is installed is wiped first", async (t) => {
  const world = await SipWorld.running(t);
  await racked(world, 1, 1);
  await world.apply("n10", { nodes: nodes(1, 1), services: SERVICES });
  const { metadata } = await world.untilReady("n10");
  assert.deepEqual(metadata.finalizers, ["sip.airship.airshipit.org/finalizer"]);
  await world.change("node00", { spec: { image: { url: "http://images.invalid/x", checksum: "a" } } });
  const installed = (await world.hosts()).find(({ metadata: { name } }) => name === "node00")!;
  await world.state(installed, "provisioned");
  await world.remove("n10");
  await world.until("the other is free", async () => (await world.members("n10")).length === 1);
  const waiting = await world.cluster("n10");
  assert.match(waiting?.status?.waitingFor ?? "", /default\/node00: waits for the host to be wiped/);
  assert.deepEqual(await world.made(), []);
  const host = (await world.hosts()).find(({ metadata: { name } }) => name === "node00")!;
  assert.equal(host.spec.image, undefined);
  await world.state(host, "available");
  await world.until("it is gone", async () => (await world.cluster("n10")) === undefined);
  for (const { metadata: each, spec } of await world.hosts()) {
    assert.equal(spec.consumerRef, undefined);
    assert.ok(!Object.keys(each.labels ?? {}).some((label) => /sip|slipway/.test(label)), JSON.stringify(each.labels));
  }
});

test("SIP-9 a cluster is Ready only when all its Deployments are available, and says what it waits for", async (t) => {
  const world = await SipWorld.running(t);
  await racked(world, 1, 1);
  await world.apply("n9", { nodes: nodes(1, 1), services: SERVICES });
  const isWaiting = async () => (await world.ready("n9"))?.reason === "Progressing";
  await world.until("it waits", isWaiting, { kubelets: false });
  await world.clock.run(30 * MINUTE);
  assert.match((await world.cluster("n9"))!.status!.waitingFor!, /Deployment loadbalancer-worker-n9.* to be available/);
  await world.untilReady("n9");
});

test("SIP-12 node labels, the address of the nodes and the proxy take effect", async (t) => {
  const world = await SipWorld.running(t);
  await racked(world, 1, 1);
  const [jump] = SERVICES.jumpHost;
  const [balancer] = SERVICES.loadBalancerControlPlane;
  const placed = { ...balancer, nodeLabels: { "kubernetes.io/os": "linux" }, clusterIP: "1.2.3.4" };
  const services = {
    loadBalancerControlPlane: [placed],
    jumpHost: [
      { ...jump, bmc: { proxy: true } },
      { ...jump, nodePort: 30_001 },
    ],
  };
  await world.apply("n12", { nodes: nodes(1, 1), services });
  const { status } = await world.untilReady("n12");
  const pod = async (name: string) =>
    (await world.passing(world.client.get(Deployment, { name, namespace: NAMESPACE }))).spec!.template!.spec as {
      nodeSelector?: object;
      tolerations: { key: string }[];
      containers: { env?: object[] }[];
    };
  const placedPod = await pod("loadbalancer-controlplane-n12");
  assert.deepEqual(placedPod.nodeSelector, { "kubernetes.io/os": "linux" });
  assert.ok(placedPod.tolerations.some((each) => each.key === "node-role.kubernetes.io/control-plane"));
  assert.equal(status?.endpoints?.[0]?.address, "1.2.3.4");
  assert.equal((await pod("jumphost-n12")).containers[0]!.env, undefined);
  assert.deepEqual((await pod("jumphost2-n12")).containers[0]!.env, [
    { name: "NO_PROXY", value: "*" },
    { name: "no_proxy", value: "*" },
  ]);
});

test("SIP-14 an OpenID Connect provider has its configuration and certificate, and settings for kube-apiserver and users without a secret", async (t) => {
  const world = await SipWorld.running(t);
  const [balancer] = SERVICES.loadBalancerControlPlane;
  const historical = { image: "quay.io/dexidp/dex:v2.20.0", nodePort: 30_556, nodeInterfaceId: "oam-ipv4" };
  const loadBalancerControlPlane = [{ ...balancer, nodePort: 30_001, clusterIP: "192.0.2.10" }];
  const of = (auth: object) => ({ services: { loadBalancerControlPlane, auth: [auth] } });
  await world.apply("n14", of(historical));
  await world.until("it is told", async () => (await world.ready("n14"))?.reason === "InfraServiceFailure");
  assert.match((await world.ready("n14"))!.message, /auth\[0\]\.clusterIP: the issuer has no address/);
  await world.secret("users", {
    staticPasswords: "- {email: ada@example.org, hash: secret-hash, username: ada, userID: '1'}",
  });
  await world.apply("n14", of({ ...historical, clusterIP: "192.0.2.10", configSecret: "users" }));
  await world.untilReady("n14");
  const config = JSON.parse(await world.secretText("dex-n14", "config.yaml"));
  assert.equal(config.issuer, "https://192.0.2.10:30556/dex");
  assert.equal(config.staticPasswords[0].email, "ada@example.org");
  const settings = (await world.passing(world.client.get(ConfigMap, { name: "dexsettings-n14", namespace: NAMESPACE })))
    .data!;
  assert.match(settings["kube-apiserver-flags"]!, /^--oidc-issuer-url=https:\/\/192\.0\.2\.10:30556\/dex$/m);
  assert.match(settings.kubeconfig!, /server: https:\/\/192\.0\.2\.10:30001/);
  assert.doesNotMatch(JSON.stringify(settings), /secret-hash|PRIVATE KEY/);
  const keys = ["ca.crt", "tls.crt"];
  const held = await Promise.all(keys.map((key) => world.secretText("dexkeys-n14", key)));
  const [authority, certificate] = held.map((pem) => new X509Certificate(pem));
  assert.ok(certificate!.verify(authority!.publicKey) && certificate!.checkIP("192.0.2.10") !== undefined);
});

test("SIP-17 M2 M3 hosts that another cluster has are not free, and where none is free the cluster says so of each", async (t) => {
  const world = await SipWorld.running(t);
  await racked(world, 7, 0);
  await world.apply("subcluster-1", { nodes: nodes(2, 0), services: {} });
  await world.untilReady("subcluster-1");
  const [first, second] = await world.members("subcluster-1");
  await world.apply("subcluster-2", { nodes: nodes(5, 0), services: {} });
  await world.untilReady("subcluster-2");
  const others = await world.members("subcluster-2");
  assert.deepEqual([others.length, others.includes(first!), others.includes(second!)], [5, false, false]);
  await world.apply("subcluster-3", { nodes: nodes(1, 0), services: {} });
  await world.until("it is told", async () => (await world.ready("subcluster-3"))?.reason === "Unschedulable");
  const { passedOver } = (await world.cluster("subcluster-3"))!.status!;
  const counts = Map.groupBy(passedOver!, ({ reason }) => reason);
  assert.deepEqual([...counts].map(([reason, all]) => `${all.length} ${reason}`).toSorted(), [
    "2 in cluster default/subcluster-1",
    "5 in cluster default/subcluster-2",
  ]);
});

test("SIP-11 ten clusters at once never share a host, and the rest of the hosts stays free", async (t) => {
  const world = await SipWorld.running(t);
  for (let at = 0; at < 23; at++) await world.host(`n${at}`, { host: `s${at}` });
  for (let at = 0; at < 10; at++) await world.apply(`c${at}`, { nodes: nodes(0, 2, HOST_KEY), services: {} });
  for (let at = 0; at < 10; at++) await world.untilReady(`c${at}`);
  const all = (await Promise.all(Array.from({ length: 10 }, (_, at) => world.members(`c${at}`)))).flat();
  assert.deepEqual([all.length, new Set(all).size], [20, 20]);
  assert.equal((await world.hosts()).filter(({ spec }) => spec.consumerRef === undefined).length, 3);
});

test("SIP-10 looking again leaves a Ready cluster as it is, and a status that can't be written is tried again", async (t) => {
  let refusals = 0;
  const refusing = (inner: Transport): Transport => ({
    ...inner,
    watch: (request) => inner.watch(request),
    async request(request) {
      if (refusals > 0 && request.method === "PUT" && request.path.endsWith("/sipclusters/n10/status")) {
        refusals--;
        throw new Fault("Unavailable", "kubernetes API", "connection refused");
      }
      return await inner.request(request);
    },
  });
  const world = await SipWorld.create({ between: refusing });
  t.after(() => world.close());
  await world.start();
  await racked(world, 1, 1);
  refusals = 5;
  await world.apply("n10", { nodes: nodes(1, 1), services: SERVICES });
  const ready = await world.untilReady("n10");
  assert.equal(refusals, 0);
  await world.change("node00", { metadata: { annotations: { "example.com/looked": "at" } } });
  await world.clock.run(3 * 60 * MINUTE);
  const later = await world.cluster("n10");
  assert.equal(later?.metadata.resourceVersion, ready.metadata.resourceVersion);
  assert.deepEqual(later?.status, ready.status);
});
