import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { Aside } from "./aside.ts";

const SECOND = 1_000;

function scene() {
  const clock = new VirtualClock();
  const aside = new Aside();
  const reported: string[] = [];
  aside.onDone((id) => reported.push(id));
  const { signal } = new AbortController();
  /** Resolves with what `run` does, while time passes. */
  const run = async <T>(id: string, key: string, work: (signal: AbortSignal) => Promise<T>, ms = 2 * SECOND) => {
    const result = aside.run(id, key, work, { clock, signal });
    result.catch(() => {});
    await clock.run(ms);
    return await result;
  };
  return { clock, aside, reported, run };
}

test("what ends at once is handed over at once, and its refusal too; nobody is called back for it", async () => {
  const { run, reported } = scene();
  assert.deepEqual(await run("a", "k", async () => 7), { value: 7 });
  const refused = new Fault("Forbidden", "x", "no");
  await assert.rejects(
    run("a", "k", async () => {
      throw refused;
    }),
    refused,
  );
  assert.deepEqual(reported, []);
});

test("work that ends at once leaves no timer behind", async () => {
  const { clock, aside } = scene();
  const { signal } = new AbortController();
  assert.deepEqual(await aside.run("a", "k", async () => 7, { clock, signal }), { value: 7 });
  assert.equal(clock.pending, 0);
});

test("B24 what takes longer is waited for a second, goes on by itself, and is handed over when it is asked for again", async () => {
  const { clock, run, reported } = scene();
  let begun = 0;
  const slow = async () => {
    begun++;
    await clock.sleep(10 * SECOND);
    return "done";
  };
  assert.equal(await run("a", "k", slow), undefined);
  assert.equal(await run("a", "other", slow), undefined, "one at a time for each tenant");
  assert.deepEqual(await run("b", "k", async () => 1), { value: 1 }, "others are not held up");
  await clock.run(10 * SECOND);
  assert.deepEqual([begun, reported], [1, ["a"]]);
  assert.deepEqual(await run("a", "k", slow), { value: "done" });
  assert.equal(await run("a", "k", slow), undefined, "it is handed over once");
});

test("what came of other work than is asked for is dropped", async () => {
  const { clock, run } = scene();
  await run("a", "old", async () => {
    await clock.sleep(5 * SECOND);
    return "old";
  });
  await clock.run(5 * SECOND);
  assert.deepEqual(await run("a", "new", async () => "new"), { value: "new" });
});

test("what never ends is given up after two minutes, and at once when its tenant goes", async () => {
  const { clock, aside, run, reported } = scene();
  const never = () => new Promise<never>(() => {});
  assert.equal(await run("a", "k", never), undefined);
  await clock.run(120 * SECOND);
  assert.deepEqual(reported, ["a"]);
  await assert.rejects(run("a", "k", never), (error) => isFault(error, "Timeout"));
  let ended = false;
  const heeds = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => {
        ended = true;
        reject(new Error("aborted"));
      });
    });
  assert.equal(await run("b", "k", heeds), undefined);
  aside.stop();
  assert.ok(ended);
});
