import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isoTime } from "@slipway/base";
import { bringUpAgent } from "./agent-stage.ts";
import type { BmcView } from "./facts.ts";
import { bmcThat, factsOf, NOW } from "./testing.ts";

const MINUTE = 60_000;
const ago = (ms: number): string => isoTime(NOW - ms);
const silent = (code: ConstructorParameters<typeof Fault>[0]): BmcView => ({
  is: "fails",
  fault: new Fault(code, "bmc", "no answer"),
});

/** What is done for a machine that was started so long ago, and whose agent has not come. */
function next(startedMs: number, more: Parameters<typeof factsOf>[1] = {}) {
  const operation = { attempt: 1, startedAt: ago(startedMs), poweredAt: ago(startedMs) };
  const facts = factsOf("inspecting", { bmc: bmcThat("on"), ...more, status: { operation } });
  return bringUpAgent(facts, operation);
}

test("a machine that was started is waited for, though its BMC does not answer meanwhile; a refusal is an error at once", () => {
  for (const code of ["Unavailable", "Timeout", "LostAnswer", "Throttled"] as const) {
    const step = next(2 * MINUTE, { bmc: silent(code) });
    assert.equal(step?.do, "wait", code);
    assert.match(step?.do === "wait" ? step.forWhat! : "", /agent .* to register; its BMC does not answer meanwhile/);
  }
  const refused = next(2 * MINUTE, { bmc: silent("BadCredentials") });
  assert.equal(refused?.do === "write" && refused.fields.errorMessage, "bmc: no answer");
  const late = next(20 * MINUTE, { bmc: silent("Unavailable") });
  assert.equal(late?.do === "write" && late.fields.operationalStatus, "error");
});

test("a start that a process has died over is made again after five minutes, one that was made is waited for", () => {
  const another = { isStarted: () => false };
  assert.equal(next(5 * MINUTE, another)?.do, "wait");
  const again = next(5 * MINUTE + 1, another);
  assert.deepEqual([again?.do, again?.do === "power" && again.action], ["power", "restart"]);
  assert.equal(next(19 * MINUTE)?.do, "wait");
});
