import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { Condition, Context } from "@slipway/kube";
import type { Instance, InstanceStatus } from "../../kinds/harvester/instance.ts";
import { isAbandoned, recordAbandoned, withWayOut } from "./abandon.ts";
import { announce } from "./announce.ts";
import type { Harvester } from "./harvester.ts";

const instance = (status: Partial<InstanceStatus>, annotations: Record<string, string> = {}): Instance =>
  ({ metadata: { name: "rack-a", uid: "u-1", annotations }, spec: {}, status }) as unknown as Instance;
const condition = (type: string, status: "True" | "False", reason: string): Condition =>
  ({ type, status, reason, message: `${type} words` }) as Condition;

/** The events of going from one status to another. */
function events(before: Partial<InstanceStatus>, after: Partial<InstanceStatus>): string[] {
  const seen: string[] = [];
  const add = (level: string) => (_: unknown, reason: string, message: string) =>
    void seen.push(`${level} ${reason}: ${message}`);
  const recorder = { normal: add("Normal"), warning: add("Warning") } as unknown as Parameters<typeof announce>[0];
  announce(recorder, instance(before), instance(after));
  return seen;
}
const become = (after: Condition, before: Condition[] = []) => events({ conditions: before }, { conditions: [after] });

test("what became true is an event once; steps on the way, and what became false, are none", () => {
  const joined = condition("Ready", "True", "Joined");
  assert.deepEqual(become(joined), ["Normal Joined: Ready words"]);
  assert.deepEqual(become(joined, [joined]), []);
  assert.deepEqual(become(joined, [condition("Ready", "False", "Joined")]), ["Normal Joined: Ready words"]);
  for (const step of ["MachineReady", "Installed"]) assert.deepEqual(become(condition(step, "True", "Yes")), []);
  assert.deepEqual(become(condition("Ready", "False", "Waiting")), []);
});

test("trouble is a warning by its reason, whichever condition it is of, and again when the reason changes", () => {
  const reasons = ["NameTaken", "NodeNotReady", "NodeMissing", "NoCapacity", "Protected", "QuorumAtRisk", "Locked"];
  for (const reason of [...reasons, "DrainStuck", "MissingInput", "BadCredentials", "Invalid"])
    assert.deepEqual(become(condition("Ready", "False", reason), [condition("Ready", "False", "Other")]), [
      `Warning ${reason}: Ready words`,
    ]);
  assert.deepEqual(become(condition("Stalled", "True", "Invalid")), ["Warning Invalid: Stalled words"]);
});

test("a machine that is given up is a warning once", () => {
  const failure = { reason: "JoinTimeout", message: "no Ready Node", at: "2026-01-01T00:00:00Z" };
  assert.deepEqual(events({}, { failure }), ["Warning JoinTimeout: no Ready Node"]);
  assert.deepEqual(events({ failure }, { failure }), []);
});

test("an Instance is abandoned by its annotation being true", () => {
  assert.equal(isAbandoned(instance({}, { "slipway.dev/abandon-machine": "true" })), true);
  assert.equal(isAbandoned(instance({}, { "slipway.dev/abandon-machine": "no" })), false);
  assert.equal(isAbandoned(instance({})), false);
});

test("a deletion that the provider holds up names the way out, and what is left by it", () => {
  const first = new Fault("Throttled", "api", "too many requests", { retryAfterMs: 5_000 });
  const out = withWayOut(first, instance({ instanceID: "m-1" }), "ns");
  assert.deepEqual(
    [out.code, out.on, out.message, out.retryAfterMs, out.cause],
    ["Throttled", "api", first.message, 5_000, first],
  );
  assert.equal(
    out.remedy,
    "if the provider will not answer again: kubectl annotate instance rack-a slipway.dev/abandon-machine=true lets the Instance go, leaves machine m-1 as it is, and lists it in ConfigMap ns/slipway-abandoned-machines",
  );
  const second = withWayOut(
    new Fault("BadCredentials", "api", "401", { remedy: "mend the Secret" }),
    instance({}),
    "ns",
  );
  assert.match(
    second.remedy!,
    /^mend the Secret; if the provider .* leaves the machine that may have been ordered as it is/,
  );
});

/** What is recorded of an Instance that goes without its machine: the entry, and events by the name of their object. */
async function abandoned(of: Instance) {
  const data: Record<string, string> = {};
  const events: string[] = [];
  const context = {
    ...{ clock: { now: () => 0 }, clean: <T>(value: T): T => value },
    cache: {
      get: (_: unknown, { name }: { name: string }) => (name === "pool-a" ? { metadata: { name } } : undefined),
    },
    client: { create: async (_: unknown, map: { data: Record<string, string> }) => Object.assign(data, map.data) },
    events: {
      warning: ({ metadata }: Instance, reason: string, message: string) =>
        void events.push(`${metadata.name} ${reason}: ${message}`),
    },
  } as unknown as Context;
  await recordAbandoned(
    { addon: { namespace: "ns", secret: "own" } } as unknown as Harvester,
    context,
    of,
    "the API is gone",
  );
  return { entry: JSON.parse(data["rack-a.u-1"] ?? "{}") as object, events };
}

test("a machine that is left at its provider is written down with all that finds it, and reported on Instance and pool", async () => {
  const find = "hostname rack-a, or the mark slipway:claim:u-1";
  const common = {
    hostname: "rack-a",
    find,
    account: "Secret/ns/own",
    reason: "the API is gone",
    abandonedAt: "1970-01-01T00:00:00.000Z",
  };
  const bare = await abandoned(instance({}));
  assert.deepEqual(bare.entry, { machine: "unknown", ...common });
  const said = (machine: string) =>
    `MachineAbandoned: machine ${machine} (rack-a) was not given back and may still be billed: see ConfigMap ns/slipway-abandoned-machines; the API is gone`;
  assert.deepEqual(bare.events, [`rack-a ${said("unknown")}`]);
  const status = {
    ...{ instanceID: "m-1", publicIP: "203.0.113.5", placement: { plan: "p", metro: "sg" } },
    purchase: { attempt: 1, at: "2026-01-01T00:00:00Z", state: "Done" as const, placement: 0 },
  };
  const pooled = instance(status);
  pooled.metadata.labels = { instancePool: "pool-a" };
  const full = await abandoned(pooled);
  assert.deepEqual(full.entry, {
    ...{
      machine: "m-1",
      pool: "pool-a",
      plan: "p",
      metro: "sg",
      publicIP: "203.0.113.5",
      orderedAt: "2026-01-01T00:00:00Z",
    },
    ...common,
  });
  assert.deepEqual(full.events, [`rack-a ${said("m-1")}`, `pool-a ${said("m-1")}`]);
});
