import { test } from "node:test";
import { runSeeds } from "./fault-seed.ts";
import { ownPoolUnderFaults } from "./own-seed.ts";

const { TURN = "0" } = process.env;
/** `make sim` plays many more. */
const SEEDS = 4;

test("pools on own hosts converge under faults, whatever the seed, and nobody has two hosts", async () => {
  await runSeeds(1 + (Number(TURN) % 5) * SEEDS, SEEDS, { life: ownPoolUnderFaults });
});
