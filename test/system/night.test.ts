import assert from "node:assert/strict";
import { test } from "node:test";
import { playNight } from "./night.ts";

/** Each history takes a minute; those of `wrong` fail. `perRound`: of pool, rack and sip. */
async function night(from: number, count: number, wrong: readonly string[] = [], perRound = [1, 1, 1]) {
  const played: string[] = [];
  const lines: string[] = [];
  let now = 0;
  const kinds = ["pool", "rack", "sip"].map((name, at) => {
    const life = async (seed: number): Promise<void> => {
      now += 60_000;
      played.push(`${name} ${seed}`);
      if (wrong.includes(`${name} ${seed}`)) throw new Error("two hosts");
    };
    return [name, { life, perRound: perRound[at]! }] as const;
  });
  const print = (line: string): void => void lines.push(line.split("\n")[0]!);
  const failed = await playNight({ from, count, kinds, now: () => now, print });
  return { played, lines, failed };
}

test("a night plays all kinds of histories by turns, and says how long the rest takes and how to go on from there", async () => {
  const { played, lines, failed } = await night(1, 5);
  assert.deepEqual(played, ["pool 1", "rack 1", "sip 1", "pool 2", "rack 2"]);
  assert.deepEqual(failed, []);
  assert.equal(lines[2], "3 of 5: 0 failed, took 3m0s, about 2m0s left; FROM=4 goes on from here");
  assert.equal(lines.at(-1), "5 of 5: 0 failed, took 5m0s");
});

test("a night that goes on plays what the first part had left", async () => {
  const all = await night(1, 8);
  const parts = [await night(1, 4), await night(5, 4)];
  assert.deepEqual(
    parts.flatMap(({ played }) => played),
    all.played,
  );
});

test("of a kind whose histories are short, a round has more", async () => {
  const { played } = await night(1, 8, [], [1, 4, 2]);
  assert.deepEqual(played, ["rack 1", "sip 1", "rack 2", "pool 1", "rack 3", "sip 2", "rack 4", "rack 5"]);
  const later = await night(15, 7, [], [1, 4, 2]);
  assert.deepEqual(later.played, ["rack 9", "sip 5", "rack 10", "pool 3", "rack 11", "sip 6", "rack 12"]);
});

test("a history that fails is told at once with the command that replays it, and the night goes on", async () => {
  const { played, lines, failed } = await night(1, 6, ["rack 1"]);
  assert.equal(played.length, 6);
  assert.deepEqual(failed, ["make sim ONLY=rack FROM=1 SEEDS=1"]);
  assert.equal(lines[1], "history 2 failed; replay it with: make sim ONLY=rack FROM=1 SEEDS=1");
  assert.equal(lines[2], "Error: two hosts");
});
