import { test } from "node:test";
import { runSeeds } from "./fault-seed.ts";

/** Half of them run in each file, so that two cores share the work. */
const FIRST = 151;
const SEEDS = 150;

test(`under faults of seeds ${FIRST} to ${FIRST + SEEDS - 1} every pool converges, and no machine is bought twice or left over`, async () => {
  await runSeeds(FIRST, SEEDS);
});
