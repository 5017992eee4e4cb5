import assert from "node:assert/strict";
import { test } from "node:test";
import type { Transport } from "@slipway/kube";
import { Node } from "@slipway/kube/core";
import { SimBootstrap, SimBootstrapTemplate, SimMachine, SimMachineTemplate } from "./cluster-api-provider.ts";
import { CoreWorld, conditionOf, NAMESPACE } from "./cluster-api-world.ts";
import { MINUTE } from "./world.ts";

test("a cluster with a deployment of three becomes three Running Machines with Ready Nodes, and every object says so", async (t) => {
  const world = await CoreWorld.started(t);
  await world.deploy("workers", 3, {}, { minReadySeconds: 10 });
  await world.untilRolledOut("workers");
  const machines = await world.machines();
  assert.deepEqual(
    machines.map(({ status }) => [status?.phase, conditionOf({ status } as never, "Ready")?.status]),
    Array.from({ length: 3 }, () => ["Running", "True"]),
  );
  const [machine] = machines;
  const ref = { namespace: NAMESPACE, name: machine!.metadata.name };
  // Machine, infrastructure and bootstrap have one name, and the Machine owns the others.
  for (const resource of [SimMachine, SimBootstrap]) {
    const object = await world.whileTimePasses(world.client.get(resource, ref));
    assert.deepEqual(
      object.metadata.ownerReferences?.map(({ kind, controller }) => [kind, controller]),
      [["Machine", true]],
    );
    assert.equal(object.metadata.labels?.["cluster.x-k8s.io/cluster-name"], "quay");
    assert.equal(object.metadata.annotations?.["cluster.x-k8s.io/cloned-from-name"], "a");
  }
  // The templates go with the Cluster, and are moved with it.
  for (const resource of [SimMachineTemplate, SimBootstrapTemplate]) {
    const { metadata } = await world.whileTimePasses(world.client.get(resource, { namespace: NAMESPACE, name: "a" }));
    assert.deepEqual(
      metadata.ownerReferences?.map(({ kind, name }) => [kind, name]),
      [["Cluster", "quay"]],
    );
    assert.equal(metadata.labels?.["cluster.x-k8s.io/cluster-name"], undefined, "clusters may share it");
  }
  const tenant = await world.whileTimePasses(world.provider.tenant("quay"));
  const node = await world.whileTimePasses(tenant.get(Node, { name: machine!.status!.nodeRef!.name }));
  assert.ok(
    !node.spec?.taints?.some(({ key }) => key.startsWith("node.cluster.x-k8s.io/")),
    "the uninitialized taint is gone",
  );
  assert.equal(node.metadata.annotations?.["cluster.x-k8s.io/machine"], machine!.metadata.name);
  assert.equal(node.metadata.annotations?.["cluster.x-k8s.io/owner-kind"], "MachineSet");
  await world.until(
    "Cluster Available",
    async () => conditionOf(await world.cluster(), "Available")?.status === "True",
  );
  const cluster = await world.cluster();
  assert.equal(cluster?.status?.phase, "Provisioned");
  assert.deepEqual(cluster?.spec.controlPlaneEndpoint, { host: "10.0.0.1", port: 6443 });
  assert.equal(cluster?.status?.workers?.availableReplicas, 3);
  assert.deepEqual(
    cluster?.status?.deprecated?.v1beta1?.conditions?.map(({ type, status }) => [type, status]),
    [
      ["Ready", "True"],
      ["ControlPlaneInitialized", "True"],
      ["ControlPlaneReady", "True"],
      ["InfrastructureReady", "True"],
    ],
  );
});

test("each object of a Machine is made and claimed once, and its status is not written for each thing by itself", async (t) => {
  const writes = new Map<string, number>();
  const transport = (inner: Transport): Transport => ({
    async request(request) {
      const [plural, , subresource] = request.path.split("/").slice(request.path.startsWith("/apis/") ? 6 : 5);
      const what = `${request.method} ${plural}${subresource ? `/${subresource}` : ""}`;
      const answer = await inner.request(request);
      if (request.method !== "GET" && answer.status < 300) writes.set(what, (writes.get(what) ?? 0) + 1);
      return answer;
    },
    watch: (request) => inner.watch(request),
    close: () => inner.close(),
  });
  const world = await CoreWorld.started(t, { transport });
  await world.deploy("workers", 20);
  await world.untilRolledOut("workers");
  const aMachine = (what: string): number => (writes.get(what) ?? 0) / 20;
  const story = JSON.stringify([...writes]);
  for (const what of [
    "POST machines",
    "POST simmachines",
    "POST simbootstraps",
    "PATCH simmachines",
    "PATCH simbootstraps",
  ])
    assert.equal(aMachine(what), 1, `${what}: ${story}`);
  // The name of the data, and the id; both at once where the provider is quick.
  assert.ok(aMachine("PATCH machines") <= 2, story);
  assert.ok(aMachine("PUT machines/status") <= 7, story);
});

test("deleting the Cluster takes Machines first, then the control plane, then the infrastructure, and leaves nothing", async (t) => {
  const world = await CoreWorld.started(t);
  await world.deploy("workers", 2);
  await world.untilRolledOut("workers");
  const { Cluster } = await import("../../src/kinds/cluster-api/cluster.ts");
  await world.whileTimePasses(world.client.delete(Cluster, { namespace: NAMESPACE, name: "quay" }));
  await world.until("the Cluster gone", async () => (await world.cluster()) === undefined, 20 * MINUTE);
  assert.deepEqual(await world.machines(), []);
  assert.deepEqual(await world.sets(), []);
  assert.equal(world.provider.released, world.provider.made);
});

test("events tell a roll-out's story by upstream's reasons: what each object made, scaled, joined, drained and deleted", async (t) => {
  const world = await CoreWorld.started(t);
  await world.deploy("workers", 1);
  await world.untilRolledOut("workers");
  const [first] = await world.machines();
  await world.patch("workers", { spec: { template: { spec: { infrastructureRef: { name: "b" } } } } });
  await world.untilRolledOut("workers");
  const [second] = await world.machines();
  const [set] = await world.sets();
  await world.until("the old set is reported to be gone", async () =>
    (await world.events()).some(
      ({ reason, involvedObject: { kind } }) => kind === "MachineDeployment" && reason === "SuccessfulDelete",
    ),
  );
  const told = async (kind: string, of?: string): Promise<string[]> =>
    (await world.events())
      .filter(
        ({ involvedObject }) => involvedObject.kind === kind && (of ?? involvedObject.name) === involvedObject.name,
      )
      .map(({ reason, message }) => `${reason}: ${message}`);
  const [one, two] = [first!.metadata.name, second!.metadata.name];
  const reasons = async (kind: string, of?: string) => (await told(kind, of)).map((line) => line.split(":")[0]);
  assert.deepEqual((await reasons("Cluster")).toSorted(), [
    "ControlPlaneInitialized",
    "InfrastructureReady",
    "Provisioned",
  ]);
  assert.deepEqual((await reasons("MachineDeployment")).toSorted(), [
    ...["SuccessfulCreate", "SuccessfulCreate", "SuccessfulDelete", "SuccessfulScale"],
  ]);
  assert.deepEqual(await told("MachineSet", set!.metadata.name), [`SuccessfulCreate: made Machine ${two}`]);
  assert.deepEqual((await told("MachineSet")).toSorted(), [
    ...[one, two].map((name) => `SuccessfulCreate: made Machine ${name}`).toSorted(),
    `SuccessfulDelete: deleted Machine ${one}`,
  ]);
  assert.deepEqual(await told("Machine", two), [`SuccessfulSetNodeRef: ${two}`]);
  assert.deepEqual((await reasons("Machine", one)).toSorted(), [
    ...["NodeVolumesDetached", "SuccessfulDrainNode", "SuccessfulSetNodeRef"],
  ]);
});
