import assert from "node:assert/strict";
import { test } from "node:test";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { fixedToken, renewed } from "./credentials.ts";
import { inCluster } from "./kubeconfig.ts";

test("what may be renewed is asked for once a minute, after a refusal at once, and by all who wait together", async () => {
  const clock = new VirtualClock();
  const before: (number | undefined)[] = [];
  const ask = renewed(clock, async (last: number | undefined) => {
    before.push(last);
    await Promise.resolve();
    return before.length;
  });
  assert.deepEqual(await Promise.all([ask(false), ask(false), ask(true)]), [1, 1, 1]);
  await clock.run(59_999);
  assert.equal(await ask(false), 1);
  await clock.run(1);
  assert.equal(await ask(false), 2);
  assert.equal(await ask(true), 3);
  assert.deepEqual(before, [undefined, 1, 2]);
});

test("a question that fails is asked again by the next", async () => {
  let fails = true;
  const ask = renewed(new VirtualClock(), async () => {
    if (fails) throw new Error("no");
    return "yes";
  });
  await assert.rejects(ask(false), /no/);
  fails = false;
  assert.equal(await ask(false), "yes");
});

test("a fixed header stays, also after a refusal", async () => {
  const header = fixedToken("Bearer t");
  assert.deepEqual([await header(false), await header(true)], ["Bearer t", "Bearer t"]);
});

test("a Pod without a service account gets a fault that says so", async () => {
  await assert.rejects(inCluster({}, new VirtualClock(), "/nowhere"), { code: "MissingInput" });
});
