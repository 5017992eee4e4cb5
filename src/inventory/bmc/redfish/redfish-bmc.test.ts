/** The port over Redfish against simulated BMCs: what works, and what is reported when a BMC lies. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault, plain } from "@slipway/base";
import type { LieName } from "../../../sim/bmc/sim-bmc.ts";
import { bmcWorld, CREDENTIALS, machineId, ORIGIN } from "../testing.ts";

const MINUTE_MS = 60_000;
const ISO = "http://boot.example/images/agent.iso";

test("a machine is switched on and off, and each call ends when the state is seen", async () => {
  const { open, run, machine } = bmcWorld();
  const bmc = open();
  assert.equal(await run(bmc.readPower()), "off");
  await run(bmc.setPower("on"));
  assert.equal(machine.power(), "On");
  await run(bmc.setPower("soft-off"));
  assert.equal(machine.power(), "Off");
  await run(bmc.setPower("on"));
  await run(bmc.setPower("restart"));
  assert.equal(await run(bmc.readPower()), "on");
  assert.equal(machine.starts.length, 3);
});

test("what is as wanted gets no order", async () => {
  const { open, run, sim } = bmcWorld();
  const bmc = open();
  await run(bmc.setPower("off"));
  await run(bmc.bootFrom("default", { once: false }));
  await run(bmc.ejectMedia());
  assert.deepEqual(
    sim.requests.filter((one) => !one.startsWith("GET")),
    ["POST /redfish/v1/SessionService/Sessions"],
  );
});

test("the next boot comes from the network, once, and then from the disk again", async () => {
  const { open, run, machine } = bmcWorld();
  const bmc = open();
  assert.deepEqual(await run(bmc.bootFrom("pxe", { once: true, mode: "UEFI" })), { once: true });
  await run(bmc.setPower("on"));
  await run(bmc.setPower("restart"));
  assert.deepEqual(machine.starts, [
    { from: "Pxe", mode: "UEFI" },
    { from: "None", mode: "UEFI" },
  ]);
});

test("a boot device may stay, or be an address, and is taken back", async () => {
  const { open, run, machine } = bmcWorld();
  const bmc = open();
  assert.deepEqual(await run(bmc.bootFrom("disk", { once: false, mode: "legacy" })), { once: false });
  assert.deepEqual(machine.boot(), { enabled: "Continuous", target: "Hdd", mode: "Legacy" });
  const httpBootUri = "http://boot.example/loader.efi";
  await run(bmc.bootFrom("uefi-http", { once: true, mode: "UEFI", httpBootUri }));
  assert.equal(machine.boot().httpBootUri, httpBootUri);
  await run(bmc.bootFrom("uefi-http", { once: true }));
  assert.equal(machine.boot().httpBootUri, undefined);
  await run(bmc.bootFrom("default", { once: false }));
  assert.equal(machine.boot().enabled, "Disabled");
});

test("an image is inserted, changed for another and ejected", async () => {
  const { open, run, machine } = bmcWorld();
  const bmc = open();
  await run(bmc.insertMedia(ISO));
  assert.equal(machine.media(), ISO);
  await run(bmc.insertMedia("http://boot.example/other.iso"));
  assert.equal(machine.media(), "http://boot.example/other.iso");
  await run(bmc.bootFrom("virtual-media", { once: true }));
  await run(bmc.setPower("on"));
  assert.equal(machine.starts[0]?.from, "Cd");
  await run(bmc.ejectMedia());
  assert.equal(machine.media(), undefined);
});

test("a machine says who it is", async () => {
  const { open, run } = bmcWorld();
  const { bmcVersion, ...identity } = await run(open().identity());
  assert.ok(bmcVersion);
  assert.deepEqual(identity, {
    manufacturer: "Slipway",
    model: "Simulated",
    serial: "SIM-51b00000",
    uuid: machineId(1),
    macs: ["52:54:00:00:00:01"],
    system: `/redfish/v1/Systems/${machineId(1)}`,
  });
  assert.deepEqual(await run(open().firmwareSettings()), []);
});

/** A BMC does these things, and everything works all the same. */
const BEARABLE: readonly LieName[] = [
  ...([
    "often-busy",
    "slow",
    "drops-requests",
    "drops-answers",
    "session-table-full",
    "forgets-sessions",
    "no-sessions",
  ] as const),
  ...(["etag-always-changes", "etag-weak", "etag-demanded", "redirects-to-slash", "boot-in-settings"] as const),
  ...(["refuses-mode", "forgets-mode", "media-by-patch", "demands-transfer-protocol"] as const),
  ...(["power-late", "gone-after-reset", "boot-lasts", "refuses-extra-fields"] as const),
];

for (const lie of BEARABLE)
  test(`a machine is provisioned through a BMC with the fault: ${lie}`, async () => {
    const { open, run, machine } = bmcWorld({ lies: [lie] });
    const bmc = open();
    await run(bmc.insertMedia(ISO, { withinMs: 30 * MINUTE_MS }));
    await run(bmc.bootFrom("virtual-media", { once: true, mode: "UEFI" }, { withinMs: 30 * MINUTE_MS }));
    await run(bmc.setPower("on", { withinMs: 30 * MINUTE_MS }));
    assert.deepEqual(machine.starts, [{ from: "Cd", mode: "UEFI", media: ISO }]);
    await run(bmc.ejectMedia({ withinMs: 30 * MINUTE_MS }));
    await run(bmc.setPower("off", { withinMs: 30 * MINUTE_MS }));
    assert.deepEqual([machine.media(), machine.power()], [undefined, "Off"]);
  });

const on = (withinMs = MINUTE_MS) => ({ withinMs });

test("an order that a BMC takes and forgets is no effect, and may be tried again", async () => {
  const { open, fails, sim } = bmcWorld({ lies: ["ignores-power", "ignores-boot", "ignores-media"] });
  const bmc = open();
  for (const [order, what] of [
    [() => bmc.setPower("on", on()), /power on/],
    [() => bmc.bootFrom("pxe", { once: true, mode: "UEFI" }, on()), /boot from pxe/],
    [() => bmc.insertMedia(ISO, on()), /insert virtual media/],
  ] as const) {
    const error = await fails(order());
    assert.ok(isFault(error, "NoEffect") && error.retryable && what.test(error.message), String(error));
  }
  sim.lie();
  const { machine } = bmcWorld();
  assert.equal(machine.power(), "Off");
});

test("a boot device that the BMC forgets when the machine starts was seen as set: only who waits for the system can tell", async () => {
  const { open, run, machine } = bmcWorld({ lies: ["boot-reverts"] });
  const bmc = open();
  assert.deepEqual(await run(bmc.bootFrom("pxe", { once: true, mode: "UEFI" })), { once: true });
  await run(bmc.setPower("on"));
  assert.deepEqual(
    machine.starts.map(({ from }) => from),
    ["None"],
  );
});

test("power that changes late is waited for, and no longer than allowed", async () => {
  const { open, run, fails, machine } = bmcWorld({ timings: { onMs: 5 * MINUTE_MS } });
  const bmc = open();
  assert.ok(isFault(await fails(bmc.setPower("on")), "NoEffect"));
  assert.equal(await run(bmc.readPower()), "turning-on");
  await run(bmc.setPower("on", on(10 * MINUTE_MS)));
  assert.equal(machine.starts.length, 1);
});

test("an order that the machine gives up is reported with its reason", async () => {
  const { open, fails, machine, clock } = bmcWorld({ timings: { softOffMs: 2 * MINUTE_MS } });
  const bmc = open();
  const work = fails(bmc.setPower("on").then(() => bmc.setPower("soft-off")));
  clock.after(30_000, () => void machine.reset("On"));
  const error = await work;
  assert.ok(isFault(error, "Unavailable") && /another order came/.test(error.message), String(error));
});

/** What can't be borne, and what is said about it. */
const UNBEARABLE: readonly (readonly [LieName, Fault["code"], RegExp])[] = [
  ["busy", "Unavailable", /answered 503/],
  ["too-slow", "Unavailable", /the answer to the login did not come/],
  ["answers-html", "Unavailable", /no JSON object/],
  ["redirects-away", "Unavailable", /refers to another server \(https:\/\/elsewhere\.example\)/],
  ["power-unknown", "Unavailable", /does not know whether the machine is on/],
  ["wrong-uuid", "Conflict", /the BMC of another machine/],
];

for (const [lie, code, text] of UNBEARABLE)
  test(`a BMC with the fault ${lie} is reported by its code`, async () => {
    const { open, fails } = bmcWorld({ lies: [lie] });
    const error = await fails(open({ uuid: machineId(1) }).readPower({ withinMs: 30 * MINUTE_MS }));
    assert.ok(isFault(error, code) && text.test(error.message), String(error));
  });

test("a boot device that the BMC does not offer is unsupported, and what it offers is named", async () => {
  const { open, fails } = bmcWorld({ lies: ["no-pxe"] });
  const error = await fails(open().bootFrom("pxe", { once: true }));
  assert.ok(isFault(error, "Unsupported") && /only from None, Hdd/.test(error.message), String(error));
});

test("refused credentials are said so, and are not shown again at once", async () => {
  const { open, run, fails, sim, clock } = bmcWorld();
  const wrong = open({ credentials: { ...CREDENTIALS, password: "wrong" } });
  for (let i = 0; i < 5; i++) assert.ok(isFault(await fails(wrong.readPower()), "BadCredentials"));
  assert.equal(sim.requests.filter((one) => one.startsWith("POST")).length, 1);
  await clock.run(MINUTE_MS);
  assert.ok(isFault(await fails(wrong.readPower()), "BadCredentials"));

  const bmc = open();
  assert.equal(await run(bmc.readPower()), "off");
  sim.rotate({ username: "admin", password: "new" });
  assert.ok(isFault(await fails(bmc.readPower()), "BadCredentials"));
  const renewed = open({ credentials: { username: "admin", password: "new" } });
  assert.equal(await run(renewed.readPower()), "off");
});

test("refused credentials are reported for a BMC without sessions, too", async () => {
  const { open, fails, sim } = bmcWorld({ lies: ["no-sessions"] });
  const error = await fails(open({ credentials: { ...CREDENTIALS, password: "wrong" } }).readPower());
  assert.ok(isFault(error, "BadCredentials"), String(error));
  assert.deepEqual(sim.requests, ["GET /redfish/v1/", "GET /redfish/v1/", "GET /redfish/v1/Systems"]);
});

test("a login whose answers are lost is tried twice at each of four attempts", async () => {
  const { open, fails, sim } = bmcWorld({ lies: ["too-slow"] });
  await fails(open().readPower({ withinMs: 60 * MINUTE_MS }));
  assert.deepEqual(sim.requests, Array(8).fill("GET /redfish/v1/"));
});

test("a BMC that is lost while an effect is awaited is unavailable: nobody knows what it did", async () => {
  const { open, fails, sim, clock } = bmcWorld({ timings: { onMs: 10 * MINUTE_MS } });
  clock.after(5_000, () => sim.lie("busy"));
  assert.ok(isFault(await fails(open().setPower("on")), "Unavailable"));
});

test("a path to a machine that the BMC has not got, or to none at all, is refused", async () => {
  const { open, fails } = bmcWorld({ machines: 2 });
  const address = (path: string) => ({ address: `redfish://bmc.example${path}` });
  const several = await fails(open().readPower());
  assert.ok(isFault(several, "Invalid"));
  for (const n of [1, 2]) assert.ok(several.advice.includes(`/redfish/v1/Systems/${machineId(n)}`), several.advice);
  const missing = await fails(open(address("/redfish/v1/Systems/9")).readPower());
  assert.ok(isFault(missing, "NotFound") && /no machine at \/redfish\/v1\/Systems\/9/.test(missing.message));
  const manager = await fails(open(address(`/redfish/v1/Managers/${machineId(1)}`)).readPower());
  assert.ok(isFault(manager, "Invalid") && /no machine but a Manager/.test(manager.message));
});

test("machines behind one BMC share a session, which ends with the last of them", async () => {
  const { bmcs, run, sim } = bmcWorld({ machines: 3 });
  const hosts = [1, 2, 3].map((n) =>
    bmcs.open({ address: `redfish://bmc.example:443/redfish/v1/Systems/${machineId(n)}`, credentials: CREDENTIALS }),
  );
  await run(Promise.all(hosts.map((host) => host.setPower("on"))));
  assert.equal(sim.sessions(), 1);
  for (const host of hosts.slice(1)) await run(host.close());
  await run(hosts[1]!.close());
  assert.equal(sim.sessions(), 1);
  assert.equal(await run(hosts[0]!.readPower()), "on");
  await run(hosts[0]!.close());
  assert.equal(sim.sessions(), 0);
  const again = bmcs.open({
    address: `redfish://bmc.example/redfish/v1/Systems/${machineId(1)}`,
    credentials: CREDENTIALS,
  });
  assert.equal(await run(again.readPower()), "on");
  await run(again.close());
  assert.equal(sim.sessions(), 0);
});

test("a BMC never has more than two requests of ours at one time", async () => {
  const { bmcs, run, sim } = bmcWorld({ machines: 8, lies: ["slow"] });
  const hosts = [1, 2, 3, 4, 5, 6, 7, 8].map((n) =>
    bmcs.open({ address: `redfish://bmc.example/redfish/v1/Systems/${machineId(n)}`, credentials: CREDENTIALS }),
  );
  await run(Promise.all(hosts.map((host) => host.readPower({ withinMs: 30 * MINUTE_MS }))));
  assert.equal(sim.mostAtOnce, 2);
});

test("a call ends when its caller gives up, with the caller's reason", async () => {
  const { open, fails, clock } = bmcWorld({ lies: ["ignores-power"] });
  const stop = new AbortController();
  clock.after(5_000, () => stop.abort(new Error("the host is deleted")));
  const error = await fails(open().setPower("on", { signal: stop.signal }));
  assert.match(String(error), /the host is deleted/);
});

test("a BMC that is not reached is unavailable, and its path and password are not repeated", async () => {
  const { bmcs, fails } = bmcWorld();
  const bmc = bmcs.open({ address: "redfish://other.example/redfish/v1/Systems/1", credentials: CREDENTIALS });
  const error = await fails(bmc.readPower());
  assert.ok(isFault(error, "Unavailable") && !error.advice.includes(CREDENTIALS.password), String(error));
});

test("credentials go to the BMC alone, wherever it redirects", async () => {
  const { open, fails, serve } = bmcWorld({ lies: ["redirects-away"] });
  const seen: string[] = [];
  serve("https://elsewhere.example", async ({ url }) => {
    seen.push(url);
    return plain(200, "{}");
  });
  await fails(open().readPower());
  assert.deepEqual(seen, []);
});

test("a certificate that is not trusted is reported as such", async () => {
  const { bmcs, fails, serve } = bmcWorld();
  const cause = Object.assign(new Error("self-signed certificate"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
  serve("https://self.example", async () => {
    throw new Fault("Unavailable", "https://self.example", "not reached", { cause });
  });
  const error = await fails(bmcs.open({ address: "redfish://self.example", credentials: CREDENTIALS }).readPower());
  assert.ok(isFault(error, "UntrustedCertificate") && /self-signed certificate/.test(error.message), String(error));
});

test("an empty user name is refused before anything is sent", () => {
  const { bmcs, sim } = bmcWorld();
  assert.throws(
    () => bmcs.open({ address: ORIGIN.replace("https", "redfish"), credentials: { username: "", password: "x" } }),
    (error) => isFault(error, "BadCredentials"),
  );
  assert.deepEqual(sim.requests, []);
});
