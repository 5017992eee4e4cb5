import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Migration, type MigrationFacts, migrationStep, readMigration, writeMigration } from "./migration-plan.ts";

const record: Migration = { from: "a", to: "b" };

test("a tenant stays where it is wanted, and where it has no objects yet", () => {
  assert.deepEqual(migrationStep({ wanted: "a", at: undefined, record: undefined }), { do: "stay", at: "a" });
  assert.deepEqual(migrationStep({ wanted: "a", at: "a", record: undefined }), { do: "stay", at: "a" });
});

test("a move is announced, copied and cleaned up, in this order", () => {
  const announced = { do: "announce", from: "a", to: "b", turnsBack: false };
  assert.deepEqual(migrationStep({ wanted: "b", at: "a", record: undefined }), announced);
  assert.deepEqual(migrationStep({ wanted: "b", at: "a", record }), { do: "copy", record });
  assert.deepEqual(migrationStep({ wanted: "b", at: "b", record }), { do: "clean", record });
});

test("a move that is no longer wanted is abandoned before it, and turned back after it", () => {
  assert.deepEqual(migrationStep({ wanted: "a", at: "a", record }), { do: "abandon", record });
  assert.deepEqual(migrationStep({ wanted: "c", at: "a", record }), { do: "abandon", record });
  const back = { do: "announce", from: "b", to: "a", turnsBack: true };
  assert.deepEqual(migrationStep({ wanted: "a", at: "b", record }), back);
});

test("a third DataStore is gone to when the second one serves", () => {
  assert.deepEqual(migrationStep({ wanted: "c", at: "b", record }), { do: "clean", record });
});

test("a record of another move is refused", () => {
  const step = migrationStep({ wanted: "b", at: "c", record });
  assert.deepEqual(step, {
    do: "refuse",
    because: "it is about a move from a to b, and the objects are in c",
  });
});

test("a record is read as it was written, and nothing else is one", () => {
  assert.deepEqual(readMigration(writeMigration({ from: "a.b", to: "c-d" })), { from: "a.b", to: "c-d" });
  assert.equal(readMigration(undefined), undefined);
  for (const text of ["", "a", "/b", "a/", "a/b/c"]) assert.throws(() => readMigration(text), /FROM\/TO/);
});

/** DataStores with what is in each: the last write of the tenant, as a number; undefined: nothing. */
interface World {
  stores: Record<string, number | undefined>;
  facts: MigrationFacts;
  last: number;
}

/** Carries a step out, up to the part at which it dies. */
function carryOut(world: World, dies: number): void {
  const { facts, stores } = world;
  const step = migrationStep(facts);
  const parts: (() => void)[] = [];
  if (step.do === "stay" || step.do === "clean") {
    const at = step.do === "stay" ? step.at : facts.at!;
    parts.push(() => {
      facts.at = at;
      stores[at] ??= world.last;
      assert.equal(stores[at], world.last, "it serves from a place without its last write");
      stores[at] = ++world.last;
    });
  }
  if (step.do === "announce") parts.push(() => (facts.record = { from: step.from, to: step.to }));
  if (step.do === "copy") {
    const { from, to } = step.record;
    parts.push(
      () => (stores[to] = undefined),
      () => (stores[to] = stores[from]),
      () => (facts.at = to),
    );
  }
  if (step.do === "abandon" || step.do === "clean") {
    const left = step.do === "abandon" ? step.record.to : step.record.from;
    parts.push(
      () => (stores[left] = undefined),
      () => (facts.record = undefined),
    );
  }
  for (const part of parts.slice(0, dies)) part();
}

test("whatever is wanted when, and wherever it dies, a tenant serves its last write, and at the end from one place alone", () => {
  const names = fc.constantFrom("a", "b", "c");
  fc.assert(
    fc.property(fc.array(fc.tuple(names, fc.nat(4)), { minLength: 1, maxLength: 30 }), names, (moves, end) => {
      const world: World = { stores: {}, facts: { wanted: "a", at: undefined, record: undefined }, last: 0 };
      carryOut(world, 9);
      for (const [wanted, dies] of moves) {
        world.facts.wanted = wanted;
        carryOut(world, dies);
      }
      world.facts.wanted = end;
      for (let step = 0; step < 10; step++) carryOut(world, 9);
      assert.equal(world.facts.at, end);
      assert.equal(world.facts.record, undefined);
      const full = Object.keys(world.stores).filter((name) => world.stores[name] !== undefined);
      assert.deepEqual(full, [end]);
    }),
  );
});
