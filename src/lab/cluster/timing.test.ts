import assert from "node:assert/strict";
import { test } from "node:test";
import { aNode, anInfraMachine } from "./testing.ts";
import { stagesLine, stagesOf } from "./timing.ts";

const STARTED = Date.UTC(2026, 0, 1);
const INSTALL = { scriptFetched: "2026-01-01T00:00:08Z", configFetched: "2026-01-01T00:00:20Z" };

test("stages are told in seconds since power-on, those that are not known as such", () => {
  const stages = stagesOf(STARTED, anInfraMachine("a", { install: INSTALL }), aNode("a"));
  assert.deepEqual(stages, { script: 8, data: 20, registered: 30, ready: 40 });
  assert.equal(
    stagesLine("lab-1", stages),
    "lab-1: Ready 40 s after power-on (script 8, bootstrap data 20, registered 30)",
  );
  const none = stagesOf(STARTED, anInfraMachine("a"), undefined);
  assert.equal(stagesLine("lab-2", none), "lab-2: Ready ? s after power-on (script ?, bootstrap data ?, registered ?)");
});

test("a Node that is not ready has no time of it, and what objects round down is not before power-on", () => {
  const stages = stagesOf(STARTED + 8_400, anInfraMachine("a", { install: INSTALL }), aNode("a", "Unknown"));
  assert.deepEqual([stages.script, stages.ready], [0, undefined]);
});
