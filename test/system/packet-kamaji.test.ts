import assert from "node:assert/strict";
import { test } from "node:test";
import { deadline, quietLog, Secrets, systemClock } from "@slipway/base";
import { Secret } from "@slipway/kube/core";
import { readManifests } from "../../src/cli/manifests.ts";
import { Machine } from "../../src/kinds/cluster-api/machine.ts";
import { PacketMachine } from "../../src/kinds/packet/packet-machine.ts";
import { applyObjects } from "../../src/laptop/apply.ts";
import { startLaptop } from "../../src/laptop/laptop.ts";
import { EXAMPLE_KEYS } from "../../src/laptop/metal.ts";
import { DEFAULT_NAMESPACE, DEFAULT_SECRET } from "../../src/operator/defaults.ts";

test("A1 B44 the Packet example ends in three joined nodes, with nothing else installed", async (t) => {
  const laptop = await startLaptop({
    ...{ kubernetes: "embedded", dir: undefined, host: "127.0.0.1", port: 0, speed: 400, counterparts: [] },
    ...{ log: quietLog, secrets: new Secrets() },
  });
  t.after(() => laptop.close());
  const { client } = laptop;
  const { token, project } = EXAMPLE_KEYS.equinix;
  await client.create(Secret, {
    metadata: { name: DEFAULT_SECRET, namespace: DEFAULT_NAMESPACE },
    stringData: { METAL_AUTH_TOKEN: token, METAL_PROJECT_ID: project.id },
  } as never);
  await applyObjects(laptop, await readManifests("examples/packet-kamaji"));
  const { signal, done } = deadline(systemClock, 120_000);
  for (;;) {
    const machines = (await client.list(Machine)).items;
    if (machines.filter(({ status }) => status?.phase === "Running").length === 3) {
      const devices = new Map((await client.list(PacketMachine)).items.map((one) => [one.metadata.name, one]));
      for (const { metadata, spec, status } of machines) {
        assert.ok(status?.nodeRef?.name);
        assert.match(spec.providerID ?? "", /^equinixmetal:\/\/[0-9a-f-]{36}$/);
        assert.equal(devices.get(metadata.name)?.spec.providerID, spec.providerID);
      }
      break;
    }
    assert.ok(!signal.aborted, JSON.stringify(machines.map(({ status }) => status?.conditions)));
    await systemClock.sleep(200);
  }
  done();
});
