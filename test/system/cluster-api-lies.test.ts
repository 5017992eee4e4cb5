/** Hosts that join a workload cluster under another machine's id. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Node } from "@slipway/kube/core";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { MachineHealthCheck } from "../../src/kinds/cluster-api/machine-health-check.ts";
import { CLUSTER, CoreWorld, conditionOf, NAMESPACE } from "./cluster-api-world.ts";
import { MINUTE } from "./world.ts";

const LIAR = "liar";

/** A Node that says to be another one's machine; gives the other's Machine. */
async function withLiar(t: TestContext): Promise<{ world: CoreWorld; victim: Machine }> {
  const world = await CoreWorld.started(t);
  await world.deploy("workers", 2);
  await world.untilRolledOut("workers");
  const [victim] = await world.machines();
  const tenant = await world.provider.tenant(CLUSTER);
  await world.whileTimePasses(
    tenant.create(Node, { metadata: { name: LIAR }, spec: { providerID: victim!.spec.providerID! } }),
  );
  await world.until("the dispute is seen", async () => {
    const now = await machineOf(world, victim!);
    return conditionOf(now, "NodeHealthy")?.reason === "InternalError";
  });
  return { world, victim: victim! };
}

const machineOf = async (world: CoreWorld, { metadata: { name, uid } }: Machine): Promise<Machine | undefined> => {
  const found = await world.whileTimePasses(world.client.find(Machine, { namespace: NAMESPACE, name }));
  return found?.metadata.uid === uid ? found : undefined;
};

test("a host that lies about its id: the Machine names both Nodes, keeps its own, and is well when the liar is gone", async (t) => {
  const { world, victim } = await withLiar(t);
  const disputed = await machineOf(world, victim);
  for (const type of ["NodeReady", "NodeHealthy"]) {
    const { status, message } = conditionOf(disputed, type)!;
    assert.equal(status, "Unknown");
    for (const name of [LIAR, victim.metadata.name]) assert.ok(message.includes(name), message);
  }
  assert.equal(disputed!.status?.nodeRef?.name, victim.metadata.name);
  const other = (await world.machines()).find(({ metadata }) => metadata.uid !== victim.metadata.uid);
  assert.equal(conditionOf(other, "Ready")?.status, "True", "the other machine is not touched");

  const tenant = await world.provider.tenant(CLUSTER);
  await world.whileTimePasses(tenant.delete(Node, { name: LIAR }));
  await world.until(
    "it is well again",
    async () => conditionOf(await machineOf(world, victim), "Available")?.status === "True",
  );
  assert.equal(conditionOf(await machineOf(world, victim), "NodeHealthy")?.status, "True");
});

test("a host that lies about its id has no other machine replaced by its health check", async (t) => {
  const { world, victim } = await withLiar(t);
  const spec = {
    clusterName: CLUSTER,
    selector: { matchLabels: { "cluster.x-k8s.io/deployment-name": "workers" } },
    checks: {
      nodeStartupTimeoutSeconds: 300,
      unhealthyNodeConditions: [
        { type: "Ready", status: "Unknown", timeoutSeconds: 120 },
        { type: "Ready", status: "False", timeoutSeconds: 120 },
      ],
    },
  };
  const metadata = { namespace: NAMESPACE, name: "health" };
  await world.whileTimePasses(world.client.create(MachineHealthCheck, { metadata, spec } as never));
  const isCounted = async () =>
    (await world.whileTimePasses(world.client.get(MachineHealthCheck, metadata))).status?.currentHealthy === 2;
  await world.until("both count as healthy", isCounted);
  await world.clock.run(20 * MINUTE);
  const held = await machineOf(world, victim);
  assert.ok(held !== undefined && held.metadata.deletionTimestamp === undefined);
});

test("a host that lies about its id does not hold another Machine's deletion: its own Node goes, the liar's stays", async (t) => {
  const { world, victim } = await withLiar(t);
  const ref = { namespace: NAMESPACE, name: victim.metadata.name };
  await world.whileTimePasses(world.client.delete(Machine, ref));
  await world.until("the Machine is gone", async () => (await machineOf(world, victim)) === undefined, 10 * MINUTE);
  const nodes = (await world.whileTimePasses((await world.provider.tenant(CLUSTER)).list(Node))).items;
  const names = nodes.map(({ metadata }) => metadata.name);
  assert.deepEqual([names.includes(LIAR), names.includes(victim.metadata.name)], [true, false]);
});
