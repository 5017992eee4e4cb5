import { test } from "node:test";
import { runSeeds } from "./fault-seed.ts";
import { sipUnderFaults } from "./sip-seed.ts";

/** Of each of the five turns. `make sim` plays more. */
const COUNT = 6;
const first = 1 + (Number(process.env.TURN ?? "0") % 5) * COUNT;

test(`SIP-6 SIP-11 under faults of seeds ${first} to ${first + COUNT - 1} no host is in two clusters, none is claimed beyond what was asked for, and none is kept`, async () => {
  await runSeeds(first, COUNT, { life: sipUnderFaults });
});
