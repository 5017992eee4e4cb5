import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultRunningSpec } from "./pod-defaults.ts";

test("what has a limit and no request asks for its limit; names that have a limit come first", () => {
  for (const [limits, requests, wanted] of [
    [{ b: "1", a: "1" }, undefined, { b: "1", a: "1" }],
    [
      { b: "1", a: "1" },
      { c: "3", a: "2" },
      { b: "1", a: "2", c: "3" },
    ],
    [
      { b: "1", a: "1" },
      { b: "2", a: "2", c: "3" },
      { b: "2", a: "2", c: "3" },
    ],
    [{}, { c: "3" }, { c: "3" }],
  ] as const) {
    const container = { resources: { limits, ...(requests && { requests }) } as Record<string, unknown> };
    defaultRunningSpec({ containers: [container] });
    assert.deepEqual(Object.entries(container.resources.requests ?? {}), Object.entries(wanted));
  }
});
