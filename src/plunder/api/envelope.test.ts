import assert from "node:assert/strict";
import { test } from "node:test";
import { type Code, Fault } from "@slipway/base";
import { enveloped, native } from "./envelope.ts";

const bodyOf = ({ body }: ReturnType<typeof native>): unknown => JSON.parse(String(body));

for (const [code, status] of [
  ["NotFound", 404],
  ["AlreadyExists", 409],
  ["Conflict", 409],
  ["Refused", 409],
  ["Forbidden", 403],
  ["Invalid", 400],
  ["MissingInput", 400],
  ["Unsupported", 400],
  ["MethodNotAllowed", 405],
  ["TooLarge", 413],
  ["Throttled", 429],
  ["Unavailable", 503],
] as const satisfies readonly (readonly [Code, number])[])
  test(`N9 what is refused as ${code} is ${status} to clients of today, and 200 with the reason to plunder's`, () => {
    const error = new Fault(code, "x", "why", { remedy: "do it" });
    const answer = native({ error });
    assert.equal(answer.status, status);
    assert.deepEqual(bodyOf(answer), { code, message: error.advice });
    const dressed = enveloped({ error });
    const { advice } = error;
    assert.deepEqual(
      [dressed.status, bodyOf(dressed)],
      [200, { warning: advice, friendlyError: advice, error: advice }],
    );
  });

test("N9 of a defect nothing is told", () => {
  for (const error of [new Error("/etc/secret"), new Fault("Internal", "x", "/etc/secret")]) {
    const answer = native({ error });
    assert.deepEqual([answer.status, (bodyOf(answer) as { message: string }).message], [500, "internal error"]);
    assert.doesNotMatch(String(enveloped({ error }).body), /secret/);
  }
});

test("N9 a warning is beside what was asked for, in a header of its own or in the envelope, and adds no other header", () => {
  const told = { payload: [1], warning: 'a "b"\r\nset-cookie: c\u00fc' };
  const answer = native(told);
  assert.deepEqual([answer.status, bodyOf(answer)], [200, [1]]);
  const { warning } = answer.headers as { warning: string };
  assert.match(warning, /^299 slipway "[\x20-\x21\x23-\x7e]*"$/);
  assert.ok(native({ warning: "x".repeat(5_000) }).headers!.warning!.length < 1_100);
  assert.deepEqual(bodyOf(enveloped(told)), { warning: told.warning, success: "true", payload: [1] });
  assert.deepEqual([bodyOf(native({})), bodyOf(enveloped({}))], [{}, { success: "true" }]);
  assert.equal((native({}).headers as { warning?: string }).warning, undefined);
});
