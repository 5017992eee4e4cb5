import assert from "node:assert/strict";
import { test } from "node:test";
import { fatalConcerns, planDocument, planLines, problemLine } from "./lines.ts";
import type { MachineGroup, Outcome } from "./planned-machines.ts";

const group = (more: Partial<MachineGroup>): MachineGroup => ({
  ...{ of: "Pool/a", count: 2, before: 0, replaced: false, account: "account", provider: "equinix" },
  ...{ placements: [{ plan: "small", metro: "sg" }], concerns: [] },
  ...more,
});

const outcome = (machines: MachineGroup[], more: Partial<Outcome> = {}, planned: object = {}): Outcome => ({
  object: {
    object: { apiVersion: "v1", kind: "Pool", metadata: { name: "a" } } as never,
    ...{ path: "f.yaml", places: { line: 3, fields: [], lineOf: () => 4 }, before: undefined, change: "create" },
    ...planned,
  },
  makes: new Map([
    ["Set", 1],
    ["Machine", 2],
  ]),
  machines,
  ...more,
});

/** The cells of the row of machines. */
const row = (more: Partial<MachineGroup>): string[] => planLines([outcome([group(more)])])[4]!.split(/ {2,}/);
/** What is said below the tables. */
const notes = (more: Partial<MachineGroup>): string[] => planLines([outcome([group(more)])]).slice(8);
const total = (...groups: Partial<MachineGroup>[]): string =>
  planLines([outcome(groups.map(group))]).findLast((line) => /machine/.test(line) && !/f\.yaml/.test(line))!;
const price = { hourly: 0.5, currency: "USD" } as const;

test("an object's row says what it makes; a plan without machines has no table of them", () => {
  assert.deepEqual(
    planLines([outcome([])]).map((line) => line.trimEnd()),
    ["CHANGE   OBJECT   WHAT IT MAKES", "create   Pool/a   1 Set, 2 Machine", "", "No machine more and none less."],
  );
});

test("machines have their number, place and price, each and together", () => {
  assert.deepEqual(row({ price }), ["2", "Pool/a", "equinix", "small", "sg", "0.50 USD/h", "1.00 USD/h"]);
  assert.equal(row({ before: 1 })[0], "1 → 2");
  assert.equal(row({ before: 2 })[0], "2");
});

test("a place is a metro, facilities, a reservation, or any", () => {
  const place = (more: object): string | undefined =>
    row({ placements: [{ plan: "p", metro: undefined, ...more }] })[4];
  assert.equal(place({ facility: ["sg1", "sg2"] }), "sg1, sg2");
  assert.equal(place({ metro: "ny", reservation: "r-1" }), "reservation r-1");
  assert.equal(place({}), "any");
});

test("without a price it is said why: a reservation, a host of one's own, or not known", () => {
  assert.equal(row({ placements: [{ plan: "p", metro: "ny", reservation: "r-1" }] })[5], "reserved");
  assert.equal(row({ candidates: ["h1", "h2"] })[5], "own host");
  assert.equal(row({})[5], "not known");
  assert.deepEqual(row({ provider: undefined as never, placements: [] }), ["2", "Pool/a", "?", "not known"]);
});

test("the total counts what is added, what it costs, and what has no price", () => {
  assert.equal(total({ price }), "2 machines more: 1.00 USD an hour, 730.00 USD in a month of 730 hours.");
  assert.equal(total({ price, count: 1 }), "1 machine more: 0.50 USD an hour, 365.00 USD in a month of 730 hours.");
  assert.equal(
    total({ price, count: 1, before: 3 }),
    "2 machines less: 1.00 USD an hour, 730.00 USD in a month of 730 hours.",
  );
  assert.equal(total({}), "2 machines more; the price of 2 is not known.");
  assert.equal(total({ candidates: ["h1", "h2"] }), "2 machines more.");
  assert.equal(total({ placements: [{ plan: "p", metro: "ny", reservation: "r-1" }] }), "2 machines more.");
  assert.equal(total({ price }, { price, count: 0, before: 2 }), "No machine more and none less.");
});

test("notes: other places, the spot market, free hosts, replaced machines, and what is not known", () => {
  const say = (text: string): string[] => [`f.yaml:3: Pool/a: ${text}`];
  const others = [
    { plan: "small", metro: "sg" },
    { plan: "big", metro: "ny" },
    { plan: "huge", metro: undefined },
  ];
  assert.deepEqual(notes({}), []);
  assert.deepEqual(notes({ placements: others }), say("where there is no capacity: big at ny, then huge at any"));
  assert.deepEqual(notes({ spot: {} }), say("on the spot market; the price shown is that on demand"));
  assert.deepEqual(
    notes({ spot: { maxPrice: "0.2" } }),
    say("on the spot market, at 0.2 USD an hour at most; the price shown is that on demand"),
  );
  assert.deepEqual(notes({ candidates: ["h1", "h2", "h3"] }), say("free hosts: h1, h2"));
  assert.deepEqual(notes({ candidates: ["h1"] }), say("free hosts: h1; 1 of 2 machines have to wait for one"));
  assert.deepEqual(notes({ candidates: [] }), say("no host is free; 2 of 2 machines have to wait for one"));
  assert.deepEqual(
    notes({ replaced: true, before: 2 }),
    say("its template has changed: the 2 machines that are there are replaced"),
  );
  assert.deepEqual(notes({ unknown: "no answer" }), say("not known: no answer"));
});

test("what the API could not check, and what is not known of an object, is said", () => {
  const lines = planLines([outcome([], { unknown: "no such template" }, { unchecked: "its kind is new" })]);
  assert.deepEqual(lines.slice(5), [
    "f.yaml:3: Pool/a: not checked by the API: its kind is new",
    "f.yaml:3: Pool/a: no such template",
  ]);
});

test("a concern that only warns is a note; one that is fatal is a problem with its place", () => {
  const warning = { on: "Template/t", field: "spec.plan", message: "old", fatal: false, path: "t.yaml", line: 9 };
  const fatal = { on: "Pool/a", field: "spec.os", message: "unknown", fatal: true };
  assert.deepEqual(notes({ concerns: [warning, fatal] }), ["t.yaml:9: Template/t: spec.plan: old"]);
  assert.deepEqual(notes({ concerns: [{ ...warning, path: undefined as never, line: undefined as never }] }), [
    "f.yaml:3: Template/t: spec.plan: old",
  ]);
  const problems = fatalConcerns([outcome([group({ concerns: [warning, fatal] })])]);
  assert.deepEqual(problems.map(problemLine), ["f.yaml:3: Pool/a: spec.os: unknown"]);
  assert.equal(problemLine({ path: "p", line: 1, on: "Pool/a", message: "m" }), "p:1: Pool/a: m");
});

test("the document for programs has objects, machines, the total and the problems", () => {
  const problem = { path: "p", line: 1, on: "Pool/a", message: "m" };
  const metadata = { name: "a", namespace: "n" };
  const planned = { object: { apiVersion: "v1", kind: "Pool", metadata }, unchecked: "its kind is new" };
  const groups = [group({ price }), group({})];
  assert.deepEqual(planDocument([outcome(groups, { unknown: "no template" }, planned)], [problem]), {
    objects: [
      {
        ...{ change: "create", apiVersion: "v1", kind: "Pool", namespace: "n", name: "a", file: "f.yaml", line: 3 },
        ...{ makes: { Set: 1, Machine: 2 }, unchecked: "its kind is new", unknown: "no template" },
      },
    ],
    machines: groups,
    total: { moreMachines: 4, hourly: 1, monthly: 730, currency: "USD", withoutPrice: 2 },
    problems: [problem],
  });
});
