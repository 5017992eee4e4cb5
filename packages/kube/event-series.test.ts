import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { eventDraft, subjectOf } from "./event-object.ts";
import { EventSeries, WINDOW_MS } from "./event-series.ts";
import type { KubeObject } from "./object.ts";

const node = (name: string, of: object = {}): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, uid: `uid-${name}`, resourceVersion: "7", ...of },
  }) as KubeObject;

test("equal events are one series, and a pause of more than ten minutes begins another", async () => {
  const clock = new VirtualClock();
  const series = new EventSeries(clock);
  const of = () => series.of(node("a"), "Normal", "Bought", "m");
  const first = of();
  await clock.run(WINDOW_MS);
  assert.equal(of(), first, "ten minutes after the last");
  await clock.run(WINDOW_MS + 1);
  assert.notEqual(of(), first);
});

test("objects, types and reasons are distinguished; beyond ten messages of one reason all others are combined", () => {
  const series = new EventSeries(new VirtualClock());
  const of = (on: KubeObject, type: string, reason: string, message: string) => series.of(on, type, reason, message);
  const first = of(node("a"), "Normal", "R", "m");
  assert.notEqual(of(node("b"), "Normal", "R", "m"), first);
  assert.notEqual(of(node("a"), "Warning", "R", "m"), first);
  assert.notEqual(of(node("a"), "Normal", "S", "m"), first);
  for (let i = 1; i < 10; i++) assert.equal(of(node("a"), "Normal", "R", `m${i}`).combined, false);
  const eleventh = of(node("a"), "Normal", "R", "m10");
  assert.equal(eleventh.combined, true);
  assert.equal(of(node("a"), "Normal", "R", "m11"), eleventh);
  assert.equal(of(node("a"), "Normal", "R", "m"), first, "those from before go on");
});

test("an object has 25 writes at once and one more every five minutes, others are not held up", async () => {
  const clock = new VirtualClock();
  const series = new EventSeries(clock);
  const writes = (name: string, count: number) =>
    Array.from({ length: count }, () => series.mayWrite(node(name))).filter(Boolean).length;
  assert.equal(writes("a", 30), 25);
  assert.equal(writes("b", 1), 1);
  await clock.run(299_000);
  assert.equal(writes("a", 1), 0);
  await clock.run(1001);
  assert.equal(writes("a", 2), 1);
});

test("of very many objects those that had no events for longest are forgotten", () => {
  const series = new EventSeries(new VirtualClock());
  const of = (name: string) => series.of(node(name), "Normal", "R", "m");
  const [old, kept] = [of("old"), of("kept")];
  for (let i = 0; i < 4094; i++) of(`n${i}`);
  assert.equal(of("kept"), kept);
  of("one-more");
  assert.equal(of("kept"), kept);
  assert.notEqual(of("old"), old);
});

test("objects without a uid are known by kind, namespace and name", () => {
  const series = new EventSeries(new VirtualClock());
  const of = (name: string, namespace?: string) => series.of(node(name, { uid: "", namespace }), "Normal", "R", "m");
  assert.equal(of("a", "x"), of("a", "x"));
  assert.notEqual(of("a", "x"), of("a", "y"));
  assert.notEqual(of("a", "x"), of("b", "x"));
  assert.equal(of("a"), of("a"));
});

test("an Event names its object, is where the object is, and has a name that the API takes", () => {
  const long = node("n".repeat(253), { namespace: "bay" });
  const subject = subjectOf(long, "Warning", "R".repeat(200));
  const times = { message: "m", count: 3, firstMs: 0, lastMs: 60_000 };
  const draft = eventDraft(subject, times, { component: "slipway", random: seededRandom(1) });
  assert.equal(draft.metadata.name.length, 253);
  assert.match(draft.metadata.name, /^n+\.[0-9a-f]{16}$/);
  assert.equal(draft.metadata.namespace, "bay");
  assert.equal(draft.reason.length, 128);
  assert.deepEqual(draft.involvedObject, {
    ...{ apiVersion: "v1", kind: "Node", name: long.metadata.name, uid: long.metadata.uid, resourceVersion: "7" },
    namespace: "bay",
  });
  assert.deepEqual(
    [draft.count, draft.firstTimestamp, draft.lastTimestamp, draft.source.component, draft.reportingComponent],
    [3, "1970-01-01T00:00:00Z", "1970-01-01T00:01:00Z", "slipway", "slipway"],
  );
  const alone = eventDraft(subjectOf(node("a"), "Normal", "R"), times, { component: "c", random: seededRandom(1) });
  assert.equal(alone.metadata.namespace, "default");
  assert.equal("namespace" in alone.involvedObject, false);
});
