import assert from "node:assert/strict";
import { test } from "node:test";
import { lifeOfDeaths } from "./deaths-seed.ts";
import { runSeeds } from "./fault-seed.ts";

/** Of each of the five turns; on a slower API a sample of them. `make sim` plays more. */
const COUNT = 10;
const first = 1 + (Number(process.env.TURN ?? "0") % 5) * COUNT;

test(`in seeds ${first} to ${first + COUNT - 1} a host's life comes to its end though each process dies after a few effects, and none is let go unwiped or on`, async () => {
  const deaths: number[] = [];
  const life = async (seed: number): Promise<void> => {
    deaths.push(await lifeOfDeaths(seed));
  };
  await runSeeds(first, COUNT, { life });
  assert.ok(
    deaths.reduce((all, times) => all + times, 0) >= 5 * deaths.length,
    `lives have more effects than that: ${deaths.join(", ")} deaths`,
  );
});
