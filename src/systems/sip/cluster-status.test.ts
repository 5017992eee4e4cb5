import assert from "node:assert/strict";
import { test } from "node:test";
import type { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import type { SIPCluster } from "../../kinds/sip/sip-cluster.ts";
import { hostsOf, passedOf, reported, shortage, verdictOf } from "./cluster-status.ts";
import type { Schedule } from "./schedule/schedule.ts";

const cluster = (spec: object = {}, more: object = {}): SIPCluster =>
  ({ metadata: { name: "c", namespace: "n", uid: "u", generation: 4 }, spec, ...more }) as unknown as SIPCluster;
const plan = (more: Partial<Schedule> = {}): Schedule => ({
  take: [],
  release: [],
  keep: new Map(),
  short: [],
  passed: [],
  ...more,
});

test("a shortage names each role, and the five commonest reasons first", () => {
  const passed = (role: string, ...reasons: string[]) => reasons.map((reason, i) => ({ host: `h${i}`, role, reason }));
  const short = [
    { role: "A", wanted: 3, found: 1 },
    { role: "B", wanted: 1, found: 0 },
  ];
  assert.equal(
    shortage(plan({ short, passed: passed("A", "x", "y", "y", "z", "p", "q", "r") })),
    "role A has 1 of 3 hosts; others were passed over: 2: y, 1: x, 1: z, 1: p, 1: q; role B has 0 of 1 hosts; others were passed over: there are none",
  );
});

test("a status has each role's hosts in the order in which they came, the first of them active", () => {
  const host = (name: string, more: object = {}, annotations?: object) => ({
    host: { metadata: { name, namespace: "metal", annotations }, spec: more } as unknown as BareMetalHost,
    addresses: { oam: `ip-${name}` },
  });
  const consumerRef = { kind: "Metal3Machine", namespace: "n", name: "m" };
  const found = new Map([
    ["metal/a", host("a", { bmc: { address: "redfish://x" } }, { "slipway.dev/sip-claimed-at": "2026" })],
    ["metal/b", host("b", { consumerRef })],
    ["metal/c", host("c")],
  ]);
  const nodes = { Worker: { count: { active: 2, standby: 1 } }, Zero: {} };
  const keep = new Map([["Worker", ["metal/b", "metal/gone"]]]);
  const take = [
    { host: "metal/a", role: "Worker" },
    { host: "metal/c", role: "Other" },
    { host: "metal/c", role: "Zero" },
  ];
  const hosts = hostsOf(cluster({ nodes }), plan({ keep, take }), found);
  assert.deepEqual(
    hosts.map(({ claimedAt: _, ...rest }) => rest),
    [
      {
        ...{ name: "b", namespace: "metal", role: "Worker", standing: "active" },
        ...{ usedBy: "Metal3Machine n/m", addresses: { oam: "ip-b" } },
      },
      {
        ...{ name: "a", namespace: "metal", role: "Worker", standing: "standby" },
        ...{ addresses: { oam: "ip-a" }, bmc: "redfish://x" },
      },
      { name: "c", namespace: "metal", role: "Zero", standing: "standby", addresses: { oam: "ip-c" } },
    ],
  );
  assert.deepEqual(
    hosts.map((one) => one.claimedAt),
    [undefined, "2026", undefined],
  );
});

test("problems come before what is not available yet, and hosts that leave are waited for", () => {
  const endpoint = (service: string, available: boolean) => ({ service, available, kind: "auth", ports: [] }) as never;
  const kept = (endpoints: never[], problems: string[] = []) => ({ endpoints, problems });
  assert.deepEqual(verdictOf(kept([endpoint("a", false)], ["bad", "worse"]), ["x"]), {
    ...{ reason: "InfraServiceFailure", message: "bad; worse", waitsFor: "bad" },
  });
  const waits = "Deployment a, Deployment b to be available";
  assert.deepEqual(verdictOf(kept([endpoint("a", false), endpoint("c", true), endpoint("b", false)]), []), {
    ...{ reason: "Progressing", message: `waits for ${waits}`, waitsFor: waits },
  });
  const done = { reason: "ReconciliationSucceeded", message: "" };
  assert.deepEqual(verdictOf(kept([endpoint("c", true)]), []), { ...done, waitsFor: undefined });
  assert.deepEqual(verdictOf(kept([]), ["x", "y"]), { ...done, waitsFor: "x; y" });
});

test("the condition Ready, the wait and its beginning are reported; long messages and lists are cut", () => {
  const told = reported(cluster(), { reason: "Progressing", message: "m".repeat(5_000), waitsFor: "w" }, 1_000);
  assert.deepEqual(told, {
    observedGeneration: 4,
    conditions: [
      {
        ...{ type: "Ready", status: "False", reason: "Progressing", message: "m".repeat(4_000), observedGeneration: 4 },
        lastTransitionTime: "1970-01-01T00:00:01Z",
      },
    ],
    ...{ waitingFor: "w", waitingSince: "1970-01-01T00:00:01.000Z" },
  });
  const done = reported(cluster({}, { status: told }), { reason: "ReconciliationSucceeded", message: "" }, 9_000);
  assert.deepEqual(
    [
      done.conditions?.map(({ status, lastTransitionTime }) => [status, lastTransitionTime]),
      done.waitingFor ?? undefined,
    ],
    [[["True", "1970-01-01T00:00:09Z"]], undefined],
  );
  const passed = Array.from({ length: 51 }, (_, i) => ({ host: `h${i}`, role: "r", reason: "x" }));
  assert.deepEqual([passedOf(plan({ passed }))?.length, passedOf(plan())], [50, undefined]);
});
