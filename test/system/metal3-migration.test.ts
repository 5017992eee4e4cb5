/** The walk of docs/migration-from-metal3.md, with objects as a running operator of Metal3 leaves them. The systems on the machines go on running. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { rfc3339Micro } from "@slipway/base";
import { CustomResourceDefinition, Deployment, Lease, Secret } from "@slipway/kube/core";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { HardwareData } from "../../src/kinds/metal3/hardware-data.ts";
import { HostClaim } from "../../src/kinds/metal3/host-claim.ts";
import type { SimServer } from "../../src/sim/rack/server.ts";
import { IMAGE, InventoryWorld, MINUTE, RACK, SECOND } from "./inventory-world.ts";

const LEASE = { name: "baremetal-operator", namespace: RACK };
const OPERATOR = { name: "baremetal-operator-controller-manager", namespace: RACK };
const DEFINITION = { name: "baremetalhosts.metal3.io" };
const MARK = "cert-manager.io/inject-ca-from";
const HARDWARE = { hostname: "node-1", nics: [{ name: "eth0", ip: "192.168.1.7" }], ramMebibytes: 65_536 };
const CONSUMER = { kind: "Metal3Machine", name: "machine-1", namespace: RACK };

/** A host as Metal3's operator has left it, in its state. */
async function leave(world: InventoryWorld, name: string, state: string, spec: object = {}): Promise<SimServer> {
  const server = world.rack(name);
  const image = state === "provisioned" ? IMAGE : undefined;
  server.bootFirst = "disk";
  if (image !== undefined || state === "externally provisioned") {
    server.disks[0]!.content = { image: IMAGE.url, data: {} };
    server.on();
  }
  await world.declare(name, { ...(image && { image }), ...spec });
  const metadata = { name, namespace: RACK, finalizers: ["baremetalhost.metal3.io/hardwareData"] };
  await world.whileTimePasses(world.client.create(HardwareData, { metadata, spec: { hardware: HARDWARE } }));
  const goodCredentials = { credentials: { name: `${name}-bmc`, namespace: RACK }, credentialsVersion: "1" };
  const status = {
    ...{ operationalStatus: "OK", errorMessage: "", errorCount: 0, poweredOn: server.isOn, goodCredentials },
    provisioning: { state, ID: "its node in Ironic", ...(image && { image }) },
    hardware: HARDWARE,
  };
  const host = (await world.host(name))!;
  const finalizers = ["baremetalhost.metal3.io"];
  await world.change(name, { metadata: { finalizers } });
  const held = (await world.host(name))!;
  await world.whileTimePasses(world.client.updateStatus(BareMetalHost, { ...held, status: status as never }));
  assert.equal(host.status, undefined, "nobody has begun with it");
  return server;
}

/** A cluster in which Metal3's operator leads, with the marks of its manifests. `lead` renews its Lease for so long. */
async function led(t: TestContext) {
  const world = await InventoryWorld.create();
  const { client, clock } = world;
  const now = <T>(call: Promise<T>): Promise<T> => world.whileTimePasses(call);
  // On a real API server, other worlds come after this one.
  t.after(async () => {
    const unmarked = { metadata: { annotations: { [MARK]: null } } };
    await now(client.patch(CustomResourceDefinition, DEFINITION, { type: "merge", body: unmarked }));
    await now(client.delete(Deployment, OPERATOR));
    await now(client.delete(Lease, LEASE));
    await world.close();
  });
  const body = { metadata: { annotations: { [MARK]: "baremetal-operator-system/baremetal-operator-serving-cert" } } };
  await now(client.patch(CustomResourceDefinition, DEFINITION, { type: "merge", body }));
  const labels = { webhook: "metal3-io-v1alpha1-baremetalhost" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "manager", image: "bmo" }] } };
  await now(
    client.create(Deployment, {
      metadata: { ...OPERATOR, labels },
      spec: { replicas: 1, selector: { matchLabels: labels }, template },
    }),
  );
  const renewal = () => ({ holderIdentity: "bmo", leaseDurationSeconds: 15, renewTime: rfc3339Micro(clock.now()) });
  await now(client.create(Lease, { metadata: LEASE, spec: renewal() }));
  const lead = async (ms: number): Promise<void> => {
    for (const end = clock.now() + ms; clock.now() < end; ) {
      await now(client.patch(Lease, LEASE, { type: "merge", body: { spec: renewal() } }));
      await clock.run(15 * SECOND);
    }
  };
  const scale = (replicas: number) =>
    now(client.patch(Deployment, OPERATOR, { type: "merge", body: { spec: { replicas } } }));
  await world.start();
  return { world, lead, scale };
}

test("hosts in use, offered and of others are taken over from Metal3's operator as what they are: nothing is started, wiped or installed", async (t) => {
  const { world, lead, scale } = await led(t);
  const used = await leave(world, "node-1", "provisioned", { consumerRef: CONSUMER });
  const free = await leave(world, "node-2", "available", { online: false });
  const theirs = await leave(world, "node-3", "externally provisioned", { externallyProvisioned: true });
  await lead(10 * MINUTE);
  const before = await world.hosts();
  await lead(10 * MINUTE);
  assert.deepEqual(await world.hosts(), before, "while it leads nothing is written");

  await scale(0);
  await world.until("they are driven here", async () =>
    (await world.hosts()).every(({ status }) => status?.goodCredentials?.credentialsVersion !== "1"),
  );
  await world.clock.run(30 * MINUTE);
  const states = (await world.hosts()).map(({ status }) => [status?.provisioning?.state, status?.operationalStatus]);
  assert.deepEqual(states, [
    ["provisioned", "OK"],
    ["available", "OK"],
    ["externally provisioned", "OK"],
  ]);
  assert.deepEqual([used.starts, free.starts, theirs.starts], [1, 0, 1]);
  assert.deepEqual([used.running?.is, theirs.running?.is], ["system", "system"]);
  const { spec, status } = (await world.host("node-1"))!;
  assert.deepEqual([spec.consumerRef, status?.hardware], [CONSUMER, HARDWARE]);
});

test("a machine of a host that was taken over goes on to its system when it asks the network first", async (t) => {
  const { world, scale } = await led(t);
  const used = await leave(world, "node-1", "provisioned");
  await scale(0);
  await world.until(
    "it is driven here",
    async () => (await world.host("node-1"))?.status?.goodCredentials?.credentialsVersion !== "1",
  );
  // DHCP sees a machine before it asks what to boot.
  world.provisioning.hosts.seen({ mac: used.mac, address: used.address });
  await world.clock.run(SECOND);
  used.bootFirst = "network";
  used.restart();
  await world.clock.run(10 * MINUTE);
  assert.deepEqual(
    [used.running?.is, (await world.host("node-1"))?.status?.provisioning?.state],
    ["system", "provisioned"],
  );
});

test("what was taken over lives on as any other: it is wiped when its image is taken back, and its HardwareData goes with it", async (t) => {
  const { world, scale } = await led(t);
  const used = await leave(world, "node-1", "provisioned");
  await scale(0);
  await world.change("node-1", { spec: { image: null } });
  await world.reaches("node-1", "available");
  assert.equal(used.disks[0]?.content, undefined);
  await world.remove("node-1");
  await world.until("it is gone", async () => (await world.host("node-1")) === undefined);
  const data = { name: "node-1", namespace: RACK };
  await world.whileTimePasses(world.client.delete(HardwareData, data)).catch(() => {});
  assert.equal(await world.whileTimePasses(world.client.find(HardwareData, data)), undefined);
});

test("the Deployment that is deleted with its Lease leaves the definition's mark, which keeps the hosts until it is taken off", async (t) => {
  const { world } = await led(t);
  await leave(world, "node-1", "available", { online: false });
  for (const [kind, ref] of [
    [Deployment, OPERATOR],
    [Lease, LEASE],
  ] as const)
    await world.whileTimePasses(world.client.delete(kind as typeof Lease, ref));
  const body = { metadata: { managedFields: [{}] } };
  const definition = { name: "baremetalhosts.metal3.io" };
  await world.whileTimePasses(world.client.patch(CustomResourceDefinition, definition, { type: "merge", body }));
  await world.clock.run(10 * MINUTE);
  assert.equal((await world.host("node-1"))?.status?.goodCredentials?.credentialsVersion, "1");
  const off = { metadata: { annotations: { [MARK]: null } } };
  await world.whileTimePasses(world.client.patch(CustomResourceDefinition, definition, { type: "merge", body: off }));
  await world.until(
    "it is driven here",
    async () => (await world.host("node-1"))?.status?.goodCredentials?.credentialsVersion !== "1",
  );
});

test("the way back: with Metal3's operator scaled up again the hosts are its own, as they are by then", async (t) => {
  const { world, lead, scale } = await led(t);
  const used = await leave(world, "node-1", "provisioned");
  await scale(0);
  await world.until(
    "it is driven here",
    async () => (await world.host("node-1"))?.status?.goodCredentials?.credentialsVersion !== "1",
  );
  await scale(1);
  await lead(2 * MINUTE);
  const before = await world.host("node-1");
  await world.change("node-1", { spec: { online: false } });
  await lead(10 * MINUTE);
  const after = (await world.host("node-1"))!;
  assert.deepEqual([after.status, used.isOn], [before?.status, true]);
  assert.deepEqual(after.metadata.finalizers, ["baremetalhost.metal3.io"]);
});

test("a host that was in the middle of its installation is installed from the beginning", async (t) => {
  const { world, scale } = await led(t);
  const server = await leave(world, "node-1", "provisioning", { image: IMAGE });
  server.bootFirst = "network";
  await scale(0);
  await world.reaches("node-1", "provisioned");
  await world.until("the system runs", () => server.running?.is === "system" && server.running.image === IMAGE.url);
});

test("a password of a BMC that Metal3's operator has marked is read as it is, and its Secret is not written to", async (t) => {
  const { world, scale } = await led(t);
  await leave(world, "node-1", "available", { online: false });
  const ref = { name: "node-1-bmc", namespace: RACK };
  const metadata = {
    labels: { "environment.metal3.io": "baremetal" },
    finalizers: ["baremetalhost.metal3.io/secret"],
  };
  const marked = await world.whileTimePasses(world.client.patch(Secret, ref, { type: "merge", body: { metadata } }));
  await scale(0);
  await world.until(
    "it is driven here",
    async () => (await world.host("node-1"))?.status?.goodCredentials?.credentialsVersion !== "1",
  );
  const { metadata: after } = await world.whileTimePasses(world.client.get(Secret, ref));
  assert.equal(after.resourceVersion, marked.metadata.resourceVersion);
});

test("while Metal3's operator leads, claims are made by consumerRef and say what is to be installed; the host itself is left to it", async (t) => {
  const { world, lead } = await led(t);
  const free = await leave(world, "node-1", "available", { online: false });
  const before = (await world.host("node-1"))!.status;
  const metadata = { name: "mine", namespace: RACK };
  await world.whileTimePasses(world.client.create(HostClaim, { metadata, spec: { poweredOn: true, image: IMAGE } }));
  await lead(3 * MINUTE);
  const { spec, status } = (await world.host("node-1"))!;
  assert.deepEqual([spec.consumerRef?.kind, spec.consumerRef?.name], ["HostClaim", "mine"]);
  assert.deepEqual([spec.image?.url, spec.online, status, free.starts], [IMAGE.url, true, before, 0]);
  const claim = () => world.whileTimePasses(world.client.get(HostClaim, metadata));
  assert.equal((await claim()).status?.conditions?.find(({ type }) => type === "Ready")?.status, "False");

  // An older operator of Metal3 writes no conditions.
  const host = (await world.host("node-1"))!;
  const provisioning = { ...host.status!.provisioning!, state: "provisioned", image: IMAGE };
  await world.whileTimePasses(
    world.client.updateStatus(BareMetalHost, { ...host, status: { ...host.status!, provisioning } }),
  );
  await lead(3 * MINUTE);
  assert.equal((await claim()).status?.conditions?.find(({ type }) => type === "Ready")?.status, "True");
});
