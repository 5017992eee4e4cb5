import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import type { Claimant, Entry, Job } from "./claimant.ts";
import { tryStep, whatIsLeft } from "./executor.ts";
import type { Fleet } from "./fleet.ts";
import type { Claim, Journal, Step } from "./lifecycle.ts";
import type { Machine } from "./machine.ts";
import { Patience } from "./patience.ts";

const machine = { id: "m-1", phase: "running", providerState: "active" } as Machine;
const claim = { id: "u", placements: [{ plan: "p", metro: "sg" }], pollMs: 1000 } as unknown as Claim;

/** A claimant and a provider whose calls are listed in their order; `refuses` fail with that fault. */
function rig({ journal = {}, refuses = {} }: { journal?: Partial<Journal>; refuses?: Record<string, Fault> }) {
  const calls: string[] = [];
  const called = async <T>(name: string, value?: T): Promise<T> => {
    calls.push(name);
    if (refuses[name] !== undefined) throw refuses[name];
    return value as T;
  };
  const claimant = {
    on: "Thing/a",
    claim,
    journal: { signals: {}, joined: false, ...journal } as Journal,
    concerns: () => [],
    order: () => ({}),
    prepareBoot: () => called("prepare", { id: "b1", at: 0, publish: () => called("publish") }),
    discardBoot: () => called("discard"),
    unmarked: async () => [],
    write: ({ is }: Entry) => called(`write ${is}`),
    flush: () => called("flush"),
    normal: () => {},
    warning: () => {},
  } as unknown as Claimant;
  const driver = {
    check: () => [],
    find: () => called("find", []),
    create: () => called("create", machine),
    reinstall: () => called("reinstall"),
    power: () => called("power"),
  };
  const restMs = (leastMs: number) => leastMs + 7;
  const fleet = { driver, restMs, note: (seen: Machine) => seen, read: async () => ({}) } as unknown as Fleet;
  const job: Job & { monotonic: () => number } = {
    claimant,
    fleet,
    clock: { now: () => 0 },
    signal: new AbortController().signal,
    monotonic: () => 0,
  };
  const patience = new Patience();
  const step = (of: Step) => tryStep(job, { step: of, machine, version: 1, patience });
  return { calls, job, step };
}

const ORDER: Step = { do: "order", attempt: 1, placement: 0 };

test("H1 an order is written down, then looked for, then sent, then its answer is written down", async () => {
  const { calls, step } = rig({});
  await step(ORDER);
  assert.deepEqual(calls, ["prepare", "write ordering", "publish", "find", "create", "write bought"]);
});

test("H1 an order that can't be written down under the object's version has no effect", async () => {
  const { calls, step } = rig({ refuses: { "write ordering": new Fault("Conflict", "Thing/a", "it was changed") } });
  await assert.rejects(step(ORDER), (error) => isFault(error, "Conflict"));
  assert.deepEqual(calls, ["prepare", "write ordering"]);
});

test("an order whose answer is lost stays written down; one that surely had no effect is taken back", async () => {
  const lost = rig({ refuses: { create: new Fault("LostAnswer", "p", "no answer") } });
  await assert.rejects(lost.step(ORDER));
  assert.equal(lost.calls.at(-1), "create");
  const throttled = rig({ refuses: { create: new Fault("Throttled", "p", "later") } });
  await assert.rejects(throttled.step(ORDER));
  assert.equal(throttled.calls.at(-1), "write orderFailed");
  const full = rig({ refuses: { create: new Fault("NoCapacity", "p", "sold out") } });
  await full.step(ORDER);
  assert.equal(full.calls.at(-1), "write orderRefused");
});

test("a reinstallation is written down before its boot is published and sent", async () => {
  const { calls, step } = rig({});
  await step({ do: "reinstall", pass: 2 });
  assert.deepEqual(calls, ["prepare", "write booting", "publish", "reinstall", "write booted"]);
});

test("what was noted is written before a step without an entry of its own", async () => {
  const { calls, step } = rig({});
  await step({ do: "powerOn" });
  assert.deepEqual(calls, ["flush", "power"]);
});

const JOINED: Partial<Journal> = { joined: true, boot: { id: "b1", pass: 1, at: 0, sent: true } };

test("the boot of a machine that joined goes first, and one write reports both", async () => {
  const { calls, step } = rig({ journal: JOINED });
  await step({ do: "wait", for: "nothing", recheckMs: 1000 });
  assert.deepEqual(calls, ["discard", "write bootDiscarded"]);
});

test("a machine at rest is looked at again when its account's list is read; one that is waited for, when the step says", async () => {
  const { step } = rig({ journal: { joined: true } });
  assert.deepEqual(await step({ do: "wait", for: "nothing", recheckMs: 1000 }), { againAfterMs: 1007, rests: false });
  assert.deepEqual(await step({ do: "wait", for: "its Node", recheckMs: 1000 }), { againAfterMs: 1000, rests: false });
});

test("that a machine joined is written down also where its boot can't go", async () => {
  const { calls, step } = rig({ journal: JOINED, refuses: { discard: new Fault("Unavailable", "p", "down") } });
  await assert.rejects(step({ do: "wait", for: "nothing", recheckMs: 1000 }), (error) => isFault(error, "Unavailable"));
  assert.deepEqual(calls, ["discard", "flush"]);
});

test("a step that the provider has just refused rests, and what was noted is written all the same", async () => {
  const { calls, step } = rig({ refuses: { power: new Fault("Unavailable", "p", "down") } });
  await assert.rejects(step({ do: "powerOn" }));
  const rested = await step({ do: "powerOn" });
  assert.equal(rested.rests, true);
  assert.deepEqual(calls, ["flush", "power", "flush"]);
});

test("an object that was changed meanwhile is no refusal of the provider: the step is tried again at once", async () => {
  const { calls, step } = rig({ refuses: { "write ordering": new Fault("Conflict", "Thing/a", "it was changed") } });
  for (let round = 0; round < 2; round++) await assert.rejects(step(ORDER), (error) => isFault(error, "Conflict"));
  assert.deepEqual(calls, ["prepare", "write ordering", "prepare", "write ordering"]);
});

test("what an order has left behind is removed when its machine is gone or surely never came, and not before", async () => {
  const left = async (journal: Partial<Journal>, over: { look?: string; found?: Machine[] }, forgets = true) => {
    const { job, calls } = rig({ journal });
    const driver = {
      ...job.fleet.driver,
      find: async () => over.found ?? [],
      forget: forgets ? async (of: string) => void calls.push(`forget ${of}`) : undefined,
    };
    const fleet = { driver, look: async () => over.look, note: (of: Machine) => of };
    const what = await whatIsLeft({ ...job, fleet: fleet as never });
    return [what, calls.filter((call) => call.startsWith("forget"))];
  };
  const pending = { attempt: 1, at: 0, state: "Pending", placement: 0 } as const;
  assert.deepEqual(await left({}, {}), ["none", ["forget u"]]);
  assert.deepEqual(await left({}, {}, false), ["none", []]);
  assert.deepEqual(await left({ purchase: pending }, {}), ["unknown", []]);
  assert.deepEqual(await left({ purchase: pending }, { found: [machine] }), ["adopted", []]);
  assert.deepEqual(await left({ machineId: "m-1" }, { look: "gone" }), ["gone", ["forget u"]]);
  assert.deepEqual(await left({ machineId: "m-1" }, { look: "machine" }), ["machine", []]);
});
