import assert from "node:assert/strict";
import { test } from "node:test";
import { awaitsKnownCapacity, withoutOldRefusal } from "./capacity.ts";
import type { Journal } from "./lifecycle.ts";
import type { MachineDriver, Order } from "./machine.ts";

const refused = (at: number): Journal => ({
  ...{ machineId: undefined, boot: undefined, signals: {}, runningSince: undefined, joined: false, networkSet: false },
  purchase: { attempt: 3, at, state: "Refused", placement: 1 },
});
const here = { placement: { plan: "a", metro: undefined } } as Order;
const there = { placement: { plan: "b", metro: undefined } } as Order;
const orders = () => [here, there];
const cloud = {} as MachineDriver;
const inventory = (serves: Order | undefined) =>
  ({ couldServe: async (order: Order) => order === serves }) as unknown as MachineDriver;

test("a refusal is over when one of the orders could be served, and not sooner than it is looked at", async () => {
  const journal = refused(1_000);
  const after = (driver: MachineDriver, now: number) =>
    withoutOldRefusal({ journal, driver, orders, pollMs: 500, now });
  assert.equal((await after(inventory(there), 1_500)).purchase, undefined);
  assert.equal(await after(inventory(there), 1_499), journal);
  assert.equal(await after(inventory(undefined), 9_000), journal);
});

test("only an order shows whether a cloud has capacity", async () => {
  const journal = refused(0);
  assert.equal(await withoutOldRefusal({ journal, driver: cloud, orders, pollMs: 1, now: 9_000 }), journal);
  assert.equal(awaitsKnownCapacity(journal, cloud), false);
  assert.equal(awaitsKnownCapacity(journal, inventory(here)), true);
  assert.equal(awaitsKnownCapacity({ ...journal, purchase: undefined }, inventory(here)), false);
});
