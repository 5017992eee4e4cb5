import { DEFINITIONS, definition } from "../definitions.ts";
import { alone, definedIfTaken, judged, ruled, spec, telling, VALUES } from "../rules.ts";
import { type Answer, type Family, get, type Json, MERGE, patch, post, put, type Step, step } from "../step.ts";

const GROUP = "cel.example.com";
const path = (plural: string): string => `/apis/${GROUP}/v1/namespaces/diff-cel/${plural}`;
const thing = (kind: string, spec: Json, name = "x", more: Json = {}): Json => ({
  apiVersion: `${GROUP}/v1`,
  kind,
  metadata: { name, ...more },
  spec,
});

/** The language itself; some hold and some don't, and those are told with the rule. */
const LANGUAGE = [
  "self.n % 2 == 1 && self.n / 2 == 3",
  "self.n > 10",
  "self.d > 2.0 && self.d < 3.0 && self.d * 2.0 == 5.0 && -self.d == -2.5",
  "self.n < 8.5 && self.d > 2 && 1 <= 1.5",
  "self.b ? self.n == 7 : false",
  "!self.b || self.n != 7",
  "self.l == ['a', 'b', 'b'] && self.l + ['c'] == ['a', 'b', 'b', 'c'] && 'b' in self.l && !('z' in self.l)",
  "self.l.all(x, x.size() == 1) && self.l.exists_one(x, x == 'a') && self.l.map(x, x + '!').size() == 3",
  "self.l.filter(x, x == 'b').size() == 1",
  "self.l.exists(x, x == 'z')",
  "self.l.map(x, x != 'a', x + '?') == ['b?', 'b?']",
  "self.i.all(x, 6 / x > 0)",
  "self.set == ['y', 'x'] && self.set != ['x']",
  "self.set + ['x'] == ['x', 'y']",
  "self.set + ['z'] == ['z', 'y', 'x'] && ['y'] + self.set == ['y', 'x', 'y']",
  "self.keyed.exists(e, e.k == 'a' && e.v == 1) && !has(self.keyed[1].v)",
  "self.keyed == self.keyed && self.keyed + self.keyed == self.keyed",
  "self.m == {'k': 'v'} && self.m.all(k, self.m[k] == 'v') && 'k' in self.m && self.m.k == 'v' && self.m.size() == 1",
  "'z' in self.m",
  "has(self.m.k) && !has(self.m.z) && has(self.o.a) && has(self.o)",
  "self.o == self.o && self.o.a == 'x'",
  "has(self.none)",
  "self.?none.orValue('gone') == 'gone'",
  "self.?m.k.orValue('') == 'v' && self.m[?'z'].orValue('-') == '-' && !self.?none.hasValue()",
  "self.?s.optMap(s, s + '!').value().size() == 12",
  "self.?s.optFlatMap(s, optional.of(s.size())).orValue(0) == 11 && !optional.none().hasValue()",
  "optional.ofNonZeroValue('').or(optional.of('x')).value() == 'x'",
  "self.?none.value() == 'x'",
  "[?self.?none, 'x'] == ['x'] && {?'k': self.?none, 'l': 'x'} == {'l': 'x'}",
  "self.at > timestamp('2026-01-01T00:00:00Z') && self.at.getFullYear() == 2026 && self.at.getMonth() == 0",
  "self.at.getDate() == 2 && self.at.getDayOfMonth() == 1 && self.at.getDayOfWeek() == 5 && self.at.getDayOfYear() == 1",
  "self.at.getHours('Europe/Berlin') == 4 && self.at.getHours('-02:00') == 1 && self.at.getMilliseconds() == 0",
  "self.day == timestamp('2026-01-02T00:00:00Z') && self.at - self.day == duration('3h4m5s')",
  "self.at + duration('1h') > self.at && self.at - duration('1h') < self.at",
  "self.wait == duration('90m') && self.wait < duration('2h') && self.wait.getHours() == 1 && self.wait.getMinutes() == 90",
  "self.wait > duration('2h')",
  "type(self.port) == int && self.port < 1024",
  "type(self.port) == string",
  "self.port == '80'",
  "self.raw == b'hello' && self.raw.size() == 5 && string(self.raw) == 'hello' && bytes('hello') == self.raw",
  "self.kind == 'red' && self.kind in ['red', 'blue']",
  "self.kind == 'green'",
  "self.part.kind == 'Pod' && self.part.metadata.name == 'p' && self.part.apiVersion == 'v1'",
  "self.free.a == 1 && has(self.free.a)",
  "self.dash__dash__ed + self.dot__dot__ted + self.sla__slash__shed + self.under__underscores__scored == 10",
  "self.__in__ == 5 && self._led == 6",
  "int('7') == self.n && double(self.n) == 7.0 && uint(self.n) == 7u && string(self.n) == '7' && int(2.9) == 2",
  "dyn(self.n) == 7.0 && dyn(self.n) == 7u && dyn(self.s) != 7 && dyn([1]) == [1.0]",
  "bool('true') && bool('1') && !bool('F') && string(true) == 'true' && type(1) == int && type(self.l) == list",
  "int(self.at) == 1767323045 && string(self.wait) == '5400s' && string(self.at) == '2026-01-02T03:04:05Z'",
  "{1: 'a', 2: 'b'}.size() == 2 && {'a': [1]}.a[0] == 1 && 'a' < 'b' && b'a' < b'b' && false < true",
  "size(self.l) == 3 && size('☺') == 1 && size(b'\\xe2\\x98\\xba') == 3 && '\\u263a' == '☺' && r'\\d' == '\\\\d'",
  "self.l[0] == 'a' && self.i[dyn(1.0)] == 1 && self.m['k'] == 'v' && 0x1F == 31 && 1e3 == 1000.0",
  "self.n == 6 || self.n / (self.n - 7) == 1 || self.n == 7",
  "self.n == 6 && self.n / (self.n - 7) == 1",
  "[1, 2].all(i, v, v == i + 1) && [1, 2].exists(i, v, i == 1 && v == 2) && ['a'].existsOne(i, v, v == 'a')",
  "{'a': 1}.transformList(k, v, k) == ['a'] && {'a': 1}.transformMap(k, v, v + 1) == {'a': 2}",
  "{'a': 1}.transformMapEntry(k, v, {v: k}) == {1: 'a'} && [3, 4].transformList(i, v, i > 0, v * 2) == [8]",
  "self.m.exists(k, v, k == 'k' && v == 'v') && self.l.transformList(i, v, i) == [0, 1, 2]",
];
/** What fails only as it runs. */
const FAILING = [
  "self.n / (self.n - 7) == 1",
  "self.n % (self.n - 7) == 1",
  "self.l[9] == 'a'",
  "self.l[-1] == 'a'",
  "self.m['z'] == 'a'",
  "self.m.z == 'a'",
  "self.none == 'x'",
  "int(self.s) == 1",
  "double(self.s) == 1.0",
  "uint(self.n - 8) == 1u",
  "bool(self.s)",
  "timestamp(self.s) == self.at",
  "duration(self.s) == self.wait",
  "self.n * 9223372036854775807 > 0",
  "self.n + 9223372036854775807 > 0",
  "-(self.n - 9223372036854775807 - 8) > 0",
  "int(self.d * 1e300) > 0",
  "self.i[dyn('a')] == 1",
  "dyn(self.s) > 1",
  "dyn(self.s) + dyn(self.n) == dyn(1)",
  "self.port.startsWith('8')",
  "self.part.metadata.generateName == 'x'",
  "self.l.exists(x, x == 'z' || self.l[9] == x)",
  "self.l.all(x, x == 'z' && self.l[9] == x)",
  "self.s.matches(self.s + '(')",
  "self.at.getHours('Nowhere/Land') == 1",
];

const TOLD: Json[] = [
  { rule: "self.n > 10", message: "n is small" },
  { rule: "self.n > 11", messageExpression: "'n is %d'.format([self.n])" },
  { rule: "self.n > 12", messageExpression: "self.l[9]", message: "instead" },
  { rule: "self.n > 13", reason: "FieldValueForbidden", fieldPath: ".n" },
  { rule: "self.n > 14", reason: "FieldValueRequired", message: "more" },
  { rule: "self.n > 15", reason: "FieldValueDuplicate", fieldPath: ".m['k']" },
  { rule: "self.n > 16", reason: "FieldValueInvalid", fieldPath: "['dash-ed']", message: " spaced " },
  { rule: "self.n > 17", messageExpression: "'  '", message: "blank" },
  { rule: "self.n > 18", messageExpression: "'a\\nb'" },
  { rule: "self.n > 19", messageExpression: "'x'.replace('x', self.s + self.s + self.s)" },
  { rule: "self.n\n > 20" },
  { rule: "self.n > 21 &&\n self.n > 22", message: "two lines" },
];
const CHANGES: Json[] = [
  { rule: "self.n >= oldSelf.n", message: "n never falls" },
  { rule: "self.s == oldSelf.s", message: "s is fixed" },
  { rule: "self.t != 'bad'", message: "t is bad" },
  { rule: "oldSelf.hasValue() || self.n == 7", optionalOldSelf: true, message: "begins with 7" },
  { rule: "oldSelf.optMap(o, o.n < 9).orValue(true)", optionalOldSelf: true, message: "no more than 9" },
  {
    rule: "oldSelf.?n.orValue(0) != 8 || self.b",
    optionalOldSelf: true,
    messageExpression: "string(oldSelf.value().n)",
  },
  { rule: "self.set.all(x, x in oldSelf.set)", message: "set never grows" },
  { rule: "self.keyed.all(e, e.k != 'z')", fieldPath: ".keyed", message: "no z" },
];
/** Fields are judged in any order upstream, and so are its warnings. */
function inOrder(answer: Answer): Answer {
  const warning = answer.headers.warning
    ?.split(/, (?=299 - )/)
    .sort()
    .join(", ");
  return warning === undefined ? answer : { ...answer, headers: { ...answer.headers, warning } };
}
/** Replaces the object that was kept under the name of its kind. */
const replaced = (kind: string, spec: Json, more: Json = {}): Step =>
  step(
    (kept) => {
      const { resourceVersion } = kept[kind]!.body.metadata ?? {};
      return put(`${path(`${kind.toLowerCase()}s`)}/x`, thing(kind, spec, "x", { ...more, resourceVersion }), {
        query: { dryRun: "All" },
      });
    },
    { only: inOrder },
  );
const changed = (spec: Json): Step => replaced("Change", spec);

/** Rules deeper in the schema: of items, of values, of texts, of lists by key. */
const text = (rule: string): Json => ({ type: "string", maxLength: 10, "x-kubernetes-validations": [{ rule }] });
const DEEP: Json = {
  type: "object",
  properties: {
    s: text("self == oldSelf"),
    list: { type: "array", maxItems: 4, items: text("self != 'bad'") },
    map: { type: "object", maxProperties: 4, additionalProperties: text("self != 'bad'") },
    set: { type: "array", maxItems: 4, "x-kubernetes-list-type": "set", items: text("self != 'bad'") },
    keyed: {
      type: "array",
      maxItems: 4,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
      items: {
        type: "object",
        required: ["k"],
        properties: { k: { type: "string", maxLength: 5 }, v: { type: "integer" } },
        "x-kubernetes-validations": [
          { rule: "self.v >= oldSelf.v", message: "v never falls" },
          { rule: "self.v < 10", fieldPath: ".v", message: "v is big" },
        ],
      },
    },
    any: { "x-kubernetes-int-or-string": true, "x-kubernetes-validations": [{ rule: "self == 5 || self == '5'" }] },
    null: { type: "string", nullable: true, "x-kubernetes-validations": [{ rule: "self != 'x'" }] },
    part: {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
      "x-kubernetes-validations": [{ rule: "self.kind == 'Pod' && self.metadata.name != 'bad'" }],
    },
    byDefault: { type: "integer", default: 3, "x-kubernetes-validations": [{ rule: "self == 3" }] },
  },
};
const DEEPS: Json[] = [
  { list: ["ok", "bad"], map: { a: "bad", "b.c": "bad", d: "ok" } },
  { set: ["bad"], any: 4, null: "x" },
  { any: "5", null: null, byDefault: 4 },
  { keyed: [{ k: "a", v: 11 }, { k: "b" }] },
  { part: { apiVersion: "v1", kind: "Pod", metadata: { name: "bad" } } },
  { part: { apiVersion: "v1", kind: "Node", metadata: {} } },
];
const deepened = (spec: Json): Step => replaced("Deep", spec);

/** Rules that come when the objects that break them are there: what does not change may break them, which is warned of. */
const LATER = spec(
  ruled([{ rule: "self.n > 5", message: "n is small" }], {
    n: { type: "integer" },
    o: ruled([{ rule: "self.a != 'bad'", message: "a is bad" }, { rule: "self.l[0] == 'x'" }], {
      a: { type: "string", maxLength: 5 },
      l: { type: "array", maxItems: 3, items: { type: "string", maxLength: 5 } },
    }),
    p: ruled([{ rule: "self.a == oldSelf.a || self.a != 'bad'" }, { rule: "self.a != 'bad'", fieldPath: ".a" }], {
      a: { type: "string", maxLength: 5 },
      b: { type: "string", maxLength: 5 },
    }),
    list: { type: "array", maxItems: 3, items: text("self != 'bad'") },
  }),
);
const WITHOUT = JSON.parse(
  JSON.stringify(LATER, (key, value) => (key === "x-kubernetes-validations" ? undefined : value)),
);
const OLD = { n: 1, o: { a: "bad", l: ["x"] }, p: { a: "bad" }, list: ["bad"] };
const ratcheted = (spec: Json): Step => replaced("Later", spec);
const RATCHETING: Step[] = [
  ...definedIfTaken(definition(GROUP, "Later", WITHOUT)),
  step(post(path("laters"), thing("Later", OLD)), { keep: "Later" }),
  step(
    patch(`${DEFINITIONS}/laters.${GROUP}`, MERGE, {
      spec: { versions: definition(GROUP, "Later", LATER).spec.versions },
    }),
    { unseen: true },
  ),
  step(post(path("laters"), thing("Later", { n: 1 }, "y"), { query: { dryRun: "All" } }), {
    unseen: true,
    until: ({ status }) => status === 422,
  }),
  replaced("Later", OLD, { labels: { a: "b" } }),
  ratcheted({ ...OLD, n: 2 }),
  ratcheted({ ...OLD, n: 6 }),
  ratcheted({ ...OLD, n: 6, p: { a: "bad", b: "x" } }),
  ratcheted({ ...OLD, n: 6, o: { a: "bad", l: ["x", "y"] } }),
  ratcheted({ ...OLD, n: 6, list: ["bad", "ok"] }),
  ratcheted({ n: 6 }),
];

const family: Family = {
  name: "cel",
  steps: [
    ...judged(GROUP, "Language", LANGUAGE),
    ...judged(GROUP, "Failing", FAILING),
    ...judged(
      GROUP,
      "Empty",
      ["self.n == 7", "has(self.n)", "self.?n.orValue(1) == 1", "!has(self.l) || self.l[0] == ''"],
      {},
    ),
    ...judged(GROUP, "Textual", [telling("string(self.d)"), telling("string(self.n * 2)"), telling("string(1e21)")]),
    ...alone(GROUP, "Odd", TOLD.slice(8)),
    ...definedIfTaken(definition(GROUP, "Told", spec(ruled(TOLD)))),
    step(post(path("tolds"), thing("Told", VALUES))),
    step(post(path("tolds"), thing("Told", { ...VALUES, n: 12 }))),
    step(post(path("tolds"), thing("Told", { ...VALUES, n: 16 }))),
    step(post(path("tolds"), thing("Told", { ...VALUES, n: "x" }, "y"))),
    step(post(path("tolds"), thing("Told", { ...VALUES, i: [1, 2, 3, 4, 5, 6] }, "y"))),
    ...definedIfTaken(definition(GROUP, "Change", spec(ruled(CHANGES)))),
    step(post(path("changes"), thing("Change", { ...VALUES, t: "bad" }))),
    step(post(path("changes"), thing("Change", { ...VALUES, n: 6 }))),
    step(post(path("changes"), thing("Change", VALUES)), { keep: "Change" }),
    changed({ ...VALUES, n: 8 }),
    changed({ ...VALUES, n: 6 }),
    changed({ ...VALUES, s: "other" }),
    changed({ ...VALUES, t: "bad" }),
    changed({ ...VALUES, set: ["y", "x"] }),
    changed({ ...VALUES, set: ["y", "z"] }),
    changed({ ...VALUES, keyed: [{ k: "z" }] }),
    step(get(`${path("changes")}/x`)),
    ...RATCHETING,
    ...definedIfTaken(definition(GROUP, "Deep", spec(DEEP))),
    ...DEEPS.map((spec) => step(post(path("deeps"), thing("Deep", spec, "y")))),
    step(
      post(
        path("deeps"),
        thing("Deep", {
          s: "a",
          list: ["ok"],
          keyed: [
            { k: "a", v: 1 },
            { k: "b", v: 2 },
          ],
        }),
      ),
      { keep: "Deep" },
    ),
    deepened({ s: "b" }),
    deepened({ list: ["bad", "ok"] }),
    deepened({
      keyed: [
        { k: "b", v: 1 },
        { k: "a", v: 1 },
      ],
    }),
    deepened({
      keyed: [
        { k: "c", v: 0 },
        { k: "a", v: 0 },
      ],
    }),
  ],
};
export default family;
