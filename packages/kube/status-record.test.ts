import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import type { Client } from "./client.ts";
import type { KubeObject, Resource } from "./object.ts";
import { StatusRecord } from "./status-record.ts";

interface Thing extends KubeObject {
  status?: { step?: string; wait?: string };
}
const Things: Resource<Thing> = { group: "test", version: "v1", kind: "Thing", plural: "things", namespaced: false };

const thing = (resourceVersion: string, status?: NonNullable<Thing["status"]>): Thing => ({
  apiVersion: "test/v1",
  kind: "Thing",
  metadata: { name: "a", uid: "u", resourceVersion, creationTimestamp: "" },
  ...(status && { status }),
});

/** A server with one thing, and what was written to it. */
function server(stored: Thing) {
  const writes: Thing["status"][] = [];
  const at = { stored: stored as Thing | undefined, writes };
  const client = {
    find: async () => at.stored,
    updateStatus: async (_: unknown, object: Thing) => {
      if (object.metadata.resourceVersion !== at.stored?.metadata.resourceVersion)
        throw new Fault("Conflict", "Thing/a", "it was changed");
      writes.push(object.status);
      at.stored = thing(String(Number(object.metadata.resourceVersion) + 1), object.status!);
      return at.stored;
    },
  } as unknown as Client;
  return { at, context: { client, clean: <T>(value: T): T => value } };
}

test("what was noted goes out with the next write, in one request", async () => {
  const { at, context } = server(thing("1", { wait: "x" }));
  const record = new StatusRecord(context, Things, at.stored!);
  record.note({ wait: undefined });
  await record.write({ step: "order" });
  assert.deepEqual(at.writes, [{ step: "order" }]);
});

test("after a write the record has the object as the server has it, and nothing more to write", async () => {
  const { at, context } = server(thing("1"));
  const record = new StatusRecord(context, Things, at.stored!);
  await record.write({ step: "order" });
  assert.equal(record.object, at.stored);
  await record.write();
  assert.equal(at.writes.length, 1);
});

test("a write that changes nothing is not sent", async () => {
  const { at, context } = server(thing("1", { step: "order" }));
  const record = new StatusRecord(context, Things, at.stored!);
  await record.write({ step: "order", wait: undefined });
  await record.write();
  assert.deepEqual(at.writes, []);
});

test("a status that is decided once more is compared by what is known to be clean; what is a secret by now still leaves it", async () => {
  const { at, context } = server(thing("1", { step: "order", wait: "for hunter22" }));
  let cleaned = 0;
  let isClean = true;
  const counted = {
    ...context,
    clean<T>(value: T): T {
      cleaned++;
      return JSON.parse(JSON.stringify(value).replaceAll("hunter22", "[redacted]"));
    },
    isClean: () => isClean,
  };
  const again = () => new StatusRecord(counted, Things, at.stored!).write({ step: "order" });
  assert.equal(await again(), at.stored);
  assert.deepEqual([cleaned, at.writes], [0, []]);
  isClean = false;
  await again();
  assert.deepEqual([cleaned, at.writes], [1, [{ step: "order", wait: "for [redacted]" }]]);
});

/** A server that takes JSON patches, and the operations that came. */
function patched(before: Thing) {
  const operations: unknown[] = [];
  const client = {
    patch: async (_: unknown, __: unknown, { body }: { body: unknown[] }, { subresource }: { subresource: string }) => {
      operations.push(subresource, ...body);
      return before;
    },
  } as unknown as Client;
  return { operations, record: new StatusRecord({ client, clean: (value) => value }, Things, before) };
}

const UID = { op: "test", path: "/metadata/uid", value: "u" };

test("a write beside others carries its guards and the fields that changed, and no version", async () => {
  const { operations, record } = patched(thing("1", { step: "a", wait: "x" }));
  record.note({ step: "b", wait: undefined });
  await record.writeBeside({ "/status/step": "a" });
  assert.deepEqual(operations, [
    "status",
    UID,
    { op: "test", path: "/status/step", value: "a" },
    { op: "add", path: "/status/step", value: "b" },
    { op: "remove", path: "/status/wait" },
  ]);
});

test("a write beside others touches no field that stays, and makes a status where there is none", async () => {
  const same = patched(thing("1", { step: "a", wait: "x" }));
  same.record.note({ step: "a", wait: "y" });
  await same.record.writeBeside({});
  assert.deepEqual(same.operations, ["status", UID, { op: "add", path: "/status/wait", value: "y" }]);
  const none = patched(thing("1"));
  none.record.note({ step: "a" });
  await none.record.writeBeside({});
  assert.deepEqual(none.operations, ["status", UID, { op: "add", path: "/status", value: { step: "a" } }]);
});

test("a decision on an old object ends in a Conflict", async () => {
  const { at, context } = server(thing("2"));
  const record = new StatusRecord(context, Things, thing("1"));
  await assert.rejects(record.write({ step: "order" }), (error) => isFault(error, "Conflict"));
  assert.deepEqual(at.writes, []);
});

test("what was noted survives a reread only where nobody wrote meanwhile", async () => {
  const { at, context } = server(thing("1"));
  const record = new StatusRecord(context, Things, at.stored!);
  record.note({ step: "order" });
  assert.equal(await record.reread(), true);
  assert.deepEqual(record.object.status, { step: "order" });
  at.stored = thing("2", { wait: "y" });
  assert.equal(await record.reread(), true);
  assert.deepEqual(record.object.status, { wait: "y" });
  await record.write({ wait: "y" });
  assert.deepEqual(at.writes, [], "the server has it already");
  at.stored = undefined;
  assert.equal(await record.reread(), false);
});

test("each write is reported with the object as it was and as it is", async () => {
  const { at, context } = server(thing("1", { step: "a" }));
  const seen: unknown[] = [];
  const record = new StatusRecord(context, Things, at.stored!, (before, after) =>
    seen.push([before.status?.step, after.status?.step]),
  );
  record.note({ step: "b" });
  await record.write();
  await record.write({ step: "c" });
  assert.deepEqual(seen, [
    ["a", "b"],
    ["b", "c"],
  ]);
});
