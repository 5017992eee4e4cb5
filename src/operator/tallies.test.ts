import assert from "node:assert/strict";
import { test } from "node:test";
import { Registry } from "prom-client";
import { talliesIn } from "./tallies.ts";

const COUNTED = { name: "made_up_total", help: "Made up", labels: ["of"] };
const TIMED = { name: "made_up_seconds", help: "Made up", labels: ["of"], buckets: [1, 10] };

const lines = async (registry: Registry): Promise<string[]> =>
  (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));

test("what happens is counted by its labels, and values are in the buckets that they fit", async () => {
  const registry = new Registry();
  const tallies = talliesIn(registry, [COUNTED, TIMED]);
  for (const letter of ["a", "a", "b"]) tallies.add({ name: COUNTED.name, labels: { of: letter } });
  tallies.add({ name: TIMED.name, labels: { of: "a" }, value: 5 });
  assert.deepEqual(await lines(registry), [
    'made_up_total{of="a"} 2',
    'made_up_total{of="b"} 1',
    'made_up_seconds_bucket{le="1",of="a"} 0',
    'made_up_seconds_bucket{le="10",of="a"} 1',
    'made_up_seconds_bucket{le="+Inf",of="a"} 1',
    'made_up_seconds_sum{of="a"} 5',
    'made_up_seconds_count{of="a"} 1',
  ]);
});

test("an object's series go with it, and others stay", async () => {
  const registry = new Registry();
  const tallies = talliesIn(registry, [COUNTED, TIMED]);
  for (const letter of ["a", "b"]) {
    const about = { labels: { of: letter }, of: `object ${letter}` };
    tallies.add({ name: COUNTED.name, ...about });
    tallies.add({ name: TIMED.name, value: 0.5, ...about });
  }
  tallies.forget("object a");
  tallies.forget("object that was never counted");
  const left = await lines(registry);
  assert.deepEqual(
    left.filter((line) => line.includes('of="a"')),
    [],
  );
  assert.equal(left.filter((line) => line.includes('of="b"')).length, 6);
});

test("a metric that no system declares is a mistake that says its name", () => {
  assert.throws(() => talliesIn(new Registry(), [COUNTED]).add({ name: "unknown_total" }), /unknown_total/);
});
