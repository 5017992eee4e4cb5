import assert from "node:assert/strict";
import { test } from "node:test";
import type { Ipv4 } from "../wire/ipv4.ts";
import type { Lease, LeaseStore, Via } from "./lease.ts";
import { LeaseTable } from "./table.ts";

const NOW = 1_000_000;
const HOUR = 3_600_000;
const PORT: Via = { giaddr: 1, circuit: "01" };
const NETWORK = { now: NOW, has: (address: Ipv4) => address < 100 };

/** A table, and what was put into its store. */
function tableOf(held: readonly Lease[] = [], doubtful: readonly Ipv4[] = []) {
  const put: Lease[] = [];
  const store: LeaseStore = {
    load: () => [...held],
    doubtful: new Set(doubtful),
    put: async (lease) => void put.push(lease),
    close() {},
  };
  return { put, table: new LeaseTable(store) };
}

const lease = (address: Ipv4, client: string, more: Partial<Lease> = {}): Lease => ({
  ...{ address, client, state: "bound", expiresAt: NOW + HOUR },
  ...more,
});

test("an offer is the client's for a minute, not longer, and is not written", () => {
  const { table, put } = tableOf();
  table.offer(7, "a", NOW);
  assert.deepEqual(
    [table.isMerelyOffered(7, NOW), table.isMerelyOffered(7, NOW + 59_999), table.isMerelyOffered(7, NOW + 60_000)],
    [true, true, false],
  );
  assert.deepEqual(
    [table.takenUntil(7, "a", NOW), table.takenUntil(7, "b", NOW), table.takenUntil(7, "b", NOW + 60_000)],
    [0, NOW + 60_000, 0],
  );
  assert.equal(table.of("a")?.address, 7);
  assert.deepEqual(put, []);
});

test("a binding that is offered again stays a binding; one that has ended becomes an offer", () => {
  const { table } = tableOf([lease(7, "a")]);
  table.offer(7, "a", NOW);
  assert.equal(table.at(7)?.state, "bound");
  table.offer(7, "a", NOW + HOUR);
  assert.equal(table.at(7)?.state, "offered");
});

test("an offer that is taken back is free at once; a binding is not taken back", () => {
  const { table } = tableOf([lease(8, "b")]);
  table.offer(7, "a", NOW);
  table.withdraw("a", NOW + 1);
  assert.equal(table.takenUntil(7, "c", NOW + 1), 0);
  const before = table.freedEarly;
  table.withdraw("a", NOW + 2);
  table.withdraw("b", NOW + 2);
  assert.equal(table.freedEarly, before);
  assert.equal(table.takenUntil(8, "c", NOW + 2), NOW + HOUR);
});

test("a lease ends with the next one of its client in the same network, and counts on in others; both are written", async () => {
  const { table, put } = tableOf([lease(7, "a"), lease(107, "a"), lease(8, "b"), lease(9, "a", { expiresAt: NOW })]);
  await table.bind({ address: 10, client: "a", expiresAt: NOW + HOUR }, NETWORK);
  assert.deepEqual(put, [lease(10, "a"), lease(7, "a", { state: "released", expiresAt: NOW })]);
  assert.deepEqual(
    table
      .bound(NOW)
      .map(({ address }) => address)
      .sort((a, b) => a - b),
    [8, 10, 107],
  );
  assert.equal(table.of("a")?.address, 10);
  assert.deepEqual(
    table.bound(NOW + HOUR).map(({ address }) => address),
    [],
  );
});

test("a lease that is renewed stays the only one; its relay is written with it and with its release", async () => {
  const { table, put } = tableOf();
  const mine = { address: 7, client: "a", expiresAt: NOW + HOUR, via: PORT };
  await table.bind(mine, NETWORK);
  await table.bind(mine, NETWORK);
  await table.release(7, "a", NOW + 1);
  assert.deepEqual(put, [
    ...Array<Lease>(2).fill(lease(7, "a", { via: PORT })),
    lease(7, "a", { state: "released", expiresAt: NOW + 1, via: PORT }),
  ]);
});

test("what a client gave back is still the address that it had, until it has another", async () => {
  const { table } = tableOf();
  await table.bind({ address: 7, client: "a", expiresAt: NOW + HOUR }, NETWORK);
  await table.release(7, "a", NOW);
  assert.deepEqual([table.of("a")?.address, table.takenUntil(7, "b", NOW)], [7, 0]);
  await table.bind({ address: 7, client: "b", expiresAt: NOW + HOUR }, NETWORK);
  assert.deepEqual([table.of("a"), table.of("b")?.address], [undefined, 7]);
});

test("what a lease leaves earlier than it was held is counted; what lasts longer or as long is not", async () => {
  const { table } = tableOf([lease(7, "a"), lease(8, "b")]);
  await table.bind({ address: 7, client: "a", expiresAt: NOW + HOUR }, NETWORK);
  await table.bind({ address: 7, client: "a", expiresAt: NOW + HOUR + 1 }, NETWORK);
  assert.equal(table.freedEarly, 0);
  await table.bind({ address: 7, client: "a", expiresAt: NOW + HOUR }, NETWORK);
  assert.equal(table.freedEarly, 1);
  await table.release(8, "b", NOW);
  assert.equal(table.freedEarly, 2);
});

test("living leases behind a port of a relay are counted, those of the client itself and of other ports are not", async () => {
  const { table } = tableOf([lease(7, "a", { via: PORT }), lease(8, "b", { via: PORT })]);
  const bind = (address: Ipv4, via: Via, expiresAt = NOW + HOUR) =>
    table.bind({ address, client: `c${address}`, expiresAt, via }, NETWORK);
  await bind(9, { ...PORT, remote: "ff" });
  await bind(10, { ...PORT, circuit: "02" });
  await bind(11, { giaddr: 2, circuit: "01" });
  await bind(12, { giaddr: 1 });
  await bind(13, PORT, NOW + 1);
  assert.deepEqual([table.behind(PORT, "a", NOW), table.behind(PORT, "new", NOW)], [3, 4]);
  assert.equal(table.behind(PORT, "new", NOW + 1), 3, "one has ended");
  assert.equal(table.behind({ giaddr: 3, circuit: "01" }, "new", NOW), 0);
  await table.release(7, "a", NOW);
  await table.bind({ address: 8, client: "b", expiresAt: NOW + HOUR }, NETWORK);
  assert.equal(table.behind(PORT, "new", NOW + 1), 1, "one was given back, one came to the link");
});

test("a client may decline eight addresses at one time; each is free for it and others when that has passed", async () => {
  const { table } = tableOf();
  for (let address = 1; address <= 8; address++) {
    assert.equal(table.mayDecline("a", NOW), true);
    await table.decline(address, "a", NOW + HOUR);
  }
  assert.deepEqual([table.mayDecline("a", NOW), table.mayDecline("b", NOW), table.decliners], [false, true, 1]);
  assert.deepEqual(
    [table.takenUntil(1, "a", NOW), table.takenUntil(1, "b", NOW), table.takenUntil(1, "a", NOW + HOUR)],
    [NOW + HOUR, NOW + HOUR, 0],
  );
  assert.equal(table.mayDecline("a", NOW + HOUR), true);
  assert.equal(table.of("a"), undefined);
});

test("a declined address that somebody else has then is no longer its decliner's", async () => {
  const { table } = tableOf();
  await table.decline(1, "a", NOW + HOUR);
  await table.bind({ address: 1, client: "b", expiresAt: NOW + HOUR }, NETWORK);
  assert.equal(table.decliners, 0);
});

test("an address is in doubt until its next change is known", async () => {
  const { table } = tableOf([], [7, 8]);
  assert.deepEqual(
    [7, 8, 9].map((address) => table.isDoubtful(address)),
    [true, true, false],
  );
  await table.bind({ address: 7, client: "a", expiresAt: NOW + HOUR }, NETWORK);
  assert.deepEqual([table.isDoubtful(7), table.isDoubtful(8)], [false, true]);
});

test("after a restart a client has its newest lease, whatever the order in the file", () => {
  const { table } = tableOf([lease(8, "a", { expiresAt: NOW + 2 }), lease(7, "a", { expiresAt: NOW + 1 })]);
  assert.equal(table.of("a")?.address, 8);
});
