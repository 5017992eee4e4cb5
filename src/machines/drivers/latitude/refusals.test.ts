import assert from "node:assert/strict";
import { test } from "node:test";
import type { Code } from "@slipway/base";
import { refusal, refusalsIn } from "./refusals.ts";

test("a refusal's words decide what it means", () => {
  const cases: [string, string, Code][] = [
    ["INSUFFICIENT_STOCK", "No stock available of plan", "NoCapacity"],
    ["", "plan c3-small-x86 is not available in DAL", "NoCapacity"],
    ["", "You have reached the limit: server limit exceeded", "NoCapacity"],
    ["SERVER_BEING_PROVISIONED", "Server is being provisioned", "Unavailable"],
    ["SERVER_IN_RESCUE_MODE", "Server is in rescue mode and cannot be reinstalled", "Unavailable"],
    ["", "Server is locked", "Locked"],
    ["ALREADY_ASSIGNED", "Server is already assigned", "AlreadyConfigured"],
    ["REINSTALL_UNAVAILABLE", "Your server has outdated hardware information and is unable to reinstall", "Invalid"],
    ["", "hostname can't be blank", "Invalid"],
    ["", "user data is blocked", "Invalid"],
  ];
  for (const [code, text, expected] of cases)
    assert.equal(refusal("server a", 422, [{ code, text }]).code, expected, text);
});

test("the API's words are kept for the user, bounded", () => {
  const body = JSON.stringify({
    errors: [
      { code: "NAME", detail: "is already taken", source: { pointer: "/data/attributes/name" } },
      { message: "second" },
      null,
    ],
  });

  assert.deepEqual(refusalsIn(body), [
    { code: "NAME", text: "name is already taken" },
    { code: "", text: "second" },
    { code: "", text: "" },
  ]);
  const long = refusalsIn(JSON.stringify({ errors: Array.from({ length: 50 }, () => ({ detail: "x".repeat(9999) })) }));
  assert.deepEqual([long.length, long[0]?.text.length], [5, 300]);
});

test("an error body of another shape has no reasons, and the fault says so", () => {
  for (const body of ["", "<html>", "null", "[]", '{"errors":"x"}', '{"error":1}'])
    assert.deepEqual(refusalsIn(body), []);
  assert.equal(refusal("server a", 400, []).message, "server a: the API refused with 400: without a reason");
});
