import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, quietLog } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { Cache, Client } from "@slipway/kube";
import type { BootSignal } from "../../bootstrap/boot-record.ts";
import type { Instance } from "../../kinds/harvester/instance.ts";
import { bootedInstances } from "./boot-signals.ts";

const instance = (bootID: string, install?: object, resourceVersion = "1"): Instance =>
  ({
    metadata: { name: "i", uid: "u", resourceVersion },
    status: { boot: { id: bootID, pass: 1, at: "" }, ...(install && { install }) },
  }) as unknown as Instance;
const signal = (kind: BootSignal["kind"]): BootSignal => ({ kind, at: 0, remote: "", bootId: "b1" });

/** A cache that has one state, and a server that has another; the first `refusals` patches are refused as made on the past. */
async function tell(of: { cached?: Instance; stored?: Instance; signal: BootSignal; refusals?: Fault[] }) {
  const calls: unknown[] = [];
  const refusals = [...(of.refusals ?? [])];
  const client = {
    find: async () => {
      calls.push("read");
      return of.stored;
    },
    patch: async (_: unknown, __: unknown, patch: unknown) => {
      calls.push(patch);
      const refusal = refusals.shift();
      if (refusal !== undefined) throw refusal;
    },
  } as unknown as Client;
  const cache = { get: () => of.cached } as unknown as Cache;
  const clock = new VirtualClock();
  const instances = bootedInstances(client, cache, { clock, log: quietLog });
  await instances.tell({ group: "", kind: "Instance", name: "i" }, of.signal);
  await clock.run(2_000);
  return calls;
}

const STARTED = {
  type: "json",
  body: [
    { op: "test", path: "/status/boot/id", value: "b1" },
    { op: "test", path: "/status/install/bootID", value: "b1" },
    { op: "add", path: "/status/install/started", value: "1970-01-01T00:00:00.000Z" },
  ],
};

test("a signal costs one guarded write, also where the cache does not know its boot yet", async () => {
  const cached = instance("b1", { bootID: "b1" });
  assert.deepEqual(await tell({ cached, signal: signal("started") }), [STARTED]);
  assert.deepEqual(await tell({ signal: signal("started") }), [STARTED]);
  assert.deepEqual(await tell({ cached: instance("b0"), signal: signal("started") }), [STARTED]);
});

test("the first signal of a boot that was announced without a place for it is guarded by the object's version and removes what an earlier boot reported", async () => {
  const [patch] = await tell({ cached: instance("b1", { bootID: "b0", failed: "x" }), signal: signal("started") });
  const { body } = patch as { body: { metadata: object; status: { install: Record<string, unknown> } } };
  assert.deepEqual(body.metadata, { resourceVersion: "1" });
  assert.equal(body.status.install.failed, null);
  assert.equal(body.status.install.bootID, "b1");
});

test("a cache that is behind loses no signal: the object is read, and what stands there stays", async () => {
  const calls = await tell({
    cached: instance("b1"),
    stored: instance("b1", { bootID: "b1", scriptFetched: "x" }, "2"),
    signal: signal("configFetched"),
    refusals: [new Fault("Conflict", "Instance/i", "it was changed")],
  });
  assert.equal(calls[1], "read");
  assert.equal((calls[2] as { type: string }).type, "json");
});

test("a signal of a boot that was replaced is not written", async () => {
  const refusals = [new Fault("Invalid", "Instance/i", "testing value /status/boot/id failed")];
  const replaced = { stored: instance("b2"), signal: signal("started"), refusals };
  assert.deepEqual(await tell({ cached: instance("b2"), ...replaced }), [STARTED, "read"]);
  assert.deepEqual(await tell({ cached: instance("b1", { bootID: "b1" }), ...replaced }), [STARTED, "read"]);
});

test("only the first fetch of a script is written", async () => {
  const cached = instance("b1", { bootID: "b1", scriptFetched: "x" });
  assert.deepEqual(await tell({ cached, signal: signal("scriptFetched") }), []);
});

test("signals that were gathered are one guarded write", async () => {
  const calls: unknown[] = [];
  const client = {
    patch: async (_: unknown, __: unknown, patch: unknown) => void calls.push(patch),
  } as unknown as Client;
  const cache = { get: () => instance("b1", { bootID: "b1" }) } as unknown as Cache;
  const instances = bootedInstances(client, cache, { clock: new VirtualClock(), log: quietLog });
  for (const kind of ["configFetched", "started", "succeeded"] as const)
    await instances.tell({ group: "", kind: "Instance", name: "i" }, { ...signal(kind), message: `${kind} it` });
  const at = "1970-01-01T00:00:00.000Z";
  assert.deepEqual(calls, [
    {
      type: "json",
      body: [
        ...STARTED.body.slice(0, 2),
        { op: "add", path: "/status/install/configFetched", value: at },
        { op: "add", path: "/status/install/message", value: "configFetched it" },
        { op: "add", path: "/status/install/started", value: at },
        { op: "add", path: "/status/install/message", value: "started it" },
        { op: "add", path: "/status/install/succeeded", value: at },
        { op: "add", path: "/status/install/message", value: "succeeded it" },
      ],
    },
  ]);
});
