import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { isFault } from "../../base/fault.ts";
import { seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import type { HostChange } from "./host.ts";
import { openHostStore } from "./host-store.ts";
import { Hosts } from "./hosts.ts";
import { inventoryOf, someHosts } from "./testing.ts";

const A = "52:54:00:00:00:0a";
const B = "52:54:00:00:00:0b";
const C = "52:54:00:00:00:0c";
const NAME = "host-52-54-00-00-00-0a";
const never = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), "slipway-hosts-"));
after(() => rmSync(folder, { recursive: true }));

function hostsAndNews(options: { most?: number } = {}) {
  const clock = new VirtualClock();
  const hosts = someHosts(clock, options);
  const news: HostChange[] = [];
  hosts.onChange((change) => news.push(change));
  return { clock, hosts, news };
}

test("N30 a machine is the same however its MAC is written", () => {
  const { hosts } = hostsAndNews();
  hosts.heard({ mac: "52-54-00-00-00-0A" });
  hosts.heard({ mac: "5254.0000.000a", address: "10.0.0.5" });

  assert.deepEqual(
    hosts.list().map(({ name, mac, address }) => ({ name, mac, address })),
    [{ name: NAME, mac: A, address: "10.0.0.5" }],
  );
  hosts.setBoot("52540000000A", "disk");
  assert.equal(hosts.bootOf("52:54:0:0:0:a"), "disk");
  assert.equal(hosts.get(NAME)?.mac, A);
});

test("what is new is told; that a machine was merely heard again is not", async () => {
  const { clock, hosts, news } = hostsAndNews();
  hosts.heard({ mac: A, address: "10.0.0.5", firmware: "uefi" });
  await clock.run(5_000);
  hosts.heard({ mac: A, address: "10.0.0.5" });
  hosts.heard({ mac: A, address: "10.0.0.6" });

  assert.deepEqual(
    news.map((change) => change.is === "changed" && change.host.address),
    ["10.0.0.5", "10.0.0.6"],
  );
  assert.equal(hosts.get(A)!.lastSeen - hosts.get(A)!.firstSeen, 5_000);
});

test("N18 a machine of which nobody said anything boots the usual, the agent unless told otherwise", () => {
  assert.equal(someHosts(new VirtualClock()).bootOf(A), "agent");
  assert.equal(someHosts(new VirtualClock(), { usualBoot: "disk" }).bootOf(A), "disk");
});

test("a report joins the records of a machine's cards under the name of the one that was heard first", async () => {
  const { clock, hosts, news } = hostsAndNews();
  hosts.heard({ mac: B });
  await clock.run(1);
  hosts.heard({ mac: A, address: "10.0.0.5" });
  const { host } = hosts.register(inventoryOf(A, B, "00:00:00:00:00:00"), A);

  assert.equal(host, "host-52-54-00-00-00-0b");
  assert.deepEqual(
    hosts.list().map(({ name, macs, address }) => ({ name, macs, address })),
    [{ name: host, macs: [B, A], address: "10.0.0.5" }],
  );
  assert.deepEqual(news.at(-2), { is: "gone", name: NAME, into: host });
  assert.equal(hosts.get(A)?.name, host);
});

test("N1 no machine takes another's place by naming its card", () => {
  const { hosts } = hostsAndNews();
  const victim = hosts.register(inventoryOf(A), A);
  hosts.heard({ mac: C });
  hosts.setBoot(C, "disk");
  const order = hosts.give(A, { order: "reboot" });
  const thief = hosts.register(inventoryOf(B, A, C), B);

  assert.notEqual(thief.host, victim.host);
  assert.deepEqual(hosts.get(B)?.macs, [B]);
  assert.equal(hosts.get(A)?.order?.is.id, order.id);
  assert.equal(hosts.byToken(victim.token)?.name, victim.host);
  assert.equal(hosts.bootOf(C), "disk");
});

test("a token is good until the next registration", () => {
  const { hosts } = hostsAndNews();
  const first = hosts.register(inventoryOf(A), A);
  const second = hosts.register(inventoryOf(A), A);

  assert.equal(hosts.byToken(first.token), undefined);
  assert.equal(hosts.byToken(second.token)?.name, NAME);
  hosts.forget(A);
  assert.equal(hosts.byToken(second.token), undefined);
});

test("N10 after a restart, even a sudden one, hosts, boot actions, tokens and orders are as before", async () => {
  const clock = new VirtualClock();
  const file = join(folder, "restart.db");
  const before = someHosts(clock, { file });
  before.heard({ mac: B, address: "10.0.0.6", architecture: "aarch64", firmware: "uefi" });
  await clock.run(1_500);
  const { token } = before.register(inventoryOf(A, C), A);
  before.setBoot(A, "disk");
  const order = before.give(A, { order: "write", disk: "sda", url: "http://x/private/secret", format: "raw" });
  await before.nextOrder(NAME, never);

  const restarted = () => new Hosts({ store: openHostStore(file), clock, random: seededRandom(2) });
  const killed = restarted();
  assert.deepEqual(killed.list(), before.list());
  assert.equal(killed.byToken(token)?.name, NAME);
  assert.equal(killed.bootOf(C), "disk");
  assert.equal((await killed.nextOrder(NAME, never))?.id, order.id);

  killed.result(NAME, order.id, { ok: true, message: "written" });
  killed.progress(NAME, order.id, { phase: "late" });
  killed.heard({ mac: A, address: "10.0.0.7" });
  killed.forget(B);
  killed.close();
  const again = restarted();
  assert.deepEqual(again.list(), killed.list());
  assert.equal(again.get(A)?.order?.result?.message, "written");
  again.close();
  before.close();
});

test("only the owner may read the file of hosts; one of a newer Slipway is refused", () => {
  const file = join(folder, "rights.db");
  const hosts = someHosts(new VirtualClock(), { file });
  hosts.register(inventoryOf(A), A);

  assert.deepEqual([statSync(file).mode & 0o777, statSync(`${file}-wal`).mode & 0o777], [0o600, 0o600]);
  hosts.close();
  const newer = new DatabaseSync(file);
  newer.exec("PRAGMA user_version = 99");
  newer.close();
  assert.throws(() => openHostStore(file), /its format is 99/);
  assert.throws(
    () => openHostStore(folder),
    (error) => isFault(error, "MissingInput"),
  );
});

test("a store that fails changes nothing, and nobody is told", () => {
  const clock = new VirtualClock();
  const store = openHostStore(":memory:");
  let broken = false;
  const hosts = new Hosts({
    store: { ...store, write: (...what) => (broken ? assert.fail("disk full") : store.write(...what)) },
    clock,
    random: seededRandom(1),
  });
  const { token } = hosts.register(inventoryOf(A), A);
  hosts.heard({ mac: B });
  const before = hosts.list();
  broken = true;
  hosts.onChange(() => assert.fail("told"));

  assert.throws(() => hosts.register(inventoryOf(A, B), A), /disk full/);
  assert.throws(() => hosts.give(A, { order: "reboot" }), /disk full/);
  assert.throws(() => hosts.forget(B), /disk full/);
  assert.deepEqual(hosts.list(), before);
  assert.ok(hosts.byToken(token) !== undefined);
});

test("there is room for so many; who was merely heard longest ago leaves, and nobody else", () => {
  const { hosts, news } = hostsAndNews({ most: 3 });
  hosts.heard({ mac: A });
  hosts.heard({ mac: B });
  hosts.register(inventoryOf(C), C);
  hosts.heard({ mac: A });
  hosts.heard({ mac: "52:54:00:00:00:0d" });

  assert.deepEqual(
    hosts
      .list()
      .map((host) => host.mac.slice(-2))
      .sort(),
    ["0a", "0c", "0d"],
  );
  assert.ok(news.some((change) => change.is === "gone" && change.name.endsWith("0b")));
  hosts.setBoot(A, "disk");
  hosts.give("52:54:00:00:00:0d", { order: "inspect" });
  assert.equal(hosts.heard({ mac: B }), undefined);
  assert.equal(hosts.bootOf(B), "agent");
  assert.throws(() => hosts.register(inventoryOf(B), B), /there are 3 hosts already/);
  assert.equal(hosts.list().length, 3);
});

test("N23 a host without work waits; an order reaches it in the same moment", async () => {
  const { clock, hosts } = hostsAndNews();
  hosts.register(inventoryOf(A), A);
  const waiting = hosts.nextOrder(NAME, never);
  await clock.run(3_600_000);
  const order = hosts.give(A, { order: "poweroff" });

  assert.deepEqual(await waiting, order);
  assert.equal(hosts.get(A)?.order?.takenAt, clock.now());
});

test("an order is given again until it has a result, and there is one at a time", async () => {
  const { hosts } = hostsAndNews();
  hosts.register(inventoryOf(A), A);
  const order = hosts.give(NAME, (id) => ({ order: "kexec", kernel: `http://x/private/${id}`, commandLine: "" }));

  assert.deepEqual(await hosts.nextOrder(NAME, never), order);
  assert.deepEqual(await hosts.nextOrder(NAME, never), order);
  assert.throws(
    () => hosts.give(NAME, { order: "reboot" }),
    (error) => isFault(error, "Conflict"),
  );
  assert.equal(hosts.progress(NAME, order.id, { phase: "load" }), true);
  assert.equal(hosts.result(NAME, "another", { ok: true, message: "" }), false);
  assert.equal(hosts.result(NAME, order.id, { ok: false, message: "locked down" }), true);
  assert.equal(hosts.result(NAME, order.id, { ok: true, message: "" }), false);
  assert.equal(hosts.isOpen(NAME, order.id), false);
  assert.equal(hosts.get(A)?.order?.result?.message, "locked down");
  const next = hosts.give(NAME, { order: "reboot" });
  assert.notEqual(next.id, order.id);
});

test("a wait ends with the request, with a newer one, with the host and with the service", async () => {
  const { hosts } = hostsAndNews();
  hosts.register(inventoryOf(A), A);
  const gone = new AbortController();
  const abandoned = hosts.nextOrder(NAME, gone.signal);
  gone.abort();
  assert.equal(await abandoned, undefined);
  const older = hosts.nextOrder(NAME, never);
  const newer = hosts.nextOrder(NAME, never);
  assert.equal(await older, undefined);
  hosts.forget(NAME);
  assert.equal(await newer, undefined);
  await assert.rejects(hosts.nextOrder(NAME, never), (error) => isFault(error, "NotFound"));
  hosts.register(inventoryOf(A), A);
  const last = hosts.nextOrder(NAME, never);
  hosts.close();
  assert.equal(await last, undefined);
});

test("N23 no order is repeated to a machine that it made start again", async () => {
  const { hosts } = hostsAndNews();
  const afterRestart = async (take: boolean, body: Parameters<Hosts["give"]>[1]) => {
    hosts.register(inventoryOf(A), A);
    const { id } = hosts.give(A, body);
    if (take) await hosts.nextOrder(NAME, never);
    hosts.register(inventoryOf(A), A);
    const result = hosts.get(A)?.order?.result;
    hosts.result(NAME, id, { ok: true, message: "" });
    return result;
  };

  assert.deepEqual(await afterRestart(true, { order: "reboot" }), { ok: true, message: "it has started again" });
  assert.equal((await afterRestart(true, { order: "wipe", how: "full", disks: "all" }))?.ok, false);
  assert.equal((await afterRestart(true, { order: "inspect" }))?.ok, true);
  assert.equal(await afterRestart(false, { order: "reboot" }), undefined);
});
