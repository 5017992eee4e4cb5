/** What machines prove of their boot, on the hosts that are driven. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { HardwareData } from "../../src/kinds/metal3/hardware-data.ts";
import { hostName } from "../../src/netboot/hosts/host.ts";
import { InventoryWorld, MINUTE, RACK } from "./inventory-world.ts";

const of = (letter: string): string => letter.repeat(64);

test("a declared host's PCRs are on its HardwareData through all that is written there; firmware that changed is an event", async (t) => {
  const world = await InventoryWorld.create();
  t.after(() => world.close());
  await world.start();
  const server = world.rack("node-1");
  const name = hostName(server.mac);
  const ref = { namespace: RACK, name: "node-1" };
  const boots = async (pcr0: string): Promise<string | undefined> => {
    const { hosts } = world.provisioning;
    await world.until("the agent runs", () => hosts.get(name)?.session !== undefined);
    hosts.proved(name, { endorsementKey: of("e"), pcrs: { 0: of(pcr0), 9: of(pcr0) } });
    await world.reaches("node-1", "available");
    await world.clock.run(MINUTE);
    const data = await world.whileTimePasses(world.client.get(HardwareData, ref));
    assert.equal(data.spec.hardware?.cpu?.count, 16);
    return data.metadata.annotations?.["slipway.dev/pcrs"];
  };
  await world.declare("node-1");
  assert.equal(await boots("a"), `0: ${of("a")}\n9: ${of("a")}`);

  await world.change("node-1", { metadata: { annotations: { "inspect.metal3.io": "" } } });
  await world.clock.run(MINUTE);
  assert.equal(await boots("b"), `0: ${of("b")}\n9: ${of("b")}`);
  const changes = (await world.events("node-1")).filter((event) => event.includes(" BootChanged: "));
  assert.equal(changes.length, 1);
  assert.match(changes[0]!, /PCRs differ from the boot before: 0 \(firmware\)$/);
});
