import assert from "node:assert/strict";
import { test } from "node:test";
import { cryptoRandom, Fault, isFault, quietLog, systemClock } from "@slipway/base";
import { type Context, createClient, DONE, type KubeObject } from "@slipway/kube";
import { Node } from "@slipway/kube/core";
import { FakeApi } from "@slipway/kube/testing";
import { Instance, type InstanceSpec, type InstanceStatus } from "../../kinds/harvester/instance.ts";
import type { Machine, Release } from "../../machines/machine.ts";
import { Patience } from "../../machines/patience.ts";
import { aMachine } from "../../machines/testing.ts";
import { recordOf } from "./claimant.ts";
import type { Harvester } from "./harvester.ts";
import { releaseInstance } from "./instance-release.ts";

const OURS = "equinix.instance.harvesterhci.io";
const AT = "1970-01-01T00:00:00.000Z";
const REF = { name: "rack-a" };
const PROTECT = { "slipway.dev/protect": "true" };

interface World {
  metadata?: object;
  spec?: Partial<InstanceSpec>;
  status?: Partial<InstanceStatus>;
  /** What the provider knows of the machine; a fault: it can't be asked. */
  machine?: Machine | "gone" | Fault;
  claimed?: Machine[];
  /** The Node of the Instance's name; `uid`: n is its own. */
  node?: { uid?: string; ready?: boolean };
  pool?: { annotations?: object; deletionTimestamp?: string };
  now?: number;
}

/** One step of giving back an Instance's machine. */
async function released(world: World) {
  const {
    metadata = {},
    spec = {},
    status = { instanceID: "m-1" },
    machine = aMachine(),
    claimed = [],
    node,
    pool,
    now = 0,
  } = world;
  const client = createClient(new FakeApi(), { clock: systemClock, random: cryptoRandom, log: quietLog });
  const object = await client.create(Instance, {
    ...{ apiVersion: `${Instance.group}/${Instance.version}`, kind: "Instance" },
    ...{
      metadata: { ...REF, finalizers: [OURS, "wrangler.cattle.io/instance-remove"], ...metadata },
      spec: { plan: "p", ...spec },
      status,
    },
  } as never);
  const there = node && {
    metadata: { name: "rack-a", uid: node.uid ?? "n", annotations: {} },
    status: { conditions: [{ type: "Ready", status: node.ready === false ? "False" : "True" }] },
  };
  if (there !== undefined) await client.create(Node, there as never);
  const deleted: string[] = [];
  const watched = {
    ...client,
    delete: async (resource: { kind: string }, ref: { name: string }) =>
      void deleted.push(`${resource.kind} ${ref.name}`),
  };
  const events: string[] = [];
  const add = (level: string) => (_: unknown, reason: string) => void events.push(`${level} ${reason}`);
  const cached: Record<string, unknown> = {
    Node: there,
    InstancePool: pool && { metadata: { name: "pool-a", ...pool } },
  };
  const context = {
    ...{ client: watched, clock: { now: () => now, monotonic: () => now }, signal: new AbortController().signal },
    ...{ clean: <T>(value: T): T => value, events: { normal: add("Normal"), warning: add("Warning") } },
    cache: {
      get: ({ kind }: { kind: string }) => cached[kind] as KubeObject | undefined,
      list: () => (there === undefined ? [] : [there]),
    },
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
      find: async () => claimed,
      release: async (id: string, options: Release) => void sent.push([id, options]),
    },
  };
  const harvester = {
    ...{
      accounts: { fleet: async () => fleet },
      addon: { namespace: "ns", secret: "own" },
      patience: new Patience(),
      pollMs: 15_000,
    },
    boots: { remove: async () => void deleted.push("boot") },
  } as unknown as Harvester;
  const step = () => releaseInstance(harvester, context, recordOf(context, object)).catch((error: unknown) => error);
  const outcome = await step();
  const after = await client.get(Instance, REF);
  return { outcome, sent, events, deleted, after, finalizers: after.metadata.finalizers ?? [], step };
}
const OWN = { node: { uid: "n", joined: AT } };

test("H6 a machine that never joined is given back at once, with what failed, and forced only on request", async () => {
  const plain = await released({});
  assert.deepEqual([plain.outcome, plain.sent], [{ againAfterMs: 0 }, [["m-1", { force: false }]]]);
  assert.deepEqual([plain.after.status?.release?.accepted, plain.events], [true, ["Normal Released"]]);
  const options = async (reason: string, metadata = {}) =>
    (await released({ metadata, status: { instanceID: "m-1", failure: { reason, message: "why", at: AT } } }))
      .sent[0]?.[1];
  for (const reason of ["MachineFailed", "ProvisionTimeout", "InstallFailed", "JoinTimeout"])
    assert.deepEqual(await options(reason), { force: false, failure: "why" }, reason);
  assert.deepEqual(await options("NodeDeleted"), { force: false });
  assert.deepEqual(await options("NodeDeleted", { annotations: { "slipway.dev/force-delete": "true" } }), {
    force: true,
  });
});

test("H29 once the machine is gone its Node is removed, then the Machine of Harvester, the boot and the finalizer", async () => {
  const status = { instanceID: "m-1", node: { ...OWN.node, machine: "fleet-local/machine-1" } };
  const still = await released({ status, machine: "gone", node: {} });
  assert.deepEqual(
    [still.outcome, still.deleted, still.finalizers.includes(OURS)],
    [{ againAfterMs: 15_000 }, ["Node rack-a"], true],
  );
  const done = await released({ status, machine: "gone" });
  assert.deepEqual([done.outcome, done.deleted], [DONE, ["Machine machine-1", "boot"]]);
  assert.deepEqual(done.finalizers, ["wrangler.cattle.io/instance-remove"]);
  const adopted = await released({
    status,
    machine: "gone",
    metadata: { annotations: { "slipway.dev/adopted": "x" } },
  });
  assert.deepEqual(adopted.finalizers, []);
  const stranger = await released({ status, machine: "gone", node: { uid: "other" } });
  assert.deepEqual(stranger.deleted, ["boot"], "a Node of the name is there: its Machine may be the stranger's");
});

test("H8 what is protected, by itself or by a pool that is being deleted, is held and says so", async () => {
  const labels = { instancePool: "pool-a" };
  const isHeld = async (world: World) => {
    const { outcome, sent, after } = await released(world);
    return (
      sent.length === 0 &&
      JSON.stringify(outcome) === '{"againAfterMs":30000}' &&
      /slipway.dev\/protect/.test(after.status?.waitingFor ?? "")
    );
  };
  assert.equal(await isHeld({ metadata: { annotations: PROTECT } }), true);
  assert.equal(await isHeld({ metadata: { labels }, pool: { annotations: PROTECT, deletionTimestamp: AT } }), true);
  assert.equal(await isHeld({ metadata: { labels }, pool: { annotations: PROTECT } }), false);
  assert.equal(await isHeld({ metadata: { labels }, pool: { deletionTimestamp: AT } }), false);
  assert.equal(await isHeld({ pool: { annotations: PROTECT, deletionTimestamp: AT } }), false);
});

test("H1 an order without an answer is waited for; one that was never made needs no account", async () => {
  const purchase = { attempt: 1, at: AT, state: "Pending" as const, placement: 0 };
  assert.deepEqual((await released({ status: { purchase }, now: 1_000 })).outcome, { againAfterMs: 10_000 });
  assert.deepEqual((await released({ status: { purchase }, now: 60_000 })).outcome, DONE);
  assert.deepEqual((await released({ status: {}, machine: new Fault("Bug", "it", "was asked") })).outcome, DONE);
});

const AWAY = new Fault("Unavailable", "api", "no answer");
const ABANDON = { "slipway.dev/abandon-machine": "true" };

test("a provider that can't be asked holds the Instance with the way out, and is left alone for a while", async () => {
  const { outcome, finalizers, step } = await released({ machine: AWAY });
  assert.ok(isFault(outcome, "Unavailable"));
  assert.match(outcome.remedy ?? "", /kubectl annotate instance rack-a slipway.dev\/abandon-machine=true/);
  assert.ok(finalizers.includes(OURS));
  assert.deepEqual(await step(), { againAfterMs: 5_000, rests: true });
  assert.ok(
    isFault(
      (await released({ machine: new Fault("Conflict", "it", "x"), metadata: { annotations: ABANDON } })).outcome,
      "Conflict",
    ),
  );
});

test("an Instance that is let go leaves a record and a Ready Node, but not one that is not Ready", async () => {
  const status = { instanceID: "m-1", ...OWN };
  const bare = await released({ machine: AWAY, metadata: { annotations: ABANDON } });
  assert.deepEqual(
    [bare.outcome, bare.events, bare.finalizers.includes(OURS)],
    [DONE, ["Warning MachineAbandoned"], false],
  );
  const used = await released({ machine: AWAY, status, metadata: { annotations: ABANDON }, node: {} });
  assert.deepEqual(used.deleted, ["boot"]);
  const dead = await released({ machine: AWAY, status, metadata: { annotations: ABANDON }, node: { ready: false } });
  assert.deepEqual(dead.deleted, ["Node rack-a", "boot"]);
});

test("H8 also an Instance that is to be let go is held while it is protected, and says so", async () => {
  const held = await released({ machine: AWAY, metadata: { annotations: { ...ABANDON, ...PROTECT } } });
  assert.deepEqual(
    [held.outcome, held.events, held.finalizers.includes(OURS)],
    [{ againAfterMs: 30_000 }, ["Warning Protected"], true],
  );
  assert.match(held.after.status?.waitingFor ?? "", /slipway.dev\/protect/);
  const locked = await released({ machine: aMachine({ locked: true }), metadata: { annotations: ABANDON } });
  assert.deepEqual([locked.outcome, locked.sent, locked.events], [DONE, [], ["Warning MachineAbandoned"]]);
});
