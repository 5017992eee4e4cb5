import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { Context } from "@slipway/kube";
import { hardwareOf } from "../discovery/hardware.ts";
import { INVENTORY } from "../discovery/testing.ts";
import { describeHost, isDescribed, releaseHardware } from "./describe.ts";
import { factsOf } from "./testing.ts";

const hardware = hardwareOf(INVENTORY);
const METAL3 = "baremetalhost.metal3.io/hardwareData";

function world(held?: object, fault?: Fault) {
  const calls: [string, unknown][] = [];
  const note =
    (name: string) =>
    async (...args: unknown[]) => {
      calls.push([name, args.at(-1)]);
      if (fault !== undefined) throw fault;
    };
  const client = { create: note("create"), update: note("update"), patch: note("patch") };
  return { calls, context: { client, cache: { get: () => held } } as unknown as Context };
}
const { host } = factsOf("inspecting");

test("a host is described once it and its HardwareData say what the agent has reported", () => {
  const of = (status: object | undefined, data: object | undefined) =>
    isDescribed(
      factsOf("inspecting", { status: { hardware: status } }).host,
      INVENTORY,
      data && ({ spec: { hardware: data } } as never),
    );
  assert.equal(of(hardware, hardware), true);
  assert.equal(of(hardware, { ...hardware, ramMebibytes: 1 }), false);
  assert.equal(of({ ...hardware, ramMebibytes: 1 }, hardware), false);
  assert.deepEqual([of(undefined, hardware), of(hardware, undefined)], [false, false]);
  assert.equal(isDescribed(host, undefined, undefined), true);
});

test("HardwareData is made with its host as owner, and written only where it says something else", async () => {
  const made = world();
  await describeHost(host, hardware, made.context);
  const [[verb, draft]] = made.calls as [[string, { metadata: { ownerReferences: object[] }; spec: object }]];
  assert.deepEqual([verb, draft.spec], ["create", { hardware }]);
  assert.partialDeepStrictEqual(draft.metadata, {
    ...{ name: "node-1", namespace: "metal" },
    ownerReferences: [{ kind: "BareMetalHost", name: "node-1", uid: "uid-1" }],
  });
  const same = world({ metadata: { name: "node-1" }, spec: { hardware } });
  await describeHost(host, hardware, same.context);
  assert.deepEqual(same.calls, []);
  const other = world({ metadata: { name: "node-1", resourceVersion: "3" }, spec: { hardware: {} } });
  await describeHost(host, hardware, other.context);
  assert.deepEqual(other.calls, [
    ["update", { metadata: { name: "node-1", resourceVersion: "3" }, spec: { hardware } }],
  ]);
});

test("the finalizer of Metal3's operator is taken off HardwareData, and those of others stay", async () => {
  const held = { metadata: { finalizers: ["example.com/keep", METAL3], resourceVersion: "3" } };
  const { calls, context } = world(held);
  await releaseHardware(host, context);
  const body = { metadata: { finalizers: ["example.com/keep"], resourceVersion: "3" } };
  assert.deepEqual(calls, [["patch", { type: "merge", body }]]);
  for (const metadata of [{ finalizers: ["example.com/keep"] }, {}]) {
    const without = world({ metadata });
    await releaseHardware(host, without.context);
    assert.deepEqual(without.calls, []);
  }
  const none = world();
  await releaseHardware(host, none.context);
  assert.deepEqual(none.calls, []);
  await releaseHardware(host, world(held, new Fault("NotFound", "x", "gone")).context);
  await assert.rejects(releaseHardware(host, world(held, new Fault("Conflict", "x", "old")).context), /old/);
});
