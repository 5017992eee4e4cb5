import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fault } from "@slipway/base";
import { cpuGrowth, MAX_GROWTH } from "@slipway/base/testing";
import fc from "fast-check";
import type { Body, ServedResource } from "../model/served.ts";
import { fieldSelector } from "./field-selector.ts";
import { labelSelector } from "./label-selector.ts";

const labels = { app: "web", tier: "2", "example.com/zone": "a" };

for (const [text, expected] of [
  ["", true],
  ["app=web", true],
  ["app==web, tier!=3", true],
  ["app!=web", false],
  ["missing!=x", true],
  ["app in (api, web)", true],
  ["app notin (web)", false],
  ["app in ()", false],
  ["app", true],
  ["!app", false],
  ["!missing", true],
  ["tier>1", true],
  ["tier<2", false],
  ["example.com/zone=a,app", true],
  ["app=", false],
] as const)
  test(`label selector ${JSON.stringify(text)} is ${expected}`, () =>
    assert.equal(labelSelector(text)(labels), expected));

for (const text of ["=a", "a in b", "a in (b", "a=b=c", "a,,b", "a>b", "(", "a b"])
  test(`label selector ${JSON.stringify(text)} is refused`, () =>
    assert.throws(() => labelSelector(text), /expected: |must be an integer/));

test("any text is either a selector or a BadRequest", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      try {
        labelSelector(text)({});
      } catch (error) {
        assert.equal((error as Fault).code, "BadRequest");
      }
    }),
  );
});

const resource = {
  selectableFields: { "spec.nodeName": (o: Body) => String(o.spec ?? "") },
} as unknown as ServedResource;
const object = { metadata: { name: "a", namespace: "n" }, spec: "x,y" } as unknown as Body;

test("field selectors compare what the resource offers", () => {
  assert.equal(fieldSelector("metadata.name=a,metadata.namespace==n", resource).match(object), true);
  assert.equal(fieldSelector("metadata.name!=a", resource).match(object), false);
  assert.equal(fieldSelector("spec.nodeName=x\\,y", resource).match(object), true);
  assert.throws(() => fieldSelector("spec.other=1", resource), /field label not supported: spec.other/);
  assert.throws(() => fieldSelector("nonsense", resource), /invalid selector/);
  assert.throws(() => fieldSelector("constructor=1", resource), /field label not supported/);
});

test("a comma behind a backslash stays in its term, even the last; one behind two backslashes ends it", () => {
  const x = (spec: string) => ({ ...object, spec }) as unknown as Body;
  assert.equal(fieldSelector("spec.nodeName=x\\,", resource).match(x("x,")), true);
  assert.equal(fieldSelector("spec.nodeName=x\\\\,metadata.name=a", resource).match(x("x\\")), true);
  assert.equal(fieldSelector(",,spec.nodeName=x,,", resource).match(x("x")), true);
  assert.throws(() => fieldSelector("spec.nodeName=x\\", resource), /invalid escape sequence: \\/);
});

const long: [what: string, text: (n: number) => string][] = [
  ["escaped backslashes", (n) => `spec.nodeName=${"\\\\".repeat(n)}`],
  ["commas", (n) => `spec.nodeName=${",".repeat(n)}`],
  ["escaped commas", (n) => `spec.nodeName=${"\\,".repeat(n)}`],
  ["fields", (n) => "spec.nodeName=a,".repeat(n)],
];
for (const [what, text] of long)
  test(`twice as many cost a field selector no more than 2.5 times the work: ${what}`, () => {
    const growth = cpuGrowth(
      (n) => {
        const selector = text(n);
        return () => fieldSelector(selector, resource).match(object);
      },
      1_000,
      500_000,
    );
    assert.ok(growth <= MAX_GROWTH, growth.toFixed(2));
  });

const longLabels: [what: string, text: (n: number) => string][] = [
  ["requirements", (n) => "app=web,".repeat(n).slice(0, -1)],
  ["values", (n) => `app in (${Array.from({ length: n }, (_, i) => `v${i}`).join(",")})`],
  ["empty values", (n) => `app in (${",".repeat(n)})`],
  ["wrong values", (n) => `app in (${Array.from({ length: n }, (_, i) => `-${i}`).join(",")})`],
  ["exclamation marks", (n) => "!".repeat(n)],
  ["spaces", (n) => `app${" ".repeat(n)}=web`],
  ["letters of a key", (n) => "a".repeat(n)],
];
for (const [what, text] of longLabels)
  test(`twice as many cost a label selector no more than 2.5 times the work: ${what}`, () => {
    const growth = cpuGrowth(
      (n) => {
        const selector = text(n);
        return () => {
          try {
            labelSelector(selector)(labels);
          } catch (error) {
            assert.equal((error as Fault).code, "BadRequest");
          }
        };
      },
      1_000,
      500_000,
    );
    assert.ok(growth <= MAX_GROWTH, growth.toFixed(2));
  });
