import assert from "node:assert/strict";
import { test } from "node:test";
import { deadline, quietLog, Secrets, systemClock } from "@slipway/base";
import { isTrue } from "@slipway/kube";
import { readCluster } from "../../src/cli/cluster-description.ts";
import { clusterLines } from "../../src/cli/cluster-tree.ts";
import { Cluster } from "../../src/kinds/cluster-api/cluster.ts";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { PacketMachine } from "../../src/kinds/packet/packet-machine.ts";
import { applyObjects } from "../../src/laptop/apply.ts";
import { startLaptop } from "../../src/laptop/laptop.ts";
import { readManifests } from "../../src/laptop/manifests.ts";

test("A1 B44 B46 the Packet example ends in three ready nodes, with nothing else installed", async (t) => {
  const laptop = await startLaptop({
    ...{ kubernetes: "embedded", dir: undefined, host: "127.0.0.1", port: 0, speed: 400, counterparts: [] },
    ...{ log: quietLog, secrets: new Secrets() },
  });
  t.after(() => laptop.close());
  const { client } = laptop;
  await applyObjects(laptop, await readManifests("examples/packet-kamaji"));
  const { signal, done } = deadline(systemClock, 120_000);
  for (;;) {
    const cluster = await client.find(Cluster, { namespace: "default", name: "capi-quickstart" });
    if (isTrue(cluster?.status?.conditions, "Available")) break;
    assert.ok(!signal.aborted, JSON.stringify(cluster?.status?.conditions));
    await systemClock.sleep(200);
  }
  done();
  const machines = (await client.list(Machine)).items;
  const devices = new Map((await client.list(PacketMachine)).items.map((one) => [one.metadata.name, one]));
  assert.equal(machines.length, 3);
  for (const { metadata, spec, status } of machines) {
    assert.equal(status?.phase, "Running");
    assert.ok(status?.nodeRef?.name);
    assert.match(spec.providerID ?? "", /^equinixmetal:\/\/[0-9a-f-]{36}$/);
    assert.equal(devices.get(metadata.name)?.spec.providerID, spec.providerID);
    assert.equal(isTrue(status?.conditions, "Ready"), true);
  }
  const facts = await readCluster(client, { namespace: "default", name: "capi-quickstart" });
  const rows = clusterLines(facts, systemClock.now()).map((line) => line.trim());
  const row = (start: string): string | undefined => rows.find((line) => line.startsWith(start));
  assert.match(row("Cluster/capi-quickstart")!, /5\/5 +5 +5 +5 +Available: True/);
  assert.ok(row("├─ClusterInfrastructure - PacketCluster/capi-quickstart"));
  assert.match(row("├─ControlPlane - KamajiControlPlane/capi-equinix-control-plane")!, /2\/2 .*Available: True/);
  assert.match(row("└─MachineDeployment/capi-quickstart-worker-a")!, /3\/3 +3 +3 +3 +Available: True/);
  assert.match(row("└─3 Machines...")!, /See capi-quickstart-worker-a-\S+, \S+, \S+$/);
});
