import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import type { Context } from "@slipway/kube";
import type { Instance, InstanceStatus } from "../../kinds/harvester/instance.ts";
import type { Fleet } from "../../machines/fleet.ts";
import { aMachine } from "../../machines/testing.ts";
import { jobOf, recordOf } from "./claimant.ts";
import type { Harvester } from "./harvester.ts";

const machine = aMachine({ claim: "u", phase: "building", providerState: "queued" });
const AT = "2026-01-01T00:00:00.000Z";
const pending = { attempt: 1, at: AT, state: "Pending", placement: 0 } as const;
const boot = { id: "b1", pass: 1, at: AT };

const instance = (resourceVersion: string, status: Partial<InstanceStatus>): Instance =>
  ({
    metadata: { name: "i", uid: "u", resourceVersion, generation: 1 },
    spec: { plan: "p" },
    status,
  }) as unknown as Instance;

/** The entry "bought", decided on version 1, while the server holds `stored`. */
async function buy(stored: Instance) {
  const writes: InstanceStatus[] = [];
  const client = {
    find: async () => stored,
    updateStatus: async (_: unknown, object: Instance) => {
      if (object.metadata.resourceVersion !== stored.metadata.resourceVersion)
        throw new Fault("Conflict", "Instance/i", "it was changed");
      writes.push(object.status!);
      return object;
    },
  };
  const clock = { now: () => 0, monotonic: () => 0 };
  const events = { normal: () => {}, warning: () => {} };
  const context = { client, clock, events, clean: <T>(v: T): T => v } as unknown as Context;
  const record = recordOf(context, instance("1", { purchase: pending, boot }));
  const { claimant } = jobOf({ pollMs: 1000 } as Harvester, context, { record, fleet: {} as Fleet });
  await claimant.write({ is: "bought", machine, provider: "equinix" });
  return writes;
}

test("H1 a machine that reports while its order is answered does not cost the answer", async () => {
  const install = { bootID: "b1", scriptFetched: AT };
  const [written, ...more] = await buy(instance("2", { purchase: pending, boot, install }));
  assert.equal(written!.instanceID, "m-1");
  assert.equal(written!.purchase!.state, "Done");
  assert.deepEqual(written!.install, install);
  assert.deepEqual(more, []);
});

test("H1 an answer is not written over a newer order, nor over a machine that stands there", async () => {
  const isConflict = (error: unknown) => isFault(error, "Conflict");
  await assert.rejects(buy(instance("2", { purchase: { ...pending, attempt: 2 }, boot })), isConflict);
  await assert.rejects(buy(instance("2", { purchase: pending, boot, instanceID: "m-0" })), isConflict);
  await assert.rejects(buy(instance("2", { purchase: pending, boot: { ...boot, id: "b2" } })), isConflict);
});
