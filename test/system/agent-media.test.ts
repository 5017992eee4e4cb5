/** Hosts whose agent comes from a CD in their BMC's virtual drive, by direct call and by Redfish, as it should be and as it is. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Namespace } from "@slipway/kube/core";
import { hostName } from "../../src/netboot/hosts/host.ts";
import { LEFT_OVER } from "./inventory-life.ts";
import { IMAGE, InventoryWorld, RACK } from "./inventory-world.ts";

const CD = /^http:\/\/netboot.invalid\/once\/slo_[\w-]{43}\/agent-x64.iso$/;
const SCHEME = "redfish-virtualmedia";

async function rack(t: TestContext, { redfish, trust }: { redfish: boolean; trust?: string }) {
  const world = await InventoryWorld.create({ redfish });
  t.after(() => world.close());
  const body = { metadata: { annotations: { "slipway.dev/trust": trust ?? null } } };
  await world.whileTimePasses(world.client.patch(Namespace, { name: RACK }, { type: "merge", body }));
  await world.start();
  const server = world.rack("node-1");
  server.disks[0]!.content = LEFT_OVER;
  const media = () => (redfish ? world.redfish.machines.get("node-1")!.media() : server.media);
  return { world, server, media };
}

for (const redfish of [false, true])
  test(`N1 a host's whole life goes by CDs where a boot by the BMC is demanded, and none stays in its drive ${redfish ? "by Redfish" : ""}`, async (t) => {
    const { world, server, media } = await rack(t, { redfish, trust: "bmc" });
    const put = new Set<string>();
    const until = (what: string, holds: () => Promise<boolean> | boolean): Promise<void> =>
      world.until(what, async () => {
        const url = media();
        if (url !== undefined) put.add(url);
        return await holds();
      });
    const reaches = (state: string): Promise<void> =>
      until(state, async () => (await world.host("node-1"))?.status?.provisioning?.state === state);
    await world.declare("node-1", { scheme: SCHEME });
    await reaches("available");
    assert.equal(world.provisioning.hosts.standing(hostName(server.mac)).trust, "bmc");
    assert.deepEqual([media(), server.disks[0]?.content], [undefined, undefined]);
    await world.change("node-1", { spec: { image: IMAGE } });
    await reaches("provisioned");
    await until("the system runs", () => server.running?.is === "system");
    assert.equal(media(), undefined);
    await world.remove("node-1");
    await until("it is gone", async () => (await world.host("node-1")) === undefined);
    assert.deepEqual([server.isOn, server.disks[0]?.content, media()], [false, undefined, undefined]);
    assert.ok(put.size >= 2, "the agent was started twice at least");
    for (const url of put) assert.match(url, CD);
    const events = (await world.events("node-1")).join();
    assert.ok(!events.includes("slo_"), events);
  });

// A world each: on a server that worlds share, one follows the other.
for (const isLegacy of [false, true])
  test(`${isLegacy ? "a machine with legacy firmware" : "a machine whose BMC can't start it from a CD"} starts the agent by PXE, and no CD stays in`, async (t) => {
    const { world, server, media } = await rack(t, { redfish: true });
    const machine = world.redfish.machines.get("node-1")!;
    if (!isLegacy) Object.assign(machine, { bootTargets: ["Pxe", "Hdd"] });
    await world.declare("node-1", { scheme: SCHEME, ...(isLegacy && { bootMode: "legacy" }) });
    await world.reaches("node-1", "available");
    assert.deepEqual([server.disks[0]?.content, media()], [undefined, undefined]);
    assert.deepEqual([...new Set(machine.starts.map(({ from }) => from))], ["Pxe"]);
  });

test("where a value is demanded, a BMC that takes no CD is an event that says so, and the disks are left as they are", async (t) => {
  const { world, server } = await rack(t, { redfish: true, trust: "bmc" });
  Object.assign(world.redfish.machines.get("node-1")!, { bootTargets: ["Pxe", "Hdd"] });
  await world.declare("node-1", { scheme: SCHEME });
  const says = async (): Promise<boolean> =>
    (await world.events("node-1")).some((each) =>
      /NoBootValue: .*can't boot the machine from virtual-media/.test(each),
    );
  await world.until("it says so", says);
  assert.equal(server.disks[0]?.content, LEFT_OVER);
});

test("a CD of a host that is deleted before its agent has come is taken out", async (t) => {
  const { world, server, media } = await rack(t, { redfish: true });
  const { network } = world;
  const boot = network.boot.bind(network);
  network.boot = async () => ({ is: "nothing" });
  await world.declare("node-1", { scheme: SCHEME });
  await world.until("the CD is in", () => media() !== undefined && server.isOn);
  await world.remove("node-1");
  await world.until("it is gone", async () => (await world.host("node-1")) === undefined);
  assert.deepEqual([server.isOn, media()], [false, undefined]);
  network.boot = boot;
});
