import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { Patience } from "./patience.ts";
import { isProviders, type ReleaseStep, releasePatiently } from "./patient-release.ts";

const AWAY = new Fault("Unavailable", "provider", "no answer");
const WAY_OUT = new Fault("Unavailable", "provider", "no answer", { remedy: "abandon it" });

/** Steps of one object's release; `answer` is what the provider answers. */
function desk(more: Partial<ReleaseStep> = {}) {
  const at: { answer: Error | undefined; asked: number } = { answer: undefined, asked: 0 };
  const [clock, patience, stop] = [new VirtualClock(), new Patience(), new AbortController()];
  const giveBack = async () => {
    at.asked++;
    if (at.answer !== undefined) throw at.answer;
    return { againAfterMs: 1 };
  };
  const of: ReleaseStep = { uid: "u", name: "release", giveBack, letGo: undefined, withWayOut: () => WAY_OUT, ...more };
  const step = (name = "release") => releasePatiently(patience, { clock, signal: stop.signal }, { ...of, name });
  return { at, clock, stop, step };
}

test("a provider that can't be asked holds the object with the way out, and is left alone for a while", async () => {
  const { at, clock, step } = desk();
  at.answer = AWAY;
  await assert.rejects(step(), (error) => error === WAY_OUT);
  assert.deepEqual(await step(), { againAfterMs: 5_000, rests: true });
  assert.equal(at.asked, 1);
  await assert.rejects(step("release by force"), (error) => error === WAY_OUT);
  await clock.run(5_000);
  at.answer = undefined;
  assert.deepEqual(await step("release by force"), { againAfterMs: 1 });
});

test("a provider that answered in between is left alone no longer than after a first refusal", async () => {
  const { at, clock, step } = desk();
  for (const [answer, rest] of [
    [AWAY, 5_000],
    [AWAY, 10_000],
    [undefined, 0],
    [AWAY, 5_000],
  ] as const) {
    at.answer = answer;
    await step().catch(() => {});
    if (answer !== undefined) assert.deepEqual(await step(), { againAfterMs: rest, rests: true });
    await clock.run(rest);
  }
});

test("B49 once the machine is abandoned a provider that can't be asked lets the object go, and nothing else does", async () => {
  const reasons: string[] = [];
  const letGo = async (reason: string) => {
    reasons.push(reason);
    return { againAfterMs: 2 };
  };
  const { at, step } = desk({ letGo });
  assert.deepEqual(await step(), { againAfterMs: 1 });
  at.answer = new Fault("Conflict", "it", "changed meanwhile");
  await assert.rejects(step(), (error) => isFault(error, "Conflict"));
  at.answer = AWAY;
  assert.deepEqual(await step(), { againAfterMs: 2 });
  assert.deepEqual(reasons, [AWAY.message]);
});

test("who stops is no refusal of the provider's", async () => {
  const { at, stop, step } = desk();
  at.answer = AWAY;
  stop.abort(new Error("stopped"));
  await assert.rejects(step(), /stopped/);
});

test("B49 only faults of the provider let an object be abandoned", () => {
  assert.ok(isProviders(AWAY));
  assert.ok(isProviders(new Fault("MissingInput", "Secret/a", "x")));
  for (const code of ["Conflict", "NotLeader", "Undeclared", "Bug"] as const)
    assert.ok(!isProviders(new Fault(code, "it", "x")));
  assert.ok(!isProviders(new Error("x")));
});
