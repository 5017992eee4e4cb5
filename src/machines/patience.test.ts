import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import { Patience } from "./patience.ts";

const fault = (retryAfterMs?: number) =>
  new Fault("Unavailable", "provider", "no", { ...(retryAfterMs !== undefined && { retryAfterMs }) });

test("a step that is refused rests for five seconds, then twice as long each time, up to two minutes", () => {
  const patience = new Patience();
  const rests: number[] = [];
  let now = 1_000;
  for (let i = 0; i < 7; i++) {
    patience.refused("u", "order", fault(), now);
    rests.push(patience.restMs("u", "order", now));
    now += rests.at(-1)!;
    assert.equal(patience.restMs("u", "order", now - 1), 1);
    assert.equal(patience.restMs("u", "order", now), 0);
    assert.equal(patience.restMs("u", "order", now + 1), 0);
  }
  assert.deepEqual(rests, [5_000, 10_000, 20_000, 40_000, 80_000, 120_000, 120_000]);
});

test("a provider that asks for more patience gets it", () => {
  const patience = new Patience();
  patience.refused("u", "order", fault(300_000), 0);
  assert.equal(patience.restMs("u", "order", 0), 300_000);
  patience.refused("u", "order", fault(1), 300_000);
  assert.equal(patience.restMs("u", "order", 300_000), 10_000);
});

test("another step, another Instance, and a step that went through are tried at once and start anew", () => {
  const patience = new Patience();
  for (let i = 0; i < 3; i++) patience.refused("u", "order", fault(), 0);
  assert.equal(patience.restMs("u", "order elsewhere", 0), 0);
  assert.equal(patience.restMs("v", "order", 0), 0);
  patience.refused("u", "order elsewhere", fault(), 0);
  assert.equal(patience.restMs("u", "order elsewhere", 0), 5_000);
  assert.equal(patience.restMs("u", "order", 0), 0);
  patience.forget("u");
  assert.equal(patience.restMs("u", "order elsewhere", 0), 0);
  patience.refused("u", "order elsewhere", fault(), 0);
  assert.equal(patience.restMs("u", "order elsewhere", 0), 5_000);
});
