import assert from "node:assert/strict";
import { test } from "node:test";
import { setCondition } from "@slipway/kube";
import type { Node } from "@slipway/kube/core";
import type { Instance, InstanceSpec, InstanceStatus } from "../../kinds/harvester/instance.ts";
import { PoolPace } from "./pool-pace.ts";
import { releaseOf } from "./release-entry.ts";
import type { ReleaseStep } from "./release-plan.ts";
import { releaseStatus } from "./release-status.ts";

const NOW = Date.UTC(2026, 0, 1);
const AT = "2025-12-31T23:55:00.000Z";
const MINUTE = 60_000;
const node = { metadata: { name: "rack-a" } } as Node;
const instance = (status?: Partial<InstanceStatus>, spec: Partial<InstanceSpec> = {}): Instance =>
  ({ metadata: { name: "rack-a", generation: 3 }, spec, status }) as unknown as Instance;

function shown(
  step: ReleaseStep,
  { of = instance(), drained, now = NOW }: { of?: Instance; drained?: string; now?: number } = {},
) {
  const status = releaseStatus(of, { step, node, drained, now });
  const condition = (type: string) => status.conditions?.find((one) => one.type === type);
  const released = condition("Released");
  return {
    ...status,
    released: `${released?.status} ${released?.reason}: ${released?.message}`,
    ready: condition("Ready"),
  };
}

test("H6 each step of a release says what is waited for, since when", () => {
  const waits: [ReleaseStep, string][] = [
    [{ do: "look" }, "the answer to an order that may have bought a machine"],
    [{ do: "release" }, "the provider to take the machine back"],
    [{ do: "awaitGone" }, "the provider to take the machine back"],
    [{ do: "removeNode" }, "its Node to be removed"],
  ];
  for (const [step, what] of waits) {
    const status = shown(step);
    assert.deepEqual(
      [status.status, status.waitingFor, status.released],
      ["releasing", what, `False Releasing: waiting for ${what}`],
    );
    assert.equal(status.waitingSince, "2026-01-01T00:00:00.000Z");
  }
  const last = shown({ do: "finish" });
  assert.deepEqual([last.waitingFor, last.released], [undefined, "False Releasing: nothing of the machine is left"]);
  assert.deepEqual([last.ready?.status, last.ready?.reason, last.ready?.observedGeneration], ["False", "Deleting", 3]);
});

test("H8 a release that is held says why, and is not a drain that is stuck", () => {
  const status = shown({ do: "hold", reason: "Protected", message: "it is protected" });
  assert.deepEqual([status.released, status.waitingFor], ["False Protected: it is protected", "it is protected"]);
});

test("H6 a drain says which Pods it waits for and until when; after its time it is stuck, with the way out", () => {
  const step: ReleaseStep = { do: "drain", deadline: NOW + MINUTE };
  const begun = { release: { reason: "Deleted", at: AT } };
  const on = shown(step, { of: instance(begun), drained: "Pod a/b" });
  assert.deepEqual(
    [on.waitingFor, on.deadline, on.released],
    ["Pod a/b", "2026-01-01T00:01:00.000Z", "False Releasing: waiting for Pod a/b"],
  );
  const at = (minutes: number, drained: string) =>
    shown(step, { of: instance(begun), drained, now: Date.parse(AT) + minutes * MINUTE }).released;
  assert.equal(at(10, "Pod a/b"), "False Releasing: waiting for Pod a/b");
  assert.equal(
    at(11, "Pod a/b"),
    "False DrainStuck: Node rack-a is not drained: it waits for Pod a/b; end that, or set slipway.dev/force-delete",
  );
  assert.equal(at(11, "done"), "False Releasing: waiting for its Node to be drained");
  const own = instance(begun, { drain: { timeout: "20m" } });
  assert.match(
    shown(step, { of: own, drained: "Pod a/b", now: Date.parse(AT) + 11 * MINUTE }).released,
    /^False Releasing/,
  );
  assert.equal(shown({ do: "drain", deadline: undefined }, { drained: "Pod a/b" }).deadline, undefined);
});

test("H6 a drain that is done is remembered with the release, whose reason and time stay", () => {
  const done = shown(
    { do: "drain", deadline: undefined },
    { of: instance({ release: { reason: "Deleted", at: AT } }), drained: "done" },
  );
  assert.deepEqual(done.release, { reason: "Deleted", at: AT, drained: true });
  assert.equal(shown({ do: "look" }, { drained: "Pod" }).release?.drained, undefined);
});

test("a release begins with the reason of the loss, else as a deletion; what is known of it stays", () => {
  assert.deepEqual(releaseOf(instance(), NOW), { reason: "Deleted", at: "2026-01-01T00:00:00.000Z" });
  const failure = { reason: "JoinTimeout", message: "m", at: AT };
  assert.equal(releaseOf(instance({ failure }), NOW).reason, "JoinTimeout");
  const held = { reason: "Deleted", at: AT, drained: true, accepted: true };
  assert.deepEqual(releaseOf(instance({ failure, release: held }), NOW), held);
});

test("what stalled a release stays shown until it went through", () => {
  const update = { type: "Stalled", status: "True" as const, reason: "Throttled", message: "too many requests" };
  const status = {
    conditions: setCondition(undefined, update, NOW),
    waitingFor: "too many requests",
    waitingSince: AT,
  };
  const held = shown({ do: "release" }, { of: instance(status) });
  assert.deepEqual([held.waitingFor, held.waitingSince, held.deadline], ["too many requests", AT, undefined]);
  assert.equal(
    shown({ do: "awaitGone" }, { of: instance(status) }).waitingFor,
    "the provider to take the machine back",
  );
  assert.equal(
    shown({ do: "release" }, { of: instance({ ...status, conditions: [] }) }).waitingFor,
    "the provider to take the machine back",
  );
});

test("a pool is gone through at once, then at most four times a second, and a large one in proportion to its size", () => {
  const pace = new PoolPace();
  assert.equal(pace.restMs("a", 1_000), 0);
  pace.looked("a", 1_000, 10);
  assert.deepEqual([pace.restMs("a", 1_000), pace.restMs("a", 1_200), pace.restMs("a", 1_250)], [250, 50, 0]);
  pace.looked("b", 1_000, 10_000);
  assert.equal(pace.restMs("b", 1_000), 2_500);
  pace.forget("b");
  assert.equal(pace.restMs("b", 1_000), 0);
});
