import { test } from "node:test";
import { runSeeds } from "./fault-seed.ts";
import { lifeWithFaults } from "./packet-life.ts";

const { TURN = "0", SEEDS } = process.env;
/** A turn plays one part in fifteen of 300 seeds; `make test-all`, which sets SEEDS, all of them. */
const PART = 20;
const [first, count] = SEEDS === undefined ? [1 + (Number(TURN) % 15) * PART, PART] : [1, 300];

test("A4 clusters of Packet machines under faults by seed, deleted in any order: nothing is bought twice, nothing is left", async () => {
  await runSeeds(first, count, { life: lifeWithFaults });
});
