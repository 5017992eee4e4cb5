import assert from "node:assert/strict";
import { test } from "node:test";
import type { Vino } from "../../kinds/vino/vino.ts";
import type { VinoNode } from "../../kinds/vino/vino-node.ts";
import { shortOf, statusOf, verdictOf } from "./vino-status.ts";

const vino = (spec: object = {}, status?: object): Vino =>
  ({
    metadata: { name: "v", generation: 3 },
    spec: { nodeSelector: { matchLabels: { a: "1", b: "2" } }, ...spec },
    status,
  }) as unknown as Vino;
/** A node that the operator has looked at, and has as specified. */
const node = (nodeName: string, operator?: object | null, status: object = {}, metadata: object = {}): VinoNode =>
  ({
    ...{ metadata: { name: nodeName, ...metadata }, spec: { nodeName } },
    status: {
      ...(operator !== null && { operator: { observedGeneration: 3, hosts: 2, wanted: 2, ...operator } }),
      ...status,
    },
  }) as unknown as VinoNode;
const LEAVES = { deletionTimestamp: "2026-01-01T00:00:00Z" };

test("what a node is short of: the operator, what is wrong, what is waited for, what the agent says", () => {
  const short = (of: VinoNode) => shortOf(of, vino());
  assert.equal(short(node("n")), undefined);
  assert.equal(short(node("n", null)), "the operator to look at it");
  assert.equal(short({ ...node("n"), status: undefined } as unknown as VinoNode), "the operator to look at it");
  assert.equal(short(node("n", { observedGeneration: 2 })), "the operator to look at it");
  assert.equal(short(node("n", { observedGeneration: undefined })), "the operator to look at it");
  assert.equal(short(node("n", { observedGeneration: 4 })), undefined);
  assert.equal(short(node("n", { message: "bad", waitingFor: "x" }, { message: "y" })), "bad");
  assert.equal(short(node("n", { waitingFor: "x" }, { message: "y" })), "x");
  assert.equal(short(node("n", {}, { message: "y" })), "y");
  assert.equal(short(node("n", {}, {}, LEAVES)), "it leaves");
  assert.equal(short(node("n", { waitingFor: "hosts" }, {}, LEAVES)), "hosts");
  const young = { metadata: { name: "v" }, spec: {} } as unknown as Vino;
  assert.equal(shortOf(node("n", { observedGeneration: undefined }), young), undefined);
});

test("a Vino that selects no node says what it waits for", () => {
  assert.deepEqual(verdictOf(vino(), [], 0), {
    reason: "Progressing",
    ...{ message: "waits for a node with the labels a=1, b=2", waitsFor: "a node with the labels a=1, b=2" },
  });
  for (const nodeSelector of [undefined, {}, { matchLabels: {} }])
    assert.match(
      verdictOf(vino({ nodeSelector }), [], 0).message,
      /^waits for spec\.nodeSelector to name labels of nodes$/,
    );
});

test("a Vino is as specified when each selected node is; else it names the worst, and how many more", () => {
  const said = (nodes: VinoNode[], selected = nodes.length) => {
    const { reason, message, waitsFor } = verdictOf(vino(), nodes, selected);
    assert.equal(waitsFor ?? "", message);
    return `${reason}: ${message}`;
  };
  const [good, waits, bad] = [node("g"), node("w", { waitingFor: "its agent" }), node("b", { message: "no address" })];
  assert.equal(said([good]), "ReconciliationSucceeded: ");
  assert.equal(said([good], 3), "Progressing: 2 nodes to be planned");
  assert.equal(said([good, node("l", {}, {}, LEAVES)], 2), "Progressing: node l: it leaves");
  assert.equal(said([good, waits]), "Progressing: node w: its agent");
  assert.equal(said([waits, bad, good]), "ReconciliationFailed: node b: no address, and 1 more nodes");
  assert.equal(said([waits, waits, bad]), "ReconciliationFailed: node b: no address, and 2 more nodes");
});

test("the status counts nodes, hosts and problems, and keeps since when it waits", () => {
  const nodes = [
    node("g"),
    node("b", { message: "x".repeat(2_000), hosts: 1 }),
    node("l", { hosts: 4, wanted: 9 }, {}, LEAVES),
  ];
  const verdict = verdictOf(vino(), nodes, 2);
  const of = { nodes, selected: 2, verdict, now: 5_000 };
  const status = statusOf(vino(), { ...of, agents: { isReady: false, message: "1 of 2 agents are ready" } });
  assert.deepEqual([status.observedGeneration, status.nodes, status.hosts], [3, "1/2", "7/4"]);
  assert.deepEqual(status.problems, [
    { node: "b", message: "x".repeat(1_000) },
    { node: "l", message: "it leaves" },
  ]);
  const at = { lastTransitionTime: "1970-01-01T00:00:05Z", observedGeneration: 3 };
  assert.deepEqual(status.conditions, [
    { type: "Ready", status: "False", reason: "ReconciliationFailed", message: verdict.message.slice(0, 4_000), ...at },
    { type: "DaemonSetReady", status: "False", reason: "Progressing", message: "1 of 2 agents are ready", ...at },
  ]);
  assert.deepEqual([status.waitingFor, status.waitingSince], [verdict.waitsFor, "1970-01-01T00:00:05.000Z"]);
  const later = statusOf(vino({}, status), { ...of, now: 9_000, agents: { isReady: true, message: "" } });
  assert.equal(later.waitingSince, "1970-01-01T00:00:05.000Z");
  assert.deepEqual(
    later.conditions?.map(({ reason, status: is, lastTransitionTime }) => [reason, is, lastTransitionTime]),
    [
      ["ReconciliationFailed", "False", "1970-01-01T00:00:05Z"],
      ["ReconciliationSucceeded", "True", "1970-01-01T00:00:09Z"],
    ],
  );
});

test("the status of one that is as specified says no more than that; many problems are cut", () => {
  const good = [node("g"), node("h", {}, { operator: undefined })].slice(0, 1);
  const done = statusOf(vino(), {
    nodes: good,
    selected: 1,
    verdict: verdictOf(vino(), good, 1),
    agents: undefined,
    now: 0,
  });
  assert.deepEqual(
    [done.problems, done.ignored, done.waitingFor, done.nodes, done.hosts],
    [undefined, undefined, undefined, "1/1", "2/2"],
  );
  assert.deepEqual(
    done.conditions?.map(({ type, status }) => [type, status]),
    [["Ready", "True"]],
  );
  const bad = Array.from({ length: 60 }, (_, i) => node(`n${i}`, null));
  const own = vino({ bmcCredentials: { password: "x" } });
  const status = statusOf(own, {
    nodes: bad,
    selected: 60,
    verdict: verdictOf(own, bad, 60),
    agents: undefined,
    now: 0,
  });
  assert.deepEqual([status.problems?.length, status.nodes, status.hosts], [50, "0/60", "0/0"]);
  assert.deepEqual(status.ignored, ["spec.bmcCredentials.password"]);
});
