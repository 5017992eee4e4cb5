import assert from "node:assert/strict";
import { test } from "node:test";
import { againAfterMs, enter, failed, recovered } from "./moves.ts";
import { at, factsOf } from "./testing.ts";

test("another try is after 10 s, then twice as late each time, ten minutes at most", () => {
  assert.deepEqual(
    [0, 1, 2, 3, 6, 7, 8, 1000].map((failures) => againAfterMs(failures) / 1000),
    [10, 10, 20, 40, 320, 600, 600, 600],
  );
});

test("the first failure counts as one, keeps what was written, and says when it is tried again", () => {
  const operation = { attempt: 1, startedAt: at("11:00:00"), method: "ipxe", writtenAt: at("11:30:00"), id: "a" };
  const first = failed(factsOf("provisioning", { status: { operation } }), "no disk");
  assert.deepEqual(
    [first.errorCount, first.provisioningFailCount, first.errorType, first.errorMessage, first.operationalStatus],
    [1, 1, "provisioning error", "no disk", "error"],
  );
  assert.deepEqual(first.operation, {
    ...{ method: "ipxe", writtenAt: at("11:30:00"), attempt: 2 },
    ...{ startedAt: at("12:00:00.000"), againAt: at("12:00:10.000") },
  });
  assert.equal(first.waitingFor, "another try after: no disk");
  const second = failed(factsOf("provisioning", { status: first }), "no disk");
  assert.deepEqual(
    [second.errorCount, second.provisioningFailCount, second.operation?.againAt],
    [2, 2, at("12:00:20.000")],
  );
});

test("each state has its error, and only work is begun anew", () => {
  const of = (state: string) => failed(factsOf(state), "x");
  assert.deepEqual(
    ["registering", "inspecting", "preparing", "deprovisioning", "provisioned"].map((state) => of(state).errorType),
    ["registration error", "inspection error", "preparation error", "provisioning error", "power management error"],
  );
  assert.equal(of("provisioned").operation, undefined);
  assert.equal(of("inspecting").provisioningFailCount, 0);
  assert.equal(
    failed(factsOf("inspecting"), "x", { error: "power management error" }).errorType,
    "power management error",
  );
});

test("a new state begins without what was wrong, and the times of both are kept", () => {
  const wrong = failed(
    factsOf("inspecting", { status: { operationHistory: { inspect: { start: at("11:00:00"), end: null } } } }),
    "x",
  );
  const next = enter(factsOf("inspecting", { status: wrong }), "preparing");
  assert.deepEqual(
    [next.operationalStatus, next.errorMessage, next.errorCount, next.errorType, next.waitingFor],
    ["OK", "", 0, undefined, undefined],
  );
  assert.deepEqual(next.operationHistory, { inspect: { start: at("11:00:00"), end: at("12:00:00.000") } });
  assert.deepEqual(next.operation, { attempt: 1, startedAt: at("12:00:00.000") });
  const installing = enter(factsOf("available"), "provisioning");
  assert.deepEqual(installing.operationHistory, { provision: { start: at("12:00:00.000"), end: null } });
  assert.equal(enter(factsOf("provisioning"), "provisioned").operation, undefined);
  assert.equal(enter(factsOf("registering"), "unmanaged").operationalStatus, "discovered");
});

test("what was wrong is over once, and nothing is written where nothing was wrong", () => {
  assert.equal(recovered(factsOf("available")), undefined);
  const over = recovered(factsOf("available", { status: failed(factsOf("available"), "x") }));
  assert.deepEqual([over?.operationalStatus, over?.errorType, over?.errorCount], ["OK", undefined, 0]);
});
