import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { type Log, quietLog, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Event } from "./core.ts";
import { createEventRecorder } from "./event-recorder.ts";
import { FakeApi, failure } from "./fake-api.ts";
import type { KubeObject } from "./object.ts";
import { createClient } from "./rest-client.ts";

function world() {
  const api = new FakeApi();
  const clock = new VirtualClock();
  const warnings: unknown[] = [];
  const log: Log = { ...quietLog, warn: (fields) => void warnings.push(fields) };
  const ports = { clock, random: seededRandom(1), log };
  const recorder = createEventRecorder({ client: createClient(api, ports), ...ports, component: "pool" });
  const events = (): Event[] => [...api.objects.values()].filter((o) => o.kind === "Event") as Event[];
  return { api, clock, recorder, events, warnings };
}

const pod = (name: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "x", uid: name, resourceVersion: "1", creationTimestamp: "" },
});

test("equal events of one turn are one object with their count", async () => {
  const { recorder, events } = world();
  for (let i = 0; i < 3; i++) recorder.normal(pod("a"), "Created", "made a machine");
  recorder.warning(pod("a"), "Failed", "no capacity");
  await recorder.flush();
  assert.deepEqual(
    events().map((e) => [e.metadata.namespace, e.type, e.reason, e.count, e.involvedObject.uid]),
    [
      ["x", "Normal", "Created", 3, "a"],
      ["x", "Warning", "Failed", 1, "a"],
    ],
  );
});

test("after the window, or when the object is gone, a new one begins", async () => {
  const { api, clock, recorder, events } = world();
  const again = async (): Promise<void> => {
    recorder.normal(pod("a"), "Waiting", "for a machine");
    await recorder.flush();
  };
  await again();
  await clock.run(9 * 60_000);
  await again();
  assert.equal(events()[0]?.count, 2);
  await clock.run(11 * 60_000);
  await again();
  assert.equal(events().length, 2);
  for (const key of [...api.objects.keys()]) api.remove(key);
  await again();
  assert.equal(events().length, 1);
});

test("ten messages of one reason stand on their own, more are combined, and none is lost", async () => {
  const { recorder, events } = world();
  for (let i = 1; i <= 100; i++) recorder.normal(pod("noisy"), "Tick", `number ${i}`);
  recorder.normal(pod("noisy"), "Tick", "number 3");
  await recorder.flush();
  const seen = events().map(({ message, count }) => [message, count]);
  assert.deepEqual(seen.slice(0, 3), [
    ["number 1", 1],
    ["number 2", 1],
    ["number 3", 2],
  ]);
  assert.deepEqual(seen.slice(9), [
    ["number 10", 1],
    ["(combined from similar events): number 100", 90],
  ]);
  assert.equal(recorder.dropped, 0);
});

test("a flood that goes on is cut and reported once a minute; other objects are still recorded", async () => {
  const { clock, recorder, events, warnings } = world();
  const tick = async (number: number): Promise<void> => {
    recorder.normal(pod("noisy"), "Tick", `number ${number}`);
    await Promise.resolve();
    await clock.run(1);
  };
  for (let i = 1; i <= 40; i++) await tick(i);
  recorder.normal(pod("calm"), "Created", "fine");
  assert.deepEqual(warnings, [{ component: "pool", dropped: 1 }]);
  await clock.run(60_000);
  await tick(41);
  assert.deepEqual(warnings[1], { component: "pool", dropped: 15 });
  await recorder.flush();
  assert.deepEqual(
    events()
      .slice(9)
      .map(({ message, count }) => [message, count]),
    [
      ["number 10", 1],
      ["(combined from similar events): number 25", 15],
      ["fine", 1],
    ],
  );
  assert.equal(recorder.dropped, 16);
});

test("events are written a few at a time, and one that happens again meanwhile is counted on the same object", async () => {
  const { api, recorder, events } = world();
  const gates: (() => void)[] = [];
  api.intercept = async () => {
    await new Promise<void>((open) => gates.push(open));
    return undefined as never;
  };
  for (let i = 1; i <= 40; i++) recorder.normal(pod(`p${i}`), "Ordered", "a machine");
  await setImmediate();
  assert.equal(gates.length, 16);
  recorder.normal(pod("p1"), "Ordered", "a machine");
  api.intercept = () => undefined;
  for (const open of gates) open();
  await recorder.flush();
  assert.equal(events().length, 40);
  assert.equal(events()[0]!.count, 2);
});

test("ten thousand events may wait", async () => {
  const { recorder, events } = world();
  for (let i = 1; i <= 10_001; i++) recorder.normal(pod(`p${i}`), "Ordered", "a machine");
  assert.equal(recorder.dropped, 1);
  await recorder.flush();
  assert.equal(events().length, 10_000);
});

test("an event that can't be written is dropped and counted, never thrown", async () => {
  const { api, recorder, events } = world();
  api.intercept = () => failure(403, "Forbidden", "no");
  recorder.normal(pod("a"), "Created", "x".repeat(5000));
  await recorder.flush();
  assert.equal(recorder.dropped, 1);
  api.intercept = () => undefined;
  recorder.normal(pod("b"), "Created", "x".repeat(5000));
  await recorder.flush();
  assert.equal(events()[0]?.message?.length, 1024);
});
