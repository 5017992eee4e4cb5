import assert from "node:assert/strict";
import { test } from "node:test";
import { Node, Pod } from "@slipway/kube/core";
import { CapiMachine } from "./capi-machine.ts";
import { FLEET_LOCAL, MACHINE_ANNOTATION, PROMOTE_ANNOTATION } from "./node-object.ts";
import { SiteRig } from "./rig.ts";
import { createHarvesterSite, type SiteOptions } from "./site.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;

async function using(work: (rig: SiteRig) => Promise<void>, options: Partial<SiteOptions> = {}): Promise<void> {
  const rig = await SiteRig.create(options);
  try {
    await work(rig);
  } finally {
    await rig.close();
  }
}

test("a machine that joins is a Ready Node with its labels, addresses and system UUID, and has a Cluster API Machine", () =>
  using(async (rig) => {
    const { machineId } = await rig.join(1, { role: "worker" });
    const node = (await rig.node("node-1"))!;
    assert.equal(node.metadata.labels!["kubernetes.io/hostname"], "node-1");
    assert.equal(node.metadata.labels!["harvesterhci.io/managed"], "true");
    assert.equal(node.metadata.labels!["node-role.harvesterhci.io/worker"], "true");
    assert.equal(node.metadata.labels!.rack, "7");
    assert.equal(node.metadata.labels!["node-role.kubernetes.io/control-plane"], undefined);
    assert.equal(node.status!.nodeInfo!.systemUUID, machineId);
    assert.deepEqual(node.status!.addresses, [
      { type: "InternalIP", address: "10.0.0.1" },
      { type: "Hostname", address: "node-1" },
    ]);
    assert.equal((await rig.ready("node-1"))!.status, "True");
    const name = node.metadata.annotations![MACHINE_ANNOTATION]!;
    const machine = await rig.client.get(CapiMachine, { namespace: FLEET_LOCAL, name });
    assert.equal(machine.spec!.clusterName, "local");
  }));

test("a cordoned join is unschedulable", () =>
  using(async (rig) => {
    await rig.join(1, { cordoned: true, role: "worker" });
    assert.equal((await rig.node("node-1"))!.spec!.unschedulable, true);
  }));

test("joining is refused with the wrong token, at another address, under a taken name", () =>
  using(async (rig) => {
    await rig.join(1);
    const table: [over: Parameters<SiteRig["request"]>[1], reason: RegExp][] = [
      [{ token: "guess" }, /join token is not this cluster's/],
      [{ token: "" }, /join token/],
      [{ serverUrl: "https://10.99.99.99" }, /no cluster answers at https:\/\/10.99.99.99/],
      [{ serverUrl: "nonsense" }, /no cluster answers/],
      [{ hostname: "node-1" }, /a node named node-1 is in the cluster already/],
    ];
    for (const [over, reason] of table) {
      const answer = await rig.whileTimePasses(rig.site.join(rig.request(2, over)));
      assert.match(answer.is === "refused" ? answer.reason : "", reason);
      assert.doesNotMatch(JSON.stringify(answer), /join-me|guess/);
    }
    assert.equal((await rig.client.list(Node)).items.length, 1);
    assert.equal((await rig.client.list(CapiMachine, { namespace: FLEET_LOCAL })).items.length, 1);
  }));

test("an IPv6 address in brackets is the cluster's too", () =>
  using(async (rig) => void (await rig.join(1, { serverUrl: "https://[2001:db8::1]:443" })), { vip: "2001:db8::1" }));

test("heartbeats move while the machine has power, and the time of the last transition does not", () =>
  using(async (rig) => {
    await rig.join(1);
    const before = (await rig.ready("node-1"))!;
    await rig.clock.run(11 * MINUTE);
    const after = (await rig.ready("node-1"))!;
    assert.ok(Date.parse(after.lastHeartbeatTime!) - Date.parse(before.lastHeartbeatTime!) >= 5 * MINUTE);
    assert.equal(after.lastTransitionTime, before.lastTransitionTime);
  }));

test("40 s after the power was lost the Node is Unknown, its heartbeat stays; the machine that starts again is Ready", () =>
  using(async (rig) => {
    const request = await rig.join(1);
    const { uid } = (await rig.node("node-1"))!.metadata;
    const beat = (await rig.ready("node-1"))!.lastHeartbeatTime;
    rig.site.powerLost(request.machineId);
    rig.site.powerLost(request.machineId);
    await rig.clock.run(39 * SECOND);
    assert.equal((await rig.ready("node-1"))!.status, "True");
    await rig.clock.run(2 * SECOND);
    const silent = (await rig.ready("node-1"))!;
    assert.deepEqual([silent.status, silent.reason, silent.lastHeartbeatTime], ["Unknown", "NodeStatusUnknown", beat]);
    await rig.clock.run(30 * MINUTE);
    assert.equal((await rig.ready("node-1"))!.status, "Unknown", "nobody beats any more");

    await rig.whileTimePasses(rig.site.join(request));
    assert.equal((await rig.ready("node-1"))!.status, "True");
    assert.equal((await rig.node("node-1"))!.metadata.uid, uid);
  }));

test("a machine that starts again within 40 s was never silent", () =>
  using(async (rig) => {
    const request = await rig.join(1);
    rig.site.powerLost(request.machineId);
    await rig.clock.run(20 * SECOND);
    await rig.whileTimePasses(rig.site.join(request));
    for (let second = 0; second < 60; second++) {
      await rig.clock.run(SECOND);
      assert.equal((await rig.ready("node-1"))!.status, "True");
    }
  }));

test("a machine whose ports lose their address is silent, though it has power", () =>
  using(async (rig) => {
    let reachable = true;
    await rig.join(1, { reachable: () => reachable });
    reachable = false;
    await rig.clock.run(6 * MINUTE);
    assert.equal((await rig.ready("node-1"))!.status, "Unknown");
    reachable = true;
    await rig.clock.run(6 * MINUTE);
    assert.equal((await rig.ready("node-1"))!.status, "True");
  }));

test("a sick kubelet says that it is not ready, and goes on beating; it can get well", () =>
  using(async (rig) => {
    await rig.join(1);
    await rig.whileTimePasses(rig.site.sicken("node-1", true));
    const sick = (await rig.ready("node-1"))!;
    assert.deepEqual([sick.status, sick.reason], ["False", "KubeletNotReady"]);
    await rig.clock.run(11 * MINUTE);
    const later = (await rig.ready("node-1"))!;
    assert.equal(later.status, "False");
    assert.equal(later.lastTransitionTime, sick.lastTransitionTime);
    assert.ok(later.lastHeartbeatTime! > sick.lastHeartbeatTime!);
    await rig.whileTimePasses(rig.site.sicken("node-1", false));
    assert.equal((await rig.ready("node-1"))!.status, "True");
    await assert.rejects(rig.site.sicken("nobody", true), /no running simulated node nobody/);
  }));

test("a Node that alone was deleted registers again, with a new uid; one whose machine is off does not", () =>
  using(async (rig) => {
    const request = await rig.join(1);
    const { uid } = (await rig.node("node-1"))!.metadata;
    await rig.whileTimePasses(rig.client.delete(Node, { name: "node-1" }));
    assert.equal(await rig.node("node-1"), undefined);
    await rig.clock.run(10 * SECOND);
    const again = (await rig.node("node-1"))!;
    assert.notEqual(again.metadata.uid, uid);
    assert.equal((await rig.ready("node-1"))!.status, "True");

    rig.site.powerLost(request.machineId);
    await rig.whileTimePasses(rig.client.delete(Node, { name: "node-1" }));
    await rig.clock.run(10 * MINUTE);
    assert.equal(await rig.node("node-1"), undefined);
  }));

test("whoever deletes the Node and then cuts the power at once gets no Node back", () =>
  using(async (rig) => {
    const request = await rig.join(1);
    await rig.whileTimePasses(rig.client.delete(Node, { name: "node-1" }));
    await rig.clock.run(2 * SECOND);
    rig.site.powerLost(request.machineId);
    await rig.clock.run(10 * MINUTE);
    assert.equal(await rig.node("node-1"), undefined);
  }));

test("a machine that is off and whose Node is deleted is forgotten: nobody waits for its silence any more", () =>
  using(async (rig) => {
    await rig.join(2);
    const request = await rig.join(1);
    await rig.clock.run(2 * SECOND);
    const before = rig.clock.pending;
    rig.site.powerLost(request.machineId);
    assert.equal(rig.clock.pending, before + 1);
    await rig.whileTimePasses(rig.client.delete(Node, { name: "node-1" }));
    await rig.clock.run(2 * SECOND);
    assert.equal(rig.clock.pending, before);
  }));

test("the Cluster API Machine goes with its Node", () =>
  using(async (rig) => {
    const request = await rig.join(1);
    rig.site.powerLost(request.machineId);
    await rig.whileTimePasses(rig.client.delete(Node, { name: "node-1" }));
    await rig.clock.run(SECOND);
    assert.deepEqual((await rig.client.list(CapiMachine, { namespace: FLEET_LOCAL })).items, []);
  }));

test("of five nodes three become managers, one at a time, unschedulable meanwhile; workers never do", () =>
  using(async (rig) => {
    const labels = async (): Promise<string[]> =>
      (await rig.client.list(Node)).items
        .filter((n) => n.metadata.labels?.["node-role.kubernetes.io/control-plane"] === "true")
        .map((n) => n.metadata.name);
    await rig.join(1, { role: "worker" });
    await rig.join(2);
    await rig.clock.run(20 * MINUTE);
    assert.deepEqual(await labels(), [], "two nodes are too few");
    await rig.join(3);
    await rig.join(4, { role: "management" });
    await rig.join(5);
    let atOnce = 0;
    for (let minute = 0; minute < 60; minute++) {
      const running = (await rig.client.list(Node)).items.filter(
        (n) => n.metadata.annotations?.["harvesterhci.io/promote-status"] === "running",
      );
      for (const node of running) assert.equal(node.spec!.unschedulable, true);
      atOnce = Math.max(atOnce, running.length);
      await rig.clock.run(MINUTE);
    }
    assert.equal(atOnce, 1);
    const managers = await labels();
    assert.equal(managers.length, 3);
    assert.ok(managers.includes("node-4"), "the one meant for management");
    assert.ok(!managers.includes("node-1"));
    const promoted = (await rig.node("node-4"))!;
    assert.equal(promoted.metadata.annotations!["harvesterhci.io/promote-status"], "complete");
    assert.notEqual(promoted.spec?.unschedulable, true);
  }));

test("a site that is started again promotes nobody it need not, and finishes what was begun", () =>
  using(async (rig) => {
    const create = (name: string, labels: Record<string, string>, annotations = {}): Promise<Node> =>
      rig.whileTimePasses(rig.client.create(Node, { metadata: { name, labels, annotations } }));
    rig.site.close();
    const again = createHarvesterSite({ client: rig.client, clock: rig.clock, joinToken: "t", vip: "10.0.0.9" });
    for (const name of ["a", "b", "c"]) {
      await create(name, {});
      const conditions = [{ type: "Ready", status: "True" }];
      await rig.client.patch(
        Node,
        { name },
        { type: "merge", body: { status: { conditions } } },
        { subresource: "status" },
      );
    }
    for (const name of ["x", "y"]) await create(name, { "node-role.kubernetes.io/control-plane": "true" });
    await create("z", {}, { "harvesterhci.io/promote-status": "running" });
    await again.start();
    await rig.clock.run(20 * MINUTE);
    const promoted = (await rig.client.list(Node)).items.filter((n) => n.metadata.annotations?.[PROMOTE_ANNOTATION]);
    assert.deepEqual(
      promoted.map(({ metadata }) => [metadata.name, metadata.annotations![PROMOTE_ANNOTATION]]),
      [["z", "complete"]],
    );
    again.close();
  }));

async function podOn(rig: SiteRig, name: string, nodeName: string): Promise<void> {
  const spec = { nodeName, containers: [{ name: "web", image: "web" }] };
  await rig.whileTimePasses(rig.client.create(Pod, { metadata: { name, namespace: "default" }, spec }));
  await rig.clock.run(SECOND);
}
const podRef = (name: string) => ({ namespace: "default", name });

test("pods on a running node run; one that is deleted ends within its grace period and goes", () =>
  using(async (rig) => {
    await rig.join(1);
    await podOn(rig, "web", "node-1");
    const { status } = await rig.client.get(Pod, podRef("web"));
    assert.equal(status!.phase, "Running");
    assert.ok(status!.conditions!.some((c) => c.type === "Ready" && c.status === "True"));
    await rig.client.delete(Pod, podRef("web"));
    await rig.clock.run(SECOND);
    assert.ok((await rig.client.get(Pod, podRef("web"))).metadata.deletionTimestamp, "it takes its time");
    await rig.clock.run(2 * SECOND);
    assert.equal(await rig.client.find(Pod, podRef("web")), undefined);
  }));

test("a node without power neither starts nor ends pods, until it is back or its Node is removed", () =>
  using(async (rig) => {
    const request = await rig.join(1);
    await podOn(rig, "old", "node-1");
    await rig.client.delete(Pod, podRef("old"));
    rig.site.powerLost(request.machineId);
    await podOn(rig, "new", "node-1");
    await rig.clock.run(5 * MINUTE);
    assert.ok(await rig.client.find(Pod, podRef("old")), "nobody is there to end it");
    assert.notEqual((await rig.client.get(Pod, podRef("new"))).status?.phase, "Running");

    await rig.whileTimePasses(rig.site.join(request));
    await rig.clock.run(5 * SECOND);
    assert.equal(await rig.client.find(Pod, podRef("old")), undefined);
    assert.equal((await rig.client.get(Pod, podRef("new"))).status!.phase, "Running");

    rig.site.powerLost(request.machineId);
    await rig.whileTimePasses(rig.client.delete(Node, { name: "node-1" }));
    await rig.clock.run(MINUTE);
    assert.equal(await rig.client.find(Pod, podRef("new")), undefined, "collected with its Node");
  }));

test("a machine whose power goes at any moment of its joining does not stay as if it ran", () =>
  using(async (rig) => {
    const idle = rig.clock.pending;
    for (let turns = 0; turns < 60; turns += 3) {
      const request = rig.request(1);
      const joining = rig.site.join(request);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      rig.site.powerLost(request.machineId);
      await rig.whileTimePasses(joining);
      // The firmware says so once more when the answer finds it without power.
      rig.site.powerLost(request.machineId);
      await rig.clock.run(MINUTE);
      assert.equal((await rig.ready("node-1"))!.status, "Unknown", `power lost after ${turns} turns`);
      assert.ok(rig.clock.pending <= idle, `a timer after ${turns} turns`);
    }
  }));

test("a closed site leaves no timer of its own", async () => {
  const rig = await SiteRig.create();
  const request = await rig.join(1);
  await rig.join(2);
  await podOn(rig, "web", "node-1");
  await rig.client.delete(Pod, podRef("web"));
  await rig.whileTimePasses(rig.client.delete(Node, { name: "node-2" }));
  rig.site.powerLost(request.machineId);
  await rig.clock.settle();
  rig.site.close();
  await rig.api.close();
  await rig.clock.run(MINUTE);
  assert.equal(rig.clock.pending, 0);
});

test("a thousand machines cost one timer between them", () =>
  using(async (rig) => {
    const before = rig.clock.pending;
    for (let number = 0; number < 1000; number++) {
      const id = String(number).padStart(12, "0");
      const over = { hostname: `n-${number}`, role: "worker" as const, machineId: `00000000-0000-4000-8000-${id}` };
      await rig.site.join(rig.request(1, over));
    }
    assert.ok(rig.clock.pending - before <= 5, `${rig.clock.pending - before} timers`);
  }));
