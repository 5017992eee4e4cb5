import assert from "node:assert/strict";
import { test } from "node:test";
import type { PacketCluster } from "../../src/kinds/packet/packet-cluster.ts";
import type { PacketMachine } from "../../src/kinds/packet/packet-machine.ts";
import { inPacketWorld } from "./packet-world.ts";

/** The words of an object's condition; undefined where it has none of the type. */
function conditionOf(object: PacketCluster | PacketMachine | undefined, type: string) {
  const { status, reason, severity } = (object?.status?.conditions?.find((one) => one.type === type) ?? {}) as {
    status?: string;
    reason?: string;
    severity?: string;
  };
  return [status, reason, ...(severity === undefined ? [] : [severity])].join(" ");
}

test("B2 B44 a cluster with CPEM: elastic IP, endpoint, machine, providerID, addresses, both contracts", async () => {
  await inPacketWorld(async (world) => {
    await world.cluster("a");
    await world.machine("a-1", { tags: ["mine"] });
    await world.ready("a-1");

    const cluster = await world.packetCluster();
    const [block] = await world.addresses();
    assert.deepEqual(cluster?.spec.controlPlaneEndpoint, { host: block?.address, port: 6443 });
    assert.deepEqual([cluster?.status?.ready, cluster?.status?.initialization], [true, { provisioned: true }]);
    assert.equal(conditionOf(cluster, "NetworkInfrastructureReady"), "True NetworkInfrastructureReady");

    const machine = await world.packetMachine("a-1");
    const [device] = world.equinix.devices();
    assert.equal(machine.spec.providerID, `equinixmetal://${device!.id}`);
    assert.deepEqual([machine.status?.ready, machine.status?.initialization], [true, { provisioned: true }]);
    assert.equal(machine.status?.instanceState, "active");
    assert.equal(conditionOf(machine, "InstanceReady"), "True InstanceReady");
    assert.equal(conditionOf(machine, "Ready"), "True InstanceReady");
    assert.deepEqual(
      machine.status?.addresses?.map(({ type }) => type),
      ["Hostname", "ExternalIP", "InternalIP", "ExternalIP"],
    );
    assert.deepEqual(
      [...device!.tags].sort(),
      [
        "capp:cluster-id:a",
        "capp:machine-uid:a-1",
        "capp:namespace:default",
        "kubernetes.io/role:node",
        "mine",
        `slipway:claim:${machine.metadata.uid}`,
      ].sort(),
    );
  });
});
