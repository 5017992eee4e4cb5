/** A rack with netboot's own hosts, orders and installers, and its BMCs, in virtual time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Fault, isFault, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Firmware } from "../hardware.ts";
import { Provisioning, ProvisioningNetwork } from "./provisioning.ts";
import { SimRack } from "./rack.ts";
import { RedfishRack } from "./redfish-rack.ts";
import type { SimServer } from "./server.ts";
import { serverBmc } from "./server-bmc.ts";
import { NO_SERVER_TIMINGS } from "./server-parts.ts";

const NO_FIRMWARE: Firmware = {
  fromNetwork: () => ({ off: () => {} }),
  fromDisk: () => ({ off: () => {} }),
  wipe: () => {},
};

function rig() {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const rack = new SimRack({ clock, random, firmware: NO_FIRMWARE, timings: NO_SERVER_TIMINGS });
  const until = async <T>(look: () => T | undefined): Promise<T> => {
    for (let turns = 0; turns < 2_000; turns++) {
      const found = look();
      if (found !== undefined) return found;
      await clock.run(500);
      await setImmediate();
    }
    assert.fail(`not in time: ${look}`);
  };
  return { clock, random, rack, until };
}
const runs = (server: SimServer, is: string) => () => (server.running?.is === is ? server : undefined);

test("servers of a rack have cards and addresses by their number, and BMCs by their names", async () => {
  const { rack } = rig();
  const first = rack.add("s1");
  for (let number = 2; number < 256; number++) rack.add(`s${number}`);
  const next = rack.add("s256", { macs: ["52:54:00:01:00:00"] });
  assert.deepEqual(
    [first.mac, first.address, first.macs],
    [...["52:54:00:00:00:01", "10.20.0.1"], ["52:54:00:00:00:01"]],
  );
  assert.deepEqual(
    [next.mac, next.address, next.macs],
    [...["52:54:00:00:01:00", "10.20.1.0"], ["52:54:00:00:01:00", "52:54:00:01:00:00"]],
  );
  assert.equal(rack.bmcOf("s1"), "redfish://s1");
  const at = (address: string) => rack.openBmc({ address, credentials: rack.login } as never);
  assert.throws(() => at("redfish://none"), { code: "Unavailable" });
  assert.deepEqual(await at("redfish://s256").identity(), { serial: "s256", macs: next.macs, system: "" });
  rack.bmcFaults = (server) => (call) => {
    if (server === next) throw new Fault("Throttled", call, "busy");
  };
  await assert.rejects(at("redfish://s256").readPower(), { code: "Throttled" });
  assert.equal(await at("redfish://s1").readPower(), "off");
  await rack.close();
});

test("a BMC does what it is told to whoever knows its password, and each call may fail", async () => {
  const { rack } = rig();
  const server = rack.add("s1");
  const expected = { username: "u", password: "p" };
  for (const given of [
    { username: "u", password: "x" },
    { username: "x", password: "p" },
  ])
    await assert.rejects(serverBmc(server, { expected, given }).readPower(), {
      ...{ code: "BadCredentials", message: /refuses user name and password/ },
    });
  const calls: string[] = [];
  const bmc = serverBmc(server, { expected, given: expected, befall: (call) => void calls.push(call) });
  await bmc.setPower("on");
  assert.deepEqual([await bmc.readPower(), server.starts], ["on", 1]);
  await bmc.setPower("restart");
  await bmc.setPower("reset");
  assert.equal(server.starts, 3);
  await bmc.setPower("soft-off");
  assert.equal(await bmc.readPower(), "off");
  await bmc.setPower("on");
  await bmc.setPower("off");
  assert.equal(server.isOn, false);
  for (const [device, from] of [
    ["pxe", "network"],
    ["uefi-http", "network"],
    ["disk", "disk"],
    ["virtual-media", "media"],
    ["default", "network"],
  ] as const) {
    server.bootOnce = undefined;
    assert.deepEqual(await bmc.bootFrom(device, { once: true, httpBootUri: "http://x/b" }), { once: true });
    assert.deepEqual([server.bootOnce, server.bootUri], [from, device === "uefi-http" ? "http://x/b" : undefined]);
    assert.deepEqual(await bmc.bootFrom(device, { once: false }), { once: false });
    assert.deepEqual([server.bootFirst, server.bootUri], [from, undefined]);
  }
  await bmc.insertMedia("http://x/cd");
  assert.equal(server.media, "http://x/cd");
  await bmc.ejectMedia();
  assert.equal(server.media, undefined);
  server.firmwareSettings = [{ name: "a", value: 1 }];
  assert.deepEqual(await bmc.firmwareSettings!(), [{ name: "a", value: 1 }]);
  assert.deepEqual(
    [...new Set(calls)],
    [...["setPower", "readPower", "bootFrom", "insertMedia", "ejectMedia", "firmwareSettings"]],
  );
  await bmc.close();
  await rack.close();
});

test("a server is known once its agent has spoken, obeys its orders, and is given files for it alone", async () => {
  const { rack, until, clock } = rig();
  const server = rack.add("s1");
  const other = rack.add("s2");
  server.on();
  await clock.run(60_000);
  assert.deepEqual(server.running, { is: "firmware" }, "nobody serves");
  let isAlive = true;
  const netboot = rack.serve(() => isAlive);
  const { hosts } = netboot;
  await until(runs(server, "agent"));
  const host = await until(() => {
    const found = hosts.get(server.mac);
    return found?.inventory === undefined ? undefined : found;
  });
  assert.deepEqual(host.inventory?.system.serial, "s1");
  assert.equal(hosts.get(other.mac), undefined);

  await assert.rejects(netboot.order(host.name, { order: "wipe", how: "metadata", disks: "all" }), {
    code: "Forbidden",
  });
  hosts.declare(host.name, { is: "declared" });
  await netboot.order(host.name, {
    ...{ order: "write", image: "http://x/image.raw", format: "raw" },
    data: { "user-data": "#cloud-config\n", "meta-data": "{}" },
  });
  const content = await until(() => server.disks[0]!.content);
  assert.deepEqual(content, {
    image: "http://x/image.raw",
    data: { "user-data": "#cloud-config\n", "meta-data": "{}" },
  });
  isAlive = false;
  await clock.run(60_000);
  isAlive = true;
  const id = await netboot.order(host.name, { order: "wipe", how: "metadata", disks: "all" }, "wipe-1");
  assert.equal(id, "wipe-1");
  await until(() => (server.disks[0]!.content === undefined ? true : undefined));
  hosts.setBoot(host.name, "disk");
  server.disks[0]!.content = { image: "system", data: {} };
  await netboot.order(host.name, { order: "reboot" });
  await until(runs(server, "system"));
  assert.deepEqual([server.running, server.starts], [{ is: "system", image: "system" }, 2]);
  hosts.setBoot(host.name, "wait");
  server.restart();
  await clock.run(60_000);
  assert.deepEqual(server.running, { is: "firmware" });
  hosts.setBoot(host.name, "agent");
  await until(runs(server, "agent"));
  await netboot.order(host.name, { order: "poweroff" });
  await until(() => (server.isOn ? undefined : true));

  await netboot.close();
  server.on();
  await clock.run(60_000);
  assert.deepEqual(server.running, { is: "firmware" }, "the one that served has ended");
  const next = rack.serve();
  await until(runs(server, "agent"));
  assert.ok(next.hosts.get(server.mac), "another serves on");
  await rack.close();
  assert.deepEqual([server.isOn, clock.pending], [false, 0]);
});

test("a boot that its BMC was asked for is known by the value that its firmware shows, from the network and from a CD", async () => {
  const { rack, until } = rig();
  const netboot = rack.serve();
  for (const [name, start] of [
    ["s1", "network"],
    ["s2", "media"],
  ] as const) {
    const server = rack.add(name);
    const bmc = rack.openBmc({ address: rack.bmcOf(name), credentials: rack.login } as never);
    if (start === "network") {
      const httpBootUri = netboot.askBoot!(server.mac, "x86_64")!;
      assert.match(httpBootUri, /^http:\/\/netboot\.invalid\/.*slo_[A-Za-z0-9_-]{43}.*shimx64\.efi$/);
      await bmc.bootFrom("uefi-http", { once: true, httpBootUri });
    } else {
      const url = netboot.askMedia!(server.mac, "x86_64")!;
      assert.match(url, /^http:\/\/netboot\.invalid\/once\/slo_[A-Za-z0-9_-]{43}\/agent-x64\.iso$/);
      await bmc.insertMedia(url);
      await bmc.bootFrom("virtual-media", { once: true });
    }
    await bmc.setPower("on");
    await until(runs(server, "agent"));
    await until(() => netboot.hosts.get(server.mac)?.inventory);
  }
  netboot.endAskedBoot!(rack.servers.get("s1")!.mac);
  await rack.close();
});

test("a machine is given an installer once, with files for its address alone, and reports its end", async () => {
  const { rack, until, clock } = rig();
  const [server, other] = [rack.add("s1"), rack.add("s2")];
  const netboot = rack.serve();
  server.on();
  const host = await until(() => {
    const found = netboot.hosts.get(server.mac);
    return found?.inventory === undefined ? undefined : found;
  });
  netboot.hosts.declare(host.name, { is: "declared" });
  let folder = "";
  netboot.installers.give(host.name, "install-1", (urls) => {
    folder = urls.folder;
    return {
      start: { is: "kernel", kernel: "k", initrd: "i", commandLine: [`inst.ks=${urls.folder}ks`] },
      files: { ks: `ignoredisk --only-use=/dev/nvme0n1\n${urls.succeeded}\n${urls.failed}\n` },
      reports: true,
    };
  });
  server.restart();
  await until(() => (server.disks[0]!.content?.image === "kickstart" ? true : undefined));
  await until(() => netboot.hosts.get(host.name)?.install?.result);
  assert.equal(netboot.hosts.get(host.name)?.install?.result?.ok, true);
  assert.match(folder, /^http:\/\/netboot\.invalid\/install\//);
  await clock.run(60_000);
  assert.equal(server.starts, 3);
  assert.equal(other.starts, 0);
  await rack.close();
});

test("a Redfish BMC switches the server, chooses what it starts, and puts in its CD", async () => {
  const { rack, clock, random } = rig();
  const redfish = new RedfishRack(clock, random);
  const server = rack.add("s1");
  const credentials = { username: "admin", password: "right" };
  redfish.add(server, credentials);
  const bmc = redfish.bmcs.open({ address: "redfish://s1", credentials });
  const done = async <T>(work: Promise<T>): Promise<T> => {
    let isDone = false;
    const watched = work.finally(() => {
      isDone = true;
    });
    watched.catch(() => {});
    await clock.run(600_000, () => isDone);
    return watched;
  };
  assert.equal(await done(bmc.readPower()), "off");
  const identity = await done(bmc.identity());
  assert.deepEqual([identity.uuid, identity.macs], ["51b00000-0000-4000-8000-525400000001", [server.mac]]);
  assert.deepEqual([...redfish.sims.keys(), ...redfish.machines.keys()], ["s1", "s1"]);
  const chosen: unknown[] = [];
  const on = server.on.bind(server);
  server.on = () => {
    chosen.push([server.bootOnce, server.bootUri, server.media]);
    on();
  };
  await done(bmc.setPower("on"));
  assert.equal(server.isOn, true);
  await done(bmc.setPower("off"));
  assert.equal(server.isOn, false);
  server.bootOnce = undefined;
  await done(bmc.insertMedia("http://boot.test/a.iso"));
  for (const device of ["pxe", "uefi-http", "disk", "virtual-media"] as const) {
    await done(
      bmc.bootFrom(device, {
        once: true,
        mode: "UEFI",
        ...(device === "uefi-http" && { httpBootUri: "http://boot.test/b" }),
      }),
    );
    await done(bmc.setPower("on"));
    await done(bmc.setPower("off"));
    server.bootOnce = undefined;
  }
  const cd = "http://boot.test/a.iso";
  assert.deepEqual(chosen, [
    [undefined, undefined, undefined],
    ["network", undefined, cd],
    ["network", "http://boot.test/b", cd],
    ["disk", undefined, cd],
    ["media", undefined, cd],
  ]);
  await done(bmc.close());
  await rack.close();
});

test("what nobody serves is Unavailable, and other pages are there or are not", async () => {
  const { rack, clock } = rig();
  const server = rack.add("s1");
  const ask = (url: string) => server.network.web({ method: "GET", url, headers: {}, remote: server.address });
  assert.deepEqual([(await ask("http://x/y")).status, (await ask("http://x/y")).body], [404, ""]);
  (server.network as never as { pages: Map<string, string> }).pages.set("http://x/y", "page");
  assert.deepEqual([(await ask("http://x/y")).status, (await ask("http://x/y")).body], [200, "page"]);
  await assert.rejects(ask("http://netboot.invalid/install/x"), { code: "Unavailable", message: /nobody answers/ });
  await assert.rejects(server.network.boot(server.mac), (error) => isFault(error, "Unavailable"));
  let isAlive = true;
  const netboot = rack.serve(() => isAlive);
  assert.equal((await ask("http://netboot.invalid/install/x")).status, 404);
  await assert.rejects(server.network.file("http://netboot.invalid/none", server.address), {
    ...{ code: "NotFound", message: /no such file is offered/ },
  });
  isAlive = false;
  await assert.rejects(ask("http://netboot.invalid/install/x"), { code: "Unavailable" });
  await netboot.close();
  await rack.close();
  assert.equal(clock.pending, 0);
});

test("a network that is given what serves it lives until it is told otherwise", async () => {
  const { clock, random } = rig();
  const network = new ProvisioningNetwork();
  await assert.rejects(network.boot("52:54:00:00:00:01"), { code: "Unavailable" });
  network.plug("52:54:00:00:00:01", "10.20.0.1");
  const serving = new Provisioning({ clock, random }, network);
  network.serving = serving;
  assert.equal((await network.boot("52:54:00:00:00:01")).is, "agent");
  assert.equal(serving.machines.isServing(), true);
  assert.equal(network.outside(), undefined);
  let end = (): void => {};
  const work = network.aside(
    new Promise<void>((resolve) => {
      end = resolve;
    }),
  );
  const outside = network.outside();
  assert.ok(outside !== undefined);
  end();
  await Promise.all([work, outside]);
  assert.equal(network.outside(), undefined);
  await assert.rejects(network.aside(Promise.reject(new Error("it failed"))), /it failed/);
  assert.equal(network.outside(), undefined);
  await serving.close();
});
