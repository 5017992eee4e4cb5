import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { MAX_BODY_BYTES } from "../model/body-limits.ts";
import type { FaceRequest, FaceResponse } from "./exchange.ts";
import { pendingBody } from "./pending-body.ts";

class Client extends EventEmitter {
  method = "POST";
  headers: Record<string, string>;
  isPaused = false;

  constructor(headers: Record<string, string> = {}) {
    super();
    this.headers = headers;
  }

  pause(): void {
    this.isPaused = true;
  }

  send(...parts: (string | Buffer)[]): void {
    for (const part of parts) this.emit("data", Buffer.from(part));
  }
}

function begin(client: Client, { waits = false, refuse = false } = {}) {
  const clock = new VirtualClock();
  const taken: number[] = [];
  let continued = 0;
  const response = { writeContinue: () => continued++ } as unknown as FaceResponse;
  const pending = pendingBody(client as unknown as FaceRequest, response, { clock, bodyMs: 60_000, waits });
  const body = pending?.read((bytes) => {
    if (refuse) throw new Error("no room");
    taken.push(bytes);
  });
  body?.catch(() => {});
  return { clock, taken, body, continued: () => continued };
}

test("a body of known length takes its room before the first byte, one of unknown length as it comes", async () => {
  const known = new Client({ "content-length": "6" });
  const one = begin(known);
  assert.deepEqual(one.taken, [6]);
  known.send("abc", "def");
  known.emit("end");
  assert.equal(await one.body, "abcdef");
  assert.deepEqual(one.taken, [6]);

  const unknown = new Client();
  const other = begin(unknown);
  unknown.send("abc", "de");
  unknown.emit("end");
  assert.equal(await other.body, "abcde");
  assert.deepEqual(other.taken, [0, 3, 2]);
  assert.equal(one.clock.pending + other.clock.pending, 0);
});

test("a body that is too large is refused: by its length before a byte is read, else at the byte that is too many", async () => {
  const announced = begin(new Client({ "content-length": String(MAX_BODY_BYTES + 1) }), { waits: true });
  await assert.rejects(announced.body!, /too large/);
  assert.deepEqual([announced.taken, announced.continued()], [[], 0]);

  const growing = new Client();
  const { body } = begin(growing);
  growing.send(Buffer.alloc(MAX_BODY_BYTES));
  assert.equal(growing.isPaused, false);
  growing.send("x");
  growing.emit("end");
  await assert.rejects(body!, /too large/);
  assert.equal(growing.isPaused, true);
});

test("a client that asks before it sends is asked to go on once its body has room, and only then", async () => {
  const full = begin(new Client({ "content-length": "1" }), { waits: true, refuse: true });
  await assert.rejects(full.body!, /no room/);
  assert.equal(full.continued(), 0);
  assert.equal(begin(new Client({ "content-length": "1" }), { waits: true }).continued(), 1);
  assert.equal(begin(new Client({ "content-length": "1" })).continued(), 0);
});

test("a body that takes too long, and a client that closes early, are given up", async () => {
  const slow = begin(new Client());
  await slow.clock.run(59_999);
  assert.equal(slow.clock.pending, 1);
  await slow.clock.run(1);
  await assert.rejects(slow.body!, (error) => isFault(error, "Timeout"));
  for (const event of ["close", "error"]) {
    const client = new Client();
    const { body, clock } = begin(client);
    client.send("abc");
    client.emit(event);
    await assert.rejects(
      body!,
      (error) => isFault(error, "Unavailable") && /closed the connection/.test(error.message),
    );
    assert.equal(clock.pending, 0);
  }
});

test("protobuf comes as bytes, all else as text, and a request that only reads has no body", async () => {
  const protobuf = new Client({ "content-type": "application/vnd.kubernetes.protobuf" });
  const { body } = begin(protobuf);
  protobuf.send("k8s\0");
  protobuf.emit("end");
  assert.deepEqual(await body, Buffer.from("k8s\0"));
  for (const method of ["GET", "HEAD"]) assert.equal(begin(Object.assign(new Client(), { method })).body, undefined);
});
