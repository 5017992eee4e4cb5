/** What a user of Harvester pools is promised whichever provider the machines come from (H32): each test runs on every driver. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { controllerReference, isTrue, type KubeObject, type Resource } from "@slipway/kube";
import { Node, Pod, PodDisruptionBudget, Secret } from "@slipway/kube/core";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { CapiMachine } from "../../src/sim/site/capi-machine.ts";
import type { TestCloud } from "./cloud.ts";
import type { HarvesterWorld, HarvesterWorldOptions } from "./harvester-world.ts";
import { condition, using } from "./using.ts";
import { HOUR, MINUTE, SECOND } from "./world.ts";

const ReplicaSet: Resource<KubeObject & { spec: object }> = {
  group: "apps",
  version: "v1",
  kind: "ReplicaSet",
  plural: "replicasets",
  namespaced: true,
};

const PROVIDERS: readonly TestCloud["name"][] = ["equinix", "latitude", "inventory"];

for (const provider of PROVIDERS) {
  const on = (options: HarvesterWorldOptions, work: (world: HarvesterWorld) => Promise<void>): Promise<void> =>
    using({ provider, ...options }, work);

  test(`H1 every machine is an Instance's own, and the finalizer goes last (${provider})`, () =>
    on({}, async (world) => {
      await world.pool("rack", { count: 2 });
      await world.until("ready", () => world.converged());
      const instances = await world.instances();
      for (const instance of instances) {
        assert.ok(world.cloud.machines().some(({ id }) => id === instance.status!.instanceID));
        assert.deepEqual(instance.metadata.finalizers, ["equinix.instance.harvesterhci.io"]);
      }
      await world.client.delete(InstancePool, { name: "rack" });
      await world.until("nothing is left", async () => (await world.instances()).length === 0);
      assert.deepEqual(world.cloud.machines(), []);
      assert.deepEqual(await world.nodes(), []);
    }));

  test(`H3 a pool that can't go on says why and holds up no other (${provider})`, () =>
    on({}, async (world) => {
      await world.pool("no-plan", { plan: null });
      await world.pool("wrong-provider", { providerRef: { name: "nobody" } });
      await world.pool("fine", {});
      await world.until("the good pool is ready", async () =>
        isTrue((await world.client.get(InstancePool, { name: "fine" })).status?.conditions, "Ready"),
      );

      const wrong = await world.client.get(InstancePool, { name: "no-plan" });
      assert.match(condition(wrong)!.message, /spec\.plan: a plan is required/);
      const lost = await world.client.get(InstancePool, { name: "wrong-provider" });
      assert.match(condition(lost)!.message, /MachineProvider\/nobody.*create it/);
      await world.client.patch(
        InstancePool,
        { name: "no-plan" },
        { type: "merge", body: { spec: { plan: "c3.small.x86" } } },
      );
      await world.client.delete(InstancePool, { name: "wrong-provider" });
      await world.until("the mended pool is ready", () => world.converged());
    }));

  test(`H4 scaling down while machines come and go removes what was asked and buys nothing (${provider})`, () =>
    on({}, async (world) => {
      await world.pool("rack", { count: 5 });
      await world.until("ready", () => world.converged());
      const [first] = await world.instances();
      // The operator sees both at once: one that sees the deletion alone rightly buys another machine.
      world.kill();
      await world.client.delete(Instance, { name: first!.metadata.name });
      await world.client.patch(InstancePool, { name: "rack" }, { type: "merge", body: { spec: { count: 2 } } });
      await world.operator();
      await world.until(
        "two are left",
        async () => (await world.instances()).length === 2 && (await world.converged()),
      );
      assert.equal(world.cloud.bought(), 5);
      assert.equal(world.cloud.machines().length, 2);
    }));

  test(`H5 a shrinking pool lets machines on their way go before those in service (${provider})`, () =>
    on({}, async (world) => {
      await world.pool("rack", { count: 2 });
      await world.until("ready", () => world.converged());
      const old = (await world.instances()).map((i) => i.metadata.name);
      await world.client.patch(InstancePool, { name: "rack" }, { type: "merge", body: { spec: { count: 4 } } });
      await world.until("four exist", async () => (await world.instances()).length === 4);
      await world.client.patch(InstancePool, { name: "rack" }, { type: "merge", body: { spec: { count: 2 } } });
      await world.until(
        "two are left",
        async () => (await world.instances()).length === 2 && (await world.converged()),
      );
      assert.deepEqual((await world.instances()).map((i) => i.metadata.name).sort(), old.sort());
    }));

  test(`H6 a Node is cordoned and drained within its budgets before its machine goes, and does not come back (${provider})`, () =>
    on({}, async (world) => {
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
      assert.ok(world.cloud.machines()[0]!.wanted, "nothing is released against a budget");

      await world.client.delete(PodDisruptionBudget, { namespace: "default", name: "web" });
      await world.until(
        "the instance is gone",
        async () => (await world.client.find(Instance, { name })) === undefined,
      );
      await world.clock.run(10 * MINUTE);
      assert.equal(await world.client.find(Node, { name }), undefined);
    }));

  test(`H7 a Node that only shares the name is not taken for the machine, nor removed with it (${provider})`, () =>
    on({}, async (world) => {
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
        "the conflict is reported",
        async () => condition(await world.client.get(Instance, { name }), "NodeConflict")?.status === "True",
      );
      assert.notEqual((await world.client.get(Instance, { name })).status?.status, "managed");
      await world.client.delete(InstancePool, { name: "rack" });
      await world.until("the instance is gone", async () => (await world.instances()).length === 0);
      assert.ok(await world.client.find(Node, { name }), "the stranger stays");
    }));

  test(`H7 deleting a Node alone does not destroy its machine, unless the policy says so (${provider})`, () =>
    on({}, async (world) => {
      await world.pool("keep", {});
      await world.pool("release", { nodeDeletionPolicy: "Release" });
      await world.until("ready", () => world.converged());
      const machines = world.cloud.bought();
      for (const instance of await world.instances()) await world.client.delete(Node, { name: instance.metadata.name });
      await world.until("all is well again", () => world.converged(), 4 * HOUR);
      assert.equal(world.cloud.bought(), machines + 1, "one machine was replaced, the other registered again");
    }));

  test(`H8 a protected instance is not deleted until it may be, and says so (${provider})`, () =>
    on({}, async (world) => {
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

  test(`H9 a machine that failed or vanished is replaced (${provider})`, () =>
    on({}, async (world) => {
      await world.pool("rack", { count: 2 });
      await world.until("both are bought", () => world.cloud.machines().length === 2);
      world.cloud.fail(world.cloud.machines()[0]!.id);
      await world.until("ready", () => world.converged());
      assert.equal(world.cloud.machines().length, 2);
      assert.ok(
        (await world.events()).some((event) => event.reason === "MachineFailed" && /failed/.test(event.message ?? "")),
      );
    }));

  test(`H10 a machine that never joins is replaced after its time, and the event names what it hung at (${provider})`, () => {
    let hung = 0;
    return on({ firmware: { hangs: (_, stage) => stage === "joining" && hung++ === 0 } }, async (world) => {
      await world.pool("rack", {});
      await world.until("ready", () => world.converged(), 4 * HOUR);
      assert.equal(world.cloud.bought(), 2);
      assert.equal(world.cloud.machines().length, 1);
      assert.ok((await world.events()).some((event) => event.reason === "JoinTimeout"));
    });
  });

  test(`H10 with remediation Report it is kept and reported (${provider})`, () =>
    on({ firmware: { hangs: (_, stage) => stage === "joining" } }, async (world) => {
      await world.pool("rack", { remediation: "Report", joinTimeout: "30m" });
      await world.clock.run(3 * HOUR);
      const [instance] = await world.instances();
      assert.equal(instance!.status!.status, "failed");
      assert.equal(condition(instance)!.reason, "JoinTimeout");
      assert.equal(world.cloud.bought(), 1);
    }));

  test(`H12 a Node that stays NotReady with a beating kubelet is cleaned up after the interval (${provider})`, () =>
    on({}, async (world) => {
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
      assert.equal(world.cloud.bought(), 2);
    }));

  test(`H12 a machine that dies is cleaned up and replaced (${provider})`, () =>
    on({}, async (world) => {
      await world.pool("rack", { count: 2, nodeCleanupWaitInterval: "5m" });
      await world.until("ready", () => world.converged());
      world.cloud.kill((await world.instances())[0]!.status!.instanceID!);
      await world.until("its death is noticed", async () => !(await world.converged()));
      await world.until("ready again", () => world.converged());
      assert.equal(world.cloud.bought(), 3);
      assert.equal(world.cloud.machines().length, 2);
    }));

  test(`H13 foreign finalizers survive, and a deletion makes no conflict (${provider})`, () =>
    on({}, async (world) => {
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

  test(`H18 a rotated key is used for machines that exist (${provider})`, () =>
    on({}, async (world) => {
      await world.pool("rack", {});
      await world.until("ready", () => world.converged());
      world.cloud.rotateKey("the-new-key-of-the-account");
      await world.clock.run(2 * MINUTE);
      await world.client.patch(Secret, world.accountSecret, {
        type: "merge",
        body: { stringData: { [world.accountSecret.key]: "the-new-key-of-the-account" } },
      });
      await world.client.patch(InstancePool, { name: "rack" }, { type: "merge", body: { spec: { count: 2 } } });
      await world.until("ready with the new key", () => world.converged());
      assert.equal(world.cloud.bought(), 2);
    }));

  test(`H22 a full metro leads to the next, and no capacity at all to a wait that says so (${provider})`, () =>
    on({}, async (world) => {
      await world.cloud.setCapacity(0, 1);
      // The operator has seen it then.
      await world.clock.run(SECOND);
      await world.pool("rack", { count: 2, metro: "SG", metros: ["NY"] });
      await world.until("one is bought", () => world.cloud.bought() === 1);
      await world.clock.run(5 * MINUTE);
      const waiting = (await world.instances()).find((i) => i.status?.status !== "managed" && !i.status?.instanceID)!;
      assert.equal(condition(waiting)!.reason, "NoCapacity");
      assert.ok((await world.events()).some((event) => event.reason === "NoCapacity"));
      await world.cloud.setCapacity(undefined);
      await world.until("ready", () => world.converged());
      assert.equal(world.cloud.bought(), 2);
    }));

  test(`H28 a change of the plan is shown as drift, and rolled out one machine at a time (${provider})`, () =>
    on({}, async (world) => {
      await world.pool("rack", { count: 3 });
      await world.until("ready", () => world.converged());
      await world.client.patch(
        InstancePool,
        { name: "rack" },
        { type: "merge", body: { spec: { plan: "m3.large.x86" } } },
      );
      await world.until("drift is reported", async () => (await world.pools())[0]!.status?.drifted === 3);
      assert.equal(world.cloud.bought(), 3);
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
      assert.equal(world.cloud.machines().length, 3);
    }));

  test(`H29 nothing of a removed machine is left in the cluster (${provider})`, () =>
    on({}, async (world) => {
      await world.pool("rack", { count: 2 });
      await world.until("ready", () => world.converged());
      assert.equal((await world.client.list(CapiMachine, { namespace: "fleet-local" })).items.length, 2);
      await world.client.delete(InstancePool, { name: "rack" });
      await world.until("gone", async () => (await world.instances()).length === 0);
      await world.clock.run(MINUTE);
      assert.deepEqual((await world.client.list(CapiMachine, { namespace: "fleet-local" })).items, []);
      assert.deepEqual(await world.nodes(), []);
      const left = (await world.client.list(Secret, { namespace: "harvester-system" })).items.map(
        (s) => s.metadata.name,
      );
      assert.deepEqual(left, provider === "latitude" ? ["equinix-addon", "latitude"] : ["equinix-addon"]);
    }));
}
