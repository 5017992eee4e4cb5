/** What is done for a deployment, in which order, and when it is looked at again: with netboot's parts in their place. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, Fault, quietLog as log } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Host } from "../../netboot/hosts/host.ts";
import { inventoryOf } from "../../netboot/hosts/testing.ts";
import { DeploymentBook } from "./book.ts";
import { Deployer, type DeployerPorts } from "./deployer.ts";

const MAC = "52:54:00:00:00:0a";
const NEITHER = { trust: "discovered", because: "neither declared nor approved" };
const config = { username: "u", sshkey: Buffer.from("ssh-ed25519 AAAA me").toString("base64") };
const boots = {
  preseed: { configName: "preseed", configType: "preseed", kernelPath: "k", initrdPath: "i" },
  image: { configName: "image", configType: "booty" },
};

/** A netboot whose machines do nothing by themselves; what is asked of it is noted. */
async function world(more: Partial<DeployerPorts> = {}) {
  const clock = new VirtualClock();
  const book = await DeploymentBook.open({ read: async () => undefined, write: async () => {} }, cryptoRandom);
  const seen: string[] = [];
  let host: Host | undefined;
  let standing: object = NEITHER;
  let changed: (change: never) => void = () => {};
  const ready = new Set<string>();
  const set = (next: object): void => {
    host = { name: "h-1", mac: MAC, macs: [MAC], boot: "agent", ...host, ...next } as never;
  };
  const hosts = {
    get: (mac: string) => (mac === MAC ? host : undefined),
    standing: () => {
      seen.push("looked");
      return standing as never;
    },
    declare: (name: string, { is }: { is?: string }) => {
      seen.push(`declare ${name} ${is}`);
      standing = { trust: "declared", because: "a test" };
    },
    setBoot: (name: string, boot: string) => {
      seen.push(`boot ${name} ${boot}`);
      set({ boot });
    },
    onChange: (each: typeof changed) => {
      changed = each;
      return () => seen.push("stopped");
    },
    result: (_: string, id: string, { message }: { message: string }) => void seen.push(`result ${id}: ${message}`),
    installs: {
      end: (_: string, id: string, { message }: { message: string }) => void seen.push(`end ${id}: ${message}`),
    },
  };
  const ports = {
    ...{ book, hosts, hasCluster: false, url: "http://h", images: [], clock, log },
    installers: {
      give: (name: string, id: string) => {
        seen.push(`give ${name} ${id}`);
        ready.add(MAC);
        set({ install: { id, reports: true, hasFiles: true, givenAt: clock.now() } });
      },
      isReady: (mac: string) => ready.has(mac),
    },
    order: async (name: string, wanted: { order: string }, id: string) => {
      seen.push(`order ${name} ${wanted.order} ${id}`);
      set({ order: { is: { ...wanted, id }, givenAt: clock.now() } });
      return id;
    },
    installed: async () => void seen.push("installed"),
    ...more,
  } as unknown as DeployerPorts;
  const deployer = new Deployer(ports);
  const add = async (bootConfigName: string, of: object = config): Promise<string> => {
    await book.add({ mac: MAC, bootConfigName, config: of });
    deployer.look(MAC);
    await clock.settle();
    return book.find(MAC)!.id;
  };
  /** The machine is another, and netboot says so. */
  const report = async (next: object): Promise<void> => {
    set(next);
    changed({ is: "changed", host } as never);
    await clock.settle();
  };
  /** What was asked since the last time, without looks. */
  const asked = (): string[] => seen.splice(0).filter((each) => each !== "looked");
  return { clock, book, deployer, add, report, asked, seen, progress: () => deployer.progress()[0] };
}
const KNOWN = { inventoryAt: 1, inventory: inventoryOf(MAC) };
const SPEAKS = { session: { spokeAt: 0 } };

test("N33 an installation is declared, given and started, each once, and what it waits for is said", async () => {
  const { clock, add, report, asked, seen, progress, book } = await world();
  const id = await add("preseed");
  assert.deepEqual(progress(), { mac: MAC, state: "waiting", message: "a boot configuration preseed" });
  await book.addBootConfig(boots.preseed);
  await report({});
  assert.equal(progress()?.message, "its agent to report its disks");
  await report({ ...KNOWN, ...SPEAKS });
  assert.deepEqual(asked(), ["declare h-1 declared", `give h-1 ${id}`, `order h-1 reboot ${id}-restart`]);
  assert.equal(progress()?.message, "the machine to start from the network");
  await clock.run(3_600_000);
  assert.deepEqual(seen, [], "it is not looked at while nothing is heard");
  const given = { id, reports: true, hasFiles: true, givenAt: clock.now() };
  await report({ install: { ...given, servedAt: clock.now(), servedLastAt: clock.now() } });
  assert.equal(progress()?.message, "the installer to fetch its files");
  asked();
  await clock.run(30 * 60_000 - 1);
  assert.deepEqual(seen, []);
  await clock.run(1);
  const why = "the installer has fetched none of its files in 30 minutes";
  assert.deepEqual(asked(), [`end ${id}: ${why}`]);
  assert.deepEqual(progress(), { mac: MAC, state: "failed", message: why });
  await report({});
  assert.deepEqual(seen, [], "what has ended is left alone");
});

test("an installation that ends well is told to who keeps its host key", async () => {
  const { add, report, asked, progress, book } = await world();
  await book.addBootConfig(boots.preseed);
  const id = await add("preseed");
  await report({ ...KNOWN, install: { id, result: { ok: true, message: "it is there" } } });
  assert.deepEqual(asked(), ["declare h-1 declared", "installed"]);
  assert.deepEqual(progress(), { mac: MAC, state: "installed", message: "it is there" });
});

test("an image is written, and its machine starts from its disk", async () => {
  const { add, report, asked, progress, book } = await world();
  await book.addBootConfig(boots.image);
  const id = await add("image", { sourceImage: "http://h/a.img" });
  await report(KNOWN);
  assert.deepEqual(asked(), ["declare h-1 declared", `order h-1 write ${id}`]);
  const order = { is: { id, order: "write" }, givenAt: 0, result: { ok: true, message: "" } };
  await report({ order });
  assert.deepEqual(asked(), ["boot h-1 disk", `order h-1 reboot ${id}-restart`]);
  assert.equal(progress()?.message, "the machine to restart");
});

test("N29 what is wrong in a deployment ends it; what fails for now is tried again 30 s later", async () => {
  const wrong = await world();
  await wrong.book.addBootConfig(boots.image);
  await wrong.add("image", { sourceImage: "none" });
  await wrong.report(KNOWN);
  assert.equal(wrong.progress()?.state, "failed");
  assert.match(wrong.progress()!.message, /sourceImage/);
  assert.equal(wrong.clock.pending, 0);
  let fails = 2;
  const order = async () => {
    if (fails-- > 0) throw new Fault("Unavailable", "h-1", "not now", { remedy: "it is tried again" });
    return "";
  };
  const later = await world({ order });
  await later.book.addBootConfig(boots.image);
  await later.add("image", { sourceImage: "http://h/a.img" });
  await later.report(KNOWN);
  assert.match(later.progress()!.message, /not now/);
  await later.clock.run(29_999);
  assert.equal(fails, 1);
  await later.clock.run(1);
  assert.equal(fails, 0);
});

test("a machine that needs step after step without news is looked at again 30 s later", async () => {
  const { add, report, seen, book, clock } = await world({ order: async () => "" });
  await book.addBootConfig(boots.image);
  await add("image", { sourceImage: "http://h/a.img" });
  await report(KNOWN);
  assert.equal(seen.filter((each) => each === "looked").length, 8);
  await clock.run(29_999);
  assert.equal(seen.filter((each) => each === "looked").length, 8);
  await clock.run(1);
  assert.equal(seen.filter((each) => each === "looked").length, 16);
});

test("a deployment that is withdrawn is served no more, and no timer is left of it", async () => {
  const { add, report, asked, book, clock, deployer, progress } = await world();
  deployer.withdraw({ deployment: { mac: MAC, bootConfigName: "x", config: {} }, id: "unseen" });
  assert.deepEqual(asked(), []);
  await book.addBootConfig(boots.preseed);
  const id = await add("preseed");
  await report({ ...KNOWN, install: { id, reports: true, hasFiles: true, servedAt: clock.now() } });
  // What was given before this process began is given again.
  await report({ install: { id, reports: true, hasFiles: true, servedAt: clock.now(), servedLastAt: clock.now() } });
  assert.equal(clock.pending, 1);
  asked();
  deployer.withdraw(book.find(MAC)!);
  assert.equal(clock.pending, 0);
  const why = "its deployment was deleted";
  assert.deepEqual(asked(), [
    `end ${id}: ${why}`,
    `result ${id}: ${why}`,
    `result ${id}-restart: ${why}`,
    "boot h-1 agent",
  ]);
  assert.equal(progress()?.message, "to be looked at");
});

test("N34 a claim that is given up is wiped, by its agent or by a restart of its system, and its machine is nobody's then", async () => {
  const restarts: string[] = [];
  const restart = async ({ name }: Readonly<Host>) => void restarts.push(name);
  const { report, asked, book, clock, deployer, progress } = await world({ restart });
  await book.addBootConfig(boots.preseed);
  const claim = { mac: MAC, bootConfigName: "preseed", claim: "c", holder: "x", hostname: "w", seedUrl: "http://s/" };
  await book.claim(claim, { macs: [MAC], now: 0 });
  const { id } = book.find(MAC)!;
  await report({ ...KNOWN, install: { id, result: { ok: true, message: "" }, endedAt: clock.now() } });
  await book.release("c");
  asked();
  deployer.look(MAC);
  await clock.settle();
  assert.deepEqual(asked(), [`order h-1 wipe ${id}-wipe-1`]);
  assert.deepEqual(restarts, ["h-1"]);
  assert.equal(progress()?.state, "releasing");
  await clock.run(600_000 - 1);
  assert.deepEqual(restarts, ["h-1"]);
  await clock.run(1);
  assert.deepEqual(restarts, ["h-1", "h-1"]);
  const result = { ok: false, message: "busy" };
  await report({ order: { is: { id: `${id}-wipe-1`, order: "wipe" }, givenAt: 0, result } });
  assert.match(progress()!.message, /^the next attempt to wipe it: .*busy$/);
  await clock.run(600_000);
  assert.deepEqual(asked(), [`order h-1 wipe ${id}-wipe-2`]);
  const disks = inventoryOf(MAC).disks.map(({ name }) => ({ disk: name, how: "metadata", proven: true, detail: "" }));
  const wiped = { ok: true, message: "", disks };
  await report({ order: { is: { id: `${id}-wipe-2`, order: "wipe" }, givenAt: 0, result: wiped } });
  assert.deepEqual(asked(), ["declare h-1 none"]);
  assert.deepEqual([book.find(MAC), book.wipedOf("c")?.mac], [undefined, MAC]);
});

test("one that is closed looks at nothing, and has no timer", async () => {
  const { add, report, asked, seen, book, clock, deployer } = await world();
  await book.addBootConfig(boots.preseed);
  const id = await add("preseed");
  await report({ ...KNOWN, install: { id, reports: false, servedAt: clock.now() } });
  await report({ install: { id, reports: false, servedAt: clock.now() } });
  assert.equal(clock.pending, 1);
  asked();
  await deployer.close();
  assert.deepEqual(asked(), ["stopped"]);
  await report({ boot: "disk" });
  assert.deepEqual([seen, clock.pending], [[], 0]);
});
