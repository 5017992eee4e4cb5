import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "@slipway/kube";
import { CustomResourceDefinition, Pod } from "@slipway/kube/core";
import { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { MachineHealthCheck } from "../../src/kinds/cluster-api/machine-health-check.ts";
import type { Kind } from "../../src/kinds/kind.ts";
import { SimRemediation, SimRemediationTemplate } from "./cluster-api-provider.ts";
import { CLUSTER, CoreWorld, conditionOf, NAMESPACE } from "./cluster-api-world.ts";
import { MINUTE, SECOND } from "./world.ts";

async function check(world: CoreWorld, more: object = {}): Promise<void> {
  const draft = {
    metadata: { namespace: NAMESPACE, name: "health" },
    spec: {
      clusterName: CLUSTER,
      selector: { matchLabels: { "cluster.x-k8s.io/deployment-name": "workers" } },
      checks: {
        nodeStartupTimeoutSeconds: 300,
        unhealthyNodeConditions: [{ type: "Ready", status: "Unknown", timeoutSeconds: 120 }],
      },
      ...more,
    },
  };
  await world.whileTimePasses(world.client.create(MachineHealthCheck, draft as never));
}

const healthCheck = async (world: CoreWorld) =>
  await world.whileTimePasses(world.client.get(MachineHealthCheck, { namespace: NAMESPACE, name: "health" }));

test("a Machine whose Node is Unknown for longer than allowed is replaced", async (t) => {
  const world = await CoreWorld.started(t);
  await world.deploy("workers", 3);
  await check(world);
  await world.untilRolledOut("workers");
  await world.until("three healthy", async () => (await healthCheck(world)).status?.currentHealthy === 3);
  const [sick] = await world.machines();
  await world.provider.setReady(CLUSTER, sick!.metadata.name, "Unknown");
  await world.clock.run(100 * SECOND);
  assert.ok(
    (await world.machines()).some(
      ({ metadata }) => metadata.uid === sick!.metadata.uid && metadata.deletionTimestamp === undefined,
    ),
  );
  await world.until(
    "it is replaced",
    async () => (await world.machines()).every(({ metadata }) => metadata.uid !== sick!.metadata.uid),
    20 * MINUTE,
  );
  await world.untilRolledOut("workers");
  assert.equal((await healthCheck(world)).status?.expectedMachines, 3);
});

test("a Machine that never becomes a Node is replaced after the start-up time", async (t) => {
  const world = await CoreWorld.started(t);
  await world.deploy("workers", 1);
  await check(world);
  await world.until("a Machine", async () => (await world.machines()).length === 1);
  const [first] = await world.machines();
  world.provider.broken.add(first!.metadata.name);
  await world.until(
    "it is replaced",
    async () => (await world.machines()).every(({ metadata }) => metadata.uid !== first!.metadata.uid),
    30 * MINUTE,
  );
  await world.untilRolledOut("workers");
});

test("too many unhealthy Machines are left as they are, and the check says so", async (t) => {
  const world = await CoreWorld.started(t);
  await world.deploy("workers", 3);
  await check(world, { remediation: { triggerIf: { unhealthyLessThanOrEqualTo: "40%" } } });
  await world.untilRolledOut("workers");
  const before = await world.machines();
  for (const { metadata } of before.slice(0, 2)) await world.provider.setReady(CLUSTER, metadata.name, "Unknown");
  await world.until(
    "not allowed",
    async () => conditionOf(await healthCheck(world), "RemediationAllowed")?.reason === "TooManyUnhealthy",
  );
  await world.clock.run(10 * MINUTE);
  assert.deepEqual(
    (await world.machines()).map(({ metadata }) => metadata.uid).toSorted(),
    before.map(({ metadata }) => metadata.uid).toSorted(),
  );
});

test("with a template, an external controller is asked, and what was asked goes when the Machine is healthy again", async (t) => {
  const world = await CoreWorld.started(t);
  const template = {
    metadata: { namespace: NAMESPACE, name: "reboot" },
    spec: { template: { spec: { strategy: "Reboot" } } },
  };
  await world.whileTimePasses(world.client.create(SimRemediationTemplate, template));
  await world.deploy("workers", 2);
  const apiVersion = "infrastructure.cluster.x-k8s.io/v1";
  await check(world, { remediation: { templateRef: { apiVersion, kind: "SimRemediationTemplate", name: "reboot" } } });
  await world.untilRolledOut("workers");
  const [sick] = await world.machines();
  await world.provider.setReady(CLUSTER, sick!.metadata.name, "Unknown");
  const asked = async () => (await world.whileTimePasses(world.client.list(SimRemediation))).items;
  await world.until("asked", async () => (await asked()).length === 1);
  const [request] = await asked();
  assert.equal(request?.metadata.name, sick!.metadata.name);
  assert.deepEqual(request?.spec, { strategy: "Reboot" });
  await world.provider.setReady(CLUSTER, sick!.metadata.name, "True");
  await world.until("taken back", async () => (await asked()).length === 0);
  await world.until("healthy", async () => (await healthCheck(world)).status?.currentHealthy === 2);
  assert.ok((await world.machines()).some(({ metadata }) => metadata.uid === sick!.metadata.uid));
});

for (const last of ["kind", "template"])
  test(`a ${last} of remediation that is installed after everything else is used at once`, async (t) => {
    const world = await CoreWorld.started(t);
    for (const { plural, group } of [SimRemediation, SimRemediationTemplate])
      await world.whileTimePasses(world.client.delete(CustomResourceDefinition, { name: `${plural}.${group}` }));
    const template = { metadata: { namespace: NAMESPACE, name: "reboot" }, spec: {} };
    const steps = {
      templates: () => world.install([[SimRemediationTemplate as unknown as Kind]]),
      kind: () => world.install([[SimRemediation as unknown as Kind]]),
      template: () => world.whileTimePasses(world.client.create(SimRemediationTemplate, template)),
    };
    await world.deploy("workers", 2);
    const apiVersion = "infrastructure.cluster.x-k8s.io/v1";
    await check(world, {
      remediation: { templateRef: { apiVersion, kind: "SimRemediationTemplate", name: "reboot" } },
    });
    await world.untilRolledOut("workers");
    const [sick] = await world.machines();
    await world.provider.setReady(CLUSTER, sick!.metadata.name, "Unknown");
    for (const step of last === "kind" ? (["templates", "template"] as const) : (["templates", "kind"] as const)) {
      await world.clock.run(10 * MINUTE);
      await steps[step]();
    }
    await world.clock.run(10 * MINUTE);
    await steps[last as keyof typeof steps]();
    const asked = async () => (await world.whileTimePasses(world.client.list(SimRemediation))).items;
    await world.until("asked", async () => (await asked()).length === 1, MINUTE);
  });

test("a paused Cluster stands still, says so, and goes on when it is unpaused", async (t) => {
  const world = await CoreWorld.started(t);
  await world.deploy("workers", 1);
  await world.untilRolledOut("workers");
  const pause = async (paused: boolean) =>
    await world.whileTimePasses(
      world.client.patch(
        Cluster,
        { namespace: NAMESPACE, name: CLUSTER },
        { type: "merge", body: { spec: { paused } } },
      ),
    );
  await pause(true);
  await world.patch("workers", { spec: { replicas: 2 } });
  await world.until("everything says Paused", async () => {
    const objects: KubeObject[] = [
      await world.deployment("workers"),
      ...(await world.sets()),
      ...(await world.machines()),
    ];
    return objects.every((object) => conditionOf(object, "Paused")?.status === "True");
  });
  await world.clock.run(10 * MINUTE);
  assert.equal((await world.machines()).length, 1);
  await pause(false);
  await world.until("two", async () => (await world.deployment("workers")).status?.availableReplicas === 2);
});

test("deletion of a Machine waits for hooks and for Pods behind a budget, in order, and says for what", async (t) => {
  const world = await CoreWorld.started(t);
  await world.deploy("workers", 1);
  await world.untilRolledOut("workers");
  const [machine] = await world.machines();
  const { name } = machine!.metadata;
  const ref = { namespace: NAMESPACE, name };
  const annotate = async (annotations: object) =>
    await world.whileTimePasses(
      world.client.patch(Machine, ref, { type: "merge", body: { metadata: { annotations } } }),
    );
  const hook = "pre-drain.delete.hook.machine.cluster.x-k8s.io/backup";
  await annotate({ [hook]: "me" });
  const tenant = await world.whileTimePasses(world.provider.tenant(CLUSTER));
  await world.whileTimePasses(
    tenant.create(Pod, {
      metadata: { namespace: "default", name: "web", labels: { app: "web" }, finalizers: ["example.org/slow"] },
      spec: { nodeName: name, containers: [{ name: "web", image: "web" }] },
    }),
  );
  await world.whileTimePasses(world.client.delete(Machine, ref));
  const deleting = async () => conditionOf(await world.whileTimePasses(world.client.find(Machine, ref)), "Deleting");
  await world.until("the hook", async () => (await deleting())?.reason === "WaitingForPreDrainHook");
  assert.match((await deleting())!.message, /backup/);
  await world.clock.run(5 * MINUTE);
  await annotate({ [hook]: null });
  await world.until("the drain", async () => (await deleting())?.reason === "DrainingNode");
  assert.match((await deleting())!.message, /1 Pods left, waiting for .*web/);
  await world.whileTimePasses(
    tenant.patch(
      Pod,
      { namespace: "default", name: "web" },
      { type: "merge", body: { metadata: { finalizers: null } } },
    ),
  );
  // What the kubelet says at the end.
  await world.whileTimePasses(tenant.delete(Pod, { namespace: "default", name: "web" }, { gracePeriodSeconds: 0 }));
  await world.until("gone", async () => (await deleting()) === undefined);
  const { Node } = await import("@slipway/kube/core");
  assert.equal(await world.whileTimePasses(tenant.find(Node, { name })), undefined, "the Node went with it");
});

test("a workload cluster that does not answer is shown, and its Machines keep what was seen last for five minutes", async (t) => {
  const world = await CoreWorld.started(t);
  await world.deploy("workers", 1);
  await world.untilRolledOut("workers");
  await world.until("Available", async () => conditionOf(await world.cluster(), "Available")?.status === "True");
  world.provider.unreachable.add(`${NAMESPACE}/${CLUSTER}`);
  await world.until(
    "the probe fails",
    async () => conditionOf(await world.cluster(), "RemoteConnectionProbe")?.status === "False",
    20 * MINUTE,
  );
  assert.equal(conditionOf((await world.machines())[0], "NodeHealthy")?.status, "True");
  await world.until(
    "ConnectionDown",
    async () => conditionOf((await world.machines())[0], "NodeHealthy")?.reason === "ConnectionDown",
    20 * MINUTE,
  );
  world.provider.unreachable.clear();
  await world.until(
    "Available again",
    async () => conditionOf(await world.cluster(), "Available")?.status === "True",
    20 * MINUTE,
  );
  await world.until(
    "healthy again",
    async () => conditionOf((await world.machines())[0], "NodeHealthy")?.status === "True",
    5 * MINUTE,
  );
});

test("a Machine of no Cluster is left alone: nothing is written on it", async (t) => {
  const world = await CoreWorld.started(t);
  const { machineSpec } = await import("./cluster-api-world.ts");
  const draft = {
    metadata: { namespace: NAMESPACE, name: "harvester-node" },
    spec: { ...machineSpec("a"), clusterName: "local" },
  };
  const made = await world.whileTimePasses(world.client.create(Machine, draft as never));
  await world.clock.run(10 * MINUTE);
  const after = await world.whileTimePasses(
    world.client.get(Machine, { namespace: NAMESPACE, name: "harvester-node" }),
  );
  assert.equal(after.metadata.resourceVersion, made.metadata.resourceVersion);
});
