import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { besideWorkers } from "./lookups.ts";

const SECOND = 1_000;

/** Names are answered after these times, unless they are to be none. */
function scene(slow: Readonly<Record<string, number>> = {}) {
  const clock = new VirtualClock();
  const asked: string[] = [];
  const lookup = besideWorkers(async (name) => {
    asked.push(name);
    if (slow[name] !== undefined) await clock.sleep(slow[name]);
    if (name === "none.example") throw new Error("ENOTFOUND");
    return [`address of ${name}`];
  }, clock);
  const said = async (name: string, ms = 2 * SECOND): Promise<string> => {
    const result = lookup(name).then(
      (addresses) => addresses.join(),
      (error: unknown) => (isFault(error, "Unavailable") ? "not yet" : String(error)),
    );
    await clock.run(ms);
    return await result;
  };
  return { clock, asked, said };
}

test("a name is looked up anew each time; that it has no address is said", async () => {
  const { asked, said } = scene();
  assert.equal(await said("a.example"), "address of a.example");
  assert.equal(await said("a.example"), "address of a.example");
  assert.match(await said("none.example"), /ENOTFOUND/);
  assert.deepEqual(asked, ["a.example", "a.example", "none.example"]);
});

test("B24 who asks a slow name server waits a second, and gets its answer the next time", async () => {
  const { clock, asked, said } = scene({ "slow.example": 10 * SECOND });
  assert.equal(await said("slow.example"), "not yet");
  assert.equal(await said("slow.example"), "not yet");
  assert.equal(await said("a.example"), "address of a.example");
  await clock.run(10 * SECOND);
  assert.equal(await said("slow.example"), "address of slow.example");
  assert.deepEqual(asked, ["slow.example", "a.example"], "it was asked once");
});

test("B24 however many names hang, two are asked for at once, and every other one gets its turn", async () => {
  const slow = Object.fromEntries(["a", "b", "c"].map((name) => [name, 30 * SECOND]));
  const { clock, asked, said } = scene(slow);
  for (const name of ["a", "b", "c", "d"]) assert.equal(await said(name, SECOND), "not yet");
  assert.deepEqual(asked, ["a", "b"]);
  await clock.run(60 * SECOND);
  assert.equal(await said("d"), "address of d");
});
