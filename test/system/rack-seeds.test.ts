import { test } from "node:test";
import { runSeeds } from "./fault-seed.ts";
import { rackUnderFaults } from "./rack-seed.ts";

/** Of each of the five turns. `make sim` plays more. */
const COUNT = 8;
const first = 1 + (Number(process.env.TURN ?? "0") % 5) * COUNT;

test(`under faults of seeds ${first} to ${first + COUNT - 1} hosts get what was asked for last, and none is offered unwiped`, async () => {
  await runSeeds(first, COUNT, { life: rackUnderFaults });
});
