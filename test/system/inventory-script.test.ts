/** Hosts that are installed by a script of the user's own: `customDeploy.method: ipxe`. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Secret } from "@slipway/kube/core";
import type { Firmware } from "../../src/sim/hardware.ts";
import { INSTALLED } from "../../src/sim/rack/server-guest.ts";
import { InventoryWorld, MINUTE, RACK } from "./inventory-world.ts";

const SCRIPT = "http://scripts.invalid/secret-path/install.ipxe";

/** A firmware whose scripts all install at once; records which were started. */
function installing(): Firmware & { started: string[] } {
  const started: string[] = [];
  return {
    started,
    fromNetwork(_, { scriptUrl }, progress) {
      started.push(scriptUrl);
      queueMicrotask(() => progress({ stage: "installed", message: "" }));
      return { off() {} };
    },
    fromDisk: () => ({ off() {} }),
    wipe() {},
  };
}

async function rack(t: TestContext) {
  const firmware = installing();
  const world = await InventoryWorld.create({ firmware });
  t.after(() => world.close());
  const server = world.rack("node-1");
  await world.start();
  return { world, server, firmware };
}

const give = (world: InventoryWorld, stringData: Record<string, string>) =>
  world.whileTimePasses(world.client.create(Secret, { metadata: { name: "script", namespace: RACK }, stringData }));

const INSTALL = { spec: { customDeploy: { method: "ipxe" }, userData: { name: "script", namespace: RACK } } };

for (const bmc of [true, false])
  test(`a host ${bmc ? "with" : "without"} a BMC boots the user's script once, then from its disk, and is wiped when it is taken back`, async (t) => {
    const { world, server, firmware } = await rack(t);
    await give(world, { scriptURL: SCRIPT });
    await world.declare("node-1", { bmc });
    if (!bmc) server.on();
    await world.reaches("node-1", "available");
    await world.change("node-1", INSTALL);
    await world.reaches("node-1", "provisioned");
    await world.until("it runs", () => server.running?.is === "system" && server.running.image === INSTALLED);
    server.restart();
    await world.clock.run(10 * MINUTE);
    assert.deepEqual(server.running, { is: "system", image: INSTALLED });
    assert.deepEqual(firmware.started, [SCRIPT]);
    const said = JSON.stringify([await world.host("node-1"), await world.events("node-1")]);
    assert.ok(!said.includes("secret-path"), "the script's address stays secret");

    await world.change("node-1", { spec: { customDeploy: null, userData: null } });
    if (!bmc) {
      await world.until(
        "it is taken back",
        async () => (await world.host("node-1"))?.status?.provisioning?.state === "deprovisioning",
      );
      server.restart();
    }
    await world.reaches("node-1", "available");
    assert.equal(server.disks[0]!.content, undefined);
  });

test("a host without a script says what is missing, and goes on when it is there", async (t) => {
  const { world, server } = await rack(t);
  await world.declare("node-1");
  await world.reaches("node-1", "available");
  await world.change("node-1", INSTALL);
  await world.until("it says so", async () =>
    /Secret .*script is not there/.test((await world.host("node-1"))?.status?.errorMessage ?? ""),
  );
  await give(world, { scriptURL: "ftp://nowhere" });
  await world.until("it says so", async () =>
    /scriptURL: must be a URL/.test((await world.host("node-1"))?.status?.errorMessage ?? ""),
  );
  const data = { scriptURL: Buffer.from(SCRIPT).toString("base64") };
  await world.whileTimePasses(
    world.client.patch(Secret, { name: "script", namespace: RACK }, { type: "merge", body: { data } }),
  );
  await world.reaches("node-1", "provisioned");
  assert.equal(server.disks[0]!.content?.image, INSTALLED);
});
