/** BMCs of own hardware: their credentials, what they know, what they show of the firmware. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { Secret } from "@slipway/kube/core";
import { HostFirmwareSettings } from "../../src/kinds/metal3/host-firmware-settings.ts";
import { IMAGE, MINUTE, RACK, rack } from "./inventory-world.ts";

test("a BMC that refuses the credentials is an error that says so; the corrected Secret is taken up", async (t) => {
  const world = await rack(t);
  world.rack("node-1");
  world.rotate("node-1", "another than the Secret says");
  await world.declare("node-1");
  await world.until(
    "it is refused",
    async () => (await world.host("node-1"))?.status?.errorType === "registration error",
  );
  const { status } = (await world.host("node-1"))!;
  assert.match(status?.errorMessage ?? "", /refuses user name and password/);
  assert.equal(status?.goodCredentials, undefined);
  await world.setPassword("node-1", "corrected");
  const { status: after } = await world.reaches("node-1", "available");
  assert.equal(after?.goodCredentials?.credentials?.name, "node-1-bmc");
});

test("credentials that are rotated while the host is in use are noticed, and the host's system is not touched", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  await world.declare("node-1", { image: IMAGE });
  await world.until("the system runs", () => server.running?.is === "system");
  await world.reaches("node-1", "provisioned");
  const { starts } = server;
  world.rotate("node-1", "new");
  await world.until("it shows", async () => (await world.host("node-1"))?.status?.operationalStatus === "error");
  await world.setPassword("node-1", "new");
  await world.until("it is over", async () => (await world.host("node-1"))?.status?.operationalStatus === "OK");
  assert.equal(server.starts, starts);
});

test("a missing Secret is named, and the host goes on when it is there", async (t) => {
  const world = await rack(t);
  world.rack("node-1");
  await world.declare("node-1");
  await world.whileTimePasses(world.client.delete(Secret, { namespace: RACK, name: "node-1-bmc" }));
  await world.until("it is missed", async () => (await world.host("node-1"))?.status?.operationalStatus === "error");
  assert.match(
    (await world.host("node-1"))?.status?.errorMessage ?? "",
    /Secret\/slipway-hosts\/node-1-bmc: .* are not there/,
  );
  await world.secret("node-1", { username: "admin", password: "right" });
  await world.reaches("node-1", "available");
});

test("without bootMACAddress nobody knows which machine a host is: the cards that its BMC names are in the message", async (t) => {
  const world = await rack(t);
  world.rack("node-1");
  await world.declare("node-1", { bootMACAddress: undefined });
  await world.until("it says so", async () => (await world.host("node-1"))?.status?.operationalStatus === "error");
  const { status } = (await world.host("node-1"))!;
  assert.match(status?.errorMessage ?? "", /bootMACAddress .* is not set: the BMC names 52:54:00:00:00:01/);
  await world.change("node-1", { spec: { bootMACAddress: world.servers.get("node-1")!.mac } });
  await world.reaches("node-1", "available");
});

test("the firmware's settings are shown as the BMC shows them, without passwords, and none is written", async (t) => {
  const world = await rack(t);
  const server = world.rack("node-1");
  server.firmwareSettings = [
    { name: "ProcVirtualization", value: "Enabled", type: "Enumeration", allowed: ["Enabled", "Disabled"] },
    { name: "BootRetries", value: 3, type: "Integer" },
    { name: "SetupSecret", value: "hidden", type: "Password" },
    { name: "AdminPassword", value: "hidden" },
  ];
  await world.declare("node-1");
  await world.reaches("node-1", "available");
  const ref = { name: "node-1", namespace: RACK };
  const read = () => world.whileTimePasses(world.client.get(HostFirmwareSettings, ref));
  const first = await read();
  assert.deepEqual(first.status?.settings, { ProcVirtualization: "Enabled", BootRetries: "3" });
  assert.equal(first.metadata.ownerReferences?.[0]?.name, "node-1");
  const body = { spec: { settings: { ProcVirtualization: "Disabled" } } };
  await world.whileTimePasses(world.client.patch(HostFirmwareSettings, ref, { type: "merge", body }));
  server.firmwareSettings = [{ name: "BootRetries", value: 5 }];
  await world.change("node-1", { metadata: { annotations: { "inspect.metal3.io": "" } } });
  await world.until("it is read again", async () => (await read()).status?.settings?.BootRetries === "5");
  const { status } = await read();
  const said = status?.conditions?.map(({ type, status: is, reason }) => [type, is, reason]);
  assert.deepEqual(said, [
    ["ChangeDetected", "True", "NotAsWanted"],
    ["Valid", "False", "ReadOnly"],
  ]);
});

test("a BMC that does not show its firmware's settings says so, and the host goes on", async (t) => {
  const refuse = (call: string): void => {
    if (call === "firmwareSettings") throw new Fault("Unavailable", "bmc of node-1", "its Bios can't be read now");
  };
  const world = await rack(t, { bmcFaults: () => refuse });
  world.rack("node-1");
  await world.declare("node-1");
  await world.reaches("node-1", "available");
  assert.ok(
    (await world.events("node-1")).some((event) => /FirmwareSettingsNotRead: .*Bios can't be read/.test(event)),
  );
});

test("hosts that share one Secret cost no more than others, become available, and notice together that it is rotated", async (t) => {
  const counts = { writes: 0, secrets: 0 };
  const transport: NonNullable<Parameters<typeof rack>[1]>["transport"] = (inner) => ({
    ...inner,
    watch: (request) => inner.watch(request),
    request(request) {
      if (request.method !== "GET" && /baremetalhosts/.test(request.path)) counts.writes++;
      if (request.method !== "GET" && /secrets/.test(request.path)) counts.secrets++;
      return inner.request(request);
    },
  });
  const world = await rack(t, { transport });
  const names = (letter: string): string[] => [1, 2, 3, 4].map((n) => `${letter}-${n}`);
  const available = async (of: readonly string[], credentials?: string): Promise<number> => {
    const before = counts.writes;
    for (const name of of) world.rack(name);
    for (const name of of) await world.declare(name, credentials === undefined ? {} : { credentials });
    for (const name of of) await world.reaches(name, "available");
    await world.clock.run(20 * MINUTE);
    return counts.writes - before;
  };
  const alone = await available(names("a"));
  await world.secret("shared", { username: "admin", password: "right" });
  const together = await available(names("b"), "shared-bmc");
  assert.ok(together <= alone, `${together} writes of hosts with one Secret, ${alone} of others`);
  assert.equal(counts.secrets, 0);
  for (const name of names("b")) world.rotate(name, "new");
  await world.until("all say so", async () => {
    const hosts = await Promise.all(names("b").map((name) => world.host(name)));
    return hosts.every((host) => host?.status?.errorType === "registration error");
  });
  await world.setPassword("shared", "new");
  await world.until("all are well", async () => {
    const hosts = await Promise.all(names("b").map((name) => world.host(name)));
    return hosts.every((host) => host?.status?.operationalStatus === "OK");
  });
  assert.equal(counts.secrets, 0);
});
