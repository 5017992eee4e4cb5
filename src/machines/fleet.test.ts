import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { Fleet } from "./fleet.ts";
import type { Machine, MachineDriver } from "./machine.ts";
import { aMachine } from "./testing.ts";

const machine = (id: string, providerState = "active"): Machine =>
  aMachine({ id, claim: `uid-${id}`, hostname: id, providerState });

/** A provider whose answers the test sets; calls are counted. */
function rig() {
  const clock = new VirtualClock(0);
  const calls = { list: 0, read: 0 };
  const provider = { listed: [machine("a")], exists: [machine("a")] };
  let held: Promise<void> | undefined;
  let refusal: Fault | undefined;
  const driver = {
    async list() {
      calls.list++;
      const answer = provider.listed;
      await held;
      return answer;
    },
    async read(id: string) {
      calls.read++;
      if (refusal !== undefined) throw refusal;
      return provider.exists.find((m) => m.id === id);
    },
  } as unknown as MachineDriver;
  /** The next list waits for the returned function. */
  const hold = (): (() => void) => {
    let go = (): void => {};
    held = new Promise((resolve) => {
      go = resolve;
    });
    return go;
  };
  const refuse = (fault: Fault | undefined): void => {
    refusal = fault;
  };
  return { clock, calls, provider, hold, refuse, fleet: new Fleet(driver, clock) };
}

test("however many look at once, the provider is asked once", async () => {
  const { fleet, calls } = rig();
  const seen = await Promise.all(Array.from({ length: 100 }, () => fleet.sight("a", 15_000)));
  assert.ok(seen.every(({ is }) => is === "present"));
  assert.equal(calls.list, 1);
});

test("a list serves for the age that is allowed, and whoever looks again after it gets a new one", async () => {
  const { fleet, calls, clock } = rig();
  await fleet.sight("a", 15_000);
  await clock.run(14_999);
  await fleet.sight("a", 15_000);
  assert.equal(calls.list, 1);
  await clock.run(1);
  await fleet.sight("a", 15_000);
  assert.equal(calls.list, 2);
});

test("what a list does not show is not gone until the provider says so", async () => {
  const { fleet, provider } = rig();
  provider.listed = [];
  assert.deepEqual(await fleet.sight("a", 15_000), { is: "unlisted" });
  assert.equal((await fleet.read("a")).is, "present");
  provider.exists = [];
  assert.deepEqual(await fleet.read("a"), { is: "absent" });
});

test("what was seen while a list was under way is newer than the list", async () => {
  const { fleet, hold } = rig();
  const go = hold();
  const seen = fleet.sight("b", 15_000);
  fleet.note(machine("b", "queued"));
  fleet.note(machine("a", "failed"));
  go();
  const b = await seen;
  assert.equal(b.is === "present" && b.machine.providerState, "queued");
  const a = await fleet.sight("a", 15_000);
  assert.equal(a.is === "present" && a.machine.providerState, "failed");
});

test("a failed list is reported to all who waited, and asked again by the next", async () => {
  const { fleet, provider, calls } = rig();
  const list = provider.listed;
  Object.defineProperty(provider, "listed", {
    configurable: true,
    get: () => {
      throw new Error("down");
    },
  });
  await Promise.all([assert.rejects(fleet.sight("a", 1), /down/), assert.rejects(fleet.sight("a", 1), /down/)]);
  Object.defineProperty(provider, "listed", { configurable: true, value: list });
  assert.equal((await fleet.sight("a", 1)).is, "present");
  assert.equal(calls.list, 2);
});

test("all machines are those of a list as young as was asked for", async () => {
  const { fleet, calls, clock, provider } = rig();
  const ids = async (maxAgeMs: number) => (await fleet.all(maxAgeMs)).map(({ id }) => id);
  assert.deepEqual(await ids(15_000), ["a"]);
  provider.listed = [machine("b")];
  await clock.run(1);
  assert.deepEqual(await ids(15_000), ["a"]);
  assert.deepEqual(await ids(0), ["b"]);
  assert.equal(calls.list, 2);
});

/** A provider that has so many machines, all listed once. */
async function crowd(size: number) {
  const rigged = rig();
  rigged.provider.listed = Array.from({ length: size }, (_, i) => machine(`m${i}`));
  rigged.provider.exists = [...rigged.provider.listed];
  await rigged.fleet.all(0);
  return rigged;
}

test("the list of thousands at rest is read less often: a hundred machines a second", async () => {
  for (const [size, restMs] of [
    [0, 30_000],
    [3_000, 30_000],
    [3_001, 30_010],
    [100_000, 1_000_000],
  ] as const)
    assert.equal((await crowd(size)).fleet.restMs(30_000), restMs);
});

test("of thousands, a machine that can't wait for the next list is asked for alone, until so many are that a list costs less", async () => {
  const { fleet, calls, clock, provider } = await crowd(2_000);
  await clock.run(15_000);
  provider.exists = provider.exists.filter(({ id }) => id !== "m1");
  const seen = [];
  for (let i = 0; i < 7; i++) seen.push(await fleet.look(`m${i}`, 15_000));
  assert.deepEqual(
    seen.map((machine) => machine === "gone"),
    [false, true, false, false, false, false, false],
  );
  assert.deepEqual(calls, { list: 1, read: 7 });
  await fleet.look("m7", 15_000);
  assert.deepEqual(calls, { list: 2, read: 7 }, "the eighth costs as much as a list");
});

test("where many can't wait, the list serves them from the first on; when they are few again, they are asked for alone", async () => {
  const { fleet, calls, clock } = await crowd(2_000);
  const round = async (looks: number): Promise<object> => {
    await clock.run(15_000);
    const before = { ...calls };
    for (let i = 0; i < looks; i++) await fleet.look(`m${i}`, 15_000);
    return { list: calls.list - before.list, read: calls.read - before.read };
  };
  assert.deepEqual(await round(100), { list: 1, read: 7 });
  assert.deepEqual(await round(100), { list: 1, read: 0 });
  assert.deepEqual(await round(5), { list: 1, read: 0 });
  assert.deepEqual(await round(5), { list: 0, read: 5 });
});

test("who may wait for the list is never asked for alone", async () => {
  const { fleet, calls, clock } = await crowd(2_000);
  await clock.run(20_000);
  await fleet.look("m1", fleet.restMs(15_000));
  assert.deepEqual(calls, { list: 2, read: 0 });
});

test("a provider that asked one to wait is not asked alone for others either, and one that is asked alone may say so, too", async () => {
  const { fleet, calls, clock, refuse } = await crowd(2_000);
  await clock.run(15_000);
  refuse(new Fault("Throttled", "api", "later", { retryAfterMs: 5_000 }));
  await assert.rejects(fleet.look("m1", 15_000), /later/);
  refuse(undefined);
  await assert.rejects(fleet.look("m2", 15_000), /later/);
  await assert.rejects(fleet.all(0), /later/);
  assert.deepEqual(calls, { list: 1, read: 1 });
  await clock.run(5_000);
  await fleet.look("m2", 15_000);
  assert.deepEqual(calls, { list: 1, read: 2 });
});
