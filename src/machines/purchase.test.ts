import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import type { Claimant, Entry, Job, Purchase } from "./claimant.ts";
import { release, wasOrdered, whatIsLeft } from "./executor.ts";
import type { Fleet } from "./fleet.ts";
import type { Claim, Journal } from "./lifecycle.ts";
import type { Concern, Machine, Order, Release } from "./machine.ts";
import { bought, look, order, TRIAL_BOOT } from "./purchase.ts";
import { aMachine } from "./testing.ts";

const PLACES = [
  { plan: "p", metro: "sg" },
  { plan: "p", metro: "ny" },
];
const claim = { id: "u", placements: PLACES, pollMs: 1_000 } as unknown as Claim;

interface World {
  /** Machines that carry the claim, and those that look like the claim's without a mark. */
  claimed?: Machine[];
  unmarked?: Machine[];
  concerns?: Concern[];
  driverConcerns?: Concern[];
  journal?: Partial<Journal>;
  now?: number;
}

/** A claimant and a provider, and what happened between them. */
function rig({
  claimed = [],
  unmarked = [],
  concerns = [],
  driverConcerns = [],
  journal = {},
  now = 5_000,
}: World = {}) {
  const entries: Entry[] = [];
  const said: string[] = [];
  const orders: Order[] = [];
  const calls: string[] = [];
  const claimant = {
    ...{ on: "Thing/a", claim, journal: { signals: {}, joined: false, ...journal } },
    concerns: () => concerns,
    order: ({ placement, boot }: Pick<Order, "placement" | "boot">) => ({ placement, boot, claim: "u" }),
    prepareBoot: async () => ({ id: "b1", at: 4_000, scriptUrl: "https://b/1", userData: "", publish: async () => {} }),
    unmarked: async () => unmarked,
    write: async (entry: Entry) => void entries.push(entry),
    normal: (reason: string, message: string) => void said.push(`${reason}: ${message}`),
    warning: (reason: string, message: string) => void said.push(`! ${reason}: ${message}`),
  } as unknown as Claimant;
  const driver = {
    type: "equinix",
    check: () => driverConcerns,
    find: async () => claimed,
    create: async (made: Order) => {
      orders.push(made);
      return aMachine({ id: "new" });
    },
    release: async (id: string, options: Release) => void calls.push(`release ${id} ${JSON.stringify(options)}`),
  };
  const fleet = {
    ...{ driver, note: (seen: Machine) => seen },
    look: async (id: string) => aMachine({ id }),
    read: async (id: string) => void calls.push(`read ${id}`),
  } as unknown as Fleet;
  const job: Job = { claimant, fleet, clock: { now: () => now }, signal: new AbortController().signal };
  return { job, entries, said, orders, calls };
}

test("H1 an order is announced with its number, place and boot, and sent for that place", async () => {
  const { job, entries, orders } = rig();
  assert.deepEqual(await order(job, { attempt: 2, placement: 1 }), { againAfterMs: 1_000 });
  const [ordering, done] = entries;
  assert.deepEqual(ordering, {
    is: "ordering",
    purchase: { attempt: 2, at: 5_000, state: "Pending", placement: 1 },
    boot: { id: "b1", pass: 1, at: 4_000, sent: false },
  });
  assert.ok(done?.is === "bought" && done.machine.id === "new" && done.provider === "equinix");
  assert.deepEqual(
    orders.map(({ placement, boot }) => [placement, boot.scriptUrl]),
    [[PLACES[1], "https://b/1"]],
  );
});

test("H1 a machine that carries the claim, or looks like the claim's, is taken in the place of an order", async () => {
  for (const world of [
    { claimed: [aMachine({ id: "old" })], unmarked: [aMachine({ id: "x" })] },
    { unmarked: [aMachine({ id: "old" })] },
  ]) {
    const { job, entries, orders } = rig(world);
    await order(job, { attempt: 1, placement: 0 });
    const last = entries.at(-1);
    assert.ok(last?.is === "bought" && last.machine.id === "old");
    assert.deepEqual(orders, []);
  }
});

test("H1 of two machines with one claim the older stays, the others go back at once, and the user reads which", async () => {
  const machines = [
    aMachine({ id: "b", createdAt: 2 }),
    aMachine({ id: "c", createdAt: 1, metro: undefined }),
    aMachine({ id: "a", createdAt: 2 }),
  ];
  const { job, said, calls } = rig();
  await bought(job, machines);
  assert.deepEqual(said, [
    "Ordered: machine c",
    "! ReleasingDuplicate: machine a carries the same claim",
    "! ReleasingDuplicate: machine b carries the same claim",
  ]);
  assert.deepEqual(calls, ['release a {"force":true}', 'release b {"force":true}']);
  const unknown = rig();
  await bought(unknown.job, [aMachine({ id: "z", createdAt: 1 }), aMachine({ id: "y", createdAt: undefined })]);
  assert.equal(unknown.said[0], "Ordered: machine y in sg");
});

test("H21 what would be ignored is a warning, and what can't work is refused before anything is written", async () => {
  const ignored: Concern = { field: "spec.a", message: "is ignored", fatal: false };
  const fatal: Concern = { field: "spec.b", message: "can't work", fatal: true };
  const warned = rig({ concerns: [ignored] });
  await order(warned.job, { attempt: 1, placement: 0 });
  assert.equal(warned.said[0], "! Ignored: spec.a: is ignored");
  for (const world of [{ concerns: [fatal, ignored] }, { driverConcerns: [ignored, fatal] }]) {
    const { job, entries, said } = rig(world);
    await assert.rejects(
      order(job, { attempt: 1, placement: 0 }),
      (error) => isFault(error, "Invalid") && error.advice === "Thing/a: spec.b: can't work; correct the specification",
    );
    assert.deepEqual([entries, said], [[], ["! Ignored: spec.a: is ignored"]]);
  }
  assert.equal(TRIAL_BOOT.userData, "");
});

test("H1 an order without an answer is looked for every ten seconds, and what is found is the claim's", async () => {
  const { job, entries } = rig();
  assert.deepEqual(await look(job), { againAfterMs: 10_000 });
  assert.deepEqual(entries, []);
  const found = rig({ claimed: [aMachine({ id: "old" })] });
  assert.deepEqual(await look(found.job), { againAfterMs: 1_000 });
  assert.equal(found.entries[0]?.is, "bought");
});

const PENDING: Purchase = { attempt: 1, at: 0, state: "Pending", placement: 0 };

test("H1 what is left of a claim that ends: its machine, one that is found by the claim, maybe one for a minute, then none", async () => {
  const known = await whatIsLeft(rig({ journal: { machineId: "m-9" } }).job);
  assert.ok(typeof known === "object" && known.id === "m-9");
  const found = rig({ claimed: [aMachine({ id: "old" })], journal: { purchase: PENDING } });
  assert.equal(await whatIsLeft(found.job), "adopted");
  assert.equal(found.entries[0]?.is, "bought");
  const left = (now: number, purchase: Purchase | undefined = PENDING) =>
    whatIsLeft(rig({ journal: { purchase }, now }).job);
  assert.equal(await left(59_999), "unknown");
  assert.equal(await left(60_000), "none");
  assert.equal(await whatIsLeft(rig().job), "none");
});

test("an account is needed to end a claim that has a machine, or whose order may have bought one", () => {
  const journal = (more: Partial<Journal>) => more as Journal;
  assert.equal(wasOrdered(journal({})), false);
  assert.equal(wasOrdered(journal({ machineId: "m" })), true);
  assert.equal(wasOrdered(journal({ purchase: PENDING })), true);
  assert.equal(wasOrdered(journal({ purchase: { ...PENDING, state: "Refused" } })), false);
});

test("a release is sent, then reported, looked at and written down", async () => {
  const { job, entries, said, calls } = rig();
  await release(job, "m-1", { force: false, failure: "no disk" });
  assert.deepEqual(calls, ['release m-1 {"force":false,"failure":"no disk"}', "read m-1"]);
  assert.deepEqual([said, entries], [["Released: machine m-1"], [{ is: "released" }]]);
  const stopped = rig();
  const aborted = AbortSignal.abort(new Error("the lease is lost"));
  await assert.rejects(release({ ...stopped.job, signal: aborted }, "m-1", { force: true }), /the lease is lost/);
  assert.deepEqual(stopped.calls, []);
});
