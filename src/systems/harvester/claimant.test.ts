import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
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

interface Operation {
  op: string;
  path: string;
  value?: unknown;
}

/** An Instance's claimant that decides on version 1, while the server holds `stored`; and what it wrote. */
function claimantOf(decidedOn: Partial<InstanceStatus>, stored: Instance) {
  const writes: InstanceStatus[] = [];
  const client = {
    find: async () => stored,
    updateStatus: async (_: unknown, object: Instance) => {
      writes.push(object.status!);
      return object;
    },
    patch: async (_: unknown, __: unknown, { body }: { body: Operation[] }) => {
      const status = structuredClone(stored.status) as unknown as Record<string, unknown>;
      const at = (path: string): unknown =>
        path
          .split("/")
          .slice(1)
          .reduce<unknown>((held, name) => (held as Record<string, unknown> | undefined)?.[name], stored);
      for (const { op, path, value } of body) {
        if (op !== "test") status[path.slice("/status/".length)] = value;
        else if (!isDeepStrictEqual(at(path), value))
          throw new Fault("Invalid", "Instance/i", `testing ${path} failed`);
      }
      writes.push(status as unknown as InstanceStatus);
      return { ...stored, status };
    },
  };
  const clock = { now: () => 0, monotonic: () => 0 };
  const events = { normal: () => {}, warning: () => {} };
  const context = { client, clock, events, clean: <T>(v: T): T => v } as unknown as Context;
  const record = recordOf(context, instance("1", decidedOn));
  const { claimant } = jobOf({ pollMs: 1000 } as Harvester, context, { record, fleet: {} as Fleet });
  return { claimant, writes };
}

async function buy(stored: Instance) {
  const { claimant, writes } = claimantOf({ purchase: pending, boot }, stored);
  await claimant.write({ is: "bought", machine, provider: "equinix" });
  return writes;
}

test("H1 a machine that reports while its order is answered neither costs the answer nor a second write", async () => {
  const install = { bootID: "b1", scriptFetched: AT };
  const [written, ...more] = await buy(instance("2", { purchase: pending, boot, install }));
  assert.equal(written!.instanceID, "m-1");
  assert.equal(written!.purchase!.state, "Done");
  assert.deepEqual(written!.install, install);
  assert.deepEqual(more, []);
});

test("a boot is announced with the place for its signals, which are kept for a boot that is announced again", async () => {
  const ordering = { is: "ordering", purchase: pending, boot: { id: "b1", pass: 1, at: 0, sent: false } } as const;
  const write = async (install: object) => {
    const { claimant, writes } = claimantOf({ install }, instance("1", {}));
    await claimant.write({ ...ordering, purchase: { ...pending, at: 0 } });
    return writes[0]!.install;
  };
  assert.deepEqual(await write({ bootID: "b0", failed: AT }), { bootID: "b1" });
  assert.deepEqual(await write({ bootID: "b1", scriptFetched: AT }), { bootID: "b1", scriptFetched: AT });
});

test("H1 an answer is not written over a newer order, nor over a machine that stands there", async () => {
  const isConflict = (error: unknown) => isFault(error, "Conflict");
  await assert.rejects(buy(instance("2", { purchase: { ...pending, attempt: 2 }, boot })), isConflict);
  const done = { ...pending, state: "Done" } as const;
  await assert.rejects(buy(instance("2", { purchase: done, boot, instanceID: "m-0" })), isConflict);
  await assert.rejects(buy(instance("2", { purchase: pending, boot: { ...boot, id: "b2" } })), isConflict);
});
