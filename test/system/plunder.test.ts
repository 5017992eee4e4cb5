/** plunder's manifests of 2019 on own hosts, from their creation to wiped hosts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Secret } from "@slipway/kube/core";
import { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { MachineV1alpha2 } from "../../src/kinds/cluster-api/v1alpha2.ts";
import { PlunderCluster } from "../../src/kinds/plunder/plunder-cluster.ts";
import { PlunderMachine } from "../../src/kinds/plunder/plunder-machine.ts";
import { MachineProvider } from "../../src/kinds/slipway/machine-provider.ts";
import { CLUSTER, inPlunderWorld, NAMESPACE, OLD_MANIFESTS, type PlunderWorld } from "./plunder-world.ts";
import { MINUTE } from "./world.ts";

test("N45 N46 N47 the manifests of 2019 become a cluster with a Node for each Machine, told in the original's words, and wiped hosts at the end", () =>
  inPlunderWorld(async (world) => {
    await world.create(...OLD_MANIFESTS);
    const old = async () => {
      const { items } = await world.whileTimePasses(world.client.list(MachineV1alpha2));
      return items.map(({ metadata, spec, status }) => [metadata.name, spec.providerID, status?.phase]);
    };
    await world.until("they are provisioning", async () =>
      (await old()).every(([, , phase]) => phase === "provisioning"),
    );
    assert.deepEqual(
      (await old()).map(([, id]) => id),
      [undefined, undefined],
    );
    await world.untilRunning(2);
    const shown = await old();
    for (const [name, id, phase] of shown) {
      assert.equal(phase, "running", String(name));
      assert.match(String(id), /^plunder:\/\/([0-9a-f]{2}:){5}[0-9a-f]{2}$/);
    }
    const nodes = await world.nodes();
    assert.deepEqual(nodes.map(({ spec }) => spec?.providerID).toSorted(), shown.map(([, id]) => id).toSorted());
    assert.deepEqual(nodes.map(({ metadata }) => metadata.name).toSorted(), ["controlplane", "worker"]);

    const [plane, worker] = [await world.told("controlplane"), await world.told("worker")];
    const has = (told: readonly string[], what: RegExp) =>
      assert.ok(
        told.some((one) => what.test(one)),
        `${what} of ${told.join("|")}`,
      );
    for (const told of [plane, worker]) {
      has(told, /^PlunderProvision: Plunder has begun provisioning the Operating System$/);
      has(told, /^PlunderProvision: Host has been succesfully provisioned OS in (\d+h)?(\d+m)?\d+s Seconds$/);
      has(told, /^PlunderInstall: Task has been succesfully completed in (\d+m)?\d+s Seconds$/);
    }
    has(plane, /^PlunderInstall: Kubernetes Control Plane installation has begun$/);
    has(worker, /^PlunderInstall: Kubernetes worker installation has begun$/);

    for (const { metadata } of await world.machines()) await world.remove(Machine, metadata.name);
    await world.untilGone();
    await world.own.checkAllFree();
    for (const name of ["controlplane", "worker"]) {
      has(await world.told(name), /^PlunderDelete: Plunder has begun removing the host$/);
      has(await world.told(name), /^PlunderDelete: Machine removed succesfully$/);
    }
  }));

/** A PlunderMachine and its Machine with bootstrap data of their own, as manifests of today have them. */
async function machine(world: PlunderWorld, name: string, spec: object = {}, labels: object = {}): Promise<void> {
  const { client } = world;
  const metadata = { name, namespace: NAMESPACE };
  await world.whileTimePasses(
    client.create(Secret, {
      metadata: { ...metadata, name: `${name}-data` },
      stringData: { value: "#cloud-config\n{}\n" },
    }),
  );
  await world.whileTimePasses(client.create(PlunderMachine, { metadata, spec } as never));
  await world.whileTimePasses(
    client.create(Machine, {
      metadata: { ...metadata, labels },
      spec: {
        ...{ clusterName: CLUSTER, version: "v1.34.1", bootstrap: { dataSecretName: `${name}-data` } },
        infrastructureRef: { apiGroup: PlunderMachine.group, kind: "PlunderMachine", name },
      },
    } as never),
  );
}

const READY = async (world: PlunderWorld, ...names: string[]): Promise<void> =>
  world.until(`${names.join()} ready`, async () => {
    const all = await world.plunderMachines();
    return names.every((name) => all.find(({ metadata }) => metadata.name === name)?.status?.ready === true);
  });

test("N38 N30 a host is chosen by MAC however it is written, by labels and by size; what fits none waits and says why", () =>
  inPlunderWorld(async (world) => {
    await world.create(OLD_MANIFESTS[0]!);
    const servers = [...world.own.rack.servers.values()];
    const [, second] = servers;
    await machine(world, "by-mac", { hostSelector: { macAddress: second!.mac.toUpperCase().replaceAll(":", "-") } });
    await READY(world, "by-mac");
    const pinned = await world.plunderMachine("by-mac");
    assert.deepEqual(
      [pinned?.status?.host, pinned?.spec.providerID],
      ["slipway-hosts/sg-2", `plunder://${second!.mac}`],
    );
    assert.equal(pinned?.status?.macAddress, second!.mac);

    const rack = { matchLabels: { "example.com/rack": "sg-rack-2" } };
    await machine(world, "by-label", { hostSelector: rack });
    await READY(world, "by-label");
    const hosts = await world.own.hosts();
    const given = hosts.find(({ spec }) => spec.consumerRef?.name === "by-label");
    assert.equal(given?.metadata.labels?.["example.com/rack"], "sg-rack-2");

    await machine(world, "too-large", { hostSelector: { hardware: { memory: "64Ti" } } });
    await machine(world, "taken", { hostSelector: { macAddress: second!.mac } });
    for (const [name, why] of [
      ["too-large", /1 too little memory/],
      ["taken", /2 with other MAC addresses, 1 in use/],
    ] as const) {
      await world.until(
        `${name} waits`,
        async () => (await world.plunderMachine(name))?.status?.purchase?.state === "Refused",
      );
      await world.until(`${name} says why`, async () => (await world.told(name)).some((one) => why.test(one)));
      assert.ok((await world.told(name)).includes("No Hardware found: Plunder has no available hardware to provision"));
      assert.equal((await world.plunderMachine(name))?.spec.providerID, undefined);
    }
    // What waits for a host has it as soon as it is free.
    await world.remove(Machine, "by-mac");
    await READY(world, "taken");
  }));

test("N43 machines are installed at once: ten take about as long as one", () =>
  inPlunderWorld(
    async (world) => {
      await world.create(OLD_MANIFESTS[0]!);
      const took = async (...names: string[]): Promise<number> => {
        const began = world.clock.now();
        for (const name of names) await machine(world, name);
        await READY(world, ...names);
        return world.clock.now() - began;
      };
      const one = await took("a");
      await world.remove(Machine, "a");
      await world.untilGone();
      await world.own.checkAllFree();
      const ten = await took(..."bcdefghijk");
      assert.ok(ten < 1.5 * one, `${ten} ms against ${one} ms`);
    },
    { servers: { sg: 10, ny: 0 } },
  ));

test("N46 a live object of the original is adopted: it is left as it runs, and its deletion says that the machine is not wiped", () =>
  inPlunderWorld(async (world) => {
    await world.create(OLD_MANIFESTS[0]!);
    await world.createObject({
      apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1",
      kind: "PlunderMachine",
      metadata: { name: "live", finalizers: ["plundernmachine.infrastructure.cluster.x-k8s.io"] },
      spec: { providerID: "plunder://00:50:56:a5:11:20", ipaddress: "192.168.1.124", deploymentType: "preseed" },
      status: { ready: true, ipaddress: "192.168.1.124", macaddress: "00:50:56:a5:11:20", machineName: "live-aBcDe" },
    });
    await world.createObject({
      apiVersion: "cluster.x-k8s.io/v1alpha2",
      kind: "Machine",
      metadata: { name: "live", labels: { "cluster.x-k8s.io/cluster-name": CLUSTER } },
      spec: {
        bootstrap: { data: "" },
        infrastructureRef: {
          apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1",
          kind: "PlunderMachine",
          name: "live",
        },
      },
    });
    const found = async () => (await world.machines()).find(({ metadata }) => metadata.name === "live");
    await world.until(
      "it is provisioned",
      async () => (await found())?.spec.providerID === "plunder://00:50:56:a5:11:20",
    );
    await world.clock.run(30 * MINUTE);
    const live = await world.plunderMachine("live");
    assert.deepEqual(
      [live?.status?.hostName, live?.status?.ready, live?.status?.purchase],
      ["live-aBcDe", true, undefined],
    );
    assert.deepEqual(world.own.cloud.machines(), []);
    await world.remove(Machine, "live");
    await world.untilGone();
    assert.ok((await world.told("live")).some((one) => /it may need removing manually/.test(one)));
  }));

test("N46 live objects of the original without a status are adopted, too: null is none, and of its cluster nothing is held", () =>
  inPlunderWorld(async (world) => {
    await world.create(OLD_MANIFESTS[0]!);
    const apiVersion = "infrastructure.cluster.x-k8s.io/v1alpha1";
    await world.createObject({
      ...{ apiVersion, kind: "PlunderMachine", status: null },
      metadata: { name: "live", finalizers: ["plundernmachine.infrastructure.cluster.x-k8s.io"] },
      spec: { providerID: "plunder://00:50:56:A5:11:20", ipaddress: "192.168.1.124" },
    });
    await world.createObject({
      ...{ apiVersion: "cluster.x-k8s.io/v1alpha2", kind: "Machine" },
      metadata: { name: "live", labels: { "cluster.x-k8s.io/cluster-name": CLUSTER } },
      spec: { bootstrap: { data: "" }, infrastructureRef: { apiVersion, kind: "PlunderMachine", name: "live" } },
    });
    await world.until("it is ready", async () => (await world.plunderMachine("live"))?.status?.ready === true);
    const live = (await world.plunderMachine("live"))!;
    assert.equal(live.spec.providerID, "plunder://00:50:56:A5:11:20", "what is set stays as it was written");
    assert.deepEqual(world.own.cloud.machines(), []);
    await world.remove(Cluster, CLUSTER);
    await world.untilGone();
    assert.ok((await world.told("live")).some((one) => /it may need removing manually/.test(one)));
  }));

test("N32 N36 a deployment type that nothing is known of is refused with what to do, and nothing is taken", () =>
  inPlunderWorld(async (world) => {
    await world.create(OLD_MANIFESTS[0]!);
    await machine(world, "a", { deploymentType: "vsphere" });
    const why =
      /vsphere is not served: ESXi can't be a Node.*name one of spec.inventory.operatingSystems of MachineProvider plunder/;
    await world.until("it says so", async () => why.test((await world.plunderMachine("a"))?.status?.waitingFor ?? ""));
    const { spec, status } = (await world.plunderMachine("a"))!;
    assert.deepEqual([spec.providerID, status?.ready, world.own.cloud.machines().length], [undefined, false, 0]);
  }));

test("N40 a Cluster without Pods' addresses is told what is missing", () =>
  inPlunderWorld(async (world) => {
    await world.createObject({
      apiVersion: "cluster.x-k8s.io/v1alpha2",
      kind: "Cluster",
      metadata: { name: CLUSTER },
      spec: {
        infrastructureRef: {
          apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1",
          kind: "PlunderCluster",
          name: CLUSTER,
        },
      },
    });
    await world.createObject({
      apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1",
      kind: "PlunderCluster",
      metadata: { name: CLUSTER },
    });
    await world.create(OLD_MANIFESTS[1]!);
    const why = /spec.clusterNetwork.pods.cidrBlocks is empty; say which addresses Pods have/;
    await world.until("it says so", async () =>
      why.test((await world.plunderMachine("controlplane"))?.status?.waitingFor ?? ""),
    );
    assert.deepEqual(world.own.cloud.machines(), []);
  }));

const ORDERS: readonly (readonly [
  what: string,
  kinds: readonly ("Cluster" | "PlunderCluster" | "Machine" | "PlunderMachine" | "MachineProvider")[],
])[] = [
  ["the Cluster first", ["Cluster"]],
  ["the PlunderCluster first, then the machines", ["PlunderCluster", "PlunderMachine", "Machine", "Cluster"]],
  ["the PlunderMachines first", ["PlunderMachine", "Machine", "PlunderCluster", "Cluster"]],
  ["the MachineProvider first", ["MachineProvider", "Machine", "Cluster"]],
];
for (const [what, kinds] of ORDERS)
  for (const when of ["while they are installed", "when they run"] as const)
    test(`N33 N35 N42 deletion ends, and nothing is left: ${what}, ${when}`, () =>
      inPlunderWorld(async (world) => {
        await world.create(...OLD_MANIFESTS);
        if (when === "when they run") await world.untilRunning(2);
        else await world.until("a host is taken", () => world.own.cloud.machines().length > 0);
        for (const kind of kinds)
          if (kind === "MachineProvider")
            await world.whileTimePasses(world.client.delete(MachineProvider, { name: "plunder" }));
          else if (kind === "Cluster" || kind === "PlunderCluster")
            await world.remove({ Cluster, PlunderCluster }[kind], CLUSTER);
          else
            for (const name of ["controlplane", "worker"]) await world.remove({ Machine, PlunderMachine }[kind], name);
        await world.untilGone();
        const clusters = async () => [
          ...(await world.whileTimePasses(world.client.list(Cluster))).items,
          ...(await world.whileTimePasses(world.client.list(PlunderCluster))).items,
        ];
        await world.until("the clusters are gone", async () => (await clusters()).length === 0);
        await world.own.checkAllFree();
      }));
