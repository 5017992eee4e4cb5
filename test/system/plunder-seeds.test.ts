import { test } from "node:test";
import { runSeeds } from "./fault-seed.ts";
import { plunderUnderFaults } from "./plunder-seed.ts";

/** Of each of the five turns. `make sim` plays more. */
const COUNT = 4;
const first = 1 + (Number(process.env.TURN ?? "0") % 5) * COUNT;

test(`N33 N35 N42 under faults of seeds ${first} to ${first + COUNT - 1} PlunderMachines get a host each, deletion in any order ends, and no host or address is left over`, async () => {
  await runSeeds(first, COUNT, { life: plunderUnderFaults });
});
