import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Fault, quietLog as log } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { BootOverride } from "../bmc-service/machine.ts";
import { VmHost } from "./host.ts";
import { wishOf } from "./node/wish.ts";
import { domain, emptied, FakeLibvirt, node } from "./testing.ts";
import type { Vm } from "./vm.ts";
import { readDomain } from "./xml/domain.ts";

const WISH = wishOf([node("a", [domain("w0")])], new Map());
const IMAGE = "http://10.0.0.1/image.iso";
const BY_NETWORK: BootOverride = { enabled: "Once", target: "Pxe", mode: "Legacy" };

async function world(t: TestContext, libvirt = new FakeLibvirt()) {
  const folder = mkdtempSync(join(tmpdir(), "slipway-vm-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const clock = new VirtualClock();
  let fetched = async (to: string): Promise<void> => writeFileSync(to, "an image");
  const host = new VmHost({
    ...{ clock, log, links: libvirt.links, settings: { vncListen: "127.0.0.1", emulated: true }, folder },
    open: async (onEvent) => libvirt.open(onEvent),
    fetchImage: (_, to) => fetched(to),
  });
  await host.apply(WISH);
  return {
    ...{ libvirt, host, clock, folder, vm: host.vms()[0] as Vm },
    onFetch: (then: typeof fetched) => {
      fetched = then;
    },
  };
}

test("orders for power are carried out, and may be given twice", async (t) => {
  const { vm, libvirt } = await world(t);
  assert.equal(vm.power(), "Off");
  for (const [order, power] of [
    ["On", "On"],
    ["On", "On"],
    ["ForceRestart", "On"],
    ["ForceOff", "Off"],
    ["ForceOff", "Off"],
    ["ForceRestart", "On"],
  ] as const) {
    await vm.reset(order);
    assert.equal(vm.power(), power);
  }
  libvirt.stopped(vm.uuid);
  assert.equal(vm.power(), "Off");
});

test("a single boot is over with the next start, and a lasting one is not", async (t) => {
  const { vm, libvirt } = await world(t);
  await vm.setBoot(BY_NETWORK);
  assert.deepEqual(vm.boot(), BY_NETWORK);
  await vm.reset("On");
  assert.deepEqual(vm.boot(), { enabled: "Disabled", target: "None", mode: "Legacy" });
  const { record } = readDomain(await libvirt.domainXml((await libvirt.domains())[0]!, true));
  assert.deepEqual(record?.volumes, [{ pool: "deep", name: "w0-vda" }]);
  await vm.setBoot({ ...BY_NETWORK, enabled: "Continuous" });
  await vm.reset("ForceRestart");
  assert.equal(vm.boot().enabled, "Continuous");
  await vm.setBoot({ ...BY_NETWORK, enabled: "Disabled", target: "None" });
  assert.equal(vm.boot().enabled, "Disabled");
});

test("a single boot is over also when somebody else starts the machine, and a next agent knows what was set", async (t) => {
  const { vm, libvirt, host } = await world(t);
  await vm.setBoot(BY_NETWORK);
  const { vm: next, host: nextHost } = await world(t, libvirt);
  assert.deepEqual(next.boot(), BY_NETWORK);
  await libvirt.startDomain((await libvirt.domains())[0]!);
  assert.equal(next.power(), "On");
  await nextHost.apply(WISH);
  assert.equal(next.boot().enabled, "Disabled");
  await host.apply(WISH);
  assert.equal(vm.boot().enabled, "Disabled");
});

test("a boot that is set while the machine runs is for its next start", async (t) => {
  const { vm } = await world(t);
  await vm.reset("On");
  await vm.setBoot(BY_NETWORK);
  assert.deepEqual(vm.boot(), BY_NETWORK);
  await vm.reset("ForceRestart");
  assert.equal(vm.boot().enabled, "Disabled");
});

test("a machine that runs by a single boot takes the same one again, for its next start alone", async (t) => {
  const { vm, libvirt, host } = await world(t);
  for (let times = 1; times <= 3; times++) {
    await vm.setBoot(BY_NETWORK);
    assert.deepEqual(vm.boot(), BY_NETWORK, `order ${times}`);
    await host.apply(WISH);
    assert.deepEqual(vm.boot(), BY_NETWORK, `order ${times}, looked at again`);
    await vm.reset(times === 1 ? "On" : "ForceRestart");
    assert.equal(vm.boot().enabled, "Disabled", `order ${times}, started`);
  }
  // So does the next agent, which knows of it what libvirt has.
  const { vm: next } = await world(t, libvirt);
  await next.setBoot(BY_NETWORK);
  assert.deepEqual(next.boot(), BY_NETWORK);
});

test("a system is asked to end, and given five minutes for it", async (t) => {
  const { vm, libvirt, clock } = await world(t);
  await vm.reset("On");
  const ending = vm.reset("GracefulShutdown");
  assert.equal(vm.power(), "PoweringOff");
  await clock.settle();
  libvirt.stopped(vm.uuid);
  await ending;
  assert.equal(vm.power(), "Off");
  await vm.reset("GracefulShutdown");

  await vm.reset("On");
  const late = assert.rejects(vm.reset("GracefulShutdown"), { code: "Timeout", message: /has not ended in 5 minutes/ });
  await clock.run(5 * 60_000);
  await late;
  assert.equal(vm.power(), "On");
});

test("an image is in the drive until it is ejected, whoever asks, and its file goes with it", async (t) => {
  const { vm, libvirt, folder } = await world(t);
  await vm.setMedia(IMAGE);
  assert.equal(vm.media(), IMAGE);
  assert.ok(libvirt.inventory().some((one) => one.startsWith("volume deep/slipway-cd-")));
  const { vm: next } = await world(t, libvirt);
  assert.equal(next.media(), IMAGE);
  await next.reset("On");
  await next.setMedia(`${IMAGE}2`);
  assert.equal(next.media(), `${IMAGE}2`);
  // The running machine sees each change: the old one out, the new one in.
  assert.equal(libvirt.changes.filter((one) => one === "update w0").length, 2);
  await next.setMedia(null);
  assert.equal(next.media(), undefined);
  assert.deepEqual(
    libvirt.inventory().filter((one) => one.includes("slipway-cd-")),
    [],
  );
  assert.deepEqual(readdirSync(folder), []);
});

test("an image that can't be fetched leaves the drive empty, and of two at once the last one counts", async (t) => {
  const { vm, onFetch, libvirt } = await world(t);
  onFetch(async () => {
    throw new Fault("NotFound", IMAGE, "the server answered 404");
  });
  await assert.rejects(vm.setMedia(IMAGE), /404/);
  assert.equal(vm.media(), undefined);
  const slow = Promise.withResolvers<void>();
  onFetch(async (to) => {
    await slow.promise;
    writeFileSync(to, "late");
  });
  const first = assert.rejects(vm.setMedia(IMAGE), { code: "Conflict" });
  onFetch(async (to) => writeFileSync(to, "soon"));
  await vm.setMedia(`${IMAGE}2`);
  slow.resolve();
  await first;
  assert.equal(vm.media(), `${IMAGE}2`);
  assert.equal(libvirt.inventory().filter((one) => one.includes("slipway-cd-")).length, 1);
});

test("an image that is fetched too late ends its own order alone, not the one that came after it", async (t) => {
  const { vm, onFetch } = await world(t);
  const arrivals = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const order = async (index: 0 | 1): Promise<void> => {
    const fetching = Promise.withResolvers<void>();
    onFetch(async (to) => {
      fetching.resolve();
      await arrivals[index].promise;
      writeFileSync(to, "an image");
    });
    ended[index] = vm.setMedia(`${IMAGE}${index}`);
    await fetching.promise;
  };
  const ended: Promise<void>[] = [];
  await order(0);
  await order(1);
  arrivals[0].resolve();
  await assert.rejects(ended[0]!, { code: "Conflict" });
  arrivals[1].resolve();
  await ended[1];
  assert.equal(vm.media(), `${IMAGE}1`);
});

test("VINO-6 a machine that is removed leaves neither its disks nor the image in its drive", async (t) => {
  const { vm, host, libvirt } = await world(t);
  await vm.setMedia(IMAGE);
  await vm.reset("On");
  assert.ok(libvirt.inventory().some((one) => one.startsWith("volume deep/slipway-cd-")));
  await host.apply(wishOf([node("a", [domain("w1")])], new Map()));
  assert.deepEqual(
    libvirt.inventory().filter((one) => /^(domain|volume)/.test(one)),
    ["domain w1", "volume deep/w1-vda"],
  );
});

test("killed while an image comes into the drive, the next agent finds either all of it or takes the rest out", async (t) => {
  for (let dieAfter = 0; dieAfter < 12; dieAfter++) {
    const { vm, libvirt } = await world(t);
    libvirt.dieAfter = dieAfter;
    await vm.setMedia(IMAGE).catch(() => {});
    libvirt.dieAfter = undefined;
    const { vm: next, host } = await world(t, libvirt);
    await host.apply(WISH);
    const volumes = libvirt.inventory().filter((one) => one.includes("slipway-cd-")).length;
    assert.equal(volumes, next.media() === undefined ? 0 : 1, `after ${dieAfter} changes`);
  }
});

test("killed while one image takes the place of another, the next agent leaves no file of either behind", async (t) => {
  for (let dieAfter = 0; dieAfter < 16; dieAfter++) {
    const { vm, libvirt } = await world(t);
    await vm.setMedia(IMAGE);
    libvirt.dieAfter = dieAfter;
    await vm.setMedia(`${IMAGE}2`).catch(() => {});
    libvirt.dieAfter = undefined;
    const { vm: next, host } = await world(t, libvirt);
    await next.setMedia(null);
    await host.apply(wishOf([emptied("a")], new Map()));
    assert.deepEqual(libvirt.inventory(), [], `after ${dieAfter} changes`);
  }
});

test("when libvirt ends it is opened again, and what waits is told", async (t) => {
  const { host, libvirt, vm } = await world(t);
  let told = 0;
  host.onChange(() => told++);
  await libvirt.close();
  await Promise.resolve();
  assert.equal(host.isConnected, false);
  assert.equal(told, 1);
  await vm.reset("On");
  assert.equal(host.isConnected, true);
  await host.close();
  await assert.rejects(vm.reset("ForceOff"), { code: "Unavailable" });
});
