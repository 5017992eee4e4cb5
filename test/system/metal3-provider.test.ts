/**
 * What Metal3's Cluster API provider (CAPM3) does with BareMetalHosts, and expects of whoever drives them: one convention a test. Its writes
 * are made here as it makes them; it does not run itself.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CustomResourceDefinition, Secret } from "@slipway/kube/core";
import type { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { HardwareData } from "../../src/kinds/metal3/hardware-data.ts";
import { LEFT_OVER } from "./inventory-life.ts";
import { IMAGE, type InventoryWorld, MINUTE, RACK, rack } from "./inventory-world.ts";

const CLUSTER = "cluster.x-k8s.io/cluster-name";
const PAUSED = "baremetalhost.metal3.io/paused";
const STATUS = "baremetalhost.metal3.io/status";
const CONSUMER = {
  kind: "Metal3Machine",
  name: "machine-1",
  namespace: RACK,
  apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
};
const OWNER = { apiVersion: CONSUMER.apiVersion, kind: CONSUMER.kind, name: CONSUMER.name, uid: "uid-of-machine-1" };
const SECRETS = { userData: "machine-1", metaData: "machine-1-metadata", networkData: "machine-1-networkdata" };
const NOTHING = { image: null, customDeploy: null, userData: null, metaData: null, networkData: null };

/** The Secrets of a machine: user data of the bootstrap provider under `value`, the others of a data template under their fields' names. */
async function secretsOf(world: InventoryWorld): Promise<void> {
  const texts = {
    [SECRETS.userData]: { value: "#cloud-config\nruncmd: [kubeadm join]\n", format: "cloud-config" },
    [SECRETS.metaData]: { metaData: "name: machine-1\nproviderid: a/node-1/machine-1\n" },
    [SECRETS.networkData]: { networkData: "links: []\nnetworks: []\nservices: []\n" },
  };
  for (const [name, stringData] of Object.entries(texts))
    await world.whileTimePasses(world.client.create(Secret, { metadata: { name, namespace: RACK }, stringData }));
}

/** In one patch, as the provider does once the machine's bootstrap data are there. */
async function associate(world: InventoryWorld, name: string, spec: object = {}): Promise<void> {
  await secretsOf(world);
  const references = Object.entries(SECRETS).map(([field, name]) => [field, { name, namespace: RACK }]);
  await world.change(name, {
    metadata: { labels: { [CLUSTER]: "prod" }, ownerReferences: [OWNER] },
    spec: { consumerRef: CONSUMER, image: IMAGE, ...Object.fromEntries(references), online: true, ...spec },
  });
}

/** What it asks of a host whose machine is deleted; `fastTrack`: hosts stay on between machines. */
const disassociate = (world: InventoryWorld, name: string, fastTrack = false) =>
  world.change(name, { spec: { ...NOTHING, online: fastTrack } });

/** Whether it would choose the host for a machine. */
function isOffered({ metadata, spec, status }: BareMetalHost): boolean {
  const isFree = spec.consumerRef === undefined && metadata.deletionTimestamp === undefined;
  return isFree && status?.errorMessage === "" && status.provisioning?.state === "available";
}

const hostOf = async (world: InventoryWorld): Promise<BareMetalHost> => (await world.host("node-1"))!;

test("CAPM3 chooses a host that is available, nobody's, and without an error message", async (t) => {
  const world = await rack(t);
  world.rack("node-1");
  await world.declare("node-1");
  assert.equal(isOffered(await hostOf(world)), false);
  assert.ok(isOffered(await world.reaches("node-1", "available")));
  await world.change("node-1", { metadata: { labels: { [CLUSTER]: "prod" } }, spec: { consumerRef: CONSUMER } });
  await world.clock.run(10 * MINUTE);
  const { status, spec } = await hostOf(world);
  assert.deepEqual([status?.provisioning?.state, spec.consumerRef], ["available", CONSUMER], "it waits for its image");
});

test("CAPM3 hands over image and Secrets in one patch, and finds the host provisioned, on, with its consumer, owner and labels", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await world.declare("node-1");
  await world.reaches("node-1", "available");
  const states: string[] = [];
  world.onState("node-1", (state) => states.push(state));
  await associate(world, "node-1");
  const { metadata, spec, status } = await world.reaches("node-1", "provisioned");
  assert.deepEqual(states.slice(-2), ["provisioning", "provisioned"]);
  assert.deepEqual([spec.consumerRef, spec.online, status?.poweredOn], [CONSUMER, true, true]);
  assert.equal(metadata.labels?.[CLUSTER], "prod");
  assert.deepEqual(metadata.ownerReferences, [OWNER]);
  assert.deepEqual(
    [status?.provisioning?.image?.url, status?.operationalStatus, status?.errorMessage],
    [IMAGE.url, "OK", ""],
  );
  await world.until("the system runs", () => server.running?.is === "system");
});

test("CAPM3's user data under `value`, metadata and network data of its templates are on the config drive, with the ids that its Nodes are found by", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await world.declare("node-1");
  await world.reaches("node-1", "available");
  await associate(world, "node-1");
  const { metadata } = await world.reaches("node-1", "provisioned");
  const { data } = server.disks[0]!.content as { data: Record<string, string> };
  const drive = (file: string): string => data[`openstack/latest/${file}`]!;
  assert.match(drive("user_data"), /^#cloud-config\nruncmd/);
  assert.deepEqual(JSON.parse(drive("network_data.json")), { links: [], networks: [], services: [] });
  const meta = JSON.parse(drive("meta_data.json")) as Record<string, string>;
  assert.deepEqual([meta.uuid, meta["metal3-namespace"], meta["metal3-name"]], [metadata.uid, RACK, "node-1"]);
  assert.deepEqual([meta.name, meta.providerid], ["machine-1", "a/node-1/machine-1"]);
});

test("CAPM3 deletes a machine: its host is deprovisioned and wiped though it is to be off, ends available and off, and can be released", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await world.declare("node-1");
  await world.reaches("node-1", "available");
  await associate(world, "node-1");
  await world.reaches("node-1", "provisioned");
  await disassociate(world, "node-1");
  const { spec } = await world.reaches("node-1", "available");
  assert.deepEqual([server.disks[0]?.content, server.isOn, spec.consumerRef], [undefined, false, CONSUMER]);
  await world.until("it is seen to be off", async () => (await hostOf(world)).status?.poweredOn === false);
  const released = { metadata: { labels: { [CLUSTER]: null }, ownerReferences: null }, spec: { consumerRef: null } };
  await world.change("node-1", released);
  await world.clock.run(10 * MINUTE);
  assert.ok(isOffered(await hostOf(world)));
  assert.equal(server.isOn, false);
});

test("CAPM3's fast track keeps a host on between two machines", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await world.declare("node-1");
  await world.reaches("node-1", "available");
  await associate(world, "node-1");
  await world.reaches("node-1", "provisioned");
  await disassociate(world, "node-1", true);
  await world.reaches("node-1", "available");
  await world.until("it is on again", async () => server.isOn && (await hostOf(world)).status?.poweredOn === true);
  assert.ok(server.disks[0]?.content === undefined);
});

test("CAPM3 sets automatedCleaningMode with the machine: disabled leaves the disks as they are", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await world.declare("node-1");
  await world.reaches("node-1", "available");
  await associate(world, "node-1", { automatedCleaningMode: "disabled" });
  await world.reaches("node-1", "provisioned");
  const written = server.disks[0]?.content;
  await disassociate(world, "node-1");
  await world.reaches("node-1", "available");
  assert.deepEqual([server.disks[0]?.content, server.isOn], [written, false]);
});

test("CAPM3 waits for an externally provisioned host to be off, and no more is done with it", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  server.disks[0]!.content = LEFT_OVER;
  server.bootFirst = "disk";
  server.on();
  await world.declare("node-1", { externallyProvisioned: true });
  await world.reaches("node-1", "externally provisioned");
  await disassociate(world, "node-1");
  await world.until("it is off", async () => (await hostOf(world)).status?.poweredOn === false);
  assert.deepEqual([server.isOn, server.disks[0]?.content], [false, LEFT_OVER]);
});

test("CAPM3 pauses a host by its own value for a pivot and adds the status: nothing is done, and neither annotation is taken off", async (t) => {
  const world = await rack(t);
  world.rack("node-1");
  await world.declare("node-1");
  await world.reaches("node-1", "available");
  await associate(world, "node-1");
  const { status } = await world.reaches("node-1", "provisioned");
  const { hardware: _, ...rest } = status!;
  const annotations = { [PAUSED]: "metal3.io/capm3", [STATUS]: JSON.stringify(rest) };
  await world.change("node-1", { metadata: { annotations } });
  const before = (await hostOf(world)).metadata.resourceVersion;
  await world.clock.run(30 * MINUTE);
  const { metadata } = await hostOf(world);
  assert.deepEqual([metadata.resourceVersion, metadata.annotations], [before, annotations]);
});

test("CAPM3's pivot: a host that arrives paused with its status goes on as provisioned once it is unpaused, hardware included, and is not started anew", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  server.disks[0]!.content = { image: IMAGE.url, data: {} };
  server.bootFirst = "disk";
  server.on();
  await world.until("the system runs", () => server.running?.is === "system");
  const { starts } = server;
  const hardware = { hostname: "node-1", nics: [{ name: "eth0", ip: "192.168.1.7" }], ramMebibytes: 65_536 };
  const metadata = { name: "node-1", namespace: RACK };
  await world.whileTimePasses(world.client.create(HardwareData, { metadata, spec: { hardware } }));
  const goodCredentials = { credentials: { name: "node-1-bmc", namespace: RACK }, credentialsVersion: "of there" };
  const provisioning = { state: "provisioned", ID: "of there", image: IMAGE };
  const status = { ...{ operationalStatus: "OK", errorMessage: "", poweredOn: true, goodCredentials, provisioning } };
  const annotations = { [PAUSED]: "metal3.io/capm3", [STATUS]: JSON.stringify(status) };
  await world.declare("node-1", { image: IMAGE, consumerRef: CONSUMER }, annotations);
  await world.clock.run(20 * MINUTE);
  assert.equal((await hostOf(world)).status, undefined);
  await world.change("node-1", { metadata: { annotations: { [PAUSED]: null } } });
  const moved = await world.reaches("node-1", "provisioned");
  await world.clock.run(20 * MINUTE);
  assert.deepEqual(moved.status?.hardware, hardware, "the addresses of its machine are those of the cards");
  const after = await hostOf(world);
  assert.equal(after.metadata.annotations?.[STATUS], undefined);
  assert.notEqual(after.status?.goodCredentials?.credentialsVersion, "of there");
  assert.deepEqual([server.starts, server.running?.is, after.spec.consumerRef], [starts, "system", CONSUMER]);
});

test("clusterctl moves hosts and what is known of their hardware: their definitions have the labels that it goes by", async (t) => {
  const world = await rack(t);
  for (const name of ["baremetalhosts.metal3.io", "hardwaredata.metal3.io"]) {
    const { metadata } = await world.whileTimePasses(world.client.get(CustomResourceDefinition, { name }));
    assert.deepEqual(metadata.labels, {
      "clusterctl.cluster.x-k8s.io": "",
      "clusterctl.cluster.x-k8s.io/move": "",
    });
  }
});

test("CAPM3's remediation holds a host off by a hard reboot annotation of its own, sees it off, and has it back by taking that off", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await world.declare("node-1");
  await world.reaches("node-1", "available");
  await associate(world, "node-1");
  await world.reaches("node-1", "provisioned");
  await world.until("the system runs", () => server.running?.is === "system");
  const off = "reboot.metal3.io/metal3-remediation-uid-1";
  await world.change("node-1", { metadata: { annotations: { [off]: '{"mode":"hard"}' } } });
  await world.until("it is off", async () => (await hostOf(world)).status?.poweredOn === false, 5 * MINUTE);
  await world.clock.run(20 * MINUTE);
  assert.deepEqual([server.isOn, (await hostOf(world)).metadata.annotations?.[off]], [false, '{"mode":"hard"}']);
  await world.change("node-1", { metadata: { annotations: { [off]: null } } });
  await world.until("the system runs again", () => server.running?.is === "system");
  assert.equal((await hostOf(world)).status?.provisioning?.state, "provisioned");
});

test("CAPM3's label on the Secret of the BMC makes a new version of it, and nothing is done with the host for that", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await world.declare("node-1", { image: IMAGE });
  await world.reaches("node-1", "provisioned");
  await world.until("the system runs", () => server.running?.is === "system");
  const { starts } = server;
  const secret = { name: "node-1-bmc", namespace: RACK };
  const body = { metadata: { labels: { [CLUSTER]: "prod" } } };
  const { metadata } = await world.whileTimePasses(world.client.patch(Secret, secret, { type: "merge", body }));
  const version = metadata.resourceVersion;
  await world.until(
    "the version is noted",
    async () => (await hostOf(world)).status?.goodCredentials?.credentialsVersion === version,
  );
  const { status } = await hostOf(world);
  assert.deepEqual([server.starts, status?.operationalStatus, status?.errorCount], [starts, "OK", 0]);
  const after = await world.whileTimePasses(world.client.get(Secret, secret));
  assert.equal(after.metadata.resourceVersion, version, "and nothing is written to it");
});

test("a host in use whose BMC refuses its credentials has the error type `provisioned registration error`, and keeps its state", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await world.declare("node-1", { image: IMAGE });
  await world.reaches("node-1", "provisioned");
  await world.until("the system runs", () => server.running?.is === "system");
  world.rotate("node-1", "new");
  await world.until("it shows", async () => (await hostOf(world)).status?.operationalStatus === "error");
  const { status } = await hostOf(world);
  assert.deepEqual(
    [status?.errorType, status?.provisioning?.state, status?.poweredOn],
    ["provisioned registration error", "provisioned", true],
  );
  assert.ok((await world.events("node-1")).some((each) => / ProvisionedRegistrationError: .*refuses/.test(each)));
  await world.setPassword("node-1", "new");
  await world.until("it is over", async () => (await hostOf(world)).status?.operationalStatus === "OK");
  assert.equal((await hostOf(world)).status?.errorType, undefined);
});

test("without networkData the network of the system is the one that preprovisioningNetworkDataName describes", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  const stringData = { networkData: '{"links": [], "networks": []}' };
  const metadata = { name: "network", namespace: RACK };
  await world.whileTimePasses(world.client.create(Secret, { metadata, stringData }));
  await world.declare("node-1", { image: IMAGE, preprovisioningNetworkDataName: "network" });
  await world.reaches("node-1", "provisioned");
  const { data } = server.disks[0]!.content as { data: Record<string, string> };
  assert.deepEqual(JSON.parse(data["openstack/latest/network_data.json"]!), { links: [], networks: [] });
});
