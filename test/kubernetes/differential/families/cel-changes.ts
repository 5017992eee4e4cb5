import { DEFINITIONS, definition } from "../definitions.ts";
import { definedIfTaken, objectOf, placeOf, ruled, spec, VALUES } from "../rules.ts";
import { type Answer, type Family, get, type Json, MERGE, patch, post, put, type Step, step } from "../step.ts";

const GROUP = "cel-changes.example.com";

/** Rules that look at what an object was. */
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
      return put(`${placeOf(GROUP, kind)}/x`, objectOf(GROUP, kind, spec, { ...more, resourceVersion }), {
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
  step(post(placeOf(GROUP, "Later"), objectOf(GROUP, "Later", OLD)), { keep: "Later" }),
  step(
    patch(`${DEFINITIONS}/laters.${GROUP}`, MERGE, {
      spec: { versions: definition(GROUP, "Later", LATER).spec.versions },
    }),
    { unseen: true },
  ),
  step(post(placeOf(GROUP, "Later"), objectOf(GROUP, "Later", { n: 1 }, { name: "y" }), { query: { dryRun: "All" } }), {
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
  name: "cel-changes",
  steps: [
    ...definedIfTaken(definition(GROUP, "Change", spec(ruled(CHANGES)))),
    step(post(placeOf(GROUP, "Change"), objectOf(GROUP, "Change", { ...VALUES, t: "bad" }))),
    step(post(placeOf(GROUP, "Change"), objectOf(GROUP, "Change", { ...VALUES, n: 6 }))),
    step(post(placeOf(GROUP, "Change"), objectOf(GROUP, "Change", VALUES)), { keep: "Change" }),
    changed({ ...VALUES, n: 8 }),
    changed({ ...VALUES, n: 6 }),
    changed({ ...VALUES, s: "other" }),
    changed({ ...VALUES, t: "bad" }),
    changed({ ...VALUES, set: ["y", "x"] }),
    changed({ ...VALUES, set: ["y", "z"] }),
    changed({ ...VALUES, keyed: [{ k: "z" }] }),
    step(get(`${placeOf(GROUP, "Change")}/x`)),
    ...RATCHETING,
    ...definedIfTaken(definition(GROUP, "Deep", spec(DEEP))),
    ...DEEPS.map((spec) => step(post(placeOf(GROUP, "Deep"), objectOf(GROUP, "Deep", spec, { name: "y" })))),
    step(
      post(
        placeOf(GROUP, "Deep"),
        objectOf(GROUP, "Deep", {
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
