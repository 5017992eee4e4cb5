import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Occupancy, type Place } from "./eviction.ts";

const BOUNDS = { hosts: 12, bytes: 1_000, hostsPerSource: 6, bytesPerSource: 400 };
const RANKS = ["seen", "registered", "kept"] as const;

const seen = (source: string, bytes = 1): Place => ({ source, rank: "seen", bytes });
const registered = (source: string, bytes = 1): Place => ({ source, rank: "registered", bytes });
const never = (): boolean => false;

function occupied(...places: readonly (readonly [string, Place])[]): Occupancy {
  const occupancy = new Occupancy({ ...BOUNDS, hosts: 4, hostsPerSource: 3 });
  for (const [name, place] of places) occupancy.put(name, place);
  return occupancy;
}

test("who was merely seen leaves first, then who registered, among equals the one that was silent longest", () => {
  const full = occupied(["r1", registered("a")], ["s1", seen("b")], ["s2", seen("b")], ["r2", registered("a")]);
  assert.deepEqual(full.roomFor("new", registered("c"), never), ["s1"]);
  full.put("s1", seen("b"));
  assert.deepEqual(full.roomFor("new", registered("c"), never), ["s2"]);
  full.remove("s1");
  full.remove("s2");
  for (const name of ["r3", "r4"]) full.put(name, registered("b"));
  assert.deepEqual(full.roomFor("new", registered("c"), never), ["r1"]);
});

test("no record makes room for one that is worth less", () => {
  const full = occupied(
    ["r1", registered("a")],
    ["r2", registered("a")],
    ["r3", registered("b")],
    ["r4", registered("b")],
  );
  assert.equal(full.roomFor("new", seen("c"), never), undefined);
  assert.deepEqual(full.roomFor("new", { ...seen("c"), rank: "kept" }, never), ["r1"]);
});

test("a source that is full makes room in itself, and the others keep theirs", () => {
  const full = occupied(["b1", seen("b")], ["a1", seen("a")], ["a2", seen("a")], ["a3", seen("a")]);
  assert.deepEqual(full.roomFor("a4", seen("a"), never), ["a1"]);
  full.remove("b1");
  assert.deepEqual(full.roomFor("a4", registered("a", 398), never), ["a1"]);
  assert.deepEqual(full.roomFor("a4", registered("a", 399), never), ["a1", "a2"]);
  assert.equal(full.roomFor("a4", registered("a", 401), never), undefined);
});

test("who is kept never leaves, also if it became worth keeping only now", () => {
  const full = occupied(["k", { ...seen("a"), rank: "kept" }], ["s1", seen("a")], ["s2", seen("a")], ["s3", seen("a")]);
  assert.deepEqual(
    full.roomFor("new", seen("b"), (name) => name === "s1"),
    ["s2"],
  );
  assert.equal(
    full.roomFor("new", seen("b"), () => true),
    undefined,
  );
  assert.deepEqual(full.of("a"), { hosts: 0, bytes: 0 });
});

/** Who leaves is worth no more than what it leaves for, and none of its worth in its source was silent for longer. */
function assertMayLeave(
  each: string,
  { name, place, leaving, model }: { name: string; place: Place; leaving: string[]; model: Map<string, Place> },
): void {
  const its = model.get(each)!;
  assert.notEqual(its.rank, "kept");
  assert.ok(RANKS.indexOf(its.rank) <= RANKS.indexOf(place.rank));
  const before = [...model].slice(0, [...model.keys()].indexOf(each));
  const passedOver = before.filter(
    ([other, { source, rank }]) =>
      other !== name && rank === its.rank && source === its.source && !leaving.includes(other),
  );
  assert.deepEqual(passedOver, [], "one of the same worth was silent for longer");
}

function assertTotals(occupancy: Occupancy, model: ReadonlyMap<string, Place>): void {
  const bytesOf = (places: readonly Place[]): number => places.reduce((sum, each) => sum + each.bytes, 0);
  const all = [...model.values()];
  assert.deepEqual([occupancy.size, occupancy.bytes], [all.length, bytesOf(all)]);
  assert.ok(occupancy.size <= BOUNDS.hosts && occupancy.bytes <= BOUNDS.bytes);
  for (const source of ["link", "relay:1", "relay:2", "relay:3"]) {
    const own = all.filter((each) => each.source === source && each.rank !== "kept");
    assert.deepEqual(occupancy.of(source), { hosts: own.length, bytes: bytesOf(own) });
  }
}

test("whatever comes in whatever order, the bounds hold in count and bytes, and only who may leave does, in the order that is promised", () => {
  const step = fc.record({
    name: fc.integer({ min: 0, max: 30 }).map(String),
    place: fc.record({
      source: fc.constantFrom("link", "relay:1", "relay:2", "relay:3"),
      rank: fc.constantFrom(...RANKS),
      bytes: fc.integer({ min: 1, max: 250 }),
    }),
    goes: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const occupancy = new Occupancy(BOUNDS);
      const model = new Map<string, Place>();
      for (const { name, place, goes } of steps) {
        if (goes) {
          occupancy.remove(name);
          model.delete(name);
          continue;
        }
        const leaving = occupancy.roomFor(name, place, never);
        if (leaving === undefined) continue;
        for (const each of leaving) {
          assertMayLeave(each, { name, place, leaving, model });
          occupancy.remove(each);
        }
        for (const each of leaving) model.delete(each);
        occupancy.put(name, place);
        model.delete(name);
        model.set(name, place);

        assertTotals(occupancy, model);
      }
    }),
  );
});

const NOTHING = { hosts: 0, bytes: 0 };

test("the last record of a source that may leave goes, and the kept one beside it may change later", () => {
  const occupancy = new Occupancy(BOUNDS);
  occupancy.put("seen", { source: "relay:1", rank: "seen", bytes: 1 });
  occupancy.put("kept", { source: "relay:1", rank: "kept", bytes: 1 });
  occupancy.remove("seen");
  occupancy.put("kept", { source: "link", rank: "seen", bytes: 1 });
  assert.deepEqual(
    [occupancy.size, occupancy.of("relay:1"), occupancy.of("link")],
    [1, NOTHING, { hosts: 1, bytes: 1 }],
  );
});
