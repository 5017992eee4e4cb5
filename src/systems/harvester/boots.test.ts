import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, quietLog, seededRandom, systemClock } from "@slipway/base";
import { type Context, createClient } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { FakeApi } from "@slipway/kube/testing";
import { BootStore } from "../../bootstrap/boot-store.ts";
import { Instance, type InstanceSpec, type InstanceStatus } from "../../kinds/harvester/instance.ts";
import type { Fleet } from "../../machines/fleet.ts";
import { aMachine } from "../../machines/testing.ts";
import { Boots } from "./boots.ts";
import { harvesterJoin } from "./join.ts";
import type { JoinInputs } from "./join-facts.ts";

const HOUR = 60 * 60_000;
const instance = (spec: Partial<InstanceSpec> = {}, status?: Partial<InstanceStatus>): Instance =>
  ({
    apiVersion: `${Instance.group}/${Instance.version}`,
    kind: "Instance",
    metadata: { name: "rack-a", uid: "u-1" },
    spec: { plan: "p", ...spec },
    ...(status !== undefined && { status }),
  }) as unknown as Instance;

function desk() {
  const time = { now: Date.UTC(2026, 0, 1) };
  const clock = { ...systemClock, now: () => time.now, monotonic: () => time.now };
  const client = createClient(new FakeApi(), { clock: systemClock, random: cryptoRandom, log: quietLog });
  const context = {
    client,
    clock,
    random: seededRandom(1),
    signal: new AbortController().signal,
  } as unknown as Context;
  const store = new BootStore({ namespace: "slipway", clock });
  const secrets: string[] = [];
  const inputs = {
    token: async () => "join-token",
    serverUrl: async () => "https://192.0.2.1",
  } as unknown as JoinInputs;
  const boots = new Boots({
    ...{ namespace: "slipway", url: "https://boot.test", inputs, store },
    onSecret: (value) => void secrets.push(value),
  });
  const prepare = (of: Instance, pass: 1 | 2 = 1) => boots.prepare(context, of, { pass });
  const record = async () => await store.read(client, "u-1");
  const password = async () => {
    const data = (await client.find(Secret, { namespace: "slipway", name: "rack-a-os" }))?.data;
    return (
      data &&
      Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]))
    );
  };
  return { time, context, client, store, secrets, boots, prepare, record, password };
}
const as = (boot: { id: string; at: number }, pass = 1) => ({
  boot: { id: boot.id, pass, at: new Date(boot.at).toISOString() },
});

test("a boot has a script and a configuration of one machine, and is served only once it is published", async () => {
  const { prepare, record, time, secrets } = desk();
  const boot = await prepare(instance());
  assert.equal(await record(), undefined);
  assert.match(boot.scriptUrl, /^https:\/\/boot\.test\/boot\/u-1\/[\w-]{43}\/ipxe$/);
  assert.equal(boot.userData, "");
  await boot.publish();
  const held = (await record())!;
  assert.equal(held.expiresAt, time.now + 1.5 * HOUR);
  assert.ok(held.script.startsWith("#!ipxe") && held.config.includes("join-token"));
  assert.ok(secrets.includes("join-token"));
});

test("H20 certificates are verified while a machine is installed, unless the pool says otherwise", async () => {
  const { prepare, record } = desk();
  const isVerified = async (spec: Partial<InstanceSpec>) => {
    await (await prepare(instance(spec))).publish();
    return !(await record())!.script.includes("rd.noverifyssl");
  };
  assert.equal(await isVerified({}), true);
  assert.equal(await isVerified({ harvester: { insecureSkipTLSVerify: false } }), true);
  assert.equal(await isVerified({ harvester: { insecureSkipTLSVerify: true } }), false);
});

test("the boot that the status names is used again while it lasts, for its own pass", async () => {
  const { prepare, time, store, client, record } = desk();
  const first = await prepare(instance());
  await first.publish();
  time.now += 1.5 * HOUR - 1;
  const again = await prepare(instance({}, as(first)));
  assert.deepEqual([again.id, again.at], [first.id, first.at]);
  assert.notEqual((await prepare(instance())).id, first.id);
  assert.notEqual((await prepare(instance({}, as(first, 2)))).id, first.id);
  assert.notEqual((await prepare(instance({}, as({ ...first, id: "other" })))).id, first.id);
  await store.publish(client, { resource: Instance, object: instance() }, { ...(await record())!, closed: true });
  assert.notEqual((await prepare(instance({}, as(first)))).id, first.id);
  await first.publish();
  time.now += 1;
  const next = await prepare(instance({}, as(first)));
  assert.deepEqual([next.id === first.id, next.at], [false, time.now]);
});

test("H30 the first of two passes only holds the machine, the second installs it", async () => {
  const { prepare, record } = desk();
  await (await prepare(instance({ installMode: "TwoPass" }))).publish();
  const hold = (await record())!;
  assert.equal(hold.config, "");
  await (await prepare(instance({ installMode: "TwoPass" }), 2)).publish();
  const install = (await record())!;
  assert.ok(install.config.includes("join-token"));
  assert.notEqual(hold.script, install.script);
});

test("a script of the user's own finds its configuration in the user data, and the boot service has none", async () => {
  const { prepare, record } = desk();
  const own = { ipxeScriptUrl: "https://own.test/script" };
  const boot = await prepare(instance({ ...own, installMode: "OneBoot" }));
  await boot.publish();
  assert.ok(boot.userData.includes("join-token"));
  const held = (await record())!;
  assert.equal(held.config, "");
  assert.ok(held.script.includes("https://own.test/script"));
  assert.equal((await prepare(instance({ ...own, installMode: "TwoPass" }))).userData, "");
  assert.equal((await prepare(instance({ userdata: "#cloud-config" }))).userData, "#cloud-config");
});

test("the operating system's password is made once for each Instance, kept in its Secret, and known to the redaction", async () => {
  const { prepare, password, secrets, record } = desk();
  const first = await prepare(instance());
  await first.publish();
  const held = (await password())!;
  assert.match(held.password!, /^[A-Za-z0-9]{20}$/);
  assert.ok(secrets.includes(held.password!));
  const hash = (await record())!.config.includes(held.hash!);
  assert.ok(hash && !(await record())!.config.includes(held.password!));
  // Two orders whose first was not written down, and one that was.
  for (const machine of [instance(), instance({}, as(first))]) {
    const boot = await prepare(machine);
    await boot.publish();
    assert.ok((await record())!.config.includes(held.hash!));
  }
  assert.deepEqual(await password(), held);
});

test("H17 the password of a machine that was taken over is the one that it has, and goes with the Instance", async () => {
  const { boots, client, context, password, secrets } = desk();
  await boots.keepPassword(context, instance(), "theirs");
  const { metadata } = await client.get(Secret, { namespace: "slipway", name: "rack-a-os" });
  assert.deepEqual(
    metadata.ownerReferences?.map(({ kind, uid }) => [kind, uid]),
    [["Instance", "u-1"]],
  );
  const held = (await password())!;
  assert.equal(held.password, "theirs");
  assert.ok(held.hash!.startsWith("$") && secrets.includes("theirs"));
});

test("once the machine has joined nothing of its boot can be fetched, and the user data of an own script are cleared", async () => {
  const { boots, context, prepare, record } = desk();
  const cleared: unknown[] = [];
  const fleet = {
    driver: { configure: async (id: string, boot: object) => void cleared.push([id, boot]) },
  } as unknown as Fleet;
  const discard = async (of: Instance) => {
    await (await prepare(of)).publish();
    await boots.discard(context, fleet, of);
    assert.equal(await record(), undefined);
  };
  await discard(instance({}, { instanceID: "m-1" }));
  await discard(instance({ ipxeScriptUrl: "https://own.test/script" }));
  assert.deepEqual(cleared, []);
  await discard(instance({ ipxeScriptUrl: "https://own.test/script" }, { instanceID: "m-1" }));
  assert.deepEqual(cleared, [["m-1", { userData: "" }]]);
});

const FACTS = {
  token: "join-token",
  serverUrl: "https://192.0.2.1",
  passwordHash: "$6$x",
  events: { started: "https://s", succeeded: "https://y", failed: "https://n" },
  machine: undefined,
};

test("what the pool leaves out of Harvester's installation has a default", () => {
  const join = harvesterJoin(instance(), FACTS);
  assert.deepEqual(
    [join.role, join.device, join.tty, join.skipChecks, join.management, join.labels, join.hostname, join.password],
    [
      "worker",
      "/dev/sda",
      "ttyS1,115200n8",
      true,
      { method: "dhcp" },
      { "slipway.dev/instance-uid": "u-1" },
      "rack-a",
      "$6$x",
    ],
  );
  assert.match(join.isoUrl, /^https:\/\/releases\.rancher\.com\/harvester\/v1\.8\.1\//);
  assert.deepEqual([join.sshAuthorizedKeys, join.dnsNameservers, join.ntpServers], [[], [], []]);
  for (const field of ["version", "artifactsUrl", "dataDisk"]) assert.ok(!(field in join), field);
  assert.deepEqual(
    join.webhooks?.map(({ event, method, url }) => `${event} ${method} ${url}`),
    ["STARTED POST https://s", "SUCCEEDED POST https://y", "FAILED POST https://n"],
  );
});

test("what the pool says of Harvester's installation reaches the machine", () => {
  const harvester = {
    ...{
      version: "v1.7.0",
      artifactsURL: "https://a.test",
      sshAuthorizedKeys: ["k"],
      dnsNameservers: ["d"],
      ntpServers: ["n"],
    },
    ...{ labels: { rack: "1" }, role: "witness" as const, device: "/dev/nvme0n1", dataDisk: "/dev/sdb", tty: "ttyS0" },
    ...{ mtu: 0, vlanID: 0, skipChecks: false },
  };
  const spec = {
    isoUrl: "https://iso.test/h.iso",
    managementBondingOptions: { mode: "802.3ad", miimon: null } as never,
    harvester,
  };
  const join = harvesterJoin(instance(spec as unknown as Partial<InstanceSpec>), FACTS);
  assert.deepEqual(
    [join.isoUrl, join.version, join.artifactsUrl, join.role, join.device, join.dataDisk, join.tty, join.skipChecks],
    ["https://iso.test/h.iso", "v1.7.0", "https://a.test", "witness", "/dev/nvme0n1", "/dev/sdb", "ttyS0", false],
  );
  assert.deepEqual([join.sshAuthorizedKeys, join.dnsNameservers, join.ntpServers], [["k"], ["d"], ["n"]]);
  assert.deepEqual(join.labels, { rack: "1", "slipway.dev/instance-uid": "u-1" });
  assert.deepEqual(join.management, { method: "dhcp", bondOptions: { mode: "802.3ad" }, mtu: 0, vlanId: 0 });
});

test("H30 once the machine is known its management cards are named by their addresses, in the order of its ports", () => {
  const port = (name: string, mac: string | undefined) =>
    ({
      id: name,
      name,
      kind: "physical",
      mac,
      bonded: true,
      bond: "bond0",
      networkType: undefined,
      disbondable: true,
      vlans: [],
      nativeVlan: undefined,
    }) as const;
  const machine = aMachine({
    ports: [
      port("eth1", "02:00:00:00:00:01"),
      port("eth0", undefined),
      port("eth2", "02:00:00:00:00:02"),
      port("bond0", "02:00:00:00:00:09"),
    ],
  });
  const spec = { managementInterfaces: ["eth2", "eth0", "eth1"] };
  assert.deepEqual(harvesterJoin(instance(spec), { ...FACTS, machine }).management.interfaces, [
    { hwAddr: "02:00:00:00:00:01" },
    { hwAddr: "02:00:00:00:00:02" },
  ]);
});
