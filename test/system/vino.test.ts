/** Vinos on simulated nodes, in virtual time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Node } from "@slipway/kube/core";
import { IPPool } from "../../src/kinds/ipam/ip-pool.ts";
import { VinoNode } from "../../src/kinds/vino/vino-node.ts";
import { sample, VinoWorld } from "./vino-world.ts";

test("a Vino offers its machines as hosts with labels, network data and a controller of their own", async (t) => {
  const world = await VinoWorld.running(t);
  await world.join("leviathan", { labels: { "kubernetes.io/os": "linux", "airshipit.org/rack": "r1" } });
  await world.apply("test", sample({ masters: 1, workers: 4 }));
  const vino = await world.untilReady("test");

  assert.deepEqual([vino.status?.nodes, vino.status?.hosts], ["1/1", "5/5"]);
  assert.deepEqual(vino.metadata.finalizers, ["vino.airshipit.org"]);
  const hosts = await world.hosts();
  const role = (of: string) => hosts.filter(({ metadata }) => metadata.labels?.["airshipit.org/k8s-role"] === of);
  assert.deepEqual([role("master").length, role("worker").length], [1, 4]);
  const [master] = role("master");
  assert.equal(master!.metadata.name, "default-test-leviathan-master-0");
  assert.equal(master!.metadata.labels?.["airshipit.org/rack"], "r1");
  assert.match(
    master!.spec.bmc!.address,
    /^redfish\+https:\/\/10\.9\.0\.1:8443\/redfish\/v1\/Systems\/default-test-leviathan-master-0-[0-9a-f]{6}$/,
  );
  assert.deepEqual(
    [master!.spec.online, master!.spec.rootDeviceHints, master!.spec.bootMACAddress],
    [false, { deviceName: "/dev/vda" }, "52:54:00:06:00:01"],
  );
  const data = JSON.parse((await world.secretTexts(`${master!.metadata.name}-network-data`)).networkData!);
  assert.deepEqual(
    [data.networks[0].ip_address, data.networks[0].netmask, data.networks[0].routes[0].gateway],
    ["192.168.2.11", "255.255.240.0", "192.168.2.10"],
  );
});

test("VINO-12 a label that the node does not have is left out", async (t) => {
  const world = await VinoWorld.running(t);
  await world.join("a");
  await world.apply("test", sample());
  await world.untilReady("test");
  const [host] = await world.hosts();
  assert.ok(!("airshipit.org/rack" in host!.metadata.labels!));
});

test("VINO-7 each machine has a password of its own, which is in its Secret alone, with the authority of its node", async (t) => {
  const world = await VinoWorld.running(t);
  await world.join("a");
  await world.apply("test", sample({ masters: 2 }));
  await world.untilReady("test");
  const hosts = await world.hosts();
  const credentials = await Promise.all(hosts.map(({ spec }) => world.secretTexts(spec.bmc!.credentialsName)));
  const vnc = await Promise.all(hosts.map(({ metadata }) => world.secretTexts(`${metadata.name}-vnc`)));
  const passwords = [...credentials, ...vnc].map(({ password }) => password!);
  assert.equal(new Set(passwords).size, 4);
  for (const { username, "ca.crt": ca } of credentials) {
    assert.equal(username, "admin");
    assert.match(ca!, /BEGIN CERTIFICATE/);
  }
  assert.deepEqual(world.secrets.toSorted(), passwords.toSorted(), "the log is to hide each");
  const [node, vinoNodes] = [await world.list(Node), await world.list(VinoNode)];
  const shown = JSON.stringify([node, vinoNodes, hosts, await world.list(IPPool), world.logged]);
  for (const password of [...passwords, "passw0rd"]) assert.ok(!shown.includes(password));
  const [bmc] = [...world.logins.values()];
  assert.ok(passwords.includes(bmc!.password));
});

test("VINO-15 a node that joins later is served, and one that leaves is freed, without a change of the Vino", async (t) => {
  const world = await VinoWorld.running(t);
  await world.join("a");
  await world.apply("test", sample());
  await world.untilReady("test");
  await world.join("b");
  await world.until("b has a host", async () => (await world.hosts()).length === 2);
  await world.untilReady("test");
  await world.label("a", { "kubernetes.io/os": "other" });
  await world.until(
    "a is freed",
    async () => (await world.list(VinoNode)).length === 1 && (await world.hosts()).length === 1,
  );
  const [pool] = await world.list(IPPool);
  assert.ok(pool!.spec.allocatedIPs.every(({ allocatedTo }) => allocatedTo.includes("/b/")));
  assert.deepEqual(
    pool!.spec.allocatedRanges!.map(({ allocatedTo }) => allocatedTo),
    ["default/test/b/bridge/management"],
  );
  const a = (await world.list(Node)).find(({ metadata }) => metadata.name === "a");
  assert.equal(a!.metadata.labels?.["slipway.dev/vino-agent"], undefined);
  assert.equal(a!.metadata.annotations?.["airshipit.org/vino.network-values"], undefined);
  assert.equal(world.agents.get("a")!.domains.size + world.agents.get("a")!.cores.size, 0);
});

test("VINO-6 nothing is left when a Vino is deleted: hosts, Secrets, addresses, MACs, blocks, domains, cores", async (t) => {
  const world = await VinoWorld.running(t);
  for (const name of ["a", "b", "c"]) await world.join(name);
  await world.apply("test", sample({ masters: 1, workers: 2 }));
  await world.untilReady("test");
  assert.equal((await world.hosts()).length, 9);
  await world.remove("test");
  await world.untilGone("test");
  await world.until("Secrets are collected", async () => (await world.left()).length === 0);
  for (const agent of world.agents.values()) assert.equal(agent.domains.size + agent.cores.size, 0);
  assert.equal(world.logins.size, 0);
});

test("VINO-14 a deletion ends where a node has disappeared", async (t) => {
  const world = await VinoWorld.running(t);
  for (const name of ["a", "b"]) await world.join(name);
  await world.apply("test", sample());
  await world.untilReady("test");
  await world.lose("b");
  await world.remove("test");
  await world.untilGone("test");
  await world.until("nothing is left", async () => (await world.left()).length === 0);
});

test("VINO-6 a smaller count gives back the last machines, and what they had; VINO-4 a changed Vino changes hosts and Secrets", async (t) => {
  const world = await VinoWorld.running(t);
  await world.join("a");
  await world.apply("test", sample({ masters: 1, workers: 3 }));
  await world.untilReady("test");
  const before = (await world.hosts()).map(({ metadata, spec }) => [metadata.name, spec.bootMACAddress]);
  const smaller = sample({ masters: 1, workers: 1 });
  smaller.nodes[1]!.bmhLabels = { "airshipit.org/k8s-role": "compute" };
  smaller.networks[0]!.dns_servers = ["10.1.1.1"];
  smaller.networks[0]!.staticAllocationStart = "192.168.2.100";
  smaller.networks[0]!.staticAllocationStop = "192.168.2.110";
  await world.apply("test", smaller);
  await world.untilReady("test");
  const hosts = await world.hosts();
  assert.deepEqual(
    hosts.map(({ metadata }) => metadata.name),
    ["default-test-a-master-0", "default-test-a-worker-0"],
  );
  assert.equal(hosts[1]!.metadata.labels?.["airshipit.org/k8s-role"], "compute");
  assert.deepEqual(
    hosts.map(({ metadata, spec }) => [metadata.name, spec.bootMACAddress]),
    before.slice(0, 2),
    "a machine keeps its MAC address",
  );
  await world.until("the node is tidy", async () => (await world.list(IPPool))[0]!.spec.allocatedIPs.length === 3);
  const [pool] = await world.list(IPPool);
  assert.deepEqual(pool!.spec.ranges, [{ start: "192.168.2.100", stop: "192.168.2.110" }]);
  const data = JSON.parse((await world.secretTexts("default-test-a-worker-0-network-data")).networkData!);
  assert.deepEqual(
    [data.networks[0].dns_nameservers, data.networks[0].ip_address.startsWith("192.168.2.10")],
    [["10.1.1.1"], true],
  );
  assert.equal(world.agents.get("a")!.domains.size, 2);
  await world.until(
    "Secrets of machines that are gone are, too",
    async () => !(await world.left()).some((each) => each.includes("worker-2")),
  );
});

test("VINO-1 a node that is stuck delays no other, and the Vino names it", async (t) => {
  const world = await VinoWorld.running(t);
  await world.join("good");
  await world.join("stuck", { agent: false });
  await world.apply("test", sample());
  await world.until("good is served", async () => (await world.hosts()).length === 1, 60_000);
  await world.until("the Vino says which", async () =>
    /node stuck: the node's agent/.test((await world.ready("test"))?.message ?? ""),
  );
  const vino = (await world.vino("test"))!;
  assert.equal(vino.status?.nodes, "1/2");
  assert.match(vino.status?.waitingFor ?? "", /node stuck/);
  assert.ok(vino.status?.waitingSince);
});

test("VINO-8 two Vinos on one node, of two namespaces, have machines, addresses and names of their own", async (t) => {
  const world = await VinoWorld.running(t);
  await world.join("a");
  await world.apply("test", sample({ workers: 1 }));
  await world.apply("test", sample({ workers: 1 }), "other");
  await world.untilReady("test");
  await world.untilReady("test", "other");
  const hosts = await world.hosts();
  assert.equal(new Set(hosts.map(({ spec }) => spec.bmc!.address)).size, 4);
  assert.equal(new Set(hosts.map(({ spec }) => spec.bootMACAddress)).size, 4);
  const [pool, ...more] = await world.list(IPPool);
  assert.equal(more.length, 0);
  assert.equal(new Set(pool!.spec.allocatedIPs.map(({ ip }) => ip)).size, 6);
  await world.remove("test");
  await world.untilGone("test");
  await world.untilReady("test", "other");
  assert.equal((await world.hosts()).length, 2);
});
