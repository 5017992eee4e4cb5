/** MachineDeployments of blank machines, with addresses of a pool. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Secret } from "@slipway/kube/core";
import { MachineDeployment } from "../../src/kinds/cluster-api/machine-deployment.ts";
import { InClusterIPPool } from "../../src/kinds/ipam/in-cluster-ip-pool.ts";
import { IPAddress } from "../../src/kinds/ipam/ip-address.ts";
import { IPAddressClaim } from "../../src/kinds/ipam/ip-address-claim.ts";
import { PlunderMachine } from "../../src/kinds/plunder/plunder-machine.ts";
import { PlunderMachineTemplate } from "../../src/kinds/plunder/templates.ts";
import { CLUSTER, inPlunderWorld, NAMESPACE, OLD_MANIFESTS, type PlunderWorld } from "./plunder-world.ts";

async function deployed(world: PlunderWorld, replicas: number): Promise<void> {
  const { client } = world;
  const at = (name: string) => ({ namespace: NAMESPACE, name });
  const make = (work: Promise<unknown>) => world.whileTimePasses(work);
  await world.createTodays([OLD_MANIFESTS[0]!]);
  await make(
    client.create(InClusterIPPool, {
      metadata: at("berths"),
      spec: { addresses: ["10.9.0.10-10.9.0.19"], prefix: 24, gateway: "10.9.0.1" },
    } as never),
  );
  await make(client.create(Secret, { metadata: at("data"), stringData: { value: "#cloud-config\n{}\n" } }));
  const addressesFromPool = { apiGroup: "ipam.cluster.x-k8s.io", kind: "InClusterIPPool", name: "berths" };
  for (const name of ["blank", "other"])
    await make(
      client.create(PlunderMachineTemplate, {
        metadata: at(name),
        spec: { template: { spec: { deploymentType: "preseed", addressesFromPool } } },
      } as never),
    );
  const spec = {
    ...{ clusterName: CLUSTER, version: "v1.34.1", bootstrap: { dataSecretName: "data" } },
    infrastructureRef: { apiGroup: PlunderMachine.group, kind: "PlunderMachineTemplate", name: "blank" },
  };
  await make(
    client.create(MachineDeployment, {
      metadata: at("blank"),
      spec: { clusterName: CLUSTER, replicas, selector: {}, template: { metadata: {}, spec } },
    } as never),
  );
}

const ready = (world: PlunderWorld, count: number): Promise<void> =>
  world.until(`${count} ready`, async () => {
    const all = await world.plunderMachines();
    return all.length === count && all.every(({ status }) => status?.ready === true);
  });

test("N42 N44 a MachineDeployment of blank machines scales, each with an address of a pool; hosts and addresses go back", () =>
  inPlunderWorld(async (world) => {
    await deployed(world, 1);
    await ready(world, 1);
    const scale = (replicas: number) =>
      world.whileTimePasses(
        world.client.patch(
          MachineDeployment,
          { namespace: NAMESPACE, name: "blank" },
          {
            type: "merge",
            body: { spec: { replicas } },
          },
        ),
      );
    await scale(3);
    await ready(world, 3);
    const addresses = (await world.plunderMachines()).map(({ status }) => status?.ipAddress);
    assert.deepEqual(addresses.toSorted(), ["10.9.0.10", "10.9.0.11", "10.9.0.12"]);
    await scale(0);
    await world.untilGone();
    const left = async () => [
      ...(await world.whileTimePasses(world.client.list(IPAddressClaim))).items,
      ...(await world.whileTimePasses(world.client.list(IPAddress))).items,
    ];
    await world.until("the addresses are free", async () => (await left()).length === 0);
    await world.own.checkAllFree();
  }));
