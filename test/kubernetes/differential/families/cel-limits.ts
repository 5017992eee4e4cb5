import { DEFINITIONS, definition } from "../definitions.ts";
import { alone, definedIfTaken, objectOf, placeOf, ruled, spec, telling } from "../rules.ts";
import { type Family, type Json, post, type Step, step } from "../step.ts";

const GROUP = "cel-limits.example.com";

const text: Json = { type: "string" };
const list = (items: Json, more: Json = {}): Json => ({ type: "array", items, ...more });
const map = (values: Json, more: Json = {}): Json => ({ type: "object", additionalProperties: values, ...more });
/** Fields without limits, and with large ones. */
const LARGE: Json = {
  s: text,
  n: { type: "integer" },
  l: list(text),
  i: list({ type: "integer" }),
  ll: list(list(text)),
  m: map(text),
  o: list({ type: "object", required: ["name"], properties: { name: text, other: text } }),
  some: list({ type: "string", maxLength: 100 }, { maxItems: 1000 }),
  few: list({ type: "string", maxLength: 64 }, { maxItems: 64 }),
  pairs: map({ type: "string", maxLength: 50 }, { maxProperties: 100 }),
  short: { type: "string", maxLength: 1000 },
  kind: { type: "string", enum: ["a", "blue"] },
  port: { "x-kubernetes-int-or-string": true },
};
const COSTLY = [
  "self.l.all(x, x == 'a')",
  "self.l.all(x, self.l.all(y, x == y))",
  "self.l.all(x, self.l.all(y, self.l.all(z, x == y)))",
  "self.s.contains(self.s)",
  "self.s.matches('^[a-z]+$')",
  "self.s.matches(self.s)",
  "self.s == self.s",
  "self.s.startsWith(self.s) && self.s.size() > 1",
  "self.i.all(x, x > 1)",
  "self.i.all(x, self.i.all(y, x > y))",
  "self.ll.all(x, x.all(y, y == 'a'))",
  "self.m.all(k, self.m[k] == 'a')",
  "self.m.all(k, k == 'a')",
  "self.o.all(x, x.name == 'a')",
  "self.o.exists_one(x, x.name.size() > 1 && x.other.contains('abc'))",
  "self.some.all(x, self.some.all(y, x == y))",
  "self.some.all(x, self.few.all(y, x == y))",
  "self.few.all(x, self.few.all(y, self.few.all(z, x == y || y == z)))",
  "self.few.all(x, self.few.exists(y, x.startsWith(y)))",
  "self.few.map(x, x + x).size() > 1",
  "self.few.filter(x, x.matches('^[a-z]{1,30}$')).size() > 1",
  "self.pairs.all(k, self.pairs[k].size() > 1 && k.size() > 1)",
  "self.pairs.all(k, v, self.few.exists(x, x == v))",
  "self.some.isSorted() && self.l.isSorted()",
  "self.l.indexOf('x') > 1",
  "self.i.sum() > 1 && self.i.max() > 1",
  "self.s.split(',').all(x, x.size() > 1)",
  "self.short.split(',').all(x, self.short.split(',').all(y, x == y))",
  "self.s.replace('a', 'bb').size() > 1",
  "self.short.replace('', 'bbbbbbbbbb').contains(self.short)",
  "self.l.join(',').size() > 1",
  "self.few.join(',').contains(self.short)",
  "self.s.lowerAscii().trim().substring(1) == 'x'",
  "self.s.find(self.short) == 'x' || self.s.findAll('a').size() > 1",
  "self.s.upperAscii().contains(self.s.lowerAscii())",
  "sets.contains(self.l, ['a', 'b'])",
  "sets.equivalent(self.some, self.some)",
  "self.l.distinct().size() > 1",
  "self.some.sort() == self.some",
  "self.some.reverse() == self.some || self.some.slice(1, 3).size() == 2",
  "self.l.sortBy(x, x.size()).size() > 1",
  "self.ll.flatten().size() > 1",
  "url(self.s).getHost() == 'x'",
  "ip(self.s).family() == 4 && cidr('10.0.0.0/8').containsIP(self.s) && isIP(self.s)",
  "quantity(self.s).isGreaterThan(quantity('1')) || semver(self.s).major() == 1",
  "format.dns1123Label().validate(self.s).hasValue()",
  "self.few.all(x, !format.dns1123Label().validate(x).hasValue())",
  "self.kind == 'blue' && self.kind.contains('b')",
  "self.port == '80' || string(self.port).contains('x')",
  "dyn(self.l).all(x, x == 'a')",
  "self.?s.orValue('').contains(self.short)",
  "self.?l.orValue([]).all(x, x == 'a')",
  "self.?s.optMap(x, x + '!').orValue('') == 'x'",
  "(self.n > 1 ? self.l : self.few).all(x, x == 'a')",
  "(self.l + self.few).all(x, x == 'a')",
  "[self.s, self.short].all(x, x.contains('a'))",
  "{'a': self.s}.all(k, k == 'a')",
  "lists.range(1000).all(x, self.few.all(y, y == 'a'))",
  "self.some.transformList(i, v, v + 'x').all(x, x == 'a')",
  "'%s'.format([self.s]).contains('x') && strings.quote(self.s) == 'x'",
  "bytes(self.s).size() > 1 && string(bytes(self.s)) == self.s",
  "has(self.s) && type(self.s) == string && !(self.s in self.few) && self.s in self.l",
];
const MESSAGES = [
  { rule: "self.n > 1", messageExpression: "self.l.join(',')" },
  { rule: "self.n > 1", messageExpression: "self.some.map(x, self.l.map(y, y + x).join('')).join(',')" },
];

/** Rules deeper down, by how many values there may be. */
const below = (items: Json, more: Json = {}): Json => ({
  type: "object",
  properties: {
    l: list({ ...items, "x-kubernetes-validations": [{ rule: "self != self + 'x' || self.matches('a+')" }] }, more),
  },
});
const CARDINALITY: Json[] = [
  below(text),
  below(text, { maxItems: 10 }),
  below({ type: "string", maxLength: 10 }),
  below({ type: "string", maxLength: 100 }, { maxItems: 1000 }),
  { type: "object", properties: { m: map(below({ type: "string", maxLength: 10 }, { maxItems: 10 })) } },
  {
    type: "object",
    properties: { m: map(below({ type: "string", maxLength: 10 }, { maxItems: 10 }), { maxProperties: 5 }) },
  },
  {
    type: "object",
    properties: Object.fromEntries(
      ["a", "b", "c", "d", "e", "f"].map((name) => [
        name,
        list({
          type: "object",
          required: ["k"],
          properties: { k: { type: "string", maxLength: 10 } },
          "x-kubernetes-validations": [{ rule: "self.k.matches('^[a-z]+$') && self.k.size() < 9" }],
        }),
      ]),
    ),
  },
];

/** Rules whose estimate is let pass, and that run for long. */
const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const RUNNING: Json = {
  type: "object",
  properties: {
    one: ruled([{ rule: "self.i.all(x, self.i.all(y, x + y >= 0))" }, { rule: "self.i.size() == 0" }], {
      i: list({ type: "integer" }, { maxItems: 1000 }),
    }),
    all: list(
      ruled([{ rule: "self.i.all(x, self.i.all(y, x + y >= 0))" }], {
        i: list({ type: "integer" }, { maxItems: 300 }),
      }),
      {
        maxItems: 10,
      },
    ),
    told: ruled(
      [{ rule: "self.i.size() == 0", messageExpression: "string(self.i.map(x, self.i.map(y, x + y).sum()).sum())" }],
      {
        i: list({ type: "integer" }, { maxItems: 500 }),
      },
    ),
  },
};
const run = (spec: Json): Step =>
  step(post(placeOf(GROUP, "Running"), objectOf(GROUP, "Running", spec), { query: { dryRun: "All" } }));

const family: Family = {
  name: "cel-limits",
  steps: [
    ...alone(GROUP, "Costly", COSTLY, { fields: LARGE }),
    ...alone(GROUP, "Message", MESSAGES, { fields: LARGE }),
    ...alone(
      GROUP,
      "Small",
      COSTLY.slice(0, 3).map((rule) => telling(rule.replace(/.*/, "self.s"))),
    ),
    ...CARDINALITY.map((schema, i) =>
      step(post(DEFINITIONS, definition(GROUP, `Deep${i}`, spec(schema)), { query: { dryRun: "All" } })),
    ),
    ...definedIfTaken(definition(GROUP, "Running", spec(RUNNING))),
    run({ one: { i: numbers(100) } }),
    run({ one: { i: numbers(1000) } }),
    run({ all: numbers(10).map(() => ({ i: numbers(300) })) }),
    run({ told: { i: numbers(10) } }),
    run({ told: { i: numbers(500) } }),
  ],
};
export default family;
