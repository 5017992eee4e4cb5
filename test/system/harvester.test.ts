/** What a user of Harvester pools is promised (H1–H32), seen from outside: manifests in, objects, events and clouds out. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { MachineProvider } from "../../src/kinds/slipway/machine-provider.ts";
import { isTrue } from "../../src/kube/conditions.ts";
import { ConfigMap, Node, Pod, PodDisruptionBudget, Secret, Service } from "../../src/kube/core.ts";
import type { Condition, KubeObject, Resource } from "../../src/kube/object.ts";
import { controllerReference } from "../../src/kube/owners.ts";
import { FleetMachine } from "../../src/sim/site/capi-machine.ts";
import { HOUR, JOIN_TOKEN, MINUTE, SECOND, World, type WorldOptions } from "./world.ts";

/** A world with a running operator; closed at the end of the test. */
async function using(options: WorldOptions, work: (world: World) => Promise<void>): Promise<void> {
  const world = await World.create(options);
  try {
    await world.operator();
    await work(world);
  } finally {
    await world.close();
  }
}

const ReplicaSet: Resource<KubeObject & { spec: object }> = {
  group: "apps",
  version: "v1",
  kind: "ReplicaSet",
  plural: "replicasets",
  namespaced: true,
};
const secretRef = { namespace: "harvester-system", name: "equinix-addon" };
type Told = { status?: { conditions?: Condition[] | undefined } | undefined } | undefined;
const condition = (object: Told, type = "Ready") => object?.status?.conditions?.find((c) => c.type === type);

test("H1 a machine carries its Instance's uid, and an Instance has its finalizer before anything is bought", () =>
  using({}, async (world) => {
    await world.pool("rack", { count: 2 });
    await world.until("ready", () => world.converged());
    const instances = await world.instances();
    for (const instance of instances) {
      const device = world.equinix.device(instance.status!.instanceID!)!;
      assert.ok(device.tags.some((tag) => tag.includes(instance.metadata.uid)));
      assert.deepEqual(instance.metadata.finalizers, ["equinix.instance.harvesterhci.io"]);
    }
    await world.client.delete(InstancePool, { name: "rack" });
    await world.until("nothing is left", async () => (await world.instances()).length === 0);
    assert.deepEqual(world.equinix.devices(), []);
    assert.deepEqual(await world.nodes(), []);
  }));

test("H3 a pool that can't go on says why and holds up no other", () =>
  using({}, async (world) => {
    await world.pool("wrong-network", { networkingConfiguration: { type: "token-ring" } });
    await world.pool("wrong-provider", { providerRef: { name: "nobody" } });
    await world.pool("fine", {});
    await world.until("the good pool is ready", async () =>
      isTrue((await world.client.get(InstancePool, { name: "fine" })).status?.conditions, "Ready"),
    );

    const wrong = await world.client.get(InstancePool, { name: "wrong-network" });
    assert.match(condition(wrong)!.message, /token-ring.*layer2-bonded/);
    const lost = await world.client.get(InstancePool, { name: "wrong-provider" });
    assert.match(condition(lost)!.message, /MachineProvider\/nobody.*create it/);
    await world.client.patch(
      InstancePool,
      { name: "wrong-network" },
      { type: "merge", body: { spec: { networkingConfiguration: null } } },
    );
    await world.client.delete(InstancePool, { name: "wrong-provider" });
    await world.until("the mended pool is ready", () => world.converged());
  }));

test("H4 scaling down while machines come and go removes what was asked and buys nothing", () =>
  using({}, async (world) => {
    await world.pool("rack", { count: 5 });
    await world.until("ready", () => world.converged());
    const [first] = await world.instances();
    await world.client.delete(Instance, { name: first!.metadata.name });
    await world.client.patch(InstancePool, { name: "rack" }, { type: "merge", body: { spec: { count: 2 } } });
    await world.until("two are left", async () => (await world.instances()).length === 2 && (await world.converged()));
    assert.equal(world.equinix.boughtEver().length, 5);
    assert.equal(world.equinix.devices().length, 2);
  }));

test("H5 a shrinking pool lets machines on their way go before those in service", () =>
  using({}, async (world) => {
    await world.pool("rack", { count: 2 });
    await world.until("ready", () => world.converged());
    const old = (await world.instances()).map((i) => i.metadata.name);
    await world.client.patch(InstancePool, { name: "rack" }, { type: "merge", body: { spec: { count: 4 } } });
    await world.until("four exist", async () => (await world.instances()).length === 4);
    await world.client.patch(InstancePool, { name: "rack" }, { type: "merge", body: { spec: { count: 2 } } });
    await world.until("two are left", async () => (await world.instances()).length === 2 && (await world.converged()));
    assert.deepEqual((await world.instances()).map((i) => i.metadata.name).sort(), old.sort());
  }));

test("H6 a Node is cordoned and drained within its budgets before its machine goes, and does not come back", () =>
  using({}, async (world) => {
    await world.pool("rack", {});
    await world.until("ready", () => world.converged());
    const [instance] = await world.instances();
    const name = instance!.metadata.name;
    const selector = { matchLabels: { app: "web" } };
    const template = {
      metadata: { labels: selector.matchLabels },
      spec: { containers: [{ name: "web", image: "web" }] },
    };
    const set = await world.client.create(ReplicaSet, {
      metadata: { name: "web", namespace: "default" },
      spec: { replicas: 1, selector, template },
    });
    const owner = controllerReference(ReplicaSet, set);
    const labels = { app: "web" };
    const spec = { nodeName: name, containers: [{ name: "web", image: "web" }] };
    await world.client.create(Pod, {
      metadata: { name: "web", namespace: "default", labels, ownerReferences: [owner] },
      spec,
    });
    const budget = {
      metadata: { name: "web", namespace: "default" },
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    };
    await world.client.create(PodDisruptionBudget, budget as never);
    await world.clock.run(30 * SECOND);

    await world.client.delete(Instance, { name });
    await world.until("the drain waits for the budget", async () =>
      /PodDisruptionBudget/.test((await world.client.get(Instance, { name })).status?.waitingFor ?? ""),
    );
    assert.equal((await world.client.get(Node, { name })).spec?.unschedulable, true);
    await world.clock.run(11 * MINUTE);
    assert.equal(condition(await world.client.get(Instance, { name }), "Released")!.reason, "DrainStuck");
    assert.ok(world.equinix.device(instance!.status!.instanceID!), "nothing is released against a budget");

    await world.client.delete(PodDisruptionBudget, { namespace: "default", name: "web" });
    await world.until("the instance is gone", async () => (await world.client.find(Instance, { name })) === undefined);
    await world.clock.run(10 * MINUTE);
    assert.equal(await world.client.find(Node, { name }), undefined);
  }));

test("H7 a Node that only shares the name is not taken for the machine, nor removed with it", () =>
  using({}, async (world) => {
    await world.pool("rack", {});
    await world.until("an instance exists", async () => (await world.instances()).length === 1);
    const name = (await world.instances())[0]!.metadata.name;
    await world.client.create(Node, { metadata: { name }, spec: {} });
    const status = {
      addresses: [{ type: "InternalIP", address: "192.0.2.99" }],
      conditions: [{ type: "Ready", status: "True" }],
    };
    await world.client.patch(Node, { name }, { type: "merge", body: { status } }, { subresource: "status" });
    await world.until(
      "the conflict is told",
      async () => condition(await world.client.get(Instance, { name }), "NodeConflict")?.status === "True",
    );
    assert.notEqual((await world.client.get(Instance, { name })).status?.status, "managed");
    await world.client.delete(InstancePool, { name: "rack" });
    await world.until("the instance is gone", async () => (await world.instances()).length === 0);
    assert.ok(await world.client.find(Node, { name }), "the stranger stays");
  }));

test("H7 deleting a Node alone does not destroy its machine, unless the policy says so", () =>
  using({}, async (world) => {
    await world.pool("keep", {});
    await world.pool("release", { nodeDeletionPolicy: "Release" });
    await world.until("ready", () => world.converged());
    const machines = world.equinix.boughtEver().length;
    for (const instance of await world.instances()) await world.client.delete(Node, { name: instance.metadata.name });
    await world.until("all is well again", () => world.converged(), 4 * HOUR);
    assert.equal(
      world.equinix.boughtEver().length,
      machines + 1,
      "one machine was replaced, the other registered again",
    );
  }));

test("H8 a protected instance is not deleted until it may be, and says so", () =>
  using({}, async (world) => {
    await world.pool("rack", {});
    await world.until("ready", () => world.converged());
    const name = (await world.instances())[0]!.metadata.name;
    const protect = (value: string | null) =>
      ({ type: "merge", body: { metadata: { annotations: { "slipway.dev/protect": value } } } }) as const;
    await world.client.patch(Instance, { name }, protect("true"));
    await world.client.delete(Instance, { name });
    await world.clock.run(10 * MINUTE);
    assert.equal(condition(await world.client.get(Instance, { name }), "Released")!.reason, "Protected");
    assert.ok((await world.events()).some((event) => event.reason === "Protected"));
    await world.client.patch(Instance, { name }, protect(null));
    await world.until("it is gone", async () => (await world.client.find(Instance, { name })) === undefined);
  }));

test("H9 a machine that failed or vanished is replaced", () =>
  using({}, async (world) => {
    await world.pool("rack", { count: 2 });
    await world.until("both are bought", () => world.equinix.devices().length === 2);
    world.equinix.fail(world.equinix.devices()[0]!.id, "disk error");
    await world.until("ready", () => world.converged());
    assert.equal(world.equinix.devices().length, 2);
    assert.ok(
      (await world.events()).some(
        (event) => event.reason === "MachineFailed" && /disk error/.test(event.message ?? ""),
      ),
    );
  }));

test("H10 a machine that never joins is replaced after its time, and the event names what it hung at", () => {
  let hung = 0;
  return using({ firmware: { hangs: (_, stage) => stage === "joining" && hung++ === 0 } }, async (world) => {
    await world.pool("rack", {});
    await world.until("ready", () => world.converged(), 4 * HOUR);
    assert.equal(world.equinix.boughtEver().length, 2);
    assert.equal(world.equinix.devices().length, 1);
    assert.ok((await world.events()).some((event) => event.reason === "JoinTimeout"));
  });
});

test("H10 with remediation Report it is kept and reported", () =>
  using({ firmware: { hangs: (_, stage) => stage === "joining" } }, async (world) => {
    await world.pool("rack", { remediation: "Report", joinTimeout: "30m" });
    await world.clock.run(3 * HOUR);
    const [instance] = await world.instances();
    assert.equal(instance!.status!.status, "failed");
    assert.equal(condition(instance)!.reason, "JoinTimeout");
    assert.equal(world.equinix.boughtEver().length, 1);
  }));

test("H12 a Node that stays NotReady with a beating kubelet is cleaned up after the interval", () =>
  using({}, async (world) => {
    await world.pool("rack", { nodeCleanupWaitInterval: "5m" });
    await world.until("ready", () => world.converged());
    const name = (await world.instances())[0]!.metadata.name;
    await world.site.sicken(name, true);
    await world.clock.run(4 * MINUTE);
    assert.ok(await world.client.find(Instance, { name }), "not before the interval");
    await world.until(
      "it was replaced",
      async () => (await world.client.find(Instance, { name })) === undefined && (await world.converged()),
    );
    assert.equal(world.equinix.boughtEver().length, 2);
  }));

test("H12 a machine that dies is cleaned up and replaced", () =>
  using({}, async (world) => {
    await world.pool("rack", { count: 2, nodeCleanupWaitInterval: "5m" });
    await world.until("ready", () => world.converged());
    world.equinix.kill((await world.instances())[0]!.status!.instanceID!);
    await world.until("its death is noticed", async () => !(await world.converged()));
    await world.until("ready again", () => world.converged());
    assert.equal(world.equinix.boughtEver().length, 3);
    assert.equal(world.equinix.devices().length, 2);
  }));

test("H13 foreign finalizers survive, and a deletion makes no conflict", () =>
  using({}, async (world) => {
    await world.pool("rack", {});
    await world.until("an instance exists", async () => (await world.instances()).length === 1);
    const name = (await world.instances())[0]!.metadata.name;
    const held = await world.client.get(Instance, { name });
    const finalizers = [...held.metadata.finalizers!, "example.com/keep"];
    await world.client.patch(Instance, { name }, { type: "merge", body: { metadata: { finalizers } } });
    await world.until("ready", () => world.converged());
    const before = world.logged.length;
    await world.client.delete(Instance, { name });
    await world.until(
      "ours is done",
      async () => (await world.client.get(Instance, { name })).metadata.finalizers!.length === 1,
    );
    assert.deepEqual((await world.client.get(Instance, { name })).metadata.finalizers, ["example.com/keep"]);
    const errors = world.logged.slice(before).filter((line) => JSON.parse(line).level > 20);
    assert.deepEqual(
      errors.filter((line) => line.includes("Conflict")),
      [],
    );
  }));

test("H14 a missing Secret, a missing key, a missing token and a VIP without an address are told and mended without a restart", () =>
  using({ joinToken: false }, async (world) => {
    const held = await world.client.get(Secret, secretRef);
    await world.client.delete(Secret, secretRef);
    await world.client.delete(ConfigMap, { namespace: "harvester-system", name: "vip" });
    const service = { namespace: "kube-system", name: "ingress-expose" };
    await world.client.patch(
      Service,
      service,
      { type: "merge", body: { status: { loadBalancer: null } } },
      { subresource: "status" },
    );
    await world.pool("rack", {});
    const told = (what: RegExp) =>
      world.until(
        String(what),
        async () => what.test(condition(await world.client.get(InstancePool, { name: "rack" }))?.message ?? ""),
        5 * MINUTE,
      );

    await told(/Secret\/harvester-system\/equinix-addon: the Secret does not exist; create it/);
    const { METAL_AUTH_TOKEN: key, PROJECT_ID: project } = held.data!;
    await world.client.create(Secret, { metadata: secretRef, data: { PROJECT_ID: project! } });
    await told(/has no key METAL_AUTH_TOKEN/);
    await world.client.patch(Secret, secretRef, { type: "merge", body: { data: { METAL_AUTH_TOKEN: key } } });
    await told(/no join token/);
    await world.client.patch(Secret, secretRef, { type: "merge", body: { stringData: { JOIN_TOKEN } } });
    await told(/virtual IP is not known/);
    await world.client.patch(
      Service,
      service,
      { type: "merge", body: { status: { loadBalancer: { ingress: [{ ip: "10.20.30.40" }] } } } },
      { subresource: "status" },
    );
    await world.until("ready", () => world.converged());
  }));

test("H15 a network mode is set with the missing calls only, and a second pass is made where it must change first", () =>
  using({}, async (world) => {
    const network = (type: string) => ({
      networkingConfiguration: {
        type,
        createVLANs: true,
        interfaceConfiguration: [{ name: "bond0", vlanIDS: ["1000"] }],
      },
    });
    await world.pool("hybrid", network("hybrid-bonded"));
    await world.until("ready", () => world.converged());
    const calls = world.equinix.counters();
    await world.clock.run(HOUR);
    const later = world.equinix.counters();
    for (const name of Object.keys(later).filter((name) => /[Pp]ort|[Vv]lan/.test(name)))
      assert.equal(later[name], calls[name], name);
  }));

test("H17 no object but a Secret holds the API key, the join token or a password, nor does any event or log line", () =>
  using({}, async (world) => {
    await world.apply("examples/harvester/instancepool.yaml");
    await world.until("ready", () => world.converged());
    const secrets = (await world.client.list(Secret)).items;
    const key = Buffer.from(
      secrets.find((s) => s.metadata.name === "equinix-addon")!.data!.METAL_AUTH_TOKEN!,
      "base64",
    ).toString();
    const password = Buffer.from(
      secrets.find((s) => s.metadata.name.endsWith("-os"))!.data!.password!,
      "base64",
    ).toString();
    const objects = [
      ...(await world.pools()),
      ...(await world.instances()),
      ...(await world.nodes()),
      ...(await world.events()),
      ...(await world.client.list(ConfigMap)).items,
    ];
    const said = [JSON.stringify(objects), ...world.logged].join("\n");
    for (const secret of [key, JOIN_TOKEN, password]) assert.ok(!said.includes(secret));
    assert.ok(
      !secrets.some((s) => s.metadata.name.startsWith("boot-")),
      "the boot's Secret is gone once the machine has joined",
    );
  }));

test("H18 a rotated key is used for machines that exist", () =>
  using({}, async (world) => {
    await world.pool("rack", {});
    await world.until("ready", () => world.converged());
    world.equinix.rotateKey("the-new-key-of-the-account");
    await world.clock.run(2 * MINUTE);
    await world.client.patch(Secret, secretRef, {
      type: "merge",
      body: { stringData: { METAL_AUTH_TOKEN: "the-new-key-of-the-account" } },
    });
    await world.client.patch(InstancePool, { name: "rack" }, { type: "merge", body: { spec: { count: 2 } } });
    await world.until("ready with the new key", () => world.converged());
    assert.equal(world.equinix.boughtEver().length, 2);
  }));

test("H21 every field of the pool reaches the order", () =>
  using({}, async (world) => {
    await world.pool("rack", {
      customData: '{"rack":7}',
      features: { tpm: "preferred" },
      nosshKeys: true,
      tags: ["blue"],
      description: "workers",
      alwaysPxe: true,
    });
    await world.until("bought", () => world.equinix.devices().length === 1);
    const device = JSON.stringify(world.equinix.devices()[0]!.order);
    for (const trace of ["rack", "blue", "workers", "tpm", "no_ssh_keys", "always_pxe"])
      assert.ok(device.includes(trace), `${trace} in ${device}`);
  }));

test("H22 a full metro leads to the next, and no capacity at all to a wait that says so", () =>
  using({ equinix: { capacity: { "sg/c3.small.x86": 0, "ny/c3.small.x86": 1 } } }, async (world) => {
    await world.pool("rack", { count: 2, metro: "SG", metros: ["NY"] });
    await world.until("one is bought", () => world.equinix.boughtEver().length === 1);
    await world.clock.run(5 * MINUTE);
    const waiting = (await world.instances()).find((i) => i.status?.status !== "managed" && !i.status?.instanceID)!;
    assert.equal(condition(waiting)!.reason, "NoCapacity");
    assert.ok((await world.events()).some((event) => event.reason === "NoCapacity"));
    world.equinix.setCapacity("sg", "c3.small.x86", undefined);
    await world.until("ready", () => world.converged());
    assert.equal(world.equinix.boughtEver().length, 2);
  }));

test("H23 a revoked spot machine is drained within its notice and replaced", () =>
  using({}, async (world) => {
    await world.pool("rack", { spotInstance: true, spotPriceMax: "0.5" });
    await world.until("ready", () => world.converged());
    const [old] = await world.instances();
    world.equinix.revokeSpot(old!.status!.instanceID!);
    await world.until("a successor is ordered", () => world.equinix.boughtEver().length === 2, 2 * MINUTE);
    await world.until("ready", () => world.converged());
    assert.equal(world.equinix.devices().length, 1);
  }));

test("H24 facility is not sent, and the metro is taken from it", () =>
  using({}, async (world) => {
    await world.pool("rack", { metro: null, facility: ["sg1"] });
    await world.until("ready", () => world.converged());
    assert.equal(world.equinix.boughtEver().length, 1);
    assert.ok((await world.events()).some((event) => /facility/.test(event.message ?? "")));
  }));

test("H25 machines install and join on every release from 1.0 to 1.9, with the VIP found on 1.8 and on 1.9", async () => {
  for (const version of ["v1.8.1", "v1.9.0"]) {
    await using({ site: { version } }, async (world) => {
      for (const release of [
        "v1.0.3",
        "v1.1.2",
        "v1.2.1",
        "v1.3.1",
        "v1.4.0",
        "v1.5.0",
        "v1.6.0",
        "v1.7.0",
        "v1.8.1",
      ]) {
        const isoUrl = `https://releases.rancher.com/harvester/${release}/harvester-${release}-amd64.iso`;
        await world.pool(`r${release.replaceAll(".", "")}`, { isoUrl });
      }
      await world.until("ready", () => world.converged());
      assert.equal(world.equinix.boughtEver().length, 9);
    });
  }
});

test("H28 a change of the plan is shown as drift, and rolled out one machine at a time", () =>
  using({}, async (world) => {
    await world.pool("rack", { count: 3 });
    await world.until("ready", () => world.converged());
    await world.client.patch(
      InstancePool,
      { name: "rack" },
      { type: "merge", body: { spec: { plan: "m3.large.x86" } } },
    );
    await world.until("drift is told", async () => (await world.pools())[0]!.status?.drifted === 3);
    assert.equal(world.equinix.boughtEver().length, 3);
    let least = 3;
    await world.client.patch(
      InstancePool,
      { name: "rack" },
      { type: "merge", body: { spec: { updateStrategy: { type: "RollingUpdate", maxUnavailable: 1 } } } },
    );
    await world.until(
      "all are of the new plan",
      async () => {
        const managed = (await world.instances()).filter((i) => i.status?.status === "managed").length;
        least = Math.min(least, managed);
        return (await world.converged()) && (await world.pools())[0]!.status?.drifted === 0;
      },
      8 * HOUR,
    );
    assert.equal(least, 2);
    assert.equal(world.equinix.devices().length, 3);
  }));

test("H29 nothing of a removed machine is left in the cluster", () =>
  using({}, async (world) => {
    await world.pool("rack", { count: 2 });
    await world.until("ready", () => world.converged());
    assert.equal((await world.client.list(FleetMachine, { namespace: "fleet-local" })).items.length, 2);
    await world.client.delete(InstancePool, { name: "rack" });
    await world.until("gone", async () => (await world.instances()).length === 0);
    await world.clock.run(MINUTE);
    assert.deepEqual((await world.client.list(FleetMachine, { namespace: "fleet-local" })).items, []);
    assert.deepEqual(await world.nodes(), []);
    const left = (await world.client.list(Secret, { namespace: "harvester-system" })).items.map((s) => s.metadata.name);
    assert.deepEqual(left, ["equinix-addon"]);
  }));

test("H30 one boot by default, two on request", () =>
  using({}, async (world) => {
    await world.pool("once", {});
    await world.pool("twice", { installMode: "TwoPass" });
    await world.pool("layer2", { networkingConfiguration: { type: "layer2-bonded" }, remediation: "Report" });
    await world.until(
      "both are ready",
      async () => (await world.instances()).filter((i) => i.status?.status === "managed").length === 2,
    );
    await world.until("the layer 2 machine was reinstalled", () => (world.equinix.counters().performAction ?? 0) >= 2);
    assert.equal(world.equinix.counters().performAction, 2);
  }));

test("H32 the same pool works on another provider", () =>
  using({}, async (world) => {
    await world.apply("examples/harvester/instancepool-latitude.yaml");
    await world.until("ready", () => world.converged());
    assert.equal(world.latitude.boughtEver().length, 2);
    assert.ok(isTrue((await world.client.get(MachineProvider, { name: "latitude" })).status?.conditions, "Ready"));
    await world.client.delete(InstancePool, { name: "harvester-latitude-worker" });
    await world.until("gone", () => world.latitude.servers().length === 0);
  }));

test("a machine made by hand from the addon's shortest manifest works alone", () =>
  using({}, async (world) => {
    await world.client.create(Instance, {
      metadata: { name: "node2" },
      spec: { billingCycle: "hourly", plan: "c3.small.x86", metro: "SG" },
    });
    await world.until(
      "managed",
      async () => (await world.client.get(Instance, { name: "node2" })).status?.status === "managed",
    );
    await world.client.delete(Instance, { name: "node2" });
    await world.until("gone", () => world.equinix.devices().length === 0);
  }));
