/** MachineDeployments of blank machines, with addresses of a pool. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Node, Secret } from "@slipway/kube/core";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { MachineDeployment } from "../../src/kinds/cluster-api/machine-deployment.ts";
import { MachineHealthCheck } from "../../src/kinds/cluster-api/machine-health-check.ts";
import { IPAddress } from "../../src/kinds/ipam/ip-address.ts";
import { IPAddressClaim } from "../../src/kinds/ipam/ip-address-claim.ts";
import { PlunderMachine } from "../../src/kinds/plunder/plunder-machine.ts";
import { PlunderMachineTemplate } from "../../src/kinds/plunder/templates.ts";
import { CLUSTER, inPlunderWorld, NAMESPACE, OLD_MANIFESTS, type PlunderWorld } from "./plunder-world.ts";

async function deployed(world: PlunderWorld, replicas: number): Promise<void> {
  await world.createTodays([OLD_MANIFESTS[0]!]);
  const addressesFromPool = await world.addressPool("berths");
  const metadata = { namespace: NAMESPACE, name: "data" };
  const stringData = { value: "#cloud-config\n{}\n" };
  await world.whileTimePasses(world.client.create(Secret, { metadata, stringData }));
  await template(world, "blank", { addressesFromPool });
  await deployment(world, "data", replicas);
}

async function template(world: PlunderWorld, name: string, more: object = {}): Promise<void> {
  const draft = {
    metadata: { namespace: NAMESPACE, name },
    spec: { template: { spec: { deploymentType: "preseed", ...more } } },
  };
  await world.whileTimePasses(world.client.create(PlunderMachineTemplate, draft as never));
}

/** Of the template `blank`. */
async function deployment(world: PlunderWorld, dataSecretName: string, replicas: number): Promise<void> {
  const spec = {
    ...{ clusterName: CLUSTER, version: "v1.34.1", bootstrap: { dataSecretName } },
    infrastructureRef: { apiGroup: PlunderMachine.group, kind: "PlunderMachineTemplate", name: "blank" },
  };
  const draft = {
    metadata: { namespace: NAMESPACE, name: "blank" },
    spec: { clusterName: CLUSTER, replicas, selector: {}, template: { metadata: {}, spec } },
  };
  await world.whileTimePasses(world.client.create(MachineDeployment, draft as never));
}

const change = (world: PlunderWorld, spec: object): Promise<unknown> =>
  world.whileTimePasses(
    world.client.patch(MachineDeployment, { namespace: NAMESPACE, name: "blank" }, { type: "merge", body: { spec } }),
  );

const ready = (world: PlunderWorld, count: number): Promise<void> =>
  world.until(`${count} ready`, async () => {
    const all = await world.plunderMachines();
    return all.length === count && all.every(({ status }) => status?.ready === true);
  });

test("N42 N44 a MachineDeployment of blank machines scales, each with an address of a pool; hosts and addresses go back", () =>
  inPlunderWorld(async (world) => {
    await deployed(world, 1);
    await ready(world, 1);
    await change(world, { replicas: 3 });
    await ready(world, 3);
    const addresses = (await world.plunderMachines()).map(({ status }) => status?.ipAddress);
    assert.deepEqual(addresses.toSorted(), ["10.9.0.10", "10.9.0.11", "10.9.0.12"]);
    await change(world, { replicas: 0 });
    await world.untilGone();
    const left = async () => [
      ...(await world.whileTimePasses(world.client.list(IPAddressClaim))).items,
      ...(await world.whileTimePasses(world.client.list(IPAddress))).items,
    ];
    await world.until("the addresses are free", async () => (await left()).length === 0);
    await world.own.checkAllFree();
  }));

test("N44 N45 a MachineDeployment of blank machines rolls to another template, and replaces a machine that is lost; whoever leaves is wiped", () =>
  inPlunderWorld(
    async (world) => {
      await world.createTodays(OLD_MANIFESTS, [CLUSTER, "controlplane"]);
      await world.untilRunning(1);
      await template(world, "blank");
      await deployment(world, "", 2);
      await world.untilRunning(3);
      const workers = async () =>
        (await world.plunderMachines()).filter(({ metadata }) => metadata.name !== "controlplane");
      /** Until all have other machines than these, by uid. */
      const untilReplaced = (old: readonly string[]): Promise<void> =>
        world.until("others run in their places", async () => {
          await world.own.check();
          const phases = (await world.machines()).map(({ status }) => status?.phase);
          const uids = (await workers()).map(({ metadata }) => metadata.uid);
          return (
            phases.length === 3 &&
            phases.every((phase) => phase === "Running") &&
            !uids.some((uid) => old.includes(uid))
          );
        });
      const first = (await workers()).map(({ metadata }) => metadata.uid);
      await template(world, "other");
      const infrastructureRef = { apiGroup: PlunderMachine.group, kind: "PlunderMachineTemplate", name: "other" };
      await change(world, { template: { spec: { infrastructureRef } } });
      await untilReplaced(first);

      await healthCheck(world);
      const [lost] = await workers();
      world.own.rack.servers.get(lost!.status!.host!.split("/")[1]!)!.off();
      await setUnknown(world, lost!.metadata.name);
      await untilReplaced([lost!.metadata.uid]);
      await change(world, { replicas: 0 });
      await world.remove(Machine, "controlplane");
      await world.untilGone();
      await world.own.checkAllFree();
    },
    { servers: { sg: 4, ny: 0 } },
  ));

async function healthCheck(world: PlunderWorld): Promise<void> {
  const draft = {
    metadata: { namespace: NAMESPACE, name: "health" },
    spec: {
      clusterName: CLUSTER,
      selector: { matchLabels: { "cluster.x-k8s.io/deployment-name": "blank" } },
      checks: { unhealthyNodeConditions: [{ type: "Ready", status: "Unknown", timeoutSeconds: 120 }] },
    },
  };
  await world.whileTimePasses(world.client.create(MachineHealthCheck, draft as never));
}

/** As Kubernetes does it for a Node that reports nothing. */
async function setUnknown(world: PlunderWorld, name: string): Promise<void> {
  const lastTransitionTime = new Date(world.clock.now()).toISOString();
  const conditions = [
    { type: "Ready", status: "Unknown" as const, reason: "NodeStatusUnknown", message: "", lastTransitionTime },
  ];
  const workload = await world.workload();
  const node = await world.whileTimePasses(workload.get(Node, { name }));
  await world.whileTimePasses(workload.updateStatus(Node, { ...node, status: { ...node.status, conditions } }));
}
