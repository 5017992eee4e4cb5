import assert from "node:assert/strict";
import { test } from "node:test";
import { exemptionsOf, unneeded } from "./limit-list.ts";

const LINES = "complexity/noExcessiveLinesPerFunction";
const COMPLEXITY = "complexity/noExcessiveCognitiveComplexity";

test("each file of an override is exempt from the rules that the override turns off, and from no other", () => {
  const rules = { complexity: { noExcessiveLinesPerFunction: "off", useLiteralKeys: "error" } };
  assert.deepEqual(exemptionsOf({ overrides: [{ includes: ["a.ts", "b.ts"], linter: { rules } }] }), [
    { file: "a.ts", rule: LINES },
    { file: "b.ts", rule: LINES },
  ]);
  assert.deepEqual(exemptionsOf({}), []);
});

test("a file that exceeds one limit only is named for the other", () => {
  const listed = [
    { file: "a.ts", rule: LINES },
    { file: "a.ts", rule: COMPLEXITY },
  ];
  assert.deepEqual(unneeded(listed, [{ file: "a.ts", rule: COMPLEXITY }]), [{ file: "a.ts", rule: LINES }]);
});

test("a pattern is never needed, whatever exceeds a limit below it", () => {
  const listed = [{ file: "src/**", rule: LINES }];
  assert.deepEqual(unneeded(listed, [{ file: "src/a.ts", rule: LINES }]), listed);
});
