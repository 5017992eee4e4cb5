import assert from "node:assert/strict";
import { test } from "node:test";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { sampled } from "./api.ts";
import { CoreWorld, conditionOf, NAMESPACE } from "./cluster-api-world.ts";
import { MINUTE, SECOND } from "./world.ts";

const pace = (maxSurge: number | string, maxUnavailable: number | string) => ({
  rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } } },
});
const toTemplate = (name: string) => ({ spec: { template: { spec: { infrastructureRef: { name } } } } });

/** Looks at the Machines all the time while something goes on. */
async function watched(world: CoreWorld, work: () => Promise<void>): Promise<{ most: number; leastAvailable: number }> {
  let most = 0;
  let leastAvailable = Number.POSITIVE_INFINITY;
  let isOver = false;
  const look = async (): Promise<void> => {
    if (isOver) return;
    const { items } = await world.client.list(Machine);
    most = Math.max(most, items.length);
    const available = items.filter((machine) => conditionOf(machine, "Available")?.status === "True").length;
    leastAvailable = Math.min(leastAvailable, available);
    world.clock.after(SECOND, () => void look());
  };
  void look();
  await work();
  isOver = true;
  return { most, leastAvailable };
}

for (const [replicas, maxSurge, maxUnavailable] of sampled([
  [3, 1, 0],
  [3, 0, 1],
  [4, "50%", "25%"],
  [1, 0, 1],
  [5, 5, 5],
] as const))
  test(`a roll-out of ${replicas} with maxSurge ${maxSurge} and maxUnavailable ${maxUnavailable} keeps to them, and leaves one set`, async (t) => {
    const world = await CoreWorld.started(t);
    await world.deploy("workers", replicas, pace(maxSurge, maxUnavailable));
    await world.untilRolledOut("workers");
    const seen = await watched(world, async () => {
      await world.patch("workers", toTemplate("b"));
      await world.untilRolledOut("workers");
      await world.until("old sets gone", async () => (await world.sets()).length === 1);
    });
    const part = (of: number | string, round: (n: number) => number) =>
      typeof of === "number" ? of : round((Number.parseInt(of, 10) * replicas) / 100);
    assert.ok(seen.most <= replicas + part(maxSurge, Math.ceil), `${seen.most} Machines`);
    assert.ok(seen.leastAvailable >= replicas - part(maxUnavailable, Math.floor), `${seen.leastAvailable} available`);
    const [set] = await world.sets();
    assert.equal(set?.metadata.annotations?.["machinedeployment.clusters.x-k8s.io/revision"], "2");
    assert.equal(set?.spec.template.spec.infrastructureRef.name, "b");
    assert.equal(
      (await world.deployment("workers")).metadata.annotations?.["machinedeployment.clusters.x-k8s.io/revision"],
      "2",
    );
  });

test("OnDelete replaces only what a user deletes", async (t) => {
  const world = await CoreWorld.started(t);
  await world.deploy("workers", 3, { rollout: { strategy: { type: "OnDelete" } } });
  await world.untilRolledOut("workers");
  const before = await world.machines();
  await world.patch("workers", toTemplate("b"));
  await world.clock.run(10 * MINUTE);
  assert.deepEqual(
    (await world.machines()).map(({ metadata }) => metadata.uid).toSorted(),
    before.map(({ metadata }) => metadata.uid).toSorted(),
  );
  assert.equal((await world.deployment("workers")).status?.upToDateReplicas, 0);
  const [first] = before;
  await world.whileTimePasses(world.client.delete(Machine, { namespace: NAMESPACE, name: first!.metadata.name }));
  await world.until(
    "one of the new template",
    async () => (await world.deployment("workers")).status?.upToDateReplicas === 1,
  );
  await world.until("three again", async () => (await world.deployment("workers")).status?.availableReplicas === 3);
  assert.equal((await world.machines()).length, 3);
});

test("labels, annotations and time-outs of the template reach Machines in place, also when they are taken away", async (t) => {
  const world = await CoreWorld.started(t);
  await world.deploy("workers", 2);
  await world.untilRolledOut("workers");
  const before = (await world.machines()).map(({ metadata }) => metadata.uid).toSorted();
  await world.patch("workers", {
    spec: {
      template: {
        metadata: { labels: { "node-role.kubernetes.io/gold": "" } },
        spec: { deletion: { nodeDrainTimeoutSeconds: 60 } },
      },
    },
  });
  const labelled = async () =>
    (await world.machines()).filter(({ metadata }) => metadata.labels?.["node-role.kubernetes.io/gold"] === "").length;
  await world.until("labels", async () => (await labelled()) === 2);
  assert.deepEqual(
    (await world.machines()).map(({ spec }) => spec.deletion?.nodeDrainTimeoutSeconds),
    [60, 60],
  );
  const { Node } = await import("@slipway/kube/core");
  const tenant = await world.whileTimePasses(world.provider.tenant("quay"));
  const onNodes = async () =>
    (await world.whileTimePasses(tenant.list(Node))).items.filter(
      ({ metadata }) => metadata.labels?.["node-role.kubernetes.io/gold"] === "",
    ).length;
  await world.until("labels of Nodes", async () => (await onNodes()) === 2);
  await world.patch("workers", {
    spec: { template: { metadata: { labels: { "node-role.kubernetes.io/gold": null } }, spec: { deletion: null } } },
  });
  await world.until("labels gone", async () => (await labelled()) === 0 && (await onNodes()) === 0);
  assert.deepEqual((await world.machines()).map(({ metadata }) => metadata.uid).toSorted(), before);
  assert.equal((await world.sets()).length, 1);
});

test("a control plane that is upgrading holds new Machines back, and the set says so", async (t) => {
  const world = await CoreWorld.started(t);
  await world.deploy("workers", 1);
  await world.untilRolledOut("workers");
  const { SimControlPlane } = await import("./cluster-api-provider.ts");
  const ref = { namespace: NAMESPACE, name: "quay" };
  await world.whileTimePasses(
    world.client.patch(SimControlPlane, ref, { type: "merge", body: { spec: { version: "v1.36.2" } } }),
  );
  await world.patch("workers", { spec: { replicas: 2 } });
  await world.until("the reason", async () =>
    /SimControlPlane is upgrading from v1\.36\.1 to v1\.36\.2/.test(
      conditionOf((await world.sets())[0], "ScalingUp")?.message ?? "",
    ),
  );
  assert.equal((await world.machines()).length, 1);
  await world.until("two", async () => (await world.deployment("workers")).status?.availableReplicas === 2);
});

test("scaling down takes the Machine that a user has marked", async (t) => {
  const world = await CoreWorld.started(t);
  await world.deploy("workers", 3);
  await world.untilRolledOut("workers");
  const [marked] = await world.machines();
  const body = { metadata: { annotations: { "cluster.x-k8s.io/delete-machine": "yes" } } };
  await world.whileTimePasses(
    world.client.patch(Machine, { namespace: NAMESPACE, name: marked!.metadata.name }, { type: "merge", body }),
  );
  await world.patch("workers", { spec: { replicas: 2 } });
  await world.until("two", async () => (await world.machines()).length === 2);
  assert.ok((await world.machines()).every(({ metadata }) => metadata.uid !== marked!.metadata.uid));
});

test("an operator that dies at any effect of a roll-out leaves work that the next one ends, with nothing made twice", async () => {
  for (const atEffect of sampled([2, 7, 12, 18, 25, 33]))
    for (const when of ["before", "after"] as const) {
      const world = await CoreWorld.create({});
      try {
        await world.operator({ death: { atEffect, when } });
        await world.make();
        await world.deploy("workers", 2);
        await world.clock.run(3 * MINUTE);
        world.kill();
        await world.operator();
        await world.untilRolledOut("workers");
        await world.patch("workers", toTemplate("b"));
        await world.untilRolledOut("workers");
        await world.until("old sets gone", async () => (await world.sets()).length === 1);
        const { SimMachine, SimBootstrap } = await import("./cluster-api-provider.ts");
        const names = (await world.machines()).map(({ metadata }) => metadata.name).toSorted();
        for (const resource of [SimMachine, SimBootstrap]) {
          const { items } = await world.whileTimePasses(world.client.list(resource));
          assert.deepEqual(
            items.map(({ metadata }) => metadata.name).toSorted(),
            names,
            `${resource.kind} after a death ${when} effect ${atEffect}`,
          );
        }
      } finally {
        await world.close();
      }
    }
});
