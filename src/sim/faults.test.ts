import assert from "node:assert/strict";
import { test } from "node:test";
import { asFault, type Http, json, seededRandom } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { type FaultKind, type FaultRates, withFaults } from "./faults.ts";

const ROUNDS = 400;

interface Tally {
  outcomes: string[];
  effects: number;
  felt: string[];
}

async function tally(rates: FaultRates, seed = 1): Promise<Tally> {
  const clock = new VirtualClock();
  const felt: string[] = [];
  let effects = 0;
  const http: Http = async () => {
    effects++;
    return json(200, {});
  };
  const onFault = (kind: string): void => {
    felt.push(kind);
  };
  const faulty = withFaults(http, { random: seededRandom(seed), clock, rates, onFault });
  const outcomes: string[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const answer = faulty({ method: "POST", url: "https://metal.test/x" }).then(
      ({ status }) => String(status),
      (error: unknown) => asFault(error, "test").code,
    );
    outcomes.push(await answer);
  }
  return { outcomes, effects, felt };
}

test("without rates nothing happens to a request", async () => {
  const { outcomes, effects, felt } = await tally({});
  assert.deepEqual([new Set(outcomes), effects, felt.length], [new Set(["200"]), ROUNDS, 0]);
});

test("each kind gives the answer it names, with the effect it names", async () => {
  const table: [FaultKind, RegExp, (effects: number) => boolean][] = [
    ["lostAnswerAfterEffect", /^LostAnswer$/, (effects) => effects === ROUNDS],
    ["lostBeforeEffect", /^LostAnswer$/, (effects) => effects === 0],
    ["reset", /^LostAnswer$/, (effects) => effects > 0 && effects < ROUNDS],
    ["serverError", /^50[0-4]$/, (effects) => effects > 0 && effects < ROUNDS],
    ["throttled", /^429$/, (effects) => effects === 0],
  ];
  for (const [kind, outcome, effect] of table) {
    const { outcomes, effects, felt } = await tally({ [kind]: 1 });
    assert.ok(
      outcomes.every((one) => outcome.test(one)),
      kind,
    );
    assert.ok(effect(effects), `${kind}: ${effects} effects`);
    assert.equal(felt.length, ROUNDS);
  }
});

test("a rate is met about as often as it says, and the same seed gives the same history", async () => {
  const rates = { throttled: 0.2, lostBeforeEffect: 0.1 };
  const once = await tally(rates, 5);
  const count = (outcome: string): number => once.outcomes.filter((one) => one === outcome).length;
  assert.ok(Math.abs(count("429") - 80) < 30 && Math.abs(count("LostAnswer") - 40) < 25);
  assert.deepEqual((await tally(rates, 5)).outcomes, once.outcomes);
  assert.notDeepEqual((await tally(rates, 6)).outcomes, once.outcomes);
});

test("a slow answer takes its time, and is lost beyond the request's timeout though it had its effect", async () => {
  const clock = new VirtualClock();
  let effects = 0;
  const http: Http = async () => {
    effects++;
    return json(200, {});
  };
  const rates = { slow: { rate: 1, minMs: 5_000, maxMs: 5_000 } };
  const faulty = withFaults(http, { random: seededRandom(1), clock, rates });
  const start = clock.now();
  const slow = faulty({ method: "GET", url: "https://metal.test/x" }).then(() => clock.now() - start);
  const timedOut = assert.rejects(faulty({ method: "POST", url: "https://metal.test/x", timeoutMs: 1_000 }), {
    code: "LostAnswer",
  });
  await clock.run(10_000);
  await timedOut;
  assert.deepEqual([await slow, effects], [5_000, 2]);
});

test("a caller that gives up on a slow answer is let go with a fault", async () => {
  const clock = new VirtualClock();
  const rates = { slow: { rate: 1, minMs: 5_000, maxMs: 5_000 } };
  const faulty = withFaults(async () => json(200, {}), { random: seededRandom(1), clock, rates });
  const caller = new AbortController();
  const outcome = faulty({ method: "GET", url: "https://metal.test/x", signal: caller.signal });
  caller.abort();
  await assert.rejects(outcome, { code: "LostAnswer" });
  assert.equal(clock.pending, 0);
});
