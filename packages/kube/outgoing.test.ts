import assert from "node:assert/strict";
import { test } from "node:test";
import { Secrets } from "@slipway/base";
import { Event, Node, Secret } from "./core.ts";
import type { Resource } from "./object.ts";
import { outgoingBody } from "./outgoing.ts";

const SECRET = "correct-horse-battery";
const filter = new Secrets();
filter.add(SECRET);
const sent = (body: unknown, resource: Resource, subresource?: string): unknown =>
  outgoingBody(body, resource, subresource, filter);

test("a status leaves without secrets, and nothing else of the object is changed", () => {
  const body = {
    metadata: { name: SECRET },
    spec: { key: SECRET },
    status: { message: `it is ${SECRET}`, list: [SECRET] },
  };
  const status = { message: "it is [redacted]", list: ["[redacted]"] };
  assert.deepEqual(sent(body, Node, "status"), { ...body, status });
  assert.deepEqual(sent(body, Node), body);
  assert.deepEqual(sent(body, Node, "scale"), body);
  assert.deepEqual(sent({ metadata: {} }, Node, "status"), { metadata: {} });
});

test("an event leaves without secrets, whichever of its texts they are in", () => {
  const event = { metadata: { name: "e" }, reason: SECRET, message: SECRET, note: SECRET, type: "Normal" };
  const clean = { reason: "[redacted]", message: "[redacted]", note: "[redacted]" };
  assert.deepEqual(sent(event, Event), { ...event, ...clean });
});

test("what machines report of their hardware leaves without secrets", () => {
  const HardwareData = { ...Node, kind: "HardwareData" } as Resource;
  const body = { metadata: { name: "h" }, spec: { serial: SECRET }, status: { serial: SECRET } };
  const clean = { serial: "[redacted]" };
  assert.deepEqual(sent(body, HardwareData), { ...body, spec: clean, status: clean });
});

test("a Secret leaves as it is, and so does what is no object", () => {
  const body = { metadata: { name: "s" }, stringData: { key: SECRET } };
  assert.deepEqual(sent(body, Secret), body);
  const patch = [{ op: "add", path: "/status/message", value: "x" }];
  for (const other of [undefined, null, "text"]) assert.equal(sent(other, Node, "status"), other);
  assert.equal(sent(patch, Node, "status"), patch);
});
