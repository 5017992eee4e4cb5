import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, Fault, quietLog, systemClock } from "@slipway/base";
import { type Context, conditionOf, createClient, DONE, StatusRecord } from "@slipway/kube";
import { FakeApi } from "@slipway/kube/testing";
import { PlunderMachine } from "../../kinds/plunder/plunder-machine.ts";
import type { Machine, Release } from "../../machines/machine.ts";
import { Patience } from "../../machines/patience.ts";
import { aMachine } from "../../machines/testing.ts";
import { releaseMachine } from "./machine-release.ts";
import { MACHINE_FINALIZER, MISSPELT_FINALIZER } from "./names.ts";
import type { Plunder } from "./shared.ts";
import type { Surroundings } from "./surroundings.ts";

const REF = { namespace: "shop", name: "w1" };
const ID = "rack/h-1/uid";
const TAKEN = { instanceID: ID, host: "rack/h-1", provider: "plunder" };
const PENDING = { attempt: 1, at: "1970-01-01T00:00:00.000Z", state: "Pending", placement: 0 };
const AROUND: Surroundings = { owner: undefined, cluster: undefined, plunderCluster: undefined };
const host = (more: Partial<Machine> = {}) => aMachine({ id: ID, providerState: "deprovisioning", ...more });

interface World {
  spec?: object;
  status?: object;
  annotations?: Record<string, string>;
  /** What is known of the host; a fault: nobody can be asked. */
  machine?: Machine | "gone" | Fault;
  /** Hosts that carry the claim. */
  claimed?: Machine[];
  /** Of hosts outside of this cluster: the proof that one was wiped; null: there is none. */
  proof?: string | null;
  now?: number;
  signal?: AbortSignal;
}

/** One step of giving a PlunderMachine's host back; what became of object, host, boot and events. */
async function released({
  spec = {},
  status = TAKEN,
  annotations = {},
  machine = host(),
  claimed = [],
  proof,
  now = 0,
  signal = new AbortController().signal,
}: World) {
  const client = createClient(new FakeApi(), { clock: systemClock, random: cryptoRandom, log: quietLog });
  const finalizers = [MACHINE_FINALIZER, MISSPELT_FINALIZER];
  await client.create(PlunderMachine, {
    metadata: { ...REF, annotations, finalizers },
    spec: { deploymentType: "preseed", ...spec },
    status,
  } as never);
  const events: string[] = [];
  const add = (_: unknown, reason: string, message: string) => void events.push(`${reason}: ${message}`);
  const context = {
    ...{ client, clock: { now: () => now, monotonic: () => now }, signal },
    ...{ clean: <T>(value: T): T => value, events: { normal: add, warning: add } },
  } as unknown as Context;
  const sent: [string, Release][] = [];
  const look = async () => {
    if (machine instanceof Fault) throw machine;
    return machine;
  };
  const fleet = {
    ...{ look, read: look, note: (seen: Machine) => seen, all: async () => [] },
    driver: {
      ...{ type: "inventory", capabilities: {}, find: async () => claimed },
      release: async (id: string, options: Release) => void sent.push([id, options]),
      ...(proof !== undefined && { proofOf: async () => proof ?? undefined }),
    },
  };
  const ended: string[] = [];
  const forgets = (what: string) => (uid: string) => void ended.push(`${what} ${uid === uidOf() ? "its own" : uid}`);
  const uidOf = (): string => held.metadata.uid;
  const plunder = {
    ...{ accounts: { fleet: async () => fleet }, own: { namespace: "ns", secret: "own" }, pollMs: 15_000 },
    ...{ patience: new Patience(), fetched: { forget: forgets("data of") } },
    boots: { store: { remove: async (_: unknown, uid: string) => forgets("boot of")(uid) } },
  } as unknown as Plunder;
  const held = (await client.find(PlunderMachine, REF))!;
  const step = () => releaseMachine(plunder, context, new StatusRecord(context, PlunderMachine, held), AROUND);
  const outcome = await step().catch((error: unknown) => error);
  const after = (await client.find(PlunderMachine, REF))!;
  return { outcome, after, finalizers: after?.metadata.finalizers ?? [], sent, events, ended, step };
}
const left = "Machine removed. Plunder couldn't succesfully remove the physical host, it may need removing manually";
const isEnded = ({ outcome, finalizers, ended, sent }: Awaited<ReturnType<typeof released>>) => {
  assert.deepEqual([outcome, finalizers, sent], [DONE, [], []]);
  assert.deepEqual(ended.toSorted(), ["boot of its own", "data of its own"]);
};

test("N34 a host is given back once, unforced, and the object stays until it is wiped", async () => {
  const { outcome, after, finalizers, sent, events, ended } = await released({});
  assert.deepEqual([outcome, finalizers.length, sent, ended], [{ againAfterMs: 0 }, 2, [[ID, { force: false }]], []]);
  assert.deepEqual([after.status?.release?.accepted, after.status?.ready], [true, false]);
  assert.equal(after.status?.waitingFor, `host ${ID} to be wiped (deprovisioning)`);
  const said = ["Installed", "Ready"].map((type) => conditionOf(after.status?.conditions, type));
  assert.deepEqual(
    said.map((condition) => `${condition?.status} ${condition?.reason}`),
    ["False Deleting", "False Deleting"],
  );
  assert.ok(events.some((event) => event.startsWith("Released: ")));
  const failed = await released({ status: { ...TAKEN, failureReason: "R", failureMessage: "no disk" } });
  assert.deepEqual(failed.sent, [[ID, { force: false, failure: "no disk" }]]);
});

test("N34 a host that is on its way back is waited for, at the pace of looks", async () => {
  const accepted = { ...TAKEN, release: { reason: "Deleted", at: "", accepted: true } };
  for (const world of [{ machine: host({ phase: "releasing" }) }, { status: accepted }]) {
    const { outcome, sent, finalizers } = await released(world);
    assert.deepEqual([outcome, sent, finalizers.length], [{ againAfterMs: 15_000 }, [], 2]);
  }
});

test("N34 the object goes when its host is nobody's, with its boot and what is remembered of it", async () => {
  const gone = await released({ machine: "gone" });
  isEnded(gone);
  assert.deepEqual(gone.events, ["PlunderDelete: Machine removed succesfully"]);
});

test("N34 a host of a netboot elsewhere is let go by its proof alone, which is an event", async () => {
  const proven = await released({ machine: "gone", proof: "nvme format" });
  isEnded(proven);
  assert.equal(proven.events[0], `Wiped: host ${ID}: nvme format`);
  const unproven = await released({ machine: "gone", proof: null });
  assert.ok(unproven.outcome instanceof Fault && /nothing proves that host/.test(unproven.outcome.message));
  assert.equal(unproven.finalizers.length, 2);
  const { after } = await released({ machine: host({ lastEvent: "its agent" }), proof: null });
  assert.match(after.status!.waitingFor!, /\(deprovisioning; waiting for its agent\)$/);
});

test("N33 a machine that took no host ends at once; of one that the original installed the host is left, and that is told", async () => {
  isEnded(await released({ status: {} }));
  const theirs = await released({ status: {}, spec: { providerID: "plunder://52:54:00:00:00:01" } });
  isEnded(theirs);
  assert.deepEqual(theirs.events, [`PlunderDelete: ${left}`]);
});

test("N35 a claim without an answer is looked for as long as its host may still appear", async () => {
  const status = { purchase: PENDING, provider: "plunder" };
  const open = await released({ status });
  assert.deepEqual([open.outcome, open.finalizers.length], [{ againAfterMs: 10_000 }, 2]);
  assert.match(open.after.status!.waitingFor!, /a claim that may have taken a host/);
  isEnded(await released({ status, now: 3_600_000 }));
});

test("N33 N35 who can't be asked holds the object, with the way out; who abandons the host gets rid of it", async () => {
  const machine = new Fault("Unavailable", "MachineProvider/plunder", "no answer");
  const held = await released({ machine });
  assert.ok(held.outcome instanceof Fault && held.outcome.advice.includes("plundermachine -n shop w1"));
  assert.equal(held.finalizers.length, 2);
  assert.equal(((await held.step()) as { rests?: boolean }).rests, true, "it is not asked at every pass");
  const abandoned = await released({ machine, annotations: { "slipway.dev/abandon-machine": "true" } });
  isEnded(abandoned);
  assert.deepEqual(abandoned.events, [`PlunderDelete: ${left}`]);
});

test("who is stopped while it asks is told why, and no provider is held to have refused", async () => {
  const machine = new Fault("Unavailable", "MachineProvider/plunder", "no answer");
  const signal = AbortSignal.abort(new Error("stopped"));
  const { outcome, finalizers, step } = await released({ machine, signal });
  assert.match((outcome as Error).message, /^stopped$/);
  assert.equal(finalizers.length, 2);
  await assert.rejects(step(), /^Error: stopped$/, "it does not rest");
});
