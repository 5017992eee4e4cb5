/** What an Instance's controller reports of faults and losses; buying and installing are played in test/system. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import { type Context, DONE, isTrue, setCondition } from "@slipway/kube";
import type { Instance, InstanceSpec, InstanceStatus } from "../../kinds/harvester/instance.ts";
import type { Order } from "../../machines/machine.ts";
import { Patience } from "../../machines/patience.ts";
import { aMachine } from "../../machines/testing.ts";
import type { Harvester } from "./harvester.ts";
import { instanceController } from "./instance-controller.ts";

const OURS = "equinix.instance.harvesterhci.io";
const AT = "1970-01-01T00:00:00.000Z";
const STALLED = setCondition(undefined, { type: "Stalled", status: "True", reason: "Throttled", message: "later" }, 0);
const JOINED: Partial<InstanceStatus> = { instanceID: "m-1", status: "managed", node: { uid: "n", joined: AT } };

interface World {
  metadata?: Partial<Instance["metadata"]>;
  spec?: Partial<InstanceSpec>;
  status?: Partial<InstanceStatus>;
  /** How the account can't be used. */
  fails?: unknown;
  /** Whether its Node is Ready. Default: there is no Node. */
  nodeReady?: boolean;
  /** The object is deleted by the time that it is read again. */
  isGone?: boolean;
}

/** One reconcile of an Instance, and what it did. */
async function reconciled({ metadata = {}, spec = {}, status, fails, nodeReady, isGone = false }: World) {
  const instance = {
    metadata: { name: "rack-a", uid: "u", generation: 2, resourceVersion: "1", finalizers: [OURS], ...metadata },
    spec: { plan: "p", ...spec },
    ...(status !== undefined && { status }),
  } as unknown as Instance;
  const node = {
    metadata: { name: "rack-a", uid: "n", labels: { "slipway.dev/instance-uid": "u" } },
    status: { conditions: [{ type: "Ready", status: nodeReady === true ? "True" : "False" }] },
  };
  const known: Readonly<Record<string, unknown>> = {
    Instance: instance,
    ...(nodeReady !== undefined && { Node: node }),
  };
  const ages: number[] = [];
  const happened: string[] = [];
  const orders: Order[] = [];
  let written: InstanceStatus | undefined;
  const say = (level: string) => (_: unknown, reason: string) => void happened.push(`${level} ${reason}`);
  const context = {
    client: {
      find: async () => (isGone ? undefined : instance),
      updateStatus: async (_: unknown, object: Instance) => {
        written = object.status!;
        return object;
      },
      patch: async (
        _: unknown,
        __: unknown,
        { body, type }: { body: { metadata?: { finalizers?: string[] } }; type: string },
      ) => {
        if (type === "merge") happened.push(`finalizers ${body.metadata?.finalizers?.join()}`);
        return instance;
      },
      delete: async (_: unknown, { name }: { name: string }, { uid }: { uid: string }) =>
        void happened.push(`deleted ${name} ${uid}`),
    },
    cache: { get: ({ kind }: { kind: string }) => known[kind], list: () => [] },
    ...{ clock: { now: () => 0, monotonic: () => 0 }, events: { normal: say("Normal"), warning: say("Warning") } },
    ...{ signal: new AbortController().signal, clean: <T>(value: T): T => value },
  } as unknown as Context;
  const driver = {
    ...{ type: "equinix", capabilities: { userData: true }, check: () => [], find: async () => [] },
    create: async (order: Order) => {
      orders.push(order);
      return aMachine({ id: "new" });
    },
  };
  const look = async (_: string, maxAgeMs: number) => {
    ages.push(maxAgeMs);
    return aMachine();
  };
  const restMs = (leastMs: number) => leastMs + 100_000;
  const fleet = { driver, look, restMs, note: <T>(seen: T) => seen, all: async () => [] };
  const refused: string[] = [];
  const harvester = {
    ...{ addon: { namespace: "ns", secret: "own" }, pollMs: 15_000, patience: new Patience() },
    accounts: {
      fleet: async () => (fails === undefined ? fleet : Promise.reject(fails)),
      refused: (name: string) => void refused.push(name),
    },
    boots: { prepare: async () => ({ id: "b", at: 0, scriptUrl: "https://b", userData: "", publish: async () => {} }) },
  } as unknown as Harvester;
  const outcome = await instanceController(harvester)
    .reconcile({ name: "rack-a" }, context)
    .catch((error: unknown) => error);
  return { outcome, happened, status: written, refused, orders, ages };
}

test("H1 nothing is done for an Instance before it has the finalizer, and nothing more once it is let go", async () => {
  const fresh = await reconciled({ metadata: { finalizers: ["other"] } });
  assert.deepEqual([fresh.outcome, fresh.happened, fresh.orders], [DONE, [`finalizers other,${OURS}`], []]);
  const leaving = await reconciled({ metadata: { finalizers: ["other"], deletionTimestamp: AT } });
  assert.deepEqual([leaving.outcome, leaving.happened, leaving.status], [DONE, [], undefined]);
});

test("a fault is on the object with the generation that it is of, before the queue backs off", async () => {
  const fault = new Fault("Throttled", "api", "too many requests");
  const { outcome, status, happened, refused } = await reconciled({ fails: fault });
  assert.equal(outcome, fault);
  const [stalled] = status?.conditions ?? [];
  assert.deepEqual(
    [stalled?.type, stalled?.status, stalled?.reason, stalled?.observedGeneration],
    ["Stalled", "True", "Throttled", 2],
  );
  assert.deepEqual([status?.status, status?.waitingFor, refused], ["stalled", fault.advice, []]);
  assert.deepEqual(happened, ["Normal Throttled"]);
});

test("an Instance that is stalled keeps the word for its stage; one that is being ordered is stalled", async () => {
  const word = async (status: Partial<InstanceStatus>, metadata = {}) =>
    (await reconciled({ status, metadata, fails: new Fault("Unavailable", "api", "x") })).status?.status;
  assert.equal(await word({ status: "provisioning", instanceID: "m-1" }), "provisioning");
  assert.equal(await word({ status: "ordering" }), "stalled");
  assert.equal(await word({ status: "managed", instanceID: "m-1" }, { deletionTimestamp: AT }), "releasing");
});

test("H18 refused credentials are read again; what is missing is looked for every ten seconds", async () => {
  const bad = await reconciled({ fails: new Fault("BadCredentials", "api", "401") });
  assert.ok(isFault(bad.outcome, "BadCredentials"));
  assert.deepEqual(bad.refused, ["Secret/ns/own"]);
  const missing = await reconciled({ fails: new Fault("MissingInput", "Secret/ns/own", "is missing") });
  assert.deepEqual([missing.outcome, missing.refused], [{ againAfterMs: 10_000 }, []]);
});

test("faults of the Kubernetes API, and those about an Instance that is gone, are not reported on it", async () => {
  for (const code of ["Conflict", "NotLeader", "Undeclared"] as const) {
    const { outcome, status } = await reconciled({ fails: new Fault(code, "it", "x") });
    assert.ok(isFault(outcome, code));
    assert.equal(status, undefined, code);
  }
  const gone = await reconciled({ fails: new Fault("Unavailable", "api", "x"), isGone: true });
  assert.deepEqual([gone.outcome, gone.status], [DONE, undefined]);
});

test("what stalled an Instance is over once the work went through", async () => {
  const { status, outcome } = await reconciled({ status: { ...JOINED, conditions: STALLED, waitingFor: "later" } });
  assert.ok(!(outcome instanceof Error), String(outcome));
  assert.equal(isTrue(status?.conditions, "Stalled"), false);
  const [stalled] = status?.conditions ?? [];
  assert.deepEqual([stalled?.type, stalled?.reason, stalled?.observedGeneration], ["Stalled", "Recovered", 2]);
});

test("H9 a machine of a pool that is lost makes room for another; one made by hand stays, and so does one that is only to be reported", async () => {
  const failure = { reason: "JoinTimeout", message: "no Ready Node", at: AT };
  const labels = { instancePool: "pool-a" };
  const status = { ...JOINED, failure };
  assert.deepEqual((await reconciled({ status, metadata: { labels } })).happened, [
    "Normal Replacing",
    "deleted rack-a u",
  ]);
  assert.deepEqual((await reconciled({ status })).happened, []);
  assert.deepEqual((await reconciled({ status, metadata: { labels }, spec: { remediation: "Report" } })).happened, []);
});

test("H22 an order that was refused waits, unless the specification was corrected since", async () => {
  const purchase = { attempt: 1, at: AT, state: "Refused" as const, placement: 0 };
  const waits = await reconciled({ status: { purchase, observedGeneration: 2 } });
  assert.deepEqual(waits.orders, []);
  assert.deepEqual((await reconciled({ status: { purchase } })).orders, []);
  const corrected = await reconciled({ status: { purchase, observedGeneration: 1 } });
  assert.deepEqual([corrected.outcome, corrected.orders.length], [{ againAfterMs: 15_000 }, 1]);
});

test("a machine on its way is looked at each time, one that joined half as often, and one at rest as often as its account's list allows", async () => {
  const ages = async (world: World) => (await reconciled({ status: JOINED, ...world })).ages;
  assert.deepEqual(await ages({ status: { instanceID: "m-1" } }), [15_000]);
  assert.deepEqual(await ages({}), [30_000]);
  assert.deepEqual(await ages({ nodeReady: false }), [30_000]);
  assert.deepEqual(await ages({ nodeReady: true }), [130_000]);
});
