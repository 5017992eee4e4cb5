import { test } from "node:test";
import { runSeeds } from "./fault-seed.ts";
import { seedsOfTurn } from "./seeds-of-turn.ts";

const { first, count } = seedsOfTurn(0, process.env);

test(`under faults of seeds ${first} to ${first + count - 1} every pool converges, and no machine is bought twice or left over`, async () => {
  await runSeeds(first, count);
});
