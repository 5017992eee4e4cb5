import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { shardOf } from "./shard-of.ts";
import { planShards } from "./shard-plan.ts";

const NAMES = ["a", "b", "c", "d", "e", "f", "g"];
const replicas = fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1 });
const holders = fc.array(fc.option(fc.constantFrom(...NAMES), { nil: undefined }), { minLength: 1, maxLength: 40 });

const countsOf = (plan: readonly (string | undefined)[], of: readonly string[]): number[] =>
  of.map((replica) => plan.filter((holder) => holder === replica).length);

/** The fewest shards that a balanced plan takes from living holders, by trying which replicas get one more. */
function fewestMoves(held: readonly number[], shards: number): number {
  const atLeast = Math.floor(shards / held.length);
  const withOneMore = shards % held.length;
  let fewest = Number.POSITIVE_INFINITY;
  for (let choice = 0; choice < 2 ** held.length; choice++) {
    const more = held.map((_, i) => (choice >> i) & 1);
    if (more.reduce((sum, one) => sum + one, 0) !== withOneMore) continue;
    fewest = Math.min(
      fewest,
      held.reduce((sum, has, i) => sum + Math.max(0, has - atLeast - more[i]!), 0),
    );
  }
  return fewest;
}

test("every shard is planned for a living replica, none has two more than another, and no balanced plan moves fewer", () => {
  fc.assert(
    fc.property(holders, replicas, (now, living) => {
      const plan = planShards(now, living);
      assert.ok(plan.every((holder) => holder !== undefined && living.includes(holder)));
      const counts = countsOf(plan, living);
      assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, `${counts}`);
      const moved = now.filter((holder, i) => holder !== undefined && living.includes(holder) && holder !== plan[i]);
      assert.equal(moved.length, fewestMoves(countsOf(now, living), now.length));
    }),
  );
});

test("the plan is the same in whatever order the replicas are named, and once it is carried out nothing moves", () => {
  fc.assert(
    fc.property(holders, replicas, (now, living) => {
      const plan = planShards(now, living);
      assert.deepEqual(planShards(now, living.toReversed()), plan);
      assert.deepEqual(planShards(plan, living), plan);
    }),
  );
});

test("nobody holds anything where no replica lives", () => {
  assert.deepEqual(planShards(["a", undefined], []), [undefined, undefined]);
});

test("one that joins three takes four of sixteen, one that dies leaves its shards alone to the others", () => {
  const three = planShards(new Array<undefined>(16).fill(undefined), ["a", "b", "c"]);
  const four = planShards(three, ["a", "b", "c", "d"]);
  assert.deepEqual(countsOf(four, ["a", "b", "c", "d"]), [4, 4, 4, 4]);
  assert.ok(four.every((holder, i) => holder === three[i] || holder === "d"));
  const left = planShards(four, ["a", "c", "d"]);
  assert.ok(left.every((holder, i) => holder === four[i] || four[i] === "b"));
});

test("owners are spread evenly over shards, and another shard takes its part from all others", () => {
  const owners = Array.from({ length: 20_000 }, (_, i) => `pool/pool-${i}`);
  const counts = new Array<number>(16).fill(0);
  for (const owner of owners) counts[shardOf(owner, 16)]!++;
  assert.ok(Math.min(...counts) > 1_100 && Math.max(...counts) < 1_400, `${counts}`);
  const moved = owners.filter((owner) => shardOf(owner, 16) !== shardOf(owner, 17));
  assert.ok(moved.every((owner) => shardOf(owner, 17) === 16));
  assert.ok(moved.length > 1_000 && moved.length < 1_350, `${moved.length} of 20000`);
  assert.equal(shardOf("pool/rack", 1), 0);
});
