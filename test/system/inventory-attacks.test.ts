/** What is written to hosts that somebody works against: BMCs and agents that say too much, and names as long as they may be. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { Secret } from "@slipway/kube/core";
import { BareMetalHost } from "../../src/kinds/metal3/bare-metal-host.ts";
import { SOUND } from "../../src/sim/rack/server-parts.ts";
import { ensureNamespace } from "../../src/systems/netboot/led-netboot.ts";
import { IMAGE, MINUTE, RACK, rack, SECOND } from "./inventory-world.ts";

/** Counts the statuses that are written from now on. */
function countedWrites() {
  const seen = { writes: 0 };
  const transport: NonNullable<Parameters<typeof rack>[1]>["transport"] = (inner) => ({
    ...inner,
    watch: (request) => inner.watch(request),
    request(request) {
      if (request.method !== "GET" && /baremetalhosts\/.*\/status/.test(request.path)) seen.writes++;
      return inner.request(request);
    },
  });
  return { seen, transport };
}

test("a BMC that refuses in other words each time has its host written twice a minute at most, new or in use", async (t) => {
  let refusals = 0;
  let isLying = true;
  const befall = (): void => {
    if (isLying) throw new Fault("Unavailable", "bmc", `it says ${refusals++}`);
  };
  const { seen, transport } = countedWrites();
  const world = await rack(t, { bmcFaults: () => befall, transport });
  world.rack("node-1");
  await world.declare("node-1");
  await world.clock.run(MINUTE);
  const rest = async (): Promise<number> => {
    const before = seen.writes;
    await world.clock.run(20 * MINUTE);
    return seen.writes - before;
  };
  const asNew = await rest();
  assert.ok(asNew <= 40, `${asNew} writes`);
  isLying = false;
  await world.reaches("node-1", "available");
  isLying = true;
  await world.until("it says so", async () => (await world.host("node-1"))?.status?.operationalStatus === "error");
  const inUse = await rest();
  // An error and then its wait.
  assert.ok(inUse <= 80, `${inUse} writes`);
  assert.ok(refusals > 20, "the BMC was asked");
});

for (const [what, words] of Object.entries({
  "several lines": "it says:\n\tno\u0007\r\n\tand no again",
  "what looks like a secret": "it says: X-Auth-Token: 0123456789abcdef",
  "more than a status holds": "no ".repeat(12_000),
}))
  test(`a BMC that refuses in the same words is written down once in use, and ever less often while it is new: ${what}`, async (t) => {
    let isLying = true;
    const befall = (): void => {
      if (isLying) throw new Fault("Unavailable", "bmc", words);
    };
    const { seen, transport } = countedWrites();
    const world = await rack(t, { bmcFaults: () => befall, transport });
    world.rack("node-1");
    await world.declare("node-1");
    const written = async (): Promise<number> => {
      await world.clock.run(20 * MINUTE);
      const before = seen.writes;
      await world.clock.run(60 * MINUTE);
      return seen.writes - before;
    };
    const asNew = await written();
    isLying = false;
    await world.reaches("node-1", "available");
    isLying = true;
    await world.until("it says so", async () => (await world.host("node-1"))?.status?.operationalStatus === "error");
    const inUse = await written();
    // A try in ten minutes: the error, and its wait.
    assert.deepEqual([asNew <= 14, inUse], [true, 0], `${asNew} writes new, ${inUse} in use`);
  });

test("what was wrong is told no more once another try is under way, and counted until one has succeeded", async (t) => {
  let fails = 2;
  const failure = (order: string): string | undefined =>
    order === "write" && fails-- > 0 ? "no such image" : undefined;
  const world = await rack(t, { serverFaults: { ...SOUND, failure }, lookMs: SECOND });
  world.rack("node-1");
  await world.declare("node-1", { image: IMAGE });
  const status = async () => (await world.host("node-1"))?.status;
  for (const count of [1, 2]) {
    await world.until(`it has failed ${count} times`, async () => (await status())?.errorCount === count);
    const failed = await status();
    assert.deepEqual([failed?.operationalStatus, failed?.errorType], ["error", "provisioning error"]);
    assert.match(failed?.errorMessage ?? "", /no such image/);
    await world.until("it is tried again", async () => (await status())?.errorType === undefined);
    const again = await status();
    assert.deepEqual([again?.operationalStatus, again?.errorMessage, again?.errorCount], ["OK", "", count]);
    assert.equal(again?.provisioning?.state, "provisioning");
  }
  const { status: done } = await world.reaches("node-1", "provisioned");
  assert.equal(done?.errorCount, 0);
});

test("a host that is detached by force in the middle of its work is let alone, and goes on afterwards", async (t) => {
  const world = await rack(t, { lookMs: 5 * SECOND });
  const server = world.rack("node-1");
  await world.declare("node-1", { image: IMAGE });
  await world.reaches("node-1", "provisioning");
  const annotate = (value: string | null) =>
    world.change("node-1", { metadata: { annotations: { "baremetalhost.metal3.io/detached": value } } });
  await annotate('{"force":true}');
  await world.until(
    "it is detached",
    async () => (await world.host("node-1"))?.status?.operationalStatus === "detached",
  );
  const starts = server.starts;
  await world.clock.run(3 * 60 * MINUTE);
  const held = (await world.host("node-1"))?.status;
  assert.deepEqual(
    [held?.provisioning?.state, held?.operationalStatus, server.starts],
    ["provisioning", "detached", starts],
  );
  await annotate(null);
  await world.reaches("node-1", "provisioned");
  await world.until("the system runs", () => server.running?.is === "system");
});

test("who declares a machine of another namespace does not have it given up unwiped when its host is deleted", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await world.declare("node-1", { image: IMAGE });
  await world.reaches("node-1", "provisioned");
  await world.until("the system runs", () => server.running?.is === "system");
  const metadata = { name: "thief", namespace: "team-b" };
  const spec = { online: true, automatedCleaningMode: "disabled" as const, bootMACAddress: server.mac };
  await world.whileTimePasses(ensureNamespace(world.client, "team-b", new AbortController().signal));
  await world.whileTimePasses(world.client.create(BareMetalHost, { metadata, spec }));
  await world.clock.run(5 * MINUTE);
  await world.remove("node-1");
  await world.clock.run(60 * MINUTE);
  const held = (await world.host("node-1"))?.status;
  assert.equal(held?.provisioning?.state, "deprovisioning");
  assert.match(held?.waitingFor ?? "", /^team-b\/thief, which has a card of the same machine/);
  assert.notEqual(server.disks[0]?.content, undefined);
  await world.whileTimePasses(world.client.delete(BareMetalHost, metadata));
  await world.until("it is gone", async () => (await world.host("node-1")) === undefined);
  assert.deepEqual([server.isOn, server.disks[0]?.content], [false, undefined]);
  assert.ok(!(await world.events("node-1")).some((event) => event.includes("NotWiped")));
});

test("a host whose name is as long as a name may be is installed with its data, and deleted", async (t) => {
  const world = await rack(t);
  const name = [63, 63, 63, 61].map((length, at) => `${"abcd"[at]!.repeat(length - 2)}-${at}`).join(".");
  assert.equal(name.length, 253);
  const server = world.rack("node-1");
  await world.secret("node-1", { username: "admin", password: "right" });
  const data = { name: "data", namespace: RACK };
  await world.whileTimePasses(
    world.client.create(Secret, { metadata: data, stringData: { userData: "#cloud-config\n" } }),
  );
  const spec = {
    ...{ online: true, automatedCleaningMode: "metadata" as const, bootMACAddress: server.mac },
    ...{ bmc: { address: "redfish://node-1", credentialsName: "node-1-bmc" }, image: IMAGE, userData: data },
  };
  await world.whileTimePasses(world.client.create(BareMetalHost, { metadata: { name, namespace: RACK }, spec }));
  await world.reaches(name, "provisioned");
  await world.until("the system runs", () => server.running?.is === "system");
  assert.ok((await world.events(name)).some((event) => event.includes("ProvisioningComplete")));
  await world.remove(name);
  await world.until("it is gone", async () => (await world.host(name)) === undefined);
  assert.deepEqual([server.isOn, server.disks[0]?.content], [false, undefined]);
});
