import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigMap, Secret } from "@slipway/kube/core";
import { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { PacketCluster } from "../../src/kinds/packet/packet-cluster.ts";
import { PacketMachine } from "../../src/kinds/packet/packet-machine.ts";
import { API_KEY, conditionOf, inPacketWorld, type PacketWorld, PROJECT } from "./packet-world.ts";
import { MINUTE } from "./world.ts";

const here = (name: string) => ({ namespace: "default", name });

test("B2 B44 a cluster with CPEM: elastic IP, endpoint, machine, providerID, addresses, both contracts", () =>
  inPacketWorld(async (world) => {
    await world.cluster("a");
    await world.machine("a-1", { tags: ["mine"] });
    await world.ready("a-1");

    const cluster = await world.packetCluster();
    const [block] = await world.addresses();
    assert.deepEqual(cluster?.spec.controlPlaneEndpoint, { host: block?.address, port: 6443 });
    assert.deepEqual([cluster?.status?.ready, cluster?.status?.initialization], [true, { provisioned: true }]);
    assert.equal(conditionOf(cluster, "NetworkInfrastructureReady"), "True NetworkInfrastructureReady");

    const machine = await world.packetMachine("a-1");
    const [device] = world.equinix.devices();
    assert.equal(machine.spec.providerID, `equinixmetal://${device!.id}`);
    assert.deepEqual([machine.status?.ready, machine.status?.initialization], [true, { provisioned: true }]);
    assert.equal(machine.status?.instanceState, "active");
    assert.equal(conditionOf(machine, "InstanceReady"), "True InstanceReady");
    assert.equal(conditionOf(machine, "Ready"), "True InstanceReady");
    assert.deepEqual(
      machine.status?.addresses?.map(({ type }) => type),
      ["Hostname", "ExternalIP", "InternalIP", "ExternalIP"],
    );
    const originals = [
      "capp:cluster-id:a",
      "capp:machine-uid:a-1",
      "capp:namespace:default",
      "kubernetes.io/role:node",
    ];
    const tags = [...originals, "mine", `slipway:claim:${machine.metadata.uid}`];
    assert.deepEqual([...device!.tags].sort(), tags.sort());
  }));

test("B42 B38 the machine gets its bootstrap data: the version filled in, cloud-init's name left, no key of the provider", () =>
  inPacketWorld(async (world) => {
    await world.cluster("a");
    await world.machine("a-1");
    await world.ready("a-1");
    const [device] = world.equinix.devices();
    assert.match(device!.userData, /echo v1\.27\.0\n.*--provider-id equinixmetal:\/\/\{\{ v1\.instance_id \}\}/);
    assert.ok(!device!.userData.includes(API_KEY));
  }));

test("A1 a machine waits for its Machine, for the cluster's infrastructure and for its bootstrap data, and says so", () =>
  inPacketWorld(async (world) => {
    const waits = async () => {
      await world.clock.run(MINUTE);
      const machine = await world.packetMachine("a-1");
      return [conditionOf(machine, "InstanceReady"), machine.status?.waitingFor];
    };
    await world.cluster("a", {}, { annotations: { "cluster.x-k8s.io/managed-by": "kamaji" } });
    await world.machine("a-1", {}, { data: false });
    assert.deepEqual(await waits(), [
      "False WaitingForClusterInfrastructure Info",
      "the cluster's infrastructure to be ready",
    ]);
    const body = { status: { ready: true, initialization: { provisioned: true } } };
    await world.whileTimePasses(
      world.client.patch(PacketCluster, here("a"), { type: "merge", body }, { subresource: "status" }),
    );
    await world.core();
    const [said, what] = await waits();
    assert.equal(said, "False InstanceProvisionFailed Warning");
    assert.match(what!, /Secret\/default\/a-1-data: the bootstrap data's Secret does not exist/);
    assert.deepEqual(world.equinix.boughtEver(), []);
    const secret = { metadata: { name: "a-1-data", namespace: "default" }, stringData: { value: "#cloud-config\n" } };
    await world.whileTimePasses(world.client.create(Secret, secret));
    await world.ready("a-1");
  }));

test("B32 a cluster that something else manages is not touched, and its machines make no calls about addresses", () =>
  inPacketWorld(async (world) => {
    await world.cluster("a", {}, { annotations: { "cluster.x-k8s.io/managed-by": "kamaji" } });
    await world.machine("a-1");
    await world.clock.run(5 * MINUTE);
    const before = await world.packetCluster();
    assert.deepEqual(
      [before?.metadata.finalizers, before?.status, before?.spec.controlPlaneEndpoint],
      [undefined, undefined, undefined],
    );
    const body = { status: { ready: true } };
    await world.whileTimePasses(
      world.client.patch(
        PacketCluster,
        here("a"),
        { type: "merge", body: { status: { ...body.status, initialization: { provisioned: true } } } },
        { subresource: "status" },
      ),
    );
    await world.ready("a-1");
    const calls = Object.keys(world.equinix.counters());
    assert.deepEqual(
      calls.filter((name) => /IP|Bgp/.test(name)),
      [],
    );
  }));

test("B32 vipManager NONE waits for an endpoint, reserves no address and goes on when the Cluster has one", () =>
  inPacketWorld(async (world) => {
    await world.cluster("a", { vipManager: "NONE" });
    await world.clock.run(MINUTE);
    assert.equal(conditionOf(await world.packetCluster(), "Ready"), "False WaitingForControlPlaneEndpoint Info");
    const body = { spec: { controlPlaneEndpoint: { host: "vip.example", port: 40_000 } } };
    await world.whileTimePasses(world.client.patch(Cluster, here("a"), { type: "merge", body }));
    await world.reach("ready", async () => (await world.packetCluster())?.status?.ready === true);
    assert.deepEqual(await world.addresses(), []);
  }));

test("B39 EMLB is refused in words, and another manager may take its place", () =>
  inPacketWorld(async (world) => {
    await world.cluster("a", { vipManager: "EMLB" });
    await world.clock.run(MINUTE);
    const cluster = await world.packetCluster();
    assert.equal(conditionOf(cluster, "NetworkInfrastructureReady"), "False LoadBalancerEnded Error");
    assert.match(cluster!.status!.waitingFor!, /load balancers have ended.*use CPEM, KUBE_VIP or NONE/);
    await world.whileTimePasses(
      world.client.patch(PacketCluster, here("a"), { type: "merge", body: { spec: { vipManager: "CPEM" } } }),
    );
    await world.reach("ready", async () => (await world.packetCluster())?.status?.ready === true);
  }));

test("CPEM: the first control plane machine gets the elastic IP, another one and workers do not", () =>
  inPacketWorld(async (world) => {
    await world.cluster("a");
    await world.machine("a-1", {}, { controlPlane: true });
    await world.ready("a-1");
    await world.machine("a-2", {}, { controlPlane: true });
    await world.machine("a-3");
    await world.ready("a-2", "a-3");
    const [block] = await world.addresses();
    const first = (await world.packetMachine("a-1")).status!.instanceID;
    assert.deepEqual(
      block!.assignments.map(({ assigned_to }) => assigned_to.href),
      [`/metal/v1/devices/${first}`],
    );
    const roles = world.equinix.devices().map(({ tags }) => tags.find((tag) => tag.startsWith("kubernetes.io/role")));
    assert.deepEqual(roles.sort(), [
      "kubernetes.io/role:master",
      "kubernetes.io/role:master",
      "kubernetes.io/role:node",
    ]);
  }));

test("KUBE_VIP: BGP is enabled for the project, and each machine gets its session once", () =>
  inPacketWorld(async (world) => {
    await world.cluster("a", { vipManager: "KUBE_VIP" });
    await world.machine("a-1", {}, { controlPlane: true });
    await world.machine("a-2");
    await world.ready("a-1", "a-2");
    await world.clock.run(10 * MINUTE);
    const config = await world.metal<{ asn: number; sessions: unknown[] }>(`/projects/${PROJECT}/bgp-config`);
    assert.deepEqual([config.asn, config.sessions.length], [65_000, 2]);
    const { createBgpSession, requestBgpConfig } = world.equinix.counters();
    assert.deepEqual([createBgpSession, requestBgpConfig], [2, 1]);
    assert.deepEqual((await world.addresses())[0]!.assignments, []);
  }));

test("A9 B33 two clusters of the same name share nothing, and an elastic IP goes or stays as reclaimPolicy says", () =>
  inPacketWorld(async (world) => {
    await world.cluster("a");
    await world.cluster("a", { reclaimPolicy: "Retain" }, { namespace: "other" });
    const both = async () => [await world.packetCluster("a"), await world.packetCluster("a", "other")];
    await world.reach("both ready", async () => (await both()).every((one) => one?.status?.ready === true));
    const [one, other] = (await both()).map((cluster) => cluster!.spec.controlPlaneEndpoint!.host);
    assert.notEqual(one, other);
    await world.remove(PacketCluster, "a");
    await world.remove(PacketCluster, "a", "other");
    await world.reach("both gone", async () => (await both()).every((cluster) => cluster === undefined));
    assert.deepEqual(
      (await world.addresses()).map(({ address }) => address),
      [other],
    );
  }));

test("A3 B6 a paused cluster's machines are left alone, deletions included, and go on at once", () =>
  inPacketWorld(async (world) => {
    const pause = (paused: boolean) =>
      world.whileTimePasses(world.client.patch(Cluster, here("a"), { type: "merge", body: { spec: { paused } } }));
    await world.cluster("a");
    await world.reach("ready", async () => (await world.packetCluster())?.status?.ready === true);
    await world.core();
    await pause(true);
    await world.machine("a-1");
    await world.clock.run(5 * MINUTE);
    const held = await world.packetMachine("a-1");
    assert.equal(conditionOf(held, "Paused"), "True Paused");
    assert.equal(held.status?.waitingFor, "the Cluster or the object to be unpaused");
    assert.deepEqual(world.equinix.boughtEver(), []);
    await pause(false);
    await world.ready("a-1");
    assert.equal(conditionOf(await world.packetMachine("a-1"), "Paused"), "False NotPaused");
    await pause(true);
    await world.remove(PacketMachine, "a-1");
    await world.clock.run(5 * MINUTE);
    assert.equal(world.equinix.devices()[0]!.state, "active");
    await pause(false);
    await world.reach("gone", async () => (await world.packetMachines()).length === 0);
    assert.deepEqual(world.equinix.devices(), []);
  }));

test("B37 a PacketCluster's machines are found by infrastructureRef, though their Machines have other names", () =>
  inPacketWorld(async (world) => {
    await world.machine("a-1", {}, { machineName: "worker-xyz" });
    await world.clock.run(MINUTE);
    assert.equal(conditionOf(await world.packetMachine("a-1"), "InstanceReady"), "False WaitingForCluster Info");
    await world.cluster("a", { metro: "ny" });
    await world.ready("a-1");
    assert.equal(world.equinix.devices()[0]!.metro, "ny");
  }));

test("B40 the finalizer stays until the machine is gone at the provider, and the status says what is waited for", () =>
  inPacketWorld(async (world) => {
    await world.cluster("a");
    await world.machine("a-1");
    await world.ready("a-1");
    await world.remove(PacketMachine, "a-1");
    await world.clock.run(20_000);
    const machine = await world.packetMachine("a-1");
    assert.match(machine.status!.waitingFor!, /the provider to take machine .* back \((active|deprovisioning)\)/);
    assert.equal(conditionOf(machine, "Ready"), "False Deleting Info");
    await world.reach("gone", async () => (await world.packetMachines()).length === 0);
    assert.deepEqual(world.equinix.devices(), []);
  }));

/** Every order of the list. */
function orders<T>(list: readonly T[]): T[][] {
  if (list.length < 2) return [[...list]];
  return list.flatMap((one, i) => orders(list.filter((_, j) => j !== i)).map((rest) => [one, ...rest]));
}

test("A4 B41 every order of deletion ends, at once or one after the other, and leaves no machine and no address", async () => {
  const all = orders(["Cluster", "PacketCluster", "Machine", "PacketMachine"] as const);
  const kinds = { Cluster, PacketCluster, Machine, PacketMachine };
  for (const [index, order] of all.entries())
    await inPacketWorld(
      async (world) => {
        await world.cluster("a");
        await world.machine("a-1");
        // Some while the machine is on its way.
        if (index % 3 === 0) await world.reach("ordered", () => world.equinix.boughtEver().length > 0);
        else await world.ready("a-1");
        for (const kind of order) {
          const name = kind === "Machine" || kind === "PacketMachine" ? "a-1" : "a";
          await world.remove(kinds[kind] as typeof Cluster, name);
          if (index % 2 === 0) await world.clock.run(2 * MINUTE);
        }
        await world.until(`gone after ${order.join(", ")}`, async () => {
          const machines = await world.packetMachines();
          return machines.length === 0 && (await world.packetCluster()) === undefined;
        });
        assert.deepEqual([world.equinix.devices(), await world.addresses()], [[], []], order.join(", "));
      },
      { seed: index + 1 },
    );
});

test("B33 a machine with reclaimPolicy Retain stays when its object goes", () =>
  inPacketWorld(async (world) => {
    await world.cluster("a");
    await world.machine("a-1", { reclaimPolicy: "Retain" });
    await world.ready("a-1");
    await world.remove(PacketMachine, "a-1");
    await world.reach("gone", async () => (await world.packetMachines()).length === 0);
    assert.equal(world.equinix.devices()[0]!.state, "active");
    assert.ok((await world.events()).some(({ reason }) => reason === "Retained"));
  }));

test("B49 a provider that can't be asked holds a deletion and says the way out, which leaves a record", () =>
  inPacketWorld(async (world) => {
    await world.cluster("a");
    await world.machine("a-1");
    await world.ready("a-1");
    const { instanceID } = (await world.packetMachine("a-1")).status!;
    world.equinix.rotateKey("another");
    await world.remove(PacketMachine, "a-1");
    await world.remove(PacketCluster, "a");
    await world.clock.run(10 * MINUTE);
    const stuck = conditionMessage(await world.packetMachine("a-1"), "Stalled");
    assert.match(stuck, /401.*kubectl annotate packetmachine -n default a-1 slipway\.dev\/abandon-machine=true/);
    await abandon(world, PacketMachine, "a-1");
    await abandon(world, PacketCluster, "a");
    await world.until(
      "gone",
      async () => (await world.packetMachines()).length === 0 && (await world.packetCluster()) === undefined,
    );
    const left = await world.whileTimePasses(
      world.client.get(ConfigMap, { namespace: "harvester-system", name: "slipway-abandoned-machines" }),
    );
    const entries = Object.values(left.data ?? {}).map(
      (text) => JSON.parse(text) as { machine?: string; address?: string },
    );
    assert.ok(entries.some(({ machine }) => machine === instanceID));
    assert.ok(entries.some(({ address }) => address !== undefined));
  }));

async function abandon(
  world: PacketWorld,
  kind: typeof PacketMachine | typeof PacketCluster,
  name: string,
): Promise<void> {
  const body = { metadata: { annotations: { "slipway.dev/abandon-machine": "true" } } };
  await world.whileTimePasses(world.client.patch(kind as typeof PacketMachine, here(name), { type: "merge", body }));
}

function conditionMessage(object: PacketMachine, type: string): string {
  return object.status?.conditions?.find((one) => one.type === type)?.message ?? "";
}

test("a machine that fails, and one that the provider has lost, are failures in conditions that a health check can act on", () =>
  inPacketWorld(async (world) => {
    await world.cluster("a");
    await world.machine("a-1");
    await world.ready("a-1");
    const id = (await world.packetMachine("a-1")).status!.instanceID!;
    world.equinix.fail(id, "disk error");
    await world.reach("failed", async () => (await world.packetMachine("a-1")).status?.failureReason !== undefined);
    const machine = await world.packetMachine("a-1");
    assert.deepEqual(
      [machine.status?.failureReason, conditionOf(machine, "InstanceReady"), machine.status?.ready],
      ["MachineFailed", "False InstanceProvisionFailed Error", false],
    );
    assert.match(machine.status!.failureMessage!, /disk error/);
    assert.deepEqual(machine.status!.initialization, { provisioned: true });
    await world.remove(PacketMachine, "a-1");
    await world.reach("gone", async () => (await world.packetMachines()).length === 0);
    assert.deepEqual(world.equinix.devices(), []);
  }));
