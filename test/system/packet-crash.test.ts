import assert from "node:assert/strict";
import { test } from "node:test";
import { numbers, sampled } from "./api.ts";
import type { Death } from "./mortal.ts";
import { lifeWithDeath } from "./packet-life.ts";
import { ofTurn } from "./seeds-of-turn.ts";

/** Effects of a cluster's life as the place to die: a turn's share, and every one in `make test-all`. */
async function everyDeath(when: Death["when"]): Promise<void> {
  const { effects } = await lifeWithDeath();
  assert.ok(effects > 30, `the life has effects to die at: ${effects}`);
  for (const atEffect of ofTurn(sampled(numbers(1, effects)), process.env)) {
    try {
      await lifeWithDeath({ atEffect, when });
    } catch (error) {
      throw new Error(`dying ${when} effect ${atEffect} of ${effects}`, { cause: error });
    }
  }
}

test("A5 B31 B35 the operator may die just before any effect of a cluster's life: no second machine, no second address, nothing left", () =>
  everyDeath("before"));
test("A5 B31 B35 the operator may die just after any effect, its answer unread: no second machine, no second address, nothing left", () =>
  everyDeath("after"));
