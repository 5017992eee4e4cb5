import { test } from "node:test";
import { runSeeds } from "./fault-seed.ts";
import { vinosUnderFaults } from "./vino-seed.ts";

/** Of each of the five turns. `make sim` plays more. */
const COUNT = 4;
const first = 1 + (Number(process.env.TURN ?? "0") % 5) * COUNT;

test(`VINO-6 VINO-8 VINO-11 under faults and deaths of seeds ${first} to ${first + COUNT - 1} nothing of Vinos is given twice, every node has what was asked for last, and nothing is left`, async () => {
  await runSeeds(first, COUNT, { life: vinosUnderFaults });
});

test("VINO-6 VINO-8 the addresses of a node that has left are free when its specification is without them, and not before", async () => {
  await runSeeds(229, 1, { life: vinosUnderFaults });
});

test("VINO-11 no core is left of a machine that could not be made", async () => {
  await runSeeds(153, 1, { life: vinosUnderFaults });
});
