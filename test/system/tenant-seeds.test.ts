import { test } from "node:test";
import { runSeeds } from "./fault-seed.ts";
import { tenantsUnderFaults } from "./tenant-seed.ts";

const { TURN = "0" } = process.env;
/** `make sim` plays many more. */
const SEEDS = 4;

test("tenants converge under faults, whatever the seed: each has its own objects, and nothing of them is left in the end", async () => {
  await runSeeds(1 + (Number(TURN) % 5) * SEEDS, SEEDS, { life: tenantsUnderFaults });
});
