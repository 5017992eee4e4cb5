import assert from "node:assert/strict";
import { test } from "node:test";
import { json, plain } from "@slipway/base";
import { BUSY, messagesOf, refusal } from "./refusal.ts";

const told = (...ids: string[]): object => ({
  error: {
    code: "Base.1.8.GeneralError",
    message: "General.",
    "@Message.ExtendedInfo": ids.map((MessageId) => ({ MessageId, Message: `It is ${MessageId}.` })),
  },
});

test("an error status becomes the code that says what can be done", () => {
  for (const [status, id, code] of [
    [400, "Base.1.8.PropertyNotWritable", "Unsupported"],
    [400, "Base.1.8.InvalidOperationForSystemState", "Unavailable"],
    [401, "Base.1.8.NoValidSession", "BadCredentials"],
    [403, "Base.1.8.InsufficientPrivilege", "BadCredentials"],
    [404, "Base.1.8.ResourceMissingAtURI", "NotFound"],
    [405, "Base.1.8.ActionNotSupported", "Unsupported"],
    [409, "Base.1.8.ResourceInUse", "Unavailable"],
    [410, "Base.1.8.ResourceMissingAtURI", "NotFound"],
    [429, "Base.1.8.X", "Throttled"],
    [501, "Base.1.8.ActionNotSupported", "Unsupported"],
  ] as const)
    assert.equal(refusal("https://bmc", "PATCH /x", json(status, told(id))).code, code, `${status} ${id}`);
  for (const status of BUSY)
    if (status !== 429) assert.equal(refusal("https://bmc", "GET /x", plain(status, "")).code, "Unavailable");
  assert.deepEqual([...BUSY], [408, 429, 500, 502, 503, 504]);
});

test("a refusal repeats what the BMC says, in bounds, and how long it wants to be left alone", () => {
  const fault = refusal(
    "https://bmc",
    "PATCH /x",
    json(503, told("A.1.0.Busy", "A.1.0.Later"), { "retry-after": "7" }),
  );
  assert.equal(fault.message, "https://bmc: PATCH /x: the BMC answered 503 (It is A.1.0.Busy. It is A.1.0.Later.)");
  assert.equal(fault.retryAfterMs, 7_000);
  assert.equal(refusal("b", "GET /x", plain(400, "<html>")).message, "b: GET /x: the BMC answered 400");
  assert.ok(refusal("b", "GET /x", json(400, { error: { message: "x".repeat(5_000) } })).message.length < 400);
  assert.deepEqual(messagesOf(json(400, told("A.1.0.Busy"))).ids, ["Busy", "GeneralError"]);
});
