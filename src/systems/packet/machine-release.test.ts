import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, Fault, isFault, quietLog, systemClock } from "@slipway/base";
import { type Context, conditionOf, createClient, DONE, StatusRecord } from "@slipway/kube";
import { ConfigMap } from "@slipway/kube/core";
import { FakeApi } from "@slipway/kube/testing";
import { PacketMachine } from "../../kinds/packet/packet-machine.ts";
import type { Machine, Release } from "../../machines/machine.ts";
import { Patience } from "../../machines/patience.ts";
import { aMachine } from "../../machines/testing.ts";
import { releaseMachine } from "./machine-release.ts";
import { MACHINE_FINALIZER } from "./names.ts";
import type { Packet } from "./shared.ts";
import type { Surroundings } from "./surroundings.ts";
import { aPacketCluster, aPacketMachine } from "./testing.ts";

const REF = { namespace: "shop", name: "worker-1" };
const BOUGHT = { instanceID: "m-1", account: { project: "p" } };
const PENDING = { attempt: 1, at: "1970-01-01T00:00:00.000Z", state: "Pending" as const, placement: 0 };
const AROUND: Surroundings = { owner: undefined, cluster: undefined, packetCluster: aPacketCluster() };

interface World {
  spec?: Partial<PacketMachine["spec"]>;
  status?: PacketMachine["status"];
  annotations?: Record<string, string>;
  around?: Surroundings;
  /** What the provider knows of the machine; a fault: it can't be asked. */
  machine?: Machine | "gone" | Fault;
  /** Machines that carry the claim. */
  claimed?: Machine[];
  now?: number;
}

/** One step of giving the machine of a world back; what became of object, provider and events. */
async function released({
  spec = {},
  status = BOUGHT,
  annotations = {},
  around = AROUND,
  machine = aMachine(),
  claimed = [],
  now = 0,
}: World) {
  const client = createClient(new FakeApi(), { clock: systemClock, random: cryptoRandom, log: quietLog });
  const { metadata, ...rest } = aPacketMachine(spec, status);
  const object = await client.create(PacketMachine, {
    ...rest,
    metadata: { ...REF, annotations, finalizers: [MACHINE_FINALIZER] },
  });
  const events: string[] = [];
  const add = (level: string) => (_: unknown, reason: string, message: string) =>
    void events.push(`${level} ${reason}: ${message}`);
  const context = {
    ...{ client, clock: { now: () => now, monotonic: () => now }, signal: new AbortController().signal },
    ...{ clean: <T>(value: T): T => value, events: { normal: add("Normal"), warning: add("Warning") } },
  } as unknown as Context;
  const sent: [string, Release][] = [];
  const look = async () => {
    if (machine instanceof Fault) throw machine;
    return machine;
  };
  const fleet = {
    ...{ look, read: look, note: (seen: Machine) => seen, all: async () => [] },
    driver: {
      type: "equinix",
      capabilities: { userData: true },
      find: async () => claimed,
      release: async (id: string, options: Release) => void sent.push([id, options]),
    },
  };
  const patience = new Patience();
  const packet = {
    ...{
      accounts: { fleet: async () => fleet },
      own: { namespace: "ns", secret: "own" },
      boots: { remove: async () => {} },
      patience,
      pollMs: 15_000,
    },
  } as unknown as Packet;
  const step = async () => {
    const held = (await client.find(PacketMachine, REF)) ?? object;
    return await releaseMachine(packet, context, new StatusRecord(context, PacketMachine, held), around);
  };
  const outcome = await step().catch((error: unknown) => error);
  const after = await client.find(PacketMachine, REF);
  const isHeld = after?.metadata.finalizers?.includes(MACHINE_FINALIZER) === true;
  return { client, outcome, after, isHeld, sent, events, step };
}

test("B40 a machine is given back at once, and the object stays until nothing of it is left", async () => {
  const { outcome, after, isHeld, sent, events } = await released({});
  assert.deepEqual([outcome, isHeld, sent], [{ againAfterMs: 0 }, true, [["m-1", { force: true }]]]);
  assert.equal(after?.status?.release?.accepted, true);
  assert.equal(after?.status?.waitingFor, "the provider to take machine m-1 back (active)");
  const ready = conditionOf(after?.status?.conditions, "Ready");
  assert.deepEqual([ready?.status, ready?.reason, after?.status?.ready], ["False", "Deleting", false]);
  assert.deepEqual(events, ["Normal Released: machine m-1"]);
  const gone = await released({ machine: "gone" });
  assert.deepEqual([gone.outcome, gone.isHeld, gone.sent], [DONE, false, []]);
});

test("B40 a machine that did not serve is given back with the reason, for providers that remember it", async () => {
  const { sent } = await released({ status: { ...BOUGHT, failureReason: "MachineFailed", failureMessage: "no disk" } });
  assert.deepEqual(sent, [["m-1", { force: true, failure: "no disk" }]]);
});

test("B40 what is on its way back is waited for, not released again; a lock is waited for with its name", async () => {
  const releasing = await released({ machine: aMachine({ phase: "releasing", providerState: "deprovisioning" }) });
  assert.deepEqual([releasing.outcome, releasing.sent], [{ againAfterMs: 15_000 }, []]);
  assert.equal(releasing.after?.status?.waitingFor, "the provider to take machine m-1 back (deprovisioning)");
  const release = { reason: "Deleted", at: "2026-01-01T00:00:00Z", accepted: true };
  const accepted = await released({ status: { ...BOUGHT, release } });
  assert.deepEqual(
    [accepted.outcome, accepted.sent, accepted.after?.status?.release],
    [{ againAfterMs: 15_000 }, [], release],
  );
  const locked = await released({ machine: aMachine({ locked: true }) });
  assert.deepEqual([locked.outcome, locked.sent], [{ againAfterMs: 30_000 }, []]);
  assert.match(locked.after?.status?.waitingFor ?? "", /^the lock on machine m-1 to be taken off/);
});

test("B33 with reclaimPolicy Retain the object goes and the machine stays, which an event says", async () => {
  const { outcome, isHeld, sent, events } = await released({ spec: { reclaimPolicy: "Retain" } });
  assert.deepEqual([outcome, isHeld, sent], [DONE, false, []]);
  assert.deepEqual(events, ["Normal Retained: machine m-1 is kept and goes on being billed: reclaimPolicy is Retain"]);
  assert.deepEqual((await released({ spec: { reclaimPolicy: "Retain" }, status: {} })).events, []);
});

test("B35 an order without an answer is waited for, and forgotten after a minute", async () => {
  const status = { account: { project: "p" }, purchase: PENDING };
  const unknown = await released({ status, now: 59_999 });
  assert.deepEqual([unknown.outcome, unknown.isHeld], [{ againAfterMs: 10_000 }, true]);
  assert.match(unknown.after?.status?.waitingFor ?? "", /^the answer to an order/);
  assert.deepEqual((await released({ status, now: 60_000 })).outcome, DONE);
  const never = await released({ status: {}, around: { ...AROUND, packetCluster: undefined } });
  assert.deepEqual([never.outcome, never.isHeld], [DONE, false]);
});

test("an order of an account that nothing names any more holds the object, with what to do", async () => {
  const { outcome, isHeld } = await released({
    status: { instanceID: "m-1" },
    around: { ...AROUND, packetCluster: undefined },
  });
  assert.ok(isFault(outcome, "MissingInput"));
  assert.deepEqual(
    [isHeld, /create the PacketCluster again; if the provider will not answer/.test(outcome.remedy ?? "")],
    [true, true],
  );
});

const AWAY = new Fault("Unavailable", "api", "no answer");

test("B49 a provider that can't be asked holds the object, says the way out, and is left alone for a while", async () => {
  const { outcome, isHeld, step } = await released({ machine: AWAY });
  assert.ok(isFault(outcome, "Unavailable"));
  assert.match(
    outcome.remedy ?? "",
    /kubectl annotate packetmachine -n shop worker-1 .*leaves machine m-1 as it is, and lists it in ConfigMap ns\//,
  );
  assert.equal(isHeld, true);
  assert.deepEqual(await step(), { againAfterMs: 5_000, rests: true });
  const lost = await released({
    machine: AWAY,
    status: { account: { project: "p" }, purchase: PENDING },
    claimed: undefined as never,
  });
  assert.notEqual(lost.outcome, DONE);
});

test("B49 an object that is let go leaves a record of its machine, and a warning", async () => {
  const status = {
    ...BOUGHT,
    placement: { machineType: "c3", metro: "da" },
    purchase: { ...PENDING, state: "Done" as const },
  };
  const { client, outcome, isHeld, events } = await released({
    machine: AWAY,
    status,
    annotations: { "slipway.dev/abandon-machine": "true" },
  });
  assert.deepEqual([outcome, isHeld], [DONE, false]);
  const { data = {} } = await client.get(ConfigMap, { namespace: "ns", name: "slipway-abandoned-machines" });
  const [[key, text] = assert.fail()] = Object.entries(data);
  assert.match(key, /^shop\.worker-1\.uid-/);
  const entry = JSON.parse(text);
  assert.deepEqual(
    [entry.machine, entry.hostname, entry.account, entry.machineType, entry.metro, entry.orderedAt, entry.reason],
    ["m-1", "worker-1", { project: "p" }, "c3", "da", PENDING.at, AWAY.message],
  );
  assert.match(entry.find, /^hostname worker-1, or the mark slipway:claim:uid-/);
  assert.match(
    events[0]!,
    /^Warning MachineAbandoned: machine m-1 \(worker-1\) was not given back .*see ConfigMap ns\/slipway-abandoned-machines/,
  );
});

test("faults of the Kubernetes API are no reason to let go of a machine", async () => {
  const conflict = new Fault("Conflict", "it", "was changed");
  const { outcome, isHeld } = await released({
    machine: conflict,
    annotations: { "slipway.dev/abandon-machine": "true" },
  });
  assert.deepEqual([outcome, isHeld], [conflict, true]);
});
