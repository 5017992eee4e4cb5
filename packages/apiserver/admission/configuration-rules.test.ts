import assert from "node:assert/strict";
import { test } from "node:test";
import type { Body } from "../model/served.ts";
import { configurationErrors } from "./configuration-rules.ts";
import { conditionsHold } from "./match-conditions.ts";

const RULE = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };
const HOOK = {
  name: "a.example.com",
  clientConfig: { url: "https://a" },
  rules: [RULE],
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
};
const configuration = (...webhooks: object[]): Body => ({ metadata: { name: "c" }, webhooks }) as never;
const shown = (body: Body, old?: Body): string[] =>
  configurationErrors(body, old).map(({ field, message }) => `${field}: ${message}`);

test("a complete webhook is fine, and a null says as much as nothing", () => {
  assert.deepEqual(shown(configuration(HOOK)), []);
  assert.deepEqual(shown(configuration({ ...HOOK, sideEffects: null })), [
    "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
  ]);
});

const refused: [what: string, hook: object, error: RegExp][] = [
  [
    "a name of two parts",
    { name: "example.com" },
    /name: Invalid value: "example\.com": should be a domain with at least three segments/,
  ],
  ["no name", { name: undefined }, /name: Required value/],
  [
    "side effects",
    { sideEffects: "Some" },
    /sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"/,
  ],
  [
    "a long timeout",
    { timeoutSeconds: 31 },
    /timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds/,
  ],
  [
    "both addresses",
    { clientConfig: { url: "https://a", service: {} } },
    /clientConfig: Required value: exactly one of url or service/,
  ],
  [
    "a wildcard beside others",
    { rules: [{ ...RULE, apiGroups: ["*", "a"] }] },
    /apiGroups: Invalid value: \["\*","a"\]: if '\*' is present/,
  ],
  [
    "subresources said twice",
    { rules: [{ ...RULE, resources: ["a/*", "a/b"] }] },
    /resources\[1\]: Invalid value: "a\/b": if 'a\/\*' is present, must not specify a\/b/,
  ],
  [
    "an expression that does not compile",
    { matchConditions: [{ name: "x", expression: "nowhere" }] },
    /expression: Invalid value: "nowhere": compilation failed: ERROR: <input>:1:1: undeclared reference to 'nowhere'/,
  ],
  [
    "the authorizer, which is not offered",
    { matchConditions: [{ name: "x", expression: "authorizer != null" }] },
    /undeclared reference to 'authorizer'/,
  ],
  [
    "an expression of another type",
    { matchConditions: [{ name: "x", expression: "1" }] },
    /must evaluate to bool but got int/,
  ],
];
for (const [what, more, error] of refused)
  test(`a webhook is refused for ${what}`, () => {
    const [first, ...others] = shown(configuration({ ...HOOK, ...more }));
    assert.match(first ?? "", error);
    assert.deepEqual(others, []);
  });

test("what was stored when less was asked may stay so", () => {
  const old = configuration({ ...HOOK, sideEffects: "Some", admissionReviewVersions: ["v2"] });
  assert.deepEqual(shown(old, old), []);
  assert.equal(shown(old, configuration(HOOK)).length, 2);
});

const seen = { object: { n: 1, labels: { a: "b" } }, oldObject: null, request: { operation: "CREATE" } };
const cases: [expressions: string[], policy: "Fail" | "Ignore", held: unknown][] = [
  [["object.labels.a == 'b'", "request.operation == 'CREATE'", "oldObject == null"], "Fail", true],
  [["object.n == 2"], "Fail", false],
  [["object.absent == 1", "false"], "Fail", false],
  [["object.absent == 1"], "Ignore", false],
  [
    ["object.absent == 1"],
    "Fail",
    { failed: "expression 'object.absent == 1' resulted in error: no such key: absent" },
  ],
];
for (const [expressions, failurePolicy, held] of cases)
  test(`match conditions ${JSON.stringify(expressions)} under ${failurePolicy}: ${JSON.stringify(held)}`, () => {
    const matchConditions = expressions.map((expression, i) => ({ name: `c${i}`, expression }));
    assert.deepEqual(conditionsHold({ failurePolicy, matchConditions } as never, seen), held);
  });

test("conditions that would run for long are stopped", () => {
  const n = Array.from({ length: 300 }, (_, i) => i);
  const expression = "object.n.all(a, object.n.all(b, object.n.all(c, a + b + c >= 0)))";
  const hook = { failurePolicy: "Fail", matchConditions: [{ name: "x", expression }] } as never;
  assert.match(JSON.stringify(conditionsHold(hook, { ...seen, object: { n } })), /actual cost limit exceeded/);
  assert.equal(conditionsHold(hook, { ...seen, object: { n: [1, 2] } }), true);
});
