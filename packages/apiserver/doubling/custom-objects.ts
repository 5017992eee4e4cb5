import type { ApiRequest } from "@slipway/kube";
import { DEFINITIONS, WIDGETS, widgets } from "../testing.ts";
import { post } from "./built-in-objects.ts";
import { type Doubling, repeated } from "./doubling.ts";

const defined = (spec: object, more: object = {}): ApiRequest => ({
  method: "POST",
  path: DEFINITIONS,
  body: {
    ...widgets,
    spec: {
      ...widgets.spec,
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: spec } } } },
          ...more,
        },
      ],
    },
  },
});
const WIDGET = { path: WIDGETS, apiVersion: "example.com/v1", kind: "Widget" };
const widget = (run: number, spec: string): ApiRequest => post(WIDGET, run, `"spec":{${spec}}`);
const list = (items: object, more: object = {}): object => ({ type: "array", items, ...more });
const text = { type: "string" };
const item = { type: "object", required: ["name"], properties: { name: text, size: { type: "integer", default: 1 } } };
const mapOf = (items: object): object =>
  list(items, { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] });
const setOf = (items: object): object => list(items, { "x-kubernetes-list-type": "set" });

/** Objects of defined kinds, by what their schema says. */
export const customObjects: readonly Doubling[] = [
  {
    name: "items that are identified by key",
    n: 6_000,
    given: () => [defined({ l: mapOf(item) })],
    request: (n, run) => widget(run, `"l":[${repeated(n, (i) => `{"name":"n${i}"}`)}]`),
    status: 201,
  },
  {
    name: "items of one key",
    n: 6_000,
    given: () => [defined({ l: mapOf(item) })],
    request: (n, run) => widget(run, `"l":[${repeated(n, () => `{"name":"n"}`)}]`),
    status: 422,
  },
  {
    name: "items of two keys each",
    n: 6_000,
    given: () => [defined({ l: mapOf(item) })],
    request: (n, run) => widget(run, `"l":[${repeated(n, (i) => `{"name":"n${i}"},{"name":"n${i}"}`)}]`),
    status: 422,
  },
  {
    name: "values of a set",
    n: 10_000,
    given: () => [defined({ l: setOf(text) })],
    request: (n, run) => widget(run, `"l":[${repeated(n, (i) => `"n${i}"`)}]`),
    status: 201,
  },
  {
    name: "values that stand twice in a set",
    n: 10_000,
    given: () => [defined({ l: setOf(text) })],
    request: (n, run) => widget(run, `"l":[${repeated(n, (i) => `"n${i}","n${i}"`)}]`),
    status: 422,
  },
  {
    name: "items of the wrong type",
    n: 10_000,
    given: () => [defined({ l: list(text) })],
    request: (n, run) => widget(run, `"l":[${repeated(n, (i) => `${i}`)}]`),
    status: 422,
  },
  {
    name: "items of the wrong type below a key of great length",
    n: 5_000,
    given: () => [defined({ m: { type: "object", additionalProperties: list(text) } })],
    request: (n, run) => widget(run, `"m":{"${"k".repeat(8 * n)}":[${repeated(n, (i) => `${i}`)}]}`),
    status: 422,
  },
  {
    name: "items without what is required",
    n: 6_000,
    given: () => [defined({ l: list(item) })],
    request: (n, run) => widget(run, `"l":[${repeated(n, () => "{}")}]`),
    status: 422,
  },
  {
    name: "items with defaults",
    n: 10_000,
    given: () => [defined({ l: list(item) })],
    request: (n, run) => widget(run, `"l":[${repeated(n, () => `{"name":"n"}`)}]`),
    status: 201,
  },
  {
    name: "nulls",
    n: 20_000,
    given: () => [defined({ l: list(item), m: { type: "object", additionalProperties: text } })],
    request: (n, run) => widget(run, `"m":{${repeated(n, (i) => `"k${i}":null`)}}`),
    status: 201,
  },
  {
    name: "members of a map",
    n: 10_000,
    given: () => [defined({ m: { type: "object", additionalProperties: text } })],
    request: (n, run) => widget(run, `"m":{${repeated(n, (i) => `"k${i}":"v"`)}}`),
    status: 201,
  },
  {
    name: "members that the schema keeps",
    n: 10_000,
    given: () => [defined({ m: { type: "object", "x-kubernetes-preserve-unknown-fields": true } })],
    request: (n, run) => widget(run, `"m":{${repeated(n, (i) => `"k${i}":{"a":[1]}`)}}`),
    status: 201,
  },
  {
    name: "letters of a pattern",
    n: 20_000,
    given: () => [defined({ t: { type: "string", pattern: "^(a|aa)*b$" } })],
    request: (n, run) => widget(run, `"t":"${"a".repeat(n)}"`),
    status: 422,
  },
  {
    name: "texts of a pattern",
    n: 4_000,
    given: () => [defined({ l: list({ type: "string", pattern: "^[a-z0-9]+$" }) })],
    request: (n, run) => widget(run, `"l":[${repeated(n, (i) => `"n${i}"`)}]`),
    status: 201,
  },
  {
    name: "texts of a length",
    n: 10_000,
    given: () => [defined({ l: list({ type: "string", maxLength: 3, minLength: 2 }) })],
    request: (n, run) => widget(run, `"l":[${repeated(n, (i) => `"longer${i}"`)}]`),
    status: 422,
  },
  ...[
    "date-time",
    "duration",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "byte",
    "hostname",
    "email",
    "uri",
    "isbn",
    "creditcard",
    "hexcolor",
    "k8s-short-name",
    "k8s-long-name",
  ].map(
    (format): Doubling => ({
      name: `letters of a text of format ${format}`,
      n: 100_000,
      given: () => [defined({ t: { type: "string", format } })],
      request: (n, run) => widget(run, `"t":"${"1a".repeat(n / 2)}!"`),
      status: format === "hostname" || format === "x" ? 422 : 422,
    }),
  ),
  {
    name: "values of an enum",
    n: 3_000,
    given: (n) => [defined({ l: list({ type: "string", enum: Array.from({ length: n }, (_, i) => `e${i}`) }) })],
    request: (n, run) => widget(run, `"l":[${repeated(n, (i) => `"e${n - 1 - i}"`)}]`),
    status: 201,
  },
  {
    name: "values outside of an enum",
    n: 1_000,
    given: (n) => [defined({ l: list({ type: "string", enum: Array.from({ length: n }, (_, i) => `e${i}`) }) })],
    request: (n, run) => widget(run, `"l":[${repeated(n, (i) => `"x${i}"`)}]`),
    status: 422,
  },
  {
    name: "values of alternatives",
    n: 4_000,
    given: () => [
      defined({ l: list({ "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] }) }),
    ],
    request: (n, run) => widget(run, `"l":[${repeated(n, (i) => (i % 2 === 0 ? `"${i}"` : `${i}`))}]`),
    status: 201,
  },
  {
    name: "values of no alternative",
    n: 4_000,
    given: () => [
      defined({ l: list({ "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] }) }),
    ],
    request: (n, run) => widget(run, `"l":[${repeated(n, () => "true")}]`),
    status: 422,
  },
  {
    name: "alternatives",
    n: 500,
    given: (n) => [
      defined({ t: { type: "string", oneOf: Array.from({ length: n }, (_, i) => ({ enum: [`e${i}`] })) } }),
    ],
    request: (n, run) => widget(run, `"t":"e${n - 1}"`),
    status: 201,
  },
  {
    name: "embedded objects",
    n: 2_000,
    given: () => [
      defined({
        l: list({
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        }),
      }),
    ],
    request: (n, run) =>
      widget(
        run,
        `"l":[${repeated(n, (i) => `{"apiVersion":"v1","kind":"Thing","metadata":{"name":"n${i}","labels":{"a":"b"}}}`)}]`,
      ),
    status: 201,
  },
  {
    name: "items that a rule is about",
    n: 1_000,
    given: () => [
      defined({
        l: list(
          {
            type: "object",
            properties: { a: { type: "integer" } },
            "x-kubernetes-validations": [{ rule: "self.a >= 0" }],
          },
          { maxItems: 100_000 },
        ),
      }),
    ],
    request: (n, run) => widget(run, `"l":[${repeated(n, (i) => `{"a":${i}}`)}]`),
    status: 201,
  },
  {
    name: "items that break a rule",
    n: 1_000,
    given: () => [
      defined({
        l: list(
          {
            type: "object",
            properties: { a: { type: "integer" } },
            "x-kubernetes-validations": [{ rule: "self.a < 0" }],
          },
          { maxItems: 100_000 },
        ),
      }),
    ],
    request: (n, run) => widget(run, `"l":[${repeated(n, (i) => `{"a":${i}}`)}]`),
    status: 422,
  },
  {
    name: "items that a rule goes over",
    n: 1_000,
    given: () => [
      defined({
        l: list(
          { type: "integer" },
          { maxItems: 100_000, "x-kubernetes-validations": [{ rule: "self.all(x, x >= 0)" }] },
        ),
      }),
    ],
    request: (n, run) => widget(run, `"l":[${repeated(n, (i) => `${i}`)}]`),
    status: 201,
  },
  {
    name: "letters that a rule looks at",
    n: 30_000,
    given: () => [
      defined({
        t: {
          type: "string",
          maxLength: 3_000_000,
          "x-kubernetes-validations": [{ rule: "self.matches('^(a|aa)*b$') || self.contains('b') || self.size() > 1" }],
        },
      }),
    ],
    request: (n, run) => widget(run, `"t":"${"a".repeat(n)}"`),
    status: 201,
  },
];
