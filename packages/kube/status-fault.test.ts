import assert from "node:assert/strict";
import { test } from "node:test";
import { failure } from "./fake-api.ts";
import { faultOf, forbiddenByBudget, watchFault } from "./status-fault.ts";

test("the API's reason decides what a failure is, and where it is strange the status of the answer", () => {
  const code = (status: number, reason: string) => faultOf(failure(status, reason, "m"), "Boat/a").code;
  assert.deepEqual(
    [code(410, "Expired"), code(504, "ServerTimeout"), code(500, "InternalError"), code(413, "RequestEntityTooLarge")],
    ["Gone", "Timeout", "Internal", "TooLarge"],
  );
  assert.deepEqual(
    [code(409, "Strange"), code(502, ""), code(500, "Strange"), code(599, ""), code(418, "")],
    ["Conflict", "Unavailable", "Internal", "Internal", "BadRequest"],
  );
});

test("a failure says what the API said, or with which status it answered", () => {
  const message = (body: unknown) => faultOf({ status: 503, headers: {}, body }, "Boat/a").message;
  assert.equal(message({ kind: "Status", message: "not now", code: 503 }), "Boat/a: not now");
  assert.equal(message("  a proxy's page "), "Boat/a: a proxy's page");
  assert.equal(message({ kind: "Page" }), "Boat/a: the API answered 503");
  assert.ok(message("x".repeat(5000)).length < 2100);
});

test("of a Secret's refusal only the fields are said, never the text, which may quote a value", () => {
  const causes = [{ field: "data.a" }, { message: "no field" }, { field: "data.b" }];
  const refusal = failure(422, "Invalid", "hunter22 is no value", { details: { causes } });
  const fault = faultOf(refusal, "Secret/default/s");
  assert.equal(fault.message, "Secret/default/s: the API answered 422 Invalid at data.a, data.b");
  assert.equal(fault.details, undefined);
  assert.equal(
    faultOf({ status: 500, headers: {}, body: "hunter22" }, "Secret/s").message,
    "Secret/s: the API answered 500",
  );
  assert.deepEqual(faultOf(refusal, "Boat/a").details, refusal.body);
});

test("how long to wait is in the header, else in the Status", () => {
  const wait = (headers: Record<string, string>, details: object = {}) =>
    faultOf(failure(429, "TooManyRequests", "m", { headers, details }), "Boat/a").retryAfterMs;
  assert.equal(wait({ "retry-after": "2" }, { retryAfterSeconds: 9 }), 2000);
  assert.equal(wait({ "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" }, { retryAfterSeconds: 9 }), 9000);
  assert.equal(wait({ "retry-after": "0" }), 0);
  assert.equal(wait({}, { retryAfterSeconds: 0 }), undefined);
  assert.equal(wait({}), undefined);
});

test("the faults of who may not, and of who is not known, say what to look at", () => {
  assert.match(faultOf(failure(401, "Unauthorized", "m"), "x").remedy!, /credentials/);
  assert.match(faultOf(failure(403, "Forbidden", "m"), "x").remedy!, /RBAC/);
  assert.equal(faultOf(failure(404, "NotFound", "m"), "x").remedy, undefined);
});

test("an eviction that a budget refuses is known from any other throttling", () => {
  const refused = (reason: string, status = 429) =>
    forbiddenByBudget(faultOf(failure(status, "TooManyRequests", "m", { details: { causes: [{ reason }] } }), "Pod/a"));
  assert.deepEqual([refused("DisruptionBudget"), refused("Other")], [true, false]);
  assert.equal(forbiddenByBudget(faultOf(failure(429, "TooManyRequests", "m"), "Pod/a")), false);
  const conflict = failure(409, "Conflict", "m", { details: { causes: [{ reason: "DisruptionBudget" }] } });
  assert.equal(forbiddenByBudget(faultOf(conflict, "Pod/a")), false);
});

test("an error event of a watch is the failure that it carries", () => {
  assert.equal(watchFault(failure(410, "Expired", "too old").body, "watch").code, "Gone");
  assert.equal(watchFault({ kind: "Status", status: "Failure", code: 410 }, "watch").code, "Gone");
  assert.equal(watchFault({}, "watch").code, "Internal");
});
