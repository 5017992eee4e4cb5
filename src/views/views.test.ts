import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject, OwnerReference } from "@slipway/kube";
import type { Event } from "@slipway/kube/core";
import { eventRow } from "./event-row.ts";
import { overviewOf } from "./overview.ts";
import { ownerTree, type TreeNode } from "./owner-tree.ts";
import { rowOf } from "./row.ts";
import { failureOf, stateOf, waitOf } from "./standing.ts";

const NOW = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;

function object(
  kind: string,
  name: string,
  more: { spec?: object; status?: object; metadata?: object } = {},
): KubeObject {
  const { metadata, ...rest } = more;
  return {
    ...{ apiVersion: "example.dev/v1", kind },
    metadata: {
      name,
      uid: `${kind}-${name}`,
      resourceVersion: "1",
      creationTimestamp: "2025-12-31T23:00:00Z",
      ...metadata,
    },
    ...rest,
  };
}

const owner = (kind: string, name: string, controller = true): OwnerReference => ({
  ...{ apiVersion: "example.dev/v1", kind, name, uid: `${kind}-${name}`, controller },
});

test("the state of an object is its kind's own word, wherever it stands, else the condition that sums it up", () => {
  const ready = (status: string, reason: string) => ({ conditions: [{ type: "Ready", status, reason, message: "" }] });
  const cases: [object, string][] = [
    [{ status: "managed" }, "managed"],
    [{ provisioning: { state: "available" } }, "available"],
    [{ phase: "Running" }, "Running"],
    [{ kubernetesResources: { version: { status: "Sleeping" } } }, "Sleeping"],
    [ready("True", "Joined"), "ready"],
    [ready("False", "NoHosts"), "NoHosts"],
    [{ status: { not: "a word" } }, "new"],
    [{}, "new"],
  ];
  for (const [status, word] of cases) assert.equal(stateOf(object("Machine", "a", { status })), word);
  const metadata = { deletionTimestamp: "2026-01-01T00:00:00Z" };
  assert.equal(stateOf(object("Machine", "a", { metadata, status: {} })), "deleting");
});

test("what an object waits for has its beginning and its deadline; what stalls it comes first", () => {
  const status = { waitingFor: "the cloud", waitingSince: "2025-12-31T23:00:00Z", deadline: "2026-01-01T01:00:00Z" };
  assert.deepEqual(waitOf(object("M", "a", { status })), { for: "the cloud", since: NOW - HOUR, until: NOW + HOUR });
  const stalled = { type: "Stalled", status: "True", message: "no money", lastTransitionTime: "2025-12-31T22:00:00Z" };
  const both = waitOf(object("M", "a", { status: { waitingFor: "the cloud", conditions: [stalled] } }));
  assert.deepEqual(both, { for: "no money", since: NOW - 2 * HOUR, until: undefined });
  assert.equal(waitOf(object("M", "a")), undefined);
});

test("a failure is read from the fields of Instances, of hosts and of Cluster API's objects", () => {
  const at = (status: object) => failureOf(object("M", "a", { status }));
  assert.deepEqual(at({ failure: { reason: "R", message: "m", at: "2026-01-01T00:00:00Z" } }), {
    reason: "R",
    message: "m",
    at: NOW,
  });
  assert.deepEqual(at({ errorType: "power management error", errorMessage: "m" }), {
    reason: "power management error",
    message: "m",
  });
  assert.deepEqual(at({ failureReason: "CreateError", failureMessage: "m" }), { reason: "CreateError", message: "m" });
  assert.equal(at({ errorType: "", errorMessage: "" }), undefined);
});

test("a row has who it belongs to, its address, its machine, its node, and how many of its members are ready", () => {
  const machine = object("Machine", "a", {
    metadata: { namespace: "n", ownerReferences: [owner("Set", "s")] },
    spec: { providerID: "p://1", version: "v1.36.3" },
    status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }], nodeRef: { name: "node-1" } },
  });
  const { namespace, owner: above, address, machine: id, node, version, members } = rowOf(machine);
  assert.deepEqual(
    [namespace, above, address, id, node, version, members],
    ["n", "Set/s", "10.0.0.1", "p://1", "node-1", "v1.36.3", undefined],
  );
  const pool = object("Pool", "p", { spec: { count: 3 }, status: { ready: "2", requested: "3" } });
  assert.deepEqual(rowOf(pool).members, { ready: 2, wanted: 3 });
  const host = object("Host", "h", { spec: { consumerRef: { kind: "Instance", name: "i" } } });
  assert.equal(rowOf(host).owner, "Instance/i");
});

const namesIn = ({ object: { kind, metadata }, children }: TreeNode): unknown => [
  `${kind}/${metadata.name}`,
  ...children.map(namesIn),
];

test("the tree follows owners, the controlling one first, and puts hosts below their consumer", () => {
  const pool = object("Pool", "p");
  const one = object("Instance", "i-10", { metadata: { ownerReferences: [owner("Pool", "p")] } });
  const two = object("Instance", "i-9", {
    metadata: { ownerReferences: [owner("Instance", "i-10", false), owner("Pool", "p")] },
  });
  const host = object("Host", "h", {
    spec: { consumerRef: { apiVersion: "example.dev/v2", kind: "Instance", name: "i-9" } },
  });
  const foreign = object("Instance", "x");
  assert.deepEqual(namesIn(ownerTree(pool, [pool, one, two, host, foreign])), [
    "Pool/p",
    ["Instance/i-9", ["Host/h"]],
    ["Instance/i-10"],
  ]);
});

test("owners in a circle end, and nobody is in the tree twice", () => {
  const a = object("A", "a", { metadata: { ownerReferences: [owner("B", "b")] } });
  const b = object("B", "b", { metadata: { ownerReferences: [owner("A", "a")] } });
  assert.deepEqual(namesIn(ownerTree(a, [a, b])), ["A/a", ["B/b"]]);
  assert.deepEqual(namesIn(ownerTree(a, [a, b, b])), ["A/a", ["B/b"]], "whoever listed it twice");
});

test("the overview counts machines by state, has what waits with the longest first, and failures with the latest first", () => {
  const waiting = (name: string, waitingSince: string) =>
    object("Instance", name, { status: { status: "ordering", waitingFor: "x", waitingSince } });
  const failed = object("Instance", "f", {
    status: { status: "failed", failure: { reason: "R", message: "m", at: "2025-12-31T23:30:00Z" } },
  });
  const event = (name: string, type: string, lastTimestamp: string) =>
    eventRow({
      ...object("Event", name),
      involvedObject: { kind: "Instance", name },
      type,
      reason: "E",
      message: "m",
      lastTimestamp,
    } as unknown as Event);
  const overview = overviewOf(
    [
      {
        kind: "Instance",
        role: "machines",
        objects: [waiting("late", "2025-12-31T23:50:00Z"), waiting("early", "2025-12-31T23:10:00Z"), failed],
      },
      { kind: "Pool", role: "pools", objects: [object("Pool", "p")] },
      { kind: "Cluster", role: "clusters", objects: [] },
    ],
    [
      event("new", "Warning", "2025-12-31T23:40:00Z"),
      event("old", "Warning", "2025-12-31T22:59:59Z"),
      event("fine", "Normal", "2025-12-31T23:40:00Z"),
    ],
    NOW,
  );
  assert.deepEqual(overview.machines, [{ kind: "Instance", total: 3, ready: 0, states: { ordering: 2, failed: 1 } }]);
  assert.deepEqual(
    overview.pools.map(({ name }) => name),
    ["p"],
  );
  assert.deepEqual(
    overview.waiting.map(({ name }) => name),
    ["early", "late"],
  );
  assert.deepEqual(
    overview.failures.map(({ name }) => name),
    ["new", "f"],
  );
});

test("a failure whose time is not known counts as one of now, wherever it stands", () => {
  const failed = (name: string, at?: string) =>
    object("Instance", name, { status: { failure: { reason: "R", message: "m", ...(at !== undefined && { at }) } } });
  const [early, late] = [failed("early", "2025-12-31T23:10:00Z"), failed("late", "2025-12-31T23:50:00Z")];
  const unknown = (name: string) => failed(name);
  for (const objects of [
    [unknown("a"), early, late],
    [early, unknown("b"), late],
    [early, late, unknown("z")],
  ]) {
    const { failures } = overviewOf([{ kind: "Instance", role: "machines", objects }], [], NOW);
    assert.deepEqual(failures.map(({ name }) => name).slice(1), ["late", "early"]);
  }
});

test("an event of the newer API has its times and its count in other fields", () => {
  const event = {
    ...object("Event", "e"),
    involvedObject: { kind: "Pod", namespace: "n", name: "p" },
    eventTime: "2025-12-31T23:30:00.000000Z",
  };
  const series = { count: 4, lastObservedTime: "2025-12-31T23:45:00.000000Z" };
  const { count, first, last } = eventRow({ ...event, series } as unknown as Event);
  assert.deepEqual([count, first, last], [4, NOW - HOUR / 2, NOW - HOUR / 4]);
});
