/**
 * Roll-outs of many shapes under the light core and under upstream's, step by step: whenever both have nothing left to do, they must have the
 * same MachineSets, of the same sizes, with the same number of Machines in each state. Then the same thing happens to both.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { programs } from "./clusterctl.ts";
import { compare } from "./rollouts/compare.ts";
import { lightCore, upstreamCore } from "./rollouts/core-under-test.ts";
import { shapes } from "./rollouts/shape.ts";

const SEED = Number(process.env.ROLLOUT_SEED ?? 1);
/** Roll-outs of each course: more, and other seeds, for a longer look (ROLLOUT_SEED=2 ROLLOUT_EACH=3). */
const EACH = Number(process.env.ROLLOUT_EACH ?? 1);
const folder = await programs("clusterctl", "kubectl", "capi-core");
const skip = folder instanceof Error && folder.message;

test("roll-outs have the same objects at every step under the light core and under upstream's", { skip }, async (t) => {
  const cores = [await lightCore(t), await upstreamCore(t, String(folder))] as const;
  const all = shapes(SEED, EACH);
  const { differences, steps } = await compare(cores, all, SEED);
  t.diagnostic(`${all.length} roll-outs, ${steps} steps`);
  const stories = [...differences].map(([name, story]) => `${name}\n${story}`);
  assert.equal(differences.size, 0, [...stories, await cores[1].said()].join("\n\n"));
});
