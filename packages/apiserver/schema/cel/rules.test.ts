import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Schema, ValidationRule } from "../../model/served.ts";
import { compile } from "../compile.ts";

const spec = (properties: Record<string, Schema>, ...rules: (string | ValidationRule)[]): Schema => ({
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties,
      "x-kubernetes-validations": rules.map((rule) => (typeof rule === "string" ? { rule } : rule)),
    },
  },
});
const judge = (schema: Schema, value: unknown, old?: unknown): string[] =>
  compile(schema)
    .validate({ spec: value }, old === undefined ? undefined : { spec: old })
    .map((e) => `${e.field}: ${e.message}`);

const anything: Record<string, Schema> = {
  s: { type: "string" },
  t: { type: "string" },
  n: { type: "integer" },
  d: { type: "number" },
  l: { type: "array", items: { type: "string" } },
  i: { type: "array", items: { type: "integer" } },
  m: { type: "object", additionalProperties: { type: "string" } },
  o: { type: "array", items: { type: "object", properties: { k: { type: "string" } } } },
  at: { type: "string", format: "date-time" },
  wait: { type: "string", format: "duration" },
  port: { "x-kubernetes-int-or-string": true },
};
const sample = {
  s: "Hello-World",
  t: "10.0.0.7",
  n: 7,
  d: 2.5,
  l: ["a", "b", "b"],
  i: [3, 1, 2],
  m: { "a/b": "x" },
  o: [{ k: "1" }, {}],
  at: "2026-01-02T03:04:05Z",
  wait: "1h30m",
  port: 80,
};

const truths = [
  "self.n % 2 == 1 && self.n / 2 == 3",
  "self.d > 2.0 && self.d < 3.0",
  "self.s.matches('^(?i)hello-[[:alpha:]]+\\\\z')",
  "self.s.find('[A-Z]+') == 'H' && self.s.findAll('o').size() == 2 && self.s.findAll('o', 1).size() == 1",
  "self.s.replace('l', 'L', 2) == 'HeLLo-World' && self.s.charAt(0) == 'H' && self.l.reverse() == ['b', 'b', 'a']",
  "self.s.lowerAscii().split('-')[1] == 'world' && self.s.substring(6) == 'World'",
  "'%s has %d of %.1f'.format([self.s, self.n, self.d]) == 'Hello-World has 7 of 2.5'",
  "self.i.sum() == 6 && self.i.max() == 3 && self.i.min() == 1 && !self.i.isSorted()",
  "self.l.indexOf('b') == 1 && self.l.lastIndexOf('b') == 2 && self.l.indexOf('z') == -1",
  "sets.contains(self.l, ['a']) && sets.equivalent(self.l, ['b', 'a']) && sets.intersects(self.l, ['b', 'c'])",
  "self.l.all(x, x.size() == 1) && self.l.exists_one(x, x == 'a') && self.l.map(x, x + '!').size() == 3",
  "self.m.all(k, self.m[k] == 'x') && 'a/b' in self.m",
  "has(self.o[0].k) && !has(self.o[1].k)",
  "self.o[1].?k.orValue('none') == 'none'",
  "self.at > timestamp('2026-01-01T00:00:00Z') && self.at.getFullYear() == 2026",
  "self.wait == duration('90m') && self.wait < duration('2h')",
  "type(self.port) == int && self.port < 1024",
  "isIP(self.t) && ip(self.t).family() == 4 && !ip(self.t).isLoopback() && !isIP('10.0.0')",
  "cidr('10.0.0.0/8').containsIP(self.t) && cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !isCIDR('10.0.0.0/33')",
  "cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8') && cidr('10.0.0.0/8').prefixLength() == 8",
  "ip('::1').isLoopback() && string(ip('2001:DB8:0:0::1')) == '2001:db8::1' && ip.isCanonical('2001:db8::1')",
  "quantity('1.5Gi').isGreaterThan(quantity('1536M')) && quantity('2').add(1).asInteger() == 3 && !isQuantity('1x')",
  "url('https://[::1]:8443/a/b?x=1').getPort() == '8443' && url('https://h/p').getHostname() == 'h' && !isURL('no')",
  "!format.dns1123Label().validate('web').hasValue() && format.dns1123Label().validate('Web').hasValue()",
  "format.uuid() == format.named('uuid').value() && format.uuid() != format.date()",
  "self.?s.optMap(x, x + '!').value() == 'Hello-World!' && optional.ofNonZeroValue('').or(optional.of('x')).value() == 'x'",
  "[1, 2].all(i, v, v == i + 1) && {'a': 1}.transformMap(k, v, v + 1) == {'a': 2} && [?self.?s, 'x'].size() == 2",
  "isSemver('1.2.3') && semver('v1.2', true).isLessThan(semver('1.10.0')) && semver('1.2.3-a').compareTo(semver('1.2.3')) == -1",
  "duration('5m') + duration('5m') == duration('10m')",
];

for (const rule of truths)
  test(`holds: ${rule}`, () => {
    assert.deepEqual(judge(spec(anything, rule), sample), []);
  });

test("a broken rule says its message, or itself", () => {
  assert.deepEqual(judge(spec(anything, "self.n > 9"), { n: 1 }), ["spec: Invalid value: failed rule: self.n > 9"]);
  assert.deepEqual(judge(spec(anything, { rule: "self.n > 9", message: "too small" }), { n: 1 }), [
    "spec: Invalid value: too small",
  ]);
});

test("messageExpression computes the message; where it fails the message stands", () => {
  const rule = { rule: "self.n > 9", message: "too small", messageExpression: "string(self.n) + ' is small'" };

  assert.deepEqual(judge(spec(anything, rule), { n: 1 }), ["spec: Invalid value: 1 is small"]);
  assert.deepEqual(judge(spec(anything, { ...rule, messageExpression: "self.nope" }), { n: 1 }), [
    "spec: Invalid value: too small",
  ]);
});

test("reason and fieldPath decide how and where it is reported", () => {
  const rule: ValidationRule = { rule: "false", message: "no", reason: "FieldValueForbidden", fieldPath: ".m['a/b']" };

  assert.deepEqual(judge(spec(anything, rule), {}), ["spec.m.a/b: Forbidden: no"]);
});

test("a rule that can't be evaluated refuses the object and says why", () => {
  assert.deepEqual(judge(spec(anything, "self.n > 1"), {}), [
    'spec: Invalid value: "object": no such key: n evaluating rule: self.n > 1',
  ]);
});

test("rules don't run on objects of the wrong shape, and that is said", () => {
  const [first, second, ...rest] = judge(spec(anything, "self.n > 1"), { n: "x" });

  assert.match(first ?? "", /must be of type integer/);
  assert.match(second ?? "", /^<nil>: .*some validation rules were not checked/);
  assert.deepEqual(rest, []);
});

test("a transition rule compares with the old value, and says nothing without one", () => {
  const schema = spec({ n: { type: "integer", "x-kubernetes-validations": [{ rule: "self >= oldSelf" }] } });

  assert.deepEqual(judge(schema, { n: 1 }), []);
  assert.deepEqual(judge(schema, { n: 3 }, { n: 2 }), []);
  assert.deepEqual(judge(schema, { n: 1 }, { n: 2 }), ["spec.n: Invalid value: 1: failed rule: self >= oldSelf"]);
  assert.deepEqual(judge(schema, { n: 1 }, {}), []);
});

test("an optional old value makes a transition rule run on creation too", () => {
  const schema = spec(
    { n: { type: "integer" } },
    { rule: "oldSelf.hasValue() || self.n == 0", message: "starts at 0", optionalOldSelf: true },
  );

  assert.deepEqual(judge(schema, { n: 1 }), ["spec: Invalid value: starts at 0"]);
  assert.deepEqual(judge(schema, { n: 1 }, { n: 0 }), []);
});

test("items of a map list find their old value by key, items of other lists have none", () => {
  const items: Schema = {
    type: "object",
    properties: {
      k: { type: "string" },
      v: { type: "integer", "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed" }] },
    },
  };
  const byKey = spec({
    l: { type: "array", items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"] },
  });
  const plain = spec({ l: { type: "array", items } });
  const before = {
    l: [
      { k: "a", v: 1 },
      { k: "b", v: 2 },
    ],
  };
  const after = {
    l: [
      { k: "b", v: 3 },
      { k: "a", v: 1 },
    ],
  };

  assert.deepEqual(judge(byKey, after, before), ["spec.l[0].v: Invalid value: 3: fixed"]);
  assert.deepEqual(judge(plain, after, before), []);
});

test("a rule on an unchanged part is not judged again", () => {
  const schema = spec({
    a: { type: "object", properties: { n: { type: "integer" } }, "x-kubernetes-validations": [{ rule: "self.n > 5" }] },
    b: { type: "string" },
  });

  assert.deepEqual(judge(schema, { a: { n: 1 }, b: "new" }, { a: { n: 1 }, b: "old" }), []);
  assert.equal(judge(schema, { a: { n: 2 }, b: "new" }, { a: { n: 1 }, b: "old" }).length, 1);
});

test("what did not change may break a rule, and that is warned of", () => {
  const schema = spec({
    l: { type: "array", items: { type: "string", "x-kubernetes-validations": [{ rule: "self != 'bad'" }] } },
    n: { type: "integer" },
  });
  const shown = (value: object, old: object): [errors: number, warned: string[]] => {
    const warned: string[] = [];
    return [compile(schema).validate({ spec: value }, { spec: old }, warned).length, warned];
  };

  assert.deepEqual(shown({ l: ["bad"], n: 2 }, { l: ["bad"], n: 1 }), [
    0,
    ["spec.l[0]: Invalid value: \"bad\": failed rule: self != 'bad'"],
  ]);
  assert.deepEqual(shown({ l: ["bad", "x"] }, { l: ["bad"] }), [1, []]);
});

test("fields with other names than CEL's are reached by their escapes", () => {
  const schema = spec(
    {
      "a-b": { type: "integer" },
      "c.d": { type: "integer" },
      namespace: { type: "string" },
      x__y: { type: "integer" },
    },
    "self.a__dash__b + self.c__dot__d + self.x__underscores__y == 6 && self.__namespace__ == 'n'",
  );

  assert.deepEqual(judge(schema, { "a-b": 1, "c.d": 2, namespace: "n", x__y: 3 }), []);
});

test("a key named like a property of JavaScript's objects is only a key", () => {
  const m = JSON.parse('{"constructor": "x", "__proto__": "y", "hasOwnProperty": "z"}') as object;

  assert.deepEqual(
    judge(spec(anything, "self.m.size() == 3 && self.m['constructor'] == 'x' && self.m['__proto__'] == 'y'"), { m }),
    [],
  );
  assert.deepEqual(judge(spec(anything, "!('toString' in self.m)"), { m }), []);
});

test("equal lists and maps are found in lists", () => {
  const lists = "[[1, 2], [3]].indexOf([3]) == 1 && self.o.indexOf(self.o[1]) == 1";

  assert.deepEqual(judge(spec(anything, lists), sample), []);
});

test("a rule that would run for minutes is stopped", () => {
  const schema = spec(
    { i: { type: "array", items: { type: "integer" } } },
    "self.i.all(a, self.i.all(b, self.i.all(c, a + b + c >= 0)))",
  );
  const [first] = judge(schema, { i: Array.from({ length: 5000 }, (_, n) => n) });

  assert.match(first ?? "", /call cost exceeds limit for rule/);
});

test("rules never throw, whatever JSON the object is", () => {
  const { validate } = compile(spec(anything, ...truths));
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (value, old) => {
      assert.ok(Array.isArray(validate({ spec: value }, { spec: old })));
    }),
    { numRuns: 50 },
  );
});
