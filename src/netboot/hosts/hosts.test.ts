import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { isFault, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { openHostStore } from "./host-store.ts";
import { Hosts } from "./hosts.ts";
import { hostsAndNews, inventoryOf, someHosts } from "./testing.ts";

const A = "52:54:00:00:00:0a";
const B = "52:54:00:00:00:0b";
const C = "52:54:00:00:00:0c";
const NAME = "host-52-54-00-00-00-0a";
const never = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), "slipway-hosts-"));
after(() => rmSync(folder, { recursive: true }));

test("N30 a machine is the same however its MAC is written", () => {
  const { hosts } = hostsAndNews();
  hosts.seen({ mac: "52-54-00-00-00-0A" });
  hosts.seen({ mac: "5254.0000.000a", address: "10.0.0.5" });

  assert.deepEqual(
    hosts.list().map(({ name, mac, address }) => ({ name, mac, address })),
    [{ name: NAME, mac: A, address: "10.0.0.5" }],
  );
  hosts.setBoot("52540000000A", "disk");
  assert.equal(hosts.bootOf("52:54:0:0:0:a"), "disk");
  assert.equal(hosts.get(NAME)?.mac, A);
});

test("what is new is reported; that a machine was merely seen again is not", async () => {
  const { clock, hosts, news } = hostsAndNews();
  hosts.seen({ mac: A, address: "10.0.0.5", firmware: "uefi" });
  await clock.run(5_000);
  hosts.seen({ mac: A, address: "10.0.0.5" });
  hosts.seen({ mac: A, address: "10.0.0.6" });

  assert.deepEqual(
    news.map((change) => change.is === "changed" && change.host.address),
    ["10.0.0.5", "10.0.0.6"],
  );
  assert.equal(hosts.get(A)!.lastSeen - hosts.get(A)!.firstSeen, 5_000);
});

test("N18 a machine of which nobody said anything boots the usual, the agent unless the settings say otherwise", () => {
  assert.equal(someHosts(new VirtualClock()).bootOf(A), "agent");
  assert.equal(someHosts(new VirtualClock(), { usualBoot: "disk" }).bootOf(A), "disk");
});

test("N1 a record of a card that was merely seen goes into the host that spoke by it", () => {
  const { hosts, news } = hostsAndNews();
  hosts.seen({ mac: B });
  hosts.seen({ mac: A, address: "10.0.0.5" });
  const { host } = hosts.register(inventoryOf(A, B, "00:00:00:00:00:00"), A);
  assert.equal(hosts.list().length, 2);
  hosts.join(host, B);

  assert.deepEqual(
    hosts.list().map(({ name, macs, address }) => ({ name, macs, address })),
    [{ name: NAME, macs: [A, B], address: "10.0.0.5" }],
  );
  assert.deepEqual(news.at(-2), { is: "gone", name: "host-52-54-00-00-00-0b", into: host });
  assert.equal(hosts.get(B)?.name, host);
});

test("a host that was forgotten comes again without the cards that it had proved", () => {
  const { hosts } = hostsAndNews();
  const { host } = hosts.register(inventoryOf(A, B), A);
  hosts.join(host, B);
  assert.equal(hosts.get(B)?.name, host);
  assert.equal(hosts.forget(host), true);
  assert.equal(hosts.forget(host), false, "it is not known any more");
  hosts.seen({ mac: A });
  assert.deepEqual([hosts.get(A)?.macs, hosts.get(B)], [[A], undefined]);
});

test("N1 no machine takes another's place by naming its card, and both are reported", () => {
  const { hosts, news } = hostsAndNews();
  const victim = hosts.register(inventoryOf(A), A);
  hosts.seen({ mac: C });
  hosts.setBoot(C, "disk");
  const order = hosts.give(A, { order: "reboot" });
  const thief = hosts.register(inventoryOf(B, A, C), B);

  assert.notEqual(thief.host, victim.host);
  assert.deepEqual(hosts.get(B)?.macs, [B]);
  assert.equal(hosts.get(A)?.order?.is.id, order.id);
  assert.equal(hosts.byToken(victim.token)?.name, victim.host);
  assert.equal(hosts.bootOf(C), "disk");
  assert.throws(
    () => hosts.join(thief.host, A),
    (error) => isFault(error, "Conflict"),
  );
  const reported = news.flatMap((change) => (change.is === "refused" ? [`${change.host.mac}: ${change.because}`] : []));
  assert.deepEqual(reported.slice(0, 2), [
    `${B}: ${victim.host} says that the card ${A} is its own, too`,
    `${A}: ${thief.host} says that the card ${A} is its own, too`,
  ]);
});

test("N1 a card that was named before its machine booted is that machine's, and both are reported", () => {
  const { hosts, news } = hostsAndNews();
  const thief = hosts.register(inventoryOf(B, A), B);
  const victim = hosts.register(inventoryOf(A), A);
  assert.notEqual(victim.host, thief.host);
  assert.equal(hosts.get(A)?.name, victim.host);
  const reported = () => news.flatMap((change) => (change.is === "refused" ? [change.host.name] : []));
  assert.deepEqual(reported(), [victim.host, thief.host]);
  hosts.inspected(thief.host, inventoryOf(B, A));
  assert.equal(reported().length, 2, "the same is reported once a minute");
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

test("N5 the key that a machine is known by is recorded when it is approved first, and checked at each boot from then on", () => {
  const file = join(folder, "known-keys.db");
  const clock = new VirtualClock();
  const tpm = (digit: string) => ({ endorsementKey: digit.repeat(64), pcrs: {} });
  const first = someHosts(clock, { file });
  first.register(inventoryOf(A), A);
  first.proved(NAME, tpm("a"));
  first.approve(A);
  first.close();

  const hosts = someHosts(clock, { file });
  const trusted = (shown: string | undefined): boolean => {
    hosts.register(inventoryOf(A), A);
    if (shown !== undefined) hosts.proved(NAME, tpm(shown));
    return hosts.standing(A).trust === "approved";
  };
  // In the place of the first, another machine has its card and its address, without that key or with none.
  assert.deepEqual(["a", "b", undefined, "a"].map(trusted), [true, false, false, true]);
  hosts.close();
});

test("N10 after a restart, even a sudden one, hosts, boot actions, tokens and orders are as before", async () => {
  const clock = new VirtualClock();
  const file = join(folder, "restart.db");
  const before = someHosts(clock, { file });
  before.seen({ mac: B, address: "10.0.0.6", architecture: "aarch64", firmware: "uefi" });
  await clock.run(1_500);
  const { token } = before.register(inventoryOf(A, C), A, { address: "10.0.0.5", proof: "lease" });
  before.join(NAME, C);
  before.setBoot(A, "disk");
  before.approve(A);
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
  killed.seen({ mac: A, address: "10.0.0.7" });
  killed.forget(B);
  killed.close();
  const again = restarted();
  assert.deepEqual(again.list(), killed.list());
  assert.equal(again.get(A)?.order?.result?.message, "written");
  again.close();
  before.close();
});

test("only the owner may read the file of hosts", () => {
  const file = join(folder, "rights.db");
  const hosts = someHosts(new VirtualClock(), { file });
  hosts.register(inventoryOf(A), A);

  assert.deepEqual([statSync(file).mode & 0o777, statSync(`${file}-wal`).mode & 0o777], [0o600, 0o600]);
  hosts.close();
  assert.throws(
    () => openHostStore(folder),
    (error) => isFault(error, "MissingInput"),
  );
});

test("a store that fails changes nothing, and nobody is reported", () => {
  const clock = new VirtualClock();
  const store = openHostStore(":memory:");
  let broken = false;
  const hosts = new Hosts({
    store: { ...store, write: (...what) => (broken ? assert.fail("disk full") : store.write(...what)) },
    clock,
    random: seededRandom(1),
  });
  const { token } = hosts.register(inventoryOf(A), A);
  hosts.seen({ mac: B });
  const before = hosts.list();
  broken = true;
  hosts.onChange(() => assert.fail("shown"));

  assert.throws(() => hosts.register(inventoryOf(A, B), A), /disk full/);
  assert.throws(() => hosts.give(A, { order: "reboot" }), /disk full/);
  assert.throws(() => hosts.forget(B), /disk full/);
  assert.deepEqual(hosts.list(), before);
  assert.ok(hosts.byToken(token) !== undefined);
});

test("there is room for so many; who was merely seen longest ago leaves first, and nobody with an order or a boot of its own", () => {
  const { hosts, news } = hostsAndNews({ bounds: { hosts: 3 } });
  hosts.seen({ mac: A });
  hosts.seen({ mac: B });
  hosts.register(inventoryOf(C), C);
  hosts.seen({ mac: A });
  hosts.seen({ mac: "52:54:00:00:00:0d" });

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
  assert.equal(hosts.seen({ mac: B }), undefined);
  assert.equal(hosts.bootOf(B), "agent");
  hosts.setBoot(C, "wait");
  assert.throws(() => hosts.register(inventoryOf(B), B), /there is no room beside 3 hosts/);
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
  hosts.approve(A);
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

test("a service that has ended hands out no order and lets nobody wait for one", async () => {
  for (const isOrdered of [true, false]) {
    const { clock, hosts } = hostsAndNews();
    hosts.register(inventoryOf(A), A);
    if (isOrdered) hosts.give(A, { order: "inspect" });
    hosts.close();
    const answers: unknown[] = [];
    void hosts.nextOrder(NAME, never).then((order) => answers.push(order));
    await clock.settle();
    assert.deepEqual(answers, [undefined]);
    assert.equal(hosts.get(A)?.order?.takenAt, undefined);
  }
});

test("N23 no order is repeated to a machine that it made start again", async () => {
  const { hosts } = hostsAndNews();
  const afterRestart = async (take: boolean, body: Parameters<Hosts["give"]>[1]) => {
    hosts.register(inventoryOf(A), A);
    hosts.approve(A);
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

test("an agent's key is taken when it registers: a later report can't change it, and a boot without a key leaves none", () => {
  const hosts = someHosts(new VirtualClock());
  const withKey = (key?: string) => {
    const { agent, ...inventory } = inventoryOf(A);
    const { key: _usual, ...keyless } = agent;
    return { ...inventory, agent: key === undefined ? keyless : { ...keyless, key } };
  };
  const [first, second] = [`age1${"q".repeat(58)}`, `age1${"p".repeat(58)}`];
  const { host } = hosts.register(withKey(first), A);
  assert.equal(hosts.get(host)?.agentKey, first);

  hosts.inspected(host, withKey(second));
  hosts.inspected(host, withKey());
  assert.equal(hosts.get(host)?.agentKey, first);
  hosts.register(withKey(second), A);
  assert.equal(hosts.get(host)?.agentKey, second);
  hosts.register(withKey(), A);
  assert.equal(hosts.get(host)?.agentKey, undefined);
});

test("a living session is not replaced while its order runs, whatever the wall clock says; after a minute of silence it is", async () => {
  const { clock, hosts } = hostsAndNews();
  const by = { address: "10.0.0.5", proof: "lease" as const, capability: "one" };
  hosts.register(inventoryOf(A), A, by);
  hosts.give(NAME, { order: "poweroff" });
  await hosts.nextOrder(NAME, never);
  const replace = () => hosts.register(inventoryOf(A), A, { ...by, capability: "two" });
  const isRefused = (): void => assert.throws(replace, (error) => isFault(error, "Conflict"));
  for (const hours of [1, -1, -1]) {
    hosts.spoke(NAME);
    clock.step(hours * 3_600_000);
    await clock.run(59_000);
    isRefused();
  }
  clock.step(-3_600_000);
  await clock.run(1_000);
  assert.equal(replace().host, NAME);
});
