/** Hosts whose BMCs speak Redfish, as they should and as they do. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { LIES, type LieName } from "../../src/sim/bmc/sim-bmc.ts";
import { LEFT_OVER } from "./inventory-life.ts";
import { IMAGE, InventoryWorld, MINUTE } from "./inventory-world.ts";

test("a host's whole life goes by Redfish, in one session, which ends with the host", async (t) => {
  const world = await InventoryWorld.create({ redfish: true });
  t.after(() => world.close());
  const server = world.rack("node-1");
  server.disks[0]!.content = LEFT_OVER;
  await world.start();
  await world.declare("node-1", { image: IMAGE });
  await world.reaches("node-1", "provisioned");
  await world.until("the system runs", () => server.running?.is === "system");
  const sim = world.redfish.sims.get("node-1")!;
  assert.equal(sim.requests.filter((request) => request.startsWith("POST") && /Sessions$/.test(request)).length, 1);
  await world.remove("node-1");
  await world.until("it is gone", async () => (await world.host("node-1")) === undefined);
  await world.clock.run(MINUTE);
  assert.deepEqual([server.isOn, server.disks[0]?.content, sim.sessions()], [false, undefined, 0]);
});

/** With these a host gets nowhere, and says so; with all others it is installed. */
const HOPELESS: readonly LieName[] = [
  ...(["busy", "too-slow", "redirects-away", "answers-html", "power-unknown"] as const),
  ...(["ignores-power", "ignores-boot", "boot-reverts", "no-pxe"] as const),
];

for (const lie of Object.keys(LIES) as LieName[])
  test(`a BMC that ${lie}: the host is installed, or says what is wrong until the BMC is mended`, async (t) => {
    const world = await InventoryWorld.create({ redfish: true });
    t.after(() => world.close());
    const server = world.rack("node-1");
    const sim = world.redfish.sims.get("node-1")!;
    sim.lie(lie);
    // Firmware that boots from the network anyway would hide it.
    if (lie === "boot-reverts") server.bootFirst = "disk";
    if (lie === "boot-reverts") server.disks[0]!.content = LEFT_OVER;
    await world.start();
    await world.declare("node-1", { image: IMAGE });
    if (HOPELESS.includes(lie)) {
      await world.until("it says so", async () => (await world.host("node-1"))?.status?.operationalStatus === "error");
      await world.clock.run(30 * MINUTE);
      const { status } = (await world.host("node-1"))!;
      // Or the next try is under way.
      const said = status?.operationalStatus === "error" ? status.errorMessage : status?.waitingFor;
      assert.ok((said ?? "").length > 20, said);
      assert.ok((status?.errorCount ?? 0) > 0);
      assert.notEqual(status?.provisioning?.state, "provisioned");
      sim.lie();
    }
    await world.reaches("node-1", "provisioned");
    await world.until("the system runs", () => server.running?.is === "system");
  });
