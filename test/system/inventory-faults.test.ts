/** Each thing that a simulated server can do wrong, by its name: the host says so, and goes on when it is over. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { SOUND } from "../../src/sim/rack/server-parts.ts";
import { IMAGE, MINUTE, rack } from "./inventory-world.ts";

for (const what of ["inspect", "wipe", "write", "reboot"])
  for (const bmc of what === "inspect" ? [true] : what === "reboot" ? [false] : [true, false])
    test(`a power cut amid "${what}" of a host ${bmc ? "with" : "without"} a BMC: what was not done is done again, and the host is installed`, async (t) => {
      let cuts = 0;
      const powerCut = (order: string): boolean => order === what && cuts++ === 0;
      const world = await rack(t, { serverFaults: { ...SOUND, powerCut } });
      const server = world.rack("node-1");
      await world.declare("node-1", { bmc, image: IMAGE });
      if (!bmc) server.on();
      // An inspection by order is one that a user asks for, of a host that nobody uses.
      if (what === "inspect") {
        await world.change("node-1", { spec: { image: null } });
        await world.reaches("node-1", "available");
        await world.change("node-1", { metadata: { annotations: { "inspect.metal3.io": "" } } });
        await world.reaches("node-1", "inspecting");
        await world.reaches("node-1", "available");
        await world.change("node-1", { spec: { image: IMAGE } });
      }
      await world.reaches("node-1", "provisioned", 6 * 60 * MINUTE);
      await world.until("the system runs", () => server.running?.is === "system");
      assert.equal(server.disks[0]?.content?.image, IMAGE.url);
      // Whatever cuts its power restarts it, too.
      const isDone = what === "reboot";
      if (what !== "inspect") assert.equal(cuts > 1, !isDone, `it was done ${cuts} times`);
    });

test("an image with another checksum is an error, does not run, and is installed once the checksum is mended", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  world.network.images.set(IMAGE.url, { checksum: "b".repeat(64) });
  await world.declare("node-1", { image: IMAGE });
  const status = async () => (await world.host("node-1"))?.status;
  await world.until("it says so", async () => /another sha256 than ordered/.test((await status())?.errorMessage ?? ""));
  assert.equal((await status())?.errorType, "provisioning error");
  await world.clock.run(30 * MINUTE);
  assert.equal((await status())?.provisioning?.state, "provisioning");
  assert.notEqual(server.running?.is, "system");
  assert.ok(((await status())?.errorCount ?? 0) >= 3, "it is tried again, ever less often");
  await world.change("node-1", { spec: { image: { ...IMAGE, checksum: "b".repeat(64) } } });
  await world.reaches("node-1", "provisioned");
  await world.until("the system runs", () => server.running?.is === "system");
});

test("a disk that is too small for the image is an error with its size, and another image is installed", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1", { disks: [{ name: "/dev/sda", bytes: 8e9 }] });
  world.network.images.set(IMAGE.url, { bytes: 9e9 });
  await world.declare("node-1", { image: IMAGE });
  const status = async () => (await world.host("node-1"))?.status;
  await world.until("it says so", async () =>
    /larger than \/dev\/sda with its 8000000000 bytes/.test((await status())?.errorMessage ?? ""),
  );
  await world.change("node-1", { spec: { image: { ...IMAGE, url: "http://images.invalid/smaller.raw" } } });
  await world.reaches("node-1", "provisioned");
  await world.until("the smaller runs", () => server.disks[0]?.content?.image === "http://images.invalid/smaller.raw");
});
