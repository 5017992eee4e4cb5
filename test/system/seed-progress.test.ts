import assert from "node:assert/strict";
import { test } from "node:test";
import { sampled } from "./api.ts";
import { runSeeds } from "./fault-seed.ts";

const wholeRow = sampled([1, 2]).length === 2;

test("a run of seeds reports its progress, and a failing seed when it fails", {
  skip: !wholeRow && "only a part of the seeds is played here",
}, async () => {
  const printed: string[] = [];
  const seen: string[] = [];
  const life = async (seed: number): Promise<void> => {
    if (seed === 14) seen.push(printed.join("\n"));
    if (seed === 13) throw new Error("two machines");
  };
  const run = runSeeds(1, 20, { life, print: (line) => void printed.push(line) });
  await assert.rejects(run, /seed 13 failed.*make sim FROM=13 SEEDS=1/);
  assert.match(seen[0]!, /10 of 20 played, 0 failed/);
  assert.match(seen[0]!, /seed 13 failed[\s\S]*two machines/);
  assert.match(printed.at(-1)!, /20 of 20 played, 1 failed/);
});

test("many failing seeds end the run early", {
  skip: !wholeRow && "only a part of the seeds is played here",
}, async () => {
  let played = 0;
  const life = async (): Promise<void> => {
    played++;
    throw new Error("broken");
  };
  await assert.rejects(runSeeds(1, 100, { life, print: () => {} }));
  assert.equal(played, 5);
});
